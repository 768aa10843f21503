/* The token that one attempt to create carries (B-25). */
#include "e2b/control.h"

#include <stdio.h>
#include <sys/random.h>
#include <sys/types.h>

int he2b_attempt_token(char token[HE2B_ATTEMPT_MAX])
{
    unsigned char random[16];
    size_t i;

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return HE2B_ERR_SYSTEM;
    for (i = 0; i < sizeof(random); i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    return HE2B_OK;
}
