/* The instances of a DesiredLRP: bringing the records of a range of indices in line with what is
 * desired, a bounded portion at a time (behaviour.md 8.2 to 8.4; design.md 2, Jobs; design.md 5,
 * Explicit stop). Desire, update, remove and their job all do this and nothing else to
 * instances, so that a job which an update replaced needs no undoing. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

/* Bounds of one portion: records that it reads (each is a compare, of which a transaction takes
 * 118) and records that it changes (of which it takes 64, a few for the desired record, what is
 * kept of a removal, and the job). Of an index two are read, of one that is being emptied three,
 * and all may have to change: two reads an index, and a record each with two more for the last one,
 * have room. Of ops inside another one (bbs/board/nested.h) each has its share of the records, of
 * which 6 are for those beside its portion and for its last index. */
enum {
    PORTION_INDICES_MAX = 56,
    PORTION_RECORDS_MAX = PORTION_INDICES_MAX + 2,
    PORTIONS_RECORDS_MAX = 60,
};

/* A record that must change, or be made. */
struct instance {
    int32_t index;
    const Models__ActualLRP *record; /* of any presence; NULL = there is no ORDINARY one */
};

/* The range [next, end) of indices still to look at, and what the portion found. */
struct instances {
    struct instance *list;
    size_t count;
    int32_t next; /* first index not looked at */
    int32_t end;
};

/* Looks at [from, end): collects the indices below `wanted` without an ORDINARY record, the records
 * whose instance runs another definition than `definition_id` ("" = every one is another), and
 * those from `wanted` on that are not being stopped yet; SUSPECT ones like ORDINARY ones,
 * EVACUATING ones only from `wanted` on. Every index looked at is noted in the read set, also those
 * to be left as they are: a stopping record that its rep removes meanwhile leaves an index to be
 * filled, or to be emptied, and nobody else would. */
void instances_gather(struct view *v, const char *process_guid, int32_t wanted,
                      const char *definition_id, int32_t from, int32_t end, struct instances *ret);

/* Plans the changes: missing ones are created UNCLAIMED, surplus ones deleted (UNCLAIMED, CRASHED)
 * or marked stopping (CLAIMED, RUNNING); with the notices for auctioneer and reps. `desired` is the
 * DesiredLRP as it will stand, NULL when it goes. */
void instances_settle(const struct instances *s, const char *process_guid,
                      const Models__DesiredLRP *desired, const struct op_input *in,
                      struct plan *p);

/* What is left goes to the job of this DesiredLRP, which is opened or replaced; when nothing is
 * left an old job ends. `job` is the one that stands, or NULL. */
void instances_job(const struct instances *s, const char *process_guid,
                   const Models__DesiredLRP *desired, const Board__JobRecord *job,
                   const struct op_input *in, struct plan *p);

/* The range that a job has left; none, if nobody of ours wrote it. */
Board__JobRecord__Instances instances_of_job(const Board__JobRecord *job);

/* The op that does the next portion of a job; its request is the Board__JobRecord. */
extern const struct op_row instances_job_row;

/* Its parts, for tests. */
struct job_snapshot {
    const Board__JobRecord *job;
    const Models__DesiredLRP *desired;
    struct instances instances;
};
void job_decide(const void *snapshot, const struct op_input *in, struct plan *p);
