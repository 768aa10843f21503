#include "local/daemon_end.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Go's names, which are not strsignal(3)'s. */
static const char *signal_name(int signum)
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

    return signum > 0 && (size_t)signum < sizeof(names) / sizeof(names[0]) ? names[signum] : NULL;
}

static char *signal_message(int status)
{
    const char *name = signal_name(WTERMSIG(status));
    const char *core = WCOREDUMP(status) ? " (core dumped)" : "";
    char *message = NULL;
    char number[32];
    int n;

    if (!name) {
        snprintf(number, sizeof(number), "signal %d", WTERMSIG(status));
        name = number;
    }
    n = asprintf(&message,
                 "{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: %s%s\","
                 "\"error\":\"signal: %s%s\"}}}",
                 name, core, name, core);
    return n < 0 ? NULL : message;
}

char *daemon_end_message(int status)
{
    int code = WEXITSTATUS(status);
    char *message = NULL;
    int n;

    if (WIFSIGNALED(status))
        return signal_message(status);
    if (code == 0)
        return strdup("{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}");
    n = asprintf(&message,
                 "{\"event\":{\"end\":{\"exitCode\":%d,\"exited\":true,"
                 "\"status\":\"exit status %d\",\"error\":\"exit status %d\"}}}",
                 code, code, code);
    return n < 0 ? NULL : message;
}
