# chart: writer
# rule: unmarked
# The marker is cleared before the stamp is written (B-62).
s/WRITER_PUSHED  *@send_stamp  *-> Stamping/WRITER_PUSHED @step_clear -> Clearing/
s/WRITER_CLEARED  *@report_prepared  *-> Holding/WRITER_CLEARED @send_stamp -> Stamping/
/^ *Stamping: (/,/in_stamping/ s/WRITER_STAMPED  *@step_clear  *-> Clearing/WRITER_STAMPED @report_prepared -> Holding/
