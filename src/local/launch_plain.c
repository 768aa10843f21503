#include "local/launch_plain.h"

#include "local/launch_programs.h"
#include "local/link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
    dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    _exit(1);
}

_Noreturn void launch_plain(const struct launch_spec *spec, int stderr_fd)
{
    static char program[PATH_MAX];
    static char folder[PATH_MAX];
    static char home[PATH_MAX + sizeof "HOME="];
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    static char unsafe[] = "E2B_LOCAL_WITHOUT_ISOLATION=1";
    if (dup2(stderr_fd, 1) < 0 || dup2(stderr_fd, 2) < 0)
        _exit(1);
    if (launch_programs_path(program, launch_programs_daemon()) < 0)
        fail(launch_programs_daemon());
    int fd = openat(spec->folder_fd, "home/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fchdir(fd) < 0 || getcwd(folder, sizeof folder) == NULL)
        fail("the sandbox's folder cannot be entered");
    snprintf(home, sizeof home, "HOME=%s", folder);
    if (dup2(spec->listen_fd, LINK_LISTEN_FD) < 0 || dup2(spec->control_fd, LINK_CONTROL_FD) < 0)
        fail("dup2");
    char *argv[] = {program, NULL};
    char *env[] = {path, home, unsafe, NULL};
    execve(program, argv, env);
    fail(launch_programs_daemon());
}

void launch_plain_kill_rest(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    do {
        FILE *file = fopen(path, "re");
        int pid;
        while (file != NULL && fscanf(file, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        if (file == NULL)
            return;
        fclose(file);
    } while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}
