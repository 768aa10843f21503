# tests of net, against a peer in the test
NET_TESTS = \
	tests/unit/net/test_http \
	tests/unit/net/test_loop \
	tests/unit/net/test_rpc \
	tests/unit/net/test_target
check_PROGRAMS += $(NET_TESTS)
TESTS += $(NET_TESTS)

NET_TEST_LIBS = tests/unit/libpeer.la src/net/libnet.la machines/libmachines.la \
	src/core/libcore.la $(CMOCKA_LIBS) -lpthread
tests_unit_net_test_http_LDADD = $(NET_TEST_LIBS)
tests_unit_net_test_loop_LDADD = $(NET_TEST_LIBS)
tests_unit_net_test_rpc_LDADD = $(NET_TEST_LIBS)
tests_unit_net_test_target_LDADD = $(NET_TEST_LIBS)
