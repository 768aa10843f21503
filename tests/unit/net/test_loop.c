#include "net/loop.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    he2b_loop *loop;
    he2b_timer *timer;
    he2b_timer *other;
    he2b_task *task;
    he2b_outlet *outlet;
    int fds[2];
    char order[64];
    int count;
};

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    *state = bench;
    return he2b_loop_new(&bench->loop);
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    he2b_loop_del(bench->loop);
    free(bench);
    return 0;
}

static void stop(void *arg)
{
    struct bench *bench = arg;

    he2b_loop_stop(bench->loop);
}

static void delete_myself(void *arg)
{
    struct bench *bench = arg;

    he2b_timer_del(bench->timer);
    bench->timer = NULL;
    he2b_loop_stop(bench->loop);
}

/* The first test of a loop: an object that goes inside its own callback. */
static void a_timer_deletes_itself(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(he2b_timer_new(&bench->timer, bench->loop, delete_myself, bench), HE2B_OK);
    assert_int_equal(he2b_timer_arm(bench->timer, 0), HE2B_OK);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    assert_null(bench->timer);
}

static void delete_other(void *arg)
{
    struct bench *bench = arg;

    bench->count++;
    he2b_timer_del(bench->other);
    bench->other = NULL;
    he2b_loop_stop(bench->loop);
}

static void must_not_run(void *arg)
{
    (void)arg;
    fail();
}

static void a_timer_deletes_one_that_is_due_as_well(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(he2b_timer_new(&bench->timer, bench->loop, delete_other, bench), HE2B_OK);
    assert_int_equal(he2b_timer_new(&bench->other, bench->loop, must_not_run, bench), HE2B_OK);
    he2b_timer_arm(bench->timer, 0);
    he2b_timer_arm(bench->other, 1);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    he2b_timer_del(bench->timer);
    assert_int_equal(bench->count, 1);
}

static void a_disarmed_timer_stays_quiet(void **state)
{
    struct bench *bench = *state;
    he2b_timer *end = NULL;

    assert_int_equal(he2b_timer_new(&bench->timer, bench->loop, must_not_run, bench), HE2B_OK);
    assert_int_equal(he2b_timer_new(&end, bench->loop, stop, bench), HE2B_OK);
    he2b_timer_arm(bench->timer, 1);
    assert_true(he2b_timer_armed(bench->timer));
    he2b_timer_disarm(bench->timer);
    assert_false(he2b_timer_armed(bench->timer));
    he2b_timer_arm(end, 20);
    he2b_loop_run(bench->loop);
    he2b_timer_del(end);
    he2b_timer_del(bench->timer);
    he2b_timer_del(NULL);
}

/* ---- posts ---- */

static void note_a(void *arg)
{
    strcat(((struct bench *)arg)->order, "a");
}

static void note_b(void *arg)
{
    strcat(((struct bench *)arg)->order, "b");
}

static void *post_all(void *arg)
{
    struct bench *bench = arg;

    he2b_loop_post(bench->loop, note_a, bench);
    he2b_loop_post(bench->loop, note_b, bench);
    he2b_loop_post(bench->loop, note_a, bench);
    he2b_loop_post(bench->loop, stop, bench);
    return NULL;
}

static void posts_come_in_order_from_another_thread(void **state)
{
    struct bench *bench = *state;
    pthread_t thread;

    pthread_create(&thread, NULL, post_all, bench);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    pthread_join(thread, NULL);
    assert_string_equal(bench->order, "aba");
}

static void what_was_posted_and_not_run_is_dropped(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(he2b_loop_post(bench->loop, must_not_run, bench), HE2B_OK);
}

/* ---- tasks ---- */

static void again(void *arg)
{
    struct bench *bench = arg;

    if (++bench->count < 5)
        he2b_task_schedule(bench->task);
    else
        he2b_loop_stop(bench->loop);
}

static void a_task_runs_once_for_each_turn(void **state)
{
    struct bench *bench = *state;
    he2b_task *dropped = NULL;

    assert_int_equal(he2b_task_new(&bench->task, bench->loop, again, bench), HE2B_OK);
    assert_int_equal(he2b_task_new(&dropped, bench->loop, must_not_run, bench), HE2B_OK);
    he2b_task_schedule(dropped);
    he2b_task_schedule(bench->task);
    he2b_task_schedule(bench->task);
    he2b_task_del(dropped);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    assert_int_equal(bench->count, 5);
    he2b_task_del(bench->task);
}

/* ---- outlets ---- */

static void on_room(void *arg)
{
    struct bench *bench = arg;

    bench->count++;
    he2b_loop_stop(bench->loop);
}

/* B-40: a full pipe stops the source, and there is no turn of the loop until it has room. */
static void a_full_pipe_says_when_it_has_room(void **state)
{
    static char data[1 << 20];
    struct bench *bench = *state;
    size_t taken;

    assert_int_equal(pipe2(bench->fds, O_CLOEXEC), 0);
    assert_int_equal(he2b_outlet_new(&bench->outlet, bench->loop, bench->fds[1], on_room, bench),
                     HE2B_OK);
    taken = he2b_outlet_write(bench->outlet, data, sizeof(data));
    assert_in_range(taken, 1, sizeof(data) - 1);
    assert_int_equal(bench->count, 0);
    assert_int_equal(read(bench->fds[0], data, sizeof(data)), taken);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    assert_int_equal(bench->count, 1);
    assert_false(he2b_outlet_broken(bench->outlet));
    he2b_outlet_del(bench->outlet);
    assert_int_equal(read(bench->fds[0], data, 1), 0);
    close(bench->fds[0]);
}

static void write_to_nobody(void *arg)
{
    struct bench *bench = arg;

    assert_int_equal(he2b_outlet_write(bench->outlet, "x", 1), 1);
    assert_true(he2b_outlet_broken(bench->outlet));
    he2b_loop_stop(bench->loop);
}

/* FB-34: the host keeps its default SIGPIPE, and lives. */
static void a_reader_that_is_gone_raises_no_sigpipe(void **state)
{
    struct bench *bench = *state;
    struct sigaction before;

    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(pipe2(bench->fds, O_CLOEXEC), 0);
    assert_int_equal(he2b_outlet_new(&bench->outlet, bench->loop, bench->fds[1], on_room, bench),
                     HE2B_OK);
    close(bench->fds[0]);
    he2b_loop_post(bench->loop, write_to_nobody, bench);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    he2b_outlet_del(bench->outlet);
    sigaction(SIGPIPE, NULL, &before);
    assert_ptr_equal(before.sa_handler, SIG_DFL);
}

static void a_closed_descriptor_stays_the_callers(void **state)
{
    struct bench *bench = *state;
    he2b_outlet *outlet = NULL;

    assert_int_equal(he2b_outlet_new(&outlet, bench->loop, 987654, on_room, bench),
                     HE2B_ERR_SYSTEM);
    assert_null(outlet);
}

/* ---- the process ---- */

static void on_usr1(void *arg)
{
    struct bench *bench = arg;

    if (++bench->count == 2)
        he2b_loop_stop(bench->loop);
    else
        raise(SIGUSR1);
}

static void raise_usr1(void *arg)
{
    (void)arg;
    raise(SIGUSR1);
}

static void signals_are_heard_when_asked_for(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(he2b_loop_on_signal(bench->loop, SIGUSR1, on_usr1, bench), HE2B_OK);
    he2b_loop_post(bench->loop, raise_usr1, NULL);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
    assert_int_equal(bench->count, 2);
    assert_int_equal(he2b_loop_on_signal(bench->loop, SIGUSR1, NULL, NULL), HE2B_OK);
}

static void run_again(void *arg)
{
    struct bench *bench = arg;

    assert_int_equal(he2b_loop_run(bench->loop), HE2B_ERR_STATE);
    he2b_loop_stop(bench->loop);
}

static void it_does_not_run_inside_itself(void **state)
{
    struct bench *bench = *state;

    he2b_loop_post(bench->loop, run_again, bench);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
}

static void a_forked_child_is_refused(void **state)
{
    struct bench *bench = *state;
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(he2b_loop_forked(bench->loop) && he2b_loop_run(bench->loop) == HE2B_ERR_FORK &&
                      he2b_loop_post(bench->loop, stop, bench) == HE2B_ERR_FORK
                  ? 0
                  : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_false(he2b_loop_forked(bench->loop));
}

/* epoll belongs to both after a fork: what the child deletes must not be missing in the parent. */
static void a_child_that_deletes_the_loop_leaves_the_parents_alone(void **state)
{
    struct bench *bench = *state;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        he2b_loop_del(bench->loop);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(he2b_loop_post(bench->loop, stop, bench), HE2B_OK);
    assert_int_equal(he2b_loop_run(bench->loop), HE2B_OK);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_timer_deletes_itself),
        T(a_timer_deletes_one_that_is_due_as_well),
        T(a_disarmed_timer_stays_quiet),
        T(posts_come_in_order_from_another_thread),
        T(what_was_posted_and_not_run_is_dropped),
        T(a_task_runs_once_for_each_turn),
        T(a_full_pipe_says_when_it_has_room),
        T(a_reader_that_is_gone_raises_no_sigpipe),
        T(a_closed_descriptor_stays_the_callers),
        T(signals_are_heard_when_asked_for),
        T(it_does_not_run_inside_itself),
        T(a_forked_child_is_refused),
        T(a_child_that_deletes_the_loop_leaves_the_parents_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
