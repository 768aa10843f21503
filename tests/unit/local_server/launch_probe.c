/*
 * A daemon for test_launch: it does inside a sandbox what the test asks for, on descriptor 4.
 *
 *   test to probe    "UID:shell script"      run by /bin/sh as that uid, in /home/user (or HOME)
 *                    "UID!NAME[ ARG]"        the attack of that name (launch_attack.h), as that uid
 *                    "exit N"                ends as the daemon
 *                    "say TEXT"              writes it to standard error and ends with 4
 *                    "hang"                  becomes deaf to every signal, with a child likewise
 *   probe to test    "up" first, then per request "STATUS:what it wrote", cut at the packet's end
 */
#include "launch_attack.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CONTROL_FD = 4,
    PACKET_MAX = 16384
};

static _Noreturn void run_child(char *request, int out)
{
    char *rest;
    uid_t uid = (uid_t)strtoul(request, &rest, 10);
    /* a group of its own: an attack may kill what it made */
    (void)setsid();
    dup2(out, 1);
    dup2(out, 2);
    /* what a daemon does for its commands: none of its own descriptors */
    close(3);
    close(CONTROL_FD);
    close(out);
    if (uid != geteuid() &&
        (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)) {
        printf("setresuid %u: %s\n", (unsigned)uid, strerror(errno));
        exit(99);
    }
    if (chdir("/home/user") < 0 && getenv("HOME") == NULL)
        exit(98);
    if (*rest == '!')
        exit(launch_attack(rest + 1));
    execl("/bin/sh", "sh", "-c", rest + 1, (char *)NULL);
    exit(127);
}

static void answer(char *request)
{
    int ends[2];
    char reply[PACKET_MAX];
    if (pipe2(ends, O_CLOEXEC) < 0)
        exit(3);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_child(request, ends[1]);
    }
    close(ends[1]);
    /* the output's end is the command's: what it leaves behind must not hold the test up */
    size_t len = 16;
    int status = 0;
    ssize_t n;
    while (len < sizeof reply - 1 && (n = read(ends[0], reply + len, sizeof reply - 1 - len)) > 0)
        len += (size_t)n;
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, &status, 0);
    int code = pid < 0 ? 97 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    char head[17];
    int head_len = snprintf(head, sizeof head, "%d:", code);
    memcpy(reply + 16 - head_len, head, (size_t)head_len);
    (void)send(CONTROL_FD, reply + 16 - head_len, len - 16 + (size_t)head_len, MSG_NOSIGNAL);
}

static void hang(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
    (void)fork();
    (void)setsid();
    (void)send(CONTROL_FD, "0:", 2, MSG_NOSIGNAL);
    for (;;)
        pause();
}

int main(void)
{
    static char request[PACKET_MAX];
    if (send(CONTROL_FD, "up", 2, MSG_NOSIGNAL) != 2)
        return 2;
    ssize_t n;
    while ((n = recv(CONTROL_FD, request, sizeof request - 1, 0)) > 0) {
        request[n] = '\0';
        if (strncmp(request, "exit ", 5) == 0) {
            fprintf(stderr, "told to exit\n");
            return atoi(request + 5);
        }
        if (strncmp(request, "say ", 4) == 0) {
            fputs(request + 4, stderr);
            return 4;
        }
        if (strcmp(request, "hang") == 0)
            hang();
        answer(request);
    }
    return 0;
}
