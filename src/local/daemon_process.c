/* The table of processes: their output to every reader, their input, their end. */
#include "core/base64.h"
#include "core/buf.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_spawn.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_SIZE = 32 * 1024,
    READ_SIZE_PTY = 16 * 1024,
    /* How long an end is remembered (wire C.9). */
    RETAIN_S = 30,
};

enum output {
    OUT,
    ERR,
    PTY,
    OUTPUTS,
};

static const char *const output_names[OUTPUTS] = {"stdout", "stderr", "pty"};

struct process;

/* One Start or Connect stream. */
struct reader {
    struct reader *next;
    struct reader **previous;
    struct process *process;
    struct exchange *x;
    struct event *keepalive;
    struct event *deadline;
    struct timeval interval;
};

struct process {
    struct process *next;
    struct process **previous;
    pid_t pid;
    he2b_json *config; /* as List shows it */
    char *tag;         /* NULL: none */
    int fds[OUTPUTS];
    struct event *events[OUTPUTS];
    struct reader *readers;
    bool stopped; /* a reader is behind: outputs are not read */
    int in;
    struct event *in_event;
    struct evbuffer *in_data;
    struct exchange *in_asker; /* waits until its input is written */
    bool in_closing;
    struct event *kill_timer;
    bool reaped;
    bool signalled; /* by a call: its outputs are not waited for */
    int status;
    bool ended;
    char *end_message;
    struct event *retain;
};

static struct process *processes;

/* ---- messages ---- */

static char *go_signal_text(int status, char *out, size_t size)
{
    static const char *const names[] = {
        [SIGHUP] = "hangup",
        [SIGINT] = "interrupt",
        [SIGQUIT] = "quit",
        [SIGILL] = "illegal instruction",
        [SIGTRAP] = "trace/breakpoint trap",
        [SIGABRT] = "aborted",
        [SIGBUS] = "bus error",
        [SIGFPE] = "floating point exception",
        [SIGKILL] = "killed",
        [SIGUSR1] = "user defined signal 1",
        [SIGSEGV] = "segmentation fault",
        [SIGUSR2] = "user defined signal 2",
        [SIGPIPE] = "broken pipe",
        [SIGALRM] = "alarm clock",
        [SIGTERM] = "terminated",
    };
    size_t number = (size_t)WTERMSIG(status);

    if (number < sizeof(names) / sizeof(names[0]) && names[number])
        snprintf(out, size, "signal: %s%s", names[number],
                 WCOREDUMP(status) ? " (core dumped)" : "");
    else
        snprintf(out, size, "signal: signal %zu", number);
    return out;
}

static char *end_message(int status)
{
    char *text = NULL;
    char name[64];
    int n;

    if (WIFSIGNALED(status)) {
        go_signal_text(status, name, sizeof(name));
        n = asprintf(&text,
                     "{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"%s\",\"error\":\"%s\"}}}",
                     name, name);
    } else if (WEXITSTATUS(status) == 0) {
        n = asprintf(&text, "{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}");
    } else {
        n = asprintf(&text,
                     "{\"event\":{\"end\":{\"exitCode\":%d,\"exited\":true,"
                     "\"status\":\"exit status %d\",\"error\":\"exit status %d\"}}}",
                     WEXITSTATUS(status), WEXITSTATUS(status), WEXITSTATUS(status));
    }
    return n < 0 ? NULL : text;
}

static void send_start(struct reader *reader)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "{\"event\":{\"start\":{\"pid\":%d}}}",
                     (int)reader->process->pid);

    rpc_stream_head(reader->x);
    rpc_stream_message(reader->x, text, (size_t)n);
}

/* ---- readers ---- */

static void watch_outputs(struct process *process);

static void reader_free(struct reader *reader)
{
    *reader->previous = reader->next;
    if (reader->next)
        reader->next->previous = reader->previous;
    if (reader->keepalive)
        event_free(reader->keepalive);
    if (reader->deadline)
        event_free(reader->deadline);
    if (reader->x) {
        reader->x->ops = NULL;
        reader->x->state = NULL;
    }
    free(reader);
}

static void reader_gone(struct exchange *x)
{
    struct reader *reader = x->state;
    struct process *process = reader->process;

    reader->x = NULL;
    reader_free(reader);
    watch_outputs(process);
}

static void reader_drained(struct exchange *x)
{
    struct reader *reader = x->state;

    watch_outputs(reader->process);
}

static const struct exchange_ops reader_ops = {.drained = reader_drained, .gone = reader_gone};

static void on_keepalive(evutil_socket_t fd, short what, void *arg)
{
    static const char text[] = "{\"event\":{\"keepalive\":{}}}";
    struct reader *reader = arg;

    (void)fd;
    (void)what;
    /* who takes nothing gets no more */
    if (exchange_unread(reader->x) <= DAEMON_UNREAD_MAX)
        rpc_stream_message(reader->x, text, sizeof(text) - 1);
    event_add(reader->keepalive, &reader->interval);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct reader *reader = arg;
    struct process *process = reader->process;
    struct exchange *x = reader->x;

    (void)fd;
    (void)what;
    reader_free(reader);
    rpc_stream_end(x, "deadline_exceeded", "context deadline exceeded");
    watch_outputs(process);
}

static struct timeval in_ms(int64_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

/* A stream begins to read; false if it ended at once (no memory, or its time is over). */
static bool add_reader(struct process *process, struct exchange *x)
{
    struct reader *reader = calloc(1, sizeof(*reader));
    int64_t timeout = rpc_timeout_ms(x);
    struct timeval deadline = in_ms(timeout);

    if (!reader) {
        rpc_stream_end(x, "internal", "out of memory");
        return false;
    }
    reader->process = process;
    reader->x = x;
    reader->interval.tv_sec = rpc_keepalive_s(x);
    reader->next = process->readers;
    reader->previous = &process->readers;
    if (reader->next)
        reader->next->previous = &reader->next;
    process->readers = reader;
    x->state = reader;
    x->ops = &reader_ops;
    reader->keepalive = event_new(daemon_globals.base, -1, 0, on_keepalive, reader);
    if (reader->keepalive)
        event_add(reader->keepalive, &reader->interval);
    send_start(reader);
    if (timeout >= 0) {
        reader->deadline = event_new(daemon_globals.base, -1, 0, on_deadline, reader);
        if (reader->deadline)
            event_add(reader->deadline, &deadline);
    }
    return true;
}

/* ---- output ---- */

static bool outputs_open(const struct process *process)
{
    return process->fds[OUT] >= 0 || process->fds[ERR] >= 0 || process->fds[PTY] >= 0;
}

/* Reads only while every reader keeps up; with no reader, output is read and dropped (wire C.9). */
static void watch_outputs(struct process *process)
{
    struct reader *reader;
    bool behind = false;
    int i;

    for (reader = process->readers; reader; reader = reader->next)
        behind = behind || exchange_unread(reader->x) > DAEMON_UNREAD_MAX;
    if (behind == process->stopped)
        return;
    process->stopped = behind;
    for (i = 0; i < OUTPUTS; i++) {
        if (!process->events[i])
            continue;
        if (behind)
            event_del(process->events[i]);
        else
            event_add(process->events[i], NULL);
    }
}

static void close_output(struct process *process, int which)
{
    if (process->events[which])
        event_free(process->events[which]);
    process->events[which] = NULL;
    if (process->fds[which] >= 0)
        close(process->fds[which]);
    process->fds[which] = -1;
}

static void maybe_end(struct process *process);

static void pass_on(struct process *process, int which, const char *data, size_t len)
{
    static char text[READ_SIZE * 4 / 3 + 128];
    size_t used = (size_t)snprintf(text, sizeof(text), "{\"event\":{\"data\":{\"%s\":\"",
                                   output_names[which]);
    struct reader *reader;

    he2b_base64_encode(text + used, data, len);
    used += he2b_base64_encoded_size(len);
    memcpy(text + used, "\"}}}", 4);
    used += 4;
    for (reader = process->readers; reader; reader = reader->next) {
        rpc_stream_message(reader->x, text, used);
        if (reader->keepalive)
            event_add(reader->keepalive, &reader->interval);
    }
    watch_outputs(process);
}

static void on_output(struct process *process, int which)
{
    static char data[READ_SIZE];
    ssize_t n = read(process->fds[which], data, which == PTY ? READ_SIZE_PTY : READ_SIZE);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        /* a terminal whose other side is closed answers EIO */
        close_output(process, which);
        maybe_end(process);
        return;
    }
    pass_on(process, which, data, (size_t)n);
}

static void on_stdout(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    on_output(arg, OUT);
}

static void on_stderr(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    on_output(arg, ERR);
}

static void on_pty(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    on_output(arg, PTY);
}

/* ---- the end ---- */

static void answer_input(struct process *process, bool good)
{
    struct exchange *x = process->in_asker;

    process->in_asker = NULL;
    if (!x)
        return;
    x->ops = NULL;
    x->state = NULL;
    if (good)
        rpc_answer(x, he2b_json_new_object());
    else
        rpc_error(x, "internal", "error writing to stdin: broken pipe");
}

static void close_input(struct process *process)
{
    if (process->in_event)
        event_free(process->in_event);
    process->in_event = NULL;
    if (process->in >= 0)
        close(process->in);
    process->in = -1;
    evbuffer_drain(process->in_data, evbuffer_get_length(process->in_data));
}

static void process_free(struct process *process)
{
    int i;

    answer_input(process, false);
    close_input(process);
    for (i = 0; i < OUTPUTS; i++)
        close_output(process, i);
    if (process->kill_timer)
        event_free(process->kill_timer);
    if (process->retain)
        event_free(process->retain);
    *process->previous = process->next;
    if (process->next)
        process->next->previous = process->previous;
    evbuffer_free(process->in_data);
    he2b_json_del(process->config);
    free(process->tag);
    free(process->end_message);
    free(process);
}

static void on_retained(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    process_free(arg);
}

static void send_end(struct reader *reader)
{
    struct exchange *x = reader->x;
    const struct process *process = reader->process;

    if (process->end_message)
        rpc_stream_message(x, process->end_message, strlen(process->end_message));
    reader_free(reader);
    rpc_stream_end(x, NULL, NULL);
}

/* The end comes when both outputs are at their end, or right after a signal of ours (wire C.9). */
static void maybe_end(struct process *process)
{
    static const struct timeval retain = {.tv_sec = RETAIN_S};
    int i;

    if (!process->reaped || process->ended || (outputs_open(process) && !process->signalled))
        return;
    for (i = 0; i < OUTPUTS; i++)
        close_output(process, i);
    answer_input(process, false);
    close_input(process);
    if (process->kill_timer)
        event_del(process->kill_timer);
    process->ended = true;
    /* only List shows it, and that may be megabytes */
    he2b_json_del(process->config);
    process->config = NULL;
    process->end_message = end_message(process->status);
    while (process->readers)
        send_end(process->readers);
    process->retain = event_new(daemon_globals.base, -1, 0, on_retained, process);
    if (process->retain)
        event_add(process->retain, &retain);
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
        for (process = processes; process; process = process->next) {
            if (process->pid == pid && !process->reaped) {
                process->reaped = true;
                process->status = status;
                maybe_end(process);
                break;
            }
        }
    }
}

void process_init(void)
{
    struct event *event = evsignal_new(daemon_globals.base, SIGCHLD, on_children, NULL);

    if (!event || event_add(event, NULL) != 0)
        exit(1);
}

void process_signal_all(int signum)
{
    struct process *process;

    /*
     * Right below pid 1 of a namespace of our own: all but those two. Anywhere else kill(-1) would
     * reach strangers (a container may run e2b-local without isolation as its second process).
     */
    if (getpid() == 2 && getppid() == 1 && !getenv("E2B_LOCAL_WITHOUT_ISOLATION")) {
        kill(-1, signum);
        return;
    }
    for (process = processes; process; process = process->next) {
        if (!process->reaped)
            kill(process->pid, signum);
    }
}

/* ---- Start ---- */

static void on_kill_timer(evutil_socket_t fd, short what, void *arg)
{
    struct process *process = arg;

    (void)fd;
    (void)what;
    if (process->reaped && process->ended)
        return;
    process->signalled = true;
    if (!process->reaped)
        kill(process->pid, SIGKILL);
    maybe_end(process);
}

static struct event *watch(int fd, event_callback_fn fn, struct process *process)
{
    struct event *event;

    if (fd < 0)
        return NULL;
    event = event_new(daemon_globals.base, fd, EV_READ | EV_PERSIST, fn, process);
    if (event)
        event_add(event, NULL);
    return event;
}

/* A pid that comes again: the end that was kept for it belongs to another. */
static void forget_retained(pid_t pid)
{
    struct process *process = processes;

    while (process) {
        struct process *next = process->next;

        if (process->pid == pid && process->ended)
            process_free(process);
        process = next;
    }
}

static struct process *process_new(const struct spawn *spawn, const char *tag)
{
    struct process *process = calloc(1, sizeof(*process));
    union {
        const he2b_json *in;
        he2b_json *out;
    } cast = {.in = spawn->config};
    const char *text;
    size_t len = 0;

    if (!process)
        return NULL;
    process->in_data = evbuffer_new();
    if (!process->in_data) {
        free(process);
        return NULL;
    }
    forget_retained(spawn->pid);
    text = he2b_json_text(cast.out, &len);
    if (text)
        (void)he2b_json_parse(&process->config, text, len);
    process->pid = spawn->pid;
    process->tag = tag ? strdup(tag) : NULL;
    /* a descriptor of its own: output and input of a terminal end at different times */
    process->in = spawn->pty ? fcntl(spawn->terminal, F_DUPFD_CLOEXEC, 0) : spawn->in;
    process->fds[OUT] = spawn->out;
    process->fds[ERR] = spawn->err;
    process->fds[PTY] = spawn->terminal;
    process->events[OUT] = watch(spawn->out, on_stdout, process);
    process->events[ERR] = watch(spawn->err, on_stderr, process);
    process->events[PTY] = watch(spawn->terminal, on_pty, process);
    process->next = processes;
    process->previous = &processes;
    if (process->next)
        process->next->previous = &process->next;
    processes = process;
    return process;
}

static unsigned size_of(const he2b_json *size, const char *key, unsigned fallback)
{
    int64_t value = 0;

    if (!he2b_json_int(he2b_json_get(size, key), &value) || value < 1 || value > 10000)
        return fallback;
    return (unsigned)value;
}

void process_start(struct exchange *x, const he2b_json *request)
{
    struct spawn spawn = {0};
    const he2b_json *pty = he2b_json_get(request, "pty");
    struct process *process;
    const char *code = "internal";
    char name[64];
    char why[1024];
    int64_t timeout = rpc_timeout_ms(x);

    if (rpc_keepalive_s(x) == 0) {
        rpc_stream_end(x, "invalid_argument", "Keepalive-Ping-Interval must be positive");
        return;
    }
    if (!daemon_user_of_header(&spawn.user, exchange_header(x, "authorization"), name,
                               sizeof(name))) {
        snprintf(why, sizeof(why), "invalid username: '%s'", name);
        rpc_stream_end(x, "unauthenticated", why);
        return;
    }
    spawn.config = he2b_json_get(request, "process");
    spawn.stdin_open = true;
    (void)he2b_json_bool(he2b_json_get(request, "stdin"), &spawn.stdin_open);
    spawn.pty = pty != NULL;
    spawn.cols = size_of(he2b_json_get(pty, "size"), "cols", 80);
    spawn.rows = size_of(he2b_json_get(pty, "size"), "rows", 24);
    if (!daemon_path(spawn.cwd, sizeof(spawn.cwd), he2b_json_get_string(spawn.config, "cwd"),
                     &spawn.user, why, sizeof(why))) {
        rpc_stream_end(x, "invalid_argument", why);
        return;
    }
    if (spawn_process(&spawn, &code, why, sizeof(why)) != 0) {
        rpc_stream_end(x, code, why);
        return;
    }
    process = process_new(&spawn, he2b_json_get_string(request, "tag"));
    if (!process) {
        kill(spawn.pid, SIGKILL);
        rpc_stream_end(x, "internal", "out of memory");
        return;
    }
    if (timeout > 0) {
        /* later than the stream's own deadline, which is to tell of the time, not of the kill */
        struct timeval tv = in_ms(timeout + 1);

        process->kill_timer = event_new(daemon_globals.base, -1, 0, on_kill_timer, process);
        if (process->kill_timer)
            event_add(process->kill_timer, &tv);
    }
    (void)add_reader(process, x);
}

/* ---- selecting ---- */

static struct process *select_process(const he2b_json *request, bool live, char *why, size_t size)
{
    const he2b_json *selector = he2b_json_get(request, "process");
    const char *tag = he2b_json_get_string(selector, "tag");
    struct process *process;
    int64_t pid = 0;

    if (he2b_json_int(he2b_json_get(selector, "pid"), &pid)) {
        for (process = processes; process; process = process->next) {
            if (process->pid == pid && !(live && process->ended))
                return process;
        }
        snprintf(why, size, "process with pid %lld not found", (long long)pid);
    } else if (tag) {
        for (process = processes; process; process = process->next) {
            if (process->tag && strcmp(process->tag, tag) == 0 && !(live && process->ended))
                return process;
        }
        snprintf(why, size, "process with tag %.128s not found", tag);
    } else {
        snprintf(why, size, "process selector is missing");
    }
    return NULL;
}

void process_connect(struct exchange *x, const he2b_json *request)
{
    char why[256];
    struct process *process = select_process(request, false, why, sizeof(why));

    if (rpc_keepalive_s(x) == 0) {
        rpc_stream_end(x, "invalid_argument", "Keepalive-Ping-Interval must be positive");
        return;
    }
    if (!process) {
        rpc_stream_end(x, "not_found", why);
        return;
    }
    if (add_reader(process, x) && process->ended)
        send_end(x->state);
}

static he2b_json *list_entry(const struct process *process)
{
    he2b_json *entry = he2b_json_new_object();
    union {
        const he2b_json *in;
        he2b_json *out;
    } cast = {.in = process->config};
    he2b_json *config = NULL;
    size_t len = 0;
    const char *text = process->config ? he2b_json_text(cast.out, &len) : NULL;

    if (!entry || !text || he2b_json_parse(&config, text, len) != HE2B_OK ||
        he2b_json_add(entry, "config", config) != HE2B_OK ||
        he2b_json_add_int(entry, "pid", process->pid) != HE2B_OK ||
        (process->tag && he2b_json_add_string(entry, "tag", process->tag) != HE2B_OK)) {
        he2b_json_del(entry);
        return NULL;
    }
    return entry;
}

void process_list(struct exchange *x, const he2b_json *request)
{
    he2b_json *answer = he2b_json_new_object();
    he2b_json *list = he2b_json_new_array();
    const struct process *process;

    (void)request;
    for (process = processes; list && process; process = process->next) {
        if (!process->ended)
            (void)he2b_json_append(list, list_entry(process));
    }
    if (answer && he2b_json_array_size(list) > 0)
        (void)he2b_json_add(answer, "processes", list);
    else
        he2b_json_del(list);
    rpc_answer(x, answer);
}

void process_send_signal(struct exchange *x, const he2b_json *request)
{
    const he2b_json *signal_value = he2b_json_get(request, "signal");
    const char *name = he2b_json_string(signal_value, NULL);
    struct process *process;
    int64_t number = 0;
    char why[256];

    (void)he2b_json_int(signal_value, &number);
    if ((name && strcmp(name, "SIGNAL_SIGKILL") == 0) || number == SIGKILL)
        number = SIGKILL;
    else if ((name && strcmp(name, "SIGNAL_SIGTERM") == 0) || number == SIGTERM)
        number = SIGTERM;
    else {
        rpc_error(x, "unimplemented", "invalid signal: %.64s", name ? name : "SIGNAL_UNSPECIFIED");
        return;
    }
    process = select_process(request, true, why, sizeof(why));
    if (!process) {
        rpc_error(x, "not_found", "%s", why);
        return;
    }
    /* One process, not its group; what it wrote and nobody read yet may be lost (wire C.9). */
    process->signalled = true;
    if (!process->reaped)
        kill(process->pid, (int)number);
    rpc_answer(x, he2b_json_new_object());
    maybe_end(process);
}

void process_update(struct exchange *x, const he2b_json *request)
{
    const he2b_json *size = he2b_json_get(he2b_json_get(request, "pty"), "size");
    struct process *process;
    char why[256];

    process = select_process(request, true, why, sizeof(why));
    if (!process) {
        rpc_error(x, "not_found", "%s", why);
        return;
    }
    if (size) {
        struct winsize window = {.ws_col = (unsigned short)size_of(size, "cols", 80),
                                 .ws_row = (unsigned short)size_of(size, "rows", 24)};

        if (process->fds[PTY] < 0 || ioctl(process->fds[PTY], TIOCSWINSZ, &window) != 0) {
            rpc_error(x, "internal", "error resizing tty: tty not assigned to process");
            return;
        }
    }
    rpc_answer(x, he2b_json_new_object());
}

/* ---- input ---- */

static void asker_gone(struct exchange *x)
{
    struct process *process = x->state;

    process->in_asker = NULL;
}

static const struct exchange_ops asker_ops = {.gone = asker_gone};

static void write_input(struct process *process)
{
    while (evbuffer_get_length(process->in_data) > 0) {
        int n = evbuffer_write(process->in_data, process->in);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            event_add(process->in_event, NULL);
            return;
        }
        if (n <= 0) {
            answer_input(process, false);
            close_input(process);
            return;
        }
    }
    answer_input(process, true);
    if (process->in_closing)
        close_input(process);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    write_input(arg);
}

void process_send_input(struct exchange *x, const he2b_json *request)
{
    const he2b_json *input = he2b_json_get(request, "input");
    const he2b_json *bytes = he2b_json_get(input, "stdin");
    struct process *process;
    const char *text;
    char *data;
    char why[256];
    size_t len = 0;
    bool pty = false;

    process = select_process(request, true, why, sizeof(why));
    if (!process) {
        rpc_error(x, "not_found", "%s", why);
        return;
    }
    if (!bytes) {
        bytes = he2b_json_get(input, "pty");
        pty = bytes != NULL;
    }
    text = he2b_json_string(bytes, &len);
    if (!text) {
        if (input)
            rpc_answer(x, he2b_json_new_object());
        else
            rpc_error(x, "unimplemented", "invalid input type");
        return;
    }
    if (process->in < 0 || process->in_closing || pty != (process->fds[PTY] >= 0)) {
        rpc_error(x, "internal", "error writing to %s: %s", pty ? "tty" : "stdin",
                  pty ? "tty not assigned to process" : "stdin not enabled or closed");
        return;
    }
    if (process->in_asker) {
        rpc_error(x, "aborted", "another input is being written");
        return;
    }
    data = malloc(len + 3);
    if (!data || he2b_base64_decode(data, &len, text, len) != HE2B_OK ||
        evbuffer_add(process->in_data, data, len) != 0) {
        free(data);
        rpc_error(x, "invalid_argument", "input is not base64");
        return;
    }
    free(data);
    if (!process->in_event)
        process->in_event =
            event_new(daemon_globals.base, process->in, EV_WRITE, on_input, process);
    process->in_asker = x;
    x->state = process;
    x->ops = &asker_ops;
    write_input(process);
}

void process_close_stdin(struct exchange *x, const he2b_json *request)
{
    struct process *process;
    char why[256];

    process = select_process(request, true, why, sizeof(why));
    if (!process) {
        rpc_error(x, "not_found", "%s", why);
        return;
    }
    if (process->fds[PTY] >= 0) {
        rpc_error(x, "internal", "error closing stdin: cannot close stdin of a PTY process");
        return;
    }
    /* none, or closed before: that is what was wanted */
    if (process->in_asker)
        process->in_closing = true;
    else
        close_input(process);
    rpc_answer(x, he2b_json_new_object());
}
