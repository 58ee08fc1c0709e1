/* Host ports that somebody else has: what of them keeps a container from being made, and what does
 * not. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket on this port (0: one that the kernel chooses) of the loopback; *ret_port tells it. */
static int open_at(int family, int type, uint32_t port, uint32_t *ret_port)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr *at = family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    socklen_t size = family == AF_INET ? sizeof(four) : sizeof(six);
    int on = 1, fd = socket(family, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    assert_int_equal(bind(fd, at, size), 0);
    assert_true(type != SOCK_STREAM || listen(fd, 1) == 0);
    assert_int_equal(getsockname(fd, at, &size), 0);
    *ret_port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
    return fd;
}

/* A port of which only the kernel remembers something: a server closed a connection and ended. */
static uint32_t port_in_time_wait(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint32_t port;
    int listener = open_at(AF_INET, SOCK_STREAM, 0, &port);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_port = htons((uint16_t)port);
    assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
    int server = accept(listener, NULL, NULL);
    assert_true(server >= 0);
    close(server); /* first: so the rest of the connection stays here */
    char byte;
    assert_int_equal(read(client, &byte, 1), 0);
    close(client);
    close(listener);
    return port;
}

static bool is_among(const struct verb_answer *a, uint32_t port)
{
    for (size_t i = 0; i < a->taken_count; i++) {
        if (a->taken[i] == port) {
            return true;
        }
    }
    return false;
}

static struct verb_answer prepare_with(struct rig *r, struct arena *arena, const char *guid,
                                       const uint32_t *ports, size_t count)
{
    const char *args[4];
    struct port_pair pairs[8];
    struct container_spec spec = rig_shell(r, "true", args);
    for (size_t i = 0; i < count; i++) {
        pairs[i] = (struct port_pair){8080 + (uint32_t)i, ports[i]};
    }
    spec.ports = pairs;
    spec.port_count = count;
    return subject_prepare(&r->subject, arena, guid, &spec);
}

void trial_ports(void **state)
{
    enum { FOUR, SIX, DATAGRAMS, REMEMBERED, FREE, COUNT };
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    uint32_t ports[COUNT];
    int four = open_at(AF_INET, SOCK_STREAM, 0, &ports[FOUR]);
    int six = open_at(AF_INET6, SOCK_STREAM, 0, &ports[SIX]);
    int datagrams = open_at(AF_INET, SOCK_DGRAM, 0, &ports[DATAGRAMS]);
    ports[REMEMBERED] = port_in_time_wait();
    close(open_at(AF_INET, SOCK_STREAM, 0, &ports[FREE]));
    struct verb_answer a = subject_verb(
        &r->subject, &arena,
        (struct verb_call){.verb = VERB_PORTS, .guid = "any", .ports = ports, .port_count = COUNT});
    assert_int_equal(a.outcome, VERB_DONE);
    assert_int_equal(a.taken_count, 2);
    assert_true(is_among(&a, ports[FOUR]) && is_among(&a, ports[SIX]));

    /* Nothing is made with them; what is wrong with them is told by number. */
    a = prepare_with(r, &arena, "refused", ports, COUNT);
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_int_equal(a.taken_count, 2);
    assert_non_null(strstr(a.text, "is held by another process"));
    assert_null(subject_find(&r->subject, &arena, "refused").guid);
    a = prepare_with(r, &arena, "made", ports + DATAGRAMS, COUNT - DATAGRAMS);
    assert_string_equal(a.text, "");
    assert_int_equal(a.outcome, VERB_DONE);
    assert_int_equal(a.taken_count, 0);
    subject_remove(&r->subject, "made");

    close(four);
    a = prepare_with(r, &arena, "later", ports, 1);
    assert_int_equal(a.outcome, VERB_DONE);
    subject_remove(&r->subject, "later");
    /* No such ports: nobody has them. */
    a = subject_verb(&r->subject, &arena,
                     (struct verb_call){.verb = VERB_PORTS, .guid = "any",
                                        .ports = (const uint32_t[]){0, 65536, UINT32_MAX},
                                        .port_count = 3});
    assert_int_equal(a.outcome, VERB_DONE);
    assert_int_equal(a.taken_count, 0);
    close(six);
    close(datagrams);
}
