/*
 * Signals to all that was ever started here, children of children and orphans included.
 */
#ifndef HE2B_LOCAL_DAEMON_EVERYTHING_H
#define HE2B_LOCAL_DAEMON_EVERYTHING_H

/* Finds daemon_globals.isolated, and adopts orphans where it has to. Call it before all else. */
void everything_init(void);

/* SIGSTOP, SIGCONT: once to each. SIGKILL: until none is left, or none can be killed. */
void everything_signal(int signum);

#endif
