#
# What must happen when a session ends, in which order, whatever fails (B-90 to B-96). The role is
# released last (B-68). A sandbox is killed once, and only where the session says END_KILL: one of a
# persistent scope never is.
#
%%{
    machine TeardownChart;

    Teardown = (
        # Open (Ragel wants "start" for the first)
        start: (
            END_CLOSE        @rest                         -> Deferred
        ) >to(in_open),

        # commands still run, or something is still on its way
        Deferred: (
            END_PULL         @reconnect                    -> Reconnecting |
            END_NO_PULL      @clean                        -> Cleaning |
            END_NOTHING      @release                      -> Releasing |
            END_ABANDONED                                  -> Hurried
        ) >to(in_deferred),

        # the same, and the pull is given up before it could begin (B-94, B-96)
        Hurried: (
            END_PULL         @report_unpulled @clean       -> Cleaning |
            END_NO_PULL      @clean                        -> Cleaning |
            END_NOTHING      @release                      -> Releasing
        ) >to(in_hurried),

        # before every attempt to pull: the sandbox may have been paused meanwhile
        Reconnecting: (
            END_CONNECTED    @want_pull                    -> Pulling |
            END_FAILED       @report_unpulled @clean       -> Cleaning |
            END_ABANDONED    @cancel_call @report_unpulled @clean -> Cleaning
        ) >to(in_reconnecting),

        Pulling: (
            END_PULLED       @clean                        -> Cleaning |
            END_AGAIN        @reconnect                    -> Reconnecting |
            END_FAILED       @report_unpulled @clean       -> Cleaning |
            END_ABANDONED    @report_unpulled @clean       -> Cleaning
        ) >to(in_pulling),

        # this session's own scratch files
        Cleaning: (
            END_KEEP         @release                      -> Releasing |
            END_KILL         @send_kill                    -> Killing
        ) >to(in_cleaning),

        Killing: (
            END_KILLED       @release                      -> Releasing
        ) >to(in_killing),

        Releasing: (
            END_RELEASED     @report_closed                -> final
        ) >to(in_releasing)
    ) %to(in_closed) $err(refuse);
}%%
