#include "crm/harmonise.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

static const struct crm_action table[][CRM_HOLDS_COUNT] = {
#define DO(say, work)                                                                              \
    {                                                                                              \
        SAY_##say, WORK_##work                                                                     \
    }
#define HARMONISE(state, nothing, incomplete, complete, other)                                     \
    [TRACKED_##state] = {[HOLDS_NOTHING] = nothing,                                                \
                         [HOLDS_INCOMPLETE] = incomplete,                                          \
                         [HOLDS_COMPLETE] = complete,                                              \
                         [HOLDS_OTHER] = other},
#include "crm/harmonise.def"
#undef DO
};

struct crm_action crm_harmonise(int state, enum crm_holds holds)
{
    assert(state >= 0 && (size_t)state < sizeof(table) / sizeof(table[0]));
    assert(holds < CRM_HOLDS_COUNT);
    return table[state][holds];
}

const char *crm_kind_name(enum crm_kind kind)
{
    return kind == CRM_CLUSTER ? "cluster" : "app instance";
}

const char *crm_say_name(enum crm_say say)
{
    static const char *const names[CRM_SAY_COUNT] = {
        "", "creating", "updating", "deleting", "ready", "deleted", "restored", "report", "fail"};
    return names[say];
}

const char *crm_task_name(enum crm_task work)
{
    assert(work < CRM_TASK_COUNT);
    static const char *const names[CRM_TASK_COUNT] = {"", "make", "replace", "remove"};
    return names[work];
}

/* ---- What is held ---------------------------------------------------------------------------- */

struct planning {
    struct arena *arena;
    const struct crm_plan_input *in;
    const struct crm_record **records; /* by uid */
    const struct crm_held **held;      /* by uid */
    const struct crm_held **by_name;   /* those that have one; by kind, name and uid */
    size_t named_count;
    const struct crm_held **in_clusters; /* app instances, by their cluster's uid, name and uid */
    size_t app_count;
    const struct crm_record **busy_apps; /* that a work is under way of */
    size_t busy_app_count;
    struct crm_plan *plan;
    size_t begun; /* works that run or begin */
};

static int by_record_uid(const void *a, const void *b)
{
    return strcmp((*(const struct crm_record *const *)a)->uid,
                  (*(const struct crm_record *const *)b)->uid);
}

static int by_held_uid(const void *a, const void *b)
{
    const struct crm_held *x = *(const struct crm_held *const *)a;
    const struct crm_held *y = *(const struct crm_held *const *)b;
    int order = strcmp(x->uid, y->uid);
    return order ? order : strcmp(x->digest, y->digest);
}

static int by_name(const void *a, const void *b)
{
    const struct crm_held *x = *(const struct crm_held *const *)a;
    const struct crm_held *y = *(const struct crm_held *const *)b;
    int order = (int)x->kind - (int)y->kind;
    order = order ? order : strcmp(x->name, y->name);
    return order ? order : strcmp(x->uid, y->uid);
}

static int by_cluster(const void *a, const void *b)
{
    const struct crm_held *x = *(const struct crm_held *const *)a;
    const struct crm_held *y = *(const struct crm_held *const *)b;
    int order = strcmp(x->cluster_uid, y->cluster_uid);
    return order ? order : strcmp(x->uid, y->uid);
}

/* Of the sorted ones the first that is not before `like`. */
static size_t first_from(const struct crm_held *const *list, size_t count,
                         const struct crm_held *like, int (*compare)(const void *a, const void *b))
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(&list[middle], &like) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What is looked up for each of thousands. */
static void sort_held(struct planning *p)
{
    size_t count = p->in->held_count;
    p->by_name = ARENA_ARRAY(p->arena, count, const struct crm_held *);
    p->in_clusters = ARENA_ARRAY(p->arena, count, const struct crm_held *);
    for (size_t i = 0; i < count; i++) {
        const struct crm_held *h = &p->in->held[i];
        if (*h->name) {
            p->by_name[p->named_count++] = h;
        }
        if (h->kind == CRM_APP) {
            p->in_clusters[p->app_count++] = h;
        }
    }
    qsort(p->by_name, p->named_count, sizeof(*p->by_name), by_name);
    qsort(p->in_clusters, p->app_count, sizeof(*p->in_clusters), by_cluster);
}

static void sort(struct planning *p)
{
    const struct crm_plan_input *in = p->in;
    p->records = ARENA_ARRAY(p->arena, in->record_count, const struct crm_record *);
    p->held = ARENA_ARRAY(p->arena, in->held_count, const struct crm_held *);
    for (size_t i = 0; i < in->record_count; i++) {
        p->records[i] = &in->records[i];
    }
    for (size_t i = 0; i < in->held_count; i++) {
        p->held[i] = &in->held[i];
    }
    qsort(p->records, in->record_count, sizeof(*p->records), by_record_uid);
    qsort(p->held, in->held_count, sizeof(*p->held), by_held_uid);
    sort_held(p);
}

/* The first that is held of a uid, or of one above it. */
static size_t held_from(const struct planning *p, const char *uid)
{
    size_t low = 0, high = p->in->held_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(p->held[middle]->uid, uid) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_held_at(const struct planning *p, size_t at, const char *uid)
{
    return at < p->in->held_count && strcmp(p->held[at]->uid, uid) == 0;
}

/* NULL = the centre has none of this uid. */
static const struct crm_record *record_of(const struct planning *p, const char *uid)
{
    const struct crm_record like = {.uid = uid}, *key = &like;
    const struct crm_record **found =
        p->in->record_count
            ? bsearch(&key, p->records, p->in->record_count, sizeof(*p->records), by_record_uid)
            : NULL;
    return found ? *found : NULL;
}

static void find_busy_apps(struct planning *p)
{
    p->busy_apps = ARENA_ARRAY(p->arena, p->in->busy_count, const struct crm_record *);
    for (size_t i = 0; i < p->in->busy_count; i++) {
        const struct crm_record *r = record_of(p, p->in->busy[i]);
        if (r && r->kind == CRM_APP) {
            p->busy_apps[p->busy_app_count++] = r;
        }
    }
}

static enum crm_holds holds_of(const struct planning *p, const char *uid, const char *digest,
                               bool ran_before)
{
    bool own = false, whole = false, other = false;
    for (size_t i = held_from(p, uid); is_held_at(p, i, uid); i++) {
        bool is = strcmp(p->held[i]->digest, digest) == 0;
        own = own || is;
        whole = whole || (is && (ran_before || p->held[i]->whole));
        other = other || !is;
    }
    return own ? (whole && !other ? HOLDS_COMPLETE : HOLDS_INCOMPLETE)
               : (other ? HOLDS_OTHER : HOLDS_NOTHING);
}

/* ---- What is done ---------------------------------------------------------------------------- */

static void add(struct planning *p, const struct crm_planned *one)
{
    assert(p->plan->count < p->in->record_count + p->in->held_count);
    p->plan->list[p->plan->count++] = *one;
}

/* That the former values run is told when all of them do, and nothing else stands. */
static struct crm_action action_of(const struct planning *p, const struct crm_record *r)
{
    struct crm_action none = {SAY_NOTHING, WORK_NONE};
    if (r->state == CRM_STATE_FOREIGN) {
        return none;
    }
    bool ready = r->state == TRACKED_READY;
    struct crm_action action = crm_harmonise(r->state, holds_of(p, r->uid, r->digest, ready));
    bool restored = action.say != SAY_RESTORED ||
                    holds_of(p, r->uid, r->former_digest, false) == HOLDS_COMPLETE;
    return restored ? action : none;
}

static const char of_later_version[] = "a CRM of a later version: this one does not know its state";

static void plan_records(struct planning *p)
{
    for (size_t i = 0; i < p->in->record_count; i++) {
        const struct crm_record *r = p->records[i];
        struct crm_action action = action_of(p, r);
        bool foreign = r->state == CRM_STATE_FOREIGN;
        if (action.say != SAY_NOTHING || action.work != WORK_NONE || foreign) {
            add(p, &(struct crm_planned){.kind = r->kind,
                                         .uid = r->uid,
                                         .name = r->name,
                                         .cluster_uid = r->cluster_uid,
                                         .record = r,
                                         .action = action,
                                         .waits_for = foreign ? of_later_version : NULL});
        }
    }
}

static void tell_foreign(struct planning *p, const struct crm_held *h)
{
    if (p->plan->foreign < EDGE_FOREIGN_TOLD_MAX) {
        p->plan->foreign_names[p->plan->foreign] = arena_printf(
            p->arena, "%s %.200s", crm_kind_name(h->kind), *h->name ? h->name : h->uid);
    }
    p->plan->foreign++;
}

static void plan_held(struct planning *p)
{
    bool prunes = p->in->snapshot && p->in->epoch_known;
    for (size_t i = 0; i < p->in->held_count; i++) {
        const struct crm_held *h = p->held[i];
        bool again = i > 0 && strcmp(p->held[i - 1]->uid, h->uid) == 0;
        if (again || record_of(p, h->uid)) {
            continue;
        }
        if (!prunes) {
            if (p->in->snapshot) {
                tell_foreign(p, h);
            }
            continue;
        }
        add(p, &(struct crm_planned){.kind = h->kind,
                                     .uid = h->uid,
                                     .name = h->name,
                                     .cluster_uid = h->cluster_uid,
                                     .action = crm_harmonise(TRACKED_NONE, HOLDS_OTHER)});
    }
}

/* ---- What waits ------------------------------------------------------------------------------ */

static bool is_busy(const struct planning *p, const char *uid)
{
    for (size_t i = 0; i < p->in->busy_count; i++) {
        if (strcmp(p->in->busy[i], uid) == 0) {
            return true;
        }
    }
    return false;
}

static bool comes(const struct crm_planned *one)
{
    return one->action.work == WORK_MAKE || one->action.work == WORK_REPLACE;
}

static bool goes(const struct crm_planned *one)
{
    return one->action.work == WORK_REMOVE;
}

/* 1. A cluster without a record has nothing to come. */
static const char *awaits_cluster(const struct planning *p, const struct crm_planned *one)
{
    const struct crm_record *cluster = record_of(p, one->cluster_uid);
    bool stands = is_held_at(p, held_from(p, one->cluster_uid), one->cluster_uid);
    bool rests = stands && (!cluster || action_of(p, cluster).work == WORK_NONE);
    bool lasts = cluster && cluster->state == TRACKED_READY;
    bool waits = is_busy(p, one->cluster_uid) && !(goes(one) && lasts);
    return !waits && (rests || !comes(one))
               ? NULL
               : arena_printf(p->arena, "cluster %s", cluster ? cluster->name : one->cluster_uid);
}

/* 2 */
static const char *awaits_apps(const struct planning *p, const struct crm_planned *one)
{
    bool empties = goes(one) || one->action.work == WORK_REPLACE;
    const struct crm_held like = {.cluster_uid = one->uid, .uid = ""};
    for (size_t i = first_from(p->in_clusters, p->app_count, &like, by_cluster);
         i < p->app_count && strcmp(p->in_clusters[i]->cluster_uid, one->uid) == 0; i++) {
        const struct crm_held *h = p->in_clusters[i];
        if (empties || is_busy(p, h->uid)) {
            return arena_printf(p->arena, "app instance %s", *h->name ? h->name : h->uid);
        }
    }
    for (size_t i = 0; i < p->busy_app_count; i++) {
        const struct crm_record *r = p->busy_apps[i];
        if (strcmp(r->cluster_uid, one->uid) == 0) {
            return arena_printf(p->arena, "app instance %s", r->name);
        }
    }
    return NULL;
}

/* 3 */
static const char *awaits_former_life(const struct planning *p, const struct crm_planned *one)
{
    const struct crm_held like = {.kind = one->kind, .name = one->name, .uid = ""};
    for (size_t i = first_from(p->by_name, p->named_count, &like, by_name);
         *one->name && i < p->named_count && p->by_name[i]->kind == one->kind &&
         strcmp(p->by_name[i]->name, one->name) == 0;
         i++) {
        if (strcmp(p->by_name[i]->uid, one->uid) != 0) {
            return arena_printf(p->arena, "the end of its former life, %s", p->by_name[i]->uid);
        }
    }
    return NULL;
}

static void make_wait(struct planning *p, struct crm_planned *one)
{
    if (one->action.work == WORK_NONE || is_busy(p, one->uid)) {
        return;
    }
    const char *why = one->kind == CRM_APP ? awaits_cluster(p, one) : awaits_apps(p, one);
    why = why || !comes(one) ? why : awaits_former_life(p, one);
    if (!why && p->begun >= CRM_WORKS_MAX) { /* 4 */
        why = arena_printf(p->arena, "one of %d works to end", CRM_WORKS_MAX);
    }
    p->begun += !why;
    one->waits_for = why;
}

/* On the way up a cluster before what is in it, on the way down after it. */
static int rank(const struct crm_planned *one)
{
    bool cluster = one->kind == CRM_CLUSTER;
    return goes(one) ? (cluster ? 3 : 2) : (cluster ? 0 : 1);
}

static int in_order(const void *a, const void *b)
{
    const struct crm_planned *x = a, *y = b;
    int order = rank(x) - rank(y);
    order = order ? order : strcmp(x->name, y->name);
    return order ? order : strcmp(x->uid, y->uid);
}

void crm_plan(struct arena *a, const struct crm_plan_input *in, struct crm_plan *ret)
{
    struct planning p = {.arena = a, .in = in, .plan = ret, .begun = in->busy_count};
    *ret = (struct crm_plan){0};
    ret->list = ARENA_ARRAY(a, in->record_count + in->held_count, struct crm_planned);
    sort(&p);
    find_busy_apps(&p);
    plan_records(&p);
    plan_held(&p);
    qsort(ret->list, ret->count, sizeof(*ret->list), in_order);
    for (size_t i = 0; i < ret->count; i++) {
        make_wait(&p, &ret->list[i]);
    }
}
