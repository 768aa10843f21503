#include "core/json.h"

#include "he2b.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* json-c gives a JSON null as a null pointer, which is no value that a caller can hold. */
static char null_value;

static he2b_json *wrap(struct json_object *object)
{
    return object ? (he2b_json *)object : (he2b_json *)(void *)&null_value;
}

static struct json_object *unwrap(const he2b_json *value)
{
    union {
        const he2b_json *in;
        struct json_object *out;
    } cast = {.in = value};

    return (const void *)value == (const void *)&null_value ? NULL : cast.out;
}

/*
 * json-c cuts a key at an escaped NUL, so that {"a\u0000b":1} would be read as {"a":1}. A string
 * that is followed by a colon is a key.
 */
static bool nul_in_key(const char *text, size_t len)
{
    bool nul = false;
    size_t i = 0;

    if (!memmem(text, len, "\\u0000", 6))
        return false;
    while (i < len) {
        if (text[i++] != '"')
            continue;
        nul = false;
        while (i < len && text[i] != '"') {
            if (text[i] == '\\') {
                if (len - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
                    nul = true;
                i++;
            }
            i++;
        }
        i++;
        while (i < len && isspace((unsigned char)text[i]))
            i++;
        if (nul && i < len && text[i] == ':')
            return true;
    }
    return false;
}

int he2b_json_parse(he2b_json **ret, const char *text, size_t len)
{
    struct json_tokener *tokener;
    struct json_object *object;
    char *copy;
    int error = HE2B_ERR_PROTOCOL;

    /* The terminating NUL has to be part of the text for a bare number to end (json-c 0.16). */
    if (len >= INT_MAX || memchr(text, '\0', len) || nul_in_key(text, len))
        return HE2B_ERR_PROTOCOL;
    copy = malloc(len + 1);
    if (!copy)
        return HE2B_ERR_NOMEM;
    memcpy(copy, text, len);
    copy[len] = '\0';
    tokener = json_tokener_new_ex(HE2B_JSON_DEPTH_MAX);
    if (!tokener) {
        free(copy);
        return HE2B_ERR_NOMEM;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    object = json_tokener_parse_ex(tokener, copy, (int)len + 1);
    if (json_tokener_get_error(tokener) == json_tokener_success) {
        *ret = wrap(object);
        error = HE2B_OK;
    }
    json_tokener_free(tokener);
    free(copy);
    return error;
}

void he2b_json_del(he2b_json *value)
{
    if (value)
        json_object_put(unwrap(value));
}

bool he2b_json_is_null(const he2b_json *value)
{
    return value && !unwrap(value);
}

bool he2b_json_is_object(const he2b_json *value)
{
    return value && json_object_is_type(unwrap(value), json_type_object);
}

bool he2b_json_is_array(const he2b_json *value)
{
    return value && json_object_is_type(unwrap(value), json_type_array);
}

const he2b_json *he2b_json_get(const he2b_json *value, const char *key)
{
    struct json_object *member = NULL;

    if (!he2b_json_is_object(value) || !json_object_object_get_ex(unwrap(value), key, &member))
        return NULL;
    return member ? wrap(member) : NULL;
}

const he2b_json *he2b_json_get2(const he2b_json *value, const char *key, const char *other)
{
    const he2b_json *member = he2b_json_get(value, key);

    return member ? member : he2b_json_get(value, other);
}

size_t he2b_json_array_size(const he2b_json *value)
{
    return he2b_json_is_array(value) ? json_object_array_length(unwrap(value)) : 0;
}

const he2b_json *he2b_json_at(const he2b_json *value, size_t index)
{
    if (index >= he2b_json_array_size(value))
        return NULL;
    return wrap(json_object_array_get_idx(unwrap(value), index));
}

const char *he2b_json_string(const he2b_json *value, size_t *ret_len)
{
    const char *text;
    size_t len;

    if (!value || !json_object_is_type(unwrap(value), json_type_string))
        return NULL;
    text = json_object_get_string(unwrap(value));
    len = (size_t)json_object_get_string_len(unwrap(value));
    if (!ret_len)
        return strlen(text) == len ? text : NULL;
    *ret_len = len;
    return text;
}

bool he2b_json_int(const he2b_json *value, int64_t *ret)
{
    const char *text;
    char *end;
    long long number;

    if (!value)
        return false;
    if (json_object_is_type(unwrap(value), json_type_int)) {
        /* json-c saturates; a larger number is told by asking for it unsigned */
        if (json_object_get_int64(unwrap(value)) == INT64_MAX &&
            json_object_get_uint64(unwrap(value)) > INT64_MAX)
            return false;
        *ret = json_object_get_int64(unwrap(value));
        return true;
    }
    text = he2b_json_string(value, NULL);
    if (!text || !(isdigit((unsigned char)text[0]) || text[0] == '-'))
        return false;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno || *end || end == text)
        return false;
    *ret = number;
    return true;
}

bool he2b_json_bool(const he2b_json *value, bool *ret)
{
    if (!value || !json_object_is_type(unwrap(value), json_type_boolean))
        return false;
    *ret = json_object_get_boolean(unwrap(value));
    return true;
}

const char *he2b_json_get_string(const he2b_json *value, const char *key)
{
    return he2b_json_string(he2b_json_get(value, key), NULL);
}

void he2b_json_each(const he2b_json *value,
                    bool (*fn)(void *user, const char *key, const he2b_json *member), void *user)
{
    struct json_object_iterator it;
    struct json_object_iterator end;

    if (!he2b_json_is_object(value))
        return;
    it = json_object_iter_begin(unwrap(value));
    end = json_object_iter_end(unwrap(value));
    for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
        if (!fn(user, json_object_iter_peek_name(&it), wrap(json_object_iter_peek_value(&it))))
            return;
    }
}

/* NULL is out of memory here, not a JSON null. */
static he2b_json *made(struct json_object *object)
{
    return (he2b_json *)object;
}

he2b_json *he2b_json_new_object(void)
{
    return made(json_object_new_object());
}

he2b_json *he2b_json_new_array(void)
{
    return made(json_object_new_array());
}

he2b_json *he2b_json_new_string(const char *text, size_t len)
{
    if (len > INT_MAX)
        return NULL;
    return made(json_object_new_string_len(text, (int)len));
}

he2b_json *he2b_json_copy(const he2b_json *value)
{
    struct json_object *copy = NULL;

    if (he2b_json_is_null(value))
        return wrap(NULL);
    if (!value || json_object_deep_copy(unwrap(value), &copy, NULL) != 0)
        return NULL;
    return made(copy);
}

int he2b_json_add(he2b_json *object, const char *key, he2b_json *member)
{
    if (!member)
        return HE2B_ERR_NOMEM;
    if (json_object_object_add(unwrap(object), key, unwrap(member)) != 0) {
        he2b_json_del(member);
        return HE2B_ERR_NOMEM;
    }
    return HE2B_OK;
}

int he2b_json_append(he2b_json *array, he2b_json *element)
{
    if (!element)
        return HE2B_ERR_NOMEM;
    if (json_object_array_add(unwrap(array), unwrap(element)) != 0) {
        he2b_json_del(element);
        return HE2B_ERR_NOMEM;
    }
    return HE2B_OK;
}

int he2b_json_add_string(he2b_json *object, const char *key, const char *text)
{
    return he2b_json_add_string_len(object, key, text, strlen(text));
}

int he2b_json_add_string_len(he2b_json *object, const char *key, const char *text, size_t len)
{
    return he2b_json_add(object, key, he2b_json_new_string(text, len));
}

int he2b_json_add_int(he2b_json *object, const char *key, int64_t number)
{
    return he2b_json_add(object, key, made(json_object_new_int64(number)));
}

int he2b_json_add_bool(he2b_json *object, const char *key, bool yes)
{
    return he2b_json_add(object, key, made(json_object_new_boolean(yes)));
}

const char *he2b_json_text(he2b_json *value, size_t *ret_len)
{
    size_t len = 0;
    const char *text = json_object_to_json_string_length(
        unwrap(value), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

    if (ret_len)
        *ret_len = len;
    return text;
}

char *he2b_json_copy_text(const he2b_json *value)
{
    const char *text = json_object_to_json_string_ext(
        unwrap(value), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

    return text ? strdup(text) : NULL;
}
