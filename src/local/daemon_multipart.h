/*
 * A multipart/form-data body read in any pieces (RFC 7578), as much of it as uploads need: each
 * part's name and filename, then its bytes.
 */
#ifndef HE2B_LOCAL_DAEMON_MULTIPART_H
#define HE2B_LOCAL_DAEMON_MULTIPART_H

#include "core/buf.h"

#include <stdbool.h>

enum {
    MULTIPART_BOUNDARY_MAX = 70, /* RFC 2046 5.1.1 */
    /* Heads of parts are some hundred bytes; guards against one without end. */
    MULTIPART_HEAD_MAX = 16 * 1024,
    MULTIPART_NAME_MAX = 4096, /* of a filename, which is a path */
};

struct multipart_events {
    /* A part begins; name and filename are "" if not given. */
    void (*part)(void *user, const char *name, const char *filename);
    void (*data)(void *user, const char *data, size_t len);
    void (*part_end)(void *user);
};

struct multipart {
    char delimiter[MULTIPART_BOUNDARY_MAX + 8]; /* CR LF "--" boundary */
    size_t delimiter_len;
    struct he2b_buf held;
    enum {
        MULTIPART_PREAMBLE,
        MULTIPART_HEAD,
        MULTIPART_DATA,
        MULTIPART_EPILOGUE,
        MULTIPART_BROKEN,
    } state;
    const struct multipart_events *events;
    void *user;
};

/* content_type: the header with its boundary. False if there is none; nothing is held then. */
bool multipart_init(struct multipart *multipart, const char *content_type,
                    const struct multipart_events *events, void *user);
/* At most LINK_FRAME_MAX bytes. */
void multipart_feed(struct multipart *multipart, const char *data, size_t len);
/* True if the closing boundary was seen. */
bool multipart_complete(const struct multipart *multipart);
void multipart_done(struct multipart *multipart);

#endif
