/* Moves as they travel (board.proto): a Board__Move names its subject by the key of the record, and
 * what else it says stands in a body of the subject's kind. Making and reading them. Results live
 * in the given arena; texts that are given are borrowed. */
#pragma once

#include "common/base/arena.h"
#include "common/model/keys.h"

#include "board.pb-c.h"

#include <stdbool.h>

/* A move about the record at `key`, without a body. */
Board__Move *move_new(struct arena *a, const char *name, const char *key);

/* About a record of an index, which may be negative: whoever reads it says so. The body has the
 * domain. */
Board__Move *move_new_instance(struct arena *a, const char *name, const char *process_guid,
                               int32_t index, int presence, const char *domain);

/* About a task; the body is empty. */
Board__Move *move_new_task(struct arena *a, const char *name, const char *task_guid);

/* The body of that kind; an empty one if the move has none, never NULL. */
const Board__InstanceMove *move_instance(const Board__Move *m);
const Board__TaskMove *move_task(const Board__Move *m);
const Board__CellMove *move_cell(const Board__Move *m);
const Board__LimiterMove *move_limiter(const Board__Move *m);
const Board__SystemMove *move_system(const Board__Move *m);
const Board__BuildMove *move_build(const Board__Move *m);
const Board__DeployMove *move_deploy(const Board__Move *m);
const Board__TeardownMove *move_teardown(const Board__Move *m);
const Board__ServiceMove *move_service(const Board__Move *m);
const Board__JobRunMove *move_job_run(const Board__Move *m);
const Board__PoolMove *move_pool(const Board__Move *m);
const Board__UnitsMove *move_units(const Board__Move *m);
const Board__SliceMove *move_slice(const Board__Move *m);
const Board__EdgeMove *move_edge(const Board__Move *m);
const Board__SiteMove *move_site(const Board__Move *m);

/* The kind of its subject; RECORD_UNKNOWN without one. */
enum record_type move_kind(const Board__Move *m);

/* The key of the record that it is about; "" without a subject. */
const char *move_key(struct arena *a, const Board__Move *m);

/* Of a subject whose key is one name: that name, unescaped; "" without a subject. */
const char *move_name(struct arena *a, const Board__Move *m);

/* Of a subject whose key is `<uid>/<id, path or name>`: that second part, unescaped; "" without. */
const char *move_part(struct arena *a, const Board__Move *m);

/* Of an instance: its place. False if the subject is not a key of such a record as keys.h makes it,
 * a negative index aside. */
struct move_place {
    Models__ActualLRPKey key; /* with the body's domain */
    int presence;
};
bool move_place(struct arena *a, const Board__Move *m, struct move_place *ret);

/* The subject's key is as keys.h makes it, of a kind that moves are about by
 * records.def, and the body is of that kind. */
bool move_well_formed(struct arena *a, const Board__Move *m);
