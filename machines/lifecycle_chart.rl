#
# How a session gets from nothing to a sandbox in which commands can start, and to rest.
#
# "admit" lets those start who wait; "fail_waiters" tells everybody who waits why not, "refuse_waiters"
# only those whose command was looked at, or who waited when it failed. A session of a persistent scope ("scope" in an event's or
# action's name) asks the writer chart for its role before it looks for a sandbox, and before each
# command; whatever fails on the way, the role is given up before anybody is told (B-64). What becomes
# of the sandbox at the end is the teardown chart's business. A session whose own sandbox gets the
# Hermes state (LIFE_OWNED) has a role there too, but no locks, and gives nothing up where something
# else fails.
#
# A command that finds no sandbox says so (LIFE_VANISHED) and waits again. Where the control plane is
# being asked anyway, or the sandbox was left already, that is all; a role's preparation is not
# disturbed, but whoever waits for it asks first (LIFE_LAPSED).
#
# A command that runs keeps its lease wherever the session comes to rest, or a role prepares (B-31).
#
%%{
    machine LifecycleChart;

    Lifecycle = (
        # Detached: no sandbox, or one whose state is not known (Ragel wants "start" for the first)
        start: (
            LIFE_WANT_NEW    @send_create                  -> Creating |
            LIFE_WANT_OLD    @cancel_renew @send_connect   -> Connecting |
            LIFE_WANT_SCOPE  @cancel_renew @seek_role      -> Electing |
            LIFE_RENEW       @send_renew                   -> start |
            LIFE_RENEWED     @note_lease                   -> start |
            LIFE_VANISHED                                  -> start |
            LIFE_CLOSE       @cancel_renew @fail_waiters @report_rest -> final
        ) >to(in_detached),

        # a scope: the locks say who may look for its sandbox now, and who may make one
        Electing: (
            LIFE_ELECTED     @send_list                    -> LookingUp |
            LIFE_FAILED      @drop_role                    -> Dropping |
            LIFE_ABANDONED   @drop_role                    -> Dropping |
            LIFE_VANISHED                                  -> Electing |
            LIFE_CLOSE       @fail_waiters @report_rest    -> final
        ) >to(in_electing),

        LookingUp: (
            LIFE_FOUND       @send_connect                 -> Connecting |
            LIFE_ABSENT      @send_create                  -> Creating |
            LIFE_FAILED      @drop_role                    -> Dropping |
            LIFE_ABANDONED   @cancel_call @drop_role       -> Dropping |
            LIFE_VANISHED                                  -> LookingUp |
            LIFE_CLOSE       @cancel_call @fail_waiters @report_rest -> final
        ) >to(in_looking_up),

        Creating: (
            LIFE_CREATED     @send_probe                   -> Probing |
            LIFE_MADE        @prepare_made                 -> Preparing |
            LIFE_FAILED      @drop_role                    -> Dropping |
            LIFE_VANISHED                                  -> Creating |
            LIFE_CLOSE       @end_create @fail_waiters     -> Closing
        ) >to(in_creating),

        # the sandbox exists, its lease is being extended before anything is started
        Connecting: (
            LIFE_ATTACHED    @admit                        -> Ready |
            LIFE_CONNECTED   @send_probe                   -> Probing |
            LIFE_GONE        @forget_sandbox @send_create  -> Creating |
            LIFE_SAME        @gate_role                    -> Preparing |
            LIFE_JOINED      @prepare_joined               -> Preparing |
            LIFE_REBOOTED    @prepare_rebooted             -> Preparing |
            LIFE_NEXT        @send_connect                 -> Connecting |
            LIFE_ABSENT      @send_create                  -> Creating |
            LIFE_ASTRAY      @forget_sandbox @seek_again   -> Electing |
            LIFE_FAILED      @drop_role                    -> Dropping |
            LIFE_ABANDONED   @cancel_call @drop_role       -> Dropping |
            LIFE_VANISHED                                  -> Connecting |
            LIFE_CLOSE       @cancel_call @fail_waiters @report_rest -> final
        ) >to(in_connecting),

        Probing: (
            LIFE_PROBED      @admit                        -> Ready |
            LIFE_OWNED       @prepare_own                  -> Preparing |
            LIFE_FAILED      @drop_role                    -> Dropping |
            LIFE_VANISHED                                  -> Probing |
            LIFE_CLOSE       @cancel_call @fail_waiters @report_rest -> final
        ) >to(in_probing),

        # a scope, or a sandbox of its own that gets Hermes' state: the writer chart makes it fit for the
        # next command, or looks whether it is
        Preparing: (
            LIFE_PREPARED    @admit                        -> Ready |
            LIFE_LAPSED      @cancel_renew @send_connect   -> Connecting |
            LIFE_REFUSED     @refuse_waiters               -> Ready |
            LIFE_RENEW       @send_renew                   -> Preparing |
            LIFE_RENEWED     @note_lease                   -> Preparing |
            LIFE_FAILED      @cancel_renew @drop_role      -> Dropping |
            LIFE_VANISHED    @doubt_sandbox                -> Preparing |
            LIFE_CLOSE       @cancel_renew @fail_waiters @report_rest -> final
        ) >to(in_preparing),

        Ready: (
            LIFE_WANT        @admit                        -> Ready |
            LIFE_WANT_GATE   @gate_role                    -> Preparing |
            LIFE_RENEW       @send_renew                   -> Ready |
            LIFE_RENEWED     @note_lease                   -> Ready |
            LIFE_STALE       @cancel_renew @send_connect   -> Connecting |
            LIFE_VANISHED    @cancel_renew @send_connect   -> Replacing |
            LIFE_CLOSE       @cancel_renew @fail_waiters @report_rest -> final
        ) >to(in_ready),

        # a command found no sandbox: the control plane is asked whether that is so
        Replacing: (
            LIFE_ATTACHED    @admit                        -> Ready |
            LIFE_CONNECTED   @send_probe                   -> Probing |
            LIFE_GONE        @forget_sandbox @send_create  -> Creating |
            LIFE_SAME        @gate_role                    -> Preparing |
            LIFE_REBOOTED    @prepare_rebooted             -> Preparing |
            LIFE_ASTRAY      @forget_sandbox @seek_again   -> Electing |
            LIFE_FAILED      @drop_role                    -> Dropping |
            LIFE_VANISHED                                  -> Replacing |
            LIFE_CLOSE       @cancel_call @fail_waiters @report_rest -> final
        ) >to(in_replacing),

        # it failed: whoever waited then is told once the role is given up (B-64); who came since tries
        # it anew
        Dropping: (
            LIFE_DROPPED     @refuse_waiters               -> start |
            LIFE_VANISHED                                  -> Dropping |
            LIFE_CLOSE       @fail_waiters @report_rest    -> final
        ) >to(in_dropping),

        # to be closed, but a create is on its way: it is not sent again, and what it makes must
        # not be left behind
        Closing: (
            LIFE_CREATED     @report_rest                  -> final |
            LIFE_MADE        @report_rest                  -> final |
            LIFE_FAILED      @report_rest                  -> final
        ) >to(in_closing)
    ) %to(in_closed) $err(refuse);
}%%
