/* What the rows of a service's moves share. */
#include "bbs/service/moves.h"
#include "bbs/service/service.h"
#include "common/lifecycle/service.h"
#include "common/model/hold.h"

#include <string.h>

const Board__ServiceMove *service_says(const struct move_turn *t)
{
    return move_service(t->move);
}

const char *service_turn_uid(const struct move_turn *t)
{
    return move_name(t->plan->arena, t->move);
}

const char *service_turn_path(const struct move_turn *t)
{
    return move_part(t->plan->arena, t->move);
}

const Board__ServiceRecord *service_before(const struct move_turn *t)
{
    return (const Board__ServiceRecord *)t->record;
}

static const char *why_not_confirmed(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const char *confirmed = service_is_app(s->service) ? s->service->board_generation
                            : s->system                ? s->system->board_generation
                                                       : "";
    if (strcmp(confirmed, s->board_generation) == 0) {
        return NULL;
    }
    return service_is_app(s->service)
               ? "nobody has confirmed it since the board was restored: bbs apply it, or bbs rm it"
               : "nobody has confirmed its system since the board was restored: bbs systems "
                 "confirm";
}

static bool is_paused(const struct service_snapshot *s)
{
    const Board__Hold *hold = s->hold ? hold_over(s->hold, s->service->path) : NULL;
    return service_is_app(s->service) ? s->service->paused : hold && hold->paused;
}

bool service_may_roll(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const char *why = why_not_confirmed(t);
    if (!why && t->from != SERVICE_DELETING && is_paused(s)) {
        why = "it is paused";
    }
    if (why) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "%s", why);
    }
    return !why;
}

void service_put_with(const struct move_turn *t, const Board__ServiceRecord *after)
{
    const struct service_snapshot *s = t->snapshot;
    if (nested_decide(s->ops, s->op_count, t->in, t->plan)) {
        move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
    }
}
