#include "cli/input.h"

#include "cli/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST_SIZE = 64 * 1024,
};

static bool grow(struct input *input, size_t *size)
{
    size_t wanted = *size ? *size * 2 : FIRST_SIZE;
    char *data = realloc(input->data, wanted);

    if (!data) {
        message_error("standard input: out of memory");
        return false;
    }
    input->data = data;
    *size = wanted;
    return true;
}

bool input_read(struct input *ret, int fd)
{
    struct input input = {0};
    size_t size = 0;

    for (;;) {
        ssize_t n;

        if (input.len == size && !grow(&input, &size))
            break;
        n = read(fd, input.data + input.len, size - input.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            message_error("standard input: %s", strerror(errno));
            break;
        }
        if (n == 0) {
            *ret = input;
            return true;
        }
        input.len += (size_t)n;
        if (input.len > INPUT_MAX) {
            message_error("standard input: more than %d MiB; put it into the sandbox as a file",
                          INPUT_MAX / (1024 * 1024));
            break;
        }
    }
    input_done(&input);
    return false;
}

void input_done(struct input *input)
{
    free(input->data);
    input->data = NULL;
    input->len = 0;
}
