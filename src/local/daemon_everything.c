#include "local/daemon_everything.h"

#include "local/daemon.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* A fork bomb may win the race a while; guards against looking for ever. */
    KILL_ROUNDS = 1000,
};

struct row {
    pid_t pid;
    pid_t parent;
    bool ours;
};

struct table {
    struct row *rows;
    size_t count;
    size_t room;
};

void everything_init(void)
{
    /* Only the launcher's own place is trusted: elsewhere kill(-1) would reach strangers. */
    daemon_globals.isolated =
        !getenv("E2B_LOCAL_WITHOUT_ISOLATION") && getpid() == 2 && getppid() == 1;
    if (!daemon_globals.isolated)
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* /proc/PID/stat: the name in parentheses may hold anything, so count from its end. */
static void add_row(struct table *table, const char *name)
{
    struct row row = {.pid = (pid_t)atoi(name)};
    char path[300];
    char text[512];
    char state = 'Z';
    const char *end;
    size_t n = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/stat", name);
    file = fopen(path, "re");
    if (!file)
        return;
    n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    end = strrchr(text, ')');
    if (!end || sscanf(end + 1, " %c %d", &state, &row.parent) != 2 || state == 'Z')
        return;
    if (table->count == table->room) {
        size_t room = table->room ? table->room * 2 : 256;
        struct row *rows = realloc(table->rows, room * sizeof(*rows));

        if (!rows)
            return;
        table->rows = rows;
        table->room = room;
    }
    table->rows[table->count++] = row;
}

static bool is_ours(const struct table *table, pid_t parent)
{
    size_t i;

    if (parent == getpid())
        return true;
    for (i = 0; i < table->count; i++) {
        if (table->rows[i].pid == parent)
            return table->rows[i].ours;
    }
    return false;
}

static void mark_ours(struct table *table)
{
    bool more = true;
    size_t i;

    while (more) {
        more = false;
        for (i = 0; i < table->count; i++) {
            if (!table->rows[i].ours && is_ours(table, table->rows[i].parent)) {
                table->rows[i].ours = true;
                more = true;
            }
        }
    }
}

/* How many were signalled. */
static size_t signal_descendants(int signum)
{
    struct table table = {0};
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    size_t count = 0;
    size_t i;

    while (directory && (entry = readdir(directory))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            add_row(&table, entry->d_name);
    }
    if (directory)
        closedir(directory);
    mark_ours(&table);
    for (i = 0; i < table.count; i++) {
        if (table.rows[i].ours && kill(table.rows[i].pid, signum) == 0)
            count++;
    }
    free(table.rows);
    return count;
}

void everything_signal(int signum)
{
    int round;

    if (daemon_globals.isolated) {
        /* reaches all but pid 1 and this daemon */
        (void)kill(-1, signum);
        return;
    }
    for (round = 0; round < KILL_ROUNDS; round++) {
        size_t count = signal_descendants(signum);

        if (signum != SIGKILL || count == 0)
            break;
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
}
