# e2b: E2B's control plane and sandbox daemon calls, on top of net.
noinst_LTLIBRARIES += src/e2b/libe2b.la
src_e2b_libe2b_la_SOURCES = \
	src/e2b/attempt.c \
	src/e2b/codec.h src/e2b/codec_json.c src/e2b/codec_proto.c \
	src/e2b/control.c src/e2b/control.h src/e2b/control_call.h \
	src/e2b/control_create.c \
	src/e2b/control_list.c \
	src/e2b/control_request.c src/e2b/control_request.h \
	src/e2b/create_body.c src/e2b/create_body.h \
	src/e2b/endpoint.c src/e2b/endpoint.h \
	src/e2b/exit_code.c src/e2b/exit_code.h \
	src/e2b/health.c src/e2b/health.h \
	src/e2b/list_query.c src/e2b/list_query.h \
	src/e2b/process.c src/e2b/process.h \
	src/e2b/process_spec.c \
	src/e2b/sandbox_info.c src/e2b/sandbox_info.h \
	src/e2b/servers.c src/e2b/servers.h \
	src/e2b/unreached.c src/e2b/unreached.h \
	src/e2b/upload.c src/e2b/upload.h
src_e2b_libe2b_la_LIBADD = src/wire/libwire.la
src/e2b/codec_proto.lo: src/wire/process.pb-c.h
