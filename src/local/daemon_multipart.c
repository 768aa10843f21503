#include "local/daemon_multipart.h"

#include "he2b.h"
#include "local/daemon_disposition.h"
#include "local/link.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    /* Held at most: a head, or a delimiter that may go on, and one piece more. */
    HELD_MAX = MULTIPART_HEAD_MAX + LINK_FRAME_MAX + MULTIPART_BOUNDARY_MAX + 16,
};

bool multipart_init(struct multipart *multipart, const char *content_type,
                    const struct multipart_events *events, void *user)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];

    memset(multipart, 0, sizeof(*multipart));
    if (disposition_parameter(content_type, "boundary", boundary, sizeof(boundary)) !=
            DISPOSITION_FOUND ||
        !boundary[0])
        return false;
    multipart->delimiter_len =
        (size_t)snprintf(multipart->delimiter, sizeof(multipart->delimiter), "\r\n--%s", boundary);
    he2b_buf_init(&multipart->held, HELD_MAX);
    /* The first delimiter may stand at the very beginning. */
    if (he2b_buf_adds(&multipart->held, "\r\n") != HE2B_OK)
        return false;
    multipart->events = events;
    multipart->user = user;
    return true;
}

/* False: a name that is too long. */
static bool read_head(struct multipart *multipart, const char *head, size_t len)
{
    static const char wanted[] = "content-disposition:";
    char line[MULTIPART_HEAD_MAX + 1];
    char name[256] = "";
    char filename[MULTIPART_NAME_MAX] = "";
    size_t at = 0;

    while (at < len) {
        const char *end = memmem(head + at, len - at, "\r\n", 2);
        size_t n = end ? (size_t)(end - head) - at : len - at;

        memcpy(line, head + at, n);
        line[n] = '\0';
        at += n + 2;
        if (strncasecmp(line, wanted, sizeof(wanted) - 1) != 0)
            continue;
        if (disposition_parameter(line, "name", name, sizeof(name)) == DISPOSITION_TOO_LONG ||
            disposition_filename(line, filename, sizeof(filename)) == DISPOSITION_TOO_LONG)
            return false;
    }
    multipart->events->part(multipart->user, name, filename);
    return true;
}

/* n bytes at the beginning are data, if a part is open, and leave. */
static void pass_on(struct multipart *multipart, size_t n)
{
    if (n && multipart->state == MULTIPART_DATA)
        multipart->events->data(multipart->user, he2b_buf_str(&multipart->held), n);
    he2b_buf_drain(&multipart->held, n);
}

/* Up to the next delimiter; false if more bytes are needed. */
static bool step_data(struct multipart *multipart)
{
    const char *data = he2b_buf_str(&multipart->held);
    size_t len = multipart->held.len;
    size_t delimiter_len = multipart->delimiter_len;
    const char *found = memmem(data, len, multipart->delimiter, delimiter_len);
    const char *next;

    if (!found) {
        /* what may be the beginning of a delimiter stays */
        if (len >= delimiter_len)
            pass_on(multipart, len - (delimiter_len - 1));
        return false;
    }
    pass_on(multipart, (size_t)(found - data));
    /* two bytes more tell the last one, and what only begins like one */
    if (multipart->held.len < delimiter_len + 2)
        return false;
    next = he2b_buf_str(&multipart->held) + delimiter_len;
    if (memcmp(next, "--", 2) != 0 && !strchr(" \t\r", next[0])) {
        pass_on(multipart, delimiter_len);
        return true;
    }
    if (multipart->state == MULTIPART_DATA)
        multipart->events->part_end(multipart->user);
    multipart->state = memcmp(next, "--", 2) == 0 ? MULTIPART_EPILOGUE : MULTIPART_HEAD;
    he2b_buf_drain(&multipart->held, delimiter_len);
    return true;
}

static bool step_head(struct multipart *multipart)
{
    const char *head = he2b_buf_str(&multipart->held);
    const char *end = memmem(head, multipart->held.len, "\r\n\r\n", 4);
    size_t len = end ? (size_t)(end - head) : multipart->held.len;

    if (len > MULTIPART_HEAD_MAX || (end && !read_head(multipart, head, len))) {
        multipart->state = MULTIPART_BROKEN;
        return true;
    }
    if (!end)
        return false;
    he2b_buf_drain(&multipart->held, len + 4);
    multipart->state = MULTIPART_DATA;
    return true;
}

/* False if more bytes are needed. */
static bool step(struct multipart *multipart)
{
    switch (multipart->state) {
    case MULTIPART_PREAMBLE:
    case MULTIPART_DATA:
        return step_data(multipart);
    case MULTIPART_HEAD:
        return step_head(multipart);
    case MULTIPART_EPILOGUE:
    case MULTIPART_BROKEN:
        he2b_buf_clear(&multipart->held);
        break;
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
