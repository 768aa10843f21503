/*
 * The body of a create (B-4, B-25; wire A.6).
 */
#ifndef HE2B_E2B_CREATE_BODY_H
#define HE2B_E2B_CREATE_BODY_H

#include "core/json.h"
#include "core/settings.h"

/* scope NULL: ephemeral. Returns HE2B_OK, HE2B_ERR_NOMEM. */
int he2b_create_body(he2b_json **ret, const struct he2b_settings *settings, const char *attempt,
                     const char *scope, int64_t lease_s);

#endif
