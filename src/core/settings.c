#include "core/settings.h"

#include "core/text.h"
#include "core/wipe.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Every option in one list (B-2): name, type, default, and what an unreadable value becomes (B-3:
 * the safer one for a switch) or, for a number, the least it may be.
 */
#define OPTIONS(X)                                                                                 \
    X(API_KEY, "api_key", SECRET, NULL, NULL, 0)                                                   \
    X(DOMAIN, "domain", TEXT, "e2b.app", NULL, 0)                                                  \
    X(API_URL, "api_url", URL, NULL, NULL, 0)                                                      \
    X(SANDBOX_URL, "sandbox_url", URL, NULL, NULL, 0)                                              \
    X(TEMPLATE, "template", TEXT, "base", NULL, 0)                                                 \
    X(CWD, "cwd", TEXT, "/home/user", NULL, 0)                                                     \
    X(LEASE, "lease_seconds", NUMBER, "300", NULL, 60)                                             \
    X(GRACE, "command_grace_seconds", NUMBER, "30", NULL, 0)                                       \
    X(INTERNET, "allow_internet_access", SWITCH, "true", "false", 0)                               \
    X(SECURE, "secure", SWITCH, "true", "true", 0)                                                 \
    X(CA_FILE, "ca_file", TEXT, NULL, NULL, 0)

enum option_id {
#define X(id, name, type, fallback, safer, least) OPTION_##id,
    OPTIONS(X)
#undef X
    OPTION_COUNT,
};

enum option_type {
    TYPE_SECRET,
    TYPE_TEXT,
    TYPE_URL,
    TYPE_NUMBER,
    TYPE_SWITCH,
};

static const struct option_kind {
    const char *name;
    enum option_type type;
    const char *fallback;
    const char *safer;
    int least;
} kinds[OPTION_COUNT] = {
#define X(id, name, type, fallback, safer, least) {name, TYPE_##type, fallback, safer, least},
    OPTIONS(X)
#undef X
};

enum {
    /* A value is shown in a warning in this many characters. */
    SHOWN_MAX = 80,
    /* A day is the longest lease any plan has; a week guards the arithmetic of deadlines. */
    NUMBER_MAX = 7 * 24 * 3600,
};

struct he2b_options {
    he2b_log_fn log;
    void *user;
    char *values[OPTION_COUNT]; /* NULL: the default */
    he2b_json *metadata;        /* NULL: none yet */
};

int he2b_options_new(he2b_options **ret, he2b_log_fn log, void *user)
{
    he2b_options *options = calloc(1, sizeof(*options));

    if (!options)
        return HE2B_ERR_NOMEM;
    options->log = log;
    options->user = user;
    *ret = options;
    return HE2B_OK;
}

void he2b_key_free(char *key)
{
    if (key)
        he2b_wipe(key, strlen(key));
    free(key);
}

void he2b_options_del(he2b_options *options)
{
    int i;

    if (!options)
        return;
    for (i = 0; i < OPTION_COUNT; i++)
        he2b_key_free(options->values[i]);
    he2b_json_del(options->metadata);
    free(options);
}

static void warn_replaced(const he2b_options *options, const struct option_kind *kind,
                          const char *value, const char *used)
{
    char shown[SHOWN_MAX];
    char text[320];

    if (!options->log)
        return;
    he2b_text_line(shown, sizeof(shown), value, strlen(value));
    snprintf(text, sizeof(text), "setting %s: %s cannot be used, %s is used instead", kind->name,
             shown[0] ? shown : "an empty text", used);
    options->log(options->user, HE2B_LOG_WARNING, text);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* A copy without white space around it; NULL when out of memory. */
static char *trimmed(const char *text)
{
    size_t len = strlen(text);

    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    while (len && isspace((unsigned char)text[0])) {
        text++;
        len--;
    }
    return strndup(text, len);
}

static bool has_control(const char *text)
{
    for (; *text; text++) {
        if (is_control(*text))
            return true;
    }
    return false;
}

static bool read_switch(const char *text, const char **ret)
{
    static const char *const yes[] = {"true", "1", "yes", "on"};
    static const char *const no[] = {"false", "0", "no", "off"};
    size_t i;

    for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (strcasecmp(text, yes[i]) == 0) {
            *ret = "true";
            return true;
        }
        if (strcasecmp(text, no[i]) == 0) {
            *ret = "false";
            return true;
        }
    }
    return false;
}

static bool read_number(const char *text, long *ret)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < 0 || number > NUMBER_MAX)
        return false;
    *ret = number;
    return true;
}

static bool is_url(const char *text)
{
    const char *host;

    if (strncasecmp(text, "http://", 7) == 0)
        host = text + 7;
    else if (strncasecmp(text, "https://", 8) == 0)
        host = text + 8;
    else
        return false;
    return *host && *host != '/' && !strpbrk(text, " \"<>\\^`{|}#?");
}

/* Puts the value to use into *value (in place or replaced); HE2B_OK or an error. */
static int normalize(const he2b_options *options, const struct option_kind *kind, char **value)
{
    const char *word = NULL;
    char *text = *value;
    char *copy;
    long number;

    switch (kind->type) {
    case TYPE_SECRET:
        return has_control(text) ? HE2B_ERR_SETTING : HE2B_OK;
    case TYPE_URL:
        if (has_control(text) || !is_url(text))
            return HE2B_ERR_SETTING;
        while (text[strlen(text) - 1] == '/')
            text[strlen(text) - 1] = '\0';
        return HE2B_OK;
    case TYPE_TEXT:
        if (!has_control(text))
            return HE2B_OK;
        warn_replaced(options, kind, text, kind->fallback ? kind->fallback : "none");
        free(text);
        *value = NULL;
        return HE2B_OK;
    case TYPE_NUMBER:
        if (!read_number(text, &number)) {
            warn_replaced(options, kind, text, kind->fallback);
            free(text);
            *value = NULL;
        } else if (number < kind->least) {
            char least[16];

            snprintf(least, sizeof(least), "%d", kind->least);
            warn_replaced(options, kind, text, least);
            copy = strdup(least);
            if (!copy)
                return HE2B_ERR_NOMEM;
            free(text);
            *value = copy;
        }
        return HE2B_OK;
    case TYPE_SWITCH:
        if (!read_switch(text, &word)) {
            word = kind->safer;
            warn_replaced(options, kind, text, word);
        }
        copy = strdup(word);
        if (!copy)
            return HE2B_ERR_NOMEM;
        free(text);
        *value = copy;
        return HE2B_OK;
    }
    return HE2B_ERR_ARG;
}

static int find_option(const char *name)
{
    int i;

    for (i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    }
    return -1;
}

int he2b_options_set(he2b_options *options, const char *name, const char *value)
{
    int id = find_option(name);
    char *copy = NULL;
    int error;

    if (id < 0)
        return HE2B_ERR_ARG;
    if (value) {
        copy = trimmed(value);
        if (!copy)
            return HE2B_ERR_NOMEM;
        if (!copy[0]) {
            free(copy);
            copy = NULL;
        }
    }
    if (copy) {
        error = normalize(options, &kinds[id], &copy);
        if (error) {
            he2b_key_free(copy);
            return error;
        }
    }
    he2b_key_free(options->values[id]);
    options->values[id] = copy;
    return HE2B_OK;
}

int he2b_options_add_metadata(he2b_options *options, const char *key, const char *value)
{
    if (!key[0])
        return HE2B_ERR_ARG;
    if (!options->metadata) {
        options->metadata = he2b_json_new_object();
        if (!options->metadata)
            return HE2B_ERR_NOMEM;
    }
    return he2b_json_add_string(options->metadata, key, value);
}

/* Never with the value: it may be a key, or a URL with a password. */
static void tell_refused(const he2b_options *options, const char *variable, int error)
{
    char line[256];

    if (!options->log)
        return;
    snprintf(line, sizeof(line), "%s: %s%s", variable, he2b_strerror(error),
             error == HE2B_ERR_SETTING ? " (a URL begins with http:// or https://, and no control "
                                         "character is in it or in a key)"
                                       : "");
    options->log(options->user, HE2B_LOG_ERROR, line);
}

int he2b_options_from_environment(he2b_options *options)
{
    static const char *const variables[][2] = {
        {"E2B_API_KEY", "api_key"},
        {"E2B_DOMAIN", "domain"},
        {"E2B_API_URL", "api_url"},
        {"E2B_SANDBOX_URL", "sandbox_url"},
    };
    size_t i;
    int error;

    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i][0]);

        if (!value || !value[0])
            continue;
        error = he2b_options_set(options, variables[i][1], value);
        if (error) {
            tell_refused(options, variables[i][0], error);
            return error;
        }
    }
    return HE2B_OK;
}

static const char *option(const he2b_options *options, enum option_id id)
{
    return options->values[id] ? options->values[id] : kinds[id].fallback;
}

const char *he2b_options_get(const he2b_options *options, const char *name)
{
    int id = find_option(name);

    if (id < 0 || id == OPTION_API_KEY)
        return NULL;
    return option(options, (enum option_id)id);
}

/* strdup() that keeps NULL; clears *ok when out of memory. */
static char *copy_option(const he2b_options *options, enum option_id id, bool *ok)
{
    const char *text = option(options, id);
    char *copy = text ? strdup(text) : NULL;

    if (text && !copy)
        *ok = false;
    return copy;
}

static bool copy_pair(void *user, const char *key, const he2b_json *member)
{
    struct he2b_settings *settings = user;
    const char *text = he2b_json_string(member, NULL);

    if (text && he2b_json_add_string(settings->metadata, key, text) != HE2B_OK) {
        he2b_json_del(settings->metadata);
        settings->metadata = NULL;
        return false;
    }
    return true;
}

int he2b_settings_copy(struct he2b_settings *ret, const he2b_options *options)
{
    struct he2b_settings copy = {0};
    bool ok = true;

    copy.api_key = copy_option(options, OPTION_API_KEY, &ok);
    copy.domain = copy_option(options, OPTION_DOMAIN, &ok);
    copy.sandbox_url = copy_option(options, OPTION_SANDBOX_URL, &ok);
    copy.template_id = copy_option(options, OPTION_TEMPLATE, &ok);
    copy.cwd = copy_option(options, OPTION_CWD, &ok);
    copy.cwd_chosen = options->values[OPTION_CWD] != NULL;
    copy.ca_file = copy_option(options, OPTION_CA_FILE, &ok);
    copy.api_url = copy_option(options, OPTION_API_URL, &ok);
    if (!copy.api_url &&
        asprintf(&copy.api_url, "https://api.%s", option(options, OPTION_DOMAIN)) < 0) {
        copy.api_url = NULL;
        ok = false;
    }
    copy.lease_seconds = atoi(option(options, OPTION_LEASE));
    copy.command_grace_seconds = atoi(option(options, OPTION_GRACE));
    copy.allow_internet_access = strcmp(option(options, OPTION_INTERNET), "true") == 0;
    copy.secure = strcmp(option(options, OPTION_SECURE), "true") == 0;
    if (options->metadata) {
        copy.metadata = he2b_json_new_object();
        if (copy.metadata)
            he2b_json_each(options->metadata, copy_pair, &copy);
        ok = ok && copy.metadata;
    }
    if (!ok) {
        he2b_settings_done(&copy);
        return HE2B_ERR_NOMEM;
    }
    *ret = copy;
    return HE2B_OK;
}

int he2b_settings_set_key(struct he2b_settings *settings, const char *key)
{
    char *copy = NULL;

    if (key) {
        copy = trimmed(key);
        if (!copy)
            return HE2B_ERR_NOMEM;
        if (has_control(copy)) {
            he2b_key_free(copy);
            return HE2B_ERR_SETTING;
        }
        if (!copy[0]) {
            free(copy);
            copy = NULL;
        }
    }
    he2b_key_free(settings->api_key);
    settings->api_key = copy;
    return HE2B_OK;
}

void he2b_settings_done(struct he2b_settings *settings)
{
    he2b_key_free(settings->api_key);
    free(settings->domain);
    free(settings->api_url);
    free(settings->sandbox_url);
    free(settings->template_id);
    free(settings->cwd);
    free(settings->ca_file);
    he2b_json_del(settings->metadata);
    memset(settings, 0, sizeof(*settings));
}
