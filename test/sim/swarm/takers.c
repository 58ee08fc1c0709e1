/* Which cell has taken an instance that no record shows yet. A cell that is hurt then may never
 * claim it, and tells nobody: who placed it waits 5 s for the claim and places it again (design.md
 * 5, How work is found). Each cell to which that happens in turn costs as much. That, and nothing
 * else, is told here to be excused: not a cell that was left in peace and claims nothing, and no
 * more than those 5 s, or the time until another one took it. */
#include "cell.pb-c.h"
#include "common/codec/scan.h"
#include "test/sim/swarm/inside.h"

#include <string.h>

#define PLACED_AGAIN_NS (5 * SECOND_NS)

enum { BODY_MAX = 16 * 1024 * 1024 };

struct taker {
    const struct node *cell;
    int64_t at_ns;
    int64_t waited_ns; /* until when one of those before it was waited for in vain */
};

static int64_t waited_ns(const struct swarm *s, const struct taker *t)
{
    int64_t until_ns = earlier_ns(t->at_ns + PLACED_AGAIN_NS, world_now(s->world));
    bool in_vain = bounds_hurt_ns(s, t->cell) >= t->at_ns && until_ns > t->waited_ns;
    return in_vain ? until_ns : t->waited_ns;
}

static const char *name_of(struct arena *a, const char *process_guid, int32_t index)
{
    return arena_printf(a, "%s/%d", process_guid, (int)index);
}

static void takes(struct swarm *s, const struct node *cell, const Cell__LRP *lrp)
{
    SCOPED_ARENA(a);
    const char *name = name_of(&a, lrp->process_guid, lrp->index);
    struct taker *t = map_get(&s->takers, name);
    int64_t before_ns = t ? waited_ns(s, t) : 0;
    if (!t) {
        t = ARENA_NEW(&s->arena, struct taker);
        map_put(&s->takers, name, t);
    }
    *t = (struct taker){cell, world_now(s->world), before_ns};
}

static bool gives_back(const Cell__Work *rest, const Cell__LRP *lrp)
{
    bool back = false;
    for (size_t i = 0; i < rest->n_lrps; i++) {
        const Cell__LRP *one = rest->lrps[i];
        back = back || (one->index == lrp->index &&
                        strcmp(one->process_guid, lrp->process_guid) == 0);
    }
    return back;
}

void takers_answered(struct swarm *s, const struct world_answer *answer)
{
    ProtobufCMessage *work, *rest;
    SCOPED_ARENA(a);
    if (strcmp(answer->path, "/work") != 0 || answer->status != 200 ||
        scan_and_unpack(&a, &cell__work__descriptor, answer->request, BODY_MAX, &work, NULL) < 0 ||
        scan_and_unpack(&a, &cell__work__descriptor, answer->body, BODY_MAX, &rest, NULL) < 0) {
        return;
    }
    const Cell__Work *wanted = (const Cell__Work *)work;
    for (size_t i = 0; i < wanted->n_lrps; i++) {
        if (!gives_back((const Cell__Work *)rest, wanted->lrps[i])) {
            takes(s, answer->by, wanted->lrps[i]);
        }
    }
}

int64_t takers_waited_ns(const struct swarm *s, const char *process_guid, int32_t index)
{
    SCOPED_ARENA(a);
    const struct taker *t = map_get(&s->takers, name_of(&a, process_guid, index));
    return t ? waited_ns(s, t) : 0;
}
