# tests of launch; launch_probe is the daemon of their sandboxes
LAUNCH_TESTS = \
	tests/unit/local_server/test_launch \
	tests/unit/local_server/test_launch_folder \
	tests/unit/local_server/test_launch_isolation \
	tests/unit/local_server/test_launch_network
check_PROGRAMS += $(LAUNCH_TESTS) tests/unit/local_server/launch_probe
TESTS += $(LAUNCH_TESTS)

tests_unit_local_server_launch_probe_SOURCES = \
	tests/unit/local_server/launch_probe.c \
	tests/unit/local_server/launch_attack.c tests/unit/local_server/launch_attack.h
LAUNCH_BOX = \
	tests/unit/local_server/launch_box.c tests/unit/local_server/launch_box.h \
	tests/unit/local_server/launch_tree.c tests/unit/local_server/launch_tree.h
LAUNCH_TEST_LIBS = src/local/liblaunch.la src/core/libcore.la $(EVENT_LIBS) $(CMOCKA_LIBS)
tests_unit_local_server_test_launch_SOURCES = tests/unit/local_server/test_launch.c $(LAUNCH_BOX)
tests_unit_local_server_test_launch_LDADD = $(LAUNCH_TEST_LIBS)
tests_unit_local_server_test_launch_folder_SOURCES = \
	tests/unit/local_server/test_launch_folder.c $(LAUNCH_BOX)
tests_unit_local_server_test_launch_folder_LDADD = $(LAUNCH_TEST_LIBS)
tests_unit_local_server_test_launch_isolation_SOURCES = \
	tests/unit/local_server/test_launch_isolation.c $(LAUNCH_BOX)
tests_unit_local_server_test_launch_isolation_LDADD = $(LAUNCH_TEST_LIBS)
tests_unit_local_server_test_launch_network_SOURCES = \
	tests/unit/local_server/test_launch_network.c $(LAUNCH_BOX)
tests_unit_local_server_test_launch_network_LDADD = $(LAUNCH_TEST_LIBS)
