# chart tests: every pair of state and event, every path however long
if HAVE_CMOCKA
CHART_TESTS = \
	tests/chart/test_command_chart \
	tests/chart/test_lifecycle_chart \
	tests/chart/test_teardown_chart \
	tests/chart/test_writer_chart
check_PROGRAMS += $(CHART_TESTS)
TESTS += $(CHART_TESTS)

tests_chart_test_command_chart_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
tests_chart_test_lifecycle_chart_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
tests_chart_test_teardown_chart_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
tests_chart_test_writer_chart_LDADD = machines/libmachines.la $(CMOCKA_LIBS)
endif
# the tables are the fuzz targets' too
EXTRA_DIST += tests/chart/chart.h tests/chart/command_table.h tests/chart/lifecycle_table.h \
	tests/chart/pairs.h tests/chart/paths.h tests/chart/record.h tests/chart/teardown_table.h \
	tests/chart/writer_table.h
