#include "e2b/sandbox_info.h"

#include "core/rfc3339.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

/* For people to read; what is longer than any real one is cut. */
static void copy_text(char *out, size_t size, const he2b_json *item, const char *key)
{
    const char *text = he2b_json_get_string(item, key);

    he2b_text_utf8(out, size, text ? text : "", text ? strlen(text) : 0);
}

const char *he2b_sandbox_info_meta(const struct he2b_sandbox_info *info, const char *key)
{
    return he2b_json_get_string(info->metadata, key);
}

static void read_times(struct he2b_sandbox_info *info, int64_t date)
{
    int64_t end_us;

    info->started_us = INT64_MIN;
    info->remaining_ms = INT64_MIN;
    (void)he2b_rfc3339(info->started_at, &info->started_us);
    /* this host's clock is not trusted; and a paused one has no end (B-32) */
    if (date >= 0 && strcmp(info->state, "running") == 0 && he2b_rfc3339(info->end_at, &end_us))
        info->remaining_ms = end_us / 1000 - date * 1000;
}

int he2b_sandbox_info_read(struct he2b_sandbox_info *ret, const he2b_json *item, int64_t date)
{
    struct he2b_sandbox_info info = {0};
    const char *id = he2b_json_get_string(item, "sandboxID");
    const he2b_json *metadata = he2b_json_get(item, "metadata");
    const char *text;

    if (!id || !he2b_sandbox_id_valid(id))
        return HE2B_ERR_PROTOCOL;
    snprintf(info.sandbox_id, sizeof(info.sandbox_id), "%s", id);
    copy_text(info.template_id, sizeof(info.template_id), item, "templateID");
    copy_text(info.alias, sizeof(info.alias), item, "alias");
    copy_text(info.state, sizeof(info.state), item, "state");
    copy_text(info.started_at, sizeof(info.started_at), item, "startedAt");
    copy_text(info.end_at, sizeof(info.end_at), item, "endAt");
    if (he2b_json_is_object(metadata)) {
        info.metadata = he2b_json_copy(metadata);
        if (!info.metadata)
            return HE2B_ERR_NOMEM;
    }
    text = he2b_sandbox_info_meta(&info, HE2B_META_PLUGIN);
    info.ours = text && strcmp(text, HE2B_META_PLUGIN_VALUE) == 0;
    text = he2b_sandbox_info_meta(&info, HE2B_META_SCOPE);
    if (text && strlen(text) < sizeof(info.scope))
        memcpy(info.scope, text, strlen(text) + 1);
    read_times(&info, date);
    *ret = info;
    return HE2B_OK;
}

void he2b_sandbox_info_done(struct he2b_sandbox_info *info)
{
    he2b_json_del(info->metadata);
    info->metadata = NULL;
}
