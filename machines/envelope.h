/*
 * Scanner for Connect's envelopes (wire C.2): 1 byte flags, 4 bytes length (big-endian), payload.
 * Fed with any pieces of the stream; holds no payload itself.
 */
#ifndef HE2B_MACHINES_ENVELOPE_H
#define HE2B_MACHINES_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

enum {
    HE2B_ENVELOPE_COMPRESSED = 0x01,
    HE2B_ENVELOPE_END = 0x02, /* the end-of-stream message */
};

struct he2b_envelope {
    int cs; /* Ragel's state */
    unsigned char flags;
    uint32_t length;  /* of the payload */
    uint32_t missing; /* payload bytes still to come */
};

enum he2b_envelope_found {
    HE2B_ENVELOPE_MORE = 0,    /* all bytes are used; no payload byte among the last ones */
    HE2B_ENVELOPE_BEGIN = 1,   /* a prefix is complete: flags and length are set */
    HE2B_ENVELOPE_PAYLOAD = 2, /* *ret_payload bytes of payload are next, not yet used */
    HE2B_ENVELOPE_DONE = 3,    /* the payload is complete (at once if it is empty) */
    HE2B_ENVELOPE_BAD = 4,     /* unknown flag bits; the stream cannot be read any further */
};

void he2b_envelope_init(struct he2b_envelope *envelope);

/*
 * Reads on in data (len bytes) until something is found. *ret_used: how many bytes were used. After
 * HE2B_ENVELOPE_PAYLOAD the caller takes the *ret_payload bytes that follow the used ones, and says
 * so with he2b_envelope_took().
 */
enum he2b_envelope_found he2b_envelope_scan(struct he2b_envelope *envelope,
                                            const unsigned char *data, size_t len, size_t *ret_used,
                                            size_t *ret_payload);
/* n payload bytes were taken, at most what PAYLOAD told. */
void he2b_envelope_took(struct he2b_envelope *envelope, size_t n);

#endif
