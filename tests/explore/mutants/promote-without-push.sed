# chart: writer
# rule: admit-dirty
# A reader that wins the lease holds it as if it had pushed (B-62).
/^ *Promoting: (/,/in_promoting/ s/WRITER_WON  *@step_mark  *-> Marking/WRITER_WON @report_prepared -> Holding/
