#include "core/failure.h"

#include "core/text.h"
#include "core/wipe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A secret that the bound below would cut in two would not be found any more: so the text is
 * redacted before it is shortened, in a buffer that holds every message the library makes. */
enum {
    RAW_MAX = 4096,
};

static void one_line(char *out, size_t size, char *raw, const struct he2b_secrets *secrets)
{
    he2b_redact(raw, secrets);
    he2b_text_line(out, size, raw, strlen(raw));
}

static void failure_join(struct he2b_failure *failure)
{
    if (failure->hint[0])
        snprintf(failure->text, sizeof(failure->text), "%s: %s (%s)", failure->action,
                 failure->cause, failure->hint);
    else
        snprintf(failure->text, sizeof(failure->text), "%s: %s", failure->action, failure->cause);
}

void he2b_failure_set(struct he2b_failure *ret, const struct he2b_secrets *secrets, int code,
                      int status, const char *action, const char *hint, const char *cause_format,
                      ...)
{
    char raw[RAW_MAX];
    va_list args;

    ret->code = code;
    ret->status = status;
    snprintf(raw, sizeof(raw), "%s", action);
    one_line(ret->action, sizeof(ret->action), raw, secrets);
    snprintf(raw, sizeof(raw), "%s", hint ? hint : "");
    one_line(ret->hint, sizeof(ret->hint), raw, secrets);
    va_start(args, cause_format);
    vsnprintf(raw, sizeof(raw), cause_format, args);
    va_end(args);
    one_line(ret->cause, sizeof(ret->cause), raw, secrets);
    if (!ret->cause[0])
        snprintf(ret->cause, sizeof(ret->cause), "%s", he2b_strerror(code));
    failure_join(ret);
    he2b_wipe(raw, sizeof(raw));
}

void he2b_failure_set_hint(struct he2b_failure *failure, const char *hint)
{
    he2b_text_line(failure->hint, sizeof(failure->hint), hint, strlen(hint));
    failure_join(failure);
}

int he2b_failure_code(const he2b_failure *failure)
{
    return failure->code;
}

int he2b_failure_status(const he2b_failure *failure)
{
    return failure->status;
}

const char *he2b_failure_action(const he2b_failure *failure)
{
    return failure->action;
}

const char *he2b_failure_cause(const he2b_failure *failure)
{
    return failure->cause;
}

const char *he2b_failure_hint(const he2b_failure *failure)
{
    return failure->hint;
}

const char *he2b_failure_text(const he2b_failure *failure)
{
    return failure->text;
}
