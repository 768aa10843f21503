#include "net/rpc.h"

#include "tests/unit/peer/peer.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

struct bench {
    he2b_loop *loop;
    struct peer *peer;
    const char *mode;
    char url[PEER_URL_MAX + 32];

    he2b_rpc *rpc;
    struct he2b_rpc_result result;
    bool done;
    char seen[512]; /* the messages, with "|" behind each */
    int refuse;     /* so many are not taken at first */
    bool hold;      /* the first message is refused, and the peer then sends more */
    unsigned offers;
    struct peer_gate refused;
    struct peer_gate more;
    he2b_timer *later;
    he2b_task *resume;
};

static void serve(struct peer_request *request, void *user)
{
    struct bench *bench = user;
    const char *mode = bench->mode;

    if (strcmp(mode, "good") == 0) {
        peer_stream_begin(request);
        peer_message(request, "{\"a\":1}");
        peer_envelope(request, 0, "", 0);
        peer_message(request, "{\"b\":2}");
        peer_message(request, "{\"c\":3}");
        peer_stream_end(request, "{}");
    } else if (strcmp(mode, "held") == 0) {
        peer_stream_begin(request);
        peer_message(request, "{\"a\":1}");
        peer_gate_wait(&bench->refused, 1);
        peer_message(request, "{\"b\":2}");
        peer_stream_end(request, "{}");
        peer_gate_raise(&bench->more);
    } else if (strcmp(mode, "error") == 0) {
        peer_stream_begin(request);
        peer_stream_end(request,
                        "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"no\\nsuch\"}}");
    } else if (strcmp(mode, "no-end") == 0) {
        peer_stream_begin(request);
        peer_message(request, "{\"a\":1}");
        peer_send(request, "0\r\n\r\n", 5);
    } else if (strcmp(mode, "flags") == 0) {
        peer_stream_begin(request);
        peer_envelope(request, 0x40, "{}", 2);
        peer_wait_closed(request);
        request->close = true;
    } else if (strcmp(mode, "compressed") == 0) {
        peer_stream_begin(request);
        peer_envelope(request, 1, "zz", 2);
        peer_wait_closed(request);
        request->close = true;
    } else if (strcmp(mode, "html") == 0) {
        peer_answer(request, 200, "text/html", "<html>login</html>");
    } else if (strcmp(mode, "gone") == 0) {
        peer_answer(request, 502, "application/json; charset=utf-8",
                    "{\"sandboxId\":\"i1\",\"message\":\"reworded\",\"code\":502}");
    } else if (strcmp(mode, "port") == 0) {
        peer_answer(request, 502, "application/json",
                    "{\"sandboxId\":\"i1\",\"message\":\"m\",\"port\":49983,\"code\":502}");
    } else if (strcmp(mode, "token") == 0) {
        peer_answer(request, 401, "application/json",
                    "{\"code\":401,\"message\":\"unauthorized\"}");
    } else if (strcmp(mode, "not-found") == 0) {
        peer_answer(request, 404, "application/json",
                    "{\"code\":\"not_found\",\"message\":\"process with pid 7 not found\"}");
    } else if (strcmp(mode, "balancer") == 0) {
        peer_answer(request, 503, "text/html", "<html>");
    } else if (strcmp(mode, "unary") == 0) {
        peer_answer(request, 200, "application/json", "{\"ok\":true}");
    }
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    peer_gate_init(&bench->refused);
    peer_gate_init(&bench->more);
    bench->peer = peer_new(serve, bench);
    snprintf(bench->url, sizeof(bench->url), "%s/process.Process/X", peer_url(bench->peer));
    *state = bench;
    return he2b_loop_new(&bench->loop);
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    he2b_task_del(bench->resume);
    he2b_loop_del(bench->loop);
    peer_del(bench->peer);
    free(bench);
    return 0;
}

static void on_resume(void *arg)
{
    struct bench *bench = arg;

    he2b_rpc_resume(bench->rpc);
}

static bool on_message(void *user, const char *json, size_t len)
{
    struct bench *bench = user;

    if (bench->hold) {
        bench->offers++;
        peer_gate_raise(&bench->refused);
        he2b_timer_arm(bench->later, 100);
        return false;
    }
    if (bench->refuse > 0) {
        bench->refuse--;
        he2b_task_schedule(bench->resume);
        return false;
    }
    strncat(bench->seen, json, len);
    strcat(bench->seen, "|");
    return true;
}

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    struct bench *bench = user;

    bench->result = *result;
    bench->done = true;
    he2b_loop_stop(bench->loop);
}

static void on_answer(void *user, const struct he2b_rpc_result *result, const char *json,
                      size_t len)
{
    struct bench *bench = user;

    if (json)
        strncat(bench->seen, json, len);
    on_done(user, result);
}

static void stream(struct bench *bench, const char *mode)
{
    static const struct he2b_rpc_events events = {.message = on_message, .done = on_done};
    const struct he2b_rpc_call call = {
        .url = bench->url, .codec = "json", .message = "{}", .message_len = 2};

    bench->mode = mode;
    bench->seen[0] = '\0';
    if (!bench->resume)
        assert_int_equal(he2b_task_new(&bench->resume, bench->loop, on_resume, bench), HE2B_OK);
    assert_int_equal(he2b_rpc_stream(&bench->rpc, bench->loop, &call, &events, bench), HE2B_OK);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    assert_true(bench->done);
}

static void ask(struct bench *bench, const char *mode)
{
    const struct he2b_rpc_call call = {
        .url = bench->url, .codec = "json", .message = "{}", .message_len = 2};

    bench->mode = mode;
    bench->seen[0] = '\0';
    assert_int_equal(he2b_rpc_ask(&bench->rpc, bench->loop, &call, on_answer, bench), HE2B_OK);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
}

static void messages_and_their_end(void **state)
{
    struct bench *bench = *state;

    stream(bench, "good");
    assert_string_equal(bench->seen, "{\"a\":1}|{\"b\":2}|{\"c\":3}|");
    assert_true(bench->result.ended);
    assert_int_equal(bench->result.code, HE2B_RPC_OK);
}

/* A message that is not taken comes again, although the transfer is long over by then. */
static void a_message_that_is_not_taken_comes_again(void **state)
{
    struct bench *bench = *state;
    int refuse;

    for (refuse = 1; refuse < 6; refuse++) {
        bench->refuse = refuse;
        stream(bench, "good");
        assert_string_equal(bench->seen, "{\"a\":1}|{\"b\":2}|{\"c\":3}|");
        assert_true(bench->result.ended);
    }
}

static void on_later(void *arg)
{
    struct bench *bench = arg;

    bench->hold = false;
    he2b_rpc_resume(bench->rpc);
}

/* The one who refused says when: bytes that arrive meanwhile offer nothing again. */
static void a_refused_message_waits_for_the_resume(void **state)
{
    struct bench *bench = *state;

    bench->hold = true;
    assert_int_equal(he2b_timer_new(&bench->later, bench->loop, on_later, bench), HE2B_OK);
    stream(bench, "held");
    assert_true(peer_gate_wait(&bench->more, 1));
    assert_int_equal(bench->offers, 1);
    assert_string_equal(bench->seen, "{\"a\":1}|{\"b\":2}|");
    assert_true(bench->result.ended);
    he2b_timer_del(bench->later);
}

static void an_error_in_the_end_message(void **state)
{
    struct bench *bench = *state;

    stream(bench, "error");
    assert_int_equal(bench->result.code, HE2B_RPC_INVALID_ARGUMENT);
    assert_true(bench->result.connect);
    assert_string_equal(bench->result.message, "no such");
}

/* wire C.2: a body that ends without an end message was cut, whatever HTTP says. */
static void no_end_message_is_a_loss(void **state)
{
    struct bench *bench = *state;

    stream(bench, "no-end");
    assert_false(bench->result.ended);
    assert_int_not_equal(bench->result.code, HE2B_RPC_OK);
}

/* FB-42 */
static void what_cannot_be_read_ends_the_stream(void **state)
{
    struct bench *bench = *state;

    stream(bench, "flags");
    assert_non_null(strstr(bench->result.message, "flags"));
    stream(bench, "compressed");
    assert_non_null(strstr(bench->result.message, "compressed"));
    stream(bench, "html");
    assert_non_null(strstr(bench->result.message, "not a Connect stream"));
    assert_string_equal(bench->seen, "");
}

/* wire B.4, C.3: told apart by fields and status, never by prose (FB-18). */
static void who_refuses(void **state)
{
    struct bench *bench = *state;

    stream(bench, "gone");
    assert_int_equal(bench->result.proxy, HE2B_PROXY_NO_SANDBOX);
    assert_false(bench->result.connect);
    stream(bench, "port");
    assert_int_equal(bench->result.proxy, HE2B_PROXY_PORT_CLOSED);
    stream(bench, "token");
    assert_int_equal(bench->result.code, HE2B_RPC_UNAUTHENTICATED);
    assert_false(bench->result.connect);
    stream(bench, "balancer");
    assert_int_equal(bench->result.code, HE2B_RPC_UNAVAILABLE);
    assert_int_equal(bench->result.proxy, HE2B_PROXY_NONE);
    assert_string_equal(bench->result.message, "HTTP 503");
    ask(bench, "not-found");
    assert_int_equal(bench->result.code, HE2B_RPC_NOT_FOUND);
    assert_true(bench->result.connect);
}

static void unary(void **state)
{
    struct bench *bench = *state;

    ask(bench, "unary");
    assert_int_equal(bench->result.code, HE2B_RPC_OK);
    assert_string_equal(bench->seen, "{\"ok\":true}");
    ask(bench, "html");
    assert_int_not_equal(bench->result.code, HE2B_RPC_OK);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(messages_and_their_end),
        T(a_message_that_is_not_taken_comes_again),
        T(a_refused_message_waits_for_the_resume),
        T(an_error_in_the_end_message),
        T(no_end_message_is_a_loss),
        T(what_cannot_be_read_ends_the_stream),
        T(who_refuses),
        T(unary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
