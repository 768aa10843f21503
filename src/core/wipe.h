/*
 * Forgetting secrets.
 */
#ifndef HE2B_CORE_WIPE_H
#define HE2B_CORE_WIPE_H

#include <stddef.h>

/* Overwrites len bytes with zeros; no compiler leaves it out. */
void he2b_wipe(void *data, size_t len);

#endif
