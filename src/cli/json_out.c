#include "cli/json_out.h"

#include "cli/utf8.h"

#include <stdbool.h>

static void put_unit(FILE *out, uint32_t unit)
{
    fprintf(out, "\\u%04x", unit);
}

static void put_char(FILE *out, uint32_t c)
{
    if (c == '"' || c == '\\') {
        fprintf(out, "\\%c", (int)c);
    } else if (c >= 0x20 && c < 0x7f) {
        fputc((int)c, out);
    } else if (c < 0x10000) {
        put_unit(out, c);
    } else {
        put_unit(out, 0xd800 + ((c - 0x10000) >> 10));
        put_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ff));
    }
}

void json_out_string(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        uint32_t c = 0;
        size_t n = utf8_next(text, &c);

        put_char(out, n ? c : 0xfffd);
        text += n ? n : 1;
    }
    fputc('"', out);
}

static void put_member(FILE *out, const char *key, const char *value)
{
    fprintf(out, "\"%s\":", key);
    json_out_string(out, value);
    fputc(',', out);
}

struct pairs {
    FILE *out;
    bool more;
};

static void put_pair(void *user, const char *key, const char *value)
{
    struct pairs *pairs = user;

    if (pairs->more)
        fputc(',', pairs->out);
    pairs->more = true;
    json_out_string(pairs->out, key);
    fputc(':', pairs->out);
    json_out_string(pairs->out, value);
}

void json_out_sandbox(FILE *out, const he2b_sandbox_info *info)
{
    struct pairs pairs = {.out = out};
    int64_t left = he2b_sandbox_info_remaining_ms(info);

    fputc('{', out);
    put_member(out, "id", he2b_sandbox_info_id(info));
    put_member(out, "state", he2b_sandbox_info_state(info));
    put_member(out, "template", he2b_sandbox_info_template(info));
    put_member(out, "alias", he2b_sandbox_info_alias(info));
    put_member(out, "scope", he2b_sandbox_info_scope(info));
    put_member(out, "started_at", he2b_sandbox_info_started_at(info));
    put_member(out, "end_at", he2b_sandbox_info_end_at(info));
    if (left == INT64_MIN)
        fputs("\"remaining_seconds\":null,", out);
    else
        fprintf(out, "\"remaining_seconds\":%.3f,", (double)left / 1000);
    fprintf(out, "\"ours\":%s,\"metadata\":{", he2b_sandbox_info_ours(info) ? "true" : "false");
    he2b_sandbox_info_each_metadata(info, put_pair, &pairs);
    fputs("}}", out);
}
