/*
 * Which handler a request gets, by its path and method (wire C.1, D).
 */
#ifndef HE2B_LOCAL_DAEMON_ROUTE_H
#define HE2B_LOCAL_DAEMON_ROUTE_H

struct exchange;

/* The head of x is complete. */
void daemon_route(struct exchange *x);

#endif
