/* Hermes' state goes into a sandbox and comes home (B-71 to B-75, B-80 to B-87, B-91), with the
 * real shell and tar of this machine in the sandbox. */
#include "tests/unit/session/land.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* B-71, B-72: contents, modes and times; two round trips; nothing is left on the way. */
static void test_push(void **state)
{
    struct land *land = *state;
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    he2b_transfer *transfer = land_new(land);
    struct stat st;

    land_write(land->host, "skills/one/SKILL.md", "one\n");
    land_write(land->host, "skills/one/run.sh", "#!/bin/sh\n");
    chmod(land_path(land->host, "skills/one/run.sh"), 0750);
    utimensat(AT_FDCWD, land_path(land->host, "skills/one/run.sh"), times, 0);
    land_add(land, transfer, "skills/one/SKILL.md");
    land_add(land, transfer, "skills/one/run.sh");
    assert_int_equal(land_push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload transfer");
    assert_string_equal(land_hermes(land, "skills/one/SKILL.md"), "one\n");
    assert_int_equal(stat(land_path(land->there, ".hermes/skills/one/run.sh"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(st.st_mtime, 1000000000);
    assert_int_equal(land_entries(land->folder), 0);
    assert_int_equal(land_entries(land->there), 2); /* .hermes, the manifest */
    assert_non_null(
        strstr(land_read(land->there, ".hermes-e2b-state-manifest"), "skill skills/one/run.sh\n"));
    he2b_transfer_del(transfer);
}

/* B-75: what is deleted goes in the same command, with the folders that it leaves empty; whatever
 * the names hold. */
static void test_deletions(void **state)
{
    static const char *const names[] = {
        "skills/-rf",       "skills/a b/c",           "skills/it's",
        "skills/new\nline", "skills/caf\xe9\x81\x88", "skills/$(id)",
        "skills/deep/er/x", "skills/back\\slash",
    };
    const size_t count = sizeof(names) / sizeof(*names);
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);
    size_t i;

    for (i = 0; i < count; i++) {
        land_write(land->host, names[i], "x");
        land_add(land, transfer, names[i]);
    }
    land_write(land->host, "skills/kept", "kept");
    land_add(land, transfer, "skills/kept");
    assert_int_equal(land_push(land, transfer), 0);
    he2b_transfer_del(transfer);
    for (i = 0; i < count; i++)
        assert_string_equal(land_hermes(land, names[i]), "x");
    land_log(land);

    transfer = land_new(land);
    for (i = 0; i < count; i++)
        assert_int_equal(he2b_transfer_remove(transfer, names[i]), HE2B_OK);
    assert_int_equal(he2b_transfer_remove(transfer, "skills/never/there"), HE2B_OK);
    assert_int_equal(land_push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload transfer");
    assert_int_equal(land_entries(land_path(land->there, ".hermes/skills")), 1);
    assert_string_equal(land_hermes(land, "skills/kept"), "kept");
    /* the manifest of a sync is a complete one */
    assert_non_null(
        strstr(land_read(land->there, ".hermes-e2b-state-manifest"), "skill skills/kept\n"));
    assert_null(strstr(land_read(land->there, ".hermes-e2b-state-manifest"), "deep"));
    he2b_transfer_del(transfer);
}

/* Uploads and deletions at once: what goes makes room for what comes. */
static void test_both(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land_write(land->there, ".hermes/skills/x", "a file");
    land_write(land->there, ".hermes/skills/y/z", "in a folder");
    land_write(land->host, "skills/x/z", "a folder now");
    land_write(land->host, "skills/y", "a file now");
    land_add(land, transfer, "skills/x/z");
    land_add(land, transfer, "skills/y");
    assert_int_equal(he2b_transfer_remove(transfer, "skills/x"), HE2B_OK);
    assert_int_equal(he2b_transfer_remove(transfer, "skills/y/z"), HE2B_OK);
    assert_int_equal(land_push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload transfer");
    assert_string_equal(land_hermes(land, "skills/x/z"), "a folder now");
    assert_string_equal(land_hermes(land, "skills/y"), "a file now");
    he2b_transfer_del(transfer);
}

/* A file that vanished fails the push, when all else has arrived, and is named. */
static void test_missing(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    land_write(land->host, "skills/there", "there");
    land_add(land, transfer, "skills/gone");
    land_add(land, transfer, "skills/there");
    assert_int_equal(land_push(land, transfer), HE2B_ERR_STEP);
    assert_non_null(strstr(land->text, "skills/gone: No such file"));
    assert_string_equal(land_hermes(land, "skills/there"), "there");
    assert_null(strstr(land_read(land->there, ".hermes-e2b-state-manifest"), "gone"));
    he2b_transfer_del(transfer);
}

/* B-74: a credential list may name the profile's own .env; it does not go, and that is said. */
static void test_own(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);
    int level = 0;

    land_write(land->host, ".env", "SECRET=1\n");
    land_add(land, transfer, ".env");
    assert_int_equal(land_push(land, transfer), 0);
    assert_null(land_hermes(land, ".env"));
    assert_int_equal(he2b_transfer_notes(transfer), 1);
    assert_non_null(strstr(he2b_transfer_note(transfer, 0, &level), ".env"));
    assert_int_equal(level, HE2B_LOG_WARNING);
    he2b_transfer_del(transfer);
}

/* Nothing to send: the manifest alone. */
static void test_nothing(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    assert_int_equal(land_push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload transfer");
    assert_non_null(land_read(land->there, ".hermes-e2b-state-manifest"));
    he2b_transfer_del(transfer);
}

/* The programs that a script needs, but tar, as the only ones of the sandbox. */
static void without_tar(struct land *land)
{
    static const char *const names[] = {"sh", "mkdir", "mv", "rm", "rmdir", "chmod", "touch"};
    char command[256];
    size_t i;

    snprintf(land->path, sizeof(land->path), "%s/bin", land->root);
    assert_int_equal(mkdir(land->path, 0755), 0);
    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(command, sizeof(command), "ln -s \"$(command -v %s)\" %s/bin", names[i],
                 land->root);
        assert_int_equal(system(command), 0);
    }
}

/* A template without tar gets the same, file by file. */
static void test_without_tar(void **state)
{
    struct land *land = *state;
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    he2b_transfer *transfer = land_new(land);
    struct stat st;

    without_tar(land);
    land_write(land->there, ".hermes/skills/old/it's", "old");
    land_write(land->host, "skills/-a b/c'\nd", "odd");
    land_write(land->host, "skills/run.sh", "#!/bin/sh\n");
    chmod(land_path(land->host, "skills/run.sh"), 0750);
    utimensat(AT_FDCWD, land_path(land->host, "skills/run.sh"), times, 0);
    land_add(land, transfer, "skills/-a b/c'\nd");
    land_add(land, transfer, "skills/run.sh");
    assert_int_equal(he2b_transfer_remove(transfer, "skills/old/it's"), HE2B_OK);
    assert_int_equal(land_push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload transfer upload upload upload upload transfer");
    assert_string_equal(land_hermes(land, "skills/-a b/c'\nd"), "odd");
    assert_null(land_hermes(land, "skills/old/it's"));
    assert_int_equal(land_entries(land_path(land->there, ".hermes/skills")), 2);
    assert_int_equal(stat(land_path(land->there, ".hermes/skills/run.sh"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(st.st_mtime, 1000000000);
    assert_int_equal(land_entries(land->folder), 0);
    assert_int_equal(land_entries(land->there), 2);
    assert_non_null(
        strstr(land_read(land->there, ".hermes-e2b-state-manifest"), "skill skills/run.sh\n"));
    he2b_transfer_del(transfer);
}

/* ---- home ---- */

/* B-80, B-81, B-86: one round trip; nothing is written before it is applied. */
static void test_recover(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);
    const char *why = NULL;

    land_write(land->there, ".hermes/skills/new/SKILL.md", "made by the agent\n");
    land_write(land->there, ".hermes/memories/MEMORY.md", "remember\n");
    land_write(land->there, ".hermes/skills/other", "theirs\n");
    land_write(land->there, ".hermes/elsewhere", "not covered\n");
    land_write(land->host, "skills/other", "ours\n");
    assert_int_equal(land_recover(land, transfer), 0);
    assert_string_equal(land_log(land), "transfer");
    assert_null(land_read(land->host, "skills/new/SKILL.md"));
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, &why), HE2B_OK);
    assert_string_equal(land_read(land->host, "skills/new/SKILL.md"), "made by the agent\n");
    assert_string_equal(land_read(land->host, "memories/MEMORY.md"), "remember\n");
    assert_string_equal(land_read(land->host, "skills/other"), "ours\n");
    assert_string_equal(land_read(land->host, "cache/e2b-recovered/" WORLD_ID "/skills/other"),
                        "theirs\n");
    assert_null(land_read(land->host, "elsewhere"));
    assert_int_equal(he2b_transfer_notes(transfer), 2);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, &why), HE2B_ERR_STATE);
    he2b_transfer_del(transfer);
}

/* B-86: no .hermes at all is fine. */
static void test_recover_nothing(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);

    assert_int_equal(land_recover(land, transfer), 0);
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_OK);
    assert_int_equal(he2b_transfer_notes(transfer), 0);
    he2b_transfer_del(transfer);
}

/* B-75: what was pushed, and is deleted on the host while nothing ran, is deleted there by the push
 * that follows, and not resurrected here. */
static void test_follow(void **state)
{
    struct land *land = *state;
    const char *const present[] = {"skills/kept"};
    he2b_transfer *first = land_new(land);
    he2b_transfer *recovery;
    he2b_transfer *second;

    land_write(land->host, "skills/kept", "kept");
    land_write(land->host, "skills/gone", "gone");
    land_write(land->host, "auth.json", "secret");
    land_add(land, first, "skills/kept");
    land_add(land, first, "skills/gone");
    assert_int_equal(he2b_transfer_add(first, land_path(land->host, "auth.json"), "auth.json",
                                       HE2B_FILE_CREDENTIAL),
                     HE2B_OK);
    assert_int_equal(land_push(land, first), 0);
    he2b_transfer_del(first);
    assert_string_equal(land_hermes(land, "auth.json"), "secret");
    unlink(land_path(land->host, "skills/gone"));
    unlink(land_path(land->host, "auth.json"));

    recovery = land_new(land);
    assert_int_equal(land_recover(land, recovery), 0);
    assert_int_equal(he2b_transfer_apply(recovery, present, 1, NULL), HE2B_OK);
    second = land_new(land);
    land_add(land, second, "skills/kept");
    assert_int_equal(he2b_transfer_follow(second, recovery), HE2B_OK);
    he2b_transfer_del(recovery);
    land_log(land);
    assert_int_equal(land_push(land, second), 0);
    assert_string_equal(land_log(land), "upload transfer");
    assert_null(land_hermes(land, "skills/gone"));
    assert_null(land_hermes(land, "auth.json"));
    assert_null(land_read(land->host, "skills/gone"));
    assert_string_equal(land_hermes(land, "skills/kept"), "kept");
    he2b_transfer_del(second);
}

/* B-91: all of .hermes as plain tar, with the names that Hermes expects; hard links are files. */
static void test_pull(void **state)
{
    struct land *land = *state;
    he2b_transfer *transfer = land_new(land);
    char command[512];
    char a[256];
    char b[256];
    int fd;

    land_write(land->there, ".hermes/skills/one", "one\n");
    land_write(land->there, ".hermes/notes", "notes\n");
    snprintf(a, sizeof(a), "%s/.hermes/notes", land->there);
    snprintf(b, sizeof(b), "%s/.hermes/twin", land->there);
    assert_int_equal(link(a, b), 0);
    snprintf(a, sizeof(a), "%s/.hermes/skills/link", land->there);
    assert_int_equal(symlink("/etc/passwd", a), 0);
    fd = open(land_path(land->root, "pulled.tar"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(he2b_transfer_pull(transfer, fd, 1, land_done, land), HE2B_OK);
    assert_int_equal(land_wait(land), 0);
    close(fd);
    assert_string_equal(land_log(land), "transfer");
    snprintf(command, sizeof(command), "cd %s && mkdir out && tar -xf pulled.tar -C out",
             land->root);
    assert_int_equal(system(command), 0);
    snprintf(a, sizeof(a), "out%s/.hermes", land->there);
    assert_int_equal(land_entries(land_path(land->root, a)), 3);
    snprintf(a, sizeof(a), "out%s/.hermes/twin", land->there);
    assert_string_equal(land_read(land->root, a), "notes\n");
    snprintf(a, sizeof(a), "out%s/.hermes/skills/link", land->there);
    assert_null(land_read(land->root, a));
    assert_int_equal(he2b_transfer_apply(transfer, NULL, 0, NULL), HE2B_OK);
    assert_string_equal(land_read(land->host, "skills/one"), "one\n");
    he2b_transfer_del(transfer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_LAND(test_push),        ON_LAND(test_deletions), ON_LAND(test_both),
        ON_LAND(test_missing),     ON_LAND(test_own),       ON_LAND(test_nothing),
        ON_LAND(test_without_tar), ON_LAND(test_recover),   ON_LAND(test_recover_nothing),
        ON_LAND(test_follow),      ON_LAND(test_pull),
    };

    return WORLD_RUN(tests);
}
