/* Builds: what clients ask, and each move of the converger, rule by rule (bbs/system/build.c,
 * build_moves.c, build_names.c). */
#include "bbs/system/system.h"
#include "common/definition/definition.h"
#include "test/decide/laid_system.h"
#include "test/decide/system_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define OPEN "system state=stable\n"
#define ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

static void it_is_asked_for(void **state)
{
    static const struct system_op_row rows[] = {
        {"1 no such system", "", "system=shop id=B1 version=2",
         "ResourceNotFound: there is no system shop: bbs systems lists those that are"},
        {"2 asked for before", OPEN "build B1 state=failed version=2\n",
         "system=shop id=B1 version=2", "nothing"},
        {"2 its version is known by now", OPEN "build B1 state=succeeded path=/a version=2\n",
         "system=shop id=B1 path=/a", "nothing"},
        {"2 another one", OPEN "build B1 state=failed version=2\n", "system=shop id=B1 version=3",
         "ResourceExists: build B1 is another one: give another id"},
        {"2 another path", OPEN "build B1 state=failed path=/a\n", "system=shop id=B1 path=/b",
         "ResourceExists: build B1 is another one: give another id"},
        {"2 another text", OPEN "build B1 state=pending definition\nsource B1 text=X\n",
         "system=shop id=B1 definition=Y",
         "ResourceExists: build B1 is another one: give another id"},
        {"2 the same text", OPEN "build B1 state=pending definition\nsource B1 text=X\n",
         "system=shop id=B1 definition=X", "nothing"},
        {"4 version", OPEN, "system=shop id=B1 version=2",
         "build build/u/B1 id=B1 uid=u system=shop version=2 state=pending message=waits to be "
         "resolved created_at=1000s root=/"},
        {"4 path", OPEN, "system=shop id=B1 path=/a/b",
         "build build/u/B1 id=B1 uid=u system=shop path=/a/b state=pending message=waits to be "
         "resolved created_at=1000s root=/a/b"},
        {"4 definition", OPEN, "system=shop id=B1 definition=TEXT",
         "build build/u/B1 id=B1 uid=u system=shop definition=1 state=pending message=waits to "
         "be resolved created_at=1000s root=/\nbuild source/B1 uid=u build=B1 text=4 bytes"},
    };
    try_system_ops(&build_row, &board__build_request__descriptor, ROWS(rows));
}

static void it_is_resolved(void **state)
{
    static const struct system_move_row rows[] = {
        {"no build", OPEN, "accept build/u/B1 tree=T1 components=2",
         "ResourceNotFound: the requested resource could not be found"},
        {"1 this tree already", OPEN "build B1 state=running tree=T1 written=1\n",
         "accept build/u/B1 tree=T1 components=2", "nothing"},
        {"1 and it is over", OPEN "build B1 state=succeeded tree=T1 written=1\n",
         "accept build/u/B1 tree=T1 components=2", "nothing"},
        {"2 given up", OPEN "build B1 state=running tree=T2 stale=T1\n",
         "accept build/u/B1 tree=T1 components=2",
         "ResourceConflict: build B1: the tree was given up (of 16 at most)"},
        {"3", OPEN "build B1 state=pending\n",
         "accept build/u/B1 tree=T1 components=2 version=2",
         "accept build/u/B1 version=2 state=accepted message=its components are written tree=T1 "
         "components=2 started_at=1000s"},
        {"3 by another leader", OPEN "build B1 state=running tree=T1 components=9 written=5 "
                                     "written_bytes=7 started_at=3\n",
         "accept build/u/B1 tree=T2 components=2",
         "accept build/u/B1 state=accepted message=its components are written tree=T2 written=0 "
         "components=2 stale=T1 written_bytes=0"},
        {"over", OPEN "build B1 state=succeeded tree=T1\n",
         "accept build/u/B1 tree=T2 components=2", "ResourceConflict: build B1 is succeeded"},
    };
    try_system_moves(&build_moves, ROWS(rows));
}

/* A write of components of these paths. */
static const char *written(struct arena *a, const char *board, unsigned from,
                           const char *const *paths, size_t count)
{
    struct laid_system l;
    struct laid_plan p;
    laid_system_init(&l, board);
    Board__Move *m = laid_system_move(&l, &build_moves, "write build/u/B1 tree=T1");
    m->build->from = from;
    m->build->written = ARENA_ARRAY(&l.arena, count, Board__ComponentRecord *);
    for (size_t i = 0; i < count; i++) {
        Board__ComponentRecord *c = m->build->written[m->build->n_written++] =
            arena_message(&l.arena, &board__component_record__descriptor);
        c->tree = arena_strdup(&l.arena, "T1");
        c->path = arena_strdup(&l.arena, paths[i]);
        c->kind = arena_strdup(&l.arena, "system");
    }
    struct op_input in = {.actor = ACTOR_CONVERGER, .request = &m->base};
    laid_decide(l.board, move_row_named(&build_moves, "write")->op, &in, &l.arena, &p);
    assert_true(p.plan.verdict != PLAN_COMMIT || laid_passes(l.board, &p.reads));
    const char *text = arena_strdup(a, laid_system_print(&l, &p.plan));
    laid_system_done(&l);
    return text;
}

static void it_is_written(void **state)
{
    SCOPED_ARENA(a);
    static const char *const paths[] = {"/", "/a"};
    static const struct {
        const char *rule, *board;
        unsigned from;
        const char *plan;
    } rows[] = {
        {"the first", OPEN "build B1 state=accepted tree=T1 components=3\n", 0,
         "write tree/T1/%2F tree=T1 path=/ kind=system\n"
         "write tree/T1/%2Fa tree=T1 path=/a kind=system\n"
         "write build/u/B1 state=running written=2 written_bytes=31"},
        {"written before", OPEN "build B1 state=running tree=T1 components=3 written=2\n", 0,
         "nothing"},
        {"a gap", OPEN "build B1 state=running tree=T1 components=9 written=1\n", 2,
         "ResourceConflict: build B1 is running, and has 1 of 9 components"},
        {"more than there are", OPEN "build B1 state=running tree=T1 components=3 written=2\n", 2,
         "ResourceConflict: build B1 is running, and has 2 of 3 components"},
        {"another tree", OPEN "build B1 state=running tree=T2 components=3\n", 0,
         "ResourceConflict: build B1 has another tree"},
        {"too large", OPEN "build B1 state=running tree=T1 components=3 written_bytes=33554432\n",
         0, "ResourceConflict: build B1: its tree has more than 33554432 bytes, which is the most"},
        {"over", OPEN "build B1 state=failed tree=T1 components=3\n", 0,
         "ResourceConflict: build B1 is failed, and has 0 of 3 components"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *is = written(&a, rows[i].board, rows[i].from, paths, 2);
        if (strcmp(is, rows[i].plan) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", rows[i].rule, is, rows[i].plan);
        }
    }
}

/* Succeed, with an index of a root and so many entries. */
static const char *succeeded(struct arena *a, const char *board, const char *root, size_t entries)
{
    struct laid_system l;
    struct laid_plan p;
    const char *key;
    laid_system_init(&l, board);
    Board__Move *m = laid_system_move(&l, &build_moves, "succeed build/u/B1 tree=T1");
    m->build->index = (Board__IndexRecord *)system_row(
        &l.arena, entries == 2 ? "index T1 /=system:h /a=service:h" : "index T1 /=system:h", &key);
    m->build->index->path = arena_strdup(&l.arena, root);
    struct op_input in = {.actor = ACTOR_CONVERGER, .request = &m->base,
                          .now = {.wall_ns = LAID_SYSTEM_NOW_S * SECOND_NS}};
    laid_decide(l.board, move_row_named(&build_moves, "succeed")->op, &in, &l.arena, &p);
    assert_true(p.plan.verdict != PLAN_COMMIT || laid_passes(l.board, &p.reads));
    const char *text = arena_strdup(a, laid_system_print(&l, &p.plan));
    laid_system_done(&l);
    return text;
}

static void it_succeeds(void **state)
{
    SCOPED_ARENA(a);
    static const struct {
        const char *rule, *board, *root;
        size_t entries;
        const char *plan;
    } rows[] = {
        {"all is written", OPEN "build B1 state=running tree=T1 components=2 written=2 root=/ "
                                "message=M\nsource B1 text=X\n", "/", 2,
         "succeed index/T1 tree=T1 uid=u path=/ entries=/:system:h:,/a:service:h:\n"
         "succeed -source/B1\n"
         "succeed build/u/B1 state=succeeded message= completed_at=1000s"},
        {"not all", OPEN "build B1 state=running tree=T1 components=2 written=1 root=/\n", "/", 2,
         "ResourceConflict: build B1 is running, and has 1 of 2 components"},
        {"not all in the index", OPEN "build B1 state=running tree=T1 components=2 written=2 "
                                      "root=/\n", "/", 1,
         "ResourceConflict: build B1 is running, and has 2 of 2 components"},
        {"of another root", OPEN "build B1 state=running tree=T1 components=2 written=2 root=/a\n",
         "/", 2, "ResourceConflict: build B1 is running, and has 2 of 2 components"},
        {"another tree", OPEN "build B1 state=running tree=T2 components=2 written=2 root=/\n",
         "/", 2, "ResourceConflict: build B1 has another tree"},
        {"so already", OPEN "build B1 state=succeeded tree=T1 root=/\n", "/", 2, "nothing"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *is = succeeded(&a, rows[i].board, rows[i].root, rows[i].entries);
        if (strcmp(is, rows[i].plan) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", rows[i].rule, is, rows[i].plan);
        }
    }
}

static void it_fails(void **state)
{
    static const struct system_move_row rows[] = {
        {"pending", OPEN "build B1 state=pending\nsource B1 text=X\n",
         "fail build/u/B1 message=M",
         "fail -source/B1\n"
         "fail build/u/B1 state=failed message=M started_at=1000s completed_at=1000s"},
        {"half written", OPEN "build B1 state=running tree=T1 written=1 started_at=7\n",
         "fail build/u/B1 message=M", "fail build/u/B1 state=failed message=M completed_at=1000s"},
        {"so already", OPEN "build B1 state=failed\n", "fail build/u/B1 message=M", "nothing"},
        {"succeeded", OPEN "build B1 state=succeeded\n", "fail build/u/B1 message=M",
         "ResourceConflict: build B1 is succeeded"},
    };
    try_system_moves(&build_moves, ROWS(rows));
}

#define BUILT "build B1 state=succeeded tree=T1 completed_at=5\n"
#define COMPONENT "tree T1/%2Fa\n"

/* Beside as many as are kept: only then is it asked who names it. */
static const char *among(struct arena *a, const char *more, const char *move)
{
    struct laid_system l;
    struct laid_plan p;
    const char *texts = arena_printf(a, "%s", more);
    for (int i = 0; i < BUILDS_KEPT_MAX; i++) {
        texts = arena_printf(a, "%sbuild K%d state=failed completed_at=%d\n", texts, i, i + 10);
    }
    laid_system_init(&l, texts);
    const Board__Move *m = laid_system_move(&l, &build_moves, move);
    struct op_input in = {.actor = ACTOR_CONVERGER, .request = &m->base};
    laid_decide(l.board, move_row_named(&build_moves, m->move)->op, &in, &l.arena, &p);
    const char *text = arena_strdup(a, laid_system_print(&l, &p.plan));
    laid_system_done(&l);
    return text;
}

static void what_names_it_keeps_it(void **state)
{
    static const struct {
        const char *more, *by;
    } rows[] = {
        {"head /=T1\n", "the definition that stands"},
        {"head\ndeploy D1 state=pending build=B1\n", "deploy D1"},
        {"head\ndeploy D1 state=failed before=/:T1\n", "deploy D1"},
        {"head\njobrun R1 state=running tree=T1\n", "run R1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        const char *board = arena_printf(&a, OPEN BUILT "%s", rows[i].more);
        assert_string_equal(
            among(&a, board, "collect build/u/B1 tree=T1"),
            arena_printf(&a, "ResourceConflict: build B1 is needed by %s", rows[i].by));
        assert_string_equal(
            among(&a, board, "forget build/u/B1"),
            arena_printf(&a, "ResourceConflict: build B1 is needed by %s", rows[i].by));
    }
    static const char *const others[] = {"head /=T2\n", "head\ndeploy D1 state=failed build=B1\n",
                                         "head\njobrun R1 state=failed tree=T1\n"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        SCOPED_ARENA(a);
        const char *board = arena_printf(&a, OPEN BUILT "%s", others[i]);
        assert_string_equal(among(&a, board, "collect build/u/B1 tree=T1"),
                            "collect build/u/B1 tree=");
    }
}

static void it_is_collected(void **state)
{
    static const struct system_move_row rows[] = {
        {"1 gone", OPEN "build B1 state=succeeded tree=T2\n", "collect build/u/B1 tree=T1",
         "nothing"},
        {"2 its own, its system goes", "system state=deleting\n" BUILT
         "index T1\ntree T1/%2Fa\ntree T1/%2Fb\n", "collect build/u/B1 tree=T1",
         "collect -tree/T1/%2Fa\ncollect -tree/T1/%2Fb\ncollect -index/T1\n"
         "collect build/u/B1 tree= stale=T1"},
        {"2 of one that failed", OPEN "build B1 state=failed tree=T1\ntree T1/%2Fa\n",
         "collect build/u/B1 tree=T1", "collect -tree/T1/%2Fa\ncollect build/u/B1 tree= stale=T1"},
        {"2 given up", OPEN "build B1 state=running tree=T2 stale=T1\ntree T1/%2Fa\n",
         "collect build/u/B1 tree=T1", "collect -tree/T1/%2Fa"},
        {"3 its own, and nothing of it stands", OPEN "build B1 state=failed tree=T1\nindex T1\n",
         "collect build/u/B1 tree=T1", "collect -index/T1\ncollect build/u/B1 tree="},
        {"3 given up, and nothing of it stands", OPEN "build B1 state=running tree=T2 stale=T1\n",
         "collect build/u/B1 tree=T1", "collect build/u/B1 stale="},
        {"one of the last", OPEN "head\n" BUILT, "collect build/u/B1 tree=T1",
         "ResourceConflict: build B1 is needed by the list of the last ones"},
        {"it is being written", OPEN "build B1 state=running tree=T1\n",
         "collect build/u/B1 tree=T1",
         "ResourceConflict: build B1 is needed by the list of the last ones"},
        {"absent", OPEN, "collect build/u/B1 tree=T1", "nothing"},
    };
    try_system_moves(&build_moves, ROWS(rows));
}

static void a_large_tree_goes_portion_by_portion(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    laid_system_init(&l, "system state=deleting\n" BUILT "index T1\n");
    const ProtobufCMessage *m = arena_message(&l.arena, &board__component_record__descriptor);
    for (int i = 0; i < 49; i++) {
        laid_system_put(&l, key_tree(&l.arena, "T1", arena_printf(&l.arena, "/%03d", i)), m);
    }
    const Board__Move *move = laid_system_move(&l, &build_moves, "collect build/u/B1 tree=T1");
    struct op_input in = {.actor = ACTOR_CONVERGER, .request = &move->base};
    laid_decide(l.board, move_row_named(&build_moves, "collect")->op, &in, &l.arena, &p);
    assert_int_equal(p.plan.change_count, 48 + 2);
    assert_true(p.reads.count < 100);
    const char *text = laid_system_print(&l, &p.plan);
    assert_non_null(strstr(text, "collect build/u/B1 tree= stale=T1"));
    laid_system_done(&l);
}

static void it_is_forgotten(void **state)
{
    static const struct system_move_row rows[] = {
        {"its system goes", "system state=deleting\nbuild B1 state=succeeded\n",
         "forget build/u/B1", "forget -build/u/B1"},
        {"with its text", "build B1 state=failed\nsource B1 text=X\n", "forget build/u/B1",
         "forget -build/u/B1\nforget -source/B1"},
        {"a component is left", "system state=deleting\n" BUILT COMPONENT, "forget build/u/B1",
         "ResourceConflict: build B1 is succeeded, and may have a tree"},
        {"of a tree that was given up", "build B1 state=failed stale=T1\n" COMPONENT,
         "forget build/u/B1", "ResourceConflict: build B1 is failed, and may have a tree"},
        {"not over", "system state=deleting\nbuild B1 state=running\n", "forget build/u/B1",
         "ResourceConflict: build B1 is running, and may have a tree"},
        {"absent", OPEN, "forget build/u/B1", "nothing"},
    };
    try_system_moves(&build_moves, ROWS(rows));
}

/* ---- What moves may say ---------------------------------------------------------------------- */

static bool is_valid(const Board__Move *m)
{
    struct validation v = {0};
    move_row_named(&build_moves, m->move)->valid(&v, m);
    bool ok = validation_ok(&v);
    validation_done(&v);
    return ok;
}

static void moves_have_bounds(void **state)
{
    struct laid_system l;
    laid_system_init(&l, "");
    Board__Move *m = laid_system_move(&l, &build_moves, "accept build/u/B1 tree=T1");
    for (uint32_t n = 0; n <= COMPONENTS_MAX + 1; n += COMPONENTS_MAX / 2) {
        m->build->components = n;
        assert_int_equal(is_valid(m), n > 0 && n <= COMPONENTS_MAX);
    }
    m->build->components = COMPONENTS_MAX + 1;
    assert_false(is_valid(m));
    m = laid_system_move(&l, &build_moves, "write build/u/B1 tree=T1");
    assert_false(is_valid(m)); /* nothing */
    m->build->written = ARENA_ARRAY(&l.arena, BUILD_WRITTEN_MAX + 1, Board__ComponentRecord *);
    for (int i = 0; i <= BUILD_WRITTEN_MAX; i++) {
        Board__ComponentRecord *c = m->build->written[m->build->n_written++] =
            arena_message(&l.arena, &board__component_record__descriptor);
        c->tree = m->build->tree;
        c->path = arena_printf(&l.arena, "/n%02d", i);
        c->kind = arena_strdup(&l.arena, "service");
        assert_int_equal(is_valid(m), i < BUILD_WRITTEN_MAX);
    }
    m->build->n_written = 2;
    m->build->written[1]->path = m->build->written[0]->path;
    assert_false(is_valid(m)); /* twice the same */
    m->build->n_written = 1;
    Board__ComponentRecord *c = m->build->written[0];
    c->kind = arena_strdup(&l.arena, "reference");
    assert_false(is_valid(m));
    c->kind = arena_strdup(&l.arena, "job");
    assert_true(is_valid(m));
    c->description = arena_alloc(&l.arena, COMPONENT_BYTES_MAX + 1);
    memset(c->description, 'x', COMPONENT_BYTES_MAX);
    assert_false(is_valid(m)); /* too large */
    laid_system_done(&l);
}

/* The definition's own bounds, at which the resolver says so in words, are the board's. */
static void what_a_definition_may_have_is_taken(void **state)
{
    struct laid_system l;
    (void)state;
    laid_system_init(&l, "");
    Board__Move *m = laid_system_move(&l, &build_moves, "succeed build/u/B1 tree=T1");
    for (size_t size = DEFINITION_INDEX_BYTES_MAX; size <= DEFINITION_INDEX_BYTES_MAX + 1; size++) {
        Board__IndexRecord *index = arena_message(&l.arena, &board__index_record__descriptor);
        size_t log = size - 4; /* its field number, and its length in three bytes */
        index->log = arena_alloc(&l.arena, log + 1);
        memset(index->log, 'x', log);
        index->log[log] = 0;
        m->build->index = index;
        assert_int_equal(board__index_record__get_packed_size(index), size);
        assert_int_equal(is_valid(m), size == DEFINITION_INDEX_BYTES_MAX);
    }
    m = laid_system_move(&l, &build_moves, "accept build/u/B1 tree=T1");
    m->build->components = 1;
    for (size_t size = DEFINITION_COMMITS_BYTES_MAX; size <= DEFINITION_COMMITS_BYTES_MAX + 1;
         size++) {
        char *commit = arena_alloc(&l.arena, size + 1);
        memset(commit, 'x', size);
        commit[size] = 0;
        m->build->commits = arena_copy(&l.arena, &commit, sizeof(commit));
        m->build->n_commits = 1;
        assert_int_equal(is_valid(m), size == DEFINITION_COMMITS_BYTES_MAX);
    }
    assert_int_equal(COMPONENT_BYTES_MAX, DEFINITION_COMPONENT_BYTES_MAX);
    assert_int_equal(COMPONENTS_MAX, DEFINITION_COMPONENTS_MAX);
    laid_system_done(&l);
}

static void so_many_trees_wait_to_be_collected(void **state)
{
    for (size_t count = 15; count <= 16; count++) {
        struct laid_system l;
        struct laid_plan p;
        const char *key;
        laid_system_init(&l, OPEN);
        Board__BuildRecord *b = (Board__BuildRecord *)system_row(
            &l.arena, "build B1 state=running tree=T1 components=2", &key);
        b->stale = ARENA_ARRAY(&l.arena, count, char *);
        while (b->n_stale < count) {
            b->stale[b->n_stale] = arena_printf(&l.arena, "S%zu", b->n_stale);
            b->n_stale++;
        }
        laid_system_put(&l, key, &b->base);
        const Board__Move *m =
            laid_system_move(&l, &build_moves, "accept build/u/B1 tree=T2 components=2");
        struct op_input in = {.actor = ACTOR_CONVERGER, .request = &m->base};
        laid_decide(l.board, move_row_named(&build_moves, "accept")->op, &in, &l.arena, &p);
        assert_int_equal(p.plan.verdict, count == 16 ? PLAN_REFUSE : PLAN_COMMIT);
        assert_true(count < 16 ||
                    strcmp(p.plan.error_message, "build B1: 16 trees were given up, and are to be "
                                                 "collected first") == 0);
        laid_system_done(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_asked_for),
        cmocka_unit_test(it_is_resolved),
        cmocka_unit_test(it_is_written),
        cmocka_unit_test(it_succeeds),
        cmocka_unit_test(it_fails),
        cmocka_unit_test(what_names_it_keeps_it),
        cmocka_unit_test(it_is_collected),
        cmocka_unit_test(a_large_tree_goes_portion_by_portion),
        cmocka_unit_test(it_is_forgotten),
        cmocka_unit_test(what_a_definition_may_have_is_taken),
        cmocka_unit_test(so_many_trees_wait_to_be_collected),
        cmocka_unit_test(moves_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
