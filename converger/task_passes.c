#include "converger/task_passes.h"

#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

#define UNPLACED_AFTER_NS (30 * SECOND_NS)

/* A moment from which on something is to be done, and the limit by which it is found. */
struct deadline {
    int64_t due_ns; /* NEVER_NS = not by time */
    int64_t after_ns;
};

struct task_pass {
    const char *name;
    int state;
    const char *move;
    struct deadline (*due)(const struct task_view *v, const struct task_limits *limits);
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
        .created_ns = task->created_at,
        .updated_ns = task->updated_at,
        .completed_ns = task->first_completed_at,
        .keep_ns = kept ? task->keep_s * SECOND_NS : NEVER_NS,
        .absent_ns = NEVER_NS,
    };
}

static struct deadline since(int64_t from_ns, int64_t after_ns)
{
    return (struct deadline){.due_ns = from_ns + after_ns, .after_ns = after_ns};
}

/* Longer than the limit, by a nanosecond (behaviour.md 14.2, 1). */
static struct deadline expired(const struct task_view *v, const struct task_limits *limits)
{
    struct deadline d = since(v->created_ns, limits->expire_pending_ns);
    d.due_ns++;
    return d;
}

/* A rejection is a change: the next question comes so long after it. */
static struct deadline unplaced(const struct task_view *v, const struct task_limits *limits)
{
    return since(v->updated_ns, limits->unplaced_after_ns);
}

static struct deadline lost(const struct task_view *v, const struct task_limits *limits)
{
    struct deadline never = {.due_ns = NEVER_NS};
    return v->absent_ns == NEVER_NS ? never : since(v->absent_ns, limits->loss_ns);
}

static struct deadline kick(const struct task_view *v, const struct task_limits *limits)
{
    return since(v->updated_ns, limits->kick_ns);
}

/* With a URL somebody waits for the outcome: keep_s does not shorten it. */
static struct deadline old(const struct task_view *v, const struct task_limits *limits)
{
    int64_t keep_ns = v->keep_ns == NEVER_NS ? limits->expire_completed_ns : v->keep_ns;
    return since(v->completed_ns, v->has_url ? limits->undelivered_ns : keep_ns);
}

/* After so long it is `old`. */
static struct deadline undelivered(const struct task_view *v, const struct task_limits *limits)
{
    struct deadline never = {.due_ns = NEVER_NS};
    return v->has_url ? since(v->updated_ns, limits->kick_ns) : never;
}

#define TASK_PASS(name, state, move) {#name, TASK_##state, move, name},
static const struct task_pass rows[] = {
#include "converger/tasks.def"
};
#undef TASK_PASS

void task_passes_run(const struct task_view *v, const struct task_limits *limits, int64_t wall_ns,
                     struct task_repair *ret)
{
    *ret = (struct task_repair){.due_ns = NEVER_NS};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].state != v->state) {
            continue;
        }
        struct deadline d = rows[i].due(v, limits);
        if (d.due_ns > wall_ns) {
            ret->due_ns = earlier_ns(ret->due_ns, d.due_ns);
        } else if (!ret->pass) {
            ret->pass = rows[i].name;
            ret->move = rows[i].move;
            ret->after_ns = d.after_ns;
        }
    }
}
