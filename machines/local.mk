# machines: charts and scanners. Generated C is made here, shipped in the tarball, never committed.
noinst_LTLIBRARIES += machines/libmachines.la
machines_libmachines_la_SOURCES = machines/envelope.c machines/envelope.h
RL_FILES = machines/envelope.rl

EXTRA_DIST += $(RL_FILES)
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
