/* Jobs: work larger than one transaction, done in portions by the bbs that made the record, or by
 * another when that one's heartbeat key is silent for 6 s (design.md 2). What a portion does is the
 * layer above's business: hooks.job_row. */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include "common/lifecycle/job.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define JOB_SILENT_NS (6 * SECOND_NS)
#define DEFERRED_MAX_NS (3600 * SECOND_NS) /* of a job that does not say since when it waits */
#define JOB_UNKNOWN_NS (60 * SECOND_NS)    /* kinds of a later version: looked at again */

struct job_run {
    struct board *board;
    bool running;
    unsigned failures;
    int64_t next_ns;
    char key[]; /* of its record */
};

static struct job_run *run_for(struct board *b, const char *key)
{
    struct job_run *r = map_get(&b->jobs.runs, key);
    if (!r) {
        r = mem_zeroed(sizeof(*r) + strlen(key) + 1);
        r->board = b;
        strcpy(r->key, key);
        map_put(&b->jobs.runs, key, r);
    }
    return r;
}

static void forget(struct board *b, struct job_run *r)
{
    map_remove(&b->jobs.runs, r->key);
    free(r);
}

void board_jobs_noted(struct board *b, const char *key)
{
    if (copy_find(b->copy, key)) {
        struct job_run *r = run_for(b, key);
        r->next_ns = earlier_ns(r->next_ns, b->now.mono_ns);
        b->jobs.due_ns = b->now.mono_ns;
        return;
    }
    struct job_run *r = map_get(&b->jobs.runs, key);
    if (r && !r->running) {
        forget(b, r);
    }
}

void board_jobs_reset(struct board *b)
{
    MAP_EACH(&b->jobs.runs, n)
    {
        struct job_run *r = map_value(n);
        if (!r->running) {
            forget(b, r);
        }
    }
    for (struct copied *p = copy_from(b->copy, "job/"); p; p = copy_next(p)) {
        if (copied_version(p)->type != RECORD_JOB) {
            break;
        }
        board_jobs_noted(b, version_key(copied_version(p)));
    }
}

static void on_done(void *context, const struct op_result *result, struct effects *out)
{
    struct job_run *r = context;
    struct board *b = r->board;
    r->running = false;
    bool moved = result->end == OP_DECIDED && result->plan->verdict == PLAN_COMMIT;
    if (moved) {
        r->failures = 0;
        r->next_ns = b->now.mono_ns;
    } else {
        r->next_ns = b->now.mono_ns + backoff_ns(r->failures++);
    }
    if (result->end == OP_DECIDED && result->plan->verdict == PLAN_REFUSE) {
        effects_log(out, LOG_ERROR_LEVEL, "a portion of a job was refused",
                    "job=\"%s\" reason=\"%s\"", r->key, result->plan->error_message);
    }
    b->jobs.due_ns = earlier_ns(b->jobs.due_ns, r->next_ns);
    if (b->copy && !copy_find(b->copy, r->key)) {
        forget(b, r);
    }
}

/* ---- taking over ---- */

struct adopt_snapshot {
    const char *key;
    const Board__JobRecord *job; /* NULL = gone */
};

static const char *adopt_target(struct arena *a, const struct op_input *in)
{
    const Board__JobRecord *job = in->request;
    return key_job(a, job->target, job->name);
}

static void adopt_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct adopt_snapshot *s = snapshot;
    s->key = adopt_target(view_arena(v), in);
    s->job = view_message(v, s->key);
}

static void adopt_decide(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    const struct adopt_snapshot *s = snapshot;
    const char *silent = ((const Board__JobRecord *)in->request)->worker;
    if (!s->job || strcmp(s->job->worker, silent) != 0) {
        return; /* it is done, or another was faster */
    }
    int to = lifecycle_transition(&job_lifecycle, JOB_OPEN, in->actor, JOB_TRIGGER_ADOPT, 0);
    assert(to == JOB_OPEN);
    Board__JobRecord *job = arena_copy(plan->arena, s->job, sizeof(*s->job));
    job->worker = (char *)(size_t)in->peer_name;
    plan_put(plan, s->key, job_lifecycle.triggers[JOB_TRIGGER_ADOPT], in->actor, &job->base);
}

const struct op_row job_adopt_row = {
    .name = "job_adopt",
    .target = adopt_target,
    .gather = adopt_gather,
    .decide = adopt_decide,
    .snapshot_size = sizeof(struct adopt_snapshot),
};

/* ---- one look at one job ---- */

static void start(struct job_run *r, const struct op_row *row, const Board__JobRecord *job,
                  struct arena *arena, struct effects *out)
{
    struct board *b = r->board;
    const struct op_input in = {
        .actor = ACTOR_BBS,
        .peer_name = arena_strdup(arena, b->boot_id),
        .trace_id = job->trace_id,
        .request = &job->base,
    };
    r->running = true;
    r->next_ns = NEVER_NS;
    op_start(b, row, &in, arena, on_done, r, out);
}

/* Since when its worker is silent. */
static int64_t silent_since_ns(const struct board *b, const char *worker, const struct copied *p)
{
    int64_t since = heartbeat_since_ns(b, worker);
    return since > copied_seen(p).since_ns ? since : copied_seen(p).since_ns;
}

/* How long whoever wrote it meant it to wait, by his own clock; not positive: not at all. */
static int64_t meant_ns(const Board__JobRecord *job)
{
    int64_t since = job->units ? job->units->since : 0;
    return since ? earlier_ns(job->not_before - since, DEFERRED_MAX_NS) : DEFERRED_MAX_NS;
}

/* How long it is to wait yet: not before a time of the wall clock of who wrote it, which may be
 * wrong. A portion does no harm when it is early, so a job waits no longer than was meant, as far
 * as this bbs has seen it stand. */
static int64_t deferred_ns(const struct board *b, const Board__JobRecord *job,
                           const struct copied *p)
{
    if (job->not_before <= b->now.wall_ns) {
        return 0;
    }
    return earlier_ns(job->not_before - b->now.wall_ns,
                      surely_left_ns(meant_ns(job), copied_made(p), b->now));
}

/* Starts what is to be done with the job now, or says when to look again. Takes over the arena. */
static void look(struct job_run *r, const struct copied *p, struct arena *arena,
                 struct effects *out)
{
    struct board *b = r->board;
    const struct version *item = copied_version(p);
    ProtobufCMessage *m;
    const struct op_row *row = NULL;
    r->next_ns = b->now.mono_ns + JOB_UNKNOWN_NS;
    if (record_decode(arena, RECORD_JOB, blob_bytes(item->blob), &m, NULL) == 0) {
        const Board__JobRecord *job = (const Board__JobRecord *)m;
        const struct op_row *portion =
            b->hooks.job_row ? b->hooks.job_row(b->hooks.context, job) : NULL;
        if (portion && strcmp(job->worker, b->boot_id) != 0) {
            int64_t due_ns = silent_since_ns(b, job->worker, p) + JOB_SILENT_NS;
            row = due_ns <= b->now.mono_ns ? &job_adopt_row : NULL;
            r->next_ns = due_ns;
        } else if (portion && deferred_ns(b, job, p) > 0) {
            r->next_ns = b->now.mono_ns + deferred_ns(b, job, p);
        } else {
            row = portion; /* none of a later version: it is left to those who know it */
        }
        if (row) {
            start(r, row, job, arena, out);
            return;
        }
    }
    arena_done(arena);
    free(arena);
}

void board_jobs_timer(struct board *b, struct effects *out)
{
    struct jobs *j = &b->jobs;
    if (!b->loaded || b->stop_ns || j->due_ns > b->now.mono_ns) {
        return;
    }
    j->due_ns = NEVER_NS;
    MAP_EACH(&j->runs, n)
    {
        struct job_run *r = map_value(n);
        const struct copied *p = copy_find(b->copy, r->key);
        if (p && !r->running && r->next_ns <= b->now.mono_ns) {
            if (out->count >= EFFECTS_ENOUGH) {
                j->due_ns = b->now.mono_ns;
                break;
            }
            look(r, p, board_arena(), out);
        }
        if (!r->running) {
            j->due_ns = earlier_ns(j->due_ns, r->next_ns);
        }
    }
}

void board_jobs_free(struct board *b)
{
    map_done(&b->jobs.runs, free);
}
