/*
 * The explorer: see README.md beside it.
 */
#include "tests/explore/scenarios.h"
#include "tests/explore/search.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* About 30 bytes each, and 200 for those that wait to be looked into; touched only when used.
     */
    STATES_MAX_DEFAULT = 4000000,
    STATES_MOST = 1000000000,
    EXTRA_MOST = 9,
    EXIT_BROKEN = 1,
    EXIT_TROUBLE = 2,
    SETTINGS_MAX = 16,
};

struct options {
    struct search_options search;
    uint32_t extra;
    bool short_of; /* an incomplete search is what was asked for */
    const char *settings[SETTINGS_MAX];
    size_t setting_count;
};

static const char usage[] =
    "usage: explore [-l] [-s NAME=NUMBER]... [-m STATES] [-x N] [-w EXCUSE] [-i RULE] "
    "[SCENARIO]...\n"
    "\n"
    "  -s, --set NAME=NUMBER   another bound than the scenario's; --list tells the names\n"
    "  -m, --max-states N      end at N states, and be content with what was seen until then\n"
    "  -x, --extra N           N more faults, crashes and interrupts than the scenario's\n"
    "                          (HE2B_EXPLORE_EXTRA)\n"
    "  -w, --want EXCUSE       show the shortest sequence to what is counted apart\n"
    "  -i, --ignore RULE       go on where it is broken\n"
    "  -l, --list              scenarios, bounds, rules and what is counted apart\n";

static void list(void)
{
    int i;

    scenarios_list();
    printf("\nrules:\n");
    for (i = 1; i < RULE_COUNT; i++)
        printf("  %-16s %s\n", rule_id((enum rule)i), rule_text((enum rule)i));
    printf("\ncounted apart:\n");
    for (i = 1; i < EXCUSE_COUNT; i++)
        printf("  %-16s %s: %s\n", excuse_id((enum excuse)i), excuse_kind((enum excuse)i),
               excuse_text((enum excuse)i));
}

static void report(const struct search_result *result)
{
    int i;

    printf("  %u states, %llu transitions; %s %u moves\n", result->states,
           (unsigned long long)result->transitions,
           result->ended
               ? "ended at that sequence; there is no shorter one, all have been tried up to"
           : result->complete ? "nothing is left within these bounds, the deepest state is at"
                              : "NOT complete: all sequences of at most",
           result->depth);
    for (i = 1; i < EXCUSE_COUNT; i++) {
        if (result->excuses[i])
            printf("  %s: %s, %llu times: %s\n", excuse_kind((enum excuse)i),
                   excuse_id((enum excuse)i), (unsigned long long)result->excuses[i],
                   excuse_text((enum excuse)i));
    }
    if (result->broken)
        printf("  VIOLATION %s: %s\n", rule_id(result->broken), rule_text(result->broken));
}

static int run(const struct scenario *scenario, const struct options *options)
{
    struct search_result result;
    struct world world;
    size_t i;

    scenario_start(scenario, &world);
    world.budget.faults = (uint8_t)(world.budget.faults + options->extra);
    world.budget.crashes = (uint8_t)(world.budget.crashes + options->extra);
    world.budget.interrupts = (uint8_t)(world.budget.interrupts + options->extra);
    for (i = 0; i < options->setting_count; i++) {
        if (!scenario_set(&world, options->settings[i])) {
            fprintf(stderr, "explore: --set %s: no such bound, or no small number\n",
                    options->settings[i]);
            return EXIT_TROUBLE;
        }
    }
    printf("%s: %s\n", scenario->name, scenario->text);
    scenario_print(&world);
    fflush(stdout);
    if (!search_run(&world, &options->search, &result)) {
        fprintf(stderr, "explore: no memory for %u states\n", options->search.states_max);
        return EXIT_TROUBLE;
    }
    report(&result);
    fflush(stdout);
    if (result.broken)
        return EXIT_BROKEN;
    if (!result.complete && !options->short_of && !result.ended) {
        fprintf(stderr, "explore: %u states are not enough for these bounds: --max-states\n",
                options->search.states_max);
        return EXIT_TROUBLE;
    }
    return 0;
}

static bool named(const struct scenario *scenario, char *const *names)
{
    if (!*names)
        return true;
    for (; *names; names++) {
        if (strcmp(*names, scenario->name) == 0)
            return true;
    }
    return false;
}

static int run_all(const struct options *options, char *const *names)
{
    unsigned done = 0;
    int worst = 0;
    size_t i;

    for (i = 0; i < scenario_count; i++) {
        int code;

        if (!named(&scenarios[i], names))
            continue;
        done++;
        code = run(&scenarios[i], options);
        if (code > worst)
            worst = code;
    }
    if (!done) {
        fprintf(stderr, "explore: no scenario of that name; --list tells them\n");
        return EXIT_TROUBLE;
    }
    return worst;
}

static bool read_number(const char *text, uint32_t most, uint32_t *ret)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno || !*text || *end || value > most)
        return false;
    *ret = (uint32_t)value;
    return true;
}

static bool read_option(int option, const char *text, struct options *options)
{
    switch (option) {
    case 's':
        if (options->setting_count == SETTINGS_MAX)
            return false;
        options->settings[options->setting_count++] = text;
        return true;
    case 'm':
        options->short_of = true;
        return read_number(text, STATES_MOST, &options->search.states_max);
    case 'x':
        return read_number(text, EXTRA_MOST, &options->extra);
    case 'i':
        options->search.ignored |= 1u << rule_of(text);
        return rule_of(text) != RULE_KEPT;
    case 'w':
        options->search.want = excuse_of(text);
        return options->search.want != EXCUSE_NONE;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        {"set", required_argument, NULL, 's'},
        {"max-states", required_argument, NULL, 'm'},
        {"want", required_argument, NULL, 'w'},
        {"list", no_argument, NULL, 'l'},
        {"ignore", required_argument, NULL, 'i'},
        {"extra", required_argument, NULL, 'x'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.search = {.states_max = STATES_MAX_DEFAULT}};
    const char *extra = getenv("HE2B_EXPLORE_EXTRA");
    int option;

    if (extra && !read_option('x', extra, &options)) {
        fprintf(stderr, "explore: HE2B_EXPLORE_EXTRA is no small number\n");
        return EXIT_TROUBLE;
    }
    while ((option = getopt_long(argc, argv, "s:m:w:x:i:l", longs, NULL)) != -1) {
        if (option == 'l') {
            list();
            return 0;
        }
        if (!read_option(option, optarg, &options)) {
            fputs(usage, stderr);
            return EXIT_TROUBLE;
        }
    }
    return run_all(&options, argv + optind);
}
