#include "rep/container/step_facts.h"

#include "rep/container/container.h"
#include "rep/container/kind.h"
#include "rep/steps/exit_text.h"

#include <assert.h>
#include <stdlib.h>

bool container_has_steps(const struct container *c)
{
    return c->about->n_steps > 0;
}

bool container_has_dependencies(const struct container *c)
{
    return container_has_steps(c) && c->about->steps[0]->dependencies;
}

void container_steps_done(struct container_steps *s)
{
    arena_done(&s->arena);
    free(s->done);
}

bool step_facts_learn(struct container *c, const struct container_status *status)
{
    struct container_steps *s = &c->steps;
    if (c->kind->runs) {
        return c->kind->runs(c, status);
    }
    if (!container_has_steps(c) || status->fact_count <= s->fact_count) {
        return false;
    }
    arena_done(&s->arena);
    arena_init(&s->arena);
    s->facts = ARENA_ARRAY(&s->arena, status->fact_count, struct step_fact);
    for (size_t i = 0; i < status->fact_count; i++) {
        s->facts[i] = status->facts[i];
        s->facts[i].text = arena_strdup(&s->arena, status->facts[i].text);
    }
    s->fact_count = status->fact_count;
    return true;
}

static struct steps_orders orders_by(struct arena *a, const struct container *c,
                                     const struct step_fact *facts, size_t count, int64_t now_ns,
                                     enum steps_where where)
{
    assert(container_has_steps(c));
    struct action_tree *tree = ARENA_NEW(a, struct action_tree);
    *tree = (struct action_tree){c->about->steps, c->about->n_steps};
    return steps_next(a, tree, facts, count, now_ns, where);
}

struct steps_orders step_facts_orders(struct arena *a, const struct container *c, int64_t now_ns,
                                      enum steps_where where)
{
    return orders_by(a, c, c->steps.facts, c->steps.fact_count, now_ns, where);
}

const char *step_facts_text(struct arena *a, const struct container *c,
                            const struct steps_orders *o)
{
    assert(o->over);
    const struct action_tree tree = {c->about->steps, c->about->n_steps};
    return o->text[0]  ? arena_strdup(a, o->text)
           : o->failed ? "stopped"
                       : exit_text(a, tree.steps[o->first_well]->source, 0, 0,
                                   (struct shortage){0});
}

/* Its machine was restarted: the whole was lost after the last that is known of it, by the clock of
 * that boot. */
static struct steps_orders orders_without_machine(struct arena *a, const struct container *c,
                                                  const char *text)
{
    size_t count = c->steps.fact_count;
    struct step_fact *facts = ARENA_ARRAY(a, count + 1, struct step_fact);
    int64_t last_ns = 0;
    for (size_t i = 0; i < count; i++) {
        facts[i] = c->steps.facts[i];
        last_ns = facts[i].at_ns > last_ns ? facts[i].at_ns : last_ns;
    }
    facts[count] = (struct step_fact){FACT_LOST, 0, last_ns + 1, .text = text};
    struct steps_orders o = orders_by(a, c, facts, count + 1, 0, STEPS_INSIDE);
    return o.over ? o : orders_by(a, c, facts, count + 1, 0, STEPS_GONE);
}

const char *step_facts_end(struct arena *a, const struct container *c,
                           const struct container_status *status, bool *ret_well)
{
    struct steps_orders o = step_facts_orders(a, c, 0, STEPS_INSIDE);
    bool told = status->text && status->text[0];
    if (!o.over && status->rebooted && told) {
        o = orders_without_machine(a, c, status->text);
    } else if (!o.over && told) {
        *ret_well = false;
        return arena_strdup(a, status->text);
    }
    o = o.over ? o : step_facts_orders(a, c, 0, STEPS_GONE);
    *ret_well = !o.failed;
    return step_facts_text(a, c, &o);
}
