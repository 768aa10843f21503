/*
 * How the messages of the process service (wire C.7) become bytes and bytes become events: one
 * interface, two forms. Binary protobuf halves bulk output; JSON is what every server takes.
 */
#ifndef HE2B_E2B_CODEC_H
#define HE2B_E2B_CODEC_H

#include "core/buf.h"
#include "e2b/process.h"

enum he2b_event_kind {
    HE2B_EVENT_OTHER = 0, /* a keep-alive, or something newer than this library */
    HE2B_EVENT_START = 1,
    HE2B_EVENT_DATA = 2,
    HE2B_EVENT_END = 3,
};

struct he2b_event {
    enum he2b_event_kind kind;
    int64_t pid;      /* START */
    const char *data; /* DATA: of stdout, stderr or the terminal */
    size_t len;
    bool errors;   /* DATA: of stderr */
    int exit_code; /* END */
};

/* Where SendInput's bytes go. */
enum he2b_input {
    HE2B_INPUT_STDIN = 1,
    HE2B_INPUT_PTY = 2,
};

/*
 * Requests are added to an empty buffer; HE2B_OK, HE2B_ERR_NOMEM or HE2B_ERR_OVERFLOW (the buffer's
 * bound), and what the buffer holds after an error is of no use.
 */
struct he2b_codec {
    const char *name; /* of the content types' last part */
    int (*start)(struct he2b_buf *out, const struct he2b_process_spec *spec);
    int (*send_input)(struct he2b_buf *out, int64_t pid, enum he2b_input where, const void *data,
                      size_t len);
    int (*resize)(struct he2b_buf *out, int64_t pid, unsigned cols, unsigned rows);
    /* CloseStdin: a request that names a process, and nothing else. */
    int (*select)(struct he2b_buf *out, int64_t pid);
    /*
     * One message of a Start's stream. What *ret points to is in scratch, whose own content is
     * lost, and valid until its next change. Returns HE2B_OK, HE2B_ERR_PROTOCOL (it cannot be read,
     * so output may be missing), HE2B_ERR_NOMEM.
     */
    int (*event)(struct he2b_event *ret, struct he2b_buf *scratch, const char *message, size_t len);
};

extern const struct he2b_codec he2b_codec_json;
extern const struct he2b_codec he2b_codec_proto;

#endif
