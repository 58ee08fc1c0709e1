#include "common/model/moves.h"

#include "common/model/edge_name.h"
#include "common/model/unit_name.h"

#include <stdlib.h>
#include <string.h>

/* Messages are not written to: protobuf-c has no constant strings. */
static char *text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

Board__Move *move_new(struct arena *a, const char *name, const char *key)
{
    const char *slash = strchr(key, '/');
    Board__Move *m = arena_message(a, &board__move__descriptor);
    m->move = text(name);
    m->subject = arena_message(a, &board__subject__descriptor);
    m->subject->kind = arena_strndup(a, key, (size_t)(slash - key));
    m->subject->key = arena_strdup(a, slash + 1);
    return m;
}

/* As key_actual() makes it, which asserts that no index is negative. */
static const char *place_key(struct arena *a, const char *process_guid, int32_t index, int presence)
{
    return arena_printf(a, "%s%010d/%d", key_actual_process(a, process_guid), index, presence);
}

Board__Move *move_new_instance(struct arena *a, const char *name, const char *process_guid,
                               int32_t index, int presence, const char *domain)
{
    Board__Move *m = move_new(a, name, place_key(a, process_guid, index, presence));
    m->body_case = BOARD__MOVE__BODY_INSTANCE;
    m->instance = arena_message(a, &board__instance_move__descriptor);
    m->instance->domain = text(domain);
    return m;
}

Board__Move *move_new_task(struct arena *a, const char *name, const char *task_guid)
{
    Board__Move *m = move_new(a, name, key_task(a, task_guid));
    m->body_case = BOARD__MOVE__BODY_TASK;
    m->task = arena_message(a, &board__task_move__descriptor);
    return m;
}

const Board__InstanceMove *move_instance(const Board__Move *m)
{
    static const Board__InstanceMove empty = BOARD__INSTANCE_MOVE__INIT;
    return m->body_case == BOARD__MOVE__BODY_INSTANCE ? m->instance : &empty;
}

const Board__TaskMove *move_task(const Board__Move *m)
{
    static const Board__TaskMove empty = BOARD__TASK_MOVE__INIT;
    return m->body_case == BOARD__MOVE__BODY_TASK ? m->task : &empty;
}

const Board__CellMove *move_cell(const Board__Move *m)
{
    static const Board__CellMove empty = BOARD__CELL_MOVE__INIT;
    return m->body_case == BOARD__MOVE__BODY_CELL ? m->cell : &empty;
}

const Board__LimiterMove *move_limiter(const Board__Move *m)
{
    static const Board__LimiterMove empty = BOARD__LIMITER_MOVE__INIT;
    return m->body_case == BOARD__MOVE__BODY_LIMITER ? m->limiter : &empty;
}

#define BODY(name, Name, NAME)                                                                     \
    const Board__##Name##Move *move_##name(const Board__Move *m)                                   \
    {                                                                                              \
        static const Board__##Name##Move empty = BOARD__##NAME##_MOVE__INIT;                       \
        return m->body_case == BOARD__MOVE__BODY_##NAME ? m->name : &empty;                        \
    }
BODY(system, System, SYSTEM)
BODY(build, Build, BUILD)
BODY(deploy, Deploy, DEPLOY)
BODY(teardown, Teardown, TEARDOWN)
BODY(service, Service, SERVICE)
BODY(job_run, JobRun, JOB_RUN)
BODY(pool, Pool, POOL)
BODY(units, Units, UNITS)
BODY(slice, Slice, SLICE)
BODY(edge, Edge, EDGE)
BODY(site, Site, SITE)
#undef BODY

enum record_type move_kind(const Board__Move *m)
{
    return m->subject ? record_type_named(m->subject->kind) : RECORD_UNKNOWN;
}

const char *move_key(struct arena *a, const Board__Move *m)
{
    return m->subject ? arena_printf(a, "%s/%s", m->subject->kind, m->subject->key) : "";
}

const char *move_name(struct arena *a, const Board__Move *m)
{
    const char *name = key_component(a, move_key(a, m), 1);
    return name ? name : "";
}

const char *move_part(struct arena *a, const Board__Move *m)
{
    const char *part = key_component(a, move_key(a, m), 2);
    return part ? part : "";
}

bool move_place(struct arena *a, const Board__Move *m, struct move_place *ret)
{
    const char *key = move_key(a, m);
    const char *guid = key_component(a, key, 1), *index = key_component(a, key, 2);
    if (move_kind(m) != RECORD_ACTUAL || !index) {
        return false;
    }
    long number = strtol(index, NULL, 10);
    number = number < INT32_MIN || number > INT32_MAX ? -1 : number;
    *ret = (struct move_place){.key = MODELS__ACTUAL_LRPKEY__INIT, .presence = key_presence(key)};
    ret->key.process_guid = text(guid);
    ret->key.index = (int32_t)number;
    ret->key.domain = move_instance(m)->domain;
    return ret->presence >= 0 &&
           strcmp(place_key(a, guid, ret->key.index, ret->presence), key) == 0;
}

static bool is_named(struct arena *a, const Board__Move *m,
                     const char *(*key_of)(struct arena *a, const char *name))
{
    return strcmp(key_of(a, move_name(a, m)), move_key(a, m)) == 0;
}

/* The uid of a system, and what it has there by an id, a path or a name. */
static bool is_of_system(struct arena *a, const Board__Move *m)
{
    static const struct {
        enum record_type type;
        const char *(*key_of)(struct arena *a, const char *uid, const char *name);
    } rows[] = {
        {RECORD_BUILD, key_build},     {RECORD_DEPLOY, key_deploy}, {RECORD_TEARDOWN, key_teardown},
        {RECORD_SERVICE, key_service}, {RECORD_JOB_RUN, key_jobrun}, {RECORD_POOL, key_pool},
    };
    const char *uid = move_name(a, m), *part = move_part(a, m);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && *uid && *part; i++) {
        if (rows[i].type == move_kind(m)) {
            return strcmp(rows[i].key_of(a, uid, part), move_key(a, m)) == 0;
        }
    }
    return false;
}

static bool is_of_units(struct arena *a, const Board__Move *m)
{
    struct unit_name unit;
    struct member_name member;
    uint32_t number;
    const char *key = move_key(a, m);
    return unit_of_key(a, key, &unit) || member_of_key(a, key, &member) ||
           number_of_key(a, key, &number);
}

static bool is_of_edge(struct arena *a, const Board__Move *m)
{
    const char *key = move_key(a, m);
    return !edge_name_fault(a, move_kind(m), key_edge_name(a, key)) &&
           strcmp(key_edge(a, move_kind(m), key_edge_name(a, key)), key) == 0;
}

/* The keys of more than a name. */
static bool is_own(struct arena *a, const Board__Move *m)
{
    struct move_place place;
    return is_of_system(a, m) || is_of_units(a, m) || is_of_edge(a, m) ||
           strcmp(move_key(a, m), key_brake(a)) == 0 || move_place(a, m, &place);
}

static bool has_body(const Board__Move *m, Board__Move__BodyCase body)
{
    return m->body_case == BOARD__MOVE__BODY__NOT_SET || m->body_case == body;
}

bool move_well_formed(struct arena *a, const Board__Move *m)
{
    switch (move_kind(m)) {
#define KEY_ONE(name) is_named(a, m, key_##name)
#define KEY_OWN(name) is_own(a, m)
#define MOVES(family, body) has_body(m, BOARD__MOVE__BODY_##body)
#define UNMOVED false
#define RECORD_ROW(ID, name, key, message, lifecycle, place, tags, topic, text, story, moves)      \
    case RECORD_##ID:                                                                              \
        return moves && KEY_##key(name);
#include "common/model/records.def"
    default:
        return false;
    }
}
