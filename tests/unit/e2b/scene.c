#include "tests/unit/e2b/scene.h"

#include <stdio.h>
#include <stdlib.h>

static enum scene_route route_of(const struct peer_request *request)
{
    if (strcmp(request->method, "POST") == 0 &&
        (strcmp(request->path, "/sandboxes") == 0 || strcmp(request->path, "/v2/sandboxes") == 0))
        return SCENE_CREATE;
    if (strcmp(request->method, "GET") == 0 && strncmp(request->path, "/v2/sandboxes?", 14) == 0)
        return SCENE_LIST;
    return SCENE_OTHER;
}

static void note(struct scene *scene, const struct peer_request *request, enum scene_route route)
{
    size_t used = strlen(scene->paths);

    snprintf(scene->paths + used, sizeof(scene->paths) - used, "%s%s %s", scene->asked ? "|" : "",
             request->method, request->path);
    snprintf(scene->scripts[route].path, sizeof(scene->scripts[route].path), "%.511s",
             request->path);
    snprintf(scene->scripts[route].body, sizeof(scene->scripts[route].body), "%.1023s",
             request->body);
    if (route == SCENE_CREATE) {
        scene->key[0] = '\0';
        peer_header(request, "Idempotency-Key", scene->key, sizeof(scene->key));
        if (scene->scripts[route].asked == 0)
            memcpy(scene->first_key, scene->key, sizeof(scene->key));
        scene->same_key = scene->same_key && strcmp(scene->key, scene->first_key) == 0;
    }
    scene->asked++;
    scene->scripts[route].asked++;
}

static void with_attempt(char *out, size_t size, const char *body, const char *attempt)
{
    const char *at = strstr(body, "$ATTEMPT");

    if (at)
        snprintf(out, size, "%.*s%s%s", (int)(at - body), body, attempt, at + 8);
    else
        snprintf(out, size, "%s", body);
}

static void answer_half(struct peer_request *request, const char *body)
{
    char head[128];
    int len = snprintf(head, sizeof(head),
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n",
                       strlen(body));

    peer_send(request, head, (size_t)len);
    peer_send(request, body, strlen(body) / 2);
    request->close = true;
}

static void serve(struct peer_request *request, void *user)
{
    struct scene *scene = user;
    enum scene_route route = route_of(request);
    struct scene_script *script = &scene->scripts[route];
    struct scene_answer answer = {500, NULL, "{\"code\":500,\"message\":\"no script\"}"};
    char body[2048];

    pthread_mutex_lock(&scene->lock);
    if (script->count)
        answer = script->answers[script->asked < script->count ? script->asked : script->count - 1];
    note(scene, request, route);
    with_attempt(body, sizeof(body), answer.body ? answer.body : "", scene->key);
    pthread_mutex_unlock(&scene->lock);
    if (answer.status > 0) {
        peer_answer_with(request, answer.status, "application/json",
                         answer.headers ? answer.headers : "", body);
    } else if (answer.status == SCENE_RESET) {
        peer_reset(request);
    } else if (answer.status == SCENE_SILENT) {
        peer_wait_closed(request);
    } else if (answer.status == SCENE_HALF) {
        answer_half(request, body);
    } else {
        request->close = true;
    }
}

int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    pthread_mutex_init(&scene->lock, NULL);
    scene->same_key = true;
    /* What waits for a limit sets it shorter; the others must not meet it on a slow machine. */
    scene->times = (struct he2b_control_times){
        .answer = 10000,
        .repeat_for = 10000,
        .backoff_first = 4,
        .backoff_max = 20,
        .look_every = 10,
        .look_until = 5000,
    };
    scene->peer = peer_new(serve, scene);
    assert_int_equal(he2b_loop_new(&scene->loop), HE2B_OK);
    assert_int_equal(he2b_options_new(&scene->options, NULL, NULL), HE2B_OK);
    assert_int_equal(he2b_options_set(scene->options, "api_key", SCENE_KEY), HE2B_OK);
    assert_int_equal(he2b_options_set(scene->options, "api_url", peer_url(scene->peer)), HE2B_OK);
    assert_int_equal(he2b_settings_copy(&scene->settings, scene->options), HE2B_OK);
    scene->settings.control_times = &scene->times;
    *state = scene;
    return 0;
}

int scene_teardown(void **state)
{
    struct scene *scene = *state;

    he2b_settings_done(&scene->settings);
    he2b_options_del(scene->options);
    he2b_loop_del(scene->loop);
    peer_del(scene->peer);
    free(scene);
    return 0;
}

void scene_script(struct scene *scene, enum scene_route route, const struct scene_answer *answers,
                  unsigned count)
{
    unsigned i;

    pthread_mutex_lock(&scene->lock);
    memcpy(scene->scripts[route].answers, answers, count * sizeof(*answers));
    scene->scripts[route].count = count;
    for (i = 0; i < SCENE_ROUTES; i++)
        scene->scripts[i].asked = 0;
    scene->asked = 0;
    scene->paths[0] = '\0';
    scene->same_key = true;
    pthread_mutex_unlock(&scene->lock);
}

unsigned scene_asked(struct scene *scene, enum scene_route route)
{
    unsigned asked;

    pthread_mutex_lock(&scene->lock);
    asked = scene->scripts[route].asked;
    pthread_mutex_unlock(&scene->lock);
    return asked;
}

/* ---- the calls ---- */

void scene_on_answer(void *user, const struct he2b_control_answer *answer)
{
    struct scene *scene = user;

    scene->times_told++;
    scene->got = *answer;
    scene->got.info.metadata = NULL;
    he2b_loop_stop(scene->loop);
}

static void on_list(void *user, const struct he2b_list_answer *answer)
{
    struct scene *scene = user;
    size_t i;

    scene->times_told++;
    scene->list_ok = answer->ok;
    scene->list_count = answer->count;
    scene->got.failure = answer->failure;
    for (i = 0; i < answer->count && i < SCENE_ITEMS_MAX; i++)
        scene->items[i] = answer->items[i];
    he2b_loop_stop(scene->loop);
}

static void run(struct scene *scene, int error)
{
    assert_int_equal(error, HE2B_OK);
    assert_int_equal(scene->times_told, 0);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_int_equal(scene->times_told, 1);
    scene->times_told = 0;
}

void scene_create(struct scene *scene, const char *scope)
{
    he2b_control *control = NULL;
    char attempt[HE2B_ATTEMPT_MAX];

    assert_int_equal(he2b_attempt_token(attempt), HE2B_OK);
    run(scene, he2b_control_create(&control, scene->loop, &scene->settings, attempt, scope, 300,
                                   scene_on_answer, scene));
}

void scene_connect(struct scene *scene)
{
    he2b_control *control = NULL;

    run(scene, he2b_control_connect(&control, scene->loop, &scene->settings, SCENE_ID, 300,
                                    scene_on_answer, scene));
}

void scene_kill(struct scene *scene)
{
    he2b_control *control = NULL;

    run(scene, he2b_control_kill(&control, scene->loop, &scene->settings, SCENE_ID, scene_on_answer,
                                 scene));
}

void scene_get(struct scene *scene)
{
    he2b_control *control = NULL;

    run(scene, he2b_control_get(&control, scene->loop, &scene->settings, SCENE_ID, scene_on_answer,
                                scene));
}

void scene_pause(struct scene *scene)
{
    he2b_control *control = NULL;

    run(scene, he2b_control_pause(&control, scene->loop, &scene->settings, SCENE_ID,
                                  scene_on_answer, scene));
}

void scene_list(struct scene *scene, const struct he2b_list_filter *filter)
{
    he2b_control *control = NULL;

    run(scene, he2b_control_list(&control, scene->loop, &scene->settings, filter, on_list, scene));
}
