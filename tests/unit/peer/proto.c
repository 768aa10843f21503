#include "tests/unit/peer/proto.h"

#include "core/base64.h"
#include "core/buf.h"
#include "core/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    UINT,
    SINT, /* zigzag */
    BOOL,
    STRING,
    STRINGS,
    BYTES,
    MESSAGE,
    MAP,
};

struct field {
    unsigned number; /* 0: the last */
    const char *name;
    enum kind kind;
    const struct field *fields; /* of a MESSAGE */
};

/* ---- wire C.7 ---- */

static const struct field config[] = {
    {1, "cmd", STRING, NULL},
    {2, "args", STRINGS, NULL},
    {3, "envs", MAP, NULL},
    {4, "cwd", STRING, NULL},
    {0},
};
static const struct field size[] = {{1, "cols", UINT, NULL}, {2, "rows", UINT, NULL}, {0}};
static const struct field pty[] = {{1, "size", MESSAGE, size}, {0}};
static const struct field selector[] = {{1, "pid", UINT, NULL}, {2, "tag", STRING, NULL}, {0}};
static const struct field input[] = {{1, "stdin", BYTES, NULL}, {2, "pty", BYTES, NULL}, {0}};
static const struct field start_request[] = {
    {1, "process", MESSAGE, config},
    {2, "pty", MESSAGE, pty},
    {3, "tag", STRING, NULL},
    {4, "stdin", BOOL, NULL},
    {0},
};
static const struct field send_input_request[] = {
    {1, "process", MESSAGE, selector},
    {2, "input", MESSAGE, input},
    {0},
};
static const struct field update_request[] = {
    {1, "process", MESSAGE, selector},
    {2, "pty", MESSAGE, pty},
    {0},
};
static const struct field select_request[] = {{1, "process", MESSAGE, selector}, {0}};
static const struct field start_event[] = {{1, "pid", UINT, NULL}, {0}};
static const struct field data_event[] = {
    {1, "stdout", BYTES, NULL},
    {2, "stderr", BYTES, NULL},
    {3, "pty", BYTES, NULL},
    {0},
};
static const struct field end_event[] = {
    {1, "exitCode", SINT, NULL}, {1, "exit_code", SINT, NULL}, {2, "exited", BOOL, NULL},
    {3, "status", STRING, NULL}, {4, "error", STRING, NULL},   {0},
};
static const struct field nothing[] = {{0}};
static const struct field event[] = {
    {1, "start", MESSAGE, start_event},
    {2, "data", MESSAGE, data_event},
    {3, "end", MESSAGE, end_event},
    {4, "keepalive", MESSAGE, nothing},
    {0},
};
static const struct field response[] = {{1, "event", MESSAGE, event}, {0}};

/* ---- reading ---- */

struct bytes {
    const unsigned char *at;
    size_t left;
};

static bool read_varint(struct bytes *in, uint64_t *ret)
{
    int shift = 0;

    *ret = 0;
    while (in->left > 0 && shift < 64) {
        unsigned char byte = *in->at++;

        in->left--;
        *ret |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return true;
        shift += 7;
    }
    return false;
}

static he2b_json *read_message(struct bytes in, const struct field *fields);

static bool read_map_entry(he2b_json *object, const struct field *field, struct bytes in)
{
    static const struct field entry[] = {{1, "key", STRING, NULL}, {2, "value", STRING, NULL}, {0}};
    he2b_json *pair = read_message(in, entry);
    const char *key = he2b_json_get_string(pair, "key");
    const char *value = he2b_json_get_string(pair, "value");
    he2b_json *map = he2b_json_new_object();
    bool ok = key && value && he2b_json_add_string(map, key, value) == 0;

    /* one entry is all that is ever sent */
    ok = ok && !he2b_json_get(object, field->name);
    if (ok)
        (void)he2b_json_add(object, field->name, map);
    else
        he2b_json_del(map);
    he2b_json_del(pair);
    return ok;
}

static bool read_bytes(he2b_json *object, const struct field *field, struct bytes in,
                       he2b_json **list)
{
    const char *data = (const char *)in.at;
    he2b_json *sub;
    char *text;

    switch (field->kind) {
    case STRING:
        return he2b_json_add_string_len(object, field->name, data, in.left) == 0;
    case STRINGS:
        if (!*list) {
            *list = he2b_json_new_array();
            (void)he2b_json_add(object, field->name, *list);
        }
        return he2b_json_append(*list, he2b_json_new_string(data, in.left)) == 0;
    case BYTES:
        text = malloc(he2b_base64_encoded_size(in.left) + 1);
        he2b_base64_encode(text, data, in.left);
        (void)he2b_json_add_string(object, field->name, text);
        free(text);
        return true;
    case MESSAGE:
        sub = read_message(in, field->fields);
        return sub && he2b_json_add(object, field->name, sub) == 0;
    case MAP:
        return read_map_entry(object, field, in);
    default:
        return false;
    }
}

static bool read_number(he2b_json *object, const struct field *field, uint64_t number)
{
    if (field->kind == BOOL)
        return he2b_json_add_bool(object, field->name, number != 0) == 0;
    return field->kind == UINT && he2b_json_add_int(object, field->name, (int64_t)number) == 0;
}

/* NULL: wrong bytes, or a field that no request has. */
static he2b_json *read_message(struct bytes in, const struct field *fields)
{
    he2b_json *object = he2b_json_new_object();
    he2b_json *list = NULL;
    bool ok = true;

    while (ok && in.left > 0) {
        const struct field *field = fields;
        uint64_t tag = 0;
        uint64_t value = 0;

        ok = read_varint(&in, &tag) && read_varint(&in, &value);
        while (field->number && field->number != tag >> 3)
            field++;
        ok = ok && field->number;
        if (ok && (tag & 7) == 2) {
            struct bytes part = {in.at, value};

            ok = value <= in.left && read_bytes(object, field, part, &list);
            in.at += value;
            in.left -= value;
        } else {
            ok = ok && (tag & 7) == 0 && read_number(object, field, value);
        }
    }
    if (ok)
        return object;
    he2b_json_del(object);
    return NULL;
}

char *proto_request(const char *method, const char *data, size_t len)
{
    static const struct {
        const char *method;
        const struct field *fields;
    } rows[] = {
        {"Start", start_request},    {"SendInput", send_input_request},
        {"Update", update_request},  {"CloseStdin", select_request},
        {"Connect", select_request},
    };
    struct bytes in = {(const unsigned char *)data, len};
    he2b_json *json = NULL;
    char *text;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].method, method) == 0)
            json = read_message(in, rows[i].fields);
    }
    text = json ? he2b_json_copy_text(json) : NULL;
    he2b_json_del(json);
    return text;
}

/* ---- writing ---- */

static void put_varint(struct he2b_buf *out, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)(value & 127);

        value >>= 7;
        if (value)
            byte |= 128;
        (void)he2b_buf_add(out, &byte, 1);
    } while (value);
}

static void put_bytes(struct he2b_buf *out, unsigned number, const void *data, size_t len)
{
    put_varint(out, (uint64_t)number << 3 | 2);
    put_varint(out, len);
    (void)he2b_buf_add(out, data, len);
}

static bool put_message(struct he2b_buf *out, const he2b_json *json, const struct field *fields);

static bool put_part(struct he2b_buf *out, const struct field *field, const he2b_json *value)
{
    struct he2b_buf part;
    int64_t number = 0;
    bool yes = false;
    size_t len = 0;
    size_t got = 0;
    const char *text = he2b_json_string(value, &len);
    bool ok = true;

    he2b_buf_init(&part, SIZE_MAX / 2);
    switch (field->kind) {
    case UINT:
    case SINT:
        ok = he2b_json_int(value, &number);
        put_varint(out, (uint64_t)field->number << 3);
        put_varint(out, field->kind == UINT ? (uint64_t)number
                                            : (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
        break;
    case BOOL:
        ok = he2b_json_bool(value, &yes);
        put_varint(out, (uint64_t)field->number << 3);
        put_varint(out, yes);
        break;
    case STRING:
        ok = text != NULL;
        put_bytes(out, field->number, text, len);
        break;
    case BYTES:
        ok = text && he2b_buf_add(&part, text, len) == 0 &&
             (len == 0 || he2b_base64_decode(part.data, &got, text, len) == 0);
        put_bytes(out, field->number, he2b_buf_str(&part), got);
        break;
    case MESSAGE:
        ok = put_message(&part, value, field->fields);
        put_bytes(out, field->number, he2b_buf_str(&part), part.len);
        break;
    case STRINGS:
    case MAP:
        ok = false;
        break;
    }
    he2b_buf_free(&part);
    return ok;
}

static bool put_message(struct he2b_buf *out, const he2b_json *json, const struct field *fields)
{
    const struct field *field;

    for (field = fields; field->number; field++) {
        const he2b_json *value = he2b_json_get(json, field->name);

        if (value && !put_part(out, field, value))
            return false;
    }
    return he2b_json_is_object(json);
}

char *proto_event(const char *json, size_t *ret_len)
{
    struct he2b_buf out;
    he2b_json *message = NULL;
    bool ok;

    he2b_buf_init(&out, SIZE_MAX / 2);
    (void)he2b_buf_reserve(&out, 1);
    ok = he2b_json_parse(&message, json, strlen(json)) == 0 && put_message(&out, message, response);
    he2b_json_del(message);
    *ret_len = out.len;
    if (ok)
        return out.data;
    he2b_buf_free(&out);
    return NULL;
}

char *proto_output(const char *data, size_t len, bool errors, size_t *ret_len)
{
    struct he2b_buf parts[3];
    int i;

    for (i = 0; i < 3; i++)
        he2b_buf_init(&parts[i], SIZE_MAX / 2);
    put_bytes(&parts[0], errors ? 2 : 1, data, len);
    put_bytes(&parts[1], 2, parts[0].data, parts[0].len);
    put_bytes(&parts[2], 1, parts[1].data, parts[1].len);
    he2b_buf_free(&parts[0]);
    he2b_buf_free(&parts[1]);
    *ret_len = parts[2].len;
    return parts[2].data;
}
