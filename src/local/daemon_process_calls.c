/* The calls of process.Process but those for input (wire C.7, C.9). */
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_path.h"
#include "local/daemon_process.h"
#include "local/daemon_reader.h"
#include "local/daemon_rpc.h"
#include "local/daemon_spawn.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    /* room for a message with a path */
    WHY_SIZE = DAEMON_PATH_MAX + 256,
};

/* False after an answer: the service's daemon would end of it (wire C.5). */
static bool keepalive_is_good(struct exchange *x)
{
    if (rpc_keepalive_s(x) > 0)
        return true;
    rpc_stream_fail(x, "invalid_argument", "Keepalive-Ping-Interval must be above 0");
    return false;
}

static unsigned short side(const he2b_json *size, const char *key, unsigned short otherwise)
{
    int64_t value = 0;

    if (!he2b_json_int(he2b_json_get(size, key), &value) || value < 1 || value > UINT16_MAX)
        return otherwise;
    return (unsigned short)value;
}

static void read_size(const he2b_json *pty, unsigned short *ret_cols, unsigned short *ret_rows)
{
    const he2b_json *size = he2b_json_get(pty, "size");

    *ret_cols = side(size, "cols", 80);
    *ret_rows = side(size, "rows", 24);
}

void process_start(struct exchange *x, const he2b_json *request)
{
    const he2b_json *pty = he2b_json_get(request, "pty");
    struct spawn spawn = {.stdin_open = true, .pty = pty != NULL};
    char name[DAEMON_USER_NAME_MAX];
    int64_t timeout = rpc_timeout_ms(x);
    struct process *process;
    char why[WHY_SIZE];
    const char *wrong;
    const char *code;

    if (!keepalive_is_good(x))
        return;
    if (!daemon_user_of_header(&spawn.user, exchange_header(x, "authorization"), name)) {
        rpc_stream_fail(x, "unauthenticated", "invalid username: '%s'", name);
        return;
    }
    spawn.config = he2b_json_get(request, "process");
    (void)he2b_json_bool(he2b_json_get(request, "stdin"), &spawn.stdin_open);
    read_size(pty, &spawn.cols, &spawn.rows);
    wrong = daemon_path(spawn.cwd, he2b_json_get_string(spawn.config, "cwd"), &spawn.user);
    if (wrong) {
        rpc_stream_fail(x, "invalid_argument", "%s", wrong);
        return;
    }
    if (spawn_process(&spawn, &code, why, sizeof(why)) != 0) {
        rpc_stream_fail(x, code, "%s", why);
        return;
    }
    process = process_new(&spawn, request);
    if (!process) {
        rpc_stream_fail(x, "internal", "out of memory");
        return;
    }
    if (timeout > 0)
        process_kill_after(process, timeout);
    reader_add(process, x);
}

void process_connect(struct exchange *x, const he2b_json *request)
{
    struct process *process;
    char why[WHY_SIZE];
    const char *code;

    if (!keepalive_is_good(x))
        return;
    process = process_select(he2b_json_get(request, "process"), true, &code, why, sizeof(why));
    if (process)
        reader_add(process, x);
    else
        rpc_stream_fail(x, code, "%s", why);
}

/* NULL: no memory. */
static he2b_json *list_entry(const struct process *process)
{
    he2b_json *entry = he2b_json_new_object();

    if (entry && he2b_json_add(entry, "config", he2b_json_copy(process->config)) == HE2B_OK &&
        he2b_json_add_int(entry, "pid", process->pid) == HE2B_OK &&
        (!process->tag || he2b_json_add_string(entry, "tag", process->tag) == HE2B_OK))
        return entry;
    he2b_json_del(entry);
    return NULL;
}

void process_list(struct exchange *x, const he2b_json *request)
{
    he2b_json *answer = he2b_json_new_object();
    he2b_json *list = he2b_json_new_array();
    const struct process *process;
    int error = answer && list ? HE2B_OK : HE2B_ERR_NOMEM;

    (void)request;
    TAILQ_FOREACH(process, &process_live, link)
    {
        if (error == HE2B_OK)
            error = he2b_json_append(list, list_entry(process));
    }
    if (error == HE2B_OK && he2b_json_array_size(list) > 0) {
        error = he2b_json_add(answer, "processes", list);
        list = NULL;
    }
    he2b_json_del(list);
    if (error == HE2B_OK) {
        rpc_answer(x, answer);
        return;
    }
    he2b_json_del(answer);
    rpc_answer(x, NULL);
}

/* 0: none that may be sent. */
static int read_signal(const he2b_json *value)
{
    const char *name = he2b_json_string(value, NULL);
    int64_t number = 0;

    if (name && strcmp(name, "SIGNAL_SIGKILL") == 0)
        return SIGKILL;
    if (name && strcmp(name, "SIGNAL_SIGTERM") == 0)
        return SIGTERM;
    if (!he2b_json_int(value, &number) || (number != SIGKILL && number != SIGTERM))
        return 0;
    return (int)number;
}

void process_send_signal(struct exchange *x, const he2b_json *request)
{
    int signum = read_signal(he2b_json_get(request, "signal"));
    struct process *process;
    char why[WHY_SIZE];
    const char *code;

    process = process_select(he2b_json_get(request, "process"), false, &code, why, sizeof(why));
    if (!process) {
        rpc_error(x, code, "%s", why);
    } else if (signum == 0) {
        rpc_error(x, "unimplemented", "only SIGNAL_SIGKILL and SIGNAL_SIGTERM can be sent");
    } else {
        process_signal(process, signum);
        rpc_answer(x, he2b_json_new_object());
    }
}

void process_update(struct exchange *x, const he2b_json *request)
{
    const he2b_json *pty = he2b_json_get(request, "pty");
    struct process *process;
    struct winsize size = {0};
    char why[WHY_SIZE];
    const char *code;

    process = process_select(he2b_json_get(request, "process"), false, &code, why, sizeof(why));
    if (!process) {
        rpc_error(x, code, "%s", why);
        return;
    }
    read_size(pty, &size.ws_col, &size.ws_row);
    if (pty && (process->outputs[PROCESS_PTY].fd < 0 ||
                ioctl(process->outputs[PROCESS_PTY].fd, TIOCSWINSZ, &size) != 0)) {
        rpc_error(x, "internal", "error resizing tty: tty not assigned to process");
        return;
    }
    rpc_answer(x, he2b_json_new_object());
}
