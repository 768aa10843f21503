#include "local/daemon_spawn.h"

#include "he2b.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* One argument of the kernel, without its NUL (wire H). */
    ARGUMENT_MAX = 131071,
};

/*
 * As envd does it: a shell that execs the program, so that an unknown one is exit 127 with a text,
 * and the pid is the program's. The program is preferred by the kernel when memory runs out.
 */
static const char launcher[] = "echo 100 2>/dev/null >/proc/self/oom_score_adj; exec \"$@\"";

struct texts {
    char **items;
    size_t count;
    size_t room;
};

static bool add_text(struct texts *texts, const char *text)
{
    if (texts->count + 1 >= texts->room) {
        size_t room = texts->room ? texts->room * 2 : 32;
        char **items = realloc(texts->items, room * sizeof(*items));

        if (!items)
            return false;
        texts->items = items;
        texts->room = room;
    }
    texts->items[texts->count] = strdup(text);
    if (!texts->items[texts->count])
        return false;
    texts->items[++texts->count] = NULL;
    return true;
}

static void free_texts(struct texts *texts)
{
    size_t i;

    for (i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    memset(texts, 0, sizeof(*texts));
}

/* NAME=value, in place of an earlier NAME. */
static bool set_env(struct texts *env, const char *name, const char *value)
{
    size_t len = strlen(name);
    char *pair = NULL;
    size_t i;
    bool added;

    if (!len || strchr(name, '=') || asprintf(&pair, "%s=%s", name, value) < 0)
        return true;
    for (i = 0; i < env->count; i++) {
        if (strncmp(env->items[i], name, len) == 0 && env->items[i][len] == '=') {
            free(env->items[i]);
            env->items[i] = pair;
            return true;
        }
    }
    added = add_text(env, pair);
    free(pair);
    return added;
}

static bool add_env(void *user, const char *key, const he2b_json *value)
{
    const char *text = he2b_json_string(value, NULL);

    return !text || set_env(user, key, text);
}

static bool make_env(struct texts *env, const struct spawn *spawn)
{
    const char *path = getenv("PATH");

    if (!set_env(env, "PATH",
                 path ? path : "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin") ||
        !set_env(env, "HOME", spawn->user.home) || !set_env(env, "USER", spawn->user.name) ||
        !set_env(env, "LOGNAME", spawn->user.name) || !set_env(env, "E2B_SANDBOX", "true") ||
        !set_env(env, "E2B_SANDBOX_ID", daemon_globals.sandbox_id) ||
        !set_env(env, "E2B_TEMPLATE_ID", daemon_globals.template_id))
        return false;
    he2b_json_each(daemon_globals.env_vars, add_env, env);
    he2b_json_each(he2b_json_get(spawn->config, "envs"), add_env, env);
    return true;
}

static bool make_argv(struct texts *argv, const struct spawn *spawn, const char **code, char *why,
                      size_t why_size)
{
    const he2b_json *args = he2b_json_get(spawn->config, "args");
    const char *cmd = he2b_json_get_string(spawn->config, "cmd");
    size_t i;

    *code = "invalid_argument";
    if (!cmd) {
        snprintf(why, why_size, "cmd is missing");
        return false;
    }
    if (!add_text(argv, "sh") || !add_text(argv, "-c") || !add_text(argv, launcher) ||
        !add_text(argv, "--") || !add_text(argv, cmd))
        return false;
    for (i = 0; i < he2b_json_array_size(args); i++) {
        const char *text = he2b_json_string(he2b_json_at(args, i), NULL);

        if (!text) {
            snprintf(why, why_size, "error starting process: invalid argument");
            return false;
        }
        if (strlen(text) > ARGUMENT_MAX) {
            snprintf(why, why_size,
                     "error starting process: fork/exec /bin/sh: argument list too long");
            return false;
        }
        if (!add_text(argv, text))
            return false;
    }
    return true;
}

/* ---- in the child ---- */

static void give_up(int report, int step)
{
    int words[2] = {errno, step};

    while (write(report, words, sizeof(words)) < 0 && errno == EINTR) {
    }
    _exit(127);
}

static void become(const struct daemon_user *user, int report)
{
    if (geteuid() != 0)
        return;
    if (geteuid() == user->uid && getegid() == user->gid && user->uid == 0) {
        (void)!setgroups(0, NULL);
        return;
    }
    if ((initgroups(user->name, user->gid) != 0 && setgroups(0, NULL) != 0) ||
        setresgid(user->gid, user->gid, user->gid) != 0 ||
        setresuid(user->uid, user->uid, user->uid) != 0)
        give_up(report, 1);
}

static void reset_signals(void)
{
    sigset_t none;
    int i;

    for (i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void run_child(const struct spawn *spawn, char **argv, char **env, const int fds[3],
                      int terminal, int report)
{
    int i;

    reset_signals();
    if (terminal >= 0) {
        setsid();
        (void)ioctl(terminal, TIOCSCTTY, 0);
        for (i = 0; i < 3; i++)
            dup2(terminal, i);
    } else {
        for (i = 0; i < 3; i++)
            dup2(fds[i], i);
    }
    become(&spawn->user, report);
    if (chdir(spawn->cwd) != 0)
        give_up(report, 2);
    umask(022);
    (void)setrlimit(RLIMIT_NOFILE, &daemon_globals.descriptors);
    execve("/bin/sh", argv, env);
    give_up(report, 3);
}

/* ---- in the parent ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool make_pipe(int *ret_read, int *ret_write, bool we_read)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    fcntl(we_read ? fds[0] : fds[1], F_SETFL, O_NONBLOCK);
    *ret_read = fds[0];
    *ret_write = fds[1];
    return true;
}

static bool make_descriptors(struct spawn *spawn, int fds[3], int *ret_terminal)
{
    if (spawn->pty) {
        struct winsize size = {.ws_col = (unsigned short)spawn->cols,
                               .ws_row = (unsigned short)spawn->rows};

        if (openpty(&spawn->terminal, ret_terminal, NULL, NULL, &size) != 0)
            return false;
        fcntl(spawn->terminal, F_SETFD, FD_CLOEXEC);
        fcntl(*ret_terminal, F_SETFD, FD_CLOEXEC);
        fcntl(spawn->terminal, F_SETFL, O_RDWR | O_NONBLOCK);
        (void)!fchown(*ret_terminal, spawn->user.uid, spawn->user.gid);
        return true;
    }
    if (spawn->stdin_open) {
        if (!make_pipe(&fds[0], &spawn->in, false))
            return false;
    } else {
        fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fds[0] < 0)
            return false;
    }
    return make_pipe(&spawn->out, &fds[1], true) && make_pipe(&spawn->err, &fds[2], true);
}

/* Waits for exec: nothing on the pipe means that it happened. */
static bool started(int report, int words[2])
{
    ssize_t n;

    do {
        n = read(report, words, 2 * sizeof(int));
    } while (n < 0 && errno == EINTR);
    return n != 2 * (ssize_t)sizeof(int);
}

static bool check_cwd(const struct spawn *spawn, char *why, size_t why_size)
{
    struct stat info;

    if (stat(spawn->cwd, &info) == 0)
        return true;
    if (errno != ENOENT && errno != ENOTDIR)
        return true; /* the spawn itself will say */
    snprintf(why, why_size, "cwd '%.512s' does not exist", spawn->cwd);
    return false;
}

int spawn_process(struct spawn *spawn, const char **ret_code, char *why, size_t why_size)
{
    struct texts argv = {0};
    struct texts env = {0};
    int fds[3] = {-1, -1, -1};
    int report[2] = {-1, -1};
    int terminal = -1;
    int words[2] = {0, 0};
    int result = -1;

    spawn->in = spawn->out = spawn->err = spawn->terminal = -1;
    snprintf(why, why_size, "error starting process: out of memory");
    *ret_code = "internal";
    if (!make_argv(&argv, spawn, ret_code, why, why_size))
        goto out;
    *ret_code = "invalid_argument";
    if (!check_cwd(spawn, why, why_size))
        goto out;
    *ret_code = "internal";
    if (!make_env(&env, spawn))
        goto out;
    if (pipe2(report, O_CLOEXEC) != 0 || !make_descriptors(spawn, fds, &terminal)) {
        snprintf(why, why_size, "error starting process: %s", strerror(errno));
        goto out;
    }
    spawn->pid = fork();
    if (spawn->pid < 0) {
        *ret_code = "resource_exhausted";
        snprintf(why, why_size, "error starting process: fork/exec /bin/sh: %s", strerror(errno));
        goto out;
    }
    if (spawn->pid == 0)
        run_child(spawn, argv.items, env.items, fds, terminal, report[1]);
    close_fd(&report[1]);
    if (started(report[0], words)) {
        result = 0;
    } else {
        *ret_code = "invalid_argument";
        snprintf(why, why_size, "error starting process: %s: %s",
                 words[1] == 2 ? spawn->cwd : "fork/exec /bin/sh", strerror(words[0]));
    }
out:
    free_texts(&argv);
    free_texts(&env);
    close_fd(&report[0]);
    close_fd(&report[1]);
    close_fd(&fds[0]);
    close_fd(&fds[1]);
    close_fd(&fds[2]);
    close_fd(&terminal);
    if (result != 0) {
        close_fd(&spawn->in);
        close_fd(&spawn->out);
        close_fd(&spawn->err);
        close_fd(&spawn->terminal);
    }
    return result;
}
