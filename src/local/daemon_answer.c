/* Whole answers of the plain kind (daemon_exchange.h). */
#include "core/text.h"
#include "he2b.h"
#include "local/daemon_exchange.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

he2b_json *exchange_one_header(const char *name, const char *value)
{
    he2b_json *headers = he2b_json_new_object();

    if (headers && he2b_json_add_string(headers, name, value) != HE2B_OK) {
        he2b_json_del(headers);
        return NULL;
    }
    return headers;
}

void exchange_answer(struct exchange *x, int status, const char *content_type, const char *body,
                     size_t len)
{
    exchange_head(x, status,
                  content_type ? exchange_one_header("Content-Type", content_type) : NULL,
                  (int64_t)len);
    exchange_write(x, body, len);
    exchange_end(x);
}

void exchange_error(struct exchange *x, int status, const char *format, ...)
{
    /* room for two paths */
    char raw[10000];
    char message[10000];
    he2b_json *json = he2b_json_new_object();
    const char *text = NULL;
    size_t len = 0;
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    he2b_text_utf8(message, sizeof(message), raw, strlen(raw));
    if (json && he2b_json_add_int(json, "code", status) == HE2B_OK &&
        he2b_json_add_string(json, "message", message) == HE2B_OK)
        text = he2b_json_text(json, &len);
    if (text)
        exchange_answer(x, status, "application/json; charset=utf-8", text, len);
    else
        exchange_cut(x);
    he2b_json_del(json);
}

void exchange_text(struct exchange *x, int status, const char *text, const char *header,
                   const char *value)
{
    he2b_json *headers = he2b_json_new_object();

    if (headers && text[0])
        (void)he2b_json_add_string(headers, "Content-Type", "text/plain; charset=utf-8");
    if (headers && header)
        (void)he2b_json_add_string(headers, header, value);
    exchange_head(x, status, headers, (int64_t)strlen(text));
    exchange_write(x, text, strlen(text));
    exchange_end(x);
}
