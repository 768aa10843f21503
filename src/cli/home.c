#include "cli/home.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *user_home(void)
{
    const char *home = getenv("HOME");
    const struct passwd *entry;

    if (home && home[0])
        return home;
    entry = getpwuid(getuid());
    return entry ? entry->pw_dir : NULL;
}

bool home_path(char *out, size_t size)
{
    const char *chosen = getenv("HERMES_HOME");
    const char *home;
    int len;

    if (chosen && chosen[0]) {
        len = snprintf(out, size, "%s", chosen);
    } else {
        home = user_home();
        if (!home)
            return false;
        len = snprintf(out, size, "%s/.hermes", home);
    }
    return len > 0 && (size_t)len < size;
}
