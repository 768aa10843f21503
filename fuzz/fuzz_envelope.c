/* The envelope scanner: any split of a stream reads the same as the whole of it. */
#include "machines/envelope.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct trace {
    uint64_t hash;
    int bad;
};

static void note(struct trace *trace, uint64_t value)
{
    trace->hash = (trace->hash ^ value) * 1099511628211u;
}

/* Reads one piece that lies alone in the heap; returns 0 when the stream cannot be read on. */
static int feed(struct he2b_envelope *envelope, struct trace *trace, const uint8_t *data,
                size_t size)
{
    uint8_t *piece = malloc(size ? size : 1);
    size_t at = 0;
    int good = 1;

    if (!piece)
        return 0;
    memcpy(piece, data, size);
    for (;;) {
        size_t used = 0;
        size_t payload = 0;
        size_t i;
        enum he2b_envelope_found found =
            he2b_envelope_scan(envelope, piece + at, size - at, &used, &payload);

        if (used > size - at || payload > size - at - used)
            abort();
        at += used;
        if (found == HE2B_ENVELOPE_MORE)
            break;
        if (found == HE2B_ENVELOPE_BAD) {
            trace->bad = 1;
            good = 0;
            break;
        }
        if (found == HE2B_ENVELOPE_BEGIN)
            note(trace, (uint64_t)envelope->flags << 32 | envelope->length);
        /* byte by byte, so that the trace does not depend on the split */
        for (i = 0; found == HE2B_ENVELOPE_PAYLOAD && i < payload; i++)
            note(trace, piece[at + i]);
        if (found == HE2B_ENVELOPE_PAYLOAD) {
            at += payload;
            he2b_envelope_took(envelope, payload);
        }
        if (found == HE2B_ENVELOPE_DONE)
            note(trace, 0xd0e);
    }
    free(piece);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct he2b_envelope whole;
    struct he2b_envelope split;
    struct trace whole_trace = {14695981039346656037u, 0};
    struct trace split_trace = whole_trace;
    size_t step = size ? (size_t)data[0] % 7 + 1 : 1;
    size_t at;

    he2b_envelope_init(&whole);
    he2b_envelope_init(&split);
    feed(&whole, &whole_trace, data, size);
    for (at = 0; at < size; at += step) {
        if (!feed(&split, &split_trace, data + at, size - at < step ? size - at : step))
            break;
    }
    if (whole_trace.hash != split_trace.hash || whole_trace.bad != split_trace.bad)
        abort();
    return 0;
}
