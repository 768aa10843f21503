# tests of plane: its parts that need no server; the server itself is tested in tests/e2e
PLANE_TESTS = \
	tests/unit/local_server/test_credential \
	tests/unit/local_server/test_options \
	tests/unit/local_server/test_page \
	tests/unit/local_server/test_query \
	tests/unit/local_server/test_route \
	tests/unit/local_server/test_stamp \
	tests/unit/local_server/test_store
check_PROGRAMS += $(PLANE_TESTS)
TESTS += $(PLANE_TESTS)

PLANE_TEST_LIBS = src/local/libplane.la src/core/libcore.la $(CMOCKA_LIBS)
tests_unit_local_server_test_credential_LDADD = $(PLANE_TEST_LIBS)
tests_unit_local_server_test_options_LDADD = $(PLANE_TEST_LIBS)
tests_unit_local_server_test_page_LDADD = $(PLANE_TEST_LIBS)
tests_unit_local_server_test_query_LDADD = $(PLANE_TEST_LIBS)
tests_unit_local_server_test_route_LDADD = $(PLANE_TEST_LIBS)
tests_unit_local_server_test_stamp_LDADD = $(PLANE_TEST_LIBS)
tests_unit_local_server_test_store_LDADD = $(PLANE_TEST_LIBS)
