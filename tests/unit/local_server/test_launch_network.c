/*
 * What the network of a sandbox reaches. Whether something was reached is asked of the servers on
 * the host, which is why these tests cannot pass for want of trying: the shared network is the
 * control.
 */
#include "launch_box.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CANARY "he2b-canary-7d1f"

static int listen_on(const char *address, int *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    inet_pton(AF_INET, address, &at.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

/* A server of each kind on the host; closed after the test, also when it fails. */
static struct {
    int tcp;
    int udp;
    int abstract;
    int port;
    char name[64];
} servers = {-1, -1, -1, 0, ""};

static void servers_open(void)
{
    servers.tcp = listen_on("127.0.0.1", &servers.port);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)servers.port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    servers.udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(servers.udp, (struct sockaddr *)&at, sizeof at), 0);

    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    snprintf(servers.name, sizeof servers.name, "%s-%d", CANARY, (int)getpid());
    memcpy(abstract.sun_path + 1, servers.name, strlen(servers.name));
    size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(servers.name);
    servers.abstract = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(servers.abstract, (struct sockaddr *)&abstract, (socklen_t)size), 0);
    assert_int_equal(listen(servers.abstract, 16), 0);
}

static bool is_readable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 0) == 1;
}

static int network_teardown(void **state)
{
    close(servers.tcp);
    close(servers.udp);
    close(servers.abstract);
    servers.tcp = servers.udp = servers.abstract = -1;
    return box_teardown(state);
}

static void network_attacks(struct box *box, const struct launch_spec *spec)
{
    char loopback[32];
    char abstract[96];
    bool shared = spec->share_host_network;
    servers_open();
    box_start(box, spec);
    snprintf(loopback, sizeof loopback, "loopback %d", servers.port);
    snprintf(abstract, sizeof abstract, "abstract %s", servers.name);
    box_attack(box, loopback);
    if (shared) {
        box_attack_works(box, abstract);
    } else {
        box_attack(box, abstract);
        snprintf(loopback, sizeof loopback, "route %d", servers.port);
        box_attack(box, loopback);
    }
    assert_int_equal(is_readable(servers.tcp), shared);
    assert_int_equal(is_readable(servers.udp), shared);
    assert_int_equal(is_readable(servers.abstract), shared);
    box_attack(box, "raw");
}

static void network_off_reaches_nothing(void **state)
{
    struct box *box = box_need(state);
    network_attacks(box, &(struct launch_spec){.internet = false});
    assert_int_equal(box_ask(box, "1000:cat /proc/net/route | wc -l; cat /etc/resolv.conf"), 0);
    assert_string_equal(box->text, "1\n# this sandbox has no network\n");
}

static void internet_does_not_reach_the_loopback(void **state)
{
    struct box *box = box_need(state);
    if (!box_abilities()->internet)
        box_skip(box_abilities()->internet_why);
    network_attacks(box, &(struct launch_spec){.internet = true});
    assert_int_equal(box_ask(box, "1000:grep -c tap0 /proc/net/route; cat /etc/resolv.conf"), 0);
    assert_string_equal(box->text, "2\nnameserver 10.0.2.3\n");
}

/* That the attacks above reach something when it is reachable. */
static void shared_network_reaches_the_loopback(void **state)
{
    network_attacks(box_need(state), &(struct launch_spec){.share_host_network = true});
}

/* The difference from E2B that the manual states; and that slirp4netns is alive in these tests. */
static void internet_reaches_the_hosts_own_address(void **state)
{
    struct box *box = box_need(state);
    char address[INET_ADDRSTRLEN] = "";
    struct ifaddrs *list = NULL;
    if (!box_abilities()->internet)
        box_skip(box_abilities()->internet_why);
    assert_int_equal(getifaddrs(&list), 0);
    for (struct ifaddrs *at = list; at != NULL; at = at->ifa_next) {
        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != AF_INET ||
            (at->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        struct sockaddr_in in;
        memcpy(&in, at->ifa_addr, sizeof in);
        inet_ntop(AF_INET, &in.sin_addr, address, sizeof address);
    }
    freeifaddrs(list);
    if (address[0] == '\0')
        box_skip("this machine has no address but its loopback's");
    int port;
    char request[128];
    int server = listen_on(address, &port);
    box_start(box, &(struct launch_spec){.internet = true});
    snprintf(request, sizeof request, "1000:exec bash -c 'exec 3<>/dev/tcp/%s/%d'", address, port);
    if (box_ask(box, request) != 0)
        fail_msg("%s:%d: %s", address, port, box->text);
    close(server);
}

static void low_ports_are_free_for_all(void **state)
{
    struct box *box = box_need_started(state);
    assert_int_equal(box_ask(box, "1000:cat /proc/sys/net/ipv4/ip_unprivileged_port_start"), 0);
    assert_string_equal(box->text, "0\n");
}

int main(void)
{
#define WITH_SERVERS(name) cmocka_unit_test_setup_teardown(name, box_setup, network_teardown)
    const struct CMUnitTest tests[] = {
        WITH_SERVERS(network_off_reaches_nothing),
        WITH_SERVERS(internet_does_not_reach_the_loopback),
        WITH_SERVERS(shared_network_reaches_the_loopback),
        IN_BOX(internet_reaches_the_hosts_own_address),
        IN_BOX(low_ports_are_free_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
