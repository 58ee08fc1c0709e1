/* What the decisions about units share (docs/units.md, Decisions): who goes with whom, and changes
 * by the lifecycles. Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/lifecycle/lifecycle.h"
#include "common/model/unit_name.h"

#include "board.pb-c.h"

/* No plan about units has more changes. */
enum { UNITS_RECORDS_MAX = 64 };

/* Keys that a plan removes: references to services among them. */
enum { GONE_MAX = 32 };
struct gone_keys {
    const char *keys[GONE_MAX];
    size_t count;
};
void gone_add(struct gone_keys *g, const char *key);

/* What stays behind when relations and services go: ranges that nobody reads any more. */
enum { SWEPT_MAX = 24 };
struct swept {
    const char *target; /* guid of the first of them that goes */
    const char *ranges[SWEPT_MAX];
    size_t count;
};
void sweep_add(struct swept *s, const char *guid, const char *range); /* NULL: nothing to sweep */
/* For a plan, when all is in it: opens the one job that sweeps them, if there is anything. */
void sweep_open(const struct swept *s, const struct op_input *in, struct plan *p);

/* A reference to a service goes. If that was the last one of a dying service, the service and its
 * configuration go with it. */
struct drop {
    const char *service;
    const Board__UnitServiceRecord *record; /* NULL = it is gone, or another has the name */
    const Board__UnitConfigRecord *config;  /* of one that goes; NULL = it has none */
    bool last;
    const char *swept; /* range of its charms, when it goes */
};

/* 1. The service is gone, or is alive: nothing more is read.
 * 2. It is dying, and has a unit or a relation that this plan does not remove: that one is named as
 *    a witness.
 * 3. None: that there is nothing but `gone` is compared, and the service goes. */
void drop_gather(struct view *v, const struct op_input *in, const char *service, const char *guid,
                 const struct gone_keys *gone, struct drop *ret);
void drop_put(const struct drop *d, const struct op_input *in, struct plan *p, struct swept *sweep);
/* The same where nothing but that service goes. */
void drop_put_alone(const struct drop *d, const struct op_input *in, struct plan *p);
/* Range of the charms of a service that goes; NULL = there are none. */
const char *charms_swept(struct view *v, const char *service);

/* Nothing refers to the service but `gone`: all of that is compared then; otherwise one other unit
 * or relation is named as the witness. */
bool service_is_unused(struct view *v, const struct op_input *in, const char *service,
                       const struct gone_keys *gone);

/* So many relations of one service. */
enum { SERVICE_RELATIONS_MAX = 1024 };

/* A relation that is alive, of these ends, requirer first; it draws a guid. Ends are borrowed. */
Board__RelationRecord *relation_new(struct arena *a, const struct op_input *in, uint32_t number,
                                    Board__RelationEnd *const *ends, size_t count);
/* What finds it: the record at `canonical`, its relation_key/, and a reference of each end. */
void relation_put_names(struct plan *p, const struct op_input *in, const Board__RelationRecord *r,
                        const char *canonical, const char *move);

/* A relation goes, whole: its record, key and the services' references to it. */
struct relation_gone {
    const Board__RelationRecord *record;
    const char *keys[1 + 2]; /* relation_key/, and the reference of each end */
    size_t key_count;
    struct drop drops[2];
    size_t drop_count;
    const char *swept; /* range of what its members told; NULL = nothing */
};
/* In two steps where several go together: first what goes of each, then what that comes to. A
 * service that several take away goes with the first. */
void relation_gone_keys(struct view *v, const Board__RelationRecord *relation,
                        struct gone_keys *gone, struct relation_gone *ret);
void relation_gone_drops(struct view *v, const struct op_input *in, const struct gone_keys *gone,
                         struct relation_gone *list, size_t count);
void relation_gone_gather(struct view *v, const struct op_input *in,
                          const Board__RelationRecord *relation, struct gone_keys *gone,
                          struct relation_gone *ret);
/* By the relation's trigger of that name, and the guards that hold. */
void relation_gone_put(const struct relation_gone *g, const struct op_input *in, int trigger,
                       uint32_t guards, struct plan *p, struct swept *sweep);

/* A change by a lifecycle, which must lead there: a record in state `from` becomes `message`, or
 * goes (NULL). Gives the state that it leads to. */
int life_change(struct plan *p, const struct op_input *in, const struct lifecycle *l, int from,
                int trigger, uint32_t guards, const char *key, const ProtobufCMessage *message);

/* State by the text in a record; its `none` without one. */
int life_of(const struct lifecycle *l, const char *state);

/* The caller's cell is that of the unit, of the same identity. */
bool unit_is_own(const Board__UnitRecord *unit, const struct speaker *by, const char *peer_name);

/* The move means this unit: false and refused if it is gone, or another one has its name by now. A
 * rep always says whose guid it means. */
bool unit_is_meant(const struct move_turn *t, const Board__UnitRecord *unit);

/* A copy of the unit in the other life. */
Board__UnitRecord *unit_in_life(struct arena *a, const Board__UnitRecord *before, int life,
                                struct moment now);

/* A copy of the relation, dying. */
Board__RelationRecord *relation_dying(struct arena *a, const Board__RelationRecord *before,
                                      struct moment now);

/* The tag of a unit that waits for a machine, in place of its life. */
#define UNIT_PLACE_UNASSIGNED "unassigned"

/* The status of a unit that is made: its agent has said nothing yet. */
void unit_status_put_pending(struct plan *p, const struct op_input *in, struct unit_name name,
                             const Board__UnitRecord *unit);

/* A map as clients and reps bring it: in byte order, each key once, within the bounds of a
 * configuration. */
bool unit_settings_are_ordered(Board__UnitSetting *const *list, size_t count);

/* True: there is no such service, or it is not alive, and the plan is refused; `what`: what is not
 * done with it then, a sentence. */
bool unit_service_refused(const Board__UnitServiceRecord *s, const char *name, const char *what,
                          struct plan *p);

/* Of a record. */
struct unit_name unit_name_of(const Board__UnitRecord *unit);

/* The machine that a cell is, or may become. */
struct cell_machine {
    const char *cell_id;
    const Board__CellRecord *cell;         /* NULL = it has no record */
    const Board__MachineRecord *machine;   /* of the cell's identity; NULL = it is none yet */
    const Board__SequenceRecord *sequence; /* then: NULL = the first machine of all */
    bool number_free;                      /* likewise: the next number may be taken */
};

/* 1. The cell is a machine, of its identity.
 * 2. It is none, or the state directory is another one by now: it may be a new machine, by the next
 *    number. That the number is free is compared. */
void cell_machine_gather(struct view *v, const char *cell_id, struct cell_machine *ret);

/* It becomes one: the record, which machine the cell is, and the sequence. */
enum machine_use { MACHINE_OF_UNITS, MACHINE_OF_MANAGER };
const Board__MachineRecord *cell_machine_put(const struct cell_machine *c,
                                             const struct op_input *in, int trigger,
                                             uint32_t guards, enum machine_use use, bool clean,
                                             struct plan *p);

/* What the plan has become is within its bound. */
void units_plan_check(const struct plan *p);
