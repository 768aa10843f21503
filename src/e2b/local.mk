# e2b: E2B's control plane and sandbox daemon calls, on top of net.
noinst_LTLIBRARIES += src/e2b/libe2b.la
src_e2b_libe2b_la_SOURCES =
