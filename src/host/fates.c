#include "host/fates.h"

#include "core/text.h"
#include "he2b.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Guards a warning of ten names against being a page. */
    NAME_SHOWN = 200,
};

static const char *const sayings[HE2B_FATES] = {
    [HE2B_FATE_SAME] = "the same on both sides",
    [HE2B_FATE_RESTORED] = "restored from the sandbox",
    [HE2B_FATE_DELETED] = "deleted on this machine, so in the sandbox too",
    [HE2B_FATE_PARKED] = "different on this machine, whose own was kept; the sandbox's copy is "
                         "parked in <home>/cache/e2b-recovered",
    [HE2B_FATE_REDIRECTED] = "behind a link on this machine; the sandbox's copy is parked in "
                             "<home>/cache/e2b-recovered",
    [HE2B_FATE_PROTECTED] = "in a place that holds credentials; the sandbox's copy is parked in "
                            "<home>/cache/e2b-recovered",
    [HE2B_FATE_UNWRITABLE] = "where nothing can be written on this machine; the sandbox's copy is "
                             "parked in <home>/cache/e2b-recovered",
    [HE2B_FATE_UNHOLDABLE] = "not to be held by this machine, left in the sandbox",
    [HE2B_FATE_UNSAFE] = "of a name that leads elsewhere, left in the sandbox",
    [HE2B_FATE_CHANGED] = "changed while it was read, left in the sandbox",
    [HE2B_FATE_UNREAD] = "not to be read in the sandbox, left there",
};

void he2b_fates_init(struct he2b_fates *fates)
{
    *fates = (struct he2b_fates){0};
}

void he2b_fates_free(struct he2b_fates *fates)
{
    size_t fate;
    size_t i;

    for (fate = 0; fate < HE2B_FATES; fate++)
        for (i = 0; i < HE2B_FATES_NAMED; i++)
            free(fates->of[fate].names[i]);
    he2b_fates_init(fates);
}

void he2b_fates_add(struct he2b_fates *fates, enum he2b_fate fate, const char *name)
{
    char **names = fates->of[fate].names;
    size_t i = 0;
    char *copy;

    fates->of[fate].count++;
    while (i < HE2B_FATES_NAMED && names[i] && strcmp(names[i], name) <= 0)
        i++;
    if (i == HE2B_FATES_NAMED)
        return;
    copy = strdup(name);
    if (!copy)
        return;
    free(names[HE2B_FATES_NAMED - 1]);
    memmove(names + i + 1, names + i, (HE2B_FATES_NAMED - 1 - i) * sizeof(*names));
    names[i] = copy;
}

bool he2b_fate_is_warning(enum he2b_fate fate)
{
    return fate >= HE2B_FATE_PARKED;
}

int he2b_fates_say(const struct he2b_fates *fates, enum he2b_fate fate, struct he2b_buf *ret)
{
    size_t count = fates->of[fate].count;
    char *const *names = fates->of[fate].names;
    size_t i;
    int r;

    if (count == 0)
        return HE2B_OK;
    r = he2b_buf_addf(ret, "%zu file%s %s:", count, count == 1 ? "" : "s", sayings[fate]);
    for (i = 0; r == HE2B_OK && i < HE2B_FATES_NAMED && names[i]; i++) {
        char shown[NAME_SHOWN];

        he2b_text_line(shown, sizeof(shown), names[i], strlen(names[i]));
        r = he2b_buf_addf(ret, "%s %s", i ? "," : "", shown);
    }
    if (r == HE2B_OK && i < count)
        r = he2b_buf_addf(ret, " and %zu more", count - i);
    return r;
}
