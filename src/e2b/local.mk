# e2b: E2B's control plane and sandbox daemon calls, on top of net.
noinst_LTLIBRARIES += src/e2b/libe2b.la
src_e2b_libe2b_la_SOURCES = \
	src/e2b/control.c src/e2b/control.h \
	src/e2b/endpoint.c src/e2b/endpoint.h \
	src/e2b/health.c src/e2b/health.h \
	src/e2b/process.c src/e2b/process.h
