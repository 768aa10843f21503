/*
 * Between a process' input (daemon_input.c) and the requests that wait for it
 * (daemon_input_send.c, daemon_input_stream.c).
 */
#ifndef HE2B_LOCAL_DAEMON_INPUT_ASKER_H
#define HE2B_LOCAL_DAEMON_INPUT_ASKER_H

#include "local/daemon_input.h"

struct input_asker {
    TAILQ_ENTRY(input_asker) link;
    struct input *input; /* NULL: not waiting */
    uint64_t end;
    /* All was written, or will never be; it waits no more. Maybe called from input_ask(). */
    void (*written)(struct input_asker *asker, bool good);
};

/* Queues the bytes of a ProcessInput. NULL, or a Connect code and what is wrong (static). */
const char *input_add(struct input *input, const he2b_json *message, const char **ret_why);
/* Waits until all that was queued so far is written. */
void input_ask(struct input *input, struct input_asker *asker);
/* What was queued is written all the same. */
void input_ask_no_more(struct input_asker *asker);

#endif
