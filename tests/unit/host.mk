# tests of host, with real processes and files; each test has a home of its own
HOST_TESTS = \
	tests/unit/host/test_archive \
	tests/unit/host/test_deletions \
	tests/unit/host/test_files \
	tests/unit/host/test_lock \
	tests/unit/host/test_manifest \
	tests/unit/host/test_marker \
	tests/unit/host/test_no_memory \
	tests/unit/host/test_push \
	tests/unit/host/test_recovery
check_PROGRAMS += $(HOST_TESTS)
TESTS += $(HOST_TESTS)

check_LTLIBRARIES += tests/unit/libbox.la
tests_unit_libbox_la_SOURCES = tests/unit/host/box.c tests/unit/host/box.h \
	tests/unit/host/tarball.c tests/unit/host/tarball.h
HOST_TEST_LIBS = tests/unit/libbox.la src/host/libhost.la src/core/libcore.la $(CMOCKA_LIBS)
tests_unit_host_test_files_LDADD = src/host/libhost.la src/core/libcore.la $(CMOCKA_LIBS)
tests_unit_host_test_lock_SOURCES = tests/unit/host/test_lock.c \
	tests/unit/host/flock_shim.c tests/unit/host/flock_shim.h
tests_unit_host_test_lock_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=flock -Wl,--wrap=open
tests_unit_host_test_lock_LDADD = $(HOST_TEST_LIBS)
tests_unit_host_test_marker_LDADD = $(HOST_TEST_LIBS)
tests_unit_host_test_recovery_LDADD = $(HOST_TEST_LIBS)
tests_unit_host_test_archive_LDADD = $(HOST_TEST_LIBS)
tests_unit_host_test_deletions_LDADD = $(HOST_TEST_LIBS)
tests_unit_host_test_manifest_LDADD = $(HOST_TEST_LIBS)
tests_unit_host_test_push_LDADD = $(HOST_TEST_LIBS)
# libarchive's own allocations are outside of it: a shared library
tests_unit_host_test_no_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=asprintf \
	-Wl,--wrap=newlocale -Wl,--wrap=realpath
tests_unit_host_test_no_memory_LDADD = $(HOST_TEST_LIBS)
