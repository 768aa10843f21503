/*
 * The readers of a stream's messages: the bytes are the server. The first one says which codec they
 * are for; what is read lies within the buffer that it is said to lie in, and is read the same
 * twice.
 */
#include "e2b/codec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_into(struct he2b_event *ret, struct he2b_buf *scratch,
                     const struct he2b_codec *codec, const char *message, size_t len)
{
    int error;

    he2b_buf_init(scratch, HE2B_RPC_MESSAGE_MAX + 65536);
    error = codec->event(ret, scratch, message, len);
    if (error)
        return error;
    if (ret->kind == HE2B_EVENT_DATA && ret->len > 0 &&
        (ret->data < scratch->data || ret->data + ret->len > scratch->data + scratch->cap))
        abort();
    if (ret->kind == HE2B_EVENT_END && (ret->exit_code < 0 || ret->exit_code > 255))
        abort();
    return HE2B_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct he2b_codec *codec;
    struct he2b_event event;
    struct he2b_event again;
    struct he2b_buf first;
    struct he2b_buf second;
    int error;

    if (size == 0)
        return 0;
    codec = data[0] == 'j' ? &he2b_codec_json : &he2b_codec_proto;
    error = read_into(&event, &first, codec, (const char *)data + 1, size - 1);
    if (read_into(&again, &second, codec, (const char *)data + 1, size - 1) != error)
        abort();
    if (!error && (event.kind != again.kind || event.pid != again.pid || event.len != again.len ||
                   event.exit_code != again.exit_code ||
                   (event.len && memcmp(event.data, again.data, event.len) != 0)))
        abort();
    he2b_buf_free(&first);
    he2b_buf_free(&second);
    return 0;
}
