# machines: charts and scanners. Generated C is made here, shipped in the tarball, never committed.
noinst_LTLIBRARIES += machines/libmachines.la
machines_libmachines_la_SOURCES = \
	machines/command.c machines/command.h machines/command_events.h \
	machines/envelope.c machines/envelope.h \
	machines/lifecycle.c machines/lifecycle.h machines/lifecycle_events.h \
	machines/marker.c machines/marker.h \
	machines/teardown.c machines/teardown.h machines/teardown_events.h \
	machines/writer.c machines/writer.h machines/writer_events.h
RL_FILES = machines/command.rl machines/envelope.rl machines/lifecycle.rl machines/marker.rl \
	machines/teardown.rl machines/writer.rl
# Charts are included by their glue, which make cannot see.
machines/command.c: machines/command_chart.rl machines/command_events.h
machines/lifecycle.c: machines/lifecycle_chart.rl machines/lifecycle_events.h
machines/teardown.c: machines/teardown_chart.rl machines/teardown_events.h
machines/writer.c: machines/writer_chart.rl machines/writer_events.h

EXTRA_DIST += $(RL_FILES) machines/command_chart.rl machines/lifecycle_chart.rl \
	machines/teardown_chart.rl machines/writer_chart.rl machines/README.md machines/diagram.awk
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

# The pictures of the charts are committed, with the text they are drawn from. That text, not the
# drawing, is what has to be fresh: Graphviz draws a little differently in each version. The drawing
# tells by a checksum which text it shows.
DIAGRAMS = command lifecycle teardown writer
DIAGRAM_DOT = $(RAGEL) -V -I $(srcdir)/machines $(srcdir)/machines/$$chart.rl | \
	$(AWK) -v title=$$chart -f $(srcdir)/machines/diagram.awk \
		$(srcdir)/machines/$${chart}_events.h $(srcdir)/machines/$$chart.rl -
EXTRA_DIST += docs/diagrams/command.dot docs/diagrams/command.svg \
	docs/diagrams/lifecycle.dot docs/diagrams/lifecycle.svg \
	docs/diagrams/teardown.dot docs/diagrams/teardown.svg \
	docs/diagrams/writer.dot docs/diagrams/writer.svg

.PHONY: diagrams diagrams-check
diagrams:
	@set -e; for chart in $(DIAGRAMS); do \
		at=$(srcdir)/docs/diagrams/$$chart; \
		$(DIAGRAM_DOT) > $$at.dot; \
		$(DOT) -Tsvg -o $$at.svg $$at.dot; \
		echo "<!-- drawn from `cksum < $$at.dot` -->" >> $$at.svg; \
		echo "  DOT     " $$at.svg; \
	done
diagrams-check:
	@set -e; for chart in $(DIAGRAMS); do \
		at=$(srcdir)/docs/diagrams/$$chart; \
		$(DIAGRAM_DOT) | cmp - $$at.dot || \
			{ echo "$$at.dot is not what machines/ says: make diagrams"; exit 1; }; \
		tail -n 1 $$at.svg | grep -q -F "drawn from `cksum < $$at.dot` " || \
			{ echo "$$at.svg does not show $$at.dot: make diagrams"; exit 1; }; \
	done
