/* Runs of jobs (docs/rest.md, Jobs): each is executed once, of the snapshot of its request. */
#include "test/sim/model/containers.h"
#include "test/sim/stories/shop.h"

#include <stdio.h>
#include <string.h>

struct seen_task {
    struct cluster *c;
    unsigned starts;  /* of containers of tasks, asked of all drivers */
    char guid[256];   /* of the last one; it is the guid of its container */
};

/* What runs for long has a guid of 36 letters. */
static void on_verb(void *context, struct node *n, const struct verb_call *call)
{
    struct seen_task *t = context;
    (void)n;
    if (call->verb == VERB_START && strncmp(call->guid, "shop_j-", 7) == 0) {
        t->starts++;
        snprintf(t->guid, sizeof(t->guid), "%s", call->guid);
    }
}

static void watch(struct seen_task *t, struct cluster *c)
{
    *t = (struct seen_task){.c = c};
    world_observe(c->world, &(struct world_observer){.verb = on_verb, .context = t});
}

static struct node *cell_with(struct seen_task *t)
{
    for (unsigned i = 0; i < t->c->options.cells; i++) {
        if (*t->guid && model_containers_state(node_containers(t->c->cells[i]), t->guid) >= 0) {
            return t->c->cells[i];
        }
    }
    return NULL;
}

static bool it_runs(void *context)
{
    struct seen_task *t = context;
    struct node *cell = cell_with(t);
    return cell && model_containers_state(node_containers(cell), t->guid) == CONTAINER_RUNNING;
}

static bool it_is_gone(void *context)
{
    return cell_with(context) == NULL;
}

/* shop with a service and a job, deployed. */
static void open_with_a_job(struct shop *s, struct cluster *c)
{
    shop_open(s, c);
    definitions_put(&s->definitions, "1.0.0", "/a:1 /j:1=");
    definitions_put(&s->definitions, "1.1.0", "/a:1");
    shop_asks(s, "A", "version 1.0.0");
    shop_ends(s, "deploy", "A", "succeeded");
}

static void await_process(struct seen_task *t)
{
    assert_true(world_run_until(t->c->world, 12 * SETTLE_NS, it_runs, t));
}

void story_a_job_is_run(struct cluster *c)
{
    struct shop s;
    struct seen_task t;
    open_with_a_job(&s, c);
    says(c,
         "A run of the job /j is asked for, and again, for the answer was lost. A deploy takes "
         "the job out of the definition; the run goes on, and is executed once.");
    watch(&t, c);
    static const char body[] = "{\"id\":\"R\",\"path\":\"/j\",\"command\":[\"/bin/j\",\"7\"]}";
    assert_int_equal(shop_ask(&s, "POST", "/shop/jobs", body), 201);
    assert_int_equal(shop_ask(&s, "POST", "/shop/jobs", body), 201);
    shop_asks(&s, "B", "version 1.1.0");
    await_process(&t);
    shop_ends(&s, "deploy", "B", "succeeded");
    assert_int_equal(shop_ask(&s, "POST", "/shop/jobs", "{\"id\":\"S\",\"path\":\"/j\"}"), 404);
    assert_true(world_end_container(c->world, cell_with(&t), 0, 0));
    shop_await(&s, "jobrun", "R", "succeeded");
    assert_int_equal(cluster_records(c, "task/"), 0);
    assert_true(world_run_until(c->world, 12 * SETTLE_NS, it_is_gone, &t));
    assert_int_equal(t.starts, 1);
    world_observe(c->world, &(struct world_observer){0});
    shop_close(&s);
}

void story_a_job_is_cancelled_at_any_moment(struct cluster *c)
{
    struct shop s;
    struct seen_task t;
    open_with_a_job(&s, c);
    says(c, "A run is cancelled at some moment: it waits, is being made, or runs. It has failed, "
            "and nothing of it is left on any cell.");
    watch(&t, c);
    assert_int_equal(shop_ask(&s, "POST", "/shop/jobs", "{\"id\":\"R\",\"path\":\"/j\"}"), 201);
    world_run(c->world, (int64_t)random_below(world_random(c->world), 4 * SECOND_NS));
    assert_int_equal(shop_ask(&s, "DELETE", "/shop/jobs/R", ""), 200);
    assert_string_equal(shop_state(&s, "jobrun", "R"), "failed");
    assert_string_equal(shop_says(&s, "jobrun", "R"), "it was cancelled");
    assert_int_equal(cluster_records(c, "task/"), 0);
    assert_true(world_run_until(c->world, 12 * SETTLE_NS, it_is_gone, &t));
    world_run(c->world, SETTLE_NS);
    assert_true(t.starts <= 1 && it_is_gone(&t));
    assert_string_equal(shop_state(&s, "jobrun", "R"), "failed");
    world_observe(c->world, &(struct world_observer){0});
    shop_close(&s);
}

void story_a_job_goes_with_its_system(struct cluster *c)
{
    struct shop s;
    struct seen_task t;
    open_with_a_job(&s, c);
    says(c, "shop is deleted while a run of it is on a cell: the run ends, and nothing of it "
            "is left.");
    watch(&t, c);
    assert_int_equal(shop_ask(&s, "POST", "/shop/jobs", "{\"id\":\"R\",\"path\":\"/j\"}"), 201);
    await_process(&t);
    assert_int_equal(shop_ask(&s, "DELETE", "/shop", ""), 200);
    shop_await(&s, "system", "", "");
    assert_int_equal(cluster_records(c, "jobrun/"), 0);
    assert_int_equal(cluster_records(c, "task/"), 0);
    assert_true(world_run_until(c->world, 12 * SETTLE_NS, it_is_gone, &t));
    assert_int_equal(t.starts, 1);
    world_observe(c->world, &(struct world_observer){0});
    shop_close(&s);
}
