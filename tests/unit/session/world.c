#include "tests/unit/session/world.h"

#include "core/base64.h"
#include "core/json.h"
#include "e2b/control_request.h"
#include "e2b/sandbox_info.h"
#include "net/loop.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum kind {
    CREATE,
    LIST,
    GET,
    CONNECT,
    KILL,
    HEALTH,
    PROBE,
    UNSTAMP,
    RESTAMP,
    KILLER,
    ASK,
    ATTACH,
    COMMAND,
    INPUT,
    CLOSE_STDIN,
    UPLOAD,
    TRANSFER,
    OTHER,
};
_Static_assert((int)OTHER < (int)WORLD_KINDS, "each kind is counted");

static const char *const kind_names[] = {
    "create", "list", "get",    "connect", "kill",  "health",      "probe",  "unstamp",  "restamp",
    "killer", "ask",  "attach", "command", "input", "close-stdin", "upload", "transfer", "other"};

/* ---- reading requests ---- */

static he2b_json *start_message(const struct peer_request *request)
{
    he2b_json *json = NULL;

    if (request->body_len < 5 ||
        he2b_json_parse(&json, request->body + 5, request->body_len - 5) != HE2B_OK)
        return NULL;
    return json;
}

bool world_argument(const struct peer_request *request, size_t from_end, char *out, size_t size)
{
    he2b_json *json = start_message(request);
    const he2b_json *args = he2b_json_get(he2b_json_get(json, "process"), "args");
    size_t count = he2b_json_array_size(args);
    const char *text =
        from_end < count ? he2b_json_string(he2b_json_at(args, count - 1 - from_end), NULL) : NULL;
    bool ok = text && strlen(text) < size;

    if (ok)
        memcpy(out, text, strlen(text) + 1);
    he2b_json_del(json);
    return ok;
}

bool world_word(const struct peer_request *request, char word[WORLD_WORD + 1])
{
    return world_argument(request, 6, word, WORLD_WORD + 1) && strlen(word) == WORLD_WORD;
}

static enum kind start_kind(const struct peer_request *request)
{
    char text[64];

    if (world_argument(request, 4, text, sizeof(text)) && strcmp(text, "hermes-e2b-probe") == 0 &&
        world_argument(request, 2, text, sizeof(text)))
        return strcmp(text, "unstamp") == 0   ? UNSTAMP
               : strcmp(text, "restamp") == 0 ? RESTAMP
                                              : PROBE;
    if (world_argument(request, 2, text, sizeof(text)) && strcmp(text, "hermes-e2b-kill") == 0)
        return KILLER;
    if (world_argument(request, 5, text, sizeof(text)) && strcmp(text, "hermes-e2b-ask") == 0)
        return ASK;
    if ((world_argument(request, 6, text, sizeof(text)) && strcmp(text, "hermes-e2b-push") == 0) ||
        (world_argument(request, 1, text, sizeof(text)) &&
         (strcmp(text, "hermes-e2b-recover") == 0 || strcmp(text, "hermes-e2b-pull") == 0)))
        return TRANSFER;
    return COMMAND;
}

static enum kind request_kind(const struct peer_request *request)
{
    const char *path = request->path;
    const char *last = strrchr(path, '/');

    if (strcmp(request->method, "DELETE") == 0)
        return KILL;
    if (strcmp(request->method, "GET") == 0 && strncmp(path, "/v2/sandboxes?", 14) == 0)
        return LIST;
    if (strcmp(request->method, "GET") == 0 && strncmp(path, "/sandboxes/", 11) == 0)
        return GET;
    if (strcmp(path, "/sandboxes") == 0 || strcmp(path, "/v2/sandboxes") == 0)
        return CREATE;
    if (strcmp(last, "/connect") == 0)
        return CONNECT;
    if (strcmp(last, "/Connect") == 0)
        return ATTACH;
    if (strcmp(last, "/health") == 0)
        return HEALTH;
    if (strcmp(last, "/Start") == 0)
        return start_kind(request);
    if (strcmp(request->method, "POST") == 0 && strncmp(path, "/files?", 7) == 0)
        return UPLOAD;
    if (strcmp(last, "/SendInput") == 0)
        return INPUT;
    if (strcmp(last, "/CloseStdin") == 0)
        return CLOSE_STDIN;
    return OTHER;
}

static void note_input(struct world *world, const struct peer_request *request)
{
    he2b_json *json = NULL;
    const char *text;
    size_t len = 0;
    size_t got = 0;

    if (he2b_json_parse(&json, request->body, request->body_len) != HE2B_OK)
        return;
    text = he2b_json_string(he2b_json_get2(he2b_json_get(json, "input"), "stdin", "pty"), &len);
    if (text) {
        world->input = realloc(world->input, world->input_len + len + 1);
        if (he2b_base64_decode(world->input + world->input_len, &got, text, len) == HE2B_OK)
            world->input_len += got;
    }
    he2b_json_del(json);
}

/* Under the lock. */
static void note(struct world *world, const char *word)
{
    size_t len = strlen(world->log);

    snprintf(world->log + len, sizeof(world->log) - len, "%s%s", len ? " " : "", word);
}

void world_note(struct world *world, const char *word)
{
    pthread_mutex_lock(&world->lock);
    note(world, word);
    pthread_mutex_unlock(&world->lock);
}

static void serve(struct peer_request *request, void *user)
{
    struct world *world = user;
    enum kind kind = request_kind(request);
    const world_fn fns[] = {world->on_create,  world->on_list,    world->on_get,
                            world->on_connect, world->on_kill,    world->on_health,
                            world->on_probe,   world->on_probe,   world->on_probe,
                            world->on_killer,  world->on_ask,     world->on_attach,
                            world->on_command, world->on_input,   world->on_close_stdin,
                            world->on_upload,  world->on_transfer};
    unsigned nth;

    pthread_mutex_lock(&world->lock);
    if (kind != GET)
        note(world, kind_names[kind]);
    if (kind != GET)
        snprintf(world->last_body, sizeof(world->last_body), "%s",
                 kind == COMMAND && request->body_len > 5 ? request->body + 5 : request->body);
    nth = ++world->counts[kind];
    if (kind == INPUT)
        note_input(world, request);
    pthread_mutex_unlock(&world->lock);
    if (kind == OTHER)
        world->on_other(world, request, nth);
    else
        fns[kind](world, request, nth);
}

const char *world_log(struct world *world)
{
    static char copy[WORLD_LOG_MAX];

    pthread_mutex_lock(&world->lock);
    memcpy(copy, world->log, sizeof(copy));
    pthread_mutex_unlock(&world->lock);
    return copy;
}

unsigned world_count(struct world *world, const char *kind)
{
    unsigned count;
    size_t i = 0;

    while (strcmp(kind_names[i], kind) != 0)
        i++;
    pthread_mutex_lock(&world->lock);
    count = world->counts[i];
    pthread_mutex_unlock(&world->lock);
    return count;
}

const char *world_body(struct world *world)
{
    static char copy[WORLD_LOG_MAX];

    pthread_mutex_lock(&world->lock);
    memcpy(copy, world->last_body, sizeof(copy));
    pthread_mutex_unlock(&world->lock);
    return copy;
}

/* ---- what E2B answers ---- */

void world_error(struct peer_request *request, int status, const char *message)
{
    char body[512];

    snprintf(body, sizeof(body), "{\"code\":%d,\"message\":\"%s\"}", status, message);
    peer_answer(request, status, "application/json", body);
}

void world_no_sandbox(struct peer_request *request)
{
    peer_answer(request, 502, "application/json",
                "{\"sandboxId\":\"" WORLD_ID
                "\",\"message\":\"The sandbox was not found\",\"code\":502}");
}

void world_no_port(struct peer_request *request)
{
    peer_answer(request, 502, "application/json",
                "{\"sandboxId\":\"" WORLD_ID "\",\"message\":\"The sandbox is running but port is "
                "not open\",\"port\":49983,\"code\":502}");
}

static const char sandbox[] = "{\"sandboxID\":\"" WORLD_ID "\",\"templateID\":\"base\","
                              "\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"secret-token\","
                              "\"domain\":null}";

/* The scope of a create's metadata, "" for none. */
static void note_scope(struct world *world, const struct peer_request *request)
{
    he2b_json *json = NULL;
    const char *scope;

    if (he2b_json_parse(&json, request->body, request->body_len) != HE2B_OK)
        return;
    scope = he2b_json_string(he2b_json_get(he2b_json_get(json, "metadata"), HE2B_META_SCOPE), NULL);
    pthread_mutex_lock(&world->lock);
    world->exists = scope != NULL;
    snprintf(world->scope, sizeof(world->scope), "%s", scope ? scope : "");
    pthread_mutex_unlock(&world->lock);
    he2b_json_del(json);
}

static void create(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    note_scope(world, request);
    peer_answer(request, 201, "application/json", sandbox);
}

static void list(struct world *world, struct peer_request *request, unsigned nth)
{
    char body[512] = "[]";

    (void)nth;
    pthread_mutex_lock(&world->lock);
    if (world->exists)
        snprintf(body, sizeof(body),
                 "[{\"sandboxID\":\"" WORLD_ID "\",\"templateID\":\"base\",\"state\":\"running\","
                 "\"startedAt\":\"2026-01-01T00:00:00Z\",\"metadata\":{\"" HE2B_META_PLUGIN
                 "\":\"" HE2B_META_PLUGIN_VALUE "\",\"" HE2B_META_SCOPE "\":\"%s\"}}]",
                 world->scope);
    pthread_mutex_unlock(&world->lock);
    peer_answer(request, 200, "application/json", body);
}

/* Nothing that the session did not know. */
static void get(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 503, "not now");
}

static void connect_running(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 200, "application/json", sandbox);
}

static void kill_it(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 204, "text/plain", "");
}

static void probe(struct world *world, struct peer_request *request, unsigned nth)
{
    char what[16] = "";
    char text[256] = "";

    (void)nth;
    world_argument(request, 2, what, sizeof(what));
    pthread_mutex_lock(&world->lock);
    if (strcmp(what, "unstamp") == 0)
        world->stamp[0] = '\0';
    if (strcmp(what, "restamp") == 0)
        world_argument(request, 0, world->stamp, sizeof(world->stamp));
    if (world->stamp[0])
        snprintf(text, sizeof(text), "stamp %s\n", world->stamp);
    pthread_mutex_unlock(&world->lock);
    strcat(text,
           "tool bash\ntool setsid\ntool sleep\nfolder " WORLD_FOLDER "\nboot " WORLD_BOOT
           "\nrecords " WORLD_FOLDER "/" WORLD_BOOT "\nhome /home/user\nwanted\ncwd /home/user\n");
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, text, strlen(text));
    world_end(request, 0);
}

static void killer(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    world_end(request, 0);
    peer_gate_raise(&world->killed);
}

void world_says(struct peer_request *request, const char *output)
{
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, output, strlen(output));
    world_end(request, 0);
}

static void ask(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_says(request, "unknown\n");
}

static void attach(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    peer_stream_end(request,
                    "{\"error\":{\"code\":\"not_found\",\"message\":\"process with pid 100 "
                    "not found\"}}");
}

static void run(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_command(request, "out\n", 0);
}

static void take_input(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer(request, 200, "application/json", "{}");
    peer_gate_raise(&world->inputs);
}

static void close_stdin(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 200, "application/json", "{}");
}

static void upload(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 200, "text/plain; charset=utf-8", "[]");
}

static void no_route(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "no such route");
}

void world_start(struct peer_request *request)
{
    peer_message(request, "{\"event\":{\"start\":{\"pid\":100}}}");
}

void world_marker(struct peer_request *request, int code)
{
    char word[WORLD_WORD + 1];
    char text[64];
    int len;

    if (!world_word(request, word))
        return;
    len = snprintf(text, sizeof(text), "\001he2b-%s:%d\002", word, code);
    peer_output(request, text, (size_t)len);
}

void world_end(struct peer_request *request, int code)
{
    char text[160];

    /* protobuf's JSON leaves a code of 0 out (FB-01) */
    if (code)
        snprintf(text, sizeof(text),
                 "{\"event\":{\"end\":{\"exited\":true,\"exitCode\":%d,\"status\":\"exit status "
                 "%d\"}}}",
                 code, code);
    else
        snprintf(text, sizeof(text),
                 "{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}");
    peer_message(request, text);
    peer_stream_end(request, "{}");
}

void world_command(struct peer_request *request, const char *output, int code)
{
    peer_stream_begin(request);
    world_start(request);
    if (output[0])
        peer_output(request, output, strlen(output));
    world_marker(request, code);
    world_end(request, code);
}

/* ---- the world ---- */

static void on_log(void *user, int level, const char *text)
{
    struct world *world = user;
    size_t len = strlen(world->messages);

    if (level >= HE2B_LOG_WARNING)
        snprintf(world->messages + len, sizeof(world->messages) - len, "%s\n", text);
    /* what was on its way when all was over is refused, and that is all right */
    if (strstr(text, ", refused") && !strstr(text, ": done, ") && !strstr(text, ": closed, "))
        world->trouble = true;
    assert_null(strstr(text, WORLD_KEY));
    assert_null(strstr(text, "secret-token"));
}

static bool in_json;

void world_in_json(bool yes)
{
    in_json = yes;
}

int world_failed(int more)
{
    static int failed;

    failed += more;
    return failed;
}

int world_setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    world->on_create = create;
    world->on_list = list;
    world->on_get = get;
    world->on_connect = connect_running;
    world->on_kill = kill_it;
    world->on_health = close_stdin;
    world->on_probe = probe;
    world->on_killer = killer;
    world->on_ask = ask;
    world->on_attach = attach;
    world->on_command = run;
    world->on_input = take_input;
    world->on_close_stdin = close_stdin;
    world->on_upload = upload;
    world->on_transfer = no_route;
    world->on_other = no_route;
    pthread_mutex_init(&world->lock, NULL);
    peer_gate_init(&world->killed);
    peer_gate_init(&world->inputs);
    peer_gate_init(&world->released);
    world->peer = peer_new(serve, world);
    if (in_json)
        peer_json_only(world->peer);
    assert_int_equal(he2b_loop_new(&world->loop), HE2B_OK);
    assert_int_equal(he2b_options_new(&world->options, on_log, world), HE2B_OK);
    assert_int_equal(he2b_options_set(world->options, "api_key", WORLD_KEY), HE2B_OK);
    assert_int_equal(he2b_options_set(world->options, "api_url", peer_url(world->peer)), HE2B_OK);
    assert_int_equal(he2b_options_set(world->options, "sandbox_url", peer_url(world->peer)),
                     HE2B_OK);
    *state = world;
    return 0;
}

int world_teardown(void **state)
{
    struct world *world = *state;

    he2b_session_del(world->session);
    he2b_options_del(world->options);
    he2b_loop_del(world->loop);
    /* a server is asked once whether it reads protobuf */
    assert_true(peer_refusals(world->peer) <= in_json);
    peer_del(world->peer);
    free(world->input);
    free(world);
    return 0;
}

/* Repeats come at once, and end soon. */
static const struct he2b_control_times soon = {
    .answer = 20000,
    .repeat_for = 20,
    .backoff_first = 1,
    .backoff_max = 5,
    .look_every = 1,
    .look_until = 50,
};

void world_soon(he2b_session *session)
{
    session->settings.control_times = &soon;
}

he2b_session *world_session(struct world *world)
{
    assert_int_equal(he2b_session_new(&world->session, world->loop, world->options, on_log, world),
                     HE2B_OK);
    return world->session;
}

static void on_deadline(void *arg)
{
    struct world *world = arg;

    print_error("stuck; requests: %s\n", world_log(world));
    fail();
}

void world_run(struct world *world)
{
    he2b_timer *deadline = NULL;

    assert_int_equal(he2b_timer_new(&deadline, world->loop, on_deadline, world), HE2B_OK);
    assert_int_equal(he2b_timer_arm(deadline, PEER_DEADLINE_S * 1000), HE2B_OK);
    assert_int_equal(he2b_loop_run(world->loop), HE2B_OK);
    he2b_timer_del(deadline);
}

static void stop_loop(void *arg)
{
    world_stop(arg);
}

void world_stop_soon(struct world *world)
{
    (void)he2b_loop_post(world->loop, stop_loop, world);
}

void world_tick(void)
{
    int64_t now_ms = he2b_now_ms();

    while (he2b_now_ms() == now_ms) {
    }
}

void world_stop(struct world *world)
{
    he2b_loop_stop(world->loop);
}

struct closing {
    struct world *world;
    unsigned times;
    int code;
};

static void on_closed(void *user, const he2b_failure *failure)
{
    struct closing *closing = user;

    closing->times++;
    closing->code = failure ? he2b_failure_code(failure) : 0;
    world_stop(closing->world);
}

int world_close(struct world *world)
{
    struct closing closing = {.world = world};

    assert_int_equal(he2b_session_close(world->session, on_closed, &closing), HE2B_OK);
    world_run(world);
    assert_int_equal(closing.times, 1);
    assert_string_equal(he2b_session_state(world->session), "closed");
    return closing.code;
}

/* ---- commands ---- */

static void on_ended(void *user, const he2b_result *result)
{
    struct ran *ran = user;
    const he2b_failure *failure = he2b_result_failure(result);
    const he2b_failure *input = he2b_result_stdin_failure(result);

    ran->times++;
    ran->outcome = he2b_result_outcome(result);
    ran->exit_code = he2b_result_exit_code(result);
    ran->failure = failure ? he2b_failure_code(failure) : 0;
    snprintf(ran->failure_text, sizeof(ran->failure_text), "%s",
             failure ? he2b_failure_text(failure) : "");
    ran->stdin_failure = input ? he2b_failure_code(input) : 0;
    if (!ran->keep_running)
        world_stop(ran->world);
}

void ran_new(struct ran *ran, struct world *world, const char *text)
{
    int ends[2];

    memset(ran, 0, sizeof(*ran));
    ran->world = world;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    ran->out = ends[0];
    assert_int_equal(he2b_command_new(&ran->command, world->session), HE2B_OK);
    assert_int_equal(he2b_command_set_text(ran->command, text, strlen(text)), HE2B_OK);
    assert_int_equal(he2b_command_set_output(ran->command, ends[1]), HE2B_OK);
}

void ran_go(struct ran *ran)
{
    assert_int_equal(he2b_command_start(ran->command, on_ended, ran), HE2B_OK);
}

void ran_start(struct ran *ran, struct world *world, const char *text)
{
    ran_new(ran, world, text);
    ran_go(ran);
}

void ran_whole(struct ran *ran, struct world *world, const char *text)
{
    ran_start(ran, world, text);
    world_run(world);
    assert_int_equal(ran->times, 1);
}

const char *ran_output(struct ran *ran)
{
    static char output[WORLD_OUTPUT_MAX];
    size_t len = 0;
    ssize_t n;

    while ((n = read(ran->out, output + len, sizeof(output) - 1 - len)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        assert_true(n > 0);
        len += (size_t)n;
        assert_true(len < sizeof(output) - 1);
    }
    output[len] = '\0';
    return output;
}

void ran_del(struct ran *ran)
{
    he2b_command_del(ran->command);
    ran->command = NULL;
    if (ran->out >= 0)
        close(ran->out);
    ran->out = -1;
}
