/* A copy of what a process is started with, for a Start that has to be put in other words. */
#include "e2b/process.h"

#include <stdlib.h>
#include <string.h>

static size_t size_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const char *put(char **at, const char *text)
{
    size_t size = size_of(text);
    char *copy = *at;

    if (!text)
        return NULL;
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

struct he2b_process_spec *he2b_process_spec_copy(const struct he2b_process_spec *spec)
{
    size_t size =
        size_of(spec->cmd) + size_of(spec->cwd) + size_of(spec->user) + size_of(spec->term);
    struct he2b_process_spec *copy;
    const char **args;
    size_t count;
    char *at;
    size_t i;

    for (count = 0; spec->args[count]; count++)
        size += size_of(spec->args[count]);
    copy = malloc(sizeof(*copy) + (count + 1) * sizeof(*args) + size);
    if (!copy)
        return NULL;
    *copy = *spec;
    args = (const char **)(copy + 1);
    at = (char *)(args + count + 1);
    for (i = 0; i < count; i++)
        args[i] = put(&at, spec->args[i]);
    args[count] = NULL;
    copy->args = args;
    copy->cmd = put(&at, spec->cmd);
    copy->cwd = put(&at, spec->cwd);
    copy->user = put(&at, spec->user);
    copy->term = put(&at, spec->term);
    return copy;
}
