/* Services (docs/systems.md, Rolling). Y3: no surge makes more desired than N + S, and no step of a
 * roll leaves fewer than N - U available, but for what was broken before. Y4: a DesiredLRP of a
 * service stands in its service's record, with as many instances. Y9: routes go before instances,
 * by the setting drain. Y12: nothing rolls, and nothing goes, that nobody has confirmed since a
 * restore. Y5: at rest a stable service runs as it is to run, and one that does is stable; and it
 * fails for want of progress only when it came no nearer for so long.
 *
 * An instance counts as available here for 13 s after it was the last time: who decided may not
 * have heard of its end. So a bug that takes the last instances a moment after others fell stays
 * unseen. And one that went counts as one that served if it did so for as long. */
#include "common/model/service_owner.h"
#include "test/sim/checkers/checkers.h"

#include <stdlib.h>
#include <string.h>

#define HEARD_NS (13 * SECOND_NS) /* with the 3 s at most in which it is not ready yet */

static const Board__ServiceRecord *service_of(const struct past *p)
{
    return p ? (const Board__ServiceRecord *)p->message : NULL;
}

static bool is_move(const struct past *p, const char *name)
{
    return p->cause && strcmp(p->cause->move, name) == 0;
}

/* ---- Y3 -------------------------------------------------------------------------------------- */

/* "25%" of so many, or a number; up or down. */
static int64_t part_of(const char *text, const char *preset, int64_t wanted, bool up)
{
    const char *number = text[0] ? text : preset;
    int64_t n = strtoll(number, NULL, 10);
    return strchr(number, '%') ? (wanted * n + (up ? 99 : 0)) / 100 : n;
}

struct bounds {
    int64_t surge, unavailable;
};

static struct bounds bounds_of(const Board__ServiceRecord *s)
{
    struct bounds b = {part_of(s->rolling->max_surge, "25%", s->instances, true),
                       part_of(s->rolling->max_unavailable, "0", s->instances, false)};
    b.surge = b.surge == 0 && b.unavailable == 0 ? 1 : b.surge;
    return b;
}

static int64_t desired_in_all(const Board__ServiceRecord *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->n_revisions; i++) {
        sum += s->revisions[i]->instances;
    }
    return sum;
}

static void check_surge(struct checkers *k, const struct past *p)
{
    const Board__ServiceRecord *s = service_of(p);
    int64_t most = s->instances + bounds_of(s).surge;
    if (desired_in_all(s) > most) {
        checkers_report(k, "Y3", "%s: %lld are desired, %lld may be", p->key,
                        (long long)desired_in_all(s), (long long)most);
    }
}

static bool serves(const struct past *p)
{
    const Models__ActualLRP *r = p ? (const Models__ActualLRP *)p->message : NULL;
    return r && strcmp(r->state, "RUNNING") == 0 && r->routable && !r->stopping;
}

/* An index of a revision serves, or did a moment ago. */
static bool index_serves(struct checkers *k, const char *guid, int32_t index)
{
    SCOPED_ARENA(a);
    int64_t now = world_now(k->cluster->world);
    bool does = false;
    for (int presence = 0; presence < 2; presence++) { /* not SUSPECT */
        const struct past *p =
            history_at(&k->history, key_actual(&a, guid, index, presence), k->history.revision);
        does = does || serves(p);
        for (; p && !does && now - p->at_ns < HEARD_NS; p = p->before) {
            does = serves(p->before);
        }
    }
    return does;
}

/* It served until this revision, and for so long that everybody knew it. */
static bool index_served(struct checkers *k, const char *guid, int32_t index, int64_t revision)
{
    SCOPED_ARENA(a);
    int64_t now = world_now(k->cluster->world), since = now;
    const struct past *p = history_at(&k->history, key_actual(&a, guid, index, 0), revision - 1);
    for (; serves(p); p = p->before) {
        since = p->at_ns;
    }
    return now - since >= HEARD_NS;
}

static const Board__Revision *revision_in(const Board__ServiceRecord *s, const char *hash)
{
    for (size_t i = 0; i < s->n_revisions; i++) {
        if (strcmp(s->revisions[i]->hash, hash) == 0) {
            return s->revisions[i];
        }
    }
    return NULL;
}

/* So many instances of old revisions that served went by this. */
static int64_t taken_by(struct checkers *k, const struct past *p)
{
    const Board__ServiceRecord *s = service_of(p), *was = service_of(p->before);
    int64_t taken = 0;
    for (size_t i = 0; i < was->n_revisions; i++) {
        const Board__Revision *before = was->revisions[i];
        const Board__Revision *after = revision_in(s, before->hash);
        bool is_target = strcmp(before->hash, s->target) == 0;
        for (int32_t n = after ? after->instances : 0; n < before->instances && !is_target; n++) {
            taken += index_served(k, before->process_guid, n, p->revision);
        }
    }
    return taken;
}

static void check_shrink(struct checkers *k, const struct past *p)
{
    const Board__ServiceRecord *s = service_of(p);
    int64_t available = 0, broken = 0, taken = taken_by(k, p);
    for (size_t i = 0; i < s->n_revisions; i++) {
        const Board__Revision *r = s->revisions[i];
        for (int32_t index = 0; index < r->instances; index++) {
            bool does = index_serves(k, r->process_guid, index);
            available += does;
            broken += !does && strcmp(r->hash, s->target) != 0;
        }
    }
    int64_t least = s->instances - bounds_of(s).unavailable - broken;
    if (taken > 0 && available < least) {
        checkers_report(k, "Y3", "%s: a step takes %lld that served, and leaves %lld, not %lld",
                        p->key, (long long)taken, (long long)available, (long long)least);
    }
}

/* ---- Y12 ------------------------------------------------------------------------------------- */

static void note_board_generation(void *context, const struct past *p)
{
    *(const char **)context = ((const Board__BoardGenerationRecord *)p->message)->id;
}

/* The board generation in which somebody confirmed it: a system as a whole. */
static const char *confirmed_in(struct checkers *k, const struct past *p,
                                const Board__ServiceRecord *s)
{
    SCOPED_ARENA(a);
    if (strcmp(s->uid, SERVICE_APPS_UID) == 0) {
        return s->board_generation;
    }
    const struct past *system =
        history_at(&k->history, key_system(&a, s->system), p->revision - 1);
    const Board__SystemRecord *r =
        system ? (const Board__SystemRecord *)system->message : NULL;
    return r && strcmp(r->uid, s->uid) == 0 ? r->board_generation : "";
}

static void check_confirmed(struct checkers *k, const struct past *p)
{
    static const char *const held[] = {"surge", "shrink", "adjust", "retire", "unroute", "remove"};
    const Board__ServiceRecord *was = service_of(p->before);
    const char *in_force = "";
    history_each(&k->history, "epoch/", note_board_generation, &in_force);
    const char *confirmed = confirmed_in(k, p, was);
    for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
        if (is_move(p, held[i]) && strcmp(confirmed, in_force) != 0) {
            checkers_report(k, "Y12", "%s: %s, confirmed in %s and not in %s", p->key, held[i],
                            confirmed, in_force);
        }
    }
}

/* ---- Y5, when it fails ----------------------------------------------------------------------- */

/* The last time that its record said of more instances that they run its target, or serve. */
static int64_t nearer_at_ns(const struct past *p)
{
    int64_t at_ns = 0;
    for (; p && p->message && !at_ns; p = p->before) {
        const Board__ServiceRecord *is = service_of(p), *was = service_of(p->before);
        const Board__Counts *now = is->counts, *then = was ? was->counts : NULL;
        bool nearer = now && is_move(p, "observe") &&
                      (now->updated > (then ? then->updated : 0) ||
                       now->available > (then ? then->available : 0));
        at_ns = nearer ? p->at_ns : 0;
    }
    return at_ns;
}

static void check_failure(struct checkers *k, const struct past *p)
{
    static const char stuck[] = "no progress for ";
    const Board__ServiceRecord *is = service_of(p), *was = service_of(p->before);
    bool fails = strcmp(is->state, "failed") == 0 && strcmp(was->state, "failed") != 0;
    if (!fails || strncmp(is->message, stuck, strlen(stuck)) != 0) {
        return;
    }
    int64_t deadline_ns = strtoll(is->message + strlen(stuck), NULL, 10) * SECOND_NS;
    int64_t at_ns = nearer_at_ns(p->before);
    if (at_ns && p->at_ns - at_ns < deadline_ns) {
        checkers_report(k, "Y5", "%s failed with %s, and came nearer %lld ms ago", p->key,
                        is->message, (long long)((p->at_ns - at_ns) / MILLISECOND_NS));
    }
}

/* ---- Y4, Y9 ---------------------------------------------------------------------------------- */

static const Models__DesiredLRP *desired_past(const struct past *p)
{
    return p ? (const Models__DesiredLRP *)p->message : NULL;
}

static const Board__ServiceRecord *owner_now(struct checkers *k, const Models__DesiredLRP *d)
{
    SCOPED_ARENA(a);
    return d && service_owner_is(d->owner)
               ? (const Board__ServiceRecord *)history_now(&k->history,
                                                           service_owner_key(&a, d->owner))
               : NULL;
}

static void check_revision(struct checkers *k, const struct past *p)
{
    const Models__DesiredLRP *d = desired_past(p);
    const Board__ServiceRecord *s = owner_now(k, d);
    bool stands = !d || !service_owner_is(d->owner);
    for (size_t i = 0; s && i < s->n_revisions; i++) {
        stands = stands || (strcmp(s->revisions[i]->process_guid, d->process_guid) == 0 &&
                            s->revisions[i]->instances == d->instances);
    }
    if (!stands) {
        checkers_report(k, "Y4", "%s is of a service that does not know it", p->key);
    }
}

static void check_routes(struct checkers *k, const struct past *p)
{
    const Models__DesiredLRP *was = desired_past(p->before), *is = desired_past(p);
    const Board__ServiceRecord *s = owner_now(k, was);
    bool fewer = was && (!is || is->instances < was->instances);
    if (s && fewer && strcmp(s->state, "deleting") == 0 && was->routes && was->routes->n_routes) {
        checkers_report(k, "Y9", "%s: its instances go before its routes", p->key);
    }
}

/* When the routes of the service went; 0 = they did not. */
static int64_t unrouted_at_ns(const struct past *p)
{
    int64_t at_ns = 0;
    for (; p && p->message && service_of(p)->unrouted_at; p = p->before) {
        at_ns = p->at_ns;
    }
    return at_ns;
}

/* Routers have the setting drain for it. While that changes, a converger may go by the older one.
 */
static void check_drained(struct checkers *k, const struct past *p)
{
    const struct setting_row *row = setting_row_named("drain");
    const struct past *set = map_get(&k->history.now, "setting/drain");
    int64_t at_ns = unrouted_at_ns(p->before);
    bool changes = set && set->at_ns + 2 * row->most * SECOND_NS > p->at_ns;
    if (at_ns && !changes && p->at_ns - at_ns < k->settings.drain_ns) {
        checkers_report(k, "Y9", "%s: instances go %lld ms after its routes", p->key,
                        (long long)((p->at_ns - at_ns) / MILLISECOND_NS));
    }
}

void check_services(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        const Board__ServiceRecord *is = service_of(one);
        bool service = one->type == RECORD_SERVICE && service_of(one->before);
        if (one->type == RECORD_DESIRED) {
            check_revision(k, one);
            check_routes(k, one);
        }
        if (service) {
            check_confirmed(k, one);
        }
        if (service && is) {
            check_failure(k, one);
        }
        if (service && is && is_move(one, "surge")) {
            check_surge(k, one);
            k->seen[SEEN_SURGES]++;
        } else if (service && is && is_move(one, "shrink") &&
                   strcmp(is->state, "deleting") == 0) {
            check_drained(k, one);
        } else if (service && is && is_move(one, "shrink")) {
            check_shrink(k, one);
            k->seen[SEEN_SHRINKS]++;
        }
    }
}

/* ---- Y5, at rest ----------------------------------------------------------------------------- */

struct services_resting {
    struct checkers *k;
    struct buf *why;
};

static bool runs_as_wanted(struct checkers *k, const Board__ServiceRecord *s)
{
    bool well = true;
    for (size_t i = 0; i < s->n_revisions; i++) {
        const Board__Revision *r = s->revisions[i];
        bool is_target = strcmp(r->hash, s->target) == 0;
        well = well && r->instances == (is_target ? s->instances : 0);
        for (int32_t index = 0; index < r->instances; index++) {
            SCOPED_ARENA(a);
            const char *key = key_actual(&a, r->process_guid, index, 0);
            well = well && serves(history_at(&k->history, key, k->history.revision));
        }
    }
    return well;
}

static void rest_one(void *context, const struct past *p)
{
    struct services_resting *r = context;
    const Board__ServiceRecord *s = service_of(p);
    bool stable = strcmp(s->state, "stable") == 0;
    if (stable != runs_as_wanted(r->k, s)) {
        buf_printf(r->why, "%s is %s, and %s (Y5); ", p->key, s->state,
                   stable ? "does not run as it is to run" : "runs as it is to run");
    }
}

void check_services_rest(struct checkers *k, struct buf *ret_why)
{
    struct services_resting r = {k, ret_why};
    history_each(&k->history, "service/", rest_one, &r);
}
