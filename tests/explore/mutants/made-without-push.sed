# chart: writer
# rule: sync-first
# A sandbox that was just made is used without a push (B-62).
/^ *Surveying: (/,/in_surveying/ s/WRITER_LOOKED  *@want_push  *-> Pushing/WRITER_LOOKED @step_clear -> Clearing/
