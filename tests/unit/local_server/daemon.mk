# tests of the daemon's parts that need no process; the daemon itself is tested in tests/e2e
DAEMON_TESTS = \
	tests/unit/local_server/test_daemon_multipart \
	tests/unit/local_server/test_daemon_path \
	tests/unit/local_server/test_daemon_range \
	tests/unit/local_server/test_link_frame
check_PROGRAMS += $(DAEMON_TESTS)
TESTS += $(DAEMON_TESTS)

DAEMON_TEST_LIBS = src/local/libdaemon.la $(CMOCKA_LIBS)
tests_unit_local_server_test_daemon_multipart_LDADD = $(DAEMON_TEST_LIBS)
tests_unit_local_server_test_daemon_path_LDADD = $(DAEMON_TEST_LIBS)
tests_unit_local_server_test_daemon_range_LDADD = $(DAEMON_TEST_LIBS)
tests_unit_local_server_test_link_frame_LDADD = $(DAEMON_TEST_LIBS)
