/* The lifecycle chart beside its table: what fuzz/chart.h says. */
#include "tests/chart/lifecycle_table.h"

#include "fuzz/chart.h"
