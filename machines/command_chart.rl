#
# One command, from the wish to run it to its result.
#
# "report" gives the result to the caller; a command is reported once, on each way to the end.
# What is not known stays not known: only its record says that it may be begun again (Repeating).
#
%%{
    machine CommandChart;

    Command = (
        # Waiting: the session is being brought up (Ragel wants the first label to be "start")
        start: (
            CMD_READY    @send_start                              -> Starting |
            CMD_UNREADY  @note_not_started @report                -> final |
            CMD_KILL     @note_killed @report                     -> final |
            CMD_TIMEOUT  @note_timed_out @report                  -> final
        ) >to(in_waiting),

        # Start is sent; whether it runs is not known yet
        Starting: (
            CMD_STARTED  @send_stdin                              -> Running |
            CMD_REFUSED  @note_not_started @report                -> final |
            CMD_VANISHED @ask_session                             -> start |
            CMD_LOST     @ask_record                              -> Doubtful |
            CMD_KILL     @note_killed @close_output @bound_kill   -> Catching |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill -> Catching
        ) >to(in_starting),

        # Start was sent, and nobody has told what became of it: its record is asked
        Doubtful: (
            CMD_RUNS     @send_stdin @attach                      -> Attaching |
            CMD_RECORDED @note_recorded @report                   -> final |
            CMD_UNBEGUN  @send_repeat                             -> Repeating |
            CMD_UNCLEAR  @ask_whereabouts                         -> Looking |
            CMD_KILL     @note_killed @close_output @bound_kill @ask_forbid -> Catching |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill @ask_forbid -> Catching
        ) >to(in_doubtful),

        # a Start that runs nothing if an earlier one did is sent
        Repeating: (
            CMD_STARTED  @send_stdin                              -> Running |
            CMD_REFUSED  @ask_record                              -> Doubtful |
            CMD_LOST     @ask_record                              -> Doubtful |
            CMD_VANISHED @ask_whereabouts                         -> Looking |
            CMD_KILL     @note_killed @close_output @bound_kill @ask_forbid -> Catching |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill @ask_forbid -> Catching
        ) >to(in_repeating),

        Running: (
            CMD_MARKER   @note_exit @report @allow_grace          -> Ending |
            CMD_ENDED    @note_exit @report @allow_grace          -> Ending |
            CMD_DENIED   @forget_start @ask_record                -> Doubtful |
            CMD_LOST     @ask_record                              -> Lost |
            CMD_KILL     @note_killed @close_output @bound_kill @send_kill -> Killing |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill @send_kill -> Killing
        ) >to(in_running),

        # it ran, and its stream broke off: its record is asked
        Lost: (
            CMD_RUNS     @attach                                  -> Attaching |
            CMD_RECORDED @note_recorded @report                   -> final |
            CMD_UNCLEAR  @ask_whereabouts                         -> Looking |
            CMD_KILL     @note_killed @close_output @bound_kill @send_kill -> Killing |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill @send_kill -> Killing
        ) >to(in_lost),

        # it runs, on a stream that begins in its middle: some of its output may be missing
        Attaching: (
            CMD_MARKER   @note_incomplete @report @allow_grace    -> Ending |
            CMD_ENDED    @note_incomplete @report @allow_grace    -> Ending |
            CMD_DENIED   @ask_record                              -> Lost |
            CMD_LOST     @ask_record                              -> Lost |
            CMD_KILL     @note_killed @close_output @bound_kill @send_kill -> Killing |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill @send_kill -> Killing
        ) >to(in_attaching),

        # reported; the stream may end by itself, so that its connection is kept
        Ending: (
            CMD_ENDED                                             -> Ending |
            CMD_CLOSED                                            -> final |
            CMD_LOST                                              -> final |
            CMD_GRACE    @drop_stream                             -> final |
            CMD_KILL                                              -> Ending |
            CMD_TIMEOUT                                           -> Ending
        ) >to(in_ending),

        # its output is closed; it is to end, and its pid is not known
        Catching: (
            CMD_STARTED  @send_kill                               -> Killing |
            CMD_REFUSED  @report                                  -> final |
            CMD_VANISHED @report                                  -> final |
            CMD_LOST     @ask_forbid                              -> Catching |
            CMD_RUNS     @send_kill                               -> Killing |
            CMD_RECORDED @report                                  -> final |
            CMD_UNBEGUN  @report                                  -> final |
            CMD_UNCLEAR  @note_unkilled @report                   -> final |
            CMD_BOUND    @note_unkilled @drop_stream @report      -> final |
            CMD_KILL                                              -> Catching |
            CMD_TIMEOUT                                           -> Catching
        ) >to(in_catching),

        # its output is closed; the process group is being ended
        Killing: (
            CMD_MARKER                                            -> Killing |
            CMD_ENDED                                             -> Killing |
            CMD_CLOSED                                            -> Killing |
            CMD_DENIED   @forget_start @ask_forbid                -> Catching |
            CMD_LOST                                              -> Killing |
            CMD_RUNS                                              -> Killing |
            CMD_RECORDED                                          -> Killing |
            CMD_UNCLEAR                                           -> Killing |
            CMD_UNKILLED @note_unkilled                           -> Killing |
            CMD_KILLED   @drop_stream @report                     -> final |
            CMD_BOUND    @note_unkilled @drop_stream @report      -> final |
            CMD_KILL                                              -> Killing |
            CMD_TIMEOUT                                           -> Killing
        ) >to(in_killing),

        # the record does not tell how it ended; one look at what became of the sandbox
        Looking: (
            CMD_SETTLED  @note_unknown @report                    -> final |
            CMD_KILL     @note_unknown @report                    -> final |
            CMD_TIMEOUT  @note_unknown @report                    -> final
        ) >to(in_looking)
    ) %to(in_done) $err(refuse);
}%%
