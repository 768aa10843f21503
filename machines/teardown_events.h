/*
 * What can happen on a session's way to its end, as the chart reads it: plain decimals, one a line.
 */
#ifndef HE2B_MACHINES_TEARDOWN_EVENTS_H
#define HE2B_MACHINES_TEARDOWN_EVENTS_H

enum he2b_teardown_event {
    END_CLOSE = 1,     /* the session is to end */
    END_PULL = 2,      /* all is at rest; the sandbox has Hermes state to bring home */
    END_NO_PULL = 3,   /* all is at rest; there is a sandbox, and nothing to bring home */
    END_NOTHING = 4,   /* all is at rest, and there is no sandbox */
    END_CONNECTED = 5, /* the sandbox runs, with a lease for the transfer */
    END_PULLED = 6,    /* its state is on the host */
    END_AGAIN = 7,     /* the caller tries the pull once more */
    END_FAILED = 8,    /* the sandbox cannot be reached, or the pull failed for good */
    END_ABANDONED = 9, /* the pull has had its time, or is not wanted any more (B-94, B-96) */
    END_KEEP = 10,     /* clean, and the sandbox is to last */
    END_KILL = 11,     /* clean, and the sandbox was for this session alone */
    END_KILLED = 12,   /* the kill is answered, or left to the lease */
    END_RELEASED = 13, /* no lock is held any more */
};

/* The same once more, for who needs names and counts. */
#define HE2B_TEARDOWN_EVENTS(X)                                                                    \
    X(END_CLOSE)                                                                                   \
    X(END_PULL)                                                                                    \
    X(END_NO_PULL)                                                                                 \
    X(END_NOTHING)                                                                                 \
    X(END_CONNECTED)                                                                               \
    X(END_PULLED)                                                                                  \
    X(END_AGAIN)                                                                                   \
    X(END_FAILED)                                                                                  \
    X(END_ABANDONED)                                                                               \
    X(END_KEEP)                                                                                    \
    X(END_KILL)                                                                                    \
    X(END_KILLED)                                                                                  \
    X(END_RELEASED)

enum {
#define HE2B_X(name) +1
    HE2B_TEARDOWN_EVENT_COUNT = 0 HE2B_TEARDOWN_EVENTS(HE2B_X),
#undef HE2B_X
};
_Static_assert((int)HE2B_TEARDOWN_EVENT_COUNT == (int)END_RELEASED,
               "the list names each event once");

#endif
