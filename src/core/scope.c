#include "core/scope.h"

#include "core/sha256.h"

#include <stdint.h>
#include <string.h>

enum {
    NAME_MIN = 8,
    NAME_MAX_DIGITS = HE2B_SCOPE_NAME_MAX - 1,
};

/* The first digits hex digits of the hash, and a NUL. */
static void finish(char *ret, size_t digits, struct he2b_sha256 *hash)
{
    uint8_t sum[HE2B_SHA256_SIZE];
    char hex[HE2B_SHA256_HEX_MAX];

    he2b_sha256_end(hash, sum);
    he2b_sha256_hex(hex, sum);
    memcpy(ret, hex, digits);
    ret[digits] = '\0';
}

static void add(struct he2b_sha256 *hash, const char *text)
{
    he2b_sha256_add(hash, text, strlen(text));
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
    struct he2b_sha256 hash;
    size_t i;

    he2b_sha256_init(&hash);
    for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (i > 0)
            he2b_sha256_add(&hash, "", 1);
        add(&hash, texts[i]);
    }
    finish(ret, HE2B_SCOPE_MAX - 1, &hash);
}

void he2b_scope_name(char ret[HE2B_SCOPE_NAME_MAX], const char *scope)
{
    size_t len = strlen(scope);
    struct he2b_sha256 hash;

    if (len >= NAME_MIN && len <= NAME_MAX_DIGITS && strspn(scope, "0123456789abcdef") == len) {
        memcpy(ret, scope, len + 1);
        return;
    }
    he2b_sha256_init(&hash);
    add(&hash, scope);
    finish(ret, HE2B_SCOPE_NAME_MAX - 1, &hash);
}
