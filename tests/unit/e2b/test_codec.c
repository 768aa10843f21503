/* The two codecs against the bytes of wire C.7 and C.8. */
#include "e2b/codec.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const echo_args[] = {"-l", "-c", "echo hi", NULL};

static const struct he2b_process_spec echo = {
    .cmd = "/bin/bash",
    .args = echo_args,
    .cwd = "/tmp",
};

static const char *const no_args[] = {NULL};

static const struct he2b_process_spec terminal = {
    .cmd = "sh",
    .args = no_args,
    .stdin_open = true,
    .cols = 300,
    .rows = 24,
    .term = "vt",
};

static size_t unhex(char *out, const char *hex)
{
    size_t n = 0;

    for (; *hex; hex += hex[2] == ' ' ? 3 : 2) {
        unsigned byte = 0;

        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        out[n++] = (char)byte;
    }
    return n;
}

static void assert_bytes(struct he2b_buf *buf, const char *hex)
{
    char wanted[256];
    size_t len = unhex(wanted, hex);

    assert_int_equal(buf->len, len);
    assert_memory_equal(buf->data, wanted, len);
    he2b_buf_free(buf);
}

static void assert_text(struct he2b_buf *buf, const char *text)
{
    assert_string_equal(he2b_buf_str(buf), text);
    he2b_buf_free(buf);
}

/* Wire C.8, without the envs that this library does not send. */
static void test_start(void **state)
{
    struct he2b_buf out;

    (void)state;
    he2b_buf_init(&out, 1000);
    assert_int_equal(he2b_codec_proto.start(&out, &echo), HE2B_OK);
    assert_bytes(&out, "0a22 0a09 2f62696e2f62617368 1202 2d6c 1202 2d63 1207 6563686f206869"
                       " 2204 2f746d70 2000");
    assert_int_equal(he2b_codec_json.start(&out, &echo), HE2B_OK);
    assert_text(&out, "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo hi\"],"
                      "\"cwd\":\"/tmp\"},\"stdin\":false}");
    assert_int_equal(he2b_codec_proto.start(&out, &terminal), HE2B_OK);
    assert_bytes(&out, "0a10 0a02 7368 1a0a 0a04 5445524d 1202 7674 1207 0a05 08ac02 1018 2001");
    assert_int_equal(he2b_codec_json.start(&out, &terminal), HE2B_OK);
    assert_text(&out, "{\"process\":{\"cmd\":\"sh\",\"args\":[],\"envs\":{\"TERM\":\"vt\"}},"
                      "\"pty\":{\"size\":{\"cols\":300,\"rows\":24}},\"stdin\":true}");
}

static void test_input(void **state)
{
    struct he2b_buf out;

    (void)state;
    he2b_buf_init(&out, 1000);
    assert_int_equal(he2b_codec_proto.send_input(&out, 1234, HE2B_INPUT_STDIN, "a\0b", 3), HE2B_OK);
    assert_bytes(&out, "0a03 08d209 1205 0a03 610062");
    assert_int_equal(he2b_codec_json.send_input(&out, 1234, HE2B_INPUT_STDIN, "data", 4), HE2B_OK);
    assert_text(&out, "{\"process\":{\"pid\":1234},\"input\":{\"stdin\":\"ZGF0YQ==\"}}");
    assert_int_equal(he2b_codec_proto.send_input(&out, 1234, HE2B_INPUT_PTY, "x", 1), HE2B_OK);
    assert_bytes(&out, "0a03 08d209 1203 1201 78");
    assert_int_equal(he2b_codec_json.send_input(&out, 1234, HE2B_INPUT_PTY, "x", 1), HE2B_OK);
    assert_text(&out, "{\"process\":{\"pid\":1234},\"input\":{\"pty\":\"eA==\"}}");
}

static void test_other_calls(void **state)
{
    struct he2b_buf out;

    (void)state;
    he2b_buf_init(&out, 1000);
    assert_int_equal(he2b_codec_proto.select(&out, 1234), HE2B_OK);
    assert_bytes(&out, "0a03 08d209");
    assert_int_equal(he2b_codec_json.select(&out, 1234), HE2B_OK);
    assert_text(&out, "{\"process\":{\"pid\":1234}}");
    assert_int_equal(he2b_codec_proto.resize(&out, 7, 80, 24), HE2B_OK);
    assert_bytes(&out, "0a02 0807 1206 0a04 0850 1018");
    assert_int_equal(he2b_codec_json.resize(&out, 7, 80, 24), HE2B_OK);
    assert_text(&out, "{\"process\":{\"pid\":7},\"pty\":{\"size\":{\"cols\":80,\"rows\":24}}}");
}

/* What does not fit is an error, not a message that is cut. */
static void test_bound(void **state)
{
    struct he2b_buf out;
    size_t max;

    (void)state;
    for (max = 0; max < 12; max++) {
        he2b_buf_init(&out, max);
        assert_int_equal(he2b_codec_proto.send_input(&out, 1234, HE2B_INPUT_STDIN, "abc", 3),
                         HE2B_ERR_OVERFLOW);
        he2b_buf_free(&out);
    }
    he2b_buf_init(&out, max);
    assert_int_equal(he2b_codec_proto.send_input(&out, 1234, HE2B_INPUT_STDIN, "abc", 3), HE2B_OK);
    he2b_buf_free(&out);
}

struct row {
    const char *proto; /* in hex; NULL: none */
    const char *json;  /* NULL: none */
    struct he2b_event event;
};

static const struct row rows[] = {
    {"0a05 0a03 08d209",
     "{\"event\":{\"start\":{\"pid\":1234}}}",
     {.kind = HE2B_EVENT_START, .pid = 1234}},
    {"0a07 1205 0a03 68690a",
     "{\"event\":{\"data\":{\"stdout\":\"aGkK\"}}}",
     {.kind = HE2B_EVENT_DATA, .data = "hi\n", .len = 3}},
    {"0a07 1205 1203 68690a",
     "{\"event\":{\"data\":{\"stderr\":\"aGkK\"}}}",
     {.kind = HE2B_EVENT_DATA, .data = "hi\n", .len = 3, .errors = true}},
    {"0a07 1205 1a03 68690a",
     "{\"event\":{\"data\":{\"pty\":\"aGkK\"}}}",
     {.kind = HE2B_EVENT_DATA, .data = "hi\n", .len = 3}},
    {"0a06 1204 0a02 00ff",
     "{\"event\":{\"data\":{\"stdout\":\"AP8\"}}}",
     {.kind = HE2B_EVENT_DATA, .data = "\0\377", .len = 2}},
    {"0a04 1202 0a00",
     "{\"event\":{\"data\":{\"stdout\":\"\"}}}",
     {.kind = HE2B_EVENT_DATA, .data = "", .len = 0}},
    {"0a02 2200", "{\"event\":{\"keepalive\":{}}}", {.kind = HE2B_EVENT_OTHER}},
    {"0a13 1a11 1001 1a0d 65786974207374617475732030",
     "{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}",
     {.kind = HE2B_EVENT_END, .exit_code = 0}},
    {"0a24 1a22 0806 1001 1a0d 65786974207374617475732033 220d 65786974207374617475732033",
     "{\"event\":{\"end\":{\"exitCode\":3,\"exited\":true,\"status\":\"exit status 3\"}}}",
     {.kind = HE2B_EVENT_END, .exit_code = 3}},
    {"0a24 1a22 0801 1a0e 7369676e616c3a206b696c6c6564 220e 7369676e616c3a206b696c6c6564",
     "{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: killed\"}}}",
     {.kind = HE2B_EVENT_END, .exit_code = 137}},
    /* all defaults, what is newer than this library, and a oneof of which the last one counts */
    {"", "{}", {.kind = HE2B_EVENT_OTHER}},
    {"0a00", "{\"event\":{}}", {.kind = HE2B_EVENT_OTHER}},
    {"0a02 1a00", "{\"event\":{\"end\":{}}}", {.kind = HE2B_EVENT_END, .exit_code = 0}},
    {"0a02 1200", "{\"event\":{\"data\":{}}}", {.kind = HE2B_EVENT_OTHER}},
    {"0a04 aa060161 0a05 0a03 08d209 f807 01", NULL, {.kind = HE2B_EVENT_START, .pid = 1234}},
    {"0a0a 0a03 08d209 1203 0a01 61", NULL, {.kind = HE2B_EVENT_DATA, .data = "a", .len = 1}},
    {NULL, "{\"event\":{\"bell\":{}}}", {.kind = HE2B_EVENT_OTHER}},
};

static void assert_event(const struct he2b_codec *codec, const char *message, size_t len,
                         const struct he2b_event *wanted)
{
    struct he2b_buf scratch;
    struct he2b_event event;
    /* exactly as large, so that a sanitizer sees a read beyond it */
    char *copy = malloc(len ? len : 1);

    memcpy(copy, message, len);
    he2b_buf_init(&scratch, 100000);
    assert_int_equal(codec->event(&event, &scratch, copy, len), HE2B_OK);
    free(copy);
    assert_int_equal(event.kind, wanted->kind);
    assert_int_equal(event.pid, wanted->pid);
    assert_int_equal(event.exit_code, wanted->exit_code);
    assert_int_equal(event.errors, wanted->errors);
    assert_int_equal(event.len, wanted->len);
    if (wanted->len)
        assert_memory_equal(event.data, wanted->data, wanted->len);
    he2b_buf_free(&scratch);
}

static void test_events(void **state)
{
    char bytes[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].proto)
            assert_event(&he2b_codec_proto, bytes, unhex(bytes, rows[i].proto), &rows[i].event);
        if (rows[i].json)
            assert_event(&he2b_codec_json, rows[i].json, strlen(rows[i].json), &rows[i].event);
    }
}

static void assert_unread(const struct he2b_codec *codec, const char *message, size_t len)
{
    struct he2b_buf scratch;
    struct he2b_event event;

    he2b_buf_init(&scratch, 100000);
    assert_int_equal(codec->event(&event, &scratch, message, len), HE2B_ERR_PROTOCOL);
    he2b_buf_free(&scratch);
}

/* FB-42: what cannot be read is told, never taken for nothing. */
static void test_what_cannot_be_read(void **state)
{
    static const char *const protos[] = {
        "0a07 1205 0a03 6869",             /* cut */
        "0a05 0a03 08d2",                  /* cut within a number */
        "0a05 0a06 08d209",                /* longer than what it is in */
        "ffffffffffffffffffff01", "0b 0c", /* a group */
        "3c68746d6c3e",                    /* <html> */
    };
    char bytes[64];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(protos) / sizeof(protos[0]); i++)
        assert_unread(&he2b_codec_proto, bytes, unhex(bytes, protos[i]));
    assert_unread(&he2b_codec_json, "<html>", 6);
    assert_unread(&he2b_codec_json, "", 0);
    assert_unread(&he2b_codec_json, "{\"event\":{\"data\":{\"stdout\":\"%%\"}}}", 34);
}

/* Fields without number or end get the room of a few, and not the memory of the process. */
static void test_fields_without_end(void **state)
{
    enum {
        PAIRS = 1000000,
    };
    char *bytes = malloc(2 * PAIRS);
    struct he2b_buf scratch;
    struct he2b_event event;
    size_t i;

    (void)state;
    for (i = 0; i < PAIRS; i++)
        memcpy(bytes + 2 * i, "\x78\x01", 2); /* field 15 */
    he2b_buf_init(&scratch, HE2B_RPC_MESSAGE_MAX + 65536);
    assert_int_equal(he2b_codec_proto.event(&event, &scratch, bytes, 2 * PAIRS), HE2B_ERR_PROTOCOL);
    assert_true(scratch.cap <= 4 * 1024 * 1024);
    he2b_buf_free(&scratch);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_other_calls),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_fields_without_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
