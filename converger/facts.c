#include "converger/facts.h"

#include "common/lifecycle/actual_lrp.h"
#include "common/model/record.h"
#include "common/model/routing.h"
#include "converger/instances.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int instance_compare(const struct instance *a, const struct instance *b)
{
    int by_index = (a->view.index > b->view.index) - (a->view.index < b->view.index);
    return by_index ? by_index : a->view.presence - b->view.presence;
}

RB_GENERATE_INTERNAL(instance_tree, instance, node, instance_compare,
                     static __attribute__((unused)))

static void *zeroed(size_t size)
{
    void *p = calloc(1, size);
    if (!p) {
        abort();
    }
    return p;
}

/* ---- Actual records -------------------------------------------------------------------------- */

/* The record is said anew: what it said before goes. */
static void forget(struct cache *c, struct instance *i)
{
    i->process->facts.unreadable -= i->domain == NULL;
    domain_bear_no_more(c, i->domain);
    i->domain = NULL;
    cell_leave(c, &i->on);
}

/* The digest of this index. */
static uint64_t wanted(const struct process_facts *p, int32_t index)
{
    char text[16];
    uint64_t digest = p->routing;
    snprintf(text, sizeof(text), "%d", (int)index);
    for (size_t i = 0; i < p->index_tag_count; i++) {
        digest +=
            routing_digest_tag(p->index_tags[i], text) - routing_digest_tag(p->index_tags[i], "0");
    }
    return digest;
}

static void learn(struct cache *c, struct instance *i, const struct followed *record)
{
    struct arena a;
    ProtobufCMessage *m = NULL;
    arena_init(&a);
    int r = record_decode(&a, RECORD_ACTUAL, blob_bytes(record->record), &m, NULL);
    const Models__ActualLRP *lrp = (const Models__ActualLRP *)m;
    if (r < 0 || !lrp->actual_lrp_key) {
        i->process->facts.unreadable++;
        arena_done(&a);
        return;
    }
    instance_view_of(lrp, i->view.index, i->view.presence, &i->view);
    i->view.seen = record->seen;
    i->domain = domain_bear(c, lrp->actual_lrp_key->domain);
    const Models__ActualLRPInstanceKey *key = lrp->actual_lrp_instance_key;
    struct routing routing;
    routing_actual(&a, lrp, &routing);
    i->routing = routing_digest(&routing, key ? key->instance_guid : "");
    i->view.differs = i->routing != wanted(&i->process->facts, i->view.index);
    cell_use(c, KEEPER_instances, &i->on, key ? key->cell_id : "");
    arena_done(&a);
}

static void drop(struct cache *c, struct instance *i)
{
    struct process_facts *p = &i->process->facts;
    forget(c, i);
    RB_REMOVE(instance_tree, &p->instances, i);
    p->count--;
    free(i);
}

void facts_actual(struct cache *c, struct process *p, int32_t index, int presence,
                  const struct followed *record)
{
    struct instance wanted = {.view = {.index = index, .presence = (uint8_t)presence}};
    struct instance *i = RB_FIND(instance_tree, &p->facts.instances, &wanted);
    if (i && !record) {
        drop(c, i);
    } else if (i) {
        forget(c, i);
        learn(c, i, record);
    } else if (record) {
        i = zeroed(sizeof(*i));
        i->process = p;
        i->view = wanted.view;
        RB_INSERT(instance_tree, &p->facts.instances, i);
        p->facts.count++;
        learn(c, i, record);
    }
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void forget_routing(struct process_facts *facts)
{
    for (size_t i = 0; i < facts->index_tag_count; i++) {
        free(facts->index_tags[i]);
    }
    free(facts->index_tags);
    facts->index_tags = NULL;
    facts->index_tag_count = 0;
    facts->routing = 0;
}

static void learn_routing(struct process_facts *facts, const Models__DesiredLRP *desired)
{
    struct arena a;
    struct routing routing;
    arena_init(&a);
    routing_desired(&a, desired, 0, ROUTING_OWN_GUID, &routing);
    facts->routing = routing_digest(&routing, "");
    if (desired->n_metric_tags > 0) {
        facts->index_tags = calloc(desired->n_metric_tags, sizeof(*facts->index_tags));
        if (!facts->index_tags) {
            abort();
        }
    }
    for (size_t i = 0; i < desired->n_metric_tags; i++) {
        const Models__DesiredLRP__MetricTagsEntry *tag = desired->metric_tags[i];
        if (tag->value && tag->value->dynamic == MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INDEX) {
            char *key = strdup(tag->key);
            if (!key) {
                abort();
            }
            facts->index_tags[facts->index_tag_count++] = key;
        }
    }
    arena_done(&a);
}

void facts_desired(struct process *p, const struct followed *record)
{
    struct process_facts *facts = &p->facts;
    facts->unreadable -= facts->has_desired && !facts->desired.is;
    facts->has_desired = record != NULL;
    facts->desired = (struct desired_view){0};
    forget_routing(facts);
    if (record) {
        struct arena a;
        ProtobufCMessage *m;
        arena_init(&a);
        if (record_decode(&a, RECORD_DESIRED, blob_bytes(record->record), &m, NULL) == 0) {
            desired_view_of((const Models__DesiredLRP *)m, &facts->desired);
            learn_routing(facts, (const Models__DesiredLRP *)m);
        } else {
            facts->unreadable++;
        }
        arena_done(&a);
    }
    struct instance *i;
    RB_FOREACH(i, instance_tree, &facts->instances)
    {
        i->view.differs = i->routing != wanted(facts, i->view.index);
    }
}

void facts_job(struct process *p, bool at_work)
{
    p->facts.has_job = at_work;
}

void facts_clear(struct cache *c, struct process *p)
{
    struct instance *i;
    while ((i = RB_ROOT(&p->facts.instances))) {
        drop(c, i);
    }
    facts_desired(p, NULL);
    facts_job(p, false);
}

bool facts_any(const struct process *p)
{
    return p->facts.count > 0 || p->facts.has_desired || p->facts.has_job;
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* How many records the range can have at most; counting them would be as long as copying. */
static size_t room_of(const struct process_facts *p, int32_t first, int32_t last)
{
    size_t most = ((size_t)((int64_t)last - first) + 1) * PRESENCES;
    return most < p->count ? most : p->count;
}

void facts_view(const struct cache *c, struct moment now, struct arena *a,
                const struct process *p, int32_t first, int32_t last, struct process_view *ret)
{
    assert(first <= last);
    ret->first = first;
    ret->last = last;
    ret->count = 0;
    if (p->facts.unreadable > 0) {
        /* Of what this version cannot read nothing is missing and nothing is too many. */
        ret->desired = (struct desired_view){0};
        return;
    }
    ret->desired = p->facts.desired;
    ret->job = p->facts.has_job;
    struct instance_view *list =
        ARENA_ARRAY(a, room_of(&p->facts, first, last), struct instance_view);
    struct instance from = {.view = {.index = first}};
    struct instance *i =
        RB_NFIND(instance_tree, (struct instance_tree *)(uintptr_t)&p->facts.instances, &from);
    for (; i && i->view.index <= last; i = RB_NEXT(instance_tree, NULL, i)) {
        struct instance_view *view = &list[ret->count++];
        *view = i->view;
        view->fresh = domain_is_fresh(c, i->domain, now);
        view->cell_present = i->on.cell && i->on.cell->present;
    }
    ret->instances = list;
}
