#
# Who looks after the Hermes state in a persistent scope's sandbox: one writer, many readers (B-60 to
# B-68). "step_" actions want something done with files of the host, "want_" actions something that
# only the caller can do, "send_" actions ask the sandbox.
#
# The order of a writer's way is the contract: mark, unstamp, recover, push, stamp, clear (B-62).
# A failure on it gives the lease up, and leaves the marker.
#
# A sandbox that a session made for itself alone ("own") has no others to agree with: no locks, no
# marker, no stamp; what is left is the push, and a sync before each command (B-73).
#
%%{
    machine WriterChart;

    Writer = (
        # Idle: no role, no lock (Ragel wants "start" for the first)
        start: (
            WRITER_SEEK      @step_elect                   -> Contending |
            WRITER_OWN       @want_push                    -> OwnPushing |
            WRITER_DROP      @report_dropped               -> start
        ) >to(in_idle),

        # the creation lock, and the writer lease inside it
        Contending: (
            WRITER_WON       @report_elected               -> Elected |
            WRITER_ALONE     @warn_degraded @report_elected -> Degraded |
            WRITER_TAKEN     @report_elected               -> Following |
            WRITER_BUSY      @wait_for_lock                -> Contending |
            WRITER_POLL      @step_elect                   -> Contending |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_contending),

        # holds the lease; the sandbox is looked for
        Elected: (
            WRITER_JOINED    @step_mark                    -> Marking |
            WRITER_MADE      @step_mark                    -> MarkingMade |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_elected),

        # as elected, where nothing can be locked: nobody is kept away (B-61)
        Degraded: (
            WRITER_JOINED    @step_mark                    -> Marking |
            WRITER_MADE      @step_mark                    -> MarkingMade |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_degraded),

        # another holds the lease; the sandbox is looked for
        Following: (
            WRITER_JOINED    @step_promote                 -> Looking |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_following),

        # ---- taking the role, in this order ----

        Marking: (
            WRITER_MARKED    @send_unstamp                 -> Unstamping |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_marking),

        # a sandbox of this session's own create has nothing to recover (B-63)
        MarkingMade: (
            WRITER_MARKED    @send_look                    -> Surveying |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_marking_made),

        Unstamping: (
            WRITER_UNSTAMPED @want_recover                 -> Recovering |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @cancel_look @step_release    -> Releasing
        ) >to(in_unstamping),

        Surveying: (
            WRITER_LOOKED    @want_push                    -> Pushing |
            WRITER_STAMPED   @step_clear                   -> Clearing |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @cancel_look @step_release    -> Releasing
        ) >to(in_surveying),

        Recovering: (
            WRITER_RECOVERED @want_push                    -> Pushing |
            WRITER_ABANDONED @step_release                 -> Failing |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_recovering),

        Pushing: (
            WRITER_PUSHED    @send_stamp                   -> Stamping |
            WRITER_ABANDONED @step_release                 -> Failing |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_pushing),

        Stamping: (
            WRITER_STAMPED   @step_clear                   -> Clearing |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @cancel_look @step_release    -> Releasing
        ) >to(in_stamping),

        Clearing: (
            WRITER_CLEARED   @report_prepared              -> Holding |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_clearing),

        # ---- the writer ----

        Holding: (
            WRITER_GATE      @want_sync                    -> Syncing |
            WRITER_REBOOTED  @send_look                    -> Verifying |
            WRITER_ASTRAY    @step_elect                   -> Contending |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_holding),

        Syncing: (
            WRITER_SYNCED    @step_clear                   -> Untainting |
            WRITER_ABANDONED @report_refused               -> Holding |
            WRITER_FAILED    @doubt_sandbox @step_mark_stale -> Tainting |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_syncing),

        # a sync failed: the command is refused and the role kept (B-66); perhaps there is no sandbox any
        # more, so that the next command asks first (B-97)
        Tainting: (
            WRITER_MARKED    @report_refused               -> Holding |
            WRITER_FAILED    @report_refused               -> Holding |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_tainting),

        # a good sync clears the marker, whoever set it (B-66)
        Untainting: (
            WRITER_CLEARED   @report_prepared              -> Holding |
            WRITER_FAILED    @report_refused               -> Holding |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_untainting),

        # a cold boot: is the disk the one of the last push (B-35)?
        Verifying: (
            WRITER_STAMPED   @want_sync                    -> Syncing |
            WRITER_LOOKED    @step_mark                    -> Marking |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @cancel_look @step_release    -> Releasing
        ) >to(in_verifying),

        # ---- the reader ----

        # attaching: promotion is tried before the gates (B-65)
        Looking: (
            WRITER_WON       @step_mark                    -> Marking |
            WRITER_ALONE     @warn_degraded @step_mark     -> Marking |
            WRITER_CLEAN     @send_look                    -> Gating |
            WRITER_DIRTY     @note_not_ready @step_release -> Failing |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_looking),

        # the marker once more after the stamp: a writer marks before it unstamps, so only in this order
        # does a clean marker say that the stamp was one to trust
        Gating: (
            WRITER_STAMPED   @step_promote                 -> Promoting |
            WRITER_LOOKED    @note_not_ready @step_release -> Failing |
            WRITER_FAILED    @step_release                 -> Failing |
            WRITER_DROP      @cancel_look @step_release    -> Releasing
        ) >to(in_gating),

        Reading: (
            WRITER_GATE      @step_promote                 -> Promoting |
            WRITER_REBOOTED  @step_promote                 -> Looking |
            WRITER_ASTRAY    @step_elect                   -> Contending |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_reading),

        Promoting: (
            WRITER_WON       @step_mark                    -> Marking |
            WRITER_ALONE     @warn_degraded @step_mark     -> Marking |
            WRITER_CLEAN     @report_prepared              -> Reading |
            WRITER_DIRTY     @note_not_ready @report_refused -> Reading |
            WRITER_FAILED    @report_refused               -> Reading |
            WRITER_DROP      @step_release                 -> Releasing
        ) >to(in_promoting),

        # ---- a sandbox of the session's own ----

        # it failed: the next command tries it anew
        OwnPushing: (
            WRITER_PUSHED    @report_prepared              -> OwnHolding |
            WRITER_ABANDONED @report_failed                -> start |
            WRITER_FAILED    @report_failed                -> start |
            WRITER_DROP      @forget_step @report_dropped  -> start
        ) >to(in_own_pushing),

        # it was made anew, or booted: everything once more
        OwnHolding: (
            WRITER_GATE      @want_sync                    -> OwnSyncing |
            WRITER_OWN       @want_push                    -> OwnPushing |
            WRITER_DROP      @report_dropped               -> start
        ) >to(in_own_holding),

        # nobody else is to be told that it failed; perhaps there is no sandbox any more (B-97)
        OwnSyncing: (
            WRITER_SYNCED    @report_prepared              -> OwnHolding |
            WRITER_ABANDONED @report_refused               -> OwnHolding |
            WRITER_FAILED    @doubt_sandbox @report_refused -> OwnHolding |
            WRITER_DROP      @forget_step @report_dropped  -> start
        ) >to(in_own_syncing),

        # ---- giving it up ----

        # before anybody is told that it failed (B-64)
        Failing: (
            WRITER_RELEASED  @report_failed                -> start |
            WRITER_DROP                                    -> Releasing
        ) >to(in_failing),

        Releasing: (
            WRITER_RELEASED  @report_dropped               -> start
        ) >to(in_releasing)
    ) $err(refuse);
}%%
