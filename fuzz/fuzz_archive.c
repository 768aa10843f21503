/* The archive reader: in whatever pieces it comes, it gives the same and stays within its caps. The
 * first byte says how large the pieces are. */
#include "core/sha256.h"
#include "host/archive.h"
#include "host/tree.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CAP = 4 * 1024 * 1024,
    MEMBERS = 100,
    /* what may be inflated beyond the cap before it is seen */
    OVERSHOT = 5 * 1024 * 1024,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t len;
    size_t piece;
};

static ssize_t give(void *user, void *into, size_t size)
{
    struct input *input = user;
    size_t n = input->len;

    if (n > size)
        n = size;
    if (n > input->piece)
        n = input->piece;
    memcpy(into, input->data, n);
    input->data += n;
    input->len -= n;
    return (ssize_t)n;
}

static void read_all(const uint8_t *data, size_t len, size_t piece, uint8_t ret[HE2B_SHA256_SIZE])
{
    struct input input = {.data = data, .len = len, .piece = piece};
    he2b_archive *archive = NULL;
    struct he2b_member member;
    struct he2b_sha256 hash;
    const void *bytes;
    size_t members = 0;
    size_t got = 0;
    size_t n;

    he2b_sha256_init(&hash);
    if (he2b_archive_new(&archive, give, &input, CAP, MEMBERS) != 0)
        abort();
    while (he2b_archive_next(archive, &member) == HE2B_ARCHIVE_MORE) {
        if (++members > MEMBERS || (member.mode & ~(mode_t)0777) != 0 ||
            (member.kind == HE2B_MEMBER_HARD_LINK) != (member.link != NULL))
            abort();
        he2b_tree_path_is_plain(he2b_tree_path_skip_dot(member.name));
        he2b_sha256_add(&hash, member.name, strlen(member.name) + 1);
        while (he2b_archive_data(archive, &bytes, &n) == HE2B_ARCHIVE_MORE) {
            he2b_sha256_add(&hash, bytes, n);
            got += n;
            if (got > CAP + OVERSHOT)
                abort();
        }
    }
    if ((he2b_archive_error(archive) != 0) != (he2b_archive_why(archive)[0] != '\0'))
        abort();
    n = he2b_archive_error(archive) == 0;
    he2b_sha256_add(&hash, &n, sizeof(n));
    he2b_archive_del(archive);
    he2b_sha256_end(&hash, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t whole[HE2B_SHA256_SIZE];
    uint8_t pieces[HE2B_SHA256_SIZE];

    if (size == 0)
        return 0;
    read_all(data + 1, size - 1, size, whole);
    read_all(data + 1, size - 1, (size_t)data[0] + 1, pieces);
    if (memcmp(whole, pieces, sizeof(whole)) != 0)
        abort();
    return 0;
}
