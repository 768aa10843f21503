/* The teardown chart beside its table: what fuzz/chart.h says. */
#include "tests/chart/teardown_table.h"

#include "fuzz/chart.h"
