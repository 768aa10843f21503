#include "local/daemon_codec.h"

#include "core/base64.h"
#include "core/text.h"
#include "he2b.h"
#include "wire/process.pb-c.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_SIZE = 32,
};

static const ProtobufCMessageDescriptor *descriptor_of(enum codec_message what)
{
    switch (what) {
    case CODEC_NONE:
        return NULL;
    case CODEC_EMPTY:
        return &he2b_wire__empty__descriptor;
    case CODEC_START_REQUEST:
        return &he2b_wire__start_request__descriptor;
    case CODEC_START_RESPONSE:
        return &he2b_wire__start_response__descriptor;
    case CODEC_SELECT_REQUEST:
        return &he2b_wire__select_request__descriptor;
    case CODEC_LIST_RESPONSE:
        return &he2b_wire__list_response__descriptor;
    case CODEC_SEND_INPUT_REQUEST:
        return &he2b_wire__send_input_request__descriptor;
    case CODEC_SEND_SIGNAL_REQUEST:
        return &he2b_wire__send_signal_request__descriptor;
    case CODEC_UPDATE_REQUEST:
        return &he2b_wire__update_request__descriptor;
    }
    return NULL;
}

/* ---- where protobuf-c keeps what it says of a field ---- */

/* The name in JSON: exit_code is exitCode. */
static void json_name(char out[NAME_MAX_SIZE], const char *name)
{
    size_t n = 0;

    for (; *name && n < NAME_MAX_SIZE - 1; name++) {
        if (*name == '_' && name[1] >= 'a' && name[1] <= 'z')
            out[n++] = (char)(*++name - 'a' + 'A');
        else
            out[n++] = *name;
    }
    out[n] = '\0';
}

static bool is_map(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_MESSAGE &&
           field->descriptor == &he2b_wire__envs_entry__descriptor;
}

/* How many values a field has. */
static size_t count(const char *message, const ProtobufCFieldDescriptor *field)
{
    const char *quantifier = message + field->quantifier_offset;
    const char *value = message + field->offset;
    size_t n;
    int set;

    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        memcpy(&n, quantifier, sizeof(n));
        return n;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        memcpy(&set, quantifier, sizeof(set));
        return (uint32_t)set == field->id;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE) {
        const void *pointer;

        memcpy(&pointer, value, sizeof(pointer));
        return pointer != NULL;
    }
    memcpy(&set, quantifier, sizeof(set));
    return set != 0;
}

/* ---- reading ---- */

static he2b_json *read_message(const ProtobufCMessage *message);

/* NULL: no memory, or a text that is not UTF-8, which a proto3 reader refuses. */
static he2b_json *read_text(const char *text)
{
    size_t len = strlen(text);

    return he2b_text_is_utf8(text, len) ? he2b_json_new_string(text, len) : NULL;
}

static he2b_json *read_bytes(const ProtobufCBinaryData *bytes)
{
    size_t size = he2b_base64_encoded_size(bytes->len);
    char *text = malloc(size + 1);
    he2b_json *json;

    if (!text)
        return NULL;
    he2b_base64_encode(text, bytes->data, bytes->len);
    json = he2b_json_new_string(text, size);
    free(text);
    return json;
}

static he2b_json *read_pointer(const ProtobufCFieldDescriptor *field, const void *at)
{
    const char *text;
    const ProtobufCMessage *message;

    if (field->type == PROTOBUF_C_TYPE_STRING) {
        memcpy(&text, at, sizeof(text));
        return read_text(text);
    }
    memcpy(&message, at, sizeof(message));
    return read_message(message);
}

static int add_number(he2b_json *object, const char *name, const ProtobufCFieldDescriptor *field,
                      const void *at)
{
    int32_t number;
    uint32_t natural;
    protobuf_c_boolean yes;

    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        memcpy(&yes, at, sizeof(yes));
        return he2b_json_add_bool(object, name, yes != 0);
    case PROTOBUF_C_TYPE_UINT32:
        memcpy(&natural, at, sizeof(natural));
        return he2b_json_add_int(object, name, natural);
    default:
        memcpy(&number, at, sizeof(number));
        return he2b_json_add_int(object, name, number);
    }
}

static int add_map(he2b_json *object, const char *name, He2bWire__EnvsEntry *const *entries,
                   size_t n)
{
    he2b_json *map = he2b_json_new_object();
    int error = he2b_json_add(object, name, map);
    size_t i;

    for (i = 0; !error && i < n; i++) {
        const char *key = entries[i]->key ? entries[i]->key : "";
        he2b_json *value = read_text(entries[i]->value ? entries[i]->value : "");

        if (!he2b_text_is_utf8(key, strlen(key))) {
            he2b_json_del(value);
            return HE2B_ERR_PROTOCOL;
        }
        error = he2b_json_add(map, key, value);
    }
    return error;
}

static int add_list(he2b_json *object, const char *name, const ProtobufCFieldDescriptor *field,
                    const char *values, size_t n)
{
    he2b_json *list = he2b_json_new_array();
    int error = he2b_json_add(object, name, list);
    size_t i;

    for (i = 0; !error && i < n; i++)
        error = he2b_json_append(list, read_pointer(field, values + i * sizeof(void *)));
    return error;
}

static int add_field(he2b_json *object, const ProtobufCFieldDescriptor *field, const char *message)
{
    const char *at = message + field->offset;
    size_t n = count(message, field);
    ProtobufCBinaryData bytes;
    const void *values;
    char name[NAME_MAX_SIZE];

    if (n == 0)
        return HE2B_OK;
    json_name(name, field->name);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        memcpy(&values, at, sizeof(values));
        return is_map(field) ? add_map(object, name, values, n)
                             : add_list(object, name, field, values, n);
    }
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return he2b_json_add(object, name, read_pointer(field, at));
    case PROTOBUF_C_TYPE_BYTES:
        memcpy(&bytes, at, sizeof(bytes));
        return he2b_json_add(object, name, read_bytes(&bytes));
    default:
        return add_number(object, name, field, at);
    }
}

static he2b_json *read_message(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    he2b_json *object = he2b_json_new_object();
    int error = object ? HE2B_OK : HE2B_ERR_NOMEM;
    unsigned i;

    for (i = 0; !error && i < descriptor->n_fields; i++)
        error = add_field(object, &descriptor->fields[i], (const char *)message);
    if (!error)
        return object;
    he2b_json_del(object);
    return NULL;
}

he2b_json *codec_read(enum codec_message what, const void *data, size_t len)
{
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor_of(what), NULL, len, data);
    he2b_json *json = message ? read_message(message) : NULL;

    protobuf_c_message_free_unpacked(message, NULL);
    return json;
}

/* ---- writing ---- */

static int write_message(struct he2b_buf *out, const ProtobufCMessageDescriptor *descriptor,
                         const he2b_json *json);

static int put_varint(struct he2b_buf *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;

    do {
        bytes[n] = (unsigned char)(value & 127);
        value >>= 7;
        if (value)
            bytes[n] |= 128;
        n++;
    } while (value);
    return he2b_buf_add(out, bytes, n);
}

static int put_number(struct he2b_buf *out, const ProtobufCFieldDescriptor *field, uint64_t value)
{
    int error = put_varint(out, (uint64_t)field->id << 3);

    return error ? error : put_varint(out, value);
}

static int put_bytes(struct he2b_buf *out, const ProtobufCFieldDescriptor *field, const void *data,
                     size_t len)
{
    int error = put_varint(out, (uint64_t)field->id << 3 | 2);

    if (!error)
        error = put_varint(out, len);
    return error ? error : he2b_buf_add(out, data, len);
}

static int write_value(struct he2b_buf *out, const ProtobufCFieldDescriptor *field,
                       const he2b_json *value)
{
    const char *text;
    struct he2b_buf part;
    int64_t number = 0;
    bool yes = false;
    size_t len = 0;
    int error;

    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        text = he2b_json_string(value, &len);
        return text ? put_bytes(out, field, text, len) : HE2B_ERR_PROTOCOL;
    case PROTOBUF_C_TYPE_BOOL:
        return he2b_json_bool(value, &yes) ? put_number(out, field, yes) : HE2B_ERR_PROTOCOL;
    case PROTOBUF_C_TYPE_UINT32:
        return he2b_json_int(value, &number) ? put_number(out, field, (uint64_t)number)
                                             : HE2B_ERR_PROTOCOL;
    case PROTOBUF_C_TYPE_SINT32:
        if (!he2b_json_int(value, &number))
            return HE2B_ERR_PROTOCOL;
        return put_number(out, field, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
    case PROTOBUF_C_TYPE_MESSAGE:
        he2b_buf_init(&part, SIZE_MAX / 2);
        error = write_message(&part, field->descriptor, value);
        if (!error)
            error = put_bytes(out, field, he2b_buf_str(&part), part.len);
        he2b_buf_free(&part);
        return error;
    default:
        /* bytes go another way: codec_output() */
        return HE2B_ERR_PROTOCOL;
    }
}

struct map_writer {
    struct he2b_buf *out;
    const ProtobufCFieldDescriptor *field;
    int error;
};

static bool write_entry(void *user, const char *key, const he2b_json *member)
{
    const ProtobufCMessageDescriptor *entry = &he2b_wire__envs_entry__descriptor;
    struct map_writer *writer = user;
    struct he2b_buf pair;

    he2b_buf_init(&pair, SIZE_MAX / 2);
    writer->error = put_bytes(&pair, &entry->fields[0], key, strlen(key));
    if (!writer->error)
        writer->error = write_value(&pair, &entry->fields[1], member);
    if (!writer->error)
        writer->error = put_bytes(writer->out, writer->field, he2b_buf_str(&pair), pair.len);
    he2b_buf_free(&pair);
    return writer->error == HE2B_OK;
}

static int write_field(struct he2b_buf *out, const ProtobufCFieldDescriptor *field,
                       const he2b_json *value)
{
    struct map_writer writer = {.out = out, .field = field};
    int error = HE2B_OK;
    size_t i;

    if (field->label != PROTOBUF_C_LABEL_REPEATED)
        return write_value(out, field, value);
    if (is_map(field)) {
        he2b_json_each(value, write_entry, &writer);
        return writer.error;
    }
    for (i = 0; !error && i < he2b_json_array_size(value); i++)
        error = write_value(out, field, he2b_json_at(value, i));
    return error;
}

static int write_message(struct he2b_buf *out, const ProtobufCMessageDescriptor *descriptor,
                         const he2b_json *json)
{
    int error = HE2B_OK;
    unsigned i;

    for (i = 0; !error && i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        const he2b_json *value;
        char name[NAME_MAX_SIZE];

        json_name(name, field->name);
        value = he2b_json_get(json, name);
        if (value)
            error = write_field(out, field, value);
    }
    return error;
}

int codec_write(struct he2b_buf *out, enum codec_message what, const he2b_json *message)
{
    return write_message(out, descriptor_of(what), message);
}

size_t codec_output(unsigned char *out, const char *name, const void *data, size_t len)
{
    He2bWire__StartResponse response = HE2B_WIRE__START_RESPONSE__INIT;
    union {
        const void *in;
        uint8_t *out;
    } cast = {.in = data};
    const ProtobufCBinaryData bytes = {.len = len, .data = cast.out};
    He2bWire__ProcessEvent event;
    He2bWire__DataEvent output;

    he2b_wire__process_event__init(&event);
    he2b_wire__data_event__init(&output);
    if (strcmp(name, "stdout") == 0) {
        output.output_case = HE2B_WIRE__DATA_EVENT__OUTPUT_STDOUT;
        output.stdout = bytes;
    } else if (strcmp(name, "stderr") == 0) {
        output.output_case = HE2B_WIRE__DATA_EVENT__OUTPUT_STDERR;
        output.stderr = bytes;
    } else {
        output.output_case = HE2B_WIRE__DATA_EVENT__OUTPUT_PTY;
        output.pty = bytes;
    }
    event.event_case = HE2B_WIRE__PROCESS_EVENT__EVENT_DATA;
    event.data = &output;
    response.event = &event;
    return he2b_wire__start_response__pack(&response, out);
}
