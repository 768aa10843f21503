/*
 * A set of names (bytes without NUL), each with a number. Its order of look-up does not depend on
 * what the names hold, so that hostile ones do not make it slow.
 */
#ifndef HE2B_HOST_NAMES_H
#define HE2B_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct he2b_name {
    char *text;
    uint64_t key;
    size_t value;
};

struct he2b_names {
    struct he2b_name *slots; /* NULL texts are free */
    size_t size;             /* a power of two, or 0 */
    size_t count;
};

void he2b_names_init(struct he2b_names *names);
void he2b_names_free(struct he2b_names *names);
/* Adds name or gives it another number. Returns HE2B_OK, HE2B_ERR_NOMEM. */
int he2b_names_put(struct he2b_names *names, const char *name, size_t value);
/* ret_value may be NULL. */
bool he2b_names_get(const struct he2b_names *names, const char *name, size_t *ret_value);

#endif
