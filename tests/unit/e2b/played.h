/*
 * The scripted peer between a client and a scene's server: the peer spoils what its script names,
 * the scene answers the rest and counts what reached it.
 */
#ifndef HE2B_TESTS_E2B_PLAYED_H
#define HE2B_TESTS_E2B_PLAYED_H

#include "tests/peer/peer_child.h"
#include "tests/unit/e2b/scene.h"

/* All later calls of the scene go through the peer; peer_child_del() is the caller's. */
struct peer_child *played(struct scene *scene, const char *script);

/* What a main() returns: 77 with the reason printed where the peer cannot run. */
#define RUN_PLAYED(tests)                                                                          \
    (peer_child_missing() ? (printf("SKIP: %s\n", peer_child_missing()), 77)                       \
                          : cmocka_run_group_tests(tests, NULL, NULL))

#endif
