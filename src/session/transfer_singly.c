/* A push into a template without tar: each file is an upload, and one command moves them. */
#include "session/transfer.h"

void he2b_transfer_push_singly(he2b_transfer *transfer)
{
    he2b_transfer_fail(transfer, HE2B_ERR_STEP, 0, "use a template that has tar and gzip",
                       "the sandbox has no tar");
}
