# chart: writer
# rule: admit-dirty
# A reader is admitted although the scope is marked (B-65).
/^ *Promoting: (/,/in_promoting/ s/WRITER_DIRTY  *@note_not_ready @report_refused  *-> Reading/WRITER_DIRTY @report_prepared -> Reading/
