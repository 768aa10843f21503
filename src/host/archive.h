/*
 * Tar archives as streams: what a sandbox sends is read as hostile (B-87), what goes into one is
 * written with bounded memory (B-72). The only place that knows libarchive.
 *
 * Both ends of a stream are blocking callbacks, usually a pipe whose other end a loop serves
 * (archive_stream.h): never on a loop's thread. One thread at a time per object.
 */
#ifndef HE2B_HOST_ARCHIVE_H
#define HE2B_HOST_ARCHIVE_H

#include "core/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    /* A member's name, in bytes, without the NUL. */
    HE2B_ARCHIVE_NAME_MAX = 4095,
    HE2B_ARCHIVE_WHY_MAX = 256,
    /* Guards against an archive of nothing but names. */
    HE2B_ARCHIVE_MEMBERS_MAX = 500000,
};
/* Guards against what a small archive may inflate to (behaviour.md, constants; B-87). */
#define HE2B_ARCHIVE_CAP INT64_C(2147483648)

/* Where an archive comes from: up to size bytes into data; returns how many, 0 at the end, -1 with
 * errno set. */
typedef ssize_t (*he2b_archive_source_fn)(void *user, void *data, size_t size);
/* Where one goes: takes all of it; returns 0 or an errno. */
typedef int (*he2b_archive_sink_fn)(void *user, const void *data, size_t len);

/* ---- reading ---- */

typedef struct he2b_archive he2b_archive;

enum he2b_member_kind {
    HE2B_MEMBER_FILE = 1,
    HE2B_MEMBER_HARD_LINK = 2, /* another name of an earlier member */
    HE2B_MEMBER_SPARSE = 3,    /* a file with holes, whose data are not given */
    HE2B_MEMBER_OTHER = 4,     /* folders, symbolic links, devices, anything else */
};

/* Texts are the archive's and gone with the next call. Nothing in here was checked. */
struct he2b_member {
    enum he2b_member_kind kind;
    const char *name; /* the bytes of the archive under every locale; may be ""  */
    const char *link; /* HARD_LINK: the earlier member's name */
    mode_t mode;      /* permission bits alone: 0777 at most */
    int64_t mtime_s;
    long mtime_ns;
};

enum he2b_archive_answer {
    HE2B_ARCHIVE_MORE = 1,   /* a member, or data */
    HE2B_ARCHIVE_END = 2,    /* of the archive, with its mark, or of the member */
    HE2B_ARCHIVE_FAILED = 3, /* for good: he2b_archive_why(), he2b_archive_error() */
};

/*
 * Reads a tar archive, as it is or compressed by gzip. cap: most bytes that it may inflate to;
 * members: most members. Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_SYSTEM.
 */
int he2b_archive_new(he2b_archive **ret, he2b_archive_source_fn source, void *user, int64_t cap,
                     size_t members);
void he2b_archive_del(he2b_archive *archive);

/* The next member; what is left of the one before is passed over, and counts. */
enum he2b_archive_answer he2b_archive_next(he2b_archive *archive, struct he2b_member *ret);
/* The next piece of a FILE's data, valid until the next call. */
enum he2b_archive_answer he2b_archive_data(he2b_archive *archive, const void **ret,
                                           size_t *ret_len);

/* One line without control bytes; "" while nothing failed. */
const char *he2b_archive_why(const he2b_archive *archive);
/* HE2B_OK, HE2B_ERR_OVERFLOW (a cap), HE2B_ERR_SYSTEM (the source failed), HE2B_ERR_NOMEM,
 * HE2B_ERR_PROTOCOL (no archive, damaged, or cut). */
int he2b_archive_error(const he2b_archive *archive);

/* ---- writing ---- */

typedef struct he2b_archive_writer he2b_archive_writer;

enum he2b_archive_added {
    HE2B_ADDED = 1,         /* whole, as it was throughout */
    HE2B_ADDED_CHANGED = 2, /* it is in the archive, but it changed while it was read */
    HE2B_ADDED_NOT = 3,     /* it is not: error says why */
    HE2B_ADDED_FAILED = 4,  /* the stream failed and is of no use any more */
};

struct he2b_archive_file {
    int error; /* errno for ADDED_NOT, and for ADDED_CHANGED when it could not be read to its end */
    uint8_t sum[HE2B_SHA256_SIZE]; /* of the content as it is in the archive */
    int64_t size;
};

/*
 * Writes a gzip-compressed tar archive that GNU's and BusyBox' tar both read, whatever the names
 * hold: GNU long names, mode bits 0777, times in whole seconds. Returns as he2b_archive_new().
 */
int he2b_archive_writer_new(he2b_archive_writer **ret, he2b_archive_sink_fn sink, void *user);
/* Without finish() the stream just ends: no reader takes it for whole. */
void he2b_archive_writer_del(he2b_archive_writer *writer);

/* Adds what fd (read from where it stands; stays the caller's) holds under name. What is no regular
 * file is ADDED_NOT with EINVAL. */
enum he2b_archive_added he2b_archive_add(he2b_archive_writer *writer, const char *name, int fd,
                                         struct he2b_archive_file *ret);
/* Adds a file of this program's own making, for its owner alone. False: the stream failed. */
bool he2b_archive_add_text(he2b_archive_writer *writer, const char *name, const void *data,
                           size_t len);
/* Returns HE2B_OK, HE2B_ERR_SYSTEM (the sink failed), HE2B_ERR_NOMEM. */
int he2b_archive_writer_finish(he2b_archive_writer *writer);
/* The errno that the sink gave, or 0. */
int he2b_archive_writer_error(const he2b_archive_writer *writer);

#endif
