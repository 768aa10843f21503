# wire: the messages of the process service in binary protobuf. Generated C is made here, shipped in
# the tarball, never committed.
noinst_LTLIBRARIES += src/wire/libwire.la
src_wire_libwire_la_SOURCES = src/wire/process.pb-c.c src/wire/process.pb-c.h
# What protoc-c writes is not ours to warn about.
src_wire_libwire_la_CFLAGS = -std=gnu11 $(VIS_CFLAGS) $(SAN_CFLAGS) $(FUZZ_CFLAGS) $(PROTO_CFLAGS)
src_wire_libwire_la_LIBADD = $(PROTO_LIBS)
EXTRA_DIST += src/wire/process.proto
# Not CLEANFILES: who builds a release without protoc-c may run "make clean".
MAINTAINERCLEANFILES += src/wire/process.pb-c.c src/wire/process.pb-c.h
BUILT_SOURCES += src/wire/process.pb-c.h

AM_V_PROTOC = $(am__v_PROTOC_@AM_V@)
am__v_PROTOC_ = $(am__v_PROTOC_@AM_DEFAULT_V@)
am__v_PROTOC_0 = @echo "  PROTOC-C" $@;
am__v_PROTOC_1 =

# protoc-c writes both files at once. Each rule makes its own one in a folder of its own, so that
# they neither meet in a parallel make nor make one file look older than what it is made from.
PROTOC_MAKE = $(AM_V_PROTOC)rm -rf $@.tmp && $(MKDIR_P) $@.tmp && \
	$(PROTOC_C) --proto_path=$(srcdir)/src/wire --c_out=$@.tmp process.proto && \
	mv $@.tmp/`basename $@` $@ && rm -rf $@.tmp
src/wire/process.pb-c.c: src/wire/process.proto
	$(PROTOC_MAKE)
src/wire/process.pb-c.h: src/wire/process.proto
	$(PROTOC_MAKE)
# "make all" makes BUILT_SOURCES first; who makes a single target has this.
$(src_wire_libwire_la_OBJECTS): src/wire/process.pb-c.h
