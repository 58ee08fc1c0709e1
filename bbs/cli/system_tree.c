#include "bbs/cli/system_tree.h"

#include "bbs/cli/name.h"
#include "common/base/memory.h"
#include "common/cli/printable.h"
#include "common/cli/table.h"
#include "common/model/component_path.h"
#include "common/model/pool_record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAR_LETTERS = 8,
    NAME_LETTERS_MAX = 28,
    POOL_LETTERS_MIN = 5,
    STATE_LETTERS = 8,
    SHORT_ID_LETTERS = 8,
    WORDS_LETTERS_MIN = 8,
    BARS_WIDTH_LEAST = 60
};

/* A component that is shown. */
struct tree_node {
    const char *path;
    const char *kind;                    /* "system", "service", "job" */
    const Board__ServiceRecord *service; /* NULL = it is none, or has no record yet */
    const Board__JobRunRecord *run;      /* of a job, the newest; NULL = there is none */
    bool shown;
};

const char *short_id(struct arena *a, const char *id)
{
    return strlen(id) > SHORT_ID_LETTERS ? arena_strndup(a, id, SHORT_ID_LETTERS) : id;
}

bool tree_is_at_rest(const struct system_view *v)
{
    static const char *const rests[] = {"stable", "degraded", "failed"};
    bool rest = false;
    for (size_t i = 0; v->system && i < sizeof(rests) / sizeof(rests[0]); i++) {
        rest = rest || strcmp(v->system->state, rests[i]) == 0;
    }
    return !v->system || (rest && v->hold->n_holds == 0);
}

bool tree_has(const struct system_view *v, const char *path)
{
    bool has = strcmp(path, "/") == 0 || system_view_kind(v, path);
    for (size_t i = 0; !has && i < v->service_count; i++) {
        has = component_path_within(v->services[i]->path, path);
    }
    for (size_t i = 0; !has && i < v->run_count; i++) {
        has = component_path_within(v->runs[i]->path, path);
    }
    return has;
}

/* ---- The nodes ---- */

struct nodes {
    struct arena *arena;
    struct map places; /* path -> 1 + its place, until they are sorted */
    struct tree_node *list;
    size_t count, room;
};

static struct tree_node *node_at(struct nodes *all, const char *path)
{
    size_t place = (size_t)(uintptr_t)map_get(&all->places, path);
    if (place > 0) {
        return &all->list[place - 1];
    }
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 64;
        struct tree_node *more = ARENA_ARRAY(all->arena, room, struct tree_node);
        if (all->count > 0) {
            memcpy(more, all->list, all->count * sizeof(*more));
        }
        all->list = more;
        all->room = room;
    }
    struct tree_node *n = &all->list[all->count++];
    (void)map_put(&all->places, path, (void *)(uintptr_t)all->count);
    *n = (struct tree_node){.path = path, .kind = "system", .shown = true};
    return n;
}

static int by_path(const void *x, const void *y)
{
    return component_path_compare(((const struct tree_node *)x)->path,
                                  ((const struct tree_node *)y)->path);
}

/* Components that a definition says, where its tree stands. */
static void add_defined(struct nodes *all, const struct system_view *v)
{
    for (size_t i = 0; i < v->index_count; i++) {
        const Board__IndexRecord *x = v->indexes[i];
        for (size_t k = 0; k < x->n_entries; k++) {
            const Board__Root *root = system_view_root(v, x->entries[k]->path);
            if (root && strcmp(root->tree, x->tree) == 0 && strcmp(x->entries[k]->path, "/") != 0) {
                node_at(all, x->entries[k]->path)->kind = x->entries[k]->kind;
            }
        }
    }
}

/* Levels above something that is shown are shown. */
static void add_parents(struct nodes *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const char *up = component_path_parent(all->arena, all->list[i].path);
        if (up && strcmp(up, "/") != 0) {
            (void)node_at(all, up);
        }
    }
}

static void collect(struct nodes *all, const struct system_view *v)
{
    map_init(&all->places);
    add_defined(all, v);
    for (size_t i = 0; i < v->service_count; i++) {
        struct tree_node *n = node_at(all, v->services[i]->path);
        n->kind = "service";
        n->service = v->services[i];
    }
    for (size_t i = v->run_count; i > 0; i--) {
        struct tree_node *n = node_at(all, v->runs[i - 1]->path);
        n->kind = n->service ? n->kind : "job";
        n->run = v->runs[i - 1];
    }
    add_parents(all);
    map_done(&all->places, NULL);
    if (all->count > 1) {
        qsort(all->list, all->count, sizeof(*all->list), by_path);
    }
}

/* ---- Texts ---- */

const char *counts_text(struct arena *a, const Board__ServiceRecord *s)
{
    static const Board__Counts none = BOARD__COUNTS__INIT;
    const Board__Counts *c = s->counts ? s->counts : &none;
    if (strcmp(s->state, "stable") == 0) {
        return arena_printf(a, "%d/%d", (int)c->available, (int)s->instances);
    }
    if (c->updated < s->instances && c->total > c->updated) {
        return arena_printf(a, "%d/%d updated, %d available", (int)c->updated, (int)s->instances,
                            (int)c->available);
    }
    if (c->terminating > 0 && c->available >= s->instances) {
        return arena_printf(a, "%d/%d, %d stop", (int)c->available, (int)s->instances,
                            (int)c->terminating);
    }
    return arena_printf(a, "%d/%d available", (int)c->available, (int)s->instances);
}

/* "api.store.shop.internal"; "" of one without routes. */
static const char *address(struct arena *a, const Board__ServiceRecord *s)
{
    bool routed = s->routes && s->routes->n_routes > 0 && *s->system;
    return routed ? arena_printf(a, "%s.internal", component_path_host(a, s->path, s->system)) : "";
}

/* What its message says beside the counts: "2 of 4 available" is of another moment than they. */
static const char *own_words(const Board__ServiceRecord *s)
{
    int have = 0, want = 0, end = 0;
    bool counts = sscanf(s->message, "%d of %d available%n", &have, &want, &end) == 2 && end > 0;
    return counts && !s->message[end] ? "" : s->message;
}

const char *service_text(struct arena *a, const Board__ServiceRecord *s)
{
    if (strcmp(s->state, "stable") == 0) {
        return address(a, s);
    }
    if (strcmp(s->state, "failed") == 0) {
        const char *why = *s->message ? s->message : s->fault;
        return arena_printf(a, "%s%sbbs why %s:%s", why, *why ? "   " : "", s->system, s->path);
    }
    return own_words(s);
}

static const char *run_text(struct arena *a, const Board__JobRunRecord *r, int64_t now_ns)
{
    if (!r) {
        return "never run";
    }
    int64_t at = r->completed_at ? r->completed_at : r->created_at;
    return arena_printf(a, "last run %s %s ago%s%s", r->state, age_text(a, now_ns - at),
                        *r->message ? ": " : "", r->message);
}

/* What holds a part of it, the last that began; "" = nothing. */
static const char *under_way(struct arena *a, const struct system_view *v, int64_t now_ns)
{
    if (v->hold->n_holds == 0) {
        return "";
    }
    const Board__Hold *h = v->hold->holds[v->hold->n_holds - 1];
    bool down = h->kind == BOARD__HOLD__KIND__TEARDOWN;
    const Board__DeployRecord *d = down ? NULL : system_view_deploy(v, h->id);
    const char *more =
        v->hold->n_holds > 1 ? arena_printf(a, " and %zu more", v->hold->n_holds - 1) : "";
    return arena_printf(a, "%s %s %s, %s%s", down ? "teardown" : "deploy", short_id(a, h->id),
                        d && d->reverting ? "goes back"
                        : h->paused       ? "paused"
                        : d               ? d->state
                                          : "in progress",
                        age_text(a, now_ns - h->since), more);
}

/* "1.4.0", "1.4.0 -> 1.5.0" */
static const char *version_text(struct arena *a, const struct system_view *v)
{
    const char *now = *v->system->version ? v->system->version : "-";
    for (size_t i = 0; i < v->hold->n_holds; i++) {
        const Board__DeployRecord *d = v->hold->holds[i]->kind == BOARD__HOLD__KIND__DEPLOY
                                           ? system_view_deploy(v, v->hold->holds[i]->id)
                                           : NULL;
        if (d && strcmp(d->path, "/") == 0 && !d->reverting) {
            const char *from = *d->before_version ? d->before_version : now;
            return *d->version && strcmp(from, d->version) != 0
                       ? arena_printf(a, "%s -> %s", from, d->version)
                       : now;
        }
    }
    return now;
}

static const char *share_text(struct arena *a, const struct system_view *v)
{
    size_t stable = 0, failed = 0;
    for (size_t i = 0; i < v->service_count; i++) {
        stable += strcmp(v->services[i]->state, "stable") == 0;
        failed += strcmp(v->services[i]->state, "failed") == 0;
    }
    const char *more = failed ? arena_printf(a, ", %zu failed", failed) : "";
    return v->service_count == 0 ? "no services"
                                 : arena_printf(a, "%zu of %zu service%s stable%s", stable,
                                                v->service_count, v->service_count == 1 ? "" : "s",
                                                more);
}

/* What is said of the system beside its services: the message of an aggregate counts them, too, and
 * is of another moment. */
static const char *own_message(const struct system_view *v)
{
    static const char *const counted[] = {"stable", "degraded", "scaling", "updating"};
    bool counts = false, all = true;
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        counts = counts || strcmp(v->system->state, counted[i]) == 0;
    }
    for (size_t i = 0; i < v->service_count; i++) {
        all = all && strcmp(v->services[i]->state, "stable") == 0;
    }
    return counts && !all ? "" : v->system->message;
}

static const char *join(struct arena *a, const char *left, const char *right)
{
    return *right ? arena_printf(a, "%s   %s", left, right) : left;
}

static const char *head_behind_state(struct arena *a, const struct system_view *v, int64_t now_ns)
{
    const char *text = join(a, version_text(a, v), under_way(a, v, now_ns));
    text = join(a, text, share_text(a, v));
    return join(a, text, own_message(v));
}

const char *tree_head(struct arena *a, const struct system_view *v, int64_t now_ns)
{
    assert(v->system);
    return text_printable(a, arena_printf(a, "%s   %s   %s", v->system->id, v->system->state,
                                          head_behind_state(a, v, now_ns)));
}

/* ---- Which rows fit ---- */

static bool is_well(const struct tree_node *n)
{
    return n->service ? strcmp(n->service->state, "stable") == 0 : strcmp(n->kind, "service") != 0;
}

/* Leaves out from the end what is well, then what is not; a level without anything below it goes
 * last. Gives how many were left out. */
static size_t fit(struct nodes *all, size_t rows)
{
    size_t shown = all->count, left_out = 0;
    for (int pass = 0; pass < 3 && rows > 0 && shown > rows; pass++) {
        for (size_t i = all->count; i > 0 && shown > rows; i--) {
            struct tree_node *n = &all->list[i - 1];
            bool level = !n->service && strcmp(n->kind, "system") == 0;
            bool may = pass == 0 ? is_well(n) && !level : pass == 1 ? !level : true;
            if (n->shown && may) {
                n->shown = false;
                shown--;
                left_out++;
            }
        }
    }
    return left_out;
}

/* ---- Lines ---- */

/* Cut to so many letters, with an ellipsis. */
static const char *cut(struct arena *a, const char *text, size_t letters)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; text[i]; i++) {
        bool begins = ((unsigned char)text[i] & 0xc0) != 0x80;
        at = begins && n + 1 == letters ? i : at;
        n += begins;
    }
    return n <= letters ? text : arena_printf(a, "%.*s\u2026", (int)at, text);
}

static void pad(struct buf *out, const char *text, size_t letters)
{
    size_t n = text_characters(text);
    buf_append_string(out, text);
    buf_printf(out, "%*s", n < letters ? (int)(letters - n) : 0, "");
}

static void state_append(struct buf *out, const char *state, bool colours)
{
    const char *colour = strcmp(state, "stable") == 0 || strcmp(state, "succeeded") == 0  ? "32"
                         : strcmp(state, "failed") == 0 || strcmp(state, "degraded") == 0 ? "31"
                         : strcmp(state, "deleting") == 0                                 ? "35"
                                                                                          : "33";
    buf_printf(out, "%s%s%s", colours ? "\033[" : "", colours ? colour : "", colours ? "m" : "");
    pad(out, state, STATE_LETTERS);
    buf_append_string(out, colours ? "\033[0m" : "");
}

static void bar_append(struct buf *out, const Board__ServiceRecord *s)
{
    int want = s->instances > 0 ? s->instances : 0, have = s->counts ? s->counts->available : 0;
    have = strcmp(s->state, "updating") == 0 && s->counts ? s->counts->updated : have;
    int full = want == 0 ? BAR_LETTERS : (int)((int64_t)have * BAR_LETTERS / want);
    full = full < 0 ? 0 : full > BAR_LETTERS ? BAR_LETTERS : full;
    buf_append_string(out, "[");
    for (int i = 0; i < BAR_LETTERS; i++) {
        buf_append_string(out, i < full ? "#" : ".");
    }
    buf_append_string(out, "]");
}

/* Of a row, at each depth: whether a later row that is shown is beside it there, below the same
 * parent. */
struct tree_beside {
    bool at[COMPONENT_PATH_SEGMENTS_MAX + 2];
};

/* From that of the row shown next, to that of this one, which comes before it. */
static void beside_before(struct arena *a, const char *path, const char *next,
                          struct tree_beside *b)
{
    size_t depth = component_path_depth(path), common = 0;
    while (common < depth && common < component_path_depth(next) &&
           component_path_within(next, component_path_prefix(a, path, common + 1))) {
        common++;
    }
    assert(depth <= COMPONENT_PATH_SEGMENTS_MAX);
    for (size_t d = common + 1; d < sizeof(b->at); d++) {
        b->at[d] = d == common + 1 && depth > common;
    }
}

/* "|  +- api" */
static const char *name_of_row(struct arena *a, const struct tree_node *n,
                               const struct tree_beside *b, size_t above)
{
    size_t depth = component_path_depth(n->path);
    const char *text = "";
    for (size_t d = above + 1; d < depth; d++) {
        text = arena_printf(a, "%s%s", text, b->at[d] ? "|  " : "   ");
    }
    bool level = strcmp(n->kind, "system") == 0;
    return arena_printf(a, "%s%s- %s%s", text, b->at[depth] ? "+" : "`",
                        component_path_leaf(n->path), level ? "/" : "");
}

/* Of each row that is shown, from the last to the first; gives how wide they are. */
static size_t make_names(struct nodes *all, size_t above, const char **ret)
{
    struct tree_beside b = {{false}};
    const char *next = NULL;
    size_t wide = 0;
    for (size_t i = all->count; i > 0; i--) {
        const struct tree_node *n = &all->list[i - 1];
        if (!n->shown) {
            continue;
        }
        if (next) {
            beside_before(all->arena, n->path, next, &b);
        }
        next = n->path;
        ret[i - 1] = name_of_row(all->arena, n, &b, above);
        size_t letters = text_characters(ret[i - 1]);
        wide = letters > wide ? letters : wide;
    }
    return wide > NAME_LETTERS_MAX ? NAME_LETTERS_MAX : wide;
}

/* A bar needs columns that words need more where there are few. */
static bool has_bars(const struct tree_form *form)
{
    return form->width >= BARS_WIDTH_LEAST;
}

static size_t bar_room(const struct tree_form *form)
{
    return has_bars(form) ? BAR_LETTERS + 2 + 1 : 0;
}

/* Columns of a name, so that words have some, too. */
static size_t name_room(const struct tree_form *form)
{
    return form->width - 2 - STATE_LETTERS - 1 - bar_room(form) - WORDS_LETTERS_MIN;
}

static size_t words_room(const struct tree_form *form, size_t used)
{
    return form->width > used + WORDS_LETTERS_MIN ? form->width - used : WORDS_LETTERS_MIN;
}

static void row_append(struct arena *a, const struct tree_node *n, const char *name, size_t wide,
                       const struct tree_form *form, struct buf *out)
{
    SCOPED_BUF(line);
    size_t used = wide + 2;
    const char *words = "";
    pad(out, cut(a, name, wide), wide);
    buf_append_string(out, "  ");
    if (n->service) {
        const Board__ServiceRecord *s = n->service;
        state_append(out, s->state, form->colours);
        buf_append_string(out, " ");
        if (has_bars(form)) {
            bar_append(out, s);
            buf_append_string(out, " ");
        }
        used += STATE_LETTERS + 1 + bar_room(form);
        words = join(a, counts_text(a, s), service_text(a, s));
    } else if (strcmp(n->kind, "job") == 0) {
        pad(out, "job", STATE_LETTERS);
        buf_append_string(out, " ");
        used += STATE_LETTERS + 1;
        words = run_text(a, n->run, form->now_ns);
    } else if (strcmp(n->kind, "service") == 0) {
        words = "not begun yet";
    }
    buf_append_string(&line, cut(a, text_printable(a, words), words_room(form, used)));
    buf_append_string(out, buf_string(&line));
    while (out->size > 0 && out->data[out->size - 1] == ' ') {
        out->size--;
    }
    buf_append_string(out, "\n");
}

/* Those of the newest epoch: the older ones go. */
static size_t cells_now(const Board__PoolRecord *p)
{
    const Board__PoolEpoch *newest = pool_newest(p);
    return newest ? newest->n_cells : pool_cells(p);
}

/* ":main  stable  2/3 cells of type small", behind the components. */
static void pool_append(struct arena *a, const Board__PoolRecord *p, size_t wide,
                        const struct tree_form *form, struct buf *out)
{
    const char *name = strncmp(p->name, "/:", 2) == 0 ? p->name + 1 : p->name;
    size_t used = wide + 2 + STATE_LETTERS + 1;
    const char *words =
        arena_printf(a, "%zu/%d cells of type %s", cells_now(p), (int)p->wanted, p->instance_type);
    words = join(a, words, p->message);
    pad(out, cut(a, name, wide), wide);
    buf_append_string(out, "  ");
    state_append(out, p->state, form->colours);
    buf_printf(out, " %s\n", cut(a, text_printable(a, words), words_room(form, used)));
}

/* The pools at and below the top, each as wide as the names of rows. Gives their number. */
static size_t pools_append(struct arena *a, const struct system_view *v, size_t wide,
                           const struct tree_form *form, struct buf *out)
{
    size_t lines = 0;
    for (size_t i = 0; i < v->pool_count; i++) {
        if (component_path_within(component_subname_path(a, v->pools[i]->name), form->top)) {
            pool_append(a, v->pools[i], wide, form, out);
            lines++;
        }
    }
    return lines;
}

static void head_append(struct arena *a, const struct system_view *v, const struct tree_form *form,
                        struct buf *out)
{
    const size_t beside = 3 + STATE_LETTERS + 3;
    const char *id = cut(a, v->system->id, form->width - beside - WORDS_LETTERS_MIN);
    size_t used = text_characters(id) + beside;
    const char *rest = text_printable(a, head_behind_state(a, v, form->now_ns));
    buf_printf(out, "%s   ", id);
    state_append(out, v->system->state, form->colours);
    buf_printf(out, "   %s\n", cut(a, rest, words_room(form, used)));
}

/* Leaves only what is at and below the top. */
static void keep_below(struct nodes *all, const char *top)
{
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (component_path_within(all->list[i].path, top)) {
            all->list[n++] = all->list[i];
        }
    }
    all->count = n;
}

size_t tree_print(struct arena *a, const struct system_view *v, const struct tree_form *form,
                  struct buf *out)
{
    struct nodes all = {.arena = a};
    assert(v->system && form->width >= TREE_WIDTH_LEAST);
    collect(&all, v);
    keep_below(&all, form->top);
    size_t depth = component_path_depth(form->top), above = depth ? depth - 1 : 0;
    size_t rest = v->pool_count + 2; /* lines that are no rows */
    size_t left_out = fit(&all, form->rows > rest ? form->rows - rest : form->rows), lines = 1;
    const char **names = ARENA_ARRAY(a, all.count, const char *);
    size_t wide = make_names(&all, above, names);
    wide = wide < name_room(form) ? wide : name_room(form);
    head_append(a, v, form, out);
    for (size_t i = 0; i < all.count; i++) {
        if (all.list[i].shown) {
            row_append(a, &all.list[i], names[i], wide, form, out);
            lines++;
        }
    }
    lines += pools_append(a, v, wide > POOL_LETTERS_MIN ? wide : POOL_LETTERS_MIN, form, out);
    if (left_out > 0) {
        buf_printf(out, "... %zu more of %zu\n", left_out, all.count);
        lines++;
    }
    return lines;
}

/* ---- Changes ---- */

static void change(struct map *said, const char *name, const char *text, struct buf *out)
{
    const char *last = map_get(said, name);
    if (!last || strcmp(last, text) != 0) {
        buf_printf(out, "%s   %s\n", name, text);
        free(map_put(said, name, mem_text(text)));
    }
}

static void change_actions(struct arena *a, const struct system_view *v, struct map *said,
                           struct buf *out)
{
    for (size_t i = 0; i < v->deploy_count; i++) {
        const Board__DeployRecord *d = v->deploys[i];
        const char *name = arena_printf(a, "deploy %s", short_id(a, d->id));
        if (!d->completed_at || map_get(said, name)) {
            change(said, name,
                   text_printable(a, join(a,
                                          d->reverting && !d->completed_at ? "goes back"
                                          : d->paused                      ? "paused"
                                                                           : d->state,
                                          d->message)),
                   out);
        }
    }
    for (size_t i = 0; i < v->teardown_count; i++) {
        const Board__TeardownRecord *t = v->teardowns[i];
        const char *name = arena_printf(a, "teardown %s", short_id(a, t->id));
        if (!t->completed_at || map_get(said, name)) {
            change(said, name, text_printable(a, join(a, t->state, t->message)), out);
        }
    }
}

/* A service of which something was said, and that is not there any more. */
static void change_gone(struct arena *a, const struct system_view *v, struct map *said,
                        struct buf *out)
{
    MAP_EACH(said, n)
    {
        const char *system, *path, *name = arena_strdup(a, map_key(n));
        if (name_is_part(a, name, &system, &path) && !system_view_service(v, path)) {
            change(said, name, "gone", out);
        }
    }
}

void tree_changes(struct arena *a, const struct system_view *v, const char *top, struct map *said,
                  struct buf *out)
{
    assert(v->system);
    change_actions(a, v, said, out);
    for (size_t i = 0; i < v->service_count; i++) {
        const Board__ServiceRecord *s = v->services[i];
        if (component_path_within(s->path, top)) {
            const char *text =
                join(a, arena_printf(a, "%-8s %s", s->state, counts_text(a, s)), own_words(s));
            change(said, name_of_part(a, v->system->id, s->path), text_printable(a, text), out);
        }
    }
    for (size_t i = 0; i < v->pool_count; i++) {
        const Board__PoolRecord *p = v->pools[i];
        const char *text =
            arena_printf(a, "%-8s %zu/%d cells", p->state, cells_now(p), (int)p->wanted);
        if (component_path_within(component_subname_path(a, p->name), top)) {
            change(said, arena_printf(a, "pool %s", p->name),
                   text_printable(a, join(a, text, p->message)), out);
        }
    }
    change_gone(a, v, said, out);
    change(said, v->system->id, v->system->state, out);
}
