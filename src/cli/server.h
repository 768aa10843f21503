/*
 * Questions to the server, asked one after the other and waited for.
 */
#ifndef HE2B_CLI_SERVER_H
#define HE2B_CLI_SERVER_H

#include "he2b.h"

#include <stdbool.h>

struct server {
    bool verbose;
    he2b_options *options;
    he2b_loop *loop;
};

/* Reads the environment's settings; contacts nobody. False after a message. */
bool server_open(struct server *ret);
void server_close(struct server *server);

/* Gets what was answered, borrowed: not called on failure. */
typedef void (*server_use_fn)(void *user, const he2b_sandbox_info *const *items, size_t count);

/* Each returns HE2B_OK, or an error after a message. */
int server_list(struct server *server, server_use_fn use, void *user);
int server_get(struct server *server, const char *id, server_use_fn use, void *user);
int server_connect(struct server *server, const char *id, int64_t lease_s);
int server_kill(struct server *server, const char *id);
int server_pause(struct server *server, const char *id);

/* The program's exit code for what one of them returned. */
int server_exit(int error);

#endif
