/*
 * A scripted control plane for the tests of its client: answers per route, requests counted.
 */
#ifndef HE2B_TESTS_E2B_SCENE_H
#define HE2B_TESTS_E2B_SCENE_H

#include "e2b/control.h"
#include "e2b/control_request.h"

#include "tests/unit/peer/peer.h"
#include "tests/unit/unit.h"

#define SCENE_ID  "i0123456789abcdefghij"
#define SCENE_KEY "e2b_0123456789abcdef"
/* What create and connect answer. */
#define SCENE_MADE                                                                                 \
    "{\"sandboxID\":\"" SCENE_ID "\",\"envdAccessToken\":\"token\",\"domain\":\"d.example\"}"

/* Instead of a status. */
enum {
    SCENE_RESET = 0,
    SCENE_CLOSE = -1,
    SCENE_SILENT = -2, /* nothing until the client gives up */
    SCENE_HALF = -3,   /* half of a body, then the end */
};

/* One answer of the server. "$ATTEMPT" in its body is the token of the latest create. */
struct scene_answer {
    int status;
    const char *headers;
    const char *body;
};

enum scene_route {
    SCENE_CREATE,
    SCENE_LIST,
    SCENE_OTHER,
    SCENE_ROUTES,
};

enum {
    SCENE_ANSWERS_MAX = 8,
    SCENE_ITEMS_MAX = 8,
};

struct scene_script {
    struct scene_answer answers[SCENE_ANSWERS_MAX]; /* the last is given again and again */
    unsigned count;
    unsigned asked;
    char path[512];  /* of the latest request */
    char body[1024]; /* of the latest request */
};

struct scene {
    struct peer *peer;
    he2b_loop *loop;
    he2b_options *options;
    struct he2b_settings settings;
    struct he2b_control_times times; /* short ones; a test may change them */

    pthread_mutex_t lock;
    struct scene_script scripts[SCENE_ROUTES];
    unsigned asked; /* in all */
    char paths[512];
    char first_key[64]; /* Idempotency-Key of the first create */
    char key[64];       /* of the latest */
    bool same_key;

    unsigned times_told;
    struct he2b_control_answer got;
    bool list_ok;
    size_t list_count;
    struct he2b_sandbox_info items[SCENE_ITEMS_MAX]; /* without their metadata */
};

int scene_setup(void **state);
int scene_teardown(void **state);
#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

/* What route answers from now on; all counts start over. */
void scene_script(struct scene *scene, enum scene_route route, const struct scene_answer *answers,
                  unsigned count);
#define SCRIPT(route, ...)                                                                         \
    scene_script(scene, route, (const struct scene_answer[]){__VA_ARGS__},                         \
                 sizeof((const struct scene_answer[]){__VA_ARGS__}) / sizeof(struct scene_answer))

/* How often it was asked; safe while the peer runs. */
unsigned scene_asked(struct scene *scene, enum scene_route route);

/* Each makes the call, runs the loop until it has told its outcome, and checks that it told it
 * once and not inside the call. */
void scene_create(struct scene *scene, const char *scope);
void scene_connect(struct scene *scene);
void scene_kill(struct scene *scene);
void scene_get(struct scene *scene);
void scene_pause(struct scene *scene);
void scene_list(struct scene *scene, const struct he2b_list_filter *filter);

/* The callbacks, for tests that make the call themselves; they stop the loop. */
void scene_on_answer(void *user, const struct he2b_control_answer *answer);

#endif
