/* References to unit services, which are their units and relations: they come with a relation, and
 * go with it or with a unit; a dying service goes with the last one (docs/units.md, Decisions).
 * Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

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

/* A copy of the relation, dying. */
Board__RelationRecord *relation_dying(struct arena *a, const Board__RelationRecord *before,
                                      struct moment now);
