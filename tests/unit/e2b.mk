# tests of e2b, against a server in the test, some with the scripted peer before it; process.c,
# upload.c and health.c are tested by the session's
E2B_SCENE_TESTS = \
	tests/unit/e2b/test_busy \
	tests/unit/e2b/test_control \
	tests/unit/e2b/test_create_lost \
	tests/unit/e2b/test_list
E2B_PLAYED_TESTS = \
	tests/unit/e2b/test_control_faults \
	tests/unit/e2b/test_peer_child
E2B_TESTS = $(E2B_SCENE_TESTS) $(E2B_PLAYED_TESTS) \
	tests/unit/e2b/test_codec \
	tests/unit/e2b/test_create_body \
	tests/unit/e2b/test_endpoint \
	tests/unit/e2b/test_servers \
	tests/unit/e2b/test_unreached
check_PROGRAMS += $(E2B_TESTS)
TESTS += $(E2B_TESTS)

E2B_TEST_LIBS = tests/unit/libpeer.la src/e2b/libe2b.la src/net/libnet.la \
	machines/libmachines.la src/core/libcore.la $(CMOCKA_LIBS) -lpthread
E2B_SCENE = tests/unit/e2b/scene.c tests/unit/e2b/scene.h
E2B_PLAYED = tests/unit/e2b/played.c tests/unit/e2b/played.h $(E2B_SCENE)
E2B_PLAYED_LIBS = tests/peer/libpeerchild.la $(E2B_TEST_LIBS)
tests_unit_e2b_test_busy_SOURCES = tests/unit/e2b/test_busy.c $(E2B_SCENE)
tests_unit_e2b_test_busy_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_busy_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_e2b_test_codec_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_control_SOURCES = tests/unit/e2b/test_control.c $(E2B_SCENE)
tests_unit_e2b_test_control_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_control_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_e2b_test_control_faults_SOURCES = tests/unit/e2b/test_control_faults.c $(E2B_PLAYED)
tests_unit_e2b_test_control_faults_LDADD = $(E2B_PLAYED_LIBS)
tests_unit_e2b_test_control_faults_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_e2b_test_create_body_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_create_lost_SOURCES = tests/unit/e2b/test_create_lost.c $(E2B_SCENE)
tests_unit_e2b_test_create_lost_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_create_lost_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_e2b_test_endpoint_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_list_SOURCES = tests/unit/e2b/test_list.c $(E2B_SCENE)
tests_unit_e2b_test_list_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_list_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_e2b_test_peer_child_SOURCES = tests/unit/e2b/test_peer_child.c $(E2B_PLAYED)
tests_unit_e2b_test_peer_child_LDADD = $(E2B_PLAYED_LIBS)
tests_unit_e2b_test_peer_child_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_e2b_test_servers_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_unreached_LDADD = $(E2B_TEST_LIBS)
tests_unit_e2b_test_servers_CFLAGS = $(AM_CFLAGS) -pthread
