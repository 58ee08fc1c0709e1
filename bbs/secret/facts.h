/* What the ops about secrets and data keys read of a system, and what refuses them. Pure. */
#pragma once

#include "bbs/secret/secret.h"

struct secret_snapshot {
    const Board__SystemRecord *system; /* NULL = none of that id */
    const Board__SecretRecord *record; /* NULL = it is not set */
    size_t count;                      /* secrets of the system, about */
};

/* The system of this id, noted; NULL = none. */
const Board__SystemRecord *secret_system_gather(struct view *v, const char *id);

/* Of how many secrets a bbs knows; not noted: a bound need not be exact. */
size_t secrets_count(struct view *v, const char *uid);

/* Why nothing can be done with its secrets, for people: there is none of this id, or it is not
 * open. NULL if all is well. */
const char *secret_system_fault(struct arena *a, const Board__SystemRecord *system,
                                const char *id);

/* The same as a refusal of the plan; true if it was refused. */
bool secret_system_refused(const Board__SystemRecord *system, const char *id, struct plan *p);

/* Why this bbs can neither seal nor open for the system, for people; NULL if it can. */
const char *secret_keys_fault(struct arena *a, const struct seal *seal,
                              const Board__SystemRecord *system);

/* The same as a refusal of the plan; true if it was refused. */
bool secret_keys_refused(const struct seal *seal, const Board__SystemRecord *system,
                         struct plan *p);

/* The system has this data key, by the trigger of its lifecycle. */
void secret_put_data_key(struct plan *p, const struct op_input *in,
                         const Board__SystemRecord *system, const Board__WrappedKey *key);
