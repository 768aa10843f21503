#include "cli/run.h"

#include "cli/exits.h"
#include "cli/input.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "cli/run_args.h"
#include "he2b.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    /* After Ctrl-C, a reader of stdout that stands still is waited for this long. */
    LAST_OUTPUT_MS = 2000,
};

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum {
    SIGNALS = sizeof(signals) / sizeof(signals[0]),
};

struct run {
    const struct run_args *args;
    struct input input;
    bool verbose;
    he2b_options *options;
    he2b_loop *loop;
    he2b_session *session;
    he2b_command *command;
    struct printer printer;
    bool printing;
    int ended_by; /* signal that ends it; 0: none */
    int code;
};

/* ---- the end ---- */

static void on_closed(void *user, const he2b_failure *failure)
{
    struct run *run = user;

    (void)failure; /* the session's log has told it */
    he2b_loop_stop(run->loop);
}

static void close_session(struct run *run)
{
    if (he2b_session_close(run->session, on_closed, run) != HE2B_OK)
        he2b_loop_stop(run->loop);
}

static void tell(const struct run *run, const he2b_result *result)
{
    const he2b_failure *failure = he2b_result_failure(result);

    if (he2b_result_outcome(result) == HE2B_TIMED_OUT)
        message_error("the command was ended at its limit of %g s",
                      (double)run->args->timeout_ms / 1000);
    if (failure)
        message_failure(failure);
    if (he2b_result_stdin_failure(result))
        message_failure(he2b_result_stdin_failure(result));
    if (he2b_result_outcome(result) == HE2B_UNKNOWN)
        message_error("how the command ended is not known");
    if (he2b_result_outcome(result) == HE2B_INCOMPLETE)
        message_error("the output above may be incomplete");
}

static void on_ended(void *user, const he2b_result *result)
{
    struct run *run = user;

    tell(run, result);
    if (he2b_result_outcome(result) == HE2B_NOT_STARTED)
        run->code = EXIT_OWN_FAILURE;
    else
        run->code = he2b_result_exit_code(result);
    close_session(run);
}

/* ---- being ended ---- */

/* The second signal: nothing more is waited for. */
static void leave(const struct run *run)
{
    const char *id = he2b_session_sandbox_id(run->session);

    if (id[0])
        message_error("left at once; sandbox %s may live until its lease is over", id);
    else
        message_error("left at once; if a sandbox was being made, its lease ends it");
    _exit(128 + run->ended_by);
}

static void on_signal(struct run *run, int signum)
{
    if (run->ended_by)
        leave(run);
    run->ended_by = signum;
    message_error("ending the command and leaving; once more to leave at once");
    he2b_command_kill(run->command);
}

static void on_int(void *arg)
{
    on_signal(arg, SIGINT);
}

static void on_term(void *arg)
{
    on_signal(arg, SIGTERM);
}

static void on_hup(void *arg)
{
    on_signal(arg, SIGHUP);
}

static void (*const on_signals[SIGNALS])(void *arg) = {on_int, on_term, on_hup};

static void kill_unread(void *arg)
{
    struct run *run = arg;

    he2b_command_kill(run->command);
}

/* On the printer's thread. */
static void on_broken(void *user)
{
    struct run *run = user;

    (void)he2b_loop_post(run->loop, kill_unread, run);
}

/* ---- the beginning ---- */

static bool set_up_options(struct run *run)
{
    const struct run_args *args = run->args;
    int error = he2b_options_new(&run->options, message_log, &run->verbose);

    if (!error && he2b_options_from_environment(run->options) != HE2B_OK)
        return false; /* the log has told which variable */
    if (!error && args->template_id)
        error = he2b_options_set(run->options, "template", args->template_id);
    if (!error && args->cwd)
        error = he2b_options_set(run->options, "cwd", args->cwd);
    if (error)
        message_error("settings: %s", he2b_strerror(error));
    return error == HE2B_OK;
}

static bool set_up_session(struct run *run)
{
    int error = he2b_loop_new(&run->loop);
    int i;

    if (!error)
        error =
            he2b_session_new(&run->session, run->loop, run->options, message_log, &run->verbose);
    if (!error && run->args->sandbox) {
        error = he2b_session_set_sandbox(run->session, run->args->sandbox);
        if (error == HE2B_ERR_ARG) {
            message_error("--sandbox=%s: that is no id of an E2B sandbox", run->args->sandbox);
            return false;
        }
    }
    for (i = 0; !error && i < SIGNALS; i++) {
        struct sigaction now;

        /* what "nohup" told us to ignore stays ignored */
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            continue;
        error = he2b_loop_on_signal(run->loop, signals[i], on_signals[i], run);
    }
    if (error)
        message_error("%s", he2b_strerror(error));
    return error == HE2B_OK;
}

static int give_output(void *command, int fd)
{
    return he2b_command_set_output(command, fd);
}

static bool set_up_command(struct run *run)
{
    const struct run_args *args = run->args;
    int error = he2b_command_new(&run->command, run->session);

    if (!error)
        error = he2b_command_set_text(run->command, args->command, strlen(args->command));
    if (!error && args->forward_stdin)
        error = he2b_command_set_stdin(run->command, run->input.data, run->input.len);
    if (error == HE2B_ERR_OVERFLOW) {
        message_error("the command is longer than 16 MiB; give it with -i to bash");
        return false;
    }
    if (error) {
        message_error("%s", he2b_strerror(error));
        return false;
    }
    he2b_command_set_login(run->command, args->login);
    he2b_command_set_timeout(run->command, args->timeout_ms);
    run->printing = printer_open(&run->printer, give_output, run->command, on_broken, run);
    return run->printing;
}

static bool set_up(struct run *run)
{
    return (!run->args->forward_stdin || input_read(&run->input, STDIN_FILENO)) &&
           set_up_options(run) && set_up_session(run) && set_up_command(run);
}

/* ---- the whole ---- */

static void run_loop(struct run *run)
{
    int error = he2b_command_start(run->command, on_ended, run);

    if (!error)
        error = he2b_loop_run(run->loop);
    if (error) {
        message_error("%s", he2b_strerror(error));
        run->code = EXIT_OWN_FAILURE;
    }
}

/* What the output's thread has to say counts more than the code of a command that it ended. */
static void finish_output(struct run *run)
{
    int why;

    if (!run->printing)
        return;
    if (run->ended_by && !printer_join_for(&run->printer, LAST_OUTPUT_MS))
        _exit(128 + run->ended_by);
    if (!run->ended_by)
        printer_join(&run->printer);
    why = run->printer.broken_errno;
    if (why == EPIPE) {
        run->code = 128 + SIGPIPE;
    } else if (why) {
        message_error("standard output: %s; the command was ended", strerror(why));
        run->code = EXIT_NOT_KNOWN;
    }
}

static int run_command(const struct run_args *args)
{
    struct run run = {.args = args, .verbose = args->verbose, .code = EXIT_OWN_FAILURE};

    if (set_up(&run))
        run_loop(&run);
    he2b_command_del(run.command);
    he2b_session_del(run.session);
    finish_output(&run);
    he2b_loop_del(run.loop);
    he2b_options_del(run.options);
    input_done(&run.input);
    if (run.ended_by)
        run.code = 128 + run.ended_by;
    return run.code;
}

int run_main(int argc, char **argv)
{
    struct run_args args;
    int code = 0;

    switch (run_args_read(&args, argc, argv)) {
    case RUN_ARGS_RUN:
        code = run_command(&args);
        break;
    case RUN_ARGS_TOLD:
        break;
    case RUN_ARGS_WRONG:
        code = EXIT_OWN_FAILURE;
        break;
    }
    run_args_done(&args);
    return code;
}
