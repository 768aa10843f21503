#include "tests/peer/peer_child.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    /* A peer that is silent for longer is stuck. */
    DEADLINE_MS = 20000,
    /* `requests` gives all bodies; guards a test against a peer that never ends its line. */
    LINE_MAX_LEN = 16 * 1024 * 1024,
};

struct peer_child {
    pid_t pid;
    int fd; /* the other end of its standard input and output */
    bool ended;
    char url[64];
    char *line;
    size_t size;
    size_t len;
};

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "the scripted peer: %s\n", what);
    abort();
}

/* "make check" names the Python and the sources; a test that is started by hand stands in the
 * latter. */
static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value ? value : otherwise;
}

const char *peer_child_missing(void)
{
    /* what configure writes when it found none */
    return strcmp(variable("PYTHON", "python3"), ":") == 0
               ? "configure found no Python 3.9 or newer for the scripted peer"
               : NULL;
}

/* ---- the control channel ---- */

static long long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void wait_readable(int fd)
{
    struct pollfd watch = {.fd = fd, .events = POLLIN};
    long long until = now_ms() + DEADLINE_MS;
    int n;

    do {
        long long left = until - now_ms();

        n = poll(&watch, 1, left > 0 ? (int)left : 0);
    } while (n < 0);
    must(n > 0, "no answer");
}

/* The next line without its end; false at the end of the output. Nothing follows an answer before
 * the next question, so that the buffer holds one line. */
static bool read_line(struct peer_child *peer)
{
    peer->len = 0;
    for (;;) {
        ssize_t n;

        if (peer->len + 1 >= peer->size) {
            peer->size = peer->size ? peer->size * 2 : 4096;
            must(peer->size <= LINE_MAX_LEN, "a line without end");
            peer->line = realloc(peer->line, peer->size);
            must(peer->line != NULL, "realloc");
        }
        wait_readable(peer->fd);
        n = read(peer->fd, peer->line + peer->len, peer->size - peer->len - 1);
        if (n <= 0)
            return false;
        peer->len += (size_t)n;
        if (peer->line[peer->len - 1] == '\n') {
            peer->line[peer->len - 1] = '\0';
            return true;
        }
    }
}

static void write_line(struct peer_child *peer, const char *line)
{
    const char *pieces[] = {line, "\n"};
    size_t i;

    for (i = 0; i < 2; i++) {
        size_t len = strlen(pieces[i]);

        /* no SIGPIPE: the message says more */
        must(send(peer->fd, pieces[i], len, MSG_NOSIGNAL) == (ssize_t)len, "it has ended");
    }
}

const char *peer_child_ask(struct peer_child *peer, const char *line)
{
    write_line(peer, line);
    must(read_line(peer), "it has ended");
    if (strncmp(peer->line, "error: ", 7) == 0)
        must(false, peer->line);
    return peer->line;
}

unsigned peer_child_count(struct peer_child *peer, const char *what)
{
    char line[256];

    snprintf(line, sizeof(line), "count %s", what);
    return (unsigned)strtoul(peer_child_ask(peer, line), NULL, 10);
}

void peer_child_release(struct peer_child *peer, const char *barrier)
{
    char line[256];

    snprintf(line, sizeof(line), "release %s", barrier);
    peer_child_ask(peer, line);
}

void peer_child_await(struct peer_child *peer, const char *barrier)
{
    char line[256];

    snprintf(line, sizeof(line), "await %s", barrier);
    peer_child_ask(peer, line);
}

/* ---- the process ---- */

/* In the child: nothing but calls that are safe after fork(). */
static void run_peer(int fd, const char *const argv[])
{
    if (dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
        /* execvp(3) changes no argument; its type is older than const */
        execvp(argv[0], (char *const *)(const void *)argv);
    _exit(127);
}

struct peer_child *peer_child_new(const char *script, const char *upstream)
{
    struct peer_child *peer = calloc(1, sizeof(*peer));
    char program[4096];
    const char *const argv[] = {variable("PYTHON", "python3"),  "-B",     program, "-e", script,
                                upstream ? "--upstream" : NULL, upstream, NULL};
    int ends[2];
    int port = 0;

    must(peer && !peer_child_missing(), "cannot start");
    snprintf(program, sizeof(program), "%s/tests/peer/peer.py", variable("srcdir", "."));
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    peer->pid = fork();
    must(peer->pid >= 0, "fork");
    if (peer->pid == 0)
        run_peer(ends[1], argv);
    close(ends[1]);
    peer->fd = ends[0];
    must(read_line(peer) && sscanf(peer->line, "listening %d", &port) == 1, "it does not start");
    snprintf(peer->url, sizeof(peer->url), "http://127.0.0.1:%d", port);
    return peer;
}

static int reap(struct peer_child *peer)
{
    int status = 0;

    must(waitpid(peer->pid, &status, 0) == peer->pid, "waitpid");
    peer->ended = true;
    return status;
}

bool peer_child_end(struct peer_child *peer)
{
    int status;

    write_line(peer, "end");
    while (read_line(peer)) {
    }
    status = reap(peer);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void peer_child_del(struct peer_child *peer)
{
    if (!peer)
        return;
    if (!peer->ended) {
        kill(peer->pid, SIGKILL);
        reap(peer);
    }
    close(peer->fd);
    free(peer->line);
    free(peer);
}

const char *peer_child_url(const struct peer_child *peer)
{
    return peer->url;
}
