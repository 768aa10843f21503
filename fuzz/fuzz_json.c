/* The JSON reader: what it takes, it can write, and read again as the same. */
#include "core/json.h"
#include "he2b.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool look(void *user, const char *key, const he2b_json *member)
{
    int64_t number = 0;
    bool yes = false;
    size_t len = 0;

    (void)user;
    (void)key;
    (void)he2b_json_string(member, &len);
    (void)he2b_json_int(member, &number);
    (void)he2b_json_bool(member, &yes);
    (void)he2b_json_array_size(member);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    he2b_json *json = NULL;
    he2b_json *again = NULL;
    const char *text;
    const char *text_again;
    size_t len = 0;
    size_t len_again = 0;

    if (he2b_json_parse(&json, (const char *)data, size) != HE2B_OK)
        return 0;
    he2b_json_each(json, look, NULL);
    if (!he2b_json_is_null(json)) {
        text = he2b_json_text(json, &len);
        /* NaN and Infinity are read by json-c 0.16 and cannot be written as JSON. */
        if (text && he2b_json_parse(&again, text, len) == HE2B_OK) {
            text_again = he2b_json_text(again, &len_again);
            if (!text_again || len != len_again || memcmp(text, text_again, len) != 0)
                abort();
        }
    }
    he2b_json_del(again);
    he2b_json_del(json);
    return 0;
}
