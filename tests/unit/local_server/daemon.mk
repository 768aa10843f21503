# tests of the daemon's parts that need no process; the daemon itself is tested in tests/e2e
DAEMON_TESTS = \
	tests/unit/local_server/test_daemon_multipart \
	tests/unit/local_server/test_daemon_path \
	tests/unit/local_server/test_link_frame
check_PROGRAMS += $(DAEMON_TESTS)
TESTS += $(DAEMON_TESTS)

tests_unit_local_server_test_daemon_multipart_SOURCES = \
	tests/unit/local_server/test_daemon_multipart.c \
	src/local/daemon_multipart.c src/local/daemon_multipart.h
tests_unit_local_server_test_daemon_multipart_LDADD = src/core/libcore.la $(CMOCKA_LIBS)
tests_unit_local_server_test_daemon_path_SOURCES = \
	tests/unit/local_server/test_daemon_path.c src/local/daemon_path.c src/local/daemon.h
tests_unit_local_server_test_daemon_path_LDADD = $(CMOCKA_LIBS)
tests_unit_local_server_test_link_frame_SOURCES = \
	tests/unit/local_server/test_link_frame.c $(LINK_FILES)
tests_unit_local_server_test_link_frame_LDADD = $(EVENT_LIBS) $(CMOCKA_LIBS)
