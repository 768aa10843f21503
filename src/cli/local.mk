# cli: hermes-e2b, the command-line program; reaches the library through he2b.h alone.
bin_PROGRAMS += hermes-e2b
hermes_e2b_SOURCES = \
	src/cli/confirm.c src/cli/confirm.h \
	src/cli/connect.c src/cli/connect.h \
	src/cli/doctor.c src/cli/doctor.h \
	src/cli/duration.c src/cli/duration.h \
	src/cli/end.c src/cli/end.h \
	src/cli/escape.c src/cli/escape.h \
	src/cli/exits.h \
	src/cli/home.c src/cli/home.h \
	src/cli/home_check.c src/cli/home_check.h \
	src/cli/input.c src/cli/input.h \
	src/cli/json_out.c src/cli/json_out.h \
	src/cli/keyboard.c src/cli/keyboard.h \
	src/cli/list.c src/cli/list.h \
	src/cli/main.c \
	src/cli/message.c src/cli/message.h \
	src/cli/printer.c src/cli/printer.h \
	src/cli/raw_mode.c src/cli/raw_mode.h \
	src/cli/run.c src/cli/run.h \
	src/cli/run_args.c src/cli/run_args.h \
	src/cli/safe.c src/cli/safe.h \
	src/cli/server.c src/cli/server.h \
	src/cli/shell.c src/cli/shell.h \
	src/cli/show.c src/cli/show.h \
	src/cli/sitting.c src/cli/sitting.h \
	src/cli/usage.c src/cli/usage.h \
	src/cli/utf8.c src/cli/utf8.h
hermes_e2b_CFLAGS = $(AM_CFLAGS) -pthread
hermes_e2b_LDADD = libhermes-e2b.la
dist_man_MANS += docs/hermes-e2b.1
