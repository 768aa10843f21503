# chart: writer
# rule: admit-dirty
# The marker is looked at before the stamp, and not after it (B-65).
/^ *Gating: (/,/in_gating/ s/WRITER_STAMPED  *@step_promote  *-> Promoting/WRITER_STAMPED @report_prepared -> Reading/
