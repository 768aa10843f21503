# chart: writer
# rule: admit-stale
# scenario: ephemeral
# A sync that failed lets the command start all the same (B-73).
/^ *OwnSyncing: (/,/in_own_syncing/ s/WRITER_FAILED  *@doubt_sandbox @report_refused/WRITER_FAILED @report_prepared/
