#include "local/link_frame.h"

#include <event2/buffer.h>
#include <stdint.h>

int link_first(struct evbuffer *in, struct link_view *ret)
{
    unsigned char prefix[LINK_PREFIX_SIZE];
    const unsigned char *whole;
    size_t len;

    if (evbuffer_copyout(in, prefix, sizeof(prefix)) != (ev_ssize_t)sizeof(prefix))
        return 0;
    len = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
    if (len > LINK_FRAME_MAX)
        return -1;
    if (evbuffer_get_length(in) < sizeof(prefix) + len)
        return 0;
    whole = evbuffer_pullup(in, (ev_ssize_t)(sizeof(prefix) + len));
    if (!whole)
        return -1;
    ret->type = prefix[0];
    ret->data = (const char *)whole + sizeof(prefix);
    ret->len = len;
    return 1;
}

void link_drop(struct evbuffer *in, const struct link_view *view)
{
    evbuffer_drain(in, LINK_PREFIX_SIZE + view->len);
}

static int put_one(struct evbuffer *out, enum link_frame type, const void *data, size_t len)
{
    const unsigned char prefix[LINK_PREFIX_SIZE] = {
        (unsigned char)type,       (unsigned char)(len >> 24), (unsigned char)(len >> 16),
        (unsigned char)(len >> 8), (unsigned char)len,
    };

    if (evbuffer_add(out, prefix, sizeof(prefix)) != 0)
        return -1;
    return len ? evbuffer_add(out, data, len) : 0;
}

int link_put(struct evbuffer *out, enum link_frame type, const void *data, size_t len)
{
    const char *bytes = data;

    while (type == LINK_BODY && len > LINK_FRAME_MAX) {
        if (put_one(out, type, bytes, LINK_FRAME_MAX) != 0)
            return -1;
        bytes += LINK_FRAME_MAX;
        len -= LINK_FRAME_MAX;
    }
    if (type == LINK_BODY && len == 0)
        return 0;
    return put_one(out, type, bytes, len);
}
