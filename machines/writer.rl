#include "machines/writer.h"

#include <stddef.h>

%%{
    machine writer;
    alphtype int;
    access machine->;
    import "writer_events.h";

    action step_elect { machine->actions->step_elect(machine->user); }
    action report_dropped { machine->actions->report_dropped(machine->user); }
    action report_elected { machine->actions->report_elected(machine->user); }
    action warn_degraded { machine->actions->warn_degraded(machine->user); }
    action wait_for_lock { machine->actions->wait_for_lock(machine->user); }
    action step_release { machine->actions->step_release(machine->user); }
    action step_mark { machine->actions->step_mark(machine->user); }
    action step_promote { machine->actions->step_promote(machine->user); }
    action send_unstamp { machine->actions->send_unstamp(machine->user); }
    action send_look { machine->actions->send_look(machine->user); }
    action want_recover { machine->actions->want_recover(machine->user); }
    action cancel_look { machine->actions->cancel_look(machine->user); }
    action want_push { machine->actions->want_push(machine->user); }
    action step_clear { machine->actions->step_clear(machine->user); }
    action send_stamp { machine->actions->send_stamp(machine->user); }
    action report_prepared { machine->actions->report_prepared(machine->user); }
    action report_refused { machine->actions->report_refused(machine->user); }
    action want_sync { machine->actions->want_sync(machine->user); }
    action doubt_sandbox { machine->actions->doubt_sandbox(machine->user); }
    action step_mark_stale { machine->actions->step_mark_stale(machine->user); }
    action note_not_ready { machine->actions->note_not_ready(machine->user); }
    action report_failed { machine->actions->report_failed(machine->user); }
    action forget_step { machine->actions->forget_step(machine->user); }

    action in_idle { machine->state = HE2B_WRITER_IDLE; }
    action in_contending { machine->state = HE2B_WRITER_CONTENDING; }
    action in_elected { machine->state = HE2B_WRITER_ELECTED; }
    action in_degraded { machine->state = HE2B_WRITER_DEGRADED; }
    action in_following { machine->state = HE2B_WRITER_FOLLOWING; }
    action in_marking { machine->state = HE2B_WRITER_MARKING; }
    action in_marking_made { machine->state = HE2B_WRITER_MARKING_MADE; }
    action in_unstamping { machine->state = HE2B_WRITER_UNSTAMPING; }
    action in_surveying { machine->state = HE2B_WRITER_SURVEYING; }
    action in_recovering { machine->state = HE2B_WRITER_RECOVERING; }
    action in_pushing { machine->state = HE2B_WRITER_PUSHING; }
    action in_stamping { machine->state = HE2B_WRITER_STAMPING; }
    action in_clearing { machine->state = HE2B_WRITER_CLEARING; }
    action in_holding { machine->state = HE2B_WRITER_HOLDING; }
    action in_syncing { machine->state = HE2B_WRITER_SYNCING; }
    action in_tainting { machine->state = HE2B_WRITER_TAINTING; }
    action in_untainting { machine->state = HE2B_WRITER_UNTAINTING; }
    action in_verifying { machine->state = HE2B_WRITER_VERIFYING; }
    action in_looking { machine->state = HE2B_WRITER_LOOKING; }
    action in_gating { machine->state = HE2B_WRITER_GATING; }
    action in_reading { machine->state = HE2B_WRITER_READING; }
    action in_promoting { machine->state = HE2B_WRITER_PROMOTING; }
    action in_own_pushing { machine->state = HE2B_WRITER_OWN_PUSHING; }
    action in_own_holding { machine->state = HE2B_WRITER_OWN_HOLDING; }
    action in_own_syncing { machine->state = HE2B_WRITER_OWN_SYNCING; }
    action in_failing { machine->state = HE2B_WRITER_FAILING; }
    action in_releasing { machine->state = HE2B_WRITER_RELEASING; }

    # The event changes nothing: back to where it came.
    action refuse { machine->refused++; fnext *before; fbreak; }

    include WriterChart "writer_chart.rl";
    main := Writer;

    write data noerror nofinal noentry;
}%%

void he2b_writer_machine_init(struct he2b_writer_machine *machine,
                               const struct he2b_writer_actions *actions, void *user)
{
    machine->actions = actions;
    machine->user = user;
    machine->refused = 0;
    machine->state = HE2B_WRITER_IDLE;
    %% write init;
}

void he2b_writer_machine_step(struct he2b_writer_machine *machine, enum he2b_writer_event event)
{
    const int events[1] = {(int)event};
    const int *p = events;
    const int *pe = events + 1;
    const int *eof = NULL;
    const int before = machine->cs;

    %% write exec;
}

const char *he2b_writer_state_name(enum he2b_writer_state_id state)
{
    static const char *const names[] = {
#define HE2B_X(name, text) text,
        HE2B_WRITER_STATES(HE2B_X)
#undef HE2B_X
    };

    return state < HE2B_WRITER_STATE_COUNT ? names[state] : "?";
}

const char *he2b_writer_event_name(enum he2b_writer_event event)
{
    switch (event) {
#define HE2B_X(name)                                                                               \
    case name:                                                                                     \
        return #name;
        HE2B_WRITER_EVENTS(HE2B_X)
#undef HE2B_X
    }
    return "?";
}
