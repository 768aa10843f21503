/*
 * Work on the disk that may take long, done by a child so that the loop goes on: it makes the
 * answer of a unary call.
 */
#ifndef HE2B_LOCAL_DAEMON_JOB_H
#define HE2B_LOCAL_DAEMON_JOB_H

#include "core/json.h"

struct exchange;

/* What the work gives: a message (taken over), or a Connect code and what is wrong. */
struct job_result {
    he2b_json *message;
    const char *code;
    char why[8192];
};

/*
 * Runs work(arg) in a child, where nothing of the loop may be touched, and answers x with what it
 * gives. arg is used before this returns, or is the child's copy. If the client leaves, the work is
 * done all the same.
 */
void job_run(struct exchange *x, void (*work)(struct job_result *ret, const void *arg),
             const void *arg);

#endif
