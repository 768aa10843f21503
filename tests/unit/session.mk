# tests of session, against a peer that plays E2B
SCOPED_TESTS = \
	tests/unit/session/test_own_state \
	tests/unit/session/test_role \
	tests/unit/session/test_search \
	tests/unit/session/test_step \
	tests/unit/session/test_teardown
SESSION_TESTS = $(SCOPED_TESTS) \
	tests/unit/session/test_attachment \
	tests/unit/session/test_catalog \
	tests/unit/session/test_command \
	tests/unit/session/test_lease \
	tests/unit/session/test_record \
	tests/unit/session/test_session \
	tests/unit/session/test_text \
	tests/unit/session/test_terminal \
	tests/unit/session/test_torture \
	tests/unit/session/test_transfer \
	tests/unit/session/test_transfer_faults \
	tests/unit/session/test_wrapper \
	tests/unit/session/test_wrapper_record
check_PROGRAMS += $(SESSION_TESTS)
TESTS += $(SESSION_TESTS)

check_LTLIBRARIES += tests/unit/libpeer.la tests/unit/libworld.la
tests_unit_libpeer_la_SOURCES = tests/unit/peer/peer.c tests/unit/peer/peer.h \
	tests/unit/peer/proto.c tests/unit/peer/proto.h
tests_unit_libpeer_la_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_libworld_la_SOURCES = tests/unit/session/world.c tests/unit/session/world.h
tests_unit_libworld_la_CFLAGS = $(AM_CFLAGS) -pthread

# All layers; not the shared library, whose export list hides what is tested here.
LAYER_LIBS = src/session/libsession.la src/e2b/libe2b.la src/net/libnet.la \
	src/host/libhost.la machines/libmachines.la src/core/libcore.la
SESSION_TEST_LIBS = tests/unit/libworld.la tests/unit/libpeer.la $(LAYER_LIBS) $(CMOCKA_LIBS) -lpthread
tests_unit_session_test_attachment_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_attachment_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_catalog_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_catalog_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_session_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_command_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_command_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_session_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_lease_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_lease_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_record_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_record_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_text_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_text_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_terminal_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_terminal_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_torture_SOURCES = tests/unit/session/test_torture.c \
	tests/unit/torture/torture.c tests/unit/torture/torture.h
tests_unit_session_test_torture_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup
tests_unit_session_test_torture_LDADD = $(SESSION_TEST_LIBS) $(EVENT_LIBS) $(CURL_LIBS)
tests_unit_session_test_torture_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CURL_CFLAGS) -pthread
LAND = tests/unit/session/land.c tests/unit/session/land.h
tests_unit_session_test_transfer_SOURCES = tests/unit/session/test_transfer.c $(LAND)
tests_unit_session_test_transfer_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_transfer_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_transfer_faults_SOURCES = tests/unit/session/test_transfer_faults.c $(LAND)
tests_unit_session_test_transfer_faults_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_transfer_faults_CFLAGS = $(AM_CFLAGS) -pthread
SHELLS = tests/unit/session/shells.c tests/unit/session/shells.h
tests_unit_session_test_wrapper_SOURCES = tests/unit/session/test_wrapper.c $(SHELLS)
tests_unit_session_test_wrapper_record_SOURCES = tests/unit/session/test_wrapper_record.c $(SHELLS)
tests_unit_session_test_wrapper_record_LDADD = $(LAYER_LIBS) $(CMOCKA_LIBS)
tests_unit_session_test_wrapper_LDADD = $(LAYER_LIBS) $(CMOCKA_LIBS)

SCOPED = tests/unit/session/scoped.c tests/unit/session/scoped.h
tests_unit_session_test_own_state_SOURCES = tests/unit/session/test_own_state.c $(SCOPED)
tests_unit_session_test_own_state_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_own_state_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_role_SOURCES = tests/unit/session/test_role.c $(SCOPED)
tests_unit_session_test_role_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_role_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_search_SOURCES = tests/unit/session/test_search.c $(SCOPED)
tests_unit_session_test_search_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_search_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_step_SOURCES = tests/unit/session/test_step.c $(SCOPED) \
	tests/unit/host/flock_shim.c tests/unit/host/flock_shim.h
tests_unit_session_test_step_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=flock -Wl,--wrap=open
tests_unit_session_test_step_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_step_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_session_test_teardown_SOURCES = tests/unit/session/test_teardown.c $(SCOPED)
tests_unit_session_test_teardown_LDADD = $(SESSION_TEST_LIBS)
tests_unit_session_test_teardown_CFLAGS = $(AM_CFLAGS) -pthread
