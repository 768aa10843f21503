/*
 * What e2b-local tells its user, one line each on standard error: "e2b-local: warning: ...".
 * Never give it a key, a token or a query string.
 */
#ifndef HE2B_LOCAL_LOG_H
#define HE2B_LOCAL_LOG_H

#include <stdbool.h>

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
};

/* Reads "error", "warning", "info" or "debug"; false if name is none of them. */
bool log_level_parse(enum log_level *ret, const char *name);

/* Lines above this level are dropped; at first it is LOG_LEVEL_INFO. */
void log_set_level(enum log_level level);

/* Control bytes are shown as \xNN; a line is cut at about 2,000 characters. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
