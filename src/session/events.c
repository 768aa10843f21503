#include "session/events.h"

#include <string.h>

void he2b_events_post(struct he2b_events *events, int event)
{
    if (memchr(events->waiting, event, events->count) || events->count == HE2B_EVENTS_MAX)
        return;
    events->waiting[events->count++] = (unsigned char)event;
}

void he2b_events_forget(struct he2b_events *events, int event)
{
    unsigned char *at = memchr(events->waiting, event, events->count);

    if (!at)
        return;
    events->count--;
    memmove(at, at + 1, events->count - (size_t)(at - events->waiting));
}

bool he2b_events_take(struct he2b_events *events, int *ret)
{
    if (events->count == 0)
        return false;
    *ret = events->waiting[0];
    events->count--;
    memmove(events->waiting, events->waiting + 1, events->count);
    return true;
}
