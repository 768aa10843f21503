/*
 * A sandbox for the tests of launch*.c: with launch_probe as its daemon, asked over its control
 * descriptor. Every wait has a deadline, after which the test fails.
 */
#ifndef HE2B_TESTS_LAUNCH_BOX_H
#define HE2B_TESTS_LAUNCH_BOX_H

#include "local/launch.h"
#include "tests/unit/unit.h"

#include <event2/event.h>

enum {
    BOX_TEXT_MAX = 16384,
    BOX_PROCESSES = 100
};

struct box {
    struct event_base *base;
    struct launch *launch;
    /* the state folder, its path, and the sandbox's folder's name in it */
    int parent_fd;
    char parent[64];
    char name[32];
    int control_fd;
    /* how often exited was called, and its last reason */
    unsigned ended;
    char why[512];
    /* the last answer */
    char text[BOX_TEXT_MAX];
};

/* What the machine allows; looked at once, with the folder of the programs set. */
const struct launch_abilities *box_abilities(void);

/* Skips the running test, with a printed reason. */
void box_skip(const char *why);

/* cmocka's setup and teardown: *state is an open box, or NULL where nothing can be isolated. */
int box_setup(void **state);
int box_teardown(void **state);
#define IN_BOX(name) cmocka_unit_test_setup_teardown(name, box_setup, box_teardown)

/* The box of box_setup(), or the test is skipped; the second is started, without a network. */
struct box *box_need(void **state);
struct box *box_need_started(void **state);

/* A state folder and an empty sandbox folder in it; box_close() deletes both. */
void box_open(struct box *box);
void box_close(struct box *box);

/* Starts with spec's flags (its descriptors and id are set here) and waits for "up". */
void box_start(struct box *box, const struct launch_spec *spec);
/* The same in spec's folder_fd, and does not wait for anything. */
void box_launch_in(struct box *box, const struct launch_spec *spec);
/* The same in the box's own folder. */
void box_launch(struct box *box, const struct launch_spec *spec);
/* Kills, waits for exited, deletes the launch. */
void box_stop(struct box *box);

/* Sends a request as launch_probe.c describes; the text is in box->text. Returns the status. */
int box_ask(struct box *box, const char *request);
/* Makes an attack (launch_attack.h) as each user that there is; fails if it is not fended off. */
void box_attack(struct box *box, const char *name_and_argument);
/* The control: the same attack where it must work. */
void box_attack_works(struct box *box, const char *name_and_argument);
/* Sends what has no answer. */
void box_tell(struct box *box, const char *request);
/* Waits for one packet. */
void box_hear(struct box *box);
/* Runs the loop until exited was called. */
void box_wait_end(struct box *box);

#endif
