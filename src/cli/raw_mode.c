#include "cli/raw_mode.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* For a handler, which has no other way to them. */
static int terminal = -1;
static struct termios before;
static volatile sig_atomic_t raw;

/* Signal-safe; the signal ends the program when this returns, since its handler is gone. */
static void on_crash(int signum)
{
    if (raw)
        (void)tcsetattr(terminal, TCSANOW, &before);
    (void)raise(signum);
}

bool raw_mode_open(int fd)
{
    static const int crashes[] = {SIGABRT, SIGBUS,  SIGFPE, SIGILL,
                                  SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    struct sigaction now;
    size_t i;

    if (tcgetattr(fd, &before) != 0)
        return false;
    terminal = fd;
    sigemptyset(&action.sa_mask);
    for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
        /* a sanitizer has handlers of its own, which say more */
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            (void)sigaction(crashes[i], &action, NULL);
    }
    return true;
}

bool raw_mode_on(void)
{
    struct termios mode = before;

    /* a program in the background that sets the mode is stopped for it */
    if (tcgetpgrp(terminal) != getpgrp())
        return true;
    /* At once both ways: waiting for output to drain would hang on a terminal that stands still,
     * and what was typed meanwhile is kept. */
    cfmakeraw(&mode);
    raw = 1;
    if (tcsetattr(terminal, TCSANOW, &mode) == 0)
        return true;
    raw = 0;
    return false;
}

void raw_mode_off(void)
{
    if (!raw)
        return;
    if (tcgetpgrp(terminal) == getpgrp())
        (void)tcsetattr(terminal, TCSANOW, &before);
    raw = 0;
}

void raw_mode_size(unsigned *ret_cols, unsigned *ret_rows)
{
    struct winsize size = {0};

    (void)ioctl(terminal, TIOCGWINSZ, &size);
    *ret_cols = size.ws_col;
    *ret_rows = size.ws_row;
}
