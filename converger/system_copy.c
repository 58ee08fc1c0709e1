#include "converger/system_copy.h"

#include "common/base/memory.h"
#include "common/lifecycle/system.h"
#include "common/model/component_path.h"
#include "common/model/pool_record.h"
#include "common/model/pool_state.h"
#include "common/model/record.h"
#include "common/model/service_record.h"
#include "converger/known.h"
#include "converger/spread.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void system_copy_init(struct system_copy *f)
{
    map_init(&f->services);
    map_init(&f->pools);
    map_init(&f->actions);
    map_init(&f->going);
    f->over = (struct actions_over){0};
    f->tally = (struct system_tally){0};
}

static void free_service(void *value)
{
    struct service_seen *s = value;
    free(s->path);
    free(s->deploy);
    free(s->component);
    free(s);
}

static void free_pool(void *value)
{
    struct pool_seen *p = value;
    free(p->name);
    free(p->type);
    free(p);
}

static void free_action(void *value)
{
    struct action_seen *s = value;
    if (s) {
        spread_drop(&s->spread);
        free(s);
    }
}

void system_copy_done(struct system_copy *f)
{
    map_done(&f->services, free_service);
    map_done(&f->going, NULL);
    map_done(&f->pools, free_pool);
    map_done(&f->actions, free_action);
}

static struct service_seen *service_of(struct arena *a, const char *key,
                                       const struct followed *record)
{
    const Board__ServiceRecord *r = message_of(a, key, record);
    const Board__Revision *target = r ? service_target(r) : NULL;
    const char *path = key_component(a, key, 2);
    struct service_seen *is = mem_zeroed(sizeof(*is));
    is->state = r ? lifecycle_state(&service_lifecycle, r->state) : -1;
    is->state = is->state == SERVICE_NONE ? -1 : is->state;
    is->revision = record->mod_revision;
    is->path = mem_text(path ? path : "/");
    is->deploy = mem_text(r ? r->deploy : "");
    is->component = mem_text(r ? r->component : "");
    is->pool_epoch = target ? target->pool_epoch : 0;
    return is;
}

static void learn_service(struct system_copy *f, struct arena *a, const char *key,
                          const struct followed *record)
{
    struct service_seen *was = map_remove(&f->services, key);
    if (was) {
        system_tally_take(&f->tally, was->state);
        free_service(was);
    }
    if (record) {
        struct service_seen *is = service_of(a, key, record);
        map_put(&f->services, key, is);
        system_tally_add(&f->tally, is->state);
    }
    assert(f->tally.total == f->services.count);
}

static struct pool_seen *pool_of(struct arena *a, const char *key, const struct followed *record)
{
    const Board__PoolRecord *r = message_of(a, key, record);
    const Board__PoolEpoch *epoch = r ? pool_newest(r) : NULL;
    const char *name = key_component(a, key, 2);
    struct pool_seen *is = mem_zeroed(sizeof(*is));
    is->state = r ? lifecycle_state(&pool_lifecycle, r->state) : -1;
    is->state = is->state == POOL_NONE ? -1 : is->state;
    is->revision = record->mod_revision;
    is->name = mem_text(name ? name : "/:");
    is->type = mem_text(r ? r->instance_type : "");
    is->wanted = r ? r->wanted : 0;
    is->epoch = epoch ? epoch->number : 0;
    is->ready = r && pool_is_ready(r);
    is->own = component_subname_leaf(is->name)[0] == '\0';
    return is;
}

/* Of a service's own pool the service tells. */
static void learn_pool(struct system_copy *f, struct arena *a, const char *key,
                       const struct followed *record)
{
    struct pool_seen *was = map_remove(&f->pools, key);
    if (was && !was->own) {
        system_tally_take_pool(&f->tally, was->state);
    }
    if (was) {
        free_pool(was);
    }
    if (record) {
        struct pool_seen *is = pool_of(a, key, record);
        map_put(&f->pools, key, is);
        if (!is->own) {
            system_tally_add_pool(&f->tally, is->state);
        }
    }
    assert(f->tally.pools <= f->pools.count);
}

static bool is_over(const char *record_state)
{
    return strcmp(record_state, "succeeded") == 0 || strcmp(record_state, "failed") == 0;
}

/* One that this version cannot read is taken for one that is not over, and is left alone. */
static void read_action(const void *m, struct action_seen *ret)
{
    if (m && ret->type == RECORD_DEPLOY) {
        const Board__DeployRecord *d = m;
        ret->over = is_over(d->state);
        ret->created_at = d->created_at;
        ret->completed_at = d->completed_at;
        ret->generation = d->generation;
    } else if (m && ret->type == RECORD_TEARDOWN) {
        const Board__TeardownRecord *t = m;
        ret->over = is_over(t->state);
        ret->created_at = t->created_at;
        ret->completed_at = t->completed_at;
        ret->generation = t->generation;
    } else if (m) {
        const Board__BuildRecord *b = m;
        ret->over = is_over(b->state);
        ret->created_at = b->created_at;
        ret->completed_at = b->completed_at;
    }
}

/* One more that is over, or one less. */
static void count_over(struct system_copy *f, const struct action_seen *is, bool more)
{
    size_t *count = is->type == RECORD_DEPLOY     ? &f->over.deploys
                    : is->type == RECORD_TEARDOWN ? &f->over.teardowns
                                                  : NULL;
    if (count && is->over) {
        assert(more || *count > 0);
        *count = more ? *count + 1 : *count - 1;
    }
}

static void learn_action(struct system_copy *f, struct arena *a, const char *key,
                         const struct followed *record)
{
    struct action_seen *is = map_get(&f->actions, key);
    map_remove(&f->going, key);
    if (is) {
        count_over(f, is, false);
    }
    if (!record) {
        free_action(map_remove(&f->actions, key));
        return;
    }
    if (!is) {
        is = mem_zeroed(sizeof(*is));
        map_put(&f->actions, key, is);
    }
    is->type = key_type(key);
    is->over = false;
    read_action(message_of(a, key, record), is);
    if (!is->over) {
        map_put(&f->going, key, is);
    } else {
        spread_drop(&is->spread);
    }
    count_over(f, is, true);
    assert(f->going.count <= f->actions.count);
}

void system_copy_change(struct system_copy *f, const char *key, const struct followed *record)
{
    SCOPED_ARENA(a);
    enum record_type type = key_type(key);
    if (type == RECORD_SERVICE) {
        learn_service(f, &a, key, record);
    } else if (type == RECORD_POOL) {
        learn_pool(f, &a, key, record);
    } else if (type == RECORD_BUILD || type == RECORD_DEPLOY || type == RECORD_TEARDOWN) {
        learn_action(f, &a, key, record);
    }
}

void system_copy_view(const struct system_copy *f, const struct map *records, struct arena *a,
                      const char *uid, const char *id, const char *board_generation,
                      struct watched_system *ret)
{
    *ret = (struct watched_system){.arena = a,
                                   .records = records,
                                   .uid = uid,
                                   .id = id ? id : "",
                                   .state = SYSTEM_NONE,
                                   .services = &f->services,
                                   .pools = &f->pools,
                                   .actions = &f->actions,
                                   .going = &f->going,
                                   .over = f->over,
                                   .tally = &f->tally};
    ret->system = id ? system_record(ret, key_system(a, id), &ret->revision) : NULL;
    ret->head = system_record(ret, key_head(a, uid), &ret->head_revision);
    ret->hold = system_record(ret, key_hold(a, uid), NULL);
    ret->head = ret->head ? ret->head : arena_message(a, &board__head_record__descriptor);
    ret->hold = ret->hold ? ret->hold : arena_message(a, &board__hold_record__descriptor);
    if (ret->system) {
        ret->state = lifecycle_state(&system_lifecycle, ret->system->state);
        ret->confirmed = strcmp(ret->system->board_generation, board_generation) == 0;
    }
}
