/*
 * filesystem.EntryInfo (wire C.7, C.10).
 */
#ifndef HE2B_LOCAL_DAEMON_ENTRY_H
#define HE2B_LOCAL_DAEMON_ENTRY_H

#include "core/json.h"

struct stat;

/*
 * Of path, which info describes (lstat(2)). A name that is not UTF-8 is shown with U+FFFD, since
 * JSON cannot carry it. NULL: no memory.
 */
he2b_json *daemon_entry(const char *path, const struct stat *info);

#endif
