# chart: writer
# rule: unmarked
# A takeover does not mark the scope (B-62).
/^ *Elected: (/,/in_elected/ s/WRITER_JOINED  *@step_mark  *-> Marking/WRITER_JOINED @send_unstamp -> Unstamping/
