#include "e2b/exit_code.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The number of a signal by the name that Go's runtime prints (wire C.9); 0 if it is none. */
static int signal_number(const char *status)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"hangup", 1},
        {"interrupt", 2},
        {"quit", 3},
        {"illegal", 4},
        {"trace/breakpoint", 5},
        {"aborted", 6},
        {"bus error", 7},
        {"floating point", 8},
        {"killed", 9},
        {"user defined signal 1", 10},
        {"segmentation fault", 11},
        {"user defined signal 2", 12},
        {"broken pipe", 13},
        {"alarm clock", 14},
        {"terminated", 15},
        {"stack fault", 16},
        {"CPU time limit", 24},
        {"file size limit", 25},
    };
    const char *name;
    size_t i;

    if (!status || strncmp(status, "signal: ", 8) != 0)
        return 0;
    name = status + 8;
    if (strncmp(name, "signal ", 7) == 0)
        return atoi(name + 7);
    for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (strncasecmp(name, signals[i].name, strlen(signals[i].name)) == 0)
            return signals[i].number;
    }
    return 0;
}

int he2b_exit_code(bool given, int64_t code, const char *status, const char *error)
{
    int number = signal_number(status);

    if (number == 0)
        number = signal_number(error);
    if (number > 0)
        return 128 + number;
    if (given && code >= 0)
        return (int)(code & 255);
    if (given)
        return 255;
    return error && error[0] ? 255 : 0;
}
