/*
 * What launch_look() found and the rest of launch*.c goes by: once per process.
 */
#ifndef HE2B_LOCAL_LAUNCH_SETUP_H
#define HE2B_LOCAL_LAUNCH_SETUP_H

#include "local/launch_ids.h"

/* Found by launch_look(), or at the first call without it. */
struct launch_ids *launch_setup_ids(void);

/* --unsafely-without-isolation was given: folders are the caller's, without user namespaces. */
bool launch_setup_plain(void);

#endif
