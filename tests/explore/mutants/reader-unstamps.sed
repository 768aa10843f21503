# chart: writer
# rule: no-lease
# A reader removes the stamp (B-60).
/^ *Looking: (/,/in_looking/ s/WRITER_CLEAN  *@send_look/WRITER_CLEAN @send_unstamp/
