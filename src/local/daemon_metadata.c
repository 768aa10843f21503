#include "local/daemon_metadata.h"

#include "he2b.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

enum {
    /* wire D.3 */
    KEY_MAX = 246,
    TOTAL_MAX = 4096,
    /* the kernel's most for one file */
    LIST_MAX = 65536,
};

static const char header_prefix[] = "x-metadata-";
static const char attribute_prefix[] = "user.e2b.";

struct reading {
    he2b_json *found;
    const char *why;
    size_t total;
};

static bool printable(const char *text)
{
    for (; *text; text++) {
        if (!isprint((unsigned char)*text) || (unsigned char)*text > 126)
            return false;
    }
    return true;
}

static bool read_header(void *user, const char *name, const he2b_json *member)
{
    struct reading *reading = user;
    const char *value = he2b_json_string(member, NULL);
    const char *key = name + sizeof(header_prefix) - 1;

    if (strncmp(name, header_prefix, sizeof(header_prefix) - 1) != 0)
        return true;
    if (!value || !key[0] || !printable(key) || !printable(value))
        reading->why = "metadata must be printable ASCII";
    else if (strlen(key) > KEY_MAX)
        reading->why = "a metadata key must not be longer than 246 bytes";
    else if ((reading->total += strlen(key) + strlen(value)) > TOTAL_MAX)
        reading->why = "metadata must not be more than 4096 bytes";
    else if ((!reading->found && !(reading->found = he2b_json_new_object())) ||
             he2b_json_add_string(reading->found, key, value) != HE2B_OK)
        reading->why = "out of memory";
    return !reading->why;
}

const char *metadata_of_headers(he2b_json **ret, const he2b_json *headers)
{
    struct reading reading = {0};

    he2b_json_each(headers, read_header, &reading);
    if (reading.why) {
        he2b_json_del(reading.found);
        return reading.why;
    }
    *ret = reading.found;
    return NULL;
}

struct writing {
    int fd;
    int error;
};

static void attribute_name(char out[KEY_MAX + sizeof(attribute_prefix)], const char *key)
{
    snprintf(out, KEY_MAX + sizeof(attribute_prefix), "%s%s", attribute_prefix, key);
}

static bool write_one(void *user, const char *key, const he2b_json *member)
{
    struct writing *writing = user;
    const char *value = he2b_json_string(member, NULL);
    char name[KEY_MAX + sizeof(attribute_prefix)];

    attribute_name(name, key);
    if (value && fsetxattr(writing->fd, name, value, strlen(value), 0) != 0)
        writing->error = errno;
    return writing->error == 0;
}

int metadata_write(int fd, const he2b_json *metadata)
{
    static char list[LIST_MAX];
    struct writing writing = {.fd = fd};
    ssize_t len = flistxattr(fd, list, sizeof(list));
    const char *name;

    for (name = list; len > 0 && name < list + len; name += strlen(name) + 1) {
        if (strncmp(name, attribute_prefix, sizeof(attribute_prefix) - 1) == 0)
            (void)fremovexattr(fd, name);
    }
    he2b_json_each(metadata, write_one, &writing);
    return writing.error;
}

he2b_json *metadata_read(const char *path)
{
    static char list[LIST_MAX];
    char value[TOTAL_MAX + 1];
    he2b_json *found = NULL;
    ssize_t len = llistxattr(path, list, sizeof(list));
    const char *name;

    for (name = list; len > 0 && name < list + len; name += strlen(name) + 1) {
        ssize_t n;

        if (strncmp(name, attribute_prefix, sizeof(attribute_prefix) - 1) != 0)
            continue;
        n = lgetxattr(path, name, value, sizeof(value) - 1);
        if (n < 0)
            continue;
        value[n] = '\0';
        /* a command may have set anything */
        if (!printable(value) || !printable(name))
            continue;
        if (!found)
            found = he2b_json_new_object();
        if (found)
            (void)he2b_json_add_string(found, name + sizeof(attribute_prefix) - 1, value);
    }
    return found;
}
