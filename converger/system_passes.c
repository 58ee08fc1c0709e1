#include "converger/system_passes.h"

#include "common/lifecycle/system.h"
#include "converger/spread.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static char *said(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* ---- It opens, is observed, goes ------------------------------------------------------------- */

void system_opens(const struct watched_system *v, bool refused, struct system_moves *out)
{
    assert(v->system);
    const char *move = !refused                              ? "open"
                       : v->system->tries < SYSTEM_TRIES_MAX ? "check"
                                                             : "give_up";
    Board__Move *m = move_of_system(v, move);
    m->system->message = said(refused ? "the board refuses to open it" : "");
    system_moves_add(out, move, m);
}

/* Whether a move that is planned changes the system, or its head: it is judged after that. */
static bool changes_head(const struct system_moves *m)
{
    static const char *const those[] = {"spread", "begin", "revert", "succeed"};
    for (size_t i = 0; i < m->count; i++) {
        for (size_t t = 0; t < sizeof(those) / sizeof(those[0]); t++) {
            if (strcmp(m->list[i].move->move, those[t]) == 0) {
                return true;
            }
        }
    }
    return false;
}

void system_told(const struct watched_system *v, struct system_moves *out)
{
    uint64_t known = 0;
    if (v->head->spread >= v->head->generation || changes_head(out)) {
        return;
    }
    for (struct map_node *n = map_first(v->actions); n; n = map_next(n)) {
        const struct action_seen *seen = map_value(n);
        bool going = seen->type != RECORD_BUILD && !seen->over && seen->generation > 0;
        known = seen->generation > known ? seen->generation : known;
        if (going && seen->told != seen->generation) {
            return;
        }
    }
    if (known >= v->head->generation) {
        Board__Move *m = move_of_system(v, "spread");
        m->system->generation = v->head->generation;
        m->system->head_revision = v->head_revision;
        system_moves_add(out, "spread", m);
    }
}

void system_observed(const struct watched_system *v, bool may_tell, struct system_moves *out)
{
    bool spread = v->head->spread >= v->head->generation;
    int is = system_state_of(v->tally, spread);
    const char *text = system_state_text(v->arena, v->tally, spread);
    if (changes_head(out)) {
        return; /* it is looked at again after that */
    }
    if (is != v->state || (may_tell && strcmp(text, v->system->message) != 0)) {
        Board__Move *m = move_of_system(v, "observe");
        m->subject->revision = v->revision;
        m->system->state = said(system_lifecycle.states[is]);
        m->system->message = said(text);
        m->system->head_revision = v->head_revision;
        system_moves_add(out, "observe", m);
    }
}

static bool has_any(const struct watched_system *v, enum record_type type)
{
    const char *key;
    return system_keys(v, type, &key, 1) > 0;
}

void system_goes(const struct watched_system *v, bool refused, struct system_moves *out)
{
    spread_nothing(v, "/", "", out);
    system_forgets(v, out);
    bool waits = v->tally->total > 0 || has_any(v, RECORD_JOB_RUN) || has_any(v, RECORD_POOL) ||
                 v->actions->count > 0;
    if (waits || out->count > 0) {
        return;
    }
    bool keeps =
        refused || has_any(v, RECORD_SECRET) || map_get(v->records, key_versions(v->arena, v->uid));
    const char *move = keeps ? "check" : "remove"; /* a portion of what it keeps goes; then it */
    system_moves_add(out, move, move_of_system(v, move));
}

/* ---- What is over ---------------------------------------------------------------------------- */

/* Runs of jobs that are looked at: more than are kept. */
enum { RUNS_LOOKED_AT_MAX = 2000 };

/* What still names trees and builds. */
struct named {
    struct map trees, builds; /* name -> this struct */
};

static void name_it(struct named *n, struct map *in, const char *what)
{
    if (*what) {
        map_put(in, what, n);
    }
}

static void name_roots(struct named *n, Board__Root *const *roots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        name_it(n, &n->trees, roots[i]->tree);
        name_it(n, &n->builds, roots[i]->build);
    }
}

/* What runs names the tree that it is of. */
static void name_services(const struct watched_system *v, struct named *ret)
{
    for (struct map_node *n = map_first(v->services); n; n = map_next(n)) {
        const Board__ServiceRecord *r = system_record(v, map_key(n), NULL);
        for (size_t i = 0; r && i < r->n_revisions; i++) {
            name_it(ret, &ret->trees, r->revisions[i]->instances > 0 ? r->revisions[i]->tree : "");
        }
    }
}

static void name_runs(const struct watched_system *v, struct named *ret)
{
    const char *keys[RUNS_LOOKED_AT_MAX];
    size_t count = system_keys(v, RECORD_JOB_RUN, keys, RUNS_LOOKED_AT_MAX);
    for (size_t i = 0; i < count; i++) {
        const Board__JobRunRecord *r = system_record(v, keys[i], NULL);
        bool over = r && (strcmp(r->state, "succeeded") == 0 || strcmp(r->state, "failed") == 0);
        name_it(ret, &ret->trees, r && !over ? r->tree : "");
    }
}

static void collect_names(const struct watched_system *v, struct named *ret)
{
    name_services(v, ret);
    name_runs(v, ret);
    name_roots(ret, v->head->roots, v->head->n_roots);
    for (struct map_node *n = map_first(v->actions); n; n = map_next(n)) {
        const struct action_seen *seen = map_value(n);
        const Board__DeployRecord *d =
            seen->type == RECORD_DEPLOY ? system_record(v, map_key(n), NULL) : NULL;
        if (d) {
            name_roots(ret, d->before, d->n_before);
            name_it(ret, &ret->builds, seen->over ? "" : *d->build ? d->build : d->id);
        }
    }
}

struct over {
    const char *key;
    const struct action_seen *seen;
};

/* The newest first. */
static int compare_over(const void *x, const void *y)
{
    const struct over *one = x, *other = y;
    if (one->seen->completed_at != other->seen->completed_at) {
        return one->seen->completed_at > other->seen->completed_at ? -1 : 1;
    }
    return strcmp(other->key, one->key);
}

static size_t those_over(const struct watched_system *v, enum record_type type, struct over **ret)
{
    struct over *list = *ret = ARENA_ARRAY(v->arena, v->actions->count + 1, struct over);
    size_t count = 0;
    for (struct map_node *n = map_first(v->actions); n; n = map_next(n)) {
        const struct action_seen *seen = map_value(n);
        if (seen->over && seen->type == type) {
            list[count++] = (struct over){map_key(n), seen};
        }
    }
    qsort(list, count, sizeof(*list), compare_over);
    return count;
}

static void collect(const struct watched_system *v, const Board__BuildRecord *b, const char *tree,
                    struct system_moves *out)
{
    Board__Move *m = move_of_build(v, "collect", b->id);
    m->build->tree = said(tree);
    system_moves_add(out, "collect", m);
}

/* `surplus`: more are over than are kept. A failed one keeps no tree. */
static void forget_build(const struct watched_system *v, const char *key, bool surplus,
                         const struct named *named, struct system_moves *out)
{
    const Board__BuildRecord *b = system_record(v, key, NULL);
    if (!b) {
        return;
    }
    bool failed = strcmp(b->state, "failed") == 0;
    bool is_named = map_get(&named->builds, b->id) || map_get(&named->trees, b->tree);
    bool goes = surplus && (system_is_gone(v) || !is_named);
    if (b->n_stale > 0) {
        collect(v, b, b->stale[0], out);
    } else if (*b->tree && (failed || goes)) {
        collect(v, b, b->tree, out);
    } else if (goes) {
        system_moves_add(out, "forget", move_of_build(v, "forget", b->id));
    }
}

static void forget_builds(const struct watched_system *v, struct system_moves *out)
{
    struct over *list;
    struct named named;
    size_t count = those_over(v, RECORD_BUILD, &list);
    size_t kept = system_is_gone(v) ? 0 : BUILDS_KEPT;
    map_init(&named.trees);
    map_init(&named.builds);
    if (count > kept && !system_is_gone(v)) {
        collect_names(v, &named);
    }
    for (size_t i = 0; i < count; i++) {
        forget_build(v, list[i].key, i >= kept, &named, out);
    }
    map_done(&named.trees, NULL);
    map_done(&named.builds, NULL);
}

/* The one that made the head is known as long as the head stands (system_told). */
static void forget_over(const struct watched_system *v, enum record_type type, size_t kept,
                        struct system_moves *out)
{
    struct over *list;
    size_t count = those_over(v, type, &list);
    for (size_t i = system_is_gone(v) ? 0 : kept; i < count; i++) {
        const char *id = key_component(v->arena, list[i].key, 2);
        bool made_head = list[i].seen->generation >= v->head->generation && v->head->generation > 0;
        if (id && (system_is_gone(v) || !made_head)) {
            system_moves_add(out, "forget",
                             type == RECORD_DEPLOY ? move_of_deploy(v, "forget", id)
                                                   : move_of_teardown(v, "forget", id));
        }
    }
}

void system_forgets(const struct watched_system *v, struct system_moves *out)
{
    forget_over(v, RECORD_DEPLOY, DEPLOYS_KEPT, out);
    forget_over(v, RECORD_TEARDOWN, TEARDOWNS_KEPT, out);
    forget_builds(v, out);
}

void system_forgets_surplus(const struct watched_system *v, struct system_moves *out)
{
    if (v->over.deploys >= DEPLOYS_KEPT + SURPLUS_AT_ONCE) {
        forget_over(v, RECORD_DEPLOY, DEPLOYS_KEPT, out);
    }
    if (v->over.teardowns >= TEARDOWNS_KEPT + SURPLUS_AT_ONCE) {
        forget_over(v, RECORD_TEARDOWN, TEARDOWNS_KEPT, out);
    }
}
