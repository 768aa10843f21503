/*
 * The event loop (he2b.h: he2b_loop): timers, descriptors, later calls, and the pool of
 * connections. The only file that knows libevent is loop.c.
 *
 * Everything here is called on the loop thread. A callback may delete the object it belongs to.
 */
#ifndef HE2B_NET_LOOP_H
#define HE2B_NET_LOOP_H

#include "he2b.h"

#include <stdbool.h>
#include <stdint.h>

/* Milliseconds of the monotonic clock, asked for when needed (no cached now). */
int64_t he2b_now_ms(void);

/* True in a forked child of the process that made the loop: nothing may be done with it there. */
bool he2b_loop_forked(const he2b_loop *loop);

/* ---- timers: one shot; nothing wakes up while none is armed ---- */

typedef struct he2b_timer he2b_timer;
typedef void (*he2b_timer_fn)(void *arg);

int he2b_timer_new(he2b_timer **ret, he2b_loop *loop, he2b_timer_fn fn, void *arg);
/* (Re)arms it; 0 means the next turn of the loop. Returns HE2B_OK, HE2B_ERR_LOOP. */
int he2b_timer_arm(he2b_timer *timer, int64_t ms);
void he2b_timer_disarm(he2b_timer *timer);
bool he2b_timer_armed(const he2b_timer *timer);
void he2b_timer_del(he2b_timer *timer);

/* ---- tasks: "call this from the loop, not from here"; how every pump is started ---- */

typedef struct he2b_task he2b_task;

int he2b_task_new(he2b_task **ret, he2b_loop *loop, void (*fn)(void *arg), void *arg);
/* Runs once, soon; scheduling a scheduled task changes nothing. Never fails. */
void he2b_task_schedule(he2b_task *task);
void he2b_task_del(he2b_task *task);

/* ---- watches: a descriptor that is ready; for net, and for what waits for a thread ---- */

enum {
    HE2B_WATCH_READ = 1,
    HE2B_WATCH_WRITE = 2,
};

typedef struct he2b_watch he2b_watch;
typedef void (*he2b_watch_fn)(void *arg, int what);

/* Calls fn at each turn in which fd is ready for some of what, until it is deleted. The descriptor
 * stays the caller's. Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP. */
int he2b_watch_new(he2b_watch **ret, he2b_loop *loop, int fd, int what, he2b_watch_fn fn,
                   void *arg);
/* Before the descriptor is closed. NULL is fine. */
void he2b_watch_del(he2b_watch *watch);

/* ---- objects that live as long as a loop, one of each kind ---- */

enum he2b_loop_place {
    HE2B_LOOP_POOL,    /* net/pool: the connections */
    HE2B_LOOP_SERVERS, /* e2b/servers: what is known of servers */
    HE2B_LOOP_PLACES,
};

/* NULL: none yet. */
void *he2b_loop_attached(const he2b_loop *loop, enum he2b_loop_place place);
/* del(object) is called by he2b_loop_del() while the loop's descriptors still work. */
void he2b_loop_attach(he2b_loop *loop, enum he2b_loop_place place, void *object,
                      void (*del)(void *object));

/* ---- outlet: bytes to a pipe at the reader's pace (rule 5 of he2b.h) ---- */

typedef struct he2b_outlet he2b_outlet;
/* The reader has made room: he2b_outlet_write() takes bytes again. */
typedef void (*he2b_outlet_fn)(void *arg);

/* fd becomes the outlet's, non-blocking. Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_SYSTEM (fd
 * stays the caller's). */
int he2b_outlet_new(he2b_outlet **ret, he2b_loop *loop, int fd, he2b_outlet_fn room, void *arg);
/*
 * Writes what the pipe takes now and returns how much that was; less than len means: full, stop the
 * source, room will come. A reader that is gone swallows everything (and he2b_outlet_broken() is
 * true): SIGPIPE is never raised.
 */
size_t he2b_outlet_write(he2b_outlet *outlet, const void *data, size_t len);
bool he2b_outlet_broken(const he2b_outlet *outlet);
/* Closes the descriptor: end of file for the reader. */
void he2b_outlet_del(he2b_outlet *outlet);

#endif
