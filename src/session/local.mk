# session: one environment; drives the charts.
noinst_LTLIBRARIES += src/session/libsession.la
src_session_libsession_la_SOURCES = \
	src/session/catalog.c \
	src/session/command.c src/session/command.h \
	src/session/events.c src/session/events.h \
	src/session/lease.c \
	src/session/lifecycle.c \
	src/session/output.c src/session/output.h \
	src/session/info.c \
	src/session/probe.c \
	src/session/scope_writer.c \
	src/session/session.c src/session/session.h \
	src/session/stream.c \
	src/session/wrapper.c src/session/wrapper.h
