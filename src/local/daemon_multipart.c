#include "local/daemon_multipart.h"

#include "he2b.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    /* Held at most: a head, or a delimiter that may go on in the next piece. */
    HELD_MAX = MULTIPART_HEAD_MAX + 256 * 1024,
};

/* The value of key in "a; key=value; key2=\"v\"", unescaped; false if it is not there. */
static bool parameter(const char *text, const char *key, char *out, size_t size)
{
    size_t key_len = strlen(key);
    const char *at = strchr(text, ';');

    out[0] = '\0';
    while (at) {
        size_t used = 0;
        bool quoted;
        bool mine;

        at++;
        while (*at == ' ' || *at == '\t')
            at++;
        mine = strncasecmp(at, key, key_len) == 0 && at[key_len] == '=';
        at += strcspn(at, "=;");
        if (*at != '=') {
            at = *at ? at : NULL;
            continue;
        }
        at++;
        quoted = *at == '"';
        if (quoted)
            at++;
        while (*at && *at != (quoted ? '"' : ';')) {
            if (quoted && *at == '\\' && at[1])
                at++;
            if (mine && used + 1 < size)
                out[used++] = *at;
            at++;
        }
        if (mine) {
            while (!quoted && used && isspace((unsigned char)out[used - 1]))
                used--;
            out[used] = '\0';
            return true;
        }
        at = strchr(at, ';');
    }
    return false;
}

bool multipart_init(struct multipart *multipart, const char *content_type,
                    const struct multipart_events *events, void *user)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 2];

    memset(multipart, 0, sizeof(*multipart));
    if (!parameter(content_type, "boundary", boundary, sizeof(boundary)) || !boundary[0] ||
        strlen(boundary) > MULTIPART_BOUNDARY_MAX)
        return false;
    multipart->delimiter_len =
        (size_t)snprintf(multipart->delimiter, sizeof(multipart->delimiter), "\r\n--%s", boundary);
    he2b_buf_init(&multipart->held, HELD_MAX);
    /* The first delimiter may stand at the very beginning. */
    (void)he2b_buf_adds(&multipart->held, "\r\n");
    multipart->events = events;
    multipart->user = user;
    return true;
}

static void read_part_head(struct multipart *multipart, const char *head, size_t len)
{
    /* nothing in a head is longer than the head: a cut name would be another file */
    char line[MULTIPART_HEAD_MAX + 1];
    char name[MULTIPART_HEAD_MAX + 1] = "";
    char filename[MULTIPART_HEAD_MAX + 1] = "";
    size_t at = 0;

    while (at < len) {
        const char *end = memchr(head + at, '\n', len - at);
        size_t n = end ? (size_t)(end - head) - at : len - at;

        snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) - 1 ? n : sizeof(line) - 1),
                 head + at);
        line[strcspn(line, "\r")] = '\0';
        if (strncasecmp(line, "content-disposition:", 20) == 0) {
            (void)parameter(line, "name", name, sizeof(name));
            (void)parameter(line, "filename", filename, sizeof(filename));
        }
        at += n + 1;
    }
    multipart->events->part(multipart->user, name, filename);
}

/* One step over what is held; false if more bytes are needed. */
static bool step(struct multipart *multipart)
{
    struct he2b_buf *held = &multipart->held;
    const char *data = he2b_buf_str(held);
    const char *found;
    size_t n;

    switch (multipart->state) {
    case MULTIPART_PREAMBLE:
    case MULTIPART_DATA:
        found = memmem(data, held->len, multipart->delimiter, multipart->delimiter_len);
        /* what may be the beginning of a delimiter stays */
        n = found                                      ? (size_t)(found - data)
            : held->len > multipart->delimiter_len - 1 ? held->len - (multipart->delimiter_len - 1)
                                                       : 0;
        /* two bytes behind the delimiter tell the last one */
        if (found && held->len < n + multipart->delimiter_len + 2) {
            if (n && multipart->state == MULTIPART_DATA)
                multipart->events->data(multipart->user, data, n);
            he2b_buf_drain(held, n);
            return false;
        }
        if (n && multipart->state == MULTIPART_DATA)
            multipart->events->data(multipart->user, data, n);
        if (!found) {
            he2b_buf_drain(held, n);
            return false;
        }
        if (multipart->state == MULTIPART_DATA)
            multipart->events->part_end(multipart->user);
        found += multipart->delimiter_len;
        multipart->state = memcmp(found, "--", 2) == 0 ? MULTIPART_EPILOGUE : MULTIPART_HEAD;
        he2b_buf_drain(held, n + multipart->delimiter_len);
        return true;
    case MULTIPART_HEAD:
        found = memmem(data, held->len, "\r\n\r\n", 4);
        if ((found ? (size_t)(found - data) : held->len) > MULTIPART_HEAD_MAX) {
            multipart->state = MULTIPART_BROKEN;
            return true;
        }
        if (!found)
            return false;
        read_part_head(multipart, data, (size_t)(found - data));
        he2b_buf_drain(held, (size_t)(found - data) + 4);
        /* a part without a byte has its delimiter right here */
        multipart->state = MULTIPART_DATA;
        return true;
    case MULTIPART_EPILOGUE:
    case MULTIPART_BROKEN:
        he2b_buf_clear(held);
        return false;
    }
    return false;
}

void multipart_feed(struct multipart *multipart, const char *data, size_t len)
{
    if (he2b_buf_add(&multipart->held, data, len) != HE2B_OK) {
        multipart->state = MULTIPART_BROKEN;
        return;
    }
    while (step(multipart)) {
    }
}

bool multipart_complete(const struct multipart *multipart)
{
    return multipart->state == MULTIPART_EPILOGUE;
}

void multipart_done(struct multipart *multipart)
{
    he2b_buf_free(&multipart->held);
}
