#include "test/sim/checkers/events.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/checkers/event_frames.h"

enum {
    ORDINARY = MODELS__ACTUAL_LRP__PRESENCE__ORDINARY,
    EVACUATING = MODELS__ACTUAL_LRP__PRESENCE__EVACUATING,
    SUSPECT = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT,
    PRESENCES = SUSPECT + 1,
};

/* In which order the events of one change are told (16.3). */
enum priority { FIRST_OF_ALL, A_CRASH, SHOWS_RUNNING, THE_REST, PRIORITIES };

enum { OF_AN_INDEX_MAX = 12 };

/* An index before and after one revision. */
struct index_change {
    const Models__ActualLRP *was[PRESENCES], *is[PRESENCES]; /* as clients see them */
    bool crash;                                  /* the ORDINARY record's instance crashed */
    const char *trace_id; /* of the request that clients are told; "" = none */
    const char *subject;
};

/* What a revision makes, while it is put together. */
struct draft {
    struct arena *arena;
    const char *subject;
    struct told_event *list;
    size_t count, capacity;
    enum priority priorities[OF_AN_INDEX_MAX]; /* of those since `first` */
    size_t first;
};

static void add(struct draft *d, enum priority priority, const char *text, const char *cell,
                const char *other_cell)
{
    if (d->count == d->capacity) {
        struct told_event *old = d->list;
        d->capacity = d->capacity ? 2 * d->capacity : 8;
        d->list = ARENA_ARRAY(d->arena, d->capacity, struct told_event);
        for (size_t i = 0; i < d->count; i++) {
            d->list[i] = old[i];
        }
    }
    if (d->count - d->first < OF_AN_INDEX_MAX) {
        d->priorities[d->count - d->first] = priority;
    }
    d->list[d->count++] = (struct told_event){
        .text = text, .subject = d->subject, .cells = {cell, other_cell}, .of_all_cells = !cell};
}

/* Those of one index, by priority, each priority in the order in which they were added. */
static void in_order(struct draft *d)
{
    struct told_event sorted[OF_AN_INDEX_MAX];
    size_t count = 0, size = d->count - d->first;
    for (int p = 0; p < PRIORITIES; p++) {
        for (size_t i = 0; i < size; i++) {
            if (d->priorities[i] == (enum priority)p) {
                sorted[count++] = d->list[d->first + i];
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        d->list[d->first + i] = sorted[i];
    }
    d->first = d->count;
}

/* ---- what is seen of records ---- */

/* Own fields are none of a client's business (design.md 2). */
static Models__ActualLRP *seen(struct arena *a, const struct past *p)
{
    if (!p || !p->message) {
        return NULL;
    }
    Models__ActualLRP *r = ARENA_NEW(a, Models__ActualLRP);
    *r = *(const Models__ActualLRP *)p->message;
    r->stopping = false;
    r->definition_id = (char *)(size_t) "";
    r->owner = NULL;
    return r;
}

static bool by_move(const struct past *p, const char *move)
{
    return p->cause && strcmp(p->cause->move, move) == 0;
}

static bool by_actor(const struct past *p, const char *actor)
{
    return p->cause && strcmp(p->cause->actor, actor) == 0;
}

/* The request that made, stopped or retired an instance: clients are told its trace. What reps and
 * leaders do by themselves has none that anybody asked for (behaviour.md 3). */
static const char *request_of(const struct past *p)
{
    bool asked = by_actor(p, "client") || by_actor(p, "bbs");
    bool told = by_move(p, "create") || by_move(p, "stop") || by_move(p, "retire");
    return asked && told ? p->cause->trace_id : "";
}

/* Of the change itself clients see the whole text that it brought (behaviour.md 10.1). */
static const Models__ActualLRP *uncut(struct arena *a, const struct past *p)
{
    Models__ActualLRP *r = seen(a, p);
    if (r && (by_move(p, "crash") || by_move(p, "evacuate_crashed"))) {
        r->crash_reason = p->cause->text;
    } else if (r && by_move(p, "fail")) {
        r->placement_error = p->cause->text;
    }
    return r;
}

static const char *cell_of(const Models__ActualLRP *r)
{
    return r->actual_lrp_instance_key ? r->actual_lrp_instance_key->cell_id : "";
}

static bool borne(const Models__ActualLRP *r)
{
    return r && r->actual_lrp_instance_key && *r->actual_lrp_instance_key->instance_guid;
}

/* The same instance, wherever the two records stand. */
static bool of_one_instance(const Models__ActualLRP *r, const Models__ActualLRP *s)
{
    return borne(r) && borne(s) &&
           strcmp(r->actual_lrp_instance_key->instance_guid,
                  s->actual_lrp_instance_key->instance_guid) == 0 &&
           strcmp(cell_of(r), cell_of(s)) == 0;
}

static bool looks_alike(struct arena *a, const Models__ActualLRP *r, const Models__ActualLRP *s)
{
    return strcmp(event_actual_text(a, r), event_actual_text(a, s)) == 0;
}

static bool of_one_epoch(const Models__ActualLRP *r, const Models__ActualLRP *s)
{
    return strcmp(r->modification_tag->epoch, s->modification_tag->epoch) == 0;
}

static bool in_state(const Models__ActualLRP *r, const char *state)
{
    return r && strcmp(r->state, state) == 0;
}

static enum priority priority_of(const Models__ActualLRP *shown)
{
    return in_state(shown, "RUNNING") ? SHOWS_RUNNING : THE_REST;
}

/* "S back to O": what replaced it goes. */
static const Models__ActualLRP *ousted(const struct index_change *c)
{
    bool back = !c->is[SUSPECT] && of_one_instance(c->was[SUSPECT], c->is[ORDINARY]);
    return back && !of_one_instance(c->was[ORDINARY], c->is[ORDINARY]) ? c->was[ORDINARY] : NULL;
}

/* `counted`: by a crash. What an evacuation counts is told if that was the last of its restarts. */
static void crashes(struct draft *d, bool counted, const Models__ActualLRP *was,
                    const Models__ActualLRP *is)
{
    if (is && (counted || (in_state(is, "CRASHED") && !in_state(was, "CRASHED")))) {
        const Models__ActualLRP *of = was ? was : is;
        add(d, A_CRASH,
            arena_printf(
                d->arena, "actual_lrp_crashed %s crashes %d [%s] since %lld",
                event_instance_text(d->arena, of->actual_lrp_key, of->actual_lrp_instance_key),
                is->crash_count, is->crash_reason, (long long)is->since),
            cell_of(of), NULL);
    }
}

/* ---- the instance stream ---- */

static void instance_event(struct draft *d, enum priority priority, const char *what,
                           const Models__ActualLRP *r, const struct index_change *c)
{
    const char *text =
        arena_printf(d->arena, "actual_lrp_instance_%s %s", what, event_actual_text(d->arena, r));
    add(d, priority, event_traced(d->arena, text, c->trace_id), cell_of(r), NULL);
}

static void instance_changes(struct draft *d, const Models__ActualLRP *was,
                             const Models__ActualLRP *is, const struct index_change *c)
{
    if (looks_alike(d->arena, was, is)) {
        return;
    }
    const Models__ActualLRP *named = borne(is) ? is : was;
    const char *text = arena_printf(
        d->arena, "actual_lrp_instance_changed %s (%s) -> (%s)",
        event_instance_text(d->arena, is->actual_lrp_key, named->actual_lrp_instance_key),
        event_info_text(d->arena, was), event_info_text(d->arena, is));
    add(d, priority_of(is), event_traced(d->arena, text, c->trace_id), cell_of(named), NULL);
}

/* Of two records in the ORDINARY place one after the other: whether clients take them for one.
 * Claim, start, taking over, crash to CRASHED, fail: yes. Back to UNCLAIMED: the end of an
 * instance, and the wait for another one; likewise what was made again. */
static bool goes_on(const Models__ActualLRP *was, const Models__ActualLRP *is)
{
    return of_one_epoch(was, is) && (!in_state(is, "UNCLAIMED") || in_state(was, "UNCLAIMED"));
}

static void of_instances(struct draft *d, const struct index_change *c)
{
    bool followed[PRESENCES] = {false}, known[PRESENCES] = {false};
    const Models__ActualLRP *gone = ousted(c);
    if (gone) {
        instance_event(d, FIRST_OF_ALL, "removed", gone, c);
        followed[ORDINARY] = true;
    }
    crashes(d, c->crash, c->was[ORDINARY], c->is[ORDINARY]);
    for (int step = 0; step < PRESENCES; step++) { /* first those that stay where they are */
        for (int p = 0; p < PRESENCES; p++) {
            int q = (p + step) % PRESENCES;
            if (!followed[p] && !known[q] && of_one_instance(c->was[p], c->is[q])) {
                followed[p] = known[q] = true;
                instance_changes(d, c->was[p], c->is[q], c);
            }
        }
    }
    const Models__ActualLRP *was = c->was[ORDINARY], *is = c->is[ORDINARY];
    if (was && is && !followed[ORDINARY] && !known[ORDINARY]) {
        if (goes_on(was, is)) {
            instance_changes(d, was, is, c);
            followed[ORDINARY] = known[ORDINARY] = true;
        } else if (!of_one_epoch(was, is)) { /* it went, and another one was made */
            instance_event(d, THE_REST, "removed", was, c);
            followed[ORDINARY] = true;
        }
    }
    for (int p = 0; p < PRESENCES; p++) {
        if (c->is[p] && !known[p]) {
            instance_event(d, priority_of(c->is[p]), "created", c->is[p], c);
        }
    }
    for (int p = 0; p < PRESENCES; p++) {
        if (c->was[p] && !followed[p]) {
            instance_event(d, THE_REST, "removed", c->was[p], c);
        }
    }
    in_order(d);
}

/* ---- the group stream ---- */

/* What a group shows as its instance (behaviour.md 10.5). */
static const Models__ActualLRP *shown_instance(const Models__ActualLRP *const index[PRESENCES])
{
    const Models__ActualLRP *ordinary = index[ORDINARY], *suspect = index[SUSPECT];
    bool suspect_counts = in_state(suspect, "RUNNING") || in_state(suspect, "CLAIMED");
    return !in_state(ordinary, "RUNNING") && suspect_counts ? suspect : ordinary;
}

/* An event is about one half of a group. */
static const char *half_text(struct arena *a, const Models__ActualLRP *r)
{
    return r->presence == (Models__ActualLRP__Presence)EVACUATING
               ? arena_printf(a, "(|%s)", event_actual_text(a, r))
               : arena_printf(a, "(%s|)", event_actual_text(a, r));
}

static void group_event(struct draft *d, enum priority priority, const char *what,
                        const Models__ActualLRP *r)
{
    add(d, priority, arena_printf(d->arena, "actual_lrp_%s %s", what, half_text(d->arena, r)),
        cell_of(r), NULL);
}

static bool differ_in_presence_alone(struct arena *a, const Models__ActualLRP *was,
                                     const Models__ActualLRP *is)
{
    Models__ActualLRP moved = *was;
    moved.presence = is->presence;
    return looks_alike(a, &moved, is);
}

static void of_a_half(struct draft *d, const Models__ActualLRP *was, const Models__ActualLRP *is)
{
    if (was && is && differ_in_presence_alone(d->arena, was, is)) {
        return; /* "O to S": none */
    }
    bool again = was && is && was->presence == is->presence && !of_one_epoch(was, is);
    bool another = was && is && borne(was) && borne(is) && !of_one_instance(was, is);
    if (was && is && !again && !another) {
        add(d, priority_of(is),
            arena_printf(d->arena, "actual_lrp_changed %s -> %s", half_text(d->arena, was),
                         half_text(d->arena, is)),
            cell_of(was), cell_of(is));
        return;
    }
    if (again) {
        group_event(d, THE_REST, "removed", was);
    }
    if (is) {
        group_event(d, priority_of(is), "created", is);
    }
    if (was && !again) {
        group_event(d, THE_REST, "removed", was);
    }
}

static void of_groups(struct draft *d, const struct index_change *c)
{
    if (ousted(c)) {
        group_event(d, THE_REST, "removed", ousted(c));
    }
    const Models__ActualLRP *was = shown_instance(c->was), *is = shown_instance(c->is);
    crashes(d, c->crash && is == c->is[ORDINARY], was, is);
    of_a_half(d, was, is);
    of_a_half(d, c->was[EVACUATING], c->is[EVACUATING]);
    in_order(d);
}

/* ---- DesiredLRPs and tasks ---- */

/* "created", "changed" or "removed", with what it shows. */
static const char *definition_text(struct arena *a, const char *of, const char *was, const char *is)
{
    return was && is ? arena_printf(a, "%s_changed (%s) -> (%s)", of, was, is)
                     : arena_printf(a, "%s_%s %s", of, is ? "created" : "removed", is ? is : was);
}

/* The run part is written once, and goes with the other one at the latest. */
static const Models__DesiredLRP *run_of(struct checkers *k, struct arena *a,
                                        const Models__DesiredLRP *d)
{
    const struct past *p =
        map_get(&k->history.now, key_run(a, d->process_guid, d->modification_tag->epoch));
    while (p && !p->message) {
        p = p->before;
    }
    return p ? (const Models__DesiredLRP *)p->message : NULL;
}

static const char *definition_of(struct checkers *k, struct arena *a, const struct past *p)
{
    static const Models__DesiredLRP nothing = MODELS__DESIRED_LRP__INIT;
    if (!p || !p->message) {
        return NULL;
    }
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)p->message;
    const Models__DesiredLRP *run = run_of(k, a, d);
    return event_desired_text(a, d, run ? run : &nothing);
}

static const char *task_of(struct arena *a, const struct past *p)
{
    if (!p || !p->message) {
        return NULL;
    }
    Models__Task t = *(const Models__Task *)p->message;
    t.owner = NULL;
    t.attempt = (char *)(size_t) "";
    t.optional_max_retries_case = 0;
    t.optional_keep_s_case = 0;
    return event_task_text(a, &t);
}

static void of_definition(struct checkers *k, struct draft *d, const struct past *p)
{
    const char *was = definition_of(k, d->arena, p->before), *is = definition_of(k, d->arena, p);
    if (was || is) {
        const char *text = definition_text(d->arena, "desired_lrp", was, is);
        add(d, THE_REST, event_traced(d->arena, text, p->cause ? p->cause->trace_id : ""), NULL,
            NULL);
    }
}

static void of_task(struct draft *d, const struct past *p)
{
    const char *was = task_of(d->arena, p->before), *is = task_of(d->arena, p);
    if ((was || is) && !(was && is && strcmp(was, is) == 0)) {
        add(d, THE_REST, definition_text(d->arena, "task", was, is), NULL, NULL);
    }
}

/* ---- a revision ---- */

/* The part of the key that all records of one index share. */
static size_t index_size(const char *key)
{
    return (size_t)(strrchr(key, '/') - key) + 1;
}

static void gather_index(struct checkers *k, struct arena *a, const struct passage *p, size_t first,
                         struct index_change *ret)
{
    const char *key = p->list[first]->key;
    size_t size = index_size(key);
    *ret = (struct index_change){.trace_id = "", .subject = arena_strndup(a, key, size)};
    for (int q = 0; q < PRESENCES; q++) {
        ret->was[q] = ret->is[q] =
            seen(a, map_get(&k->history.now, arena_printf(a, "%s%d", ret->subject, q)));
    }
    for (size_t i = first; i < p->count; i++) {
        const struct past *one = p->list[i];
        if (one->type != RECORD_ACTUAL || strncmp(one->key, ret->subject, size) != 0) {
            continue;
        }
        int q = one->key[size] - '0';
        ret->was[q] = seen(a, one->before);
        ret->is[q] = uncut(a, one);
        ret->crash |= q == ORDINARY && one->message && by_move(one, "crash");
        ret->trace_id = *request_of(one) ? request_of(one) : ret->trace_id;
        if (q == ORDINARY && by_move(one, "retire")) {
            ret->is[q] = NULL; /* told as gone at once, and once more at its end (10.3) */
        }
    }
}

/* Its index was met before in this revision. */
static bool met(const struct passage *p, size_t at)
{
    size_t size = index_size(p->list[at]->key);
    for (size_t i = 0; i < at; i++) {
        if (strncmp(p->list[i]->key, p->list[at]->key, size) == 0) {
            return true;
        }
    }
    return false;
}

static void draft_one(struct checkers *k, struct draft *d, enum api_stream kind,
                      const struct passage *p, size_t at)
{
    const struct past *one = p->list[at];
    d->subject = one->key;
    d->first = d->count;
    if (one->type == RECORD_TASK && kind == EVENTS_TASKS) {
        of_task(d, one);
    } else if (one->type == RECORD_DESIRED && kind != EVENTS_TASKS) {
        of_definition(k, d, one);
    } else if (one->type == RECORD_ACTUAL && kind != EVENTS_TASKS && !met(p, at)) {
        struct index_change change;
        gather_index(k, d->arena, p, at, &change);
        d->subject = change.subject;
        (kind == EVENTS_GROUPS ? of_groups : of_instances)(d, &change);
    }
}

static void make_room(struct events *e, int64_t revision)
{
    size_t capacity = e->capacity ? e->capacity : 1024;
    while ((int64_t)capacity <= revision) {
        capacity *= 2;
    }
    for (int kind = 0; kind < API_STREAMS && capacity > e->capacity; kind++) {
        e->revisions[kind] =
            mem_resized(e->revisions[kind], capacity, sizeof(struct told_revision));
        memset(e->revisions[kind] + e->capacity, 0,
               (capacity - e->capacity) * sizeof(struct told_revision));
    }
    e->capacity = capacity;
}

void note_told(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    struct events *e = &k->events;
    make_room(e, p->revision);
    for (int kind = 0; kind < API_STREAMS; kind++) {
        struct draft d = {.arena = &k->history.arena};
        for (size_t i = 0; e->wanted[kind] && i < p->count; i++) {
            draft_one(k, &d, (enum api_stream)kind, p, i);
        }
        e->revisions[kind][p->revision] = (struct told_revision){d.list, d.count};
    }
}

void told_done(struct checkers *k)
{
    struct events *e = &k->events;
    for (int kind = 0; kind < API_STREAMS; kind++) {
        free(e->revisions[kind]);
    }
    *e = (struct events){0};
}

/* ---- a client ---- */

static bool passes(const struct event_reader *r, const struct told_event *e)
{
    bool passes = e->of_all_cells || !*r->cell_id;
    for (int i = 0; i < EVENT_CELLS; i++) {
        passes = passes || (e->cells[i] && strcmp(e->cells[i], r->cell_id) == 0);
    }
    return passes;
}

static const struct told_revision *revision_of(struct checkers *k, const struct event_reader *r,
                                               int64_t revision)
{
    return &k->events.revisions[r->kind][revision];
}

/* Moves on to the next revision that etcd has; false if there is none yet. */
static bool next_revision(struct checkers *k, struct event_reader *r)
{
    if (r->revision >= k->history.revision) {
        return false;
    }
    size_t count = revision_of(k, r, ++r->revision)->count;
    if (count > r->told_capacity) {
        free(r->told);
        r->told_capacity = 2 * count;
        r->told = mem_zeroed(r->told_capacity * sizeof(bool));
    }
    for (size_t i = 0; i < count; i++) {
        r->told[i] = false;
    }
    return true;
}

void reader_done(struct event_reader *r)
{
    free(r->told);
    r->told = NULL;
    r->told_capacity = 0;
    free(r->heard);
    r->heard = NULL;
    r->heard_count = r->heard_capacity = 0;
}

void reader_asks(struct checkers *k, struct event_reader *r)
{
    k->events.wanted[r->kind] = true;
    r->begun = r->synced = r->settled = false;
    r->restores = k->history.restores;
    r->heard_count = 0;
}

/* It stands at the end of this revision. */
static void stand_behind(struct checkers *k, struct event_reader *r, int64_t revision)
{
    size_t count = r->restores == k->history.restores ? k->events.revisions[r->kind][revision].count
                                                      : 0;
    r->revision = revision;
    free(r->told);
    r->told_capacity = count;
    r->told = mem_zeroed(count + 1);
    for (size_t i = 0; i < count; i++) {
        r->told[i] = true;
    }
}

void reader_begins(struct checkers *k, struct event_reader *r, int64_t arrived_revision)
{
    r->begun = true;
    r->begun_revision = k->history.revision;
    /* A request may be on its way for as long as etcd is restored. */
    r->restores = k->history.restores;
    stand_behind(k, r, arrived_revision); /* whose events are not due to it */
}

/* The first event of the revision that is due to it and was not told; NULL = all were. */
static const struct told_event *due(struct checkers *k, const struct event_reader *r)
{
    const struct told_revision *now = revision_of(k, r, r->revision);
    for (size_t i = 0; i < now->count; i++) {
        if (!r->told[i] && passes(r, &now->list[i])) {
            return &now->list[i];
        }
    }
    return NULL;
}

/* It is the next one of its subject. */
static bool take(struct checkers *k, struct event_reader *r, const char *text)
{
    const struct told_revision *now = revision_of(k, r, r->revision);
    for (size_t i = 0; i < now->count; i++) {
        if (r->told[i] || !passes(r, &now->list[i]) || strcmp(now->list[i].text, text) != 0) {
            continue;
        }
        for (size_t before = 0; before < i; before++) {
            if (!r->told[before] && passes(r, &now->list[before]) &&
                strcmp(now->list[before].subject, now->list[i].subject) == 0) {
                return false;
            }
        }
        return r->told[i] = true;
    }
    return false;
}

/* NULL when that is what it should hear next, else what is wrong; in the history's arena. */
static const char *hear(struct checkers *k, struct event_reader *r, const char *text)
{
    do {
        if (take(k, r, text)) {
            r->first_revision = r->synced ? r->first_revision : r->revision;
            r->synced = true;
            return NULL;
        }
        const struct told_event *e = due(k, r);
        if (e && (r->synced || r->revision > r->begun_revision)) {
            return arena_printf(&k->history.arena, "is told, at revision %lld: %s\n  and not: %s",
                                (long long)r->revision, text, e->text);
        }
    } while (next_revision(k, r));
    return arena_printf(&k->history.arena, "is told what never was, or twice: %s", text);
}

static void note_heard(struct checkers *k, struct event_reader *r, const char *text)
{
    if (r->settled) {
        return;
    }
    if (r->heard_count == r->heard_capacity) {
        r->heard_capacity = r->heard_capacity ? 2 * r->heard_capacity : 8;
        r->heard = mem_resized(r->heard, r->heard_capacity, sizeof(*r->heard));
    }
    r->heard[r->heard_count++] = arena_strdup(&k->history.arena, text);
}

/* Lets it have begun at the next revision after first_revision that fits all it has heard. That may
 * be the end of begun_revision itself: etcd had it when the answer's head went, and so had the bbs,
 * maybe. */
static bool begins_later(struct checkers *k, struct event_reader *r)
{
    while (r->heard_count > 0 && r->synced && r->first_revision <= r->begun_revision) {
        size_t fit = 0;
        stand_behind(k, r, r->first_revision);
        r->synced = false;
        while (fit < r->heard_count && !hear(k, r, r->heard[fit])) {
            fit++;
        }
        if (fit == r->heard_count) {
            return true;
        }
    }
    return false;
}

/* It can have begun nowhere else: what it has heard need not be kept. */
static bool is_settled(struct checkers *k, const struct event_reader *r)
{
    if (!r->synced || r->revision <= r->begun_revision) {
        return false;
    }
    struct event_reader other = *r;
    other.told = NULL; /* both are the reader's own */
    other.told_capacity = 0;
    bool settled = !begins_later(k, &other);
    free(other.told);
    return settled;
}

/* NULL when it may hear that, else what is wrong. */
static const char *hear_somewhere(struct checkers *k, struct event_reader *r, const char *text)
{
    note_heard(k, r, text);
    const char *wrong = hear(k, r, text);
    if (wrong && begins_later(k, r)) {
        wrong = NULL;
    }
    if (!r->settled && is_settled(k, r)) {
        r->settled = true;
        r->heard_count = 0;
    }
    return wrong;
}

const char *reader_hears(struct checkers *k, struct event_reader *r, const char *text)
{
    return r->restores == k->history.restores ? hear_somewhere(k, r, text) : NULL;
}

/* What it has not heard, if it began where it was found to. */
static const char *misses(struct checkers *k, const struct event_reader *r)
{
    struct event_reader at = *r;
    at.told = NULL;
    at.told_capacity = 0;
    at.heard = NULL;
    at.heard_count = at.heard_capacity = 0;
    const struct told_event *e = due(k, r);
    do {
        if (e && (at.synced || at.revision > at.begun_revision)) {
            break;
        }
        e = next_revision(k, &at) ? due(k, &at) : NULL;
    } while (e || at.revision < k->history.revision);
    reader_done(&at);
    return e ? e->text : NULL;
}

const char *reader_misses(struct checkers *k, const struct event_reader *r)
{
    if (!r->begun || r->restores != k->history.restores) {
        return "anything";
    }
    const char *missed = misses(k, r);
    struct event_reader other = *r;
    other.told = NULL; /* both are the reader's own */
    other.told_capacity = 0;
    while (missed && begins_later(k, &other)) {
        missed = misses(k, &other);
    }
    free(other.told);
    return missed;
}
