#include "tests/unit/host/box.h"

#include "he2b.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NOBODY = 65534,
};

int box_make(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    assert_non_null(box);
    umask(022);
    strcpy(box->home, "/tmp/he2b-host-XXXXXX");
    assert_non_null(mkdtemp(box->home));
    snprintf(box->folder, sizeof(box->folder), "%s/cache/e2b", box->home);
    assert_int_equal(he2b_host_files(&box->files, box->home, "0123456789abcdef"), HE2B_OK);
    *state = box;
    return 0;
}

int box_drop(void **state)
{
    struct box *box = *state;
    char command[256];

    /* a path that mkdtemp() made */
    snprintf(command, sizeof(command), "chmod -R u+rwx '%s' && rm -rf '%s'", box->home, box->home);
    assert_int_equal(system(command), 0);
    free(box);
    return 0;
}

void box_make_folder(const struct box *box, mode_t mode)
{
    char cache[96];

    snprintf(cache, sizeof(cache), "%s/cache", box->home);
    assert_int_equal(mkdir(cache, 0755), 0);
    assert_int_equal(mkdir(box->folder, 0755), 0);
    assert_int_equal(chmod(box->folder, mode), 0);
}

void box_read(const char *path, char ret[1024])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    assert_true(fd >= 0);
    n = read(fd, ret, 1023);
    assert_true(n >= 0);
    ret[n] = '\0';
    close(fd);
}

void box_write(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

int box_entries(const struct box *box)
{
    DIR *folder = opendir(box->folder);
    int n = 0;

    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n - 2;
}

/* The home and what is in it become the user's, so that only modes keep it out. */
static void become_normal(const struct box *box)
{
    char command[128];

    if (getuid() != 0)
        return;
    snprintf(command, sizeof(command), "chown -R %d:%d '%s'", NOBODY, NOBODY, box->home);
    if (system(command) != 0 || setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 ||
        setuid(NOBODY) != 0)
        _exit(BOX_SKIP);
}

void box_start(struct box_child *ret, struct box *box, box_program program, bool normal)
{
    int in[2];
    int out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    ret->pid = fork();
    assert_true(ret->pid >= 0);
    if (ret->pid == 0) {
        close(in[0]);
        close(out[1]);
        alarm(BOX_DEADLINE_SECONDS);
        if (normal)
            become_normal(box);
        _exit(program(box, out[0], in[1]));
    }
    close(in[1]);
    close(out[0]);
    ret->in = in[0];
    ret->out = out[1];
}

int box_hear(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    unsigned char byte;
    ssize_t n;

    if (poll(&ready, 1, BOX_DEADLINE_SECONDS * 1000) != 1)
        return -1;
    n = read(fd, &byte, 1);
    return n == 1 ? byte : -1;
}

void box_say(int fd, int byte)
{
    unsigned char c = (unsigned char)byte;

    /* a child that is gone is noticed by who waits for it */
    if (write(fd, &c, 1) != 1)
        return;
}

int box_end(struct box_child *child)
{
    int status;

    close(child->out);
    close(child->in);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void box_as_normal_user(struct box *box, box_program program)
{
    struct box_child child;
    int code;

    box_start(&child, box, program, true);
    code = box_end(&child);
    if (code == BOX_SKIP) {
        print_message("root cannot become a normal user here: not tried\n");
        skip();
    }
    assert_int_equal(code, 0);
}

int box_complain(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: in a child: %s\n", file, line, condition);
    return 1;
}
