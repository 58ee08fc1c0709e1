/* Heads (docs/systems.md, Deploys): what is to stand in a system is the fold of all deploys and
 * teardowns that ever began (Y13); services are told and deleted only by who holds their path
 * (Y2); and a deploy that succeeded leaves every service under its path stable and told by it, and
 * none else (Y6). Where it is said that all services were told, they were (Y5). All paths are
 * compared here by their texts, segment by segment. */
#include "test/sim/checkers/checkers.h"

#include <stdlib.h>
#include <string.h>

/* `path` is `top` or below it. */
static bool stands_below(const char *path, const char *top)
{
    size_t size = strlen(top);
    return strcmp(top, "/") == 0 ||
           (strncmp(path, top, size) == 0 && (path[size] == 0 || path[size] == '/'));
}

static const char *move_name_of(const struct past *p)
{
    return p && p->cause ? p->cause->move : "";
}

/* ---- Y13: the fold --------------------------------------------------------------------------- */

enum { ROOTS_MAX = 128 };

struct fold {
    const Board__Root *list[ROOTS_MAX];
    size_t count;
};

static void fold_add(struct fold *f, Board__Root *const *roots, size_t count)
{
    for (size_t i = 0; i < count && f->count < ROOTS_MAX; i++) {
        f->list[f->count++] = roots[i];
    }
}

/* Those of the head that are not at or below the path. */
static void fold_others(struct fold *f, const Board__HeadRecord *head, const char *path)
{
    f->count = 0;
    for (size_t i = 0; head && i < head->n_roots; i++) {
        if (!stands_below(head->roots[i]->path, path) && f->count < ROOTS_MAX) {
            f->list[f->count++] = head->roots[i];
        }
    }
}

static bool has_root(const struct fold *f, const Board__Root *r)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->list[i]->path, r->path) == 0 && strcmp(f->list[i]->tree, r->tree) == 0) {
            return true;
        }
    }
    return false;
}

/* The trees where nothing stands count as none. */
static void expect_fold(struct checkers *k, const Board__HeadRecord *head, const struct fold *f,
                        const char *by)
{
    size_t found = 0, wanted = 0;
    for (size_t i = 0; i < head->n_roots; i++) {
        found += *head->roots[i]->tree && has_root(f, head->roots[i]);
        wanted += *head->roots[i]->tree != 0;
    }
    size_t folded = 0;
    for (size_t i = 0; i < f->count; i++) {
        folded += *f->list[i]->tree != 0;
    }
    if (found != wanted || found != folded) {
        checkers_report(k, "Y13", "the head of %s has %zu roots, of which %s explains %zu of %zu",
                        head->uid, wanted, by, found, folded);
    }
}

/* The deploy or teardown that was changed with the head; NULL = none. */
static const struct past *maker_of(const struct passage *p, const char *uid)
{
    SCOPED_ARENA(a);
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        bool action = one->type == RECORD_DEPLOY || one->type == RECORD_TEARDOWN;
        if (action && one->message && strcmp(key_component(&a, one->key, 1), uid) == 0) {
            return one;
        }
    }
    return NULL;
}

/* What the deploy puts there: its build's tree, or what stood before another one, or itself. */
static void fold_deploy(struct checkers *k, struct fold *f, const Board__DeployRecord *d,
                        Board__Root *own, Board__Root **own_list)
{
    SCOPED_ARENA(a);
    const Board__DeployRecord *undone =
        *d->undo
            ? (const Board__DeployRecord *)history_now(&k->history, key_deploy(&a, d->uid, d->undo))
            : NULL;
    if (d->reverting) {
        fold_add(f, d->before, d->n_before);
    } else if (*d->undo) {
        fold_add(f, undone ? undone->before : NULL, undone ? undone->n_before : 0);
    } else {
        const Board__BuildRecord *b =
            (const Board__BuildRecord *)history_now(&k->history, key_build(&a, d->uid, d->build));
        board__root__init(own);
        own->path = d->path;
        own->tree = b ? b->tree : d->build;
        *own_list = own;
        fold_add(f, own_list, 1);
    }
}

/* Some version that stood: what was there is kept for an undo, root by root. */
static void check_before(struct checkers *k, const Board__HeadRecord *was,
                         const Board__DeployRecord *d)
{
    struct fold kept = {.count = 0};
    size_t within = 0;
    fold_add(&kept, d->before, d->n_before);
    for (size_t i = 0; was && i < was->n_roots; i++) {
        bool below = stands_below(was->roots[i]->path, d->path);
        within += below;
        if (below && !has_root(&kept, was->roots[i])) {
            checkers_report(k, "Y13", "deploy %s began and did not keep what stood at %s", d->id,
                            was->roots[i]->path);
        }
    }
    if (within != d->n_before) {
        checkers_report(k, "Y13", "deploy %s kept %zu roots of %zu", d->id, d->n_before, within);
    }
}

static void check_head(struct checkers *k, const struct passage *p, const struct past *head)
{
    struct fold f;
    Board__Root own, *own_list;
    const Board__HeadRecord *was =
        head->before ? (const Board__HeadRecord *)head->before->message : NULL;
    const Board__HeadRecord *is = (const Board__HeadRecord *)head->message;
    const struct past *maker = is ? maker_of(p, is->uid) : NULL;
    bool moved = is && is->generation != (was ? was->generation : 0);
    if (!moved) {
        return;
    }
    if (!maker || !was || is->generation != was->generation + 1) {
        checkers_report(k, "Y13", "%s is of generation %llu at once, and nobody began", head->key,
                        (unsigned long long)is->generation);
        return;
    }
    if (maker->type == RECORD_TEARDOWN) {
        f.count = 0;
    } else {
        const Board__DeployRecord *d = (const Board__DeployRecord *)maker->message;
        fold_others(&f, was, d->path);
        fold_deploy(k, &f, d, &own, &own_list);
        if (strcmp(move_name_of(maker), "begin") == 0) {
            check_before(k, was, d);
        }
    }
    expect_fold(k, is, &f, maker->key);
    k->seen[SEEN_HEADS]++;
}

/* ---- Y2: who tells --------------------------------------------------------------------------- */

/* The entry of the hold that covers the path, as it stood before this revision; NULL = none. */
static const Board__Hold *hold_before(struct checkers *k, const struct past *p, const char *uid,
                                      const char *path)
{
    SCOPED_ARENA(a);
    const struct past *h = history_at(&k->history, key_hold(&a, uid), p->revision - 1);
    const Board__HoldRecord *r = h ? (const Board__HoldRecord *)h->message : NULL;
    for (size_t i = 0; r && i < r->n_holds; i++) {
        if (stands_below(path, r->holds[i]->path)) {
            return r->holds[i];
        }
    }
    return NULL;
}

static bool goes(struct checkers *k, const char *system, const char *uid)
{
    SCOPED_ARENA(a);
    const Board__SystemRecord *r =
        *system ? (const Board__SystemRecord *)history_now(&k->history, key_system(&a, system))
                : NULL;
    return !r || strcmp(r->uid, uid) != 0 || strcmp(r->state, "deleting") == 0;
}

static void check_teller(struct checkers *k, const struct past *p)
{
    const Board__ServiceRecord *r = (const Board__ServiceRecord *)p->message;
    const char *move = move_name_of(p);
    bool told = strcmp(move, "target") == 0, deleted = strcmp(move, "delete") == 0;
    if (!r || strcmp(r->uid, "apps") == 0 || (!told && !deleted)) {
        return;
    }
    const Board__Hold *h = hold_before(k, p, r->uid, r->path);
    if (told && (!h || strcmp(h->id, r->deploy) != 0)) {
        checkers_report(k, "Y2", "%s is told by %s while %s holds its path", p->key, r->deploy,
                        h ? h->id : "nobody");
    }
    if (deleted && !h && !goes(k, r->system, r->uid)) {
        checkers_report(k, "Y2", "%s is deleted while nobody holds its path", p->key);
    }
    k->seen[SEEN_TOLD]++;
}

/* ---- Y6: what succeeded ---------------------------------------------------------------------- */

struct judged_deploy {
    struct checkers *k;
    const Board__DeployRecord *deploy;
    const Board__HeadRecord *head;
    size_t services;
};

static void judge_service(void *context, const struct past *p)
{
    struct judged_deploy *j = context;
    const Board__ServiceRecord *r = (const Board__ServiceRecord *)p->message;
    if (!stands_below(r->path, j->deploy->path)) {
        return;
    }
    j->services++;
    if (strcmp(r->state, "stable") != 0 || strcmp(r->deploy, j->deploy->id) != 0) {
        checkers_report(j->k, "Y6", "deploy %s succeeded and %s is %s, told by %s", j->deploy->id,
                        p->key, r->state, r->deploy);
    }
}

/* The longest root at or above it. */
static const Board__Root *root_at(const Board__HeadRecord *head, const char *path)
{
    const Board__Root *found = NULL;
    for (size_t i = 0; i < head->n_roots; i++) {
        const Board__Root *r = head->roots[i];
        bool longer = !found || strlen(r->path) > strlen(found->path);
        found = stands_below(path, r->path) && longer ? r : found;
    }
    return found;
}

static size_t services_wanted(struct checkers *k, const struct judged_deploy *j)
{
    SCOPED_ARENA(a);
    size_t wanted = 0;
    for (size_t i = 0; i < j->head->n_roots; i++) {
        const Board__Root *root = j->head->roots[i];
        const Board__IndexRecord *index =
            *root->tree
                ? (const Board__IndexRecord *)history_now(&k->history, key_index(&a, root->tree))
                : NULL;
        for (size_t e = 0; index && e < index->n_entries; e++) {
            const Board__IndexRecord__Entry *entry = index->entries[e];
            wanted += strcmp(entry->kind, "service") == 0 &&
                      stands_below(entry->path, j->deploy->path) &&
                      root_at(j->head, entry->path) == root;
        }
    }
    return wanted;
}

static void check_success(struct checkers *k, const struct past *p)
{
    SCOPED_ARENA(a);
    const Board__DeployRecord *d = (const Board__DeployRecord *)p->message;
    if (!d || strcmp(move_name_of(p), "succeed") != 0) {
        return;
    }
    const ProtobufCMessage *head = history_now(&k->history, key_head(&a, d->uid));
    if (!head) {
        checkers_report(k, "Y6", "deploy %s succeeded in a system without a head", d->id);
        return;
    }
    struct judged_deploy j = {k, d, (const Board__HeadRecord *)head, 0};
    history_each(&k->history, key_range_of(&a, RECORD_SERVICE, d->uid), judge_service, &j);
    size_t wanted = services_wanted(k, &j);
    if (wanted != j.services) {
        checkers_report(k, "Y6", "deploy %s succeeded with %zu services under %s of %zu", d->id,
                        j.services, d->path, wanted);
    }
}

/* ---- Y5: what was told ----------------------------------------------------------------------- */

struct untold {
    const char *path;
    bool excused;
};

static void seek_given_up(void *context, const struct past *p)
{
    struct untold *u = context;
    const Board__DeployRecord *d = (const Board__DeployRecord *)p->message;
    u->excused = u->excused || (strcmp(d->state, "failed") == 0 &&
                                strstr(d->message, " needs secret ") &&
                                stands_below(u->path, d->path));
}

/* A hole: what lies under a deploy that gave up for a secret that was unset under it may be told or
 * not. Nobody holds it any more, and nobody ever tells it: the head is as told as it will be. */
static bool was_given_up(struct checkers *k, const char *uid, const char *path)
{
    SCOPED_ARENA(a);
    struct untold u = {.path = path};
    history_each(&k->history, key_range_of(&a, RECORD_DEPLOY, uid), seek_given_up, &u);
    return u.excused;
}

static void check_told_of(struct checkers *k, const Board__HeadRecord *head,
                          const Board__IndexRecord__Entry *e)
{
    SCOPED_ARENA(a);
    const Board__ServiceRecord *s = (const Board__ServiceRecord *)history_now(
        &k->history, key_service(&a, head->uid, e->path));
    bool told = s && strcmp(s->component, e->hash) == 0 && strcmp(s->state, "deleting") != 0;
    if (!told && !was_given_up(k, head->uid, e->path)) {
        checkers_report(k, "Y5", "all services of %s are said to be told, and %s is not", head->uid,
                        e->path);
    }
}

/* When it is said that every service was told of the head. */
static void check_all_told(struct checkers *k, const struct past *head)
{
    SCOPED_ARENA(a);
    const Board__HeadRecord *was =
        head->before ? (const Board__HeadRecord *)head->before->message : NULL;
    const Board__HeadRecord *is = (const Board__HeadRecord *)head->message;
    if (!is || is->spread < is->generation || (was && was->spread == is->spread)) {
        return;
    }
    for (size_t i = 0; i < is->n_roots; i++) {
        const Board__IndexRecord *index =
            *is->roots[i]->tree ? (const Board__IndexRecord *)history_now(
                                      &k->history, key_index(&a, is->roots[i]->tree))
                                : NULL;
        for (size_t e = 0; index && e < index->n_entries; e++) {
            if (strcmp(index->entries[e]->kind, "service") == 0 &&
                root_at(is, index->entries[e]->path) == is->roots[i]) {
                check_told_of(k, is, index->entries[e]);
            }
        }
    }
}

/* ---- Each revision --------------------------------------------------------------------------- */

void check_heads(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        if (one->type == RECORD_HEAD) {
            check_head(k, p, one);
            check_all_told(k, one);
        } else if (one->type == RECORD_SERVICE) {
            check_teller(k, one);
        } else if (one->type == RECORD_DEPLOY) {
            check_success(k, one);
        }
    }
}
