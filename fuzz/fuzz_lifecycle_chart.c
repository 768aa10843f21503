/*
 * The lifecycle chart beside its table: each byte is an event, and both must do the same with it.
 */
#include "tests/chart/lifecycle_table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    /* Longer than the actions of any one step. */
    DONE_MAX = 256,
};

struct done {
    char actions[DONE_MAX];
};

static void add(struct done *done, const char *name)
{
    size_t len = strlen(done->actions);

    snprintf(done->actions + len, sizeof(done->actions) - len, "%s%s", len ? " " : "", name);
}

/* One recording function for each action. */
#define HE2B_X(name)                                                                               \
    static void name(void *user)                                                                   \
    {                                                                                              \
        add(user, #name);                                                                          \
    }
HE2B_LIFECYCLE_ACTIONS(HE2B_X)
#undef HE2B_X

static const struct he2b_lifecycle_actions actions = {
#define HE2B_X(name) .name = name,
    HE2B_LIFECYCLE_ACTIONS(HE2B_X)
#undef HE2B_X
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum he2b_lifecycle_state_id state = HE2B_LIFECYCLE_DETACHED;
    struct he2b_lifecycle_machine machine;
    struct done done;
    unsigned refused = 0;
    size_t i;

    he2b_lifecycle_machine_init(&machine, &actions, &done);
    for (i = 0; i < size; i++) {
        enum he2b_lifecycle_event event = (enum he2b_lifecycle_event)data[i];
        const struct row *row = find(state, event);

        done.actions[0] = '\0';
        he2b_lifecycle_machine_step(&machine, event);
        if (row)
            state = row->next;
        else
            refused++;
        if (strcmp(done.actions, row ? row->actions : "") != 0 || machine.state != state ||
            machine.refused != refused)
            abort();
    }
    return 0;
}
