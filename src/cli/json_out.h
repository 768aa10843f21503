/*
 * JSON on stdout, in ASCII, so that it is safe on a terminal too.
 */
#ifndef HE2B_CLI_JSON_OUT_H
#define HE2B_CLI_JSON_OUT_H

#include "he2b.h"

#include <stdio.h>

/* A string with its quotes; a byte that is no UTF-8 becomes U+FFFD. */
void json_out_string(FILE *out, const char *text);

/* {"id":...}: one sandbox, without a line break. */
void json_out_sandbox(FILE *out, const he2b_sandbox_info *info);

#endif
