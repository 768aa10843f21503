# tests of session, against a peer that plays E2B
SESSION_TESTS = \
	tests/unit/session/test_catalog \
	tests/unit/session/test_command \
	tests/unit/session/test_session \
	tests/unit/session/test_wrapper
check_PROGRAMS += $(SESSION_TESTS)
TESTS += $(SESSION_TESTS)

check_LTLIBRARIES += tests/unit/libpeer.la tests/unit/libworld.la
tests_unit_libpeer_la_SOURCES = tests/unit/peer/peer.c tests/unit/peer/peer.h
tests_unit_libpeer_la_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_libworld_la_SOURCES = tests/unit/session/world.c tests/unit/session/world.h
tests_unit_libworld_la_CFLAGS = $(AM_CFLAGS) -pthread

# All layers; not the shared library, whose export list hides what is tested here.
LAYER_LIBS = src/session/libsession.la src/e2b/libe2b.la src/net/libnet.la \
	src/host/libhost.la machines/libmachines.la src/core/libcore.la
SESSION_TEST_LIBS = tests/unit/libworld.la tests/unit/libpeer.la $(LAYER_LIBS) $(CMOCKA_LIBS) -lpthread
tests_unit_session_test_catalog_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_catalog_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_session_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_command_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_command_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_session_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_wrapper_LDADD = $(LAYER_LIBS) $(CMOCKA_LIBS)
