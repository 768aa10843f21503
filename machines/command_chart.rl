#
# One command, from the wish to run it to its result.
#
# "report" gives the result to the caller; a command is reported once, on each way to the end.
# What is not known stays not known: no arrow leads from Lost back to Starting.
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
            CMD_LOST     @ask_whereabouts                         -> Lost |
            CMD_KILL     @note_killed @close_output @bound_kill   -> Killing |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill -> Killing
        ) >to(in_starting),

        Running: (
            CMD_MARKER   @note_exit @report @allow_grace          -> Ending |
            CMD_ENDED    @note_exit @report @allow_grace          -> Ending |
            CMD_LOST     @ask_whereabouts                         -> Lost |
            CMD_KILL     @note_killed @close_output @bound_kill @send_kill -> Killing |
            CMD_TIMEOUT  @note_timed_out @close_output @bound_kill @send_kill -> Killing
        ) >to(in_running),

        # reported; the stream may end by itself, so that its connection is kept
        Ending: (
            CMD_ENDED                                             -> Ending |
            CMD_CLOSED                                            -> final |
            CMD_LOST                                              -> final |
            CMD_GRACE    @drop_stream                             -> final |
            CMD_KILL                                              -> Ending |
            CMD_TIMEOUT                                           -> Ending
        ) >to(in_ending),

        # its output is closed; the process group is being ended
        Killing: (
            CMD_STARTED  @send_kill                               -> Killing |
            CMD_REFUSED  @report                                  -> final |
            CMD_VANISHED @report                                  -> final |
            CMD_MARKER                                            -> Killing |
            CMD_ENDED                                             -> Killing |
            CMD_CLOSED                                            -> Killing |
            CMD_LOST                                              -> Killing |
            CMD_UNKILLED @note_unkilled                           -> Killing |
            CMD_KILLED   @drop_stream @report                     -> final |
            CMD_BOUND    @note_unkilled @drop_stream @report      -> final |
            CMD_KILL                                              -> Killing |
            CMD_TIMEOUT                                           -> Killing
        ) >to(in_killing),

        # the stream is gone and the end was not seen; one look at what became of the sandbox
        Lost: (
            CMD_SETTLED  @note_unknown @report                    -> final |
            CMD_KILL     @note_unknown @report                    -> final |
            CMD_TIMEOUT  @note_unknown @report                    -> final
        ) >to(in_lost)
    ) %to(in_done) $err(refuse);
}%%
