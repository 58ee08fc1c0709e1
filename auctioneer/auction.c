#include "auctioneer/auction.h"

#include "auctioneer/tie.h"
#include "common/codec/scan.h"

#include <assert.h>
#include <string.h>

enum {
    WORK_ANSWER_MAX = 64 * 1024 * 1024,
    /* A message to a cell takes no more jobs once it has so much. A job has at most 1 MiB, a cell
     * takes 4 (rep/http/request.h), and 64 of what they make when decoded. */
    WORK_BYTES_ENOUGH = 1024 * 1024,
};

/* One cell's work of this round, or a part of it. Lives in the round's arena. */
struct cell_commit {
    TAILQ_ENTRY(cell_commit) link;
    uint64_t call_id;
    struct cell *cell;
    struct round_job **jobs;
    size_t job_count;
};

void auction_init(struct auction *x)
{
    assert(x->feed_client && x->leader && x->backlog && x->cells && x->slices && x->report &&
           x->rules);
    x->phase = ROUND_IDLE;
    arena_init(&x->arena);
    TAILQ_INIT(&x->waiting);
    TAILQ_INIT(&x->open);
    x->open_count = x->job_count = x->sweep_left = 0;
    x->jobs = NULL;
    x->look_ns = x->sweep_ns = x->again_wait_ns = 0;
    x->sweeping = x->asks_few = false;
    freeing_init(&x->freeing);
    x->now = x->last = (struct round_counts){0};
}

/* Gives all of the round back and forgets it. What the cells accepted stays placed. */
static void let_go(struct auction *x, const struct event *ev)
{
    for (size_t i = 0; i < x->job_count; i++) {
        struct round_job *j = &x->jobs[i];
        if (j->entry && ev) {
            backlog_put_back(x->backlog, j->entry, ev->now.mono_ns);
        }
        wanted_unref(j->wanted);
    }
    TAILQ_INIT(&x->waiting);
    TAILQ_INIT(&x->open);
    x->open_count = x->job_count = 0;
    x->jobs = NULL;
    x->phase = ROUND_IDLE;
    arena_reset(&x->arena);
}

void auction_done(struct auction *x)
{
    if (x) {
        let_go(x, NULL);
        arena_done(&x->arena);
    }
}

void auction_stop(struct auction *x, const struct event *ev, struct effects *out)
{
    cells_stop_looking(x->cells, out);
    report_stop(x->report);
    let_go(x, ev);
    x->sweep_left = 0;
    x->sweep_ns = x->look_ns = x->again_wait_ns = 0;
    x->asks_few = false;
    freeing_init(&x->freeing);
    x->now = x->last = (struct round_counts){0};
}

/* ---- Deciding -------------------------------------------------------------------------------- */

/* The input of a decision: the jobs that have no cell yet, and what was placed before. */
struct draft {
    struct schedule_input in;
    struct cell **from;      /* by position in in.cells */
    struct round_job **jobs; /* by position in in.jobs */
    struct schedule_taken *taken;
};

static size_t position_of(const struct draft *d, const char *cell_id)
{
    size_t low = 0, high = d->in.cell_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(d->from[middle]->id, cell_id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The cells of the input that are remembered with this job, the one longest ago first. */
static const uint32_t *remembered(struct auction *x, const struct draft *d,
                                  const struct bounces *list, const char *job_key,
                                  size_t *ret_count)
{
    const struct bounce **pairs;
    size_t count = bounces_of(list, &x->arena, job_key, &pairs);
    uint32_t *cells = count ? ARENA_ARRAY(&x->arena, count, uint32_t) : NULL;
    *ret_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = position_of(d, pairs[i]->cell_id);
        if (at < d->in.cell_count && strcmp(d->from[at]->id, pairs[i]->cell_id) == 0) {
            cells[(*ret_count)++] = (uint32_t)at;
        }
    }
    return cells;
}

static struct job job_of(struct auction *x, const struct draft *d, const struct round_job *j)
{
    struct job job = wanted_job(j->wanted, j->index);
    job.barred = remembered(x, d, &x->backlog->bounces, j->entry->key, &job.barred_count);
    job.late = remembered(x, d, &x->backlog->late, j->entry->key, &job.late_count);
    return job;
}

static void draft(struct auction *x, struct draft *d, const struct event *ev)
{
    struct schedule_cell *cells;
    *d = (struct draft){.in.rules = x->rules};
    d->in.cell_count = cells_usable(x->cells, &x->arena, &cells, &d->from);
    d->in.cells = cells;
    d->in.slices = slices_list(x->slices, &x->arena, &d->in.slice_count);
    d->in.ranks = tie_ranks(&x->arena, ev->entropy, d->in.cell_count);
    struct job *jobs = ARENA_ARRAY(&x->arena, x->job_count, struct job);
    struct job *before = ARENA_ARRAY(&x->arena, x->job_count, struct job);
    d->jobs = ARENA_ARRAY(&x->arena, x->job_count, struct round_job *);
    d->taken = ARENA_ARRAY(&x->arena, x->job_count, struct schedule_taken);
    for (size_t i = 0; i < x->job_count; i++) {
        struct round_job *j = &x->jobs[i];
        if (!j->settled) {
            d->jobs[d->in.job_count] = j;
            jobs[d->in.job_count++] = job_of(x, d, j);
            continue;
        }
        size_t at = position_of(d, j->cell->id);
        if (at < d->in.cell_count && d->from[at] == j->cell) {
            before[d->in.taken_count] = wanted_job(j->wanted, j->index);
            d->taken[d->in.taken_count] =
                (struct schedule_taken){.job = &before[d->in.taken_count], .cell = at};
            d->in.taken_count++;
        }
    }
    d->in.jobs = jobs;
    d->in.taken = d->taken;
}

/* ---- Handing out ----------------------------------------------------------------------------- */

/* What is not sent with this one is the next. */
static void leave_rest(struct auction *x, struct cell_commit *c, size_t sent)
{
    if (sent < c->job_count) {
        struct cell_commit *rest = ARENA_NEW(&x->arena, struct cell_commit);
        *rest = (struct cell_commit){
            .cell = c->cell, .jobs = c->jobs + sent, .job_count = c->job_count - sent};
        TAILQ_INSERT_HEAD(&x->waiting, rest, link);
        c->job_count = sent;
    }
}

static void send_commit(struct auction *x, struct cell_commit *c, const struct event *ev,
                        struct effects *out)
{
    Cell__Work work = CELL__WORK__INIT;
    size_t sent = 0, bytes = 0;
    work.cell_id = c->cell->id;
    work.lrps = ARENA_ARRAY(out->arena, c->job_count, Cell__LRP *);
    work.tasks = ARENA_ARRAY(out->arena, c->job_count, Cell__Task *);
    work.units = ARENA_ARRAY(out->arena, c->job_count, Cell__UnitOffer *);
    for (; sent < c->job_count && bytes < WORK_BYTES_ENOUGH; sent++) {
        const struct round_job *j = c->jobs[sent];
        bytes += j->entry->kind->offer(out->arena, j->wanted, j->index, &work);
    }
    leave_rest(x, c, sent);
    c->call_id = (*x->next_call_id)++;
    effects_call_message(out, c->call_id, arena_printf(out->arena, "%s/work", c->cell->url), "",
                         &work.base, ev->now.mono_ns + CELL_CALL_NS);
}

static void commit_more(struct auction *x, const struct event *ev, struct effects *out)
{
    struct cell_commit *c;
    while (x->open_count < CELL_CALLS_MAX && (c = TAILQ_FIRST(&x->waiting))) {
        TAILQ_REMOVE(&x->waiting, c, link);
        TAILQ_INSERT_TAIL(&x->open, c, link);
        x->open_count++;
        send_commit(x, c, ev, out);
    }
}

/* Sorts what was decided into one commit a cell. */
static void make_commits(struct auction *x, const struct draft *d, const struct decision *decisions)
{
    struct cell_commit *commits = ARENA_ARRAY(&x->arena, d->in.cell_count, struct cell_commit);
    for (size_t i = 0; i < d->in.job_count; i++) {
        if (decisions[i].cell >= 0) {
            commits[decisions[i].cell].job_count++;
        }
    }
    for (size_t c = 0; c < d->in.cell_count; c++) {
        if (commits[c].job_count > 0) {
            commits[c].cell = d->from[c];
            commits[c].jobs = ARENA_ARRAY(&x->arena, commits[c].job_count, struct round_job *);
            commits[c].job_count = 0;
            TAILQ_INSERT_TAIL(&x->waiting, &commits[c], link);
        }
    }
    for (size_t i = 0; i < d->in.job_count; i++) {
        if (decisions[i].cell >= 0) {
            struct cell_commit *c = &commits[decisions[i].cell];
            d->jobs[i]->cell = c->cell;
            c->jobs[c->job_count++] = d->jobs[i];
        }
    }
}

/* Jobs of one kind share the text's pointer, so that one blob serves them all. */
static struct blob *blob_of(const char *text, const char **last_text, struct blob **last)
{
    if (text != *last_text) {
        blob_unref(*last);
        *last = blob_new(text, strlen(text) + 1);
        *last_text = text;
    }
    return *last;
}

/* Nothing is on its way any more: what has no cell gets none in this round. */
static void refuse(struct auction *x, const struct event *ev)
{
    const char *last_text = NULL;
    struct blob *last = NULL;
    x->freeing.lacking = false;
    for (size_t i = 0; i < x->job_count; i++) {
        struct round_job *j = &x->jobs[i];
        if (j->settled) {
            continue;
        }
        x->now.refused++;
        if (j->lacks_room) {
            const struct wanted *w = j->wanted;
            freeing_refused(&x->freeing,
                            &(struct demand){w->kind, w->memory_mb, w->disk_mb, false});
        }
        if (backlog_refused(x->backlog, j->entry, blob_of(j->refusal, &last_text, &last),
                            ev->now.mono_ns)) {
            report_refusal(x->report, j->entry);
        }
        j->entry = NULL;
    }
    blob_unref(last);
}

static void decide(struct auction *x, const struct event *ev, struct effects *out)
{
    struct draft d;
    draft(x, &d, ev);
    x->now.cells = (uint32_t)d.in.cell_count;
    struct decision *decisions = schedule(&x->arena, &d.in);
    make_commits(x, &d, decisions);
    for (size_t i = 0; i < d.in.job_count; i++) {
        d.jobs[i]->refusal = decisions[i].refusal;
        d.jobs[i]->lacks_room = decisions[i].lacks_room;
    }
    x->came_back = false;
    x->phase = ROUND_COMMITTING;
    commit_more(x, ev, out);
}

/* ---- What the cells say ---------------------------------------------------------------------- */

static const Cell__Work *work_back(const struct response *r, struct arena *a)
{
    ProtobufCMessage *m;
    if (r->outcome != CALL_ANSWERED || r->status != 200 ||
        scan_and_unpack(a, &cell__work__descriptor, r->body, WORK_ANSWER_MAX, &m, NULL) < 0) {
        return NULL;
    }
    return (const Cell__Work *)m;
}

/* Accepted means reserved: its claim, or the task's start, is awaited. The rest is placed again at
 * once, elsewhere; work that a cell may have taken without telling is settled by the claim or start
 * (design.md 5). What comes back is no rejection: a task is rejected when no cell takes it. */
static void on_commit(struct auction *x, struct cell_commit *c, const struct event *ev,
                      struct effects *out)
{
    const Cell__Work *back = work_back(&ev->response, out->arena);
    struct blob *cell_id = blob_new(c->cell->id, strlen(c->cell->id) + 1);
    uint32_t returned = 0;
    for (size_t i = 0; i < c->job_count; i++) {
        struct round_job *j = c->jobs[i];
        if (!back || j->entry->kind->came_back(back, j->wanted, j->index)) {
            j->cell = NULL;
            returned++;
            if (back) {
                backlog_bounced(x->backlog, j->entry, c->cell->id, ev->now.mono_ns);
            }
            continue;
        }
        cell_took(c->cell, j->wanted->memory_mb, j->wanted->disk_mb);
        backlog_placed(x->backlog, j->entry, j->wanted, cell_id, ev->now.mono_ns);
        j->entry = NULL;
        j->settled = true;
        x->now.placed++;
    }
    blob_unref(cell_id);
    x->now.returned += returned;
    if (returned > 0) {
        x->came_back = true;
        if (back) {
            cell_returned(c->cell);
        } else {
            cell_leave_out(c->cell, "did not answer to work");
        }
        /* A cell that gives back knows more than the auctioneer could, say that it holds the task
         * still. */
        effects_log(out, back ? LOG_INFO_LEVEL : LOG_WARN_LEVEL, "work came back",
                    "cell_id=%s count=%u why=\"%s\"", c->cell->id, returned,
                    back ? "given back" : ev->response.text);
    }
}

static bool commit_step(struct auction *x, const struct event *ev, struct effects *out)
{
    struct cell_commit *c;
    TAILQ_FOREACH(c, &x->open, link)
    {
        if (ev->kind == EVENT_RESPONSE && c->call_id == ev->response.id) {
            TAILQ_REMOVE(&x->open, c, link);
            x->open_count--;
            on_commit(x, c, ev, out);
            commit_more(x, ev, out);
            return true;
        }
    }
    return false;
}

/* ---- The round ------------------------------------------------------------------------------- */

/* Something was refused beside work that came back, and more may come back in the next round. */
static void try_again_soon(struct auction *x, const struct event *ev)
{
    if (x->now.refused == 0 || x->now.returned == 0) {
        x->again_wait_ns = 0;
        return;
    }
    int64_t wait_ns = x->again_wait_ns ? 2 * x->again_wait_ns : ROUND_AGAIN_NS;
    x->again_wait_ns = earlier_ns(wait_ns, ROUND_LOOK_NS);
    x->sweep_ns = earlier_ns(x->sweep_ns, ev->now.mono_ns + x->again_wait_ns);
}

static void finish(struct auction *x, const struct event *ev, struct effects *out)
{
    refuse(x, ev);
    if (x->by_time && x->now.placed > 0) {
        effects_log(out, LOG_WARN_LEVEL,
                    "what waited was placed, and nothing had reported that it could be",
                    "number=%llu placed=%u", (unsigned long long)x->now.number, x->now.placed);
    }
    try_again_soon(x, ev);
    freeing_plan(&x->freeing, x->cells, ev->now.mono_ns);
    x->now.duration_ns = ev->now.mono_ns - x->began_ns;
    x->last = x->now;
    effects_log(out, LOG_DEBUG_LEVEL, "auction",
                "number=%llu jobs=%u placed=%u refused=%u returned=%u cells=%u ms=%lld",
                (unsigned long long)x->now.number, x->now.jobs, x->now.placed, x->now.refused,
                x->now.returned, x->now.cells, (long long)(x->now.duration_ns / MILLISECOND_NS));
    let_go(x, ev); /* each job has been given back */
}

/* What was in the way of the work that these gave back may be gone. */
static void forget_bounces(struct auction *x)
{
    MAP_EACH(&x->cells->by_id, n)
    {
        struct cell *cell = map_value(n);
        if (cell->grew) {
            backlog_cell_grew(x->backlog, cell->id);
        }
        cell->grew = false;
    }
}

/* All cells have answered: the batch is what has arrived until now. */
static void take_batch(struct auction *x, const struct event *ev, struct effects *out)
{
    bool fresh = backlog_has_fresh(x->backlog);
    if (!fresh && !x->sweeping && !x->cells->grew) {
        x->phase = ROUND_IDLE; /* looked for more room, and there is none */
        freeing_plan(&x->freeing, x->cells, ev->now.mono_ns);
        return;
    }
    x->by_time = !fresh && !x->cells->grew && x->again_wait_ns == 0;
    forget_bounces(x);
    x->cells->grew = false;
    struct entry **entries;
    size_t refused;
    x->job_count = backlog_take(x->backlog, &x->arena, ROUND_JOBS_MAX, &entries, &refused);
    /* A batch that is not full has tried all that can be tried. */
    bool all = x->job_count < ROUND_JOBS_MAX || refused >= x->sweep_left;
    x->sweep_left = all ? 0 : x->sweep_left - refused;
    if (x->job_count == 0) {
        x->phase = ROUND_IDLE;
        return;
    }
    x->jobs = ARENA_ARRAY(&x->arena, x->job_count, struct round_job);
    for (size_t i = 0; i < x->job_count; i++) {
        x->jobs[i] =
            (struct round_job){.entry = entries[i],
                               .index = entries[i]->index,
                               .wanted = wanted_ref(backlog_wanted(x->backlog, entries[i]))};
    }
    x->now = (struct round_counts){.number = x->last.number + 1, .jobs = (uint32_t)x->job_count};
    decide(x, ev, out);
}

/* Why a round would begin now: something fresh, more room, or what is unplaced has waited. */
static bool wants_round(struct auction *x, int64_t now_ns)
{
    size_t refused = x->backlog->counts[ENTRY_REFUSED];
    if (refused == 0) {
        x->sweep_left = 0;
        x->sweep_ns = now_ns + x->retry_interval_ns;
        freeing_init(&x->freeing);
    } else if (x->sweep_left == 0 && (now_ns >= x->sweep_ns || x->cells->grew)) {
        x->sweep_left = refused;
        x->sweep_ns = now_ns + x->retry_interval_ns;
    }
    x->sweeping = x->sweep_left > 0;
    return x->sweeping || backlog_has_fresh(x->backlog) || (refused > 0 && now_ns >= x->look_ns);
}

static bool copy_usable(const struct auction *x)
{
    return x->feed_client->revision > 0 && !x->feed_client->snapshot;
}

static void begin_look(struct auction *x, const struct event *ev, struct effects *out)
{
    if (!copy_usable(x)) {
        return;
    }
    if (wants_round(x, ev->now.mono_ns)) {
        x->began_ns = ev->now.mono_ns;
        x->look_ns = ev->now.mono_ns + ROUND_LOOK_NS;
        x->phase = ROUND_LOOKING;
        cells_look(x->cells, ev, out);
    } else if (ev->now.mono_ns >= x->freeing.look_ns) {
        x->asks_few = true;
        x->phase = ROUND_LOOKING;
        cells_look_awaited(x->cells, ev, out);
    }
}

/* If an awaited cell has more room a round follows, for which all are asked: what the others
 * reported may be old. */
static void end_asking_few(struct auction *x, const struct event *ev, struct effects *out)
{
    x->asks_few = false;
    x->phase = ROUND_IDLE;
    freeing_plan(&x->freeing, x->cells, ev->now.mono_ns);
    begin_look(x, ev, out);
}

/* Moves the round on as far as it goes without another answer. */
static void advance(struct auction *x, const struct event *ev, struct effects *out)
{
    if (x->phase == ROUND_IDLE) {
        begin_look(x, ev, out);
    }
    if (x->phase == ROUND_LOOKING && x->asks_few && !x->cells->looking) {
        end_asking_few(x, ev, out);
    }
    if (x->phase == ROUND_LOOKING && !x->cells->looking) {
        take_batch(x, ev, out);
    }
    while (x->phase == ROUND_COMMITTING && x->open_count == 0) {
        if (x->came_back) {
            /* What came back, and what found no room beside it, goes elsewhere. */
            decide(x, ev, out);
        } else {
            finish(x, ev, out);
        }
    }
}

bool auction_step(struct auction *x, const struct event *ev, struct effects *out)
{
    if (!x->leader->leads) {
        return false;
    }
    bool own = cells_step(x->cells, ev, out) || commit_step(x, ev, out);
    size_t overdue = x->backlog->overdue;
    backlog_expire(x->backlog, ev->now.mono_ns);
    if (x->backlog->overdue > overdue) {
        effects_log(out, LOG_WARN_LEVEL,
                    "what a cell took did not show on the board, and is placed again", "count=%zu",
                    x->backlog->overdue - overdue);
    }
    advance(x, ev, out);
    own = report_step(x->report, ev, out) || own;
    effects_due(out, backlog_due_ns(x->backlog));
    if (x->phase == ROUND_IDLE && copy_usable(x)) {
        if (backlog_has_fresh(x->backlog) || x->sweep_left > 0) {
            effects_due(out, ev->now.mono_ns); /* the next batch follows at once */
        } else if (x->backlog->counts[ENTRY_REFUSED] > 0) {
            effects_due(out, earlier_ns(x->freeing.look_ns, earlier_ns(x->look_ns, x->sweep_ns)));
        }
    }
    return own;
}
