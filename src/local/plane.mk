# plane: e2b-local itself
dist_man_MANS += docs/e2b-local.1
bin_PROGRAMS += e2b-local
e2b_local_SOURCES = \
	src/local/api.c src/local/api.h \
	src/local/api_answer.c src/local/api_create.c src/local/api_list.c src/local/api_step.c \
	src/local/data.c src/local/data.h \
	src/local/forward.c src/local/forward.h \
	src/local/forward_head.c src/local/forward_head.h \
	src/local/http.c src/local/http.h src/local/http_request.h \
	src/local/http_answer.c src/local/http_client.c \
	src/local/link.h src/local/link_frame.c src/local/link_frame.h \
	src/local/main.c \
	src/local/plane.c src/local/plane.h \
	src/local/sandbox.c src/local/sandbox.h \
	src/local/sandbox_daemon.c src/local/sandbox_daemon.h \
	src/local/sandbox_record.c \
	src/local/sweep.c src/local/sweep.h
e2b_local_CFLAGS = $(AM_CFLAGS) $(MHD_CFLAGS)
e2b_local_LDADD = src/local/libplane.la src/local/liblaunch.la src/core/libcore.la \
	$(MHD_LIBS) $(EVENT_LIBS)

# what needs no server: tested by itself
noinst_LTLIBRARIES += src/local/libplane.la
src_local_libplane_la_SOURCES = \
	src/local/credential.c src/local/credential.h \
	src/local/log.c src/local/log.h \
	src/local/options.c src/local/options.h \
	src/local/page.c src/local/page.h \
	src/local/query.c src/local/query.h \
	src/local/route.c src/local/route.h \
	src/local/stamp.c src/local/stamp.h \
	src/local/store.c src/local/store.h \
	src/local/store_file.c src/local/store_file.h \
	src/local/store_sandbox.c
src_local_libplane_la_CFLAGS = $(AM_CFLAGS)
src_local_libplane_la_LIBADD = $(NETTLE_LIBS)
