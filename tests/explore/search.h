/*
 * Breadth first over the worlds that can be reached: the first violation met has a shortest
 * sequence. Of a world that was seen only a 64-bit fingerprint is kept: that two worlds of 10^7
 * share one, so that the second would not be looked into, has a chance of 3 in a million.
 */
#ifndef HE2B_TESTS_EXPLORE_SEARCH_H
#define HE2B_TESTS_EXPLORE_SEARCH_H

#include "tests/explore/rules.h"
#include "tests/explore/world.h"

struct search_result {
    uint32_t states;
    uint64_t transitions;
    unsigned depth; /* moves: every sequence that is not longer was tried */
    bool complete;  /* no state was left out */
    bool ended;     /* at what was to be shown */
    enum rule broken;
    uint64_t excuses[EXCUSE_COUNT]; /* transitions */
};

struct search_options {
    uint32_t states_max;
    uint32_t ignored; /* bits: rules that may be broken */
    enum excuse want; /* counted apart, but to be shown like a violation; EXCUSE_NONE: none */
};

/* Explores from start until it is complete, a rule is broken, or states_max are known. Prints the
 * shortest sequence to a violation. False: no memory. */
bool search_run(const struct world *start, const struct search_options *options,
                struct search_result *ret);

#endif
