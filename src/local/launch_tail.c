#include "local/launch_tail.h"

#include "local/launch_fd.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

static void add(struct launch_tail *tail, char byte)
{
    bool complete = tail->len > 0 && tail->text[tail->len - 1] == '\n';
    if (complete && byte == '\n')
        return;
    if (complete)
        tail->len = 0;
    if (tail->len < LAUNCH_TAIL_MAX - 1)
        tail->text[tail->len++] = byte;
    else if (byte == '\n')
        tail->text[tail->len - 1] = byte;
}

void launch_tail_read(struct launch_tail *tail)
{
    char bytes[4096];
    ssize_t n = read(tail->fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0)
        launch_fd_close(&tail->fd);
    for (ssize_t i = 0; i < n; i++)
        add(tail, bytes[i]);
}

void launch_tail_drain(struct launch_tail *tail)
{
    struct pollfd ready = {.fd = tail->fd, .events = POLLIN};
    while (tail->fd >= 0 && poll(&ready, 1, 0) > 0)
        launch_tail_read(tail);
}

const char *launch_tail_text(struct launch_tail *tail)
{
    size_t len = tail->len;
    if (len > 0 && tail->text[len - 1] == '\n')
        len--;
    tail->text[len] = '\0';
    return tail->text;
}
