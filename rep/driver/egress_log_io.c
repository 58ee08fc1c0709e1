/* What the kernel tells of connections that egress rules with `log` let through: by the group that
 * the cell's chains name, the guid of the container as prefix (nft_words.h). It goes into the
 * container's log. While no rep listens nothing is told, and all passes as before. */
#include "common/base/memory.h"
#include "common/shell/log_io.h"
#include "rep/driver/driver_parts.h"

#include <event2/event.h>
#include <libnetfilter_log/libnetfilter_log.h>

#include <sys/socket.h>
#include <time.h>

enum { PACKET_BYTES = 64, MESSAGES_AT_ONCE = 64 };

struct egress_log {
    struct driver *driver;
    struct nflog_handle *kernel;
    struct nflog_g_handle *group;
    struct event *readable;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static void say(struct driver_container *c, struct bytes packet)
{
    char line[EGRESS_LINE_BYTES], more[64];
    unsigned unsaid;
    if (!egress_line(packet, line) || !egress_limit_take(&c->egress, now_ns(), &unsaid)) {
        return;
    }
    if (unsaid > 0) {
        snprintf(more, sizeof(more), "%u more were let through", unsaid);
        log_say(c->dir, EGRESS_SOURCE, false, more);
    }
    log_say(c->dir, EGRESS_SOURCE, false, line);
}

static int on_packet(struct nflog_g_handle *group, struct nfgenmsg *message,
                     struct nflog_data *told, void *log)
{
    (void)group;
    (void)message;
    const struct egress_log *e = log;
    char *payload = NULL, *prefix = nflog_get_prefix(told);
    int size = nflog_get_payload(told, &payload);
    struct driver_container *c = prefix ? map_get(&e->driver->containers, prefix) : NULL;
    if (c && size > 0) {
        say(c, (struct bytes){(const uint8_t *)payload, (size_t)size});
    }
    return 0;
}

/* What is too much is lost in the kernel, which an error tells; the next ones come. */
static void on_readable(evutil_socket_t fd, short what, void *log)
{
    (void)what;
    struct egress_log *e = log;
    char buffer[16 * 1024];
    ssize_t n = 1;
    for (int i = 0; i < MESSAGES_AT_ONCE && n > 0; i++) {
        n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
        if (n > 0) {
            nflog_handle_packet(e->kernel, buffer, (int)n);
        }
    }
}

static void cannot(const struct driver *d, const char *what)
{
    SCOPED_BUF(data);
    buf_printf(&data, "group=%u why=\"%s: %s\"", d->network.group, what, strerror(errno));
    struct log *log = log_new("driver", LOG_INFO_LEVEL, STDERR_FILENO);
    struct log_line line = {.level = LOG_WARN_LEVEL,
                            .message = "what egress rules let through is not logged",
                            .data = buf_string(&data)};
    log_put(log, &line);
    log_free(log);
}

static const char *listen_to(struct egress_log *e)
{
    struct driver *d = e->driver;
    e->kernel = nflog_open();
    if (!e->kernel) {
        return "no log of the kernel";
    }
    nflog_bind_pf(e->kernel, AF_INET); /* of old kernels; the group alone counts */
    e->group = nflog_bind_group(e->kernel, (uint16_t)d->network.group);
    if (!e->group) {
        return "the group is not to be had";
    }
    nflog_callback_register(e->group, on_packet, e);
    if (nflog_set_mode(e->group, NFULNL_COPY_PACKET, PACKET_BYTES) < 0) {
        return "no copies of packets";
    }
    e->readable = event_new(d->loop, nflog_fd(e->kernel), EV_READ | EV_PERSIST, on_readable, e);
    return e->readable && event_add(e->readable, NULL) == 0 ? NULL : "no event";
}

void egress_log_begin(struct driver *d)
{
    if (!d->network.own) {
        return;
    }
    d->egress_log = mem_zeroed(sizeof(*d->egress_log));
    d->egress_log->driver = d;
    const char *why = listen_to(d->egress_log);
    if (why) {
        cannot(d, why);
        egress_log_end(d);
    }
}

void egress_log_end(struct driver *d)
{
    struct egress_log *e = d->egress_log;
    if (!e) {
        return;
    }
    if (e->readable) {
        event_free(e->readable);
    }
    if (e->group) {
        nflog_unbind_group(e->group);
    }
    if (e->kernel) {
        nflog_close(e->kernel);
    }
    free(e);
    d->egress_log = NULL;
}
