/* The getters of he2b_sandbox_info. */
#include "e2b/sandbox_info.h"

struct each {
    void (*fn)(void *user, const char *key, const char *value);
    void *user;
};

const char *he2b_sandbox_info_id(const he2b_sandbox_info *info)
{
    return info->sandbox_id;
}

const char *he2b_sandbox_info_state(const he2b_sandbox_info *info)
{
    return info->state;
}

const char *he2b_sandbox_info_template(const he2b_sandbox_info *info)
{
    return info->template_id;
}

const char *he2b_sandbox_info_alias(const he2b_sandbox_info *info)
{
    return info->alias;
}

const char *he2b_sandbox_info_scope(const he2b_sandbox_info *info)
{
    return info->scope;
}

const char *he2b_sandbox_info_started_at(const he2b_sandbox_info *info)
{
    return info->started_at;
}

const char *he2b_sandbox_info_end_at(const he2b_sandbox_info *info)
{
    return info->end_at;
}

int64_t he2b_sandbox_info_remaining_ms(const he2b_sandbox_info *info)
{
    return info->remaining_ms;
}

int he2b_sandbox_info_ours(const he2b_sandbox_info *info)
{
    return info->ours;
}

static bool each_pair(void *user, const char *key, const he2b_json *member)
{
    const struct each *each = user;
    const char *value = he2b_json_string(member, NULL);

    if (value)
        each->fn(each->user, key, value);
    return true;
}

void he2b_sandbox_info_each_metadata(const he2b_sandbox_info *info,
                                     void (*fn)(void *user, const char *key, const char *value),
                                     void *user)
{
    struct each each = {.fn = fn, .user = user};

    he2b_json_each(info->metadata, each_pair, &each);
}
