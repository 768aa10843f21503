/*
 * The plane: one server on one state folder. What its parts share. Loop thread only.
 */
#ifndef HE2B_LOCAL_PLANE_H
#define HE2B_LOCAL_PLANE_H

#include "local/launch.h"
#include "local/options.h"
#include "local/store.h"

#include <stdbool.h>
#include <stdint.h>

struct api_call;
struct event;
struct event_base;
struct http;
struct sandbox;
struct sweep;

enum {
    /* processes in one sandbox; guards the host's table */
    PLANE_PROCESSES_MAX = 1024,
};

/* bytes of memory in one sandbox, where the system lets us limit it */
#define PLANE_MEMORY_MAX (2ULL * 1024 * 1024 * 1024)

struct plane {
    struct event_base *base;
    const struct options *options;
    struct launch_abilities abilities;
    struct store store;
    struct http *http;
    struct sweep *sweep;
    struct event *lease_timer;
    /* calls of create that wait for their turn, the last comer first, and the event of the turn */
    struct api_call *creates;
    struct event *create_turn;
    /* every sandbox that exists, in no order */
    struct sandbox *first;
    /* shown in lists: of this machine */
    int64_t cpu_count;
    int64_t memory_mb;
    int64_t disk_mb;
};

/* The sandbox of that id, or NULL. One that is being made is there too. */
struct sandbox *plane_find(const struct plane *plane, const char *id);

/* So many seconds, or the plan's maximum if that is less: for leases that nobody asked for. */
int64_t plane_capped_s(const struct plane *plane, int64_t seconds);

/* After a lease changed: the one timer is set to the nearest end. */
void plane_arm_leases(struct plane *plane);

/* Runs the server until it is told to end. Returns an exit code (enum options_exit). */
int plane_serve(const struct options *options);

#endif
