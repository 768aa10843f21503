/* What goes wrong on the way of Hermes' state: nothing is taken for done, each failure says why,
 * and nothing is left behind (B-72 to B-75, B-86, B-87). */
#include "tests/unit/session/land.h"

#include "session/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_one(struct land *land, he2b_transfer *transfer)
{
    land_write(land->host, "skills/one", "one");
    land_add(land, transfer, "skills/one");
}

/* ---- what is refused at once ---- */

static void test_arguments(void **state)
{
    static const char *const bad[] = {"", "/x", "a//b", "../x", "a/./b", "a/..", "a/"};
    struct land *land = *state;
    he2b_transfer *transfer = NULL;
    he2b_session *cold = NULL;
    size_t i;

    assert_int_equal(he2b_transfer_new(&transfer, land->world->session, "home"), HE2B_ERR_SETTING);
    transfer = land_new(land);
    for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(he2b_transfer_add(transfer, "/x", bad[i], HE2B_FILE_OTHER), HE2B_ERR_ARG);
        assert_int_equal(he2b_transfer_remove(transfer, bad[i]), HE2B_ERR_ARG);
    }
    assert_int_equal(he2b_transfer_follow(transfer, transfer), HE2B_ERR_STATE);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_ERR_STATE);
    he2b_transfer_cancel(transfer);
    assert_int_equal(land_push(land, transfer), 0);
    assert_int_equal(he2b_transfer_push(transfer, land_done, land), HE2B_ERR_STATE);
    assert_int_equal(he2b_transfer_remove(transfer, "x"), HE2B_ERR_STATE);
    he2b_transfer_cancel(transfer);
    he2b_transfer_del(transfer);
    he2b_transfer_del(NULL);

    assert_int_equal(he2b_session_new(&cold, land->world->loop, land->world->options, NULL, NULL),
                     HE2B_OK);
    assert_int_equal(he2b_transfer_new(&transfer, cold, land->host), HE2B_OK);
    assert_int_equal(he2b_transfer_recover(transfer, land_done, land), HE2B_ERR_STATE);
    he2b_transfer_del(transfer);
    he2b_session_del(cold);
}

/* ---- the upload ---- */

static void no_room(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 507, "attempted to write 5 bytes: not enough disk space available");
}

static void test_disk_full(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_upload = no_room;
    write_one(land, transfer);
    assert_int_equal(land_push(land, transfer), HE2B_ERR_REFUSED);
    assert_non_null(strstr(land->text, "send Hermes' state: "));
    assert_non_null(strstr(land->text, "not enough disk space"));
    assert_non_null(strstr(land->text, "make room on the sandbox's disk"));
    assert_string_equal(land_log(land), "upload");
    he2b_transfer_del(transfer);
}

static void cut_once(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 1)
        peer_reset(request);
    else
        land_upload(world, request, nth);
}

/* A kept connection may have been closed: once more, with all of it. */
static void test_cut(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_upload = cut_once;
    write_one(land, transfer);
    assert_int_equal(land_push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload upload transfer");
    assert_string_equal(land_hermes(land, "skills/one"), "one");
    he2b_transfer_del(transfer);
}

static void cut(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_reset(request);
}

static void test_cut_for_good(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_upload = cut;
    write_one(land, transfer);
    assert_int_equal(land_push(land, transfer), HE2B_ERR_LOST);
    assert_string_equal(land_log(land), "upload upload");
    he2b_transfer_del(transfer);
}

static void gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_no_sandbox(request);
}

static void test_gone(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_upload = gone;
    assert_int_equal(land_push(land, transfer), HE2B_ERR_GONE);
    he2b_transfer_del(transfer);
    land->world->on_transfer = gone;
    transfer = land_new(land);
    assert_int_equal(land_recover(land, transfer), HE2B_ERR_GONE);
    he2b_transfer_del(transfer);
}

/* B-72: more than the pipe and the sockets hold; every byte arrives. */
static void test_large(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);
    char command[512];
    size_t files = 0;
    int64_t bytes = 0;

    snprintf(command, sizeof(command),
             "mkdir -p %s/skills && head -c 8000000 /dev/urandom >%s/skills/large", land->host,
             land->host);
    assert_int_equal(system(command), 0);
    land_add(land, transfer, "skills/large");
    assert_int_equal(land_push(land, transfer), 0);
    he2b_transfer_progress(transfer, &files, &bytes);
    assert_int_equal(files, 1);
    assert_int_equal(bytes, 8000000);
    he2b_transfer_del(transfer);
    snprintf(command, sizeof(command), "cmp %s/skills/large %s/.hermes/skills/large", land->host,
             land->there);
    assert_int_equal(system(command), 0);

    /* and back, with a reader that may be slower than the stream */
    snprintf(command, sizeof(command), "cp %s/skills/large %s/large && rm %s/skills/large",
             land->host, land->root, land->host);
    assert_int_equal(system(command), 0);
    transfer = land_new(land);
    assert_int_equal(land_recover(land, transfer), 0);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_OK);
    he2b_transfer_del(transfer);
    snprintf(command, sizeof(command), "cmp %s/large %s/skills/large", land->root, land->host);
    assert_int_equal(system(command), 0);
}

/* ---- the command ---- */

static void test_no_place(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land_write(land->there, ".hermes", "a file");
    write_one(land, transfer);
    assert_int_equal(land_push(land, transfer), HE2B_ERR_STEP);
    assert_non_null(strstr(land->text, "$HOME/.hermes cannot be made in the sandbox: "));
    assert_int_equal(land_entries(land->folder), 0);
    he2b_transfer_del(transfer);
}

/* A file stands where a folder is to be: tar says so, the manifest stays what it was. */
static void test_in_the_way(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land_write(land->there, ".hermes/skills/one", "one");
    land_write(land->host, "skills/one/two", "two");
    land_add(land, transfer, "skills/one/two");
    assert_int_equal(land_push(land, transfer), HE2B_ERR_STEP);
    assert_non_null(strstr(land->text, "not all files could be written in the sandbox: tar: "));
    assert_null(land_read(land->there, ".hermes-e2b-state-manifest"));
    assert_int_equal(land_entries(land->folder), 0);
    assert_int_equal(land_entries(land->there), 1);
    he2b_transfer_del(transfer);
}

/* B-74: what earlier pushes left on their way is swept. */
static void test_swept(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land_write(land->folder, "push.0123", "credentials");
    land_write(land->folder, "text.0123", "a command's");
    land_write(land->there, ".hermes-e2b-state-manifest.0123", "half");
    assert_int_equal(land_push(land, transfer), 0);
    assert_int_equal(land_entries(land->folder), 1);
    assert_int_equal(land_entries(land->there), 2);
    he2b_transfer_del(transfer);
}

/* B-35, B-75: where there is a stamp it repeats the manifest's hash; without one none is made. */
static void test_stamp(void **state)
{
    struct land *land = *state;
    he2b_session *session = land->world->session;
    he2b_transfer *transfer = land_new(land);
    char *stamp;
    const char *manifest;

    strcpy(session->stamp, "0123");
    write_one(land, transfer);
    assert_int_equal(land_push(land, transfer), 0);
    he2b_transfer_del(transfer);
    assert_null(land_read(land->there, ".hermes-e2b-state-ready"));
    assert_string_equal(session->stamp, "0123");

    land_write(land->there, ".hermes-e2b-state-ready", WORLD_ID "\n0123\n");
    transfer = land_new(land);
    assert_int_equal(land_push(land, transfer), 0);
    he2b_transfer_del(transfer);
    stamp = strdup(land_read(land->there, ".hermes-e2b-state-ready"));
    assert_memory_equal(stamp, WORLD_ID "\n", strlen(WORLD_ID) + 1);
    manifest = land_read(land->there, ".hermes-e2b-state-manifest");
    assert_string_equal(stamp + strlen(WORLD_ID) + 1, manifest + strlen(manifest) - 65);
    assert_memory_equal(session->stamp, manifest + strlen(manifest) - 65, 64);
    free(stamp);
}

/* ---- the snapshot ---- */

static void as_user_only(struct world *world, struct peer_request *request, unsigned nth)
{
    char value[128];

    if (nth == 1) {
        assert_true(peer_header(request, "Authorization", value, sizeof(value)));
        peer_answer(request, 401, "application/json",
                    "{\"code\":\"unauthenticated\",\"message\":\"no user root\"}");
        return;
    }
    if (peer_header(request, "Authorization", value, sizeof(value)))
        abort();
    land_transfer(world, request, nth);
}

/* B-86: as root where the daemon allows it. */
static void test_no_root(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_transfer = as_user_only;
    land_write(land->there, ".hermes/skills/one", "one");
    assert_int_equal(land_recover(land, transfer), 0);
    assert_string_equal(land_log(land), "transfer transfer");
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_OK);
    assert_string_equal(land_read(land->host, "skills/one"), "one");
    he2b_transfer_del(transfer);
}

/* An archive of nothing else, and what tar says beside it. */
static void with_words(struct world *world, struct peer_request *request, unsigned nth)
{
    static const char zeros[10240];
    static const char words[] = "tar: .hermes/skills/secret: Cannot open: Permission denied\n"
                                "tar: Exiting with failure status due to previous errors\n";

    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_errors(request, words, strlen(words));
    peer_output(request, zeros, sizeof(zeros));
    world_end(request, 2);
}

/* B-80, B-86: what tar could not read is named, and its code says nothing. */
static void test_unread(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);
    int level = 0;

    land->world->on_transfer = with_words;
    assert_int_equal(land_recover(land, transfer), 0);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_OK);
    assert_int_equal(he2b_transfer_notes(transfer), 1);
    assert_non_null(strstr(he2b_transfer_note(transfer, 0, &level), "skills/secret"));
    assert_int_equal(level, HE2B_LOG_WARNING);
    he2b_transfer_del(transfer);
}

static void garbage(struct world *world, struct peer_request *request, unsigned nth)
{
    static const char text[4096] = "this is no archive, whatever reads it, and it is long enough";

    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, text, sizeof(text));
    world_end(request, 0);
}

static void silent(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_errors(request, "tar: out of memory\n", 19);
    world_end(request, 1);
}

static void broken_off(struct world *world, struct peer_request *request, unsigned nth)
{
    static const char zeros[512];

    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_output(request, zeros, sizeof(zeros));
    peer_reset(request);
}

/* B-86: what cannot be read is no snapshot. */
static void test_no_archive(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_transfer = garbage;
    assert_int_equal(land_recover(land, transfer), HE2B_ERR_PROTOCOL);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_ERR_STATE);
    he2b_transfer_del(transfer);
    land->world->on_transfer = silent;
    transfer = land_new(land);
    assert_int_equal(land_recover(land, transfer), HE2B_ERR_STEP);
    assert_non_null(strstr(land->text, "tar: out of memory"));
    he2b_transfer_del(transfer);
    land->world->on_transfer = broken_off;
    transfer = land_new(land);
    assert_int_equal(land_recover(land, transfer), HE2B_ERR_LOST);
    he2b_transfer_del(transfer);
}

/* An empty pull is an archive all the same. */
static void test_pull_nothing(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);
    int fd = open(land_path(land->root, "tar"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_int_equal(he2b_transfer_pull(transfer, fd, 0, land_done, land), HE2B_OK);
    assert_int_equal(land_wait(land), 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), 1024);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_ERR_STATE);
    he2b_transfer_del(transfer);
    close(fd);
    transfer = land_new(land);
    assert_int_equal(he2b_transfer_pull(transfer, -1, 0, land_done, land), HE2B_ERR_SYSTEM);
    he2b_transfer_del(transfer);
}

/* ---- given up ---- */

static void hang(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    world_stop_soon(world);
    peer_wait_closed(request);
}

static void hang_in_stream(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    world_stop_soon(world);
    peer_wait_closed(request);
}

static void test_cancel(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_upload = hang;
    write_one(land, transfer);
    assert_int_equal(he2b_transfer_push(transfer, land_done, land), HE2B_OK);
    world_run(land->world);
    he2b_transfer_cancel(transfer);
    assert_int_equal(land_wait(land), HE2B_ERR_CANCELLED);
    he2b_transfer_del(transfer);

    land->world->on_transfer = hang_in_stream;
    transfer = land_new(land);
    assert_int_equal(he2b_transfer_recover(transfer, land_done, land), HE2B_OK);
    world_run(land->world);
    he2b_transfer_cancel(transfer);
    assert_int_equal(land_wait(land), HE2B_ERR_CANCELLED);
    he2b_transfer_del(transfer);
}

/* Nothing is told any more, and nothing leaks. */
static void test_deleted(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land->world->on_upload = hang;
    write_one(land, transfer);
    land->times = 0;
    assert_int_equal(he2b_transfer_push(transfer, land_done, land), HE2B_OK);
    world_run(land->world);
    he2b_transfer_del(transfer);
    land->world->on_transfer = hang_in_stream;
    transfer = land_new(land);
    assert_int_equal(he2b_transfer_recover(transfer, land_done, land), HE2B_OK);
    world_run(land->world);
    he2b_transfer_del(transfer);
    assert_int_equal(land->times, 0);
}

/* ---- other templates ---- */

static void with_busybox(struct land *land)
{
    static const char *const names[] = {"sh",    "tar",   "gzip",  "mkdir", "mv",
                                        "rmdir", "touch", "chmod", "rm",    "gunzip"};
    char path[128];
    size_t i;

    snprintf(land->path, sizeof(land->path), "%s/bin", land->root);
    assert_int_equal(mkdir(land->path, 0755), 0);
    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/bin/%s", land->root, names[i]);
        assert_int_equal(symlink("/bin/busybox", path), 0);
    }
}

static void test_busybox(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer;
    struct stat st;

    if (access("/bin/busybox", X_OK) != 0) {
        print_message("no /bin/busybox here: its part is left out\n");
        skip();
    }
    with_busybox(land);
    transfer = land_new(land);
    land_write(land->there, ".hermes/skills/old/it's", "old");
    land_write(land->host, "skills/-a b/caf\xe9\x81\n'", "odd");
    chmod(land_path(land->host, "skills/-a b/caf\xe9\x81\n'"), 0711);
    land_add(land, transfer, "skills/-a b/caf\xe9\x81\n'");
    assert_int_equal(he2b_transfer_remove(transfer, "skills/old/it's"), HE2B_OK);
    assert_int_equal(land_push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload transfer");
    he2b_transfer_del(transfer);
    assert_string_equal(land_hermes(land, "skills/-a b/caf\xe9\x81\n'"), "odd");
    assert_int_equal(stat(land_path(land->there, ".hermes/skills/-a b/caf\xe9\x81\n'"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0711);
    assert_int_equal(land_entries(land_path(land->there, ".hermes/skills")), 1);
    land_write(land->there, ".hermes/skills/new", "new");
    transfer = land_new(land);
    assert_int_equal(land_recover(land, transfer), 0);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_OK);
    assert_string_equal(land_read(land->host, "skills/new"), "new");
    he2b_transfer_del(transfer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_LAND(test_arguments),    ON_LAND(test_disk_full),    ON_LAND(test_cut),
        ON_LAND(test_cut_for_good), ON_LAND(test_gone),         ON_LAND(test_large),
        ON_LAND(test_no_place),     ON_LAND(test_in_the_way),   ON_LAND(test_swept),
        ON_LAND(test_stamp),        ON_LAND(test_no_root),      ON_LAND(test_unread),
        ON_LAND(test_no_archive),   ON_LAND(test_pull_nothing), ON_LAND(test_cancel),
        ON_LAND(test_deleted),      ON_LAND(test_busybox),
    };

    return WORLD_RUN(tests);
}
