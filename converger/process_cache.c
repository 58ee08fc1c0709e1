#include "converger/process_cache.h"

#include "common/base/memory.h"
#include "common/model/record.h"
#include "common/model/routing.h"
#include "converger/instances.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static int instance_compare(const struct cached_instance *a, const struct cached_instance *b)
{
    int by_index = (a->view.index > b->view.index) - (a->view.index < b->view.index);
    return by_index ? by_index : a->view.presence - b->view.presence;
}

RB_GENERATE_INTERNAL(instance_tree, cached_instance, node, instance_compare,
                     static __attribute__((unused)))

/* ---- Actual records -------------------------------------------------------------------------- */

/* The record is said again: what it said before goes. */
static void forget(struct cache *c, struct cached_instance *i)
{
    assert(i->domain || i->process->cache.unreadable > 0);
    i->process->cache.unreadable -= i->domain == NULL;
    domain_bear_no_more(c, i->domain);
    i->domain = NULL;
    cell_leave(c, &i->on);
}

/* The digest of this index. */
static uint64_t wanted(const struct process_cache *p, int32_t index)
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

static bool differs(const struct cached_instance *i)
{
    const struct process_cache *p = &i->process->cache;
    return i->routing != wanted(p, i->view.index) || (!i->untold && i->routed != p->routed);
}

static void learn(struct cache *c, struct cached_instance *i, const struct followed *record)
{
    SCOPED_ARENA(a);
    assert(!i->domain && !i->on.cell); /* said again: forgotten before */
    ProtobufCMessage *m = NULL;
    int r = record_decode(&a, RECORD_ACTUAL, blob_bytes(record->record), &m, NULL);
    const Models__ActualLRP *lrp = (const Models__ActualLRP *)m;
    if (r < 0 || !lrp->actual_lrp_key) {
        i->process->cache.unreadable++;
        return;
    }
    instance_view_of(lrp, i->view.index, i->view.presence, &i->view);
    i->view.seen = record->seen;
    i->domain = domain_bear(c, lrp->actual_lrp_key->domain);
    const Models__ActualLRPInstanceKey *key = lrp->actual_lrp_instance_key;
    struct routing routing;
    routing_actual(&a, lrp, &routing);
    i->routing = routing_digest(&routing, key ? key->instance_guid : "");
    i->routed = routing.routed;
    i->untold = routing.untold;
    i->view.differs = differs(i);
    cell_use(c, KEEPER_instances, &i->on, key ? key->cell_id : "");
}

static void drop(struct cache *c, struct cached_instance *i)
{
    struct process_cache *p = &i->process->cache;
    forget(c, i);
    RB_REMOVE(instance_tree, &p->instances, i);
    assert(p->count > 0);
    p->count--;
    free(i);
}

void process_cache_actual(struct cache *c, struct process *p, int32_t index, int presence,
                          const struct followed *record)
{
    struct cached_instance wanted = {.view = {.index = index, .presence = (uint8_t)presence}};
    struct cached_instance *i = RB_FIND(instance_tree, &p->cache.instances, &wanted);
    if (i && !record) {
        drop(c, i);
    } else if (i) {
        forget(c, i);
        learn(c, i, record);
    } else if (record) {
        i = mem_zeroed(sizeof(*i));
        i->process = p;
        i->view = wanted.view;
        RB_INSERT(instance_tree, &p->cache.instances, i);
        p->cache.count++;
        learn(c, i, record);
    }
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void forget_routing(struct process_cache *cache)
{
    for (size_t i = 0; i < cache->index_tag_count; i++) {
        free(cache->index_tags[i]);
    }
    free(cache->index_tags);
    cache->index_tags = NULL;
    cache->index_tag_count = 0;
    cache->routing = 0;
    cache->routed = false;
}

static void learn_routing(struct process_cache *cache, const Models__DesiredLRP *desired)
{
    SCOPED_ARENA(a);
    assert(cache->index_tag_count == 0 && !cache->index_tags);
    struct routing routing;
    routing_desired(&a, desired, 0, ROUTING_OWN_GUID, &routing);
    cache->routing = routing_digest(&routing, "");
    cache->routed = routing.routed;
    if (desired->n_metric_tags > 0) {
        cache->index_tags = mem_array(desired->n_metric_tags, sizeof(*cache->index_tags));
    }
    for (size_t i = 0; i < desired->n_metric_tags; i++) {
        const Models__DesiredLRP__MetricTagsEntry *tag = desired->metric_tags[i];
        if (tag->value && tag->value->dynamic == MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INDEX) {
            char *key = mem_text(tag->key);
            cache->index_tags[cache->index_tag_count++] = key;
        }
    }
}

void process_cache_desired(struct process *p, const struct followed *record)
{
    struct process_cache *cache = &p->cache;
    cache->unreadable -= cache->has_desired && !cache->desired.is;
    cache->has_desired = record != NULL;
    cache->desired = (struct desired_view){0};
    forget_routing(cache);
    if (record) {
        SCOPED_ARENA(a);
        ProtobufCMessage *m;
        if (record_decode(&a, RECORD_DESIRED, blob_bytes(record->record), &m, NULL) == 0) {
            desired_view_of((const Models__DesiredLRP *)m, &cache->desired);
            learn_routing(cache, (const Models__DesiredLRP *)m);
        } else {
            cache->unreadable++;
        }
    }
    struct cached_instance *i;
    RB_FOREACH(i, instance_tree, &cache->instances)
    {
        i->view.differs = differs(i);
    }
}

void process_cache_job(struct process *p, bool at_work)
{
    p->cache.has_job = at_work;
}

void process_cache_clear(struct cache *c, struct process *p)
{
    struct cached_instance *i;
    while ((i = RB_ROOT(&p->cache.instances))) {
        drop(c, i);
    }
    process_cache_desired(p, NULL);
    process_cache_job(p, false);
    assert(!process_cache_any(p));
}

bool process_cache_any(const struct process *p)
{
    return p->cache.count > 0 || p->cache.has_desired || p->cache.has_job;
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* How many records the range can have at most; counting them would be as long as copying. */
static size_t room_of(const struct process_cache *p, int32_t first, int32_t last)
{
    size_t most = ((size_t)((int64_t)last - first) + 1) * PRESENCES;
    return most < p->count ? most : p->count;
}

void process_cache_view(const struct cache *c, struct moment now, struct arena *a,
                        const struct process *p, int32_t first, int32_t last,
                        struct process_view *ret)
{
    assert(first <= last);
    ret->first = first;
    ret->last = last;
    ret->count = 0;
    if (p->cache.unreadable > 0) {
        /* Of what this version cannot read nothing is missing and nothing is too many. */
        ret->desired = (struct desired_view){0};
        return;
    }
    ret->desired = p->cache.desired;
    ret->job = p->cache.has_job;
    struct instance_view *list =
        ARENA_ARRAY(a, room_of(&p->cache, first, last), struct instance_view);
    struct cached_instance from = {.view = {.index = first}};
    struct cached_instance *i =
        RB_NFIND(instance_tree, (struct instance_tree *)(uintptr_t)&p->cache.instances, &from);
    for (; i && i->view.index <= last; i = RB_NEXT(instance_tree, NULL, i)) {
        struct instance_view *view = &list[ret->count++];
        *view = i->view;
        view->fresh = domain_is_fresh(c, i->domain, now);
        view->cell_present = i->on.cell && i->on.cell->present;
    }
    assert(ret->count <= room_of(&p->cache, first, last));
    ret->instances = list;
}
