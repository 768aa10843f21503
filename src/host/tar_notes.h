/*
 * What tar says beside an archive (B-86): the files that it could not read, and those that changed
 * while it read them.
 */
#ifndef HE2B_HOST_TAR_NOTES_H
#define HE2B_HOST_TAR_NOTES_H

#include <stddef.h>

enum he2b_tar_note {
    HE2B_TAR_CHANGED = 1, /* what the archive has of it may be no state that it ever had */
    HE2B_TAR_UNREAD = 2,
    HE2B_TAR_OTHER = 3, /* a line that names no file: name is the whole line */
};

/* name: as it is in the archive; gone after the call. Not 0 ends the reading. */
typedef int (*he2b_tar_note_fn)(void *user, enum he2b_tar_note note, const char *name);

/*
 * Reads the messages (len bytes, not trusted) of GNU's or BusyBox' tar, run with LC_ALL=C. Lines
 * that say nothing about the content of the archive are left out. Returns 0 or what fn returned.
 */
int he2b_tar_notes(const char *text, size_t len, he2b_tar_note_fn fn, void *user);

#endif
