#include "machines/command.h"

#include <stddef.h>

%%{
    machine command;
    alphtype int;
    access machine->;
    import "command_events.h";

    action send_start { machine->actions->send_start(machine->user); }
    action send_repeat { machine->actions->send_repeat(machine->user); }
    action send_stdin { machine->actions->send_stdin(machine->user); }
    action send_kill { machine->actions->send_kill(machine->user); }
    action ask_session { machine->actions->ask_session(machine->user); }
    action ask_record { machine->actions->ask_record(machine->user); }
    action ask_forbid { machine->actions->ask_forbid(machine->user); }
    action ask_whereabouts { machine->actions->ask_whereabouts(machine->user); }
    action attach { machine->actions->attach(machine->user); }
    action forget_start { machine->actions->forget_start(machine->user); }
    action note_exit { machine->actions->note_exit(machine->user); }
    action note_incomplete { machine->actions->note_incomplete(machine->user); }
    action note_recorded { machine->actions->note_recorded(machine->user); }
    action note_not_started { machine->actions->note_not_started(machine->user); }
    action note_killed { machine->actions->note_killed(machine->user); }
    action note_timed_out { machine->actions->note_timed_out(machine->user); }
    action note_unkilled { machine->actions->note_unkilled(machine->user); }
    action note_unknown { machine->actions->note_unknown(machine->user); }
    action close_output { machine->actions->close_output(machine->user); }
    action drop_stream { machine->actions->drop_stream(machine->user); }
    action allow_grace { machine->actions->allow_grace(machine->user); }
    action bound_kill { machine->actions->bound_kill(machine->user); }
    action report { machine->actions->report(machine->user); }

    action in_waiting { machine->state = HE2B_COMMAND_WAITING; }
    action in_starting { machine->state = HE2B_COMMAND_STARTING; }
    action in_doubtful { machine->state = HE2B_COMMAND_DOUBTFUL; }
    action in_repeating { machine->state = HE2B_COMMAND_REPEATING; }
    action in_running { machine->state = HE2B_COMMAND_RUNNING; }
    action in_lost { machine->state = HE2B_COMMAND_LOST; }
    action in_attaching { machine->state = HE2B_COMMAND_ATTACHING; }
    action in_ending { machine->state = HE2B_COMMAND_ENDING; }
    action in_catching { machine->state = HE2B_COMMAND_CATCHING; }
    action in_killing { machine->state = HE2B_COMMAND_KILLING; }
    action in_looking { machine->state = HE2B_COMMAND_LOOKING; }
    action in_done { machine->state = HE2B_COMMAND_DONE; }

    # The event changes nothing: back to where it came.
    action refuse { machine->refused++; fnext *before; fbreak; }

    include CommandChart "command_chart.rl";
    main := Command;

    write data noerror nofinal noentry;
}%%

void he2b_command_machine_init(struct he2b_command_machine *machine,
                               const struct he2b_command_actions *actions, void *user)
{
    machine->actions = actions;
    machine->user = user;
    machine->refused = 0;
    machine->state = HE2B_COMMAND_WAITING;
    %% write init;
}

void he2b_command_machine_step(struct he2b_command_machine *machine, enum he2b_command_event event)
{
    const int events[1] = {(int)event};
    const int *p = events;
    const int *pe = events + 1;
    const int *eof = NULL;
    const int before = machine->cs;

    %% write exec;
}

const char *he2b_command_state_name(enum he2b_command_state_id state)
{
    static const char *const names[] = {
#define HE2B_X(name, text) text,
        HE2B_COMMAND_STATES(HE2B_X)
#undef HE2B_X
    };

    return state < HE2B_COMMAND_STATE_COUNT ? names[state] : "?";
}

const char *he2b_command_event_name(enum he2b_command_event event)
{
    switch (event) {
#define HE2B_X(name)                                                                               \
    case name:                                                                                     \
        return #name;
        HE2B_COMMAND_EVENTS(HE2B_X)
#undef HE2B_X
    }
    return "?";
}
