/*
 * A sandbox of real files for a world: what is uploaded lies in a folder of this machine, and the
 * commands of transfers run there, in a real shell.
 */
#ifndef HE2B_TESTS_UNIT_LAND_H
#define HE2B_TESTS_UNIT_LAND_H

#include "tests/unit/session/world.h"

struct land {
    struct world *world;
    char root[32];  /* all of it */
    char host[96];  /* the profile home of this machine */
    char there[96]; /* $HOME of the sandbox */
    char folder[96];
    char path[4096]; /* PATH of its commands; "": this process' */
    char stamp[128]; /* the second line of the stamp, by the last look */

    /* the end of the last transfer */
    unsigned times;
    int code;
    char text[1024];
};

/* cmocka's setup and teardown; the session is ready, and the log empty. */
int land_setup(void **state);
int land_teardown(void **state);
#define ON_LAND(test) cmocka_unit_test_setup_teardown(test, land_setup, land_teardown)

/* Below host or there: writes a file, with its folders. */
void land_write(const char *base, const char *path, const char *text);
/* The whole file as text, static; NULL: it is not there. */
const char *land_read(const char *base, const char *path);
/* How many entries a folder has; -1: it is not there. */
int land_entries(const char *path);
/* BASE/PATH, static. */
const char *land_path(const char *base, const char *path);

/* For he2b_transfer_push() and the others: land is user. */
void land_done(void *land, const he2b_failure *failure);
/* Runs the loop until done was called; returns the failure's code or 0. */
int land_wait(struct land *land);
/* The requests since the last call. */
const char *land_log(struct land *land);

/* A transfer of the session and the host. */
he2b_transfer *land_new(struct land *land);
/* The host's file at path goes to the same path there. */
void land_add(struct land *land, he2b_transfer *transfer, const char *path);
/* To the end; the failure's code or 0. */
int land_push(struct land *land, he2b_transfer *transfer);
int land_recover(struct land *land, he2b_transfer *transfer);
/* As land_read(), below the sandbox' .hermes. */
const char *land_hermes(const struct land *land, const char *path);

/* Serve what the world's defaults do not; a test may wrap them. */
void land_upload(struct world *world, struct peer_request *request, unsigned nth);
void land_transfer(struct world *world, struct peer_request *request, unsigned nth);

#endif
