#include "tests/explore/scenarios.h"

#include "tests/explore/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct scenario scenarios[] = {
    {"two", "two sessions of one scope",
     "sessions=2 commands=2 faults=1 late=1 crashes=1 interrupts=1 writes=1"},
    {"ephemeral", "a session with a sandbox of its own",
     "sessions=1 ephemeral=1 commands=3 concurrent=2 faults=2 late=1 crashes=1 interrupts=2 "
     "writes=2 "
     "edits=1 vanishes=1 together=2"},
    {"bare", "a session with a sandbox of its own, and nothing of Hermes to move",
     "sessions=1 ephemeral=2 commands=3 concurrent=2 faults=2 late=1 crashes=1 interrupts=2 "
     "vanishes=1 together=2"},
    {"turns", "two sessions, whose pumps find events together",
     "sessions=2 commands=1 faults=1 crashes=1 interrupts=1 writes=1 pauses=1 together=1"},
    {"beside", "two sessions with several commands at once",
     "sessions=2 commands=2 concurrent=2 faults=1 interrupts=1 writes=1"},
    {"files", "two sessions, left-over processes that write, a user who edits",
     "sessions=2 commands=2 host=1 faults=1 crashes=1 writes=2 edits=1 leftovers=1"},
    {"pauses", "two sessions, a sandbox that is paused, also with a roll-back",
     "sessions=2 commands=1 host=1 crashes=1 writes=1 edits=1 pauses=2 rollbacks=1"},
    {"gone", "two sessions, a sandbox that ends without them",
     "sessions=2 commands=1 faults=1 late=1 crashes=1 writes=1 vanishes=1"},
    {"again", "two sessions, one of which starts anew",
     "sessions=2 commands=2 faults=1 crashes=1 restarts=1 writes=1"},
    {"late", "two sessions, pushes that land late",
     "sessions=2 commands=2 host=1 faults=1 late=1 crashes=1 writes=1 edits=1 late_push=1"},
    {"lockless", "two sessions where nothing can be locked",
     "sessions=2 commands=1 faults=1 crashes=1 interrupts=1 writes=1 lockless=1"},
    {"three", "three sessions of one scope",
     "sessions=3 commands=1 faults=1 late=1 crashes=1 interrupts=1 writes=1"},
    {"heirs", "three sessions, two of which die, a user who edits",
     "sessions=3 commands=1 crashes=2 writes=1 edits=1"},
};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);

/* ---- bounds by name ---- */

struct bound {
    const char *name;
    const char *text;
    size_t at; /* in struct world */
    uint8_t most;
};

static const struct bound bounds[] = {
    {"sessions", "sessions that there are", offsetof(struct world, count), SESSIONS_MAX},
    {"faults", "answers refused or lost, steps failed", offsetof(struct world, budget.faults), 99},
    {"late", "of these, requests given up that may be done all the same",
     offsetof(struct world, budget.late), 99},
    {"crashes", "sessions that die", offsetof(struct world, budget.crashes), 99},
    {"restarts", "ended sessions that start anew", offsetof(struct world, budget.restarts), 99},
    {"interrupts", "waits that are given up", offsetof(struct world, budget.interrupts), 99},
    {"writes", "versions written in sandboxes", offsetof(struct world, budget.writes), 4},
    {"edits", "versions written on the host", offsetof(struct world, budget.edits), 4},
    {"pauses", "pauses by the server", offsetof(struct world, budget.pauses), 99},
    {"rollbacks", "of these, those that lose what was written last",
     offsetof(struct world, budget.rollbacks), 99},
    {"vanishes", "sandboxes that end without us", offsetof(struct world, budget.vanishes), 99},
    {"together", "turns of a pump that find two events", offsetof(struct world, budget.together),
     99},
    {"concurrent", "commands of one session at once", offsetof(struct world, concurrent), 4},
    {"lockless", "1: nothing can be locked on the host", offsetof(struct world, lockless), 1},
    {"leftovers", "1: ended commands leave processes that write", offsetof(struct world, leftovers),
     1},
    {"late_push", "1: late pushes too", offsetof(struct world, late_push), 1},
    {"host", "1: the host has the file from the start", offsetof(struct world, host), 1},
};

enum {
    BOUND_COUNT = sizeof(bounds) / sizeof(bounds[0]),
};

static void set_sessions(struct world *world, const char *name, uint8_t value)
{
    uint8_t i;

    for (i = 0; i < SESSIONS_MAX; i++) {
        struct session *session = &world->sessions[i];

        if (strcmp(name, "commands") == 0)
            session->commands = value;
        else
            session->ephemeral = value;
    }
}

bool scenario_set(struct world *world, const char *setting)
{
    char name[32];
    unsigned value;
    size_t i;

    if (sscanf(setting, "%31[a-z_]=%u", name, &value) != 2 || value > 99)
        return false;
    if (strcmp(name, "commands") == 0 || strcmp(name, "ephemeral") == 0) {
        set_sessions(world, name, (uint8_t)value);
        return true;
    }
    for (i = 0; i < BOUND_COUNT; i++) {
        if (strcmp(name, bounds[i].name) == 0 && value <= bounds[i].most) {
            ((uint8_t *)world)[bounds[i].at] = (uint8_t)value;
            world_settle(world, world->host);
            return true;
        }
    }
    return false;
}

void scenario_start(const struct scenario *scenario, struct world *ret)
{
    char text[256];
    char *word;
    char *rest = NULL;
    uint8_t i;

    memset(ret, 0, sizeof(*ret));
    for (i = 0; i < SESSIONS_MAX; i++)
        session_init(&ret->sessions[i], SCOPED, 0);
    ret->concurrent = 1;
    snprintf(text, sizeof(text), "%s", scenario->bounds);
    for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (!scenario_set(ret, word)) {
            fprintf(stderr, "explore: scenario %s: %s\n", scenario->name, word);
            exit(2);
        }
    }
}

void scenario_print(const struct world *world)
{
    size_t i;

    printf(" ");
    for (i = 0; i < BOUND_COUNT; i++) {
        if (((const uint8_t *)world)[bounds[i].at])
            printf(" %s=%d", bounds[i].name, ((const uint8_t *)world)[bounds[i].at]);
    }
    printf(" commands=%d%s\n", world->sessions[0].commands,
           world->sessions[0].ephemeral == SCOPED      ? ""
           : world->sessions[0].ephemeral == EPHEMERAL ? " ephemeral=1"
                                                       : " ephemeral=2");
}

void scenarios_list(void)
{
    size_t i;

    printf("scenarios:\n");
    for (i = 0; i < scenario_count; i++)
        printf("  %-12s %s\n  %-12s %s\n", scenarios[i].name, scenarios[i].text, "",
               scenarios[i].bounds);
    printf("\nbounds:\n");
    printf("  %-12s %s\n", "commands", "commands that are wanted of each session");
    printf("  %-12s %s\n", "ephemeral",
           "1: every session has a sandbox of its own, and no scope; 2: and no Hermes state");
    for (i = 0; i < BOUND_COUNT; i++)
        printf("  %-12s %s\n", bounds[i].name, bounds[i].text);
}
