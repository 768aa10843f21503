#include "local/store.h"

#include "local/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool store_default_path(char *out, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int len = -1;

    if (state && *state == '/')
        len = snprintf(out, size, "%s/e2b-local", state);
    else if (home && *home == '/')
        len = snprintf(out, size, "%s/.local/state/e2b-local", home);
    return len > 0 && (size_t)len < size;
}

/* mkdir -p, the folder itself 0700. */
static int make_path(const char *path)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len == 0 || len >= sizeof part) {
        errno = len ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    memcpy(part, path, len + 1);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return mkdir(part, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

static int open_below(const struct store *store, const char *name)
{
    if (mkdirat(store->fd, name, 0700) < 0 && errno != EEXIST)
        return -1;
    return openat(store->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int load_key(struct store *store)
{
    size_t len = 0;
    char *text = store_file_read(store->fd, "key", CREDENTIAL_KEY_LEN + 2, &len);

    if (!text && errno == ENOENT) {
        char line[CREDENTIAL_KEY_LEN + 2];
        if (!credential_new_key(store->key))
            return -1;
        snprintf(line, sizeof line, "%s\n", store->key);
        return store_file_replace(store->fd, "key", line, strlen(line));
    }
    if (!text)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    bool good = strlen(text) == CREDENTIAL_KEY_LEN && strncmp(text, "e2b_", 4) == 0;
    if (good)
        memcpy(store->key, text, CREDENTIAL_KEY_LEN + 1);
    free(text);
    errno = EINVAL;
    return good ? 0 : -1;
}

static int load_secret(struct store *store)
{
    size_t len = 0;
    char *bytes = store_file_read(store->fd, "secret", sizeof store->secret, &len);

    if (!bytes && errno == ENOENT) {
        if (!credential_random(store->secret, sizeof store->secret))
            return -1;
        return store_file_replace(store->fd, "secret", store->secret, sizeof store->secret);
    }
    if (!bytes)
        return -1;
    bool good = len == sizeof store->secret;
    if (good)
        memcpy(store->secret, bytes, sizeof store->secret);
    free(bytes);
    errno = EINVAL;
    return good ? 0 : -1;
}

/* Somebody else's folder would hold our key where they can read it. */
static bool is_ours(int fd, char why[STORE_WHY_MAX], const char *path)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || st.st_uid != geteuid()) {
        snprintf(why, STORE_WHY_MAX, "the state folder %s belongs to another user", path);
        return false;
    }
    if ((st.st_mode & 077) != 0 && fchmod(fd, 0700) < 0) {
        snprintf(why, STORE_WHY_MAX, "the state folder %s is open to others: %s", path,
                 strerror(errno));
        return false;
    }
    return true;
}

enum store_error store_open(struct store *store, const char *path, char why[STORE_WHY_MAX])
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    memset(store, 0, sizeof *store);
    store->fd = store->lock_fd = store->records_fd = store->folders_fd = store->run_fd = -1;
    if (make_path(path) < 0)
        goto failed;
    store->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->fd < 0)
        goto failed;
    if (!is_ours(store->fd, why, path))
        return STORE_FAILED;
    store->lock_fd = openat(store->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (store->lock_fd < 0)
        goto failed;
    if (fcntl(store->lock_fd, F_OFD_SETLK, &whole) < 0) {
        if (errno != EAGAIN && errno != EACCES)
            goto failed;
        snprintf(why, STORE_WHY_MAX,
                 "another e2b-local uses the state folder %s; end it, or choose another folder "
                 "with --state",
                 path);
        return STORE_IN_USE;
    }
    store->records_fd = open_below(store, "records");
    store->folders_fd = open_below(store, "folders");
    store->run_fd = open_below(store, "run");
    if (store->records_fd < 0 || store->folders_fd < 0 || store->run_fd < 0)
        goto failed;
    if (load_key(store) < 0 || load_secret(store) < 0)
        goto failed;
    return STORE_OK;
failed:
    snprintf(why, STORE_WHY_MAX, "the state folder %s cannot be used: %s", path, strerror(errno));
    return STORE_FAILED;
}

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

void store_close(struct store *store)
{
    close_one(store->run_fd);
    close_one(store->folders_fd);
    close_one(store->records_fd);
    close_one(store->fd);
    close_one(store->lock_fd);
    explicit_bzero(store, sizeof *store);
    store->fd = store->lock_fd = store->records_fd = store->folders_fd = store->run_fd = -1;
}

int store_set_address(struct store *store, const char *address, char why[STORE_WHY_MAX])
{
    char line[STORE_ADDRESS_MAX + 1];

    if (!address)
        return unlinkat(store->fd, "address", 0);
    snprintf(line, sizeof line, "%s\n", address);
    if (store_file_replace(store->fd, "address", line, strlen(line)) == 0)
        return 0;
    snprintf(why, STORE_WHY_MAX, "the state folder cannot be written: %s", strerror(errno));
    return -1;
}

int store_check_base(struct store *store, unsigned base, char why[STORE_WHY_MAX])
{
    char wanted[16];
    size_t len = 0;
    char *found = store_file_read(store->fd, "base-id", 64, &len);
    int result = 0;

    snprintf(wanted, sizeof wanted, "%u\n", base);
    if (!found || strcmp(found, wanted) == 0) {
        if (!found && store_file_replace(store->fd, "base-id", wanted, strlen(wanted)) < 0) {
            snprintf(why, STORE_WHY_MAX, "the state folder cannot be written: %s", strerror(errno));
            result = -1;
        }
    } else {
        found[strcspn(found, "\n")] = '\0';
        snprintf(why, STORE_WHY_MAX,
                 "the sandboxes of this state folder belong to user ids from %.20s on, this start "
                 "would use %u: start it as before (same user, same flags), or choose another "
                 "folder with --state",
                 found, base);
        result = -1;
    }
    free(found);
    return result;
}

int store_peek(const char *path, char key[CREDENTIAL_KEY_LEN + 1], char address[STORE_ADDRESS_MAX],
               char why[STORE_WHY_MAX])
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int lock_fd = fd < 0 ? -1 : openat(fd, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *key_text = NULL;
    char *address_text = NULL;
    size_t len;
    int result = -1;

    if (fd < 0 && errno != ENOENT) {
        snprintf(why, STORE_WHY_MAX, "the state folder %s cannot be read: %s", path,
                 strerror(errno));
        goto done;
    }
    /* asks only: taking it, however shortly, could make a server that starts now give up */
    if (lock_fd >= 0 && fcntl(lock_fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK) {
        key_text = store_file_read(fd, "key", CREDENTIAL_KEY_LEN + 2, &len);
        address_text = store_file_read(fd, "address", STORE_ADDRESS_MAX - 1, &len);
    }
    if (!key_text || !address_text) {
        snprintf(why, STORE_WHY_MAX, "no e2b-local runs on the state folder %s", path);
        goto done;
    }
    snprintf(key, CREDENTIAL_KEY_LEN + 1, "%.*s", (int)strcspn(key_text, "\n"), key_text);
    snprintf(address, STORE_ADDRESS_MAX, "%.*s", (int)strcspn(address_text, "\n"), address_text);
    result = 0;
done:
    free(key_text);
    free(address_text);
    close_one(lock_fd);
    close_one(fd);
    return result;
}
