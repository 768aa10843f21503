/*
 * Where the explorer starts, and how much may happen on the way: the stated bounds.
 */
#ifndef HE2B_TESTS_EXPLORE_SCENARIOS_H
#define HE2B_TESTS_EXPLORE_SCENARIOS_H

#include "tests/explore/world.h"

struct scenario {
    const char *name;
    const char *text;
    const char *bounds; /* "NAME=NUMBER NAME=NUMBER ..."; what is not named is 0 */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

void scenario_start(const struct scenario *scenario, struct world *ret);
/* "NAME=NUMBER"; false: no such bound. */
bool scenario_set(struct world *world, const char *setting);
/* Prints the bounds that are not 0. */
void scenario_print(const struct world *world);
void scenarios_list(void);

#endif
