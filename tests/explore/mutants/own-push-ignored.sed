# chart: writer
# rule: admit-unpushed
# scenario: ephemeral
# A push that failed lets the command start all the same (B-73).
/^ *OwnPushing: (/,/in_own_pushing/ s/WRITER_FAILED  *@report_failed  *-> start/WRITER_FAILED @report_prepared -> OwnHolding/
