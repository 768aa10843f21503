/*
 * Finds a command's end marker in its output: 0x01 "he2b-" WORD ":" CODE 0x02, WORD being 16 hex
 * digits drawn for this command, CODE one to three digits. Everything else passes through byte for
 * byte, whatever it holds; at most one marker's length is held back.
 */
#ifndef HE2B_MACHINES_MARKER_H
#define HE2B_MACHINES_MARKER_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HE2B_MARKER_WORD = 16,
    HE2B_MARKER_MAX = 1 + 5 + HE2B_MARKER_WORD + 1 + 3 + 1,
};

struct he2b_marker {
    int cs;
    char word[HE2B_MARKER_WORD + 1];
    char held[HE2B_MARKER_MAX];
    size_t held_len;
    size_t word_at; /* where WORD begins in held */
    int code;       /* -1 until found */
    bool found;
};

/* word: HE2B_MARKER_WORD lowercase hex digits. */
void he2b_marker_init(struct he2b_marker *marker, const char *word);

/*
 * Reads data, calling pass for each piece of output in order; stops at the marker: what comes
 * behind it belongs to nobody. Returns true when the marker is found, with its code in
 * marker->code.
 */
bool he2b_marker_scan(struct he2b_marker *marker, const char *data, size_t len,
                      void (*pass)(void *user, const char *data, size_t len), void *user);

/* The output is over: what is held back was no marker. */
void he2b_marker_flush(struct he2b_marker *marker,
                       void (*pass)(void *user, const char *data, size_t len), void *user);

#endif
