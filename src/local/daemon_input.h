/*
 * What goes into a process: its stdin, or its terminal. Requests are written in the order in which
 * they came, each answered when all of its bytes are in the pipe (wire C.9).
 */
#ifndef HE2B_LOCAL_DAEMON_INPUT_H
#define HE2B_LOCAL_DAEMON_INPUT_H

#include "core/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct event;
struct evbuffer;
struct exchange;
struct input_asker;

struct input {
    int fd; /* -1: there is none, or it is closed */
    bool terminal;
    bool closing; /* once what is queued has been written */
    struct event *writable;
    struct evbuffer *queue;
    /* bytes so far; an asker is done when its own end has been written */
    uint64_t queued;
    uint64_t written;
    TAILQ_HEAD(, input_asker) askers;
};

/* Takes over pipe (-1: none); terminal (-1: none) stays the caller's. False: no memory; only
 * input_done() may follow. */
bool input_init(struct input *input, int pipe, int terminal);
/* Closes it; who waits is told that it failed. */
void input_shut(struct input *input);
void input_done(struct input *input);

/* ---- calls ---- */

void input_send(struct exchange *x, const he2b_json *request);
void input_close(struct exchange *x, const he2b_json *request);
/* StreamInput: its messages are written as they come. */
void input_stream(struct exchange *x);

#endif
