#include "machines/lifecycle.h"

#include <stddef.h>

%%{
    machine lifecycle;
    alphtype int;
    access machine->;
    import "lifecycle_events.h";

    action send_create { machine->actions->send_create(machine->user); }
    action send_connect { machine->actions->send_connect(machine->user); }
    action seek_role { machine->actions->seek_role(machine->user); }
    action fail_waiters { machine->actions->fail_waiters(machine->user); }
    action report_rest { machine->actions->report_rest(machine->user); }
    action send_list { machine->actions->send_list(machine->user); }
    action drop_role { machine->actions->drop_role(machine->user); }
    action cancel_call { machine->actions->cancel_call(machine->user); }
    action send_probe { machine->actions->send_probe(machine->user); }
    action prepare_own { machine->actions->prepare_own(machine->user); }
    action prepare_made { machine->actions->prepare_made(machine->user); }
    action end_create { machine->actions->end_create(machine->user); }
    action admit { machine->actions->admit(machine->user); }
    action forget_sandbox { machine->actions->forget_sandbox(machine->user); }
    action gate_role { machine->actions->gate_role(machine->user); }
    action prepare_joined { machine->actions->prepare_joined(machine->user); }
    action prepare_rebooted { machine->actions->prepare_rebooted(machine->user); }
    action seek_again { machine->actions->seek_again(machine->user); }
    action doubt_sandbox { machine->actions->doubt_sandbox(machine->user); }
    action refuse_waiters { machine->actions->refuse_waiters(machine->user); }
    action send_renew { machine->actions->send_renew(machine->user); }
    action note_lease { machine->actions->note_lease(machine->user); }
    action cancel_renew { machine->actions->cancel_renew(machine->user); }

    action in_detached { machine->state = HE2B_LIFECYCLE_DETACHED; }
    action in_electing { machine->state = HE2B_LIFECYCLE_ELECTING; }
    action in_looking_up { machine->state = HE2B_LIFECYCLE_LOOKING_UP; }
    action in_creating { machine->state = HE2B_LIFECYCLE_CREATING; }
    action in_connecting { machine->state = HE2B_LIFECYCLE_CONNECTING; }
    action in_probing { machine->state = HE2B_LIFECYCLE_PROBING; }
    action in_preparing { machine->state = HE2B_LIFECYCLE_PREPARING; }
    action in_ready { machine->state = HE2B_LIFECYCLE_READY; }
    action in_replacing { machine->state = HE2B_LIFECYCLE_REPLACING; }
    action in_dropping { machine->state = HE2B_LIFECYCLE_DROPPING; }
    action in_closing { machine->state = HE2B_LIFECYCLE_CLOSING; }
    action in_closed { machine->state = HE2B_LIFECYCLE_CLOSED; }

    # The event changes nothing: back to where it came.
    action refuse { machine->refused++; fnext *before; fbreak; }

    include LifecycleChart "lifecycle_chart.rl";
    main := Lifecycle;

    write data noerror nofinal noentry;
}%%

void he2b_lifecycle_machine_init(struct he2b_lifecycle_machine *machine,
                               const struct he2b_lifecycle_actions *actions, void *user)
{
    machine->actions = actions;
    machine->user = user;
    machine->refused = 0;
    machine->state = HE2B_LIFECYCLE_DETACHED;
    %% write init;
}

void he2b_lifecycle_machine_step(struct he2b_lifecycle_machine *machine, enum he2b_lifecycle_event event)
{
    const int events[1] = {(int)event};
    const int *p = events;
    const int *pe = events + 1;
    const int *eof = NULL;
    const int before = machine->cs;

    %% write exec;
}

const char *he2b_lifecycle_state_name(enum he2b_lifecycle_state_id state)
{
    static const char *const names[] = {
#define HE2B_X(name, text) text,
        HE2B_LIFECYCLE_STATES(HE2B_X)
#undef HE2B_X
    };

    return state < HE2B_LIFECYCLE_STATE_COUNT ? names[state] : "?";
}

const char *he2b_lifecycle_event_name(enum he2b_lifecycle_event event)
{
    switch (event) {
#define HE2B_X(name)                                                                               \
    case name:                                                                                     \
        return #name;
        HE2B_LIFECYCLE_EVENTS(HE2B_X)
#undef HE2B_X
    }
    return "?";
}
