# plane: e2b-local itself: HTTP, the control plane, routing, the state folder.
bin_PROGRAMS += e2b-local
e2b_local_SOURCES = src/local/link_frame.c src/local/link_frame.h \
	src/local/main.c \
	src/local/plane.h \
	src/local/plane_control.c \
	src/local/plane_http.c \
	src/local/plane_query.c \
	src/local/plane_route.c \
	src/local/plane_sandbox.c \
	src/local/plane_store.c
e2b_local_CFLAGS = $(AM_CFLAGS) $(MHD_CFLAGS)
e2b_local_LDADD = src/local/liblaunch.la src/core/libcore.la $(MHD_LIBS) $(EVENT_LIBS)
