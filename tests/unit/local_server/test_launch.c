/*
 * launch.h: starting, ending and the life of a sandbox's folder. What is inside and what cannot be
 * reached from there is in test_launch_isolation.c.
 */
#include "launch_box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void need_isolation(void)
{
    const struct launch_abilities *abilities = box_abilities();
    if (!abilities->isolation)
        box_skip(abilities->isolation_why);
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void starts_answers_and_ends_plainly(void **state)
{
    (void)state;
    need_isolation();
    struct box box;
    box_open(&box);
    box_start(&box, &(struct launch_spec){.internet = false});
    assert_int_equal(box_ask(&box, "1000:echo hello; exit 3"), 3);
    assert_string_equal(box.text, "hello\n");
    box_tell(&box, "exit 0");
    box_wait_end(&box);
    assert_int_equal(box.ended, 1);
    assert_string_equal(box.why, "");
    box_close(&box);
}

static void bad_end_has_its_reason(void **state)
{
    (void)state;
    need_isolation();
    struct box box;
    box_open(&box);
    box_start(&box, &(struct launch_spec){.internet = false});
    box_tell(&box, "exit 9");
    box_wait_end(&box);
    assert_string_equal(box.why, "the sandbox ended with status 9: told to exit");
    box_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_answers_and_ends_plainly),
        cmocka_unit_test(bad_end_has_its_reason),
    };
    (void)now_ms;
    const struct launch_abilities *a = box_abilities();
    print_message("isolation %d %s\nmany ids %d %s\ninternet %d %s\nmemory %d %s\n", a->isolation,
                  a->isolation_why, a->many_ids, a->many_ids_why, a->internet, a->internet_why,
                  a->memory_limit, a->memory_limit_why);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
