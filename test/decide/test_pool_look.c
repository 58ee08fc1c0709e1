/* What a converger does about a node pool, rule by rule (converger/pool_look.h). A board is a short
 * text. Cells: "a" small, free; "L" after its name large, "N" of no type, "P" picky; "!" lost or
 * being emptied, "*" something is on it, "?" asked for another pool, "@2" in epoch 2 of the pool,
 * "-" it is to go; "z" and a digit its zone. The pool: its epochs, oldest first, as "1S:a,b" with
 * "~" when it is over, "^" when it is named. */
#include "common/base/memory.h"
#include "common/lifecycle/pool.h"
#include "common/model/pool_tag.h"
#include "converger/pool_look.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define NOW_NS (10000 * SECOND_NS)
#define UID "u"
#define NAME "/:m"

struct row {
    const char *rule;
    const char *state;
    int32_t wanted;
    const char *epochs, *cells;
    const char *expected; /* "assign 1 a", "observe scaling", "-" */
    const char *message;  /* of the record; NULL = as it is to be */
    bool unconfirmed, overdue, observed;
};

struct laid {
    struct arena arena;
    struct map cells, named;
    Board__PoolRecord record;
};

static void lay_cell(struct laid *l, const char *word)
{
    char *id = arena_strndup(&l->arena, word, 1);
    struct pool_cell *c = map_named(&l->cells, id, offsetof(struct pool_cell, id));
    const char *zone = strchr(word, 'z'), *in = strchr(word, '@');
    char **tags = ARENA_ARRAY(&l->arena, 1, char *);
    tags[0] = arena_strdup(&l->arena, pool_type_tag(&l->arena, strchr(word, 'L') ? "large"
                                                                                 : "small"));
    c->tags = tags;
    c->tag_count = strchr(word, 'N') ? 0 : 1;
    c->zone = arena_strdup(&l->arena, zone ? zone : "");
    c->pool = arena_strdup(&l->arena, in ? pool_tag(&l->arena, UID, NAME, (uint32_t)(in[1] - '0'))
                                         : "");
    c->picky = strchr(word, 'P');
    c->serves = !strchr(word, '!');
    c->used = strchr(word, '*');
    c->leaves = strchr(word, '-');
    c->asked = strchr(word, '?');
}

static void lay_epoch(struct laid *l, const char *word)
{
    struct arena *a = &l->arena;
    Board__PoolEpoch *e = arena_message(a, &board__pool_epoch__descriptor);
    e->number = (uint32_t)(word[0] - '0');
    e->instance_type = arena_strdup(a, word[1] == 'L' ? "large" : "small");
    e->cells = ARENA_ARRAY(a, strlen(word), char *);
    e->released = strchr(word, '~') != NULL;
    for (const char *c = strchr(word, ':') + 1; *c >= 'a' && *c <= 'z'; c++) {
        e->cells[e->n_cells++] = arena_strndup(a, c, 1);
        c += c[1] == ',';
    }
    if (strchr(word, '^')) {
        map_put(&l->named, pool_tag(a, UID, NAME, e->number), l);
    }
    l->record.epochs[l->record.n_epochs++] = e;
    l->record.instance_type = e->instance_type;
}

static void each_word(struct laid *l, const char *text, void (*lay)(struct laid *, const char *))
{
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        lay(l, arena_strndup(&l->arena, at, size));
        at += size;
    }
}

static void lay(struct laid *l, const struct row *r)
{
    *l = (struct laid){.record = BOARD__POOL_RECORD__INIT};
    arena_init(&l->arena);
    map_init(&l->cells);
    map_init(&l->named);
    l->record.uid = arena_strdup(&l->arena, UID);
    l->record.name = arena_strdup(&l->arena, NAME);
    l->record.state = arena_strdup(&l->arena, r->state);
    l->record.wanted = r->wanted;
    l->record.epochs = ARENA_ARRAY(&l->arena, strlen(r->epochs) + 1, Board__PoolEpoch *);
    each_word(l, r->cells, lay_cell);
    each_word(l, r->epochs, lay_epoch);
}

static const char *said(struct arena *a, const Board__Move *m)
{
    if (!m) {
        return "-";
    }
    return *m->pool->state     ? arena_printf(a, "%s %s", m->move, m->pool->state)
           : *m->pool->cell_id ? arena_printf(a, "%s %u %s", m->move, m->pool->epoch,
                                              m->pool->cell_id)
           : m->pool->epoch    ? arena_printf(a, "%s %u", m->move, m->pool->epoch)
                               : m->move;
}

/* What it says is what it would say if it were looked at for that alone. */
static void try_row(const struct row *r)
{
    struct laid l;
    struct pool_answer answer;
    lay(&l, r);
    struct pool_look look = {
        .record = &l.record,
        .now = {.mono_ns = NOW_NS},
        .cells = &l.cells,
        .named = &l.named,
        .unconfirmed = r->unconfirmed,
        .short_ns = r->overdue ? NOW_NS - 600 * SECOND_NS : NOW_NS - 600 * SECOND_NS + 1,
    };
    if (r->message) {
        l.record.message = arena_strdup(&l.arena, r->message);
        look.observe_ns = r->observed ? NOW_NS - SECOND_NS + 1 : NOW_NS - SECOND_NS;
    }
    pool_look_at(&l.arena, &look, &answer);
    if (!r->message && answer.move && strncmp(said(&l.arena, answer.move), "observe", 7) == 0 &&
        strcmp(answer.move->pool->state, r->state) == 0) {
        l.record.message = answer.move->pool->message;
        pool_look_at(&l.arena, &look, &answer);
    }
    if (strcmp(said(&l.arena, answer.move), r->expected) != 0) {
        fail_msg("%s: %s, and not %s", r->rule, said(&l.arena, answer.move), r->expected);
    }
    map_done(&l.cells, free);
    map_done(&l.named, NULL);
    arena_done(&l.arena);
}

static void each_rule(void **state)
{
    static const struct row rows[] = {
        {"nothing: stable", "stable", 1, "1S:a", "a@1 b", "-"},
        {"nothing: none is free", "scaling", 2, "1S:a", "a@1 bL cN dP e* f! g? h@7", "-"},
        {"1: short", "stable", 2, "1S:a", "a@1 b", "observe scaling", .unconfirmed = true},
        {"1: nothing is taken", "scaling", 2, "1S:a", "a@1 b", "-", .unconfirmed = true},
        {"1: nor given", "scaling", 0, "1S:a", "a@1", "-", .unconfirmed = true},
        {"1: nor retired", "updating", 0, "1S: 2S:", "", "-", .unconfirmed = true},
        {"1: nor removed", "deleting", 0, "", "", "-", .unconfirmed = true},
        {"1: nor failed", "scaling", 1, "1S:", "", "-", .unconfirmed = true, .overdue = true},
        {"2", "deleting", 1, "", "a", "remove"},
        {"2: an epoch yet", "deleting", 1, "1S:^", "", "-"},
        {"3: old", "updating", 1, "1S:a 2L:b", "a@1 bL@2", "retire 1"},
        {"3: old, named", "updating", 1, "1S:a^ 2L:b", "a@1 bL@2", "-"},
        {"3: before a change of state", "stable", 1, "1S:a 2L:b", "a@1 bL@2", "retire 1"},
        {"3: the newest goes", "deleting", 1, "1S:a", "a@1", "retire 1"},
        {"3: never the newest", "scaling", 1, "1S:", "", "-"},
        {"4: empty", "updating", 1, "1S~:a,b 2L:c", "a*@1 b@1 cL@2", "release 1 b"},
        {"4: gone", "updating", 1, "1S~:a,b 2L:c", "a*@1 cL@2", "release 1 b"},
        {"4: made anew, with work", "updating", 1, "1S~:a,b 2L:c", "a*@1 b* cL@2", "release 1 b"},
        {"4: used", "updating", 1, "1S~:a 2L:c", "a*@1 cL@2", "-"},
        {"4: goes", "deleting", 1, "1S~:a", "a@1", "release 1 a"},
        {"5: scaling", "stable", 2, "1S:a", "a@1 b", "observe scaling"},
        {"5: stable", "pending", 1, "1S:a", "a@1", "observe stable"},
        {"5: updating", "stable", 1, "1S:a^ 2L:", "a@1 bL", "observe updating"},
        {"5: failed", "scaling", 1, "1S:", "", "observe failed", .overdue = true},
        {"5: failed no more", "failed", 1, "1S:a", "a@1", "observe stable", .overdue = true},
        {"6", "scaling", 2, "1S:a", "a@1 b c", "assign 1 b"},
        {"6: of the newest's type", "updating", 1, "1S:a^ 2L:", "a@1 b cL", "assign 2 c"},
        {"6: the zone with fewest", "scaling", 3, "1S:a", "a@1z1 bz1 cz2", "assign 1 c"},
        {"6: for one that is lost", "scaling", 1, "1S:a", "a*!@1 b", "assign 1 b"},
        {"6: for one that is gone", "scaling", 1, "1S:a", "b", "assign 1 b"},
        {"6: before 7", "scaling", 1, "1S:a,c", "a!@1 b c!@1", "assign 1 b"},
        {"6: also when it has failed", "failed", 1, "1S:", "b", "assign 1 b", .overdue = true},
        {"7: gone", "scaling", 1, "1S:a,b", "a@1", "release 1 b"},
        {"7: made anew, with work", "scaling", 1, "1S:a,b", "a@1 b*", "release 1 b"},
        {"7: gone, none to replace it", "scaling", 1, "1S:a", "", "release 1 a"},
        {"7: too many: the last", "scaling", 1, "1S:a,b", "a@1 b@1", "release 1 b"},
        {"7: one that is lost first", "scaling", 1, "1S:a,b", "a!@1 b@1", "release 1 a"},
        {"7: the zone with most", "scaling", 2, "1S:a,b,c", "a@1z1 b@1z1 c@1z2", "release 1 b"},
        {"7: not what is used", "scaling", 1, "1S:a,b", "a@1 b*@1", "release 1 a"},
        {"7: not the one that serves", "scaling", 1, "1S:a,b", "a*!@1- b@1", "-"},
        {"7: one that was to go", "scaling", 1, "1S:a,b", "a@1- b*@1", "release 1 a"},
        {"8: all used: the last", "scaling", 1, "1S:a,b", "a*@1 b*@1", "mark 1 b"},
        {"8: one at a time, as many as are too many", "scaling", 1, "1S:a,b,c",
         "a*@1 b*@1 c*@1-", "mark 1 b"},
        {"8: no more than that", "scaling", 1, "1S:a,b", "a*@1 b*@1-", "-"},
        {"8: the zone with most", "scaling", 2, "1S:a,b,c", "a*@1z1 b*@1z1 c*@1z2", "mark 1 b"},
        {"8: one that is lost first", "scaling", 1, "1S:a,b", "a*!@1 b*@1", "mark 1 a"},
        {"8: one that has no work goes before", "scaling", 1, "1S:a,b", "a@1 b*@1", "release 1 a"},
        {"8: none of an older epoch", "updating", 1, "1S:a,b^ 2L:c", "a*@1 b*@1 cL@2", "-"},
        {"8: none of one that goes", "deleting", 0, "1S:a^", "a*@1", "-"},
        {"6: one that was to go is missed", "stable", 2, "1S:a,b", "a*@1- b*@1 c", "keep 1 a"},
        {"6: the first", "scaling", 2, "1S:a,b,c", "a*@1- b*@1- c*@1", "keep 1 a"},
        {"6: what is lost stays to go", "scaling", 2, "1S:a,b", "a*!@1- b*@1 c", "assign 1 c"},
        {"7: lost, but not too many", "scaling", 1, "1S:a", "a!@1", "-"},
        {"9", "scaling", 2, "1S:a", "a@1", "observe scaling", .message = "else"},
        {"9: a second later", "scaling", 2, "1S:a", "a@1", "-", .message = "else",
         .observed = true},
        {"9: not of one that goes", "deleting", 1, "1S:a^", "a*@1", "-", .message = "else"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        try_row(&rows[i]);
    }
}

/* While it is short: cells that it could have if nothing were on them. */
static void it_tells_of_cells_with_other_work(void **state)
{
    static const struct {
        const char *cells, *says;
    } rows[] = {
        {"a@1 b*", "needs 2 cells of type small, 1 is there; 1 more has other work on it: empty it "
                   "with rep evacuate, and end units that stay with bbs units destroy-unit"},
        {"a@1 b* c*", "needs 2 cells of type small, 1 is there; 2 more have other work on them: "
                      "empty some with rep evacuate, and end units that stay with bbs units "
                      "destroy-unit"},
        {"a@1 bL* cN* dP* e*! f*? g*@7", "needs 2 cells of type small, 1 is there"},
        {"a@1 b@1 c*", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid l;
        struct pool_answer answer;
        bool all = !*rows[i].says;
        lay(&l, &(struct row){.state = all ? "scaling" : "stable", .wanted = 2,
                              .epochs = all ? "1S:a,b" : "1S:a", .cells = rows[i].cells});
        struct pool_look look = {.record = &l.record, .now = {.mono_ns = NOW_NS},
                                 .cells = &l.cells, .named = &l.named, .short_ns = NOW_NS};
        pool_look_at(&l.arena, &look, &answer);
        assert_string_equal(answer.move->move, "observe");
        assert_string_equal(answer.move->pool->message, rows[i].says);
        map_done(&l.cells, free);
        map_done(&l.named, NULL);
        arena_done(&l.arena);
    }
}

/* The bound of its cells, of all epochs together. */
static void it_takes_no_more_than_it_may_have(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct laid l;
        struct pool_answer answer;
        lay(&l, &(struct row){.state = "scaling", .epochs = "1S:", .cells = "z"});
        Board__PoolEpoch *e = l.record.epochs[0];
        e->n_cells = POOL_CELLS_MAX - 1 + more;
        e->cells = ARENA_ARRAY(&l.arena, e->n_cells, char *);
        for (size_t i = 0; i < e->n_cells; i++) {
            e->cells[i] = arena_printf(&l.arena, "c%03zu", i);
            struct pool_cell *c = map_named(&l.cells, e->cells[i], offsetof(struct pool_cell, id));
            c->zone = c->pool = e->instance_type;
            c->used = true;
        }
        l.record.wanted = POOL_CELLS_MAX;
        struct pool_look look = {.record = &l.record, .now = {.mono_ns = NOW_NS},
                                 .cells = &l.cells, .named = &l.named, .short_ns = NOW_NS};
        pool_look_at(&l.arena, &look, &answer);
        assert_int_equal(answer.move && strcmp(answer.move->move, "assign") == 0, more == 0);
        map_done(&l.cells, free);
        map_done(&l.named, NULL);
        arena_done(&l.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(it_tells_of_cells_with_other_work),
        cmocka_unit_test(it_takes_no_more_than_it_may_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
