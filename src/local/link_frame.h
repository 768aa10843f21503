/*
 * Frames of the link (link.h) in and out of libevent's buffers.
 */
#ifndef HE2B_LOCAL_LINK_FRAME_H
#define HE2B_LOCAL_LINK_FRAME_H

#include "local/link.h"

#include <stddef.h>

struct evbuffer;

struct link_view {
    int type; /* enum link_frame, or a byte that is none: the link is broken */
    const char *data;
    size_t len;
};

/*
 * The first frame in the buffer: 1 if it is complete (*ret is borrowed until link_drop()), 0 if
 * more bytes are needed, -1 if it is longer than a frame may be.
 */
int link_first(struct evbuffer *in, struct link_view *ret);
void link_drop(struct evbuffer *in, const struct link_view *view);

/* Appends a frame; more than LINK_FRAME_MAX of a body becomes several. 0, or -1 without memory. */
int link_put(struct evbuffer *out, enum link_frame type, const void *data, size_t len);
/* As link_put(), for a body that begins with a short prefix from elsewhere: one frame if it fits.
 */
int link_put_prefixed(struct evbuffer *out, const void *prefix, size_t prefix_len, const void *data,
                      size_t len);

#endif
