# chart: teardown
# rule: kill-never
# scenario: ephemeral
# An ephemeral sandbox is left behind (B-91).
s/END_KILL  *@send_kill  *-> Killing/END_KILL @release -> Releasing/
