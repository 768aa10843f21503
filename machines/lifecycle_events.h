/*
 * What can happen to a session's sandbox, as the chart reads it: plain decimals, one a line.
 */
#ifndef HE2B_MACHINES_LIFECYCLE_EVENTS_H
#define HE2B_MACHINES_LIFECYCLE_EVENTS_H

enum he2b_lifecycle_event {
    LIFE_WANT_NEW = 1,  /* somebody waits, and there is no sandbox yet */
    LIFE_WANT_OLD = 2,  /* somebody waits, and a sandbox's id is known */
    LIFE_WANT = 3,      /* somebody waits, and the known lease lets it start */
    LIFE_STALE = 4,     /* somebody waits, and the lease is too short or unknown */
    LIFE_RENEW = 5,     /* the lease should be extended beside the commands */
    LIFE_CREATED = 6,   /* create succeeded */
    LIFE_ATTACHED = 7,  /* connect: it runs, and is the one that was probed */
    LIFE_CONNECTED = 8, /* connect: it runs, and is to be probed (again) */
    LIFE_GONE = 9,      /* connect: this session's own sandbox exists no more */
    LIFE_PROBED = 10,   /* home, working directory and tools are known */
    LIFE_FAILED = 11,   /* the request on the way failed */
    LIFE_RENEWED = 12,  /* the renewal beside the commands is over, well or not */
    LIFE_VANISHED = 13, /* a command found no sandbox */
    LIFE_CLOSE = 14,    /* the session is to end, and no command is left */
    LIFE_KILLED = 15,   /* the sandbox is gone, was never made, or is left to its lease */
};

/* The same once more, for who needs names and counts. */
#define HE2B_LIFECYCLE_EVENTS(X)                                                                   \
    X(LIFE_WANT_NEW)                                                                               \
    X(LIFE_WANT_OLD)                                                                               \
    X(LIFE_WANT)                                                                                   \
    X(LIFE_STALE)                                                                                  \
    X(LIFE_RENEW)                                                                                  \
    X(LIFE_CREATED)                                                                                \
    X(LIFE_ATTACHED)                                                                               \
    X(LIFE_CONNECTED)                                                                              \
    X(LIFE_GONE)                                                                                   \
    X(LIFE_PROBED)                                                                                 \
    X(LIFE_FAILED)                                                                                 \
    X(LIFE_RENEWED)                                                                                \
    X(LIFE_VANISHED)                                                                               \
    X(LIFE_CLOSE)                                                                                  \
    X(LIFE_KILLED)

enum {
#define HE2B_X(name) +1
    HE2B_LIFECYCLE_EVENT_COUNT = 0 HE2B_LIFECYCLE_EVENTS(HE2B_X),
#undef HE2B_X
};
_Static_assert((int)HE2B_LIFECYCLE_EVENT_COUNT == (int)LIFE_KILLED,
               "the list names each event once");

#endif
