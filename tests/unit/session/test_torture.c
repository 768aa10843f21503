/*
 * Memory runs out at each place in turn, and whatever was asked for ends all the same: once, with a
 * word about it or with the whole result, and with nothing left behind (B-41, B-91, B-93).
 */
#include "host/lock.h"
#include "session/session.h"
#include "tests/unit/session/world.h"
#include "tests/unit/torture/torture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    /* A scenario ends long before that; where it does not, its end never comes. */
    ALLOCATIONS_MAX = 20000,
};

struct scenario {
    const char *name;
    size_t text_len; /* of the command: above what an argument holds, it goes by a file */
    size_t stdin_len;
    bool scope;  /* a persistent one: locks, marker and stamp too */
    bool state;  /* Hermes' state goes to its own sandbox */
    bool by_id;  /* connects to a sandbox of that id */
    bool killed; /* while it runs */
};

struct run {
    const struct scenario *scenario;
    struct world *world;
    unsigned nth;
    char home[32];
    char scope[HE2B_SCOPE_MAX];
    unsigned ended;
    enum he2b_outcome outcome;
    int exit_code;
    int failure;
    int input_failure;
    unsigned closed;
    int close_failure;
    unsigned pulled;
};

static void check(const struct run *run, bool holds, const char *what)
{
    if (holds)
        return;
    print_error(
        "%s, allocation %u: %s; outcome %d, code %d, failure %d, of stdin %d, of the end %d; %s\n",
        run->scenario->name, run->nth, what, (int)run->outcome, run->exit_code, run->failure,
        run->input_failure, run->close_failure, world_log(run->world));
    fail();
}

static void on_deadline(void *arg)
{
    check(arg, false, "nothing more came");
}

static void go(struct run *run)
{
    he2b_timer *deadline = NULL;

    torture_pause();
    assert_int_equal(he2b_timer_new(&deadline, run->world->loop, on_deadline, run), HE2B_OK);
    assert_int_equal(he2b_timer_arm(deadline, PEER_DEADLINE_S * 1000), HE2B_OK);
    torture_resume();
    check(run, he2b_loop_run(run->world->loop) == HE2B_OK, "the loop did not run");
    torture_pause();
    he2b_timer_del(deadline);
    torture_resume();
}

static void on_ended(void *user, const he2b_result *result)
{
    struct run *run = user;
    const he2b_failure *failure = he2b_result_failure(result);
    const he2b_failure *input = he2b_result_stdin_failure(result);

    run->ended++;
    run->outcome = he2b_result_outcome(result);
    run->exit_code = he2b_result_exit_code(result);
    run->failure = failure ? he2b_failure_code(failure) : 0;
    run->input_failure = input ? he2b_failure_code(input) : 0;
    world_stop(run->world);
}

static void on_closed(void *user, const he2b_failure *failure)
{
    struct run *run = user;

    run->closed++;
    run->close_failure = failure ? he2b_failure_code(failure) : 0;
    world_stop(run->world);
}

static size_t read_all(int fd, char *out, size_t size)
{
    size_t len = 0;
    ssize_t n;

    while ((n = read(fd, out + len, size - len)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        assert_true(n > 0);
        len += (size_t)n;
        assert_true(len < size);
    }
    return len;
}

static char text[200 * 1024];
static char data[100 * 1024];

static void run_command(struct run *run, he2b_session *session)
{
    const struct scenario *scenario = run->scenario;
    he2b_command *command = NULL;
    int error = he2b_command_new(&command, session);
    char output[64];
    int ends[2];

    check(run, !error || error == HE2B_ERR_NOMEM, "a new command");
    if (error)
        return;
    memset(text, ' ', sizeof(text));
    memcpy(text, "cat", 3);
    error = he2b_command_set_text(command, text, scenario->text_len);
    check(run, !error || error == HE2B_ERR_NOMEM, "its text");
    if (!error && scenario->stdin_len)
        error = he2b_command_set_stdin(command, data, scenario->stdin_len);
    if (error) {
        he2b_command_del(command);
        return;
    }
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    error = he2b_command_set_output(command, ends[1]);
    if (error)
        close(ends[1]);
    he2b_command_set_timeout(command, 60000);
    if (!error)
        error = he2b_command_start(command, on_ended, run);
    check(run, !error || error == HE2B_ERR_NOMEM, "its start");
    if (!error && scenario->killed)
        he2b_command_kill(command);
    if (!error)
        go(run);
    he2b_command_del(command);
    output[read_all(ends[0], output, sizeof(output) - 1)] = '\0';
    close(ends[0]);
    check(run, run->ended == (error ? 0 : 1), "one result for what was started");
    if (error || scenario->killed)
        return;
    if (run->outcome == HE2B_ENDED && run->exit_code == 0) {
        check(run, strcmp(output, "out\n") == 0, "code 0 says that its output is whole (B-41)");
        check(run, run->failure == 0, "it ended, and failed");
    } else {
        check(run, run->failure != 0 || run->exit_code == 255, "a word about it");
        check(run, run->outcome != HE2B_TIMED_OUT, "nobody's limit was over");
    }
}

static void on_step(void *user, he2b_step *step)
{
    struct run *run = user;

    if (he2b_step_kind(step) == HE2B_STEP_PULL)
        run->pulled++;
    he2b_step_done(step, HE2B_STEP_DONE, NULL);
}

static void run_session(struct run *run)
{
    struct world *world = run->world;
    he2b_session *session = NULL;
    int error = he2b_session_new(&session, world->loop, world->options, NULL, NULL);

    check(run, !error || error == HE2B_ERR_NOMEM, "a new session");
    if (error)
        return;
    world_soon(session);
    if (run->scenario->by_id)
        assert_int_equal(he2b_session_set_sandbox(session, WORLD_ID), HE2B_OK);
    if (run->scenario->state) {
        assert_int_equal(he2b_session_set_host_state(session, 1), HE2B_OK);
        assert_int_equal(he2b_session_on_step(session, on_step, run), HE2B_OK);
    }
    if (run->scenario->scope)
        error = he2b_session_set_scope(session, run->home, NULL, 0);
    check(run, !error || error == HE2B_ERR_NOMEM, "a scope");
    if (error) {
        he2b_session_del(session);
        return;
    }
    snprintf(run->scope, sizeof(run->scope), "%s", he2b_session_scope(session));
    run_command(run, session);
    error = he2b_session_close(session, on_closed, run);
    check(run, !error || error == HE2B_ERR_NOMEM, "its end");
    if (!error)
        go(run);
    check(run, run->closed == (error ? 0 : 1), "one end for what was closed");
    he2b_session_del(session);
    if (run->scenario->by_id || run->scenario->scope)
        check(run, world_count(world, "kill") == 0, "a sandbox that is to live was killed");
    else if (!error && !run->close_failure && !run->failure)
        check(run, world_count(world, "create") == 0 || world_count(world, "kill") > 0,
              "a sandbox was left behind without a word (B-91)");
    if (run->scenario->state && !error && !run->close_failure && run->ended && !run->failure)
        check(run, run->pulled == 1, "its state was left there without a word (B-93)");
}

/* B-64, B-68: whatever became of it, the next session may take the role. */
static void check_locks(struct run *run)
{
    struct he2b_host_files files;
    struct he2b_lock lock;

    assert_int_equal(he2b_host_files(&files, run->home, run->scope), HE2B_OK);
    he2b_lock_init(&lock);
    check(run, he2b_lock_try(&lock, files.writer_lock) == HE2B_LOCK_HELD, "the lease is held");
    he2b_lock_release(&lock);
    check(run, he2b_lock_try(&lock, files.creation_lock) == HE2B_LOCK_HELD,
          "the creation lock is held");
    he2b_lock_release(&lock);
}

static int drop(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    (void)stat;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void torture(const struct scenario *scenario)
{
    unsigned nth;
    bool more = true;

    for (nth = 1; more; nth++) {
        struct run run = {.scenario = scenario, .nth = nth};
        void *state = NULL;

        assert_true(nth < ALLOCATIONS_MAX);
        assert_int_equal(world_setup(&state), 0);
        run.world = state;
        strcpy(run.home, "/tmp/he2b-torture.XXXXXX");
        assert_non_null(mkdtemp(run.home));
        torture_begin(nth);
        run_session(&run);
        more = torture_end();
        if (run.scope[0])
            check_locks(&run);
        world_teardown(&state);
        nftw(run.home, drop, 8, FTW_DEPTH | FTW_PHYS);
    }
    print_message("%s: each of %u allocations\n", scenario->name, nth - 2);
}

static void test_first_command(void **state)
{
    static const struct scenario scenario = {.name = "first command", .text_len = 8};

    (void)state;
    torture(&scenario);
}

static void test_scope(void **state)
{
    static const struct scenario scenario = {
        .name = "a persistent scope", .text_len = 8, .scope = true};

    (void)state;
    torture(&scenario);
}

static void test_own_state(void **state)
{
    static const struct scenario scenario = {
        .name = "a sandbox of its own, with state", .text_len = 8, .state = true};

    (void)state;
    torture(&scenario);
}

static void test_stdin(void **state)
{
    static const struct scenario scenario = {
        .name = "stdin", .text_len = 8, .stdin_len = sizeof(data), .by_id = true};

    (void)state;
    torture(&scenario);
}

static void test_text_by_file(void **state)
{
    static const struct scenario scenario = {
        .name = "a text by file", .text_len = sizeof(text), .by_id = true};

    (void)state;
    torture(&scenario);
}

static void test_kill(void **state)
{
    static const struct scenario scenario = {
        .name = "a command that is not wanted any more", .text_len = 8, .killed = true};

    (void)state;
    torture(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_command), cmocka_unit_test(test_scope),
        cmocka_unit_test(test_own_state),     cmocka_unit_test(test_stdin),
        cmocka_unit_test(test_text_by_file),  cmocka_unit_test(test_kill),
    };

    torture_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
