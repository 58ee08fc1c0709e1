/* The moves of the converger about builds: what was resolved is written as a tree, batch by batch;
 * what nothing names goes, portion by portion (common/lifecycle/build.def). */
#include "bbs/system/build.h"
#include "common/lifecycle/build.h"
#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

/* Bits of `reads`. */
enum { NAMES = 1, PORTION = 2, LEFT = 4, WRITTEN = 8 };

enum {
    PORTION_MAX = 48,       /* components that one move takes away */
    STALE_TREES_MAX = 16, /* of attempts, to be collected first */
    TREE_BYTES_MAX = 32 * 1024 * 1024,
    COMMITS_BYTES_MAX = 256 * 1024,
    INDEX_BYTES_MAX = 960 * 1024,
};

struct build_snapshot {
    struct speaker by;
    struct system_facts of;
    const Board__BuildRecord *build;
    const Board__SourceRecord *source;
    const char *named;  /* who names it, for people; NULL = nobody */
    bool index;         /* the tree of the move has one */
    const char **portion; /* components of that tree */
    size_t portion_count;
    bool left;          /* of any of its trees a component stands */
    bool taken;         /* a component that is to be written is there */
};

static const Board__BuildMove *body_of(const struct move_turn *t)
{
    return move_build(t->move);
}

static const Board__BuildRecord *before_of(const struct move_turn *t)
{
    return (const Board__BuildRecord *)t->record;
}

static bool names_tree(const Board__BuildRecord *b, const char *tree)
{
    return *tree && strcmp(b->tree, tree) == 0;
}

static bool is_stale(const Board__BuildRecord *b, const char *tree)
{
    for (size_t i = 0; i < b->n_stale; i++) {
        if (strcmp(b->stale[i], tree) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- What is read ---------------------------------------------------------------------------- */

/* The first components of the tree that stand, which are to go. That there is none is compared: a
 * copy that lacks one would leave it for ever. */
static void gather_portion(struct view *v, const char *tree, struct build_snapshot *s)
{
    struct arena *a = view_arena(v);
    const char *prefix = key_range_of(a, RECORD_TREE, tree), *from = NULL, *key;
    s->portion = ARENA_ARRAY(a, PORTION_MAX, const char *);
    if (view_range_empty(v, prefix)) {
        return;
    }
    view_nothing_newer(v, prefix);
    while (s->portion_count < PORTION_MAX && (key = view_peek_key(v, prefix, from))) {
        (void)view_exists(v, key);
        s->portion[s->portion_count++] = arena_strdup(a, key);
        from = arena_printf(a, "%s!", key); /* the first key after it that may stand */
    }
}

/* Whether of one of its trees a component stands. */
static bool gather_left(struct view *v, const Board__BuildRecord *b)
{
    struct arena *a = view_arena(v);
    bool left = *b->tree && !view_range_empty(v, key_range_of(a, RECORD_TREE, b->tree));
    for (size_t i = 0; i < b->n_stale && !left; i++) {
        left = !view_range_empty(v, key_range_of(a, RECORD_TREE, b->stale[i]));
    }
    return left;
}

/* Whether a component that is to be written is there: it is written once. */
static bool gather_taken(struct view *v, const Board__BuildMove *m)
{
    bool taken = false;
    for (size_t i = 0; i < m->n_written; i++) {
        const char *path = m->written[i]->path;
        taken = view_exists(v, key_tree(view_arena(v), m->tree, path)) || taken;
    }
    return taken;
}

static void build_move_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct build_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const Board__BuildMove *b = move_build(m);
    unsigned reads = move_row_named(&build_moves, m->move)->reads;
    s->of = system_facts_gather(v, b->system, move_name(a, m));
    s->build = view_message(v, move_subject_key(a, in));
    speaker_gather(v, in, &s->by);
    if (!s->build) {
        return;
    }
    s->source = view_message(v, key_source(a, s->build->id));
    s->index = *b->tree && view_exists(v, key_index(a, b->tree));
    s->named = reads & NAMES ? build_named_by(v, &s->of, s->build) : NULL;
    s->left = reads & LEFT && gather_left(v, s->build);
    s->taken = reads & WRITTEN && gather_taken(v, b);
    if (reads & PORTION) {
        gather_portion(v, b->tree, s);
    }
}

static bool build_begin(struct move_turn *t)
{
    const struct build_snapshot *s = t->snapshot;
    t->record = s->build ? &s->build->base : NULL;
    t->from = s->build ? lifecycle_state(&build_lifecycle, s->build->state) : BUILD_NONE;
    t->plan->record = t->record;
    return speaker_authorised(&s->by, t->in, t->plan);
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static uint32_t accept_guards(const struct move_turn *t)
{
    (void)t;
    return 0;
}

static uint32_t fail_guards(const struct move_turn *t)
{
    (void)t;
    return 0;
}

static bool goes_on(const struct move_turn *t)
{
    const struct build_snapshot *s = t->snapshot;
    const Board__BuildMove *m = body_of(t);
    return m->from == before_of(t)->written &&
           m->from + m->n_written <= before_of(t)->components && !s->taken;
}

static uint32_t write_guards(const struct move_turn *t)
{
    return names_tree(before_of(t), body_of(t)->tree) && goes_on(t) ? BUILD_IF_SAME_TREE : 0;
}

static uint32_t succeed_guards(const struct move_turn *t)
{
    const struct build_snapshot *s = t->snapshot;
    const Board__BuildRecord *b = before_of(t);
    const Board__IndexRecord *index = body_of(t)->index;
    bool tree = names_tree(b, body_of(t)->tree) && !s->index;
    bool all = b->written == b->components && index->n_entries == b->components &&
               strcmp(index->path, b->root) == 0;
    return (tree ? BUILD_IF_SAME_TREE : 0) | (all ? BUILD_IF_ALL_WRITTEN : 0);
}

static uint32_t unnamed(const struct move_turn *t)
{
    return ((const struct build_snapshot *)t->snapshot)->named ? 0 : BUILD_IF_UNNAMED;
}

/* Its own tree goes when nothing names the build; what it failed to write, at once. */
static uint32_t collect_guards(const struct move_turn *t)
{
    bool own = names_tree(before_of(t), body_of(t)->tree);
    return (is_stale(before_of(t), body_of(t)->tree) ? BUILD_IF_STALE : 0) |
           (own ? unnamed(t) : 0);
}

static uint32_t forget_guards(const struct move_turn *t)
{
    const struct build_snapshot *s = t->snapshot;
    return unnamed(t) | (s->left ? 0 : BUILD_IF_COLLECTED);
}

/* ---- What they do ---------------------------------------------------------------------------- */

static Board__BuildRecord *changed(const struct move_turn *t)
{
    Board__BuildRecord *after = arena_message(t->plan->arena, &board__build_record__descriptor);
    assert(t->to > BUILD_NONE && t->to < BUILD_STATE_COUNT);
    *after = *before_of(t);
    after->state = borrowed(build_lifecycle.states[t->to]);
    return after;
}

static void put(const struct move_turn *t, const Board__BuildRecord *after)
{
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
}

static void add_stale(struct arena *a, Board__BuildRecord *b, const char *tree)
{
    char **list = ARENA_ARRAY(a, b->n_stale + 1, char *);
    assert(b->n_stale <= STALE_TREES_MAX && !is_stale(b, tree));
    for (size_t i = 0; i < b->n_stale; i++) {
        list[i] = b->stale[i];
    }
    list[b->n_stale++] = borrowed(tree);
    b->stale = list;
}

static void drop_stale(struct arena *a, Board__BuildRecord *b, const char *tree)
{
    char **list = ARENA_ARRAY(a, b->n_stale, char *);
    size_t n = 0;
    for (size_t i = 0; i < b->n_stale; i++) {
        if (strcmp(b->stale[i], tree) != 0) {
            list[n++] = b->stale[i];
        }
    }
    assert(n + 1 == b->n_stale);
    b->stale = list;
    b->n_stale = n;
}

/* 1. This tree was accepted: nothing.
 * 2. It was given up, or stands: ResourceConflict. So many trees were given up: they go first.
 * 3. It is the build's; the one before is given up. */
static void accept_decide(const struct move_turn *t)
{
    const struct build_snapshot *s = t->snapshot;
    const Board__BuildRecord *before = before_of(t);
    const Board__BuildMove *m = body_of(t);
    if (names_tree(before, m->tree)) { /* 1 */
        return;
    }
    if (is_stale(before, m->tree) || s->index || before->n_stale >= STALE_TREES_MAX) { /* 2 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    before->n_stale >= STALE_TREES_MAX
                        ? "build %s: %d trees were given up, and are to be collected first"
                        : "build %s: the tree was given up (of %d at most)",
                    before->id, STALE_TREES_MAX);
        return;
    }
    Board__BuildRecord *after = changed(t); /* 3 */
    if (*before->tree) {
        add_stale(t->plan->arena, after, before->tree);
    }
    assert(m->components > 0);
    after->tree = m->tree;
    after->written = after->written_bytes = 0;
    after->components = m->components;
    after->n_commits = m->n_commits;
    after->commits = m->commits;
    after->version = *m->version ? m->version : after->version;
    after->started_at = before->started_at ? before->started_at : t->in->now.wall_ns;
    after->message = borrowed("its components are written");
    put(t, after);
}

static uint32_t packed_bytes(const Board__BuildMove *m)
{
    size_t size = 0;
    for (size_t i = 0; i < m->n_written; i++) {
        size += board__component_record__get_packed_size(m->written[i]);
    }
    assert(size <= UINT32_MAX - TREE_BYTES_MAX);
    return (uint32_t)size;
}

/* 1. The tree gets too large: ResourceConflict.
 * 2. The components are written, and counted. */
static void write_decide(const struct move_turn *t)
{
    const Board__BuildMove *m = body_of(t);
    Board__BuildRecord *after = changed(t);
    assert(t->to == BUILD_RUNNING && after->written == m->from);
    after->written += (uint32_t)m->n_written;
    after->written_bytes += packed_bytes(m);
    if (after->written_bytes > TREE_BYTES_MAX) { /* 1 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "build %s: its tree has more than %d bytes, which is the most", after->id,
                    TREE_BYTES_MAX);
        return;
    }
    for (size_t i = 0; i < m->n_written; i++) { /* 2 */
        plan_put(t->plan, key_tree(t->plan->arena, m->tree, m->written[i]->path), "write",
                 t->in->actor, &m->written[i]->base);
    }
    put(t, after);
}

static void source_delete(const struct move_turn *t)
{
    if (((const struct build_snapshot *)t->snapshot)->source) {
        plan_delete(t->plan, key_source(t->plan->arena, before_of(t)->id), t->row->name,
                    t->in->actor);
    }
}

static Board__BuildRecord *over(const struct move_turn *t, const char *message)
{
    Board__BuildRecord *after = changed(t);
    after->message = borrowed(message_cut(t->plan->arena, message));
    after->completed_at = t->in->now.wall_ns > after->created_at ? t->in->now.wall_ns
                                                                 : after->created_at;
    return after;
}

static void succeed_decide(const struct move_turn *t)
{
    Board__IndexRecord *index = arena_message(t->plan->arena, &board__index_record__descriptor);
    assert(t->to == BUILD_SUCCEEDED);
    *index = *body_of(t)->index;
    index->tree = before_of(t)->tree;
    index->uid = before_of(t)->uid;
    plan_put(t->plan, key_index(t->plan->arena, index->tree), "succeed", t->in->actor,
             &index->base);
    source_delete(t);
    put(t, over(t, ""));
}

static void fail_decide(const struct move_turn *t)
{
    assert(t->to == BUILD_FAILED);
    Board__BuildRecord *after = over(t, body_of(t)->message);
    after->started_at = after->started_at ? after->started_at : after->completed_at;
    source_delete(t);
    put(t, after);
}

/* 1. Neither its tree nor one that was given up: nothing, it is gone.
 * 2. A portion of the tree goes, with the first its index. Its own is given up by that.
 * 3. Nothing of it stands: the tree is named no more. */
static void collect_decide(const struct move_turn *t)
{
    const struct build_snapshot *s = t->snapshot;
    const char *tree = body_of(t)->tree;
    bool own = names_tree(before_of(t), tree), stale = is_stale(before_of(t), tree);
    if (!own && !stale) { /* 1 */
        return;
    }
    assert(s->portion_count <= PORTION_MAX);
    for (size_t i = 0; i < s->portion_count; i++) { /* 2 */
        plan_delete(t->plan, s->portion[i], "collect", t->in->actor);
    }
    if (s->index) {
        plan_delete(t->plan, key_index(t->plan->arena, tree), "collect", t->in->actor);
    }
    Board__BuildRecord *after = changed(t);
    after->tree = own ? borrowed("") : after->tree;
    if (own && s->portion_count > 0) {
        add_stale(t->plan->arena, after, tree);
    } else if (stale && s->portion_count == 0) { /* 3 */
        drop_stale(t->plan->arena, after, tree);
    }
    if (own || s->portion_count == 0) {
        put(t, after);
    }
}

static void forget_decide(const struct move_turn *t)
{
    move_delete_subject(t);
    source_delete(t);
    t->plan->record = NULL;
}

/* ---- What refuses ---------------------------------------------------------------------------- */

static void refuse(const struct move_turn *t, const char *why)
{
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "build %s %s", before_of(t)->id,
                why);
}

static void refuse_by_state(const struct move_turn *t)
{
    refuse(t, arena_printf(t->plan->arena, "is %s", before_of(t)->state));
}

/* It went on with this tree: nothing. */
static void accept_refuse(const struct move_turn *t)
{
    if (t->from != BUILD_SUCCEEDED || !names_tree(before_of(t), body_of(t)->tree)) {
        refuse_by_state(t);
    }
}

/* These were written before: nothing. */
static void write_refuse(const struct move_turn *t)
{
    const Board__BuildMove *m = body_of(t);
    if (!names_tree(before_of(t), m->tree)) {
        refuse(t, "has another tree");
    } else if (m->from + m->n_written > before_of(t)->written) {
        refuse(t, arena_printf(t->plan->arena, "is %s, and has %u of %u components",
                               before_of(t)->state, before_of(t)->written,
                               before_of(t)->components));
    }
}

/* It succeeded with this tree: nothing. */
static void succeed_refuse(const struct move_turn *t)
{
    bool same = names_tree(before_of(t), body_of(t)->tree);
    if (t->from == BUILD_SUCCEEDED && same) {
        return;
    }
    refuse(t, !same ? "has another tree"
                    : arena_printf(t->plan->arena, "is %s, and has %u of %u components",
                                   before_of(t)->state, before_of(t)->written,
                                   before_of(t)->components));
}

static void fail_refuse(const struct move_turn *t)
{
    if (t->from != BUILD_FAILED) {
        refuse_by_state(t);
    }
}

static void refuse_named(const struct move_turn *t)
{
    const struct build_snapshot *s = t->snapshot;
    refuse(t, s->named ? arena_printf(t->plan->arena, "is needed by %s", s->named)
                       : arena_printf(t->plan->arena, "is %s, and may have a tree",
                                      before_of(t)->state));
}

/* The tree is neither its own nor one that was given up: it is gone. */
static void collect_refuse(const struct move_turn *t)
{
    const char *tree = body_of(t)->tree;
    if (names_tree(before_of(t), tree) || is_stale(before_of(t), tree)) {
        refuse_named(t);
    }
}

static void forget_refuse(const struct move_turn *t)
{
    refuse_named(t);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_build_subject(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    check_action_id(v, move_name(&a, move));
    check_action_id(v, move_part(&a, move));
    check_system_id(v, move_build(move)->system);
}

static void valid_tree(struct validation *v, const Board__Move *move)
{
    valid_build_subject(v, move);
    check_action_id(v, move_build(move)->tree);
}

static void valid_accept(struct validation *v, const Board__Move *move)
{
    const Board__BuildMove *m = move_build(move);
    size_t size = 0;
    valid_tree(v, move);
    for (size_t i = 0; i < m->n_commits; i++) {
        size += strlen(m->commits[i]);
    }
    if (m->components == 0 || m->components > COMPONENTS_MAX) {
        say_field(v, "components");
    }
    if (size > COMMITS_BYTES_MAX) {
        say_field(v, "commits");
    }
    check_version(v, m->version);
}

static bool is_component(const Board__ComponentRecord *c, const char *tree)
{
    SCOPED_ARENA(a);
    static const char *const kinds[] = {"system", "service", "job"};
    bool known = false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        known = known || strcmp(c->kind, kinds[i]) == 0;
    }
    return known && strcmp(c->tree, tree) == 0 && !component_path_fault(&a, c->path) &&
           c->n_secrets <= COMPONENT_SECRETS_MAX &&
           board__component_record__get_packed_size(c) <= COMPONENT_BYTES_MAX;
}

static void valid_write(struct validation *v, const Board__Move *move)
{
    const Board__BuildMove *m = move_build(move);
    bool good = m->n_written > 0 && m->n_written <= BUILD_WRITTEN_MAX;
    size_t size = 0;
    valid_tree(v, move);
    for (size_t i = 0; i < m->n_written && good; i++) {
        const Board__ComponentRecord *c = m->written[i];
        size += board__component_record__get_packed_size(c);
        good = is_component(c, m->tree) &&
               (i == 0 || component_path_compare(m->written[i - 1]->path, c->path) < 0);
    }
    if (!good || size > BUILD_WRITTEN_BYTES_MAX || m->from > COMPONENTS_MAX) {
        say_field(v, "written");
    }
}

static void valid_succeed(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    const Board__IndexRecord *index = move_build(move)->index;
    valid_tree(v, move);
    bool good = index && board__index_record__get_packed_size(index) <= INDEX_BYTES_MAX;
    for (size_t i = 0; good && i < index->n_entries; i++) {
        const char *path = index->entries[i]->path;
        good = !component_path_fault(&a, path) &&
               (i == 0 || component_path_compare(index->entries[i - 1]->path, path) < 0);
    }
    if (!good) {
        say_field(v, "index");
    }
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&build_moves, snapshot, in, p);
}

static const struct op_row build_op = {
    .name = "build move",
    .target = move_subject_key,
    .gather = build_move_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct build_snapshot),
};

#define MOVE_ROW(move, validate, read, absents)                                                    \
    {                                                                                              \
        .name = #move, .valid = validate, .reads = read, .absent = ABSENT_##absents,               \
        .guards = move##_guards, .refuse = move##_refuse, .decide = move##_decide,                 \
        .op = &build_op, .op_of_rep = &build_op,                                                   \
    }

static const struct move_row rows[] = {
    MOVE_ROW(accept, valid_accept, 0, REFUSED),
    MOVE_ROW(write, valid_write, WRITTEN, REFUSED),
    MOVE_ROW(succeed, valid_succeed, 0, REFUSED),
    MOVE_ROW(fail, valid_build_subject, 0, REFUSED),
    MOVE_ROW(collect, valid_tree, NAMES | PORTION, NOTHING),
    MOVE_ROW(forget, valid_build_subject, NAMES | LEFT, NOTHING),
};

const struct move_family build_moves = {
    .lifecycle = &build_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = build_begin,
};
