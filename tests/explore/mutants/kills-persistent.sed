# chart: teardown
# rule: kill-persistent
# A persistent sandbox is killed at the end (B-91).
s/END_KEEP  *@release  *-> Releasing/END_KEEP @send_kill -> Killing/
