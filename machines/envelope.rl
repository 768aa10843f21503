/*
 * The prefix of an envelope, byte by byte; the payload is counted, not scanned. Flag bits that the
 * protocol does not name end the stream: whatever follows could not be read.
 */
#include "machines/envelope.h"

%%{
    machine envelope;
    alphtype unsigned char;
    access envelope->;

    action flags { envelope->flags = *p; }
    action first { envelope->length = (uint32_t)*p << 24; }
    action second { envelope->length |= (uint32_t)*p << 16; }
    action third { envelope->length |= (uint32_t)*p << 8; }
    action fourth { envelope->length |= (uint32_t)*p; fbreak; }

    main := (0x00 .. 0x03) @flags any @first any @second any @third any @fourth;

    write data noerror nofinal noentry;
}%%

void he2b_envelope_init(struct he2b_envelope *envelope)
{
    envelope->flags = 0;
    envelope->length = 0;
    envelope->missing = 0;
    %% write init;
}

enum he2b_envelope_found he2b_envelope_scan(struct he2b_envelope *envelope,
                                            const unsigned char *data, size_t len,
                                            size_t *ret_used, size_t *ret_payload)
{
    const unsigned char *p = data;
    const unsigned char *pe = data + len;

    *ret_used = 0;
    *ret_payload = 0;
    if (envelope->cs == %%{ write first_final; }%%) {
        if (envelope->missing == 0) {
            he2b_envelope_init(envelope);
            return HE2B_ENVELOPE_DONE;
        }
        if (len == 0)
            return HE2B_ENVELOPE_MORE;
        *ret_payload = len < envelope->missing ? len : envelope->missing;
        return HE2B_ENVELOPE_PAYLOAD;
    }
    if (envelope->cs == %%{ write error; }%%) {
        return HE2B_ENVELOPE_BAD;
    }

    %% write exec;

    *ret_used = (size_t)(p - data);
    if (envelope->cs == %%{ write error; }%%)
        return HE2B_ENVELOPE_BAD;
    if (envelope->cs == %%{ write first_final; }%%) {
        envelope->missing = envelope->length;
        return HE2B_ENVELOPE_BEGIN;
    }
    return HE2B_ENVELOPE_MORE;
}

void he2b_envelope_took(struct he2b_envelope *envelope, size_t n)
{
    envelope->missing -= n < envelope->missing ? (uint32_t)n : envelope->missing;
}
