/* The list: all pages of it, or none. */
#include "e2b/control_call.h"
#include "e2b/control_request.h"
#include "e2b/list_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A filter and a page token, percent-encoded. */
    PATH_MAX_LEN = 3 * 512 + 1024,
    /* A page has 100; a server may be generous, not boundless. */
    PAGE_ITEMS_MAX = 1000,
    PAIRS_MAX = 3,
};

struct list {
    he2b_control control; /* first */
    he2b_loop *loop;
    const struct he2b_settings *settings;
    he2b_list_fn done;
    void *user;
    he2b_request *request;
    bool unwanted;
    char *scope;
    char *attempt;
    unsigned pages;
    size_t room;
    struct he2b_list_answer answer;
};

static void list_free(struct list *list)
{
    size_t i;

    for (i = 0; i < list->answer.count; i++)
        he2b_sandbox_info_done(&list->answer.items[i]);
    free(list->answer.items);
    free(list->scope);
    free(list->attempt);
    free(list);
}

static void end_list(he2b_control *control)
{
    struct list *list = (struct list *)control;

    list->unwanted = true;
    he2b_request_end(list->request);
}

static void cancel_list(he2b_control *control)
{
    struct list *list = (struct list *)control;

    he2b_request_cancel(list->request);
    list_free(list);
}

static const struct he2b_control_ops list_ops = {
    .end = end_list,
    .cancel = cancel_list,
};

/* ---- the request ---- */

static bool is_listed(int status, const char *message)
{
    (void)message;
    return status == 200;
}

static const char *hint(int status)
{
    switch (status) {
    case 401:
        return "check E2B_API_KEY, and that it belongs to the server in E2B_API_URL";
    case 403:
        return "check the account";
    case 404:
        return "check E2B_API_URL";
    default:
        return NULL;
    }
}

/* Always v2: the v1 list never shows a paused one, so its absence there says nothing (wire H). */
static const struct he2b_request_kind list_kind = {
    .action = "list sandboxes",
    .method = "GET",
    .good = is_listed,
    .hint = hint,
};

static void on_page(void *user, const struct he2b_request_answer *answer);

static int add_path(const struct list *list, struct he2b_buf *path, const char *token)
{
    struct he2b_list_pair pairs[PAIRS_MAX];
    size_t count = 0;
    int error;

    pairs[count++] = (struct he2b_list_pair){HE2B_META_PLUGIN, HE2B_META_PLUGIN_VALUE};
    if (list->scope)
        pairs[count++] = (struct he2b_list_pair){HE2B_META_SCOPE, list->scope};
    if (list->attempt)
        pairs[count++] = (struct he2b_list_pair){HE2B_META_ATTEMPT, list->attempt};
    error = he2b_buf_adds(path, "/v2/sandboxes?state=running,paused&limit=100&metadata=");
    if (!error)
        error = he2b_list_metadata(path, pairs, count);
    if (!error && token[0])
        error = he2b_buf_adds(path, "&nextToken=");
    if (!error)
        error = he2b_percent(path, token);
    return error;
}

static int ask_page(struct list *list, const char *token)
{
    struct he2b_buf path;
    int error;

    he2b_buf_init(&path, PATH_MAX_LEN);
    error = add_path(list, &path, token);
    if (!error)
        error = he2b_request_start(&list->request, list->loop, list->settings, &list_kind,
                                   he2b_buf_str(&path), NULL, NULL, on_page, list);
    he2b_buf_free(&path);
    return error;
}

/* ---- the end ---- */

static int newer_first(const void *a, const void *b)
{
    const struct he2b_sandbox_info *one = a;
    const struct he2b_sandbox_info *other = b;

    if (one->started_us != other->started_us)
        return one->started_us > other->started_us ? -1 : 1;
    return strcmp(one->sandbox_id, other->sandbox_id);
}

static void finish(struct list *list)
{
    list->answer.ok = true;
    if (list->answer.count)
        qsort(list->answer.items, list->answer.count, sizeof(list->answer.items[0]), newer_first);
    list->done(list->user, &list->answer);
    list_free(list);
}

/* Half a list is none: what was read is not told. */
static void fail(struct list *list, const struct he2b_failure *failure)
{
    struct he2b_list_answer answer = {.failure = *failure};

    list->done(list->user, &answer);
    list_free(list);
}

static void fail_with(struct list *list, int code, const char *why)
{
    struct he2b_failure failure;

    he2b_request_failure(&failure, list->settings, &list_kind, code, 0,
                         code == HE2B_ERR_PROTOCOL ? "check E2B_API_URL" : NULL, why, strlen(why));
    fail(list, &failure);
}

/* ---- reading ---- */

static bool has(const struct he2b_sandbox_info *info, const char *key, const char *value)
{
    const char *text = he2b_sandbox_info_meta(info, key);

    return !value || (text && strcmp(text, value) == 0);
}

/* B-21: a server that ignores the filter must not make anybody else's ours. */
static bool wanted(const struct list *list, const struct he2b_sandbox_info *info)
{
    size_t i;

    if (!has(info, HE2B_META_SCOPE, list->scope) || !has(info, HE2B_META_ATTEMPT, list->attempt))
        return false;
    /* One that moved between two pages is seen twice (wire A.7). */
    for (i = 0; i < list->answer.count; i++) {
        if (strcmp(list->answer.items[i].sandbox_id, info->sandbox_id) == 0)
            return false;
    }
    return true;
}

static int add_item(struct list *list, const he2b_json *item, int64_t date)
{
    const char *plugin = he2b_json_get_string(he2b_json_get(item, "metadata"), HE2B_META_PLUGIN);
    struct he2b_sandbox_info info;
    int error;

    if (!he2b_json_is_object(item))
        return HE2B_ERR_PROTOCOL;
    if (!plugin || strcmp(plugin, HE2B_META_PLUGIN_VALUE) != 0)
        return HE2B_OK;
    error = he2b_sandbox_info_read(&info, item, date);
    if (error)
        return error;
    if (!wanted(list, &info)) {
        he2b_sandbox_info_done(&info);
        return HE2B_OK;
    }
    if (list->answer.count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct he2b_sandbox_info *items =
            realloc(list->answer.items, room * sizeof(list->answer.items[0]));

        if (!items) {
            he2b_sandbox_info_done(&info);
            return HE2B_ERR_NOMEM;
        }
        list->answer.items = items;
        list->room = room;
    }
    list->answer.items[list->answer.count++] = info;
    return HE2B_OK;
}

static int add_page(struct list *list, const struct he2b_request_answer *answer)
{
    he2b_json *json = NULL;
    size_t count;
    size_t i;
    int error = he2b_json_parse(&json, answer->body, answer->len);

    if (error)
        return error;
    count = he2b_json_array_size(json);
    if (!he2b_json_is_array(json) || count > PAGE_ITEMS_MAX)
        error = HE2B_ERR_PROTOCOL;
    for (i = 0; i < count && !error; i++)
        error = add_item(list, he2b_json_at(json, i), answer->date);
    he2b_json_del(json);
    return error;
}

static void on_page(void *user, const struct he2b_request_answer *answer)
{
    struct list *list = user;
    int error;

    list->request = NULL;
    if (!answer->ok) {
        fail(list, &answer->failure);
        return;
    }
    error = add_page(list, answer);
    if (error) {
        fail_with(list, error,
                  error == HE2B_ERR_PROTOCOL
                      ? "the answer is not a list of sandboxes as E2B's API gives it"
                      : he2b_strerror(error));
        return;
    }
    if (!answer->next_token[0]) {
        finish(list);
        return;
    }
    if (++list->pages == HE2B_LIST_PAGES_MAX) {
        fail_with(list, HE2B_ERR_PROTOCOL, "the list has no end");
        return;
    }
    error = list->unwanted ? HE2B_ERR_CANCELLED : ask_page(list, answer->next_token);
    if (error)
        fail_with(list, error, he2b_strerror(error));
}

/* ---- the start ---- */

int he2b_control_list(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                      const struct he2b_list_filter *filter, he2b_list_fn done, void *user)
{
    struct list *list = calloc(1, sizeof(*list));
    int error = HE2B_ERR_NOMEM;

    if (!list)
        return HE2B_ERR_NOMEM;
    list->control.ops = &list_ops;
    list->loop = loop;
    list->settings = settings;
    list->done = done;
    list->user = user;
    if (filter && filter->scope)
        list->scope = strdup(filter->scope);
    if (filter && filter->attempt)
        list->attempt = strdup(filter->attempt);
    if (!filter || ((list->scope || !filter->scope) && (list->attempt || !filter->attempt)))
        error = ask_page(list, "");
    if (error) {
        list_free(list);
        return error;
    }
    *ret = &list->control;
    return HE2B_OK;
}
