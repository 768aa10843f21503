#include "net/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct he2b_outlet {
    he2b_loop *loop;
    int fd;
    he2b_watch *watch; /* only while full: a pipe with room is always ready */
    he2b_outlet_fn room;
    void *arg;
    bool broken;
};

int he2b_outlet_new(he2b_outlet **ret, he2b_loop *loop, int fd, he2b_outlet_fn room, void *arg)
{
    he2b_outlet *outlet;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return HE2B_ERR_SYSTEM;
    outlet = calloc(1, sizeof(*outlet));
    if (!outlet)
        return HE2B_ERR_NOMEM;
    outlet->loop = loop;
    outlet->fd = fd;
    outlet->room = room;
    outlet->arg = arg;
    *ret = outlet;
    return HE2B_OK;
}

static void on_room(void *arg, int what)
{
    he2b_outlet *outlet = arg;

    (void)what;
    he2b_watch_del(outlet->watch);
    outlet->watch = NULL;
    outlet->room(outlet->arg);
}

size_t he2b_outlet_write(he2b_outlet *outlet, const void *data, size_t len)
{
    const char *bytes = data;
    size_t written = 0;

    if (outlet->broken)
        return len;
    while (written < len) {
        ssize_t n = write(outlet->fd, bytes + written, len - written);

        if (n > 0) {
            written += (size_t)n;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            break;
        } else {
            outlet->broken = true;
            return len;
        }
    }
    if (written < len && !outlet->watch &&
        he2b_watch_new(&outlet->watch, outlet->loop, outlet->fd, HE2B_WATCH_WRITE, on_room,
                       outlet) != HE2B_OK) {
        /* Without a watch nothing would ever resume; a lost reader is the honest answer. */
        outlet->broken = true;
        return len;
    }
    return written;
}

bool he2b_outlet_broken(const he2b_outlet *outlet)
{
    return outlet->broken;
}

void he2b_outlet_del(he2b_outlet *outlet)
{
    if (!outlet)
        return;
    he2b_watch_del(outlet->watch);
    close(outlet->fd);
    free(outlet);
}
