#include "he2b.h"
#include "local/api.h"
#include "local/page.h"
#include "local/plane.h"
#include "local/query.h"
#include "local/stamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIMIT_MAX = 100
};

/* The query of a list, read. */
struct wanted {
    bool running;
    bool paused;
    bool ascending;
    bool after_token;
    size_t limit;
    int64_t started_after;
    struct page_place place; /* of the last item of the page before */
    char *template_id;
    struct query_filter *filter; /* NULL: all */
};

static bool refuse(struct api_call *call, const char *message)
{
    api_error(call->request, 400, NULL, "%s", message);
    return false;
}

static bool read_filter(struct api_call *call, struct wanted *ret)
{
    const char *value;
    size_t len;

    if (!query_find(http_target(call->request), "metadata", &value, &len))
        return true;
    ret->filter = query_filter_new(value, len);
    return ret->filter || refuse(call, "Error parsing metadata");
}

static bool read_state(struct api_call *call, struct wanted *ret)
{
    char *text;
    char *rest = NULL;

    if (!query_get(http_target(call->request), "state", &text))
        return refuse(call, "validation error: state cannot be decoded");
    if (!text) {
        ret->running = ret->paused = true;
        return true;
    }
    rest = text;
    /* an empty word is none of the two */
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        bool running = strcmp(word, "running") == 0;
        if (!running && strcmp(word, "paused") != 0) {
            free(text);
            return refuse(call, "validation error: state must be running, paused, or both");
        }
        ret->running |= running;
        ret->paused |= !running;
    }
    free(text);
    return true;
}

static bool read_limit(struct api_call *call, struct wanted *ret)
{
    char *text;
    bool good = query_get(http_target(call->request), "limit", &text);

    ret->limit = LIMIT_MAX;
    if (good && text) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        good = text[0] >= '0' && text[0] <= '9' && *end == '\0' && value >= 1 && value <= LIMIT_MAX;
        ret->limit = value;
    }
    free(text);
    return good || refuse(call, "validation error: limit must be a number from 1 to 100");
}

static bool read_order(struct api_call *call, struct wanted *ret)
{
    char *text;
    bool good;

    if (!query_get(http_target(call->request), "order", &text))
        return refuse(call, "validation error: order cannot be decoded");
    ret->ascending = text && strcmp(text, "asc") == 0;
    good = !text || ret->ascending || strcmp(text, "desc") == 0;
    free(text);
    return good || refuse(call, "validation error: order must be asc or desc");
}

static bool read_after(struct api_call *call, struct wanted *ret)
{
    char *text;
    bool good;

    if (!query_get(http_target(call->request), "startedAfter", &text))
        return refuse(call, "validation error: startedAfter cannot be decoded");
    good = !text || stamp_parse(&ret->started_after, text);
    free(text);
    return good || refuse(call, "validation error: startedAfter must be an RFC 3339 time");
}

static bool read_token(struct api_call *call, struct wanted *ret)
{
    char *text;
    bool good;

    if (!query_get(http_target(call->request), "nextToken", &text))
        return refuse(call, "Invalid next token");
    ret->after_token = text && *text;
    good = !ret->after_token || page_token_parse(&ret->place, text, ret->ascending);
    free(text);
    return good || refuse(call, "Invalid next token");
}

static bool read_template(struct api_call *call, struct wanted *ret)
{
    if (!query_get(http_target(call->request), "template", &ret->template_id))
        return refuse(call, "validation error: template cannot be decoded");
    if (ret->template_id && strchr(ret->template_id, ':'))
        return refuse(call, "validation error: template must not have a tag");
    return true;
}

/* ---- the list ---- */

static bool is_wanted(const struct sandbox *sandbox, const struct wanted *wanted)
{
    bool running = sandbox->state == SANDBOX_RUNNING;
    bool paused = sandbox->state == SANDBOX_PAUSED || sandbox->state == SANDBOX_PAUSING ||
                  (sandbox->state == SANDBOX_STARTING && !sandbox->fresh);

    return ((running && wanted->running) || (paused && wanted->paused)) &&
           sandbox->started >= wanted->started_after &&
           (!wanted->template_id ||
            strcmp(wanted->template_id, sandbox->settings.template_id) == 0) &&
           (!wanted->filter || query_filter_match(wanted->filter, sandbox->metadata));
}

static void place_of(struct page_place *ret, const struct sandbox *sandbox)
{
    ret->started = sandbox->started;
    snprintf(ret->id, sizeof ret->id, "%s", sandbox->id);
}

static int compare(const struct sandbox *a, const struct sandbox *b, bool ascending)
{
    struct page_place left;
    struct page_place right;

    place_of(&left, a);
    place_of(&right, b);
    return page_compare(&left, &right, ascending);
}

static int newest_first(const void *a, const void *b)
{
    return compare(*(const struct sandbox *const *)a, *(const struct sandbox *const *)b, false);
}

static int oldest_first(const void *a, const void *b)
{
    return compare(*(const struct sandbox *const *)a, *(const struct sandbox *const *)b, true);
}

/* All that is wanted, sorted; allocated. *running counts those that run. */
static const struct sandbox **collect(const struct plane *plane, const struct wanted *wanted,
                                      size_t *ret_count, size_t *running)
{
    size_t most = 0;

    for (const struct sandbox *s = plane->first; s; s = s->next)
        most++;
    const struct sandbox **list = calloc(most + 1, sizeof *list);
    *ret_count = *running = 0;
    for (const struct sandbox *s = plane->first; list && s; s = s->next) {
        if (!is_wanted(s, wanted))
            continue;
        list[(*ret_count)++] = s;
        *running += s->state == SANDBOX_RUNNING;
    }
    if (list)
        qsort(list, *ret_count, sizeof *list, wanted->ascending ? oldest_first : newest_first);
    return list;
}

static size_t first_after(const struct sandbox **list, size_t count, const struct wanted *wanted)
{
    size_t i = 0;

    while (wanted->after_token && i < count) {
        struct page_place place;
        place_of(&place, list[i]);
        if (page_compare(&place, &wanted->place, wanted->ascending) > 0)
            break;
        i++;
    }
    return i;
}

static void add_headers(struct api_call *call, const struct wanted *wanted, size_t running,
                        const struct sandbox *last)
{
    if (wanted->running && call->v2) {
        char text[24];
        snprintf(text, sizeof text, "%zu", running);
        http_add_header(call->request, "X-Total-Running", text);
    }
    if (last) {
        char token[PAGE_TOKEN_SIZE];
        struct page_place place;
        place_of(&place, last);
        page_token(token, &place, wanted->ascending);
        http_add_header(call->request, "X-Next-Token", token);
    }
}

static void answer(struct api_call *call, const struct wanted *wanted)
{
    size_t count;
    size_t running;
    const struct sandbox **list = collect(call->plane, wanted, &count, &running);
    he2b_json *items = list ? he2b_json_new_array() : NULL;
    size_t i = list ? first_after(list, count, wanted) : 0;
    size_t end = count - i > wanted->limit ? i + wanted->limit : count;
    int bad = HE2B_OK;

    for (; items && i < end && bad == HE2B_OK; i++)
        bad = he2b_json_append(items, api_item(list[i], false));
    if (bad != HE2B_OK) {
        he2b_json_del(items);
        items = NULL;
    }
    if (items)
        add_headers(call, wanted, running, end < count ? list[end - 1] : NULL);
    api_answer(call->request, 200, items);
    free(list);
}

void api_list(struct api_call *call)
{
    struct wanted wanted = {0};

    /* the order decides which tokens are good */
    if (read_filter(call, &wanted) && read_state(call, &wanted) && read_limit(call, &wanted) &&
        read_order(call, &wanted) && read_after(call, &wanted) && read_token(call, &wanted) &&
        read_template(call, &wanted))
        answer(call, &wanted);
    query_filter_del(wanted.filter);
    free(wanted.template_id);
}

void api_list_running(struct api_call *call)
{
    struct wanted wanted = {.running = true, .limit = SIZE_MAX};

    if (read_filter(call, &wanted))
        answer(call, &wanted);
    query_filter_del(wanted.filter);
}
