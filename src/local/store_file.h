/*
 * Small files in a folder, read and replaced as a whole.
 */
#ifndef HE2B_LOCAL_STORE_FILE_H
#define HE2B_LOCAL_STORE_FILE_H

#include <stddef.h>

/* Reads all of it, at most max bytes; allocated, NUL-terminated. NULL and errno (EFBIG: longer). */
char *store_file_read(int folder_fd, const char *name, size_t max, size_t *ret_len);

/* Writes it beside, mode 0600, and renames it to name. 0, or -1 and errno. */
int store_file_replace(int folder_fd, const char *name, const void *data, size_t len);

#endif
