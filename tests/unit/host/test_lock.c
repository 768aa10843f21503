/* B-24, B-60, B-61, FB-28, FB-30: locks between processes, and what came of trying. */
#include "host/lock.h"
#include "tests/unit/host/box.h"
#include "tests/unit/host/flock_shim.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int make(void **state)
{
    memset(&flock_shim, 0, sizeof(flock_shim));
    return box_make(state);
}

static int drop(void **state)
{
    memset(&flock_shim, 0, sizeof(flock_shim));
    return box_drop(state);
}

/* Whether somebody holds it; flock() is per open file, so that one process can play two. */
static bool is_taken(const struct box *box)
{
    struct he2b_lock other;
    enum he2b_lock_outcome outcome;

    he2b_lock_init(&other);
    outcome = he2b_lock_try(&other, box->files.writer_lock);
    he2b_lock_release(&other);
    assert_true(outcome == HE2B_LOCK_HELD || outcome == HE2B_LOCK_TAKEN);
    return outcome == HE2B_LOCK_TAKEN;
}

static void hold(struct he2b_lock *lock, const struct box *box)
{
    he2b_lock_init(lock);
    assert_int_equal(he2b_lock_try(lock, box->files.writer_lock), HE2B_LOCK_HELD);
}

static void test_take_and_release(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;

    hold(&lock, box);
    assert_true(is_taken(box));
    assert_int_equal(he2b_lock_try(&lock, box->files.writer_lock), HE2B_LOCK_HELD);
    he2b_lock_release(&lock);
    assert_int_equal(lock.fd, -1);
    assert_false(is_taken(box));
    he2b_lock_release(&lock);
    /* never removed */
    assert_int_equal(access(box->files.writer_lock, F_OK), 0);
    assert_int_equal(box_entries(box), 1);
}

static void test_made_private_and_empty(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;
    char cache[96];
    struct stat st;

    hold(&lock, box);
    assert_int_equal(fcntl(lock.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(lock.fd, F_GETFL) & O_ACCMODE, O_RDWR);
    assert_int_equal(fstat(lock.fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(box->folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    snprintf(cache, sizeof(cache), "%s/cache", box->home);
    assert_int_equal(stat(cache, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    he2b_lock_release(&lock);
    box_write(box->files.writer_lock, "something", 0600);
    hold(&lock, box);
    assert_int_equal(stat(box->files.writer_lock, &st), 0);
    assert_int_equal(st.st_size, 0);
    he2b_lock_release(&lock);
}

/* Who does not get it writes nothing either. */
static void test_not_truncated_before_it_is_held(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;
    char text[1024];

    hold(&lock, box);
    assert_int_equal(write(lock.fd, "mine", 4), 4);
    assert_true(is_taken(box));
    box_read(box->files.writer_lock, text);
    assert_string_equal(text, "mine");
    he2b_lock_release(&lock);
}

/* Says what came of trying, then waits to be told to end. */
static int try_and_wait(struct box *box, int in, int out)
{
    struct he2b_lock lock;

    he2b_lock_init(&lock);
    box_say(out, (int)he2b_lock_try(&lock, box->files.writer_lock));
    box_hear(in);
    return 0;
}

static void test_one_of_two_processes(void **state)
{
    struct box *box = *state;
    struct box_child first;
    struct box_child second;

    box_start(&first, box, try_and_wait, false);
    assert_int_equal(box_hear(first.in), HE2B_LOCK_HELD);
    box_start(&second, box, try_and_wait, false);
    assert_int_equal(box_hear(second.in), HE2B_LOCK_TAKEN);
    assert_int_equal(box_end(&second), 0);
    assert_true(is_taken(box));
    assert_int_equal(box_end(&first), 0);
    assert_false(is_taken(box));
}

static void test_kill_frees_it(void **state)
{
    struct box *box = *state;
    struct box_child child;

    box_start(&child, box, try_and_wait, false);
    assert_int_equal(box_hear(child.in), HE2B_LOCK_HELD);
    assert_true(is_taken(box));
    assert_int_equal(kill(child.pid, SIGKILL), 0);
    assert_int_equal(box_end(&child), -SIGKILL);
    assert_false(is_taken(box));
}

/* What a forked child finds; the program of a child gets no other argument. */
static struct he2b_lock inherited;

static int only_exit(struct box *box, int in, int out)
{
    (void)box;
    (void)in;
    (void)out;
    return 0;
}

static int live_on(struct box *box, int in, int out)
{
    (void)box;
    box_say(out, 1);
    box_hear(in);
    return 0;
}

static int release_inherited(struct box *box, int in, int out)
{
    struct he2b_lock copy = inherited;

    (void)box;
    (void)in;
    (void)out;
    he2b_lock_release(&inherited);
    BOX_CHECK(inherited.fd == -1);
    BOX_CHECK(fcntl(copy.fd, F_GETFD) == -1);
    he2b_lock_release(&inherited);
    return 0;
}

static int try_inherited(struct box *box, int in, int out)
{
    (void)in;
    (void)out;
    BOX_CHECK(he2b_lock_try(&inherited, box->files.writer_lock) == HE2B_LOCK_TAKEN);
    BOX_CHECK(inherited.fd == -1);
    return 0;
}

static void keeps_it_through(struct box *box, box_program program)
{
    struct box_child child;

    hold(&inherited, box);
    box_start(&child, box, program, false);
    assert_int_equal(box_end(&child), 0);
    assert_true(is_taken(box));
    he2b_lock_release(&inherited);
    assert_false(is_taken(box));
}

static void test_child_that_exits(void **state)
{
    keeps_it_through(*state, only_exit);
}

static void test_child_that_releases(void **state)
{
    keeps_it_through(*state, release_inherited);
}

static void test_child_that_tries(void **state)
{
    keeps_it_through(*state, try_inherited);
}

static void test_child_that_lives_on(void **state)
{
    struct box *box = *state;
    struct box_child child;

    hold(&inherited, box);
    box_start(&child, box, live_on, false);
    assert_int_equal(box_hear(child.in), 1);
    assert_true(is_taken(box));
    he2b_lock_release(&inherited);
    assert_false(is_taken(box));
    assert_int_equal(box_end(&child), 0);
}

/* Takes it, and is killed while a child of its own lives on. */
static int die_before_the_child(struct box *box, int in, int out)
{
    pid_t child;

    BOX_CHECK(he2b_lock_try(&inherited, box->files.writer_lock) == HE2B_LOCK_HELD);
    child = fork();
    if (child == 0) {
        box_say(out, 1); /* it is born: what a child does at its birth is done */
        box_hear(in);
        _exit(0);
    }
    BOX_CHECK(child > 0);
    box_hear(in);
    _exit(0);
}

/* B-60: the kernel frees it with the holder, whatever the holder's children do. */
static void test_child_that_outlives_the_holder(void **state)
{
    struct box *box = *state;
    struct box_child child;
    siginfo_t info;

    he2b_lock_init(&inherited);
    box_start(&child, box, die_before_the_child, false);
    assert_int_equal(box_hear(child.in), 1);
    assert_int_equal(kill(child.pid, SIGKILL), 0);
    /* dead, and not yet reaped: box_end() does that, and lets its child go */
    assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(is_taken(box));
    assert_int_equal(box_end(&child), -SIGKILL);
}

static int pipe_in;
static int pipe_out;

static void fork_now(void)
{
    pid_t child = fork();

    if (child != 0)
        return;
    box_say(pipe_out, 1);
    box_hear(pipe_in);
    _exit(0);
}

/* Another thread of the process forks while the lock is open and not yet taken. */
static int fork_while_it_is_tried(struct box *box, int in, int out)
{
    pipe_in = in;
    pipe_out = out;
    flock_shim.before = fork_now;
    flock_shim.before_times = 1;
    BOX_CHECK(he2b_lock_try(&inherited, box->files.writer_lock) == HE2B_LOCK_HELD);
    box_say(out, 2);
    box_hear(in);
    _exit(0);
}

/* B-60: also one that was born while the lock was being taken. */
static void test_child_of_a_moment_between(void **state)
{
    struct box *box = *state;
    struct box_child child;
    siginfo_t info;

    he2b_lock_init(&inherited);
    box_start(&child, box, fork_while_it_is_tried, false);
    /* the child is born, and the lock is held */
    assert_int_equal(box_hear(child.in) + box_hear(child.in), 3);
    assert_true(is_taken(box));
    assert_int_equal(kill(child.pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(is_taken(box));
    assert_int_equal(box_end(&child), -SIGKILL);
}

/* The eight of FB-30: how many hold it, and how often it was more than one. */
struct tally {
    atomic_int holders;
    atomic_int violations;
    atomic_int turns;
};

enum {
    WORKERS = 8,
    TURNS = 100,
};

static struct tally *tally;
static bool workers_unlink;

static int work(struct box *box, int in, int out)
{
    struct he2b_lock lock;
    int turns = 0;

    (void)out;
    he2b_lock_init(&lock);
    box_hear(in);
    while (turns < TURNS) {
        enum he2b_lock_outcome outcome = he2b_lock_try(&lock, box->files.writer_lock);

        if (outcome != HE2B_LOCK_HELD) {
            BOX_CHECK(outcome == HE2B_LOCK_TAKEN || lock.error == ESTALE);
            sched_yield();
            continue;
        }
        if (atomic_fetch_add(&tally->holders, 1) != 0)
            atomic_fetch_add(&tally->violations, 1);
        sched_yield();
        atomic_fetch_sub(&tally->holders, 1);
        atomic_fetch_add(&tally->turns, 1);
        if (workers_unlink)
            unlink(box->files.writer_lock);
        he2b_lock_release(&lock);
        turns++;
    }
    return 0;
}

static void never_two_holders(struct box *box)
{
    struct box_child workers[WORKERS];
    int i;

    tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(tally != MAP_FAILED);
    for (i = 0; i < WORKERS; i++)
        box_start(&workers[i], box, work, false);
    for (i = 0; i < WORKERS; i++)
        box_say(workers[i].out, 1);
    for (i = 0; i < WORKERS; i++)
        assert_int_equal(box_end(&workers[i]), 0);
    assert_int_equal(atomic_load(&tally->turns), WORKERS * TURNS);
    assert_int_equal(atomic_load(&tally->violations), 0);
    munmap(tally, sizeof(*tally));
}

static void test_eight_take_turns(void **state)
{
    workers_unlink = false;
    never_two_holders(*state);
}

/* Nobody of ours removes the file; somebody else's clean-up may. */
static void test_eight_take_turns_and_unlink(void **state)
{
    workers_unlink = true;
    never_two_holders(*state);
}

static const char *replaced_path;

static void replace(void)
{
    char other[HE2B_HOST_PATH_MAX + 8];

    /* beside the old one, which has its inode number still */
    snprintf(other, sizeof(other), "%s.other", replaced_path);
    box_write(other, "", 0600);
    assert_int_equal(rename(other, replaced_path), 0);
}

static void test_replaced_file_starts_over(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;
    struct stat ours;
    struct stat there;

    replaced_path = box->files.writer_lock;
    flock_shim.before = replace;
    flock_shim.before_times = 3;
    hold(&lock, box);
    assert_int_equal(flock_shim.before_times, 0);
    assert_int_equal(fstat(lock.fd, &ours), 0);
    assert_int_equal(stat(box->files.writer_lock, &there), 0);
    assert_int_equal(ours.st_ino, there.st_ino);
    assert_true(is_taken(box));
    he2b_lock_release(&lock);
}

static void test_starting_over_ends(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;

    he2b_lock_init(&lock);
    replaced_path = box->files.writer_lock;
    flock_shim.before = replace;
    flock_shim.before_times = 1000;
    assert_int_equal(he2b_lock_try(&lock, box->files.writer_lock), HE2B_LOCK_FAILED);
    assert_int_equal(lock.error, ESTALE);
    assert_int_equal(lock.fd, -1);
    flock_shim.before_times = 0;
    assert_false(is_taken(box));
}

struct answer {
    int error;
    enum he2b_lock_outcome outcome;
};

static void test_what_flock_answers(void **state)
{
    static const struct answer answers[] = {
        {EWOULDBLOCK, HE2B_LOCK_TAKEN},  {EAGAIN, HE2B_LOCK_TAKEN},
        {EACCES, HE2B_LOCK_TAKEN},       {ENOLCK, HE2B_LOCK_UNSUPPORTED},
        {ENOSYS, HE2B_LOCK_UNSUPPORTED}, {EOPNOTSUPP, HE2B_LOCK_UNSUPPORTED},
        {EROFS, HE2B_LOCK_UNSUPPORTED},  {EMFILE, HE2B_LOCK_FAILED},
        {ENFILE, HE2B_LOCK_FAILED},      {ENOMEM, HE2B_LOCK_FAILED},
        {ENOSPC, HE2B_LOCK_FAILED},      {EIO, HE2B_LOCK_FAILED},
        {EBADF, HE2B_LOCK_FAILED},       {EINVAL, HE2B_LOCK_FAILED},
        {EPERM, HE2B_LOCK_FAILED},
    };
    struct box *box = *state;
    size_t i;

    for (i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        struct he2b_lock lock;

        he2b_lock_init(&lock);
        flock_shim.flock_errno = answers[i].error;
        flock_shim.flock_times = 1;
        assert_int_equal(he2b_lock_try(&lock, box->files.writer_lock), answers[i].outcome);
        assert_int_equal(lock.fd, -1);
        assert_int_equal(lock.error, answers[i].outcome == HE2B_LOCK_TAKEN ? 0 : answers[i].error);
        assert_int_equal(flock_shim.flock_times, 0);
        /* nothing was left locked */
        assert_false(is_taken(box));
    }
}

static void opens_with(struct box *box, const struct answer *answer)
{
    struct he2b_lock lock;

    he2b_lock_init(&lock);
    flock_shim.open_errno = answer->error;
    flock_shim.open_times = 1;
    assert_int_equal(he2b_lock_try(&lock, box->files.writer_lock), answer->outcome);
    assert_int_equal(lock.fd, -1);
    assert_int_equal(lock.error, answer->outcome == HE2B_LOCK_TAKEN ? 0 : answer->error);
}

static void test_what_open_answers(void **state)
{
    static const struct answer always[] = {
        {EMFILE, HE2B_LOCK_FAILED}, {ENFILE, HE2B_LOCK_FAILED}, {ENOMEM, HE2B_LOCK_FAILED},
        {ENOSPC, HE2B_LOCK_FAILED}, {EIO, HE2B_LOCK_FAILED},    {ENOTDIR, HE2B_LOCK_FAILED},
        {EDQUOT, HE2B_LOCK_FAILED}, {ESTALE, HE2B_LOCK_FAILED}, {EROFS, HE2B_LOCK_UNSUPPORTED},
    };
    static const struct answer missing[] = {
        {EACCES, HE2B_LOCK_UNSUPPORTED},
        {EPERM, HE2B_LOCK_UNSUPPORTED},
    };
    static const struct answer existing[] = {
        {EACCES, HE2B_LOCK_TAKEN},
        {EPERM, HE2B_LOCK_TAKEN},
    };
    struct box *box = *state;
    size_t i;

    box_make_folder(box, 0700);
    for (i = 0; i < sizeof(always) / sizeof(*always); i++)
        opens_with(box, &always[i]);
    for (i = 0; i < sizeof(missing) / sizeof(*missing); i++)
        opens_with(box, &missing[i]);
    assert_int_equal(box_entries(box), 0);
    box_write(box->files.writer_lock, "", 0600);
    for (i = 0; i < sizeof(always) / sizeof(*always); i++)
        opens_with(box, &always[i]);
    for (i = 0; i < sizeof(existing) / sizeof(*existing); i++)
        opens_with(box, &existing[i]);
}

static void test_interrupted_is_tried_again(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;

    flock_shim.flock_errno = EINTR;
    flock_shim.flock_times = 10;
    flock_shim.open_errno = EINTR;
    flock_shim.open_times = 10;
    hold(&lock, box);
    assert_int_equal(flock_shim.flock_times, 0);
    assert_int_equal(flock_shim.open_times, 0);
    assert_int_equal(lock.error, 0);
    assert_true(is_taken(box));
    he2b_lock_release(&lock);
}

/* B-12: a link to a file elsewhere would have it emptied. */
static void test_links_are_not_followed(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;
    char victim[128];
    char text[1024];

    box_make_folder(box, 0700);
    snprintf(victim, sizeof(victim), "%s/victim", box->home);
    box_write(victim, "mine", 0600);
    assert_int_equal(symlink(victim, box->files.writer_lock), 0);
    he2b_lock_init(&lock);
    assert_int_equal(he2b_lock_try(&lock, box->files.writer_lock), HE2B_LOCK_FAILED);
    assert_int_equal(lock.error, ELOOP);
    box_read(victim, text);
    assert_string_equal(text, "mine");
}

static void test_home_is_not_made(void **state)
{
    struct box *box = *state;
    struct he2b_lock lock;

    he2b_lock_init(&lock);
    assert_int_equal(rmdir(box->home), 0);
    assert_int_equal(he2b_lock_try(&lock, box->files.writer_lock), HE2B_LOCK_FAILED);
    assert_int_equal(lock.error, ENOENT);
    assert_int_equal(mkdir(box->home, 0700), 0);
}

static int is_unsupported(struct box *box, int in, int out)
{
    struct he2b_lock lock;

    (void)in;
    (void)out;
    he2b_lock_init(&lock);
    BOX_CHECK(he2b_lock_try(&lock, box->files.writer_lock) == HE2B_LOCK_UNSUPPORTED);
    BOX_CHECK(lock.error == EACCES);
    BOX_CHECK(lock.fd == -1);
    return 0;
}

static int is_held_elsewhere(struct box *box, int in, int out)
{
    struct he2b_lock lock;

    (void)in;
    (void)out;
    he2b_lock_init(&lock);
    BOX_CHECK(he2b_lock_try(&lock, box->files.writer_lock) == HE2B_LOCK_TAKEN);
    return 0;
}

static int is_ours(struct box *box, int in, int out)
{
    struct he2b_lock lock;

    (void)in;
    (void)out;
    he2b_lock_init(&lock);
    BOX_CHECK(he2b_lock_try(&lock, box->files.writer_lock) == HE2B_LOCK_HELD);
    return 0;
}

static void test_read_only_home(void **state)
{
    struct box *box = *state;

    assert_int_equal(chmod(box->home, 0555), 0);
    box_as_normal_user(box, is_unsupported);
}

static void test_read_only_folder(void **state)
{
    struct box *box = *state;

    box_make_folder(box, 0555);
    box_as_normal_user(box, is_unsupported);
}

/* The file is all that is needed. */
static void test_read_only_folder_with_the_file(void **state)
{
    struct box *box = *state;

    box_make_folder(box, 0755);
    box_write(box->files.writer_lock, "", 0600);
    assert_int_equal(chmod(box->folder, 0555), 0);
    box_as_normal_user(box, is_ours);
}

static void test_file_that_may_not_be_opened(void **state)
{
    struct box *box = *state;

    box_make_folder(box, 0755);
    box_write(box->files.writer_lock, "", 0000);
    box_as_normal_user(box, is_held_elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_take_and_release, make, drop),
        cmocka_unit_test_setup_teardown(test_made_private_and_empty, make, drop),
        cmocka_unit_test_setup_teardown(test_not_truncated_before_it_is_held, make, drop),
        cmocka_unit_test_setup_teardown(test_one_of_two_processes, make, drop),
        cmocka_unit_test_setup_teardown(test_kill_frees_it, make, drop),
        cmocka_unit_test_setup_teardown(test_child_that_exits, make, drop),
        cmocka_unit_test_setup_teardown(test_child_that_releases, make, drop),
        cmocka_unit_test_setup_teardown(test_child_that_tries, make, drop),
        cmocka_unit_test_setup_teardown(test_child_that_lives_on, make, drop),
        cmocka_unit_test_setup_teardown(test_child_that_outlives_the_holder, make, drop),
        cmocka_unit_test_setup_teardown(test_child_of_a_moment_between, make, drop),
        cmocka_unit_test_setup_teardown(test_eight_take_turns, make, drop),
        cmocka_unit_test_setup_teardown(test_eight_take_turns_and_unlink, make, drop),
        cmocka_unit_test_setup_teardown(test_replaced_file_starts_over, make, drop),
        cmocka_unit_test_setup_teardown(test_starting_over_ends, make, drop),
        cmocka_unit_test_setup_teardown(test_what_flock_answers, make, drop),
        cmocka_unit_test_setup_teardown(test_what_open_answers, make, drop),
        cmocka_unit_test_setup_teardown(test_interrupted_is_tried_again, make, drop),
        cmocka_unit_test_setup_teardown(test_links_are_not_followed, make, drop),
        cmocka_unit_test_setup_teardown(test_home_is_not_made, make, drop),
        cmocka_unit_test_setup_teardown(test_read_only_home, make, drop),
        cmocka_unit_test_setup_teardown(test_read_only_folder, make, drop),
        cmocka_unit_test_setup_teardown(test_read_only_folder_with_the_file, make, drop),
        cmocka_unit_test_setup_teardown(test_file_that_may_not_be_opened, make, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
