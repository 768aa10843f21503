/* Which codec a server reads is asked once: a Start that it refuses to read goes again in the other
 * one, and nothing else does (B-47). */
#include "e2b/servers.h"

#include "tests/unit/peer/peer.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

struct bench {
    struct peer *peer;
    char url[PEER_URL_MAX];
    he2b_loop *loop;
    struct he2b_settings settings;
    struct he2b_endpoint endpoint;

    /* on the peer's threads */
    int status;   /* of each answer; 0: it runs */
    bool give_up; /* instead of an answer */
    struct peer_gate starts;
    struct peer_gate binary; /* what came in protobuf */

    he2b_process *process;
    he2b_rpc *rpc;
    char output[64];
    struct he2b_rpc_result result;
    unsigned done;
};

static void give_up(void *arg)
{
    struct bench *bench = arg;

    he2b_process_cancel(bench->process);
    he2b_loop_stop(bench->loop);
}

static void serve(struct peer_request *request, void *user)
{
    struct bench *bench = user;

    if (request->binary)
        peer_gate_raise(&bench->binary);
    if (strcmp(request->path, "/process.Process/Start") != 0) {
        peer_answer(request, 200, "application/json", "{}");
        return;
    }
    peer_gate_raise(&bench->starts);
    if (bench->give_up) {
        (void)he2b_loop_post(bench->loop, give_up, bench);
        peer_wait_closed(request);
        return;
    }
    if (bench->status) {
        peer_answer(request, bench->status, "text/plain", "no");
        return;
    }
    /* what was asked for is the same in both codecs */
    assert_non_null(strstr(request->body + 5, "\"args\":[\"-c\",\"echo out\"]"));
    peer_stream_begin(request);
    peer_message(request, "{\"event\":{\"start\":{\"pid\":100}}}");
    peer_output(request, "out", 3);
    peer_message(request, "{\"event\":{\"end\":{\"exited\":true}}}");
    peer_stream_end(request, "{}");
}

static struct bench *bench_new(bool json_only)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    peer_gate_init(&bench->starts);
    peer_gate_init(&bench->binary);
    bench->peer = peer_new(serve, bench);
    if (json_only)
        peer_json_only(bench->peer);
    snprintf(bench->url, sizeof(bench->url), "%s", peer_url(bench->peer));
    bench->settings.sandbox_url = bench->url;
    memcpy(bench->endpoint.sandbox_id, "iabc", 5);
    return bench;
}

static void bench_del(struct bench *bench)
{
    peer_del(bench->peer);
    free(bench);
}

static struct he2b_process_target target_of(struct bench *bench)
{
    return (struct he2b_process_target){bench->loop, &bench->settings, &bench->endpoint};
}

static void on_start(void *user, int64_t pid)
{
    (void)user;
    assert_int_equal(pid, 100);
}

static bool on_data(void *user, const char *data, size_t len)
{
    struct bench *bench = user;

    strncat(bench->output, data, len);
    return true;
}

static void on_end(void *user, int exit_code)
{
    (void)user;
    assert_int_equal(exit_code, 0);
}

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    struct bench *bench = user;

    bench->result = *result;
    bench->done++;
    he2b_loop_stop(bench->loop);
}

static void start(struct bench *bench)
{
    static const struct he2b_process_events events = {
        .start = on_start, .data = on_data, .end = on_end, .done = on_done};
    struct he2b_process_target target = target_of(bench);
    /* gone by the time the answer comes */
    char text[] = "echo out";
    const char *args[] = {"-c", text, NULL};
    struct he2b_process_spec spec = {.cmd = "sh", .args = args, .cwd = "/", .user = "root"};

    bench->output[0] = '\0';
    bench->done = 0;
    assert_int_equal(he2b_process_start(&bench->process, &target, &spec, &events, bench), HE2B_OK);
    memset(text, '?', sizeof(text));
    memset(args, 0, sizeof(args));
}

static void run(struct bench *bench, he2b_loop *loop)
{
    bench->loop = loop;
    start(bench);
    assert_int_equal(he2b_loop_run(loop), HE2B_OK);
    assert_int_equal(bench->done, 1);
    assert_string_equal(bench->output, bench->status ? "" : "out");
}

static void on_answer(void *user, const struct he2b_rpc_result *result, const char *message,
                      size_t len)
{
    (void)message;
    (void)len;
    assert_int_equal(result->code, HE2B_RPC_OK);
    on_done(user, result);
}

/* Whether CloseStdin went in protobuf. */
static bool ask(struct bench *bench, he2b_loop *loop)
{
    struct he2b_process_target target = target_of(bench);
    unsigned before = peer_gate_count(&bench->binary);

    bench->loop = loop;
    target.loop = loop;
    assert_int_equal(he2b_process_close_stdin(&bench->rpc, &target, 100, on_answer, bench),
                     HE2B_OK);
    assert_int_equal(he2b_loop_run(loop), HE2B_OK);
    return peer_gate_count(&bench->binary) != before;
}

static he2b_loop *new_loop(void)
{
    he2b_loop *loop = NULL;

    assert_int_equal(he2b_loop_new(&loop), HE2B_OK);
    return loop;
}

/* One request more, once for each server and loop; and each Start runs once. */
static void test_asked_once(void **state)
{
    struct bench *old = bench_new(true);
    struct bench *new = bench_new(false);
    he2b_loop *loop = new_loop();
    unsigned i;

    (void)state;
    for (i = 1; i <= 3; i++) {
        run(old, loop);
        run(new, loop);
        assert_int_equal(peer_refusals(old->peer), 1);
        assert_int_equal(peer_gate_count(&old->starts), i);
        assert_int_equal(peer_gate_count(&old->binary), 0);
        assert_int_equal(peer_gate_count(&new->starts), i);
        assert_int_equal(peer_gate_count(&new->binary), i);
    }
    he2b_loop_del(loop);
    loop = new_loop();
    run(old, loop);
    assert_int_equal(peer_refusals(old->peer), 2);
    he2b_loop_del(loop);
    bench_del(old);
    bench_del(new);
}

/* A call that is not sent again goes in the codec that the server is known to read. */
static void test_calls(void **state)
{
    struct bench *old = bench_new(true);
    struct bench *new = bench_new(false);
    he2b_loop *loop = new_loop();

    (void)state;
    assert_false(ask(new, loop));
    assert_false(ask(old, loop));
    run(new, loop);
    run(old, loop);
    assert_true(ask(new, loop));
    assert_false(ask(old, loop));
    assert_int_equal(peer_refusals(old->peer), 1);
    he2b_loop_del(loop);
    bench_del(old);
    bench_del(new);
}

/* Any other refusal is the Start's end, in whatever codec: one request, and what it says. */
static void test_other_refusals(void **state)
{
    static const int statuses[] = {400, 401, 404, 406, 429, 500, 501, 502, 503};
    he2b_loop *loop = new_loop();
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct bench *bench = bench_new(false);

        bench->status = statuses[i];
        run(bench, loop);
        assert_int_equal(bench->result.http.status, statuses[i]);
        assert_int_equal(peer_gate_count(&bench->starts), 1);
        assert_int_equal(peer_gate_count(&bench->binary), 1);
        bench_del(bench);
    }
    he2b_loop_del(loop);
}

/* A server that reads neither is told about, after one try of each. */
static void test_reads_neither(void **state)
{
    struct bench *bench = bench_new(true);
    he2b_loop *loop = new_loop();

    (void)state;
    bench->status = 415;
    run(bench, loop);
    assert_int_equal(bench->result.http.status, 415);
    assert_int_equal(he2b_start_outcome(&bench->result), HE2B_START_REFUSED);
    assert_int_equal(peer_refusals(bench->peer), 1);
    assert_int_equal(peer_gate_count(&bench->starts), 1);
    he2b_loop_del(loop);
    bench_del(bench);
}

/* More servers than are remembered: the oldest is asked anew, and that is all. */
static void test_many_servers(void **state)
{
    enum {
        SERVERS = 20,
    };
    struct bench *bench = bench_new(true);
    struct he2b_process_target target;
    he2b_loop *loop = new_loop();
    char domain[SERVERS][24];
    int i;

    (void)state;
    bench->loop = loop;
    bench->settings.sandbox_url = NULL;
    target = target_of(bench);
    for (i = 0; i < SERVERS; i++) {
        snprintf(domain[i], sizeof(domain[i]), "d%d.test", i);
        bench->settings.domain = domain[i];
        assert_ptr_equal(he2b_servers_start_codec(&target), &he2b_codec_proto);
        assert_ptr_equal(he2b_servers_call_codec(&target), &he2b_codec_json);
        he2b_servers_note(&target, false);
        assert_ptr_equal(he2b_servers_start_codec(&target), &he2b_codec_json);
        he2b_servers_note(&target, true);
        assert_ptr_equal(he2b_servers_call_codec(&target), &he2b_codec_proto);
        he2b_servers_note(&target, false);
    }
    bench->settings.domain = domain[0];
    assert_ptr_equal(he2b_servers_start_codec(&target), &he2b_codec_proto);
    bench->settings.domain = domain[SERVERS - 1];
    assert_ptr_equal(he2b_servers_start_codec(&target), &he2b_codec_json);
    /* a domain of the sandbox's own answer counts before the configured one */
    memcpy(bench->endpoint.domain, "other.test", 11);
    assert_ptr_equal(he2b_servers_start_codec(&target), &he2b_codec_proto);
    he2b_loop_del(loop);
    bench_del(bench);
}

/* Given up between the refusal and the answer of the second one: nobody is told, nothing is left.
 */
static void test_given_up(void **state)
{
    struct bench *bench = bench_new(true);
    he2b_loop *loop = new_loop();

    (void)state;
    bench->loop = loop;
    bench->give_up = true;
    start(bench);
    assert_int_equal(he2b_loop_run(loop), HE2B_OK);
    assert_int_equal(peer_gate_count(&bench->starts), 1);
    assert_int_equal(peer_refusals(bench->peer), 1);
    assert_int_equal(bench->done, 0);
    he2b_loop_del(loop);
    bench_del(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_once),     cmocka_unit_test(test_calls),
        cmocka_unit_test(test_other_refusals), cmocka_unit_test(test_reads_neither),
        cmocka_unit_test(test_many_servers),   cmocka_unit_test(test_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
