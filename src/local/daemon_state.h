/*
 * What the daemon knows of its sandbox and tells of it (wire D.5).
 */
#ifndef HE2B_LOCAL_DAEMON_STATE_H
#define HE2B_LOCAL_DAEMON_STATE_H

#include "core/json.h"

#include <stdbool.h>

struct exchange;

/* Takes the plane's first message (link.h) into daemon_globals; false if it is none. */
bool state_init(const he2b_json *message);

void state_health(struct exchange *x);
void state_metrics(struct exchange *x);
void state_envs(struct exchange *x);

#endif
