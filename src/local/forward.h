/*
 * One request on its way to a sandbox's daemon and its answer on the way back, by the frames of
 * link.h. Held in between: about a frame in each direction; then whoever sends has to wait.
 */
#ifndef HE2B_LOCAL_FORWARD_H
#define HE2B_LOCAL_FORWARD_H

struct http_request;
struct sandbox;

/* Handles the request from here on; the sandbox runs. */
void forward_begin(struct sandbox *sandbox, struct http_request *request);

#endif
