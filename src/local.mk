# The library itself: all layers, one public header, an export list (tests/unit checks it).
include_HEADERS += src/he2b.h
lib_LTLIBRARIES += libhermes-e2b.la
libhermes_e2b_la_SOURCES =
libhermes_e2b_la_LIBADD = src/session/libsession.la src/e2b/libe2b.la src/net/libnet.la \
	src/host/libhost.la machines/libmachines.la src/core/libcore.la
libhermes_e2b_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(HE2B_LIBTOOL_VERSION) \
	-export-symbols $(srcdir)/src/he2b.sym
libhermes_e2b_la_DEPENDENCIES = $(libhermes_e2b_la_LIBADD) src/he2b.sym
EXTRA_DIST += src/he2b.sym
