# chart: writer
# rule: stuck
# A promotion that fails is told to nobody.
/^ *Promoting: (/,/in_promoting/ s/WRITER_FAILED  *@report_refused  *-> Reading/WRITER_FAILED -> Reading/
