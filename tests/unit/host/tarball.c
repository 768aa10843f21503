#include "tests/unit/host/tarball.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BLOCK = 512,
};

void tarball_free(struct tarball *tar)
{
    free(tar->data);
    *tar = (struct tarball){0};
}

void tarball_add(struct tarball *tar, const void *data, size_t len)
{
    if (len == 0)
        return;
    tar->data = realloc(tar->data, tar->len + len);
    assert_non_null(tar->data);
    memcpy(tar->data + tar->len, data, len);
    tar->len += len;
}

void tarball_header(struct tarball *tar, char type, const char *name, const char *link,
                    unsigned mode, int64_t size)
{
    char block[BLOCK] = {0};
    unsigned sum = 0;
    size_t i;

    memcpy(block, name, strlen(name) < 100 ? strlen(name) : 100);
    snprintf(block + 100, 8, "%07o", mode);
    memcpy(block + 108, "0000000\0000000000", 16);
    if (size >= 0 && size < INT64_C(0100000000000)) {
        snprintf(block + 124, 12, "%011llo", (unsigned long long)size);
    } else {
        block[124] = (char)(size < 0 ? 0xff : 0x80);
        for (i = 0; i < 8; i++)
            block[128 + i] = (char)((uint64_t)size >> (56 - 8 * i));
        if (size < 0)
            memset(block + 125, 0xff, 3);
    }
    snprintf(block + 136, 12, "%011o", 1000000000);
    block[156] = type;
    memcpy(block + 157, link, strlen(link) < 100 ? strlen(link) : 100);
    memcpy(block + 257, "ustar\00000", 8);
    memset(block + 148, ' ', 8);
    for (i = 0; i < BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    tarball_add(tar, block, BLOCK);
}

void tarball_body(struct tarball *tar, const void *data, size_t len)
{
    static const char zeros[BLOCK];

    tarball_add(tar, data, len);
    tarball_add(tar, zeros, (BLOCK - len % BLOCK) % BLOCK);
}

void tarball_file(struct tarball *tar, const char *name, const char *text)
{
    tarball_header(tar, '0', name, "", 0644, (int64_t)strlen(text));
    tarball_body(tar, text, strlen(text));
}

void tarball_pax(struct tarball *tar, char type, const char *key, const char *value, size_t len)
{
    char digits[16];
    size_t rest = strlen(key) + len + 3; /* blank, equals sign, line break */
    size_t whole = rest + 1;
    char *record;
    size_t used;

    while ((size_t)snprintf(digits, sizeof(digits), "%zu", whole) + rest != whole)
        whole++;
    record = calloc(1, whole + 1);
    assert_non_null(record);
    used = (size_t)snprintf(record, whole + 1, "%s %s=", digits, key);
    memcpy(record + used, value, len);
    record[whole - 1] = '\n';
    tarball_header(tar, type, "pax", "", 0644, (int64_t)whole);
    tarball_body(tar, record, whole);
    free(record);
}

void tarball_end(struct tarball *tar)
{
    static const char zeros[2 * BLOCK];

    tarball_add(tar, zeros, sizeof(zeros));
}

ssize_t tarball_source(void *user, void *data, size_t size)
{
    struct tarball *tar = user;
    size_t n = tar->len - tar->at;

    if (n == 0 && tar->error) {
        errno = tar->error;
        return -1;
    }
    if (n > size)
        n = size;
    if (tar->piece && n > tar->piece)
        n = tar->piece;
    if (n > 0)
        memcpy(data, tar->data + tar->at, n);
    tar->at += n;
    return (ssize_t)n;
}

int tarball_sink(void *user, const void *data, size_t len)
{
    struct tarball *tar = user;

    if (tar->error)
        return tar->error;
    tarball_add(tar, data, len);
    return 0;
}

static void run(const char *command)
{
    int status = system(command);

    if (status != 0)
        fail_msg("%s: %d", command, status);
}

void tarball_from(struct tarball *tar, const char *command)
{
    char name[] = "/tmp/he2b-tarball-XXXXXX";
    char line[2048];
    char piece[4096];
    size_t n;
    FILE *file;
    int fd = mkstemp(name);

    assert_true(fd >= 0);
    assert_true((size_t)snprintf(line, sizeof(line), "{ %s ; } > %s", command, name) <
                sizeof(line));
    run(line);
    file = fdopen(fd, "rb");
    assert_non_null(file);
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
        tarball_add(tar, piece, n);
    fclose(file);
    unlink(name);
}

void tarball_to(const struct tarball *tar, const char *command)
{
    char name[] = "/tmp/he2b-tarball-XXXXXX";
    char line[2048];
    FILE *file;
    int fd = mkstemp(name);

    assert_true(fd >= 0);
    file = fdopen(fd, "wb");
    assert_non_null(file);
    if (tar->len)
        assert_int_equal(fwrite(tar->data, 1, tar->len, file), tar->len);
    assert_int_equal(fclose(file), 0);
    assert_true((size_t)snprintf(line, sizeof(line), "{ %s ; } < %s", command, name) <
                sizeof(line));
    run(line);
    unlink(name);
}

void tarball_gzip(struct tarball *tar)
{
    char name[] = "/tmp/he2b-tarball-XXXXXX";
    char line[256];
    struct tarball packed = {.piece = tar->piece, .error = tar->error};
    int fd = mkstemp(name);

    assert_true(fd >= 0);
    close(fd);
    snprintf(line, sizeof(line), "gzip -c > %s", name);
    tarball_to(tar, line);
    snprintf(line, sizeof(line), "cat %s", name);
    tarball_from(&packed, line);
    unlink(name);
    tarball_free(tar);
    *tar = packed;
}

bool have_program(const char *name)
{
    char line[128];

    snprintf(line, sizeof(line), "command -v %s > /dev/null 2>&1", name);
    if (system(line) == 0)
        return true;
    print_message("no %s here: not tried\n", name);
    return false;
}
