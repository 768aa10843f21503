# chart: teardown
# rule: pull-late
# ignore: stuck
# The lease is released before the pull is tried once more (B-68).
/^ *Pulling: (/,/in_pulling/ s/END_AGAIN  *@reconnect/END_AGAIN @release @reconnect/
