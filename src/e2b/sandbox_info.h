/*
 * What list and get say of one sandbox (wire A.7, A.12).
 */
#ifndef HE2B_E2B_SANDBOX_INFO_H
#define HE2B_E2B_SANDBOX_INFO_H

#include "core/json.h"
#include "core/scope.h"
#include "e2b/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

/* The metadata by which this product knows its sandboxes; shared with the Python plugin. */
#define HE2B_META_PLUGIN       "hermes_plugin"
#define HE2B_META_PLUGIN_VALUE "e2b-terminal"
#define HE2B_META_SCOPE        "hermes_scope"
#define HE2B_META_ATTEMPT      "hermes_attempt"

struct he2b_sandbox_info {
    char sandbox_id[HE2B_SANDBOX_ID_MAX];
    char template_id[128];
    char alias[128];
    char state[32];                  /* "running", "paused" */
    char started_at[64];             /* RFC 3339, as answered */
    char end_at[64];                 /* of a paused one: when the pause began (wire A.7) */
    char scope[HE2B_SCOPE_NAME_MAX]; /* metadata hermes_scope; "" if none, or longer than any */
    bool ours;                       /* metadata hermes_plugin is e2b-terminal */
    int64_t started_us;              /* started_at since 1970; INT64_MIN: not known */
    int64_t remaining_ms; /* running: end_at relative to the answer's Date; INT64_MIN: not known
                           * (B-32) */
    he2b_json *metadata;  /* owned by the info; NULL: none */
};

/*
 * Reads one item; date is the answer's own clock in seconds, -1 if it told none. Texts are cut to
 * their bounds. Returns HE2B_OK, HE2B_ERR_PROTOCOL (no sandbox in it), HE2B_ERR_NOMEM; *ret holds
 * nothing to free then.
 */
int he2b_sandbox_info_read(struct he2b_sandbox_info *ret, const he2b_json *item, int64_t date);
/* Frees its metadata. */
void he2b_sandbox_info_done(struct he2b_sandbox_info *info);

/* The value of one pair of the metadata; NULL if there is none. */
const char *he2b_sandbox_info_meta(const struct he2b_sandbox_info *info, const char *key);

#endif
