#include "common/shell/bev_io.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_struct.h>
#include <event2/event.h>

void bev_read_again(struct bufferevent *bev)
{
    event_active(&bev->ev_read, EV_READ, 0);
}
