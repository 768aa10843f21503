/*
 * What can happen to a session's sandbox, as the chart reads it: plain decimals, one a line.
 */
#ifndef HE2B_MACHINES_LIFECYCLE_EVENTS_H
#define HE2B_MACHINES_LIFECYCLE_EVENTS_H

enum he2b_lifecycle_event {
    LIFE_WANT_NEW = 1,   /* somebody waits, and there is no sandbox yet */
    LIFE_WANT_OLD = 2,   /* somebody waits, and a sandbox's id is known */
    LIFE_WANT_SCOPE = 3, /* somebody waits, and the scope's sandbox is to be found or made */
    LIFE_WANT = 4,       /* somebody waits, and the known lease lets it start */
    LIFE_WANT_GATE = 5,  /* the same, in a scope: the role has its say first */
    LIFE_STALE = 6,      /* somebody waits, and the lease is too short or unknown */
    LIFE_RENEW = 7,      /* the lease should be extended beside the commands */
    LIFE_ELECTED = 8,    /* the locks are tried: this session is to be writer or reader */
    LIFE_FOUND = 9,      /* the scope's sandbox is found */
    LIFE_ABSENT = 10,    /* there is none, and this session may make it */
    LIFE_CREATED = 11,   /* create succeeded, for this session alone */
    LIFE_MADE = 12,      /* create succeeded, for the scope */
    LIFE_ATTACHED = 13,  /* connect: it runs, and is the one that was probed */
    LIFE_CONNECTED = 14, /* connect: it runs, and is to be probed (again) */
    LIFE_SAME = 15,      /* connect: the scope's sandbox runs, and was attached before */
    LIFE_JOINED = 16,    /* connect: the scope's sandbox runs, and is new to this session */
    LIFE_REBOOTED = 17,  /* connect: the scope's sandbox was paused meanwhile */
    LIFE_NEXT = 18,      /* connect: this candidate exists no more, there is another */
    LIFE_GONE = 19,      /* connect: this session's own sandbox exists no more */
    LIFE_ASTRAY = 20,    /* connect: the scope's sandbox exists no more */
    LIFE_PROBED = 21,    /* home, working directory and tools are known */
    LIFE_PREPARED = 22,  /* the command may start, as far as the role goes */
    LIFE_LAPSED = 23,    /* the same, but the lease became too short or unknown meanwhile */
    LIFE_REFUSED = 24,   /* the command may not start; the session stays as it is */
    LIFE_FAILED = 25,    /* what was on the way failed */
    LIFE_DROPPED = 26,   /* the role and its locks are given up */
    LIFE_RENEWED = 27,   /* the renewal beside the commands is over, well or not */
    LIFE_VANISHED = 28,  /* a command found no sandbox */
    LIFE_ABANDONED = 29, /* nobody waits any more */
    LIFE_CLOSE = 30,     /* the session is to end, and no command is left */
    LIFE_OWNED = 31,     /* the same as LIFE_PROBED, but Hermes' state has to go there first */
};

/* The same once more, for who needs names and counts. */
#define HE2B_LIFECYCLE_EVENTS(X)                                                                   \
    X(LIFE_WANT_NEW)                                                                               \
    X(LIFE_WANT_OLD)                                                                               \
    X(LIFE_WANT_SCOPE)                                                                             \
    X(LIFE_WANT)                                                                                   \
    X(LIFE_WANT_GATE)                                                                              \
    X(LIFE_STALE)                                                                                  \
    X(LIFE_RENEW)                                                                                  \
    X(LIFE_ELECTED)                                                                                \
    X(LIFE_FOUND)                                                                                  \
    X(LIFE_ABSENT)                                                                                 \
    X(LIFE_CREATED)                                                                                \
    X(LIFE_MADE)                                                                                   \
    X(LIFE_ATTACHED)                                                                               \
    X(LIFE_CONNECTED)                                                                              \
    X(LIFE_SAME)                                                                                   \
    X(LIFE_JOINED)                                                                                 \
    X(LIFE_REBOOTED)                                                                               \
    X(LIFE_NEXT)                                                                                   \
    X(LIFE_GONE)                                                                                   \
    X(LIFE_ASTRAY)                                                                                 \
    X(LIFE_PROBED)                                                                                 \
    X(LIFE_PREPARED)                                                                               \
    X(LIFE_LAPSED)                                                                                 \
    X(LIFE_REFUSED)                                                                                \
    X(LIFE_FAILED)                                                                                 \
    X(LIFE_DROPPED)                                                                                \
    X(LIFE_RENEWED)                                                                                \
    X(LIFE_VANISHED)                                                                               \
    X(LIFE_ABANDONED)                                                                              \
    X(LIFE_CLOSE)                                                                                  \
    X(LIFE_OWNED)

enum {
#define HE2B_X(name) +1
    HE2B_LIFECYCLE_EVENT_COUNT = 0 HE2B_LIFECYCLE_EVENTS(HE2B_X),
#undef HE2B_X
};
_Static_assert((int)HE2B_LIFECYCLE_EVENT_COUNT == (int)LIFE_OWNED,
               "the list names each event once");

#endif
