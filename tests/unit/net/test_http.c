#include "net/http.h"

#include "tests/unit/peer/peer.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BIG = 32 * 1024 * 1024,
};

struct bench {
    he2b_loop *loop;
    struct peer *peer;
    const char *mode; /* what the peer does */
    struct peer_gate requests;
    struct peer_gate go;
    struct peer_gate sent;
    char got[PEER_HEAD_MAX];
    size_t got_body;

    he2b_http *http;
    struct he2b_http_result result;
    bool done;
    size_t received;
    size_t take; /* 0: stop at once */
    bool stopped;
    unsigned body_calls;
    he2b_timer *timer;
    char answer[256];
    size_t answer_len;
};

/* ---- the peer ---- */

static void send_big(struct bench *bench, struct peer_request *request)
{
    static char piece[65536];
    size_t left = BIG;
    char head[128];

    snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", BIG);
    peer_send(request, head, strlen(head));
    while (left && peer_send(request, piece, sizeof(piece)))
        left -= sizeof(piece);
    peer_gate_raise(&bench->sent);
}

static void serve(struct peer_request *request, void *user)
{
    struct bench *bench = user;
    const char *mode = bench->mode;

    snprintf(bench->got, sizeof(bench->got), "%s", request->head);
    bench->got_body = request->body_len;
    peer_gate_raise(&bench->requests);
    if (strcmp(mode, "answer") == 0) {
        peer_answer_with(request, 200, "Application/JSON; charset=utf-8",
                         "Date: Tue, 01 Dec 2026 00:00:00 GMT\r\nRetry-After: 7\r\n", "{\"a\":1}");
    } else if (strcmp(mode, "date") == 0) {
        peer_answer_with(request, 429, "text/html",
                         "Date: Tue, 01 Dec 2026 00:00:00 GMT\r\n"
                         "Retry-After: Tue, 01 Dec 2026 00:01:30 GMT\r\nShould-Retry: FALSE\r\n",
                         "<html>");
    } else if (strcmp(mode, "nonsense") == 0) {
        peer_answer_with(request, 429, "text/plain", "Retry-After: soon\r\n", "");
    } else if (strcmp(mode, "huge-number") == 0) {
        peer_answer_with(request, 429, "text/plain", "Retry-After: 9223372036854775807\r\n", "");
    } else if (strcmp(mode, "long-header") == 0) {
        static char line[1024 * 1024];

        memset(line, 'x', sizeof(line));
        peer_send(request, "HTTP/1.1 200 OK\r\nX-Long: ", 25);
        peer_send(request, line, sizeof(line));
        peer_send(request, "\r\n\r\n", 4);
        request->close = true;
    } else if (strcmp(mode, "endless") == 0) {
        static const char piece[65536];

        peer_send(request, "HTTP/1.1 200 OK\r\n\r\n", 19);
        while (peer_send(request, piece, sizeof(piece))) {
        }
        request->close = true;
    } else if (strcmp(mode, "redirect") == 0) {
        peer_answer_with(request, 302, "text/html", "Location: http://127.0.0.1:1/\r\n", "");
    } else if (strcmp(mode, "headers") == 0) {
        static const char line[] = "X-More: 0123456789012345678901234567890\r\n";
        int i;

        peer_send(request, "HTTP/1.1 200 OK\r\n", 17);
        for (i = 0; i < 20000 && peer_send(request, line, sizeof(line) - 1); i++) {
        }
    } else if (strcmp(mode, "big") == 0) {
        send_big(bench, request);
    } else if (strcmp(mode, "cut") == 0) {
        peer_send(request, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", 44);
        request->close = true;
    } else if (strcmp(mode, "reset") == 0) {
        peer_reset(request);
    } else if (strcmp(mode, "close-second") == 0 && request->connection == 1 &&
               peer_gate_count(&bench->requests) == 2) {
        /* it has read the whole request on a connection that was used before, and says nothing */
        request->close = true;
    } else if (strcmp(mode, "silent") == 0) {
        peer_wait_closed(request);
        peer_gate_raise(&bench->sent);
        request->close = true;
    } else {
        peer_answer(request, 200, "text/plain", "ok");
    }
}

/* ---- the bench ---- */

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    peer_gate_init(&bench->requests);
    peer_gate_init(&bench->go);
    peer_gate_init(&bench->sent);
    bench->mode = "plain";
    bench->take = SIZE_MAX;
    bench->peer = peer_new(serve, bench);
    *state = bench;
    return he2b_loop_new(&bench->loop);
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    he2b_timer_del(bench->timer);
    he2b_loop_del(bench->loop);
    peer_del(bench->peer);
    free(bench);
    return 0;
}

static size_t on_body(void *user, const char *data, size_t len)
{
    struct bench *bench = user;

    (void)data;
    bench->body_calls++;
    if (bench->received + len > bench->take) {
        bench->stopped = true;
        return 0;
    }
    bench->received += len;
    return len;
}

static void on_done(void *user, const struct he2b_http_result *result)
{
    struct bench *bench = user;

    bench->result = *result;
    bench->done = true;
    bench->http = NULL;
    he2b_loop_stop(bench->loop);
}

static void on_answer(void *user, const struct he2b_http_result *result, const char *body,
                      size_t len)
{
    struct bench *bench = user;

    bench->answer_len = len;
    snprintf(bench->answer, sizeof(bench->answer), "%.*s", (int)(len < 200 ? len : 200), body);
    on_done(user, result);
}

static const struct he2b_http_events events = {.body = on_body, .done = on_done};

static void start(struct bench *bench, struct he2b_http_request *request)
{
    if (!request->method)
        request->method = "GET";
    if (!request->url)
        request->url = peer_url(bench->peer);
    bench->done = false;
    assert_int_equal(he2b_http_start(&bench->http, bench->loop, request, &events, bench), HE2B_OK);
    assert_false(bench->done);
}

static void run(struct bench *bench, struct he2b_http_request request)
{
    start(bench, &request);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    assert_true(bench->done);
}

static void ask(struct bench *bench, const char *mode)
{
    struct he2b_http_request request = {.method = "GET", .url = peer_url(bench->peer)};

    bench->mode = mode;
    assert_int_equal(he2b_http_ask(&bench->http, bench->loop, &request, on_answer, bench), HE2B_OK);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
}

/* ---- answers ---- */

static void an_answer_with_its_parts(void **state)
{
    struct bench *bench = *state;

    ask(bench, "answer");
    assert_int_equal(bench->result.end, HE2B_HTTP_COMPLETE);
    assert_int_equal(bench->result.status, 200);
    assert_string_equal(bench->result.content_type, "application/json");
    assert_string_equal(bench->answer, "{\"a\":1}");
    assert_int_equal(bench->result.retry_after_ms, 7000);
    assert_false(bench->result.reused);
    ask(bench, "answer");
    assert_true(bench->result.reused);
    assert_int_equal(peer_connections(bench->peer), 1);
}

/* B-27: a date counts from the answer's own clock. */
static void retry_after_in_each_form(void **state)
{
    struct bench *bench = *state;

    ask(bench, "date");
    assert_int_equal(bench->result.status, 429);
    assert_int_equal(bench->result.retry_after_ms, 90000);
    assert_true(bench->result.should_retry_false);
    ask(bench, "nonsense");
    assert_int_equal(bench->result.retry_after_ms, -1);
    assert_false(bench->result.should_retry_false);
    /* a server's number must not overflow ours: nobody waits longer than a day */
    ask(bench, "huge-number");
    assert_int_equal(bench->result.retry_after_ms, 24 * 3600 * 1000);
}

/* B-101 */
static void redirects_are_not_followed(void **state)
{
    struct bench *bench = *state;

    ask(bench, "redirect");
    assert_int_equal(bench->result.end, HE2B_HTTP_COMPLETE);
    assert_int_equal(bench->result.status, 302);
}

/* FB-43 */
static void a_head_without_end_is_bounded(void **state)
{
    struct bench *bench = *state;

    ask(bench, "headers");
    assert_int_equal(bench->result.end, HE2B_HTTP_TOO_LARGE);
    ask(bench, "long-header");
    assert_int_equal(bench->result.end, HE2B_HTTP_TOO_LARGE);
    assert_non_null(strstr(bench->result.why, "bound"));
}

static void a_body_above_the_bound_is_no_answer(void **state)
{
    struct bench *bench = *state;

    ask(bench, "big");
    assert_int_equal(bench->result.end, HE2B_HTTP_TOO_LARGE);
    assert_in_range(bench->answer_len, 0, HE2B_HTTP_ANSWER_MAX);
    /* it is cut off at the bound: one without end would be read for ever */
    ask(bench, "endless");
    assert_int_equal(bench->result.end, HE2B_HTTP_TOO_LARGE);
}

static void a_header_without_a_value_is_taken_out(void **state)
{
    static const struct he2b_http_header headers[] = {{"X-One", "1"}, {"Expect", ""}, {NULL, NULL}};
    struct bench *bench = *state;

    run(bench, (struct he2b_http_request){
                   .method = "POST", .headers = headers, .body = "x", .body_len = 1});
    assert_non_null(strstr(bench->got, "X-One: 1"));
    assert_null(strstr(bench->got, "Expect"));
}

/* ---- losses ---- */

static void a_cut_is_lost(void **state)
{
    struct bench *bench = *state;

    bench->mode = "cut";
    run(bench, (struct he2b_http_request){.stream = true});
    assert_int_equal(bench->result.end, HE2B_HTTP_LOST);
    assert_int_equal(bench->result.status, 200);
    bench->mode = "reset";
    run(bench, (struct he2b_http_request){.stream = true});
    assert_int_equal(bench->result.end, HE2B_HTTP_LOST);
    assert_string_not_equal(bench->result.why, "");
}

static void nobody_there_did_nothing(void **state)
{
    struct bench *bench = *state;

    run(bench, (struct he2b_http_request){.url = "http://127.0.0.1:1/"});
    assert_int_equal(bench->result.end, HE2B_HTTP_UNREACHABLE);
}

static void plain_http_beyond_loopback_needs_the_users_word(void **state)
{
    struct bench *bench = *state;

    run(bench, (struct he2b_http_request){.url = "http://192.0.2.1/"});
    assert_int_equal(bench->result.end, HE2B_HTTP_UNTRUSTED);
    run(bench, (struct he2b_http_request){.url = "ftp://127.0.0.1/"});
    assert_int_equal(bench->result.end, HE2B_HTTP_UNREACHABLE);
}

/* B-47: read in whole on a used connection and then closed: never sent a second time. */
static void a_body_is_never_sent_twice(void **state)
{
    struct bench *bench = *state;
    struct he2b_http_request request = {
        .method = "POST", .body = "start something", .body_len = 15, .stream = true};

    bench->mode = "close-second";
    run(bench, request);
    assert_int_equal(bench->result.end, HE2B_HTTP_COMPLETE);
    run(bench, request);
    assert_int_equal(bench->result.end, HE2B_HTTP_LOST);
    assert_int_equal(peer_gate_count(&bench->requests), 2);
    assert_int_equal(bench->got_body, 15);
}

static void silence_has_its_limit(void **state)
{
    struct bench *bench = *state;

    bench->mode = "silent";
    run(bench, (struct he2b_http_request){.stream = true, .silence_ms = 50});
    assert_int_equal(bench->result.end, HE2B_HTTP_LOST);
    run(bench, (struct he2b_http_request){.stream = true, .total_ms = 50});
    assert_int_equal(bench->result.end, HE2B_HTTP_LOST);
    assert_true(peer_gate_wait(&bench->sent, 2));
}

/* ---- streams ---- */

static void take_all(void *arg)
{
    struct bench *bench = arg;

    assert_true(bench->stopped);
    assert_false(bench->done);
    bench->take = SIZE_MAX;
    he2b_http_resume(bench->http);
}

/* B-40, craft of pausing: what is not taken stays with the sender, and nothing spins meanwhile. */
static void a_stop_stops_the_sender(void **state)
{
    struct bench *bench = *state;
    struct he2b_http_request request = {.stream = true};
    unsigned calls;

    bench->mode = "big";
    bench->take = 100000;
    assert_int_equal(he2b_timer_new(&bench->timer, bench->loop, take_all, bench), HE2B_OK);
    he2b_timer_arm(bench->timer, 200);
    start(bench, &request);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    calls = bench->body_calls;
    assert_int_equal(bench->result.end, HE2B_HTTP_COMPLETE);
    assert_int_equal(bench->received, BIG);
    /* One call per piece of up to 16 KiB, and one refused: a loop that spins has thousands more. */
    assert_in_range(calls, BIG / 32768, BIG / 1024);
}

static void on_stop_timer(void *arg)
{
    struct bench *bench = arg;

    assert_true(bench->stopped);
    he2b_http_cancel(bench->http);
    he2b_loop_stop(bench->loop);
}

static void a_stopped_stream_can_be_dropped(void **state)
{
    struct bench *bench = *state;
    struct he2b_http_request request = {.stream = true};

    bench->mode = "big";
    bench->take = 0;
    assert_int_equal(he2b_timer_new(&bench->timer, bench->loop, on_stop_timer, bench), HE2B_OK);
    he2b_timer_arm(bench->timer, 100);
    start(bench, &request);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    assert_false(bench->done);
    /* the connection is closed: the sender notices */
    assert_true(peer_gate_wait(&bench->sent, 1));
}

static void a_call_dropped_at_once(void **state)
{
    struct bench *bench = *state;
    struct he2b_http_request request = {.stream = true};

    start(bench, &request);
    he2b_http_cancel(bench->http);
    he2b_http_cancel(NULL);
    assert_false(bench->done);
}

static void calls_that_are_left_when_the_loop_goes(void **state)
{
    struct bench *bench = *state;
    struct he2b_http_request request = {
        .stream = true, .url = "http://no-such-name.invalid/", .plain_http_ok = true};

    /* a look-up under way is not waited for */
    start(bench, &request);
    he2b_http_cancel(bench->http);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(an_answer_with_its_parts),
        T(retry_after_in_each_form),
        T(redirects_are_not_followed),
        T(a_head_without_end_is_bounded),
        T(a_body_above_the_bound_is_no_answer),
        T(a_header_without_a_value_is_taken_out),
        T(a_cut_is_lost),
        T(nobody_there_did_nothing),
        T(plain_http_beyond_loopback_needs_the_users_word),
        T(a_body_is_never_sent_twice),
        T(silence_has_its_limit),
        T(a_stop_stops_the_sender),
        T(a_stopped_stream_can_be_dropped),
        T(a_call_dropped_at_once),
        T(calls_that_are_left_when_the_loop_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
