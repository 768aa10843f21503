#include "e2b/create_body.h"

#include "e2b/sandbox_info.h"

#include <string.h>

struct pairs {
    he2b_json *metadata;
    int error;
};

/* Who a sandbox is may not be said by a user's pair (B-4): an ephemeral one with a scope would be
 * adopted. */
static bool add_pair(void *user, const char *key, const he2b_json *value)
{
    static const char *const ours[] = {HE2B_META_PLUGIN, HE2B_META_SCOPE, HE2B_META_ATTEMPT};
    struct pairs *pairs = user;
    size_t i;

    for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (strcmp(key, ours[i]) == 0)
            return true;
    }
    pairs->error = he2b_json_add(pairs->metadata, key, he2b_json_copy(value));
    return !pairs->error;
}

static int add_metadata(he2b_json *body, const struct he2b_settings *settings, const char *attempt,
                        const char *scope)
{
    struct pairs pairs = {.metadata = he2b_json_new_object()};

    if (!pairs.metadata)
        return HE2B_ERR_NOMEM;
    he2b_json_each(settings->metadata, add_pair, &pairs);
    if (!pairs.error)
        pairs.error =
            he2b_json_add_string(pairs.metadata, HE2B_META_PLUGIN, HE2B_META_PLUGIN_VALUE);
    if (!pairs.error && scope)
        pairs.error = he2b_json_add_string(pairs.metadata, HE2B_META_SCOPE, scope);
    if (!pairs.error)
        pairs.error = he2b_json_add_string(pairs.metadata, HE2B_META_ATTEMPT, attempt);
    if (pairs.error) {
        he2b_json_del(pairs.metadata);
        return pairs.error;
    }
    return he2b_json_add(body, "metadata", pairs.metadata);
}

int he2b_create_body(he2b_json **ret, const struct he2b_settings *settings, const char *attempt,
                     const char *scope, int64_t lease_s)
{
    he2b_json *body = he2b_json_new_object();
    int error;

    if (!body)
        return HE2B_ERR_NOMEM;
    error = he2b_json_add_string(body, "templateID", settings->template_id);
    if (!error)
        error = he2b_json_add_int(body, "timeout", lease_s);
    if (!error)
        error = he2b_json_add_bool(body, "autoPause", scope != NULL);
    if (!error && scope)
        error = he2b_json_add_bool(body, "autoPauseMemory", false);
    if (!error)
        error = he2b_json_add_bool(body, "secure", settings->secure);
    if (!error)
        error = he2b_json_add_bool(body, "allow_internet_access", settings->allow_internet_access);
    if (!error)
        error = add_metadata(body, settings, attempt, scope);
    if (error) {
        he2b_json_del(body);
        return error;
    }
    *ret = body;
    return HE2B_OK;
}
