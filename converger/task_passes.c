#include "converger/task_passes.h"

#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

#define UNPLACED_AFTER_NS (30 * SECOND_NS)

/* How long something is to wait yet, and the limit by which it is found. */
struct wait {
    int64_t left_ns; /* not positive: no more; NEVER_NS = not by time */
    int64_t after_ns;
};

struct task_pass {
    const char *name;
    int state;
    const char *move;
    struct wait (*wait)(const struct task_view *v, const struct task_limits *limits,
                        struct moment now);
};

struct task_limits task_limits_of(const struct task_limits *given)
{
    struct task_limits l = *given;
    l.expire_pending_ns = l.expire_pending_ns ? l.expire_pending_ns : TASK_EXPIRE_PENDING_NS;
    l.unplaced_after_ns = l.unplaced_after_ns ? l.unplaced_after_ns : UNPLACED_AFTER_NS;
    l.loss_ns = l.loss_ns ? l.loss_ns : TASK_LOSS_NS;
    l.kick_ns = l.kick_ns ? l.kick_ns : TASK_KICK_NS;
    l.expire_completed_ns = l.expire_completed_ns ? l.expire_completed_ns : TASK_KEEP_NS;
    l.undelivered_ns = l.undelivered_ns ? l.undelivered_ns : TASK_KEEP_UNDELIVERED_NS;
    return l;
}

void task_view_of(const Models__Task *task, struct task_view *ret)
{
    bool known =
        task->state > MODELS__TASK__STATE__Invalid && task->state <= MODELS__TASK__STATE__Resolving;
    bool kept = task->optional_keep_s_case == MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
    *ret = (struct task_view){
        .state = (int8_t)(known ? (int)task->state : -1),
        .has_url = task->task_definition && *task->task_definition->completion_callback_url,
        .updated_ns = task->updated_at,
        .completed_ns = task->first_completed_at,
        .keep_ns = kept ? task->keep_s * SECOND_NS : NEVER_NS,
    };
}

static const struct wait never = {.left_ns = NEVER_NS};

/* Asked again: early does no harm. */
static struct wait stood(int64_t after_ns, int64_t stamp_ns, struct sighting seen, struct moment now)
{
    return (struct wait){.left_ns = stood_left_ns(after_ns, stamp_ns, seen, now),
                         .after_ns = after_ns};
}

/* What cannot be taken back. */
static struct wait surely(int64_t after_ns, struct sighting seen, struct moment now)
{
    return (struct wait){.left_ns = surely_left_ns(after_ns, seen, now), .after_ns = after_ns};
}

/* Longer than the limit, by a nanosecond (behaviour.md 14.2, 1). */
static struct wait expired(const struct task_view *v, const struct task_limits *limits,
                           struct moment now)
{
    struct wait w = surely(limits->expire_pending_ns, v->made, now);
    w.left_ns++;
    return w;
}

/* A rejection is a change: the next question comes so long after it. */
static struct wait unplaced(const struct task_view *v, const struct task_limits *limits,
                            struct moment now)
{
    return stood(limits->unplaced_after_ns, v->updated_ns, v->seen, now);
}

static struct wait lost(const struct task_view *v, const struct task_limits *limits,
                        struct moment now)
{
    return v->absent ? surely(limits->loss_ns, v->absent_seen, now) : never;
}

static struct wait kick(const struct task_view *v, const struct task_limits *limits,
                        struct moment now)
{
    return stood(limits->kick_ns, v->updated_ns, v->seen, now);
}

/* With a URL somebody waits for the outcome: keep_s does not shorten it. The move says the setting alone: a
 * bbs knows keep_s, and one that comes late may meet a later task of the guid, which said none. */
static struct wait old(const struct task_view *v, const struct task_limits *limits,
                       struct moment now)
{
    int64_t set_ns = v->has_url ? limits->undelivered_ns : limits->expire_completed_ns;
    int64_t keep_ns = v->has_url || v->keep_ns == NEVER_NS ? set_ns : v->keep_ns;
    return (struct wait){
        .left_ns = kept_left_ns(keep_ns, v->completed_ns, v->seen, v->made, now),
        .after_ns = set_ns};
}

/* After so long it is `old`. */
static struct wait undelivered(const struct task_view *v, const struct task_limits *limits,
                               struct moment now)
{
    return v->has_url ? stood(limits->kick_ns, v->updated_ns, v->seen, now) : never;
}

#define TASK_PASS(name, state, move) {#name, TASK_##state, move, name},
static const struct task_pass rows[] = {
#include "converger/tasks.def"
};
#undef TASK_PASS

void task_passes_run(const struct task_view *v, const struct task_limits *limits,
                     struct moment now, struct task_repair *ret)
{
    *ret = (struct task_repair){.due_ns = NEVER_NS};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].state != v->state) {
            continue;
        }
        struct wait w = rows[i].wait(v, limits, now);
        if (w.left_ns == NEVER_NS) {
            continue;
        }
        if (w.left_ns > 0) {
            ret->due_ns = earlier_ns(ret->due_ns, now.mono_ns + w.left_ns);
        } else if (!ret->pass) {
            ret->pass = rows[i].name;
            ret->move = rows[i].move;
            ret->after_ns = w.after_ns;
        }
    }
}
