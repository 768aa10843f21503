/* The process service's messages in JSON, as the official SDKs send them. */
#include "core/base64.h"
#include "core/json.h"
#include "e2b/codec.h"
#include "e2b/exit_code.h"

#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

/* Ends a request: error, or its text in out; message is deleted. */
static int finish(struct he2b_buf *out, he2b_json *message, int error)
{
    const char *text = NULL;
    size_t len = 0;

    if (!error) {
        text = he2b_json_text(message, &len);
        error = text ? he2b_buf_add(out, text, len) : HE2B_ERR_NOMEM;
    }
    he2b_json_del(message);
    return error;
}

/* An object that is empty still, added to another, which owns it. */
static int add_object(he2b_json *to, const char *key, he2b_json **ret)
{
    *ret = he2b_json_new_object();
    return he2b_json_add(to, key, *ret);
}

static int add_args(he2b_json *process, const char *const *args)
{
    he2b_json *array = he2b_json_new_array();
    int error = he2b_json_add(process, "args", array);
    size_t i;

    for (i = 0; !error && args[i]; i++)
        error = he2b_json_append(array, he2b_json_new_string(args[i], strlen(args[i])));
    return error;
}

static int add_size(he2b_json *message, unsigned cols, unsigned rows)
{
    he2b_json *pty = NULL;
    he2b_json *size = NULL;
    int error = add_object(message, "pty", &pty);

    if (!error)
        error = add_object(pty, "size", &size);
    if (!error)
        error = he2b_json_add_int(size, "cols", cols);
    if (!error)
        error = he2b_json_add_int(size, "rows", rows);
    return error;
}

static int add_config(he2b_json *message, const struct he2b_process_spec *spec)
{
    he2b_json *process = NULL;
    he2b_json *envs = NULL;
    int error = add_object(message, "process", &process);

    if (!error)
        error = he2b_json_add_string(process, "cmd", spec->cmd);
    if (!error)
        error = add_args(process, spec->args);
    if (!error && spec->cwd)
        error = he2b_json_add_string(process, "cwd", spec->cwd);
    if (!error && spec->term) {
        error = add_object(process, "envs", &envs);
        if (!error)
            error = he2b_json_add_string(envs, "TERM", spec->term);
    }
    return error;
}

static int start(struct he2b_buf *out, const struct he2b_process_spec *spec)
{
    he2b_json *message = he2b_json_new_object();
    int error = message ? add_config(message, spec) : HE2B_ERR_NOMEM;

    if (!error && spec->cols)
        error = add_size(message, spec->cols, spec->rows);
    if (!error)
        error = he2b_json_add_bool(message, "stdin", spec->stdin_open);
    return finish(out, message, error);
}

/* A request's message that names a process. */
static int about(he2b_json **ret, int64_t pid)
{
    he2b_json *process = NULL;
    int error;

    *ret = he2b_json_new_object();
    error = *ret ? add_object(*ret, "process", &process) : HE2B_ERR_NOMEM;
    return error ? error : he2b_json_add_int(process, "pid", pid);
}

static int select_process(struct he2b_buf *out, int64_t pid)
{
    he2b_json *message = NULL;
    int error = about(&message, pid);

    return finish(out, message, error);
}

static int add_input(he2b_json *message, enum he2b_input where, const void *data, size_t len)
{
    size_t size = he2b_base64_encoded_size(len);
    char *text = malloc(size + 1);
    he2b_json *input = NULL;
    int error = text ? add_object(message, "input", &input) : HE2B_ERR_NOMEM;

    if (!error) {
        he2b_base64_encode(text, data, len);
        error =
            he2b_json_add_string_len(input, where == HE2B_INPUT_PTY ? "pty" : "stdin", text, size);
    }
    free(text);
    return error;
}

static int send_input(struct he2b_buf *out, int64_t pid, enum he2b_input where, const void *data,
                      size_t len)
{
    he2b_json *message = NULL;
    int error = about(&message, pid);

    if (!error)
        error = add_input(message, where, data, len);
    return finish(out, message, error);
}

static int resize(struct he2b_buf *out, int64_t pid, unsigned cols, unsigned rows)
{
    he2b_json *message = NULL;
    int error = about(&message, pid);

    if (!error)
        error = add_size(message, cols, rows);
    return finish(out, message, error);
}

/* ---- events ---- */

static int read_data(struct he2b_event *ret, struct he2b_buf *scratch, const he2b_json *data)
{
    const he2b_json *bytes = he2b_json_get2(data, "stdout", "stderr");
    const char *text;
    size_t len = 0;
    int error;

    if (!bytes)
        bytes = he2b_json_get(data, "pty");
    text = he2b_json_string(bytes, &len);
    if (!text)
        return HE2B_OK;
    he2b_buf_clear(scratch);
    error = he2b_buf_add(scratch, text, len);
    if (!error && len > 0)
        error = he2b_base64_decode(scratch->data, &ret->len, scratch->data, len);
    ret->kind = HE2B_EVENT_DATA;
    ret->errors = bytes == he2b_json_get(data, "stderr");
    ret->data = he2b_buf_str(scratch);
    return error;
}

static void read_end(struct he2b_event *ret, const he2b_json *end)
{
    int64_t code = 0;
    bool given = he2b_json_int(he2b_json_get2(end, "exitCode", "exit_code"), &code);

    ret->kind = HE2B_EVENT_END;
    ret->exit_code = he2b_exit_code(given, code, he2b_json_get_string(end, "status"),
                                    he2b_json_get_string(end, "error"));
}

static int read_event(struct he2b_event *ret, struct he2b_buf *scratch, const char *message,
                      size_t len)
{
    he2b_json *json = NULL;
    const he2b_json *event;
    const he2b_json *part;
    int error = he2b_json_parse(&json, message, len);

    memset(ret, 0, sizeof(*ret));
    if (error)
        return error;
    event = he2b_json_get(json, "event");
    if ((part = he2b_json_get(event, "data")))
        error = read_data(ret, scratch, part);
    else if ((part = he2b_json_get(event, "start")) &&
             he2b_json_int(he2b_json_get(part, "pid"), &ret->pid))
        ret->kind = HE2B_EVENT_START;
    else if ((part = he2b_json_get(event, "end")))
        read_end(ret, part);
    he2b_json_del(json);
    return error;
}

const struct he2b_codec he2b_codec_json = {
    .name = "json",
    .start = start,
    .send_input = send_input,
    .resize = resize,
    .select = select_process,
    .event = read_event,
};
