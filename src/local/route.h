/*
 * Which plane a request is for, and which sandbox (wire B.1, B.2, B.4): the control plane and the
 * data of all sandboxes share one port.
 */
#ifndef HE2B_LOCAL_ROUTE_H
#define HE2B_LOCAL_ROUTE_H

#include "local/credential.h"

enum route_kind {
    ROUTE_CONTROL,
    ROUTE_DATA,
    ROUTE_REFUSED,
};

enum {
    /* the one port that a sandbox serves */
    ROUTE_PORT = 49983
};

struct route {
    enum route_kind kind;
    /* ROUTE_DATA; an id that is too long for one of ours is cut, and so unknown */
    char sandbox_id[CREDENTIAL_ID_LEN + 2];
    unsigned port;
    /* ROUTE_REFUSED: the text of the 400 */
    const char *refusal;
};

/* host: the Host header; the two routing headers may be NULL. */
void route_decide(struct route *ret, const char *host, const char *id, const char *port);

#endif
