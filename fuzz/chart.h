/*
 * A chart beside its table: each byte is an event, and both must do the same with it. Included once
 * by each chart's target, after the table.
 */
#ifndef HE2B_FUZZ_CHART_H
#define HE2B_FUZZ_CHART_H

#include "tests/chart/chart.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    union chart_machine machine;
    struct record record;
    unsigned refused = 0;
    int state = chart.first;
    size_t i;

    chart.init(&machine, &record);
    for (i = 0; i < size; i++) {
        const struct row *row = chart_row(&chart, state, data[i]);

        record_clear(&record);
        chart.step(&machine, data[i]);
        if (row)
            state = row->next;
        else
            refused++;
        if (strcmp(record.text, row ? row->actions : "") != 0 || chart.state(&machine) != state ||
            chart.refused(&machine) != refused)
            abort();
    }
    return 0;
}

#endif
