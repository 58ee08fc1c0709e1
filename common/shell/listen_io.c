#include "common/shell/listen_io.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PROBE_IDLE_S = 30, /* TCP keep-alive */
    PROBE_INTERVAL_S = 5,
    PROBES = 3,
    PORT_MAX = 65535,
    UNSENT_BYTES = 128 * 1024,
};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool parse(const char *text, union address *a, socklen_t *ret_size)
{
    char host[INET6_ADDRSTRLEN + 2];
    const char *colon = strrchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof(host)) {
        return false;
    }
    char *end;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || port > PORT_MAX) {
        return false;
    }
    size_t size = (size_t)(colon - text);
    memcpy(host, text, size);
    host[size] = 0;
    *a = (union address){0};
    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = 0;
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)port);
        *ret_size = sizeof(a->v6);
        return inet_pton(AF_INET6, host + 1, &a->v6.sin6_addr) == 1;
    }
    a->v4.sin_family = AF_INET;
    a->v4.sin_port = htons((uint16_t)port);
    *ret_size = sizeof(a->v4);
    return inet_pton(AF_INET, host, &a->v4.sin_addr) == 1;
}

bool listen_is_loopback(const char *address)
{
    union address a;
    socklen_t size;
    if (!parse(address, &a, &size)) {
        return false;
    }
    return a.any.sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr)
                                       : ntohl(a.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static void set_options(int fd, unsigned user_timeout_ms)
{
    /* A stalled reader would else have up to 4 MB lie in the kernel. */
    int unsent_bytes = UNSENT_BYTES;
    int on = 1, idle = PROBE_IDLE_S, interval = PROBE_INTERVAL_S, probes = PROBES;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof(unsent_bytes));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof(user_timeout_ms));
}

int listen_open(const char *what, const char *address, unsigned user_timeout_ms, int *ret_fd,
                int *ret_port, struct err *err)
{
    union address at;
    socklen_t size;
    if (!parse(address, &at, &size)) {
        return err_set(err, ERR_INVALID, "%s %s: want IP:PORT or [IPv6]:PORT", what, address);
    }
    int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return err_set(err, ERR_IO, "%s %s: %s", what, address, strerror(errno));
    }
    set_options(fd, user_timeout_ms);
    if (bind(fd, &at.any, size) < 0 || listen(fd, LISTEN_BACKLOG) < 0 ||
        getsockname(fd, &at.any, &size) < 0) {
        int r = err_set(err, ERR_IO, "%s %s: %s", what, address, strerror(errno));
        close(fd);
        return r;
    }
    *ret_port = ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
    *ret_fd = fd;
    return 0;
}
