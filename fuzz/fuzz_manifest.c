/* The manifest's reader, and tar's messages: what is read can be written, and is the same again.
 * The input lacks its last line, the hash, which no fuzzer finds. */
#include "he2b.h"
#include "host/manifest.h"
#include "host/tar_notes.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look(void *user, enum he2b_tar_note note, const char *name)
{
    (void)note;
    *(size_t *)user += strlen(name);
    return 0;
}

static void round_trip(const struct he2b_buf *text)
{
    struct he2b_manifest manifest;
    struct he2b_manifest again;
    struct he2b_buf written;
    char hash[HE2B_SHA256_HEX_MAX];

    he2b_manifest_init(&manifest);
    he2b_manifest_init(&again);
    he2b_buf_init(&written, HE2B_MANIFEST_MAX);
    if (he2b_manifest_read(&manifest, text->data, text->len, hash) == HE2B_OK) {
        if (he2b_manifest_write(&manifest, &written, hash) != HE2B_OK ||
            he2b_manifest_read(&again, written.data, written.len, hash) != HE2B_OK ||
            again.count != manifest.count)
            abort();
    }
    he2b_buf_free(&written);
    he2b_manifest_free(&again);
    he2b_manifest_free(&manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t sum[HE2B_SHA256_SIZE];
    char hash[HE2B_SHA256_HEX_MAX];
    struct he2b_buf text;
    size_t names = 0;

    he2b_tar_notes((const char *)data, size, look, &names);
    if (names > 2 * size)
        abort();
    he2b_sha256_of(data, size, sum);
    he2b_sha256_hex(hash, sum);
    he2b_buf_init(&text, HE2B_MANIFEST_MAX);
    if (he2b_buf_add(&text, data, size) == HE2B_OK && he2b_buf_addf(&text, "%s\n", hash) == HE2B_OK)
        round_trip(&text);
    he2b_buf_free(&text);
    return 0;
}
