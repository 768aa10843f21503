# tests of launch: the first two run inside sandboxes, or ask what does
LAUNCH_TESTS = tests/unit/local_server/test_launch
check_PROGRAMS += $(LAUNCH_TESTS) tests/unit/local_server/launch_probe
TESTS += $(LAUNCH_TESTS)

tests_unit_local_server_launch_probe_SOURCES = \
	tests/unit/local_server/launch_probe.c \
	tests/unit/local_server/launch_attack.c tests/unit/local_server/launch_attack.h
LAUNCH_BOX = tests/unit/local_server/launch_box.c tests/unit/local_server/launch_box.h
LAUNCH_TEST_LIBS = src/local/liblaunch.la src/core/libcore.la $(EVENT_LIBS) $(CMOCKA_LIBS)
tests_unit_local_server_test_launch_SOURCES = tests/unit/local_server/test_launch.c $(LAUNCH_BOX)
tests_unit_local_server_test_launch_LDADD = $(LAUNCH_TEST_LIBS)
