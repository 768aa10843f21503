# daemon: what plays envd inside a sandbox; started by the launcher, speaks frames, not HTTP.
pkglibexec_PROGRAMS += e2b-local-daemon
noinst_LTLIBRARIES += src/local/libdaemon.la
LINK_FILES = src/local/link.h src/local/link_frame.c src/local/link_frame.h
src_local_libdaemon_la_SOURCES = $(LINK_FILES) src/local/daemon.h \
	src/local/daemon_answer.c \
	src/local/daemon_codec.c src/local/daemon_codec.h \
	src/local/daemon_compose.c \
	src/local/daemon_disposition.c src/local/daemon_disposition.h \
	src/local/daemon_download.c \
	src/local/daemon_end.c src/local/daemon_end.h \
	src/local/daemon_entry.c src/local/daemon_entry.h \
	src/local/daemon_everything.c src/local/daemon_everything.h \
	src/local/daemon_exchange.c src/local/daemon_exchange.h \
	src/local/daemon_files.c src/local/daemon_files.h \
	src/local/daemon_filesystem.c src/local/daemon_filesystem.h \
	src/local/daemon_head.c src/local/daemon_head.h \
	src/local/daemon_input.c src/local/daemon_input.h \
	src/local/daemon_input_asker.h \
	src/local/daemon_input_send.c \
	src/local/daemon_input_stream.c \
	src/local/daemon_job.c src/local/daemon_job.h \
	src/local/daemon_list.c \
	src/local/daemon_metadata.c src/local/daemon_metadata.h \
	src/local/daemon_multipart.c src/local/daemon_multipart.h \
	src/local/daemon_path.c src/local/daemon_path.h \
	src/local/daemon_process.c src/local/daemon_process.h \
	src/local/daemon_process_calls.c \
	src/local/daemon_range.c src/local/daemon_range.h \
	src/local/daemon_reader.c src/local/daemon_reader.h \
	src/local/daemon_remove.c \
	src/local/daemon_route.c src/local/daemon_route.h \
	src/local/daemon_rpc.c src/local/daemon_rpc.h \
	src/local/daemon_spawn.c src/local/daemon_spawn.h \
	src/local/daemon_spawn_args.c src/local/daemon_spawn_args.h \
	src/local/daemon_state.c src/local/daemon_state.h \
	src/local/daemon_upload.c \
	src/local/daemon_user.c src/local/daemon_user.h
src_local_libdaemon_la_LIBADD = src/wire/libwire.la machines/libmachines.la src/core/libcore.la $(EVENT_LIBS)
src/local/daemon_codec.lo: src/wire/process.pb-c.h

e2b_local_daemon_SOURCES = src/local/daemon.c
e2b_local_daemon_LDADD = src/local/libdaemon.la
