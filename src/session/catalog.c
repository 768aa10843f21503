/* Questions of a person who looks after sandboxes: each is one call to the control plane. */
#include "core/settings.h"
#include "e2b/control.h"
#include "net/target.h"

#include <stdlib.h>

struct he2b_catalog {
    struct he2b_settings settings;
    he2b_loop *loop;
    he2b_control *call; /* NULL: answered */
    he2b_timer *limit;
    int64_t limit_ms;
    he2b_catalog_fn done;
    void *user;
};

void he2b_catalog_del(he2b_catalog *catalog)
{
    if (!catalog)
        return;
    he2b_control_cancel(catalog->call);
    he2b_timer_del(catalog->limit);
    he2b_settings_done(&catalog->settings);
    free(catalog);
}

/* done may delete the question: nothing of it is touched afterwards. */
static void tell(he2b_catalog *catalog, const struct he2b_failure *failure,
                 const he2b_sandbox_info *const *items, size_t count)
{
    catalog->call = NULL;
    if (catalog->limit)
        he2b_timer_disarm(catalog->limit);
    catalog->done(catalog->user, failure, items, count);
}

static void on_answer(void *user, const struct he2b_control_answer *answer)
{
    const he2b_sandbox_info *item = &answer->info;

    if (!answer->ok)
        tell(user, &answer->failure, NULL, 0);
    else if (answer->info.sandbox_id[0])
        tell(user, NULL, &item, 1);
    else
        tell(user, NULL, NULL, 0);
}

static void on_list(void *user, const struct he2b_list_answer *answer)
{
    const he2b_sandbox_info **items = calloc(answer->count + 1, sizeof(const he2b_sandbox_info *));
    struct he2b_failure failure;
    size_t i;

    if (!answer->ok) {
        tell(user, &answer->failure, NULL, 0);
    } else if (!items) {
        he2b_failure_set(&failure, NULL, HE2B_ERR_NOMEM, 0, "list sandboxes", NULL, "%s",
                         he2b_strerror(HE2B_ERR_NOMEM));
        tell(user, &failure, NULL, 0);
    } else {
        for (i = 0; i < answer->count; i++)
            items[i] = &answer->items[i];
        tell(user, NULL, items, answer->count);
    }
    free(items);
}

static void on_limit(void *arg)
{
    he2b_catalog *catalog = arg;
    struct he2b_failure failure;

    he2b_control_cancel(catalog->call);
    he2b_failure_set(&failure, NULL, HE2B_ERR_LOST, 0, "ask the server",
                     "check the network and E2B_API_URL", "no answer within %lld s",
                     (long long)catalog->limit_ms / 1000);
    tell(catalog, &failure, NULL, 0);
}

int he2b_catalog_set_limit(he2b_catalog *catalog, int64_t ms)
{
    int error = HE2B_OK;

    if (!catalog->call)
        return HE2B_OK;
    catalog->limit_ms = ms;
    if (!catalog->limit)
        error = he2b_timer_new(&catalog->limit, catalog->loop, on_limit, catalog);
    return error ? error : he2b_timer_arm(catalog->limit, ms);
}

/* ---- the questions ---- */

static int catalog_new(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                       const char *sandbox_id, he2b_catalog_fn done, void *user)
{
    he2b_catalog *catalog;
    int error;

    if (he2b_loop_forked(loop))
        return HE2B_ERR_FORK;
    if (sandbox_id && !he2b_sandbox_id_valid(sandbox_id))
        return HE2B_ERR_ARG;
    catalog = calloc(1, sizeof(*catalog));
    if (!catalog)
        return HE2B_ERR_NOMEM;
    error = he2b_settings_copy(&catalog->settings, options);
    if (error) {
        free(catalog);
        return error;
    }
    catalog->loop = loop;
    catalog->done = done;
    catalog->user = user;
    *ret = catalog;
    return HE2B_OK;
}

/* error: of the call that was to be started. */
static int launched(he2b_catalog **ret, he2b_catalog *catalog, int error)
{
    if (error) {
        he2b_catalog_del(catalog);
        return error;
    }
    *ret = catalog;
    return HE2B_OK;
}

int he2b_catalog_list(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                      const char *scope, he2b_catalog_fn done, void *user)
{
    const struct he2b_list_filter filter = {.scope = scope};
    he2b_catalog *catalog = NULL;
    int error = catalog_new(&catalog, loop, options, NULL, done, user);

    if (error)
        return error;
    return launched(
        ret, catalog,
        he2b_control_list(&catalog->call, loop, &catalog->settings, &filter, on_list, catalog));
}

int he2b_catalog_get(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                     const char *sandbox_id, he2b_catalog_fn done, void *user)
{
    he2b_catalog *catalog = NULL;
    int error = catalog_new(&catalog, loop, options, sandbox_id, done, user);

    if (error)
        return error;
    return launched(
        ret, catalog,
        he2b_control_get(&catalog->call, loop, &catalog->settings, sandbox_id, on_answer, catalog));
}

int he2b_catalog_connect(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                         const char *sandbox_id, int64_t lease_s, he2b_catalog_fn done, void *user)
{
    he2b_catalog *catalog = NULL;
    int error = catalog_new(&catalog, loop, options, sandbox_id, done, user);

    if (error)
        return error;
    return launched(ret, catalog,
                    he2b_control_connect(&catalog->call, loop, &catalog->settings, sandbox_id,
                                         lease_s, on_answer, catalog));
}

int he2b_catalog_kill(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                      const char *sandbox_id, he2b_catalog_fn done, void *user)
{
    he2b_catalog *catalog = NULL;
    int error = catalog_new(&catalog, loop, options, sandbox_id, done, user);

    if (error)
        return error;
    return launched(ret, catalog,
                    he2b_control_kill(&catalog->call, loop, &catalog->settings, sandbox_id,
                                      on_answer, catalog));
}

int he2b_catalog_pause(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                       const char *sandbox_id, he2b_catalog_fn done, void *user)
{
    he2b_catalog *catalog = NULL;
    int error = catalog_new(&catalog, loop, options, sandbox_id, done, user);

    if (error)
        return error;
    return launched(ret, catalog,
                    he2b_control_pause(&catalog->call, loop, &catalog->settings, sandbox_id,
                                       on_answer, catalog));
}

/* ---- what a doctor asks ---- */

const char *he2b_catalog_ca_file(const he2b_options *options)
{
    char tried[400];

    return he2b_ca_file(he2b_options_get(options, "ca_file"), tried, sizeof(tried));
}
