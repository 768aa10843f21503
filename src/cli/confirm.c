#include "cli/confirm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool confirm_possible(void)
{
    return isatty(STDIN_FILENO);
}

bool confirm(const char *format, ...)
{
    char answer[16] = "";
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fflush(stderr);
    if (!fgets(answer, sizeof(answer), stdin)) {
        fputc('\n', stderr);
        return false;
    }
    /* what is longer is no answer to this question, nor to the next */
    while (!strchr(answer, '\n')) {
        if (!fgets(answer, sizeof(answer), stdin) || strchr(answer, '\n'))
            return false;
    }
    answer[strcspn(answer, "\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}
