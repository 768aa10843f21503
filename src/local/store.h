/*
 * The state folder of one server, all of it mode 0700:
 *
 *   lock              locked (per open file) by the server that uses the folder
 *   key, secret       mode 0600; made at the first start
 *   address           where the running server listens
 *   base-id           whose ids the sandboxes' folders are counted from
 *   records/ID.json   one per sandbox
 *   folders/ID        what the sandbox sees as /home and /root; nothing in it is opened from here
 *   run/ID            the socket between plane and daemon
 *
 * A record is replaced as a whole, so that a server that is killed leaves the old or the new one.
 */
#ifndef HE2B_LOCAL_STORE_H
#define HE2B_LOCAL_STORE_H

#include "core/json.h"
#include "local/credential.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    STORE_WHY_MAX = 512,
    STORE_ADDRESS_MAX = 80,
    /* a record holds metadata that came in one request body; guards against a file that grew */
    STORE_RECORD_MAX = 2 * 1024 * 1024,
};

struct store {
    int fd;
    int lock_fd;
    int records_fd;
    int folders_fd;
    int run_fd;
    char key[CREDENTIAL_KEY_LEN + 1];
    unsigned char secret[CREDENTIAL_SECRET_SIZE];
};

enum store_error {
    STORE_OK = 0,
    STORE_IN_USE = 1, /* another server has it */
    STORE_FAILED = 2,
};

/* $XDG_STATE_HOME/e2b-local, else ~/.local/state/e2b-local; false without either. */
bool store_default_path(char *out, size_t size);

/* Makes what is missing and locks it. why: one line. store_close() afterwards, also on failure. */
enum store_error store_open(struct store *store, const char *path, char why[STORE_WHY_MAX]);
void store_close(struct store *store);

/* Tells others where the server listens, or no more (NULL). 0, or -1 with why. */
int store_set_address(struct store *store, const char *address, char why[STORE_WHY_MAX]);

/* Refuses folders that were made with another base (launch_base_id()). 0, or -1 with why. */
int store_check_base(struct store *store, unsigned base, char why[STORE_WHY_MAX]);

/* ---- records ---- */

/* 0, or -1 with why; the record that was there is then still there. */
int store_write(struct store *store, const char *id, he2b_json *record, char why[STORE_WHY_MAX]);
void store_remove(struct store *store, const char *id);
/* Calls fn for each readable record; others are told in the log and left alone. */
void store_each(struct store *store,
                void (*fn)(void *user, const char *id, const he2b_json *record), void *user);

/* ---- folders ---- */

/* The folder as launch_start() wants it; -1 and errno. */
int store_open_folder(const struct store *store, const char *id);
/* Takes a folder out of use: it is then called out (a name that is no id), to be deleted. A folder
 * that is not there is 0 too, with out "". */
int store_retire_folder(const struct store *store, const char *id, char out[64]);
/* Calls fn for each folder without a record, retired ones included. */
void store_each_stray(const struct store *store, void (*fn)(void *user, const char *name),
                      void *user);

/* ---- sockets ---- */

/* A listening socket for the daemon of that sandbox; -1 and errno. */
int store_listen(const struct store *store, const char *id);
/* Begins to connect to it, without waiting; -1 and errno. */
int store_connect(const struct store *store, const char *id);
void store_forget_socket(const struct store *store, const char *id);

/* ---- another server's folder ---- */

/* Reads key and address of the server that runs on path. 0, or -1 with why. */
int store_peek(const char *path, char key[CREDENTIAL_KEY_LEN + 1], char address[STORE_ADDRESS_MAX],
               char why[STORE_WHY_MAX]);

#endif
