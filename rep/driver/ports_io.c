/* Host ports: who else has them. Tried by a bind as servers do it, over TCP, for both families;
 * nothing listens at any moment. */
#include "rep/driver/driver_parts.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* Whether a server could not have the port for want of it. With SO_REUSEADDR, as nearly all
 * servers, so that what an earlier one left behind (TIME_WAIT) does not count. Any other failure
 * says nothing: a family that the machine does not have, a port for which this process has no
 * right, no descriptor. */
static bool is_in_use(int family, uint32_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    bool of_six = family == AF_INET6;
    int on = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (of_six) { /* each family for itself: "::" may stand beside "0.0.0.0" */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    bool used = bind(fd, of_six ? (struct sockaddr *)&six : (struct sockaddr *)&four,
                     of_six ? sizeof(six) : sizeof(four)) < 0 &&
                errno == EADDRINUSE;
    close(fd);
    return used;
}

static bool cannot_be_had(uint32_t port)
{
    return port <= UINT16_MAX && (is_in_use(AF_INET, port) || is_in_use(AF_INET6, port));
}

/* Whether a socket of this port has an inode, that is, a process: what the ended left to the kernel
 * has none. Lines of /proc/net/tcp: "sl local:port remote:port state queues timer retransmits uid
 * timeout inode ...", numbers of addresses and ports in hexadecimal. */
static bool is_held_in(const char *path, uint32_t port)
{
    char line[512];
    bool held = false;
    FILE *f = fopen(path, "re");
    while (f && !held && fgets(line, sizeof(line), f)) {
        unsigned local;
        unsigned long inode;
        held = sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %*s %*s %lu", &local,
                      &inode) == 2 &&
               local == port && inode != 0;
    }
    if (f) {
        fclose(f);
    }
    return held;
}

bool port_is_taken(uint32_t port)
{
    return cannot_be_had(port);
}

bool port_is_held(uint32_t port)
{
    return cannot_be_had(port) &&
           (is_held_in("/proc/net/tcp", port) || is_held_in("/proc/net/tcp6", port));
}

void verb_ports(struct driver *d, const struct verb_call *call)
{
    SCOPED_BUF(taken);
    for (size_t i = 0; i < call->port_count; i++) {
        if (port_is_held(call->ports[i])) {
            buf_append(&taken, &call->ports[i], sizeof(call->ports[i]));
        }
    }
    driver_answer(d, &(struct verb_answer){
                         .id = call->id,
                         .verb = VERB_PORTS,
                         .guid = call->guid,
                         .outcome = VERB_DONE,
                         .text = "",
                         .taken = (const uint32_t *)(const void *)taken.data,
                         .taken_count = taken.size / sizeof(uint32_t),
                     });
}
