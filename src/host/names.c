#include "host/names.h"

#include "core/sha256.h"
#include "he2b.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIZE_FIRST = 64,
};

static uint64_t key_of(const char *name)
{
    uint8_t sum[HE2B_SHA256_SIZE];
    uint64_t key;

    he2b_sha256_of(name, strlen(name), sum);
    memcpy(&key, sum, sizeof(key));
    return key;
}

void he2b_names_init(struct he2b_names *names)
{
    *names = (struct he2b_names){0};
}

void he2b_names_free(struct he2b_names *names)
{
    size_t i;

    for (i = 0; i < names->size; i++)
        free(names->slots[i].text);
    free(names->slots);
    he2b_names_init(names);
}

/* The slot of name, or the free one where it belongs. There is always a free one. */
static struct he2b_name *find(const struct he2b_names *names, const char *name, uint64_t key)
{
    size_t i = (size_t)key & (names->size - 1);

    while (names->slots[i].text &&
           (names->slots[i].key != key || strcmp(names->slots[i].text, name) != 0))
        i = (i + 1) & (names->size - 1);
    return &names->slots[i];
}

static int grow(struct he2b_names *names)
{
    struct he2b_names larger = {.size = names->size ? names->size * 2 : SIZE_FIRST};
    size_t i;

    larger.slots = calloc(larger.size, sizeof(*larger.slots));
    if (!larger.slots)
        return HE2B_ERR_NOMEM;
    for (i = 0; i < names->size; i++)
        if (names->slots[i].text)
            *find(&larger, names->slots[i].text, names->slots[i].key) = names->slots[i];
    larger.count = names->count;
    free(names->slots);
    *names = larger;
    return HE2B_OK;
}

int he2b_names_put(struct he2b_names *names, const char *name, size_t value)
{
    uint64_t key = key_of(name);
    struct he2b_name *slot;

    if (names->count >= names->size / 2 && grow(names) != HE2B_OK)
        return HE2B_ERR_NOMEM;
    slot = find(names, name, key);
    if (!slot->text) {
        slot->text = strdup(name);
        if (!slot->text)
            return HE2B_ERR_NOMEM;
        slot->key = key;
        names->count++;
    }
    slot->value = value;
    return HE2B_OK;
}

bool he2b_names_get(const struct he2b_names *names, const char *name, size_t *ret_value)
{
    const struct he2b_name *slot;

    if (names->count == 0)
        return false;
    slot = find(names, name, key_of(name));
    if (!slot->text)
        return false;
    if (ret_value)
        *ret_value = slot->value;
    return true;
}
