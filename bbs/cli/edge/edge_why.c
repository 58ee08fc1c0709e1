#include "bbs/cli/edge/edge_why.h"

#include "bbs/edge/ready.h"
#include "bbs/edge/refs.h"
#include "common/cli/printable.h"
#include "common/cli/table.h"
#include "common/model/edge_name.h"

#include <string.h>

/* What is asked about, and where its sentences go. */
struct edge_question {
    struct arena *arena;
    const struct edge_board *board;
    const struct edge_thing *thing;
    const char *cloudlet;
    const char *group; /* of the command that changes it */
    const char *retry; /* its verb and options that try an update again; NULL = none does */
    struct buf *out;
};

static void tell(const struct edge_question *q, const char *text)
{
    buf_append_string(q->out, "  ");
    printable_append(q->out, text);
    buf_append_string(q->out, "\n");
}

static const char *ago(const struct edge_question *q, int64_t since)
{
    return age_text(q->arena, q->board->now_ns - since);
}

static bool is(const char *state, const char *word)
{
    return strcmp(state, word) == 0;
}

static const char *error_of(const struct edge_thing *t)
{
    return t->operation && *t->operation->error ? t->operation->error : "nobody says why";
}

/* ---- Whose turn it is ------------------------------------------------------------------------ */

/* What a state waits for; %s is the cloudlet. */
static const struct edge_turn {
    const char *state, *who;
} turns[] = {
    {"CREATING_DEPENDENCIES", "a cluster is made for it first; the converger goes on when that is "
                              "READY"},
    {"CREATE_REQUESTED", "the crm of %s is to begin"},
    {"UPDATE_REQUESTED", "the crm of %s is to begin"},
    {"DELETE_REQUESTED", "the crm of %s is to begin"},
    {"CREATING", "the crm of %s makes it"},
    {"UPDATING", "the crm of %s changes it"},
    {"DELETING", "the crm of %s removes it"},
    {"DELETE_PREPARE", "what depends on it goes first; the converger goes on when nothing does"},
};

/* The same of a cloudlet, where the names of the states mean other things. */
static const struct edge_turn cloudlet_turns[] = {
    {"CREATING",
     "no crm of %s has come yet: install it at the site (docs/edge.md, The program crm)"},
    {"CRM_INITOK", "the crm of %s has come, and compares its site with what the centre says"},
    {"UPDATE_REQUESTED", "the crm of %s that runs is to start the other version"},
    {"UPDATING", "the other version of the crm of %s is to come"},
    {"DELETE_PREPARE", "what is at %s goes first; the converger goes on when nothing is there"},
    {"DELETE_REQUESTED", "the crm of %s is to begin"},
    {"DELETING", "the crm of %s lets go of what its site holds"},
};

static void tell_turn(const struct edge_question *q, const struct edge_turn *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(rows[i].who, "%s");
        if (is(q->thing->state, rows[i].state)) {
            tell(q, at ? arena_printf(q->arena, "%.*s%s%s", (int)(at - rows[i].who), rows[i].who,
                                      q->cloudlet, at + 2)
                       : rows[i].who);
        }
    }
}

/* What failed, who takes it back, and what a user may do. */
static void tell_error(const struct edge_question *q)
{
    const struct edge_thing *t = q->thing;
    if (is(t->state, "CREATE_ERROR")) {
        tell(q, arena_printf(q->arena, "it could not be made: %s", error_of(t)));
        tell(q, "the converger removes what is left of it, and the record");
    } else if (is(t->state, "UPDATE_ERROR")) {
        bool restored = t->operation && t->operation->restored;
        tell(q, arena_printf(q->arena, "it could not be changed: %s", error_of(t)));
        tell(q, restored
                    ? "its site says that what it was before runs; the converger puts that back"
                    : arena_printf(q->arena,
                                   "the new values stand, and what runs is not known; bbs %s "
                                   "%s tries again, bbs %s rm %s deletes it",
                                   q->group, q->retry, q->group, t->name));
    } else if (is(t->state, "DELETE_ERROR")) {
        tell(q, arena_printf(q->arena, "it could not be removed: %s", error_of(t)));
        tell(q, arena_printf(q->arena, "the converger puts back %s; bbs %s rm %s tries again",
                             t->operation && *t->operation->found ? t->operation->found : "READY",
                             q->group, t->name));
    } else if (is(t->state, "READY") && t->operation && *t->operation->error) {
        tell(q, arena_printf(q->arena, "the last %s came to nothing: %s",
                             *t->operation->word ? t->operation->word : "operation",
                             t->operation->error));
    }
}

/* ---- Until when ------------------------------------------------------------------------------ */

static void tell_deadline(const struct edge_question *q)
{
    const Board__EdgeOperation *o = q->thing->operation;
    if (o && o->overdue) {
        tell(q, arena_printf(q->arena,
                             "no end within %s: it is neither done nor failed, and goes "
                             "on; --override ignore-transient takes it over",
                             age_text(q->arena, o->limit_ns)));
    } else if (o && o->deadline > q->board->now_ns) {
        tell(q, arena_printf(q->arena, "its time is over in %s, of %s",
                             age_text(q->arena, o->deadline - q->board->now_ns),
                             age_text(q->arena, o->limit_ns)));
    } else if (o && o->deadline) {
        tell(q, arena_printf(q->arena, "its time has been over for %s; the converger is to say so",
                             ago(q, o->deadline)));
    }
}

static void tell_progress(const struct edge_question *q, const Board__ProgressRecord *p)
{
    if (p && p->n_lines && !*p->end) {
        const Board__ProgressLine *last = p->lines[p->n_lines - 1];
        tell(q, arena_printf(q->arena, "what was told last, %s ago: %s", ago(q, last->at),
                             last->text));
    }
}

/* ---- The site -------------------------------------------------------------------------------- */

static void tell_site(const struct edge_question *q)
{
    const struct edge_board *b = q->board;
    const Board__CloudletInfoRecord *info = edge_info_of(b, q->cloudlet);
    struct edge_site site = {
        .name = q->cloudlet, .info = info, .maintenance = edge_maintenance_of(b, q->cloudlet)};
    for (size_t i = 0; b->cloudlets && i < b->cloudlets->n_cloudlets; i++) {
        if (is(b->cloudlets->cloudlets[i]->name, q->cloudlet)) {
            site.cloudlet = b->cloudlets->cloudlets[i];
        }
    }
    if (info && is(info->state, "OFFLINE")) {
        tell(q, arena_printf(q->arena,
                             "%s is OFFLINE for %s: the site goes on with what it was "
                             "told, and answers when it is back",
                             q->cloudlet, ago(q, info->since)));
    }
    const char *refuses = site_refuses(q->arena, &site, b->now_ns);
    if (refuses) {
        tell(q, arena_printf(q->arena, "changes there are refused: %s", refuses));
    }
}

static void tell_maintenance(const struct edge_question *q)
{
    const Board__MaintenanceRecord *m = edge_maintenance_of(q->board, q->cloudlet);
    if (!m || is(m->state, "NORMAL_OPERATION")) {
        return;
    }
    bool ends = is(m->state, "NORMAL_OPERATION_INIT");
    const char *what =
        ends ? "its crm is to say that it is over"
             : arena_printf(q->arena, "bbs cloudlets maintain %s end ends it", q->cloudlet);
    tell(q, arena_printf(q->arena, "maintenance: %s for %s%s%s; %s", m->state, ago(q, m->since),
                         *m->error ? ", " : "", m->error, what));
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void tell_head(const struct edge_question *q)
{
    const struct edge_thing *t = q->thing;
    printable_append(q->out, arena_printf(q->arena, "%s %s is %s for %s", t->noun, t->name,
                                          t->state, ago(q, t->since)));
    buf_append_string(q->out, "\n");
}

void edge_why_cloudlet(struct arena *a, const struct edge_board *b, const Board__CloudletRecord *c,
                       const Board__ProgressRecord *progress, struct buf *out)
{
    const struct edge_thing thing = edge_thing_of_cloudlet(c);
    const struct edge_question q = {a, b, &thing, c->name, "cloudlets", NULL, out};
    const Board__CloudletInfoRecord *info = edge_info_of(b, c->name);
    tell_head(&q);
    tell_turn(&q, cloudlet_turns, sizeof(cloudlet_turns) / sizeof(cloudlet_turns[0]));
    if (is(c->state, "UPDATE_ERROR")) {
        tell(&q, arena_printf(a, "its upgrade failed: %s", error_of(&thing)));
        tell(&q, arena_printf(a,
                              "start its crm of version %s by hand, or bbs cloudlets upgrade %s "
                              "%s keeps the one that runs",
                              c->target_version, c->name, *c->version ? c->version : "VERSION"));
    } else if (is(c->state, "CREATE_ERROR")) {
        tell(&q, arena_printf(a, "it never was ready: %s", error_of(&thing)));
        tell(&q, "a crm that comes and gets ready mends it");
    } else {
        tell_error(&q);
    }
    tell_deadline(&q);
    tell_progress(&q, progress);
    tell_maintenance(&q);
    for (size_t i = 0; info && i < info->n_errors; i++) {
        tell(&q, arena_printf(a, "its crm says: %s", info->errors[i]));
    }
    const Board__RefsRecord *refs = edge_refs_of(b, c->name);
    const char *alert =
        refs ? refs_alert(a, c->name, NULL, refs, c->spec, info ? info->totals : NULL) : NULL;
    if (alert) {
        tell(&q, alert);
    }
    if (info && info->foreign_objects) {
        const char *first = "";
        for (size_t i = 0; i < info->n_foreign; i++) {
            first = arena_printf(a, "%s%s%s", first, i ? ", " : " (", info->foreign[i]);
        }
        bool more = info->n_foreign < info->foreign_objects;
        first = !*first ? "" : arena_printf(a, "%s%s)", first, more ? " and more" : "");
        tell(&q, arena_printf(a,
                              "its site holds %u objects%s that the centre does not know: bbs "
                              "cloudlets confirm %s lets it remove them",
                              info->foreign_objects, first, c->name));
    }
    tell_site(&q);
}

/* Of what has its operations at a site. */
static void tell_tracked(const struct edge_question *q, const Board__ProgressRecord *progress)
{
    tell_head(q);
    tell_turn(q, turns, sizeof(turns) / sizeof(turns[0]));
    tell_error(q);
    tell_deadline(q);
    tell_progress(q, progress);
}

void edge_why_cluster(struct arena *a, const struct edge_board *b,
                      const Board__ClusterInstRecord *c, const Board__ProgressRecord *progress,
                      struct buf *out)
{
    const struct edge_thing thing = edge_thing_of_cluster(c);
    const struct edge_question q = {
        a,          b,
        &thing,     edge_cloudlet_of(a, c->name),
        "clusters", arena_printf(a, "update %s --nodes %u", c->name, c->spec ? c->spec->nodes : 1),
        out};
    tell_tracked(&q, progress);
    if (*c->reserved_by) {
        tell(&q, arena_printf(a, "it is reserved by %s", c->reserved_by));
    }
    tell_site(&q);
}

/* Its cluster, where that is not READY: nothing of the instance changes beside it. */
static void tell_cluster(const struct edge_question *q, const Board__AppInstRecord *i)
{
    const char *name = edge_real_cluster(q->arena, i);
    for (size_t k = 0; q->board->clusters && k < q->board->clusters->n_clusters; k++) {
        const Board__ClusterInstRecord *c = q->board->clusters->clusters[k];
        if (is(c->name, name) && !is(c->state, "READY")) {
            tell(q, arena_printf(q->arena, "its cluster %s is %s for %s: bbs clusters why %s",
                                 c->name, c->state, ago(q, c->since), c->name));
        }
    }
}

void edge_why_instance(struct arena *a, const struct edge_board *b, const Board__AppInstRecord *i,
                       const Board__ProgressRecord *progress, struct buf *out)
{
    const struct edge_thing thing = edge_thing_of_instance(i);
    const struct edge_question q = {
        a,
        b,
        &thing,
        edge_cloudlet_of(a, i->name),
        "appinsts",
        arena_printf(a, "update %s --flavor %s", i->name, i->spec ? i->spec->flavor : "FLAVOR"),
        out};
    tell_tracked(&q, progress);
    tell_cluster(&q, i);
    if (is(i->state, "READY") && is(edge_instance_health(b, i), "SERVER_FAIL")) {
        tell(&q, arena_printf(a,
                              "%u of %u instances run: its site repairs them, and bbs why there "
                              "says what holds them",
                              i->reported->running, i->spec ? i->spec->instances : 0));
    }
    tell_site(&q);
}
