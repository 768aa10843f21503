/* A terminal in a sandbox: start, size, what is typed, end, loss (B-31, B-41, B-42). */
#include "tests/unit/session/world.h"

#include "core/base64.h"
#include "net/loop.h"
#include "session/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct seat {
    struct world *world;
    he2b_terminal *terminal;
    int out;
    unsigned started;
    unsigned ended;
    unsigned sent;
    int exit_code;
    int failure; /* code; 0: none */
    char failure_text[512];
    bool delete_inside;
    const char *type_at_start;
    bool leave_at_start;
    int output_at_start; /* 1: there was some */
};

static void on_sent(void *user)
{
    struct seat *seat = user;

    seat->sent++;
    world_stop(seat->world);
}

static void on_started(void *user)
{
    struct seat *seat = user;
    struct pollfd out = {.fd = seat->out, .events = POLLIN};

    seat->started++;
    seat->output_at_start = poll(&out, 1, 0);
    if (seat->type_at_start)
        assert_int_equal(he2b_terminal_send(seat->terminal, seat->type_at_start,
                                            strlen(seat->type_at_start), on_sent, seat),
                         HE2B_OK);
    if (seat->leave_at_start) {
        he2b_terminal_del(seat->terminal);
        seat->terminal = NULL;
        world_stop(seat->world);
    }
}

static void on_ended(void *user, int exit_code, const he2b_failure *failure)
{
    struct seat *seat = user;

    seat->ended++;
    seat->exit_code = exit_code;
    seat->failure = failure ? he2b_failure_code(failure) : 0;
    snprintf(seat->failure_text, sizeof(seat->failure_text), "%s",
             failure ? he2b_failure_text(failure) : "");
    if (seat->delete_inside) {
        he2b_terminal_del(seat->terminal);
        seat->terminal = NULL;
    }
    world_stop(seat->world);
}

static void seat_new(struct seat *seat, struct world *world)
{
    int ends[2];

    memset(seat, 0, sizeof(*seat));
    seat->world = world;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    seat->out = ends[0];
    assert_int_equal(he2b_terminal_new(&seat->terminal, world->loop, world->options, WORLD_ID),
                     HE2B_OK);
    assert_int_equal(he2b_terminal_set_output(seat->terminal, ends[1]), HE2B_OK);
    assert_int_equal(he2b_terminal_resize(seat->terminal, 100, 30), HE2B_OK);
}

static void seat_go(struct seat *seat)
{
    assert_int_equal(he2b_terminal_start(seat->terminal, on_started, on_ended, seat), HE2B_OK);
    assert_int_equal(he2b_terminal_start(seat->terminal, on_started, on_ended, seat),
                     HE2B_ERR_STATE);
    world_run(seat->world);
}

/* All output; its write end must be closed. NUL-terminated, static. */
static const char *seat_output(struct seat *seat)
{
    static char output[WORLD_OUTPUT_MAX];
    size_t len = 0;
    ssize_t n;

    while ((n = read(seat->out, output + len, sizeof(output) - 1 - len)) != 0) {
        assert_true(n > 0 || errno == EINTR);
        len += n > 0 ? (size_t)n : 0;
    }
    output[len] = '\0';
    return output;
}

static void seat_del(struct seat *seat)
{
    he2b_terminal_del(seat->terminal);
    close(seat->out);
}

/* ---- what the sandbox does ---- */

static void show(struct peer_request *request, const char *text)
{
    char encoded[256];
    char json[400];

    he2b_base64_encode(encoded, text, strlen(text));
    encoded[he2b_base64_encoded_size(strlen(text))] = '\0';
    snprintf(json, sizeof(json), "{\"event\":{\"data\":{\"pty\":\"%s\"}}}", encoded);
    peer_message(request, json);
}

static void show_marker(struct peer_request *request, int code)
{
    char word[WORLD_WORD + 1] = "";
    char text[64];

    assert_true(world_argument(request, 0, word, sizeof(word)));
    snprintf(text, sizeof(text), "\001he2b-%s:%d\002", word, code);
    show(request, text);
}

static void shell(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    show(request, "$ exit 7\r\n");
    show_marker(request, 7);
    world_end(request, 7);
}

/* Its start and its first words come in one piece. */
static void hasty_shell(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    peer_two_messages(request, "{\"event\":{\"start\":{\"pid\":100}}}",
                      "{\"event\":{\"data\":{\"pty\":\"JCA=\"}}}");
    world_end(request, 0);
}

/* As a child in the background that holds the terminal: no end comes. */
static void shell_with_a_child(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    show(request, "$ exit 3\r\n");
    show_marker(request, 3);
    show(request, "of nobody");
    peer_wait_closed(request);
}

/* A daemon whose shell was killed before it could say anything. */
static void killed_shell(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    show(request, "$ ");
    peer_message(request, "{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: killed\"}}}");
    peer_stream_end(request, "{}");
}

/* Runs until the test says so, and ends with code 5. */
static void waiting_shell(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    show(request, "$ ");
    peer_gate_wait(&world->released, 1);
    show_marker(request, 5);
    world_end(request, 5);
}

/* ---- start and end ---- */

static void test_start_and_end(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = shell;
    seat_new(&seat, world);
    assert_int_equal(he2b_terminal_set_type(seat.terminal, "vt100"), HE2B_OK);
    seat_go(&seat);
    assert_string_equal(seat_output(&seat), "$ exit 7\r\n");
    assert_int_equal(seat.started, 1);
    assert_int_equal(seat.ended, 1);
    assert_int_equal(seat.exit_code, 7);
    assert_int_equal(seat.failure, 0);
    assert_int_equal(he2b_terminal_pid(seat.terminal), 100);
    /* B-31: nothing but the lease is touched, and nothing is asked of the sandbox before */
    assert_string_equal(world_log(world), "connect command");
    assert_non_null(strstr(world_body(world), "\"pty\":{\"size\":{\"cols\":100,\"rows\":30}}"));
    assert_non_null(strstr(world_body(world), "\"TERM\":\"vt100\""));
    seat_del(&seat);
}

/* So that a program can prepare its own terminal for what comes. */
static void test_nothing_is_shown_before_its_start(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = hasty_shell;
    seat_new(&seat, world);
    seat_go(&seat);
    assert_int_equal(seat.started, 1);
    assert_int_equal(seat.output_at_start, 0);
    assert_string_equal(seat_output(&seat), "$ ");
    seat_del(&seat);
}

static void test_child_in_the_background(void **state) /* B-42 */
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = shell_with_a_child;
    seat_new(&seat, world);
    seat_go(&seat);
    assert_int_equal(seat.exit_code, 3);
    assert_int_equal(seat.failure, 0);
    assert_string_equal(seat_output(&seat), "$ exit 3\r\n");
    seat_del(&seat);
}

static void test_death_by_signal(void **state) /* B-41 */
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = killed_shell;
    seat_new(&seat, world);
    seat.delete_inside = true;
    seat_go(&seat);
    assert_int_equal(seat.exit_code, 137);
    assert_int_equal(seat.failure, 0);
    assert_string_equal(seat_output(&seat), "$ ");
    seat_del(&seat);
}

static void just_woken(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 1)
        world_no_sandbox(request);
    else if (nth == 2)
        world_no_port(request);
    else
        shell(world, request, nth);
}

static void test_sandbox_that_has_just_been_woken(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = just_woken;
    seat_new(&seat, world);
    seat_go(&seat);
    assert_int_equal(seat.exit_code, 7);
    assert_int_equal(seat.started, 1);
    assert_int_equal(world_count(world, "command"), 3);
    assert_int_equal(world_count(world, "connect"), 1);
    seat_del(&seat);
}

/* ---- what is typed, and the size ---- */

static void test_typed_in_order_one_piece_at_a_time(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = waiting_shell;
    seat_new(&seat, world);
    assert_int_equal(he2b_terminal_send(seat.terminal, "x", 1, on_sent, &seat), HE2B_ERR_STATE);
    seat.type_at_start = "first ";
    seat_go(&seat);
    assert_int_equal(seat.sent, 1);
    assert_int_equal(he2b_terminal_send(seat.terminal, "\003\000\377", 3, on_sent, &seat), HE2B_OK);
    assert_int_equal(he2b_terminal_send(seat.terminal, "x", 1, on_sent, &seat), HE2B_ERR_STATE);
    world_run(world);
    assert_int_equal(seat.sent, 2);
    assert_int_equal(world->input_len, 9);
    assert_memory_equal(world->input, "first \003\000\377", 9);
    assert_non_null(strstr(world_body(world), "\"input\":{\"pty\":"));
    peer_gate_raise(&world->released);
    world_run(world);
    assert_int_equal(seat.exit_code, 5);
    seat_del(&seat);
}

/* The first change is answered late: what changed meanwhile is told once, as it is then. */
static void update(struct world *world, struct peer_request *request, unsigned nth)
{
    if (!strstr(request->path, "/process.Process/Update")) {
        world_error(request, 404, "no such route");
        return;
    }
    if (nth == 1) {
        world_stop_soon(world);
        peer_gate_wait(&world->inputs, 1);
    }
    peer_answer(request, 200, "application/json", "{}");
    if (nth == 2)
        world_stop_soon(world);
}

/* The stop that an update posts may come when another one, or the loop's end, was there already: so
 * what counts is that the update came. */
static void run_to_update(struct world *world, unsigned nth)
{
    while (world_count(world, "other") < nth)
        world_run(world);
}

static void test_newest_size_is_told(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = waiting_shell;
    world->on_other = update;
    seat_new(&seat, world);
    seat.type_at_start = "x"; /* raises inputs, but the test waits for sent */
    world->on_input = world->on_close_stdin;
    seat_go(&seat);
    assert_int_equal(seat.sent, 1);
    assert_int_equal(he2b_terminal_resize(seat.terminal, 70000, 1), HE2B_ERR_ARG);
    assert_int_equal(he2b_terminal_resize(seat.terminal, 100, 30), HE2B_OK);
    assert_int_equal(world_count(world, "other"), 0);
    assert_int_equal(he2b_terminal_resize(seat.terminal, 90, 20), HE2B_OK);
    run_to_update(world, 1);
    assert_non_null(strstr(world_body(world), "{\"cols\":90,\"rows\":20}"));
    assert_int_equal(he2b_terminal_resize(seat.terminal, 91, 21), HE2B_OK);
    assert_int_equal(he2b_terminal_resize(seat.terminal, 120, 40), HE2B_OK);
    peer_gate_raise(&world->inputs);
    run_to_update(world, 2);
    assert_non_null(strstr(world_body(world), "{\"cols\":120,\"rows\":40}"));
    peer_gate_raise(&world->released);
    while (!seat.ended)
        world_run(world);
    assert_int_equal(world_count(world, "other"), 2);
    assert_int_equal(seat.exit_code, 5);
    seat_del(&seat);
}

/* ---- loss ---- */

static void cut(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    show(request, "$ ");
    peer_reset(request);
}

static void gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_no_sandbox(request);
}

/* B-41: a lost connection says so, and tells the sandbox's end from the network's. */
static void test_lost_connection(void **state)
{
    struct world *world = *state;
    world_fn alive = world->on_health;
    struct seat seat;
    int i;

    world->on_command = cut;
    for (i = 0; i < 2; i++) {
        world->on_health = i ? gone : alive;
        seat_new(&seat, world);
        seat_go(&seat);
        assert_int_equal(seat.ended, 1);
        assert_int_equal(seat.exit_code, 255);
        assert_int_equal(seat.failure, i ? HE2B_ERR_GONE : HE2B_ERR_LOST);
        assert_non_null(strstr(seat.failure_text, "connection was lost"));
        (void)seat_output(&seat); /* its end comes */
        seat_del(&seat);
    }
    /* and is not woken or kept by it */
    assert_int_equal(world_count(world, "connect"), 2);
}

static void refuse_input(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 504, "text/html", "<html>no</html>");
}

/* Nothing that was typed is lost without a word. */
static void test_typed_and_not_taken(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = waiting_shell;
    world->on_input = refuse_input;
    seat_new(&seat, world);
    seat.type_at_start = "rm -r important\r";
    seat_go(&seat);
    assert_int_equal(seat.sent, 0);
    assert_int_equal(seat.ended, 1);
    assert_int_equal(seat.failure, HE2B_ERR_LOST);
    peer_gate_raise(&world->released);
    seat_del(&seat);
}

static void late_input(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer(request, 404, "application/json",
                "{\"code\":\"not_found\",\"message\":\"process with pid 100 not found\"}");
    peer_gate_raise(&world->inputs);
}

/* What is typed while the shell ends is nobody's: the end is the shell's own. */
static void test_typed_behind_the_end(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = waiting_shell;
    world->on_input = late_input;
    seat_new(&seat, world);
    seat.type_at_start = "x";
    seat_go(&seat);
    assert_int_equal(seat.sent, 1);
    peer_gate_raise(&world->released);
    world_run(world);
    assert_int_equal(seat.exit_code, 5);
    assert_int_equal(seat.failure, 0);
    seat_del(&seat);
}

static void refused(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    peer_stream_end(request, "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"no pty\"}}");
}

static void not_there(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "no such sandbox");
}

static void test_not_started(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = refused;
    seat_new(&seat, world);
    seat_go(&seat);
    assert_int_equal(seat.started, 0);
    assert_int_equal(seat.failure, HE2B_ERR_REFUSED);
    assert_non_null(strstr(seat.failure_text, "no pty"));
    seat_del(&seat);
    world->on_connect = not_there;
    seat_new(&seat, world);
    seat_go(&seat);
    assert_int_equal(seat.failure, HE2B_ERR_GONE);
    seat_del(&seat);
}

/* ---- leaving, and the lease ---- */

static void left_shell(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    if (peer_wait_closed(request))
        peer_gate_raise(&world->released);
}

static void test_leaving_ends_nothing(void **state)
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = left_shell;
    seat_new(&seat, world);
    seat.leave_at_start = true;
    seat_go(&seat);
    assert_true(peer_gate_wait(&world->released, 1));
    assert_int_equal(seat.ended, 0);
    assert_string_equal(world_log(world), "connect command");
    assert_string_equal(seat_output(&seat), "");
    seat_del(&seat);
}

static void connected_again(struct world *world, struct peer_request *request, unsigned nth)
{
    peer_answer(request, 200, "application/json",
                "{\"sandboxID\":\"" WORLD_ID
                "\",\"templateID\":\"base\",\"envdVersion\":\"0.6.13\","
                "\"envdAccessToken\":\"secret-token\"}");
    if (nth == 2)
        peer_gate_raise(&world->released);
}

static void test_lease_is_extended_while_it_is_open(void **state) /* B-31 */
{
    struct world *world = *state;
    struct seat seat;

    world->on_command = waiting_shell;
    world->on_connect = connected_again;
    seat_new(&seat, world);
    seat.type_at_start = "x";
    seat_go(&seat);
    assert_int_equal(world_count(world, "connect"), 1);
    assert_true(he2b_timer_armed(seat.terminal->timer));
    /* its time has come; the second connect lets the shell end */
    assert_int_equal(he2b_timer_arm(seat.terminal->timer, 0), HE2B_OK);
    world_run(world);
    assert_int_equal(seat.exit_code, 5);
    assert_int_equal(world_count(world, "connect"), 2);
    seat_del(&seat);
}

/* ---- what is not allowed ---- */

static void test_bad_arguments(void **state)
{
    struct world *world = *state;
    he2b_terminal *terminal = NULL;

    assert_int_equal(he2b_terminal_new(&terminal, world->loop, world->options, "../x"),
                     HE2B_ERR_ARG);
    assert_int_equal(he2b_terminal_new(&terminal, world->loop, world->options, NULL), HE2B_ERR_ARG);
    assert_null(terminal);
    assert_int_equal(he2b_terminal_new(&terminal, world->loop, world->options, WORLD_ID), HE2B_OK);
    assert_int_equal(he2b_terminal_set_type(terminal, "vt\n100"), HE2B_ERR_ARG);
    assert_int_equal(he2b_terminal_set_type(terminal, "caf\xe9"), HE2B_ERR_ARG);
    he2b_terminal_del(terminal);
    he2b_terminal_del(NULL);
    assert_string_equal(world_log(world), "");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_start_and_end),
        IN_WORLD(test_nothing_is_shown_before_its_start),
        IN_WORLD(test_child_in_the_background),
        IN_WORLD(test_death_by_signal),
        IN_WORLD(test_sandbox_that_has_just_been_woken),
        IN_WORLD(test_typed_in_order_one_piece_at_a_time),
        IN_WORLD(test_newest_size_is_told),
        IN_WORLD(test_lost_connection),
        IN_WORLD(test_typed_and_not_taken),
        IN_WORLD(test_typed_behind_the_end),
        IN_WORLD(test_not_started),
        IN_WORLD(test_leaving_ends_nothing),
        IN_WORLD(test_lease_is_extended_while_it_is_open),
        IN_WORLD(test_bad_arguments),
    };

    return WORLD_RUN(tests);
}
