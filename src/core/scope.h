/*
 * The identity of a persistent sandbox (B-10 to B-12): a digest that leaves the host instead of the
 * texts it is made of.
 */
#ifndef HE2B_CORE_SCOPE_H
#define HE2B_CORE_SCOPE_H

#include <stdbool.h>

enum {
    /* 32 hex digits and a NUL. */
    HE2B_SCOPE_MAX = 33,
    /* What stands in a file name for a scope: at most 64 hex digits and a NUL. */
    HE2B_SCOPE_NAME_MAX = 65,
};

/* What a scope is made of, in the order of B-10. Borrowed. */
struct he2b_scope {
    const char *home;        /* the profile home as Hermes names it */
    const char *task;        /* NULL or "": "default" */
    const char *template_id; /* as configured */
    bool persistent;
    bool internet;
    bool secure;
};

void he2b_scope_digest(char ret[HE2B_SCOPE_MAX], const struct he2b_scope *scope);

/* The name under which scope's coordination files go: scope itself if it is 8 to 64 lowercase hex
 * digits, else its SHA-256 in hex (B-12): no text can lead out of the folder. */
void he2b_scope_name(char ret[HE2B_SCOPE_NAME_MAX], const char *scope);

#endif
