/*
 * The scripted peer (README.md) as a child process of a C test: started with a script, asked for
 * counts over its standard input and output. Loopback only; every wait has a deadline, and a peer
 * that does not answer by then aborts the test.
 */
#ifndef HE2B_TESTS_PEER_CHILD_H
#define HE2B_TESTS_PEER_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct peer_child;

/* Why it cannot run here ("configure found no Python ..."), to be printed by a test that skips
 * itself; NULL if it can. Static. */
const char *peer_child_missing(void);

/* script: its text. upstream: "HOST:PORT" that gets what the script does not spoil, or NULL: the
 * peer answers alone. Ends the test if the peer does not start. */
struct peer_child *peer_child_new(const char *script, const char *upstream);
/* Kills it, if peer_child_end() did not end it. NULL is fine. */
void peer_child_del(struct peer_child *peer);

/* "http://127.0.0.1:PORT" */
const char *peer_child_url(const struct peer_child *peer);
/* How many requests came for this route ("POST /sandboxes", * is a wildcard), or the number of
 * "connections", "requests", "turns". */
unsigned peer_child_count(struct peer_child *peer, const char *what);
/* Opens a barrier of the script; waits until a request is held at it or it is open. */
void peer_child_release(struct peer_child *peer, const char *barrier);
void peer_child_await(struct peer_child *peer, const char *barrier);
/* Sends one line ("requests") and returns the answer, which is valid until the next call. */
const char *peer_child_ask(struct peer_child *peer, const char *line);

/* Ends it. True if every expect was met; else the peer has said on standard error what was not. */
bool peer_child_end(struct peer_child *peer);

#endif
