/*
 * The frame of a marker. 0x01 begins one and can be nowhere inside, so that after a mismatch only the
 * byte that did not match can begin another.
 */
#include "machines/marker.h"

#include <string.h>

%%{
    machine marker;
    alphtype char;
    access marker->;

    action hold { marker->held[marker->held_len++] = *p; }
    action word { marker->word_at = marker->held_len; }
    action code { marker->code = 0; }
    action digit { marker->code = marker->code * 10 + (*p - '0'); }
    action complete { fbreak; }

    main := ( 0x01 'he2b-' %word [0-9a-f]{16} ':' %code ([0-9]{1,3} $digit) 0x02 ) $hold @complete;

    write data noerror nofinal noentry;
}%%

static void begin(struct he2b_marker *marker)
{
    marker->held_len = 0;
    marker->word_at = 0;
    marker->code = -1;
    %% write init;
}

void he2b_marker_init(struct he2b_marker *marker, const char *word)
{
    memcpy(marker->word, word, HE2B_MARKER_WORD);
    marker->word[HE2B_MARKER_WORD] = '\0';
    marker->found = false;
    begin(marker);
}

/* Runs the frame over data; returns the bytes used. */
static size_t run(struct he2b_marker *marker, const char *data, size_t len)
{
    const char *p = data;
    const char *pe = data + len;

    %% write exec;

    return (size_t)(p - data);
}

void he2b_marker_flush(struct he2b_marker *marker,
                       void (*pass)(void *user, const char *data, size_t len), void *user)
{
    if (marker->held_len)
        pass(user, marker->held, marker->held_len);
    begin(marker);
}

bool he2b_marker_scan(struct he2b_marker *marker, const char *data, size_t len,
                      void (*pass)(void *user, const char *data, size_t len), void *user)
{
    while (len && !marker->found) {
        size_t used;

        if (marker->held_len == 0) {
            /* the common case costs one look for 0x01 */
            const char *first = memchr(data, 0x01, len);
            size_t plain = first ? (size_t)(first - data) : len;

            if (plain)
                pass(user, data, plain);
            data += plain;
            len -= plain;
            if (!first)
                break;
        }
        used = run(marker, data, len);
        if (marker->cs == %%{ write first_final; }%% &&
            memcmp(marker->held + marker->word_at, marker->word, HE2B_MARKER_WORD) == 0) {
            marker->found = true;
        } else if (marker->cs == %%{ write first_final; }%% || marker->cs == %%{ write error; }%%) {
            he2b_marker_flush(marker, pass, user);
        }
        data += used;
        len -= used;
    }
    return marker->found;
}
