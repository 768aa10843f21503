# tests of core, and of the scanners that need nothing else
CORE_TESTS = \
	tests/unit/core/test_base64 \
	tests/unit/core/test_buf \
	tests/unit/core/test_failure \
	tests/unit/core/test_json \
	tests/unit/core/test_rfc3339 \
	tests/unit/core/test_scope \
	tests/unit/core/test_secrets \
	tests/unit/core/test_settings \
	tests/unit/core/test_sha256 \
	tests/unit/core/test_text \
	tests/unit/machines/test_envelope \
	tests/unit/machines/test_marker
check_PROGRAMS += $(CORE_TESTS)
TESTS += $(CORE_TESTS)
EXTRA_DIST += tests/unit/unit.h

CORE_TEST_LIBS = src/core/libcore.la $(CMOCKA_LIBS)
tests_unit_core_test_base64_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_buf_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_failure_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_json_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_rfc3339_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_scope_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_secrets_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_settings_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_sha256_LDADD = $(CORE_TEST_LIBS)
tests_unit_core_test_text_LDADD = $(CORE_TEST_LIBS)
tests_unit_machines_test_envelope_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
tests_unit_machines_test_marker_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
