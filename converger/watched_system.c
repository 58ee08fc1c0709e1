#include "converger/watched_system.h"

#include "common/client/feed_client.h"
#include "common/lifecycle/system.h"
#include "common/model/component_path.h"
#include "common/model/record.h"

#include <assert.h>
#include <string.h>

bool system_is_open(const struct watched_system *v)
{
    return v->state == SYSTEM_STABLE || v->state == SYSTEM_UPDATING || v->state == SYSTEM_SCALING ||
           v->state == SYSTEM_DEGRADED;
}

bool system_is_gone(const struct watched_system *v)
{
    return v->state == SYSTEM_NONE || v->state == SYSTEM_DELETING;
}

const void *system_record(const struct watched_system *v, const char *key, int64_t *ret_revision)
{
    const struct followed *f = map_get(v->records, key);
    ProtobufCMessage *m = NULL;
    if (ret_revision) {
        *ret_revision = f ? f->mod_revision : 0;
    }
    if (f && record_decode(v->arena, key_type(key), blob_bytes(f->record), &m, NULL) < 0) {
        return NULL;
    }
    return m;
}

size_t system_keys(const struct watched_system *v, enum record_type type, const char **ret,
                   size_t max)
{
    size_t count = 0;
    const char *prefix = key_range_of(v->arena, type, v->uid);
    for (struct map_node *n = map_from(v->records, prefix);
         n && count < max && text_begins(map_key(n), prefix); n = map_next(n)) {
        ret[count++] = map_key(n);
    }
    return count;
}

/* Those of a path other than "/" are one key, and the range below it. */
static size_t collect_from(const struct watched_system *v, const char *prefix, bool exact,
                           const struct service_seen **list, size_t count)
{
    for (struct map_node *n = map_from(v->services, prefix); n; n = map_next(n)) {
        if (exact ? strcmp(map_key(n), prefix) != 0 : !text_begins(map_key(n), prefix)) {
            break;
        }
        list[count++] = map_value(n);
    }
    return count;
}

size_t system_services_within(const struct watched_system *v, const char *path,
                              const struct service_seen ***ret)
{
    const struct service_seen **list =
        ARENA_ARRAY(v->arena, v->services->count + 1, const struct service_seen *);
    *ret = list;
    if (strcmp(path, "/") == 0) {
        return collect_from(v, key_range_of(v->arena, RECORD_SERVICE, v->uid), false, list, 0);
    }
    const char *key = key_service(v->arena, v->uid, path);
    size_t count = collect_from(v, key, true, list, 0);
    count = collect_from(v, arena_printf(v->arena, "%s%%2F", key), false, list, count);
    assert(count <= v->services->count);
    return count;
}

bool system_pool_within(const struct watched_system *v, const struct pool_seen *pool,
                        const char *path)
{
    return component_path_within(component_subname_path(v->arena, pool->name), path);
}

/* ---- Moves ----------------------------------------------------------------------------------- */

bool system_moves_add(struct system_moves *m, const char *pass, Board__Move *move)
{
    assert(m->count <= SYSTEM_MOVES_MAX);
    if (m->count == SYSTEM_MOVES_MAX) {
        m->more = true;
        return false;
    }
    m->list[m->count++] = (struct system_move){pass, move};
    return true;
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

Board__Move *move_of_system(const struct watched_system *v, const char *move)
{
    Board__Move *m = move_new(v->arena, move, key_system(v->arena, v->id));
    m->body_case = BOARD__MOVE__BODY_SYSTEM;
    m->system = arena_message(v->arena, &board__system_move__descriptor);
    m->system->uid = text(v->uid);
    return m;
}

Board__Move *move_of_build(const struct watched_system *v, const char *move, const char *id)
{
    Board__Move *m = move_new(v->arena, move, key_build(v->arena, v->uid, id));
    m->body_case = BOARD__MOVE__BODY_BUILD;
    m->build = arena_message(v->arena, &board__build_move__descriptor);
    m->build->system = text(v->id);
    return m;
}

Board__Move *move_of_deploy(const struct watched_system *v, const char *move, const char *id)
{
    Board__Move *m = move_new(v->arena, move, key_deploy(v->arena, v->uid, id));
    m->body_case = BOARD__MOVE__BODY_DEPLOY;
    m->deploy = arena_message(v->arena, &board__deploy_move__descriptor);
    m->deploy->system = text(v->id);
    return m;
}

Board__Move *move_of_teardown(const struct watched_system *v, const char *move, const char *id)
{
    Board__Move *m = move_new(v->arena, move, key_teardown(v->arena, v->uid, id));
    m->body_case = BOARD__MOVE__BODY_TEARDOWN;
    m->teardown = arena_message(v->arena, &board__teardown_move__descriptor);
    m->teardown->system = text(v->id);
    return m;
}

Board__Move *move_of_service(const struct watched_system *v, const char *move, const char *path,
                             const char *holder)
{
    Board__Move *m = move_new(v->arena, move, key_service(v->arena, v->uid, path));
    m->body_case = BOARD__MOVE__BODY_SERVICE;
    m->service = arena_message(v->arena, &board__service_move__descriptor);
    m->service->system = text(v->id);
    m->service->holder = text(holder);
    return m;
}

Board__Move *move_of_pool(const struct watched_system *v, const char *move, const char *name)
{
    Board__Move *m = move_new(v->arena, move, key_pool(v->arena, v->uid, name));
    m->body_case = BOARD__MOVE__BODY_POOL;
    m->pool = arena_message(v->arena, &board__pool_move__descriptor);
    m->pool->system = text(v->id);
    return m;
}
