#include "local/daemon_state.h"

#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

struct daemon_globals daemon_globals;

static bool copy_text(char *out, size_t size, const char *text)
{
    return text && (size_t)snprintf(out, size, "%s", text) < size;
}

bool state_init(const he2b_json *message)
{
    const he2b_json *init = he2b_json_get(message, "init");
    const he2b_json *env_vars = he2b_json_get(init, "envVars");

    if (env_vars && !(daemon_globals.env_vars = he2b_json_copy(env_vars)))
        return false;
    return copy_text(daemon_globals.sandbox_id, sizeof(daemon_globals.sandbox_id),
                     he2b_json_get_string(init, "sandboxID")) &&
           copy_text(daemon_globals.template_id, sizeof(daemon_globals.template_id),
                     he2b_json_get_string(init, "templateID"));
}

void state_health(struct exchange *x)
{
    exchange_head(x, 204, exchange_one_header("Cache-Control", "no-store"), 0);
    exchange_end(x);
}

/* ---- metrics: of the whole machine, which the sandbox shares ---- */

struct memory {
    uint64_t total;
    uint64_t available;
    uint64_t cached;
};

static void read_memory(struct memory *ret)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    uint64_t kib;

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "MemTotal: %" SCNu64, &kib) == 1)
            ret->total = kib * 1024;
        else if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            ret->available = kib * 1024;
        else if (sscanf(line, "Cached: %" SCNu64, &kib) == 1)
            ret->cached = kib * 1024;
    }
    if (file)
        fclose(file);
}

/* Per cent of one processor times their number, since the last call (the first: since boot). */
static double read_processors(void)
{
    static uint64_t last_busy;
    static uint64_t last_total;
    uint64_t fields[8] = {0};
    uint64_t total = 0;
    uint64_t busy;
    double percent = 0;
    size_t i;
    FILE *file = fopen("/proc/stat", "re");

    if (!file)
        return 0;
    if (fscanf(file,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &fields[0], &fields[1], &fields[2], &fields[3], &fields[4], &fields[5], &fields[6],
               &fields[7]) == 8) {
        for (i = 0; i < 8; i++)
            total += fields[i];
        /* neither idle nor waiting for a disk */
        busy = total - fields[3] - fields[4];
        if (total > last_total && busy >= last_busy)
            percent = 100.0 * (double)(busy - last_busy) / (double)(total - last_total);
        last_busy = busy;
        last_total = total;
    }
    fclose(file);
    return percent;
}

void state_metrics(struct exchange *x)
{
    struct memory memory = {0};
    struct statvfs disk = {0};
    char text[512];
    uint64_t used;
    int n;

    read_memory(&memory);
    used = memory.total > memory.available ? memory.total - memory.available : 0;
    (void)statvfs("/home", &disk);
    n = snprintf(text, sizeof(text),
                 "{\"ts\":%lld,\"cpu_count\":%ld,\"cpu_used_pct\":%.2f,"
                 "\"mem_total_mib\":%" PRIu64 ",\"mem_used_mib\":%" PRIu64 ",\"mem_total\":%" PRIu64
                 ",\"mem_used\":%" PRIu64 ",\"mem_cache\":%" PRIu64 ",\"disk_used\":%" PRIu64
                 ",\"disk_total\":%" PRIu64 "}",
                 (long long)time(NULL), sysconf(_SC_NPROCESSORS_ONLN), read_processors(),
                 memory.total >> 20, used >> 20, memory.total, used, memory.cached,
                 (uint64_t)(disk.f_blocks - disk.f_bfree) * disk.f_frsize,
                 (uint64_t)disk.f_blocks * disk.f_frsize);
    exchange_answer(x, 200, "application/json", text, (size_t)n);
}

/* ---- envs: what every process gets on top of its user's ---- */

static bool copy_member(void *user, const char *key, const he2b_json *member)
{
    he2b_json *envs = user;

    return he2b_json_add(envs, key, he2b_json_copy(member)) == HE2B_OK;
}

void state_envs(struct exchange *x)
{
    he2b_json *envs = he2b_json_new_object();
    const char *text = NULL;
    size_t len = 0;

    if (envs && he2b_json_add_string(envs, "E2B_SANDBOX", "true") == HE2B_OK &&
        he2b_json_add_string(envs, "E2B_SANDBOX_ID", daemon_globals.sandbox_id) == HE2B_OK &&
        he2b_json_add_string(envs, "E2B_TEMPLATE_ID", daemon_globals.template_id) == HE2B_OK) {
        he2b_json_each(daemon_globals.env_vars, copy_member, envs);
        text = he2b_json_text(envs, &len);
    }
    if (text)
        exchange_answer(x, 200, "application/json", text, len);
    else
        exchange_error(x, 500, "out of memory");
    he2b_json_del(envs);
}
