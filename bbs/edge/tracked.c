#include "bbs/edge/tracked.h"

#include "bbs/edge/ready.h"
#include "bbs/setting/in_force.h"
#include "common/base/message.h"
#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define SAME_PLACE(field)                                                                          \
    _Static_assert(                                                                                \
        offsetof(struct tracked_head, field) == offsetof(Board__ClusterInstRecord, field) &&       \
            offsetof(struct tracked_head, field) == offsetof(Board__AppInstRecord, field),         \
        "both records begin so")
SAME_PLACE(name);
SAME_PLACE(uid);
SAME_PLACE(state);
SAME_PLACE(since);
SAME_PLACE(request);
SAME_PLACE(operation);

char *tracked_text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

static const struct tracked_shot *shot_of(const struct move_turn *t)
{
    return &((const struct tracked_turn *)t->snapshot)->shot;
}

static const struct tracked_kind *kind_of(const struct move_turn *t)
{
    return ((const struct tracked_turn *)t->snapshot)->kind;
}

static bool is_move(const struct move_turn *t, int trigger)
{
    return strcmp(t->row->name, tracked_lifecycle.triggers[trigger]) == 0;
}

static int state_of(const struct tracked_head *o)
{
    return o ? lifecycle_state(&tracked_lifecycle, o->state) : TRACKED_NONE;
}

bool tracked_is(const struct tracked_head *o, int state)
{
    return state_of(o) == state;
}

bool tracked_is_at_rest(const char *state)
{
    int s = lifecycle_state(&tracked_lifecycle, state);
    return s == TRACKED_READY || s == TRACKED_CREATE_ERROR || s == TRACKED_UPDATE_ERROR ||
           s == TRACKED_DELETE_ERROR;
}

const char *tracked_digest(struct arena *a, const ProtobufCMessage *spec, const char *more)
{
    struct bytes packed = message_packed(a, spec);
    uint8_t *all = arena_alloc(a, packed.size + strlen(more));
    memcpy(all, packed.data, packed.size);
    memcpy(all + packed.size, more, strlen(more));
    struct bytes whole = {.data = (const void *)all, .size = packed.size + strlen(more)};
    return arena_printf(a, "%016llx", (unsigned long long)bytes_hash(whole));
}

/* ---- What is read ---------------------------------------------------------------------------- */

static void gather_uses(struct view *v, const struct tracked_kind *k, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const char *keys[TRACKED_USES_MAX];
    size_t had = s->object ? k->refers(a, s->object, keys) : 0;
    size_t count = had + (s->after ? k->refers(a, s->after, keys + had) : 0);
    assert(count <= TRACKED_USES_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < s->use_count && strcmp(s->uses[at].referred, keys[i]) != 0) {
            at++;
        }
        if (at == s->use_count) {
            const char *key = key_use(a, keys[i], s->key);
            s->uses[s->use_count++] = (struct tracked_use){.referred = keys[i], .key = key};
        }
        s->uses[at].wanted = s->uses[at].wanted || i >= had;
    }
    for (size_t i = 0; i < s->use_count; i++) {
        s->uses[i].stands = view_get(v, s->uses[i].key);
    }
}

bool tracked_asks(const struct op_input *in, int trigger)
{
    const Board__Move *m = in->request;
    return strcmp(m->move, tracked_lifecycle.triggers[trigger]) == 0;
}

/* What it is after the move, as far as that hangs on what it is. */
static void foresee(const struct op_input *in, const struct tracked_kind *k, struct tracked_shot *s)
{
    const Board__EdgeOperation *o = s->object->operation;
    assert(s->after && s->object);
    bool goes = false, settles = tracked_asks(in, TRACKED_TRIGGER_READY);
    if (tracked_asks(in, TRACKED_TRIGGER_DELETE)) {
        goes = in->actor == ACTOR_CLIENT && s->dependents.count == 0 &&
               edge_ignores_crm(move_edge(in->request)->override);
    } else if (tracked_asks(in, TRACKED_TRIGGER_UNDO)) {
        bool taken_as_end = o && edge_ignores_errors(o->override);
        bool create = tracked_is(s->object, TRACKED_CREATE_ERROR);
        goes = (create && !taken_as_end) ||
               (tracked_is(s->object, TRACKED_DELETE_ERROR) && taken_as_end);
        settles = create && taken_as_end;
        if (tracked_is(s->object, TRACKED_UPDATE_ERROR)) {
            k->restore(s->after);
        }
    } else {
        goes = tracked_asks(in, TRACKED_TRIGGER_DELETED);
    }
    if (settles) {
        k->settle(s->after);
    }
    s->after = goes ? NULL : s->after;
}

static void gather_refs(struct view *v, const struct tracked_kind *k, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const Board__CloudletRecord *c = s->site.cloudlet;
    struct footprint before = s->object ? k->footprint(a, s, s->object) : (struct footprint){0};
    struct footprint after = s->after ? k->footprint(a, s, s->after) : (struct footprint){0};
    const Board__RefsRecord *base = s->refs_after ? s->refs_after : s->refs;
    s->refs_after = refs_after(a, base, s->name, &before, &after);
    if (!s->fault) {
        s->fault = refs_fault(a, s->site.name, s->refs, s->refs_after,
                              c && c->spec ? c->spec->quota : NULL,
                              s->site.info ? s->site.info->totals : NULL);
    }
}

/* It begins something that may take its time. */
static bool begins(const struct op_input *in)
{
    return in->actor == ACTOR_CLIENT || tracked_asks(in, TRACKED_TRIGGER_DELETE) ||
           tracked_asks(in, TRACKED_TRIGGER_PROCEED);
}

void tracked_gather(struct view *v, const struct op_input *in, const struct tracked_kind *k,
                    struct tracked_turn *ret)
{
    struct arena *a = view_arena(v);
    struct tracked_shot *s = &ret->shot;
    const Board__Move *m = in->request;
    const struct move_row *row = move_row_named(k->family, m->move);
    assert(row && key_type(move_key(a, m)) == k->type);
    ret->kind = k;
    s->key = move_key(a, m);
    s->name = key_edge_name(a, s->key);
    edge_site_gather(v, in, edge_cloudlet_of(a, s->name), &s->site);
    s->times = begins(in) ? &settings_gather(v)->edge : &SETTINGS_DEFAULT.edge;
    s->unreadable = view_unreadable(v, s->key);
    s->object = s->unreadable ? NULL : view_message(v, s->key);
    if (s->object) {
        s->progress = view_message(v, key_progress(a, s->object->uid));
        s->after = arena_copy(a, s->object, s->object->base.descriptor->sizeof_message);
    }
    if (row->reads == TRACKED_ALL) {
        s->refs = view_message(v, key_edge(a, RECORD_REFS, s->site.name));
    }
    if (row->reads != TRACKED_OWN) {
        k->look(v, in, s);
    }
    if (row->reads == TRACKED_ALL) {
        if (s->object && !tracked_asks(in, TRACKED_TRIGGER_CREATE)) {
            foresee(in, k, s);
        }
        if (!s->site.cloudlet && !s->object) { /* also where nobody asks its CRM */
            s->fault = arena_printf(a, "there is no cloudlet %s", s->site.name);
        }
        k->beside(v, in, s);
        gather_uses(v, k, s);
        if (s->refs) {
            gather_refs(v, k, s);
        }
    }
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static uint32_t found_guards(const Board__EdgeOperation *o)
{
    int found = o ? lifecycle_state(&tracked_lifecycle, o->found) : -1;
    return found == TRACKED_READY          ? TRACKED_IF_FOUND_READY
           : found == TRACKED_CREATE_ERROR ? TRACKED_IF_FOUND_CREATE_ERROR
           : found == TRACKED_UPDATE_ERROR ? TRACKED_IF_FOUND_UPDATE_ERROR
                                           : 0;
}

static const char *site_fault(const struct move_turn *t)
{
    return edge_ignores_crm(edge_says(t)->override)
               ? NULL
               : site_refuses(t->plan->arena, &shot_of(t)->site, t->in->now.wall_ns);
}

static uint32_t crm_guards(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    bool answers = s->object && edge_says(t)->request == s->object->request;
    return (answers ? TRACKED_IF_ANSWERS : 0) |
           (edge_in_session(&s->site, edge_says(t)) ? TRACKED_IF_SESSION : 0);
}

static uint32_t client_guards(const struct move_turn *t)
{
    Board__EdgeOperation__Override o = edge_says(t)->override;
    return (site_fault(t) ? 0 : TRACKED_IF_SITE_READY) |
           (edge_ignores_crm(o) ? TRACKED_IF_IGNORE_CRM : 0) |
           (edge_ignores_transient(o) ? TRACKED_IF_IGNORE_TRANSIENT : 0);
}

static uint32_t converger_guards(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    const Board__EdgeOperation *o = s->object ? s->object->operation : NULL;
    return (edge_is_overdue(o, t->in->now.wall_ns) ? TRACKED_IF_OVERDUE : 0) |
           (o && edge_ignores_errors(o->override) ? TRACKED_IF_IGNORE_ERRORS : 0) |
           (o && o->restored ? TRACKED_IF_RESTORED : 0) |
           (s->cluster_failed ? TRACKED_IF_CLUSTER_FAILED : 0) |
           (s->goes_along ? TRACKED_IF_GOES_ALONG : 0) | found_guards(o);
}

uint32_t tracked_guards(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    return (t->in->actor == ACTOR_CRM         ? crm_guards(t)
            : t->in->actor == ACTOR_CONVERGER ? converger_guards(t)
                                              : client_guards(t)) |
           (s->fault ? 0 : TRACKED_IF_FITS) | (s->cluster_fault ? 0 : TRACKED_IF_CLUSTER_READY) |
           (s->automatic ? TRACKED_IF_AUTO : 0) | (s->changed ? TRACKED_IF_CHANGED : 0) |
           (s->dependents.busy == 0 ? TRACKED_IF_IDLE : 0) |
           (s->dependents.count == 0 ? TRACKED_IF_NO_DEPENDENTS : 0);
}

/* ---- What refuses ---------------------------------------------------------------------------- */

static const char *crm_refused(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const struct tracked_shot *s = shot_of(t);
    const Board__EdgeMove *m = edge_says(t);
    if (!(t->guards & TRACKED_IF_SESSION)) {
        return arena_printf(a, "session %llu of cloudlet %s is over: the board's is %llu",
                            (unsigned long long)m->session, s->site.name,
                            (unsigned long long)(s->site.info ? s->site.info->session : 0));
    }
    if (!(t->guards & TRACKED_IF_ANSWERS)) {
        return arena_printf(a, "request %llu of %s is over: the board's is %llu",
                            (unsigned long long)m->request, s->name,
                            (unsigned long long)s->object->request);
    }
    return arena_printf(a, "%s is %s: it takes no %s now", s->name, s->object->state, t->row->name);
}

static const char *stay_text(struct arena *a, const struct dependents *d)
{
    const char *all = "";
    for (size_t i = 0; i < d->stay && i < DEPENDENTS_TOLD_MAX; i++) {
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", d->names[i]);
    }
    return d->stay > DEPENDENTS_TOLD_MAX
               ? arena_printf(a, "%s and %zu more", all, d->stay - DEPENDENTS_TOLD_MAX)
               : all;
}

/* Why the state alone refuses; NULL = it does not. */
static const char *state_refused(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const struct tracked_head *o = shot_of(t)->object;
    const char *noun = kind_of(t)->noun;
    bool busy = o && !tracked_is_at_rest(o->state);
    bool taken = busy && edge_ignores_transient(edge_says(t)->override);
    bool goes = t->from == TRACKED_DELETE_PREPARE || t->from == TRACKED_DELETE_REQUESTED ||
                t->from == TRACKED_DELETING;
    if (is_move(t, TRACKED_TRIGGER_CREATE)) {
        bool over = t->from == TRACKED_NONE || t->from == TRACKED_DELETE_ERROR || taken;
        return over ? NULL
                    : arena_printf(a, "%s %s exists%s", noun, o->name,
                                   t->from == TRACKED_CREATE_ERROR ? "; delete it first" : "");
    }
    if (busy && !taken) {
        return goes ? arena_printf(a, "%s is being deleted", o->name)
                    : arena_printf(a, "%s is busy: %s for %s", o->name, o->state,
                                   edge_since_text(a, o->since, t->in->now.wall_ns));
    }
    bool changes = is_move(t, TRACKED_TRIGGER_UPDATE) || is_move(t, TRACKED_TRIGGER_REFRESH);
    return changes && (t->from == TRACKED_CREATE_ERROR || t->from == TRACKED_DELETE_ERROR)
               ? arena_printf(a, "%s is in %s: delete it first", o->name, o->state)
               : NULL;
}

static const char *busy_text(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const struct dependents *d = &shot_of(t)->dependents;
    return arena_printf(a, "%s is busy: %s for %s", d->busy_name, d->busy_state,
                        edge_since_text(a, d->busy_since, t->in->now.wall_ns));
}

static const char *client_refused(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const struct tracked_shot *s = shot_of(t);
    const char *why = state_refused(t);
    why = why ? why : site_fault(t);
    if (why) {
        return why;
    }
    if (is_move(t, TRACKED_TRIGGER_CREATE) && s->dependents.count) {
        return arena_printf(a, "%s has app instances of its former life, %zu: they go first",
                            s->name, s->dependents.count);
    }
    if (is_move(t, TRACKED_TRIGGER_DELETE) || (s->dependents.busy && !s->fault)) {
        return s->dependents.stay && is_move(t, TRACKED_TRIGGER_DELETE)
                   ? arena_printf(a, "%s is used by %s", s->name, stay_text(a, &s->dependents))
               : s->dependents.busy ? busy_text(t)
                                    : arena_printf(a, "%s cannot go now", s->name);
    }
    return s->fault ? s->fault : s->cluster_fault;
}

/* It is refused because something that it needs is not there: its cloudlet, or what `look` sought.
 */
static bool is_missing(const struct move_turn *t, const char *why)
{
    const struct tracked_shot *s = shot_of(t);
    return t->in->actor == ACTOR_CLIENT &&
           ((!s->object && !s->site.cloudlet) ||
            (s->missing && (why == s->fault || why == s->cluster_fault)));
}

void tracked_refuse(const struct move_turn *t)
{
    bool exists = is_move(t, TRACKED_TRIGGER_CREATE) && t->from != TRACKED_NONE;
    if (t->in->actor == ACTOR_CONVERGER) {
        return; /* it judged by an older record */
    }
    const char *why = t->in->actor == ACTOR_CRM ? crm_refused(t) : client_refused(t);
    if (why) {
        plan_refuse(t->plan,
                    exists && state_refused(t) ? MODELS__ERROR__TYPE__ResourceExists
                    : is_missing(t, why)       ? MODELS__ERROR__TYPE__ResourceNotFound
                                               : MODELS__ERROR__TYPE__ResourceConflict,
                    "%s", why);
    } /* else nothing would change: it is as it should be */
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* The state that a delete comes back to: one that it took over ended in its error. */
static const char *found_of(const struct move_turn *t)
{
    const Board__EdgeOperation *o = shot_of(t)->object->operation;
    switch (t->from) {
    case TRACKED_READY:
    case TRACKED_CREATE_ERROR:
    case TRACKED_UPDATE_ERROR:
        return tracked_lifecycle.states[t->from];
    case TRACKED_UPDATE_REQUESTED:
    case TRACKED_UPDATING:
        return tracked_lifecycle.states[TRACKED_UPDATE_ERROR];
    case TRACKED_DELETE_PREPARE:
    case TRACKED_DELETE_REQUESTED:
    case TRACKED_DELETING:
    case TRACKED_DELETE_ERROR:
        return o && *o->found ? o->found : tracked_lifecycle.states[TRACKED_READY];
    default:
        return tracked_lifecycle.states[TRACKED_CREATE_ERROR];
    }
}

static int64_t limit_of(const struct move_turn *t, size_t field)
{
    return *(const int64_t *)(const void *)((const char *)shot_of(t)->times + field);
}

static Board__EdgeOperation *begun(const struct move_turn *t)
{
    const struct tracked_kind *k = kind_of(t);
    bool deletes = is_move(t, TRACKED_TRIGGER_DELETE);
    assert(t->to != TRACKED_NONE);
    int64_t limit = deletes                              ? shot_of(t)->times->delete_prepare_ns
                    : is_move(t, TRACKED_TRIGGER_CREATE) ? limit_of(t, k->create_ns)
                                                         : limit_of(t, k->update_ns);
    return t->to == TRACKED_READY
               ? NULL
               : edge_operation(t->plan->arena, t->row->name, edge_says(t)->override,
                                deletes ? found_of(t) : "", t->in->now.wall_ns, limit);
}

static const char *error_of(const struct move_turn *t)
{
    const Board__EdgeOperation *o = shot_of(t)->object->operation;
    return *edge_says(t)->error                 ? edge_says(t)->error
           : is_move(t, TRACKED_TRIGGER_EXPIRE) ? edge_overdue_text(t->plan->arena, o)
           : o && *o->error                     ? o->error
           : is_move(t, TRACKED_TRIGGER_FAIL) && t->in->actor == ACTOR_CONVERGER
               ? "the cluster that was made for it failed"
               : "the CRM does not say why";
}

static Board__EdgeOperation *operation_after(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__EdgeOperation *o = shot_of(t)->object ? shot_of(t)->object->operation : NULL;
    int64_t now = t->in->now.wall_ns;
    if (t->in->actor == ACTOR_CLIENT || is_move(t, TRACKED_TRIGGER_DELETE)) {
        return begun(t);
    }
    if (is_move(t, TRACKED_TRIGGER_READY)) {
        return NULL;
    }
    if (is_move(t, TRACKED_TRIGGER_EXPIRE) && t->to == t->from) {
        assert(o); /* it is overdue */
        Board__EdgeOperation *late = arena_copy(a, o, sizeof(*late));
        late->overdue = true;
        late->deadline = 0;
        return late;
    }
    if (is_move(t, TRACKED_TRIGGER_FAIL) || is_move(t, TRACKED_TRIGGER_EXPIRE) ||
        is_move(t, TRACKED_TRIGGER_REFUSE) || is_move(t, TRACKED_TRIGGER_UNDO)) {
        return edge_operation_failed(a, o, error_of(t));
    }
    if (is_move(t, TRACKED_TRIGGER_PROCEED) && o) {
        Board__EdgeOperation *next = arena_copy(a, o, sizeof(*next));
        next->limit_ns =
            t->to == TRACKED_DELETE_REQUESTED ? limit_of(t, kind_of(t)->delete_ns) : next->limit_ns;
        return edge_operation_again(a, next, now);
    }
    Board__EdgeOperation *next = t->to != t->from || !tracked_is_at_rest(shot_of(t)->object->state)
                                     ? edge_operation_again(a, o, now)
                                     : (Board__EdgeOperation *)(uintptr_t)o;
    if (edge_says(t)->restored && next && t->from == TRACKED_UPDATE_ERROR) {
        next = arena_copy(a, next, sizeof(*next));
        next->restored = true;
    }
    return next;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static const char *end_of(const struct move_turn *t)
{
    const Board__EdgeOperation *o = shot_of(t)->object ? shot_of(t)->object->operation : NULL;
    bool taken_as_end = o && edge_ignores_errors(o->override) &&
                        t->from != TRACKED_UPDATE_REQUESTED && t->from != TRACKED_UPDATING;
    if (is_move(t, TRACKED_TRIGGER_UNDO)) {
        return !(t->guards & TRACKED_IF_IGNORE_ERRORS) ? "failed"
               : t->to == TRACKED_NONE                 ? "deleted"
                                                       : "ready";
    }
    if (t->to == TRACKED_NONE) {
        return "deleted";
    }
    if (is_move(t, TRACKED_TRIGGER_READY) ||
        (t->to == TRACKED_READY && t->in->actor == ACTOR_CLIENT)) {
        return "ready";
    }
    bool fails = is_move(t, TRACKED_TRIGGER_FAIL) || is_move(t, TRACKED_TRIGGER_REFUSE) ||
                 (is_move(t, TRACKED_TRIGGER_EXPIRE) && t->to != t->from);
    return fails && !taken_as_end ? "failed" : NULL;
}

static const char *undone_text(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    return t->guards & TRACKED_IF_IGNORE_ERRORS
               ? arena_printf(a, "the error counts as an end: %s", error_of(t))
           : t->to == TRACKED_NONE ? "undone: nothing is left"
           : t->from == TRACKED_UPDATE_ERROR
               ? "undone: the former values run"
               : arena_printf(a, "undone: it is %s again", tracked_lifecycle.states[t->to]);
}

static const char *late_text(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    struct arena *a = t->plan->arena;
    const Board__CloudletInfoRecord *i = s->site.info;
    bool offline = i && strcmp(i->state, "OFFLINE") == 0; /* since shortly after it was heard */
    return arena_printf(a, "%s%s: the operation goes on", error_of(t),
                        !offline ? ""
                                 : arena_printf(a, ", %s was last heard %s ago", s->site.name,
                                                edge_since_text(a, i->since, t->in->now.wall_ns)));
}

/* What goes with it: "removes appinst dev/shop/1.0 first". */
static const char *along_text(const struct move_turn *t)
{
    const struct dependents *d = &shot_of(t)->dependents;
    struct arena *a = t->plan->arena;
    const char *all = "";
    size_t count = d->count - d->stay;
    for (size_t i = 0; i < count && i < DEPENDENTS_TOLD_MAX; i++) {
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", edge_app_of(a, d->along[i]));
    }
    all = count > DEPENDENTS_TOLD_MAX
              ? arena_printf(a, "%s and %zu more", all, count - DEPENDENTS_TOLD_MAX)
              : all;
    return arena_printf(a, "removes appinst %s first", all);
}

/* A second line of what a client asked for. */
static const char *more_of(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    const Board__CloudletRecord *c = s->site.cloudlet;
    if (t->in->actor != ACTOR_CLIENT || t->to == TRACKED_NONE) {
        return NULL;
    }
    if (is_move(t, TRACKED_TRIGGER_DELETE)) {
        return s->dependents.count > s->dependents.stay ? along_text(t) : NULL;
    }
    return s->automatic         ? s->asked_more
           : s->refs_after && c ? refs_alert(t->plan->arena, s->site.name, s->refs, s->refs_after,
                                             c->spec, s->site.info ? s->site.info->totals : NULL)
                                : NULL;
}

static const char *line_of(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    struct arena *a = t->plan->arena;
    if (t->in->actor == ACTOR_CLIENT) {
        return t->to == TRACKED_NONE ? "deleted, and the CRM is not asked"
               : s->asked            ? s->asked
                                     : arena_printf(a, "%s requested", t->row->name);
    }
    switch (lifecycle_trigger(&tracked_lifecycle, t->row->name)) {
    case TRACKED_TRIGGER_DELETE:
        return "goes along with what it depends on, or is idle";
    case TRACKED_TRIGGER_CREATING:
    case TRACKED_TRIGGER_UPDATING:
    case TRACKED_TRIGGER_DELETING:
        return arena_printf(a, "%s has begun", s->site.name);
    case TRACKED_TRIGGER_READY:
    case TRACKED_TRIGGER_DELETED:
        return t->row->name;
    case TRACKED_TRIGGER_PROCEED:
        return t->from == TRACKED_DELETE_PREPARE ? "nothing depends on it any more"
                                                 : "its cluster is ready";
    case TRACKED_TRIGGER_UNDO:
        return undone_text(t);
    case TRACKED_TRIGGER_EXPIRE:
        return t->to == t->from ? late_text(t) : arena_printf(a, "failed: %s", error_of(t));
    case TRACKED_TRIGGER_REPORT:
        return NULL;
    default:
        return arena_printf(a, "failed: %s", error_of(t));
    }
}

/* Of a life that another one takes the place of while it was busy: who follows it learns that. */
static void end_former(const struct move_turn *t)
{
    const Board__ProgressRecord *p = shot_of(t)->progress;
    if (!p) {
        return;
    }
    const struct edge_told told = {
        .kind = p->kind,
        .name = p->name,
        .uid = p->uid,
        .request = p->request,
        .word = p->word,
        .line = "failed: it was created anew",
        .end = "failed",
        .error = "it was created anew",
    };
    edge_tell(t, p, &told); /* nothing, where it has ended */
}

static void tell(const struct move_turn *t, const struct tracked_head *after)
{
    const struct tracked_shot *s = shot_of(t);
    const struct tracked_head *o = after ? after : s->object;
    const char *line = line_of(t), *step = edge_step_text(t->plan->arena, edge_says(t));
    assert(o);
    bool another = s->object && after && strcmp(after->uid, s->object->uid) != 0;
    if (!line && !step) {
        return;
    }
    const struct edge_told told = {
        .kind = record_type_name(kind_of(t)->type),
        .name = s->name,
        .uid = o->uid,
        .request = o->request + (after ? 0 : t->in->actor != ACTOR_CRM),
        .word = o->operation && *o->operation->word ? o->operation->word : t->row->name,
        .line = line,
        .more = step ? step : more_of(t),
        .end = end_of(t),
        .error = end_of(t) && strcmp(end_of(t), "failed") == 0 && s->object ? error_of(t) : "",
    };
    if (another) {
        end_former(t);
    }
    edge_tell(t, another ? NULL : s->progress, &told);
}

/* ---- What the moves do ----------------------------------------------------------------------- */

static void put_uses(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    struct arena *a = t->plan->arena;
    for (size_t i = 0; i < s->use_count; i++) {
        const struct tracked_use *u = &s->uses[i];
        if (u->stands && !u->wanted) {
            plan_delete(t->plan, u->key, t->row->name, t->in->actor);
        } else if (u->wanted && !u->stands) {
            Board__UseRecord *r = arena_message(a, &board__use_record__descriptor);
            r->referred = tracked_text(u->referred);
            r->referring = tracked_text(s->key);
            plan_put(t->plan, u->key, t->row->name, t->in->actor, &r->base);
        }
    }
}

static void put_dns_name(const struct move_turn *t, const struct tracked_head *after)
{
    const struct tracked_shot *s = shot_of(t);
    struct arena *a = t->plan->arena;
    bool same = s->dns && after && strcmp(s->dns->uid, after->uid) == 0;
    if (!s->dns_name || same) {
        return;
    }
    const char *key = key_dns_name(a, s->dns_name);
    if (after) {
        Board__DnsNameRecord *r = arena_message(a, &board__dns_name_record__descriptor);
        r->dns_name = tracked_text(s->dns_name);
        r->taken_by = tracked_text(s->name);
        r->uid = after->uid;
        plan_put(t->plan, key, t->row->name, t->in->actor, &r->base);
    } else if (s->dns && strcmp(s->dns->taken_by, s->name) == 0) {
        plan_delete(t->plan, key, t->row->name, t->in->actor);
    }
}

static void put_cluster(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    struct arena *a = t->plan->arena;
    if (!s->cluster_after ||
        (s->cluster && message_equal(&s->cluster->base, &s->cluster_after->base))) {
        return;
    }
    if (!s->cluster) { /* made here: by the client who asked, as any other */
        const struct edge_told told = {
            .kind = "clusterinst",
            .name = s->cluster_after->name,
            .uid = s->cluster_after->uid,
            .request = s->cluster_after->request,
            .word = "create",
            .line = arena_printf(a, "create requested: for %s", s->name),
        };
        edge_tell(t, NULL, &told);
        const char *flavor = key_edge(a, RECORD_FLAVOR, s->cluster_after->spec->flavor);
        const char *key = key_edge(a, RECORD_CLUSTERINST, s->cluster_after->name);
        Board__UseRecord *r = arena_message(a, &board__use_record__descriptor);
        r->referred = tracked_text(flavor);
        r->referring = tracked_text(key);
        plan_put(t->plan, key_use(a, flavor, key), t->row->name, t->in->actor, &r->base);
    }
    plan_put(t->plan, key_edge(a, RECORD_CLUSTERINST, s->cluster_after->name), t->row->name,
             t->in->actor, &s->cluster_after->base);
}

static void put_beside(const struct move_turn *t, const struct tracked_head *after)
{
    const struct tracked_shot *s = shot_of(t);
    if (t->row->reads != TRACKED_ALL) {
        return;
    }
    assert(s->refs || t->in->actor == ACTOR_CLIENT);
    put_uses(t);
    put_dns_name(t, after);
    put_cluster(t);
    if (s->refs_after && !message_equal(&s->refs_after->base, &s->refs->base)) {
        plan_put(t->plan, key_edge(t->plan->arena, RECORD_REFS, s->site.name), t->row->name,
                 t->in->actor, &s->refs_after->base);
    }
}

static void remove_it(const struct move_turn *t)
{
    put_beside(t, NULL);
    tell(t, NULL);
    move_delete_subject(t);
}

void tracked_change(const struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    const struct tracked_kind *k = kind_of(t);
    struct arena *a = t->plan->arena;
    if (is_move(t, TRACKED_TRIGGER_DELETE) && t->in->actor == ACTOR_CLIENT && s->dependents.stay) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "%s is used by %s", s->name,
                    stay_text(a, &s->dependents));
        return;
    }
    assert((t->to == TRACKED_NONE) == !s->after);
    if (t->to == TRACKED_NONE) {
        remove_it(t);
        return;
    }
    struct tracked_head *after = arena_copy(a, s->after, s->after->base.descriptor->sizeof_message);
    bool raised = t->in->actor == ACTOR_CLIENT || is_move(t, TRACKED_TRIGGER_UNDO) ||
                  is_move(t, TRACKED_TRIGGER_DELETE);
    after->state = tracked_text(tracked_lifecycle.states[t->to]);
    after->since = t->to == t->from ? after->since : t->in->now.wall_ns;
    after->request += raised;
    after->operation = operation_after(t);
    assert(tracked_is_at_rest(after->state) || after->operation);
    if (t->in->actor == ACTOR_CRM) {
        k->report(after, edge_says(t));
    }
    if (s->object && message_equal(&after->base, &s->object->base) &&
        !edge_step_text(a, edge_says(t))) {
        return;
    }
    put_beside(t, after);
    tell(t, after);
    move_put(t, s->key, t->from, t->to, &after->base);
}

bool tracked_begin(struct move_turn *t)
{
    const struct tracked_shot *s = shot_of(t);
    const struct tracked_head *o = s->object;
    t->record = o ? &o->base : NULL;
    t->from = state_of(o);
    if (s->unreadable) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "%s was written by a later version of the software: ask a bbs of that version",
                    s->name);
        return false;
    }
    if (!o && t->in->actor == ACTOR_CLIENT && t->row->absent == ABSENT_REFUSED) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound, "there is no %s %s",
                    kind_of(t)->noun, s->name);
        return false;
    }
    if (o && t->from < 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "%s is in state %s, which this version does not know", s->name, o->state);
        return false;
    }
    return edge_speaks(&s->site, t, o ? o->uid : NULL, o ? o->request : 0);
}
