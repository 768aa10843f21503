/* What a session knows of its sandbox, and with whose key it ends it (B-7). */
#include "session/session.h"
#include "tests/unit/session/world.h"

#include <stdio.h>

static void keep_key(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_header(request, "X-API-Key", world->scope, sizeof(world->scope));
    peer_answer(request, 204, NULL, "");
}

/* B-7: the sandbox is ended with the key that last reached it: not with one that was set since, nor
 * with none because the profile's key cannot be read any more. */
static void test_end_with_the_key_that_reached_it(void **state)
{
    static const struct {
        const char *later; /* set once the sandbox was made */
        bool reaches;      /* it was used well */
        const char *ends;
    } cases[] = {
        {NULL, false, WORLD_KEY},
        {"e2b_other", false, WORLD_KEY},
        {"e2b_other", true, "e2b_other"},
    };
    struct world *world = *state;
    struct ran ran;
    size_t i;

    world->on_kill = keep_key;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world_session(world);
        ran_whole(&ran, world, "true");
        ran_del(&ran);
        world_tick();
        assert_int_equal(he2b_session_set_api_key(world->session, cases[i].later), HE2B_OK);
        if (cases[i].reaches) {
            world->session->deadline_ms = 0;
            ran_whole(&ran, world, "true");
            assert_int_equal(ran.outcome, HE2B_ENDED);
            ran_del(&ran);
        }
        assert_int_equal(world_close(world), 0);
        assert_string_equal(world->scope, cases[i].ends);
        assert_int_equal(world_count(world, "kill"), i + 1);
        /* and nothing is changed behind the end */
        assert_int_equal(he2b_session_set_api_key(world->session, "e2b_late"), HE2B_OK);
        assert_string_equal(world->session->settings.api_key, cases[i].ends);
        he2b_session_del(world->session);
        world->session = NULL;
    }
}

/* A key that is none changes nothing. */
static void test_bad_key(void **state)
{
    struct world *world = *state;

    world_session(world);
    assert_int_equal(he2b_session_set_api_key(world->session, "e2b_\r\nX: y"), HE2B_ERR_SETTING);
    assert_string_equal(world->session->settings.api_key, WORLD_KEY);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_end_with_the_key_that_reached_it),
        IN_WORLD(test_bad_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
