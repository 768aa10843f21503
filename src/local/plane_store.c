#include "he2b.h"
#include "local/plane.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* A record holds metadata of 16 MiB at most (wire A.3); guards against a wrong file. */
    RECORD_MAX = 20 * 1024 * 1024,
};

static struct {
    int folder;
    int records;
    int sandboxes;
    int run;
} store = {-1, -1, -1, -1};

int store_default_folder(char *out, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int n;

    if (state && state[0] == '/')
        n = snprintf(out, size, "%s/e2b-local", state);
    else if (home && home[0] == '/')
        n = snprintf(out, size, "%s/.local/state/e2b-local", home);
    else
        return -1;
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

static int make_path(const char *folder)
{
    char part[4096];
    size_t i;

    for (i = 1; i <= strlen(folder) && i < sizeof(part); i++) {
        if (folder[i] != '/' && folder[i] != '\0')
            continue;
        snprintf(part, sizeof(part), "%.*s", (int)i, folder);
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

static int open_part(const char *name)
{
    if (mkdirat(store.folder, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(store.folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int read_small(int folder, const char *name, char *out, size_t size)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, out, size - 1);
    close(fd);
    if (n < 0)
        return -1;
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return 0;
}

/* Written beside, flushed, and put in place in one step. */
static int write_whole(int folder, const char *name, const char *text, size_t len)
{
    char beside[300];
    int fd;
    bool good;

    snprintf(beside, sizeof(beside), ".%s.new", name);
    fd = openat(folder, beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    good = true;
    while (good && len) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno == EINTR)
            continue;
        good = n > 0;
        if (good) {
            text += n;
            len -= (size_t)n;
        }
    }
    good = good && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    if (good)
        good = renameat(folder, beside, folder, name) == 0;
    if (!good)
        unlinkat(folder, beside, 0);
    return good ? 0 : -1;
}

static int take_key(char *why, size_t why_size)
{
    if (read_small(store.folder, "key", plane.key, sizeof(plane.key)) == 0 &&
        strlen(plane.key) == PLANE_KEY_SIZE - 1)
        return 0;
    memcpy(plane.key, "e2b_", 4);
    plane_random_hex(plane.key + 4, 40);
    if (write_whole(store.folder, "key", plane.key, strlen(plane.key)) == 0)
        return 0;
    snprintf(why, why_size, "the key cannot be written: %s", strerror(errno));
    return -1;
}

/* What sandboxes own in here is counted from one host id: another one would own other people's
 * files. */
static int take_base_id(char *why, size_t why_size)
{
    char have[32];
    char now[32];

    snprintf(now, sizeof(now), "%u", launch_base_id());
    if (read_small(store.folder, "base-id", have, sizeof(have)) == 0) {
        if (strcmp(have, now) == 0)
            return 0;
        snprintf(
            why, why_size,
            "its sandboxes belong to ids from %s on, and this start would use %s; start it as it "
            "was started before, or use another --state folder",
            have, now);
        return -1;
    }
    if (write_whole(store.folder, "base-id", now, strlen(now)) == 0)
        return 0;
    snprintf(why, why_size, "it cannot be written: %s", strerror(errno));
    return -1;
}

int store_open(const char *folder, char *why, size_t why_size)
{
    int lock;

    if (make_path(folder) != 0) {
        snprintf(why, why_size, "it cannot be made: %s", strerror(errno));
        return -1;
    }
    store.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store.folder < 0) {
        snprintf(why, why_size, "it cannot be opened: %s", strerror(errno));
        return -1;
    }
    lock = openat(store.folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0) {
        snprintf(why, why_size, "%s",
                 lock >= 0 && errno == EWOULDBLOCK ? "another e2b-local runs on it"
                                                   : strerror(errno));
        return -1;
    }
    store.records = open_part("records");
    store.sandboxes = open_part("sandboxes");
    store.run = open_part("run");
    if (store.records < 0 || store.sandboxes < 0 || store.run < 0) {
        snprintf(why, why_size, "it cannot be used: %s", strerror(errno));
        return -1;
    }
    if (take_key(why, why_size) != 0)
        return -1;
    return take_base_id(why, why_size);
}

int store_sandboxes_fd(void)
{
    return store.sandboxes;
}

int store_run_fd(void)
{
    return store.run;
}

int store_save(const char *id, he2b_json *record)
{
    char name[PLANE_ID_SIZE + 8];
    size_t len = 0;
    const char *text = he2b_json_text(record, &len);

    snprintf(name, sizeof(name), "%s.json", id);
    return text ? write_whole(store.records, name, text, len) : -1;
}

void store_remove(const char *id)
{
    char name[PLANE_ID_SIZE + 8];

    snprintf(name, sizeof(name), "%s.json", id);
    unlinkat(store.records, name, 0);
}

static void load_one(const char *name, void (*fn)(const he2b_json *record))
{
    int fd = openat(store.records, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    he2b_json *record = NULL;
    struct stat info;
    char *text = NULL;
    ssize_t n = -1;

    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0 && info.st_size < RECORD_MAX)
        text = malloc((size_t)info.st_size);
    if (text)
        n = read(fd, text, (size_t)info.st_size);
    if (n > 0 && he2b_json_parse(&record, text, (size_t)n) == HE2B_OK)
        fn(record);
    else
        plane_log("warning: the record %s cannot be read and is left alone", name);
    he2b_json_del(record);
    free(text);
    if (fd >= 0)
        close(fd);
}

void store_load(void (*fn)(const he2b_json *record))
{
    int fd = dup(store.records);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (!folder)
        return;
    rewinddir(folder);
    while ((entry = readdir(folder))) {
        size_t len = strlen(entry->d_name);

        if (entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0)
            load_one(entry->d_name, fn);
    }
    closedir(folder);
}

int store_write_address(const char *url)
{
    return write_whole(store.folder, "address", url, strlen(url));
}

void store_remove_address(void)
{
    unlinkat(store.folder, "address", 0);
}

int store_read(const char *folder, char *key, char *url, size_t url_size, char *why,
               size_t why_size)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = -1;

    if (fd < 0)
        snprintf(why, why_size, "no e2b-local was ever started on %s", folder);
    else if (read_small(fd, "key", key, PLANE_KEY_SIZE) != 0)
        snprintf(why, why_size, "%s holds no key that can be read", folder);
    else if (read_small(fd, "address", url, url_size) != 0)
        snprintf(why, why_size, "no e2b-local runs on %s now", folder);
    else
        result = 0;
    if (fd >= 0)
        close(fd);
    return result;
}
