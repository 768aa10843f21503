#include "core/secrets.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum {
    /* Shorter texts would match ordinary words. */
    SECRET_MIN = 8,
};

static const char stars[] = "***";

/* Replaces n bytes at text by stars and returns what follows; n is at least as long as they are. */
static char *blot(char *text, size_t n)
{
    memcpy(text, stars, sizeof(stars) - 1);
    memmove(text + sizeof(stars) - 1, text + n, strlen(text + n) + 1);
    return text + sizeof(stars) - 1;
}

static void redact_exact(char *text, const char *secret)
{
    size_t len = secret ? strlen(secret) : 0;

    if (len < SECRET_MIN)
        return;
    while ((text = strstr(text, secret)))
        text = blot(text, len);
}

static void redact_keys(char *text)
{
    while ((text = strstr(text, "e2b_"))) {
        size_t n = 4;

        while (isxdigit((unsigned char)text[n]))
            n++;
        text = n >= 4 + SECRET_MIN ? blot(text, n) : text + 4;
    }
}

static bool token_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("-._~+/=", c));
}

static void redact_bearer(char *text)
{
    static const char word[] = "bearer ";

    for (; *text; text++) {
        size_t n = 0;

        if (strncasecmp(text, word, sizeof(word) - 1) != 0)
            continue;
        text += sizeof(word) - 1;
        while (token_char(text[n]))
            n++;
        if (n >= SECRET_MIN)
            text = blot(text, n);
        if (!*text)
            return;
        text--;
    }
}

static void redact_urls(char *text)
{
    while ((text = strstr(text, "://"))) {
        size_t n = 0;

        text += 3;
        while (text[n] && !isspace((unsigned char)text[n]) && !strchr("/?#@\"'", text[n]))
            n++;
        if (text[n] != '@' || n == 0)
            continue;
        if (n >= sizeof(stars) - 1) {
            text = blot(text, n);
        } else {
            /* too short to hold the stars: take it out whole */
            memmove(text, text + n, strlen(text + n) + 1);
        }
    }
}

void he2b_redact(char *text, const struct he2b_secrets *secrets)
{
    if (secrets) {
        redact_exact(text, secrets->api_key);
        redact_exact(text, secrets->access_token);
        redact_exact(text, secrets->attached_key);
    }
    redact_keys(text);
    redact_bearer(text);
    redact_urls(text);
}
