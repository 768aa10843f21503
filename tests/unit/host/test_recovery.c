/* B-80 to B-87, FB-16, FB-24: what a sandbox's archive may do to this machine, and what is said. */
#include "he2b.h"
#include "host/recovery.h"
#include "tests/unit/host/box.h"
#include "tests/unit/host/tarball.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the host ---- */

static char *at(const struct box *box, const char *path)
{
    static char whole[8][512];
    static size_t next;
    char *ret = whole[next++ % 8];

    snprintf(ret, 512, "%s/%s", box->home, path);
    return ret;
}

static void shell(const struct box *box, const char *command)
{
    char line[1024];

    snprintf(line, sizeof(line), "cd '%s' && { %s ; }", box->home, command);
    if (system(line) != 0)
        fail_msg("%s", line);
}

static void has(const struct box *box, const char *path, const char *text)
{
    char content[1024];
    struct stat st;

    if (!text) {
        if (lstat(at(box, path), &st) == 0)
            fail_msg("%s is there", path);
        return;
    }
    if (lstat(at(box, path), &st) < 0 || !S_ISREG(st.st_mode))
        fail_msg("%s is no file", path);
    box_read(at(box, path), content);
    assert_string_equal(content, text);
}

static int files;
static int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)ftw;
    files += type != FTW_D;
    return 0;
}

/* Files and links of all kinds, in the whole home. */
static int count(const struct box *box)
{
    files = 0;
    assert_int_equal(nftw(box->home, count_one, 8, FTW_PHYS), 0);
    return files;
}

/* ---- a recovery ---- */

static const char *const credentials[] = {"skills/vault/token",
                                          "cache/e2b-recovered/sbx/skills/c/t", NULL};

static int recover_with(const struct box *box, struct tarball *tar, const char *notes,
                        const struct he2b_recovery_options *more, he2b_recovery **ret)
{
    struct he2b_recovery_options options = *more;
    int r;

    options.home = box->home;
    options.sandbox_id = "sbx";
    options.credentials = credentials;
    tar->at = 0;
    r = he2b_recovery_new(ret, &options);
    if (r == HE2B_OK)
        r = he2b_recovery_read(*ret, tarball_source, tar);
    if (r == HE2B_OK)
        r = he2b_recovery_notes(*ret, notes, strlen(notes));
    if (r == HE2B_OK)
        r = he2b_recovery_apply(*ret);
    return r;
}

static int recover(const struct box *box, struct tarball *tar, he2b_recovery **ret)
{
    static const struct he2b_recovery_options none;

    return recover_with(box, tar, "", &none, ret);
}

static size_t counted(const he2b_recovery *recovery, enum he2b_fate fate)
{
    return he2b_recovery_fates(recovery)->of[fate].count;
}

static void named(const he2b_recovery *recovery, enum he2b_fate fate, const char *name)
{
    size_t i;

    for (i = 0; i < HE2B_FATES_NAMED; i++) {
        const char *there = he2b_recovery_fates(recovery)->of[fate].names[i];

        if (there && strcmp(there, name) == 0)
            return;
    }
    fail_msg("%s is not among fate %d", name, (int)fate);
}

/* ---- hostile archives ---- */

static void dots(struct tarball *tar)
{
    tarball_file(tar, "../evil", "x");
    tarball_file(tar, "skills/../../evil", "x");
    tarball_file(tar, "skills/a/../../../evil", "x");
    tarball_file(tar, "skills//evil", "x");
    tarball_file(tar, "skills/./evil", "x");
}

static void absolute(struct tarball *tar)
{
    tarball_file(tar, "/tmp/he2b-evil", "x");
    tarball_file(tar, "//skills/evil", "x");
}

static void link_then_file(struct tarball *tar)
{
    tarball_header(tar, '2', "skills/out", "/tmp", 0777, 0);
    tarball_file(tar, "skills/out/he2b-evil", "inside");
}

static void link_then_file_of_the_name(struct tarball *tar)
{
    tarball_header(tar, '2', "skills/twice", "/tmp/he2b-evil", 0777, 0);
    tarball_file(tar, "skills/twice", "inside");
}

static void hard_links(struct tarball *tar)
{
    tarball_header(tar, '1', "skills/h1", "../secret", 0644, 0);
    tarball_header(tar, '1', "skills/h2", "/etc/passwd", 0644, 0);
    tarball_header(tar, '1', "skills/h3", "config.yaml", 0644, 0);
    tarball_header(tar, '1', "skills/h4", "skills/later", 0644, 0);
    tarball_header(tar, '2', "skills/soft", "/etc/passwd", 0777, 0);
    tarball_header(tar, '1', "skills/h5", "skills/soft", 0644, 0);
    tarball_header(tar, '1', "skills/h6", "skills/h6", 0644, 0);
}

static void specials(struct tarball *tar)
{
    tarball_header(tar, '3', "skills/char", "", 0666, 0);
    tarball_header(tar, '4', "skills/block", "", 0666, 0);
    tarball_header(tar, '6', "skills/fifo", "", 0666, 0);
    tarball_header(tar, '5', "skills/folder/", "", 0000, 0);
    tarball_header(tar, '2', "skills/link", "x", 0777, 0);
}

static void special_bits(struct tarball *tar)
{
    tarball_header(tar, '0', "skills/suid", "", 07777, 1);
    tarball_body(tar, "x", 1);
}

static void doubles(struct tarball *tar)
{
    tarball_file(tar, "skills/d", "one");
    tarball_file(tar, "skills/d", "two");
    tarball_file(tar, "skills/d", "three");
    tarball_file(tar, "skills/d", "two");
}

static void pax_name(struct tarball *tar)
{
    tarball_pax(tar, 'x', "path", "../evil", 7);
    tarball_file(tar, "skills/fine", "x");
    tarball_pax(tar, 'g', "path", "/tmp/he2b-evil", 14);
    tarball_pax(tar, 'x', "path", "skills/paxed", 12);
    tarball_file(tar, "/etc/passwd", "paxed");
}

static void nul_in_name(struct tarball *tar)
{
    tarball_pax(tar, 'x', "path", "skills/nul\0/../../../evil", 25);
    tarball_file(tar, "skills/fine", "x");
}

static void own_paths(struct tarball *tar)
{
    tarball_file(tar, "config.yaml", "evil");
    tarball_file(tar, ".env", "evil");
    tarball_file(tar, "platforms/x", "evil");
    tarball_file(tar, "cache/e2b/0123.lock", "evil");
    tarball_file(tar, "cache/e2b-recovered/x", "evil");
    tarball_file(tar, "skills-evil/x", "evil");
    tarball_file(tar, "Skills/x", "evil");
    tarball_file(tar, "skills", "evil");
}

static void credential(struct tarball *tar)
{
    tarball_file(tar, "skills/vault/token", "stolen");
    tarball_file(tar, "skills/vault/deep/er", "planted");
    tarball_file(tar, "skills/config.yaml", "ordinary");
}

static void holes(struct tarball *tar)
{
    tarball_pax(tar, 'x', "GNU.sparse.map", "0,1,1000000000,1", 16);
    tarball_file(tar, "skills/holes", "ab");
    tarball_file(tar, "skills/after", "x");
}

static void folder_and_file(struct tarball *tar)
{
    tarball_file(tar, "skills/n", "file");
    tarball_file(tar, "skills/n/below", "x");
}

static void control_bytes(struct tarball *tar)
{
    tarball_file(tar, "../\x1b[2J\nWARNING forged", "x");
}

struct on_disk {
    const char *path;
    const char *text; /* NULL: nothing is there */
};

/* Each archive: what is on the disk afterwards (and nothing else), and what is told. */
static const struct {
    const char *name;
    void (*fill)(struct tarball *tar);
    struct on_disk disk[6];
    struct {
        enum he2b_fate fate;
        size_t count;
        const char *name;
    } fates[3];
} hostile[] = {
    {"dots", dots, {{0}}, {{HE2B_FATE_UNSAFE, 5, "skills/../../evil"}}},
    {"absolute names", absolute, {{0}}, {{HE2B_FATE_UNSAFE, 2, "/tmp/he2b-evil"}}},
    {"a link, then a file through it",
     link_then_file,
     {{"skills/out/he2b-evil", "inside"}},
     {{HE2B_FATE_RESTORED, 1, "skills/out/he2b-evil"}}},
    {"a link, then a file in its place",
     link_then_file_of_the_name,
     {{"skills/twice", "inside"}},
     {{HE2B_FATE_RESTORED, 1, "skills/twice"}}},
    {"hard links to what is no earlier file",
     hard_links,
     {{0}},
     {{HE2B_FATE_UNREAD, 6, "skills/h2"}}},
    {"devices, FIFOs, links, folders", specials, {{0}}, {{HE2B_FATE_RESTORED, 0, NULL}}},
    {"special bits", special_bits, {{"skills/suid", "x"}}, {{HE2B_FATE_RESTORED, 1, NULL}}},
    {"one name four times",
     doubles,
     {{"skills/d", "one"},
      {"cache/e2b-recovered/sbx/skills/d", "two"},
      {"cache/e2b-recovered/"
       "sbx-8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f/skills/d",
       "three"}},
     {{HE2B_FATE_RESTORED, 1, "skills/d"}, {HE2B_FATE_PARKED, 3, "skills/d"}}},
    {"PAX names",
     pax_name,
     {{"skills/paxed", "paxed"}},
     {{HE2B_FATE_UNSAFE, 1, "../evil"}, {HE2B_FATE_RESTORED, 1, "skills/paxed"}}},
    {"a NUL in a name", nul_in_name, {{"skills/nul", "x"}}, {{HE2B_FATE_RESTORED, 1, NULL}}},
    {"the host's own", own_paths, {{0}}, {{HE2B_FATE_RESTORED, 0, NULL}}},
    {"credentials",
     credential,
     {{"cache/e2b-recovered/sbx/skills/vault/token", "stolen"},
      {"cache/e2b-recovered/sbx/skills/vault/deep/er", "planted"},
      {"skills/config.yaml", "ordinary"}},
     {{HE2B_FATE_PROTECTED, 2, "skills/vault/token"}, {HE2B_FATE_RESTORED, 1, NULL}}},
    {"holes",
     holes,
     {{"skills/after", "x"}},
     {{HE2B_FATE_UNREAD, 1, "skills/holes"}, {HE2B_FATE_RESTORED, 1, NULL}}},
    {"a file and a folder of one name",
     folder_and_file,
     {{"skills/n", "file"}, {"cache/e2b-recovered/sbx/skills/n/below", "x"}},
     {{HE2B_FATE_RESTORED, 1, NULL}, {HE2B_FATE_PARKED, 1, "skills/n/below"}}},
    {"control bytes", control_bytes, {{0}}, {{HE2B_FATE_UNSAFE, 1, NULL}}},
};

static void test_hostile_archives(void **state)
{
    static const size_t pieces[] = {0, 1, 513};
    size_t i;
    size_t j;
    size_t k;

    (void)state;
    for (i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
        for (k = 0; k < sizeof(pieces) / sizeof(*pieces); k++) {
            struct tarball tar = {.piece = pieces[k]};
            he2b_recovery *recovery = NULL;
            void *box = NULL;
            int expected = 0;

            print_message("%s, pieces of %zu\n", hostile[i].name, pieces[k]);
            box_make(&box);
            hostile[i].fill(&tar);
            tarball_end(&tar);
            if (k == 2)
                tarball_gzip(&tar);
            if (recover(box, &tar, &recovery) != HE2B_OK)
                fail_msg("%s", he2b_recovery_why(recovery));
            for (j = 0; j < 6 && hostile[i].disk[j].path; j++, expected++)
                has(box, hostile[i].disk[j].path, hostile[i].disk[j].text);
            assert_int_equal(count(box), expected);
            assert_int_equal(access("/tmp/he2b-evil", F_OK), -1);
            for (j = 0; j < 3 && hostile[i].fates[j].fate; j++) {
                assert_int_equal(counted(recovery, hostile[i].fates[j].fate),
                                 hostile[i].fates[j].count);
                if (hostile[i].fates[j].name)
                    named(recovery, hostile[i].fates[j].fate, hostile[i].fates[j].name);
            }
            he2b_recovery_del(recovery);
            tarball_free(&tar);
            box_drop(&box);
        }
    }
}

static void test_no_special_bits(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;
    struct stat st;

    special_bits(&tar);
    tarball_header(&tar, '0', "skills/none", "", 0, 1);
    tarball_body(&tar, "x", 1);
    tarball_header(&tar, '0', "skills/run", "", 0750, 1);
    tarball_body(&tar, "x", 1);
    tarball_end(&tar);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    assert_int_equal(stat(at(box, "skills/suid"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0775);
    assert_int_equal(st.st_mtime, 1000000000);
    /* Hermes must be able to read it, or every push fails */
    assert_int_equal(stat(at(box, "skills/none"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0400);
    assert_int_equal(stat(at(box, "skills/run"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* ---- B-86: archives that cannot be read: nothing is written ---- */

static void refused(const char *what, const struct box *box, struct tarball *tar,
                    const struct he2b_recovery_options *options, int code)
{
    he2b_recovery *recovery = NULL;

    print_message("%s\n", what);
    assert_int_equal(recover_with(box, tar, "", options, &recovery), code);
    assert_true(he2b_recovery_why(recovery)[0] != '\0');
    assert_int_equal(count(box), 0);
    he2b_recovery_del(recovery);
    tarball_free(tar);
}

static void test_unreadable_archives(void **state)
{
    static const struct he2b_recovery_options none;
    const struct he2b_recovery_options small = {.cap = 100000};
    const struct he2b_recovery_options few = {.members = 10};
    struct box *box = *state;
    struct tarball tar = {0};
    char name[32];
    char *zeros = calloc(1, 200000);
    size_t i;

    assert_non_null(zeros);
    refused("empty", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_add(&tar, "this is no archive, whatever it is", 34);
    refused("nonsense", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_file(&tar, "skills/a", "a");
    refused("tar was killed between two members: no mark", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_file(&tar, "skills/a", "a");
    tarball_gzip(&tar);
    refused("the same, compressed", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_file(&tar, "skills/a", "a");
    tarball_header(&tar, '0', "skills/b", "", 0644, 5000);
    tarball_body(&tar, "b", 1);
    refused("cut inside a member", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_file(&tar, "skills/a", "a");
    tarball_end(&tar);
    tarball_gzip(&tar);
    tar.len -= 20;
    refused("cut inside the compressed stream", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_file(&tar, "skills/a", "a");
    tarball_file(&tar, "skills/b", "b");
    tar.data[1024] ^= 1;
    tarball_end(&tar);
    refused("a damaged header", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_file(&tar, "skills/a", "a");
    tarball_header(&tar, '0', "skills/b", "", 0644, INT64_MAX);
    tarball_end(&tar);
    refused("8 EB", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_header(&tar, '0', "skills/b", "", 0644, -1);
    tarball_end(&tar);
    refused("a negative size", box, &tar, &none, HE2B_ERR_PROTOCOL);
    tarball_file(&tar, "skills/a", "a");
    tar.error = ECONNRESET;
    refused("the connection is lost", box, &tar, &none, HE2B_ERR_STEP);

    /* B-87: caps, also of what nobody asked for, and of what is compressed to nothing */
    tarball_file(&tar, "skills/a", "a");
    tarball_header(&tar, '0', "other/b", "", 0644, 200000);
    tarball_body(&tar, zeros, 200000);
    tarball_end(&tar);
    tarball_gzip(&tar);
    assert_true(tar.len < 2000);
    refused("more than the cap, of what nobody asked for", box, &tar, &small, HE2B_ERR_OVERFLOW);
    memset(zeros, 'x', 200000);
    tarball_header(&tar, '5', "skills/", "", 0755, 200000);
    tarball_body(&tar, zeros, 200000);
    tarball_end(&tar);
    refused("data of a folder", box, &tar, &small, HE2B_ERR_PROTOCOL);
    for (i = 0; i < 11; i++) {
        snprintf(name, sizeof(name), "skills/%zu/", i);
        tarball_header(&tar, '5', name, "", 0755, 0);
    }
    tarball_end(&tar);
    refused("too many members", box, &tar, &few, HE2B_ERR_OVERFLOW);
    free(zeros);
}

/* Hard links make much out of little: what is written has the cap too. */
static void test_link_bomb(void **state)
{
    const struct he2b_recovery_options small = {.cap = 100000};
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;
    char *text = calloc(1, 30001);
    char name[32];
    int i;

    assert_non_null(text);
    memset(text, 'x', 30000);
    tarball_file(&tar, "skills/a", text);
    for (i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "skills/l%d", i);
        tarball_header(&tar, '1', name, "skills/a", 0644, 0);
    }
    tarball_end(&tar);
    assert_int_equal(recover_with(box, &tar, "", &small, &recovery), HE2B_ERR_OVERFLOW);
    assert_true(count(box) <= 3);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
    free(text);
}

/* ---- B-81: what the host has ---- */

static void test_what_the_host_has(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;
    char opened[4096];
    int watch;

    shell(box, "mkdir skills memories && echo -n same > skills/same && echo -n mine > skills/other "
               "&& echo -n samelonger > skills/longer && echo -n sa > skills/shorter "
               "&& mkfifo skills/fifo && mkdir skills/folder && ln -s nowhere skills/dangling "
               "&& : > skills/empty && echo -n x > skills/emptied");
    tarball_file(&tar, "./skills/same", "same");
    tarball_file(&tar, "./skills/other", "theirs");
    tarball_file(&tar, "./skills/longer", "same");
    tarball_file(&tar, "./skills/shorter", "same");
    tarball_file(&tar, "./skills/fifo", "f");
    tarball_file(&tar, "./skills/folder", "f");
    tarball_file(&tar, "./skills/dangling", "f");
    tarball_file(&tar, "./skills/empty", "");
    tarball_file(&tar, "./skills/emptied", "");
    tarball_file(&tar, "./skills/empty2", "");
    tarball_file(&tar, "./memories/new", "new");
    tarball_header(&tar, '1', "./skills/hard", "./skills/same", 0644, 0);
    tarball_header(&tar, '1', "./skills/hard2", "./skills/other", 0644, 0);
    tarball_end(&tar);
    watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(inotify_add_watch(watch, at(box, "skills/fifo"), IN_OPEN) >= 0);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    /* a FIFO is never opened, not even for a moment */
    assert_int_equal(read(watch, opened, sizeof(opened)), -1);
    close(watch);
    assert_int_equal(counted(recovery, HE2B_FATE_SAME), 2);
    assert_int_equal(counted(recovery, HE2B_FATE_PARKED), 7);
    assert_int_equal(counted(recovery, HE2B_FATE_RESTORED), 4);
    has(box, "skills/other", "mine");
    has(box, "cache/e2b-recovered/sbx/skills/other", "theirs");
    has(box, "cache/e2b-recovered/sbx/skills/longer", "same");
    has(box, "cache/e2b-recovered/sbx/skills/shorter", "same");
    has(box, "cache/e2b-recovered/sbx/skills/fifo", "f");
    has(box, "cache/e2b-recovered/sbx/skills/emptied", "");
    has(box, "skills/empty2", "");
    has(box, "memories/new", "new");
    has(box, "skills/hard", "same");
    has(box, "skills/hard2", "theirs");
    he2b_recovery_del(recovery);

    /* once more: nothing new, identical copies are used again */
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    assert_int_equal(counted(recovery, HE2B_FATE_RESTORED), 0);
    assert_int_equal(counted(recovery, HE2B_FATE_PARKED), 7);
    assert_int_equal(count(box), 8 + 4 + 7);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* B-86: what tar says of files, GNU's and BusyBox' words. */
static void test_notes(void **state)
{
    static const struct he2b_recovery_options none;
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    tarball_file(&tar, "skills/changed", "x");
    tarball_header(&tar, '1', "skills/link", "skills/changed", 0644, 0);
    tarball_file(&tar, "skills/shrank\n", "x\0\0");
    tarball_file(&tar, "skills/fine", "x");
    tarball_end(&tar);
    assert_int_equal(
        recover_with(box, &tar,
                     "tar: Removing leading `/' from member names\n"
                     "tar: skills/changed: file changed as we read it\n"
                     "/bin/tar: skills/shrank\\n: File shrank by 2 bytes; padding with zeros\n"
                     "tar: skills/secret: Cannot open: Permission denied\n"
                     "tar: can't open 'skills/busy': Permission denied\n"
                     "tar: skills: file changed as we read it\n"
                     "tar: Exiting with failure status due to previous errors",
                     &none, &recovery),
        HE2B_OK);
    assert_int_equal(counted(recovery, HE2B_FATE_CHANGED), 3);
    named(recovery, HE2B_FATE_CHANGED, "skills/shrank\n");
    named(recovery, HE2B_FATE_CHANGED, "skills/link");
    assert_int_equal(counted(recovery, HE2B_FATE_UNREAD), 2);
    named(recovery, HE2B_FATE_UNREAD, "skills/secret");
    named(recovery, HE2B_FATE_UNREAD, "skills/busy");
    assert_int_equal(count(box), 1);
    has(box, "skills/fine", "x");
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* B-75, as far as it is about what is not restored. */
static void test_left(void **state)
{
    static const struct he2b_recovery_options none;
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;
    struct he2b_recovery_options options = none;
    uint8_t sum[HE2B_SHA256_SIZE];

    tarball_file(&tar, "home/user/.hermes/skills/gone", "x");
    tarball_file(&tar, "home/user/.hermes-evil/skills/evil", "x");
    tarball_file(&tar, "home/user/.hermes/skills/kept", "x");
    tarball_end(&tar);
    options.home = box->home;
    options.sandbox_id = "../../x";
    options.prefix = "home/user/.hermes/";
    assert_int_equal(he2b_recovery_new(&recovery, &options), HE2B_OK);
    assert_int_equal(he2b_recovery_read(recovery, tarball_source, &tar), HE2B_OK);
    assert_true(he2b_recovery_has(recovery, "skills/gone", sum));
    assert_int_equal(sum[0], 0x2d);
    assert_false(he2b_recovery_has(recovery, "skills/evil", sum));
    he2b_recovery_leave(recovery, "skills/gone");
    he2b_recovery_leave(recovery, "skills/never");
    assert_int_equal(he2b_recovery_apply(recovery), HE2B_OK);
    assert_int_equal(counted(recovery, HE2B_FATE_DELETED), 1);
    assert_int_equal(count(box), 1);
    has(box, "skills/kept", "x");
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* ---- layouts of the host (B-82 to B-84) ---- */

static void fill_layout(struct tarball *tar)
{
    tarball_file(tar, "skills/in/new", "new");
    tarball_file(tar, "skills/known", "known");
    tarball_file(tar, "memories/m", "m");
    tarball_end(tar);
}

static void test_home_is_a_link(void **state)
{
    struct box *box = *state;
    struct box through = *box;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    shell(box, "mkdir real && ln -s real link && mkdir real/skills && echo -n known > "
               "real/skills/known");
    snprintf(through.home, sizeof(through.home), "%.58s/link", box->home);
    fill_layout(&tar);
    assert_int_equal(recover(&through, &tar, &recovery), HE2B_OK);
    assert_int_equal(counted(recovery, HE2B_FATE_RESTORED), 2);
    assert_int_equal(counted(recovery, HE2B_FATE_SAME), 1);
    has(box, "real/skills/in/new", "new");
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

static void test_root_is_a_link(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    shell(box, "mkdir my-skills && ln -s my-skills skills && echo -n known > my-skills/known");
    fill_layout(&tar);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    /* what Hermes syncs through the link is the same; what is new is not written through it */
    assert_int_equal(counted(recovery, HE2B_FATE_SAME), 1);
    assert_int_equal(counted(recovery, HE2B_FATE_REDIRECTED), 1);
    assert_int_equal(counted(recovery, HE2B_FATE_RESTORED), 1);
    has(box, "my-skills/in", NULL);
    has(box, "cache/e2b-recovered/sbx/skills/in/new", "new");
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

static void test_link_inside_leads_out(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    shell(box, "mkdir outside skills && ln -s ../outside skills/in && ln -s outside memories && "
               "echo -n mine > outside/m");
    fill_layout(&tar);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    has(box, "outside/new", NULL);
    has(box, "outside/m", "mine");
    has(box, "cache/e2b-recovered/sbx/skills/in/new", "new");
    has(box, "cache/e2b-recovered/sbx/memories/m", "m");
    named(recovery, HE2B_FATE_REDIRECTED, "skills/in/new");
    named(recovery, HE2B_FATE_PARKED, "memories/m");
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* A credential that is reached by another name of its folder. */
static void test_credential_through_a_link(void **state)
{
    static const char *const linked[] = {"tokens/t", "skills/missing/t", "linked", NULL};
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;
    struct he2b_recovery_options options = {
        .home = box->home, .sandbox_id = "sbx", .credentials = linked};

    shell(box, "mkdir -p skills/real skills/held && ln -s skills/real tokens && "
               "echo -n mine > skills/held/t && ln -s skills/held/t linked");
    tarball_file(&tar, "skills/real/t", "stolen");
    tarball_file(&tar, "skills/real/other", "planted");
    tarball_file(&tar, "skills/missing/t", "stolen");
    tarball_file(&tar, "skills/held/t", "stolen");
    tarball_file(&tar, "skills/held/other", "planted");
    tarball_end(&tar);
    assert_int_equal(he2b_recovery_new(&recovery, &options), HE2B_OK);
    assert_int_equal(he2b_recovery_read(recovery, tarball_source, &tar), HE2B_OK);
    assert_int_equal(he2b_recovery_apply(recovery), HE2B_OK);
    assert_int_equal(counted(recovery, HE2B_FATE_PROTECTED), 5);
    has(box, "skills/held/t", "mine");
    has(box, "skills/held/other", NULL);
    has(box, "skills/real/t", NULL);
    has(box, "skills/real/other", NULL);
    has(box, "skills/missing", NULL);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* The folder of a credential under another name that no link tells: a mount. */
static int on_a_bind_mount(struct box *box, int in, int out)
{
    static const char *const mounted[] = {"tokens/t", NULL};
    const struct he2b_recovery_options options = {
        .home = box->home, .sandbox_id = "sbx", .credentials = mounted};
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    (void)in;
    (void)out;
    if (unshare(getuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(at(box, "tokens"), at(box, "skills/real"), NULL, MS_BIND, NULL) != 0)
        return BOX_SKIP;
    tarball_file(&tar, "skills/real/t", "stolen");
    tarball_file(&tar, "skills/real/deep/t", "planted");
    tarball_end(&tar);
    BOX_CHECK(he2b_recovery_new(&recovery, &options) == HE2B_OK);
    BOX_CHECK(he2b_recovery_read(recovery, tarball_source, &tar) == HE2B_OK);
    BOX_CHECK(he2b_recovery_apply(recovery) == HE2B_OK);
    BOX_CHECK(counted(recovery, HE2B_FATE_PROTECTED) == 2);
    BOX_CHECK(access(at(box, "tokens/t"), F_OK) < 0);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
    return 0;
}

static void test_credential_through_a_mount(void **state)
{
    struct box *box = *state;
    struct box_child child;
    int code;

    shell(box, "mkdir -p skills/real tokens");
    box_start(&child, box, on_a_bind_mount, false);
    code = box_end(&child);
    if (code == BOX_SKIP) {
        print_message("nothing can be mounted here: not tried\n");
        skip();
    }
    assert_int_equal(code, 0);
}

/* A source during which the host's file becomes another. */
struct changing {
    struct tarball tar;
    const struct box *box;
};

static ssize_t change_on_the_way(void *user, void *data, size_t size)
{
    struct changing *changing = user;

    if (changing->tar.at == 1024)
        box_write(at(changing->box, "skills/a"), "edited", 0644);
    return tarball_source(&changing->tar, data, size);
}

/* The host had the content of a hard link's target, and has it no more when the link comes. */
static void test_host_changes_under_a_link(void **state)
{
    struct box *box = *state;
    const struct he2b_recovery_options options = {.home = box->home, .sandbox_id = "sbx"};
    struct changing changing = {.tar = {.piece = 512}, .box = box};
    he2b_recovery *recovery = NULL;

    shell(box, "mkdir skills && echo -n same > skills/a");
    tarball_file(&changing.tar, "skills/a", "same");
    tarball_header(&changing.tar, '1', "skills/b", "skills/a", 0644, 0);
    tarball_end(&changing.tar);
    assert_int_equal(he2b_recovery_new(&recovery, &options), HE2B_OK);
    assert_int_equal(he2b_recovery_read(recovery, change_on_the_way, &changing), HE2B_OK);
    assert_int_equal(he2b_recovery_apply(recovery), HE2B_OK);
    named(recovery, HE2B_FATE_CHANGED, "skills/b");
    has(box, "skills/a", "edited");
    has(box, "skills/b", NULL);
    he2b_recovery_del(recovery);
    tarball_free(&changing.tar);
}

static void parking_fails(const struct box *box)
{
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    tarball_file(&tar, "skills/c/t", "theirs");
    tarball_end(&tar);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_ERR_STEP);
    assert_non_null(strstr(he2b_recovery_why(recovery), "skills/c/t"));
    has(box, "skills/c/t", "mine");
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* B-84: what cannot be parked may not be buried by a push either. */
static void test_quarantine_is_a_link(void **state)
{
    struct box *box = *state;

    shell(box, "mkdir -p cache elsewhere skills/c && echo -n mine > skills/c/t && "
               "ln -s ../elsewhere cache/e2b-recovered");
    parking_fails(box);
    assert_int_equal(rmdir(at(box, "elsewhere")), 0);
    shell(box, "rm cache/e2b-recovered && mkdir -p moved/e2b-recovered && rm -rf cache && "
               "ln -s moved cache");
    parking_fails(box);
    shell(box, "rmdir moved/e2b-recovered");
}

static void test_quarantine_holds_a_credential(void **state)
{
    struct box *box = *state;

    shell(box, "mkdir -p skills/c && echo -n mine > skills/c/t");
    parking_fails(box);
    has(box, "cache/e2b-recovered/sbx/skills/c/t", NULL);
}

/* A link inside the quarantine leads nothing out of it. */
static void test_link_in_the_quarantine(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    shell(box, "mkdir -p outside skills cache/e2b-recovered && echo -n mine > skills/known && "
               "ln -s ../../outside cache/e2b-recovered/sbx");
    tarball_file(&tar, "skills/known", "theirs");
    tarball_end(&tar);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    assert_int_equal(rmdir(at(box, "outside")), 0);
    assert_int_equal(counted(recovery, HE2B_FATE_PARKED), 1);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

static int without_rights(struct box *box, int in, int out)
{
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;

    (void)in;
    (void)out;
    fill_layout(&tar);
    BOX_CHECK(chmod(at(box, "skills/in"), 0555) == 0);
    BOX_CHECK(chmod(at(box, "skills/known"), 0000) == 0);
    BOX_CHECK(recover(box, &tar, &recovery) == HE2B_OK);
    BOX_CHECK(counted(recovery, HE2B_FATE_UNWRITABLE) == 1);
    BOX_CHECK(counted(recovery, HE2B_FATE_PARKED) == 1);
    BOX_CHECK(counted(recovery, HE2B_FATE_RESTORED) == 1);
    he2b_recovery_del(recovery);
    /* a host on which nothing can be written: the same is fine, anything else is not */
    BOX_CHECK(system("rm -rf ../x") == 0);
    BOX_CHECK(chmod(at(box, "skills/known"), 0444) == 0);
    BOX_CHECK(chmod(at(box, "cache"), 0555) == 0);
    BOX_CHECK(chmod(at(box, "cache/e2b"), 0555) == 0);
    BOX_CHECK(recover(box, &tar, &recovery) == HE2B_ERR_STEP);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
    tarball_file(&tar, "skills/known", "known");
    tarball_end(&tar);
    BOX_CHECK(recover(box, &tar, &recovery) == HE2B_OK);
    BOX_CHECK(counted(recovery, HE2B_FATE_SAME) == 1);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
    return 0;
}

static void test_where_nothing_can_be_written(void **state)
{
    struct box *box = *state;

    shell(box, "mkdir -p skills/in && echo -n known > skills/known");
    box_as_normal_user(box, without_rights);
}

/* A small disk, in namespaces of a child's own. */
static int on_a_full_disk(struct box *box, int in, int out)
{
    struct tarball tar = {0};
    he2b_recovery *recovery = NULL;
    char *text = calloc(1, 300001);

    (void)in;
    (void)out;
    if (unshare(getuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", at(box, "cache"), "tmpfs", 0, "size=128k") != 0)
        return BOX_SKIP;
    BOX_CHECK(text != NULL);
    memset(text, 'x', 300000);
    tarball_file(&tar, "skills/big", text);
    tarball_end(&tar);
    BOX_CHECK(recover(box, &tar, &recovery) == HE2B_ERR_STEP);
    BOX_CHECK(strstr(he2b_recovery_why(recovery), strerror(ENOSPC)));
    BOX_CHECK(access(at(box, "skills/big"), F_OK) < 0);
    he2b_recovery_del(recovery);
    /* the spool holds it, and its copy does not fit any more */
    tarball_free(&tar);
    text[80000] = '\0';
    BOX_CHECK(system("true") == 0);
    box_write(at(box, "skills/mine"), "mine", 0644);
    tarball_file(&tar, "skills/mine", text);
    tarball_end(&tar);
    BOX_CHECK(recover(box, &tar, &recovery) == HE2B_ERR_STEP);
    BOX_CHECK(access(at(box, "cache/e2b-recovered/sbx/skills/mine"), F_OK) < 0);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
    free(text);
    return 0;
}

static void test_full_disk(void **state)
{
    struct box *box = *state;
    struct box_child child;
    int code;

    shell(box, "mkdir -p skills cache");
    box_start(&child, box, on_a_full_disk, false);
    code = box_end(&child);
    if (code == BOX_SKIP) {
        print_message("no disk of its own can be mounted here: not tried\n");
        skip();
    }
    assert_int_equal(code, 0);
}

/* B-85: names that this host cannot hold cost their file only; at most ten, sorted. */
static void test_names_the_host_cannot_hold(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    struct he2b_buf said;
    he2b_recovery *recovery = NULL;
    char name[400] = "skills/";
    int i;

    memset(name + 7, 'n', 300);
    for (i = 0; i < 12; i++) {
        name[7] = (char)('z' - i);
        tarball_pax(&tar, 'x', "path", name, strlen(name));
        tarball_file(&tar, "x", "x");
    }
    name[7] = 'n';
    name[7 + 255] = '\0';
    tarball_pax(&tar, 'x', "path", name, strlen(name));
    tarball_file(&tar, "x", "longest");
    tarball_end(&tar);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    assert_int_equal(counted(recovery, HE2B_FATE_UNHOLDABLE), 12);
    assert_int_equal(counted(recovery, HE2B_FATE_RESTORED), 1);
    has(box, name, "longest");
    he2b_buf_init(&said, 10000);
    assert_int_equal(he2b_fates_say(he2b_recovery_fates(recovery), HE2B_FATE_UNHOLDABLE, &said),
                     HE2B_OK);
    assert_non_null(strstr(said.data, "12 files not to be held"));
    assert_non_null(strstr(said.data, ": skills/on"));
    assert_non_null(strstr(said.data, " and 2 more"));
    assert_null(strstr(said.data, "skills/zn"));
    he2b_buf_free(&said);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

/* B-100: what a name holds forges no line. */
static void test_names_are_made_safe(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    struct he2b_buf said;
    he2b_recovery *recovery = NULL;

    control_bytes(&tar);
    tarball_end(&tar);
    assert_int_equal(recover(box, &tar, &recovery), HE2B_OK);
    he2b_buf_init(&said, 10000);
    assert_int_equal(he2b_fates_say(he2b_recovery_fates(recovery), HE2B_FATE_UNSAFE, &said),
                     HE2B_OK);
    assert_null(strchr(said.data, '\n'));
    assert_null(strchr(said.data, '\x1b'));
    he2b_buf_free(&said);
    he2b_recovery_del(recovery);
    tarball_free(&tar);
}

#define T(name) cmocka_unit_test_setup_teardown(name, box_make, box_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_archives),
        T(test_no_special_bits),
        T(test_unreadable_archives),
        T(test_link_bomb),
        T(test_what_the_host_has),
        T(test_notes),
        T(test_left),
        T(test_home_is_a_link),
        T(test_root_is_a_link),
        T(test_link_inside_leads_out),
        T(test_credential_through_a_link),
        T(test_credential_through_a_mount),
        T(test_host_changes_under_a_link),
        T(test_quarantine_is_a_link),
        T(test_quarantine_holds_a_credential),
        T(test_link_in_the_quarantine),
        T(test_where_nothing_can_be_written),
        T(test_full_disk),
        T(test_names_the_host_cannot_hold),
        T(test_names_are_made_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
