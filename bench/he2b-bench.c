/*
 * he2b-bench: the library's side of bench/run; uses he2b.h alone, as a program outside would.
 *
 * Reads requests from stdin, one a line, and answers each with one line of JSON on stdout. The
 * first line, before any request, says who answers. bench/sdk_bench.py speaks the same.
 *
 *   create           new sandbox, "echo hi" in it, sandbox killed; times from the beginning
 *   open             new sandbox, ready for the requests below
 *   command N SHELL  N times "echo hi", one after the other; SHELL is login (bash -l) or plain
 *   output BYTES X   a command that prints so many bytes; X is for the other side, ignored here
 *   many N           N times "echo hi" at once; the time until the last of them has ended, and what
 *                    memory and threads they took beyond what was there
 *   input BYTES N    N times "wc -c" with so many bytes as standard input, one after the other
 *   close            kills the sandbox of open
 *   spawn N FILE     no sandbox: the program in FILE (its words, each with a NUL behind it) N times
 *                    at once on this host, output read: what the same takes without any server
 *   idle N S HOME    N sessions, each of a persistent scope of its own below HOME, each with one
 *                    command behind it; then S seconds of nothing: memory of those beyond the
 *                    first, and how often the loop's thread woke up
 *
 * The loop has a thread of its own and the measuring thread reads the output from its pipe, as the
 * Hermes plugin does it; what crossing between the two costs is part of what is measured. Wall
 * clock times in milliseconds, CPU time of the whole process in seconds, memory in KiB. A failure
 * ends the program with {"error": TEXT} and exit code 1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <he2b.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Guards the arrays of samples against a mistyped request. */
#define MAX_COMMANDS 100000
/* More at once need more descriptors than a process has by default. */
#define MAX_AT_ONCE 400
/* Of standard input: he2b_command_set_stdin() takes more, one piece on the wire does not. */
#define MAX_INPUT (1 << 20)
/* One line of 64 bytes; "output" prints it over and over. */
#define PATTERN "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static he2b_loop *loop;
static he2b_options *options;
static pthread_t loop_thread;

/* ---- figures ----------------------------------------------------------------------------------
 */

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* A field of /proc/self/status in KiB ("VmRSS:", "VmHWM:"), -1 if it is not there. */
static long memory_kib(const char *field)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long kib = -1;

    if (!file)
        return -1;
    while (kib < 0 && fgets(line, sizeof(line), file)) {
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field), NULL, 10);
    }
    fclose(file);
    return kib;
}

/* Makes the peak (VmHWM) begin anew at the present size: proc(5), clear_refs. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "we");

    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text >= 0x20)
            putchar(*text);
    }
    putchar('"');
}

static void end_line(void)
{
    putchar('\n');
    fflush(stdout);
}

static void die(const char *what, const char *why) __attribute__((noreturn));
static void die(const char *what, const char *why)
{
    char text[1024];

    snprintf(text, sizeof(text), "%s: %s", what, why);
    printf("{\"error\": ");
    print_text(text);
    printf("}");
    end_line();
    exit(1);
}

static void check(int error, const char *what)
{
    if (error != HE2B_OK)
        die(what, he2b_strerror(error));
}

/* ---- calls on the loop thread ------------------------------------------------------------------
 */

/* One call that the measuring thread makes and whose end it waits for. */
struct call {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_done;
    he2b_session *session;
    he2b_command *command;
    int output;
    int login;
    const char *text;
    const void *input; /* standard input; NULL: none */
    size_t input_len;
    int exit_code;
    /* why it failed; "" if it did not */
    char failure[512];
};

#define CALL_INIT                                                                                  \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                     \
    }

static void finish(struct call *call, const char *failure)
{
    pthread_mutex_lock(&call->lock);
    snprintf(call->failure, sizeof(call->failure), "%s", failure);
    call->is_done = 1;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->lock);
}

static void wait_for(struct call *call, const char *what)
{
    pthread_mutex_lock(&call->lock);
    while (!call->is_done)
        pthread_cond_wait(&call->changed, &call->lock);
    call->is_done = 0;
    pthread_mutex_unlock(&call->lock);
    if (call->failure[0])
        die(what, call->failure);
}

static void perform(struct call *call, void (*fn)(void *), const char *what)
{
    check(he2b_loop_post(loop, fn, call), what);
    wait_for(call, what);
}

static void on_session(void *user, const he2b_failure *failure)
{
    finish(user, failure ? he2b_failure_text(failure) : "");
}

static void do_make_session(void *arg)
{
    struct call *call = arg;
    int error = he2b_session_new(&call->session, loop, options, NULL, NULL);

    finish(call, error == HE2B_OK ? "" : he2b_strerror(error));
}

static void do_prepare(void *arg)
{
    struct call *call = arg;
    int error = he2b_session_prepare(call->session, 0, on_session, call);

    if (error != HE2B_OK)
        finish(call, he2b_strerror(error));
}

static void do_close(void *arg)
{
    struct call *call = arg;
    int error = he2b_session_close(call->session, on_session, call);

    if (error != HE2B_OK)
        finish(call, he2b_strerror(error));
}

static void do_delete(void *arg)
{
    struct call *call = arg;

    he2b_session_del(call->session);
    call->session = NULL;
    finish(call, "");
}

static void on_ended(void *user, const he2b_result *result)
{
    struct call *call = user;
    const he2b_failure *failure = he2b_result_failure(result);

    call->exit_code = he2b_result_exit_code(result);
    he2b_command_del(call->command);
    call->command = NULL;
    finish(call, failure ? he2b_failure_text(failure) : "");
}

static void do_start(void *arg)
{
    struct call *call = arg;
    int error = he2b_command_new(&call->command, call->session);

    if (error == HE2B_OK)
        error = he2b_command_set_text(call->command, call->text, strlen(call->text));
    if (error == HE2B_OK) {
        he2b_command_set_login(call->command, call->login);
        error = he2b_command_set_output(call->command, call->output);
    }
    if (error == HE2B_OK && call->input)
        error = he2b_command_set_stdin(call->command, call->input, call->input_len);
    if (error == HE2B_OK)
        error = he2b_command_start(call->command, on_ended, call);
    if (error != HE2B_OK)
        die("command", he2b_strerror(error));
}

/* ---- a command ---------------------------------------------------------------------------------
 */

struct timing {
    double first_ms;
    double end_ms;
    int64_t bytes;
};

/* Runs call->text and reads all its output; times count from start_ms. */
static void run_command(struct call *call, double start_ms, struct timing *ret)
{
    static char buffer[65536];
    int fds[2];
    ssize_t n;

    ret->first_ms = 0;
    ret->bytes = 0;
    if (pipe2(fds, O_CLOEXEC) != 0)
        die("pipe", strerror(errno));
    call->output = fds[1];
    check(he2b_loop_post(loop, do_start, call), "command");
    while ((n = read(fds[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0 && ret->bytes == 0)
            ret->first_ms = now_ms() - start_ms;
        ret->bytes += n > 0 ? n : 0;
    }
    close(fds[0]);
    wait_for(call, "command");
    ret->end_ms = now_ms() - start_ms;
    if (call->exit_code != 0)
        die("command", "its exit code is not 0");
}

static void run_echo(struct call *call, double start_ms, struct timing *ret)
{
    call->text = "echo hi";
    run_command(call, start_ms, ret);
    if (ret->bytes != 3)
        die("echo", "not the output that was expected");
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static void close_session(struct call *call)
{
    perform(call, do_close, "close");
    perform(call, do_delete, "close");
}

static void request_create(void)
{
    struct call call = CALL_INIT;
    struct timing timing;
    double start = now_ms(), cpu = cpu_s();

    call.login = 1;
    perform(&call, do_make_session, "create");
    run_echo(&call, start, &timing);
    printf("{\"first_ms\": %.3f, \"end_ms\": %.3f, \"cpu_s\": %.6f}", timing.first_ms,
           timing.end_ms, cpu_s() - cpu);
    close_session(&call);
    end_line();
}

static void print_samples(const double *samples, long count, double cpu)
{
    printf("{\"cpu_s\": %.6f, \"ms\": [", cpu);
    for (long i = 0; i < count; i++)
        printf("%s%.3f", i ? ", " : "", samples[i]);
    printf("]}");
    end_line();
}

static void request_command(struct call *call, long count, int login)
{
    double *samples = calloc((size_t)count, sizeof(*samples)), cpu = cpu_s();
    struct timing timing;

    if (!samples)
        die("command", "out of memory");
    call->login = login;
    for (long i = 0; i < count; i++) {
        run_echo(call, now_ms(), &timing);
        samples[i] = timing.end_ms;
    }
    print_samples(samples, count, cpu_s() - cpu);
    free(samples);
}

static void request_output(struct call *call, int64_t size)
{
    struct timing timing;
    char text[256];
    double cpu;
    long before;

    snprintf(text, sizeof(text), "yes '%s' | head -c %" PRId64, PATTERN, size);
    call->text = text;
    call->login = 1;
    reset_peak();
    before = memory_kib("VmRSS:");
    cpu = cpu_s();
    run_command(call, now_ms(), &timing);
    cpu = cpu_s() - cpu;
    if (timing.bytes != size)
        die("output", "not as many bytes as were asked for");
    printf("{\"ms\": %.3f, \"cpu_s\": %.6f, \"bytes\": %" PRId64
           ", \"rss_kib\": %ld, \"peak_kib\": %ld}",
           timing.end_ms, cpu, timing.bytes, before, memory_kib("VmHWM:"));
    end_line();
}

/* ---- many at once -------------------------------------------------------------------------------
 */

/* Reads all of them to their ends; every one must have printed so many bytes. */
static void read_all(const int *fds, long count, int64_t expected)
{
    struct pollfd *waits = calloc((size_t)count, sizeof(*waits));
    int64_t *got = calloc((size_t)count, sizeof(*got));
    char buffer[4096];
    long left = count;

    if (!waits || !got)
        die("read", "out of memory");
    for (long i = 0; i < count; i++)
        waits[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    while (left) {
        if (poll(waits, (nfds_t)count, -1) < 0 && errno != EINTR)
            die("poll", strerror(errno));
        for (long i = 0; i < count; i++) {
            ssize_t n;

            if (waits[i].fd < 0 || !waits[i].revents)
                continue;
            n = read(waits[i].fd, buffer, sizeof(buffer));
            if (n > 0) {
                got[i] += n;
                continue;
            }
            close(waits[i].fd);
            waits[i].fd = -1;
            left--;
            if (expected >= 0 && got[i] != expected)
                die("echo", "not the output that was expected");
        }
    }
    free(got);
    free(waits);
}

static void request_many(he2b_session *session, long count)
{
    static const struct call fresh = CALL_INIT;
    struct call *calls = calloc((size_t)count, sizeof(*calls));
    int *fds = calloc((size_t)count, sizeof(*fds));
    long threads = memory_kib("Threads:"), before;
    double start, cpu = cpu_s();

    if (!calls || !fds)
        die("many", "out of memory");
    reset_peak();
    before = memory_kib("VmRSS:");
    start = now_ms();
    for (long i = 0; i < count; i++) {
        int pair[2];

        calls[i] = fresh;
        calls[i].session = session;
        calls[i].login = 1;
        calls[i].text = "echo hi";
        if (pipe2(pair, O_CLOEXEC) != 0)
            die("pipe", strerror(errno));
        fds[i] = pair[0];
        calls[i].output = pair[1];
        check(he2b_loop_post(loop, do_start, &calls[i]), "many");
    }
    /* the threads while all of them are on their way */
    threads = memory_kib("Threads:") - threads;
    read_all(fds, count, 3);
    for (long i = 0; i < count; i++)
        wait_for(&calls[i], "many");
    printf("{\"ms\": %.3f, \"cpu_s\": %.6f, \"rss_kib\": %ld, \"peak_kib\": %ld, "
           "\"threads\": %ld}",
           now_ms() - start, cpu_s() - cpu, before, memory_kib("VmHWM:"), threads);
    end_line();
    free(fds);
    free(calls);
}

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "re");
    char *data = calloc(1, MAX_INPUT + 1);

    if (!file || !data)
        die(path, "cannot be read");
    *ret_len = fread(data, 1, MAX_INPUT, file);
    fclose(file);
    return data;
}

static void request_spawn(long count, const char *path)
{
    enum {
        WORDS_MAX = 64,
    };
    char *words[WORDS_MAX + 1] = {NULL};
    /* as bare as a sandbox: no start-up files of the user who runs this */
    static char path_variable[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    static char home_variable[] = "HOME=/nonexistent";
    char *environment[] = {path_variable, home_variable, NULL};
    size_t len, used = 0, at;
    char *data = read_file(path, &len);
    int *fds = calloc((size_t)count, sizeof(*fds));
    double start;

    for (at = 0; at < len && used < WORDS_MAX; at += strlen(data + at) + 1)
        words[used++] = data + at;
    if (!fds || !used)
        die("spawn", "no program");
    start = now_ms();
    for (long i = 0; i < count; i++) {
        posix_spawn_file_actions_t actions;
        pid_t pid;
        int pair[2];

        if (pipe2(pair, O_CLOEXEC) != 0)
            die("pipe", strerror(errno));
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
        posix_spawn_file_actions_adddup2(&actions, pair[1], 2);
        if (posix_spawnp(&pid, words[0], &actions, NULL, words, environment) != 0)
            die("spawn", words[0]);
        posix_spawn_file_actions_destroy(&actions);
        close(pair[1]);
        fds[i] = pair[0];
    }
    read_all(fds, count, -1);
    for (long i = 0; i < count; i++) {
        int status = 0;

        if (wait(&status) < 0 || status != 0)
            die("spawn", "it did not end well");
    }
    printf("{\"ms\": %.3f}", now_ms() - start);
    end_line();
    free(fds);
    free(data);
}

static void request_input(struct call *call, size_t size, long count)
{
    static char zeros[MAX_INPUT];
    double *samples = calloc((size_t)count, sizeof(*samples)), cpu = cpu_s();
    struct timing timing;

    if (!samples)
        die("input", "out of memory");
    call->login = 1;
    call->text = "wc -c";
    call->input = zeros;
    call->input_len = size;
    for (long i = 0; i < count; i++) {
        run_command(call, now_ms(), &timing);
        samples[i] = timing.end_ms;
    }
    call->input = NULL;
    print_samples(samples, count, cpu_s() - cpu);
    free(samples);
}

/* ---- idle --------------------------------------------------------------------------------------
 */

struct scoped {
    struct call call;
    const char *home;
    char task[32];
};

static void do_make_scoped(void *arg)
{
    struct scoped *scoped = arg;
    int error = he2b_session_new(&scoped->call.session, loop, options, NULL, NULL);

    if (error == HE2B_OK)
        error = he2b_session_set_scope(scoped->call.session, scoped->home, scoped->task, 0);
    finish(&scoped->call, error == HE2B_OK ? "" : he2b_strerror(error));
}

struct wakeups {
    struct call call;
    long count;
};

/* On the loop's thread: how often it gave up the processor of its own accord, getrusage(2). */
static void do_count_wakeups(void *arg)
{
    struct wakeups *wakeups = arg;
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    wakeups->count = usage.ru_nvcsw;
    finish(&wakeups->call, "");
}

static long count_wakeups(void)
{
    struct wakeups wakeups = {.call = CALL_INIT};

    check(he2b_loop_post(loop, do_count_wakeups, &wakeups), "idle");
    wait_for(&wakeups.call, "idle");
    return wakeups.count;
}

static void request_idle(long count, long seconds, const char *home)
{
    static const struct call fresh = CALL_INIT;
    struct scoped *all = calloc((size_t)count, sizeof(*all));
    /* the ends of the last streams, and a renewal's look, are on their way still */
    const struct timespec settle = {.tv_sec = 1};
    const struct timespec pause = {.tv_sec = seconds};
    long first_kib = 0, kib, wakeups;
    struct timing timing;

    if (!all)
        die("idle", "out of memory");
    for (long i = 0; i < count; i++) {
        all[i].call = fresh;
        all[i].home = home;
        snprintf(all[i].task, sizeof(all[i].task), "task-%ld", i);
        check(he2b_loop_post(loop, do_make_scoped, &all[i]), "idle");
        wait_for(&all[i].call, "idle");
        run_echo(&all[i].call, now_ms(), &timing);
        if (i == 0)
            first_kib = memory_kib("VmRSS:");
    }
    kib = memory_kib("VmRSS:") - first_kib;
    nanosleep(&settle, NULL);
    wakeups = count_wakeups();
    nanosleep(&pause, NULL);
    /* the one of the question itself does not count */
    wakeups = count_wakeups() - wakeups - 1;
    for (long i = 0; i < count; i++)
        close_session(&all[i].call);
    printf("{\"sessions\": %ld, \"beyond_first_kib\": %ld, \"seconds\": %ld, \"wakeups\": %ld}",
           count, kib, seconds, wakeups);
    end_line();
    free(all);
}

static void request(struct call *open_call, const char *line)
{
    long long number = 0;
    long seconds = 0;
    char word[16] = "";
    char home[200] = "";
    int is_open = open_call->session != NULL;

    if (strcmp(line, "create") == 0) {
        request_create();
    } else if (strcmp(line, "open") == 0 && !is_open) {
        perform(open_call, do_make_session, "open");
        perform(open_call, do_prepare, "open");
        printf("{}");
        end_line();
    } else if (strcmp(line, "close") == 0 && is_open) {
        close_session(open_call);
        printf("{}");
        end_line();
    } else if (sscanf(line, "command %lld %15s", &number, word) == 2 && is_open && number > 0 &&
               number <= MAX_COMMANDS) {
        request_command(open_call, (long)number, strcmp(word, "login") == 0);
    } else if (sscanf(line, "many %lld", &number) == 1 && is_open && number > 0 &&
               number <= MAX_AT_ONCE) {
        request_many(open_call->session, (long)number);
    } else if (sscanf(line, "input %lld %ld", &number, &seconds) == 2 && is_open && number > 0 &&
               number <= MAX_INPUT && seconds > 0 && seconds <= MAX_COMMANDS) {
        request_input(open_call, (size_t)number, seconds);
    } else if (sscanf(line, "spawn %lld %199s", &number, home) == 2 && number > 0 &&
               number <= MAX_AT_ONCE) {
        request_spawn((long)number, home);
    } else if (sscanf(line, "output %lld", &number) == 1 && is_open && number > 0) {
        request_output(open_call, number);
    } else if (sscanf(line, "idle %lld %ld %199s", &number, &seconds, home) == 3 && number > 1 &&
               number <= MAX_COMMANDS && seconds >= 0) {
        request_idle((long)number, seconds, home);
    } else {
        die("no such request now", line);
    }
}

static void *run_loop(void *arg)
{
    (void)arg;
    check(he2b_loop_run(loop), "loop");
    return NULL;
}

static void do_stop(void *arg)
{
    he2b_loop_stop(loop);
    finish(arg, "");
}

int main(void)
{
    struct call open_call = CALL_INIT, stop = CALL_INIT;
    char line[256];

    check(he2b_options_new(&options, NULL, NULL), "options");
    check(he2b_options_from_environment(options), "E2B_* variables");
    check(he2b_options_set(options, "lease_seconds", "3600"), "lease_seconds");
    check(he2b_loop_new(&loop), "loop");
    if (pthread_create(&loop_thread, NULL, run_loop, NULL) != 0)
        die("thread", "cannot be made");
    printf("{\"side\": \"library\", \"version\": \"%s\"}", he2b_version());
    end_line();

    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        request(&open_call, line);
    }
    if (open_call.session)
        close_session(&open_call);
    perform(&stop, do_stop, "loop");
    pthread_join(loop_thread, NULL);
    he2b_loop_del(loop);
    he2b_options_del(options);
    return 0;
}
