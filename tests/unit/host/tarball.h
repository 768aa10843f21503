/*
 * Archives that no tar would write, byte by byte, and callbacks to read and write them.
 */
#ifndef HE2B_TESTS_TARBALL_H
#define HE2B_TESTS_TARBALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tarball {
    char *data;
    size_t len;
    size_t at;    /* read so far */
    size_t piece; /* most bytes of one read; 0: all */
    int error;    /* of a read at the end of data; 0: that is the end */
};

void tarball_free(struct tarball *tar);
void tarball_add(struct tarball *tar, const void *data, size_t len);
/* A header of this type; size is what it says, whatever follows. */
void tarball_header(struct tarball *tar, char type, const char *name, const char *link,
                    unsigned mode, int64_t size);
/* Bytes and their padding. */
void tarball_body(struct tarball *tar, const void *data, size_t len);
/* A file of 0644 with this text. */
void tarball_file(struct tarball *tar, const char *name, const char *text);
/* A PAX header ('x' or 'g') with one record; value may hold NULs. */
void tarball_pax(struct tarball *tar, char type, const char *key, const char *value, size_t len);
void tarball_end(struct tarball *tar);
/* Compresses it, by gzip(1). */
void tarball_gzip(struct tarball *tar);

/* he2b_archive_source_fn and he2b_archive_sink_fn; user: struct tarball. */
ssize_t tarball_source(void *user, void *data, size_t size);
int tarball_sink(void *user, const void *data, size_t len);

/* Runs command in a shell with its standard input and output in files; fails the test unless it
 * ends with 0. */
void tarball_from(struct tarball *tar, const char *command);
void tarball_to(const struct tarball *tar, const char *command);
bool have_program(const char *name);

#endif
