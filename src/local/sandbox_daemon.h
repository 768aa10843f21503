/*
 * A sandbox's daemon as the plane sees it: its start, the control socket (link.h), its end.
 */
#ifndef HE2B_LOCAL_SANDBOX_DAEMON_H
#define HE2B_LOCAL_SANDBOX_DAEMON_H

#include "local/sandbox.h"

/* Starts the daemon in the sandbox's folder. 0, or -1 with why; sandbox_is_up() or
 * sandbox_has_ended() comes later, never from inside. */
int daemon_link_boot(struct sandbox *sandbox, char why[SANDBOX_WHY_MAX]);

/* Stops or continues every process but the daemon. False if the daemon cannot be told. */
bool daemon_link_freeze(struct sandbox *sandbox, bool freeze);

/* Closes what is open towards the daemon; it must have ended, or be about to. */
void daemon_link_close(struct sandbox *sandbox);

/* ---- sandbox.c, called from here ---- */

void sandbox_is_up(struct sandbox *sandbox);
/* Everything of it has ended; sandbox->launch is NULL again. May free the sandbox. */
void sandbox_has_ended(struct sandbox *sandbox, const char *why);

#endif
