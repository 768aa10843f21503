/*
 * Memory that runs out: each allocation of the thread under test fails in turn, whether the library
 * asks for it or libevent or libcurl on its behalf. Linked with TORTURE_LDFLAGS (session.mk).
 */
#ifndef HE2B_TESTS_TORTURE_H
#define HE2B_TESTS_TORTURE_H

#include <stdbool.h>

/* Once, before a loop is made. */
void torture_init(void);
/* From now on the nth allocation of the calling thread, counted from 1, fails; those before and
 * after it succeed. */
void torture_begin(unsigned nth);
/* What the test itself needs in between succeeds, and is not counted. */
void torture_pause(void);
void torture_resume(void);
/* Called where one fails: a debugger stops here to see whose it is. */
void torture_denied(void);
/* True if there was an nth one. */
bool torture_end(void);

#endif
