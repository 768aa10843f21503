#include "e2b/servers.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* One loop has one server nearly always; guards against settings that change for ever. */
    SERVERS_MAX = 16,
};

struct server {
    char *name; /* NULL: free */
    bool proto;
};

struct servers {
    struct server list[SERVERS_MAX];
    unsigned next; /* to be overwritten, the oldest */
};

/* Sandboxes of one installation share the version of their daemon, give or take: where each has a
 * host of its own, the domain is the server. */
static const char *name_of(const struct he2b_process_target *target)
{
    if (target->settings->sandbox_url)
        return target->settings->sandbox_url;
    return target->endpoint->domain[0] ? target->endpoint->domain : target->settings->domain;
}

static struct server *find(const struct he2b_process_target *target)
{
    struct servers *servers = he2b_loop_attached(target->loop, HE2B_LOOP_SERVERS);
    const char *name = name_of(target);
    size_t i;

    for (i = 0; servers && i < SERVERS_MAX; i++) {
        if (servers->list[i].name && strcmp(servers->list[i].name, name) == 0)
            return &servers->list[i];
    }
    return NULL;
}

const struct he2b_codec *he2b_servers_start_codec(const struct he2b_process_target *target)
{
    const struct server *server = find(target);

    return server && !server->proto ? &he2b_codec_json : &he2b_codec_proto;
}

const struct he2b_codec *he2b_servers_call_codec(const struct he2b_process_target *target)
{
    const struct server *server = find(target);

    return server && server->proto ? &he2b_codec_proto : &he2b_codec_json;
}

static void servers_del(void *object)
{
    struct servers *servers = object;
    size_t i;

    for (i = 0; i < SERVERS_MAX; i++)
        free(servers->list[i].name);
    free(servers);
}

static struct servers *get(he2b_loop *loop)
{
    struct servers *servers = he2b_loop_attached(loop, HE2B_LOOP_SERVERS);

    if (servers)
        return servers;
    servers = calloc(1, sizeof(*servers));
    if (servers)
        he2b_loop_attach(loop, HE2B_LOOP_SERVERS, servers, servers_del);
    return servers;
}

void he2b_servers_note(const struct he2b_process_target *target, bool proto)
{
    struct server *server = find(target);
    struct servers *servers;
    char *name;

    if (server) {
        server->proto = proto;
        return;
    }
    servers = get(target->loop);
    name = servers ? strdup(name_of(target)) : NULL;
    if (!name)
        return;
    server = &servers->list[servers->next];
    servers->next = (servers->next + 1) % SERVERS_MAX;
    free(server->name);
    server->name = name;
    server->proto = proto;
}
