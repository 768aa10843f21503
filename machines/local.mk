# machines: charts and scanners. Generated C is made here, shipped in the tarball, never committed.
noinst_LTLIBRARIES += machines/libmachines.la
machines_libmachines_la_SOURCES = \
	machines/command.c machines/command.h machines/command_events.h \
	machines/envelope.c machines/envelope.h \
	machines/lifecycle.c machines/lifecycle.h machines/lifecycle_events.h \
	machines/marker.c machines/marker.h
RL_FILES = machines/command.rl machines/envelope.rl machines/lifecycle.rl machines/marker.rl
# Charts are included by their glue, which make cannot see.
machines/command.c: machines/command_chart.rl machines/command_events.h
machines/lifecycle.c: machines/lifecycle_chart.rl machines/lifecycle_events.h

EXTRA_DIST += $(RL_FILES) machines/command_chart.rl machines/lifecycle_chart.rl
# Not CLEANFILES: who builds a release without Ragel may run "make clean".
MAINTAINERCLEANFILES += $(RL_FILES:.rl=.c)

RAGELFLAGS = -G1 -L
AM_V_RAGEL = $(am__v_RAGEL_@AM_V@)
am__v_RAGEL_ = $(am__v_RAGEL_@AM_DEFAULT_V@)
am__v_RAGEL_0 = @echo "  RAGEL   " $@;
am__v_RAGEL_1 =

# Line directives would make the output depend on the folder it was built in; sed drops them.
SUFFIXES = .rl
.rl.c:
	$(AM_V_RAGEL)$(MKDIR_P) $(@D) && \
	$(RAGEL) $(RAGELFLAGS) -I $(srcdir)/machines -o $@.tmp1 $< && \
	sed -e '/^[ \t]*\/\* #line .*\*\/$$/d' -e 's/[ \t]*$$//' $@.tmp1 > $@.tmp2 && \
	rm -f $@.tmp1 && mv $@.tmp2 $@
