/*
 * What may happen next in a world. Each move is one thing that somebody does: a user, an agent's
 * command, the server with one request, a caller with one step, the kernel.
 */
#ifndef HE2B_TESTS_EXPLORE_MOVES_H
#define HE2B_TESTS_EXPLORE_MOVES_H

#include "tests/explore/rules.h"
#include "tests/explore/world.h"

/* Moves of a session. */
#define EXPLORE_SESSION_MOVES(X)                                                                   \
    X(WANT, "somebody wants a command")                                                            \
    X(WANT_BESIDE, "somebody wants a command, and the lease gets short")                           \
    X(WANT_STALE, "somebody wants a command, and the lease is too short")                          \
    X(CANCEL, "a command that waits is not wanted any more")                                       \
    X(RENEW, "half of the lease of a running command is gone")                                     \
    X(CLOSE, "is to be closed")                                                                    \
    X(ABANDON_PULL, "the pull has had its time")                                                   \
    X(WRITE, "a command writes a new version of the file")                                         \
    X(END, "a command ends")                                                                       \
    X(NOT_THERE, "a command finds no sandbox")                                                     \
    X(CALL_DONE, "is answered")                                                                    \
    X(CALL_FAILED, "is refused or lost, and nothing was done")                                     \
    X(CALL_AHEAD, "is lost, and the known lease is still ahead")                                   \
    X(CALL_LOST, "is done, and its answer lost")                                                   \
    X(CALL_LOST_AHEAD, "is done, its answer lost, and the known lease is still ahead")             \
    X(CALL_LATE, "is given up, and the server may still do it")                                    \
    X(RENEW_DONE, "the renewal beside is answered")                                                \
    X(RENEW_FAILED, "the renewal beside fails")                                                    \
    X(RENEW_LOST, "the renewal beside is done, and its answer lost")                               \
    X(LOOK_DONE, "is answered")                                                                    \
    X(LOOK_FAILED, "fails, and nothing was done")                                                  \
    X(LOOK_LOST, "is done, and its answer lost")                                                   \
    X(LOOK_LATE, "is given up, and the daemon may still do it")                                    \
    X(STEP_DONE, "is done")                                                                        \
    X(STEP_FAILED, "fails, and nothing was done")                                                  \
    X(STEP_LOST, "does its work, and is reported as failed")                                       \
    X(STEP_LATE, "is reported as failed, and may still land")                                      \
    X(STEP_ABANDONED, "is abandoned: nobody is there to do it")                                    \
    X(STEP_AGAIN, "is tried once more")                                                            \
    X(STEP_UNLOCKED, "has waited long enough for the creation lock, and goes on without it")       \
    X(POLL, "tries the creation lock again")                                                       \
    X(ORPHAN_1, "what it had given up happens (1)")                                                \
    X(ORPHAN_2, "what it had given up happens (2)")                                                \
    X(CRASH, "dies")                                                                               \
    X(RESTART, "is started anew")

/* Moves of a sandbox. */
#define EXPLORE_SANDBOX_MOVES(X)                                                                   \
    X(PAUSE, "is paused by the server")                                                            \
    X(ROLL_BACK, "is paused by the server, which loses what was written since the pause before")   \
    X(VANISH, "ends without us")                                                                   \
    X(LEFTOVER, "a left-over process writes a new version of the file")

#define EXPLORE_HOST_MOVES(X) X(EDIT, "the user edits the host's file")

enum move_kind {
#define X(name, text) MOVE_##name,
    EXPLORE_SESSION_MOVES(X) MOVE_SESSION_COUNT,
    MOVE_SANDBOX_FIRST = 64,
    MOVE_BEFORE_SANDBOX = MOVE_SANDBOX_FIRST - 1,
    EXPLORE_SANDBOX_MOVES(X) MOVE_SANDBOX_END,
    MOVE_HOST_FIRST = 96,
    MOVE_BEFORE_HOST = MOVE_HOST_FIRST - 1,
    EXPLORE_HOST_MOVES(X) MOVE_HOST_END,
#undef X
};

struct move {
    uint8_t kind;
    uint8_t who;  /* place of the session or the sandbox */
    uint8_t hold; /* what it posts waits for another event before the pump runs */
};

/* Writes a world's possible moves; returns how many. Some of them may still be refused. */
enum {
    MOVES_MAX = 2 * 64 * SESSIONS_MAX,
};
size_t moves_list(const struct world *world, struct move *ret);

/* Does it. False: it cannot happen here; the world is then to be thrown away. told: prints it, with
 * name for who does it. */
bool move_do(struct world *world, struct move move, struct verdict *verdict, char name);

#endif
