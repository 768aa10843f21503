/*
 * A command's output on its way from the stream to the caller's pipe: the end marker is taken out,
 * what the pipe does not take is held (one message at most), and then the stream stops.
 */
#ifndef HE2B_SESSION_OUTPUT_H
#define HE2B_SESSION_OUTPUT_H

#include "core/buf.h"
#include "machines/marker.h"
#include "net/loop.h"

struct he2b_output {
    struct he2b_marker marker;
    he2b_outlet *outlet; /* NULL: thrown away */
    struct he2b_buf held;
    bool incomplete; /* some of it was lost for want of memory */
    /* all that was held is out: the stream may go on, what waited for it may happen */
    void (*drained)(void *user);
    void *user;
};

void he2b_output_init(struct he2b_output *output, const char *word, void (*drained)(void *user),
                      void *user);
/* Takes fd over. HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_SYSTEM (fd stays the caller's). */
int he2b_output_open(struct he2b_output *output, he2b_loop *loop, int fd);
/* False: nothing of it was taken, the pipe is full. */
bool he2b_output_add(struct he2b_output *output, const char *data, size_t len);
/* The stream is over: what looked like the beginning of a marker was none. */
void he2b_output_finish(struct he2b_output *output);
/* True if nothing is held. */
bool he2b_output_drained(const struct he2b_output *output);
/* End of file for the reader, at once; what is held is dropped. */
void he2b_output_close(struct he2b_output *output);

#endif
