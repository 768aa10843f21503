#include "tests/explore/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(_Alignof(struct world) == 1, "bytes, without padding");

size_t world_size(const struct world *world)
{
    return offsetof(struct world, sessions) + world->count * sizeof(struct session);
}

struct sandbox *world_sandbox(struct world *world, uint8_t number)
{
    return number ? &world->sandboxes[number - 1] : NULL;
}

uint8_t world_make(struct world *world, bool ephemeral)
{
    uint8_t i;

    for (i = 0; i < SANDBOXES_MAX; i++) {
        struct sandbox *sandbox = &world->sandboxes[i];

        if (sandbox->state != SANDBOX_NONE)
            continue;
        sandbox->state = SANDBOX_RUNNING;
        sandbox->ephemeral = ephemeral;
        return (uint8_t)(i + 1);
    }
    return 0;
}

/* ---- numbers that mean only "the same" ---- */

enum {
    NUMBERS_MAX = 16,
    /* per sandbox 2, per session 2 and its orphans, the host's one */
    PLACES_MAX = 1 + 2 * SANDBOXES_MAX + (2 + ORPHANS_MAX) * SESSIONS_MAX,
};

struct places {
    uint8_t *at[PLACES_MAX];
    size_t count;
};

static void add(struct places *places, uint8_t *at)
{
    assert(places->count < PLACES_MAX);
    places->at[places->count++] = at;
}

static void find_versions(struct world *world, struct places *ret)
{
    uint8_t i;
    uint8_t k;

    ret->count = 0;
    add(ret, &world->host);
    for (i = 0; i < SANDBOXES_MAX; i++) {
        add(ret, &world->sandboxes[i].file);
        add(ret, &world->sandboxes[i].kept_file);
    }
    for (i = 0; i < world->count; i++) {
        add(ret, &world->sessions[i].base);
        add(ret, &world->sessions[i].snapshot);
        for (k = 0; k < ORPHANS_MAX; k++) {
            if (world->sessions[i].orphans[k].kind == ORPHAN_PUSH)
                add(ret, &world->sessions[i].orphans[k].what);
        }
    }
}

static void find_stamps(struct world *world, struct places *ret)
{
    uint8_t i;
    uint8_t k;

    ret->count = 0;
    for (i = 0; i < SANDBOXES_MAX; i++) {
        add(ret, &world->sandboxes[i].stamp);
        add(ret, &world->sandboxes[i].kept_stamp);
    }
    for (i = 0; i < world->count; i++) {
        add(ret, &world->sessions[i].stamp);
        for (k = 0; k < ORPHANS_MAX; k++) {
            if (world->sessions[i].orphans[k].kind == ORPHAN_RESTAMP)
                add(ret, &world->sessions[i].orphans[k].what);
        }
    }
}

static uint8_t next_number(const struct places *places)
{
    uint8_t most = 0;
    size_t i;

    for (i = 0; i < places->count; i++) {
        if (*places->at[i] > most)
            most = *places->at[i];
    }
    assert(most + 1 < NUMBERS_MAX);
    return (uint8_t)(most + 1);
}

uint8_t world_new_version(struct world *world)
{
    struct places places;
    uint8_t version;

    find_versions(world, &places);
    version = next_number(&places);
    world->settled[version / 8] &= (uint8_t) ~(1u << (version % 8));
    return version;
}

uint8_t world_new_stamp(struct world *world)
{
    struct places places;

    find_stamps(world, &places);
    return next_number(&places);
}

bool world_settled(const struct world *world, uint8_t version)
{
    return version == 0 || (world->settled[version / 8] >> (version % 8) & 1);
}

void world_settle(struct world *world, uint8_t version)
{
    if (version)
        world->settled[version / 8] |= (uint8_t)(1u << (version % 8));
}

/* Numbers in the order in which they are met; ret_map[old] is the new one, 0: not met. */
static void renumber(const struct places *places, uint8_t ret_map[NUMBERS_MAX])
{
    uint8_t next = 1;
    size_t i;

    memset(ret_map, 0, NUMBERS_MAX);
    for (i = 0; i < places->count; i++) {
        uint8_t old = *places->at[i];

        if (old && !ret_map[old])
            ret_map[old] = next++;
        *places->at[i] = ret_map[old];
    }
}

/* ---- the form in which equal worlds have equal bytes ---- */

static void sort_sessions(struct world *world, uint8_t *order)
{
    uint8_t i;
    uint8_t k;

    for (i = 0; order && i < world->count; i++)
        order[i] = i;
    for (i = 1; i < world->count; i++) {
        for (k = i; k > 0; k--) {
            struct session *a = &world->sessions[k - 1];
            struct session *b = &world->sessions[k];
            struct session held;

            if (memcmp(a, b, sizeof(*a)) <= 0)
                break;
            held = *a;
            *a = *b;
            *b = held;
            if (world->busy == k || world->busy == k + 1)
                world->busy = world->busy == k ? (uint8_t)(k + 1) : k;
            if (order) {
                uint8_t was = order[k - 1];

                order[k - 1] = order[k];
                order[k] = was;
            }
        }
    }
}

void world_canon(struct world *world, uint8_t *order)
{
    struct places places;
    uint8_t map[NUMBERS_MAX];
    uint8_t settled[2];
    uint8_t i;

    sort_sessions(world, order);
    find_stamps(world, &places);
    renumber(&places, map);
    find_versions(world, &places);
    renumber(&places, map);
    memcpy(settled, world->settled, sizeof(settled));
    memset(world->settled, 0, sizeof(world->settled));
    for (i = 1; i < NUMBERS_MAX; i++) {
        if (map[i] && (settled[i / 8] >> (i % 8) & 1))
            world_settle(world, map[i]);
    }
}
