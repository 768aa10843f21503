#include "cli/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Waits until fd can be read; false: it is time to stop. */
static bool wait_for(const struct keyboard *keyboard, int fd)
{
    struct pollfd ready[2] = {{.fd = keyboard->stop[0], .events = POLLIN},
                              {.fd = fd, .events = POLLIN}};

    while (poll(ready, 2, -1) < 0) {
        if (errno != EINTR)
            return false;
    }
    return ready[0].revents == 0;
}

/* Hands over what is in keyboard->piece; false: it is time to stop. */
static bool hand_over(struct keyboard *keyboard)
{
    char byte;

    keyboard->typed(keyboard->user);
    return wait_for(keyboard, keyboard->go[0]) && read(keyboard->go[0], &byte, 1) == 1;
}

/* False: it is time to stop. */
static bool split(struct keyboard *keyboard, const char *typed, size_t len)
{
    size_t used = 0;

    while (len) {
        keyboard->found =
            escape_read(&keyboard->escape, typed, len, &used, keyboard->piece, &keyboard->len);
        typed += used;
        len -= used;
        if ((keyboard->len || keyboard->found != ESCAPE_NONE) && !hand_over(keyboard))
            return false;
    }
    return true;
}

static void *read_keys(void *arg)
{
    struct keyboard *keyboard = arg;
    char typed[KEYBOARD_PIECE];

    while (wait_for(keyboard, keyboard->in)) {
        ssize_t n = read(keyboard->in, typed, sizeof(typed));

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0) {
            keyboard->len = 0;
            keyboard->found = ESCAPE_NONE;
            keyboard->end = true;
            (void)hand_over(keyboard);
            break;
        }
        if (!split(keyboard, typed, (size_t)n))
            break;
    }
    return NULL;
}

static void close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

bool keyboard_start(struct keyboard *keyboard, int in, void (*typed)(void *user), void *user)
{
    sigset_t all;
    sigset_t old;
    int error;

    memset(keyboard, 0, sizeof(*keyboard));
    keyboard->in = in;
    keyboard->typed = typed;
    keyboard->user = user;
    if (pipe2(keyboard->stop, O_CLOEXEC) != 0)
        return false;
    if (pipe2(keyboard->go, O_CLOEXEC) != 0) {
        close_pipe(keyboard->stop);
        return false;
    }
    /* Signals are for the loop's thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    error = pthread_create(&keyboard->thread, NULL, read_keys, keyboard);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        close_pipe(keyboard->stop);
        close_pipe(keyboard->go);
        errno = error;
    }
    return error == 0;
}

void keyboard_go(struct keyboard *keyboard)
{
    (void)!write(keyboard->go[1], "", 1);
}

void keyboard_stop(struct keyboard *keyboard)
{
    (void)!write(keyboard->stop[1], "", 1);
    pthread_join(keyboard->thread, NULL);
    close_pipe(keyboard->stop);
    close_pipe(keyboard->go);
}
