/* A command: output, end, loss, kill, limit, input (B-40 to B-48). */
#include "tests/unit/session/world.h"

#include "net/loop.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MIB = 1024 * 1024,
};

/* ---- output and end ---- */

static void split_marker(struct world *world, struct peer_request *request, unsigned nth)
{
    char word[WORLD_WORD + 1];
    char text[64];
    int len;
    int i;

    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "\001he2b-", 6);
    peer_output(request, "a\0b\xff", 4);
    world_word(request, word);
    len = snprintf(text, sizeof(text), "\001he2b-%s:%d\002", word, 42);
    for (i = 0; i < len; i++)
        peer_output(request, text + i, 1);
    world_end(request, 0);
}

/* B-40, B-42: byte for byte, the marker taken out however it is cut; its code is the command's. */
static void test_output_without_the_marker(void **state)
{
    struct world *world = *state;
    const char *output;
    struct ran ran;

    world->on_command = split_marker;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(ran.exit_code, 42);
    output = ran_output(&ran);
    assert_memory_equal(output, "\001he2b-a\0b\xff", 11);
    ran_del(&ran);
}

static void held_by_a_child(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "shell\n", 6);
    world_marker(request, 5);
    peer_output(request, "child\n", 6);
    if (peer_wait_closed(request))
        world_stop_soon(world);
}

/* B-42: over when the shell has ended, though a child holds the stream, which is soon dropped. */
static void test_child_holds_the_stream(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = held_by_a_child;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.exit_code, 5);
    assert_string_equal(ran_output(&ran), "shell\n");
    assert_string_equal(he2b_command_state(ran.command), "ending");
    world_run(world);
    assert_string_equal(he2b_command_state(ran.command), "done");
    assert_int_equal(ran.times, 1);
    ran_del(&ran);
}

struct end {
    const char *json;
    int code;
};

static struct end end_now;

static void without_marker(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "out", 3);
    peer_message(request, end_now.json);
    peer_stream_end(request, "{}");
}

/* B-41, FB-01, FB-46: the daemon's end event, where no marker came. */
static void test_end_event_alone(void **state)
{
    static const struct end ends[] = {
        {"{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}", 0},
        {"{\"event\":{\"end\":{\"exitCode\":0,\"exited\":true}}}", 0},
        {"{\"event\":{\"end\":{}}}", 0},
        {"{\"event\":{\"end\":{\"exitCode\":7,\"exited\":true,\"status\":\"exit status 7\"}}}", 7},
        {"{\"event\":{\"end\":{\"exit_code\":255,\"exited\":true}}}", 255},
        {"{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: killed\"}}}", 137},
        {"{\"event\":{\"end\":{\"status\":\"signal: killed\"}}}", 137},
        {"{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: segmentation fault (core "
         "dumped)\"}}}",
         139},
        {"{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: terminated\"}}}", 143},
        {"{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: signal 34\"}}}", 162},
    };
    struct world *world = *state;
    struct ran ran;
    size_t i;

    world->on_command = without_marker;
    world_session(world);
    for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        end_now = ends[i];
        ran_whole(&ran, world, "true");
        assert_int_equal(ran.outcome, HE2B_ENDED);
        assert_int_equal(ran.exit_code, ends[i].code);
        assert_string_equal(ran_output(&ran), "out");
        ran_del(&ran);
    }
    assert_false(world->trouble);
}

/* ---- loss ---- */

static void (*lose)(struct peer_request *request);

static void lost_after_output(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "one\n", 4);
    lose(request);
}

static void by_fin(struct peer_request *request)
{
    request->close = true;
}

static void by_cut_envelope(struct peer_request *request)
{
    peer_send(request, "7\r\n\0\0\0\0\x40{\"\r\n", 12);
    request->close = true;
}

static void by_unavailable(struct peer_request *request)
{
    peer_stream_end(request, "{\"error\":{\"code\":\"unavailable\",\"message\":\"going away\"}}");
}

static void by_end_without_event(struct peer_request *request)
{
    peer_stream_end(request, "{}");
}

static void by_bad_base64(struct peer_request *request)
{
    peer_message(request, "{\"event\":{\"data\":{\"stdout\":\"%%%\"}}}");
    world_end(request, 0);
}

static void by_no_json(struct peer_request *request)
{
    peer_message(request, "<html>");
    world_end(request, 0);
}

static void by_compressed_message(struct peer_request *request)
{
    peer_envelope(request, 1, "xxxx", 4);
    world_end(request, 0);
}

/* B-41, FB-06, FB-19, FB-42: no end seen, or output that cannot be read: 255, never run again. */
static void test_lost_streams(void **state)
{
    static void (*const ways[])(struct peer_request * request) = {
        by_fin,        peer_reset, by_cut_envelope,       by_unavailable, by_end_without_event,
        by_bad_base64, by_no_json, by_compressed_message,
    };
    struct world *world = *state;
    struct ran ran;
    size_t i;

    world->on_command = lost_after_output;
    world_session(world);
    for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        lose = ways[i];
        ran_whole(&ran, world, "true");
        assert_int_equal(ran.outcome, HE2B_UNKNOWN);
        assert_int_equal(ran.exit_code, 255);
        assert_int_equal(ran.failure, HE2B_ERR_LOST);
        assert_non_null(strstr(ran.failure_text, "the sandbox lives"));
        assert_string_equal(ran_output(&ran), "one\n");
        ran_del(&ran);
        assert_int_equal(world_count(world, "command"), i + 1); /* each command was sent once */
    }
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

/* B-48, FB-06: it says that the sandbox is gone; the next command asks first, and starts clean. */
static void test_sandbox_gone_during_command(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = lost_after_output;
    world->on_health = gone;
    world->on_get = unknown_sandbox;
    lose = by_fin;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    assert_int_equal(ran.failure, HE2B_ERR_GONE);
    assert_non_null(strstr(ran.failure_text, "the control plane knows it no more"));
    ran_del(&ran);
    world->on_command = split_marker;
    world->on_connect = unknown_sandbox;
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(world_log(world),
                        "create probe command ask health connect create probe command");
    ran_del(&ran);
}

/* ---- Start that fails ---- */

static void refuse_start(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    peer_stream_end(request,
                    "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"no such user\"}}");
}

static void test_start_is_refused(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = refuse_start;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_REFUSED);
    assert_non_null(strstr(ran.failure_text, "no such user"));
    /* the second from another directory, in case it was that; it was not, so nothing is said of it
     */
    assert_string_equal(world_log(world), "create probe command command");
    assert_string_equal(he2b_session_cwd(world->session), "/home/user");
    assert_string_equal(world->messages, "");
    ran_del(&ran);
}

/* Wire C.6: a Start in a directory that is not there. */
static void no_such_cwd(struct world *world, struct peer_request *request, unsigned nth)
{
    if (!strstr(request->body + 5, "\"cwd\":\"\\/home\\/user\"") &&
        !strstr(request->body + 5, "\"cwd\":\"/home/user\"")) {
        world_command(request, "out\n", 0);
        return;
    }
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    peer_stream_end(request, "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"cwd "
                             "'/home/user' does not exist\"}}");
}

/* FB-40: the directory is gone: the command runs elsewhere, with a word, and later ones at once. */
static void test_directory_is_gone(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = no_such_cwd;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(ran_output(&ran), "out\n");
    ran_del(&ran);
    assert_string_equal(he2b_session_cwd(world->session), "/");
    assert_non_null(strstr(world->messages, "/home/user is gone; commands start in /"));
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
    assert_string_equal(world_log(world), "create probe command command command");
    assert_false(world->trouble);
}

static void reset_before_head(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_reset(request);
}

/* B-47: it was sent, so it may run: not known, and not sent again. */
static void test_start_is_lost(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = reset_before_head;
    world_session(world);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_UNKNOWN);
    assert_int_equal(ran.exit_code, 255);
    assert_string_equal(world_log(world), "create probe command ask health");
    ran_del(&ran);
}

/* ---- kill and limit ---- */

static void until_killed(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "x", 1);
    peer_gate_raise(&world->inputs);
    peer_gate_wait(&world->killed, 1);
    peer_message(request,
                 "{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: terminated\"}}}");
    peer_stream_end(request, "{}");
}

static void post_kill(void *arg)
{
    he2b_command_kill(arg);
}

struct killing {
    struct world *world;
    struct ran *ran;
};

static void *kill_when_running(void *arg)
{
    struct killing *killing = arg;

    peer_gate_wait(&killing->world->inputs, 1);
    (void)he2b_loop_post(killing->world->loop, post_kill, killing->ran->command);
    return NULL;
}

static void run_and_kill(struct world *world, struct ran *ran)
{
    struct killing killing = {.world = world, .ran = ran};
    pthread_t thread;

    ran_start(ran, world, "true");
    assert_int_equal(pthread_create(&thread, NULL, kill_when_running, &killing), 0);
    world_run(world);
    pthread_join(thread, NULL);
    assert_int_equal(ran->times, 1);
}

static void keep_killer(struct world *world, struct peer_request *request, unsigned nth)
{
    char value[64] = "";
    size_t used;

    (void)nth;
    peer_header(request, "Authorization", value, sizeof(value));
    world_argument(request, 1, world->messages, sizeof(world->messages));
    used = strlen(world->messages);
    snprintf(world->messages + used, sizeof(world->messages) - used, " %s", value);
    peer_stream_begin(request);
    world_start(request);
    world_end(request, 0);
    peer_gate_raise(&world->killed);
}

static void note_deadline(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    if (peer_header(request, "Connect-Timeout-Ms", world->scope, sizeof(world->scope)))
        world_note(world, "deadline");
    world_command(request, "", 0);
}

/* B-44, FB-10: the daemon's deadline would end one process, and break the pipes of those that live
 * on: none is sent, with a limit or without. */
static void test_no_deadline_of_the_daemon(void **state)
{
    struct world *world = *state;
    struct ran ran;
    int64_t limit_ms;

    world->on_command = note_deadline;
    world_session(world);
    for (limit_ms = 0; limit_ms <= 60000; limit_ms += 60000) {
        ran_new(&ran, world, "true");
        he2b_command_set_timeout(ran.command, limit_ms);
        ran_go(&ran);
        world_run(world);
        assert_int_equal(ran.outcome, HE2B_ENDED);
        ran_del(&ran);
    }
    assert_null(strstr(world_log(world), "deadline"));
}

/* B-43: 130; the group of its pid is ended by a second command, as root. */
static void test_kill(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = until_killed;
    world->on_killer = keep_killer;
    world_session(world);
    run_and_kill(world, &ran);
    assert_int_equal(ran.outcome, HE2B_KILLED);
    assert_int_equal(ran.exit_code, 130);
    assert_int_equal(ran.failure, 0);
    assert_string_equal(world_log(world), "create probe command killer");
    assert_string_equal(world->messages, "100 Basic cm9vdDo=");
    he2b_command_kill(ran.command);
    ran_del(&ran);
    assert_int_equal(world_close(world), 0);
    assert_false(world->trouble);
}

static void no_root(struct world *world, struct peer_request *request, unsigned nth)
{
    char value[64] = "";

    if (nth == 1 && peer_header(request, "Authorization", value, sizeof(value))) {
        peer_answer(request, 401, "application/json",
                    "{\"code\":\"unauthenticated\",\"message\":\"no such user\"}");
        return;
    }
    keep_killer(world, request, nth);
}

static void test_kill_without_root(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = until_killed;
    world->on_killer = no_root;
    world_session(world);
    run_and_kill(world, &ran);
    assert_int_equal(ran.exit_code, 130);
    assert_int_equal(ran.failure, 0);
    assert_string_equal(world_log(world), "create probe command killer killer");
    assert_string_equal(world->messages, "100 ");
    ran_del(&ran);
}

static void until_dropped(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, "x", 1);
    peer_gate_raise(&world->inputs);
    peer_wait_closed(request);
}

static void no_killer(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_wait_closed(request);
}

/* B-43: back within 5 s, also when the kill itself gets no answer; the result says so. */
static void test_kill_gets_no_answer(void **state)
{
    struct world *world = *state;
    int64_t began;
    struct ran ran;

    world->on_command = until_dropped;
    world->on_killer = no_killer;
    world_session(world);
    began = he2b_now_ms();
    run_and_kill(world, &ran);
    assert_true(he2b_now_ms() - began < 5000);
    assert_int_equal(ran.outcome, HE2B_KILLED);
    assert_int_equal(ran.exit_code, 130);
    assert_int_equal(ran.failure, HE2B_ERR_LOST);
    ran_del(&ran);
}

static void test_limit(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = until_killed;
    world_session(world);
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 50);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_TIMED_OUT);
    assert_int_equal(ran.exit_code, 124);
    assert_string_equal(world_log(world), "create probe command killer");
    ran_del(&ran);
}

/* A kill before anything was asked for: nothing is started. */
static void test_kill_before_start(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    ran_start(&ran, world, "true");
    he2b_command_kill(ran.command);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_KILLED);
    assert_int_equal(ran.exit_code, 130);
    assert_null(strstr(world_log(world), "command"));
    ran_del(&ran);
}

static void post_del(void *arg)
{
    struct killing *killing = arg;

    he2b_command_del(killing->ran->command);
    killing->ran->command = NULL;
    world_stop(killing->world);
}

static void *delete_when_running(void *arg)
{
    struct killing *killing = arg;

    peer_gate_wait(&killing->world->inputs, 1);
    (void)he2b_loop_post(killing->world->loop, post_del, killing);
    return NULL;
}

/* Deleted while it runs: its group is ended, and nobody is told. */
static void test_delete_while_running(void **state)
{
    struct world *world = *state;
    struct ran ran;
    struct killing killing = {.world = world, .ran = &ran};
    pthread_t thread;

    world->on_command = until_killed;
    world_session(world);
    ran_start(&ran, world, "true");
    assert_int_equal(pthread_create(&thread, NULL, delete_when_running, &killing), 0);
    world_run(world);
    pthread_join(thread, NULL);
    assert_int_equal(world_close(world), 0);
    assert_string_equal(world_log(world), "create probe command killer kill");
    assert_int_equal(ran.times, 0);
    ran_del(&ran);
}

/* ---- back-pressure ---- */

static size_t sent;

static void much(struct world *world, struct peer_request *request, unsigned nth)
{
    static char piece[32 * 1024];
    int i;

    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    for (i = 0; i < 64 * 32; i++) {
        memset(piece, 'a' + i % 26, sizeof(piece));
        if (!peer_output(request, piece, sizeof(piece)))
            return;
        __atomic_add_fetch(&sent, sizeof(piece), __ATOMIC_RELAXED);
        if (i == 0)
            peer_gate_raise(&world->inputs);
    }
    world_marker(request, 0);
    world_end(request, 0);
}

struct reading {
    struct world *world;
    struct ran *ran;
    size_t before; /* sent before anything was read */
    size_t got;
    bool right;
};

/* Begins to read when the sender stands still. */
static void *read_late(void *arg)
{
    struct reading *reading = arg;
    static char buffer[64 * 1024];
    size_t last;
    ssize_t n;

    peer_gate_wait(&reading->world->inputs, 1);
    do {
        struct pollfd none = {.fd = -1};

        last = __atomic_load_n(&sent, __ATOMIC_RELAXED);
        (void)poll(&none, 1, 100);
    } while (__atomic_load_n(&sent, __ATOMIC_RELAXED) != last);
    reading->before = last;
    reading->right = true;
    while ((n = read(reading->ran->out, buffer, sizeof(buffer))) > 0) {
        ssize_t i;

        for (i = 0; i < n; i++) {
            size_t at = reading->got + (size_t)i;

            if (buffer[i] != (char)('a' + at / (32 * 1024) % 26))
                reading->right = false;
        }
        reading->got += (size_t)n;
    }
    return NULL;
}

/* B-40: who does not read stops the transfer; nothing is lost and nothing is held. */
static void test_reader_that_waits(void **state)
{
    struct world *world = *state;
    struct ran ran;
    struct reading reading = {.world = world, .ran = &ran};
    pthread_t thread;

    sent = 0;
    world->on_command = much;
    world_session(world);
    ran_start(&ran, world, "true");
    assert_int_equal(pthread_create(&thread, NULL, read_late, &reading), 0);
    world_run(world);
    pthread_join(thread, NULL);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(reading.got, 64 * MIB);
    assert_true(reading.right);
    /* what the kernel's socket and pipe buffers hold, and one message */
    assert_true(reading.before < 16 * MIB);
    ran_del(&ran);
}

/* A reader that went away stops nothing: the command ends with its own code. */
static void test_reader_that_left(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_command = much;
    world_session(world);
    ran_new(&ran, world, "true");
    close(ran.out);
    ran.out = -1;
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(ran.exit_code, 0);
    ran_del(&ran);
}

/* B-50: a reader that stands still holds up nobody but itself. */
static void test_other_commands_go_on(void **state)
{
    struct world *world = *state;
    struct ran slow;
    struct ran quick;

    sent = 0;
    world->on_command = much;
    world_session(world);
    ran_start(&slow, world, "true");
    slow.keep_running = true;
    ran_new(&quick, world, "true");
    close(quick.out);
    quick.out = -1;
    ran_go(&quick);
    world_run(world);
    assert_int_equal(quick.times, 1);
    assert_int_equal(slow.times, 0);
    ran_del(&quick);
    ran_del(&slow);
}

/* ---- input ---- */

static void eat_input(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_gate_wait(&world->inputs, 4);
    world_marker(request, 0);
    world_end(request, 0);
}

/* B-45: in ordered pieces, byte for byte, and the wrapper knows the length. */
static void test_input(void **state)
{
    struct world *world = *state;
    size_t len = 3 * MIB + 17;
    char *input = malloc(len);
    struct ran ran;
    size_t i;

    for (i = 0; i < len; i++)
        input[i] = (char)(i * 2654435761u >> 13);
    world->on_command = eat_input;
    world_session(world);
    ran_new(&ran, world, "cat");
    assert_int_equal(he2b_command_set_stdin(ran.command, input, len), HE2B_OK);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(ran.stdin_failure, 0);
    assert_string_equal(world_log(world), "create probe command input input input input");
    assert_int_equal(world->input_len, len);
    assert_memory_equal(world->input, input, len);
    ran_del(&ran);
    free(input);
}

static void no_process(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer(request, 404, "application/json",
                "{\"code\":\"not_found\",\"message\":\"process with pid 100 not found\"}");
    peer_gate_raise(&world->inputs);
}

static void broken_pipe(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer(request, 500, "application/json",
                "{\"code\":\"internal\",\"message\":\"error writing to stdin\"}");
    peer_gate_raise(&world->inputs);
}

static void ignore_input(struct world *world, struct peer_request *request, unsigned nth)
{
    peer_stream_begin(request);
    world_start(request);
    peer_gate_wait(&world->released, nth);
    world_marker(request, 9);
    world_end(request, 9);
}

static void closed_stdin(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer(request, 200, "application/json", "{}");
    peer_gate_raise(&world->released);
}

/* B-45: a command that ends without reading is no failure; one of delivery stands beside the result
 * and is followed by the end of file. */
static void test_input_that_fails(void **state)
{
    static char input[2 * MIB];
    struct world *world = *state;
    struct ran ran;

    world->on_command = ignore_input;
    world->on_close_stdin = closed_stdin;
    world->on_input = no_process;
    world_session(world);
    ran_new(&ran, world, "true");
    assert_int_equal(he2b_command_set_stdin(ran.command, input, sizeof(input)), HE2B_OK);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.exit_code, 9);
    assert_int_equal(ran.stdin_failure, 0);
    ran_del(&ran);

    world->on_input = broken_pipe;
    ran_new(&ran, world, "true");
    assert_int_equal(he2b_command_set_stdin(ran.command, input, sizeof(input)), HE2B_OK);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.exit_code, 9);
    assert_int_equal(ran.stdin_failure, HE2B_ERR_LOST);
    assert_string_equal(world_log(world),
                        "create probe command input close-stdin command input close-stdin");
    ran_del(&ran);
}

static void test_no_input(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    ran_new(&ran, world, "true");
    assert_int_equal(he2b_command_set_stdin(ran.command, "", 0), HE2B_OK);
    ran_go(&ran);
    world_run(world);
    assert_non_null(strstr(world_body(world), "\"stdin\":false"));
    assert_string_equal(world_log(world), "create probe command");
    ran_del(&ran);
}

/* ---- what is not allowed ---- */

static void test_bad_texts(void **state)
{
    struct world *world = *state;
    he2b_command *command = NULL;

    world_session(world);
    assert_int_equal(he2b_command_new(&command, world->session), HE2B_OK);
    assert_int_equal(he2b_command_start(command, NULL, NULL), HE2B_ERR_STATE);
    assert_int_equal(he2b_command_set_text(command, "a\0b", 3), HE2B_ERR_ARG);
    he2b_command_del(command);
    he2b_command_del(NULL);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_output_without_the_marker),
        IN_WORLD(test_child_holds_the_stream),
        IN_WORLD(test_end_event_alone),
        IN_WORLD(test_lost_streams),
        IN_WORLD(test_sandbox_gone_during_command),
        IN_WORLD(test_start_is_refused),
        IN_WORLD(test_directory_is_gone),
        IN_WORLD(test_start_is_lost),
        IN_WORLD(test_kill),
        IN_WORLD(test_no_deadline_of_the_daemon),
        IN_WORLD(test_kill_without_root),
        IN_WORLD(test_kill_gets_no_answer),
        IN_WORLD(test_limit),
        IN_WORLD(test_kill_before_start),
        IN_WORLD(test_delete_while_running),
        IN_WORLD(test_reader_that_waits),
        IN_WORLD(test_reader_that_left),
        IN_WORLD(test_other_commands_go_on),
        IN_WORLD(test_input),
        IN_WORLD(test_input_that_fails),
        IN_WORLD(test_no_input),
        IN_WORLD(test_bad_texts),
    };

    return WORLD_RUN(tests);
}
