/* The control plane's routes (wire A), v1 and v2. */
#include "he2b.h"
#include "local/plane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char envd_version[] = "0.6.13";

/* ---- JSON of a sandbox ---- */

static he2b_json *copy_json(const he2b_json *value)
{
    union {
        const he2b_json *in;
        he2b_json *out;
    } cast = {.in = value};
    he2b_json *copy = NULL;
    size_t len = 0;
    const char *text = value ? he2b_json_text(cast.out, &len) : NULL;

    if (text)
        (void)he2b_json_parse(&copy, text, len);
    return copy;
}

/* The answer to create and connect (wire A.6). */
static he2b_json *connection_json(const struct sandbox *sandbox)
{
    he2b_json *json = he2b_json_new_object();

    if (!json || he2b_json_add_string(json, "sandboxID", sandbox->id) ||
        he2b_json_add_string(json, "templateID", sandbox->template_id) ||
        he2b_json_add_string(json, "alias", sandbox->template_id) ||
        he2b_json_add_string(json, "clientID", "6532622b") ||
        he2b_json_add_string(json, "envdVersion", envd_version) ||
        (sandbox->secure && he2b_json_add_string(json, "envdAccessToken", sandbox->token))) {
        he2b_json_del(json);
        return NULL;
    }
    return json;
}

static bool shown_running(const struct sandbox *sandbox)
{
    return sandbox->state == SANDBOX_RUNNING;
}

static bool shown_paused(const struct sandbox *sandbox)
{
    return sandbox->state == SANDBOX_PAUSED || sandbox->state == SANDBOX_PAUSING;
}

static he2b_json *item_json(const struct sandbox *sandbox)
{
    he2b_json *json = he2b_json_new_object();
    char started[40];
    char end[40];

    plane_time(started, sandbox->started_us);
    plane_time(end, sandbox->end_us);
    if (!json || he2b_json_add_string(json, "sandboxID", sandbox->id) ||
        he2b_json_add_string(json, "templateID", sandbox->template_id) ||
        he2b_json_add_string(json, "alias", sandbox->template_id) ||
        he2b_json_add_string(json, "clientID", "6532622b") ||
        he2b_json_add_string(json, "envdVersion", envd_version) ||
        he2b_json_add_string(json, "startedAt", started) ||
        he2b_json_add_string(json, "endAt", end) ||
        he2b_json_add_string(json, "state", shown_paused(sandbox) ? "paused" : "running") ||
        he2b_json_add_int(json, "cpuCount", 2) || he2b_json_add_int(json, "memoryMB", 512) ||
        he2b_json_add_int(json, "diskSizeMB", 10240) ||
        he2b_json_add(json, "volumeMounts", he2b_json_new_array()) ||
        (sandbox->metadata && he2b_json_add(json, "metadata", copy_json(sandbox->metadata)))) {
        he2b_json_del(json);
        return NULL;
    }
    return json;
}

static he2b_json *detail_json(const struct sandbox *sandbox)
{
    he2b_json *json = item_json(sandbox);
    he2b_json *lifecycle = he2b_json_new_object();

    if (!json || !lifecycle ||
        (sandbox->secure && he2b_json_add_string(json, "envdAccessToken", sandbox->token)) ||
        he2b_json_add_bool(json, "allowInternetAccess", sandbox->internet) ||
        he2b_json_add_string(lifecycle, "onTimeout", sandbox->auto_pause ? "pause" : "kill") ||
        he2b_json_add_bool(lifecycle, "autoResume", sandbox->auto_resume)) {
        he2b_json_del(lifecycle);
        he2b_json_del(json);
        return NULL;
    }
    (void)he2b_json_add(json, "lifecycle", lifecycle);
    return json;
}

/* ---- reading a body ---- */

/* The body as an object; "" is {} where empty is allowed. NULL after an answer. */
static he2b_json *read_body(struct request *r, bool may_be_empty)
{
    he2b_json *json = NULL;
    size_t len;
    const char *body = request_body(r, &len);

    if (len == 0 && may_be_empty)
        return he2b_json_new_object();
    if (he2b_json_parse(&json, body, len) != HE2B_OK || !he2b_json_is_object(json)) {
        he2b_json_del(json);
        request_error(r, 400, "Error when parsing request: the body is not a JSON object");
        return NULL;
    }
    return json;
}

/* A member that is there and of another type: an answer, and false (wire A.3). */
static bool read_int(struct request *r, const he2b_json *body, const char *key, int64_t *ret)
{
    const he2b_json *value = he2b_json_get(body, key);

    if (!value)
        return true;
    if (he2b_json_string(value, NULL) || !he2b_json_int(value, ret) || *ret > INT32_MAX) {
        request_error(r, 400, "validation error: %s must be an integer", key);
        return false;
    }
    return true;
}

static bool read_bool(struct request *r, const he2b_json *body, const char *key, bool *ret)
{
    const he2b_json *value = he2b_json_get(body, key);

    if (!value || he2b_json_bool(value, ret))
        return true;
    request_error(r, 400, "validation error: %s must be a boolean", key);
    return false;
}

static bool all_strings(void *user, const char *key, const he2b_json *value)
{
    (void)key;
    *(bool *)user = he2b_json_string(value, NULL) != NULL;
    return *(bool *)user;
}

static bool read_pairs(struct request *r, const he2b_json *body, const char *key, he2b_json **ret)
{
    const he2b_json *value = he2b_json_get(body, key);
    bool good = true;

    *ret = NULL;
    if (!value)
        return true;
    good = he2b_json_is_object(value);
    if (good)
        he2b_json_each(value, all_strings, &good);
    if (!good) {
        request_error(r, 400, "validation error: %s must be an object of strings", key);
        return false;
    }
    *ret = copy_json(value);
    return true;
}

static bool check_timeout(struct request *r, int64_t timeout, bool zero_is_fine)
{
    if (timeout < 0) {
        request_error(r, 400, "validation error: timeout must be at least 0");
    } else if (timeout == 0 && !zero_is_fine) {
        request_error(r, 400, "Timeout must be greater than 0");
    } else if (timeout > PLANE_TIMEOUT_MAX_S) {
        request_error(r, 400, "Timeout cannot be greater than %d hours",
                      PLANE_TIMEOUT_MAX_S / 3600);
    } else {
        return true;
    }
    return false;
}

/* ---- create ---- */

static bool known_template(const char *name)
{
    size_t len = strcspn(name, ":");
    size_t i;

    for (i = 0; i < plane.template_count; i++) {
        if (strlen(plane.templates[i]) == len && strncmp(plane.templates[i], name, len) == 0)
            return true;
    }
    return false;
}

static void on_created(void *user, struct sandbox *sandbox, int status, const char *why)
{
    struct request *r = user;

    *request_waiting(r) = NULL;
    if (status)
        request_error(r, 500, "Failed to create sandbox: %s", why);
    else
        request_json(r, 201, connection_json(sandbox));
}

static void free_made(struct sandbox *made)
{
    free(made->template_id);
    he2b_json_del(made->metadata);
    he2b_json_del(made->env_vars);
    free(made);
}

/* Lower case and trimmed, as the service does (wire A.6). */
static char *template_name(const char *text)
{
    size_t len = strlen(text);
    char *name;
    size_t i;

    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    while (len && strchr(" \t\r\n", text[0])) {
        text++;
        len--;
    }
    name = strndup(text, len);
    for (i = 0; name && name[i]; i++) {
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] - 'A' + 'a');
    }
    return name;
}

/* Fills made from the body; false after an answer. */
static bool read_create(struct request *r, const he2b_json *body, bool v2, struct sandbox *made,
                        int64_t *timeout)
{
    const he2b_json *resume = he2b_json_get(body, "autoResume");
    const char *name = he2b_json_get_string(body, "templateID");
    bool memory = true;

    *timeout = v2 ? 300 : 15;
    made->secure = v2;
    made->internet = true;
    if (!name) {
        request_error(r, 400, "validation error: templateID is required");
        return false;
    }
    made->template_id = template_name(name);
    if (!made->template_id || !made->template_id[0]) {
        request_error(r, 400, "Invalid template reference: %s", name);
        return false;
    }
    if (!read_int(r, body, "timeout", timeout) || !check_timeout(r, *timeout, false) ||
        !read_bool(r, body, "autoPause", &made->auto_pause) ||
        !read_bool(r, body, "autoPauseMemory", &memory) ||
        !read_bool(r, body, "secure", &made->secure) ||
        !read_bool(r, body, "allow_internet_access", &made->internet) ||
        !read_pairs(r, body, "metadata", &made->metadata) ||
        !read_pairs(r, body, "envVars", &made->env_vars))
        return false;
    if (v2)
        made->secure = true;
    if (resume && !read_bool(r, resume, "enabled", &made->auto_resume))
        return false;
    if (!memory && !made->auto_pause) {
        request_error(r, 400, "autoPauseMemory=false only applies when autoPause is true.");
        return false;
    }
    if (!memory && made->auto_resume) {
        request_error(r, 400, "a filesystem-only auto-pause cannot be combined with autoResume");
        return false;
    }
    if (!known_template(made->template_id)) {
        request_error(r, 404, "template '%s' not found", made->template_id);
        return false;
    }
    return true;
}

static void create(struct request *r, bool v2)
{
    he2b_json *body = read_body(r, false);
    struct sandbox *made = calloc(1, sizeof(*made));
    int64_t timeout;
    char why[512];

    if (!body || !made || !read_create(r, body, v2, made, &timeout)) {
        if (made)
            free_made(made);
        he2b_json_del(body);
        return;
    }
    he2b_json_del(body);
    *request_waiting(r) = r;
    if (!sandbox_create(made, timeout, on_created, r, why, sizeof(why)))
        request_error(r, 500, "Failed to place sandbox: %s", why);
}

/* ---- list ---- */

struct page {
    const struct sandbox **items;
    size_t count;
    size_t room;
};

static bool want_state(const char *states, const struct sandbox *sandbox)
{
    if (!states)
        return shown_running(sandbox) || shown_paused(sandbox);
    return (shown_running(sandbox) && strstr(states, "running")) ||
           (shown_paused(sandbox) && strstr(states, "paused"));
}

static bool valid_states(const char *states)
{
    while (states && *states) {
        size_t len = strcspn(states, ",");

        if (!((len == 7 && strncmp(states, "running", 7) == 0) ||
              (len == 6 && strncmp(states, "paused", 6) == 0)))
            return false;
        states += len;
        if (*states == ',')
            states++;
    }
    return true;
}

static int newest_first(const void *a, const void *b)
{
    const struct sandbox *const *left = a;
    const struct sandbox *const *right = b;

    if ((*left)->started_us != (*right)->started_us)
        return (*left)->started_us < (*right)->started_us ? 1 : -1;
    return strcmp((*left)->id, (*right)->id);
}

/* Tokens are opaque: "<microseconds>_<id>", with "_asc" for the other order, in hex digits of
 * bytes. */
static void make_token(char *out, size_t size, const struct sandbox *last, bool ascending)
{
    char plain[80];
    size_t i;
    int n = snprintf(plain, sizeof(plain), "%lld_%s%s", (long long)last->started_us, last->id,
                     ascending ? "_asc" : "");

    for (i = 0; i < (size_t)n && 2 * i + 3 <= size; i++)
        snprintf(out + 2 * i, 3, "%02x", (unsigned char)plain[i]);
}

static bool read_token(const char *token, int64_t *ret_us, char id[PLANE_ID_SIZE], bool ascending)
{
    char plain[80];
    char *end;
    size_t n = strlen(token) / 2;
    size_t i;

    if (strlen(token) % 2 || n >= sizeof(plain))
        return false;
    for (i = 0; i < n; i++) {
        unsigned byte;

        if (sscanf(token + 2 * i, "%2x", &byte) != 1)
            return false;
        plain[i] = (char)byte;
    }
    plain[n] = '\0';
    *ret_us = strtoll(plain, &end, 10);
    if (end == plain || *end != '_')
        return false;
    end++;
    n = strcspn(end, "_");
    if (n >= PLANE_ID_SIZE || n == 0 || ascending != (strcmp(end + n, "_asc") == 0) ||
        (!ascending && end[n]))
        return false;
    snprintf(id, PLANE_ID_SIZE, "%.*s", (int)n, end);
    return true;
}

struct list_query {
    char *metadata;
    char *state;
    char *order;
    char *limit;
    char *token;
    char *template_id;
    char *after;
    he2b_json *filter;
    bool ascending;
    long most;
    int64_t from_us; /* startedAfter, or 0 */
};

static void list_query_done(struct list_query *query)
{
    free(query->metadata);
    free(query->state);
    free(query->order);
    free(query->limit);
    free(query->token);
    free(query->template_id);
    free(query->after);
    he2b_json_del(query->filter);
}

/* False after an answer. */
static bool read_list_query(struct request *r, struct list_query *query)
{
    const char *target = request_target(r);
    char *end;

    memset(query, 0, sizeof(*query));
    query->metadata = plane_query_value(target, "metadata");
    query->state = plane_query_value(target, "state");
    query->order = plane_query_value(target, "order");
    query->limit = plane_query_value(target, "limit");
    query->token = plane_query_value(target, "nextToken");
    query->template_id = plane_query_value(target, "template");
    query->after = plane_query_value(target, "startedAfter");
    query->most = 100;
    if (query->metadata && !(query->filter = plane_metadata_filter(query->metadata))) {
        request_error(r, 400, "Error parsing metadata");
        return false;
    }
    if (query->state && (!query->state[0] || !valid_states(query->state))) {
        request_error(r, 400, "validation error: state must be running or paused");
        return false;
    }
    if (query->order && strcmp(query->order, "asc") != 0 && strcmp(query->order, "desc") != 0) {
        request_error(r, 400, "validation error: order must be asc or desc");
        return false;
    }
    query->ascending = query->order && strcmp(query->order, "asc") == 0;
    if (query->limit) {
        query->most = strtol(query->limit, &end, 10);
        if (end == query->limit || *end || query->most < 1 || query->most > 100) {
            request_error(r, 400, "validation error: limit must be between 1 and 100");
            return false;
        }
    }
    if (query->template_id && strchr(query->template_id, ':')) {
        request_error(r, 400, "validation error: template must not have a tag");
        return false;
    }
    if (query->after && !plane_read_time(query->after, &query->from_us)) {
        request_error(r, 400, "validation error: startedAfter must be an RFC 3339 time");
        return false;
    }
    return true;
}

static bool collect(struct page *page, const struct list_query *query, size_t *ret_running)
{
    const struct sandbox *sandbox;

    for (sandbox = plane.sandboxes; sandbox; sandbox = sandbox->next) {
        if (!want_state(query->state, sandbox) ||
            !plane_metadata_matches(query->filter, sandbox->metadata) ||
            (query->template_id && strcmp(query->template_id, sandbox->template_id) != 0) ||
            sandbox->started_us < query->from_us)
            continue;
        if (page->count == page->room) {
            size_t room = page->room ? page->room * 2 : 64;
            const struct sandbox **items = realloc(page->items, room * sizeof(*items));

            if (!items)
                return false;
            page->items = items;
            page->room = room;
        }
        page->items[page->count++] = sandbox;
        *ret_running += shown_running(sandbox);
    }
    if (page->count)
        qsort(page->items, page->count, sizeof(*page->items), newest_first);
    return true;
}

static bool behind(const struct sandbox *sandbox, int64_t us, const char *id, bool ascending)
{
    bool later =
        sandbox->started_us < us || (sandbox->started_us == us && strcmp(sandbox->id, id) > 0);
    bool same = sandbox->started_us == us && strcmp(sandbox->id, id) == 0;

    return !same && later != ascending;
}

static void list(struct request *r, bool paged)
{
    struct list_query query;
    struct page page = {0};
    he2b_json *answer = NULL;
    char id[PLANE_ID_SIZE];
    char text[200];
    size_t running = 0;
    size_t i;
    long given = 0;
    int64_t us = 0;
    const struct sandbox *last = NULL;
    bool more = false;

    if (!read_list_query(r, &query))
        goto out;
    if (!paged) {
        free(query.state);
        query.state = strdup("running");
        query.most = 1000000;
    }
    if (query.token && paged && !read_token(query.token, &us, id, query.ascending)) {
        request_error(r, 400, "Invalid next token");
        goto out;
    }
    answer = he2b_json_new_array();
    if (!answer || !collect(&page, &query, &running)) {
        request_error(r, 500, "out of memory");
        goto out;
    }
    for (i = 0; i < page.count; i++) {
        const struct sandbox *sandbox = page.items[query.ascending ? page.count - 1 - i : i];

        if (query.token && paged && !behind(sandbox, us, id, query.ascending))
            continue;
        if (given == query.most) {
            more = true;
            break;
        }
        (void)he2b_json_append(answer, item_json(sandbox));
        last = sandbox;
        given++;
    }
    if (paged && (!query.state || strstr(query.state, "running"))) {
        snprintf(text, sizeof(text), "%zu", running);
        request_add_header(r, "X-Total-Running", text);
    }
    if (more && last) {
        make_token(text, sizeof(text), last, query.ascending);
        request_add_header(r, "X-Next-Token", text);
    }
    request_json(r, 200, answer);
    answer = NULL;
out:
    he2b_json_del(answer);
    free(page.items);
    list_query_done(&query);
}

/* ---- one sandbox ---- */

static void not_found(struct request *r, const char *id)
{
    request_error(r, 404, "Sandbox \"%s\" doesn't exist or you don't have access to it", id);
}

static void connect_to(struct request *r, struct sandbox *sandbox);

static void on_resumed(void *user, struct sandbox *sandbox, int status, const char *why)
{
    struct request *r = user;

    *request_waiting(r) = NULL;
    if (status)
        request_error(r, 500, "Failed to resume sandbox: %s", why);
    else
        request_json(r, 201, connection_json(sandbox));
}

/* A transition is over: look again. */
static void on_settled(void *user, struct sandbox *sandbox, int status, const char *why)
{
    struct request *r = user;

    (void)why;
    *request_waiting(r) = NULL;
    if (status)
        request_error(r, 500, "Error waiting for sandbox state change");
    else
        connect_to(r, sandbox);
}

static bool connect_timeout(struct request *r, int64_t *ret)
{
    he2b_json *body = read_body(r, true);
    bool v2 = strncmp(request_target(r), "/v2/", 4) == 0;
    bool good;

    *ret = v2 ? 300 : -1;
    good = body && read_int(r, body, "timeout", ret);
    if (good && *ret == -1 && !he2b_json_get(body, "timeout")) {
        request_error(r, 400, "validation error: timeout is required");
        good = false;
    }
    good = good && check_timeout(r, *ret, true);
    he2b_json_del(body);
    return good;
}

static void connect_to(struct request *r, struct sandbox *sandbox)
{
    int64_t timeout = 0;
    int64_t end;
    char why[512];

    if (!connect_timeout(r, &timeout))
        return;
    switch (sandbox->state) {
    case SANDBOX_RUNNING:
        end = plane_now_us() + timeout * 1000000;
        if (end > sandbox->end_us)
            sandbox_set_end(sandbox, end);
        request_json(r, 200, connection_json(sandbox));
        break;
    case SANDBOX_KILLING:
        request_error(r, 409, "Sandbox \"%s\" is being killed", sandbox->id);
        break;
    case SANDBOX_STARTING:
        *request_waiting(r) = r;
        sandbox_wait(sandbox, on_resumed, r);
        break;
    case SANDBOX_PAUSING:
        *request_waiting(r) = r;
        sandbox_wait(sandbox, on_settled, r);
        break;
    case SANDBOX_PAUSED:
        if (timeout == 0) {
            /* a cold boot has to begin before its lease is over (wire A.8) */
            request_error(r, 500, "Failed to resume sandbox: its lease of 0 s is over already");
            break;
        }
        *request_waiting(r) = r;
        if (sandbox_resume(sandbox, timeout, on_resumed, r, why, sizeof(why)) != 0)
            request_error(r, 500, "Failed to place sandbox: %s", why);
        break;
    }
}

static void on_killed(void *user, struct sandbox *sandbox, int status, const char *why)
{
    struct request *r = user;

    (void)sandbox;
    (void)status;
    (void)why;
    *request_waiting(r) = NULL;
    request_answer(r, 204, NULL, "", 0);
}

static void on_pause_settled(void *user, struct sandbox *sandbox, int status, const char *why);

static void kill_it(struct request *r, struct sandbox *sandbox)
{
    switch (sandbox->state) {
    case SANDBOX_KILLING:
    case SANDBOX_STARTING:
    case SANDBOX_RUNNING:
        *request_waiting(r) = r;
        if (sandbox->state != SANDBOX_KILLING)
            sandbox_kill(sandbox);
        sandbox_wait(sandbox, on_killed, r);
        break;
    case SANDBOX_PAUSING:
        *request_waiting(r) = r;
        sandbox_wait(sandbox, on_pause_settled, r);
        break;
    case SANDBOX_PAUSED:
        sandbox_kill(sandbox);
        request_answer(r, 204, NULL, "", 0);
        break;
    }
}

static void on_pause_settled(void *user, struct sandbox *sandbox, int status, const char *why)
{
    struct request *r = user;

    (void)status;
    (void)why;
    *request_waiting(r) = NULL;
    kill_it(r, sandbox);
}

static void pause_it(struct request *r, struct sandbox *sandbox)
{
    he2b_json *body = read_body(r, true);
    bool memory = true;

    if (!body || !read_bool(r, body, "memory", &memory)) {
        he2b_json_del(body);
        return;
    }
    he2b_json_del(body);
    switch (sandbox->state) {
    case SANDBOX_RUNNING:
        if (memory)
            plane_log("sandbox %s: a pause here keeps the files and not the memory", sandbox->id);
        sandbox_pause(sandbox);
        *request_waiting(r) = r;
        sandbox_wait(sandbox, on_killed, r);
        break;
    case SANDBOX_PAUSING:
        *request_waiting(r) = r;
        sandbox_wait(sandbox, on_killed, r);
        break;
    case SANDBOX_PAUSED:
        request_error(r, 409, "Error pausing sandbox - sandbox '%s' is already paused",
                      sandbox->id);
        break;
    case SANDBOX_STARTING:
    case SANDBOX_KILLING:
        request_error(r, 409, "Error pausing sandbox - sandbox '%s' cannot be paused now",
                      sandbox->id);
        break;
    }
}

static void set_timeout(struct request *r, struct sandbox *sandbox)
{
    he2b_json *body = read_body(r, false);
    int64_t timeout = -1;

    if (!body)
        return;
    if (!he2b_json_get(body, "timeout")) {
        request_error(r, 400, "validation error: timeout is required");
    } else if (read_int(r, body, "timeout", &timeout)) {
        if (timeout < 0)
            request_error(r, 400, "validation error: timeout must be at least 0");
        else if (sandbox->state == SANDBOX_PAUSED)
            not_found(r, sandbox->id);
        else if (sandbox->state != SANDBOX_RUNNING)
            request_error(r, 409, "Sandbox \"%s\" is being %s", sandbox->id,
                          sandbox->state == SANDBOX_PAUSING ? "paused" : "killed");
        else {
            if (timeout > PLANE_TIMEOUT_MAX_S)
                timeout = PLANE_TIMEOUT_MAX_S;
            sandbox_set_end(sandbox, plane_now_us() + timeout * 1000000);
            request_answer(r, 204, NULL, "", 0);
        }
    }
    he2b_json_del(body);
}

static void refresh(struct request *r, struct sandbox *sandbox)
{
    he2b_json *body = read_body(r, true);
    int64_t duration = 0;
    int64_t end;

    if (!body)
        return;
    if (read_int(r, body, "duration", &duration)) {
        if (duration < 0 || duration > 3600) {
            request_error(r, 400, "validation error: duration must be between 0 and 3600");
        } else if (sandbox->state != SANDBOX_RUNNING) {
            not_found(r, sandbox->id);
        } else {
            end = plane_now_us() + (duration < 15 ? 15 : duration) * 1000000;
            if (end > sandbox->end_us)
                sandbox_set_end(sandbox, end);
            request_answer(r, 204, NULL, "", 0);
        }
    }
    he2b_json_del(body);
}

static void resume_it(struct request *r, struct sandbox *sandbox)
{
    if (sandbox->state == SANDBOX_RUNNING)
        request_error(r, 409, "Sandbox \"%s\" is already running", sandbox->id);
    else
        connect_to(r, sandbox);
}

/* ---- routes ---- */

/* The path behind "/sandboxes", with or without "/v2" before it; NULL if it is another one. */
static const char *sandboxes_path(const char *target, bool *ret_v2)
{
    *ret_v2 = strncmp(target, "/v2/", 4) == 0;
    if (*ret_v2)
        target += 3;
    if (strncmp(target, "/sandboxes", 10) != 0 || (target[10] && !strchr("/?", target[10])))
        return NULL;
    return target + 10;
}

bool control_claims(const struct request *r)
{
    bool v2;

    /* A request with routing headers is for a sandbox, whatever its path. */
    if (request_header(r, "e2b-sandbox-id") || request_header(r, "e2b-sandbox-port"))
        return false;
    return sandboxes_path(request_target(r), &v2) || strcmp(request_target(r), "/health") == 0;
}

/* wire A.3; false after an answer. */
static bool authenticated(struct request *r)
{
    const char *key = request_header(r, "x-api-key");
    const char *digits = key ? key + 4 : NULL;

    if (!key) {
        request_error(r, 401, "authorization header is missing");
    } else if (strncmp(key, "e2b_", 4) != 0) {
        request_error(r, 401, "authorization header is malformed");
    } else if (strcmp(key, plane.key) != 0 || !digits) {
        request_error(r, 401,
                      "Invalid API key, please visit https://e2b.dev/docs/api-key for more "
                      "information.\nThis is e2b-local: the key it accepts is printed by "
                      "\"e2b-local env\".");
    } else {
        return true;
    }
    return false;
}

struct action {
    const char *method;
    const char *name;
    void (*serve)(struct request *r, struct sandbox *sandbox);
};

static void get_it(struct request *r, struct sandbox *sandbox)
{
    if (sandbox->state == SANDBOX_KILLING)
        not_found(r, sandbox->id);
    else
        request_json(r, 200, detail_json(sandbox));
}

static void serve_one(struct request *r, const char *path)
{
    static const struct action actions[] = {
        {"GET", "", get_it},
        {"DELETE", "", kill_it},
        {"POST", "/connect", connect_to},
        {"POST", "/pause", pause_it},
        {"POST", "/timeout", set_timeout},
        {"POST", "/refreshes", refresh},
        {"POST", "/resume", resume_it},
    };
    size_t id_len = strcspn(path, "/?");
    const char *rest = path + id_len;
    size_t rest_len = strcspn(rest, "?");
    char id[PLANE_ID_SIZE];
    struct sandbox *sandbox;
    bool name_known = false;
    int64_t timeout;
    size_t i;

    for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strlen(actions[i].name) != rest_len || strncmp(actions[i].name, rest, rest_len) != 0)
            continue;
        name_known = true;
        if (strcmp(actions[i].method, request_method(r)) != 0)
            continue;
        /* connect's body is judged before the id (wire A.8) */
        if (actions[i].serve == connect_to && !connect_timeout(r, &timeout))
            return;
        if (!plane_read_id(id, path, id_len)) {
            request_error(r, 400, "Invalid sandbox ID");
            return;
        }
        sandbox = sandbox_find(id);
        if (sandbox)
            actions[i].serve(r, sandbox);
        else
            request_error(r, 404, "Sandbox \"%.*s\" doesn't exist or you don't have access to it",
                          (int)(id_len < 128 ? id_len : 128), path);
        return;
    }
    if (name_known)
        request_error(r, 405, "method not allowed");
    else
        request_error(r, 404, "no matching operation was found");
}

void control_serve(struct request *r)
{
    const char *path;
    bool v2;

    if (strcmp(request_target(r), "/health") == 0) {
        request_answer(r, 200, "text/plain; charset=utf-8", "Health check successful", 23);
        return;
    }
    if (!authenticated(r))
        return;
    path = sandboxes_path(request_target(r), &v2);
    if (path[0] == '/') {
        serve_one(r, path + 1);
    } else if (strcmp(request_method(r), "POST") == 0) {
        create(r, v2);
    } else if (strcmp(request_method(r), "GET") == 0) {
        list(r, v2);
    } else {
        request_error(r, 405, "method not allowed");
    }
}
