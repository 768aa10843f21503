#include "tests/unit/session/scoped.h"

#include "core/scope.h"
#include "host/marker.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int scoped_setup(void **state)
{
    struct scoped *scoped = calloc(1, sizeof(*scoped));
    void *world = NULL;
    struct he2b_scope scope;
    char digest[HE2B_SCOPE_MAX];

    assert_non_null(scoped);
    assert_int_equal(world_setup(&world), 0);
    scoped->world = world;
    strcpy(scoped->home, "/tmp/he2b-scope.XXXXXX");
    assert_non_null(mkdtemp(scoped->home));
    scope = (struct he2b_scope){.home = scoped->home,
                                .task = "task",
                                .template_id = "base",
                                .persistent = true,
                                .internet = true,
                                .secure = true};
    he2b_scope_digest(digest, &scope);
    assert_int_equal(he2b_host_files(&scoped->files, scoped->home, digest), HE2B_OK);
    snprintf(scoped->world->scope, sizeof(scoped->world->scope), "%s", digest);
    he2b_lock_init(&scoped->stranger);
    he2b_lock_init(&scoped->creator);
    *state = scoped;
    return 0;
}

static int drop(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    (void)stat;
    (void)type;
    (void)ftw;
    return remove(path);
}

int scoped_teardown(void **state)
{
    struct scoped *scoped = *state;
    void *world = scoped->world;
    unsigned i;

    for (i = 0; i < SCOPED_SESSIONS; i++)
        he2b_session_del(scoped->sessions[i]);
    scoped->world->session = NULL;
    if (scoped->held)
        he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    world_teardown(&world);
    he2b_lock_release(&scoped->stranger);
    he2b_lock_release(&scoped->creator);
    nftw(scoped->home, drop, 8, FTW_DEPTH | FTW_PHYS);
    free(scoped);
    return 0;
}

static void on_step(void *user, he2b_step *step)
{
    struct scoped *scoped = user;
    enum he2b_step_kind kind = he2b_step_kind(step);

    if (scoped->log_steps || kind >= HE2B_STEP_RECOVER)
        world_note(scoped->world, he2b_step_name((int)kind));
    if (scoped->hold_kind == kind) {
        scoped->hold_kind = 0;
        scoped->held = step;
        world_stop(scoped->world);
        return;
    }
    he2b_step_do(step);
    if (scoped->bend_times && scoped->bend_kind == kind) {
        scoped->bend_times--;
        he2b_step_done(step, scoped->bend_outcome, "the test says so");
        return;
    }
    he2b_step_done(step, HE2B_STEP_DONE, NULL);
}

he2b_session *scoped_session(struct scoped *scoped, unsigned nth, bool host_state)
{
    he2b_session *session = world_session(scoped->world);

    assert_int_equal(he2b_session_set_scope(session, scoped->home, "task", host_state), HE2B_OK);
    assert_int_equal(he2b_session_on_step(session, on_step, scoped), HE2B_OK);
    assert_string_equal(he2b_session_scope(session), scoped->world->scope);
    world_soon(session);
    scoped->sessions[nth] = session;
    return session;
}

he2b_session *scoped_own_session(struct scoped *scoped)
{
    he2b_session *session = world_session(scoped->world);

    assert_int_equal(he2b_session_set_host_state(session, 1), HE2B_OK);
    assert_int_equal(he2b_session_on_step(session, on_step, scoped), HE2B_OK);
    world_soon(session);
    scoped->log_steps = true;
    scoped->sessions[0] = session;
    return session;
}

void scoped_answer(struct scoped *scoped, enum he2b_step_outcome outcome)
{
    he2b_step *step = scoped->held;

    assert_non_null(step);
    scoped->held = NULL;
    he2b_step_done(step, outcome, "the test says so");
}

void scoped_use(struct scoped *scoped, unsigned nth)
{
    scoped->world->session = scoped->sessions[nth];
}

void scoped_run(struct scoped *scoped)
{
    struct ran ran;

    ran_whole(&ran, scoped->world, "true");
    if (ran.failure)
        print_error("%s\n", ran.failure_text);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(ran.exit_code, 0);
    ran_del(&ran);
}

void scoped_begin(struct scoped *scoped, bool host_state)
{
    scoped_session(scoped, 0, host_state);
    scoped_run(scoped);
    scoped_log(scoped);
    scoped->log_steps = true;
}

void scoped_short_lease(struct scoped *scoped)
{
    assert_int_equal(he2b_options_set(scoped->world->options, "lease_seconds", "60"), HE2B_OK);
    assert_int_equal(he2b_options_set(scoped->world->options, "command_grace_seconds", "0"),
                     HE2B_OK);
}

int scoped_run_long(struct scoped *scoped)
{
    struct ran ran;

    world_tick();
    ran_new(&ran, scoped->world, "true");
    he2b_command_set_timeout(ran.command, 61 * 1000);
    ran_go(&ran);
    world_run(scoped->world);
    ran_del(&ran);
    return ran.failure;
}

void scoped_refused(struct scoped *scoped, int code, const char *text)
{
    unsigned before = world_count(scoped->world, "command");
    struct ran ran;

    ran_whole(&ran, scoped->world, "true");
    assert_int_equal(ran.failure, code);
    if (!strstr(ran.failure_text, text))
        print_error("%s\n", ran.failure_text);
    assert_non_null(strstr(ran.failure_text, text));
    assert_int_equal(ran.outcome, HE2B_NOT_STARTED);
    ran_del(&ran);
    assert_int_equal(world_count(scoped->world, "command"), before);
}

const char *scoped_log(struct scoped *scoped)
{
    static char copy[WORLD_LOG_MAX];

    pthread_mutex_lock(&scoped->world->lock);
    memcpy(copy, scoped->world->log, sizeof(copy));
    scoped->world->log[0] = '\0';
    pthread_mutex_unlock(&scoped->world->lock);
    return copy;
}

void scoped_sandbox(struct scoped *scoped, const char *stamp)
{
    pthread_mutex_lock(&scoped->world->lock);
    scoped->world->exists = true;
    snprintf(scoped->world->stamp, sizeof(scoped->world->stamp), "%s", stamp);
    pthread_mutex_unlock(&scoped->world->lock);
}

/* ---- others ---- */

static bool lock_free(const char *path)
{
    struct he2b_lock lock;
    bool had;

    he2b_lock_init(&lock);
    had = he2b_lock_try(&lock, path) == HE2B_LOCK_HELD;
    he2b_lock_release(&lock);
    return had;
}

bool scoped_lease_free(struct scoped *scoped)
{
    return lock_free(scoped->files.writer_lock);
}

bool scoped_creation_free(struct scoped *scoped)
{
    return lock_free(scoped->files.creation_lock);
}

bool scoped_dirty(const struct scoped *scoped)
{
    int error;
    bool dirty = he2b_marker_dirty(scoped->files.marker, &error);

    assert_int_equal(error, 0);
    return dirty;
}

void scoped_take_lease(struct scoped *scoped)
{
    assert_int_equal(he2b_lock_try(&scoped->stranger, scoped->files.writer_lock), HE2B_LOCK_HELD);
}

void scoped_take_creation(struct scoped *scoped)
{
    assert_int_equal(he2b_lock_try(&scoped->creator, scoped->files.creation_lock), HE2B_LOCK_HELD);
}
