# chart: teardown
# rule: kill-twice
# scenario: ephemeral
# A kill is repeated although it succeeded (B-91).
s/END_KILLED  *@release  *-> Releasing/END_KILLED @send_kill -> Killing/
