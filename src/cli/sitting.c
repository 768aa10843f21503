#include "cli/sitting.h"

#include "cli/exits.h"
#include "cli/keyboard.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "cli/raw_mode.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* A terminal that shows nothing any more must not keep the program alive. */
    LAST_OUTPUT_MS = 2000,
    LAST_OUTPUT_OF_SHELL_MS = 10000,
    /* Typed, and not taken by the sandbox yet: guards against a paste into a dead connection. */
    PENDING_MAX = 64 * 1024,
};

struct sitting {
    struct server *server;
    const char *id;
    he2b_terminal *terminal;
    struct printer printer;
    struct keyboard keyboard;
    bool printing;
    bool started;
    char pending[PENDING_MAX];
    size_t pending_len;
    bool sending;
    bool full;    /* the keyboard's piece waits for room */
    bool leaving; /* as soon as all is sent */
    bool over;
    bool ended;   /* by the shell itself */
    int ended_by; /* signal; 0: none */
    int code;
};

/* ---- the end ---- */

static void stop(struct sitting *sitting)
{
    sitting->over = true;
    he2b_loop_stop(sitting->server->loop);
}

/* In the middle of a line of the sandbox's, most likely. */
static void new_line(void)
{
    (void)!write(STDERR_FILENO, "\n", 1);
}

static void leave(struct sitting *sitting)
{
    if (sitting->over)
        return;
    raw_mode_off();
    new_line();
    message_error("left; the shell goes on in %s as process %lld, hermes-e2b run -s %s 'kill -HUP "
                  "%lld' ends it",
                  sitting->id, (long long)he2b_terminal_pid(sitting->terminal), sitting->id,
                  (long long)he2b_terminal_pid(sitting->terminal));
    sitting->code = 0;
    stop(sitting);
}

static void on_ended(void *user, int exit_code, const he2b_failure *failure)
{
    struct sitting *sitting = user;

    if (!failure) {
        sitting->code = exit_code;
        sitting->ended = true;
    } else {
        raw_mode_off();
        if (sitting->started) {
            new_line();
            sitting->code = EXIT_NOT_KNOWN;
        } else {
            sitting->code = server_exit(he2b_failure_code(failure));
        }
        message_failure(failure);
    }
    stop(sitting);
}

/* ---- what is typed ---- */

static void on_sent(void *user);

static void send_pending(struct sitting *sitting)
{
    int error;

    if (sitting->sending || !sitting->pending_len)
        return;
    error = he2b_terminal_send(sitting->terminal, sitting->pending, sitting->pending_len, on_sent,
                               sitting);
    sitting->sending = !error;
    sitting->pending_len = 0;
    if (error && error != HE2B_ERR_STATE) { /* _STATE: it is ending, which is told soon */
        raw_mode_off();
        new_line();
        message_error("what was typed could not be sent: %s", he2b_strerror(error));
        sitting->code = EXIT_NOT_KNOWN;
        stop(sitting);
    }
}

static void print_help(void)
{
    static const char text[] = "\r\n"
                               "At the start of a line:\r\n"
                               "  ~.  leave; what runs in the sandbox goes on\r\n"
                               "  ~~  type a ~\r\n"
                               "  ~?  this text\r\n";

    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
}

static void detach(struct sitting *sitting)
{
    static const char text[] = "\r\nhermes-e2b: what was typed is still on its way; ~. once more "
                               "leaves at once\r\n";

    if (sitting->leaving || (!sitting->sending && !sitting->pending_len)) {
        leave(sitting);
        return;
    }
    sitting->leaving = true;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
}

/* Takes the keyboard's piece if there is room. */
static void take(struct sitting *sitting)
{
    struct keyboard *keyboard = &sitting->keyboard;
    enum escape_found found = keyboard->found;

    sitting->full = keyboard->len > sizeof(sitting->pending) - sitting->pending_len;
    if (sitting->full)
        return;
    memcpy(sitting->pending + sitting->pending_len, keyboard->piece, keyboard->len);
    sitting->pending_len += keyboard->len;
    send_pending(sitting);
    if (found == ESCAPE_HELP)
        print_help();
    if (found == ESCAPE_DETACH)
        detach(sitting);
    keyboard_go(keyboard);
}

static void on_sent(void *user)
{
    struct sitting *sitting = user;

    sitting->sending = false;
    send_pending(sitting);
    if (sitting->full)
        take(sitting);
    if (sitting->leaving && !sitting->sending)
        leave(sitting);
}

static void on_signal(struct sitting *sitting, int signum);

static void on_piece(void *arg)
{
    struct sitting *sitting = arg;

    if (sitting->over)
        return;
    if (sitting->keyboard.end)
        on_signal(sitting, SIGHUP);
    else
        take(sitting);
}

/* On the keyboard's thread. */
static void on_typed(void *user)
{
    struct sitting *sitting = user;

    (void)he2b_loop_post(sitting->server->loop, on_piece, sitting);
}

/* ---- signals ---- */

static void on_signal(struct sitting *sitting, int signum)
{
    sitting->ended_by = signum;
    if (sitting->started)
        leave(sitting);
    else
        stop(sitting);
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

static void follow_size(void *arg)
{
    struct sitting *sitting = arg;
    unsigned cols;
    unsigned rows;

    raw_mode_size(&cols, &rows);
    if (!sitting->over)
        (void)he2b_terminal_resize(sitting->terminal, cols, rows);
}

/* The shell that gets the terminal meanwhile finds it as it was. */
static void on_stop(void *arg)
{
    (void)arg;
    raw_mode_off();
    (void)raise(SIGSTOP);
}

static void on_continue(void *arg)
{
    const struct sitting *sitting = arg;

    if (sitting->started && !sitting->over)
        (void)raw_mode_on();
    follow_size(arg);
}

static int follow_signals(struct sitting *sitting)
{
    static const struct {
        int signum;
        void (*fn)(void *arg);
        bool unless_ignored; /* what "nohup" told us to ignore stays ignored */
    } signals[] = {
        {SIGINT, on_int, true},         {SIGTERM, on_term, true}, {SIGHUP, on_hup, true},
        {SIGWINCH, follow_size, false}, {SIGTSTP, on_stop, true}, {SIGCONT, on_continue, false},
    };
    struct sigaction now;
    size_t i;
    int error = HE2B_OK;

    for (i = 0; !error && i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (signals[i].unless_ignored && sigaction(signals[i].signum, NULL, &now) == 0 &&
            now.sa_handler == SIG_IGN)
            continue;
        error =
            he2b_loop_on_signal(sitting->server->loop, signals[i].signum, signals[i].fn, sitting);
    }
    return error;
}

/* ---- output ---- */

static void leave_unread(void *arg)
{
    struct sitting *sitting = arg;

    leave(sitting);
}

/* On the printer's thread. */
static void on_broken(void *user)
{
    struct sitting *sitting = user;

    (void)he2b_loop_post(sitting->server->loop, leave_unread, sitting);
}

static int give_output(void *terminal, int fd)
{
    return he2b_terminal_set_output(terminal, fd);
}

/* ---- the whole ---- */

static void on_started(void *user)
{
    struct sitting *sitting = user;

    message_error("in %s; Enter, then ~. leaves, and ends nothing there", sitting->id);
    if (!raw_mode_on() || !keyboard_start(&sitting->keyboard, STDIN_FILENO, on_typed, sitting)) {
        raw_mode_off();
        message_error("terminal: %s", strerror(errno));
        stop(sitting);
        return;
    }
    sitting->started = true;
}

static bool set_up(struct sitting *sitting)
{
    int error = he2b_terminal_new(&sitting->terminal, sitting->server->loop,
                                  sitting->server->options, sitting->id);

    if (error == HE2B_ERR_ARG) {
        message_error("%s: that is no id of an E2B sandbox", sitting->id);
        return false;
    }
    /* a TERM that is nonsense is as good as none */
    if (!error && he2b_terminal_set_type(sitting->terminal, getenv("TERM")) == HE2B_ERR_NOMEM)
        error = HE2B_ERR_NOMEM;
    if (!error)
        error = follow_signals(sitting);
    if (error) {
        message_error("%s", he2b_strerror(error));
        return false;
    }
    follow_size(sitting);
    sitting->printing =
        printer_open(&sitting->printer, give_output, sitting->terminal, on_broken, sitting);
    return sitting->printing;
}

static void run(struct sitting *sitting)
{
    int error = he2b_terminal_start(sitting->terminal, on_started, on_ended, sitting);

    if (!error)
        error = he2b_loop_run(sitting->server->loop);
    if (error) {
        raw_mode_off();
        message_error("%s", he2b_strerror(error));
        sitting->code = EXIT_OWN_FAILURE;
    }
}

/* False: a thread still uses what is here. */
static bool tear_down(struct sitting *sitting)
{
    bool printed = true;

    sitting->over = true;
    if (sitting->started)
        keyboard_stop(&sitting->keyboard);
    he2b_terminal_del(sitting->terminal);
    if (!sitting->ended)
        raw_mode_off();
    /* The shell's last words are still to be shown in raw mode. */
    if (sitting->printing)
        printed = printer_join_for(&sitting->printer,
                                   sitting->ended ? LAST_OUTPUT_OF_SHELL_MS : LAST_OUTPUT_MS);
    raw_mode_off();
    return printed;
}

int sitting(struct server *server, const char *id)
{
    static struct sitting sitting; /* one per program; it is large */
    int code;

    sitting.server = server;
    sitting.id = id;
    sitting.code = EXIT_OWN_FAILURE;
    if (set_up(&sitting))
        run(&sitting);
    if (!tear_down(&sitting))
        _exit(sitting.ended_by ? 128 + sitting.ended_by : EXIT_NOT_KNOWN);
    code = sitting.code;
    if (sitting.printing && sitting.printer.broken_errno == EPIPE)
        code = 128 + SIGPIPE;
    if (sitting.ended_by)
        code = 128 + sitting.ended_by;
    return code;
}
