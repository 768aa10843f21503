#include "tests/unit/e2b/played.h"

#include <string.h>

struct peer_child *played(struct scene *scene, const char *script)
{
    struct peer_child *child = peer_child_new(script, peer_url(scene->peer) + strlen("http://"));

    assert_int_equal(he2b_options_set(scene->options, "api_url", peer_child_url(child)), HE2B_OK);
    he2b_settings_done(&scene->settings);
    assert_int_equal(he2b_settings_copy(&scene->settings, scene->options), HE2B_OK);
    scene->settings.control_times = &scene->times;
    return child;
}
