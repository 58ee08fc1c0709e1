#include "common/contract/caller.h"

#include "common/base/bytes.h"
#include "common/lifecycle/actor.h"

#include <string.h>

/* "client", "rep or auctioneer", ... */
static void append_actors(struct buf *out, int actors)
{
    bool first = true;
    for (int bit = ACTOR_CLIENT; bit <= ACTOR_CONVERGER; bit <<= 1) {
        if (actors & bit) {
            buf_printf(out, "%s%s", first ? "" : " or ", actor_name((enum actor)bit));
            first = false;
        }
    }
}

/* What a certificate says may hold anything. */
static void append_unit(struct buf *out, const char *unit)
{
    for (size_t i = 0; unit[i] && i < CALLER_UNIT_SHOWN_BYTES; i++) {
        bool plain = unit[i] >= ' ' && unit[i] <= '~' && unit[i] != '"';
        buf_printf(out, "%c", plain ? unit[i] : '?');
    }
}

const char *caller_refusal(struct arena *a, const struct request *q, int actors,
                           const char *remedy)
{
    struct buf text;
    buf_init(&text);
    buf_printf(&text, "%.200s is for OU ", q->path);
    append_actors(&text, actors);
    if (q->peer.unit[0]) {
        buf_append_string(&text, "; this certificate has OU \"");
        append_unit(&text, q->peer.unit);
        buf_append_string(&text, "\"");
    } else {
        buf_append_string(&text, "; this certificate has no OU");
    }
    if ((actors & ACTOR_CLIENT) && actor_of_unit(q->peer.unit) == ACTOR_STRANGER) {
        buf_printf(&text, ": %s", remedy);
    }
    const char *copy = arena_strdup(a, buf_string(&text));
    buf_done(&text);
    return copy;
}
