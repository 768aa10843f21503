/* The steps that the library does itself: locks and marker of a scope. Blocks; never on a loop that
 * others share. */
#include "host/marker.h"
#include "machines/writer_events.h"
#include "net/loop.h"
#include "session/step.h"

#include <errno.h>
#include <stdlib.h>

enum {
    CREATION_WAIT_MS = 60000,
};

struct he2b_host *he2b_host_new(void)
{
    struct he2b_host *host = calloc(1, sizeof(*host));

    if (!host)
        return NULL;
    he2b_lock_init(&host->creation);
    he2b_lock_init(&host->lease);
    host->creation_wait_ms = CREATION_WAIT_MS;
    return host;
}

void he2b_host_del(struct he2b_host *host)
{
    if (!host)
        return;
    he2b_lock_release(&host->lease);
    he2b_lock_release(&host->creation);
    free(host);
}

/* What a folder or file system says that never lets a marker be written; all else is trouble of
 * this process or disk, and refuses (B-61, B-67). */
static bool unwritable(int error)
{
    return error == EACCES || error == EPERM || error == EROFS || error == ENOSYS ||
           error == EOPNOTSUPP || error == ENOLCK;
}

/* The writer lease: won, alone, taken, failed. */
static void try_lease(struct he2b_host *host, struct he2b_step_result *ret)
{
    switch (he2b_lock_try(&host->lease, host->files.writer_lock)) {
    case HE2B_LOCK_HELD:
        ret->event = WRITER_WON;
        break;
    case HE2B_LOCK_TAKEN:
        ret->event = WRITER_TAKEN;
        break;
    case HE2B_LOCK_UNSUPPORTED:
        ret->event = WRITER_ALONE;
        ret->error = host->lease.error;
        break;
    case HE2B_LOCK_FAILED:
        ret->event = WRITER_FAILED;
        ret->error = host->lease.error;
        break;
    }
}

static void elect(struct he2b_host *host, struct he2b_step_result *ret)
{
    enum he2b_lock_outcome outcome = he2b_lock_try(&host->creation, host->files.creation_lock);
    int64_t now_ms = he2b_now_ms();

    if (outcome == HE2B_LOCK_FAILED) {
        ret->event = WRITER_FAILED;
        ret->error = host->creation.error;
        return;
    }
    if (outcome == HE2B_LOCK_TAKEN) {
        if (!host->waiting_since_ms)
            host->waiting_since_ms = now_ms;
        if (now_ms - host->waiting_since_ms < host->creation_wait_ms) {
            ret->event = WRITER_BUSY;
            return;
        }
        ret->no_lock = true;
    }
    host->waiting_since_ms = 0;
    try_lease(host, ret);
}

static void promote(struct he2b_host *host, struct he2b_step_result *ret)
{
    he2b_lock_release(&host->creation);
    try_lease(host, ret);
    if (ret->event != WRITER_TAKEN)
        return;
    ret->event = he2b_marker_dirty(host->files.marker, &ret->error) ? WRITER_DIRTY : WRITER_CLEAN;
    ret->unmarked = ret->error != 0;
}

static void mark(struct he2b_host *host, const char *reason, struct he2b_step_result *ret)
{
    he2b_lock_release(&host->creation);
    ret->error = he2b_marker_set(host->files.marker, reason);
    ret->unmarked = unwritable(ret->error);
    ret->event = ret->error && !ret->unmarked ? WRITER_FAILED : WRITER_MARKED;
}

static void clear(struct he2b_host *host, struct he2b_step_result *ret)
{
    int ignored;

    ret->event = WRITER_CLEARED;
    ret->error = he2b_marker_clear(host->files.marker);
    if (ret->error && he2b_marker_dirty(host->files.marker, &ignored) && !ignored)
        ret->event = WRITER_FAILED; /* it is there and stays: readers would be kept out for ever */
    else
        ret->error = 0;
}

void he2b_host_step(struct he2b_host *host, enum he2b_step_kind kind, const char *reason,
                    struct he2b_step_result *ret)
{
    *ret = (struct he2b_step_result){0};
    switch (kind) {
    case HE2B_STEP_ELECT:
        elect(host, ret);
        break;
    case HE2B_STEP_PROMOTE:
        promote(host, ret);
        break;
    case HE2B_STEP_MARK:
        mark(host, reason, ret);
        break;
    case HE2B_STEP_CLEAR:
        clear(host, ret);
        break;
    case HE2B_STEP_RELEASE:
        he2b_lock_release(&host->lease);
        he2b_lock_release(&host->creation);
        host->waiting_since_ms = 0;
        ret->event = WRITER_RELEASED;
        break;
    case HE2B_STEP_RECOVER:
    case HE2B_STEP_PUSH:
    case HE2B_STEP_SYNC:
    case HE2B_STEP_PULL:
        break;
    }
}
