/* A Start in doubt and a lost stream: what the record says, and what follows (B-47, B-48). */
#include "tests/unit/session/world.h"

#include "net/loop.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One that does not wait long before it asks again. */
static void quick_session(struct world *world)
{
    world_session(world)->ask_again_ms = 2;
}

/* ---- what the sandbox answers, one word for each question ---- */

static const char *const *answers; /* the last one again and again */

static void say(struct world *world, struct peer_request *request, unsigned nth)
{
    unsigned i = 0;

    (void)world;
    while (i + 1 < nth && answers[i + 1])
        i++;
    world_says(request, answers[i]);
}

static void reset(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_reset(request);
}

static void port_closed(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_no_port(request);
}

static void unavailable(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    peer_stream_end(request, "{\"error\":{\"code\":\"unavailable\",\"message\":\"going away\"}}");
}

/* ---- a Start in doubt ---- */

static world_fn doubt;
static char repeat_of[2][64];

/* The boot id that it carries: "" is a first one. */
static void note_repeat(struct peer_request *request, unsigned nth)
{
    assert_true(world_argument(request, 2, repeat_of[nth > 1], sizeof(repeat_of[0])));
}

static void in_doubt_once(struct world *world, struct peer_request *request, unsigned nth)
{
    note_repeat(request, nth);
    if (nth == 1)
        doubt(world, request, nth);
    else
        world_command(request, "out\n", 3);
}

/* B-47: one that never began is sent again, says so, and is a command like any other. */
static void test_unbegun_is_repeated(void **state)
{
    static const char *const unbegun[] = {"unbegun\n", NULL};
    static const world_fn doubts[] = {reset, port_closed, unavailable};
    struct world *world = *state;
    struct ran ran;
    size_t i;

    answers = unbegun;
    world->on_command = in_doubt_once;
    world->on_ask = say;
    for (i = 0; i < 3; i++) {
        doubt = doubts[i];
        memset(world->counts, 0, sizeof(world->counts));
        quick_session(world);
        ran_whole(&ran, world, "true");
        assert_int_equal(ran.outcome, HE2B_ENDED);
        assert_int_equal(ran.exit_code, 3);
        assert_int_equal(ran.failure, 0);
        assert_string_equal(ran_output(&ran), "out\n");
        ran_del(&ran);
        assert_int_equal(world_count(world, "command"), 2);
        assert_int_equal(world_count(world, "ask"), 1);
        assert_string_equal(repeat_of[0], "");
        assert_string_equal(repeat_of[1], WORLD_BOOT);
        he2b_session_del(world->session);
        world->session = NULL;
    }
    assert_false(world->trouble);
}

static void rest(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "rest\n", 5);
    /* its word was in the Start only */
    (void)world;
    peer_message(request, "{\"event\":{\"end\":{\"exited\":true,\"exitCode\":9,\"status\":\"exit "
                          "status 9\"}}}");
    peer_stream_end(request, "{}");
}

/* B-41, B-47: it runs: what it prints from now on, and no code that would say that this is all. */
static void test_running_is_attached_to(void **state)
{
    static const char *const runs[] = {"runs 100\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = reset;
    world->on_ask = say;
    world->on_attach = rest;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    assert_int_equal(ran.exit_code, 255);
    assert_int_equal(ran.failure, HE2B_ERR_LOST);
    assert_non_null(strstr(ran.failure_text, "its own exit code was 9"));
    assert_string_equal(ran_output(&ran), "rest\n");
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask attach");
    assert_false(world->trouble);
}

static void test_ended_as_recorded(void **state)
{
    static const char *const ended[] = {"ended 7\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = ended;
    world->on_command = reset;
    world->on_ask = say;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    assert_int_equal(ran.exit_code, 255);
    assert_non_null(
        strstr(ran.failure_text, "its record in the sandbox says that it ended with 7"));
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask");
}

/* What nobody knows stays unknown, and what is no answer is none. */
static void test_unclear(void **state)
{
    static const char *const words[] = {
        "unknown\n",
        "rebooted\n",
        "begun\n",
        "",
        "unbegun",
        "runs 100",
        "runs 0\n",
        "runs -1\n",
        "ended \n",
        "ended 7\nx\n",
        "ended 99999999999\n",
    };
    struct world *world = *state;
    struct ran ran;
    size_t i;

    world->on_command = reset;
    world->on_ask = say;
    quick_session(world);
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *const said[] = {words[i], NULL};

        answers = said;
        ran_whole(&ran, world, "true");
        assert_int_equal(ran.outcome, HE2B_UNKNOWN);
        assert_int_equal(ran.exit_code, 255);
        assert_int_equal(ran.failure, HE2B_ERR_LOST);
        ran_del(&ran);
        assert_int_equal(world_count(world, "command"), i + 1);
    }
    assert_false(world->trouble);
}

/* A record that was just claimed is soon written. */
static void test_begun_is_asked_again(void **state)
{
    static const char *const said[] = {"begun\n", "runs 100\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = said;
    world->on_command = reset;
    world->on_ask = say;
    world->on_attach = rest;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask ask attach");
}

/* A path on which each Start is lost: bounded. */
static void test_repeats_are_bounded(void **state)
{
    static const char *const unbegun[] = {"unbegun\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = unbegun;
    world->on_command = reset;
    world->on_ask = say;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    assert_int_equal(ran.exit_code, 255);
    ran_del(&ran);
    assert_int_equal(world_count(world, "command"), 1 + 3);
    assert_false(world->trouble);
}

static void gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_no_sandbox(request);
}

static void unknown_sandbox(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "sandbox not found");
}

static void reset_then_gone(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 1)
        peer_reset(request);
    else
        gone(world, request, nth);
}

/* The first may have begun after its record was looked at: a sandbox that is gone is no reason to
 * begin it in another. */
static void test_repeat_finds_no_sandbox(void **state)
{
    static const char *const unbegun[] = {"unbegun\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = unbegun;
    world->on_command = reset_then_gone;
    world->on_ask = say;
    world->on_health = gone;
    world->on_get = unknown_sandbox;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    assert_int_equal(ran.failure, HE2B_ERR_GONE);
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask command health");
}

/* ---- delivered twice ---- */

static void denied(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    world_marker(request, HE2B_WRAPPER_DENIED);
    world_end(request, 0);
}

static void rest_of_another(struct world *world, struct peer_request *request, unsigned nth)
{
    if (strstr(request->body + 5, "200"))
        rest(world, request, nth);
    else
        world_error(request, 404, "no such process");
}

/* A proxy sent the Start twice, and this side hears of the one that was not to run. */
static void test_denied_start(void **state)
{
    static const char *const runs[] = {"runs 200\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = denied;
    world->on_ask = say;
    world->on_attach = rest_of_another;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    assert_string_equal(ran_output(&ran), "rest\n");
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask attach");
    assert_false(world->trouble);
}

static char own_word[WORLD_WORD + 1];

static void forge(struct world *world, struct peer_request *request, unsigned nth)
{
    world_word(request, own_word);
    denied(world, request, nth);
}

static void forge_again(struct world *world, struct peer_request *request, unsigned nth)
{
    char text[64];
    int len = snprintf(text, sizeof(text), "\001he2b-%s:%d\002", own_word, HE2B_WRAPPER_DENIED);

    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, text, (size_t)len);
    world_end(request, 0);
}

/* A command that forges that only ends its own call early. */
static void test_forged_denial(void **state)
{
    static const char *const runs[] = {"runs 100\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = forge;
    world->on_ask = say;
    world->on_attach = forge_again;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.exit_code, 255);
    ran_del(&ran);
    assert_false(world->trouble);
}

/* ---- a lost stream ---- */

static void lost_after_output(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    (void)world;
    world_word(request, own_word);
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "one\n", 4);
    request->close = true;
}

static void rest_with_marker(struct world *world, struct peer_request *request, unsigned nth)
{
    char text[64];
    int len = snprintf(text, sizeof(text), "\001he2b-%s:%d\002", own_word, 5);

    (void)world;
    peer_stream_begin(request);
    world_start(request);
    if (nth == 1) {
        peer_output(request, "two\n", 4);
        request->close = true;
        return;
    }
    peer_output(request, "three\n", 6);
    peer_output(request, text, (size_t)len);
    world_end(request, 5);
}

/* B-48: found again, as often as it is lost. */
static void test_stream_is_found_again(void **state)
{
    static const char *const runs[] = {"runs 100\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = lost_after_output;
    world->on_ask = say;
    world->on_attach = rest_with_marker;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    assert_int_equal(ran.exit_code, 255);
    assert_non_null(strstr(ran.failure_text, "its own exit code was 5"));
    assert_string_equal(ran_output(&ran), "one\ntwo\nthree\n");
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask attach ask attach");
    assert_false(world->trouble);
}

/* The daemon knows it no more: it has ended meanwhile. */
static void test_ended_before_it_was_found(void **state)
{
    static const char *const said[] = {"runs 100\n", "ended 0\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = said;
    world->on_command = lost_after_output;
    world->on_ask = say;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    assert_int_equal(ran.exit_code, 255);
    assert_non_null(strstr(ran.failure_text, "ended with 0"));
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask attach ask");
}

/* A pid that is not the one that was told is no proof of anything. */
static void test_another_pid(void **state)
{
    static const char *const runs[] = {"runs 101\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = lost_after_output;
    world->on_ask = say;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask health");
}

/* A daemon that says it runs and does not give its stream is not asked for ever. */
static void test_attaching_is_bounded(void **state)
{
    static const char *const runs[] = {"runs 100\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = lost_after_output;
    world->on_ask = say;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    ran_del(&ran);
    assert_int_equal(world_count(world, "attach"), 5);
    assert_false(world->trouble);
}

static void keep_silent(struct world *world, struct peer_request *request, unsigned nth)
{
    char value[16] = "";

    (void)world;
    (void)nth;
    assert_true(peer_header(request, "Keepalive-Ping-Interval", value, sizeof(value)));
    assert_string_equal(value, "1");
    world_word(request, own_word);
    peer_stream_begin(request);
    world_start(request);
    peer_message(request, "{\"event\":{\"keepalive\":{}}}");
    peer_wait_closed(request);
}

/* FB-07: a stream on which not even a keep-alive comes is dead, and found again. */
static void test_silent_stream(void **state)
{
    static const char *const runs[] = {"runs 100\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = keep_silent;
    world->on_ask = say;
    world->on_attach = rest;
    quick_session(world);
    world->session->keepalive_s = 1;
    world->session->silence_ms = 100;
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    assert_string_equal(ran_output(&ran), "rest\n");
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask attach");
}

/* ---- nobody answers, or the sandbox is gone ---- */

static void reset_twice(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth <= 2)
        peer_reset(request);
    else
        say(world, request, nth);
}

/* A network that comes back. */
static void test_asked_again(void **state)
{
    static const char *const ended[] = {"ended 4\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = ended;
    world->on_command = lost_after_output;
    world->on_ask = reset_twice;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command ask ask ask");
}

/* B-48: and one that does not: told apart from a sandbox that is gone. */
static void test_network_is_gone(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = lost_after_output;
    world->on_ask = reset;
    world->on_health = reset;
    quick_session(world);
    world->session->ask_for_ms = 100;
    world->session->ask_again_ms = 20;
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    assert_int_equal(ran.failure, HE2B_ERR_LOST);
    assert_non_null(strstr(ran.failure_text, "the sandbox cannot be reached"));
    ran_del(&ran);
    assert_false(world->trouble);
}

static void is_paused(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 200, "application/json",
                "{\"sandboxID\":\"" WORLD_ID "\",\"templateID\":\"base\",\"state\":\"paused\"}");
}

static void test_sandbox_is_gone(void **state)
{
    static const struct {
        world_fn get;
        const char *says;
    } cases[] = {
        {is_paused, "the control plane says that it is paused"},
        {unknown_sandbox, "the control plane knows it no more"},
    };
    struct world *world = *state;
    struct ran ran;
    size_t i;

    world->on_command = lost_after_output;
    world->on_ask = gone;
    world->on_health = gone;
    for (i = 0; i < 2; i++) {
        world->on_get = cases[i].get;
        quick_session(world);
        ran_whole(&ran, world, "true");
        assert_int_equal(ran.outcome, HE2B_UNKNOWN);
        assert_int_equal(ran.failure, HE2B_ERR_GONE);
        assert_non_null(strstr(ran.failure_text, cases[i].says));
        ran_del(&ran);
        he2b_session_del(world->session);
        world->session = NULL;
    }
    assert_string_equal(world_log(world), "create probe command ask health "
                                          "create probe command ask health");
}

/* ---- input ---- */

static void with_input(struct world *world, struct peer_request *request, unsigned nth)
{
    peer_gate_wait(&world->inputs, 1);
    rest(world, request, nth);
}

/* B-45: what runs without this side having heard of it waits for its input. */
static void test_input_of_an_attached_one(void **state)
{
    static const char *const runs[] = {"runs 100\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = reset;
    world->on_ask = say;
    world->on_attach = with_input;
    quick_session(world);
    ran_new(&ran, world, "cat");
    assert_int_equal(he2b_command_set_stdin(ran.command, "input", 5), HE2B_OK);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_INCOMPLETE);
    assert_int_equal(world->input_len, 5);
    assert_memory_equal(world->input, "input", 5);
    ran_del(&ran);
}

/* ---- kill ---- */

static struct ran *to_kill;
static const char *killed_says;
static bool forbidden;

static void post_kill(void *arg)
{
    he2b_command_kill(arg);
}

/* The first question ends with the caller's interrupt; the second is what follows from it. */
static void kill_while_asking(struct world *world, struct peer_request *request, unsigned nth)
{
    char how[16] = "";

    if (nth == 1) {
        (void)he2b_loop_post(world->loop, post_kill, to_kill->command);
        peer_wait_closed(request);
        return;
    }
    assert_true(world_argument(request, 0, how, sizeof(how)));
    forbidden = strcmp(how, "forbid") == 0;
    world_says(request, killed_says);
}

/* B-43: one whose pid is not known: what has not begun never does, what runs is killed. */
static void test_kill_of_a_doubtful_one(void **state)
{
    static const struct {
        const char *says;
        const char *log;
        int failure;
    } cases[] = {
        {"unbegun\n", "create probe command ask ask", 0},
        {"ended 0\n", "create probe command ask ask", 0},
        {"runs 100\n", "create probe command ask ask killer", 0},
        {"unknown\n", "create probe command ask ask", HE2B_ERR_LOST},
    };
    struct world *world = *state;
    struct ran ran;
    size_t i;

    world->on_command = reset;
    world->on_ask = kill_while_asking;
    for (i = 0; i < 4; i++) {
        forbidden = false;
        killed_says = cases[i].says;
        world->log[0] = '\0';
        memset(world->counts, 0, sizeof(world->counts));
        quick_session(world);
        to_kill = &ran;
        ran_whole(&ran, world, "true");
        assert_int_equal(ran.outcome, HE2B_KILLED);
        assert_int_equal(ran.exit_code, 130);
        assert_int_equal(ran.failure, cases[i].failure);
        assert_true(forbidden);
        assert_string_equal(world_log(world), cases[i].log);
        ran_del(&ran);
        he2b_session_del(world->session);
        world->session = NULL;
    }
    assert_false(world->trouble);
}

static char killed_pid[16];

/* Told of while it is killed: this Start was not the one that runs. */
static void denied_while_killed(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    (void)he2b_loop_post(world->loop, post_kill, to_kill->command);
    peer_gate_wait(&world->killed, 1);
    world_marker(request, HE2B_WRAPPER_DENIED);
    peer_wait_closed(request);
}

static void note_killed_pid(struct world *world, struct peer_request *request, unsigned nth)
{
    assert_true(world_argument(request, 1, killed_pid, sizeof(killed_pid)));
    if (nth == 1) {
        peer_gate_raise(&world->killed);
        peer_wait_closed(request);
    } else {
        world_says(request, "");
    }
}

/* B-43, B-47: delivered twice, and killed before this side knows: the other one is to end. */
static void test_kill_of_a_denied_one(void **state)
{
    static const char *const runs[] = {"runs 200\n", NULL};
    struct world *world = *state;
    struct ran ran;

    answers = runs;
    world->on_command = denied_while_killed;
    world->on_ask = say;
    world->on_killer = note_killed_pid;
    quick_session(world);
    to_kill = &ran;
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_KILLED);
    assert_int_equal(ran.failure, 0);
    assert_string_equal(killed_pid, "200");
    assert_string_equal(world_log(world), "create probe command killer ask killer");
    ran_del(&ran);
    assert_false(world->trouble);
}

/* One whose stream was lost: its pid is known, and nothing more is asked. */
static void test_kill_of_a_lost_one(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = lost_after_output;
    world->on_ask = kill_while_asking;
    quick_session(world);
    to_kill = &ran;
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_KILLED);
    assert_int_equal(ran.failure, 0);
    assert_string_equal(world_log(world), "create probe command ask killer");
    ran_del(&ran);
    assert_false(world->trouble);
}

/* ---- which records go ---- */

static char settled[16][2048];
static char words[16][WORLD_WORD + 1];

static void note_settled(struct world *world, struct peer_request *request, unsigned nth)
{
    assert_true(world_argument(request, 0, settled[nth], sizeof(settled[0])));
    assert_true(world_word(request, words[nth]));
    if (nth == 2)
        lost_after_output(world, request, nth);
    else
        world_command(request, "", 0);
}

/* B-47: a few at a time, and none of a command whose end nobody knows. */
static void test_settled_records(void **state)
{
    struct world *world = *state;
    struct ran ran;
    unsigned i;
    unsigned k;

    world->on_command = note_settled;
    quick_session(world);
    for (i = 1; i <= 10; i++) {
        ran_whole(&ran, world, "true");
        ran_del(&ran);
        if (i < 10)
            assert_string_equal(settled[i], "");
    }
    for (k = 1; k < 10; k++)
        assert_true((strstr(settled[10], words[k]) != NULL) == (k != 2));
    assert_int_equal(strlen(settled[10]), 8 * (WORLD_WORD + 1) - 1);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    assert_string_equal(settled[11], "");
}

static void no_records(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_says(request, "tool bash\ntool setsid\ntool sleep\nhome /home/user\nwanted\n"
                        "cwd /home/user\n");
}

static void count_arguments(struct world *world, struct peer_request *request, unsigned nth)
{
    assert_true(world_argument(request, 3, settled[0], sizeof(settled[0])));
    reset(world, request, nth);
}

/* A sandbox that can be written nowhere: it runs without a record, and nobody can be asked. */
static void test_no_place_for_records(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_probe = no_records;
    world->on_command = count_arguments;
    quick_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    ran_del(&ran);
    assert_string_equal(settled[0], "");
    assert_string_equal(world_log(world), "create probe command health");
}

/* ---- the watchdog ---- */

static char watch[2][32];

static void note_watch(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    assert_true(world_argument(request, 1, watch[nth - 1], sizeof(watch[0])));
    world_command(request, "", 0);
}

/* B-44: limit and grace, rounded up; none without a limit. */
static void test_watch(void **state)
{
    struct world *world = *state;
    char expected[32];
    struct ran ran;

    world->on_command = note_watch;
    assert_int_equal(he2b_options_set(world->options, "command_grace_seconds", "7"), HE2B_OK);
    quick_session(world);
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 20500);
    ran_go(&ran);
    world_run(world);
    ran_del(&ran);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    snprintf(expected, sizeof(expected), "%d", 21 + 7);
    assert_string_equal(watch[0], expected);
    assert_string_equal(watch[1], "");
    assert_string_equal(world->messages, "");
}

static void no_sleep(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_says(request, "tool bash\ntool setsid\nhome /home/user\nwanted\ncwd /home/user\n");
}

static void test_no_sleep(void **state)
{
    struct world *world = *state;
    const char *at;
    struct ran ran;

    world->on_probe = no_sleep;
    world->on_command = note_watch;
    quick_session(world);
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 20500);
    ran_go(&ran);
    world_run(world);
    ran_del(&ran);
    assert_string_equal(watch[0], "");
    at = strstr(world->messages, "has no sleep");
    assert_non_null(at);
    assert_null(strstr(at + 1, "has no sleep"));
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_unbegun_is_repeated),
        IN_WORLD(test_running_is_attached_to),
        IN_WORLD(test_ended_as_recorded),
        IN_WORLD(test_unclear),
        IN_WORLD(test_begun_is_asked_again),
        IN_WORLD(test_repeats_are_bounded),
        IN_WORLD(test_repeat_finds_no_sandbox),
        IN_WORLD(test_denied_start),
        IN_WORLD(test_forged_denial),
        IN_WORLD(test_stream_is_found_again),
        IN_WORLD(test_ended_before_it_was_found),
        IN_WORLD(test_another_pid),
        IN_WORLD(test_attaching_is_bounded),
        IN_WORLD(test_silent_stream),
        IN_WORLD(test_asked_again),
        IN_WORLD(test_network_is_gone),
        IN_WORLD(test_sandbox_is_gone),
        IN_WORLD(test_input_of_an_attached_one),
        IN_WORLD(test_kill_of_a_doubtful_one),
        IN_WORLD(test_kill_of_a_denied_one),
        IN_WORLD(test_kill_of_a_lost_one),
        IN_WORLD(test_settled_records),
        IN_WORLD(test_no_place_for_records),
        IN_WORLD(test_watch),
        IN_WORLD(test_no_sleep),
    };

    return WORLD_RUN(tests);
}
