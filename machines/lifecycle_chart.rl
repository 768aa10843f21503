#
# How a session gets from nothing to a sandbox in which commands can start, and to its end.
#
# "admit" lets everybody start who waits; "fail_waiters" tells everybody who waits why not. A sandbox
# that this session made is killed once on each way to the end; one it was given never is.
#
%%{
    machine LifecycleChart;

    Lifecycle = (
        # Detached: no sandbox, or one whose state is not known (Ragel wants "start" for the first)
        start: (
            LIFE_WANT_NEW  @send_create                 -> Creating |
            LIFE_WANT_OLD  @send_connect                -> Connecting |
            LIFE_CLOSE     @fail_waiters @send_kill     -> Closing
        ) >to(in_detached),

        Creating: (
            LIFE_CREATED   @send_probe                  -> Probing |
            LIFE_FAILED    @fail_waiters                -> start |
            LIFE_CLOSE     @end_create @fail_waiters    -> Unwinding
        ) >to(in_creating),

        # to be closed, but a create is on its way: it is not sent again, and what it makes must
        # not be left behind
        Unwinding: (
            LIFE_CREATED   @send_kill                   -> Closing |
            LIFE_FAILED    @send_kill                   -> Closing
        ) >to(in_unwinding),

        # the sandbox exists, its lease is being extended before anything is started
        Connecting: (
            LIFE_ATTACHED  @admit                       -> Ready |
            LIFE_CONNECTED @send_probe                  -> Probing |
            LIFE_GONE      @forget_sandbox @send_create -> Creating |
            LIFE_FAILED    @fail_waiters                -> start |
            LIFE_CLOSE     @cancel_call @fail_waiters @send_kill -> Closing
        ) >to(in_connecting),

        Probing: (
            LIFE_PROBED    @admit                       -> Ready |
            LIFE_FAILED    @fail_waiters                -> start |
            LIFE_CLOSE     @cancel_call @fail_waiters @send_kill -> Closing
        ) >to(in_probing),

        Ready: (
            LIFE_WANT      @admit                       -> Ready |
            LIFE_RENEW     @send_renew                  -> Ready |
            LIFE_RENEWED   @note_lease                  -> Ready |
            LIFE_STALE     @cancel_renew @send_connect  -> Connecting |
            LIFE_VANISHED  @cancel_renew @send_connect  -> Replacing |
            LIFE_CLOSE     @cancel_renew @fail_waiters @send_kill -> Closing
        ) >to(in_ready),

        # a command found no sandbox: the control plane is asked whether that is so
        Replacing: (
            LIFE_ATTACHED  @admit                       -> Ready |
            LIFE_CONNECTED @send_probe                  -> Probing |
            LIFE_GONE      @forget_sandbox @send_create -> Creating |
            LIFE_FAILED    @fail_waiters                -> start |
            LIFE_CLOSE     @cancel_call @fail_waiters @send_kill -> Closing
        ) >to(in_replacing),

        Closing: (
            LIFE_KILLED    @report_closed               -> final
        ) >to(in_closing)
    ) %to(in_closed) $err(refuse);
}%%
