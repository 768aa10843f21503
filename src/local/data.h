/*
 * The data plane (wire B): which sandbox a request is for, whether it may pass, and the answers
 * that the service's proxies give; what passes goes on to the sandbox's daemon (forward.h).
 */
#ifndef HE2B_LOCAL_DATA_H
#define HE2B_LOCAL_DATA_H

#include "local/http.h"
#include "local/route.h"

struct plane;

/* A request that route_decide() gave to the data plane, or refused. */
void data_begin(struct plane *plane, struct http_request *request, const struct route *route);

/* 502: the daemon does not answer, or broke off before its answer began (wire B.4). */
void data_port_not_open(struct http_request *request, const char *sandbox_id, unsigned port);

#endif
