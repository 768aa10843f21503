# chart: writer
# rule: push-first
# A takeover pushes before it has recovered (B-62).
s/WRITER_UNSTAMPED @want_recover  *-> Recovering/WRITER_UNSTAMPED @want_push -> Pushing/
