/* Node pools (docs/systems.md, Node pools): a shop whose services have whole cells for themselves.
 * Cells 1 to 3 are small, 4 to 6 are large. */
#include "test/sim/model/containers.h"
#include "test/sim/model/etcd.h"
#include "test/sim/stories/shop.h"

#include "board.pb-c.h"
#include "models/actual_lrp.pb-c.h"

#include <string.h>

#define SHORT_NS (610 * SECOND_NS) /* a pool has failed by then */

/* ---- Looking --------------------------------------------------------------------------------- */

struct pool_sought {
    const char *name;
    struct buf *out;
};

static void note_cells(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const struct pool_sought *s = context;
    const Board__PoolRecord *p = (const Board__PoolRecord *)m;
    (void)type;
    for (size_t i = 0; strcmp(p->name, s->name) == 0 && i < p->n_epochs; i++) {
        buf_printf(s->out, "%s%s:", s->out->size ? " " : "", p->epochs[i]->instance_type);
        for (size_t c = 0; c < p->epochs[i]->n_cells; c++) {
            buf_printf(s->out, " %s", p->epochs[i]->cells[c]);
        }
    }
}

/* "small: cell-1 cell-2 large: cell-4", of its epochs; "" = it is not there. */
static const char *cells_of(struct shop *s, const char *pool)
{
    SCOPED_BUF(out);
    struct pool_sought sought = {pool, &out};
    cluster_each(s->c, "pool/", note_cells, &sought);
    return arena_strdup(&s->arena, buf_string(&out));
}

static size_t count_of(const char *cells)
{
    size_t count = 0;
    for (const char *at = cells; (at = strstr(at, "cell-")); at++) {
        count++;
    }
    return count;
}

/* What instances are on, once each. */
static void note_cell(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)m;
    const char *cell = r->actual_lrp_instance_key ? r->actual_lrp_instance_key->cell_id : "";
    (void)type;
    if (*cell) {
        buf_printf(context, "%s ", cell);
    }
}

/* Every instance is on one of these cells. */
static void demand_on(struct shop *s, const char *cells)
{
    SCOPED_BUF(out);
    cluster_each(s->c, "actual/", note_cell, &out);
    char *save = NULL;
    for (char *cell = strtok_r(arena_strdup(&s->arena, buf_string(&out)), " ", &save); cell;
         cell = strtok_r(NULL, " ", &save)) {
        if (!strstr(cells, cell)) {
            fail_msg("an instance is on %s, and not on one of %s", cell, cells);
        }
    }
}

static void note_taken(void *context, enum record_type type, const ProtobufCMessage *m)
{
    (void)type;
    *(size_t *)context += ((const Board__CellRecord *)m)->pool[0] != '\0';
}

/* How many cells are in a pool, by their records. */
static size_t taken(struct shop *s)
{
    size_t count = 0;
    cluster_each(s->c, "cell/", note_taken, &count);
    return count;
}

static void note_leaving(void *context, enum record_type type, const ProtobufCMessage *m)
{
    (void)type;
    *(size_t *)context += ((const Board__CellRecord *)m)->pool_leaves;
}

/* How many take nothing new, for their pool gives them back. */
static size_t leaving(struct shop *s)
{
    size_t count = 0;
    cluster_each(s->c, "cell/", note_leaving, &count);
    return count;
}

static struct node *first_cell_of(struct shop *s, const char *cells)
{
    for (unsigned i = 0; i < s->c->options.cells; i++) {
        if (strstr(cells, node_name(s->c->cells[i]))) {
            return s->c->cells[i];
        }
    }
    fail_msg("none of %s is a cell", cells);
    return NULL;
}

static void deploys(struct shop *s, const char *id, const char *version, const char *text)
{
    definitions_put(&s->definitions, version, text);
    shop_asks(s, id, arena_printf(&s->arena, "version %s", version));
    shop_ends(s, "deploy", id, "succeeded");
}

/* ---- Stories --------------------------------------------------------------------------------- */

void story_a_pool_grows_and_loses_a_cell(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "A pool of one small cell, and a service of two instances in it: both are there. It "
            "grows to two cells.");
    deploys(&s, "A", "1.0.0", "/:m#small+1 /a:1*2@/:m");
    shop_await(&s, "pool", "/:m", "stable");
    const char *cells = cells_of(&s, "/:m");
    assert_int_equal(count_of(cells), 1);
    demand_on(&s, cells);
    deploys(&s, "B", "1.1.0", "/:m#small+2 /a:1*2@/:m");
    cells = cells_of(&s, "/:m");
    assert_int_equal(count_of(cells), 2);
    assert_int_equal(taken(&s), 2);
    says(c, "One of its cells dies: the third small one takes its place, and its work.");
    struct node *dead = first_cell_of(&s, cells);
    world_kill(c->world, dead);
    world_run(c->world, 60 * SECOND_NS);
    shop_await(&s, "pool", "/:m", "stable");
    shop_await(&s, "service", "/a", "stable");
    cells = cells_of(&s, "/:m");
    assert_int_equal(count_of(cells), 2);
    assert_null(strstr(cells, node_name(dead)));
    demand_on(&s, cells);
    says(c, "It is to have none: both go when nothing runs there any more.");
    deploys(&s, "C", "1.2.0", "/:m#small+0");
    shop_await(&s, "pool", "/:m", "stable");
    assert_int_equal(taken(&s), 0);
    shop_close(&s);
}

void story_a_pool_shrinks_under_work(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "A pool of two small cells runs a service of four instances. It is to have one cell: "
            "one of the two takes nothing new any more, and what runs there runs on.");
    deploys(&s, "A", "1.0.0", "/:m#small+2 /a:1*4@/:m");
    shop_await(&s, "pool", "/:m", "stable");
    const char *cells = cells_of(&s, "/:m");
    assert_int_equal(count_of(cells), 2);
    deploys(&s, "B", "1.1.0", "/:m#small+1 /a:1*4@/:m");
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(taken(&s), 2);
    assert_int_equal(leaving(&s), 1);
    assert_string_equal(shop_says(&s, "pool", "/:m"),
                        "1 cell more than wanted: it goes when nothing runs there");
    says(c, "The service rolls to another version: what is new comes to the other cell, and the "
            "one that was to go is free.");
    deploys(&s, "C", "1.2.0", "/:m#small+1 /a:2*4@/:m");
    shop_await(&s, "pool", "/:m", "stable");
    assert_int_equal(taken(&s), 1);
    assert_int_equal(leaving(&s), 0);
    demand_on(&s, cells_of(&s, "/:m"));
    says(c, "Two cells again, of which one is to go; before it is free, two are wanted.");
    deploys(&s, "D", "1.3.0", "/:m#small+2 /a:3*4@/:m");
    shop_await(&s, "pool", "/:m", "stable");
    cells = cells_of(&s, "/:m");
    deploys(&s, "E", "1.4.0", "/:m#small+1 /a:3*4@/:m");
    world_run(c->world, 30 * SECOND_NS);
    assert_int_equal(leaving(&s), 1);
    deploys(&s, "F", "1.5.0", "/:m#small+2 /a:3*4@/:m");
    shop_await(&s, "pool", "/:m", "stable");
    world_run(c->world, 30 * SECOND_NS);
    assert_int_equal(leaving(&s), 0);
    assert_string_equal(cells_of(&s, "/:m"), cells);
    shop_close(&s);
}

void story_a_pool_is_renewed(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "A pool of two small cells is to be of large ones: its services roll over, and the "
            "small ones are free again.");
    deploys(&s, "A", "1.0.0", "/:m#small+2 /a:1*2@/:m /b:1");
    deploys(&s, "B", "1.1.0", "/:m#large+2 /a:1*2@/:m /b:1");
    shop_await(&s, "pool", "/:m", "stable");
    shop_await(&s, "system", "", "stable");
    const char *cells = cells_of(&s, "/:m");
    assert_int_equal(count_of(cells), 2);
    assert_memory_equal(cells, "large:", 6);
    assert_int_equal(taken(&s), 2);
    shop_asks_teardown(&s, "T");
    shop_ends(&s, "teardown", "T", "succeeded");
    assert_string_equal(cells_of(&s, "/:m"), "");
    assert_int_equal(taken(&s), 0);
    shop_close(&s);
}

struct starts {
    unsigned count;
};

static void note_start(void *context, struct node *n, const struct verb_call *call)
{
    (void)n;
    ((struct starts *)context)->count += call->verb == VERB_START;
}

void story_a_renewed_pool_is_rolled_back(struct cluster *c)
{
    struct shop s;
    struct starts starts = {0};
    shop_open(&s, c);
    says(c, "A pool of two small cells is to be of four large ones, and there are three. What runs "
            "runs on. After ten minutes the pool has failed, and the deploy with it: what stood "
            "before is put back, and nothing was started for it.");
    deploys(&s, "A", "1.0.0", "/:m#small+2 /a:1*2@/:m");
    const char *before = cells_of(&s, "/:m");
    world_observe(c->world, &(struct world_observer){.verb = note_start, .context = &starts});
    definitions_put(&s.definitions, "1.1.0", "/:m#large+4 /a:1*2@/:m");
    shop_asks(&s, "B", "version 1.1.0 back");
    world_run(c->world, SHORT_NS / 2);
    assert_string_equal(shop_state(&s, "deploy", "B"), "in progress");
    assert_string_equal(shop_state(&s, "pool", "/:m"), "updating");
    world_run(c->world, SHORT_NS / 2);
    shop_ends(&s, "deploy", "B", "failed");
    shop_await(&s, "pool", "/:m", "stable");
    shop_await(&s, "system", "", "stable");
    assert_string_equal(cells_of(&s, "/:m"), before);
    assert_int_equal(taken(&s), 2);
    assert_int_equal(starts.count, 0);
    demand_on(&s, before);
    world_observe(c->world, &(struct world_observer){0});
    shop_close(&s);
}

void story_a_pool_goes_with_its_service(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "A service has a pool of its own, a cell an instance. Its cells become large ones; "
            "then the service goes, and its pool with it.");
    deploys(&s, "A", "1.0.0", "/a:1*2&small /b:1");
    assert_int_equal(count_of(cells_of(&s, "/a:")), 2);
    deploys(&s, "B", "1.1.0", "/a:1*2&large /b:1");
    assert_memory_equal(cells_of(&s, "/a:"), "large:", 6);
    assert_int_equal(taken(&s), 2);
    deploys(&s, "C", "1.2.0", "/b:1");
    assert_string_equal(cells_of(&s, "/a:"), "");
    assert_int_equal(taken(&s), 0);
    shop_await(&s, "system", "", "stable");
    shop_close(&s);
}

void story_a_pool_that_no_cell_fits(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "No cell is of the type that a pool wants. After ten minutes it has failed, its "
            "service and the deploy with it, and each says why. The next deploy wants what is "
            "there.");
    definitions_put(&s.definitions, "1.0.0", "/:m#huge+1 /a:1@/:m");
    shop_asks(&s, "A", "version 1.0.0");
    world_run(c->world, SHORT_NS / 2);
    assert_string_equal(shop_says(&s, "service", "/a"),
                        "its node pool has too few cells: needs 1 cell of type huge, 0 are there");
    world_run(c->world, SHORT_NS / 2);
    shop_ends(&s, "deploy", "A", "failed");
    assert_string_equal(shop_state(&s, "pool", "/:m"), "failed");
    assert_non_null(strstr(shop_says(&s, "deploy", "A"), "needs 1 cell of type huge, 0 are there"));
    shop_await(&s, "service", "/a", "failed");
    shop_await(&s, "system", "", "degraded");
    deploys(&s, "B", "1.1.0", "/:m#large+1 /a:1@/:m");
    shop_await(&s, "system", "", "stable");
    shop_close(&s);
}

static bool is_down(void *context)
{
    return !node_up(context);
}

void story_a_pool_waits_for_cells_with_work(struct cluster *c)
{
    struct shop s;
    int status = 0;
    shop_open(&s, c);
    says(c, "A service on shared cells has an instance on each cell when a pool wants a large one. "
            "The pool says what keeps it from its cell, and the service in it says so, too. A "
            "large cell is emptied and started again: the pool has it, and the deploy ends.");
    deploys(&s, "A", "1.0.0", "/b:1*6");
    definitions_put(&s.definitions, "1.1.0", "/b:1*6 /:m#large+1 /a:1@/:m");
    shop_asks(&s, "B", "version 1.1.0");
    world_run(c->world, 20 * SECOND_NS);
    assert_string_equal(shop_says(&s, "pool", "/:m"),
                        "needs 1 cell of type large, 0 are there; 3 more have other work on them: "
                        "empty some with rep evacuate, and end units that stay with bbs units "
                        "destroy-unit");
    assert_non_null(strstr(shop_says(&s, "service", "/a"), "3 more have other work on them"));
    cluster_post_evacuate(c, c->cells[4], 60 * SECOND_NS, note_status, &status);
    assert_true(world_run_until(c->world, 90 * SECOND_NS, is_down, c->cells[4]));
    assert_int_equal(status, 202);
    world_start(c->world, c->cells[4]);
    shop_ends(&s, "deploy", "B", "succeeded");
    assert_string_equal(cells_of(&s, "/:m"),
                        arena_printf(&s.arena, "large: %s", node_name(c->cells[4])));
    shop_await(&s, "system", "", "stable");
    shop_close(&s);
}

void story_a_run_waits_for_its_pool(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "A small cell is lost, and a pool wants three. A run of a job in it waits, and says "
            "for what; when the cell is back it is executed, on a cell of the pool.");
    world_kill(c->world, c->cells[0]);
    world_run(c->world, 60 * SECOND_NS);
    definitions_put(&s.definitions, "1.0.0", "/:m#small+3 /j:1=@/:m");
    shop_asks(&s, "A", "version 1.0.0");
    shop_await(&s, "pool", "/:m", "scaling");
    assert_int_equal(shop_ask(&s, "POST", "/shop/jobs", "{\"id\":\"R\",\"path\":\"/j\"}"), 201);
    world_run(c->world, 20 * SECOND_NS);
    assert_string_equal(shop_state(&s, "jobrun", "R"), "pending");
    assert_string_equal(shop_says(&s, "jobrun", "R"),
                        "waits for node pool /:m: needs 3 cells of type small, 2 are there");
    world_start(c->world, c->cells[0]);
    shop_ends(&s, "deploy", "A", "succeeded");
    shop_await(&s, "jobrun", "R", "running");
    world_run(c->world, 10 * SECOND_NS);
    for (unsigned i = 0; i < 3; i++) {
        world_end_container(c->world, c->cells[i], 0, 0);
    }
    shop_await(&s, "jobrun", "R", "succeeded");
    shop_close(&s);
}

void story_a_pool_after_a_restore(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "A pool has one cell. A snapshot is taken, and it grows to two. etcd is restored from "
            "the snapshot: the pool keeps its one cell, though that dies meanwhile, and nothing is "
            "given or taken until somebody confirms the system.");
    deploys(&s, "A", "1.0.0", "/:m#small+1 /a:1@/:m");
    int64_t snapshot = model_etcd_revision(store_etcd(c->store));
    const char *one = cells_of(&s, "/:m");
    deploys(&s, "B", "1.1.0", "/:m#small+2 /a:1@/:m");
    store_restore(c->store, snapshot, SECOND_NS);
    world_run(c->world, 5 * SECOND_NS);
    cluster_new_board_generation(c, "again");
    world_run(c->world, 6 * SECOND_NS);
    world_kill(c->world, first_cell_of(&s, one));
    world_run(c->world, 90 * SECOND_NS);
    assert_string_equal(cells_of(&s, "/:m"), one);
    assert_int_equal(taken(&s), 1);
    assert_int_equal(shop_ask(&s, "POST", "/shop/confirm", ""), 200);
    world_run(c->world, 30 * SECOND_NS);
    shop_await(&s, "pool", "/:m", "stable");
    shop_await(&s, "service", "/a", "stable");
    assert_string_not_equal(cells_of(&s, "/:m"), one);
    assert_int_equal(taken(&s), 1);
    demand_on(&s, cells_of(&s, "/:m"));
    shop_close(&s);
}
