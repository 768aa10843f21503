/*
 * JSON values, read strictly and written: the one place that knows json-c and its traps
 * (coercing getters, NUL in keys, null that looks like an error). A value is read by type: a getter
 * answers only what really has that type.
 */
#ifndef HE2B_CORE_JSON_H
#define HE2B_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct he2b_json he2b_json;

enum {
    /* Nothing on the wire nests deeper than 8; guards the parser's recursion. */
    HE2B_JSON_DEPTH_MAX = 32,
};

/*
 * Parses exactly one value that fills the text (white space around it allowed).
 * Returns HE2B_OK, HE2B_ERR_PROTOCOL (not JSON, too deep, NUL in a key, invalid UTF-8),
 * HE2B_ERR_NOMEM. A JSON null is a value for which he2b_json_is_null() is true.
 */
int he2b_json_parse(he2b_json **ret, const char *text, size_t len);
void he2b_json_del(he2b_json *value);

bool he2b_json_is_null(const he2b_json *value);
bool he2b_json_is_object(const he2b_json *value);
bool he2b_json_is_array(const he2b_json *value);

/*
 * Borrowed members, valid as long as the whole: NULL if value is NULL or no object, there is no
 * such member, or it is null (wire C.7: null is absent).
 */
const he2b_json *he2b_json_get(const he2b_json *value, const char *key);
/* As above by either of two names: camelCase and the proto name (wire C.7). */
const he2b_json *he2b_json_get2(const he2b_json *value, const char *key, const char *other);
/* Elements of an array; 0 and NULL if it is none. */
size_t he2b_json_array_size(const he2b_json *value);
const he2b_json *he2b_json_at(const he2b_json *value, size_t index);

/* The text of a string, NUL-terminated, its length in *ret_len (may be NULL); NULL if value is not
 * a string. With ret_len NULL also NULL if it holds a NUL byte. */
const char *he2b_json_string(const he2b_json *value, size_t *ret_len);
/* Reads a whole number, or a string that is one (wire C.7: int64). False if it is neither, or out
 * of range; *ret is untouched then. */
bool he2b_json_int(const he2b_json *value, int64_t *ret);
bool he2b_json_bool(const he2b_json *value, bool *ret);

/* he2b_json_string(he2b_json_get(value, key), NULL) */
const char *he2b_json_get_string(const he2b_json *value, const char *key);

/* The compact text of any value, also of a borrowed one; allocated, NULL when out of memory. */
char *he2b_json_copy_text(const he2b_json *value);

/* Calls fn for each member of an object, in order, until it returns false. */
void he2b_json_each(const he2b_json *value,
                    bool (*fn)(void *user, const char *key, const he2b_json *member), void *user);

/* ---- writing: the add functions return HE2B_OK or HE2B_ERR_NOMEM ---- */

/* NULL when out of memory. */
he2b_json *he2b_json_new_object(void);
he2b_json *he2b_json_new_array(void);
he2b_json *he2b_json_new_string(const char *text, size_t len);

/* A copy of its own, in full depth; NULL when out of memory. */
he2b_json *he2b_json_copy(const he2b_json *value);

/* Takes ownership of member, also on failure; NULL member is HE2B_ERR_NOMEM. */
int he2b_json_add(he2b_json *object, const char *key, he2b_json *member);
int he2b_json_append(he2b_json *array, he2b_json *element);
int he2b_json_add_string(he2b_json *object, const char *key, const char *text);
int he2b_json_add_string_len(he2b_json *object, const char *key, const char *text, size_t len);
int he2b_json_add_int(he2b_json *object, const char *key, int64_t number);
int he2b_json_add_bool(he2b_json *object, const char *key, bool yes);

/* Compact text, owned by the value, valid until its next change; NULL when out of memory. */
const char *he2b_json_text(he2b_json *value, size_t *ret_len);

#endif
