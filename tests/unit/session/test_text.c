/* A command's text that no argument can hold goes by a file (B-46). */
#include "tests/unit/session/world.h"

#include "net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ARGUMENT_MAX = 131071,
};

/* What arrived; written by the peer's threads before they answer, read when the command is over. */
static char uploaded_path[512];
static char *uploaded;
static size_t uploaded_len;

static void keep(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    snprintf(uploaded_path, sizeof(uploaded_path), "%s", request->path + strlen("/files?path="));
    free(uploaded);
    uploaded = malloc(request->body_len + 1);
    memcpy(uploaded, request->body, request->body_len + 1);
    uploaded_len = request->body_len;
    peer_answer(request, 200, "text/plain; charset=utf-8", "[]");
}

/* Answers with the path that the wrapper was given. */
static void print_path(struct world *world, struct peer_request *request, unsigned nth)
{
    char path[512] = "";

    (void)world;
    (void)nth;
    world_argument(request, 7, path, sizeof(path));
    world_command(request, path, 3);
}

static void new_with(struct ran *ran, struct world *world, char fill, size_t len)
{
    char *text = malloc(len + 1);

    ran_new(ran, world, "");
    memset(text, fill, len);
    assert_int_equal(he2b_command_set_text(ran->command, text, len), HE2B_OK);
    free(text);
}

static void go(struct ran *ran)
{
    ran_go(ran);
    world_run(ran->world);
    assert_int_equal(ran->times, 1);
}

/* Two round trips; the wrapper is told the file's path, in the folder that the probe found. */
static void test_by_file(void **state)
{
    static const size_t sizes[] = {ARGUMENT_MAX, 200000, 1 << 20, HE2B_COMMAND_TEXT_MAX};
    struct world *world = *state;
    struct ran ran;
    size_t i;
    size_t k;

    world->on_upload = keep;
    world->on_command = print_path;
    world_session(world);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        new_with(&ran, world, '#', sizes[i]);
        go(&ran);
        assert_int_equal(ran.outcome, HE2B_ENDED);
        assert_int_equal(ran.exit_code, 3);
        assert_string_equal(ran_output(&ran), uploaded_path);
        assert_memory_equal(uploaded_path, WORLD_FOLDER "/text.", strlen(WORLD_FOLDER "/text."));
        /* the text, and what ends it */
        assert_int_equal(uploaded_len, sizes[i] + 1);
        for (k = 0; k < sizes[i]; k++) {
            if (uploaded[k] != '#')
                fail_msg("byte %zu is another one", k);
        }
        assert_int_equal(uploaded[sizes[i]], 'x');
        ran_del(&ran);
    }
    assert_string_equal(world_log(world), "create probe upload command upload command upload "
                                          "command upload command");
}

/* What is no UTF-8 fits no argument on the wire either. */
static void test_bytes(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_upload = keep;
    world_session(world);
    ran_whole(&ran, world, "echo caf\xe9");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(uploaded, "echo caf\xe9x");
    assert_string_equal(world_log(world), "create probe upload command");
    ran_del(&ran);
}

static void test_what_fits_is_an_argument(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    new_with(&ran, world, '#', ARGUMENT_MAX - 1);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(world_log(world), "create probe command");
    ran_del(&ran);
}

static void test_bounds(void **state)
{
    struct world *world = *state;
    char *text = calloc(1, HE2B_COMMAND_TEXT_MAX + 1);
    he2b_command *command = NULL;

    world_session(world);
    memset(text, '#', HE2B_COMMAND_TEXT_MAX + 1);
    assert_int_equal(he2b_command_new(&command, world->session), HE2B_OK);
    assert_int_equal(he2b_command_set_text(command, text, HE2B_COMMAND_TEXT_MAX + 1),
                     HE2B_ERR_OVERFLOW);
    text[HE2B_COMMAND_TEXT_MAX - 1] = '\0';
    assert_int_equal(he2b_command_set_text(command, text, HE2B_COMMAND_TEXT_MAX), HE2B_ERR_ARG);
    he2b_command_del(command);
    free(text);
}

static void no_room(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 507, "attempted to write 200001 bytes: not enough disk space available");
}

/* B-49: it did not begin, and why. */
static void test_disk_full(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_upload = no_room;
    world_session(world);
    new_with(&ran, world, '#', 200000);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_REFUSED);
    assert_non_null(strstr(ran.failure_text, "send the command's text"));
    assert_non_null(strstr(ran.failure_text, "not enough disk space"));
    assert_non_null(strstr(ran.failure_text, "make room"));
    assert_string_equal(world_log(world), "create probe upload");
    ran_del(&ran);
}

static void reset_first(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 1)
        peer_reset(request);
    else
        keep(world, request, nth);
}

static void reset_all(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_reset(request);
}

/* A lost upload did no more than write: once more, and no oftener. B-47: one Start. */
static void test_lost_upload(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_upload = reset_first;
    world_session(world);
    new_with(&ran, world, '#', 200000);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(world_log(world), "create probe upload upload command");
    ran_del(&ran);
    world->on_upload = reset_all;
    new_with(&ran, world, '#', 200000);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_LOST);
    assert_string_equal(world_log(world), "create probe upload upload command upload upload");
    ran_del(&ran);
}

static void gone_first(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 1)
        world_no_sandbox(request);
    else
        keep(world, request, nth);
}

static void gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_no_sandbox(request);
}

/* B-47: nothing ran there, so the sandbox is brought back once, and the text sent to it. */
static void test_sandbox_gone(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_upload = gone_first;
    world_session(world);
    new_with(&ran, world, '#', 200000);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(world_count(world, "upload"), 2);
    assert_int_equal(world_count(world, "command"), 1);
    ran_del(&ran);
    world->on_upload = gone;
    new_with(&ran, world, '#', 200000);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_GONE);
    assert_int_equal(world_count(world, "upload"), 4);
    assert_int_equal(world_count(world, "command"), 1);
    ran_del(&ran);
}

static struct ran *killed;

static void post_kill(void *arg)
{
    (void)arg;
    he2b_command_kill(killed->command);
}

static void kill_and_wait(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    (void)he2b_loop_post(world->loop, post_kill, NULL);
    peer_wait_closed(request);
}

static void never(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_wait_closed(request);
}

/* B-43: while the text is on its way nothing runs that would have to be ended. */
static void test_ended_during_upload(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_upload = kill_and_wait;
    world_session(world);
    new_with(&ran, world, '#', 200000);
    killed = &ran;
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_KILLED);
    assert_int_equal(ran.exit_code, 130);
    assert_int_equal(ran.failure, 0);
    ran_del(&ran);
    world->on_upload = never;
    new_with(&ran, world, '#', 200000);
    he2b_command_set_timeout(ran.command, 1);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_TIMED_OUT);
    assert_int_equal(ran.exit_code, 124);
    ran_del(&ran);
    /* the limit may be over before the peer sees the request */
    assert_int_equal(world_count(world, "command"), 0);
    assert_false(world->trouble);
}

static void no_folder(struct world *world, struct peer_request *request, unsigned nth)
{
    static const char text[] = "tool bash\ntool setsid\nhome /home/user\nwanted\ncwd /home/user\n";

    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, text, strlen(text));
    world_end(request, 0);
}

/* A sandbox without a place to write runs every other command. */
static void test_no_folder(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world->on_probe = no_folder;
    world_session(world);
    new_with(&ran, world, '#', 200000);
    go(&ran);
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    assert_int_equal(ran.failure, HE2B_ERR_REFUSED);
    assert_non_null(strstr(ran.failure_text, "no place for a file"));
    ran_del(&ran);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_string_equal(world_log(world), "create probe command");
    ran_del(&ran);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_by_file),
        IN_WORLD(test_bytes),
        IN_WORLD(test_what_fits_is_an_argument),
        IN_WORLD(test_bounds),
        IN_WORLD(test_disk_full),
        IN_WORLD(test_lost_upload),
        IN_WORLD(test_sandbox_gone),
        IN_WORLD(test_ended_during_upload),
        IN_WORLD(test_no_folder),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    free(uploaded);
    return failed;
}
