#include "local/daemon_disposition.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Copies the value at *at, which then stands behind it; false if it does not fit. out may be NULL.
 */
static bool copy_value(const char **at, char *out, size_t size)
{
    const char *in = *at;
    bool quoted = *in == '"';
    size_t used = 0;

    if (quoted)
        in++;
    while (*in && (quoted ? *in != '"' : *in != ';' && !isspace((unsigned char)*in))) {
        if (quoted && *in == '\\' && in[1])
            in++;
        if (out && used + 1 < size)
            out[used] = *in;
        used++;
        in++;
    }
    if (out && used < size)
        out[used] = '\0';
    *at = in + strcspn(in, ";");
    return used < size;
}

enum disposition_found disposition_parameter(const char *text, const char *name, char *out,
                                             size_t size)
{
    size_t name_len = strlen(name);
    const char *at = text + strcspn(text, ";");

    out[0] = '\0';
    while (*at == ';') {
        size_t len;
        bool wanted;

        at++;
        at += strspn(at, " \t");
        len = strcspn(at, "=; \t");
        wanted = len == name_len && strncasecmp(at, name, len) == 0;
        at += len;
        at += strspn(at, " \t");
        if (*at != '=') {
            at += strcspn(at, ";");
            continue;
        }
        at++;
        at += strspn(at, " \t");
        if (!wanted) {
            (void)copy_value(&at, NULL, 0);
        } else if (copy_value(&at, out, size)) {
            return DISPOSITION_FOUND;
        } else {
            out[0] = '\0';
            return DISPOSITION_TOO_LONG;
        }
    }
    return DISPOSITION_ABSENT;
}

/* In place: charset'language'percent-encoded. Only UTF-8 and what it contains is understood. */
static bool decode_extended(char *text)
{
    const char *in = strchr(text, '\'');
    char *out = text;

    if (!in || (strncasecmp(text, "utf-8'", 6) != 0 && strncasecmp(text, "us-ascii'", 9) != 0))
        return false;
    in = strchr(in + 1, '\'');
    if (!in)
        return false;
    for (in++; *in; in++) {
        if (*in == '%') {
            char digits[3] = {0};
            long value;

            if (!isxdigit((unsigned char)in[1]) || !isxdigit((unsigned char)in[2]))
                return false;
            memcpy(digits, in + 1, 2);
            value = strtol(digits, NULL, 16);
            if (value == 0)
                return false;
            *out++ = (char)value;
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    return true;
}

enum disposition_found disposition_filename(const char *text, char *out, size_t size)
{
    enum disposition_found found = disposition_parameter(text, "filename*", out, size);

    if (found == DISPOSITION_TOO_LONG || (found == DISPOSITION_FOUND && decode_extended(out)))
        return found;
    return disposition_parameter(text, "filename", out, size);
}
