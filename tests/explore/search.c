#include "tests/explore/search.h"

#include "tests/explore/moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a world was first reached. */
struct seen {
    uint64_t print;
    uint32_t parent;
    struct move move;
};

struct search {
    const struct world *start;
    const struct search_options *options;
    size_t size;       /* of a world */
    struct seen *seen; /* in the order in which they were found */
    uint32_t count;
    uint32_t *slots; /* index into seen plus 1, by fingerprint */
    uint32_t slots_mask;
    /* worlds found and not looked into yet: seen[first], seen[first + 1], ... */
    uint8_t *waiting;
    uint32_t room;
    uint32_t head;
    uint32_t first;
};

/* ---- what was seen ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t fingerprint(const struct world *world, size_t size)
{
    const uint8_t *at = (const uint8_t *)world;
    uint64_t print = 0x9e3779b97f4a7c15u;
    uint64_t word;

    for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        print = mix(print ^ word) + 0x9e3779b97f4a7c15u;
    }
    word = 0;
    memcpy(&word, at, size);
    return mix(print ^ word);
}

/* True if it is new. */
static bool add(struct search *search, uint64_t print, uint32_t parent, struct move move)
{
    uint32_t at = (uint32_t)print & search->slots_mask;

    while (search->slots[at]) {
        if (search->seen[search->slots[at] - 1].print == print)
            return false;
        at = (at + 1) & search->slots_mask;
    }
    if (search->count == search->options->states_max)
        return false;
    search->seen[search->count] = (struct seen){print, parent, move};
    search->slots[at] = ++search->count;
    return true;
}

/* ---- what waits to be looked into: a ring ---- */

static bool grow(struct search *search)
{
    uint32_t room = search->room ? search->room * 2 : 4096;
    uint8_t *waiting = malloc(room * search->size);
    uint32_t tail = search->room - search->head;

    if (!waiting)
        return false;
    if (search->room) {
        memcpy(waiting, search->waiting + search->head * search->size, tail * search->size);
        memcpy(waiting + tail * search->size, search->waiting, search->head * search->size);
    }
    free(search->waiting);
    search->waiting = waiting;
    search->room = room;
    search->head = 0;
    return true;
}

/* world is seen[count - 1]. */
static bool put(struct search *search, const struct world *world)
{
    uint32_t waits = search->count - 1 - search->first;

    if (waits == search->room && !grow(search))
        return false;
    memcpy(search->waiting + (search->head + waits) % search->room * search->size, world,
           search->size);
    return true;
}

static uint32_t take(struct search *search, struct world *ret)
{
    memset(ret, 0, sizeof(*ret));
    memcpy(ret, search->waiting + search->head * search->size, search->size);
    search->head = (search->head + 1) % search->room;
    return search->first++;
}

/* ---- the sequence that led somewhere ---- */

static void print_world(const struct world *world)
{
    static const char *const states[] = {"", "runs", "paused", "gone"};
    int i;

    printf("      = host file %d, %s;", world->host, world->marker ? "marked dirty" : "clean");
    for (i = 0; i < world->count; i++) {
        if (world->sessions[i].has_creation)
            printf(" %c has the creation lock;", 'A' + i);
        if (world->sessions[i].has_lease)
            printf(" %c has the lease;", 'A' + i);
    }
    for (i = 0; i < SANDBOXES_MAX; i++) {
        const struct sandbox *sandbox = &world->sandboxes[i];

        if (sandbox->state)
            printf(" sandbox %d %s, file %d%s, stamp %d;", i + 1, states[sandbox->state],
                   sandbox->file, world_settled(world, sandbox->file) ? "" : " (only here)",
                   sandbox->stamp);
    }
    printf("\n");
}

/* Does a move of canon's in world, and tells it. */
static void repeat(struct world *world, struct world *canon, uint8_t *place, struct move move)
{
    struct verdict verdict = {0};
    struct move named = move;
    uint8_t order[SESSIONS_MAX] = {0};
    uint8_t were[SESSIONS_MAX];
    uint8_t i;

    if (move.kind < MOVE_SANDBOX_FIRST)
        named.who = place[move.who];
    move_do(world, named, &verdict, (char)('A' + named.who));
    move_do(canon, move, &verdict, '\0');
    world_canon(canon, order);
    memcpy(were, place, sizeof(were));
    for (i = 0; i < canon->count; i++)
        place[i] = were[order[i]];
}

static void print_sequence(const struct search *search, uint32_t from, struct move last)
{
    struct world world =
        *search->start; /* as they happened: sessions and numbers keep their names */
    struct world canon = *search->start;
    uint8_t place[SESSIONS_MAX] = {0, 1, 2}; /* in world, of canon's sessions */
    struct move *moves;
    unsigned n = 1;
    unsigned i;
    uint32_t at;

    for (at = from; at; at = search->seen[at].parent)
        n++;
    moves = calloc(n, sizeof(*moves));
    if (!moves)
        return;
    moves[n - 1] = last;
    for (at = from, i = n - 1; at; at = search->seen[at].parent)
        moves[--i] = search->seen[at].move;
    for (i = 0; i < n; i++) {
        printf("  %3u. ", i + 1);
        repeat(&world, &canon, place, moves[i]);
        print_world(&world);
    }
    free(moves);
}

/* ---- the search ---- */

static void note(const struct verdict *verdict, struct search_result *ret)
{
    int i;

    for (i = 1; verdict->excuses && i < EXCUSE_COUNT; i++)
        ret->excuses[i] += verdict->excuses >> i & 1;
}

/* Tries one move; false: the search is over. */
static bool try_move(struct search *search, const struct world *world, uint32_t from,
                     struct move move, struct search_result *ret)
{
    enum excuse want = search->options->want;
    struct verdict verdict = {0};
    struct world next = *world;

    if (!move_do(&next, move, &verdict, '\0'))
        return true;
    rules_check(&next, &verdict);
    ret->transitions++;
    note(&verdict, ret);
    ret->broken = verdict_rule(&verdict, search->options->ignored);
    if (ret->broken || (want && (verdict.excuses >> want & 1))) {
        ret->ended = true;
        print_sequence(search, from, move);
        return false;
    }
    world_canon(&next, NULL);
    if (!add(search, fingerprint(&next, search->size), from, move)) {
        ret->complete = ret->complete && search->count < search->options->states_max;
        return true;
    }
    return put(search, &next);
}

static bool explore(struct search *search, struct search_result *ret)
{
    struct world world = *search->start;
    struct move moves[MOVES_MAX];
    uint32_t level_end;
    uint32_t from;
    size_t count;
    size_t i;

    world_canon(&world, NULL);
    add(search, fingerprint(&world, search->size), 0, (struct move){0});
    if (!put(search, &world))
        return false;
    ret->complete = true;
    level_end = search->count;
    while (search->first < search->count) {
        if (search->first == level_end) {
            if (ret->complete)
                ret->depth++;
            level_end = search->count;
        }
        from = take(search, &world);
        count = moves_list(&world, moves);
        for (i = 0; i < count; i++) {
            if (!try_move(search, &world, from, moves[i], ret))
                return true;
        }
        if (!ret->complete)
            return true;
    }
    return true;
}

bool search_run(const struct world *start, const struct search_options *options,
                struct search_result *ret)
{
    struct search search = {.start = start, .options = options, .size = world_size(start)};
    size_t states_max = options->states_max;
    bool done = false;

    memset(ret, 0, sizeof(*ret));
    search.slots_mask = 1;
    while (search.slots_mask / 2 < states_max)
        search.slots_mask = search.slots_mask * 2 + 1;
    search.seen = malloc(states_max * sizeof(*search.seen));
    search.slots = calloc((size_t)search.slots_mask + 1, sizeof(*search.slots));
    if (search.seen && search.slots)
        done = explore(&search, ret);
    ret->states = search.count;
    free(search.seen);
    free(search.slots);
    free(search.waiting);
    return done;
}
