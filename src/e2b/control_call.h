/*
 * What the calls of control.h share: each is an object that begins with a struct he2b_control, by
 * which it is ended or cancelled.
 */
#ifndef HE2B_E2B_CONTROL_CALL_H
#define HE2B_E2B_CONTROL_CALL_H

#include "core/json.h"
#include "e2b/control.h"

struct he2b_control_ops {
    void (*end)(he2b_control *control);
    void (*cancel)(he2b_control *control);
};

struct he2b_control {
    const struct he2b_control_ops *ops;
};

/*
 * Reads the connection data of a create or connect answer; false if the answer does not describe a
 * sandbox as E2B's API does. *ret may be half filled then.
 */
bool he2b_endpoint_read(struct he2b_endpoint *ret, const char *body, size_t len);

/* A refusal of a request that asked for a lease: how long (B-33). */
void he2b_name_lease(struct he2b_failure *failure, int64_t lease_s);

/* What is said of such an answer. */
extern const char he2b_no_sandbox[];

#endif
