/*
 * Replays a target's corpus in "make check", without libFuzzer: fuzz_X.in/ (kept inputs) and
 * fuzz_X.repro/ (past crashes), found below $srcdir/fuzz by the name of the program. A corpus that
 * is missing or empty is a failure: else the check would pass with nothing run.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    uint8_t *data = NULL;
    int result = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0) {
        rewind(file);
        /* exactly as large as the input, so that a sanitizer sees a read beyond it */
        data = malloc(size ? (size_t)size : 1);
    }
    if (data && fread(data, 1, (size_t)size, file) == (size_t)size) {
        LLVMFuzzerTestOneInput(data, (size_t)size);
        result = 0;
    } else {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    }
    free(data);
    if (file)
        fclose(file);
    return result;
}

/* The inputs that were run, or -1 if one could not be. A missing folder has none. */
static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    char path[4096];
    int count = 0;

    if (!dir)
        return 0;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (replay_file(path) != 0) {
            closedir(dir);
            return -1;
        }
        count++;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    const char *srcdir = getenv("srcdir");
    const char *name = strrchr(argv[0], '/');
    char folder[4096];
    int kept;
    int past;

    name = name ? name + 1 : argv[0];
    if (argc > 1)
        return replay_file(argv[1]) == 0 ? 0 : 1;
    snprintf(folder, sizeof(folder), "%s/fuzz/%s.in", srcdir ? srcdir : ".", name);
    kept = replay_folder(folder);
    if (kept == 0)
        fprintf(stderr, "%s: no inputs in %s\n", name, folder);
    snprintf(folder, sizeof(folder), "%s/fuzz/%s.repro", srcdir ? srcdir : ".", name);
    past = replay_folder(folder);
    printf("%s: %d kept inputs, %d past crashes\n", name, kept, past);
    return kept > 0 && past >= 0 ? 0 : 1;
}
