#include "converger/inside.h"

#include "common/model/keys.h"
#include "common/model/record.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_NS (30 * SECOND_NS)
#define UNPLACED_AFTER_NS (30 * SECOND_NS)
/* A refused repair is thought over after a while, for clocks differ; an unanswered one sooner. */
#define REFUSED_AGAIN_NS (5 * SECOND_NS)
#define UNKNOWN_AGAIN_NS (1 * SECOND_NS)
/* What a repair did is on the feed by then, also what a rep is told first. */
#define REPAIR_SHOWS_NS (5 * SECOND_NS)
/* A judgement that was not done: the news that refused it has come by then. */
#define JUDGED_AGAIN_NS (1 * SECOND_NS)
/* A client that retires a crashed instance may look whether it is gone: Diego makes it again in its next
 * pass, up to 30 s later, and its acceptance suite looks every 500 ms. Where records keep going, the first
 * of them is made again after the longer of the two at the latest. */
#define REMAKE_AFTER_NS (2 * SECOND_NS)
#define REMAKE_WITHIN_NS (4 * SECOND_NS)
/* Processes, and tasks, looked at in one step. */
enum { LOOKS_MAX = 1024 };

/* ---- News of the feed ------------------------------------------------------------------------ */

/* The copy was emptied. What is on its way stays on its way. */
static void clear(struct converger *x)
{
    MAP_EACH(&x->processes.by_guid, n)
    {
        facts_clear(&x->facts, map_value(n));
    }
    tasks_clear(&x->tasks, &x->facts);
    facts_clear_cells(&x->facts);
}

static void on_reset(struct converger *x)
{
    if (strcmp(x->epoch, x->life.follower.epoch) != 0) {
        domains_forget(&x->domains);
        locks_forget(&x->locks);
        strcpy(x->epoch, x->life.follower.epoch);
    }
    clear(x);
}

static void wait_to_remake(struct process *one, int64_t now_ns)
{
    if (one->remake_ns == 0) {
        one->gone_ns = now_ns;
    }
    one->remake_ns = earlier_ns(now_ns + REMAKE_AFTER_NS, one->gone_ns + REMAKE_WITHIN_NS);
}

/* actual/<process_guid>/<index>/<presence> */
static void on_actual(struct converger *x, struct arena *a, const char *key,
                      const struct followed *record)
{
    const char *guid = key_component(a, key, 1), *index = key_component(a, key, 2),
               *presence = key_component(a, key, 3);
    if (presence) {
        struct process *one = processes_named(&x->processes, guid);
        int32_t at = (int32_t)strtol(index, NULL, 10);
        facts_actual(&x->facts, one, at, (int)strtol(presence, NULL, 10), record);
        if (!record) {
            wait_to_remake(one, x->life.now.mono_ns);
        }
        processes_touch_index(&x->processes, one, at);
    }
}

/* desired/<process_guid>, job/<process_guid> */
static void on_process(struct converger *x, struct arena *a, const char *key,
                       const struct followed *record)
{
    const char *guid = key_component(a, key, 1);
    if (guid) {
        struct process *one = processes_named(&x->processes, guid);
        if (key_type(key) == RECORD_JOB) {
            facts_job(one, record != NULL);
        } else {
            facts_desired(one, record);
        }
        processes_touch(&x->processes, one);
    }
}

static void judge_hear_of_cell(struct converger *x, struct arena *a, const char *id,
                               const struct followed *record)
{
    ProtobufCMessage *m;
    if (!record) {
        judge_cell_gone(&x->judge, id);
    } else if (record_decode(a, RECORD_CELL, blob_bytes(record->record), &m, NULL) == 0) {
        judge_cell(&x->judge, id, (const Board__CellRecord *)m, x->life.now);
    }
    x->judge_ns = 0;
}

static void on_brake(struct converger *x, struct arena *a, const struct followed *record)
{
    ProtobufCMessage *m;
    if (!record) {
        judge_brake_gone(&x->judge);
    } else if (record_decode(a, RECORD_BRAKE, blob_bytes(record->record), &m, NULL) == 0) {
        judge_brake(&x->judge, (const Board__BrakeRecord *)m, record->seen);
    }
    x->judge_ns = 0;
}

/* cell/<cell_id>: that it is there or not changes what is decided about the records that name it.
 */
static void on_cell(struct converger *x, struct arena *a, const char *key,
                    const struct followed *record)
{
    const char *id = key_component(a, key, 1);
    const struct cell_facts *cell;
    if (id) {
        judge_hear_of_cell(x, a, id, record);
    }
    if (id && facts_cell(&x->facts, id, record, &cell)) {
        struct instance *i;
        LIST_FOREACH(i, &cell->instances, neighbour)
        {
            processes_touch_index(&x->processes, i->process, i->view.index);
        }
        tasks_touch_cell(&x->tasks, cell);
    }
}

/* task/<task_guid> */
static void on_task(struct converger *x, struct arena *a, const char *key,
                    const struct followed *record)
{
    const char *guid = key_component(a, key, 1);
    if (guid) {
        tasks_record(&x->tasks, &x->facts, guid, record);
    }
}

/* Of an epoch that ended nothing is told but that it is gone. */
static void on_epoch(struct converger *x, const char *key, const struct followed *record)
{
    struct arena a;
    arena_init(&a);
    if (strcmp(key, key_epoch(&a, x->epoch)) == 0) {
        domains_epoch(&x->domains, record->create_revision);
    }
    arena_done(&a);
}

static void on_record(struct converger *x, enum follower_news news, const char *key,
                      const struct followed *record)
{
    const struct followed *stands = news == FOLLOWER_DELETE ? NULL : record;
    struct arena a;
    arena_init(&a);
    switch (key_type(key)) {
    case RECORD_ACTUAL:
        on_actual(x, &a, key, stands);
        break;
    case RECORD_DESIRED:
    case RECORD_JOB:
        on_process(x, &a, key, stands);
        break;
    case RECORD_CELL:
        on_cell(x, &a, key, stands);
        break;
    case RECORD_TASK:
        on_task(x, &a, key, stands);
        break;
    case RECORD_BRAKE:
        on_brake(x, &a, stands);
        break;
    case RECORD_DOMAIN:
        if (news == FOLLOWER_DELETE) {
            domains_gone(&x->domains, key);
        } else if (domains_put(&x->domains, key, record, x->life.now)) {
            x->full_ns = 0; /* what was left alone may be stopped now */
        }
        break;
    case RECORD_LOCK:
        if (news == FOLLOWER_DELETE) {
            locks_gone(&x->locks, key);
        } else {
            locks_put(&x->locks, key, record, x->life.now);
            x->locks_ns = 0;
        }
        break;
    case RECORD_EPOCH:
        if (news == FOLLOWER_PUT) {
            on_epoch(x, key, record);
        }
        break;
    default:
        break;
    }
    arena_done(&a);
}

static void on_news(void *context, enum follower_news news, const char *key,
                    const struct followed *record, struct effects *out)
{
    struct converger *x = context;
    (void)out;
    switch (news) {
    case FOLLOWER_RESET:
        judge_reset(&x->judge);
        on_reset(x);
        break;
    case FOLLOWER_PUT:
    case FOLLOWER_DELETE:
        on_record(x, news, key, record);
        break;
    case FOLLOWER_CURRENT:
        domains_current(&x->domains, &x->life.follower);
        locks_current(&x->locks, &x->life.follower);
        processes_touch_all(&x->processes); /* some may be gone */
        x->by_time = false;
        tasks_touch_all(&x->tasks);
        break;
    }
}

/* ---- Converging ------------------------------------------------------------------------------ */

/* Nothing called for a look, and yet there is something to repair that news bring: they were missed. Not if
 * it was repaired a moment ago, and does not show yet. */
static void note_late(struct converger *x, const struct process *one, const struct repairs *repairs,
                      struct effects *out)
{
    bool shows =
        !one->repaired_ns || x->life.now.mono_ns - one->repaired_ns >= REPAIR_SHOWS_NS;
    bool uncalled = x->by_time && one->full && !one->called && shows;
    for (size_t i = 0; uncalled && i < repairs->count; i++) {
        const struct repair *r = &repairs->list[i];
        if (r->on_news) {
            x->found_late++;
            effects_log(out, LOG_WARN_LEVEL, "a full pass found what no news had told",
                        "process_guid=%s index=%d pass=%s", one->guid, r->index, r->pass);
        }
    }
}

static void look(struct converger *x, struct arena *a, struct process *one, struct effects *out)
{
    struct process_view v;
    struct repairs repairs;
    repairs_init(&repairs, a);
    converger_view(x, a, one, one->first, one->last, &v);
    passes_run(&v, one->full, &repairs);
    note_late(x, one, &repairs, out);
    one->full = one->called = false;
    for (size_t i = 0; i < repairs.count; i++) {
        mover_add(&x->mover, &x->instances, one->guid,
                  move_of_instance(a, repairs.list[i].move, one->guid, repairs.list[i].index));
        processes_moving(&x->processes, one);
    }
    if (repairs.due_ns != NEVER_NS) {
        processes_due(&x->processes, one,
                      earlier_ns(repairs.due_ns, x->life.now.mono_ns + x->interval_ns));
    }
    if (repairs.more) {
        processes_touch(&x->processes, one);
    } else if (one->remake_ns <= x->life.now.mono_ns) {
        one->remake_ns = 0;
    }
    if (one->item.moving == 0 && !facts_any(one)) {
        processes_drop(&x->processes, one);
    }
}

static void look_at_task(struct converger *x, struct arena *a, struct task *one)
{
    struct task_view view = tasks_view(one);
    struct task_repair repair;
    task_passes_run(&view, &x->limits, x->life.now, &repair);
    if (repair.pass) {
        mover_add(&x->mover, &x->about_tasks, one->guid,
                  move_of_task(a, repair.move, one->guid, repair.after_ns));
        tasks_moving(&x->tasks, one);
    }
    if (repair.due_ns != NEVER_NS) {
        tasks_due(&x->tasks, one, earlier_ns(repair.due_ns, x->life.now.mono_ns + x->interval_ns));
    }
}

static void expire(void *context, const char *domain)
{
    struct converger *x = context;
    if (mover_room(&x->mover, 1)) {
        struct arena a;
        arena_init(&a);
        mover_add(&x->mover, &x->others, domain, move_of_domain(&a, domain));
        arena_done(&a);
    }
}

static void expire_lock(void *context, const char *name, int64_t revision)
{
    struct converger *x = context;
    locks_asked(&x->locks, name, x->life.now); /* if there is no room, it is looked at again later */
    if (mover_room(&x->mover, 1)) {
        struct arena a;
        arena_init(&a);
        mover_add(&x->mover, &x->others, name, move_of_lock(&a, name, revision));
        arena_done(&a);
    }
}

/* As soon as one is over, for somebody waits for its name. */
static void watch_locks(struct converger *x, struct effects *out)
{
    if (x->life.now.mono_ns >= x->locks_ns) {
        locks_each_over(&x->locks, x->life.now, expire_lock, x);
        x->locks_ns = locks_due_ns(&x->locks);
    }
    effects_due(out, x->locks_ns);
}

void converger_begin_pass(struct converger *x)
{
    x->full_ns = x->life.now.mono_ns + x->interval_ns;
    x->full_passes++;
    x->by_time = false;
    domains_each_expired(&x->domains, x->life.now, expire, x);
    processes_touch_all(&x->processes);
    tasks_touch_all(&x->tasks);
}

/* When what became of a repair is to be thought over. */
static int64_t again_ns(const struct converger *x, enum move_end end)
{
    return end == MOVE_REFUSED   ? x->life.now.mono_ns + REFUSED_AGAIN_NS
           : end == MOVE_UNKNOWN ? x->life.now.mono_ns + UNKNOWN_AGAIN_NS
                                 : NEVER_NS;
}

static void on_end(void *context, const char *process_guid, enum move_end end)
{
    struct converger *x = context;
    processes_settled(&x->processes, process_guid, x->life.now.mono_ns, again_ns(x, end));
}

static void on_task_end(void *context, const char *task_guid, enum move_end end)
{
    struct converger *x = context;
    tasks_settled(&x->tasks, task_guid, again_ns(x, end));
}

/* Of a domain or lock: it is looked at again in its time. */
static void on_other_end(void *context, const char *name, enum move_end end)
{
    (void)context;
    (void)name;
    (void)end;
}

static void on_judged(void *context, const char *cell_id, enum move_end end)
{
    struct converger *x = context;
    if (end == MOVE_FORGOTTEN) {
        judge_forget_moves(&x->judge);
        return;
    }
    judge_settled(&x->judge, cell_id, end == MOVE_DONE ? 0 : x->life.now.mono_ns + JUDGED_AGAIN_NS);
}

static void log_judgements(const struct judgements *p, struct effects *out)
{
    if (p->count > 0) {
        effects_log(out, LOG_WARN_LEVEL, "cells judged", "moves=%zu first=%s cell=%s cells=%zu",
                    p->count, p->list[0].move, p->list[0].cell_id, p->list[0].cell_count);
    }
}

/* Judgements do not wait for room: there are never more than cells. */
static void judge(struct converger *x, struct effects *out)
{
    if (x->life.now.mono_ns >= x->judge_ns) {
        struct arena a;
        struct judgements p;
        arena_init(&a);
        x->judge_ns = x->life.now.mono_ns + HEARING_TICK_NS;
        judge_decide(&x->judge, x->life.now, &p, &a);
        for (size_t i = 0; i < p.count; i++) {
            const struct judgement *g = &p.list[i];
            judge_asked(&x->judge, g, x->life.now);
            mover_add_first(&x->mover, &x->cells, g->cell_id,
                            move_of_cell(&a, g->move, g->cell_id, g->session, g->cells,
                                         g->cell_count));
        }
        log_judgements(&p, out);
        arena_done(&a);
    }
    effects_due(out, x->judge_ns);
}

static void converge_tasks(struct converger *x, struct effects *out)
{
    tasks_wake(&x->tasks, x->life.now.mono_ns);
    struct task *one;
    for (int looks = 0; x->tasks.work.moving_count < TASKS_MOVING_MAX && mover_room(&x->mover, 1);
         looks++) {
        if (looks == LOOKS_MAX) {
            effects_due(out, x->life.now.mono_ns);
            break;
        }
        if (!(one = tasks_next(&x->tasks))) {
            break;
        }
        look_at_task(x, out->arena, one);
    }
    effects_due(out, tasks_wake_ns(&x->tasks));
}

/* Looks at what waits, as long as there is room for what comes of it. The rest follows in the next
 * step, or when moves are answered. */
static void converge_processes(struct converger *x, struct effects *out)
{
    processes_wake(&x->processes, x->life.now.mono_ns);
    facts_begin_round(&x->facts);
    struct arena a;
    arena_init(&a);
    struct process *one;
    for (int looks = 0; mover_room(&x->mover, REPAIRS_MAX); looks++) {
        if (looks == LOOKS_MAX) {
            effects_due(out, x->life.now.mono_ns);
            break;
        }
        if (!(one = processes_next(&x->processes))) {
            break;
        }
        look(x, &a, one, out);
        arena_reset(&a);
    }
    arena_done(&a);
    effects_due(out, processes_wake_ns(&x->processes));
}

static void converge(struct converger *x, struct effects *out)
{
    if (x->life.now.mono_ns >= x->full_ns) {
        bool by_time = x->full_ns != 0;
        converger_begin_pass(x);
        x->by_time = by_time;
    }
    converge_processes(x, out);
    converge_tasks(x, out);
    effects_due(out, x->full_ns);
}

/* Standing by: what is touched needs no look, but what is gone is forgotten. An election begins
 * with a full pass. */
static void forget_gone(struct converger *x)
{
    struct process *one;
    while ((one = processes_next(&x->processes))) {
        if (!facts_any(one)) {
            processes_drop(&x->processes, one);
        }
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void lead(struct converger *x, const struct event *ev, struct effects *out)
{
    switch (leading_elect(&x->life, ev, out)) {
    case LEADER_ELECTED:
        x->full_ns = x->judge_ns = x->locks_ns = 0;
        hearing_anew(&x->life.leader.hearing);
        break;
    case LEADER_DEPOSED:
        mover_stop(&x->mover);
        break;
    case LEADER_SAME:
        break;
    }
}

static void step(struct role *role, const struct event *ev, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    if (!leading_begin(&x->life, ev, out)) {
        return;
    }
    lead(x, ev, out);
    if (ev->kind == EVENT_REQUEST) {
        questions_answer(&converger_questions, role, &ev->request, out);
    }
    if (x->life.leader.leads) {
        mover_hear(&x->mover, ev, out);
        if (x->life.follower.current) {
            judge(x, out);
            watch_locks(x, out);
            converge(x, out);
        }
        mover_send(&x->mover, ev->now, out);
    } else {
        forget_gone(x);
    }
    leading_end(&x->life, ev, out);
}

static size_t body_limit(const struct role *role, const char *path)
{
    (void)role;
    return questions_body_max(&converger_questions, path);
}

static void free_role(struct role *role)
{
    struct converger *x = (struct converger *)role;
    mover_done(&x->mover);
    judge_done(&x->judge);
    clear(x);
    tasks_done(&x->tasks, &x->facts);
    facts_done(&x->facts);
    processes_done(&x->processes);
    domains_done(&x->domains);
    locks_done(&x->locks);
    leading_done(&x->life);
    free(x);
}

static const struct role_ops ops = {
    .name = "converger", .step = step, .body_limit = body_limit, .free = free_role};

/* ---- Making it ------------------------------------------------------------------------------- */

static const struct leading_selector selectors[] = {
    {"actual", NULL, NULL},
    {"desired", NULL, NULL},
    {"job", NULL, NULL},
    {"domain", NULL, NULL},
    {"lead", NULL, "lead/converger"},
    {"beat", NULL, NULL},
    {"cell", NULL, NULL},
    {"brake", NULL, NULL},
    {"epoch", NULL, NULL},
    {"lock", NULL, NULL},
    {"task", NULL, NULL},
};

static void init_parts(struct converger *x, const struct converger_config *c)
{
    domains_init(&x->domains);
    locks_init(&x->locks);
    facts_init(&x->facts);
    processes_init(&x->processes);
    tasks_init(&x->tasks);
    judge_init(&x->judge, &c->judge, &x->life.leader.hearing);
    x->instances = (struct mover_owner){.settled = on_end, .context = x};
    x->about_tasks = (struct mover_owner){.settled = on_task_end, .context = x};
    x->others = (struct mover_owner){.settled = on_other_end, .context = x};
    x->cells = (struct mover_owner){.settled = on_judged, .context = x};
    x->mover = (struct mover){.boards = &x->life.boards, .leader = &x->life.leader};
    mover_init(&x->mover);
}

struct role *converger_new(const struct converger_config *config)
{
    struct converger *x = calloc(1, sizeof(*x));
    if (!x) {
        abort();
    }
    leading_init(&x->life, &(struct leading_config){
                               .ops = &ops,
                               .name = config->name,
                               .boards = config->boards,
                               .url = config->url,
                               .selectors = selectors,
                               .selector_count = sizeof(selectors) / sizeof(selectors[0]),
                               .on_news = on_news,
                           });
    x->interval_ns = config->interval_ns ? config->interval_ns : INTERVAL_NS;
    x->unplaced_after_ns =
        config->unplaced_after_ns ? config->unplaced_after_ns : UNPLACED_AFTER_NS;
    x->limits = task_limits_of(&config->tasks);
    x->policy = config->policy ? config->policy : &CRASH_POLICY_DEFAULT;
    init_parts(x, config);
    return &x->life.role;
}
