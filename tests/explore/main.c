/*
 * The explorer: see README.md beside it.
 */
#include "tests/explore/search.h"
#include "tests/explore/session.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATES_MAX_DEFAULT = 400000,
};

struct scenario {
    const char *name;
    const char *text;
    uint8_t sessions;
    uint8_t ephemeral;
    uint8_t commands;
    struct world world;
};

static const struct scenario scenarios[] = {
    {
        "two", "two sessions of one scope", 2, 0, 2,
        {.budget = {.faults = 1, .late = 1, .crashes = 1, .writes = 1}, .concurrent = 1},
    },
};

static bool run(const struct scenario *scenario, uint32_t states_max, enum excuse want, bool *broken)
{
    struct world world = scenario->world;
    struct search_result result;
    int i;

    world.count = scenario->sessions;
    for (i = 0; i < world.count; i++)
        session_init(&world.sessions[i], scenario->ephemeral, scenario->commands);
    printf("%s: %s\n", scenario->name, scenario->text);
    fflush(stdout);
    if (!search_run(&world, states_max, want, &result)) {
        fprintf(stderr, "explore: no memory\n");
        return false;
    }
    printf("  %u states, %llu transitions, %s %u moves\n", result.states,
           (unsigned long long)result.transitions,
           result.complete ? "all of them; the longest way has" : "every sequence up to",
           result.depth);
    for (i = 1; i < EXCUSE_COUNT; i++) {
        if (result.excuses[i])
            printf("  apart: %llu x %s\n", (unsigned long long)result.excuses[i],
                   excuse_text((enum excuse)i));
    }
    if (result.broken) {
        printf("  VIOLATION %s: %s\n", rule_id(result.broken), rule_text(result.broken));
        *broken = true;
    }
    return true;
}

int main(int argc, char **argv)
{
    uint32_t states_max = STATES_MAX_DEFAULT;
    bool broken = false;
    int want = 0;
    size_t i;

    if (argc > 1)
        states_max = (uint32_t)atoi(argv[1]);
    if (argc > 2)
        want = atoi(argv[2]);
    for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (!run(&scenarios[i], states_max, (enum excuse)want, &broken))
            return 2;
    }
    return broken;
}
