/*
 * The process service's messages in binary protobuf, turned into the JSON that the calls read and
 * write, and back (wire C.7).
 */
#ifndef HE2B_LOCAL_DAEMON_CODEC_H
#define HE2B_LOCAL_DAEMON_CODEC_H

#include "core/buf.h"
#include "core/json.h"

#include <stddef.h>

enum codec_message {
    CODEC_NONE = 0, /* not served in protobuf */
    CODEC_EMPTY,
    CODEC_START_REQUEST,
    CODEC_START_RESPONSE,
    CODEC_SELECT_REQUEST,
    CODEC_LIST_RESPONSE,
    CODEC_SEND_INPUT_REQUEST,
    CODEC_SEND_SIGNAL_REQUEST,
    CODEC_UPDATE_REQUEST,
};

/* NULL: not such a message, or no memory. */
he2b_json *codec_read(enum codec_message what, const void *data, size_t len);

/* Adds what a call answers to out. HE2B_OK, or why not. */
int codec_write(struct he2b_buf *out, enum codec_message what, const he2b_json *message);

enum {
    /* What an event of output is beside the output. */
    CODEC_OUTPUT_EXTRA = 64,
};

/* An event of output: name is "stdout", "stderr" or "pty"; out holds len + CODEC_OUTPUT_EXTRA
 * bytes. Returns how many it is. */
size_t codec_output(unsigned char *out, const char *name, const void *data, size_t len);

#endif
