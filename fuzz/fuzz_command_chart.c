/* The command chart beside its table: what fuzz/chart.h says. */
#include "tests/chart/command_table.h"

#include "fuzz/chart.h"
