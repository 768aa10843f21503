/* hermes-e2b run: one command in a sandbox. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Standard input is read whole before it is sent; guards this machine's memory. */
    STDIN_MAX = 256 * 1024 * 1024,
    PIECE = 64 * 1024,
};

struct run {
    he2b_loop *loop;
    he2b_options *options;
    he2b_session *session;
    he2b_command *command;
    char *text;
    char *input;
    size_t input_len;
    bool verbose;
    bool interrupted;
    int exit_code;
    /* the printer, a thread of its own: a slow terminal never stops the loop */
    int output;
    pthread_t printer;
    bool printing;
};

/* ---- output ---- */

static void on_broken(void *arg)
{
    struct run *run = arg;

    he2b_command_kill(run->command);
}

static bool write_all(const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(STDOUT_FILENO, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static void *print(void *arg)
{
    struct run *run = arg;
    bool broken = false;
    char *piece = malloc(PIECE);
    ssize_t n;

    while (piece && ((n = read(run->output, piece, PIECE)) > 0 || (n < 0 && errno == EINTR))) {
        if (n < 0 || broken)
            continue;
        if (!write_all(piece, (size_t)n)) {
            broken = true;
            he2b_loop_post(run->loop, on_broken, run);
        }
    }
    free(piece);
    return NULL;
}

static bool start_printer(struct run *run)
{
    sigset_t all;
    sigset_t before;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    if (he2b_command_set_output(run->command, fds[1]) != HE2B_OK) {
        close(fds[0]);
        close(fds[1]);
        return false;
    }
    run->output = fds[0];
    /* Signals are for the loop's thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    run->printing = pthread_create(&run->printer, NULL, print, run) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return run->printing;
}

/* ---- events ---- */

static void on_log(void *user, int level, const char *text)
{
    const struct run *run = user;

    if (level >= HE2B_LOG_WARNING || run->verbose)
        cli_say("%s%s", level >= HE2B_LOG_WARNING ? "warning: " : "", text);
}

static void on_closed(void *user, const he2b_failure *failure)
{
    struct run *run = user;

    if (failure)
        cli_say("%s", he2b_failure_text(failure));
    he2b_loop_stop(run->loop);
}

static void close_session(struct run *run)
{
    if (he2b_session_close(run->session, on_closed, run) != HE2B_OK)
        he2b_loop_stop(run->loop);
}

/* No key is the first thing that a new user meets. */
static void say_failure(const he2b_failure *failure)
{
    cli_say("%s", he2b_failure_text(failure));
    if (he2b_failure_code(failure) == HE2B_ERR_KEY && he2b_failure_status(failure) == 0)
        cli_say("without an account: e2b-local & eval \"$(e2b-local env)\"");
}

static void on_ended(void *user, const he2b_result *result)
{
    struct run *run = user;
    const he2b_failure *failure = he2b_result_failure(result);

    switch (he2b_result_outcome(result)) {
    case HE2B_ENDED:
        run->exit_code = he2b_result_exit_code(result);
        break;
    case HE2B_TIMED_OUT:
        cli_say("the command ran into its limit");
        run->exit_code = CLI_TIMEOUT;
        break;
    case HE2B_KILLED:
        run->exit_code = CLI_INTERRUPTED;
        break;
    case HE2B_NOT_STARTED:
        run->exit_code = run->interrupted ? CLI_INTERRUPTED : CLI_FAILED;
        break;
    case HE2B_UNKNOWN:
        run->exit_code = CLI_UNKNOWN;
        break;
    }
    if (failure && !run->interrupted)
        say_failure(failure);
    if (he2b_result_stdin_failure(result))
        cli_say("%s", he2b_failure_text(he2b_result_stdin_failure(result)));
    close_session(run);
}

static void on_signal(void *arg)
{
    struct run *run = arg;

    if (run->interrupted) {
        cli_say("leaving at once; the sandbox %s is left to its lease",
                he2b_session_sandbox_id(run->session));
        run->exit_code = CLI_INTERRUPTED;
        he2b_loop_stop(run->loop);
        return;
    }
    run->interrupted = true;
    cli_say("interrupted; ending the command and its sandbox");
    he2b_command_kill(run->command);
}

/* ---- arguments ---- */

static int bad_usage(const char *format, const char *word)
{
    fputs("hermes-e2b: ", stderr);
    fprintf(stderr, "%s: %s; hermes-e2b --help lists the options\n", format, word);
    return CLI_USAGE;
}

static char *join(char **words, int count)
{
    size_t len = 1;
    char *text;
    int i;

    for (i = 0; i < count; i++)
        len += strlen(words[i]) + 1;
    text = malloc(len);
    if (!text)
        return NULL;
    text[0] = '\0';
    for (i = 0; i < count; i++) {
        if (i)
            strcat(text, " ");
        strcat(text, words[i]);
    }
    return text;
}

static bool read_stdin(struct run *run)
{
    size_t room = 0;

    for (;;) {
        ssize_t n;

        if (run->input_len == room) {
            size_t more = room ? room * 2 : PIECE;
            char *bigger = more <= STDIN_MAX ? realloc(run->input, more) : NULL;

            if (!bigger) {
                cli_say("standard input is larger than %d MiB; put it into a file in the sandbox",
                        STDIN_MAX / 1024 / 1024);
                return false;
            }
            run->input = bigger;
            room = more;
        }
        n = read(STDIN_FILENO, run->input + run->input_len, room - run->input_len);
        if (n == 0)
            return true;
        if (n > 0)
            run->input_len += (size_t)n;
        else if (errno != EINTR) {
            cli_say("standard input: %s", strerror(errno));
            return false;
        }
    }
}

struct arguments {
    const char *sandbox;
    int64_t timeout_ms;
    bool input;
};

static bool read_seconds(const char *text, int64_t *ret_ms)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= 0) || seconds > 7 * 24 * 3600.0)
        return false;
    *ret_ms = (int64_t)(seconds * 1000);
    return true;
}

static int set_option(struct run *run, const char *name, const char *value)
{
    int error = he2b_options_set(run->options, name, value);

    if (error)
        cli_say("%s: %s", name, he2b_strerror(error));
    return error;
}

/* 0, or an exit code after a message. */
static int read_arguments(struct run *run, struct arguments *arguments, int argc, char **argv)
{
    static const struct option names[] = {
        {"template", required_argument, NULL, 't'},
        {"timeout", required_argument, NULL, 'T'},
        {"stdin", no_argument, NULL, 'i'},
        {"sandbox", required_argument, NULL, 's'},
        {"no-internet", no_argument, NULL, 'n'},
        {"verbose", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "+:t:iv", names, NULL)) != -1) {
        switch (c) {
        case 't':
            if (set_option(run, "template", optarg) != HE2B_OK)
                return CLI_USAGE;
            break;
        case 'T':
            if (!read_seconds(optarg, &arguments->timeout_ms))
                return bad_usage("--timeout wants seconds", optarg);
            break;
        case 'i':
            arguments->input = true;
            break;
        case 's':
            arguments->sandbox = optarg;
            break;
        case 'n':
            if (set_option(run, "allow_internet_access", "false") != HE2B_OK)
                return CLI_USAGE;
            break;
        case 'v':
            run->verbose = true;
            break;
        case ':':
            return bad_usage("an option without its value", argv[optind - 1]);
        default:
            return bad_usage("no such option", argv[optind - 1]);
        }
    }
    if (optind == argc)
        return bad_usage("no command", "hermes-e2b run -- COMMAND");
    run->text = join(argv + optind, argc - optind);
    if (!run->text) {
        cli_say("out of memory");
        return CLI_FAILED;
    }
    return 0;
}

/* ---- the run ---- */

static int say_error(const char *what, int error)
{
    cli_say("%s: %s", what, he2b_strerror(error));
    return CLI_FAILED;
}

/* 0 when the command is on its way, or an exit code after a message. */
static int start(struct run *run, const struct arguments *arguments)
{
    int error;

    if ((error = he2b_loop_new(&run->loop)) != HE2B_OK)
        return say_error("event loop", error);
    if ((error = he2b_session_new(&run->session, run->loop, run->options, on_log, run)) != HE2B_OK)
        return say_error("settings", error);
    if (arguments->sandbox &&
        (error = he2b_session_set_sandbox(run->session, arguments->sandbox)) != HE2B_OK)
        return say_error("--sandbox", error);
    if ((error = he2b_command_new(&run->command, run->session)) != HE2B_OK ||
        (error = he2b_command_set_text(run->command, run->text, strlen(run->text))) != HE2B_OK)
        return say_error("command", error);
    he2b_command_set_timeout(run->command, arguments->timeout_ms);
    if (arguments->input && (!read_stdin(run) || he2b_command_set_stdin(run->command, run->input,
                                                                        run->input_len) != HE2B_OK))
        return CLI_FAILED;
    if (!start_printer(run)) {
        cli_say("output: %s", strerror(errno));
        return CLI_FAILED;
    }
    if ((error = he2b_loop_on_signal(run->loop, SIGINT, on_signal, run)) != HE2B_OK ||
        (error = he2b_loop_on_signal(run->loop, SIGTERM, on_signal, run)) != HE2B_OK ||
        (error = he2b_loop_on_signal(run->loop, SIGHUP, on_signal, run)) != HE2B_OK ||
        (error = he2b_command_start(run->command, on_ended, run)) != HE2B_OK)
        return say_error("command", error);
    return 0;
}

int cli_run(int argc, char **argv)
{
    struct run run = {.exit_code = CLI_FAILED, .output = -1};
    struct arguments arguments = {0};
    int code = CLI_FAILED;
    int error;

    error = he2b_options_new(&run.options, on_log, &run);
    if (!error)
        error = he2b_options_from_environment(run.options);
    if (error) {
        cli_say(
            "E2B_API_KEY, E2B_DOMAIN, E2B_API_URL or E2B_SANDBOX_URL: %s; URLs begin with http:// "
            "or https://, and a key is one word",
            he2b_strerror(error));
        goto out;
    }
    code = read_arguments(&run, &arguments, argc, argv);
    if (code)
        goto out;
    code = start(&run, &arguments);
    if (code == 0) {
        he2b_loop_run(run.loop);
        code = run.exit_code;
    }
out:
    he2b_command_del(run.command);
    he2b_session_del(run.session);
    if (run.printing)
        pthread_join(run.printer, NULL);
    if (run.output >= 0)
        close(run.output);
    he2b_loop_del(run.loop);
    he2b_options_del(run.options);
    free(run.text);
    free(run.input);
    return code;
}
