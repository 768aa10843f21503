/*
 * A look into the sandbox: home, working directory, tools (B-28), and what the role wants done with
 * the stamp on the same way (B-62, B-65).
 */
#include "e2b/unreached.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

enum {
    /* The daemon of a sandbox that was just made or resumed may need a moment (wire F.2). */
    PROBE_FOR_MS = 15000,
    PROBE_AGAIN_MS = 200,
    PROBE_SILENCE_MS = 30000,
    /* exit codes of he2b_wrapper_probe()'s script */
    STAMP_KEPT = 41,
    STAMP_UNMADE = 42,
};

static void on_start(void *user, int64_t pid)
{
    (void)user;
    (void)pid;
}

static bool on_data(void *user, const char *data, size_t len)
{
    he2b_session *session = user;

    /* More than a probe ever prints is dropped; its lines then do not parse, and it says so. */
    (void)he2b_buf_add(&session->probe_output, data, len);
    return true;
}

static void on_end(void *user, int exit_code)
{
    he2b_session *session = user;

    session->probe_code = exit_code;
}

static void fail(he2b_session *session, int code, int status, const char *hint, const char *cause)
{
    struct he2b_secrets secrets;

    he2b_session_secrets(session, &secrets);
    he2b_failure_set(&session->failure, &secrets, code, status, "look into sandbox", hint, "%s",
                     cause);
    if (session->look == HE2B_LOOK_PLAIN)
        he2b_session_post(session, LIFE_FAILED);
    else
        he2b_writer_post(session, WRITER_FAILED);
}

/* What was seen of the stamp, in the words of the chart that asked. */
static void succeed(he2b_session *session)
{
    bool wanted = session->stamp_seen;

    session->probed = true;
    switch (session->look) {
    case HE2B_LOOK_PLAIN:
        he2b_session_post(session, session->host_state ? LIFE_OWNED : LIFE_PROBED);
        break;
    case HE2B_LOOK_UNSTAMP:
        he2b_writer_post(session, WRITER_UNSTAMPED);
        break;
    case HE2B_LOOK_RESTAMP:
        he2b_writer_post(session, WRITER_STAMPED);
        break;
    case HE2B_LOOK_STAMP:
        /* A writer's stamp must be that of its own last push (B-35), a reader's is anybody's. */
        if (he2b_role_writes(session))
            wanted =
                wanted && session->stamp[0] && strcmp(session->stamp, session->stamp_found) == 0;
        he2b_writer_post(session, wanted ? WRITER_STAMPED : WRITER_LOOKED);
        break;
    }
}

/* A plain absolute path, as B-28 wants a home to be. */
static bool plain_path(const char *path)
{
    const char *part = path;

    if (path[0] != '/' || strlen(path) >= HE2B_PATH_MAX)
        return false;
    while (part) {
        size_t len;

        part++;
        len = strcspn(part, "/");
        if ((len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part = part[len] == '/' ? part + len : NULL;
    }
    return true;
}

/* One line of the probe; text is NUL-terminated. */
static void read_line(he2b_session *session, const char *line, bool *wanted)
{
    if (strcmp(line, "tool bash") == 0)
        session->tools.bash = true;
    else if (strcmp(line, "tool setsid") == 0)
        session->tools.setsid = true;
    else if (strcmp(line, "tool sleep") == 0)
        session->tools.sleep = true;
    else if (strncmp(line, "stamp ", 6) == 0) {
        session->stamp_seen = true;
        snprintf(session->stamp_found, sizeof(session->stamp_found), "%.64s", line + 6);
    } else if (strcmp(line, "wanted") == 0)
        *wanted = true;
    else if (strncmp(line, "folder ", 7) == 0 && strlen(line + 7) < HE2B_FOLDER_MAX)
        snprintf(session->folder, sizeof(session->folder), "%s", line + 7);
    else if (strncmp(line, "boot ", 5) == 0 && strlen(line + 5) < HE2B_BOOT_MAX &&
             line[5 + strspn(line + 5, "0123456789abcdef-")] == '\0')
        snprintf(session->boot, sizeof(session->boot), "%s", line + 5);
    else if (strncmp(line, "records ", 8) == 0)
        session->records = true;
    else if (strncmp(line, "home ", 5) == 0 && strlen(line + 5) < HE2B_PATH_MAX)
        snprintf(session->home, sizeof(session->home), "%s", line + 5);
}

/* Reads what the probe printed; false if it is not what a shell prints. */
static bool read_output(he2b_session *session)
{
    char *at = session->probe_output.data;
    bool wanted = false;
    size_t len;

    memset(&session->tools, 0, sizeof(session->tools));
    session->stamp_seen = false;
    session->stamp_found[0] = '\0';
    session->home[0] = '\0';
    session->cwd[0] = '\0';
    session->folder[0] = '\0';
    session->boot[0] = '\0';
    session->records = false;
    if (!at || strlen(at) != session->probe_output.len)
        return false;
    while (strncmp(at, "cwd ", 4) != 0) {
        char *end = strchr(at, '\n');

        if (!end)
            return false;
        *end = '\0';
        read_line(session, at, &wanted);
        at = end + 1;
    }
    at += 4;
    len = strlen(at);
    if (len && at[len - 1] == '\n')
        at[--len] = '\0';
    if (len == 0 || len >= HE2B_PATH_MAX || at[0] != '/')
        return false;
    memcpy(session->cwd, at, len + 1);
    if (!plain_path(session->home)) {
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "the sandbox's home is not a plain absolute path; %s is used instead",
                         session->cwd);
        snprintf(session->home, sizeof(session->home), "%s", session->cwd);
    }
    if (!wanted && session->settings.cwd_chosen)
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "setting cwd: %s does not exist in the sandbox, %s is used instead",
                         session->settings.cwd, session->cwd);
    if (!session->tools.setsid)
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "the template has no setsid: a killed command's children are looked for "
                         "in /proc, and one that hides from its parent survives; and none is "
                         "ended at its limit if the connection is lost");
    else if (!session->tools.sleep)
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "the template has no sleep: a command is not ended at its limit if the "
                         "connection is lost");
    if (!session->tools.bash)
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "the template has no bash: commands run in its sh");
    return true;
}

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    he2b_session *session = user;
    char hint[HE2B_FAILURE_HINT_MAX];
    enum he2b_start_outcome outcome;

    session->probe = NULL;
    if (result->code == HE2B_RPC_OK && result->ended) {
        if (session->probe_code == 0 && read_output(session)) {
            succeed(session);
        } else if (session->probe_code == STAMP_KEPT || session->probe_code == STAMP_UNMADE) {
            fail(session, HE2B_ERR_REFUSED, 0, "try again",
                 session->probe_code == STAMP_KEPT
                     ? "the stamp in the sandbox's home cannot be removed"
                     : "the stamp cannot be written into the sandbox's home; is its disk full?");
        } else {
            fail(session, HE2B_ERR_PROTOCOL, 0, "check the setting template",
                 "the first command did not answer as a shell does; does the template have sh?");
        }
        return;
    }
    /* Looking twice harms nobody: so every kind of trouble is worth another look, within the bound.
     */
    outcome = he2b_start_outcome(result);
    if (outcome != HE2B_START_REFUSED && he2b_now_ms() < session->probe_give_up_ms &&
        he2b_timer_arm(session->probe_timer, PROBE_AGAIN_MS) == HE2B_OK)
        return;
    if (outcome != HE2B_START_REFUSED)
        fail(session, HE2B_ERR_LOST, result->http.status, "try again", result->message);
    else if (result->connect || result->http.end == HE2B_HTTP_COMPLETE)
        fail(session, HE2B_ERR_REFUSED, result->http.status, "try again", result->message);
    else
        fail(session, he2b_unreached(&result->http, "E2B_SANDBOX_URL", hint, sizeof(hint)), 0, hint,
             result->message);
}

static void start(void *arg)
{
    static const struct he2b_process_events events = {
        .start = on_start,
        .data = on_data,
        .end = on_end,
        .done = on_done,
    };
    static const char *const what[] = {
        [HE2B_LOOK_PLAIN] = "look",
        [HE2B_LOOK_STAMP] = "look",
        [HE2B_LOOK_UNSTAMP] = "unstamp",
        [HE2B_LOOK_RESTAMP] = "restamp",
    };
    he2b_session *session = arg;
    struct he2b_process_target target;
    struct he2b_process_spec spec = {0};
    struct he2b_wrapper wrapper;
    int error;

    he2b_buf_clear(&session->probe_output);
    session->probe_code = -1;
    he2b_wrapper_probe(&wrapper, session->settings.cwd, what[session->look],
                       session->endpoint.sandbox_id, session->stamp);
    he2b_session_target(session, &target);
    spec.cmd = wrapper.cmd;
    spec.args = wrapper.args;
    spec.silence_ms = PROBE_SILENCE_MS;
    error = he2b_process_start(&session->probe, &target, &spec, &events, session);
    if (error)
        fail(session, error, 0, "try again", he2b_strerror(error));
}

void he2b_probe_send(he2b_session *session, enum he2b_look look)
{
    session->look = look;
    if (!session->probe_timer &&
        he2b_timer_new(&session->probe_timer, session->loop, start, session) != HE2B_OK) {
        fail(session, HE2B_ERR_NOMEM, 0, "try again", he2b_strerror(HE2B_ERR_NOMEM));
        return;
    }
    session->probe_give_up_ms = he2b_now_ms() + PROBE_FOR_MS;
    start(session);
}

void he2b_probe_cancel(he2b_session *session)
{
    he2b_process_cancel(session->probe);
    session->probe = NULL;
    if (session->probe_timer)
        he2b_timer_disarm(session->probe_timer);
}
