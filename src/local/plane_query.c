#include "he2b.h"
#include "local/plane.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void random_bytes(void *out, size_t len)
{
    if (getrandom(out, len, 0) != (ssize_t)len)
        abort(); /* up to 256 bytes cannot fail on Linux (getrandom(2)) */
}

void plane_random_hex(char *out, size_t digits)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char byte;
    size_t i;

    for (i = 0; i < digits; i++) {
        random_bytes(&byte, 1);
        out[i] = hex[byte & 15];
    }
    out[digits] = '\0';
}

void plane_new_id(char out[PLANE_ID_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char byte;
    size_t i;

    out[0] = 'i';
    for (i = 1; i < PLANE_ID_SIZE - 1; i++) {
        do {
            random_bytes(&byte, 1);
        } while (byte >= 252); /* a multiple of 36, so that no letter is likelier */
        out[i] = letters[byte % 36];
    }
    out[i] = '\0';
}

static bool id_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool plane_read_id(char out[PLANE_ID_SIZE], const char *text, size_t len)
{
    size_t n = 0;
    size_t i;

    while (n < len && id_char(text[n]))
        n++;
    if (n == 0)
        return false;
    if (n < len) {
        if (text[n] != '-' || n + 1 == len)
            return false;
        for (i = n + 1; i < len; i++) {
            if (!id_char(text[i]))
                return false;
        }
    }
    /* a longer one than was ever issued is well-formed and unknown */
    snprintf(out, PLANE_ID_SIZE, "%.*s", (int)(n < PLANE_ID_SIZE - 1 ? n : PLANE_ID_SIZE - 1),
             text);
    if (n >= PLANE_ID_SIZE)
        out[0] = '0';
    return true;
}

int64_t plane_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void plane_time(char out[40], int64_t us)
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm parts;
    size_t n;

    gmtime_r(&seconds, &parts);
    n = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + n, 40 - n, ".%06dZ", (int)(us % 1000000));
}

bool plane_read_time(const char *text, int64_t *ret_us)
{
    struct tm parts = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    int64_t us;
    int64_t unit = 100000;
    int hours;
    int minutes;

    if (!rest)
        return false;
    us = (int64_t)timegm(&parts) * 1000000;
    if (*rest == '.') {
        for (rest++; isdigit((unsigned char)*rest); rest++) {
            us += (*rest - '0') * unit;
            unit /= 10;
        }
    }
    if ((rest[0] == 'Z' || rest[0] == 'z') && !rest[1]) {
        *ret_us = us;
        return true;
    }
    if ((*rest == '+' || *rest == '-') && sscanf(rest + 1, "%2d:%2d", &hours, &minutes) == 2) {
        int64_t offset = ((int64_t)hours * 60 + minutes) * 60000000;

        *ret_us = *rest == '+' ? us - offset : us + offset;
        return true;
    }
    return false;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *plane_decode(const char *text, size_t len)
{
    char *out = malloc(len + 1);
    size_t used = 0;
    size_t i;

    for (i = 0; out && i < len; i++) {
        char c = text[i] == '+' ? ' ' : text[i];

        if (c == '%') {
            if (i + 2 >= len || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0 ||
                (text[i + 1] == '0' && text[i + 2] == '0')) {
                free(out);
                return NULL;
            }
            c = (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        }
        out[used++] = c;
    }
    if (out)
        out[used] = '\0';
    return out;
}

char *plane_query_value(const char *target, const char *name)
{
    const char *at = strchr(target, '?');
    size_t name_len = strlen(name);

    while (at && *at) {
        size_t len;

        at++;
        len = strcspn(at, "&");
        if (len >= name_len + 1 && strncmp(at, name, name_len) == 0 && at[name_len] == '=')
            return plane_decode(at + name_len + 1, len - name_len - 1);
        at += len;
    }
    return NULL;
}

/* One "key=value", each side decoded once more. */
static bool add_pair(he2b_json *filter, const char *pair, size_t len)
{
    const char *equals = memchr(pair, '=', len);
    char *key;
    char *value;
    bool good;

    if (!equals || memchr(equals + 1, '=', len - (size_t)(equals - pair) - 1))
        return false;
    key = plane_decode(pair, (size_t)(equals - pair));
    value = plane_decode(equals + 1, len - (size_t)(equals - pair) - 1);
    good = key && value && he2b_json_add_string(filter, key, value) == HE2B_OK;
    free(key);
    free(value);
    return good;
}

he2b_json *plane_metadata_filter(const char *value)
{
    char *whole = plane_decode(value, strlen(value));
    he2b_json *filter = whole && whole[0] ? he2b_json_new_object() : NULL;
    const char *at = whole;

    while (filter && at) {
        size_t len = strcspn(at, "&");

        if (!add_pair(filter, at, len)) {
            he2b_json_del(filter);
            filter = NULL;
        }
        at = at[len] ? at + len + 1 : NULL;
    }
    free(whole);
    return filter;
}

struct match {
    const he2b_json *metadata;
    bool all;
};

static bool match_pair(void *user, const char *key, const he2b_json *value)
{
    struct match *match = user;
    const char *have = he2b_json_get_string(match->metadata, key);

    match->all = have && strcmp(have, he2b_json_string(value, NULL)) == 0;
    return match->all;
}

bool plane_metadata_matches(const he2b_json *filter, const he2b_json *metadata)
{
    struct match match = {.metadata = metadata, .all = true};

    if (!filter)
        return true;
    if (!metadata)
        return false;
    he2b_json_each(filter, match_pair, &match);
    return match.all;
}
