#include "local/daemon_process.h"

#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_end.h"
#include "local/daemon_reader.h"
#include "local/daemon_spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* Bytes of one event (wire C.9). */
    READ_SIZE = READER_OUTPUT_MAX,
    READ_SIZE_PTY = 16 * 1024,
    /* How long an end is kept (wire C.9). */
    RETAIN_S = 30,
    /* Ends that are kept; the oldest goes first. Guards the memory. */
    RETAIN_MAX = 8192,
};

struct process_list process_live = TAILQ_HEAD_INITIALIZER(process_live);
static struct process_list retained = TAILQ_HEAD_INITIALIZER(retained);
static size_t retained_count;

/* ---- output ---- */

static bool outputs_open(const struct process *process)
{
    int i;

    for (i = 0; i < PROCESS_OUTPUTS; i++) {
        if (process->outputs[i].fd >= 0)
            return true;
    }
    return false;
}

static void close_output(struct output *output)
{
    if (output->readable)
        event_free(output->readable);
    output->readable = NULL;
    if (output->fd >= 0)
        close(output->fd);
    output->fd = -1;
}

/* With no reader at all, output is read and dropped (wire C.9). */
void process_watch(struct process *process)
{
    bool behind = reader_behind(process);
    int i;

    if (behind == process->stopped)
        return;
    process->stopped = behind;
    for (i = 0; i < PROCESS_OUTPUTS; i++) {
        if (!process->outputs[i].readable)
            continue;
        if (behind)
            event_del(process->outputs[i].readable);
        else
            event_add(process->outputs[i].readable, NULL);
    }
}

static void pass_on(const struct output *output, const char *data, size_t len)
{
    static const char *const names[PROCESS_OUTPUTS] = {"stdout", "stderr", "pty"};
    struct process *process = output->process;

    if (TAILQ_EMPTY(&process->readers))
        return;
    reader_output(process, names[output->which], data, len);
    process_watch(process);
}

static void maybe_end(struct process *process);

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    static char data[READ_SIZE];
    struct output *output = arg;
    ssize_t n = read(fd, data, output->which == PROCESS_PTY ? READ_SIZE_PTY : READ_SIZE);

    (void)what;
    if (n > 0) {
        pass_on(output, data, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        /* a terminal whose other side is closed answers EIO */
        close_output(output);
        maybe_end(output->process);
    }
}

/* ---- ends ---- */

static void process_free(struct process *process)
{
    int i;

    reader_cut_all(process);
    input_done(&process->input);
    for (i = 0; i < PROCESS_OUTPUTS; i++)
        close_output(&process->outputs[i]);
    if (process->kill_timer)
        event_free(process->kill_timer);
    if (process->retain)
        event_free(process->retain);
    he2b_json_del(process->config);
    free(process->tag);
    free(process->end);
    free(process);
}

static void forget(struct process *process)
{
    TAILQ_REMOVE(&retained, process, link);
    retained_count--;
    process_free(process);
}

static void on_retained(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    forget(arg);
}

static void retain(struct process *process)
{
    static const struct timeval time = {.tv_sec = RETAIN_S};

    TAILQ_REMOVE(&process_live, process, link);
    TAILQ_INSERT_TAIL(&retained, process, link);
    retained_count++;
    he2b_json_del(process->config);
    process->config = NULL;
    process->retain = event_new(daemon_globals.base, -1, 0, on_retained, process);
    if (!process->retain || event_add(process->retain, &time) != 0)
        forget(process);
    else if (retained_count > RETAIN_MAX)
        forget(TAILQ_FIRST(&retained));
}

/* The end comes when all outputs are at theirs, or right after a signal of ours (wire C.9). */
static void maybe_end(struct process *process)
{
    int i;

    if (!process->reaped || (outputs_open(process) && !process->signalled))
        return;
    for (i = 0; i < PROCESS_OUTPUTS; i++)
        close_output(&process->outputs[i]);
    input_shut(&process->input);
    if (process->kill_timer)
        event_del(process->kill_timer);
    process->end = daemon_end_message(process->status);
    reader_end_all(process);
    retain(process);
}

static void on_children(evutil_socket_t fd, short what, void *arg)
{
    struct process *process;
    int status;
    pid_t pid;

    (void)fd;
    (void)what;
    (void)arg;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        TAILQ_FOREACH(process, &process_live, link)
        {
            if (process->pid == pid && !process->reaped)
                break;
        }
        /* others are adopted orphans, and helpers of this daemon */
        if (process) {
            process->reaped = true;
            process->status = status;
            maybe_end(process);
        }
    }
}

bool process_init(void)
{
    struct event *event = evsignal_new(daemon_globals.base, SIGCHLD, on_children, NULL);

    return event && event_add(event, NULL) == 0;
}

void process_signal(struct process *process, int signum)
{
    process->signalled = true;
    if (!process->reaped)
        kill(process->pid, signum);
    maybe_end(process);
}

static void on_kill_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    process_signal(arg, SIGKILL);
}

void process_kill_after(struct process *process, int64_t ms)
{
    struct timeval time;

    /* later than the deadline of the stream, which is to tell of the time and not of the kill */
    ms++;
    time.tv_sec = ms / 1000;
    time.tv_usec = ms % 1000 * 1000;
    process->kill_timer = event_new(daemon_globals.base, -1, 0, on_kill_timer, process);
    if (process->kill_timer)
        event_add(process->kill_timer, &time);
}

/* ---- the table ---- */

/* A pid that comes again: the end that was kept for it belongs to another. */
static void forget_pid(pid_t pid)
{
    struct process *process;

    TAILQ_FOREACH(process, &retained, link)
    {
        if (process->pid == pid) {
            forget(process);
            return;
        }
    }
}

static bool open_output(struct process *process, enum process_output which, int fd)
{
    struct output *output = &process->outputs[which];

    output->process = process;
    output->which = which;
    output->fd = fd;
    if (fd < 0)
        return true;
    output->readable = event_new(daemon_globals.base, fd, EV_READ | EV_PERSIST, on_output, output);
    return output->readable && event_add(output->readable, NULL) == 0;
}

/* What List shows: known members of the request alone. */
static he2b_json *make_config(const he2b_json *asked)
{
    static const char *const keys[] = {"cmd", "args", "envs", "cwd"};
    he2b_json *config = he2b_json_new_object();
    size_t i;

    for (i = 0; config && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const he2b_json *member = he2b_json_get(asked, keys[i]);

        if (member && he2b_json_add(config, keys[i], he2b_json_copy(member)) != HE2B_OK) {
            he2b_json_del(config);
            config = NULL;
        }
    }
    return config;
}

struct process *process_new(const struct spawn *spawn, const he2b_json *request)
{
    const char *tag = he2b_json_get_string(request, "tag");
    struct process *process = calloc(1, sizeof(*process));
    bool good = process != NULL;
    int i;

    if (!process) {
        int fds[] = {spawn->in, spawn->out, spawn->err, spawn->terminal};

        for (i = 0; i < 4; i++) {
            if (fds[i] >= 0)
                close(fds[i]);
        }
        kill(spawn->pid, SIGKILL);
        return NULL;
    }
    forget_pid(spawn->pid);
    TAILQ_INIT(&process->readers);
    process->pid = spawn->pid;
    good = open_output(process, PROCESS_STDOUT, spawn->out) && good;
    good = open_output(process, PROCESS_STDERR, spawn->err) && good;
    good = open_output(process, PROCESS_PTY, spawn->terminal) && good;
    good = input_init(&process->input, spawn->in, spawn->terminal) && good;
    process->config = make_config(spawn->config);
    process->tag = tag ? strdup(tag) : NULL;
    if (!good || !process->config || (tag && !process->tag)) {
        kill(process->pid, SIGKILL);
        process_free(process);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&process_live, process, link);
    return process;
}

static struct process *find(struct process_list *list, int64_t pid, const char *tag)
{
    struct process *process;

    TAILQ_FOREACH(process, list, link)
    {
        if (tag ? process->tag && strcmp(process->tag, tag) == 0 : process->pid == pid)
            return process;
    }
    return NULL;
}

struct process *process_select(const he2b_json *selector, bool ended, const char **ret_code,
                               char *why, size_t why_size)
{
    const char *tag = he2b_json_get_string(selector, "tag");
    struct process *process;
    int64_t pid = 0;

    if (!he2b_json_int(he2b_json_get(selector, "pid"), &pid) && !tag) {
        *ret_code = "invalid_argument";
        snprintf(why, why_size, "process must have a pid or a tag");
        return NULL;
    }
    process = find(&process_live, pid, tag);
    if (!process && ended)
        process = find(&retained, pid, tag);
    if (process)
        return process;
    *ret_code = "not_found";
    if (tag)
        snprintf(why, why_size, "process with tag %.200s not found", tag);
    else
        snprintf(why, why_size, "process with pid %lld not found", (long long)pid);
    return NULL;
}
