#include "tests/unit/session/land.h"

#include "core/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ARGS_MAX = 16,
    PIECE = 32 * 1024,
};

/* One at a time: the serve functions get the world only. */
static struct land *land_now;

/* ---- files ---- */

const char *land_path(const char *base, const char *path)
{
    static char joined[8192];

    snprintf(joined, sizeof(joined), "%s/%s", base, path);
    return joined;
}

void land_write(const char *base, const char *path, const char *text)
{
    char name[8192];
    char *slash;
    int fd;

    snprintf(name, sizeof(name), "%s/%s", base, path);
    for (slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0755);
        *slash = '/';
    }
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

const char *land_read(const char *base, const char *path)
{
    static char text[65536];
    int fd = open(land_path(base, path), O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return NULL;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

int land_entries(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int count = 0;

    if (!folder)
        return -1;
    while ((entry = readdir(folder)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

/* ---- the sandbox ---- */

void land_upload(struct world *world, struct peer_request *request, unsigned nth)
{
    const char *path = request->path + strlen("/files?path=");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t done = 0;

    (void)world;
    (void)nth;
    while (fd >= 0 && done < request->body_len) {
        ssize_t n = write(fd, request->body + done, request->body_len - done);

        if (n <= 0)
            abort();
        done += (size_t)n;
    }
    if (fd < 0)
        abort();
    close(fd);
    peer_answer(request, 200, "text/plain; charset=utf-8", "[]");
}

static void run_child(const struct land *land, char *const *argv, int out, int err)
{
    char home[128];
    char path[4200];
    char *envp[] = {home, path, NULL};

    snprintf(home, sizeof(home), "HOME=%s", land->there);
    snprintf(path, sizeof(path), "PATH=%s", land->path[0] ? land->path : getenv("PATH"));
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out, 1);
    dup2(err, 2);
    close_range(3, ~0U, 0);
    execvpe(argv[0], argv, envp);
    _exit(127);
}

/* Passes on what comes until both are at their ends, or nobody reads any more. */
static void pass_on(struct peer_request *request, int out, int err)
{
    struct pollfd ready[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    static __thread char piece[PIECE];
    bool read_on = true;

    while (ready[0].fd >= 0 || ready[1].fd >= 0) {
        int i;

        if (poll(ready, 2, PEER_DEADLINE_S * 1000) <= 0)
            abort();
        for (i = 0; i < 2; i++) {
            ssize_t n;

            if (ready[i].fd < 0 || !ready[i].revents)
                continue;
            n = read(ready[i].fd, piece, sizeof(piece));
            if (n <= 0) {
                ready[i].fd = -1;
                continue;
            }
            if (read_on)
                read_on = i ? peer_errors(request, piece, (size_t)n)
                            : peer_output(request, piece, (size_t)n);
        }
    }
}

void land_transfer(struct world *world, struct peer_request *request, unsigned nth)
{
    he2b_json *json = NULL;
    const he2b_json *process;
    const he2b_json *args;
    char *argv[ARGS_MAX] = {NULL};
    int out[2];
    int err[2];
    int status = 0;
    size_t i;
    pid_t pid;

    (void)world;
    (void)nth;
    if (he2b_json_parse(&json, request->body + 5, request->body_len - 5) != HE2B_OK)
        abort();
    process = he2b_json_get(json, "process");
    args = he2b_json_get(process, "args");
    argv[0] = strdup(he2b_json_get_string(process, "cmd"));
    for (i = 0; i < he2b_json_array_size(args) && i < ARGS_MAX - 2; i++)
        argv[i + 1] = strdup(he2b_json_string(he2b_json_at(args, i), NULL));
    he2b_json_del(json);
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
        abort();
    pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0)
        run_child(land_now, argv, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    peer_stream_begin(request);
    world_start(request);
    pass_on(request, out[0], err[0]);
    close(out[0]);
    close(err[0]);
    waitpid(pid, &status, 0);
    for (i = 0; argv[i]; i++)
        free(argv[i]);
    world_end(request, WIFEXITED(status) ? WEXITSTATUS(status) : 255);
}

static void probe(struct world *world, struct peer_request *request, unsigned nth)
{
    char text[1024];

    (void)world;
    (void)nth;
    snprintf(text, sizeof(text),
             "tool bash\ntool setsid\ntool sleep\nfolder %s\nhome %s\nwanted\ncwd %s\n",
             land_now->folder, land_now->there, land_now->there);
    world_says(request, text);
}

/* ---- the whole ---- */

static void on_ready(void *user, const he2b_failure *failure)
{
    assert_null(failure);
    world_stop(user);
}

int land_setup(void **state)
{
    struct land *land = calloc(1, sizeof(*land));
    void *world = NULL;

    assert_non_null(land);
    assert_int_equal(world_setup(&world), 0);
    land->world = world;
    strcpy(land->root, "/tmp/he2b-land.XXXXXX");
    assert_non_null(mkdtemp(land->root));
    snprintf(land->host, sizeof(land->host), "%s/host", land->root);
    snprintf(land->there, sizeof(land->there), "%s/there", land->root);
    snprintf(land->folder, sizeof(land->folder), "%s/folder", land->root);
    assert_int_equal(mkdir(land->host, 0755) | mkdir(land->there, 0755) | mkdir(land->folder, 0700),
                     0);
    land_now = land;
    land->world->on_probe = probe;
    land->world->on_upload = land_upload;
    land->world->on_transfer = land_transfer;
    world_session(land->world);
    assert_int_equal(he2b_session_prepare(land->world->session, 0, on_ready, land->world), HE2B_OK);
    world_run(land->world);
    land_log(land);
    *state = land;
    return 0;
}

int land_teardown(void **state)
{
    struct land *land = *state;
    void *world = land->world;
    char command[160];

    world_teardown(&world);
    snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", land->root, land->root);
    assert_int_equal(system(command), 0);
    free(land);
    return 0;
}

void land_done(void *user, const he2b_failure *failure)
{
    struct land *land = user;

    land->times++;
    land->code = failure ? he2b_failure_code(failure) : 0;
    snprintf(land->text, sizeof(land->text), "%s", failure ? he2b_failure_text(failure) : "");
    world_stop(land->world);
}

int land_wait(struct land *land)
{
    land->times = 0;
    land->code = 0;
    world_run(land->world);
    assert_int_equal(land->times, 1);
    return land->code;
}

const char *land_log(struct land *land)
{
    static char copy[WORLD_LOG_MAX];

    pthread_mutex_lock(&land->world->lock);
    memcpy(copy, land->world->log, sizeof(copy));
    land->world->log[0] = '\0';
    pthread_mutex_unlock(&land->world->lock);
    return copy;
}

/* ---- transfers ---- */

he2b_transfer *land_new(struct land *land)
{
    he2b_transfer *transfer = NULL;

    assert_int_equal(he2b_transfer_new(&transfer, land->world->session, land->host), HE2B_OK);
    return transfer;
}

/* The host's file at path goes to the same path there. */
void land_add(struct land *land, he2b_transfer *transfer, const char *path)
{
    char host[8192];

    snprintf(host, sizeof(host), "%s/%s", land->host, path);
    assert_int_equal(he2b_transfer_add(transfer, host, path, HE2B_FILE_SKILL), HE2B_OK);
}

int land_push(struct land *land, he2b_transfer *transfer)
{
    assert_int_equal(he2b_transfer_push(transfer, land_done, land), HE2B_OK);
    return land_wait(land);
}

const char *land_hermes(const struct land *land, const char *path)
{
    static char joined[8192];

    snprintf(joined, sizeof(joined), ".hermes/%s", path);
    return land_read(land->there, joined);
}

int land_recover(struct land *land, he2b_transfer *transfer)
{
    assert_int_equal(he2b_transfer_recover(transfer, land_done, land), HE2B_OK);
    return land_wait(land);
}
