#include "cli/doctor.h"

#include "cli/exits.h"
#include "cli/home_check.h"
#include "cli/message.h"
#include "cli/safe.h"
#include "cli/usage.h"
#include "he2b.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: hermes-e2b doctor\n"
    "Look whether what hermes-e2b needs is there: one line each, ok or FAIL. The server is\n"
    "asked for its list of sandboxes; nothing is made or changed.\n"
    "\n"
    "  -h, --help  print this and leave\n"
    "\n"
    "Exit code: 0 if all is well, 1 if a line says FAIL.\n";

enum {
    SERVER_LIMIT_MS = 5000,
    ROW_MAX = 1024,
};

struct doctor {
    he2b_options *options;
    he2b_loop *loop;
    bool failed;
};

static void row(struct doctor *doctor, bool ok, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void row(struct doctor *doctor, bool ok, const char *name, const char *format, ...)
{
    char text[ROW_MAX];
    char safe[ROW_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    safe_text(safe, sizeof(safe), text);
    printf("%-4s  %-8s  %s\n", ok ? "ok" : "FAIL", name, safe);
    fflush(stdout);
    doctor->failed = doctor->failed || !ok;
}

/* ---- the rows ---- */

static void check_library(struct doctor *doctor)
{
    bool same = strcmp(he2b_version(), HE2B_VERSION) == 0;

    row(doctor, same, "library", "%s%s%s", he2b_version(),
        same ? "" : "; this program was built for ", same ? "" : HE2B_VERSION);
}

/* Copies the variable into the option; false if it cannot be used. */
static bool read_variable(struct doctor *doctor, const char *variable, const char *name)
{
    const char *value = getenv(variable);

    return !value || !value[0] || he2b_options_set(doctor->options, name, value) == HE2B_OK;
}

/* The key itself is never shown, not even a part of it. */
static void check_key(struct doctor *doctor)
{
    const char *value = getenv("E2B_API_KEY");

    if (!value || !value[strspn(value, " \t\r\n")])
        row(doctor, false, "key",
            "E2B_API_KEY is not set; a key comes from https://e2b.dev/dashboard, for a local "
            "server: eval \"$(e2b-local env)\"");
    else if (!read_variable(doctor, "E2B_API_KEY", "api_key"))
        row(doctor, false, "key", "E2B_API_KEY has a control character inside");
    else
        row(doctor, true, "key", "E2B_API_KEY is set");
}

/* A URL without the name and password that may stand in it (B-100). */
static void show_url(char *out, size_t size, const char *url)
{
    const char *start = strstr(url, "://");
    const char *at;

    start = start ? start + 3 : url;
    at = memchr(start, '@', strcspn(start, "/?#"));
    if (at)
        snprintf(out, size, "%.*s***%s", (int)(start - url), url, at);
    else
        snprintf(out, size, "%s", url);
}

static void check_endpoint(struct doctor *doctor)
{
    static const char *const variables[][2] = {
        {"E2B_DOMAIN", "domain"},
        {"E2B_API_URL", "api_url"},
        {"E2B_SANDBOX_URL", "sandbox_url"},
    };
    char api[ROW_MAX];
    char sandbox[ROW_MAX] = "";
    const char *url;
    size_t i;

    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (!read_variable(doctor, variables[i][0], variables[i][1])) {
            row(doctor, false, "endpoint", "%s: a URL begins with http:// or https://",
                variables[i][0]);
            return;
        }
    }
    url = he2b_options_get(doctor->options, "api_url");
    if (url)
        show_url(api, sizeof(api), url);
    else
        snprintf(api, sizeof(api), "https://api.%s", he2b_options_get(doctor->options, "domain"));
    url = he2b_options_get(doctor->options, "sandbox_url");
    if (url)
        show_url(sandbox, sizeof(sandbox), url);
    row(doctor, true, "endpoint", "%s%s%s", api, sandbox[0] ? ", sandboxes at " : "", sandbox);
}

static void on_list(void *user, const he2b_failure *failure, const he2b_sandbox_info *const *items,
                    size_t count)
{
    struct doctor *doctor = user;

    (void)items;
    if (failure)
        row(doctor, false, "server", "%s", he2b_failure_text(failure));
    else
        row(doctor, true, "server", "answers; %zu sandbox%s of hermes-e2b", count,
            count == 1 ? "" : "es");
    he2b_loop_stop(doctor->loop);
}

static void check_server(struct doctor *doctor)
{
    he2b_catalog *catalog = NULL;
    int error = he2b_catalog_list(&catalog, doctor->loop, doctor->options, NULL, on_list, doctor);

    if (!error)
        error = he2b_catalog_set_limit(catalog, SERVER_LIMIT_MS);
    if (!error)
        error = he2b_loop_run(doctor->loop);
    if (error)
        row(doctor, false, "server", "%s", he2b_strerror(error));
    he2b_catalog_del(catalog);
}

static void check_certificates(struct doctor *doctor)
{
    const char *url = he2b_options_get(doctor->options, "api_url");
    const char *file = he2b_catalog_ca_file(doctor->options);

    if (file && access(file, R_OK) == 0)
        row(doctor, true, "CA file", "%s", file);
    else if (url && strncmp(url, "http:", 5) == 0)
        row(doctor, true, "CA file", "not needed for %s", "plain http");
    else if (file)
        row(doctor, false, "CA file", "%s: %s", file, strerror(errno));
    else
        row(doctor, false, "CA file", "none was found; set SSL_CERT_FILE");
}

static void check_home(struct doctor *doctor)
{
    char text[ROW_MAX];
    bool ok = home_check_folder(text, sizeof(text));

    row(doctor, ok, "home", "%s", text);
    if (!ok)
        return;
    ok = home_check_locks(text, sizeof(text));
    row(doctor, ok, "locks", "%s", text);
}

/* ---- the whole ---- */

static int examine(void)
{
    struct doctor doctor = {0};
    int error = he2b_options_new(&doctor.options, NULL, NULL);

    if (!error)
        error = he2b_loop_new(&doctor.loop);
    if (error) {
        message_error("%s", he2b_strerror(error));
        he2b_options_del(doctor.options);
        return EXIT_OWN_FAILURE;
    }
    check_library(&doctor);
    check_key(&doctor);
    check_endpoint(&doctor);
    check_certificates(&doctor);
    check_server(&doctor);
    check_home(&doctor);
    he2b_loop_del(doctor.loop);
    he2b_options_del(doctor.options);
    return doctor.failed ? EXIT_NOT_DONE : 0;
}

int doctor_main(int argc, char **argv)
{
    int code;

    if (!usage_help_only("doctor", help, argc, argv, &code))
        return code;
    if (argv[optind]) {
        message_error("doctor: %s is not expected here", argv[optind]);
        return EXIT_OWN_FAILURE;
    }
    return examine();
}
