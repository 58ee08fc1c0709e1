/* The one place that makes and reads keys of the board (DESIGN 2). Components are percent-escaped
 * (everything but A-Z a-z 0-9 - _ . ~), every prefix ends in "/", numbers are padded so that byte
 * order is numeric order. All results live in the given arena. */
#ifndef COMMON_MODEL_KEYS_H
#define COMMON_MODEL_KEYS_H

#include "common/base/arena.h"

#include <stdint.h>

/* Kinds of records, by the first component of their key. */
enum record_type {
    RECORD_ACTUAL,  /* actual/<process_guid>/<index, 10 digits>/<presence digit> */
    RECORD_BEAT,    /* beat/<boot id> */
    RECORD_BRAKE,   /* brake/cells : the mass-loss brake */
    RECORD_CAUSE,   /* cause/<boot id>/<slot, 4 digits> */
    RECORD_CELL,    /* cell/<cell_id> */
    RECORD_DESIRED, /* desired/<process_guid> : scheduling part */
    RECORD_DOMAIN,  /* domain/<domain> */
    RECORD_EPOCH,   /* epoch/<id> */
    RECORD_JOB,     /* job/<id> */
    RECORD_LEAD,    /* lead/<role> */
    RECORD_LOCK,    /* lock/<key> : of an owner outside the cluster */
    RECORD_REMOVAL, /* removal/<process_guid>/<epoch> : what was asked to go of a definition */
    RECORD_RUN,     /* run/<process_guid>/<epoch> : the rest of a DesiredLRP, written once */
    RECORD_TASK,    /* task/<task_guid> */
    RECORD_UNKNOWN, /* kept and left alone */
    RECORD_TYPE_COUNT
};

/* "actual", "beat", ...; the prefix is the name and "/". */
const char *record_type_name(enum record_type type);
enum record_type record_type_named(const char *name);
enum record_type key_type(const char *key);

const char *key_actual(struct arena *a, const char *process_guid, int32_t index, int presence);
const char *key_actual_index(struct arena *a, const char *process_guid, int32_t index); /* prefix */
const char *key_actual_process(struct arena *a, const char *process_guid);              /* prefix */
const char *key_beat(struct arena *a, const char *boot_id);
const char *key_brake(struct arena *a);
const char *key_cause(struct arena *a, const char *boot_id, unsigned slot);
const char *key_cause_boot(struct arena *a, const char *boot_id); /* prefix */
const char *key_cell(struct arena *a, const char *cell_id);
const char *key_desired(struct arena *a, const char *process_guid);
const char *key_domain(struct arena *a, const char *domain);
const char *key_epoch(struct arena *a, const char *id);
const char *key_job(struct arena *a, const char *id);
const char *key_lead(struct arena *a, const char *role);
const char *key_lock(struct arena *a, const char *name);
const char *key_removal(struct arena *a, const char *process_guid, const char *epoch);
const char *key_run(struct arena *a, const char *process_guid, const char *epoch);
const char *key_run_process(struct arena *a, const char *process_guid); /* prefix */
const char *key_task(struct arena *a, const char *task_guid);

/* The n-th component (0 = type), unescaped; NULL if there are fewer. */
const char *key_component(struct arena *a, const char *key, unsigned n);

/* Of a key below which no other is kept: the bytes up to its last slash, with it. Those of an ActualLRP's
 * key are the prefix that all records of its index share. */
size_t key_parent_size(const char *key);

/* The presence in an ActualLRP's key; -1 if it is none of a digit. */
int key_presence(const char *key);

/* The first key after all that start with `prefix` (not empty): the range_end of its range. */
const char *key_range_end(struct arena *a, const char *prefix);

#endif
