/* Hermes' state goes into a sandbox and comes home (B-71 to B-75, B-80 to B-87, B-91), with the
 * real shell and tar of this machine in the sandbox. */
#include "tests/unit/session/land.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static he2b_transfer *new_transfer(struct land *land)
{
    he2b_transfer *transfer = NULL;

    assert_int_equal(he2b_transfer_new(&transfer, land->world->session, land->host), HE2B_OK);
    return transfer;
}

/* The host's file at path goes to the same path there. */
static void add(struct land *land, he2b_transfer *transfer, const char *path)
{
    char host[8192];

    snprintf(host, sizeof(host), "%s/%s", land->host, path);
    assert_int_equal(he2b_transfer_add(transfer, host, path, HE2B_FILE_SKILL), HE2B_OK);
}

static int push(struct land *land, he2b_transfer *transfer)
{
    assert_int_equal(he2b_transfer_push(transfer, land_done, land), HE2B_OK);
    return land_wait(land);
}

static const char *hermes(const struct land *land, const char *path)
{
    static char joined[8192];

    snprintf(joined, sizeof(joined), ".hermes/%s", path);
    return land_read(land->there, joined);
}

/* B-71, B-72: contents, modes and times; two round trips; nothing is left on the way. */
static void test_push(void **state)
{
    struct land *land = *state;
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    he2b_transfer *transfer = new_transfer(land);
    struct stat st;

    land_write(land->host, "skills/one/SKILL.md", "one\n");
    land_write(land->host, "skills/one/run.sh", "#!/bin/sh\n");
    chmod(land_path(land->host, "skills/one/run.sh"), 0750);
    utimensat(AT_FDCWD, land_path(land->host, "skills/one/run.sh"), times, 0);
    add(land, transfer, "skills/one/SKILL.md");
    add(land, transfer, "skills/one/run.sh");
    assert_int_equal(push(land, transfer), 0);
    assert_string_equal(land_log(land), "upload transfer");
    assert_string_equal(hermes(land, "skills/one/SKILL.md"), "one\n");
    assert_int_equal(stat(land_path(land->there, ".hermes/skills/one/run.sh"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(st.st_mtime, 1000000000);
    assert_int_equal(land_entries(land->folder), 0);
    assert_int_equal(land_entries(land->there), 2); /* .hermes, the manifest */
    assert_non_null(
        strstr(land_read(land->there, ".hermes-e2b-state-manifest"), "skill skills/one/run.sh\n"));
    he2b_transfer_del(transfer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_LAND(test_push),
    };

    return WORLD_RUN(tests);
}
