#include "cli/message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Longer than any message of the library; guards what comes from the command line. */
    LINE_MAX_BYTES = 2048,
};

/* One write, so that two programs on one terminal do not mix their lines. */
static void write_line(const char *prefix, const char *text)
{
    char line[LINE_MAX_BYTES];
    size_t len = (size_t)snprintf(line, sizeof(line), "hermes-e2b: %s", prefix);

    for (; *text && len + 6 < sizeof(line); text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f)
            len += (size_t)snprintf(line + len, 5, "\\x%02x", c);
        else
            line[len++] = (char)c;
    }
    line[len++] = '\n';
    (void)!write(STDERR_FILENO, line, len);
}

void message_error(const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    write_line("", text);
}

void message_failure(const he2b_failure *failure)
{
    if (he2b_failure_code(failure) == HE2B_ERR_KEY)
        message_error("%s; for a local server: eval \"$(e2b-local env)\"",
                      he2b_failure_text(failure));
    else
        message_error("%s", he2b_failure_text(failure));
}

void message_log(void *user, int level, const char *text)
{
    const bool *verbose = user;

    if (level >= HE2B_LOG_ERROR)
        write_line("error: ", text);
    else if (level >= HE2B_LOG_WARNING)
        write_line("warning: ", text);
    else if (*verbose)
        write_line("", text);
}
