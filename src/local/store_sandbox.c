#include "he2b.h"
#include "local/log.h"
#include "local/store.h"
#include "local/store_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    /* requests that may come while the daemon starts or is busy */
    BACKLOG = 4096,
};

static const char retired[] = ".gone";

enum {
    NAME_SIZE = 64, /* of a record or a folder; a longer name is none of ours */
};

static void record_name(char out[NAME_SIZE], const char *id)
{
    snprintf(out, NAME_SIZE, "%.*s.json", NAME_SIZE - 6, id);
}

int store_write(struct store *store, const char *id, he2b_json *record, char why[STORE_WHY_MAX])
{
    char name[NAME_SIZE];
    size_t len = 0;
    const char *text = he2b_json_text(record, &len);

    record_name(name, id);
    errno = ENOMEM;
    if (text && store_file_replace(store->records_fd, name, text, len) == 0)
        return 0;
    snprintf(why, STORE_WHY_MAX, "the sandbox cannot be recorded: %s", strerror(errno));
    return -1;
}

void store_remove(struct store *store, const char *id)
{
    char name[NAME_SIZE];

    record_name(name, id);
    if (unlinkat(store->records_fd, name, 0) < 0 && errno != ENOENT)
        log_line(LOG_LEVEL_WARNING, "the record of sandbox %s cannot be deleted: %s", id,
                 strerror(errno));
}

/* A stream over the folder that is independent of fd. */
static DIR *open_stream(int fd)
{
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again < 0 ? NULL : fdopendir(again);

    if (!stream && again >= 0)
        close(again);
    return stream;
}

/* The id in "ID.json"; false for any other name. */
static bool id_of_record(char out[NAME_SIZE], const char *name)
{
    size_t len = strlen(name);
    size_t own;

    if (len < 6 || len >= NAME_SIZE || strcmp(name + len - 5, ".json") != 0 ||
        !credential_id_shape(name, len - 5, &own) || own != len - 5 || own > CREDENTIAL_ID_LEN)
        return false;
    snprintf(out, NAME_SIZE, "%.*s", (int)own, name);
    return true;
}

void store_each(struct store *store,
                void (*fn)(void *user, const char *id, const he2b_json *record), void *user)
{
    DIR *stream = open_stream(store->records_fd);
    const struct dirent *entry;

    while (stream && (entry = readdir(stream)) != NULL) {
        char id[NAME_SIZE];
        size_t len = 0;
        he2b_json *record = NULL;

        if (!id_of_record(id, entry->d_name))
            continue;
        char *text = store_file_read(store->records_fd, entry->d_name, STORE_RECORD_MAX, &len);
        if (text && he2b_json_parse(&record, text, len) == HE2B_OK && he2b_json_is_object(record))
            fn(user, id, record);
        else
            log_line(LOG_LEVEL_WARNING,
                     "the record of sandbox %s cannot be read; its folder is left alone", id);
        he2b_json_del(record);
        free(text);
    }
    if (stream)
        closedir(stream);
}

/* ---- folders ---- */

int store_open_folder(const struct store *store, const char *id)
{
    return openat(store->folders_fd, id, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int store_retire_folder(const struct store *store, const char *id, char out[64])
{
    snprintf(out, 64, "%s%s", id, retired);
    if (renameat(store->folders_fd, id, store->folders_fd, out) == 0)
        return 0;
    out[0] = '\0';
    return errno == ENOENT ? 0 : -1;
}

void store_each_stray(const struct store *store, void (*fn)(void *user, const char *name),
                      void *user)
{
    DIR *stream = open_stream(store->folders_fd);
    const struct dirent *entry;

    while (stream && (entry = readdir(stream)) != NULL) {
        char name[NAME_SIZE];

        if (entry->d_name[0] == '.' || strlen(entry->d_name) > NAME_SIZE - 6)
            continue;
        record_name(name, entry->d_name);
        if (faccessat(store->records_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
            fn(user, entry->d_name);
    }
    if (stream)
        closedir(stream);
}

/* ---- sockets ---- */

/* A path through our own descriptor, so that its length does not depend on the state folder's. */
static void socket_name(struct sockaddr_un *out, const struct store *store, const char *id)
{
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/%s", store->run_fd, id);
}

static int fail(int fd)
{
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int store_listen(const struct store *store, const char *id)
{
    struct sockaddr_un name;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    socket_name(&name, store, id);
    store_forget_socket(store, id);
    if (bind(fd, (const struct sockaddr *)&name, sizeof name) < 0 || listen(fd, BACKLOG) < 0)
        return fail(fd);
    return fd;
}

int store_connect(const struct store *store, const char *id)
{
    struct sockaddr_un name;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    socket_name(&name, store, id);
    if (connect(fd, (const struct sockaddr *)&name, sizeof name) < 0)
        return fail(fd);
    return fd;
}

void store_forget_socket(const struct store *store, const char *id)
{
    unlinkat(store->run_fd, id, 0);
}
