/* A session: how it gets to a sandbox, its lease, a sandbox that vanishes, its end. */
#include "net/loop.h"
#include "tests/unit/session/world.h"

#include <stdio.h>

/* ---- bring-up ---- */

/* B-20, B-25, B-28: nothing before the first command; three turns to its Start. */
static void test_first_command(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    assert_string_equal(world_log(world), "");
    assert_string_equal(he2b_session_state(world->session), "detached");
    assert_int_equal(he2b_session_generation(world->session), 0);
    ran_whole(&ran, world, "echo out");
    assert_string_equal(world_log(world), "create probe command");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(ran.exit_code, 0);
    assert_string_equal(ran_output(&ran), "out\n");
    assert_string_equal(he2b_session_sandbox_id(world->session), WORLD_ID);
    assert_string_equal(he2b_session_home(world->session), "/home/user");
    assert_string_equal(he2b_session_cwd(world->session), "/home/user");
    assert_int_equal(he2b_session_generation(world->session), 1);
    ran_del(&ran);
    assert_int_equal(world_close(world), 0);
    assert_string_equal(world_log(world), "create probe command kill");
    assert_string_equal(world->messages, "");
    assert_false(world->trouble);
}

/* A command on a ready session costs one request, over the connection that is there. */
static void test_next_command_costs_one_request(void **state)
{
    struct world *world = *state;
    struct ran ran;
    int i;

    world_session(world);
    for (i = 0; i < 5; i++) {
        ran_whole(&ran, world, "echo out");
        ran_del(&ran);
    }
    assert_string_equal(world_log(world), "create probe command command command command command");
    assert_true(peer_connections(world->peer) <= 3);
}

static void keep_body(struct world *world, struct peer_request *request, unsigned nth)
{
    char value[64] = "";

    (void)nth;
    assert_true(peer_header(request, "X-API-Key", value, sizeof(value)));
    assert_string_equal(value, WORLD_KEY);
    assert_true(peer_header(request, "Idempotency-Key", value, sizeof(value)));
    assert_non_null(strstr(request->body, value));
    snprintf(world->messages, sizeof(world->messages), "%s", request->body);
    world_error(request, 400, "enough");
}

/* B-25: killed on expiry, no environment, our metadata over the user's (B-4). */
static void test_create_body(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_create = keep_body;
    assert_int_equal(he2b_options_set(world->options, "template", "mine"), HE2B_OK);
    assert_int_equal(he2b_options_add_metadata(world->options, "who", "me"), HE2B_OK);
    assert_int_equal(he2b_options_add_metadata(world->options, "hermes_plugin", "x"), HE2B_OK);
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_non_null(strstr(world->messages, "\"templateID\":\"mine\""));
    assert_non_null(strstr(world->messages, "\"autoPause\":false"));
    assert_non_null(strstr(world->messages, "\"timeout\":300"));
    assert_non_null(strstr(world->messages, "\"hermes_plugin\":\"e2b-terminal\""));
    assert_non_null(strstr(world->messages, "\"hermes_attempt\":\""));
    assert_non_null(strstr(world->messages, "\"who\":\"me\""));
    assert_null(strstr(world->messages, "envVars"));
    assert_null(strstr(world->messages, "\"x\""));
    ran_del(&ran);
}

static void refuse_create(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 401, "Invalid API key " WORLD_KEY);
}

/* B-27: at once, in the server's words, without the key (B-100). */
static void test_create_is_refused(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_create = refuse_create;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_string_equal(world_log(world), "create");
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.exit_code, 255);
    assert_int_equal(ran.failure, HE2B_ERR_KEY);
    assert_non_null(strstr(ran.failure_text, "create sandbox: Invalid API key"));
    assert_non_null(strstr(ran.failure_text, "E2B_API_KEY"));
    assert_null(strstr(ran.failure_text, WORLD_KEY));
    assert_string_equal(ran_output(&ran), "");
    ran_del(&ran);
    /* nothing was made, so nothing is killed */
    assert_int_equal(world_close(world), 0);
    assert_string_equal(world_log(world), "create");
}

static void test_no_key(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    assert_int_equal(he2b_session_set_api_key(world->session, NULL), HE2B_OK);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.failure, HE2B_ERR_KEY);
    assert_string_equal(world_log(world), "");
    ran_del(&ran);
    /* B-7: it is read again at every command */
    assert_int_equal(he2b_session_set_api_key(world->session, " " WORLD_KEY "\n"), HE2B_OK);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
}

/* ---- the probe ---- */

static void probe_says(struct peer_request *request, const char *text, int code)
{
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, text, strlen(text));
    world_end(request, code);
}

static void poor_probe(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    probe_says(request, "home /home/../root\ncwd /srv/a b\nc\n", 0);
}

/* B-28: a home that is no plain path is refused, a cwd may hold anything, poor templates warn. */
static void test_poor_template(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_probe = poor_probe;
    assert_int_equal(he2b_options_set(world->options, "cwd", "/nowhere"), HE2B_OK);
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(he2b_session_cwd(world->session), "/srv/a b\nc");
    assert_string_equal(he2b_session_home(world->session), "/srv/a b\nc");
    assert_non_null(strstr(world->messages, "not a plain absolute path"));
    assert_non_null(strstr(world->messages, "/nowhere does not exist"));
    assert_non_null(strstr(world->messages, "no setsid"));
    assert_non_null(strstr(world->messages, "no bash"));
    assert_non_null(strstr(world_body(world), "\"cmd\":\"sh\""));
    ran_del(&ran);
}

static void nonsense_probe(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    probe_says(request, "hello\n", 0);
}

static void test_probe_is_no_shell(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_probe = nonsense_probe;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_PROTOCOL);
    ran_del(&ran);
    /* the sandbox was made all the same, and is not left behind */
    assert_int_equal(world_close(world), 0);
    assert_string_equal(world_log(world), "create probe kill");
}

static void slow_probe(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    if (nth < 3)
        world_no_port(request);
    else
        probe_says(request, "tool bash\ntool setsid\nhome /root\nwanted\ncwd /root\n", 0);
}

/* A daemon that does not answer yet is asked again, within a bound (wire F.2). */
static void test_probe_waits_for_the_daemon(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_probe = slow_probe;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(world_log(world), "create probe probe probe command");
    ran_del(&ran);
}

/* ---- a sandbox that exists already ---- */

static void test_given_sandbox_is_not_killed(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    assert_int_equal(he2b_session_set_sandbox(world->session, "Not_An_Id"), HE2B_ERR_ARG);
    assert_int_equal(he2b_session_set_sandbox(world->session, WORLD_ID), HE2B_OK);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(he2b_session_set_sandbox(world->session, WORLD_ID), HE2B_ERR_STATE);
    ran_del(&ran);
    assert_int_equal(world_close(world), 0);
    assert_string_equal(world_log(world), "connect probe command");
}

static void unknown_sandbox(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "sandbox not found");
}

/* One that was given and is gone is an error, never replaced by another. */
static void test_given_sandbox_is_gone(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_connect = unknown_sandbox;
    world_session(world);
    assert_int_equal(he2b_session_set_sandbox(world->session, WORLD_ID), HE2B_OK);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_GONE);
    assert_string_equal(world_log(world), "connect");
    ran_del(&ran);
}

/* ---- lease ---- */

/* B-31: 60 s and more are left, so the command starts at once and the renewal runs beside it. */
static void test_renewal_beside_the_command(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 600 * 1000);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(world_close(world), 0);
    /* when the renewal arrives is the network's: the end may have given it up by then */
    assert_true(world_count(world, "connect") <= 1);
    assert_int_equal(world_count(world, "probe"), 1);
    assert_int_equal(world_count(world, "command"), 2);
    assert_int_equal(world_count(world, "kill"), 1);
    ran_del(&ran);
}

static void keep_connect(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    snprintf(world->messages, sizeof(world->messages), "%s", request->body);
    peer_answer(request, 200, "application/json",
                "{\"sandboxID\":\"" WORLD_ID "\",\"envdAccessToken\":\"newer-token\"}");
}

static void keep_token(struct world *world, struct peer_request *request, unsigned nth)
{
    size_t len = strlen(world->messages);

    (void)nth;
    peer_header(request, "X-Access-Token", world->messages + len, sizeof(world->messages) - len);
    world_command(request, "", 0);
}

/* B-30, B-31: less than 60 s are left and the command needs more: connect first, for need + 60;
 * its connection data is used from then on (B-34). */
static void test_renewal_before_the_command(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_connect = keep_connect;
    assert_int_equal(he2b_options_set(world->options, "lease_seconds", "60"), HE2B_OK);
    assert_int_equal(he2b_options_set(world->options, "command_grace_seconds", "0"), HE2B_OK);
    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    world_tick();
    world->on_command = keep_token;
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 61 * 1000);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(world_log(world), "create probe command connect command");
    assert_string_equal(world->messages, "{\"timeout\":121}newer-token");
    ran_del(&ran);
}

/* ---- vanished ---- */

static void vanish_once(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    if (nth == 2)
        world_no_sandbox(request);
    else
        world_command(request, "out\n", 0);
}

/* B-97: not found by Start, gone for the control plane: a new one, and the command runs once. */
static void test_vanished_sandbox_is_replaced(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = vanish_once;
    world->on_connect = unknown_sandbox;
    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(ran_output(&ran), "out\n");
    assert_string_equal(world_log(world),
                        "create probe command command connect create probe command");
    assert_int_equal(he2b_session_generation(world->session), 2);
    assert_non_null(strstr(world->messages, "no longer exists"));
    ran_del(&ran);
    assert_int_equal(world_close(world), 0);
    assert_false(world->trouble);
}

/* FB-18: running for the control plane: once more, on the same sandbox. */
static void test_vanished_but_running(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = vanish_once;
    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(world_log(world), "create probe command command connect command");
    assert_int_equal(he2b_session_generation(world->session), 1);
    ran_del(&ran);
}

static void never_there(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_no_sandbox(request);
}

/* FB-18: a server that says it runs and never finds it is not asked for ever. */
static void test_vanished_for_ever(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = never_there;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_GONE);
    assert_string_equal(world_log(world), "create probe command connect command");
    ran_del(&ran);
}

/* ---- the end ---- */

static void linger(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_gate_raise(&world->inputs);
    peer_gate_wait(&world->released, 1);
    world_marker(request, 3);
    world_end(request, 3);
}

struct closer {
    struct world *world;
    unsigned times;
    int code;
};

static void on_closed(void *user, const he2b_failure *failure)
{
    struct closer *closer = user;

    closer->times++;
    closer->code = failure ? he2b_failure_code(failure) : 0;
    if (strcmp(he2b_session_state(closer->world->session), "closed") == 0)
        world_stop(closer->world);
}

static void *stop_when_running(void *arg)
{
    struct closer *closer = arg;

    peer_gate_wait(&closer->world->inputs, 1);
    world_stop_soon(closer->world);
    return NULL;
}

/* B-90, FB-36: close during a command waits for it; new ones are refused; one kill for two closes.
 */
static void test_close_waits_for_the_command(void **state)
{
    struct world *world = *state;
    struct closer closer = {.world = world};
    he2b_command *late = NULL;
    struct ran ran;

    world->on_command = linger;
    world_session(world);
    ran_start(&ran, world, "true");
    ran.keep_running = true;
    assert_int_equal(he2b_session_close(world->session, on_closed, &closer), HE2B_OK);
    assert_int_equal(he2b_session_close(world->session, on_closed, &closer), HE2B_OK);
    assert_int_equal(he2b_command_new(&late, world->session), HE2B_OK);
    assert_int_equal(he2b_command_set_text(late, "true", 4), HE2B_OK);
    assert_int_equal(he2b_command_start(late, NULL, NULL), HE2B_ERR_CLOSED);
    assert_int_equal(he2b_session_prepare(world->session, 0, on_closed, &closer), HE2B_ERR_CLOSED);
    peer_gate_raise(&world->released);
    world_run(world);
    assert_int_equal(ran.times, 1);
    assert_int_equal(ran.exit_code, 3);
    assert_int_equal(closer.times, 2);
    assert_int_equal(closer.code, 0);
    assert_string_equal(world_log(world), "create probe command kill");
    he2b_command_del(late);
    ran_del(&ran);
    /* and a third, when all is over */
    assert_int_equal(world_close(world), 0);
    assert_string_equal(world_log(world), "create probe command kill");
    assert_false(world->trouble);
}

static void reset_first(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    if (nth == 1)
        peer_reset(request);
    else
        world_error(request, 404, "sandbox not found");
}

/* B-91: a kill whose outcome is not known is repeated; one of a sandbox that is gone is fine. */
static void test_kill_is_repeated_while_unknown(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_kill = reset_first;
    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    assert_int_equal(world_close(world), 0);
    assert_string_equal(world_log(world), "create probe command kill kill");
}

static void refuse_kill(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 403, "not yours");
}

static void test_kill_is_refused(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_kill = refuse_kill;
    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    assert_int_equal(world_close(world), HE2B_ERR_REFUSED);
    assert_string_equal(world_log(world), "create probe command kill");
    assert_non_null(strstr(world->messages, "left to its lease"));
}

static void late_create(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_gate_raise(&world->inputs);
    peer_gate_wait(&world->released, 1);
    peer_answer(request, 201, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
}

struct prepared {
    unsigned times;
    int code;
};

static void on_prepared(void *user, const he2b_failure *failure)
{
    struct prepared *prepared = user;

    prepared->times++;
    prepared->code = failure ? he2b_failure_code(failure) : 0;
}

/* Closed while a create is on its way: what it makes is killed. */
static void test_close_while_creating(void **state)
{
    struct world *world = *state;
    struct closer closer = {.world = world};
    struct prepared prepared = {0};
    pthread_t thread;

    world->on_create = late_create;
    world_session(world);
    assert_int_equal(he2b_session_prepare(world->session, 0, on_prepared, &prepared), HE2B_OK);
    assert_int_equal(pthread_create(&thread, NULL, stop_when_running, &closer), 0);
    world_run(world);
    pthread_join(thread, NULL);
    assert_string_equal(he2b_session_state(world->session), "creating");
    assert_int_equal(he2b_session_close(world->session, on_closed, &closer), HE2B_OK);
    peer_gate_raise(&world->released);
    world_run(world);
    assert_int_equal(prepared.times, 1);
    assert_int_equal(prepared.code, HE2B_ERR_CLOSED);
    assert_string_equal(world_log(world), "create kill");
}

static void busy_create(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer_with(request, 429, "application/json", "Retry-After: 20\r\n",
                     "{\"code\":429,\"message\":\"Rate limit exceeded\"}");
    peer_gate_raise(&world->inputs);
}

/* B-90: closing creates nothing, so a create that waits for its turn never gets it. */
static void test_close_while_create_waits(void **state)
{
    struct world *world = *state;
    struct closer closer = {.world = world};
    struct prepared prepared = {0};
    pthread_t thread;

    world->on_create = busy_create;
    world_session(world);
    assert_int_equal(he2b_session_prepare(world->session, 0, on_prepared, &prepared), HE2B_OK);
    assert_int_equal(pthread_create(&thread, NULL, stop_when_running, &closer), 0);
    world_run(world);
    pthread_join(thread, NULL);
    assert_int_equal(world_close(world), 0);
    assert_int_equal(prepared.code, HE2B_ERR_CLOSED);
    assert_string_equal(world_log(world), "create");
}

/* B-90: nothing was ever asked for, so nothing is made. */
static void test_close_unused(void **state)
{
    struct world *world = *state;
    struct prepared prepared = {0};

    world_session(world);
    assert_int_equal(he2b_session_prepare(world->session, 0, on_prepared, &prepared), HE2B_OK);
    assert_int_equal(world_close(world), 0);
    assert_int_equal(prepared.times, 1);
    assert_int_equal(prepared.code, HE2B_ERR_CLOSED);
    assert_string_equal(world_log(world), "");
}

static void test_cancel(void **state)
{
    struct world *world = *state;
    struct prepared one = {0};
    struct prepared other = {0};
    struct ran ran;

    world_session(world);
    assert_int_equal(he2b_session_prepare(world->session, 0, on_prepared, &one), HE2B_OK);
    assert_int_equal(he2b_session_prepare(world->session, 0, on_prepared, &other), HE2B_OK);
    he2b_session_cancel(world->session, &one);
    assert_int_equal(one.times, 0);
    ran_whole(&ran, world, "true");
    assert_int_equal(one.times, 1);
    assert_int_equal(one.code, HE2B_ERR_CANCELLED);
    assert_int_equal(other.times, 1);
    assert_int_equal(other.code, 0);
    assert_string_equal(world_log(world), "create probe command");
    ran_del(&ran);
}

/* Deleted in the middle: everybody is told, and what they hold can still be deleted. */
static void test_delete_in_the_middle(void **state)
{
    struct world *world = *state;
    struct closer closer = {.world = world};
    struct prepared prepared = {0};
    pthread_t thread;
    struct ran ran;
    struct ran other;

    world->on_command = linger;
    world_session(world);
    ran_start(&ran, world, "true");
    assert_int_equal(pthread_create(&thread, NULL, stop_when_running, &closer), 0);
    world_run(world);
    pthread_join(thread, NULL);
    ran_start(&other, world, "true");
    assert_int_equal(he2b_session_prepare(world->session, 0, on_prepared, &prepared), HE2B_OK);
    he2b_session_del(world->session);
    world->session = NULL;
    assert_int_equal(ran.times, 1);
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    assert_int_equal(ran.failure, HE2B_ERR_CLOSED);
    assert_string_equal(ran_output(&ran), "");
    assert_int_equal(other.times, 1);
    assert_int_equal(other.outcome, HE2B_NOT_STARTED);
    assert_int_equal(prepared.times, 1);
    assert_int_equal(prepared.code, HE2B_ERR_CLOSED);
    he2b_command_kill(ran.command);
    assert_string_equal(he2b_command_state(ran.command), "done");
    ran_del(&ran);
    ran_del(&other);
    peer_gate_raise(&world->released);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_first_command),
        IN_WORLD(test_next_command_costs_one_request),
        IN_WORLD(test_create_body),
        IN_WORLD(test_create_is_refused),
        IN_WORLD(test_no_key),
        IN_WORLD(test_poor_template),
        IN_WORLD(test_probe_is_no_shell),
        IN_WORLD(test_probe_waits_for_the_daemon),
        IN_WORLD(test_given_sandbox_is_not_killed),
        IN_WORLD(test_given_sandbox_is_gone),
        IN_WORLD(test_renewal_beside_the_command),
        IN_WORLD(test_renewal_before_the_command),
        IN_WORLD(test_vanished_sandbox_is_replaced),
        IN_WORLD(test_vanished_but_running),
        IN_WORLD(test_vanished_for_ever),
        IN_WORLD(test_close_waits_for_the_command),
        IN_WORLD(test_kill_is_repeated_while_unknown),
        IN_WORLD(test_kill_is_refused),
        IN_WORLD(test_close_while_creating),
        IN_WORLD(test_close_while_create_waits),
        IN_WORLD(test_close_unused),
        IN_WORLD(test_cancel),
        IN_WORLD(test_delete_in_the_middle),
    };

    return WORLD_RUN(tests);
}
