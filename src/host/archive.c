#include "host/archive.h"

#include "core/text.h"
#include "he2b.h"
#include "host/tree.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

enum {
    TAR_BLOCK = 512,
    BUFFER = 64 * 1024,
    /* What the inflater gets at a time: deflate makes at most 1032 bytes of one, so that a cap is
     * overshot by about 4 MiB at most. */
    SLICE = 4 * 1024,
    /* Guards against the memory that libarchive takes for one header: sparse maps and long names
     * have no bound of their own there. */
    HEADER_MAX = 4 * 1024 * 1024,
    /* Files up to here are read before their header is written: they cannot shrink under it. */
    WHOLE_MAX = 256 * 1024,
    MODE_BITS = 0777,
};

/*
 * libarchive converts the names of PAX headers from UTF-8 to the locale's charset, which loses
 * bytes in some. In the C locale only ASCII converts, into itself, and everything else is left as
 * it is. uselocale() is of this thread alone.
 */
static int plain_locale(locale_t *ret)
{
    *ret = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *ret == (locale_t)0 ? HE2B_ERR_NOMEM : HE2B_OK;
}

/* ---- reading ---- */

struct he2b_archive {
    struct archive *tar;
    locale_t locale;
    he2b_archive_source_fn source;
    void *user;
    int64_t cap;
    size_t members_max;
    size_t members;
    int64_t header_from; /* where the header that is being read began; -1: none is */
    int64_t offset;      /* of the next piece of data */
    size_t have;
    size_t used;
    bool opened;
    bool in_member;
    bool ended;
    int error;
    char why[HE2B_ARCHIVE_WHY_MAX];
    char buffer[BUFFER];
};

static enum he2b_archive_answer fail(he2b_archive *archive, int error, const char *why)
{
    if (archive->error)
        return HE2B_ARCHIVE_FAILED; /* the first one is the cause */
    archive->error = error;
    he2b_text_line(archive->why, sizeof(archive->why), why, strlen(why));
    return HE2B_ARCHIVE_FAILED;
}

static enum he2b_archive_answer fail_by_library(he2b_archive *archive)
{
    const char *why = archive_error_string(archive->tar);

    return fail(archive, archive_errno(archive->tar) == ENOMEM ? HE2B_ERR_NOMEM : HE2B_ERR_PROTOCOL,
                why ? why : "damaged");
}

/* Whether what was inflated is within the caps. */
static bool within(he2b_archive *archive)
{
    int64_t inflated = archive_filter_bytes(archive->tar, 0);

    if (inflated > archive->cap) {
        fail(archive, HE2B_ERR_OVERFLOW, "the archive inflates to more than its cap");
        return false;
    }
    if (archive->header_from >= 0 && inflated - archive->header_from > HEADER_MAX) {
        fail(archive, HE2B_ERR_OVERFLOW, "a header of the archive is too large");
        return false;
    }
    return true;
}

static la_ssize_t give(struct archive *tar, void *user, const void **ret)
{
    he2b_archive *archive = user;
    ssize_t n;

    if (!within(archive)) {
        archive_set_error(tar, EFBIG, "%s", archive->why);
        return -1;
    }
    if (archive->used == archive->have) {
        do
            n = archive->source(archive->user, archive->buffer, sizeof(archive->buffer));
        while (n < 0 && errno == EINTR);
        if (n < 0) {
            fail(archive, HE2B_ERR_SYSTEM, strerror(errno));
            archive_set_error(tar, EIO, "%s", archive->why);
            return -1;
        }
        archive->used = 0;
        archive->have = (size_t)n;
    }
    *ret = archive->buffer + archive->used;
    n = (ssize_t)(archive->have - archive->used);
    if (n > SLICE)
        n = SLICE;
    archive->used += (size_t)n;
    return n;
}

static int set_up(he2b_archive *archive)
{
    archive->tar = archive_read_new();
    if (!archive->tar)
        return HE2B_ERR_NOMEM;
    /* WARN means that it would run a program for it */
    if (archive_read_support_filter_gzip(archive->tar) != ARCHIVE_OK ||
        archive_read_support_format_tar(archive->tar) != ARCHIVE_OK)
        return HE2B_ERR_SYSTEM;
    return HE2B_OK;
}

int he2b_archive_new(he2b_archive **ret, he2b_archive_source_fn source, void *user, int64_t cap,
                     size_t members)
{
    he2b_archive *archive = calloc(1, sizeof(*archive));
    int error;

    if (!archive)
        return HE2B_ERR_NOMEM;
    archive->source = source;
    archive->user = user;
    archive->cap = cap;
    archive->members_max = members;
    archive->header_from = -1;
    error = plain_locale(&archive->locale);
    if (error == HE2B_OK)
        error = set_up(archive);
    if (error) {
        he2b_archive_del(archive);
        return error;
    }
    *ret = archive;
    return HE2B_OK;
}

void he2b_archive_del(he2b_archive *archive)
{
    if (!archive)
        return;
    archive_read_free(archive->tar);
    if (archive->locale != (locale_t)0)
        freelocale(archive->locale);
    free(archive);
}

static enum he2b_archive_answer data(he2b_archive *archive, const void **ret, size_t *ret_len)
{
    la_int64_t offset = 0;
    int r = archive_read_data_block(archive->tar, ret, ret_len, &offset);

    if (archive->error)
        return HE2B_ARCHIVE_FAILED;
    if (r == ARCHIVE_EOF) {
        archive->in_member = false;
        return HE2B_ARCHIVE_END;
    }
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return fail_by_library(archive);
    if (!within(archive))
        return HE2B_ARCHIVE_FAILED;
    /* a hole that was not told in the header: the bytes would end up elsewhere */
    if (offset != archive->offset)
        return fail(archive, HE2B_ERR_PROTOCOL, "a member's data have holes");
    archive->offset += (int64_t)*ret_len;
    return HE2B_ARCHIVE_MORE;
}

/* Reads what is left of a member: passing over it inside libarchive would count nothing. */
static enum he2b_archive_answer pass_over(he2b_archive *archive, bool sparse)
{
    enum he2b_archive_answer answer = HE2B_ARCHIVE_MORE;
    const void *bytes;
    size_t len;

    while (archive->in_member && answer == HE2B_ARCHIVE_MORE) {
        if (sparse) {
            la_int64_t offset = 0;
            int r = archive_read_data_block(archive->tar, &bytes, &len, &offset);

            archive->in_member = r != ARCHIVE_EOF;
            if (archive->in_member && r != ARCHIVE_OK && r != ARCHIVE_WARN)
                answer = fail_by_library(archive);
            else if (!within(archive))
                answer = HE2B_ARCHIVE_FAILED;
        } else {
            answer = data(archive, &bytes, &len);
        }
    }
    return answer;
}

static enum he2b_archive_answer describe(he2b_archive *archive, struct archive_entry *entry,
                                         struct he2b_member *ret)
{
    const char *name = archive_entry_pathname(entry);
    const char *link = archive_entry_hardlink(entry);

    *ret = (struct he2b_member){
        .kind = HE2B_MEMBER_OTHER,
        .name = name ? name : "",
        .mode = archive_entry_mode(entry) & MODE_BITS,
        .mtime_s = archive_entry_mtime_is_set(entry) ? archive_entry_mtime(entry) : 0,
        .mtime_ns = archive_entry_mtime_is_set(entry) ? archive_entry_mtime_nsec(entry) : 0,
    };
    if (link) {
        ret->kind = HE2B_MEMBER_HARD_LINK;
        ret->link = link;
    } else if (archive_entry_filetype(entry) == AE_IFREG) {
        ret->kind = HE2B_MEMBER_FILE;
    }
    if (archive_entry_sparse_reset(entry) > 0) {
        ret->kind = HE2B_MEMBER_SPARSE;
        if (pass_over(archive, true) == HE2B_ARCHIVE_FAILED)
            return HE2B_ARCHIVE_FAILED;
    }
    return HE2B_ARCHIVE_MORE;
}

static enum he2b_archive_answer next(he2b_archive *archive, struct he2b_member *ret)
{
    struct archive_entry *entry;
    int64_t before;
    int r;

    if (pass_over(archive, false) == HE2B_ARCHIVE_FAILED)
        return HE2B_ARCHIVE_FAILED;
    before = archive_filter_bytes(archive->tar, 0);
    archive->header_from = before > 0 ? before : 0;
    r = archive_read_next_header(archive->tar, &entry);
    if (archive->error || (r != ARCHIVE_FATAL && !within(archive)))
        return HE2B_ARCHIVE_FAILED;
    archive->header_from = -1;
    if (r == ARCHIVE_EOF) {
        /* tar cut between two members ends like that too, but without its mark of zeros */
        if (archive_filter_bytes(archive->tar, 0) - before < TAR_BLOCK)
            return fail(archive, HE2B_ERR_PROTOCOL, "the archive is cut: it has no end mark");
        archive->ended = true;
        return HE2B_ARCHIVE_END;
    }
    /* WARN: a name that is no UTF-8, which is as good as any */
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return fail_by_library(archive);
    if (archive->members == archive->members_max)
        return fail(archive, HE2B_ERR_OVERFLOW, "the archive has too many members");
    archive->members++;
    archive->in_member = true;
    archive->offset = 0;
    return describe(archive, entry, ret);
}

/* Opening reads already, so it waits for the first call. */
static bool opened(he2b_archive *archive)
{
    if (archive->opened)
        return true;
    archive->opened = true;
    if (archive_read_open2(archive->tar, archive, NULL, give, NULL, NULL) == ARCHIVE_OK)
        return true;
    fail_by_library(archive);
    return false;
}

enum he2b_archive_answer he2b_archive_next(he2b_archive *archive, struct he2b_member *ret)
{
    enum he2b_archive_answer answer;
    locale_t before;

    if (archive->error)
        return HE2B_ARCHIVE_FAILED;
    if (archive->ended)
        return HE2B_ARCHIVE_END;
    before = uselocale(archive->locale);
    answer = opened(archive) ? next(archive, ret) : HE2B_ARCHIVE_FAILED;
    uselocale(before);
    return answer;
}

enum he2b_archive_answer he2b_archive_data(he2b_archive *archive, const void **ret, size_t *ret_len)
{
    enum he2b_archive_answer answer;
    locale_t before;

    if (archive->error)
        return HE2B_ARCHIVE_FAILED;
    if (!archive->in_member)
        return HE2B_ARCHIVE_END;
    before = uselocale(archive->locale);
    answer = data(archive, ret, ret_len);
    uselocale(before);
    return answer;
}

const char *he2b_archive_why(const he2b_archive *archive)
{
    return archive->why;
}

int he2b_archive_error(const he2b_archive *archive)
{
    return archive->error;
}

/* ---- writing ---- */

struct he2b_archive_writer {
    struct archive *tar;
    locale_t locale;
    he2b_archive_sink_fn sink;
    void *user;
    int error; /* the sink's */
    bool dropped;
    bool failed;
    char buffer[WHOLE_MAX];
};

/* Never fails: libarchive 3.6 leaks its compressor once a write failed. What comes after a failure,
 * or when the writer is given up, goes nowhere. */
static la_ssize_t take(struct archive *tar, void *user, const void *bytes, size_t len)
{
    he2b_archive_writer *writer = user;

    (void)tar;
    if (writer->error == 0 && !writer->dropped)
        writer->error = writer->sink(writer->user, bytes, len);
    return (la_ssize_t)len;
}

static int set_up_writer(he2b_archive_writer *writer)
{
    writer->tar = archive_write_new();
    if (!writer->tar)
        return HE2B_ERR_NOMEM;
    /* GNU's: BusyBox reads no names from PAX headers */
    if (archive_write_set_format_gnutar(writer->tar) != ARCHIVE_OK ||
        archive_write_add_filter_gzip(writer->tar) != ARCHIVE_OK ||
        /* level 1 is three times as fast as 6 and a tenth larger; no time: equal files, equal bytes
         */
        archive_write_set_options(writer->tar, "gzip:compression-level=1,gzip:!timestamp") !=
            ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(writer->tar, 1) != ARCHIVE_OK)
        return HE2B_ERR_SYSTEM;
    if (archive_write_open(writer->tar, writer, NULL, take, NULL) != ARCHIVE_OK)
        return writer->error ? HE2B_ERR_SYSTEM : HE2B_ERR_NOMEM;
    return HE2B_OK;
}

int he2b_archive_writer_new(he2b_archive_writer **ret, he2b_archive_sink_fn sink, void *user)
{
    he2b_archive_writer *writer = calloc(1, sizeof(*writer));
    int error;

    if (!writer)
        return HE2B_ERR_NOMEM;
    writer->sink = sink;
    writer->user = user;
    error = plain_locale(&writer->locale);
    if (error == HE2B_OK)
        error = set_up_writer(writer);
    if (error) {
        he2b_archive_writer_del(writer);
        return error;
    }
    *ret = writer;
    return HE2B_OK;
}

void he2b_archive_writer_del(he2b_archive_writer *writer)
{
    if (!writer)
        return;
    /* freeing it writes the end, which would make it look whole */
    writer->dropped = true;
    archive_write_free(writer->tar);
    if (writer->locale != (locale_t)0)
        freelocale(writer->locale);
    free(writer);
}

/* Up to size bytes, fewer at the end of the file only. Returns -1 and errno. */
static ssize_t read_up_to(int fd, char *into, size_t size)
{
    size_t have = 0;

    while (have < size) {
        ssize_t n = read(fd, into + have, size - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

static bool header(he2b_archive_writer *writer, const char *name, const struct stat *file,
                   int64_t size)
{
    struct archive_entry *entry = archive_entry_new();
    int r;

    if (!entry)
        return false;
    archive_entry_copy_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, file->st_mode & MODE_BITS);
    archive_entry_set_size(entry, size);
    archive_entry_set_mtime(entry, file->st_mtime, 0);
    r = archive_write_header(writer->tar, entry);
    archive_entry_free(entry);
    return writer->error == 0 && (r == ARCHIVE_OK || r == ARCHIVE_WARN);
}

static bool put(he2b_archive_writer *writer, struct he2b_sha256 *hash, const char *bytes,
                size_t len)
{
    he2b_sha256_add(hash, bytes, len);
    return archive_write_data(writer->tar, bytes, len) == (la_ssize_t)len && writer->error == 0;
}

/* The rest of a file that did not fit into the buffer: exactly as many bytes as its header says. */
static enum he2b_archive_added rest(he2b_archive_writer *writer, struct he2b_sha256 *hash, int fd,
                                    int64_t left, struct he2b_archive_file *ret)
{
    enum he2b_archive_added added = HE2B_ADDED;

    while (left > 0) {
        size_t want = left < WHOLE_MAX ? (size_t)left : WHOLE_MAX;
        ssize_t n = added == HE2B_ADDED ? read_up_to(fd, writer->buffer, want) : 0;

        if (n < 0)
            ret->error = errno;
        if (n < (ssize_t)want) {
            /* It shrank, or cannot be read any more: the archive needs the bytes all the same. */
            size_t got = n > 0 ? (size_t)n : 0;

            memset(writer->buffer + got, 0, want - got);
            added = HE2B_ADDED_CHANGED;
        }
        if (!put(writer, hash, writer->buffer, want))
            return HE2B_ADDED_FAILED;
        left -= (int64_t)want;
    }
    return added;
}

static enum he2b_archive_added not_added(struct he2b_archive_file *ret, int error)
{
    ret->error = error;
    return HE2B_ADDED_NOT;
}

static enum he2b_archive_added add(he2b_archive_writer *writer, const char *name, int fd,
                                   struct he2b_archive_file *ret)
{
    enum he2b_archive_added added = HE2B_ADDED;
    struct he2b_sha256 hash;
    struct stat before;
    struct stat after;
    ssize_t first;

    if (fstat(fd, &before) < 0)
        return not_added(ret, errno);
    if (!S_ISREG(before.st_mode))
        return not_added(ret, EINVAL);
    first = read_up_to(fd, writer->buffer, sizeof(writer->buffer));
    if (first < 0)
        return not_added(ret, errno);
    ret->size = before.st_size > first && first == WHOLE_MAX ? before.st_size : first;
    he2b_sha256_init(&hash);
    if (!header(writer, name, &before, ret->size) ||
        !put(writer, &hash, writer->buffer, (size_t)first))
        return HE2B_ADDED_FAILED;
    if (ret->size > first)
        added = rest(writer, &hash, fd, ret->size - first, ret);
    if (added == HE2B_ADDED_FAILED || archive_write_finish_entry(writer->tar) != ARCHIVE_OK ||
        writer->error)
        return HE2B_ADDED_FAILED;
    he2b_sha256_end(&hash, ret->sum);
    if (fstat(fd, &after) < 0 || !he2b_tree_unchanged(&before, &after))
        added = HE2B_ADDED_CHANGED;
    return added;
}

enum he2b_archive_added he2b_archive_add(he2b_archive_writer *writer, const char *name, int fd,
                                         struct he2b_archive_file *ret)
{
    enum he2b_archive_added added;
    locale_t before;

    *ret = (struct he2b_archive_file){0};
    if (writer->failed)
        return HE2B_ADDED_FAILED;
    before = uselocale(writer->locale);
    added = add(writer, name, fd, ret);
    uselocale(before);
    writer->failed = added == HE2B_ADDED_FAILED;
    return added;
}

bool he2b_archive_add_text(he2b_archive_writer *writer, const char *name, const void *data,
                           size_t len)
{
    const struct stat file = {.st_mode = 0600, .st_mtime = time(NULL)};
    locale_t before;

    if (writer->failed)
        return false;
    before = uselocale(writer->locale);
    writer->failed = !header(writer, name, &file, (int64_t)len) ||
                     archive_write_data(writer->tar, data, len) != (la_ssize_t)len ||
                     archive_write_finish_entry(writer->tar) != ARCHIVE_OK || writer->error;
    uselocale(before);
    return !writer->failed;
}

int he2b_archive_writer_finish(he2b_archive_writer *writer)
{
    locale_t before;
    int r;

    if (writer->failed)
        return writer->error ? HE2B_ERR_SYSTEM : HE2B_ERR_NOMEM;
    before = uselocale(writer->locale);
    r = archive_write_close(writer->tar);
    uselocale(before);
    writer->failed = true;
    if (r == ARCHIVE_OK && writer->error == 0)
        return HE2B_OK;
    return writer->error ? HE2B_ERR_SYSTEM : HE2B_ERR_NOMEM;
}

int he2b_archive_writer_error(const he2b_archive_writer *writer)
{
    return writer->error;
}
