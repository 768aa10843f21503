/*
 * What must hold in every world that can be reached, and what is counted apart because the design
 * says that nothing can be done about it. Each rule has a short name, by which tests know it.
 */
#ifndef HE2B_TESTS_EXPLORE_RULES_H
#define HE2B_TESTS_EXPLORE_RULES_H

#include "tests/explore/world.h"

#define EXPLORE_RULES(X)                                                                           \
    X(TWO_WRITERS, "two-writers", "two sessions act as the writer of one scope (B-60)")            \
    X(NO_LEASE, "no-lease", "a session does a writer's work without the writer lease (B-60)")      \
    X(PUSH_FIRST, "push-first", "a push before recovery (B-62)")                                   \
    X(SYNC_FIRST, "sync-first", "a sync where nothing was pushed in this role (B-62)")             \
    X(UNMARKED, "unmarked", "the sandbox's state is touched while the scope is not marked (B-62)") \
    X(ADMIT_DIRTY, "admit-dirty", "a command is admitted while the scope is marked dirty (B-65)")  \
    X(ADMIT_REBUILT, "admit-rebuilt", "a command is admitted while a writer rebuilds (B-65)")      \
    X(ADMIT_ROLE, "admit-role",                                                                    \
      "a command is admitted by a session without a settled role (B-65)")                          \
    X(ADMIT_STALE, "admit-stale",                                                                  \
      "a command is admitted after a failed sync of which the host knows nothing (B-66, B-73)")    \
    X(ADMIT_UNPUSHED, "admit-unpushed",                                                            \
      "a command is admitted in a sandbox of its session's own before a push (B-73)")              \
    X(KILL_PERSISTENT, "kill-persistent", "a persistent sandbox is killed (B-91)")                 \
    X(KILL_TWICE, "kill-twice", "a kill is sent after one that succeeded (B-91)")                  \
    X(KILL_NEVER, "kill-never", "a session ended without a kill of its own sandbox (B-91)")        \
    X(LOCK_KEPT, "lock-kept", "a session that has ended or failed holds a lock (B-64, B-68)")      \
    X(CREATION_KEPT, "creation-kept", "a session at rest holds the creation lock (B-24)")          \
    X(PULL_LATE, "pull-late", "a pull after the lease was given up (B-68)")                        \
    X(LOST, "lost", "a version written in the sandbox is lost without a word (B-80, B-93)")        \
    X(STUCK, "stuck", "a session waits for something that nobody will tell it")

enum rule {
    RULE_KEPT = 0,
#define X(name, id, text) RULE_##name,
    EXPLORE_RULES(X)
#undef X
    RULE_COUNT,
};

/* Excused: the rules name it. Open: they do not, and it can happen; README.md says what is known.
 */
#define EXPLORE_EXCUSES(X)                                                                         \
    X(WINDOW, "window", "excused",                                                                 \
      "written between recovery's snapshot and the push, and overwritten by it")                   \
    X(ROLLBACK, "rollback", "excused", "lost by a roll-back of the server")                        \
    X(VANISHED, "vanished", "excused", "lost with a sandbox that ended without us")                \
    X(KILLED, "killed", "excused",                                                                 \
      "lost by an ephemeral kill after a pull failure that was reported")                          \
    X(LOCKLESS, "lockless", "excused",                                                             \
      "a rule broken by sessions for which nothing can be locked (B-61)")                          \
    X(SYNCED, "synced", "open",                                                                    \
      "overwritten by a sync before a command, the host's copy having been edited")                \
    X(LATE_PUSH, "late-push", "open",                                                              \
      "overwritten by a push that landed after its session had given it up")                       \
    X(STALE_PULL, "stale-pull", "open",                                                            \
      "the host's file overwritten by a pull from a disk that was rolled back")                    \
    X(UNSEEN_BOOT, "unseen-boot", "open",                                                          \
      "a command admitted after a cold boot that its session was not told of")                     \
    X(UNSEEN_ROLL, "unseen-roll", "open",                                                          \
      "a command admitted on a disk that was rolled back and not repaired since")                  \
    X(ELSEWHERE, "elsewhere", "open", "a command admitted in another sandbox than the writer's")

enum excuse {
    EXCUSE_NONE = 0,
#define X(name, id, kind, text) EXCUSE_##name,
    EXPLORE_EXCUSES(X)
#undef X
    EXCUSE_COUNT,
};

/* What one move came to. */
struct verdict {
    uint32_t broken;  /* bits */
    uint32_t excuses; /* bits */
};

const char *rule_id(enum rule rule);
const char *rule_text(enum rule rule);
/* RULE_KEPT: there is none of that id. */
enum rule rule_of(const char *id);
const char *excuse_id(enum excuse excuse);
const char *excuse_kind(enum excuse excuse);
const char *excuse_text(enum excuse excuse);
/* EXCUSE_NONE: there is none of that id. */
enum excuse excuse_of(const char *id);

void verdict_break(struct verdict *verdict, enum rule rule);
/* The first one that is broken, of those that are not ignored (bits). */
enum rule verdict_rule(const struct verdict *verdict, uint32_t ignored);
void verdict_excuse(struct verdict *verdict, enum excuse excuse);

/* ---- told by the moves, before they change anything ---- */

/* The file of sandbox is about to be another. why: what excuses it, EXCUSE_NONE: nothing. */
void rules_overwrite(struct world *world, const struct sandbox *sandbox, enum excuse why,
                     struct verdict *verdict);
/* session does kind, a step or look that only a writer may do. */
void rules_step(const struct world *world, const struct session *session, enum step_kind kind,
                struct verdict *verdict);
void rules_look(const struct world *world, const struct session *session, struct verdict *verdict);
void rules_kill(const struct world *world, const struct session *session, struct verdict *verdict);
/* A command of session is admitted. */
void rules_admit(struct world *world, const struct session *session, struct verdict *verdict);
/* session is closed, and not forgotten yet. */
void rules_closed(const struct session *session, struct verdict *verdict);

/* ---- of every world at rest ---- */

void rules_check(const struct world *world, struct verdict *verdict);

#endif
