# host: the files that processes of one host share (locks, marker), archives, and what comes home
# from a sandbox; includes core alone.
noinst_LTLIBRARIES += src/host/libhost.la
src_host_libhost_la_SOURCES = \
	src/host/archive.c src/host/archive.h \
	src/host/deletions.c src/host/deletions.h \
	src/host/fates.c src/host/fates.h \
	src/host/files.c src/host/files.h \
	src/host/folder.c src/host/folder.h \
	src/host/lock.c src/host/lock.h \
	src/host/manifest.c src/host/manifest.h \
	src/host/marker.c src/host/marker.h \
	src/host/names.c src/host/names.h \
	src/host/new_file.c src/host/new_file.h \
	src/host/protected.c src/host/protected.h \
	src/host/pull.c src/host/pull.h \
	src/host/push.c src/host/push.h \
	src/host/recovery.c src/host/recovery.h \
	src/host/snapshot.c src/host/snapshot.h \
	src/host/tar_notes.c src/host/tar_notes.h \
	src/host/tree.c src/host/tree.h \
	src/host/walk.c src/host/walk.h
src_host_libhost_la_LIBADD = $(ARCHIVE_LIBS)
