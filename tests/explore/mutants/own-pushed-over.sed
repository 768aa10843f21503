# chart: writer
# rule: lost
# scenario: ephemeral
# After a sync that failed everything is pushed once more, over what an agent wrote.
/^ *OwnSyncing: (/,/in_own_syncing/ s/WRITER_FAILED  *@doubt_sandbox @report_refused  *-> OwnHolding/WRITER_FAILED @report_failed -> start/
