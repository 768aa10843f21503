/*
 * One file into a sandbox (wire D.3): the raw form, whole or not at all as far as this side can
 * tell. It starts nothing, so it may be sent again.
 */
#ifndef HE2B_E2B_UPLOAD_H
#define HE2B_E2B_UPLOAD_H

#include "e2b/process.h"

typedef struct he2b_upload he2b_upload;

/* HE2B_RPC_OK: it is there. */
typedef void (*he2b_upload_fn)(void *user, const struct he2b_rpc_result *result);

/*
 * path: absolute, of letters, digits and "/._-" only. data is borrowed until done or cancel; the
 * file is the daemon's default user's. Returns HE2B_OK, HE2B_ERR_ARG (another path),
 * HE2B_ERR_OVERFLOW (a longer one), HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 */
int he2b_upload_start(he2b_upload **ret, const struct he2b_process_target *target, const char *path,
                      const void *data, size_t len, he2b_upload_fn done, void *user);
/*
 * As above, with what comes from a pipe (net/http.h: body_piped) until its end, whatever that takes
 * as long as bytes move. It is the caller's to know whether all of it came.
 */
int he2b_upload_pipe(he2b_upload **ret, const struct he2b_process_target *target, const char *path,
                     int fd, he2b_upload_fn done, void *user);
/* Drops it; the file may be there in part. NULL is fine. */
void he2b_upload_cancel(he2b_upload *upload);

#endif
