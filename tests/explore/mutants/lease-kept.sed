# chart: writer
# rule: lock-kept
# A takeover that fails keeps the lease (B-64).
/^ *Pushing: (/,/in_pushing/ s/WRITER_FAILED  *@step_release  *-> Failing/WRITER_FAILED @report_failed -> start/
