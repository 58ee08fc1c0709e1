/* How a CRM makes its site follow the centre: a table (harmonise.def) as one pure function, and all
 * objects of the site together, in the order in which they may change (docs/edge.md, What the CRM
 * does). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CRM_WORKS_MAX = 32 }; /* at the same time, one an object */

/* ---- One object ------------------------------------------------------------------------------ */

enum crm_holds {
    HOLDS_NOTHING,
    HOLDS_INCOMPLETE, /* the record's digest; not all of it, or something else of the uid beside */
    HOLDS_COMPLETE,   /* the record's digest, all of it, and nothing else */
    HOLDS_OTHER,      /* other digests only */
    CRM_HOLDS_COUNT
};

/* What the centre is told. */
enum crm_say {
    SAY_NOTHING,
    SAY_CREATING,
    SAY_UPDATING,
    SAY_DELETING,
    SAY_READY,
    SAY_DELETED,
    SAY_RESTORED, /* a report: the former values run */
    SAY_REPORT,   /* what has changed of health and use */
    SAY_FAIL,     /* a work has failed; of no row */
    CRM_SAY_COUNT
};

/* What is done at the site; each goes on where the site stands. */
enum crm_task {
    WORK_NONE,
    WORK_MAKE,    /* the record's digest comes; what else stands of the uid goes when it has run */
    WORK_REPLACE, /* what stands goes first */
    WORK_REMOVE,
    CRM_TASK_COUNT
};

struct crm_action {
    enum crm_say say;
    enum crm_task work;
};

/* For traces and people; static. */
const char *crm_say_name(enum crm_say say);
const char *crm_task_name(enum crm_task work);

/* The table. `state` is TRACKED_*; TRACKED_NONE is no record of this uid. */
struct crm_action crm_harmonise(int state, enum crm_holds holds);

/* ---- All of them ----------------------------------------------------------------------------- */

enum crm_kind { CRM_CLUSTER, CRM_APP };

/* "cluster", "app instance"; static. */
const char *crm_kind_name(enum crm_kind kind);

/* An object as the centre has it; borrowed. */
struct crm_record {
    enum crm_kind kind;
    const char *name; /* key without its type */
    const char *uid;
    int state; /* TRACKED_*; of a later version, which is left alone: CRM_STATE_FOREIGN */
    const char *state_name; /* as the record has it */
    uint64_t request;
    int64_t limit_ns; /* of the operation that is under way */
    const char *digest, *former_digest;
    const char *cluster_uid; /* of an app instance: its cluster; of a cluster: its own uid */
};

enum { CRM_STATE_FOREIGN = -1 };

/* What the site's board holds of an object, one digest each; borrowed. */
struct crm_held {
    enum crm_kind kind;
    const char *uid;
    const char *name; /* as above; "" = not known */
    const char *digest;
    const char *cluster_uid; /* as above */
    bool whole;              /* each instance has run once; the slice stands */
};

struct crm_plan_input {
    const struct crm_record *records; /* in any order, a uid once */
    size_t record_count;
    const struct crm_held *held; /* in any order */
    size_t held_count;
    /* What no record is of goes only when all records are known (the feed was current once since it
     * began), and they are of the centre that the site has followed before (docs/edge.md, What the
     * CRM does). */
    bool snapshot, epoch_known;
    const char *const *busy; /* uids that a work is under way of */
    size_t busy_count;
};

/* What is to be done about an object. */
struct crm_planned {
    enum crm_kind kind;
    const char *uid, *name, *cluster_uid;
    const struct crm_record *record; /* NULL = none */
    struct crm_action action;
    const char *waits_for; /* why it is not begun now; NULL = it is. In the arena, or static */
};

struct crm_plan {
    struct crm_planned
        *list; /* clusters that come, apps that come, apps that go, clusters that go */
    size_t count;
    size_t foreign; /* objects without a record that stay, for they may not be pruned */
    /* The first of them, by uid: what they are, and their names; in the arena. */
    const char *foreign_names[EDGE_FOREIGN_TOLD_MAX];
};

/* What is to be done now, in the arena. Of a READY object the outcome of its operation is known:
 * what stands of it is whole, also while an instance crashes, which is the site's to repair. One
 * whose work is under way is among it: its action is told so that a work can be given up that is
 * not wanted any more. What waits says nothing to the centre either.
 *
 * It waits:
 * 1. An app instance for its cluster: while a work of that is under way, and, if it is to come,
 * until that stands and is as it should be. One that is to go does not wait for a work that lasts
 * as long as it takes, of a READY cluster: that may wait for the room which the instance has.
 * 2. A cluster while a work of one of its app instances is under way; one that is to go, while an
 * app instance is in it.
 * 3. What is to come, while an object of the same name of another life stands.
 * 4. What is begun beyond CRM_WORKS_MAX works.
 * What is in a state that this version does not know is told, and left alone. */
void crm_plan(struct arena *a, const struct crm_plan_input *in, struct crm_plan *ret);
