/*
 * What can happen to a command, as the chart reads it: plain decimals, one a line (Ragel imports
 * tokens, not C).
 */
#ifndef HE2B_MACHINES_COMMAND_EVENTS_H
#define HE2B_MACHINES_COMMAND_EVENTS_H

enum he2b_command_event {
    CMD_READY = 1,     /* the session can take it */
    CMD_UNREADY = 2,   /* the session cannot be brought up */
    CMD_STARTED = 3,   /* the daemon told its pid */
    CMD_REFUSED = 4,   /* Start failed, and certainly ran nothing */
    CMD_VANISHED = 5,  /* Start found no sandbox, and certainly ran nothing */
    CMD_MARKER = 6,    /* its shell has ended: the end marker came, all output before it is out */
    CMD_ENDED = 7,     /* its process has ended: the daemon's end event came, all output is out */
    CMD_CLOSED = 8,    /* the stream ended properly */
    CMD_LOST = 9,      /* the stream ended without telling how the process ended */
    CMD_KILL = 10,     /* the caller wants it dead */
    CMD_TIMEOUT = 11,  /* its limit is over */
    CMD_KILLED = 12,   /* the kill has done its work */
    CMD_UNKILLED = 13, /* the kill could not be delivered */
    CMD_BOUND = 14,    /* nobody waits longer for a kill */
    CMD_GRACE = 15,    /* nobody waits longer for the stream to end by itself */
    CMD_SETTLED = 16,  /* what became of the sandbox is known as far as it can be */
    CMD_DENIED = 17,   /* the wrapper was not to run it: another Start did, or nobody may */
    CMD_RUNS = 18,     /* its record: it runs; its pid is known now */
    CMD_RECORDED = 19, /* its record: it has ended, with this code */
    CMD_UNBEGUN = 20,  /* its record: it never began; after ask_forbid, and never will */
    CMD_UNCLEAR = 21,  /* its record does not tell, or cannot be asked */
};

/* The same once more, for who needs names and counts. */
#define HE2B_COMMAND_EVENTS(X)                                                                     \
    X(CMD_READY)                                                                                   \
    X(CMD_UNREADY)                                                                                 \
    X(CMD_STARTED)                                                                                 \
    X(CMD_REFUSED)                                                                                 \
    X(CMD_VANISHED)                                                                                \
    X(CMD_MARKER)                                                                                  \
    X(CMD_ENDED)                                                                                   \
    X(CMD_CLOSED)                                                                                  \
    X(CMD_LOST)                                                                                    \
    X(CMD_KILL)                                                                                    \
    X(CMD_TIMEOUT)                                                                                 \
    X(CMD_KILLED)                                                                                  \
    X(CMD_UNKILLED)                                                                                \
    X(CMD_BOUND)                                                                                   \
    X(CMD_GRACE)                                                                                   \
    X(CMD_SETTLED)                                                                                 \
    X(CMD_DENIED)                                                                                  \
    X(CMD_RUNS)                                                                                    \
    X(CMD_RECORDED)                                                                                \
    X(CMD_UNBEGUN)                                                                                 \
    X(CMD_UNCLEAR)

enum {
#define HE2B_X(name) +1
    HE2B_COMMAND_EVENT_COUNT = 0 HE2B_COMMAND_EVENTS(HE2B_X),
#undef HE2B_X
};
_Static_assert((int)HE2B_COMMAND_EVENT_COUNT == (int)CMD_UNCLEAR, "the list names each event once");

#endif
