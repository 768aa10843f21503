#include "core/scope.h"

#include <nettle/sha2.h>
#include <stdint.h>
#include <string.h>

enum {
    NAME_MIN = 8,
    NAME_MAX_DIGITS = HE2B_SCOPE_NAME_MAX - 1,
};

/* The first digits hex digits of the hash, and a NUL. */
static void finish(char *ret, size_t digits, struct sha256_ctx *hash)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[SHA256_DIGEST_SIZE];
    size_t i;

    sha256_digest(hash, sizeof(bytes), bytes);
    for (i = 0; i < digits; i++)
        ret[i] = hex[i % 2 ? bytes[i / 2] & 0x0f : bytes[i / 2] >> 4];
    ret[digits] = '\0';
}

static void add(struct sha256_ctx *hash, const char *text)
{
    sha256_update(hash, strlen(text), (const uint8_t *)text);
}

void he2b_scope_digest(char ret[HE2B_SCOPE_MAX], const struct he2b_scope *scope)
{
    const char *const texts[] = {
        scope->home,
        scope->task && *scope->task ? scope->task : "default",
        scope->template_id,
        scope->persistent ? "persistent" : "ephemeral",
        scope->internet ? "net" : "nonet",
        scope->secure ? "secure" : "insecure",
    };
    struct sha256_ctx hash;
    size_t i;

    sha256_init(&hash);
    for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (i > 0)
            sha256_update(&hash, 1, (const uint8_t *)"");
        add(&hash, texts[i]);
    }
    finish(ret, HE2B_SCOPE_MAX - 1, &hash);
}

void he2b_scope_name(char ret[HE2B_SCOPE_NAME_MAX], const char *scope)
{
    size_t len = strlen(scope);
    struct sha256_ctx hash;

    if (len >= NAME_MIN && len <= NAME_MAX_DIGITS && strspn(scope, "0123456789abcdef") == len) {
        memcpy(ret, scope, len + 1);
        return;
    }
    sha256_init(&hash);
    add(&hash, scope);
    finish(ret, HE2B_SCOPE_NAME_MAX - 1, &hash);
}
