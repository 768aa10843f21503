# session: one environment; drives the charts.
noinst_LTLIBRARIES += src/session/libsession.la
src_session_libsession_la_SOURCES = \
	src/session/attachment.c \
	src/session/catalog.c \
	src/session/command.c src/session/command.h \
	src/session/events.c src/session/events.h \
	src/session/host.c \
	src/session/lease.c \
	src/session/lifecycle.c \
	src/session/output.c src/session/output.h \
	src/session/info.c \
	src/session/probe.c \
	src/session/pump.c \
	src/session/record.c \
	src/session/role.c \
	src/session/scope_writer.c \
	src/session/search.c \
	src/session/session.c src/session/session.h \
	src/session/step.c src/session/step.h \
	src/session/stream.c \
	src/session/teardown.c \
	src/session/terminal.c src/session/terminal.h \
	src/session/terminal_input.c \
	src/session/text.c \
	src/session/transfer.c src/session/transfer.h \
	src/session/transfer_apply.c \
	src/session/transfer_command.c \
	src/session/transfer_fetch.c \
	src/session/transfer_job.c src/session/transfer_job.h \
	src/session/transfer_push.c \
	src/session/transfer_script.c src/session/transfer_script.h \
	src/session/transfer_singly.c \
	src/session/waiters.c \
	src/session/whereabouts.c \
	src/session/worker.c src/session/worker.h \
	src/session/wrapper.c src/session/wrapper.h
