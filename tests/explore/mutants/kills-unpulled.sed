# chart: teardown
# rule: lost
# scenario: ephemeral
# A pull that failed is told to nobody, and the sandbox killed (B-93).
/^ *Pulling: (/,/in_pulling/ s/END_FAILED  *@report_unpulled @clean/END_FAILED @clean/
