#include "local/log.h"

#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    /* guards the log against a text from outside that is handed on whole */
    LINE_MAX_BYTES = 2048
};

static const char *const names[] = {"error", "warning", "info", "debug"};
static enum log_level highest = LOG_LEVEL_INFO;

bool log_level_parse(enum log_level *ret, const char *name)
{
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_set_level(enum log_level level)
{
    highest = level;
}

void log_line(enum log_level level, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    char line[LINE_MAX_BYTES];
    va_list args;

    if (level > highest)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    he2b_text_line(line, sizeof line, text, strlen(text));
    dprintf(STDERR_FILENO, "e2b-local: %s: %s\n", names[level], line);
}
