/*
 * A thread of its own that reads what a person types, since a terminal is read blocking: one made
 * non-blocking would be so for the shell that started the program, too.
 */
#ifndef HE2B_CLI_KEYBOARD_H
#define HE2B_CLI_KEYBOARD_H

#include "cli/escape.h"

#include <pthread.h>
#include <stdbool.h>

enum {
    /* What a terminal's line holds. */
    KEYBOARD_PIECE = 4096,
};

struct keyboard {
    pthread_t thread;
    int in;
    int stop[2]; /* a byte in it ends the thread */
    int go[2];   /* a byte in it: the piece was taken */
    /*
     * Called on the thread: there is a piece, which stays until keyboard_go(); what was typed after
     * it waits in the terminal.
     */
    void (*typed)(void *user);
    void *user;
    struct escape escape;
    char piece[KEYBOARD_PIECE + 1];
    size_t len;
    enum escape_found found; /* behind the piece */
    bool end;                /* the terminal is gone: nothing will be typed any more */
};

/* False with errno set. keyboard must stay where it is. */
bool keyboard_start(struct keyboard *keyboard, int in, void (*typed)(void *user), void *user);
/* The piece was taken: the next one may come. Any thread. */
void keyboard_go(struct keyboard *keyboard);
/* Ends the thread and waits for it. */
void keyboard_stop(struct keyboard *keyboard);

#endif
