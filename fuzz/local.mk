# fuzz: one small target per parser and chart. "make check" replays fuzz_X.in/ and fuzz_X.repro/ through driver.c;
# with --enable-fuzzers the same targets are libFuzzer programs, and the check runs their corpus once.
FUZZ_TARGETS = fuzz/fuzz_archive fuzz/fuzz_codec fuzz/fuzz_command_chart fuzz/fuzz_envelope fuzz/fuzz_json \
	fuzz/fuzz_lifecycle_chart fuzz/fuzz_manifest fuzz/fuzz_marker fuzz/fuzz_teardown_chart fuzz/fuzz_writer_chart
check_PROGRAMS += $(FUZZ_TARGETS)

FUZZ_LIBS = machines/libmachines.la src/core/libcore.la
fuzz_fuzz_archive_SOURCES = fuzz/fuzz_archive.c
fuzz_fuzz_archive_LDADD = src/host/libhost.la $(FUZZ_LIBS)
fuzz_fuzz_codec_SOURCES = fuzz/fuzz_codec.c
fuzz_fuzz_codec_LDADD = src/e2b/libe2b.la src/net/libnet.la $(FUZZ_LIBS)
fuzz_fuzz_command_chart_SOURCES = fuzz/fuzz_command_chart.c
fuzz_fuzz_command_chart_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_envelope_SOURCES = fuzz/fuzz_envelope.c
fuzz_fuzz_envelope_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_json_SOURCES = fuzz/fuzz_json.c
fuzz_fuzz_json_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_lifecycle_chart_SOURCES = fuzz/fuzz_lifecycle_chart.c
fuzz_fuzz_lifecycle_chart_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_manifest_SOURCES = fuzz/fuzz_manifest.c
fuzz_fuzz_manifest_LDADD = src/host/libhost.la $(FUZZ_LIBS)
fuzz_fuzz_marker_SOURCES = fuzz/fuzz_marker.c
fuzz_fuzz_marker_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_teardown_chart_SOURCES = fuzz/fuzz_teardown_chart.c
fuzz_fuzz_teardown_chart_LDADD = $(FUZZ_LIBS)
fuzz_fuzz_writer_chart_SOURCES = fuzz/fuzz_writer_chart.c
fuzz_fuzz_writer_chart_LDADD = $(FUZZ_LIBS)
if WITH_FUZZERS
fuzz_fuzz_codec_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_archive_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_manifest_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_command_chart_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_lifecycle_chart_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_envelope_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_json_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_marker_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_teardown_chart_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_fuzz_writer_chart_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
TESTS += fuzz/replay.sh
else
fuzz_fuzz_codec_SOURCES += fuzz/driver.c
fuzz_fuzz_archive_SOURCES += fuzz/driver.c
fuzz_fuzz_manifest_SOURCES += fuzz/driver.c
fuzz_fuzz_command_chart_SOURCES += fuzz/driver.c
fuzz_fuzz_lifecycle_chart_SOURCES += fuzz/driver.c
fuzz_fuzz_envelope_SOURCES += fuzz/driver.c
fuzz_fuzz_json_SOURCES += fuzz/driver.c
fuzz_fuzz_marker_SOURCES += fuzz/driver.c
fuzz_fuzz_teardown_chart_SOURCES += fuzz/driver.c
fuzz_fuzz_writer_chart_SOURCES += fuzz/driver.c
TESTS += $(FUZZ_TARGETS)
endif
EXTRA_DIST += fuzz/chart.h fuzz/driver.c fuzz/replay.sh fuzz/README.md \
	fuzz/fuzz_archive.in fuzz/fuzz_codec.in fuzz/fuzz_manifest.in \
	fuzz/fuzz_command_chart.in fuzz/fuzz_lifecycle_chart.in \
	fuzz/fuzz_envelope.in fuzz/fuzz_json.in fuzz/fuzz_marker.in \
	fuzz/fuzz_teardown_chart.in fuzz/fuzz_writer_chart.in
