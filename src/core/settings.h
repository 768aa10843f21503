/*
 * The options of a session (he2b.h: he2b_options), as the layers above read them.
 */
#ifndef HE2B_CORE_SETTINGS_H
#define HE2B_CORE_SETTINGS_H

#include "core/json.h"
#include "he2b.h"

#include <stdbool.h>

struct he2b_control_times;

struct he2b_settings {
    char *api_key; /* NULL: none */
    char *domain;
    char *api_url;     /* without a trailing slash; a path prefix is kept (B-6) */
    char *sandbox_url; /* NULL: the domain rules; else like api_url */
    char *template_id;
    char *cwd;
    bool cwd_chosen; /* by the user, so that a missing one deserves a WARNING (B-28) */
    int lease_seconds;
    int command_grace_seconds;
    bool allow_internet_access;
    bool secure;
    char *ca_file;       /* NULL: the list of B-101 */
    he2b_json *metadata; /* object of strings; NULL: none */
    /* How long calls to the control plane wait; NULL: the real ones. For tests, which cannot wait
     * 80 s. Borrowed. */
    const struct he2b_control_times *control_times;
};

/*
 * Copies options into settings (api_url filled in from domain).
 * Returns HE2B_OK, HE2B_ERR_NOMEM.
 */
int he2b_settings_copy(struct he2b_settings *ret, const he2b_options *options);
/* Replaces the key: trimmed; NULL or "" removes it. HE2B_OK, HE2B_ERR_SETTING, HE2B_ERR_NOMEM. */
int he2b_settings_set_key(struct he2b_settings *settings, const char *key);
/* Wipes a key's text and frees it. NULL is fine. */
void he2b_key_free(char *key);
/* Frees the contents, wiping the key. */
void he2b_settings_done(struct he2b_settings *settings);

#endif
