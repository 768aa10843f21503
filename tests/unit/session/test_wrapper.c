/* The shell texts, run by each shell that is a template's sh somewhere (B-40 to B-46). */
#include "session/wrapper.h"

#include "tests/unit/session/shells.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PIDS_MAX = 8,
};

static void write_whole(const char *path, const void *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), (ssize_t)len);
    close(fd);
}

static char text_path[96];
static char programs[64]; /* the first folder in PATH */

static void bring_program(const char *name, const char *script)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/%s", programs, name);
    write_whole(path, script, strlen(script));
    assert_int_equal(chmod(path, 0755), 0);
}

static void remove_program(const char *name)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/%s", programs, name);
    assert_int_equal(unlink(path), 0);
}

/* Brings text to where the daemon brings it (B-46): with the byte that ends it, or without. */
static void bring_text(const char *text, bool whole)
{
    write_whole(text_path, text, strlen(text));
    if (whole) {
        int fd = open(text_path, O_WRONLY | O_APPEND | O_CLOEXEC);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, &(char){HE2B_WRAPPER_TEXT_END}, 1), 1);
        close(fd);
    }
}

static void run_with(struct output *output, const struct he2b_tools *tools, const char *text,
                     bool login, const char *input, size_t input_len)
{
    struct he2b_job job = job_of(text, false);
    struct he2b_wrapper wrapper;
    struct child child;

    job.login = login;
    job.stdin_len = input_len;
    he2b_wrapper_command(&wrapper, tools, &job);
    spawn(&child, &wrapper);
    if (input_len)
        (void)!write(child.in, input, input_len);
    collect(&child, output);
}

static void run_file_with(struct output *output, const struct he2b_tools *tools, bool login,
                          const char *input, size_t input_len)
{
    struct he2b_job job = job_of(text_path, true);
    struct he2b_wrapper wrapper;
    struct child child;

    job.login = login;
    job.stdin_len = input_len;
    he2b_wrapper_command(&wrapper, tools, &job);
    spawn(&child, &wrapper);
    if (input_len)
        (void)!write(child.in, input, input_len);
    collect(&child, output);
    /* whatever became of it */
    assert_int_equal(access(text_path, F_OK), -1);
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

/* B-41: a signal to its own process group, as scripts send to end their children, is not the
 * wrapper's end. */
static void test_signal_to_the_group(void **state)
{
    static const char text[] = "trap '' HUP INT QUIT TERM USR1; kill -HUP 0; kill -INT 0; "
                               "kill -QUIT 0; kill -USR1 0; kill -TERM 0; echo still; exit 3";
    const struct he2b_tools no_bash = {.setsid = true, .sleep = true};
    const struct he2b_tools *const tools[] = {&all_tools, &no_bash};
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++) {
        run_with(&output, tools[i % 2], text, false, "input", i < 2 ? 0 : 5);
        assert_string_equal(output.bytes, "still\n");
        assert_int_equal(output.code, 3);
    }
    /* and what it does to the command itself is as ever */
    for (i = 0; i < 2; i++) {
        run(&output, tools[i], "kill -TERM 0; sleep 60");
        assert_int_equal(output.code, 143);
        run(&output, tools[i], "sh -c 'kill -USR1 0; sleep 60'; sleep 60");
        assert_int_equal(output.code, 128 + SIGUSR1);
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

static void test_child_holds_the_output(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        bring_text("sleep 60 & echo $!; exec 3<&0; exit 2", true);
        run_file_with(&output, tools[i], false, NULL, 0);
        assert_int_equal(output.code, 2);
        assert_int_equal(kill(atoi(output.bytes), SIGKILL), 0);
        run(&output, tools[i], "(trap '' HUP TERM; exec sleep 60) & echo $!; exec true");
        assert_int_equal(output.code, 0);
        assert_int_equal(kill(atoi(output.bytes), SIGKILL), 0);
    }
}

/* ---- texts that are hard on a wrapper, by argument and by file (B-46) ---- */

struct hard {
    const char *text;
    const char *output; /* NULL: what a shell says of it */
    int code;
};

static const struct hard hard_texts[] = {
    {"", "", 0},
    {"#", "", 0},
    {"echo \"$# $@|$?\"", "0 |0\n", 0},
    {"cat <<EOF\na $((1 + 1))\n\n\n", NULL, 0},
    {"cat <<'EOF' 2>&1; exit 4\n'$1\" }\nEOF\n", "'$1\" }\n", 4},
    {"echo a; echo 'b", NULL, 2},
    {"echo a\n)", NULL, 2},
    {"echo a\n} ; exit 3", NULL, 2},
    {"exit 3 # }; exit 4", "", 3},
    {"exec sh -c 'echo a; exit 5'", "a\n", 5},
    {"exec >&- 2>&-; exit 6", "", 6},
    {"exec 9>&1; echo a >&9; exit 7", "a\n", 7},
    {"trap 'echo bye; exit 8' EXIT; exit 1", "bye\n", 8},
    {"trap 'echo bye' EXIT; false", "bye\n", 1},
    {"trap 'echo term; exit 9' TERM; kill -TERM $$; sleep 60", "term\n", 9},
    {"echo a; kill -9 $$", "a\n", 137},
    {"kill -TERM $$; sleep 60", "", 143},
    {"set -e; false; echo b", "", 1},
    {"set -u; unset PATH; exit 3", "", 3},
    {"set -- a b; shift; echo \"$1 $#\"", "b 1\n", 0},
    {"echo a\\\n", "a\n", 0},
    {"printf '\\001he2b-'", "\001he2b-", 0},
    {"printf '\\001he2b-0123456789abcdef:'", "\001he2b-0123456789abcdef:", 0},
    {"printf '\\001he2b-0123456789abcdeX:0\\002'; exit 2", "\001he2b-0123456789abcdeX:0\002", 2},
    {"printf '\\001\\001he2b-\\002'; exit 2", "\001\001he2b-\002", 2},
    {"echo \"\xff\x81\x88\"", "\xff\x81\x88\n", 0},
};

static void check_hard(const struct output *output, const struct hard *hard, const char *how)
{
    if (output->code != hard->code || !WIFEXITED(output->status) ||
        WEXITSTATUS(output->status) != hard->code ||
        (hard->output && strcmp(output->bytes, hard->output) != 0))
        fail_msg("%s, %s: code %d, not %d; output: %s", hard->text, how, output->code, hard->code,
                 output->bytes);
}

static void test_hard_texts(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct output by_argument;
    struct output by_file;
    size_t i;
    size_t k;

    (void)state;
    for (i = 0; i < 2; i++) {
        for (k = 0; k < sizeof(hard_texts) / sizeof(hard_texts[0]); k++) {
            const char *text = hard_texts[k].text;

            run(&by_argument, tools[i], text);
            check_hard(&by_argument, &hard_texts[k], "by argument");
            bring_text(text, true);
            run_file_with(&by_file, tools[i], false, NULL, 0);
            check_hard(&by_file, &hard_texts[k], "by file");
            /* with stdin, which stays the text's */
            bring_text(text, true);
            run_file_with(&by_file, tools[i], false, "input", 5);
            check_hard(&by_file, &hard_texts[k], "by file, with stdin");
        }
    }
}

/* A here-document that is left open ends with the text, all its newlines included. */
static void test_open_here_document(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    static const char text[] = "{ cat; echo .; } 2>/dev/null <<EOF\na\n\n\n";
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        run(&output, tools[i], text);
        assert_non_null(strstr(output.bytes, "a\n\n\n.\n"));
        bring_text(text, true);
        run_file_with(&output, tools[i], false, NULL, 0);
        assert_non_null(strstr(output.bytes, "a\n\n\n.\n"));
    }
}

/* A shell's complaint names the text's own line, and the text where a shell shows it. */
static void test_complaints(void **state)
{
    static const char *const texts[] = {"echo a\necho 'b", "echo a\necho ( b", "echo ( b"};
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct output by_argument;
    struct output by_file;
    size_t i;
    size_t k;

    (void)state;
    for (i = 0; i < 2; i++) {
        for (k = 0; k < 3; k++) {
            char *at;

            run(&by_argument, tools[i], texts[k]);
            bring_text(texts[k], true);
            run_file_with(&by_file, tools[i], false, NULL, 0);
            assert_int_equal(by_file.code, by_argument.code);
            assert_int_not_equal(by_file.code, 0);
            /* bash with its name, which is all that differs */
            if (i == 1)
                continue;
            while ((at = strstr(by_file.bytes, "bash: eval: "))) {
                memmove(at + 8, at + 10, strlen(at + 10) + 1);
                memcpy(at + 6, "-c", 2);
            }
            assert_string_equal(by_file.bytes, by_argument.bytes);
            assert_null(strstr(by_file.bytes, "shift"));
        }
    }
}

/* What is not whole, or not there, does not run. */
static void test_text_that_is_lost(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        bring_text("echo executed", false);
        run_file_with(&output, tools[i], false, NULL, 0);
        assert_int_equal(output.code, 126);
        assert_null(strstr(output.bytes, "executed"));
        assert_non_null(strstr(output.bytes, "lost"));
        run_file_with(&output, tools[i], false, NULL, 0);
        assert_int_equal(output.code, 126);
        assert_non_null(strstr(output.bytes, "lost"));
    }
}

/* Nothing of the way is left for the text to see; stdin is its own. */
static void test_text_by_file_leaves_nothing(void **state)
{
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        bring_text("ls /proc/self/fd | wc -l; cat; set | grep -c '^hermes'; exit 3", true);
        run_file_with(&output, tools[i], false, "in\n", 3);
        assert_string_equal(output.bytes, "4\nin\n0\n");
        assert_int_equal(output.code, 3);
    }
    bring_text("echo $0; shopt -q login_shell; echo $?; declare -F", true);
    run_file_with(&output, &all_tools, true, NULL, 0);
    assert_non_null(strstr(output.bytes, "bash\n0\n"));
    bring_text("echo $0", true);
    run_file_with(&output, &only_sh, true, NULL, 0);
    assert_non_null(strstr(output.bytes, "sh\n"));
}

/* A file whose Start never came goes with the next one, a day later; a younger one may be wanted.
 */
static void test_old_texts_go(void **state)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - 2 * 86400}, {0}};
    char old[128];
    char young[128];
    struct output output;

    (void)state;
    times[1] = times[0];
    snprintf(old, sizeof(old), "%s.old", text_path);
    snprintf(young, sizeof(young), "%s.young", text_path);
    write_whole(old, "x", 1);
    write_whole(young, "x", 1);
    assert_int_equal(utimensat(AT_FDCWD, old, times, 0), 0);
    bring_text("exit 3", true);
    run_file_with(&output, &all_tools, false, NULL, 0);
    assert_int_equal(output.code, 3);
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(unlink(young), 0);
}

/* All that the sandbox shows of the wrapper, printed: no marker is in it, and the rest comes. */
static void test_printed_arguments(void **state)
{
    static const char *const texts[] = {
        "ps auxeww; echo; echo last; exit 5",
        "ps -ef; echo; echo last; exit 5",
        "cat /proc/$PPID/cmdline /proc/$$/cmdline /proc/$PPID/environ; echo; echo last; exit 5",
        "for f in /proc/[0-9]*/cmdline; do case $(tr '\\0' ' ' <$f) in *hermes-e2b*) cat $f;; "
        "esac; "
        "done 2>/dev/null; echo; echo last; exit 5",
    };
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    static struct output output;
    size_t i;
    size_t k;

    (void)state;
    for (i = 0; i < 2; i++) {
        for (k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            run(&output, tools[i], texts[k]);
            assert_int_equal(output.code, 5);
            assert_true(output.len >= 6);
            assert_string_equal(output.bytes + output.len - 6, "\nlast\n");
            assert_null(memchr(output.bytes, 2, output.len));
            bring_text(texts[k], true);
            run_file_with(&output, tools[i], false, NULL, 0);
            assert_int_equal(output.code, 5);
            assert_true(output.len >= 6);
            assert_string_equal(output.bytes + output.len - 6, "\nlast\n");
            assert_null(memchr(output.bytes, 2, output.len));
        }
    }
}

/* ---- kill ---- */

static void ended_by_signal(pid_t pid)
{
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int status;

    assert_int_equal(poll(&ended, 1, DEADLINE_MS), 1);
    close(ended.fd);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

/* Runs text, which prints pids and a line "go", then ends it; all of the pids are gone after. */
static void kill_whole(const struct he2b_tools *tools, const char *text)
{
    struct he2b_job job = job_of(text, false);
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

    he2b_wrapper_command(&wrapper, tools, &job);
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
    he2b_wrapper_kill(&wrapper, tools, child.pid, WORD);
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
    struct he2b_job job = job_of("exit 0", false);
    struct he2b_wrapper wrapper;
    struct output output;
    struct child child;
    struct child killer;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        he2b_wrapper_command(&wrapper, tools[i], &job);
        spawn(&child, &wrapper);
        collect(&child, &output);
        he2b_wrapper_kill(&wrapper, tools[i], child.pid, WORD);
        spawn(&killer, &wrapper);
        collect(&killer, &output);
        assert_string_equal(output.bytes, "");
        assert_int_equal(output.status, 0);
    }
}

/* B-43: it was told of before it leads a group; that is slow where many start at once. */
static void test_kill_before_setsid(void **state)
{
    struct he2b_job job = job_of("echo ran", false);
    struct he2b_wrapper wrapper;
    struct output output;
    struct child child;
    struct child killer;

    (void)state;
    /* one that waits for ever */
    bring_program("setsid", "#!/bin/sh\nread -r go\n");
    he2b_wrapper_command(&wrapper, &all_tools, &job);
    spawn(&child, &wrapper);
    he2b_wrapper_kill(&wrapper, &all_tools, child.pid, WORD);
    spawn(&killer, &wrapper);
    collect(&killer, &output);
    remove_program("setsid");
    /* its input stays open, so that nothing but the kill ends it */
    ended_by_signal(child.pid);
    close(child.in);
    close(child.out);
}

/* B-43: a pid is another's when the command is gone, after a boot for instance. */
static void test_kill_spares_others(void **state)
{
    static const struct he2b_wrapper other = {
        .cmd = "setsid", .args = {"sh", "-c", "echo $$; read -r go; echo $go"}};
    const struct he2b_tools *const tools[] = {&all_tools, &only_sh};
    struct he2b_wrapper wrapper;
    struct output output;
    struct child child;
    struct child killer;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        char line[16];

        spawn(&child, &other);
        assert_true(read(child.out, line, sizeof(line)) > 0);
        he2b_wrapper_kill(&wrapper, tools[i], child.pid, WORD);
        spawn(&killer, &wrapper);
        collect(&killer, &output);
        assert_int_equal(output.status, 0);
        assert_int_equal(write(child.in, "alive\n", 6), 6);
        collect(&child, &output);
        assert_string_equal(output.bytes, "alive\n");
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
    char boot[64];
    char tools[384];
    char expected[512];
    struct output output;

    (void)state;
    setenv("HOME", "/", 1);
    assert_non_null(mkdtemp(folder));
    unsetenv("XDG_RUNTIME_DIR");
    probe(&output, folder);
    boot_id(boot);
    snprintf(tools, sizeof(tools),
             "tool bash\ntool setsid\ntool sleep\nfolder /tmp/.hermes-e2b-%u\nboot %s\n"
             "records /tmp/.hermes-e2b-%u/%s\nhome /\n",
             (unsigned)getuid(), boot, (unsigned)getuid(), boot);
    snprintf(expected, sizeof(expected), "%swanted\ncwd %s\n", tools, folder);
    assert_string_equal(output.bytes, expected);
    assert_int_equal(rmdir(folder), 0);
    strcat(tools, "cwd /\n");
    probe(&output, folder);
    assert_string_equal(output.bytes, tools);
    probe(&output, "");
    assert_string_equal(output.bytes, tools);
}

/* B-46: nobody else reads a text, and a folder of that name that is not ours is not used. */
static void test_folder(void **state)
{
    char home[] = "/tmp/he2b-wrapper.XXXXXX";
    char folder[64];
    char line[128];
    struct output output;
    struct stat status;

    (void)state;
    assert_non_null(mkdtemp(home));
    snprintf(folder, sizeof(folder), "%s/.hermes-e2b-%u", home, (unsigned)getuid());
    snprintf(line, sizeof(line), "folder %s\n", folder);
    setenv("XDG_RUNTIME_DIR", home, 1);
    probe(&output, "");
    assert_non_null(strstr(output.bytes, line));
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    /* there already, and open to others */
    assert_int_equal(chmod(folder, 0755), 0);
    probe(&output, "");
    assert_non_null(strstr(output.bytes, line));
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    remove_tree(folder);
    /* a link leads to somebody else's */
    assert_int_equal(symlink(home, folder), 0);
    probe(&output, "");
    assert_null(strstr(output.bytes, line));
    assert_non_null(strstr(output.bytes, "folder /tmp/.hermes-e2b-"));
    assert_int_equal(unlink(folder), 0);
    /* a name that an URL could not carry as it is */
    setenv("XDG_RUNTIME_DIR", "/tmp/a b", 1);
    probe(&output, "");
    assert_non_null(strstr(output.bytes, "folder /tmp/.hermes-e2b-"));
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(rmdir(home), 0);
}

/* ---- with each shell as sh ---- */

static int test_with(const char *name, const char *folder)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_code),
        cmocka_unit_test(test_death_by_signal),
        cmocka_unit_test(test_text_is_data),
        cmocka_unit_test(test_marker_is_not_in_the_arguments),
        cmocka_unit_test(test_own_session_and_group),
        cmocka_unit_test(test_login_shell),
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_signal_to_the_group),
        cmocka_unit_test(test_child_in_the_background),
        cmocka_unit_test(test_child_holds_the_output),
        cmocka_unit_test(test_hard_texts),
        cmocka_unit_test(test_open_here_document),
        cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_text_that_is_lost),
        cmocka_unit_test(test_text_by_file_leaves_nothing),
        cmocka_unit_test(test_old_texts_go),
        cmocka_unit_test(test_printed_arguments),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_kill_without_setsid),
        cmocka_unit_test(test_kill_of_nothing),
        cmocka_unit_test(test_kill_before_setsid),
        cmocka_unit_test(test_kill_spares_others),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_folder),
    };

    snprintf(text_path, sizeof(text_path), "%s/text.%s", folder, WORD);
    snprintf(programs, sizeof(programs), "%s", folder);
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return shells_each(test_with);
}
