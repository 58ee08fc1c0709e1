/* The moves of the converger about a service: the rows of moves.def, over one snapshot. Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/nested.h"
#include "bbs/board/speaker.h"
#include "bbs/lrp/instances.h"
#include "bbs/pool/pool.h"
#include "bbs/service/record.h"
#include "models/desired_lrp.pb-c.h"

/* What a row reads beside the service and who speaks (moves.def). */
enum service_reads {
    READS_SYSTEM = 1,    /* whether it may roll: the system, and who holds the path */
    READS_HEAD = 2,      /* what is to stand at the path */
    READS_COMPONENT = 4, /* of the tree that the move names, and its secrets */
    READS_REVISION = 8,  /* that the move names, or the target: what it runs, its DesiredLRP */
    READS_STANDING = 16, /* the DesiredLRPs of all revisions that have one */
    READS_LEFT = 32,     /* whether anything of any revision is left */
};

/* All that a decision rests on. What the row does not read is NULL, 0 or false. */
struct service_snapshot {
    struct speaker by;
    const char *board_generation;
    const Board__ServiceRecord *service; /* NULL = there is none */
    int64_t revision;                    /* of its record */
    const Board__SystemRecord *system;
    const Board__HoldRecord *hold;
    const Board__HeadRecord *head;
    bool wanted; /* the tree of the head has a component at the path */
    const Board__ComponentRecord *component;
    const Models__DesiredLRP *wanted_lrp; /* of the component, its secrets filled */
    struct pool_place place;              /* of target: where it is to run */
    const char *unset;                    /* the first secret of it that is not set */
    const Models__DesiredLRP *run;        /* what the revision runs, whole */
    const Models__DesiredLRP *desired;    /* its DesiredLRP, scheduling part */
    bool stranger;    /* that DesiredLRP is another's */
    const char *oldest; /* of target: hash of the revision that has to go; NULL = none */
    bool oldest_kept;   /* what it runs is on the board */
    const char *left; /* what is left of it, for people; NULL = nothing */
    const char **kept; /* keys of what its revisions run */
    size_t kept_count;
    /* What is done to DesiredLRPs and instances. */
    struct instances retired; /* of retire: what runs at the index */
    struct nested_op ops[NESTED_OPS_MAX];
    size_t op_count;
};

/* What the move says; the uid and the path that it is about. */
const Board__ServiceMove *service_says(const struct move_turn *t);
const char *service_turn_uid(const struct move_turn *t);
const char *service_turn_path(const struct move_turn *t);
const Board__ServiceRecord *service_before(const struct move_turn *t);

/* Refuses, and gives false, while nothing may roll: it is paused, its system is, or nobody
 * confirmed it in this board generation. What is deleting does not wait for a pause. */
bool service_may_roll(const struct move_turn *t);

/* The ops of the snapshot are done, and the service is put beside them. */
void service_put_with(const struct move_turn *t, const Board__ServiceRecord *after);

/* The guards, refusals and decisions of the rows, each in the file that moves.def names. */
uint32_t target_service_guards(const struct move_turn *t);
uint32_t delete_service_guards(const struct move_turn *t);
uint32_t observe_service_guards(const struct move_turn *t);
uint32_t remove_service_guards(const struct move_turn *t);
void target_service_decide(const struct move_turn *t);
void surge_decide(const struct move_turn *t);
void shrink_decide(const struct move_turn *t);
void adjust_decide(const struct move_turn *t);
void retire_service_decide(const struct move_turn *t);
void observe_service_decide(const struct move_turn *t);
void delete_service_decide(const struct move_turn *t);
void unroute_decide(const struct move_turn *t);
void remove_service_decide(const struct move_turn *t);

/* Gathers of files: what the ops of surge, shrink, adjust, retire, unroute read. */
void target_gather(struct view *v, const struct op_input *in, struct service_snapshot *s);
void roll_gather(struct view *v, const struct op_input *in, struct service_snapshot *s);
void unroute_gather(struct view *v, const struct op_input *in, struct service_snapshot *s);
void left_gather(struct view *v, struct service_snapshot *s);
