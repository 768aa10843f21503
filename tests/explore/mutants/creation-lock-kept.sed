# chart: writer
# rule: creation-kept
# The creation lock is held for as long as the session lives (B-24).
/^ *Elected: (/,/in_elected/ s/WRITER_MADE  *@step_mark  *-> MarkingMade/WRITER_MADE @report_prepared -> Holding/
