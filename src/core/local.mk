# core: no I/O at all; includes nothing of ours outside this folder.
noinst_LTLIBRARIES += src/core/libcore.la
src_core_libcore_la_SOURCES = src/core/error.c
src_core_libcore_la_LIBADD = $(JSON_LIBS)
