/* The shell texts, run by the shells of this machine (B-40 to B-45). */
#include "session/wrapper.h"

#include "machines/marker.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORD "0123456789abcdef"

enum {
    OUTPUT_MAX = 65536,
    DEADLINE_MS = 20000,
    PIDS_MAX = 8,
};

static const struct he2b_tools all_tools = {.bash = true, .setsid = true};
static const struct he2b_tools only_sh = {.bash = false, .setsid = false};

/* A started wrapper: its stdout and stderr as one pipe, as the daemon's two channels arrive. */
struct child {
    pid_t pid;
    int in;
    int out;
};

static void spawn(struct child *child, const struct he2b_wrapper *wrapper)
{
    const char *argv[HE2B_WRAPPER_ARGS + 1];
    int in[2];
    int out[2];
    size_t i;

    argv[0] = wrapper->cmd;
    for (i = 0; wrapper->args[i]; i++)
        argv[i + 1] = wrapper->args[i];
    argv[i + 1] = NULL;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    child->pid = fork();
    assert_true(child->pid >= 0);
    if (child->pid == 0) {
        union {
            const char **in;
            char **out;
        } cast = {.in = argv};

        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(out[1], 2);
        close_range(3, ~0U, 0);
        execvp(wrapper->cmd, cast.out);
        _exit(126);
    }
    close(in[0]);
    close(out[1]);
    child->in = in[1];
    child->out = out[0];
}

struct output {
    char bytes[OUTPUT_MAX];
    size_t len;
    int code; /* of the marker; -1: none */
    int status;
};

static void pass(void *user, const char *data, size_t len)
{
    struct output *output = user;

    assert_true(output->len + len < sizeof(output->bytes));
    memcpy(output->bytes + output->len, data, len);
    output->len += len;
    output->bytes[output->len] = '\0';
}

/* Reads until the marker, then leaves the rest to nobody. */
static void collect(struct child *child, struct output *output)
{
    struct he2b_marker marker;
    char piece[4096];
    ssize_t n;

    output->len = 0;
    output->bytes[0] = '\0';
    he2b_marker_init(&marker, WORD);
    while (!marker.found) {
        struct pollfd ready = {.fd = child->out, .events = POLLIN};

        assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
        n = read(child->out, piece, sizeof(piece));
        assert_true(n >= 0);
        if (n == 0)
            break;
        he2b_marker_scan(&marker, piece, (size_t)n, pass, output);
    }
    if (!marker.found)
        he2b_marker_flush(&marker, pass, output);
    output->code = marker.found ? marker.code : -1;
    if (child->in >= 0)
        close(child->in);
    close(child->out);
    assert_int_equal(waitpid(child->pid, &output->status, 0), child->pid);
}

static void run_with(struct output *output, const struct he2b_tools *tools, const char *text,
                     bool login, const char *input, size_t input_len)
{
    struct he2b_wrapper wrapper;
    struct child child;

    he2b_wrapper_command(&wrapper, tools, text, WORD, login, input_len);
    spawn(&child, &wrapper);
    if (input_len)
        (void)!write(child.in, input, input_len);
    collect(&child, output);
}

static void run(struct output *output, const struct he2b_tools *tools, const char *text)
{
    run_with(output, tools, text, false, NULL, 0);
}

/* B-40: one stream, in true order; B-41: the command's own code, twice told. */
static void test_output_and_code(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        run(&output, tools[i], "echo out; echo err >&2; echo out; exit 7");
        assert_string_equal(output.bytes, "out\nerr\nout\n");
        assert_int_equal(output.code, 7);
        assert_true(WIFEXITED(output.status) && WEXITSTATUS(output.status) == 7);
        run(&output, tools[i], ":");
        assert_string_equal(output.bytes, "");
        assert_int_equal(output.code, 0);
    }
}

/* A shell's word for a child that died by a signal is no output of the command. */
static void test_death_by_signal(void **state)
{
    struct output output;

    (void)state;
    run(&output, &all_tools, "echo last; kill -9 $$");
    assert_string_equal(output.bytes, "last\n");
    assert_int_equal(output.code, 137);
    run(&output, &all_tools, "ulimit -c 0; kill -SEGV $$");
    assert_string_equal(output.bytes, "");
    assert_int_equal(output.code, 139);
}

/* The text is an argument, never a piece of a script. */
static void test_text_is_data(void **state)
{
    struct output output;

    (void)state;
    run(&output, &all_tools, "printf '%s|' \"a'b\" 'c\"d' '$e' '`f`' '\\g'; echo \"$0 $#\"");
    assert_string_equal(output.bytes, "a'b|c\"d|$e|`f`|\\g|bash 0\n");
    run(&output, &all_tools, "exit 3 # }; exit 4");
    assert_int_equal(output.code, 3);
    run(&output, &all_tools, "cat <<EOF\n$((1 + 1))\nEOF");
    assert_string_equal(output.bytes, "2\n");
    run(&output, &all_tools, "echo 'unfinished");
    assert_int_equal(output.code, 2);
    run(&output, &all_tools, "exec 1>&- 2>&-; exit 5");
    assert_int_equal(output.code, 5);
}

/* The printed marker is no part of what "ps" shows. */
static void test_marker_is_not_in_the_arguments(void **state)
{
    struct output output;

    (void)state;
    run(&output, &all_tools, "tr '\\0' '\\n' < /proc/$PPID/cmdline");
    assert_int_equal(output.code, 0);
    assert_non_null(strstr(output.bytes, WORD));
    assert_null(memchr(output.bytes, 1, output.len));
}

static void test_own_session_and_group(void **state)
{
    struct output output;

    (void)state;
    run(&output, &all_tools,
        "read -r l < /proc/$$/stat; set -- ${l##*) }; [ $2 = $3 ] && [ $3 = $4 ] && [ $3 = $PPID "
        "]");
    assert_int_equal(output.code, 0);
    /* nothing is inherited but the three */
    run(&output, &all_tools, "ls /proc/self/fd | wc -l");
    assert_string_equal(output.bytes, "4\n");
}

static void test_login_shell(void **state)
{
    struct output output;

    (void)state;
    run_with(&output, &all_tools, "shopt -q login_shell; echo $?", true, NULL, 0);
    assert_string_equal(output.bytes, "0\n");
    run_with(&output, &all_tools, "shopt -q login_shell; echo $?", false, NULL, 0);
    assert_string_equal(output.bytes, "1\n");
}

/* B-45: exactly these bytes, then the end, though the channel stays open. */
static void test_input(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct output output;
    char input[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(input); i++)
        input[i] = (char)i;
    for (i = 0; i < 2; i++) {
        run_with(&output, tools[i], "cat", false, input, sizeof(input));
        assert_int_equal(output.len, 256);
        assert_memory_equal(output.bytes, input, sizeof(input));
        assert_int_equal(output.code, 0);
        /* one that does not read it ends all the same */
        run_with(&output, tools[i], "exit 6", false, input, 10);
        assert_int_equal(output.code, 6);
    }
}

/* B-42: the marker comes although a child holds the output. */
static void test_child_in_the_background(void **state)
{
    struct output output;

    (void)state;
    run(&output, &all_tools, "sleep 30 & echo $!; exit 2");
    assert_int_equal(output.code, 2);
    assert_int_equal(kill(atoi(output.bytes), SIGKILL), 0);
}

/* ---- kill ---- */

/* Runs text, which prints pids and a line "go", then ends it; all of the pids are gone after. */
static void kill_whole(const struct he2b_tools *tools, const char *text)
{
    struct he2b_wrapper wrapper;
    struct child child;
    struct child killer;
    struct output output;
    char line[256] = "";
    size_t len = 0;
    char *at;
    struct pollfd ended[PIDS_MAX];
    nfds_t count = 0;
    int status;
    int pid;
    nfds_t i;

    he2b_wrapper_command(&wrapper, tools, text, WORD, false, 0);
    spawn(&child, &wrapper);
    while (!strstr(line, "go\n")) {
        ssize_t n = read(child.out, line + len, sizeof(line) - 1 - len);

        assert_true(n > 0);
        len += (size_t)n;
        line[len] = '\0';
    }
    for (at = line; sscanf(at, "%d", &pid) == 1; at += strcspn(at, "\n") + 1) {
        assert_true(count < PIDS_MAX);
        ended[count].fd = (int)syscall(SYS_pidfd_open, pid, 0);
        ended[count].events = POLLIN;
        assert_true(ended[count++].fd >= 0);
    }
    he2b_wrapper_kill(&wrapper, tools, child.pid);
    spawn(&killer, &wrapper);
    collect(&killer, &output);
    assert_string_equal(output.bytes, "");
    assert_int_equal(output.status, 0);
    assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    close(child.in);
    close(child.out);
    for (i = 0; i < count; i++) {
        assert_int_equal(poll(&ended[i], 1, DEADLINE_MS), 1);
        close(ended[i].fd);
    }
}

/* B-43: the whole group, TERM and then KILL. */
static void test_kill(void **state)
{
    (void)state;
    kill_whole(&all_tools, "sleep 60 & echo $!; (sleep 60 & echo $!); echo go; wait; sleep 60");
    kill_whole(&all_tools, "trap '' TERM; sleep 60 & echo $!; echo $$; echo go; "
                           "while :; do sleep 60; done");
}

/* Without setsid: what descends from it. */
static void test_kill_without_setsid(void **state)
{
    (void)state;
    kill_whole(&only_sh, "sleep 60 & echo $!; (sleep 60 & echo $!; wait) & echo go; wait");
    kill_whole(&only_sh, "trap '' TERM; sleep 60 & echo $!; echo $$; echo go; "
                         "while :; do sleep 60; done");
}

/* One that has ended already is fine. */
static void test_kill_of_nothing(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct he2b_wrapper wrapper;
    struct output output;
    struct child child;
    struct child killer;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        he2b_wrapper_command(&wrapper, tools[i], "exit 0", WORD, false, 0);
        spawn(&child, &wrapper);
        collect(&child, &output);
        he2b_wrapper_kill(&wrapper, tools[i], child.pid);
        spawn(&killer, &wrapper);
        collect(&killer, &output);
        assert_string_equal(output.bytes, "");
        assert_int_equal(output.status, 0);
    }
}

/* ---- probe ---- */

static void probe_stamp(struct output *output, const char *cwd, const char *what,
                        const char *sandbox_id, const char *stamp)
{
    struct he2b_wrapper wrapper;
    struct child child;

    he2b_wrapper_probe(&wrapper, cwd, what, sandbox_id, stamp);
    spawn(&child, &wrapper);
    collect(&child, output);
}

static void probe(struct output *output, const char *cwd)
{
    probe_stamp(output, cwd, "look", "", "");
}

/* B-28 */
static void test_probe(void **state)
{
    char folder[] = "/tmp/he2b wrapper.XXXXXX";
    char tools[128];
    char expected[256];
    struct output output;

    (void)state;
    setenv("HOME", "/", 1);
    assert_non_null(mkdtemp(folder));
    probe(&output, folder);
    unsetenv("XDG_RUNTIME_DIR");
    snprintf(tools, sizeof(tools), "tool bash\ntool setsid\nfolder /tmp/.hermes-e2b-%u\nhome /\n",
             (unsigned)getuid());
    snprintf(expected, sizeof(expected), "%swanted\ncwd %s\n", tools, folder);
    assert_string_equal(output.bytes, expected);
    assert_int_equal(rmdir(folder), 0);
    strcat(tools, "cwd /\n");
    probe(&output, folder);
    assert_string_equal(output.bytes, tools);
    probe(&output, "");
    assert_string_equal(output.bytes, tools);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_code),
        cmocka_unit_test(test_death_by_signal),
        cmocka_unit_test(test_text_is_data),
        cmocka_unit_test(test_marker_is_not_in_the_arguments),
        cmocka_unit_test(test_own_session_and_group),
        cmocka_unit_test(test_login_shell),
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_child_in_the_background),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_kill_without_setsid),
        cmocka_unit_test(test_kill_of_nothing),
        cmocka_unit_test(test_probe),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
