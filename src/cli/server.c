#include "cli/server.h"

#include "cli/exits.h"
#include "cli/message.h"

#include <string.h>

struct wait {
    struct server *server;
    server_use_fn use; /* NULL: nothing is told */
    void *user;
    int error;
};

bool server_open(struct server *ret)
{
    int error;

    memset(ret, 0, sizeof(*ret));
    error = he2b_options_new(&ret->options, message_log, &ret->verbose);
    if (!error && he2b_options_from_environment(ret->options) != HE2B_OK) {
        server_close(ret); /* the log has told which variable */
        return false;
    }
    if (!error)
        error = he2b_loop_new(&ret->loop);
    if (error) {
        message_error("%s", he2b_strerror(error));
        server_close(ret);
    }
    return error == HE2B_OK;
}

void server_close(struct server *server)
{
    he2b_loop_del(server->loop);
    he2b_options_del(server->options);
}

static void on_done(void *user, const he2b_failure *failure, const he2b_sandbox_info *const *items,
                    size_t count)
{
    struct wait *wait = user;

    if (failure) {
        wait->error = he2b_failure_code(failure);
        message_failure(failure);
    } else {
        wait->error = HE2B_OK;
        if (wait->use)
            wait->use(wait->user, items, count);
    }
    he2b_loop_stop(wait->server->loop);
}

/* error: of the call that asked. */
static int wait_for(struct wait *wait, he2b_catalog *catalog, int error, const char *id)
{
    if (!error) {
        error = he2b_loop_run(wait->server->loop);
        he2b_catalog_del(catalog);
        if (!error)
            return wait->error;
    }
    if (error == HE2B_ERR_ARG)
        message_error("%s: that is no id of an E2B sandbox", id);
    else
        message_error("%s", he2b_strerror(error));
    return error;
}

int server_list(struct server *server, server_use_fn use, void *user)
{
    struct wait wait = {.server = server, .use = use, .user = user};
    he2b_catalog *catalog = NULL;
    int error = he2b_catalog_list(&catalog, server->loop, server->options, NULL, on_done, &wait);

    return wait_for(&wait, catalog, error, "");
}

int server_get(struct server *server, const char *id, server_use_fn use, void *user)
{
    struct wait wait = {.server = server, .use = use, .user = user};
    he2b_catalog *catalog = NULL;
    int error = he2b_catalog_get(&catalog, server->loop, server->options, id, on_done, &wait);

    return wait_for(&wait, catalog, error, id);
}

int server_connect(struct server *server, const char *id, int64_t lease_s)
{
    struct wait wait = {.server = server};
    he2b_catalog *catalog = NULL;
    int error =
        he2b_catalog_connect(&catalog, server->loop, server->options, id, lease_s, on_done, &wait);

    return wait_for(&wait, catalog, error, id);
}

int server_kill(struct server *server, const char *id)
{
    struct wait wait = {.server = server};
    he2b_catalog *catalog = NULL;
    int error = he2b_catalog_kill(&catalog, server->loop, server->options, id, on_done, &wait);

    return wait_for(&wait, catalog, error, id);
}

int server_pause(struct server *server, const char *id)
{
    struct wait wait = {.server = server};
    he2b_catalog *catalog = NULL;
    int error = he2b_catalog_pause(&catalog, server->loop, server->options, id, on_done, &wait);

    return wait_for(&wait, catalog, error, id);
}

int server_exit(int error)
{
    if (error == HE2B_OK)
        return 0;
    return error == HE2B_ERR_GONE ? EXIT_NOT_DONE : EXIT_OWN_FAILURE;
}
