#include "rep/container/starts.h"

#include "rep/inside.h"

#include <assert.h>

void starts_failed(struct starts *s, int64_t now_ns)
{
    unsigned before = starts_failed_lately(s, now_ns);
    s->failed = before < STARTS_FAILED_MAX ? before + 1 : before;
    assert(s->failed > 0 && s->failed <= STARTS_FAILED_MAX);
    s->last_ns = now_ns;
}

void starts_lasted(struct starts *s)
{
    s->failed = 0;
}

unsigned starts_failed_lately(const struct starts *s, int64_t now_ns)
{
    assert(now_ns >= s->last_ns);
    int64_t faded = (now_ns - s->last_ns) / STARTS_FADE_NS;
    return faded < s->failed ? s->failed - (unsigned)faded : 0;
}

static void has_lasted(struct rep *r, struct container *c)
{
    assert(!c->start_judged);
    container_judged(c);
    starts_lasted(&r->starts);
}

void starts_settle(struct rep *r)
{
    struct container *c;
    while ((c = TAILQ_FIRST(&r->containers.unproven)) &&
           r->now.mono_ns - c->running_since_ns >= STARTS_LASTED_NS) {
        has_lasted(r, c);
    }
}

void starts_judge(struct rep *r, struct container *c)
{
    if (c->start_judged) {
        return;
    }
    if (c->phase == PHASE_RUNNING) {
        container_unproven(c, r->now.mono_ns);
    } else if (c->phase == PHASE_COMPLETED && task_step_ended_well(c->step)) {
        has_lasted(r, c);
    } else if (c->phase == PHASE_COMPLETED) {
        container_judged(c);
        if (!container_stop_asked(c)) {
            starts_failed(&r->starts, r->now.mono_ns);
        }
    }
}
