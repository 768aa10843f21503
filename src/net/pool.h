/*
 * The pool: one curl multi handle per loop with its descriptors and timer, and the calls in it.
 * Shared by pool.c (the multi handle) and http.c (one call); nobody else includes this.
 */
#ifndef HE2B_NET_POOL_H
#define HE2B_NET_POOL_H

#include "net/loop.h"

#include <curl/curl.h>

struct he2b_pool;

/* What the pool calls when libcurl says that a transfer is over; the handle is still in the pool.
 */
typedef void (*he2b_pool_done_fn)(void *call, CURLcode code);

/* The loop's pool, made at the first use. Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP. */
int he2b_pool_get(struct he2b_pool **ret, he2b_loop *loop);

/* easy's CURLOPT_PRIVATE must be call. Not from inside a libcurl callback. */
int he2b_pool_add(struct he2b_pool *pool, CURL *easy, he2b_pool_done_fn done, void *call);

/*
 * Takes the handle out and frees it. If a name look-up is under way, that would wait for it
 * (libcurl joins its resolver thread): such a handle stays behind, without its call, until the
 * look-up is over, and is stopped before it sends anything.
 */
void he2b_pool_remove(struct he2b_pool *pool, CURL *easy, bool resolving);

/* Unpauses a transfer: its callbacks run inside this. Not from inside a libcurl callback. */
void he2b_pool_unpause(struct he2b_pool *pool, CURL *easy);

#endif
