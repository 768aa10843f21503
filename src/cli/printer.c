#include "cli/printer.h"

#include "cli/message.h"
#include "he2b.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    /* What a pipe holds. */
    PIECE = 64 * 1024,
};

/* Writes all of it; false with errno set. Another program may have made out non-blocking. */
static bool write_all(int out, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(out, data, len);

        if (n >= 0) {
            data += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd ready = {.fd = out, .events = POLLOUT};

            (void)poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static void *print(void *arg)
{
    struct printer *printer = arg;
    char piece[PIECE];

    for (;;) {
        ssize_t n = read(printer->in, piece, sizeof(piece));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (!write_all(printer->out, piece, (size_t)n)) {
            printer->broken_errno = errno;
            printer->broken(printer->user);
            break;
        }
    }
    close(printer->in);
    return NULL;
}

bool printer_start(struct printer *printer, int in, int out, void (*broken)(void *user), void *user)
{
    sigset_t all;
    sigset_t before;
    int error;

    printer->in = in;
    printer->out = out;
    printer->broken = broken;
    printer->user = user;
    printer->broken_errno = 0;
    /* Signals are for the loop's thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    error = pthread_create(&printer->thread, NULL, print, printer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}

bool printer_open(struct printer *printer, int (*give)(void *of, int fd), void *of,
                  void (*broken)(void *user), void *user)
{
    int ends[2];
    int error;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        message_error("pipe: %s", strerror(errno));
        return false;
    }
    error = give(of, ends[1]);
    if (error) {
        message_error("%s", he2b_strerror(error));
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (!printer_start(printer, ends[0], STDOUT_FILENO, broken, user)) {
        message_error("thread: %s", strerror(errno));
        close(ends[0]);
        return false;
    }
    return true;
}

void printer_join(struct printer *printer)
{
    pthread_join(printer->thread, NULL);
}

bool printer_join_for(struct printer *printer, int64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    return pthread_timedjoin_np(printer->thread, NULL, &until) == 0;
}
