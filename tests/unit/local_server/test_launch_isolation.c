/*
 * What a sandbox has inside, and attacks from there on the machine that it runs on. Each attack is
 * made as root inside and as "user"; where it can, a test shows first that the attack works without
 * the protection, so that it cannot pass for want of trying.
 */
#include "launch_box.h"
#include "launch_tree.h"

#include "local/launch_ids.h"
#include "local/launch_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANARY "he2b-canary-7d1f"

static void root_and_user_exist_and_differ(void **state)
{
    struct box *box = box_need_started(state);
    assert_int_equal(box_ask(box, "1000:id -u; id -g; id -un; id -G"), 0);
    assert_string_equal(box->text, "1000\n1000\nuser\n1000\n");
    if (!box_abilities()->many_ids)
        box_skip(box_abilities()->many_ids_why);
    assert_int_equal(box_ask(box, "0:id -u; id -g; id -un; id -G"), 0);
    assert_string_equal(box->text, "0\n0\nroot\n0\n");
    assert_int_equal(box_ask(box, "0:echo x >f && chown 1000:1000 f && chmod 600 f && "
                                  "echo y >g && chown 65535:65535 g && stat -c %u:%g f g"),
                     0);
    assert_string_equal(box->text, "1000:1000\n65535:65535\n");
    assert_int_not_equal(box_ask(box, "1000:ls /root"), 0);
    assert_int_not_equal(box_ask(box, "1000:cat g >/dev/null; chown 0 f"), 0);
    /* setuid programs have no effect: no_new_privs */
    assert_int_equal(box_ask(box, "0:cp /usr/bin/id /tmp/id; chmod 4755 /tmp/id"), 0);
    assert_int_equal(box_ask(box, "1000:/tmp/id -u"), 0);
    assert_string_equal(box->text, "1000\n");
}

static void home_and_tmp_are_writable(void **state)
{
    struct box *box = box_need_started(state);
    assert_int_equal(box_ask(box, "1000:for d in /home/user /tmp /var/tmp /dev/shm; do "
                                  "echo x >$d/file && cat $d/file; done; pwd; hostname; tty"),
                     1);
    assert_string_equal(box->text, "x\nx\nx\nx\n/home/user\ne2b.local\nnot a tty\n");
}

static void only_the_system_is_there(void **state)
{
    struct box *box = box_need_started(state);
    assert_int_equal(box_ask(box, "1000:ls -A /"), 0);
    const char *const known[] = {".e2b-local", "bin",   "dev",    "etc",  "home", "lib",
                                 "lib32",      "lib64", "libx32", "proc", "root", "run",
                                 "sbin",       "tmp",   "usr",    "var"};
    for (char *name = strtok(box->text, "\n"); name != NULL; name = strtok(NULL, "\n")) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || strcmp(name, known[i]) == 0;
        if (!found)
            fail_msg("/%s is visible", name);
    }
    assert_int_equal(box_ask(box, "1000:ls -A /home /home/user /tmp /run"), 0);
    assert_string_equal(box->text, "/home:\nuser\n\n/home/user:\n\n/run:\n\n/tmp:\n");
    assert_int_equal(box_ask(box, "1000:test ! -e /etc/shadow && test ! -e /etc/machine-id && "
                                  "test ! -e /sys && test ! -e /boot && wc -l </etc/passwd"),
                     0);
    assert_string_equal(box->text, "3\n");
}

static void write_canary(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, CANARY, strlen(CANARY)), (ssize_t)strlen(CANARY));
    close(fd);
}

static void files_of_the_host_are_out_of_reach(void **state)
{
    struct box *box = box_need(state);
    char paths[3][128];
    size_t n = 0;
    /* where a server's key lies: beside the sandboxes' folders */
    snprintf(paths[n], sizeof paths[n], "%s/key", box->parent);
    write_canary(paths[n++]);
    snprintf(paths[n], sizeof paths[n], "/tmp/%s-%d", CANARY, (int)getpid());
    write_canary(paths[n++]);
    const char *home = getenv("HOME");
    if (home != NULL && access(home, W_OK) == 0 && strlen(home) < 64) {
        snprintf(paths[n], sizeof paths[n], "%s/.%s-%d", home, CANARY, (int)getpid());
        write_canary(paths[n++]);
    }
    box_start(box, &(struct launch_spec){.internet = false});
    for (size_t i = 0; i < n; i++) {
        char request[2048];
        for (unsigned uid = 0; uid <= 1000; uid += 1000) {
            if (uid == 0 && !box_abilities()->many_ids)
                continue;
            snprintf(
                request, sizeof request,
                "%u:for r in '' /proc/1/root /proc/self/root /proc/1/cwd /proc/2/root/.. "
                "/home/user/../.. /oldroot; do cat \"$r%s\" 2>/dev/null && exit 1; done; exit 0",
                uid, paths[i]);
            if (box_ask(box, request) != 0)
                fail_msg("%s is readable", paths[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        unlink(paths[i]);
}

static void system_cannot_be_written(void **state)
{
    box_attack(box_need_started(state), "system");
}

static void devices_cannot_be_made(void **state)
{
    box_attack(box_need_started(state), "devices");
}

static void environment_of_the_host_is_hidden(void **state)
{
    struct box *box = box_need(state);
    setenv("HE2B_TEST_CANARY", CANARY, 1);
    box_start(box, &(struct launch_spec){.internet = false});
    unsetenv("HE2B_TEST_CANARY");
    for (unsigned uid = 0; uid <= 1000; uid += 1000) {
        char request[256];
        if (uid == 0 && !box_abilities()->many_ids)
            continue;
        snprintf(request, sizeof request,
                 "%u:env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' "
                 "'\\n'",
                 uid);
        box_ask(box, request);
        assert_null(strstr(box->text, "HE2B_TEST"));
        assert_null(strstr(box->text, "PATH=/"));
        assert_null(strstr(box->text, "HOME="));
    }
}

static void processes_of_the_host_are_hidden(void **state)
{
    char request[64];
    struct box *box = box_need_started(state);
    snprintf(request, sizeof request, "signals %d", getpid() > 100 ? (int)getpid() : 0);
    box_attack(box, request);
    /* init, daemon, sh, ls */
    assert_int_equal(box_ask(box, "1000:ls -d /proc/[0-9]* | wc -l"), 0);
    assert_true(atoi(box->text) <= 5);
}

static void the_outer_namespaces_are_closed(void **state)
{
    box_attack(box_need_started(state), "namespaces");
}

static void no_further_user_namespaces(void **state)
{
    box_attack(box_need_started(state), "userns");
}

static void nothing_is_inherited(void **state)
{
    struct box *box = box_need(state);
    /* what a careless plane might leave open */
    int leaked = open("/etc/passwd", O_RDONLY);
    int high = fcntl(leaked, F_DUPFD, 200);
    assert_true(leaked > 2 && high >= 200);
    box_start(box, &(struct launch_spec){.internet = false});
    close(leaked);
    close(high);
    box_attack(box, "descriptors");
    assert_int_equal(box_ask(box, box_abilities()->many_ids
                                      ? "0:ls -l /proc/2/fd | awk '{print $9}' | tr '\\n' ' '"
                                      : "1000:ls -l /proc/2/fd | awk '{print $9}' | tr '\\n' ' '"),
                     0);
    /* 5 is the probe's end of the pipe that this very command writes to */
    assert_true(strcmp(box->text, " 0 1 2 3 4 5 ") == 0 || strcmp(box->text, " 0 1 2 3 4 ") == 0);
}

static void kernel_is_out_of_reach(void **state)
{
    box_attack(box_need_started(state), "kernel");
}

static void vsock_is_out_of_reach(void **state)
{
    box_attack(box_need_started(state), "vsock");
}

static void keys_of_the_host_are_out_of_reach(void **state)
{
    struct box *box = box_need(state);
    char request[64];
    char text[64];
    long session = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    long key = session < 0
                   ? -1
                   : syscall(SYS_add_key, "user", CANARY, "secret", 6, KEY_SPEC_SESSION_KEYRING);
    if (key < 0)
        box_skip("this kernel gives no key to look for");
    assert_int_equal(syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof text), 6);
    box_start(box, &(struct launch_spec){.internet = false});
    snprintf(request, sizeof request, "keyring %ld", key);
    box_attack(box, request);
}

static void forks_are_bounded(void **state)
{
    struct box *box = box_need(state);
    box_start(box, &(struct launch_spec){.process_limit = 60});
    box_attack(box, "forks 60");
    if (!box_abilities()->many_ids)
        box_skip(box_abilities()->many_ids_why);
    /* the total of all ids counts, not each one's */
    assert_int_equal(box_ask(box, "0:for i in $(seq 40); do tail -f /dev/null >/dev/null 2>&1 & "
                                  "done"),
                     0);
    box_attack(box, "forks 25");
    /* and another sandbox has its own */
    struct box other;
    box_open(&other);
    box_start(&other, &(struct launch_spec){.process_limit = 60});
    assert_int_equal(box_ask(&other,
                             "1000:for i in $(seq 40); do tail -f /dev/null >/dev/null 2>&1 "
                             "& done"),
                     0);
    box_close(&other);
}

/* Single-id mode, also where there are many ids. */
static struct launch_ids saved_ids;

static int single_setup(void **state)
{
    (void)box_abilities();
    saved_ids = *launch_setup_ids();
    launch_ids_single(launch_setup_ids(), "a test wants it so");
    return box_setup(state);
}

static int single_teardown(void **state)
{
    int result = box_teardown(state);
    *launch_setup_ids() = saved_ids;
    return result;
}

static void single_id_is_user(void **state)
{
    struct box *box = box_need_started(state);
    static const char *const attacks[] = {"system", "devices",  "namespaces", "userns",
                                          "raw",    "terminal", "kernel",     "vsock"};
    assert_int_equal(box_ask(box, "1000:id -u; id -un; echo x >f; stat -c %u f; ls -A /root; "
                                  "chown 0 f 2>/dev/null || echo no"),
                     0);
    assert_string_equal(box->text, "1000\nuser\n1000\nno\n");
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        char request[64];
        snprintf(request, sizeof request, "1000!%s", attacks[i]);
        if (box_ask(box, request) != 0)
            fail_msg("%s: %s", attacks[i], box->text);
    }
}

static void no_terminal_inside(void **state)
{
    box_attack(box_need_started(state), "terminal");
}

/* The test above once more, in a process that has a terminal, which must hear nothing. */
static void terminal_of_the_host_hears_nothing(void **state)
{
    (void)box_need(state);
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        box_skip("this machine gives no pseudo-terminals");
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        int slave = open(ptsname(master), O_RDWR | O_CLOEXEC);
        if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0 || dup2(slave, 0) < 0 ||
            open("/dev/tty", O_RDWR | O_CLOEXEC) < 0)
            _exit(126);
        execl("/proc/self/exe", "terminal", "no_terminal_inside", (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    struct pollfd said = {.fd = master, .events = POLLIN};
    char text[64];
    if (poll(&said, 1, 0) == 1 && (said.revents & POLLIN) != 0)
        assert_true(read(master, text, sizeof text) <= 0);
    close(master);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        IN_BOX(root_and_user_exist_and_differ),
        IN_BOX(home_and_tmp_are_writable),
        IN_BOX(only_the_system_is_there),
        IN_BOX(files_of_the_host_are_out_of_reach),
        IN_BOX(system_cannot_be_written),
        IN_BOX(devices_cannot_be_made),
        IN_BOX(environment_of_the_host_is_hidden),
        IN_BOX(processes_of_the_host_are_hidden),
        IN_BOX(the_outer_namespaces_are_closed),
        IN_BOX(no_further_user_namespaces),
        IN_BOX(nothing_is_inherited),
        IN_BOX(kernel_is_out_of_reach),
        IN_BOX(vsock_is_out_of_reach),
        IN_BOX(keys_of_the_host_are_out_of_reach),
        IN_BOX(forks_are_bounded),
        cmocka_unit_test_setup_teardown(single_id_is_user, single_setup, single_teardown),
        IN_BOX(no_terminal_inside),
        IN_BOX(terminal_of_the_host_hears_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
