/*
 * A thread of its own that copies the command's output to stdout, so that a slow terminal or pipe
 * stops the transfer (B-40) and never the loop.
 */
#ifndef HE2B_CLI_PRINTER_H
#define HE2B_CLI_PRINTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct printer {
    pthread_t thread;
    int in;  /* read end of the pipe; the thread's, closed at its end */
    int out; /* where to; stays the caller's */
    /* called on the thread when out takes nothing any more */
    void (*broken)(void *user);
    void *user;
    int broken_errno; /* why; 0: it works. Read it after printer_join(). */
};

/* False with errno set. in stays the caller's then. printer must stay where it is. */
bool printer_start(struct printer *printer, int in, int out, void (*broken)(void *user),
                   void *user);
/* Makes the pipe: give() gets its write end, which stays ours if it answers an error, and a thread
 * copies the read end to stdout. False after a message. */
bool printer_open(struct printer *printer, int (*give)(void *of, int fd), void *of,
                  void (*broken)(void *user), void *user);
/* Waits until all output is out. */
void printer_join(struct printer *printer);
/* As printer_join(), for at most ms: a reader that stands still must not keep the program alive
 * after Ctrl-C. False: the thread goes on, and the program may only exit. */
bool printer_join_for(struct printer *printer, int64_t ms);

#endif
