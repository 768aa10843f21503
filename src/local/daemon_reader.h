/*
 * The Start and Connect streams of a process: each gets every event from when it came (wire C.5,
 * C.9).
 */
#ifndef HE2B_LOCAL_DAEMON_READER_H
#define HE2B_LOCAL_DAEMON_READER_H

#include <stdbool.h>
#include <stddef.h>

struct exchange;
struct process;

enum {
    /* Bytes of one event of output (wire C.9). */
    READER_OUTPUT_MAX = 32 * 1024,
};

/* A stream begins with its start event; on a process that has ended it gets the end, too. */
void reader_add(struct process *process, struct exchange *x);

/* One reader at least has not taken what it got. */
bool reader_behind(const struct process *process);
/* An event of output to all of them; name is "stdout", "stderr" or "pty", len READER_OUTPUT_MAX at
 * most. */
void reader_output(struct process *process, const char *name, const char *data, size_t len);
/* The end event of process to all of them, which were the last. */
void reader_end_all(struct process *process);
/* Cuts them all. */
void reader_cut_all(struct process *process);

#endif
