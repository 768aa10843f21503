/*
 * What can happen to a session's role in its scope, as the chart reads it: plain decimals, one a
 * line.
 */
#ifndef HE2B_MACHINES_WRITER_EVENTS_H
#define HE2B_MACHINES_WRITER_EVENTS_H

enum he2b_writer_event {
    WRITER_SEEK = 1,       /* a sandbox is to be looked for: which role would this session have? */
    WRITER_WON = 2,        /* this session holds the writer lease */
    WRITER_ALONE = 3,      /* nothing can be locked here: it acts as writer all the same (B-61) */
    WRITER_TAKEN = 4,      /* another live session holds the writer lease */
    WRITER_BUSY = 5,       /* another one is just looking for the sandbox, or making it */
    WRITER_POLL = 6,       /* time to try again */
    WRITER_JOINED = 7,     /* the sandbox was found and runs */
    WRITER_MADE = 8,       /* the sandbox was made by this session, just now */
    WRITER_MARKED = 9,     /* the marker is on the host, or cannot be there (warned) */
    WRITER_UNSTAMPED = 10, /* the stamp is gone from the sandbox; home and tools are known */
    WRITER_LOOKED = 11,    /* home and tools are known; the stamp wanted is not there */
    WRITER_STAMPED = 12,   /* the stamp wanted is in the sandbox */
    WRITER_RECOVERED = 13, /* what the sandbox alone had is on the host */
    WRITER_PUSHED = 14,    /* the host's state is in the sandbox */
    WRITER_CLEARED = 15,   /* the marker is gone */
    WRITER_GATE = 16,      /* a command wants to start */
    WRITER_SYNCED = 17,    /* the host's changes are in the sandbox */
    WRITER_CLEAN = 18,     /* another is the writer; no marker */
    WRITER_DIRTY = 19,     /* another is the writer; the marker is there */
    WRITER_REBOOTED = 20,  /* the sandbox was paused meanwhile */
    WRITER_ASTRAY = 21,    /* the sandbox exists no more */
    WRITER_ABANDONED = 22, /* nobody is there any more to do what only the caller can */
    WRITER_FAILED = 23,    /* the step or the question on the way failed */
    WRITER_DROP = 24,      /* the role is to be given up */
    WRITER_RELEASED = 25,  /* no lock is held any more */
    WRITER_OWN = 26,       /* a sandbox of this session's own is new, or new again after a boot */
};

/* The same once more, for who needs names and counts. */
#define HE2B_WRITER_EVENTS(X)                                                                      \
    X(WRITER_SEEK)                                                                                 \
    X(WRITER_WON)                                                                                  \
    X(WRITER_ALONE)                                                                                \
    X(WRITER_TAKEN)                                                                                \
    X(WRITER_BUSY)                                                                                 \
    X(WRITER_POLL)                                                                                 \
    X(WRITER_JOINED)                                                                               \
    X(WRITER_MADE)                                                                                 \
    X(WRITER_MARKED)                                                                               \
    X(WRITER_UNSTAMPED)                                                                            \
    X(WRITER_LOOKED)                                                                               \
    X(WRITER_STAMPED)                                                                              \
    X(WRITER_RECOVERED)                                                                            \
    X(WRITER_PUSHED)                                                                               \
    X(WRITER_CLEARED)                                                                              \
    X(WRITER_GATE)                                                                                 \
    X(WRITER_SYNCED)                                                                               \
    X(WRITER_CLEAN)                                                                                \
    X(WRITER_DIRTY)                                                                                \
    X(WRITER_REBOOTED)                                                                             \
    X(WRITER_ASTRAY)                                                                               \
    X(WRITER_ABANDONED)                                                                            \
    X(WRITER_FAILED)                                                                               \
    X(WRITER_DROP)                                                                                 \
    X(WRITER_RELEASED)                                                                             \
    X(WRITER_OWN)

enum {
#define HE2B_X(name) +1
    HE2B_WRITER_EVENT_COUNT = 0 HE2B_WRITER_EVENTS(HE2B_X),
#undef HE2B_X
};
_Static_assert((int)HE2B_WRITER_EVENT_COUNT == (int)WRITER_OWN, "the list names each event once");

#endif
