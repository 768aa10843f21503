/* What every unit test includes: cmocka with the headers that it wants before itself. */
#ifndef HE2B_TESTS_UNIT_H
#define HE2B_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif
