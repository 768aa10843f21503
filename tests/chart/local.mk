# chart tests: every pair of state and event, every path up to a depth
if HAVE_CMOCKA
CHART_TESTS = \
	tests/chart/test_command_chart \
	tests/chart/test_lifecycle_chart
check_PROGRAMS += $(CHART_TESTS)
TESTS += $(CHART_TESTS)
EXTRA_DIST += tests/chart/command_table.h tests/chart/lifecycle_table.h tests/chart/record.h

tests_chart_test_command_chart_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
tests_chart_test_lifecycle_chart_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
endif
