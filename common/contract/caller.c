#include "common/contract/caller.h"

#include "common/base/bytes.h"

/* "OU client", "OU rep or auctioneer", ... That the CRM of a site may ask too is of no use to
 * anybody else. Where strangers may, all may but the CRM. */
static void append_actors(struct buf *out, actor_set actors)
{
    const char *between = "OU ";
    if (actors & ACTOR_STRANGER) {
        buf_append_string(out, "any OU but crm");
        return;
    }
    for (int i = 0; i < ACTORS_MAX; i++) {
        enum actor one = (enum actor)(1 << i);
        if ((actors & one) && one != ACTOR_SITE && one != ACTOR_CRM) {
            buf_printf(out, "%s%s", between, actor_name(one));
            between = " or ";
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

const char *caller_refusal(struct arena *a, const struct request *q, actor_set callers,
                           const char *remedy)
{
    SCOPED_BUF(text);
    buf_printf(&text, "%.200s is for ", q->path);
    append_actors(&text, callers);
    if (q->peer.unit[0]) {
        buf_append_string(&text, "; this certificate has OU \"");
        append_unit(&text, q->peer.unit);
        buf_append_string(&text, "\"");
    } else {
        buf_append_string(&text, "; this certificate has no OU");
    }
    if ((callers & ACTOR_CLIENT) && actor_of_unit(q->peer.unit) == ACTOR_STRANGER) {
        buf_printf(&text, ": %s", remedy);
    }
    return arena_strdup(a, buf_string(&text));
}
