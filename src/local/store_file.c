#include "local/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *store_file_read(int folder_fd, const char *name, size_t max, size_t *ret_len)
{
    int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    char *text = NULL;
    size_t len = 0;
    size_t cap = 0;

    if (fd < 0)
        return NULL;
    for (;;) {
        if (len + 1 >= cap) {
            size_t wanted = cap ? 2 * cap : 256;
            char *grown = len > max ? NULL : realloc(text, wanted);
            if (!grown) {
                errno = len > max ? EFBIG : ENOMEM;
                goto failed;
            }
            text = grown;
            cap = wanted;
        }
        ssize_t n = read(fd, text + len, cap - len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            goto failed;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    close(fd);
    if (len > max) {
        free(text);
        errno = EFBIG;
        return NULL;
    }
    text[len] = '\0';
    *ret_len = len;
    return text;
failed:
    free(text);
    int error = errno;
    close(fd);
    errno = error;
    return NULL;
}

static int write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

int store_file_replace(int folder_fd, const char *name, const void *data, size_t len)
{
    char beside[NAME_MAX + 1];
    int error;

    if (snprintf(beside, sizeof beside, ".%s.new", name) >= (int)sizeof beside) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = openat(folder_fd, beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    int result = write_all(fd, data, len);
    error = errno;
    /* a full disk may show here first */
    if (close(fd) < 0 && result == 0) {
        error = errno;
        result = -1;
    }
    if (result == 0 && renameat(folder_fd, beside, folder_fd, name) == 0)
        return 0;
    if (result == 0)
        error = errno;
    unlinkat(folder_fd, beside, 0);
    errno = error;
    return -1;
}
