/*
 * The world that the explorer moves: sessions with the state of their charts, the host that they
 * share, and the server's sandboxes. Plain bytes without padding, so that two worlds are the same
 * if their bytes are. Numbers of versions and stamps mean nothing but "the same" and "another":
 * world_canon() gives the smallest ones, and sorts the sessions.
 */
#ifndef HE2B_TESTS_EXPLORE_WORLD_H
#define HE2B_TESTS_EXPLORE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SESSIONS_MAX = 3,
    SANDBOXES_MAX = 3,
    /* Requests of one session that the server may still do after nobody waits for them. */
    ORPHANS_MAX = 2,
    /* Events of one chart that wait at once; more would be a fault of the model, and is asserted.
     */
    QUEUE_MAX = 6,
};

/* ---- the server's side ---- */

enum sandbox_state {
    SANDBOX_NONE = 0,
    SANDBOX_RUNNING = 1,
    SANDBOX_PAUSED = 2,
    SANDBOX_GONE = 3,
};

/* Files are one file, in skills/ or memories/. A version is a number, 0: no file. */
struct sandbox {
    uint8_t state;
    uint8_t ephemeral;
    uint8_t file;
    uint8_t stamp;      /* 0: none */
    uint8_t kept_file;  /* what a pause before the last write kept: a roll-back brings it back */
    uint8_t kept_stamp; /* the same */
    uint8_t boot;       /* counts cold boots, modulo 4 */
    uint8_t stamped;    /* ever */
    uint8_t leftovers;  /* a process of an ended command, or of a dead session, may write */
    uint8_t rolled;     /* back, and no writer has pushed or looked since */
};

enum orphan_kind {
    ORPHAN_NONE = 0,
    ORPHAN_CREATE = 1,
    ORPHAN_UNSTAMP = 2,
    ORPHAN_RESTAMP = 3,
    ORPHAN_PUSH = 4,
};

struct orphan {
    uint8_t kind;
    uint8_t sandbox; /* number from 1 */
    uint8_t what;    /* the stamp, or the version pushed */
};

/* ---- a session ---- */

enum phase {
    PHASE_NEW = 0, /* nothing was ever wanted of it */
    PHASE_LIVE = 1,
    PHASE_CRASHED = 2,
    PHASE_CLOSED = 3,
};

enum call_kind {
    CALL_NONE = 0,
    CALL_LIST = 1,
    CALL_CREATE = 2,
    CALL_CONNECT = 3,
    CALL_RECONNECT = 4, /* the teardown's */
    CALL_KILL = 5,
};

enum look_kind {
    LOOK_NONE = 0,
    LOOK_PLAIN = 1,
    LOOK_STAMP = 2,
    LOOK_UNSTAMP = 3,
    LOOK_RESTAMP = 4,
};

enum step_kind {
    STEP_NONE = 0,
    STEP_ELECT = 1,
    STEP_PROMOTE = 2,
    STEP_MARK = 3,
    STEP_CLEAR = 4,
    STEP_RELEASE = 5,
    STEP_RECOVER = 6,
    STEP_PUSH = 7,
    STEP_SYNC = 8,
    STEP_PULL = 9,
};

/* What the known lease allows (B-31). */
enum lease {
    LEASE_UNKNOWN = 0,
    LEASE_SHORT = 1,
    LEASE_BESIDE = 2,
    LEASE_COVERS = 3,
};

struct queue {
    uint8_t count;
    uint8_t events[QUEUE_MAX];
};

struct machine {
    uint8_t cs;
    uint8_t state;
};

/* Whose a session's sandbox is. */
enum {
    SCOPED = 0,
    EPHEMERAL = 1,      /* its own */
    EPHEMERAL_BARE = 2, /* ... and nobody moves Hermes' state */
};

struct session {
    uint8_t phase;
    uint8_t ephemeral; /* SCOPED, ... */
    uint8_t commands;  /* that may still be wanted of it */
    struct machine life;
    struct machine writer;
    struct machine end;
    struct queue life_queue;
    struct queue writer_queue;
    struct queue end_queue;

    /* commands, by where they are */
    uint8_t waiting; /* not asked for yet */
    uint8_t asked;   /* the role's next word counts for them */
    uint8_t running;
    uint8_t due; /* to be admitted at the end of the pump's turn */
    uint8_t run_sandbox;
    uint8_t run_boot;

    /* as in struct he2b_session */
    uint8_t closing;
    uint8_t close_sent;
    uint8_t own;
    uint8_t attached;
    uint8_t probed;
    uint8_t pushed;
    uint8_t stamp;
    uint8_t sandbox; /* number from 1; 0: none */
    uint8_t lease;
    uint8_t candidates[SANDBOXES_MAX];
    uint8_t call;
    uint8_t renew;
    uint8_t look;
    uint8_t step;
    uint8_t step_due;
    uint8_t step_next;
    uint8_t poll;

    /* on the host, on its behalf */
    uint8_t has_creation;
    uint8_t has_lease;
    uint8_t alone; /* nothing can be locked, and it acts as writer */
    uint8_t base;  /* version that it pushed last: its Hermes manager compares with that */

    /* what only the invariants know */
    uint8_t recovered; /* since it marked the scope last */
    uint8_t snapshot;  /* version that its recovery saw */
    uint8_t made;      /* it made its sandbox, and kept the role since */
    uint8_t whole;     /* pushed in full, in this role, into this sandbox */
    uint8_t stale;     /* a sync failed, and the host was not told, or need not be */
    uint8_t makes;     /* bits: sandboxes of its own creates */
    uint8_t boot;      /* of its sandbox, as far as it was told */
    uint8_t tried;     /* to kill */
    uint8_t killed;    /* and was told that it is dead */
    uint8_t unpulled;  /* it said as an error that nothing came home */

    struct orphan orphans[ORPHANS_MAX];
};

/* ---- all of it ---- */

/* What may still happen. Part of the world: two worlds with different budgets are different. */
struct budget {
    uint8_t faults; /* answers refused or lost, steps failed */
    uint8_t late;   /* requests given up that the server does all the same */
    uint8_t crashes;
    uint8_t restarts;   /* of crashed or closed sessions */
    uint8_t interrupts; /* Ctrl-C, while something is waited for */
    uint8_t writes;     /* by agents, in sandboxes */
    uint8_t edits;      /* by the user, on the host */
    uint8_t pauses;
    uint8_t rollbacks; /* of pauses, how many lose what was written since the one before */
    uint8_t vanishes;  /* sandboxes that end without us */
    uint8_t together;  /* events that one turn of a pump finds beside others */
};

struct world {
    struct budget budget;
    uint8_t count;      /* sessions */
    uint8_t busy;       /* number of the session whose events wait for its pump; 0: none */
    uint8_t concurrent; /* commands of one session at once */
    uint8_t lockless;   /* nothing can be locked on this host (B-61) */
    uint8_t leftovers;  /* ended commands leave processes that write */
    uint8_t late_push;  /* a push that was given up may still land */
    uint8_t marker;
    uint8_t host;       /* version of the file */
    uint8_t settled[2]; /* bits: versions that are home, parked, named, or nobody's concern */
    struct sandbox sandboxes[SANDBOXES_MAX];
    struct session sessions[SESSIONS_MAX];
};

/* The bytes that matter. */
size_t world_size(const struct world *world);

/* Session's sandbox, NULL: none. */
struct sandbox *world_sandbox(struct world *world, uint8_t number);
/* Makes one; its number, 0: the model has no room for another. */
uint8_t world_make(struct world *world, bool ephemeral);

/* A version or stamp that is nowhere yet. */
uint8_t world_new_version(struct world *world);
uint8_t world_new_stamp(struct world *world);
bool world_settled(const struct world *world, uint8_t version);
void world_settle(struct world *world, uint8_t version);

/* Brings it into the form in which equal worlds have equal bytes. order, if not NULL: which session
 * each place held before. */
void world_canon(struct world *world, uint8_t *order);

#endif
