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

static int put_one(struct evbuffer *out, enum link_frame type, const void *first, size_t first_len,
                   const void *second, size_t second_len)
{
    size_t len = first_len + second_len;
    const unsigned char prefix[LINK_PREFIX_SIZE] = {
        (unsigned char)type,       (unsigned char)(len >> 24), (unsigned char)(len >> 16),
        (unsigned char)(len >> 8), (unsigned char)len,
    };

    /* all or nothing: half a frame would make garbage of what follows */
    if (evbuffer_expand(out, sizeof(prefix) + len) != 0)
        return -1;
    (void)evbuffer_add(out, prefix, sizeof(prefix));
    if (first_len)
        (void)evbuffer_add(out, first, first_len);
    if (second_len)
        (void)evbuffer_add(out, second, second_len);
    return 0;
}

int link_put(struct evbuffer *out, enum link_frame type, const void *data, size_t len)
{
    if (type == LINK_BODY)
        return link_put_prefixed(out, NULL, 0, data, len);
    return put_one(out, type, data, len, NULL, 0);
}

int link_put_prefixed(struct evbuffer *out, const void *prefix, size_t prefix_len, const void *data,
                      size_t len)
{
    const char *bytes = data;

    while (prefix_len + len > 0) {
        size_t fits = LINK_FRAME_MAX - prefix_len;
        size_t piece = len < fits ? len : fits;

        if (put_one(out, LINK_BODY, prefix, prefix_len, bytes, piece) != 0)
            return -1;
        prefix_len = 0;
        bytes = len > piece ? bytes + piece : bytes;
        len -= piece;
    }
    return 0;
}
