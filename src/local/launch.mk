# launch: isolation. Who links liblaunch.la links libcore.la after it.
noinst_LTLIBRARIES += src/local/liblaunch.la
src_local_liblaunch_la_SOURCES = \
	src/local/launch.c src/local/launch.h \
	src/local/launch_args.c src/local/launch_args.h \
	src/local/launch_child.c src/local/launch_child.h \
	src/local/launch_enter.c src/local/launch_enter.h \
	src/local/launch_etc.c src/local/launch_etc.h \
	src/local/launch_fd.c src/local/launch_fd.h \
	src/local/launch_filter.c src/local/launch_filter.h \
	src/local/launch_folder.c \
	src/local/launch_ids.c src/local/launch_ids.h \
	src/local/launch_keeper.c src/local/launch_keeper.h \
	src/local/launch_look.c src/local/launch_setup.h \
	src/local/launch_memory.c src/local/launch_memory.h \
	src/local/launch_plain.c src/local/launch_plain.h \
	src/local/launch_programs.c src/local/launch_programs.h \
	src/local/launch_slirp.c src/local/launch_slirp.h \
	src/local/launch_tail.c src/local/launch_tail.h \
	src/local/link.h
src_local_liblaunch_la_CPPFLAGS = $(AM_CPPFLAGS) -DHE2B_PKGLIBEXECDIR='"$(pkglibexecdir)"'
src_local_liblaunch_la_LIBADD = $(EVENT_LIBS)

# pid 1 of a sandbox: static where there is a static C library, so that it needs nothing inside
pkglibexec_PROGRAMS += e2b-local-init
e2b_local_init_SOURCES = src/local/launch_init.c
e2b_local_init_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS)
