#include "host/pull.h"

#include "core/text.h"
#include "he2b.h"
#include "host/names.h"
#include "host/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 512,
    END_BLOCKS = 2,
    PIECE = 64 * 1024,
    SPANS_FIRST = 64,
    /* fields of a tar header */
    NAME_FIELD = 100,
    MODE_AT = 100,
    UID_AT = 108,
    GID_AT = 116,
    SIZE_AT = 124,
    MTIME_AT = 136,
    CHECKSUM_AT = 148,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    LONG_FIELD = 12,
    SHORT_FIELD = 8,
};

/* The content of a file that is in the output already. */
struct span {
    off_t at;
    int64_t size;
    mode_t mode;
    int64_t mtime_s;
};

struct state {
    struct he2b_pull *pull;
    he2b_archive *archive;
    off_t at; /* the next byte to write */
    off_t from;
    int64_t cap;
    struct he2b_names by_name; /* of spans */
    struct span *spans;
    size_t count;
    size_t room;
};

static int fail(struct he2b_pull *pull, int code, const char *what, const char *why)
{
    char text[HE2B_PULL_WHY_MAX];
    int len = snprintf(text, sizeof(text), "%s: %s", what, why);

    he2b_text_line(pull->why, sizeof(pull->why), text,
                   (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
    return code;
}

static int no_memory(struct he2b_pull *pull)
{
    return fail(pull, HE2B_ERR_NOMEM, "fetch the sandbox's state", "out of memory");
}

/* ---- writing ---- */

/* Past the cap it is the archive's fault, else the disk's. */
static int put_at(struct state *state, const void *data, size_t len, off_t at)
{
    const char *bytes = data;

    if (at - state->from > state->cap - (int64_t)len)
        return fail(state->pull, HE2B_ERR_OVERFLOW, "fetch the sandbox's state",
                    "it is larger than the cap");
    while (len > 0) {
        ssize_t n = pwrite(state->pull->fd, bytes, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(state->pull, HE2B_ERR_STEP, "write what the sandbox sent",
                        n < 0 ? strerror(errno) : "nothing was written");
        bytes += n;
        at += n;
        len -= (size_t)n;
    }
    return HE2B_OK;
}

static int put(struct state *state, const void *data, size_t len)
{
    int r = put_at(state, data, len, state->at);

    state->at += (off_t)len;
    return r;
}

static int pad(struct state *state)
{
    static const char zeros[BLOCK];
    size_t over = (size_t)((state->at - state->from) % BLOCK);

    return over ? put(state, zeros, BLOCK - over) : HE2B_OK;
}

static void octal(char *field, size_t size, uint64_t value)
{
    size_t i;

    for (i = size - 1; i > 0; i--, value >>= 3)
        field[i - 1] = (char)('0' + (value & 7));
}

/* Its size may be told later, when it is known. */
static void make_header(char header[BLOCK], const char *name, size_t name_len, char type,
                        const struct span *span)
{
    unsigned sum = 0;
    size_t i;

    memset(header, 0, BLOCK);
    memcpy(header, name, name_len < NAME_FIELD ? name_len : NAME_FIELD);
    octal(header + MODE_AT, SHORT_FIELD, span->mode & 0777);
    octal(header + UID_AT, SHORT_FIELD, 0);
    octal(header + GID_AT, SHORT_FIELD, 0);
    octal(header + SIZE_AT, LONG_FIELD, (uint64_t)span->size);
    octal(header + MTIME_AT, LONG_FIELD, span->mtime_s > 0 ? (uint64_t)span->mtime_s : 0);
    header[TYPE_AT] = type;
    memcpy(header + MAGIC_AT, "ustar  ", 8);
    memset(header + CHECKSUM_AT, ' ', SHORT_FIELD);
    for (i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    octal(header + CHECKSUM_AT, SHORT_FIELD - 1, sum);
}

/* GNU's way for a name that does not fit. */
static int put_long_name(struct state *state, const char *name, size_t len)
{
    const struct span span = {.size = (int64_t)len + 1};
    char header[BLOCK];
    int r;

    make_header(header, "././@LongLink", 13, 'L', &span);
    r = put(state, header, sizeof(header));
    if (r == HE2B_OK)
        r = put(state, name, len + 1);
    return r ? r : pad(state);
}

/* ---- reading ---- */

static int archive_failed(struct state *state)
{
    int code = he2b_archive_error(state->archive);

    return fail(state->pull, code == HE2B_ERR_SYSTEM ? HE2B_ERR_STEP : code,
                "read the sandbox's state", he2b_archive_why(state->archive));
}

static int take_content(struct state *state, struct span *span)
{
    enum he2b_archive_answer answer;
    const void *data;
    size_t len;
    int r = HE2B_OK;

    while (r == HE2B_OK &&
           (answer = he2b_archive_data(state->archive, &data, &len)) != HE2B_ARCHIVE_END) {
        if (answer == HE2B_ARCHIVE_FAILED)
            return archive_failed(state);
        r = put(state, data, len);
        span->size += (int64_t)len;
    }
    return r;
}

static int copy_content(struct state *state, struct span *span, const struct span *from)
{
    char piece[PIECE];
    int r = HE2B_OK;

    while (r == HE2B_OK && span->size < from->size) {
        int64_t left = from->size - span->size;
        size_t want = left < PIECE ? (size_t)left : sizeof(piece);
        ssize_t n = pread(state->pull->fd, piece, want, from->at + (off_t)span->size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(state->pull, HE2B_ERR_STEP, "read back what the sandbox sent",
                        n < 0 ? strerror(errno) : "it is gone");
        r = put(state, piece, (size_t)n);
        span->size += n;
    }
    return r;
}

/* Remembers where a file's content is, for hard links to it. */
static int remember(struct state *state, const char *name, const struct span *span)
{
    if (state->count == state->room) {
        size_t room = state->room ? state->room * 2 : SPANS_FIRST;
        struct span *spans = realloc(state->spans, room * sizeof(*spans));

        if (!spans)
            return no_memory(state->pull);
        state->spans = spans;
        state->room = room;
    }
    state->spans[state->count] = *span;
    if (he2b_names_put(&state->by_name, name, state->count) != HE2B_OK)
        return no_memory(state->pull);
    state->count++;
    return HE2B_OK;
}

/* link: where its content is; NULL: in the archive. */
static int take_file(struct state *state, const char *name, struct span *span,
                     const struct span *link)
{
    size_t len = strlen(name);
    char header[BLOCK];
    off_t header_at;
    int r = len > NAME_FIELD ? put_long_name(state, name, len) : HE2B_OK;

    if (r)
        return r;
    header_at = state->at;
    state->at += BLOCK;
    span->at = state->at;
    r = link ? copy_content(state, span, link) : take_content(state, span);
    if (r == HE2B_OK)
        r = pad(state);
    if (r)
        return r;
    make_header(header, name, len, '0', span);
    r = put_at(state, header, sizeof(header), header_at);
    if (r == HE2B_OK)
        r = remember(state, name, span);
    if (r)
        return r;
    state->pull->files++;
    state->pull->bytes += span->size;
    if (state->pull->progress &&
        state->pull->progress(state->pull->progress_user, state->pull->files, state->pull->bytes))
        return fail(state->pull, HE2B_ERR_CANCELLED, "fetch the sandbox's state", "cancelled");
    return HE2B_OK;
}

/* Names are told without the prefix, as below .hermes. */
static void leave_out(struct state *state, enum he2b_fate fate, const char *name)
{
    size_t prefix = strlen(state->pull->prefix);

    he2b_fates_add(state->pull->fates, fate,
                   strncmp(name, state->pull->prefix, prefix) == 0 ? name + prefix : name);
}

static int take_member(struct state *state, const struct he2b_member *member)
{
    struct span span = {.mode = member->mode, .mtime_s = member->mtime_s};
    const char *name = he2b_tree_path_skip_dot(member->name);
    struct span link;
    size_t number;
    char *copy;
    int r;

    if (member->kind == HE2B_MEMBER_OTHER)
        return HE2B_OK;
    if (!he2b_tree_path_is_plain(name) ||
        strncmp(name, state->pull->prefix, strlen(state->pull->prefix)) != 0) {
        leave_out(state, HE2B_FATE_UNSAFE, member->name);
        return HE2B_OK;
    }
    if (member->kind == HE2B_MEMBER_SPARSE ||
        (member->kind == HE2B_MEMBER_HARD_LINK &&
         !he2b_names_get(&state->by_name, he2b_tree_path_skip_dot(member->link), &number))) {
        leave_out(state, HE2B_FATE_UNREAD, name);
        return HE2B_OK;
    }
    /* what the archive gave is gone with its next piece of data */
    copy = strdup(name);
    if (!copy)
        return no_memory(state->pull);
    if (member->kind == HE2B_MEMBER_HARD_LINK) {
        link = state->spans[number];
        span.mode = link.mode;
        span.mtime_s = link.mtime_s;
        r = take_file(state, copy, &span, &link);
    } else {
        r = take_file(state, copy, &span, NULL);
    }
    free(copy);
    return r;
}

static int put_end(struct state *state)
{
    static const char zeros[BLOCK * END_BLOCKS];
    int r = put(state, zeros, sizeof(zeros));

    if (r == HE2B_OK && lseek(state->pull->fd, state->at, SEEK_SET) < 0)
        return fail(state->pull, HE2B_ERR_STEP, "write what the sandbox sent", strerror(errno));
    return r;
}

static int start(struct state *state, struct he2b_pull *pull)
{
    *state = (struct state){.pull = pull, .cap = pull->cap ? pull->cap : HE2B_ARCHIVE_CAP};
    pull->files = 0;
    pull->bytes = 0;
    pull->why[0] = '\0';
    he2b_names_init(&state->by_name);
    state->at = state->from = lseek(pull->fd, 0, SEEK_CUR);
    if (state->from < 0)
        return fail(pull, HE2B_ERR_STEP, "write what the sandbox sent", strerror(errno));
    return HE2B_OK;
}

static int read_all(struct state *state)
{
    enum he2b_archive_answer answer;
    struct he2b_member member;
    int r = HE2B_OK;

    while (r == HE2B_OK &&
           (answer = he2b_archive_next(state->archive, &member)) != HE2B_ARCHIVE_END)
        r = answer == HE2B_ARCHIVE_FAILED ? archive_failed(state) : take_member(state, &member);
    return r == HE2B_OK ? put_end(state) : r;
}

int he2b_pull_read(struct he2b_pull *pull, he2b_archive_source_fn source, void *user)
{
    struct state state;
    int r = start(&state, pull);

    if (r)
        return r;
    r = he2b_archive_new(&state.archive, source, user, state.cap,
                         pull->members ? pull->members : HE2B_ARCHIVE_MEMBERS_MAX);
    if (r)
        return fail(pull, r == HE2B_ERR_NOMEM ? r : HE2B_ERR_STEP, "read the sandbox's state",
                    he2b_strerror(r));
    r = read_all(&state);
    he2b_archive_del(state.archive);
    he2b_names_free(&state.by_name);
    free(state.spans);
    return r;
}

int he2b_pull_nothing(struct he2b_pull *pull)
{
    struct state state;
    int r = start(&state, pull);

    return r ? r : put_end(&state);
}
