# daemon: what plays envd inside a sandbox; started by the launcher, speaks frames, not HTTP.
pkglibexec_PROGRAMS += e2b-local-daemon
LINK_FILES = src/local/link.h src/local/link_frame.c src/local/link_frame.h
e2b_local_daemon_SOURCES = $(LINK_FILES) \
	src/local/daemon.c src/local/daemon.h \
	src/local/daemon_exchange.c \
	src/local/daemon_files.c \
	src/local/daemon_filesystem.c \
	src/local/daemon_multipart.c src/local/daemon_multipart.h \
	src/local/daemon_path.c \
	src/local/daemon_process.c \
	src/local/daemon_rpc.c \
	src/local/daemon_spawn.c src/local/daemon_spawn.h \
	src/local/daemon_user.c
e2b_local_daemon_LDADD = machines/libmachines.la src/core/libcore.la $(EVENT_LIBS)
