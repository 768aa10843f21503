/*
 * launch.h: starting and ending. What is inside and what cannot be reached from there is in
 * test_launch_isolation.c, the folder in test_launch_folder.c.
 */
#include "launch_box.h"
#include "launch_tree.h"

#include "local/launch_programs.h"
#include "local/launch_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* "Within milliseconds" on an idle machine; this is for a loaded one. */
enum {
    GONE_MS = 5000
};

static void every_missing_ability_says_what_to_do(void **state)
{
    (void)state;
    const struct launch_abilities *a = box_abilities();
    const struct {
        bool has;
        const char *why;
    } all[] = {{a->isolation, a->isolation_why},
               {a->many_ids || !a->isolation, a->many_ids_why},
               {a->internet || !a->isolation, a->internet_why},
               {a->memory_limit || !a->isolation, a->memory_limit_why}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].has) {
            print_message("missing here: %s\n", all[i].why);
            assert_non_null(strstr(all[i].why, ", so "));
            assert_null(strchr(all[i].why, '\n'));
        } else {
            assert_string_equal(all[i].why, "");
        }
    }
}

static void starts_answers_and_ends_plainly(void **state)
{
    struct box *box = box_need(state);
    box_start(box, &(struct launch_spec){.internet = false});
    assert_int_equal(box_ask(box, "1000:echo hello; exit 3"), 3);
    assert_string_equal(box->text, "hello\n");
    box_tell(box, "exit 0");
    box_wait_end(box);
    assert_int_equal(box->ended, 1);
    assert_string_equal(box->why, "");
}

static void bad_end_has_its_reason(void **state)
{
    struct box *box = box_need(state);
    box_start(box, &(struct launch_spec){.internet = false});
    box_tell(box, "exit 9");
    box_wait_end(box);
    assert_string_equal(box->why, "the sandbox ended with status 9: told to exit");
}

/* What a sandbox writes to its standard error must not reach a terminal as it is (B-100). */
static void reason_from_inside_is_escaped(void **state)
{
    struct box *box = box_need(state);
    box_start(box, &(struct launch_spec){.internet = false});
    box_tell(box, "say \033]0;owned\007");
    box_wait_end(box);
    assert_string_equal(box->why, "the sandbox ended with status 4: \\x1B]0;owned\\x07");
}

static void missing_daemon_is_told(void **state)
{
    struct box *box = box_need(state);
    const char *name = launch_programs_daemon();
    launch_programs_use(NULL, "e2b-no-such-daemon");
    box_launch(box, &(struct launch_spec){.internet = false});
    launch_programs_use(NULL, name);
    box_wait_end(box);
    assert_memory_equal(box->why, "e2b-no-such-daemon is not installed", 35);
}

static void folder_that_was_replaced_is_refused(void **state)
{
    struct box *box = box_need(state);
    char path[128];
    char moved[128];
    struct launch_spec spec = {.internet = false};
    snprintf(path, sizeof path, "%s/%s", box->parent, box->name);
    snprintf(moved, sizeof moved, "%s/moved", box->parent);
    spec.folder_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(spec.folder_fd >= 0);
    /* an empty folder under the name of one that is deleted, while its descriptor is open */
    char why[512];
    assert_int_equal(launch_delete_folder(box->parent_fd, box->name, why, sizeof why), 0);
    box_launch_in(box, &spec);
    close(spec.folder_fd);
    box_wait_end(box);
    assert_non_null(strstr(box->why, "the sandbox's folder"));
}

static void kill_takes_the_deaf_too(void **state)
{
    struct box *box = box_need(state);
    struct tree tree;
    box_start(box, &(struct launch_spec){.internet = box_abilities()->internet});
    assert_int_equal(box_ask(box, "hang"), 0);
    tree_take(&tree, getpid());
    /* keeper, bwrap, pid 1, daemon, its child, and slirp4netns where there is internet */
    assert_true(tree.n >= 5u + box_abilities()->internet);
    launch_kill(box->launch);
    box_wait_end(box);
    assert_int_equal(box->ended, 1);
    assert_string_equal(box->why, "");
    assert_true(tree_wait_gone(&tree, 0));
    tree_done(&tree);
}

static void kill_right_after_start(void **state)
{
    struct box *box = box_need(state);
    struct tree tree;
    box_launch(box, &(struct launch_spec){.internet = false});
    launch_kill(box->launch);
    box_wait_end(box);
    assert_string_equal(box->why, "");
    tree_take(&tree, getpid());
    assert_int_equal(tree.n, 0);
}

static void del_right_after_start_calls_nobody(void **state)
{
    struct box *box = box_need(state);
    struct tree tree;
    box_launch(box, &(struct launch_spec){.internet = false});
    launch_del(box->launch);
    box->launch = NULL;
    event_base_loop(box->base, EVLOOP_NONBLOCK);
    assert_int_equal(box->ended, 0);
    tree_take(&tree, getpid());
    assert_int_equal(tree.n, 0);
}

static void any_part_killed_ends_the_whole(void **state)
{
    struct box *box = box_need(state);
    static const char *const parts[] = {"e2b-local-keep", "bwrap", "init"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct tree tree;
        box_start(box, &(struct launch_spec){.internet = box_abilities()->internet});
        assert_int_equal(box_ask(box, "hang"), 0);
        tree_take(&tree, getpid());
        pid_t pid = tree_find(&tree, parts[i]);
        assert_true(pid > 0);
        kill(pid, SIGKILL);
        box_wait_end(box);
        print_message("%s killed: %s\n", parts[i], box->why);
        assert_non_null(strstr(box->why, "signal 9") != NULL ? box->why
                                                             : strstr(box->why, "status 137"));
        assert_true(tree_wait_gone(&tree, GONE_MS));
        tree_done(&tree);
        launch_del(box->launch);
        box->launch = NULL;
    }
}

/* A second copy of this program, as a plane that is killed: main(). */
static void be_a_plane(void)
{
    struct box box;
    box_open(&box);
    box_start(&box, &(struct launch_spec){.internet = box_abilities()->internet});
    if (box_ask(&box, "hang") != 0)
        exit(3);
    printf("%s\n", box.parent);
    fflush(stdout);
    for (;;)
        pause();
}

static void plane_killed_leaves_nothing(void **state)
{
    if (!box_abilities()->isolation)
        box_skip(box_abilities()->isolation_why);
    (void)state;
    int ends[2];
    struct tree tree;
    char folder[64] = "";
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t plane = fork();
    if (plane == 0) {
        dup2(ends[1], 1);
        execl("/proc/self/exe", "plane", "--plane", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "re");
    assert_non_null(fgets(folder, sizeof folder, from));
    folder[strcspn(folder, "\n")] = '\0';
    tree_take(&tree, plane);
    assert_true(tree.n >= 5u + box_abilities()->internet);
    kill(plane, SIGKILL);
    assert_true(tree_wait_gone(&tree, GONE_MS));
    tree_done(&tree);
    fclose(from);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    prctl(PR_SET_CHILD_SUBREAPER, 0);

    int parent = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char why[512];
    assert_int_equal(launch_delete_folder(parent, "box", why, sizeof why), 0);
    close(parent);
    assert_int_equal(rmdir(folder), 0);
}

static void many_at_once(void **state)
{
    (void)box_need(state);
    enum {
        COUNT = 8
    };
    static struct box boxes[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        box_open(&boxes[i]);
    for (size_t i = 0; i < COUNT; i++)
        box_launch(&boxes[i], &(struct launch_spec){.internet = false});
    for (size_t i = 0; i < COUNT; i++) {
        box_hear(&boxes[i]);
        assert_string_equal(boxes[i].text, "up");
    }
    /* no descriptor of one in another's keeper: each ends by itself */
    for (size_t i = 0; i < COUNT; i++) {
        box_tell(&boxes[i], "exit 0");
        box_wait_end(&boxes[i]);
        assert_string_equal(boxes[i].why, "");
        box_close(&boxes[i]);
    }
}

static void memory_limit_holds(void **state)
{
    struct box *box = box_need(state);
    if (!box_abilities()->memory_limit)
        box_skip(box_abilities()->memory_limit_why);
    box_start(box, &(struct launch_spec){.memory_limit = 64 * 1024 * 1024});
    /* tail keeps all of it; without a limit it would write all of it */
    assert_int_equal(box_ask(box, "1000:head -c 500M /dev/zero | tail -c 500M | wc -c"), 0);
    assert_string_equal(box->text, "0\n");
}

static void without_isolation_is_a_plain_child(void **state)
{
    (void)state;
    struct launch_abilities abilities;
    struct box box;
    struct tree tree;
    char home[160];
    char request[64];
    const struct launch_spec spec = {.without_isolation = true};
    (void)box_abilities();
    launch_look(&abilities, true);
    assert_false(abilities.isolation);
    assert_non_null(strstr(abilities.isolation_why, "--unsafely-without-isolation"));
    assert_int_equal(launch_base_id(), 0);
    box_open(&box);
    snprintf(home, sizeof home, "%s/box/home/user\n", box.parent);
    snprintf(request, sizeof request, "%u:pwd", (unsigned)geteuid());
    box_start(&box, &spec);
    assert_int_equal(box_ask(&box, request), 0);
    assert_string_equal(box.text, home);
    /* left by its parent, in a session of its own: still this sandbox's */
    snprintf(request, sizeof request, "%u:setsid tail -f /dev/null >/dev/null 2>&1 &",
             (unsigned)geteuid());
    assert_int_equal(box_ask(&box, request), 0);
    tree_take(&tree, getpid());
    assert_true(tree.n >= 3);
    box_stop(&box);
    assert_true(tree_wait_gone(&tree, GONE_MS));
    tree_done(&tree);
    box_close(&box);
    launch_look(&abilities, false);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--plane") == 0)
        be_a_plane();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_missing_ability_says_what_to_do),
        IN_BOX(starts_answers_and_ends_plainly),
        IN_BOX(bad_end_has_its_reason),
        IN_BOX(reason_from_inside_is_escaped),
        IN_BOX(missing_daemon_is_told),
        IN_BOX(folder_that_was_replaced_is_refused),
        IN_BOX(kill_takes_the_deaf_too),
        IN_BOX(kill_right_after_start),
        IN_BOX(del_right_after_start_calls_nobody),
        IN_BOX(any_part_killed_ends_the_whole),
        cmocka_unit_test(plane_killed_leaves_nothing),
        IN_BOX(many_at_once),
        IN_BOX(memory_limit_holds),
        cmocka_unit_test(without_isolation_is_a_plain_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
