/* Those who wait for a session: told once, from the pump. */
#include "session/session.h"

#include <stdlib.h>

int he2b_waiters_add(struct he2b_waiter **list, he2b_session_fn fn, void *user, int64_t need_ms)
{
    struct he2b_waiter *waiter = calloc(1, sizeof(*waiter));

    if (!waiter)
        return HE2B_ERR_NOMEM;
    waiter->fn = fn;
    waiter->user = user;
    waiter->need_ms = need_ms;
    while (*list)
        list = &(*list)->next;
    *list = waiter;
    return HE2B_OK;
}

void he2b_waiters_ask(he2b_session *session)
{
    struct he2b_waiter *waiter;

    for (waiter = session->waiters; waiter; waiter = waiter->next)
        waiter->asked = true;
}

int64_t he2b_waiters_need(const struct he2b_waiter *waiter)
{
    int64_t need = 0;

    for (; waiter; waiter = waiter->next) {
        if (waiter->need_ms > need)
            need = waiter->need_ms;
    }
    return need;
}

void he2b_waiters_tell(he2b_session *session, struct he2b_waiter **list, bool asked_only,
                       const struct he2b_failure *failure)
{
    struct he2b_waiter **end = &session->due;

    while (*end)
        end = &(*end)->next;
    while (*list) {
        struct he2b_waiter *waiter = *list;

        if (asked_only && !waiter->asked) {
            list = &waiter->next;
            continue;
        }
        *list = waiter->next;
        waiter->next = NULL;
        waiter->failed = failure != NULL;
        if (failure)
            waiter->failure = *failure;
        *end = waiter;
        end = &waiter->next;
    }
}

void he2b_waiters_free(struct he2b_waiter **list)
{
    while (*list) {
        struct he2b_waiter *waiter = *list;

        *list = waiter->next;
        free(waiter);
    }
}

/* Tells them that there is nothing to wait for any more. */
void he2b_waiters_drop(he2b_session *session, struct he2b_waiter **list)
{
    struct he2b_failure failure;

    he2b_failure_set(&failure, NULL, HE2B_ERR_CLOSED, 0, "use session", NULL, "%s",
                     he2b_strerror(HE2B_ERR_CLOSED));
    while (*list) {
        struct he2b_waiter *waiter = *list;

        *list = waiter->next;
        if (list != &session->due)
            waiter->fn(waiter->user, &failure);
        else
            waiter->fn(waiter->user, waiter->failed ? &waiter->failure : NULL);
        free(waiter);
    }
}

void he2b_waiters_forget(struct he2b_waiter **link, const void *user)
{
    while (*link) {
        struct he2b_waiter *waiter = *link;

        if (waiter->user == user) {
            *link = waiter->next;
            free(waiter);
        } else {
            link = &waiter->next;
        }
    }
}
