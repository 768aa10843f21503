/* B-71, B-72, B-86, B-87: archives that come and go, with real tars at the other end. */
#include "he2b.h"
#include "host/archive.h"
#include "tests/unit/host/box.h"
#include "tests/unit/host/tarball.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void shell(const struct box *box, const char *command)
{
    char line[1024];

    snprintf(line, sizeof(line), "cd '%s' && { %s ; }", box->home, command);
    if (system(line) != 0)
        fail_msg("%s", line);
}

/* ---- names ---- */

/* Every byte that Linux allows, in parts of at most 255: whatever the locale thinks of them. */
static size_t odd_names(char names[16][600])
{
    size_t n = 0;
    size_t i;
    int byte;

    for (byte = 1, i = 0; byte < 256; byte++)
        if (byte != '/')
            names[n][i++] = (char)byte;
    names[n++][i] = '\0';
    strcpy(names[n++], "-rf");
    strcpy(names[n++], "--help");
    strcpy(names[n++], "line\nbreak");
    strcpy(names[n++], "\xff\xfe\x80");
    strcpy(names[n++], "caf\xe9");                  /* Latin-1 */
    strcpy(names[n++], "caf\xc3\xa9");              /* UTF-8 */
    strcpy(names[n++], "cafe\xcc\x81");             /* the same, decomposed */
    strcpy(names[n++], "\xed\xa0\x80\xed\xb0\x80"); /* surrogates, which CESU-8 would join */
    strcpy(names[n++], " blank ");
    strcpy(names[n++], "back\\slash\\n");
    memset(names[n], 'l', 255);
    names[n++][255] = '\0';
    memset(names[n], 'd', 255);
    names[n][255] = '/';
    memset(names[n] + 256, 'f', 255);
    names[n++][511] = '\0';
    return n;
}

static const char *const locales[] = {"C", "C.UTF-8", "en_US.ISO-8859-1"};

static int open_in(const struct box *box, const char *name, int flags)
{
    int home = open(box->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char folder[300];
    int fd;

    assert_true(home >= 0);
    if (strchr(name, '/')) {
        memcpy(folder, name, 255);
        folder[255] = '\0';
        mkdirat(home, folder, 0755);
    }
    fd = openat(home, name, flags | O_CLOEXEC, 0644);
    close(home);
    return fd;
}

static void make_odd_files(const struct box *box)
{
    char names[16][600] = {{0}};
    size_t n = odd_names(names);
    size_t i;

    for (i = 0; i < n; i++) {
        int fd = open_in(box, names[i], O_WRONLY | O_CREAT | O_EXCL);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, names[i], strlen(names[i])), strlen(names[i]));
        close(fd);
    }
}

/* All of them, with their own name as content. */
static void read_odd_files(struct tarball *tar, bool dots)
{
    char names[16][600] = {{0}};
    size_t n = odd_names(names);
    bool seen[16] = {0};
    he2b_archive *archive = NULL;
    struct he2b_member member;
    const void *data;
    size_t len;
    size_t count = 0;
    size_t i;

    tar->at = 0;
    assert_int_equal(he2b_archive_new(&archive, tarball_source, tar, HE2B_ARCHIVE_CAP, 1000), 0);
    while (he2b_archive_next(archive, &member) == HE2B_ARCHIVE_MORE) {
        if (member.kind != HE2B_MEMBER_FILE)
            continue;
        for (i = 0; i < n && strcmp(member.name + (dots ? 2 : 0), names[i]) != 0; i++)
            continue;
        if (i == n)
            fail_msg("unexpected: %s", member.name);
        assert_false(seen[i]);
        seen[i] = true;
        count++;
        assert_int_equal(he2b_archive_data(archive, &data, &len), HE2B_ARCHIVE_MORE);
        assert_int_equal(len, strlen(names[i]));
        assert_memory_equal(data, names[i], len);
    }
    assert_string_equal(he2b_archive_why(archive), "");
    assert_int_equal(count, n);
    he2b_archive_del(archive);
}

static void write_odd_files(const struct box *box, struct tarball *tar)
{
    char names[16][600] = {{0}};
    size_t n = odd_names(names);
    he2b_archive_writer *writer = NULL;
    struct he2b_archive_file added;
    size_t i;

    assert_int_equal(he2b_archive_writer_new(&writer, tarball_sink, tar), HE2B_OK);
    for (i = 0; i < n; i++) {
        int fd = open_in(box, names[i], O_RDONLY);

        assert_true(fd >= 0);
        assert_int_equal(he2b_archive_add(writer, names[i], fd, &added), HE2B_ADDED);
        assert_int_equal(added.size, strlen(names[i]));
        close(fd);
    }
    assert_int_equal(he2b_archive_writer_finish(writer), HE2B_OK);
    he2b_archive_writer_del(writer);
}

static void test_names(void **state)
{
    static const struct {
        const char *program;
        const char *pack;
        const char *unpack;
    } tars[] = {
        {"tar", "tar -C '%s' -czf - .", "rm -rf '%s'; mkdir '%s' && tar -C '%s' -xzf -"},
        {"tar", "tar --format=pax -C '%s' -czf - .", NULL},
        {"busybox", "busybox tar -C '%s' -czf - .",
         "rm -rf '%s'; mkdir '%s' && busybox tar -C '%s' -xzf -"},
    };
    struct box *box = *state;
    char line[512];
    size_t i;
    size_t j;

    make_odd_files(box);
    for (j = 0; j < sizeof(locales) / sizeof(*locales); j++) {
        if (!setlocale(LC_ALL, locales[j])) {
            print_message("no locale %s here: not tried\n", locales[j]);
            continue;
        }
        for (i = 0; i < sizeof(tars) / sizeof(*tars); i++) {
            struct tarball tar = {0};

            if (!have_program(tars[i].program))
                continue;
            print_message("%s, %s\n", locales[j], tars[i].pack);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(line, sizeof(line), tars[i].pack, box->home);
            tarball_from(&tar, line);
            read_odd_files(&tar, true);
            tarball_free(&tar);
            write_odd_files(box, &tar);
            read_odd_files(&tar, false);
            if (tars[i].unpack) {
                snprintf(line, sizeof(line), tars[i].unpack, box->home, box->home, box->home);
                tarball_to(&tar, line);
                tarball_free(&tar);
                write_odd_files(box, &tar);
                read_odd_files(&tar, false);
            }
#pragma GCC diagnostic pop
            tarball_free(&tar);
        }
    }
    setlocale(LC_ALL, "C");
}

/* ---- what a real tar says and does ---- */

static void test_hard_links_of_real_tars(void **state)
{
    static const char *const commands[] = {"tar -czf - one two", "busybox tar -czf - one two",
                                           "tar --format=pax -cf - one two"};
    struct box *box = *state;
    char line[512];
    size_t i;

    shell(box, "echo -n x > one && ln one two");
    for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        struct tarball tar = {0};
        he2b_archive *archive = NULL;
        struct he2b_member member;

        if (commands[i][0] == 'b' && !have_program("busybox"))
            continue;
        snprintf(line, sizeof(line), "cd '%s' && %s", box->home, commands[i]);
        tarball_from(&tar, line);
        assert_int_equal(he2b_archive_new(&archive, tarball_source, &tar, HE2B_ARCHIVE_CAP, 9), 0);
        assert_int_equal(he2b_archive_next(archive, &member), HE2B_ARCHIVE_MORE);
        assert_int_equal(member.kind, HE2B_MEMBER_FILE);
        assert_int_equal(he2b_archive_next(archive, &member), HE2B_ARCHIVE_MORE);
        assert_int_equal(member.kind, HE2B_MEMBER_HARD_LINK);
        assert_string_equal(member.name, "two");
        assert_string_equal(member.link, "one");
        assert_int_equal(he2b_archive_next(archive, &member), HE2B_ARCHIVE_END);
        assert_int_equal(he2b_archive_next(archive, &member), HE2B_ARCHIVE_END);
        he2b_archive_del(archive);
        tarball_free(&tar);
    }
}

/* ---- writing ---- */

static int make_file(const struct box *box, const char *name, size_t size, char fill)
{
    int fd = open_in(box, name, O_RDWR | O_CREAT | O_EXCL);
    char *bytes = malloc(size);

    assert_true(fd >= 0 && bytes);
    memset(bytes, fill, size);
    assert_int_equal(write(fd, bytes, size), size);
    free(bytes);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void test_modes_and_times(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_archive_writer *writer = NULL;
    struct he2b_archive_file added;
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1234567890}};
    char line[512];
    int fd = make_file(box, "tool", 100, 't');

    assert_int_equal(fchmod(fd, 04751), 0);
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(he2b_archive_writer_new(&writer, tarball_sink, &tar), HE2B_OK);
    assert_int_equal(he2b_archive_add(writer, "bin/tool", fd, &added), HE2B_ADDED);
    close(fd);
    assert_int_equal(he2b_archive_writer_finish(writer), HE2B_OK);
    he2b_archive_writer_del(writer);
    snprintf(line, sizeof(line), "tar -C '%s' -xzpf -", box->home);
    tarball_to(&tar, line);
    shell(box, "test \"$(stat -c %a:%Y:%s bin/tool)\" = 751:1234567890:100");
    tarball_free(&tar);
}

/* A sink that changes the file that is on its way. */
struct meddler {
    struct tarball tar;
    int fd;
    off_t size;
};

static int meddle(void *user, const void *data, size_t len)
{
    struct meddler *meddler = user;

    if (meddler->fd >= 0)
        assert_int_equal(ftruncate(meddler->fd, meddler->size), 0);
    meddler->fd = -1;
    return tarball_sink(&meddler->tar, data, len);
}

/* A file that shrinks or grows on its way is told, and harms no other. */
static void test_files_that_change(void **state)
{
    static const off_t sizes[] = {0, 300000, 9000000};
    struct box *box = *state;
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct meddler meddler = {.size = sizes[i]};
        he2b_archive_writer *writer = NULL;
        struct he2b_archive_file added;
        char line[512];
        char noise[4096];
        FILE *random = fopen("/dev/urandom", "rb");
        int j;

        shell(box, "rm -rf big after out && mkdir out");
        meddler.fd = make_file(box, "big", 0, 'b');
        assert_non_null(random);
        for (j = 0; j < 3000001 / 4096; j++) {
            assert_int_equal(fread(noise, 1, sizeof(noise), random), sizeof(noise));
            assert_int_equal(write(meddler.fd, noise, sizeof(noise)), sizeof(noise));
        }
        fclose(random);
        assert_int_equal(ftruncate(meddler.fd, 3000001), 0);
        assert_int_equal(lseek(meddler.fd, 0, SEEK_SET), 0);
        assert_int_equal(he2b_archive_writer_new(&writer, meddle, &meddler), HE2B_OK);
        j = meddler.fd;
        assert_int_equal(he2b_archive_add(writer, "big", j, &added), HE2B_ADDED_CHANGED);
        assert_int_equal(added.size, 3000001);
        assert_int_equal(meddler.fd, -1);
        close(j);
        j = make_file(box, "after", 5, 'a');
        assert_int_equal(he2b_archive_add(writer, "after", j, &added), HE2B_ADDED);
        close(j);
        assert_int_equal(he2b_archive_writer_finish(writer), HE2B_OK);
        he2b_archive_writer_del(writer);
        snprintf(line, sizeof(line), "tar -C '%s/out' -xzf -", box->home);
        tarball_to(&meddler.tar, line);
        shell(box, "test \"$(cat out/after)\" = aaaaa && test $(stat -c %s out/big) = 3000001");
        tarball_free(&meddler.tar);
    }
}

static void test_what_is_no_file(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    he2b_archive_writer *writer = NULL;
    struct he2b_archive_file added;
    int fd = open(box->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int written = open_in(box, "w", O_WRONLY | O_CREAT);

    assert_int_equal(he2b_archive_writer_new(&writer, tarball_sink, &tar), HE2B_OK);
    assert_int_equal(he2b_archive_add(writer, "x", fd, &added), HE2B_ADDED_NOT);
    assert_int_equal(added.error, EINVAL);
    assert_int_equal(he2b_archive_add(writer, "x", -1, &added), HE2B_ADDED_NOT);
    assert_int_equal(added.error, EBADF);
    assert_int_equal(he2b_archive_add(writer, "x", written, &added), HE2B_ADDED_NOT);
    assert_int_equal(added.error, EBADF);
    close(fd);
    close(written);
    assert_int_equal(he2b_archive_writer_finish(writer), HE2B_OK);
    he2b_archive_writer_del(writer);
    tarball_to(&tar, "test -z \"$(tar -tzf -)\"");
    tarball_free(&tar);
}

static void test_sink_fails(void **state)
{
    struct box *box = *state;
    struct tarball tar = {.error = EPIPE};
    he2b_archive_writer *writer = NULL;
    struct he2b_archive_file added;
    int fd = make_file(box, "f", 1000, 'f');

    assert_int_equal(he2b_archive_writer_new(&writer, tarball_sink, &tar), HE2B_OK);
    he2b_archive_add(writer, "f", fd, &added);
    assert_int_equal(he2b_archive_writer_finish(writer), HE2B_ERR_SYSTEM);
    assert_int_equal(he2b_archive_writer_error(writer), EPIPE);
    assert_int_equal(he2b_archive_add(writer, "f", fd, &added), HE2B_ADDED_FAILED);
    he2b_archive_writer_del(writer);

    /* one that is left does not look whole */
    tar.error = 0;
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(he2b_archive_writer_new(&writer, tarball_sink, &tar), HE2B_OK);
    assert_int_equal(he2b_archive_add(writer, "f", fd, &added), HE2B_ADDED);
    he2b_archive_writer_del(writer);
    tarball_to(&tar, "! tar -tzf - > /dev/null 2>&1");
    tarball_free(&tar);
    close(fd);
}

static int count_only(void *user, const void *data, size_t len)
{
    (void)data;
    *(size_t *)user += len;
    return 0;
}

/* B-72: 200 MiB go through a few hundred KiB. */
static void test_memory(void **state)
{
    struct box *box = *state;
    he2b_archive_writer *writer = NULL;
    struct he2b_archive_file added;
    struct rusage before;
    struct rusage after;
    size_t sent = 0;
    int fd = open_in(box, "big", O_RDWR | O_CREAT);

    assert_int_equal(ftruncate(fd, 200 << 20), 0);
    assert_int_equal(he2b_archive_writer_new(&writer, count_only, &sent), HE2B_OK);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(he2b_archive_add(writer, "big", fd, &added), HE2B_ADDED);
    assert_int_equal(he2b_archive_writer_finish(writer), HE2B_OK);
    getrusage(RUSAGE_SELF, &after);
    assert_true(sent > 100000);
    assert_true(after.ru_maxrss - before.ru_maxrss < 4096);
    he2b_archive_writer_del(writer);
    close(fd);
}

/* ---- reading: headers that are too large for memory ---- */

/* An old GNU sparse map without end, which libarchive would keep in memory whole. */
static void test_endless_header(void **state)
{
    struct tarball tar = {0};
    he2b_archive *archive = NULL;
    struct he2b_member member;
    char block[512] = {0};
    int i;

    (void)state;
    tarball_header(&tar, 'S', "sparse", "", 0644, 0);
    memcpy(tar.data + 257, "ustar  ", 8);
    memset(tar.data + 148, ' ', 8);
    memset(tar.data + 386, '0', 11);
    tar.data[482] = 1; /* it goes on */
    {
        unsigned sum = 0;

        for (i = 0; i < 512; i++)
            sum += (unsigned char)tar.data[i];
        snprintf(tar.data + 148, 8, "%06o", sum);
    }
    for (i = 0; i < 21; i++)
        memset(block + 24 * i, '0', 11);
    block[504] = 1;
    for (i = 0; i < 20000; i++)
        tarball_add(&tar, block, sizeof(block));
    tarball_gzip(&tar);
    assert_int_equal(he2b_archive_new(&archive, tarball_source, &tar, HE2B_ARCHIVE_CAP, 9), 0);
    assert_int_equal(he2b_archive_next(archive, &member), HE2B_ARCHIVE_FAILED);
    assert_int_equal(he2b_archive_error(archive), HE2B_ERR_OVERFLOW);
    he2b_archive_del(archive);
    tarball_free(&tar);
}

/* B-87: 64 MiB of zeros in 64 KiB are stopped soon after the cap. */
static void test_bomb(void **state)
{
    struct tarball tar = {0};
    he2b_archive *archive = NULL;
    struct he2b_member member;
    const void *data;
    size_t len;
    size_t got = 0;

    (void)state;
    tarball_from(&tar, "head -c 67108864 /dev/zero > /tmp/he2b-bomb.$$ && tar -czf - -C /tmp "
                       "he2b-bomb.$$; rm /tmp/he2b-bomb.$$");
    assert_true(tar.len < 100000);
    assert_int_equal(he2b_archive_new(&archive, tarball_source, &tar, 1 << 20, 9), 0);
    assert_int_equal(he2b_archive_next(archive, &member), HE2B_ARCHIVE_MORE);
    while (he2b_archive_data(archive, &data, &len) == HE2B_ARCHIVE_MORE)
        got += len;
    assert_true(got <= (6 << 20));
    assert_int_equal(he2b_archive_error(archive), HE2B_ERR_OVERFLOW);
    assert_int_equal(he2b_archive_next(archive, &member), HE2B_ARCHIVE_FAILED);
    he2b_archive_del(archive);
    tarball_free(&tar);
}

#define T(name) cmocka_unit_test_setup_teardown(name, box_make, box_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_names),
        T(test_hard_links_of_real_tars),
        T(test_modes_and_times),
        T(test_files_that_change),
        T(test_what_is_no_file),
        T(test_sink_fails),
        T(test_memory),
        cmocka_unit_test(test_endless_header),
        cmocka_unit_test(test_bomb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
