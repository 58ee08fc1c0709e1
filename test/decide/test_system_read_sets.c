/* design.md 2, "a write compares all that its decision read", of what is asked and done about
 * systems, builds, deploys and teardowns: as test_read_sets.c, on boards of their own. What each
 * row compares stands in test/decide/expected/system_read_sets.txt. */
#include "bbs/system/system.h"
#include "common/base/map.h"
#include "test/decide/laid_system.h"
#include "test/decide/system_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

/* Boards of each row, all of which tell what is compared, and changes of each record. */
enum { BOARDS = 300, CHANGES = 4, RECORDS_MAX = 32 };

#define EXPECTED "test/decide/expected/system_read_sets.txt"

static bool chance(struct random *r, unsigned percent)
{
    return random_below(r, 100) < percent;
}

#define ANY(r, ...)                                                                                \
    ({                                                                                             \
        static const char *const any[] = {__VA_ARGS__};                                            \
        any[random_below(r, sizeof(any) / sizeof(any[0]))];                                        \
    })

/* Every record that may stand: some do, the others are strangers. */
struct drawn_board {
    struct laid_system l;
    struct random random;
    struct laid_stranger list[RECORDS_MAX];
    size_t count;
    const char *path; /* of D1 */
    const char *move; /* that is tried; NULL = a request is */
    bool teardown; /* which is a teardown's */
    bool takes; /* which takes a part of the hold */
    bool bare; /* hardly anything stands beside the system */
};

__attribute__((format(printf, 3, 4))) static void add(struct drawn_board *b, unsigned percent,
                                                      const char *format, ...)
{
    struct arena *a = &b->l.arena;
    const char *key;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(a, format, args);
    va_end(args);
    ProtobufCMessage *m = system_row(a, text, &key);
    assert_true(b->count < RECORDS_MAX);
    b->list[b->count++] = (struct laid_stranger){key, m};
    if (chance(&b->random, b->bare && percent < 95 ? 2 : percent)) {
        laid_system_put(&b->l, key, m);
    } else {
        b->l.count++; /* the n-th record has the n-th revision */
    }
}

/* The state in which a move can be made, so that it is, often enough. */
static const char *state_for(struct drawn_board *b)
{
    static const char *const rows[][2] = {
        {"accept", "pending"},     {"refuse", "pending"},      {"begin", "accepted"},
        {"note", "accepted"},      {"revert", "in_progress"},  {"succeed", "in_progress"},
        {"forget", "failed"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && chance(&b->random, 80); i++) {
        if (b->move && strcmp(rows[i][0], b->move) == 0) {
            return rows[i][1];
        }
    }
    return ANY(&b->random, "pending", "accepted", "accepted", "in_progress", "in_progress",
               "failed");
}

/* The first: its revision is known. */
static void add_system(struct drawn_board *b)
{
    struct random *r = &b->random;
    add(b, 95, "system state=%s version=1 definition_url=%s tries=%d",
        b->bare ? "deleting"
                : ANY(r, "stable", "updating", "degraded", "stable", "pending", "deleting"),
        ANY(r, "git", "git", ""), (int)random_below(r, 7));
    add(b, 95, "head generation=3 spread=%d%s%s", (int)random_below(r, 4), ANY(r, "", " /=T1"),
        ANY(r, "", " /a=T2"));
    const char *own = b->teardown ? " T1=/" : arena_printf(&b->l.arena, " D1=%s", b->path);
    const char *others = chance(r, 60) ? "" : ANY(r, " D2=/b", " T1=/", " D1=/z");
    add(b, 95, "hold%s%s", chance(r, b->takes ? 20 : 80) ? own : others,
        chance(r, 15) ? " D3=/c" : "");
    add(b, 50, "domain");
    add(b, 15, "versions");
    add(b, 30, "secret /a:k");
}

static void add_actions(struct drawn_board *b)
{
    struct random *r = &b->random;
    const char *target = ANY(r, "version", "path", "build", "undo", "definition");
    const char *path = b->path;
    bool undo = *target == 'u', build = *target == 'b';
    add(b, 90,
        "deploy D1 state=%s path=%s target=%s version=%s build=%s undo=%s generation=3%s%s%s%s "
        "before=%s:T2 before_version=0",
        state_for(b), path, target, ANY(r, "2", "2", ""), undo ? "" : build ? "B1" : "D1",
        undo ? "D2" : "", ANY(r, "", " reverting"),
        ANY(r, "", " aborted"), ANY(r, "", " paused"), ANY(r, "", " rollback_on_failure"), path);
    add(b, 40, "deploy D2 state=%s path=/a generation=2 before=/a:T1",
        ANY(r, "failed", "succeeded", "in_progress"));
    add(b, 50, "build D1 state=%s tree=%s version=2 root=%s components=2 written=%d",
        ANY(r, "pending", "running", "succeeded", "succeeded", "succeeded", "failed"),
        ANY(r, "T1", "T2"), path, (int)random_below(r, 3));
    add(b, 80, "build B1 state=%s tree=%s%s version=2 root=/ components=2 written=%d",
        ANY(r, "pending", "accepted", "running", "running", "succeeded", "failed"),
        ANY(r, "T9", "T9", ""), ANY(r, "", " stale=T8"), ANY(r, "", "", "2")[0] ? 2 : 0);
    add(b, 30, "source B1 text=X");
    add(b, 20, "source D1 text=X");
    add(b, 90, "teardown T1 state=%s",
        ANY(r, "pending", "in_progress", "failed", "succeeded", "in_progress"));
}

static void add_trees(struct drawn_board *b)
{
    struct random *r = &b->random;
    add(b, 80, "index T1 /a/x=service:h1%s", ANY(r, "", ":/a:k"));
    add(b, 80, "index T2 /a=service:h2 /a/y=job:h4%s", ANY(r, "", ":/a:k"));
    add(b, 20, "index T9");
    add(b, 20, "tree T9/%%2F");
    add(b, 20, "tree T9/%%2Fa");
    add(b, 20, "tree T8/%%2Fa");
    unsigned services = b->teardown ? 10 : 40;
    add(b, services, "service /a state=%s deploy=%s component=h2",
        ANY(r, "stable", "stable", "failed"), ANY(r, "D1", "D1", "D1", "D0"));
    add(b, services, "service /a/x state=%s deploy=%s component=h1",
        ANY(r, "stable", "stable", "failed"), ANY(r, "D1", "D1", "D1", "D0"));
    add(b, services / 2, "service /b state=stable deploy=D0 component=h3");
    add(b, 10, "jobrun R1 state=running tree=T9");
    add(b, 10, "pool P1");
}

/* ---- What is asked --------------------------------------------------------------------------- */

static const char *revision_of(struct drawn_board *b, const char *kind)
{
    for (size_t i = 0; i < b->count; i++) {
        if (strcmp(b->list[i].key, kind) == 0) {
            return arena_printf(&b->l.arena, "%d", (int)(LAID_FIRST + 10 + i));
        }
    }
    return "0";
}

static const char *draw_witness(struct drawn_board *b)
{
    static const char *const keys[] = {"", "", "service/u/%2Fa", "service/u/%2Fa%2Fx",
                                       "build/u/D1", "build/u/B1", "secret/u/%2Fa%3Ak",
                                       "deploy/u/D2"};
    const char *key = keys[random_below(&b->random, sizeof(keys) / sizeof(keys[0]))];
    const char *revision = chance(&b->random, 60) ? revision_of(b, key) : "0";
    return arena_printf(&b->l.arena, "%s%s witness_revision=%s message=%s", *key ? " witness=" : "",
                        key, revision, ANY(&b->random, "", "M"));
}

static void add_written(struct drawn_board *b, Board__BuildMove *m)
{
    static const char *const paths[] = {"/", "/a"};
    struct arena *a = &b->l.arena;
    const char *key;
    m->written = ARENA_ARRAY(a, 2, Board__ComponentRecord *);
    for (size_t i = 0; i < 2; i++) {
        Board__ComponentRecord *c = m->written[m->n_written++] =
            arena_message(a, &board__component_record__descriptor);
        c->tree = m->tree;
        c->path = arena_strdup(a, paths[i]);
        c->kind = arena_strdup(a, "system");
    }
    m->index = (Board__IndexRecord *)system_row(a, "index T9 /=system:h /a=service:h", &key);
    m->index->path = arena_strdup(a, "/");
}

static const ProtobufCMessage *draw_move(struct drawn_board *b, const struct move_family *family,
                                         const char *name)
{
    struct random *r = &b->random;
    struct arena *a = &b->l.arena;
    const char *text;
    if (family == &system_moves) {
        text = arena_printf(a, "%s system/shop revision=%s state=%s generation=3 head_revision=%s",
                            name, revision_of(b, "system/shop"),
                            ANY(r, "stable", "updating", "scaling", "degraded"),
                            revision_of(b, "head/u"));
    } else if (family == &build_moves) {
        text =
            arena_printf(a, "%s build/u/B1 tree=%s components=2", name, ANY(r, "T9", "T9", "T8"));
    } else if (family == &deploy_moves) {
        text = arena_printf(a, "%s deploy/u/D1%s", name, draw_witness(b));
    } else {
        text = arena_printf(a, "%s teardown/u/T1", name);
    }
    Board__Move *m = laid_system_move(&b->l, family, text);
    if (family == &build_moves) {
        add_written(b, m->build);
    }
    return &m->base;
}

/* ---- What holds ------------------------------------------------------------------------------ */

static bool is_of_builds(const struct op_row *row)
{
    return strncmp(row->name, "collect", 7) == 0 || strncmp(row->name, "forget build", 12) == 0;
}

/* An index is written once, and stays as long as the head, or the build that is compared, names its
 * tree. That no service is missing which stood is not compared by a success: who holds its path
 * lets it go, and nobody else. Services and runs name only what the head names, or did. */
static bool excused(const struct op_row *row, const char *key, bool added)
{
    enum record_type type = key_type(key);
    bool names = type == RECORD_SERVICE || type == RECORD_JOB_RUN;
    return type == RECORD_INDEX || (is_of_builds(row) && names) ||
           (type == RECORD_SERVICE && !added);
}

struct tried {
    struct map reads; /* "move by actor: key kind" */
    struct buf fault;
    unsigned rows, commits;
};

static void note_reads(struct tried *t, struct laid_board *l, const struct op_row *row,
                       const struct op_input *in)
{
    SCOPED_ARENA(a);
    struct laid_plan p;
    laid_decide(l, row, in, &a, &p);
    for (size_t i = 0; p.plan.verdict == PLAN_COMMIT && i < p.reads.count; i++) {
        const struct compare *c = &p.reads.list[i];
        map_put(&t->reads,
                arena_printf(&a, "%s by %s: %s %s", row->name, actor_name(in->actor), c->key,
                             compare_kind_name(c->kind)),
                t);
    }
}

/* Of a move the family and its name, of a request its type and its words. */
struct asked {
    const struct move_family *family;
    const char *move;
    const ProtobufCMessageDescriptor *request;
    const char *words;
};

static void try_once(struct tried *t, unsigned number, const struct op_row *row,
                     const struct asked *asked)
{
    struct drawn_board b = {0};
    laid_system_init(&b.l, "");
    random_seed(&b.random, (uint64_t[2]){t->rows, number});
    b.move = asked->move;
    b.teardown = asked->family == &teardown_moves;
    b.takes = b.move && (strcmp(b.move, "accept") == 0 ||
                         (strcmp(b.move, "begin") == 0 && b.teardown));
    b.bare = chance(&b.random, 15);
    b.path = ANY(&b.random, "/a", "/");
    add_system(&b);
    add_actions(&b);
    add_trees(&b);
    struct op_input in = {.actor = asked->family ? ACTOR_CONVERGER : ACTOR_CLIENT,
                          .peer_name = "x", .trace_id = "", .boot_id = "boot"};
    in.request = asked->family
                     ? draw_move(&b, asked->family, asked->move)
                     : laid_system_request(&b.l, asked->request, asked->words);
    t->commits += laid_hold(b.l.board, row, &in, b.list, b.count, &b.random, CHANGES, excused,
                            &t->fault) == PLAN_COMMIT;
    note_reads(t, b.l.board, row, &in);
    laid_system_done(&b.l);
    if (t->fault.size) {
        fail_msg("%s", buf_string(&t->fault));
    }
}

static void try_row(struct tried *t, const struct op_row *row, const struct asked *asked)
{
    t->commits = 0;
    t->rows++;
    for (unsigned i = 0; i < BOARDS; i++) {
        try_once(t, i, row, asked);
    }
    if (!t->commits) {
        fail_msg("%s never writes anything on %d boards: nothing was tried", row->name, BOARDS);
    }
}

static void try_moves(struct tried *t, const struct move_family *family, const char *kind)
{
    for (size_t n = 0; n < family->lifecycle->trigger_count; n++) {
        const struct move_row *row = move_row_named(family, family->lifecycle->triggers[n]);
        if (row) {
            char name[64];
            struct op_row op = *row->op;
            snprintf(name, sizeof(name), "%s %s", row->name, kind);
            op.name = name;
            try_row(t, &op, &(struct asked){.family = family, .move = row->name});
        }
    }
}

static void try_request(struct tried *t, const struct op_row *row,
                        const ProtobufCMessageDescriptor *request, const char *words)
{
    try_row(t, row, &(struct asked){.request = request, .words = words});
}

static void try_all(struct tried *t)
{
    try_moves(t, &system_moves, "system");
    try_moves(t, &build_moves, "build");
    try_moves(t, &deploy_moves, "deploy");
    try_moves(t, &teardown_moves, "teardown");
    const ProtobufCMessageDescriptor *change = &board__deploy_change_request__descriptor;
    try_request(t, &create_system_row, &board__create_system_request__descriptor, "id=shop uid=n");
    try_request(t, &delete_system_row, &board__system_request__descriptor, "system=shop");
    try_request(t, &confirm_system_row, &board__system_request__descriptor, "system=shop");
    try_request(t, &build_row, &board__build_request__descriptor, "system=shop id=B1 definition=X");
    try_request(t, &deploy_row, &board__deploy_request__descriptor,
                "system=shop id=D1 definition=X");
    try_request(t, &deploy_row, &board__deploy_request__descriptor, "system=shop id=D1 undo=D2");
    try_request(t, &pause_deploy_row, change, "system=shop id=D1");
    try_request(t, &resume_deploy_row, change, "system=shop id=D1");
    try_request(t, &abort_deploy_row, change, "system=shop id=D1");
    try_request(t, &teardown_row, &board__teardown_request__descriptor, "system=shop id=T1");
}

/* All rows, and what they compared as text; needs a buf. */
static void try_and_print(struct buf *out)
{
    struct tried t = {0};
    map_init(&t.reads);
    buf_init(&t.fault);
    try_all(&t);
    MAP_EACH(&t.reads, n)
    {
        buf_printf(out, "%s\n", map_key(n));
    }
    map_done(&t.reads, NULL);
    buf_done(&t.fault);
}

static void every_write_compares_what_it_rests_on(void **state)
{
    SCOPED_BUF(out);
    try_and_print(&out);
    page_equals(EXPECTED, buf_string(&out), "test_system_read_sets print > " EXPECTED);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(out);
        try_and_print(&out);
        fputs(buf_string(&out), stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_write_compares_what_it_rests_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
