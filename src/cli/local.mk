# cli: hermes-e2b, the command-line program; reaches the library through he2b.h alone.
bin_PROGRAMS += hermes-e2b
hermes_e2b_SOURCES = \
	src/cli/args.c src/cli/args.h \
	src/cli/input.c src/cli/input.h \
	src/cli/main.c \
	src/cli/message.c src/cli/message.h \
	src/cli/printer.c src/cli/printer.h \
	src/cli/run.c src/cli/run.h
hermes_e2b_CFLAGS = $(AM_CFLAGS) -pthread
hermes_e2b_LDADD = libhermes-e2b.la
dist_man_MANS += docs/hermes-e2b.1
