/* A driver in the loop of a rep's host. */
#include "rep/driver/driver_io.h"

static void deliver_to_host(void *host, const struct event *ev)
{
    host_deliver(host, ev);
}

struct driver_shell *driver_new(void *config, struct host *host, struct err *err)
{
    return driver_open(config, host_loop(host), deliver_to_host, host, err);
}
