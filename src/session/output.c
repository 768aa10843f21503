#include "session/output.h"

#include "e2b/process.h"

void he2b_output_init(struct he2b_output *output, const char *word, void (*drained)(void *user),
                      void *user)
{
    he2b_marker_init(&output->marker, word);
    /* One message of the stream, and a marker that was held back. */
    he2b_buf_init(&output->held, HE2B_RPC_MESSAGE_MAX + HE2B_MARKER_MAX);
    output->outlet = NULL;
    output->incomplete = false;
    output->drained = drained;
    output->user = user;
}

static void on_room(void *arg)
{
    struct he2b_output *output = arg;
    size_t n = he2b_outlet_write(output->outlet, output->held.data, output->held.len);

    he2b_buf_drain(&output->held, n);
    if (output->held.len == 0)
        output->drained(output->user);
}

int he2b_output_open(struct he2b_output *output, he2b_loop *loop, int fd)
{
    return he2b_outlet_new(&output->outlet, loop, fd, on_room, output);
}

static void pass(void *user, const char *data, size_t len)
{
    struct he2b_output *output = user;
    size_t n = 0;

    if (!output->outlet)
        return;
    if (output->held.len == 0)
        n = he2b_outlet_write(output->outlet, data, len);
    if (n < len && he2b_buf_add(&output->held, data + n, len - n) != HE2B_OK) {
        output->incomplete = true;
        he2b_output_close(output);
    }
}

bool he2b_output_add(struct he2b_output *output, const char *data, size_t len)
{
    if (output->held.len)
        return false;
    he2b_marker_scan(&output->marker, data, len, pass, output);
    return true;
}

void he2b_output_finish(struct he2b_output *output)
{
    if (!output->marker.found)
        he2b_marker_flush(&output->marker, pass, output);
}

bool he2b_output_drained(const struct he2b_output *output)
{
    return output->held.len == 0;
}

void he2b_output_close(struct he2b_output *output)
{
    he2b_outlet_del(output->outlet);
    output->outlet = NULL;
    he2b_buf_free(&output->held);
}
