/* The charm of a unit service, as requests bring it and services have it. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"
#include "common/charmfile/charm.h"

#include "board.pb-c.h"

/* So many charms of one service, for its units run older ones. */
enum { SERVICE_CHARMS_MAX = 8 };

/* Says what is wrong with a charm that a client brings, what it runs among it. */
void valid_unit_charm(struct validation *v, const Board__Charm *charm);

/* A charm that comes as the text of its file. ERR_INVALID, ERR_TOO_LARGE: as charm_parse() says it,
 * with the line. */
int unit_charm_read(struct arena *a, const char *file, Board__Charm **ret_charm, struct err *err);

/* What tells it from every other charm of its service. */
const char *unit_charm_digest(struct arena *a, const Board__Charm *charm);
Board__CharmRecord *unit_charm_record(struct arena *a, const char *service,
                                      const Board__Charm *charm);

/* What a client sets is known to the charm and keeps the bounds of a configuration; else why not,
 * a sentence in the arena. */
const char *unit_settings_fault(struct arena *a, const Board__Charm *charm,
                                Board__UnitSetting *const *settings, size_t count);

/* The service is made, or gets this charm: its endpoints of peers that have no relation yet. */
struct peers {
    const char *service;
    const Board__Endpoint *ends[CHARM_ENDPOINTS_MAX];
    const char *keys[CHARM_ENDPOINTS_MAX]; /* relation_key/ of each */
    size_t count;
    const char *stands;                    /* an endpoint that has one; NULL = none */
    const Board__SequenceRecord *sequence; /* where there are any */
};
void peers_gather(struct view *v, const char *service, const Board__Charm *charm,
                  struct peers *ret);

/* False: no numbers are left for relations; the plan is refused. */
bool peers_numbered(const struct peers *peers, struct plan *p);

/* 3 records each, and the sequence; by the relation's trigger of that name. */
void peers_put(const struct peers *peers, const char *service_guid, int trigger, uint32_t guards,
               const struct op_input *in, struct plan *p);
