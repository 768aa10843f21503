/*
 * What X-Metadata-KEY headers of an upload attach to a file: extended attributes user.e2b.KEY
 * (wire D.3).
 */
#ifndef HE2B_LOCAL_DAEMON_METADATA_H
#define HE2B_LOCAL_DAEMON_METADATA_H

#include "core/json.h"

/*
 * The metadata that a request's headers carry: NULL and *ret, an object of strings, NULL if there
 * is none; or what is wrong with them (static).
 */
const char *metadata_of_headers(he2b_json **ret, const he2b_json *headers);

/* Sets fd's metadata to these (NULL: none), others are taken away. 0 or an errno. A file system
 * that has no such attributes is an error only if there is something to set. */
int metadata_write(int fd, const he2b_json *metadata);

/* Of the file; NULL: none, or it cannot be told. */
he2b_json *metadata_read(const char *path);

#endif
