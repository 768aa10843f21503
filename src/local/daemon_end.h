/*
 * How the end of a process is told (wire C.9).
 */
#ifndef HE2B_LOCAL_DAEMON_END_H
#define HE2B_LOCAL_DAEMON_END_H

/* status: of wait(2). The whole message with an EndEvent, allocated; NULL: no memory. */
char *daemon_end_message(int status);

#endif
