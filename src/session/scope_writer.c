/* Whether somebody on this host is the writer of a scope (B-60), for a person's commands. */
#include "core/scope.h"
#include "he2b.h"
#include "host/files.h"
#include "host/lock.h"

#include <errno.h>
#include <unistd.h>

int he2b_scope_writer(const char *home, const char *scope)
{
    struct he2b_host_files files;
    struct he2b_lock lock;
    enum he2b_lock_outcome outcome;
    int error = he2b_host_files(&files, home, scope);

    if (error)
        return error;
    /* A file that nobody has made is held by nobody, and is not made by a look. */
    if (access(files.writer_lock, F_OK) != 0) {
        if (errno == ENOENT)
            return HE2B_OK;
        return HE2B_ERR_SYSTEM;
    }
    he2b_lock_init(&lock);
    outcome = he2b_lock_try(&lock, files.writer_lock);
    he2b_lock_release(&lock);
    if (outcome == HE2B_LOCK_HELD)
        return HE2B_OK;
    if (outcome == HE2B_LOCK_TAKEN)
        return HE2B_ERR_BUSY;
    errno = lock.error;
    return HE2B_ERR_SYSTEM;
}
