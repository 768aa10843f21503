#include "host/tar_notes.h"

#include "host/archive.h"

#include <string.h>

/* NAME in front of these, "tar: " in front of NAME. */
static const struct {
    const char *text;
    enum he2b_tar_note note;
} behind[] = {
    {": file changed as we read it", HE2B_TAR_CHANGED},
    {": File shrank by ", HE2B_TAR_CHANGED},
    {": File removed before we read it", HE2B_TAR_UNREAD},
    {": Read error at byte ", HE2B_TAR_CHANGED},
    {": Cannot open: ", HE2B_TAR_UNREAD},
    {": Cannot stat: ", HE2B_TAR_UNREAD},
    {": Cannot read: ", HE2B_TAR_CHANGED},
    {": Cannot readlink: ", HE2B_TAR_UNREAD},
    {": Warning: Cannot ", HE2B_TAR_UNREAD},
    {": Permission denied", HE2B_TAR_UNREAD},
    {": No such file or directory", HE2B_TAR_UNREAD},
};

static const char *const of_no_matter[] = {
    "Removing leading ",
    "Exiting with failure status due to previous errors",
    "error exit delayed from previous errors",
    "short read",
};

static size_t prefix(const char *line)
{
    const char *colon = strstr(line, "tar: ");

    return colon ? (size_t)(colon - line) + 5 : 0;
}

static int octal(const char *at)
{
    int i;
    int value = 0;

    for (i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '7')
            return -1;
        value = value * 8 + (at[i] - '0');
    }
    return value > 0 && value < 256 ? value : -1;
}

/* GNU's tar writes names as C would ("escape" style). In place. */
static void unescape(char *name)
{
    static const char letters[] = "abfnrtv\\";
    static const char values[] = "\a\b\f\n\r\t\v\\";
    char *to = name;

    while (*name) {
        const char *letter = name[0] == '\\' && name[1] ? strchr(letters, name[1]) : NULL;

        if (letter) {
            *to++ = values[letter - letters];
            name += 2;
        } else if (name[0] == '\\' && octal(name + 1) > 0) {
            *to++ = (char)octal(name + 1);
            name += 4;
        } else {
            *to++ = *name++;
        }
    }
    *to = '\0';
}

/* "can't open 'NAME': why" is BusyBox'. */
static bool quoted(char *text, char **ret_name)
{
    static const char opening[] = "can't open '";
    char *end;

    if (strncmp(text, opening, sizeof(opening) - 1) != 0)
        return false;
    end = strstr(text, "': ");
    if (!end)
        return false;
    *end = '\0';
    *ret_name = text + sizeof(opening) - 1;
    return true;
}

static int note(char *line, he2b_tar_note_fn fn, void *user)
{
    char *text = line + prefix(line);
    char *name;
    size_t i;

    for (i = 0; i < sizeof(of_no_matter) / sizeof(*of_no_matter); i++)
        if (strncmp(text, of_no_matter[i], strlen(of_no_matter[i])) == 0)
            return 0;
    if (quoted(text, &name))
        return fn(user, HE2B_TAR_UNREAD, name);
    for (i = 0; i < sizeof(behind) / sizeof(*behind); i++) {
        char *at = strstr(text, behind[i].text);

        if (!at)
            continue;
        *at = '\0';
        unescape(text);
        return fn(user, behind[i].note, text);
    }
    return fn(user, HE2B_TAR_OTHER, text);
}

int he2b_tar_notes(const char *text, size_t len, he2b_tar_note_fn fn, void *user)
{
    /* four bytes for each of a name's, and the words around it */
    char line[4 * HE2B_ARCHIVE_NAME_MAX + 256];
    int r = 0;

    while (len > 0 && r == 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len;
        size_t keep = n < sizeof(line) ? n : sizeof(line) - 1;

        memcpy(line, text, keep);
        line[keep] = '\0';
        if (line[0] != '\0')
            r = note(line, fn, user);
        n += end ? 1 : 0;
        text += n;
        len -= n;
    }
    return r;
}
