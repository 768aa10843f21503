#include "net/pool.h"

#include "net/http.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    /* Idle connections that are kept: one per command that ran at once, within reason. */
    POOL_CONNECTIONS_MAX = 256,
};

/* One per easy handle: what belongs to it beside libcurl's own. */
struct member {
    struct member *next;
    struct member **previous;
    CURL *easy;
    he2b_pool_done_fn done; /* NULL: left behind by its call */
    void *call;
    bool given_up; /* in this turn of give_up() */
};

struct socket_watch {
    struct socket_watch *next;
    struct socket_watch **previous;
    struct he2b_pool *pool;
    curl_socket_t fd;
    he2b_watch *watch;
};

struct he2b_pool {
    he2b_loop *loop;
    CURLM *multi;
    he2b_timer *timer;
    he2b_task *giving_up;
    bool broken; /* until that task has run */
    struct member *members;
    struct socket_watch *sockets;
};

/* libcurl's global state is counted, since a host may hold several copies of this library. */
static pthread_once_t global_once = PTHREAD_ONCE_INIT;
static CURLcode global_code;

static void break_up(struct he2b_pool *pool)
{
    pool->broken = true;
    he2b_task_schedule(pool->giving_up);
}

static void global_init(void)
{
    global_code = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void drop_socket(struct socket_watch *socket)
{
    he2b_watch_del(socket->watch);
    *socket->previous = socket->next;
    if (socket->next)
        socket->next->previous = socket->previous;
    free(socket);
}

static void drop_member(struct member *member)
{
    *member->previous = member->next;
    if (member->next)
        member->next->previous = member->previous;
    curl_easy_cleanup(member->easy);
    free(member);
}

/* Without any handle in it. What it still has open is closed. */
static void drop_multi(struct he2b_pool *pool)
{
    if (!pool->multi)
        return;
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, NULL);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, NULL);
    curl_multi_cleanup(pool->multi);
    pool->multi = NULL;
    pool->broken = false;
    he2b_timer_disarm(pool->timer);
    while (pool->sockets)
        drop_socket(pool->sockets);
}

static struct member *given_up(const struct he2b_pool *pool)
{
    struct member *member;

    for (member = pool->members; member && !member->given_up; member = member->next) {
    }
    return member;
}

/* After every call into libcurl: what it finished. done may add and remove handles. */
static void collect(struct he2b_pool *pool)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(pool->multi, &left))) {
        struct member *member;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        for (member = pool->members; member && member->easy != easy; member = member->next) {
        }
        if (!member)
            continue;
        if (member->done) {
            member->done(member->call, code);
        } else {
            curl_multi_remove_handle(pool->multi, easy);
            drop_member(member);
        }
    }
}

/*
 * There was no memory to go on watching some transfer, and nothing tells which ones it concerns: a
 * connection may carry several. So each that is on its way ends now, rather than never; and libcurl
 * 7.88 divides by zero where it goes on after such a failure, so that its whole state goes too.
 */
static void give_up(void *arg)
{
    struct he2b_pool *pool = arg;
    struct member *member = pool->members;

    while (member) {
        struct member *next = member->next;

        curl_multi_remove_handle(pool->multi, member->easy);
        member->given_up = member->done != NULL;
        if (!member->done)
            drop_member(member);
        member = next;
    }
    drop_multi(pool);
    while ((member = given_up(pool))) {
        member->given_up = false;
        member->done(member->call, CURLE_RECV_ERROR);
    }
}

static void act(struct he2b_pool *pool, curl_socket_t fd, int action)
{
    int running;

    if (pool->broken)
        return;
    if (curl_multi_socket_action(pool->multi, fd, action, &running) != CURLM_OK)
        break_up(pool);
    collect(pool);
}

static void on_ready(void *arg, int what)
{
    struct socket_watch *socket = arg;
    struct he2b_pool *pool = socket->pool;
    int action = (what & HE2B_WATCH_READ ? CURL_CSELECT_IN : 0) |
                 (what & HE2B_WATCH_WRITE ? CURL_CSELECT_OUT : 0);

    /* socket may be gone after this: libcurl reports its removal inside. */
    act(pool, socket->fd, action);
}

static void on_timeout(void *arg)
{
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

/* Never answers an error: that would end every transfer of the pool. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *assigned)
{
    struct he2b_pool *pool = arg;
    struct socket_watch *socket = assigned;
    int ready = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (socket) {
            curl_multi_assign(pool->multi, fd, NULL);
            drop_socket(socket);
        }
        return 0;
    }
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
        ready |= HE2B_WATCH_READ;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
        ready |= HE2B_WATCH_WRITE;
    if (!socket) {
        socket = calloc(1, sizeof(*socket));
        if (!socket) {
            break_up(pool);
            return 0;
        }
        socket->pool = pool;
        socket->fd = fd;
        socket->next = pool->sockets;
        socket->previous = &pool->sockets;
        if (socket->next)
            socket->next->previous = &socket->next;
        pool->sockets = socket;
        curl_multi_assign(pool->multi, fd, socket);
    }
    he2b_watch_del(socket->watch);
    socket->watch = NULL;
    if (ready && he2b_watch_new(&socket->watch, pool->loop, fd, ready, on_ready, socket) != HE2B_OK)
        break_up(pool);
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
    struct he2b_pool *pool = arg;

    (void)multi;
    /* Zero arms the timer too: calling back into libcurl from here would recurse. */
    if (ms < 0)
        he2b_timer_disarm(pool->timer);
    else if (he2b_timer_arm(pool->timer, ms) != HE2B_OK)
        break_up(pool);
    return 0;
}

static void pool_del(void *arg)
{
    struct he2b_pool *pool = arg;

    while (pool->members) {
        curl_multi_remove_handle(pool->multi, pool->members->easy);
        drop_member(pool->members);
    }
    drop_multi(pool);
    he2b_timer_del(pool->timer);
    he2b_task_del(pool->giving_up);
    free(pool);
}

static int make_multi(struct he2b_pool *pool)
{
    if (pool->multi)
        return HE2B_OK;
    pool->multi = curl_multi_init();
    if (!pool->multi)
        return HE2B_ERR_NOMEM;
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_MAXCONNECTS, (long)POOL_CONNECTIONS_MAX);
    curl_multi_setopt(pool->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    return HE2B_OK;
}

int he2b_pool_get(struct he2b_pool **ret, he2b_loop *loop)
{
    struct he2b_pool *pool = he2b_loop_attached(loop, HE2B_LOOP_POOL);

    if (pool) {
        *ret = pool;
        return HE2B_OK;
    }
    pthread_once(&global_once, global_init);
    if (global_code != CURLE_OK)
        return HE2B_ERR_LOOP;
    pool = calloc(1, sizeof(*pool));
    if (!pool)
        return HE2B_ERR_NOMEM;
    pool->loop = loop;
    if (he2b_timer_new(&pool->timer, loop, on_timeout, pool) != HE2B_OK ||
        he2b_task_new(&pool->giving_up, loop, give_up, pool) != HE2B_OK) {
        pool_del(pool);
        return HE2B_ERR_NOMEM;
    }
    he2b_loop_attach(loop, HE2B_LOOP_POOL, pool, pool_del);
    *ret = pool;
    return HE2B_OK;
}

int he2b_pool_add(struct he2b_pool *pool, CURL *easy, he2b_pool_done_fn done, void *call)
{
    struct member *member = calloc(1, sizeof(*member));

    if (!member || make_multi(pool) != HE2B_OK) {
        free(member);
        return HE2B_ERR_NOMEM;
    }
    member->easy = easy;
    member->done = done;
    member->call = call;
    if (curl_multi_add_handle(pool->multi, easy) != CURLM_OK) {
        free(member);
        return HE2B_ERR_LOOP;
    }
    member->next = pool->members;
    member->previous = &pool->members;
    if (member->next)
        member->next->previous = &member->next;
    pool->members = member;
    return HE2B_OK;
}

static struct member *find(const struct he2b_pool *pool, const CURL *easy)
{
    struct member *member;

    for (member = pool->members; member && member->easy != easy; member = member->next) {
    }
    return member;
}

/* Reached when a handle that was left behind has a connection: it must not use it. */
static int stop_before_sending(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    (void)arg;
    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    return CURL_PREREQFUNC_ABORT;
}

void he2b_pool_remove(struct he2b_pool *pool, CURL *easy, bool resolving)
{
    struct member *member = find(pool, easy);

    if (!member)
        return;
    if (resolving) {
        member->done = NULL;
        member->call = NULL;
        curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, stop_before_sending);
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
        return;
    }
    curl_multi_remove_handle(pool->multi, easy);
    drop_member(member);
}

void he2b_pool_unpause(struct he2b_pool *pool, CURL *easy)
{
    curl_easy_pause(easy, CURLPAUSE_CONT);
    collect(pool);
}
