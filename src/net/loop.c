#include "net/loop.h"

#include "net/sigpipe.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct post {
    struct post *next;
    void (*fn)(void *arg);
    void *arg;
};

struct signal_watch {
    struct signal_watch *next;
    struct event *event;
    int signum;
    void (*fn)(void *arg);
    void *arg;
};

struct he2b_loop {
    struct event_base *base;
    pid_t pid;
    bool running;

    /* The only thing that other threads touch, and the only lock. */
    pthread_mutex_t post_lock;
    struct post *post_first;
    struct post **post_last;
    int wake_fd; /* there are posts, or tasks */
    struct event *wake_event;

    struct he2b_task *task_first;
    struct he2b_task **task_last;

    struct signal_watch *signals;

    struct {
        void *object;
        void (*del)(void *object);
    } attached[HE2B_LOOP_PLACES];
};

struct he2b_timer {
    struct event *event;
    he2b_timer_fn fn;
    void *arg;
};

struct he2b_task {
    he2b_loop *loop;
    struct he2b_task *next;
    struct he2b_task **previous; /* what points at it; NULL while not scheduled */
    void (*fn)(void *arg);
    void *arg;
};

struct he2b_watch {
    struct event *event;
    he2b_watch_fn fn;
    void *arg;
};

int64_t he2b_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool he2b_loop_forked(const he2b_loop *loop)
{
    return loop->pid != getpid();
}

/* No timer: waking must work without memory, and libevent may need some for a timer. */
static void wake(he2b_loop *loop)
{
    const uint64_t one = 1;

    while (write(loop->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

/* ---- posts ---- */

static void run_posts(he2b_loop *loop)
{
    struct post *post;

    pthread_mutex_lock(&loop->post_lock);
    post = loop->post_first;
    loop->post_first = NULL;
    loop->post_last = &loop->post_first;
    pthread_mutex_unlock(&loop->post_lock);
    while (post) {
        struct post *next = post->next;

        post->fn(post->arg);
        free(post);
        post = next;
    }
}

int he2b_loop_post(he2b_loop *loop, void (*fn)(void *arg), void *arg)
{
    struct post *post;
    bool first;

    if (he2b_loop_forked(loop))
        return HE2B_ERR_FORK;
    post = calloc(1, sizeof(*post));
    if (!post)
        return HE2B_ERR_NOMEM;
    post->fn = fn;
    post->arg = arg;
    pthread_mutex_lock(&loop->post_lock);
    first = !loop->post_first;
    *loop->post_last = post;
    loop->post_last = &post->next;
    pthread_mutex_unlock(&loop->post_lock);
    if (first)
        wake(loop);
    return HE2B_OK;
}

/* ---- tasks ---- */

static void run_tasks(he2b_loop *loop)
{
    struct he2b_task *first = loop->task_first;

    /* Only what is scheduled now: what these schedule runs in the next turn, after descriptors. */
    if (!first)
        return;
    first->previous = &first;
    loop->task_first = NULL;
    loop->task_last = &loop->task_first;
    while (first) {
        struct he2b_task *task = first;

        first = task->next;
        if (first)
            first->previous = &first;
        task->next = NULL;
        task->previous = NULL;
        task->fn(task->arg);
    }
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    he2b_loop *loop = arg;
    uint64_t count;

    (void)what;
    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR) {
    }
    run_posts(loop);
    run_tasks(loop);
}

int he2b_task_new(he2b_task **ret, he2b_loop *loop, void (*fn)(void *arg), void *arg)
{
    he2b_task *task = calloc(1, sizeof(*task));

    if (!task)
        return HE2B_ERR_NOMEM;
    task->loop = loop;
    task->fn = fn;
    task->arg = arg;
    *ret = task;
    return HE2B_OK;
}

void he2b_task_schedule(he2b_task *task)
{
    he2b_loop *loop = task->loop;

    if (task->previous)
        return;
    if (!loop->task_first)
        wake(loop);
    task->previous = loop->task_last;
    *loop->task_last = task;
    loop->task_last = &task->next;
}

void he2b_task_del(he2b_task *task)
{
    if (!task)
        return;
    if (task->previous) {
        *task->previous = task->next;
        if (task->next)
            task->next->previous = task->previous;
        else if (task->loop->task_last == &task->next)
            task->loop->task_last = task->previous;
    }
    free(task);
}

/* ---- the loop ---- */

static const struct timeval *after_ms(struct timeval *tv, int64_t ms)
{
    if (ms < 0)
        ms = 0;
    tv->tv_sec = ms / 1000;
    tv->tv_usec = ms % 1000 * 1000;
    return tv;
}

static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (!config)
        return NULL;
    /* A cached "now" would let a timer that is armed late in a turn fire early. */
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

int he2b_loop_new(he2b_loop **ret)
{
    he2b_loop *loop = calloc(1, sizeof(*loop));
    int error = HE2B_ERR_LOOP;

    if (!loop)
        return HE2B_ERR_NOMEM;
    loop->pid = getpid();
    loop->post_last = &loop->post_first;
    loop->task_last = &loop->task_first;
    loop->wake_fd = -1;
    pthread_mutex_init(&loop->post_lock, NULL);
    loop->base = make_base();
    if (!loop->base)
        goto fail;
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake_fd < 0) {
        error = HE2B_ERR_SYSTEM;
        goto fail;
    }
    loop->wake_event = event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_wake, loop);
    if (!loop->wake_event || event_add(loop->wake_event, NULL) != 0)
        goto fail;
    *ret = loop;
    return HE2B_OK;
fail:
    he2b_loop_del(loop);
    return error;
}

void he2b_loop_del(he2b_loop *loop)
{
    struct he2b_sigpipe guard;
    int i;

    /* In a forked child epoll is shared: taking a descriptor out would take it from the parent. */
    if (!loop || he2b_loop_forked(loop))
        return;
    he2b_sigpipe_block(&guard);
    for (i = 0; i < HE2B_LOOP_PLACES; i++) {
        if (loop->attached[i].object)
            loop->attached[i].del(loop->attached[i].object);
    }
    he2b_sigpipe_restore(&guard);
    while (loop->signals) {
        struct signal_watch *signal = loop->signals;

        loop->signals = signal->next;
        event_free(signal->event);
        free(signal);
    }
    while (loop->post_first) {
        struct post *post = loop->post_first;

        loop->post_first = post->next;
        free(post);
    }
    if (loop->wake_event)
        event_free(loop->wake_event);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    if (loop->base)
        event_base_free(loop->base);
    pthread_mutex_destroy(&loop->post_lock);
    free(loop);
}

int he2b_loop_run(he2b_loop *loop)
{
    struct he2b_sigpipe guard;
    int result;

    if (he2b_loop_forked(loop))
        return HE2B_ERR_FORK;
    if (loop->running)
        return HE2B_ERR_STATE;
    loop->running = true;
    he2b_sigpipe_block(&guard);
    result = event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
    he2b_sigpipe_restore(&guard);
    loop->running = false;
    return result < 0 ? HE2B_ERR_LOOP : HE2B_OK;
}

void he2b_loop_stop(he2b_loop *loop)
{
    event_base_loopbreak(loop->base);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    struct signal_watch *signal = arg;

    (void)fd;
    (void)what;
    signal->fn(signal->arg);
}

int he2b_loop_on_signal(he2b_loop *loop, int signum, void (*fn)(void *arg), void *arg)
{
    struct signal_watch **link = &loop->signals;
    struct signal_watch *signal;

    if (he2b_loop_forked(loop))
        return HE2B_ERR_FORK;
    while (*link && (*link)->signum != signum)
        link = &(*link)->next;
    signal = *link;
    if (!fn) {
        if (signal) {
            *link = signal->next;
            event_free(signal->event);
            free(signal);
        }
        return HE2B_OK;
    }
    if (signal) {
        signal->fn = fn;
        signal->arg = arg;
        return HE2B_OK;
    }
    signal = calloc(1, sizeof(*signal));
    if (!signal)
        return HE2B_ERR_NOMEM;
    signal->signum = signum;
    signal->fn = fn;
    signal->arg = arg;
    signal->event = evsignal_new(loop->base, signum, on_signal, signal);
    if (!signal->event || event_add(signal->event, NULL) != 0) {
        if (signal->event)
            event_free(signal->event);
        free(signal);
        return HE2B_ERR_LOOP;
    }
    signal->next = loop->signals;
    loop->signals = signal;
    return HE2B_OK;
}

void *he2b_loop_attached(const he2b_loop *loop, enum he2b_loop_place place)
{
    return loop->attached[place].object;
}

void he2b_loop_attach(he2b_loop *loop, enum he2b_loop_place place, void *object,
                      void (*del)(void *object))
{
    loop->attached[place].object = object;
    loop->attached[place].del = del;
}

/* ---- timers ---- */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    he2b_timer *timer = arg;

    (void)fd;
    (void)what;
    timer->fn(timer->arg);
}

int he2b_timer_new(he2b_timer **ret, he2b_loop *loop, he2b_timer_fn fn, void *arg)
{
    he2b_timer *timer = calloc(1, sizeof(*timer));

    if (!timer)
        return HE2B_ERR_NOMEM;
    timer->fn = fn;
    timer->arg = arg;
    timer->event = event_new(loop->base, -1, 0, on_timer, timer);
    if (!timer->event) {
        free(timer);
        return HE2B_ERR_NOMEM;
    }
    *ret = timer;
    return HE2B_OK;
}

int he2b_timer_arm(he2b_timer *timer, int64_t ms)
{
    struct timeval tv;

    return event_add(timer->event, after_ms(&tv, ms)) == 0 ? HE2B_OK : HE2B_ERR_LOOP;
}

void he2b_timer_disarm(he2b_timer *timer)
{
    event_del(timer->event);
}

bool he2b_timer_armed(const he2b_timer *timer)
{
    return event_pending(timer->event, EV_TIMEOUT, NULL) != 0;
}

void he2b_timer_del(he2b_timer *timer)
{
    if (!timer)
        return;
    event_free(timer->event);
    free(timer);
}

/* ---- watches ---- */

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
    he2b_watch *watch = arg;

    (void)fd;
    watch->fn(watch->arg,
              (what & EV_READ ? HE2B_WATCH_READ : 0) | (what & EV_WRITE ? HE2B_WATCH_WRITE : 0));
}

int he2b_watch_new(he2b_watch **ret, he2b_loop *loop, int fd, int what, he2b_watch_fn fn, void *arg)
{
    he2b_watch *watch = calloc(1, sizeof(*watch));
    short events = EV_PERSIST;

    if (!watch)
        return HE2B_ERR_NOMEM;
    if (what & HE2B_WATCH_READ)
        events |= EV_READ;
    if (what & HE2B_WATCH_WRITE)
        events |= EV_WRITE;
    watch->fn = fn;
    watch->arg = arg;
    watch->event = event_new(loop->base, fd, events, on_watch, watch);
    if (!watch->event || event_add(watch->event, NULL) != 0) {
        he2b_watch_del(watch);
        return HE2B_ERR_LOOP;
    }
    *ret = watch;
    return HE2B_OK;
}

void he2b_watch_del(he2b_watch *watch)
{
    if (!watch)
        return;
    if (watch->event)
        event_free(watch->event);
    free(watch);
}
