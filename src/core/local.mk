# core: no I/O at all; includes nothing of ours outside this folder.
noinst_LTLIBRARIES += src/core/libcore.la
src_core_libcore_la_SOURCES = \
	src/core/base64.c src/core/base64.h \
	src/core/buf.c src/core/buf.h \
	src/core/error.c \
	src/core/failure.c src/core/failure.h \
	src/core/json.c src/core/json.h \
	src/core/rfc3339.c src/core/rfc3339.h \
	src/core/scope.c src/core/scope.h \
	src/core/secrets.c src/core/secrets.h \
	src/core/settings.c src/core/settings.h \
	src/core/sha256.c src/core/sha256.h \
	src/core/text.c src/core/text.h \
	src/core/wipe.c src/core/wipe.h
src_core_libcore_la_LIBADD = $(JSON_LIBS) $(NETTLE_LIBS)
