# cli: hermes-e2b, the command-line program; reaches the library through he2b.h alone.
bin_PROGRAMS += hermes-e2b
hermes_e2b_SOURCES = src/cli/cli.h src/cli/main.c src/cli/run.c
hermes_e2b_LDADD = libhermes-e2b.la
hermes_e2b_LDFLAGS = $(AM_LDFLAGS) -pthread
