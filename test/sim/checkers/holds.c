/* Holds (docs/systems.md, Who may change what): at each revision no two of a system stand against
 * each other, which is tried by a plain tree of intention locks, and they are exactly the deploys
 * that are accepted or in progress and the teardown that is in progress; and who is refused for
 * what others hold could not have his path (Y1). What is over stays as it is (Y7). */
#include "common/model/hold.h"
#include "test/sim/checkers/checkers.h"

#include <stdlib.h>
#include <string.h>

/* ---- A plain tree of intention locks --------------------------------------------------------- */

/* The locks of a node: many that intend, or one that excludes. */
struct plain_lock {
    unsigned intending;
    bool excluded;
};

struct plain_tree {
    struct arena arena;
    struct map nodes; /* path -> struct plain_lock */
};

static struct plain_lock *plain_lock_at(struct plain_tree *t, const char *path, size_t size)
{
    const char *name = size == 0 ? "/" : arena_strndup(&t->arena, path, size);
    struct plain_lock *l = map_get(&t->nodes, name);
    if (!l) {
        l = ARENA_NEW(&t->arena, struct plain_lock);
        map_put(&t->nodes, name, l);
    }
    return l;
}

/* Whether the path could be had: every proper prefix with intention, itself exclusively. */
static bool plain_take(struct plain_tree *t, const char *path)
{
    size_t size = strlen(path);
    for (size_t i = 0; size > 1 && i < size; i++) { /* each "/" begins what is below a prefix */
        if (path[i] == '/') {
            struct plain_lock *l = plain_lock_at(t, path, i);
            if (l->excluded) {
                return false;
            }
            l->intending++;
        }
    }
    struct plain_lock *own = plain_lock_at(t, path, size > 1 ? size : 0);
    bool free = own->intending == 0 && !own->excluded;
    own->excluded = true;
    return free;
}

static void check_tree(struct checkers *k, const Board__HoldRecord *h)
{
    struct plain_tree t = {0};
    arena_init(&t.arena);
    map_init(&t.nodes);
    for (size_t i = 0; i < h->n_holds; i++) {
        if (!plain_take(&t, h->holds[i]->path)) {
            checkers_report(k, "Y1", "%s of system %s is held twice: by %s and another",
                            h->holds[i]->path, h->uid, h->holds[i]->id);
        }
    }
    map_done(&t.nodes, NULL);
    arena_done(&t.arena);
}

/* ---- Who is to hold -------------------------------------------------------------------------- */

struct holders_seen {
    struct checkers *k;
    const Board__HoldRecord *hold;
    size_t count;
};

static bool holds(const struct holders_seen *s, Board__Hold__Kind kind, const char *id,
                  const char *path)
{
    for (size_t i = 0; i < s->hold->n_holds; i++) {
        const Board__Hold *h = s->hold->holds[i];
        if (h->kind == kind && strcmp(h->id, id) == 0) {
            return strcmp(h->path, path) == 0;
        }
    }
    return false;
}

static void expect_hold(struct holders_seen *s, Board__Hold__Kind kind, const char *id,
                        const char *path, const char *is)
{
    s->count++;
    if (!holds(s, kind, id, path)) {
        checkers_report(s->k, "Y1", "%s is %s and does not hold %s", id, is, path);
    }
}

static void expect_deploy(void *context, const struct past *p)
{
    const Board__DeployRecord *d = (const Board__DeployRecord *)p->message;
    if (strcmp(d->state, "accepted") == 0 || strcmp(d->state, "in progress") == 0) {
        expect_hold(context, BOARD__HOLD__KIND__DEPLOY, d->id, d->path, d->state);
    }
}

static void expect_teardown(void *context, const struct past *p)
{
    const Board__TeardownRecord *t = (const Board__TeardownRecord *)p->message;
    if (strcmp(t->state, "in progress") == 0) {
        expect_hold(context, BOARD__HOLD__KIND__TEARDOWN, t->id, "/", t->state);
    }
}

static void check_system(struct checkers *k, const char *uid)
{
    static const Board__HoldRecord none = BOARD__HOLD_RECORD__INIT;
    SCOPED_ARENA(a);
    const ProtobufCMessage *m = history_now(&k->history, key_hold(&a, uid));
    struct holders_seen s = {k, m ? (const Board__HoldRecord *)m : &none, 0};
    history_each(&k->history, key_range_of(&a, RECORD_DEPLOY, uid), expect_deploy, &s);
    history_each(&k->history, key_range_of(&a, RECORD_TEARDOWN, uid), expect_teardown, &s);
    if (s.count != s.hold->n_holds) {
        checkers_report(k, "Y1", "system %s: %zu hold a part of it, and %zu are to", uid,
                        s.hold->n_holds, s.count);
    }
    check_tree(k, s.hold);
    k->seen[SEEN_HELD] += s.count > 0;
    k->seen[SEEN_HELD_TOGETHER] += s.count > 1;
}

/* ---- Who is refused -------------------------------------------------------------------------- */

/* The path of what failed as this was written, for what others hold; NULL = it did not. */
static const char *refused_path(const struct past *p)
{
    if (!p->message || !p->cause || strcmp(p->cause->move, "refuse") != 0) {
        return NULL;
    }
    if (p->type == RECORD_TEARDOWN) {
        return ((const Board__TeardownRecord *)p->message)->conflict ? "/" : NULL;
    }
    const Board__DeployRecord *d = (const Board__DeployRecord *)p->message;
    return d->conflict ? d->path : NULL;
}

static void check_refusal(struct checkers *k, const struct past *p)
{
    struct plain_tree t = {0};
    const char *path = refused_path(p);
    if (!path) {
        return;
    }
    arena_init(&t.arena);
    map_init(&t.nodes);
    const struct past *held =
        history_at(&k->history, key_hold(&t.arena, key_component(&t.arena, p->key, 1)),
                   p->revision - 1);
    const Board__HoldRecord *h = held ? (const Board__HoldRecord *)held->message : NULL;
    for (size_t i = 0; h && i < h->n_holds; i++) {
        (void)plain_take(&t, h->holds[i]->path);
    }
    if (h && h->n_holds < HOLD_ENTRIES_MAX && plain_take(&t, path)) {
        checkers_report(k, "Y1", "%s is refused, and nobody stands against %s", p->key, path);
    }
    map_done(&t.nodes, NULL);
    arena_done(&t.arena);
}

/* ---- What is over ---------------------------------------------------------------------------- */

/* The state and when it ended, of one that ends for good; NULL = of another kind. */
static const char *state_of(const struct past *p, int64_t *ret_completed_at)
{
    if (!p || !p->message) {
        return NULL;
    }
    if (p->type == RECORD_DEPLOY) {
        *ret_completed_at = ((const Board__DeployRecord *)p->message)->completed_at;
        return ((const Board__DeployRecord *)p->message)->state;
    }
    if (p->type == RECORD_TEARDOWN) {
        *ret_completed_at = ((const Board__TeardownRecord *)p->message)->completed_at;
        return ((const Board__TeardownRecord *)p->message)->state;
    }
    *ret_completed_at = ((const Board__BuildRecord *)p->message)->completed_at;
    return ((const Board__BuildRecord *)p->message)->state;
}

static bool ends(const char *state)
{
    return strcmp(state, "succeeded") == 0 || strcmp(state, "failed") == 0;
}

static void check_end(struct checkers *k, const struct past *p)
{
    int64_t was_at = 0, at = 0;
    const char *was = state_of(p->before, &was_at), *is = state_of(p, &at);
    bool over = is && ends(is);
    if (was && is && ends(was) && (strcmp(was, is) != 0 || was_at != at)) {
        checkers_report(k, "Y7", "%s was %s, and is %s", p->key, was, is);
    }
    if (is && over != (at != 0)) {
        checkers_report(k, "Y7", "%s is %s and %s", p->key, is,
                        at ? "has a time of its end" : "has none of its end");
    }
    k->seen[SEEN_DEPLOYS_SUCCEEDED] +=
        p->type == RECORD_DEPLOY && over && (!was || !ends(was)) && strcmp(is, "succeeded") == 0;
    k->seen[SEEN_DEPLOYS_FAILED] +=
        p->type == RECORD_DEPLOY && over && (!was || !ends(was)) && strcmp(is, "failed") == 0;
}

/* ---- Each revision --------------------------------------------------------------------------- */

void check_holds(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    const char *last = "";
    SCOPED_ARENA(a);
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        enum record_type type = p->list[i]->type;
        bool action = type == RECORD_DEPLOY || type == RECORD_TEARDOWN;
        if (action || type == RECORD_BUILD) {
            check_end(k, p->list[i]);
        }
        if (action) {
            check_refusal(k, p->list[i]);
        }
        const char *uid =
            action || type == RECORD_HOLD ? key_component(&a, p->list[i]->key, 1) : "";
        if (*uid && strcmp(uid, last) != 0) {
            check_system(k, uid);
            last = uid;
        }
    }
}
