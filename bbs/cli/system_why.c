#include "bbs/cli/system_why.h"

#include "bbs/cli/name.h"
#include "bbs/cli/system_tables.h"
#include "bbs/cli/system_tree.h"
#include "common/cli/printable.h"
#include "common/cli/table.h"
#include "common/codec/json.h"
#include "common/model/component_path.h"
#include "common/model/pool_record.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum { DEADLINE_S = 600 };

static void say(struct system_why *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct system_why *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (w->count < SYSTEM_WHY_LINES_MAX) {
        w->lines[w->count++] = text_printable(w->arena, arena_vprintf(w->arena, format, args));
    }
    va_end(args);
}

static const char *since(struct system_why *w, int64_t at_ns)
{
    return age_text(w->arena, w->now_ns - at_ns);
}

static void begin(struct system_why *w, struct arena *a, const char *subject, int64_t now_ns)
{
    *w = (struct system_why){.arena = a, .now_ns = now_ns, .subject = subject, .well = true};
}

static bool is(const char *state, const char *name)
{
    return strcmp(state, name) == 0;
}

/* Whose turn it is when nothing was done yet. */
static void say_leader(struct system_why *w, const struct system_view *v)
{
    if (v->converger) {
        say(w, "it is the turn of the leading converger, at %s: its log says what keeps it",
            v->converger->url);
    } else {
        say(w, "no converger leads: nothing goes on before one runs (converger serve), and what "
               "runs, runs on");
    }
}

/* After a restore (docs/restore.md). */
static void say_unconfirmed(struct system_why *w, const struct system_view *v)
{
    const Board__SystemRecord *s = v->system;
    if (*v->board_generation && !is(s->board_generation, v->board_generation)) {
        w->well = false;
        say(w,
            "the board was restored, and nobody confirmed %s since: nothing of it rolls, is torn "
            "down or removed; bbs systems confirm %s",
            s->id, s->id);
    }
}

/* ---- Services ---- */

static const Board__Hold *holder_of(const struct system_view *v, const char *path)
{
    for (size_t i = 0; i < v->hold->n_holds; i++) {
        if (component_path_within(path, v->hold->holds[i]->path)) {
            return v->hold->holds[i];
        }
    }
    return NULL;
}

/* A deadline waits while the service's node pool lacks cells, or has failed. */
static bool waits_for_pool(const struct system_view *v, const Board__ServiceRecord *s)
{
    const Board__PoolRecord *p = *s->pool ? system_view_pool(v, s->pool) : NULL;
    return *s->pool && (!p || pool_cells(p) < (size_t)p->wanted || is(p->state, "failed"));
}

static void say_deadline(struct system_why *w, const Board__ServiceRecord *s)
{
    int64_t deadline_s = s->rolling && s->rolling->deadline_s ? s->rolling->deadline_s : DEADLINE_S;
    int64_t left_ns = s->progress_at + deadline_s * 1000000000 - w->now_ns;
    if (s->progress_at && left_ns > 0) {
        say(w, "  it came nearer %s ago; without progress it has failed in %s",
            since(w, s->progress_at), age_text(w->arena, left_ns));
    }
}

/* What ends its state; nothing of one that is stable. */
static void say_next(struct system_why *w, const struct system_view *v,
                     const Board__ServiceRecord *s)
{
    const Board__Hold *h = holder_of(v, s->path);
    if (h && h->paused) {
        say(w, "  it stands still: deploy %s is paused; bbs resume %s:%s",
            short_id(w->arena, h->id), s->system, h->path);
    } else if (is(s->state, "pending") || s->observed < s->generation) {
        say_leader(w, v);
    } else if (is(s->state, "failed")) {
        say(w,
            "  it is stable again when its instances run; bbs logs %s:%s --previous, or deploy "
            "another definition (bbs deploy %s --undo DEPLOY)",
            s->system, s->path, s->system);
    } else if (is(s->state, "deleting")) {
        say(w, "  routes go first, then instances, then its record");
    } else if (waits_for_pool(v, s)) {
        say(w, "  its deadline waits as long as the node pool does: bbs why %s:%s", s->system,
            s->pool);
    } else {
        say_deadline(w, s);
    }
}

static void say_service(struct system_why *w, const struct system_view *v,
                        const Board__ServiceRecord *s)
{
    const char *text = is(s->state, "failed") && !*s->message ? s->fault : s->message;
    say(w, "%s is %s, for %s: %s%s%s", name_of_part(w->arena, s->system, s->path), s->state,
        since(w, s->since), counts_text(w->arena, s), *text ? "; " : "", text);
    if (is(s->state, "stable")) {
        return;
    }
    w->well = false;
    say_next(w, v, s);
}

/* Those at and below the path that are not stable, the failed ones first. Gives how many. */
static size_t say_services(struct system_why *w, const struct system_view *v, const char *path)
{
    size_t said = 0, unsettled = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < v->service_count; i++) {
            const Board__ServiceRecord *s = v->services[i];
            bool failed = is(s->state, "failed");
            if (is(s->state, "stable") || failed != (pass == 0) ||
                !component_path_within(s->path, path)) {
                continue;
            }
            unsettled++;
            if (said < SYSTEM_WHY_SERVICES_MAX) {
                say_service(w, v, s);
                said++;
            }
        }
    }
    if (unsettled > said) {
        say(w, "and %zu more that are not stable: bbs services %s", unsettled - said,
            v->system->id);
    }
    return unsettled;
}

/* ---- Builds, deploys, teardowns ---- */

static void say_build(struct system_why *w, const struct system_view *v,
                      const Board__BuildRecord *b)
{
    const char *id = short_id(w->arena, b->id), *about = *b->message ? ": " : "";
    if (is(b->state, "pending")) {
        say(w, "build %s is pending, for %s%s%s", id, since(w, b->created_at), about, b->message);
        say(w, "  its definition is read and its references resolved; a git repository has 60 s "
               "for that");
        say_leader(w, v);
    } else if (is(b->state, "accepted") || is(b->state, "running")) {
        say(w, "build %s is %s: %u of %u components are written%s%s", id, b->state, b->written,
            b->components, about, b->message);
    } else if (is(b->state, "failed")) {
        say(w, "build %s failed%s%s", id, about, b->message);
    } else {
        say(w, "build %s succeeded: %u components", id, b->components);
    }
}

/* Others that hold what is at, above or below its path. */
static void say_holders(struct system_why *w, const struct system_view *v, const char *id,
                        const char *path)
{
    for (size_t i = 0; i < v->hold->n_holds; i++) {
        const Board__Hold *h = v->hold->holds[i];
        if (!is(h->id, id) && component_path_related(h->path, path)) {
            bool down = h->kind == BOARD__HOLD__KIND__TEARDOWN;
            say(w, "%s %s holds %s, for %s%s", down ? "teardown" : "deploy",
                short_id(w->arena, h->id), h->path, since(w, h->since),
                h->paused ? ", and is paused" : "");
        }
    }
}

static void say_in_progress(struct system_why *w, const struct system_view *v,
                            const Board__DeployRecord *d)
{
    const Board__Hold *h = holder_of(v, d->path);
    if (d->reverting) {
        say(w, "it puts back what stood before, and ends failed when that runs");
    }
    if (d->paused || (h && h->paused)) {
        say(w, "it is paused: bbs resume %s:%s goes on, bbs abort %s:%s goes back", d->system,
            d->path, d->system, d->path);
    }
    if (v->head && v->head->spread < v->head->generation) {
        say(w, "not every service was told of the new definition yet");
        say_leader(w, v);
    }
    if (say_services(w, v, d->path) == 0) {
        say(w, "every service at and below %s is stable: it ends when the converger says so",
            d->path);
    } else if (!d->paused) {
        say(w, "it ends when each of these is stable, or has failed");
    }
}

/* A deploy that nobody ended yet. */
static void say_deploy_turn(struct system_why *w, const struct system_view *v,
                            const Board__DeployRecord *d)
{
    const Board__BuildRecord *b = *d->build ? system_view_build(v, d->build) : NULL;
    w->well = false;
    if (is(d->state, "pending")) {
        say_holders(w, v, d->id, d->path);
        say_leader(w, v);
    } else if (is(d->state, "accepted")) {
        say(w, "it holds %s, and begins when its build has succeeded", d->path);
        if (b) {
            say_build(w, v, b);
        }
    } else {
        say_in_progress(w, v, d);
    }
    say_unconfirmed(w, v);
}

static void say_deploy_end(struct system_why *w, const Board__DeployRecord *d)
{
    if (is(d->state, "succeeded")) {
        say(w, "every service at and below %s was stable, and told by it", d->path);
        return;
    }
    w->well = false;
    if (d->conflict) {
        say(w, "somebody else held a part of it: deploy again when that is over");
    } else if (d->n_before > 0 && !d->reverting && d->generation > 0) {
        say(w, "its definition stands: bbs deploy %s --undo %s puts back what stood before",
            d->system, short_id(w->arena, d->id));
    }
}

static void say_deploy(struct system_why *w, const struct system_view *v,
                       const Board__DeployRecord *d)
{
    bool over = d->completed_at != 0;
    say(w, "deploy %s of %s (%s) is %s, for %s%s%s", short_id(w->arena, d->id), d->path,
        deploy_target_text(w->arena, d), d->state,
        since(w, over            ? d->completed_at
                 : d->started_at ? d->started_at
                                 : d->created_at),
        *d->message ? ": " : "", d->message);
    if (over) {
        say_deploy_end(w, d);
    } else {
        say_deploy_turn(w, v, d);
    }
}

static void say_teardown(struct system_why *w, const struct system_view *v,
                         const Board__TeardownRecord *t)
{
    say(w, "teardown %s is %s, for %s%s%s", short_id(w->arena, t->id), t->state,
        since(w, t->completed_at ? t->completed_at : t->created_at), *t->message ? ": " : "",
        t->message);
    if (t->completed_at) {
        w->well = !is(t->state, "failed");
        return;
    }
    w->well = false;
    if (is(t->state, "pending")) {
        say_holders(w, v, t->id, "/");
        say_leader(w, v);
    } else {
        say(w, "%zu service%s left; it ends when none is", v->service_count,
            v->service_count == 1 ? " is" : "s are");
        (void)say_services(w, v, "/");
    }
    say_unconfirmed(w, v);
}

static void say_run(struct system_why *w, const struct system_view *v, const Board__JobRunRecord *r)
{
    say(w, "run %s of %s is %s, for %s%s%s", short_id(w->arena, r->id), r->path, r->state,
        since(w, r->completed_at ? r->completed_at : r->created_at), *r->message ? ": " : "",
        r->message);
    if (is(r->state, "pending")) {
        say_leader(w, v);
    } else if (is(r->state, "queued")) {
        say(w, "its task waits for a cell: bbs why --task %s", r->task_guid);
    } else if (is(r->state, "running")) {
        say(w, "its task runs: bbs logs --task %s", r->task_guid);
    } else if (is(r->state, "failed") && *r->task_guid) {
        say(w, "what it wrote: bbs logs %s:%s --previous", r->system, r->path);
    }
    w->well = is(r->state, "succeeded");
}

/* ---- The system ---- */

static void say_state(struct system_why *w, const struct system_view *v)
{
    const Board__SystemRecord *s = v->system;
    say(w, "%s is %s, for %s%s%s", s->id, s->state, since(w, s->since ? s->since : s->created_at),
        *s->message ? ": " : "", s->message);
    if (is(s->state, "pending")) {
        w->well = false;
        if (s->tries > 0) {
            say(w, "%d of 5 tries to open it failed", (int)s->tries);
        }
        say_leader(w, v);
    } else if (is(s->state, "failed")) {
        w->well = false;
        say(w, "it will not be opened: bbs systems delete %s, and create it again", s->id);
    } else if (is(s->state, "deleting")) {
        w->well = false;
        say(w,
            "%zu services, %zu builds, %zu deploys and %zu job runs are left; its record goes "
            "last",
            v->service_count, v->build_count, v->deploy_count, v->run_count);
        say_leader(w, v);
    }
    say_unconfirmed(w, v);
}

/* Each that holds something at, above or below the path. Gives how many. */
static size_t say_actions(struct system_why *w, const struct system_view *v, const char *path)
{
    size_t n = 0;
    for (size_t i = 0; i < v->deploy_count; i++) {
        const Board__DeployRecord *d = v->deploys[i];
        if (!d->completed_at && component_path_related(d->path, path)) {
            say_deploy(w, v, d);
            n++;
        }
    }
    for (size_t i = 0; i < v->teardown_count; i++) {
        if (!v->teardowns[i]->completed_at) {
            say_teardown(w, v, v->teardowns[i]);
            n++;
        }
    }
    return n;
}

/* With nothing under way: how the last one that was about the path ended, if it failed. It is no
 * part of how the system is now. */
static void say_last(struct system_why *w, const struct system_view *v, const char *path)
{
    bool well = w->well;
    for (size_t i = 0; i < v->deploy_count; i++) {
        const Board__DeployRecord *d = v->deploys[i];
        if (component_path_related(d->path, path)) {
            if (is(d->state, "failed")) {
                say_deploy(w, v, d);
            }
            break;
        }
    }
    w->well = well;
}

static void say_runs(struct system_why *w, const struct system_view *v, const char *path)
{
    const Board__JobRunRecord *newest = NULL;
    for (size_t i = 0; i < v->run_count; i++) {
        const Board__JobRunRecord *r = v->runs[i];
        bool exact = is(r->path, path);
        if (component_path_within(r->path, path) && (!r->completed_at || (exact && !newest))) {
            bool well = w->well;
            say_run(w, v, r);
            w->well = exact ? w->well && well : well; /* no part of the system's state */
        }
        newest = exact && !newest ? r : newest;
    }
}

static const char *stable_text(struct arena *a, size_t services)
{
    return arena_printf(a, "%zu service%s stable", services, services == 1 ? " is" : "s are");
}

static void say_unknown(struct system_why *w, const struct system_view *v, const char *path)
{
    const char *kind = system_view_kind(v, path);
    size_t services = 0;
    for (size_t i = 0; i < v->service_count; i++) {
        services += component_path_within(v->services[i]->path, path);
    }
    if (services > 0) { /* of none was anything said */
        say(w, "%s: %s", w->subject, stable_text(w->arena, services));
        return;
    }
    w->well = false;
    if (kind) {
        say(w, "%s is a %s; nothing of it has begun yet", path, kind);
    } else {
        say(w, "nothing is deployed at %s: bbs systems tree %s shows all", path, v->system->id);
    }
}

/* ---- Node pools ---- */

static const char *cells_text(struct arena *a, const Board__PoolEpoch *e)
{
    const char *text = e->n_cells ? "" : "none";
    size_t shown = e->n_cells < SYSTEM_WHY_SERVICES_MAX ? e->n_cells : SYSTEM_WHY_SERVICES_MAX;
    for (size_t i = 0; i < shown; i++) {
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "", e->cells[i]);
    }
    return shown < e->n_cells ? arena_printf(a, "%s and %zu more", text, e->n_cells - shown) : text;
}

static void say_pool(struct system_why *w, const struct system_view *v, const char *name)
{
    const Board__PoolRecord *p = system_view_pool(v, name);
    w->well = p && is(p->state, "stable");
    if (!p) {
        say(w, "%s has no node pool %s: bbs pools %s shows all", v->system->id, name,
            v->system->id);
        return;
    }
    say(w, "node pool %s is %s, for %s%s%s", name, p->state, since(w, p->since),
        *p->message ? ": " : "", p->message);
    for (size_t i = 0; i < p->n_epochs; i++) {
        const Board__PoolEpoch *e = p->epochs[i];
        bool newest = e == pool_newest(p);
        say(w, "its cells of type %s: %s%s", e->instance_type, cells_text(w->arena, e),
            newest        ? arena_printf(w->arena, "; it is to have %d", (int)p->wanted)
            : e->released ? "; they go when nothing is on them"
                          : "; they stay until no service is on them");
    }
    const Board__PoolEpoch *newest = pool_newest(p);
    if (newest && newest->n_cells < (size_t)p->wanted) {
        say(w,
            "it takes cells on which nothing runs and whose rep says --optional-placement-tag "
            "type:%s: bbs cells",
            newest->instance_type);
    }
    if (!w->well) {
        say_leader(w, v);
        say_unconfirmed(w, v);
    }
}

/* Those that are not as they should be. */
static void say_pools(struct system_why *w, const struct system_view *v)
{
    for (size_t i = 0; i < v->pool_count; i++) {
        const Board__PoolRecord *p = v->pools[i];
        if (!is(p->state, "stable")) {
            w->well = false;
            say(w, "node pool %s is %s%s%s: bbs why %s:%s", p->name, p->state,
                *p->message ? ", " : "", p->message, v->system->id, p->name);
        }
    }
}

void system_why(struct arena *a, const struct system_view *v, const char *path, int64_t now_ns,
                struct system_why *ret)
{
    bool all = is(path, "/");
    assert(v->system && *path == '/');
    begin(ret, a, all ? v->system->id : name_of_part(a, v->system->id, path), now_ns);
    if (strchr(path, ':')) {
        say_pool(ret, v, path);
        return;
    }
    if (all) {
        say_state(ret, v);
        say_pools(ret, v);
    } else {
        say_unconfirmed(ret, v);
    }
    size_t before = ret->count, actions = say_actions(ret, v, path);
    const Board__ServiceRecord *s = all ? NULL : system_view_service(v, path);
    if (s && (actions == 0 || is(s->state, "stable"))) {
        say_service(ret, v, s);
    } else if (actions == 0) {
        (void)say_services(ret, v, path);
    }
    if (all && ret->well && actions == 0) {
        /* Of a system that is well, and of which nothing is under way. */
        say(ret, "%s",
            v->service_count ? stable_text(a, v->service_count)
                             : "no service is deployed in it: bbs deploy");
    }
    say_runs(ret, v, path);
    if (actions == 0 && (all || s)) {
        say_last(ret, v, path);
    }
    if (!all && ret->count == before) {
        say_unknown(ret, v, path);
    }
}

void system_why_lack(struct system_why *w, const char *lack)
{
    if (!w->well) {
        say(w, "%s", lack);
    }
}

void system_why_keys(struct system_why *w, const struct system_view *v,
                     const Board__KeysResponse *keys)
{
    const Board__WrappedKey *needs = v->system->data_key;
    bool held = !needs;
    for (size_t i = 0; !held && i < keys->n_keys; i++) {
        held = keys->keys[i]->held && keys->keys[i]->number == needs->key;
    }
    if (!held) {
        w->well = false;
        say(w,
            "its secrets are sealed by key %u, and the bbs that was asked has no such key: what "
            "needs one starts only by a bbs that has it; put it into the key file of each "
            "(bbs keys)",
            needs->key);
    }
}

#define ONE(name, type, say_it)                                                                    \
    void name(struct arena *a, const struct system_view *v, const type *r, int64_t now_ns,         \
              struct system_why *ret)                                                              \
    {                                                                                              \
        begin(ret, a, arena_printf(a, "%s %s", r->system, short_id(a, r->id)), now_ns);            \
        say_it(ret, v, r);                                                                         \
    }
ONE(system_why_deploy, Board__DeployRecord, say_deploy)
ONE(system_why_build, Board__BuildRecord, say_build)
ONE(system_why_teardown, Board__TeardownRecord, say_teardown)
ONE(system_why_run, Board__JobRunRecord, say_run)

void system_why_print(const struct system_why *w, bool json, struct buf *out)
{
    for (size_t i = 0; !json && i < w->count; i++) {
        buf_printf(out, "%s%s\n", i ? "  " : "", w->lines[i]);
    }
    if (!json) {
        return;
    }
    buf_append_string(out, "{\"subject\":");
    json_string_text(bytes_of(w->subject), out);
    buf_append_string(out, ",\"explanation\":[");
    for (size_t i = 0; i < w->count; i++) {
        buf_append_string(out, i ? "," : "");
        json_string_text(bytes_of(w->lines[i]), out);
    }
    buf_append_string(out, "]}\n");
}
