#include "machines/teardown.h"

#include <stddef.h>

%%{
    machine teardown;
    alphtype int;
    access machine->;
    import "teardown_events.h";

    action rest { machine->actions->rest(machine->user); }
    action reconnect { machine->actions->reconnect(machine->user); }
    action clean { machine->actions->clean(machine->user); }
    action release { machine->actions->release(machine->user); }
    action want_pull { machine->actions->want_pull(machine->user); }
    action report_unpulled { machine->actions->report_unpulled(machine->user); }
    action cancel_call { machine->actions->cancel_call(machine->user); }
    action send_kill { machine->actions->send_kill(machine->user); }
    action report_closed { machine->actions->report_closed(machine->user); }

    action in_open { machine->state = HE2B_TEARDOWN_OPEN; }
    action in_deferred { machine->state = HE2B_TEARDOWN_DEFERRED; }
    action in_hurried { machine->state = HE2B_TEARDOWN_HURRIED; }
    action in_reconnecting { machine->state = HE2B_TEARDOWN_RECONNECTING; }
    action in_pulling { machine->state = HE2B_TEARDOWN_PULLING; }
    action in_cleaning { machine->state = HE2B_TEARDOWN_CLEANING; }
    action in_killing { machine->state = HE2B_TEARDOWN_KILLING; }
    action in_releasing { machine->state = HE2B_TEARDOWN_RELEASING; }
    action in_closed { machine->state = HE2B_TEARDOWN_CLOSED; }

    # The event changes nothing: back to where it came.
    action refuse { machine->refused++; fnext *before; fbreak; }

    include TeardownChart "teardown_chart.rl";
    main := Teardown;

    write data noerror nofinal noentry;
}%%

void he2b_teardown_machine_init(struct he2b_teardown_machine *machine,
                               const struct he2b_teardown_actions *actions, void *user)
{
    machine->actions = actions;
    machine->user = user;
    machine->refused = 0;
    machine->state = HE2B_TEARDOWN_OPEN;
    %% write init;
}

void he2b_teardown_machine_step(struct he2b_teardown_machine *machine, enum he2b_teardown_event event)
{
    const int events[1] = {(int)event};
    const int *p = events;
    const int *pe = events + 1;
    const int *eof = NULL;
    const int before = machine->cs;

    %% write exec;
}

const char *he2b_teardown_state_name(enum he2b_teardown_state_id state)
{
    static const char *const names[] = {
#define HE2B_X(name, text) text,
        HE2B_TEARDOWN_STATES(HE2B_X)
#undef HE2B_X
    };

    return state < HE2B_TEARDOWN_STATE_COUNT ? names[state] : "?";
}

const char *he2b_teardown_event_name(enum he2b_teardown_event event)
{
    switch (event) {
#define HE2B_X(name)                                                                               \
    case name:                                                                                     \
        return #name;
        HE2B_TEARDOWN_EVENTS(HE2B_X)
#undef HE2B_X
    }
    return "?";
}
