#include "cli/duration.h"

#include <stdio.h>

void duration_text(char *out, size_t size, int64_t ms)
{
    long long s = ms > 0 ? ms / 1000 : 0;

    if (ms == INT64_MIN)
        snprintf(out, size, "-");
    else if (s < 60)
        snprintf(out, size, "%llds", s);
    else if (s < 3600)
        snprintf(out, size, "%lldm %02llds", s / 60, s % 60);
    else
        snprintf(out, size, "%lldh %02lldm", s / 3600, s / 60 % 60);
}
