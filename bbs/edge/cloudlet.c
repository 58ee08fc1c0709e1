#include "bbs/edge/edge.h"
#include "bbs/edge/ready.h"
#include "bbs/edge/refs.h"
#include "bbs/edge/said.h"
#include "bbs/setting/in_force.h"
#include "common/base/message.h"
#include "common/base/version.h"
#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/lifecycle/maintenance.h"
#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"

#include <assert.h>
#include <string.h>

enum { READS_OWN, READS_HERE }; /* `reads` of a row */

/* Of one site. Names of those that are in the way are told. */
enum { CLUSTERS_MAX = 256, INSTANCES_MAX = 4096, TOLD_MAX = 3 };

/* What is at the site. */
struct here {
    size_t count, busy, foreign;        /* objects; under way; none of our own idle clusters */
    const char *in_the_way[TOLD_MAX];   /* names of the first foreign ones */
    const char *busy_name, *busy_state; /* of the first one that is busy */
    int64_t busy_since;
};

struct cloudlet_snapshot {
    struct edge_site site;
    const struct edge_times *times; /* in force; read by the moves that begin something */
    const Board__RefsRecord *refs;
    const Board__ProgressRecord *progress;
    struct here here;
};

static const struct cloudlet_snapshot *shot_of(const struct move_turn *t)
{
    return t->snapshot;
}

static const Board__CloudletRecord *now_of(const struct move_turn *t)
{
    return shot_of(t)->site.cloudlet;
}

static const Board__CloudletInfoRecord *info_of(const struct move_turn *t)
{
    return shot_of(t)->site.info;
}

/* Messages are not written to: protobuf-c has no constant strings. */
static char *cloudlet_text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

static char *state_named(int state)
{
    return cloudlet_text(cloudlet_lifecycle.states[state]);
}

/* ---- What is read ---------------------------------------------------------------------------- */

static bool is_at_rest(const char *state)
{
    return strcmp(state, "READY") == 0 || strcmp(state, "CREATE_ERROR") == 0 ||
           strcmp(state, "UPDATE_ERROR") == 0 || strcmp(state, "DELETE_ERROR") == 0;
}

static void count_one(struct here *h, const char *name, const char *state, int64_t since, bool own)
{
    h->count++;
    if (!is_at_rest(state) && !h->busy++) {
        h->busy_name = name;
        h->busy_state = state;
        h->busy_since = since;
    }
    if (!own) {
        if (h->foreign < TOLD_MAX) {
            h->in_the_way[h->foreign] = name;
        }
        h->foreign++;
    }
}

/* That none of them changes, and none comes, is compared. */
static void gather_here(struct view *v, const char *name, struct here *h)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    const char *clusters = key_edge_all(a, RECORD_CLUSTERINST, name);
    const char *instances = key_edge_all(a, RECORD_APPINST, name);
    view_nothing_newer(v, clusters);
    view_nothing_newer(v, instances);
    int count = view_peek_range(v, clusters, CLUSTERS_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)list[i].message;
        count_one(h, c->name, c->state, c->since, c->automatic && !*c->reserved_by);
    }
    count = view_peek_range(v, instances, INSTANCES_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__AppInstRecord *r = (const Board__AppInstRecord *)list[i].message;
        count_one(h, r->name, r->state, r->since, false);
    }
}

static void cloudlet_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct cloudlet_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const char *name = key_edge_name(a, move_key(a, m));
    bool begins = in->actor == ACTOR_CLIENT || strcmp(m->move, "init") == 0 ||
                  strcmp(m->move, "proceed") == 0;
    edge_site_gather(v, in, name, &s->site);
    s->times = begins ? &settings_gather(v)->edge : &SETTINGS_DEFAULT.edge;
    s->refs = view_message(v, key_edge(a, RECORD_REFS, name));
    if (s->site.cloudlet) {
        s->progress = view_message(v, key_progress(a, s->site.cloudlet->uid));
    }
    if (move_row_named(&cloudlet_moves, m->move)->reads == READS_HERE) {
        gather_here(v, name, &s->here);
    }
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static bool is_target(const Board__CloudletRecord *c, const Board__EdgeMove *m)
{
    return !*c->target_version || strcmp(m->version, c->target_version) == 0;
}

static bool has_former(const Board__CloudletRecord *c, const Board__CloudletInfoRecord *i,
                       const Board__EdgeMove *m)
{
    return c->upgrading && i && m->session && m->session == i->former_session;
}

/* Sessions only rise: that of a v2 which failed is kept as the former one. */
static bool is_new_session(const Board__CloudletInfoRecord *i, const Board__EdgeMove *m)
{
    return m->session > (i ? i->session : 0) && m->session > (i ? i->former_session : 0);
}

static bool info_is(const struct move_turn *t, int state)
{
    const Board__CloudletInfoRecord *i = info_of(t);
    return i && lifecycle_state(&cloudlet_info_lifecycle, i->state) == state;
}

static uint32_t crm_guards(const struct move_turn *t)
{
    const Board__CloudletRecord *c = now_of(t);
    const Board__EdgeMove *m = edge_says(t);
    bool site =
        *m->identity && (!*c->identity || strcmp(c->identity, m->identity) == 0 || c->replace_site);
    bool synced = info_is(t, CLOUDLET_INFO_NEED_SYNC) ||
                  (info_is(t, CLOUDLET_INFO_ERRORS) && t->from == CLOUDLET_UPDATE_ERROR);
    return (site ? CLOUDLET_IF_SITE : 0) |
           (is_new_session(info_of(t), m) ? CLOUDLET_IF_NEW_SESSION : 0) |
           (edge_in_session(&shot_of(t)->site, m) ? CLOUDLET_IF_SESSION : 0) |
           (has_former(c, info_of(t), m) ? CLOUDLET_IF_FORMER_SESSION : 0) |
           (is_target(c, m) ? CLOUDLET_IF_TARGET : CLOUDLET_IF_OLD) |
           (synced ? CLOUDLET_IF_SYNCED : 0) | (m->leads_site ? CLOUDLET_IF_LEADS_SITE : 0);
}

static uint32_t found_guards(const Board__EdgeOperation *o)
{
    int found = o ? lifecycle_state(&cloudlet_lifecycle, o->found) : -1;
    return found == CLOUDLET_READY          ? CLOUDLET_IF_FOUND_READY
           : found == CLOUDLET_CREATE_ERROR ? CLOUDLET_IF_FOUND_CREATE_ERROR
           : found == CLOUDLET_UPDATE_ERROR ? CLOUDLET_IF_FOUND_UPDATE_ERROR
                                            : 0;
}

static bool is_normal(const Board__MaintenanceRecord *m)
{
    return !m || lifecycle_state(&maintenance_lifecycle, m->state) == MAINTENANCE_NORMAL_OPERATION;
}

/* Why a site is not upgraded to this version; NULL = it may be. */
static const char *version_fault(const struct move_turn *t)
{
    const Board__CloudletRecord *c = now_of(t);
    const char *version = edge_says(t)->version;
    return edge_version_order(version, c->version) <= 0
               ? arena_printf(t->plan->arena, "version: %s is not above %s, which cloudlet %s runs",
                              version, c->version, c->name)
           : edge_version_order(version, CORKBOARD_VERSION) < 0
               ? arena_printf(t->plan->arena, "version: %s is below the centre's own, %s", version,
                              CORKBOARD_VERSION)
               : NULL;
}

static uint32_t client_guards(const struct move_turn *t)
{
    const Board__EdgeMove *m = edge_says(t);
    const struct here *h = &shot_of(t)->here;
    bool ready = info_is(t, CLOUDLET_INFO_READY);
    bool runs = ready && *m->version && strcmp(info_of(t)->version, m->version) == 0;
    return (info_of(t) ? 0 : CLOUDLET_IF_UNSEEN) | (h->busy == 0 ? CLOUDLET_IF_IDLE : 0) |
           (version_fault(t) ? 0 : CLOUDLET_IF_VERSION_ABOVE) |
           (runs ? CLOUDLET_IF_VERSION_RUNS : 0) |
           (ready && is_normal(shot_of(t)->site.maintenance) ? CLOUDLET_IF_TAKES_CHANGES : 0) |
           (h->foreign == 0 ? CLOUDLET_IF_ONLY_OWN : 0) |
           (edge_ignores_crm(m->override) ? CLOUDLET_IF_IGNORE_CRM : 0);
}

static uint32_t cloudlet_guards(const struct move_turn *t)
{
    const Board__CloudletRecord *c = now_of(t);
    if (!c) {
        return 0;
    }
    return (t->in->actor == ACTOR_CRM ? crm_guards(t) : client_guards(t)) |
           (c->upgrading ? CLOUDLET_IF_UPGRADING : CLOUDLET_IF_SETTLED) |
           (*c->version ? CLOUDLET_IF_WAS_READY : CLOUDLET_IF_NEVER_READY) |
           (t->row->reads == READS_HERE && shot_of(t)->here.count == 0 ? CLOUDLET_IF_NO_DEPENDENTS
                                                                       : 0) |
           (edge_is_overdue(c->operation, t->in->now.wall_ns) ? CLOUDLET_IF_OVERDUE : 0) |
           found_guards(c->operation);
}

/* ---- What refuses ---------------------------------------------------------------------------- */

static const char *in_the_way_text(struct arena *a, const struct here *h)
{
    const char *all = "";
    for (size_t i = 0; i < h->foreign && i < TOLD_MAX; i++) {
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", h->in_the_way[i]);
    }
    return h->foreign > TOLD_MAX ? arena_printf(a, "%s and %zu more", all, h->foreign - TOLD_MAX)
                                 : all;
}

static const char *crm_refused(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__EdgeMove *m = edge_says(t);
    const Board__CloudletInfoRecord *i = info_of(t);
    bool init = strcmp(t->row->name, "init") == 0;
    if (init && !(t->guards & CLOUDLET_IF_SITE)) {
        return arena_printf(a,
                            "cloudlet %s is at another site: `bbs cloudlets update %s "
                            "--replace-site` gives its name to this one",
                            now_of(t)->name, now_of(t)->name);
    }
    if (init ? !(t->guards & CLOUDLET_IF_NEW_SESSION) : !(t->guards & CLOUDLET_IF_SESSION)) {
        return arena_printf(a, "session %llu of cloudlet %s is over: the board's is %llu",
                            (unsigned long long)m->session, now_of(t)->name,
                            (unsigned long long)(i ? i->session : 0));
    }
    if (!(t->guards & CLOUDLET_IF_TARGET)) {
        return arena_printf(a, "cloudlet %s is to run version %s, not %s", now_of(t)->name,
                            now_of(t)->target_version, *m->version ? m->version : "(none)");
    }
    return arena_printf(a, "cloudlet %s is %s: it takes no %s now", now_of(t)->name,
                        now_of(t)->state, t->row->name);
}

static const char *upgrade_refused(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__CloudletRecord *c = now_of(t);
    if (!(t->guards & CLOUDLET_IF_VERSION_ABOVE)) {
        return version_fault(t);
    }
    if (!is_normal(shot_of(t)->site.maintenance)) {
        return arena_printf(a, "cloudlet %s is in maintenance", c->name);
    }
    return arena_printf(a, "cloudlet %s is not ready: its CRM is %s", c->name,
                        info_of(t) ? info_of(t)->state : "not there");
}

static const char *client_refused(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__CloudletRecord *c = now_of(t);
    const struct here *h = &shot_of(t)->here;
    bool upgrade = strcmp(t->row->name, "upgrade") == 0;
    if (strcmp(t->row->name, "create") == 0) {
        return arena_printf(a, "cloudlet %s exists", c->name);
    }
    if (site_goes(&shot_of(t)->site)) {
        return arena_printf(a, "cloudlet %s is being deleted", c->name);
    }
    if (!upgrade && h->foreign) {
        return arena_printf(a, "cloudlet %s is used by %s", c->name, in_the_way_text(a, h));
    }
    if (h->busy) {
        return arena_printf(a, "%s is busy: %s for %s", h->busy_name, h->busy_state,
                            edge_since_text(a, h->busy_since, t->in->now.wall_ns));
    }
    if (upgrade && (t->from == CLOUDLET_READY || t->from == CLOUDLET_UPDATE_ERROR)) {
        return upgrade_refused(t);
    }
    return arena_printf(a, "cloudlet %s is busy: %s for %s", c->name, c->state,
                        edge_since_text(a, c->since, t->in->now.wall_ns));
}

/* The converger judged by an older record: nothing is to be done. */
static void refuse_cloudlet(const struct move_turn *t)
{
    if (t->in->actor != ACTOR_CONVERGER) {
        bool exists = strcmp(t->row->name, "create") == 0;
        plan_refuse(t->plan,
                    exists ? MODELS__ERROR__TYPE__ResourceExists
                           : MODELS__ERROR__TYPE__ResourceConflict,
                    "%s", t->in->actor == ACTOR_CRM ? crm_refused(t) : client_refused(t));
    }
}

/* ---- What the moves do ----------------------------------------------------------------------- */

/* The record after the move, in its new state. */
static Board__CloudletRecord *after_of(const struct move_turn *t)
{
    Board__CloudletRecord *c = arena_copy(t->plan->arena, now_of(t), sizeof(*c));
    c->state = state_named(t->to);
    c->since = t->to == t->from ? c->since : t->in->now.wall_ns;
    assert(t->to != CLOUDLET_NONE && c->uid[0]);
    return c;
}

static void put_after(const struct move_turn *t, const Board__CloudletRecord *c)
{
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &c->base);
}

static void tell(const struct move_turn *t, const Board__CloudletRecord *c, const char *line,
                 const char *end, const char *error)
{
    const struct edge_told told = {
        .kind = "cloudlet",
        .name = c->name,
        .uid = c->uid,
        .request = c->request,
        .word = c->operation ? c->operation->word : t->row->name,
        .line = line,
        .end = end,
        .error = error,
    };
    edge_tell(t, shot_of(t)->progress, &told);
}

/* What the CRM says of itself, after this trigger of its own lifecycle. */
static Board__CloudletInfoRecord *info_after(const struct move_turn *t, int trigger,
                                             uint32_t guards)
{
    struct arena *a = t->plan->arena;
    const Board__CloudletInfoRecord *before = info_of(t);
    const Board__EdgeMove *m = edge_says(t);
    int from =
        before ? lifecycle_state(&cloudlet_info_lifecycle, before->state) : CLOUDLET_INFO_NONE;
    int to = lifecycle_transition(&cloudlet_info_lifecycle, from, t->in->actor, trigger, guards);
    if (to < 0) {
        return NULL;
    }
    Board__CloudletInfoRecord *i = arena_message(a, &board__cloudlet_info_record__descriptor);
    if (before) {
        *i = *before;
    }
    i->name = now_of(t)->name;
    i->uid = now_of(t)->uid;
    i->state = cloudlet_text(cloudlet_info_lifecycle.states[to]);
    i->since = t->in->now.wall_ns;
    i->n_errors = m->n_errors;
    i->errors = m->errors;
    if (m->totals) {
        i->totals = m->totals;
        i->cells = m->cells;
    }
    i->foreign_objects = m->foreign_objects;
    i->n_foreign = m->n_foreign;
    i->foreign = m->foreign;
    return i;
}

static void put_info(const struct move_turn *t, const Board__CloudletInfoRecord *i)
{
    plan_put(t->plan, key_edge(t->plan->arena, RECORD_CLOUDLETINFO, now_of(t)->name), t->row->name,
             t->in->actor, &i->base);
}

static Board__CloudletSpec *spec_of(struct arena *a, const Board__CloudletSpec *said)
{
    Board__CloudletSpec *spec = arena_copy(a, said, sizeof(*spec));
    spec->alert_percent = spec->alert_percent ? spec->alert_percent : ALERT_PERCENT;
    return spec;
}

static void create_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    int64_t now = t->in->now.wall_ns;
    const char *name = shot_of(t)->site.name;
    assert(!now_of(t) && edge_says(t)->cloudlet);
    char *uid = arena_alloc(a, GUID_BYTES);
    random_guid(t->in->random, uid);
    Board__CloudletRecord *c = arena_message(a, &board__cloudlet_record__descriptor);
    c->name = cloudlet_text(name);
    c->uid = uid;
    c->state = state_named(t->to);
    c->since = c->created_at = now;
    c->request = 1;
    c->operation = edge_operation(a, "create", 0, "", now, shot_of(t)->times->cloudlet_create_ns);
    c->spec = spec_of(a, edge_says(t)->cloudlet);
    c->target_version = edge_says(t)->version;
    Board__MaintenanceRecord *m = arena_message(a, &board__maintenance_record__descriptor);
    m->name = cloudlet_text(name);
    m->uid = uid;
    m->state = cloudlet_text(maintenance_lifecycle.states[lifecycle_transition(
        &maintenance_lifecycle, MAINTENANCE_NONE, t->in->actor, MAINTENANCE_TRIGGER_CREATE, 0)]);
    m->since = now;
    Board__RefsRecord *refs = arena_message(a, &board__refs_record__descriptor);
    refs->cloudlet = cloudlet_text(name);
    refs->used = arena_message(a, &board__edge_resources__descriptor);
    plan_put(t->plan, key_edge(a, RECORD_MAINTENANCE, name), "create", t->in->actor, &m->base);
    plan_put(t->plan, key_edge(a, RECORD_REFS, name), "create", t->in->actor, &refs->base);
    tell(t, c, arena_printf(a, "create requested: waits for the CRM of %s", name), NULL, NULL);
    put_after(t, c);
}

static void update_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    Board__CloudletRecord *c = after_of(t);
    const Board__EdgeMove *m = edge_says(t);
    if (m->cloudlet) {
        c->spec = spec_of(a, m->cloudlet);
    }
    c->replace_site = c->replace_site || m->replace_site;
    if (m->force) { /* the site may let go of what the board does not know any more */
        c->confirmed_generation = cloudlet_text(shot_of(t)->site.by.board_generation);
    }
    if (!message_equal(&c->base, &now_of(t)->base)) {
        put_after(t, c);
    }
}

static void upgrade_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    Board__CloudletRecord *c = after_of(t);
    c->target_version = edge_says(t)->version;
    c->request++;
    if (t->to == CLOUDLET_READY) { /* the version that runs is the one to keep */
        c->version = c->target_version;
        c->upgrading = false;
        c->operation = NULL;
        tell(t, c, arena_printf(a, "version %s is kept", c->version), "ready", NULL);
    } else {
        c->upgrading = true;
        c->operation = edge_operation(a, "upgrade", edge_says(t)->override, now_of(t)->state,
                                      t->in->now.wall_ns, shot_of(t)->times->upgrade_ns);
        tell(t, c,
             arena_printf(a, "upgrade requested: from %s to %s", c->version, c->target_version),
             NULL, NULL);
    }
    put_after(t, c);
}

static void remove_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const char *name = now_of(t)->name;
    if (info_of(t)) {
        plan_delete(t->plan, key_edge(a, RECORD_CLOUDLETINFO, name), t->row->name, t->in->actor);
    }
    if (shot_of(t)->site.maintenance) {
        plan_delete(t->plan, key_edge(a, RECORD_MAINTENANCE, name), t->row->name, t->in->actor);
    }
    if (shot_of(t)->refs) {
        plan_delete(t->plan, key_edge(a, RECORD_REFS, name), t->row->name, t->in->actor);
    }
    tell(t, now_of(t), "deleted", "deleted", NULL);
    move_delete_subject(t);
}

static void delete_cloudlet(const struct move_turn *t)
{
    if (t->to == CLOUDLET_NONE) {
        remove_cloudlet(t);
        return;
    }
    Board__CloudletRecord *c = after_of(t);
    c->request++;
    c->upgrading = false;
    c->operation =
        edge_operation(t->plan->arena, "delete", edge_says(t)->override, now_of(t)->state,
                       t->in->now.wall_ns, shot_of(t)->times->delete_prepare_ns);
    tell(t, c, "delete requested", NULL, NULL);
    put_after(t, c);
}

/* A session begins. In an upgrade v1's is kept: it may yet say that v2 did not come up. */
static void init_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__EdgeMove *m = edge_says(t);
    const Board__CloudletInfoRecord *before = info_of(t);
    Board__CloudletRecord *c = after_of(t);
    Board__CloudletInfoRecord *i =
        info_after(t, CLOUDLET_INFO_TRIGGER_INIT, CLOUDLET_INFO_IF_NEW_SESSION);
    assert(i);
    c->identity = m->identity;
    c->replace_site = false;
    if (!c->upgrading && t->to == CLOUDLET_CRM_INITOK && *c->target_version &&
        edge_version_order(m->version, c->target_version) > 0) {
        c->target_version = m->version; /* an upgrade by hand */
    }
    bool takes_over = t->to == CLOUDLET_CRM_INITOK && t->from != CLOUDLET_CRM_INITOK &&
                      (c->upgrading || t->from == CLOUDLET_UPDATE_ERROR);
    if (t->from == CLOUDLET_UPDATE_ERROR && t->to == CLOUDLET_CRM_INITOK) { /* repaired by hand */
        c->request++; /* another operation than the one that failed */
        c->upgrading = true;
        c->operation = edge_operation(a, "upgrade", 0, now_of(t)->state, t->in->now.wall_ns,
                                      shot_of(t)->times->upgrade_ns);
    } else {
        c->operation = edge_operation_again(a, c->operation, t->in->now.wall_ns);
    }
    i->identity = m->identity;
    if (takes_over && before) {
        i->former_session = before->session;
        i->former_version = before->version;
    } else if (!c->upgrading) {
        i->former_session = 0;
        i->former_version = cloudlet_text("");
    }
    assert(m->session > i->former_session);
    i->session = m->session;
    i->version = m->version;
    put_info(t, i);
    tell(t, c,
         arena_printf(a, "the CRM of version %s has come", *m->version ? m->version : "(none)"),
         NULL, NULL);
    put_after(t, c);
}

static void ready_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__EdgeMove *m = edge_says(t);
    Board__CloudletInfoRecord *i =
        info_after(t, CLOUDLET_INFO_TRIGGER_READY, CLOUDLET_INFO_IF_SESSION);
    assert(i); /* the guard `synced` */
    put_info(t, i);
    if (t->to == CLOUDLET_UPDATE_ERROR) { /* v1 goes on, and nothing else is repaired by that */
        return;
    }
    Board__CloudletRecord *c = after_of(t);
    i->former_session = 0;
    i->former_version = cloudlet_text("");
    tell(t, c, arena_printf(a, "ready: version %s", *m->version ? m->version : "(none)"), "ready",
         NULL);
    c->version = *m->version ? m->version : cloudlet_text("0");
    c->target_version = c->version;
    c->upgrading = false;
    c->operation = NULL;
    put_after(t, c);
}

/* The site has begun: what the CRM is at is told by its info too, in an upgrade. */
static void upgrading_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    Board__CloudletRecord *c = after_of(t);
    Board__CloudletInfoRecord *i =
        info_after(t, CLOUDLET_INFO_TRIGGER_UPGRADE, CLOUDLET_INFO_IF_SESSION);
    if (i) { /* one that is not READY yet stays as it is */
        put_info(t, i);
    }
    c->operation = edge_operation_again(a, c->operation, t->in->now.wall_ns);
    tell(t, c, arena_printf(a, "%s has begun to start version %s", c->name, c->target_version),
         NULL, NULL);
    put_after(t, c);
}

static void deleting_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    Board__CloudletRecord *c = after_of(t);
    c->operation = edge_operation_again(a, c->operation, t->in->now.wall_ns);
    tell(t, c, arena_printf(a, "%s has begun", c->name), NULL, NULL);
    put_after(t, c);
}

static void deleted_cloudlet(const struct move_turn *t)
{
    remove_cloudlet(t);
}

static void fail_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__EdgeMove *m = edge_says(t);
    const char *error = *m->error ? m->error : "its CRM does not say why";
    Board__CloudletRecord *c = after_of(t);
    Board__CloudletInfoRecord *i =
        info_after(t, CLOUDLET_INFO_TRIGGER_FAIL, CLOUDLET_INFO_IF_SESSION);
    if (i && !edge_in_session(&shot_of(t)->site, m)) { /* v1's session is the present one again */
        uint64_t failed = i->session;
        assert(i->former_session && i->former_session < failed);
        i->session = i->former_session;
        i->version = i->former_version;
        i->former_session = failed; /* so that the next one is above it */
        i->former_version = cloudlet_text("");
    }
    if (i) {
        put_info(t, i);
    }
    c->upgrading = false;
    c->operation = edge_operation_failed(a, c->operation, error);
    tell(t, c, arena_printf(a, "failed: %s", error), "failed", error);
    put_after(t, c);
}

static void proceed_cloudlet(const struct move_turn *t)
{
    Board__CloudletRecord *c = after_of(t);
    if (c->operation) { /* the site has its own time for it */
        c->operation = arena_copy(t->plan->arena, c->operation, sizeof(*c->operation));
        c->operation->limit_ns = shot_of(t)->times->cloudlet_delete_ns;
    }
    c->operation = edge_operation_again(t->plan->arena, c->operation, t->in->now.wall_ns);
    tell(t, c, "nothing is there any more: the site is to let go", NULL, NULL);
    put_after(t, c);
}

/* The delete comes to nothing: the cloudlet is as the delete found it, and says why. */
static void back_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    Board__CloudletRecord *c = after_of(t);
    const char *error = *edge_says(t)->error ? edge_says(t)->error
                        : c->operation       ? c->operation->error
                                             : "";
    c->operation = edge_operation_failed(a, c->operation, error);
    tell(t, c, arena_printf(a, "undone: %s", *error ? error : "the delete failed"), "failed",
         error);
    put_after(t, c);
}

static void expire_cloudlet(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    Board__CloudletRecord *c = after_of(t);
    const char *text = edge_overdue_text(a, c->operation);
    if (t->to == t->from) { /* the site has begun: neither done nor failed */
        c->operation = arena_copy(a, c->operation, sizeof(*c->operation));
        c->operation->overdue = true;
        c->operation->deadline = 0;
        tell(t, c, arena_printf(a, "%s: the operation goes on", text), NULL, NULL);
    } else {
        c->upgrading = false;
        c->operation = edge_operation_failed(a, c->operation, text);
        tell(t, c, arena_printf(a, "failed: %s", text), "failed", text);
    }
    put_after(t, c);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What a CRM says is about one request: what it said of an upgrade or delete before comes late.
 * `init` is about none: a session is above all others. */
static bool answers_request(const struct move_turn *t, const Board__CloudletRecord *c)
{
    const Board__EdgeMove *m = edge_says(t);
    if (t->in->actor != ACTOR_CRM || strcmp(t->row->name, "init") == 0 ||
        m->request == c->request) {
        return true;
    }
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                "request %llu of cloudlet %s is over: the board's is %llu",
                (unsigned long long)m->request, c->name, (unsigned long long)c->request);
    return false;
}

static bool cloudlet_begin(struct move_turn *t)
{
    const Board__CloudletRecord *c = now_of(t);
    t->record = c ? &c->base : NULL;
    t->from = c ? lifecycle_state(&cloudlet_lifecycle, c->state) : CLOUDLET_NONE;
    if (c && t->from < 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "cloudlet %s is in state %s, which this version does not know", c->name,
                    c->state);
        return false;
    }
    if (!c && t->in->actor == ACTOR_CLIENT && t->row->absent == ABSENT_REFUSED) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound, "there is no cloudlet %s",
                    shot_of(t)->site.name);
        return false;
    }
    bool goes = t->in->actor == ACTOR_CRM && !c && t->row->absent == ABSENT_NOTHING;
    return !goes && edge_speaks(&shot_of(t)->site, t, c ? c->uid : NULL, c ? c->request : 0) &&
           (!c || answers_request(t, c));
}

static void valid_site_spec(struct validation *v, const Board__CloudletSpec *s)
{
    if (s->latitude == 0 && s->longitude == 0) {
        say(v, "location: 0,0 is none: say latitude and longitude");
    }
    if (!(s->latitude >= -90 && s->latitude <= 90)) {
        say(v, "latitude: from -90 to 90");
    }
    if (!(s->longitude >= -180 && s->longitude <= 180)) {
        say(v, "longitude: from -180 to 180");
    }
    if (s->alert_percent > 100) {
        say(v, "alert_percent: from 1 to 100");
    }
    if (s->quota &&
        (s->quota->memory_mb < 0 || s->quota->disk_mb < 0 || s->quota->containers < 0)) {
        say(v, "quota: not below 0");
    }
}

static void valid_cloudlet(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    const Board__EdgeMove *m = move_edge(move);
    const char *fault = edge_name_fault(&a, RECORD_CLOUDLET, key_edge_name(&a, move_key(&a, move)));
    if (fault) {
        say(v, fault);
    }
    edge_valid(v, move);
    bool create = strcmp(move->move, "create") == 0, update = strcmp(move->move, "update") == 0;
    if (create && !m->cloudlet) {
        say(v, "location: say latitude and longitude");
    } else if (m->cloudlet) {
        valid_site_spec(v, m->cloudlet);
    }
    if (update && !m->cloudlet && !m->replace_site && !m->force) {
        say(v, "update: nothing is said that could change");
    }
    if (strcmp(move->move, "upgrade") == 0 && !*m->version) {
        say(v, "version: which one?");
    }
}

static void cloudlet_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&cloudlet_moves, snapshot, in, p);
}

static const struct op_row cloudlet_op = {
    .name = "move of a cloudlet",
    .target = move_subject_key,
    .gather = cloudlet_gather,
    .decide = cloudlet_decide,
    .snapshot_size = sizeof(struct cloudlet_snapshot),
};

#define MOVE_ROW(move, absents, what, decides)                                                     \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_cloudlet,                                                                   \
        .reads = READS_##what,                                                                     \
        .absent = ABSENT_##absents,                                                                \
        .guards = cloudlet_guards,                                                                 \
        .refuse = refuse_cloudlet,                                                                 \
        .decide = decides##_cloudlet,                                                              \
        .op = &cloudlet_op,                                                                        \
        .op_of_rep = &cloudlet_op,                                                                 \
    },
static const struct move_row rows[] = {
#include "bbs/edge/moves_cloudlet.def"
};

const struct move_family cloudlet_moves = {
    .lifecycle = &cloudlet_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = cloudlet_begin,
};
