/* The record and the watchdog of a command (B-44, B-47), with each shell as sh. */
#include "tests/unit/session/shells.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_BOOT "01234567-89ab-cdef-0123-456789abcdef"
enum {
    LONG_WATCH = 10 * 86400,
};

static const struct he2b_tools sh_with_setsid = {.bash = false, .setsid = true, .sleep = true};
static const struct he2b_tools *const each_tools[] = {&all_tools, &only_sh, &sh_with_setsid};

static char records[96];
static char record[160];
static char counter[128];
/* Seconds that no other process of this machine has among its arguments, not one that an earlier
 * run has left. */
static int long_watch;
static char long_watch_s[16];
static char held[16];
static char boot[64];

/* ---- a folder for records, as the probe leaves it ---- */

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
}

static void all_recorded_path(char out[192])
{
    snprintf(out, 192, "%s/" HE2B_WRAPPER_ALL_RECORDED, records);
}

static bool all_recorded(void)
{
    char path[192];

    all_recorded_path(path);
    return access(path, F_OK) == 0;
}

static void fresh_records(void)
{
    char path[192];

    remove_tree(records);
    assert_int_equal(mkdir(records, 0700), 0);
    all_recorded_path(path);
    touch(path);
    unlink(counter);
}

static void read_file(const char *path, char out[256])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    assert_true(fd >= 0);
    n = read(fd, out, 255);
    assert_true(n >= 0);
    out[n] = '\0';
    close(fd);
}

/* How often the counting text ran. */
static size_t times(void)
{
    struct stat status;

    return stat(counter, &status) == 0 ? (size_t)status.st_size : 0;
}

/* ---- commands and questions ---- */

static void run_job(struct output *output, const struct he2b_tools *tools,
                    const struct he2b_job *job, pid_t *pid)
{
    struct he2b_wrapper wrapper;
    struct child child;

    he2b_wrapper_command(&wrapper, tools, job);
    spawn(&child, &wrapper);
    if (pid)
        *pid = child.pid;
    if (job->stdin_len)
        (void)!write(child.in, "0123456789", job->stdin_len);
    collect(&child, output);
}

static struct he2b_job recorded(const char *text)
{
    struct he2b_job job = job_of(text, false);

    job.record = record;
    return job;
}

static const char *asked(const char *of_boot, pid_t pid, bool forbid)
{
    static struct output output;
    struct he2b_wrapper wrapper;
    struct child child;

    he2b_wrapper_ask(&wrapper, record, of_boot, WORD, pid, forbid);
    spawn(&child, &wrapper);
    collect(&child, &output);
    assert_int_equal(output.status, 0);
    return output.bytes;
}

static char count_text[192];

/* ---- the record ---- */

/* B-47: claimed and written before the command's first word, its code behind it. */
static void test_record(void **state)
{
    char text[256];
    char expected[256];
    char found[256];
    struct output output;
    pid_t pid = 0;
    size_t i;
    size_t k;

    (void)state;
    snprintf(text, sizeof(text), "cat '%s'; set -o | grep noclobber; exit 7", record);
    for (i = 0; i < 3; i++) {
        for (k = 0; k < 2; k++) {
            struct he2b_job job = recorded(text);

            fresh_records();
            job.stdin_len = k * 10;
            run_job(&output, each_tools[i], &job, &pid);
            assert_int_equal(output.code, 7);
            snprintf(expected, sizeof(expected), "began %d %s\n", (int)pid, boot);
            assert_memory_equal(output.bytes, expected, strlen(expected));
            assert_non_null(strstr(output.bytes, "off")); /* nothing of the claim is left */
            strcat(expected, "ended 7\n");
            read_file(record, found);
            assert_string_equal(found, expected);
            assert_string_equal(asked(boot, 0, false), "ended 7\n");
            assert_true(all_recorded());
        }
    }
}

/* B-47: what has its record runs nothing, the first delivered twice and the repeat alike. */
static void test_nothing_runs_twice(void **state)
{
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct he2b_job job = recorded(count_text);

        fresh_records();
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, 3);
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
        job.repeat_of = boot;
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
        assert_string_equal(output.bytes, "");
        assert_int_equal(times(), 1);
        /* an empty record counts as begun */
        fresh_records();
        touch(record);
        job.repeat_of = "";
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
        job.stdin_len = 5;
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
        assert_int_equal(times(), 0);
        assert_string_equal(asked(boot, 0, false), "begun\n");
    }
}

/* B-47: a repeat runs in the boot of the first alone, and with a record of its own alone. */
static void test_repeat(void **state)
{
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct he2b_job job = recorded(count_text);

        fresh_records();
        job.repeat_of = OTHER_BOOT;
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
        assert_int_equal(access(record, F_OK), -1);
        job.repeat_of = boot;
        remove_tree(records);
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
        assert_int_equal(times(), 0);
        fresh_records();
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, 3);
        assert_int_equal(times(), 1);
    }
}

/* The first one runs all the same, and nobody may take it for one that did not begin. */
static void test_folder_is_gone(void **state)
{
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct he2b_job job = recorded(count_text);

        fresh_records();
        remove_tree(records);
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, 3);
        assert_int_equal(times(), 1);
        assert_string_equal(asked(boot, 0, false), "unknown\n");
        assert_string_equal(asked(boot, 0, true), "unknown\n");
    }
}

/* ---- disks that take nothing; each in a child with mounts of its own ---- */

static void mount_records(const char *options)
{
    char path[192];

    assert_int_equal(mount("tmpfs", records, "tmpfs", 0, options), 0);
    all_recorded_path(path);
    touch(path);
}

static void fill_disk(void)
{
    char path[192];
    char piece[4096] = "";
    int fd;

    all_recorded_path(path);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    while (write(fd, piece, sizeof(piece)) > 0) {
    }
    close(fd);
}

/* The record is made and stays empty: begun, whatever became of it. */
static void without_room(const struct he2b_tools *tools)
{
    struct he2b_job job = recorded(count_text);
    struct output output;
    struct stat status;

    mount_records("size=16k");
    fill_disk();
    run_job(&output, tools, &job, NULL);
    assert_int_equal(output.code, 3);
    assert_int_equal(stat(record, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_string_equal(asked(boot, 0, false), "begun\n");
    assert_string_equal(asked(boot, 0, true), "begun\n");
    run_job(&output, tools, &job, NULL);
    assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
    assert_int_equal(times(), 1);
}

/* The record cannot be made; later there is room again, and it still is no command that did not
 * begin. */
static void without_inodes(const struct he2b_tools *tools)
{
    struct he2b_job job = recorded(count_text);
    struct output output;
    char path[192];

    mount_records("nr_inodes=3");
    snprintf(path, sizeof(path), "%s/other", records);
    touch(path);
    run_job(&output, tools, &job, NULL);
    assert_int_equal(output.code, 3);
    assert_false(all_recorded());
    assert_int_equal(unlink(path), 0);
    assert_string_equal(asked(boot, 0, false), "unknown\n");
    assert_int_equal(times(), 1);
}

static void read_only(const struct he2b_tools *tools)
{
    struct he2b_job job = recorded(count_text);
    struct output output;

    mount_records("size=16k");
    assert_int_equal(mount(NULL, records, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    run_job(&output, tools, &job, NULL);
    assert_int_equal(output.code, 3);
    assert_string_equal(asked(boot, 0, false), "unknown\n");
    assert_string_equal(asked(boot, 0, true), "unknown\n");
    job.repeat_of = boot;
    run_job(&output, tools, &job, NULL);
    assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
    assert_int_equal(times(), 1);
}

static void map_ids(uid_t uid, gid_t gid)
{
    char line[64];
    int fd;

    fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
    (void)!write(fd, "deny", 4);
    close(fd);
    fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    (void)!write(fd, line, (size_t)snprintf(line, sizeof(line), "0 %u 1", uid));
    close(fd);
    fd = open("/proc/self/gid_map", O_WRONLY | O_CLOEXEC);
    (void)!write(fd, line, (size_t)snprintf(line, sizeof(line), "0 %u 1", gid));
    close(fd);
}

/* False: this machine has no namespaces for us. */
static bool own_mounts(void)
{
    uid_t uid = getuid();
    gid_t gid = getgid();

    if (uid == 0 && unshare(CLONE_NEWNS) == 0)
        return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    map_ids(uid, gid);
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

enum {
    NO_MOUNTS = 77,
};

static void with_own_mounts(void (*test)(const struct he2b_tools *tools))
{
    size_t i;

    for (i = 0; i < 3; i++) {
        pid_t pid;
        int status;

        fresh_records();
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failure ends this child, and no more */
            if (!own_mounts())
                _exit(NO_MOUNTS);
            test(each_tools[i]);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MOUNTS)
            skip();
        assert_int_equal(status, 0);
    }
}

static void test_full_disk(void **state)
{
    (void)state;
    with_own_mounts(without_room);
    with_own_mounts(without_inodes);
}

static void test_read_only_disk(void **state)
{
    (void)state;
    with_own_mounts(read_only);
}

/* ---- the question ---- */

static void test_ask(void **state)
{
    struct he2b_job job = recorded("echo go; read -r line; exit 4");
    struct he2b_wrapper wrapper;
    char expected[64];
    char path[192];
    struct output output;
    struct child child;
    char go[3];
    size_t i;

    (void)state;
    job.stdin_len = 2;
    for (i = 0; i < 3; i++) {
        fresh_records();
        assert_string_equal(asked(boot, 0, false), "unbegun\n");
        assert_string_equal(asked(OTHER_BOOT, 0, false), "rebooted\n");
        /* its pid is known, but no such process is the command's */
        assert_string_equal(asked(boot, getpid(), false), "begun\n");
        he2b_wrapper_command(&wrapper, each_tools[i], &job);
        spawn(&child, &wrapper);
        assert_int_equal(read(child.out, go, 3), 3);
        snprintf(expected, sizeof(expected), "runs %d\n", (int)child.pid);
        assert_string_equal(asked(boot, 0, false), expected);
        assert_string_equal(asked(boot, child.pid, false), expected);
        assert_string_equal(asked(boot, 0, true), expected);
        assert_string_equal(asked(OTHER_BOOT, child.pid, false), "rebooted\n");
        /* its record is lost, but not the process that the daemon told */
        assert_int_equal(unlink(record), 0);
        assert_string_equal(asked(boot, child.pid, false), expected);
        assert_int_equal(write(child.in, "x\n", 2), 2);
        collect(&child, &output);
        assert_int_equal(output.code, 4);
        /* somebody ran without a record */
        fresh_records();
        all_recorded_path(path);
        assert_int_equal(unlink(path), 0);
        assert_string_equal(asked(boot, 0, false), "unknown\n");
        assert_string_equal(asked(boot, 0, true), "unknown\n");
        /* of an earlier boot, whose pid is another's now */
        fresh_records();
        he2b_wrapper_command(&wrapper, each_tools[i], &job);
        spawn(&child, &wrapper);
        assert_int_equal(read(child.out, go, 3), 3);
        {
            FILE *file = fopen(record, "we");

            assert_non_null(file);
            fprintf(file, "began %d " OTHER_BOOT "\n", (int)child.pid);
            fclose(file);
        }
        assert_string_equal(asked(boot, 0, false), "begun\n");
        assert_int_equal(write(child.in, "x\n", 2), 2);
        collect(&child, &output);
    }
}

/* What was asked for with "forbid" and had not begun never does, however late its Start comes. */
static void test_forbid(void **state)
{
    struct output output;
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct he2b_job job = recorded(count_text);

        fresh_records();
        assert_string_equal(asked(boot, 0, true), "unbegun\n");
        assert_string_equal(asked(boot, 0, true), "unbegun\n");
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, HE2B_WRAPPER_DENIED);
        assert_int_equal(times(), 0);
    }
}

/* ---- which records go ---- */

static void test_settled_records_go(void **state)
{
    struct he2b_job job = recorded("true");
    char paths[3][192];
    struct output output;
    size_t i;
    size_t k;

    (void)state;
    job.settled = "00000000aaaaaaaa 00000000bbbbbbbb";
    for (i = 0; i < 3; i++) {
        fresh_records();
        snprintf(paths[0], sizeof(paths[0]), "%s/00000000aaaaaaaa", records);
        snprintf(paths[1], sizeof(paths[1]), "%s/00000000bbbbbbbb", records);
        snprintf(paths[2], sizeof(paths[2]), "%s/00000000cccccccc", records);
        for (k = 0; k < 3; k++)
            touch(paths[k]);
        run_job(&output, each_tools[i], &job, NULL);
        assert_int_equal(output.code, 0);
        assert_int_equal(access(paths[0], F_OK), -1);
        assert_int_equal(access(paths[1], F_OK), -1);
        /* another session's */
        assert_int_equal(access(paths[2], F_OK), 0);
        assert_int_equal(access(record, F_OK), 0);
    }
}

static void probe(struct output *output)
{
    struct he2b_wrapper wrapper;
    struct child child;

    he2b_wrapper_probe(&wrapper, "", "look", "", "");
    spawn(&child, &wrapper);
    collect(&child, output);
}

/* The probe makes the folder, and takes those of earlier boots away; nothing else. */
static void test_probe_makes_the_folder(void **state)
{
    char home[128];
    char folder[160];
    char of_boot[256];
    char all[320];
    char old[256];
    char text[256];
    char line[400];
    struct output output;
    struct stat status;

    (void)state;
    snprintf(home, sizeof(home), "%s.home", records);
    assert_int_equal(mkdir(home, 0700), 0);
    setenv("XDG_RUNTIME_DIR", home, 1);
    snprintf(folder, sizeof(folder), "%s/.hermes-e2b-%u", home, (unsigned)getuid());
    snprintf(of_boot, sizeof(of_boot), "%s/%s", folder, boot);
    snprintf(all, sizeof(all), "%s/" HE2B_WRAPPER_ALL_RECORDED, of_boot);
    snprintf(old, sizeof(old), "%s/" OTHER_BOOT, folder);
    snprintf(text, sizeof(text), "%s/text.a-b-c-d-e", folder);
    snprintf(line, sizeof(line), "boot %s\nrecords %s\n", boot, of_boot);
    probe(&output);
    assert_non_null(strstr(output.bytes, line));
    assert_int_equal(stat(of_boot, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(access(all, F_OK), 0);
    assert_int_equal(mkdir(old, 0700), 0);
    touch(text);
    assert_int_equal(unlink(all), 0);
    probe(&output);
    assert_non_null(strstr(output.bytes, line));
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(access(text, F_OK), 0);
    /* what ran without a record in this boot did so */
    assert_int_equal(access(all, F_OK), -1);
    unsetenv("XDG_RUNTIME_DIR");
    remove_tree(home);
}

/* ---- the watchdog ---- */

/* True if one of its arguments is word. */
static bool has_argument(const char *pid, const char *word)
{
    char path[300];
    char text[4096];
    ssize_t n;
    ssize_t at;
    int fd;

    snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    for (at = 0; at < n; at += (ssize_t)strlen(text + at) + 1) {
        text[n] = '\0';
        if (strcmp(text + at, word) == 0)
            return true;
    }
    return false;
}

/* Processes with word among their arguments; the last one's pid to *ret. */
static unsigned count_with(const char *word, int *ret)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    unsigned count = 0;

    assert_non_null(proc);
    while ((entry = readdir(proc))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !has_argument(entry->d_name, word))
            continue;
        count++;
        if (ret)
            *ret = atoi(entry->d_name);
    }
    closedir(proc);
    return count;
}

/* Waits until there are so many of them. */
static void until_count(const char *word, unsigned wanted, int *ret)
{
    struct pollfd none = {.fd = -1};
    int i;

    for (i = 0; count_with(word, ret) != wanted; i++) {
        if (i == DEADLINE_MS / 20)
            fail_msg("%u processes have the argument %s, not %u", count_with(word, NULL), word,
                     wanted);
        (void)poll(&none, 1, 20);
    }
}

static void spawn_watched(struct child *child, const char *text, int64_t watch_s)
{
    struct he2b_job job = recorded(text);
    struct he2b_wrapper wrapper;

    fresh_records();
    job.watch_s = watch_s;
    he2b_wrapper_command(&wrapper, &all_tools, &job);
    spawn(child, &wrapper);
}

/* B-44: with this side gone it ends the whole group, and itself. */
static void test_watchdog_ends_the_group(void **state)
{
    struct output output;
    char text[256];
    struct child child;

    (void)state;
    snprintf(text, sizeof(text), "trap '' TERM; sleep %s & echo go; wait; sleep %s", held, held);
    spawn_watched(&child, text, 1);
    collect(&child, &output);
    assert_string_equal(output.bytes, "go\n");
    assert_int_equal(output.code, -1);
    assert_true(WIFSIGNALED(output.status) && WTERMSIG(output.status) == SIGKILL);
    until_count(held, 0, NULL);
    until_count("hermes-e2b-watch-" WORD, 0, NULL);
}

/* Neither a pipe of the command's nor its session is the watchdog's. */
static void test_watchdog_holds_nothing(void **state)
{
    struct output output;
    char text[256];
    struct child child;
    char path[64];
    char target[256];
    int watchdog = 0;
    int fd;

    (void)state;
    snprintf(text, sizeof(text), "exec sleep %s", held);
    spawn_watched(&child, text, long_watch);
    until_count("hermes-e2b-watch-" WORD, 1, &watchdog);
    until_count(long_watch_s, 3, NULL); /* the wrapper, the watchdog, its sleeper */
    assert_int_equal(getsid(watchdog), watchdog);
    for (fd = 0; fd < 64; fd++) {
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/%d/fd/%d", watchdog, fd);
        n = readlink(path, target, sizeof(target) - 1);
        if (n < 0)
            continue;
        target[n] = '\0';
        assert_null(strstr(target, "pipe:"));
    }
    assert_int_equal(kill(-child.pid, SIGKILL), 0);
    collect(&child, &output);
    /* The wrapper could not end it. It sleeps on, and hurts nobody when it wakes. */
    assert_int_equal(kill(-watchdog, SIGKILL), 0);
    until_count(long_watch_s, 0, NULL);
}

/* Commands that end at once, so that the watchdog may not even lead its session yet. */
static void test_watchdogs_are_cancelled(void **state)
{
    struct output output;
    struct child child;
    int i;

    (void)state;
    for (i = 0; i < 200; i++) {
        spawn_watched(&child, "exit 5", long_watch);
        collect(&child, &output);
        assert_int_equal(output.code, 5);
    }
    until_count(long_watch_s, 0, NULL);
}

/* B-42: with it goes what could end the children that the command leaves. */
static void test_children_outlive_the_limit(void **state)
{
    struct output output;
    struct child child;
    int pid;

    (void)state;
    spawn_watched(&child, "sleep 60 & echo $!; exit 2", 1);
    collect(&child, &output);
    assert_int_equal(output.code, 2);
    until_count("hermes-e2b-watch-" WORD, 0, NULL);
    pid = atoi(output.bytes);
    assert_true(has_argument(strtok(output.bytes, "\n"), "60"));
    assert_int_equal(kill(pid, SIGKILL), 0);
}

/* A kill ends it too, and what it ends it has by the watchdog's name. */
static void test_kill_ends_the_watchdog(void **state)
{
    struct he2b_wrapper wrapper;
    struct output output;
    struct child killer;
    char text[256];
    struct child child;

    (void)state;
    snprintf(text, sizeof(text), "trap '' TERM; sleep %s", held);
    spawn_watched(&child, text, long_watch);
    until_count(long_watch_s, 3, NULL);
    he2b_wrapper_kill(&wrapper, &all_tools, child.pid, WORD);
    spawn(&killer, &wrapper);
    collect(&killer, &output);
    assert_int_equal(output.status, 0);
    collect(&child, &output);
    assert_true(WIFSIGNALED(output.status));
    until_count(long_watch_s, 0, NULL);
    until_count(held, 0, NULL);
}

/* The agent ends all that is called sleep: that is no limit that was reached. */
static void test_sleeper_is_ended_early(void **state)
{
    struct output output;
    char text[256];
    struct child child;

    (void)state;
    snprintf(text, sizeof(text),
             "until p=$(pgrep -x -f 'sleep %s'); do :; done; "
             "w=$(ps -o ppid= -p $p); w=/proc/$((w))/cmdline; kill $p; "
             "while [ \"$(tr -d '\\0' <$w)\" ]; do :; done 2>/dev/null; exit 4",
             long_watch_s);
    spawn_watched(&child, text, long_watch);
    collect(&child, &output);
    assert_int_equal(output.code, 4);
    until_count(long_watch_s, 0, NULL);
}

/* Without setsid or sleep there is none, and none without a limit. */
static void test_no_watchdog(void **state)
{
    static const struct he2b_tools no_sleep = {.bash = true, .setsid = true};
    const struct he2b_tools *const tools[] = {&only_sh, &no_sleep, &all_tools};
    struct he2b_wrapper wrapper;
    size_t i;
    size_t k;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct he2b_job job = recorded("true");

        job.watch_s = i < 2 ? long_watch : 0;
        he2b_wrapper_command(&wrapper, tools[i], &job);
        for (k = 0; wrapper.args[k]; k++)
            assert_string_not_equal(wrapper.args[k], long_watch_s);
    }
}

/* ---- with each shell as sh ---- */

static int test_with(const char *name, const char *folder)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_nothing_runs_twice),
        cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_folder_is_gone),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_read_only_disk),
        cmocka_unit_test(test_ask),
        cmocka_unit_test(test_forbid),
        cmocka_unit_test(test_settled_records_go),
        cmocka_unit_test(test_probe_makes_the_folder),
        cmocka_unit_test(test_watchdog_ends_the_group),
        cmocka_unit_test(test_watchdog_holds_nothing),
        cmocka_unit_test(test_watchdogs_are_cancelled),
        cmocka_unit_test(test_children_outlive_the_limit),
        cmocka_unit_test(test_kill_ends_the_watchdog),
        cmocka_unit_test(test_sleeper_is_ended_early),
        cmocka_unit_test(test_no_watchdog),
    };

    snprintf(records, sizeof(records), "%s/records", folder);
    snprintf(record, sizeof(record), "%s/" WORD, records);
    snprintf(counter, sizeof(counter), "%s/counter", folder);
    snprintf(count_text, sizeof(count_text), "printf x >>'%s'; exit 3", counter);
    boot_id(boot);
    long_watch = LONG_WATCH + (int)getpid() * 2;
    snprintf(long_watch_s, sizeof(long_watch_s), "%d", long_watch);
    snprintf(held, sizeof(held), "%d", long_watch + 1);
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return shells_each(test_with);
}
