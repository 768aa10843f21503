#include "tests/unit/torture/torture.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Only the thread under test: the peer's own must go on. */
static __thread bool on;
static __thread unsigned left;
static __thread bool failed;

/* The names that the linker gives to the calls. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

/* A place for a debugger to stop at: whose allocation is it? */
__attribute__((noinline)) void torture_denied(void)
{
    failed = true;
}

static bool denied(void)
{
    if (!on || left == 0 || --left > 0)
        return false;
    torture_denied();
    return true;
}

void *__wrap_malloc(size_t size)
{
    return denied() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return denied() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return denied() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return denied() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
    return denied() ? NULL : __real_strndup(text, size);
}

void torture_init(void)
{
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
    (void)curl_global_init_mem(CURL_GLOBAL_DEFAULT, __wrap_malloc, free, __wrap_realloc,
                               __wrap_strdup, __wrap_calloc);
}

void torture_begin(unsigned nth)
{
    left = nth;
    failed = false;
    on = true;
}

void torture_pause(void)
{
    on = false;
}

void torture_resume(void)
{
    on = true;
}

bool torture_end(void)
{
    on = false;
    return failed;
}
