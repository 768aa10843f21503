#include "local/daemon_spawn_args.h"

#include "he2b.h"
#include "local/daemon_spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One argument of the kernel with its NUL, MAX_ARG_STRLEN; a longer one is refused (wire H). */
static const size_t argument_max = 131072;

/*
 * As envd does it: a shell that execs the program, so that an unknown one is exit 127 with a text,
 * and the pid is the program's. Programs go first when memory runs out, the daemon last.
 */
static const char launcher[] = "echo 100 2>/dev/null >/proc/self/oom_score_adj; exec \"$@\"";

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static const char no_memory[] = "out of memory";

struct texts {
    char **items; /* ends in NULL */
    size_t count;
    size_t room;
};

/* Takes over text; false if it is NULL or there is no memory. */
static bool add(struct texts *texts, char *text)
{
    if (text && texts->count + 1 >= texts->room) {
        size_t room = texts->room ? texts->room * 2 : 32;
        char **items = realloc(texts->items, room * sizeof(*items));

        if (!items) {
            free(text);
            return false;
        }
        texts->items = items;
        texts->room = room;
    }
    if (!text)
        return false;
    texts->items[texts->count++] = text;
    texts->items[texts->count] = NULL;
    return true;
}

static void free_texts(char **items)
{
    size_t i;

    for (i = 0; items && items[i]; i++)
        free(items[i]);
    free(items);
}

static const char *make_argv(struct texts *argv, const struct spawn *spawn)
{
    const he2b_json *args = he2b_json_get(spawn->config, "args");
    const char *cmd = he2b_json_get_string(spawn->config, "cmd");
    size_t i;

    if (!cmd)
        return "cmd is missing";
    if (!add(argv, strdup("sh")) || !add(argv, strdup("-c")) || !add(argv, strdup(launcher)) ||
        !add(argv, strdup("--")) || !add(argv, strdup(cmd)))
        return no_memory;
    for (i = 0; i < he2b_json_array_size(args); i++) {
        const char *text = he2b_json_string(he2b_json_at(args, i), NULL);

        if (!text)
            return "args must be texts without a NUL";
        if (strlen(text) >= argument_max)
            return "fork/exec /bin/sh: argument list too long";
        if (!add(argv, strdup(text)))
            return no_memory;
    }
    return NULL;
}

/* ---- environment: later ones win ---- */

struct env {
    struct texts texts;
    const char *why;
};

static bool set(struct env *env, const char *name, const char *value)
{
    size_t len = strlen(name);
    char *pair = NULL;
    size_t i;

    if (len == 0 || strchr(name, '=')) {
        env->why = "names in envs must not be empty or hold \"=\"";
        return false;
    }
    if (asprintf(&pair, "%s=%s", name, value) < 0) {
        env->why = no_memory;
        return false;
    }
    for (i = 0; i < env->texts.count; i++) {
        if (strncmp(env->texts.items[i], name, len) == 0 && env->texts.items[i][len] == '=') {
            free(env->texts.items[i]);
            env->texts.items[i] = pair;
            return true;
        }
    }
    if (env->texts.count >= SPAWN_ENVS_MAX) {
        free(pair);
        env->why = "too many envs";
        return false;
    }
    if (!add(&env->texts, pair)) {
        env->why = no_memory;
        return false;
    }
    return true;
}

static bool set_member(void *user, const char *key, const he2b_json *value)
{
    struct env *env = user;
    const char *text = he2b_json_string(value, NULL);

    if (text)
        return set(env, key, text);
    env->why = "envs must be texts without a NUL";
    return false;
}

static void make_env(struct env *env, const struct spawn *spawn)
{
    const char *path = getenv("PATH");

    if (!set(env, "PATH", path ? path : default_path) || !set(env, "HOME", spawn->user.home) ||
        !set(env, "USER", spawn->user.name) || !set(env, "LOGNAME", spawn->user.name) ||
        !set(env, "E2B_SANDBOX", "true") ||
        !set(env, "E2B_SANDBOX_ID", daemon_globals.sandbox_id) ||
        !set(env, "E2B_TEMPLATE_ID", daemon_globals.template_id))
        return;
    he2b_json_each(daemon_globals.env_vars, set_member, env);
    if (!env->why)
        he2b_json_each(he2b_json_get(spawn->config, "envs"), set_member, env);
}

const char *spawn_args_make(struct spawn_args *ret, const struct spawn *spawn)
{
    struct texts argv = {0};
    struct env env = {0};
    const char *why = make_argv(&argv, spawn);

    if (!why) {
        make_env(&env, spawn);
        why = env.why;
    }
    if (why) {
        free_texts(argv.items);
        free_texts(env.texts.items);
        return why;
    }
    ret->argv = argv.items;
    ret->env = env.texts.items;
    return NULL;
}

void spawn_args_free(struct spawn_args *args)
{
    free_texts(args->argv);
    free_texts(args->env);
    memset(args, 0, sizeof(*args));
}
