#include "tests/unit/session/shells.h"

#include "machines/marker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const struct he2b_tools all_tools = {.bash = true, .setsid = true, .sleep = true};
const struct he2b_tools only_sh = {.bash = false, .setsid = false, .sleep = true};

const char *shells_word = WORD;

void spawn(struct child *child, const struct he2b_wrapper *wrapper)
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

static void pass(void *user, const char *data, size_t len)
{
    struct output *output = user;

    assert_true(output->len + len < sizeof(output->bytes));
    memcpy(output->bytes + output->len, data, len);
    output->len += len;
    output->bytes[output->len] = '\0';
}

void collect(struct child *child, struct output *output)
{
    struct he2b_marker marker;
    char piece[4096];
    ssize_t n;

    output->len = 0;
    output->bytes[0] = '\0';
    he2b_marker_init(&marker, shells_word);
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

struct he2b_job job_of(const char *text, bool by_file)
{
    return (struct he2b_job){
        .text = text,
        .by_file = by_file,
        .word = shells_word,
        .record = "",
        .repeat_of = "",
        .settled = "",
    };
}

void boot_id(char out[64])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    assert_non_null(file);
    assert_non_null(fgets(out, 64, file));
    out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

void remove_tree(const char *path)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

int shells_each(int (*run)(const char *name, const char *folder))
{
    static const char *const shells[] = {"/bin/dash", "/bin/bash", "/bin/busybox"};
    char folder[] = "/tmp/he2b-sh.XXXXXX";
    const char *path = getenv("PATH");
    char link[64];
    char with_sh[4096];
    int failed = 0;
    size_t i;

    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(folder))
        return 1;
    snprintf(link, sizeof(link), "%s/sh", folder);
    snprintf(with_sh, sizeof(with_sh), "%s:%s", folder, path ? path : "/usr/bin:/bin");
    setenv("PATH", with_sh, 1);
    for (i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (access(shells[i], X_OK) != 0) {
            print_message("no %s here: its part is left out\n", shells[i]);
            continue;
        }
        if (symlink(shells[i], link) != 0)
            return 1;
        failed += run(shells[i], folder);
        unlink(link);
    }
    remove_tree(folder);
    return failed;
}
