# chart: writer
# rule: admit-stale
# A failed sync is not told to the readers (B-66).
/^ *Syncing: (/,/in_syncing/ s/WRITER_FAILED  *@doubt_sandbox @step_mark_stale  *-> Tainting/WRITER_FAILED @report_refused -> Holding/
