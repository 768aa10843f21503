#include "local/daemon_route.h"

#include "local/daemon_exchange.h"
#include "local/daemon_files.h"
#include "local/daemon_filesystem.h"
#include "local/daemon_input.h"
#include "local/daemon_process.h"
#include "local/daemon_rpc.h"
#include "local/daemon_state.h"
#include "local/daemon_user.h"

#include <string.h>

#define JSON_ONLY CODEC_NONE, CODEC_NONE

static const struct rpc_method methods[] = {
    {"/process.Process/Start", RPC_SERVER_STREAM, process_start, NULL, CODEC_START_REQUEST,
     CODEC_START_RESPONSE},
    {"/process.Process/Connect", RPC_SERVER_STREAM, process_connect, NULL, CODEC_SELECT_REQUEST,
     CODEC_START_RESPONSE},
    {"/process.Process/List", RPC_UNARY, process_list, NULL, CODEC_EMPTY, CODEC_LIST_RESPONSE},
    {"/process.Process/SendInput", RPC_UNARY, input_send, NULL, CODEC_SEND_INPUT_REQUEST,
     CODEC_EMPTY},
    {"/process.Process/CloseStdin", RPC_UNARY, input_close, NULL, CODEC_SELECT_REQUEST,
     CODEC_EMPTY},
    {"/process.Process/SendSignal", RPC_UNARY, process_send_signal, NULL, CODEC_SEND_SIGNAL_REQUEST,
     CODEC_EMPTY},
    {"/process.Process/Update", RPC_UNARY, process_update, NULL, CODEC_UPDATE_REQUEST, CODEC_EMPTY},
    {"/process.Process/StreamInput", RPC_CLIENT_STREAM, NULL, input_stream, JSON_ONLY},
    {"/filesystem.Filesystem/Stat", RPC_UNARY, filesystem_stat, NULL, JSON_ONLY},
    {"/filesystem.Filesystem/MakeDir", RPC_UNARY, filesystem_make_dir, NULL, JSON_ONLY},
    {"/filesystem.Filesystem/Move", RPC_UNARY, filesystem_move, NULL, JSON_ONLY},
    {"/filesystem.Filesystem/Remove", RPC_UNARY, filesystem_remove, NULL, JSON_ONLY},
    {"/filesystem.Filesystem/ListDir", RPC_UNARY, filesystem_list_dir, NULL, JSON_ONLY},
    /* known, and not served */
    {"/filesystem.Filesystem/WatchDir", RPC_SERVER_STREAM, NULL, NULL, JSON_ONLY},
    {"/filesystem.Filesystem/CreateWatcher", RPC_UNARY, NULL, NULL, JSON_ONLY},
    {"/filesystem.Filesystem/GetWatcherEvents", RPC_UNARY, NULL, NULL, JSON_ONLY},
    {"/filesystem.Filesystem/RemoveWatcher", RPC_UNARY, NULL, NULL, JSON_ONLY},
};

static const struct {
    const char *path;
    const char *method;
    void (*handler)(struct exchange *x);
} plain[] = {
    {"/health", "GET", state_health}, {"/metrics", "GET", state_metrics},
    {"/envs", "GET", state_envs},     {"/files", "GET", files_download},
    {"/files", "POST", files_upload}, {"/files/compose", "POST", files_compose},
};

/* A user who does not exist is refused before anything else is looked at (wire C.3). */
static bool user_is_known(struct exchange *x)
{
    struct daemon_user user;
    char name[DAEMON_USER_NAME_MAX];

    if (daemon_user_of_header(&user, exchange_header(x, "authorization"), name))
        return true;
    if (exchange_header_is(x, "content-type", "application/connect+json") ||
        exchange_header_is(x, "content-type", "application/connect+proto"))
        rpc_stream_fail(x, "unauthenticated", "invalid username: '%s'", name);
    else
        rpc_error(x, "unauthenticated", "invalid username: '%s'", name);
    return false;
}

void daemon_route(struct exchange *x)
{
    const char *path = exchange_path(x);
    const char *allowed = NULL;
    size_t i;

    if (!user_is_known(x))
        return;
    for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(path, methods[i].path) == 0) {
            rpc_begin(x, &methods[i]);
            return;
        }
    }
    for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (strcmp(path, plain[i].path) != 0)
            continue;
        if (strcmp(exchange_method(x), plain[i].method) == 0) {
            plain[i].handler(x);
            return;
        }
        allowed = allowed ? "GET, POST" : plain[i].method;
    }
    if (allowed)
        exchange_text(x, 405, "", "Allow", allowed);
    else
        exchange_text(x, 404, "404 page not found\n", NULL, NULL);
}
