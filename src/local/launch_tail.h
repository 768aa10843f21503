/*
 * The last line that a sandbox's helpers wrote to their standard error: what a failure is told
 * with.
 */
#ifndef HE2B_LOCAL_LAUNCH_TAIL_H
#define HE2B_LOCAL_LAUNCH_TAIL_H

#include <stddef.h>

/* Guards the keeper against what a sandbox writes; the rest of a longer line is dropped. */
enum {
    LAUNCH_TAIL_MAX = 384
};

struct launch_tail {
    /* a pipe's read end, owned; -1 from its end of file on */
    int fd;
    size_t len;
    char text[LAUNCH_TAIL_MAX];
};

/* Reads once what is there. Must be called whenever fd is readable: a full pipe would block. */
void launch_tail_read(struct launch_tail *tail);

/* Reads all that is there now. */
void launch_tail_drain(struct launch_tail *tail);

/* Without its line end, not escaped, "" if there was nothing; valid until the next read. */
const char *launch_tail_text(struct launch_tail *tail);

#endif
