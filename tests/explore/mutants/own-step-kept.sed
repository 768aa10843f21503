# chart: writer
# rule: lock-kept
# scenario: ephemeral
# A push that is out outlasts the end, and would be answered to a session that is no more.
/^ *OwnPushing: (/,/in_own_pushing/ s/WRITER_DROP  *@forget_step @report_dropped/WRITER_DROP @report_dropped/
