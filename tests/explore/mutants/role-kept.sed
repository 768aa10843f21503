# chart: lifecycle
# rule: lock-kept
# A session whose connect failed keeps its role (B-64).
/^ *Connecting: (/,/in_connecting/ s/LIFE_FAILED  *@drop_role  *-> Dropping/LIFE_FAILED @fail_waiters -> start/
