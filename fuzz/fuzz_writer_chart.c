/* The writer chart beside its table: what fuzz/chart.h says. */
#include "tests/chart/writer_table.h"

#include "fuzz/chart.h"
