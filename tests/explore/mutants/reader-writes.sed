# chart: writer
# rule: two-writers
# A session that did not win the lease takes the role all the same (B-60).
/^ *Contending: (/,/in_contending/ s/WRITER_TAKEN  *@report_elected  *-> Following/WRITER_TAKEN @report_elected -> Elected/
