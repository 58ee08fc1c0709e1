/* The record of a service, and how it changes. What was read is never written to: a change starts
 * from a copy. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "common/base/arena.h"
#include "common/model/service_record.h"
#include "models/desired_lrp.pb-c.h"

#include "board.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

/* The state in service.def; SERVICE_NONE of NULL, -1 of a newer version's. */
int service_state(const Board__ServiceRecord *s);

/* It belongs to no system. */
bool service_is_app(const Board__ServiceRecord *s);

/* The hash of a revision, by the process_guid of its DesiredLRP; within it. */
const char *service_hash(const char *process_guid);

/* A new one, without a revision and a state. Texts are copied. */
Board__ServiceRecord *service_new(struct arena *a, const char *id, const char *uid,
                                  const char *system, const char *path, struct moment now);

/* A copy whose own members and revisions may be set. */
Board__ServiceRecord *service_copy(struct arena *a, const Board__ServiceRecord *before);

/* In this state of service.def, since now if it was in another. */
void service_set_state(Board__ServiceRecord *s, int state, struct moment now);

/* The newest revision with instances that is not of that hash; NULL = there is none. */
Board__Revision *service_other(const Board__ServiceRecord *s, const char *hash);

/* The revision of that hash, as the newest; made, and without a hash, unless it is there. */
Board__Revision *service_newest(struct arena *a, Board__ServiceRecord *s, const char *hash);

/* It is to run this revision from now on, with these routes, tags and policies. The revision is
 * made unless it is there, and becomes the newest; the generation is one more. */
Board__Revision *service_aim(struct arena *a, Board__ServiceRecord *s, const char *hash,
                             const Models__DesiredLRP *lrp, struct moment now);

/* The oldest of those that do not run, if there are more than SERVICE_REVISIONS_KEPT of them: its
 * hash; NULL = none. */
const char *service_superfluous(const Board__ServiceRecord *s);

/* Without the revision of that hash. */
void service_drop(Board__ServiceRecord *s, const char *hash);

/* Whether the DesiredLRP has the routes, annotation, metric tags and policies that are wanted. */
bool service_fits(struct arena *a, const Models__DesiredLRP *desired,
                  const Models__DesiredLRP *wanted);

/* The update that brings them there; NULL when they are as wanted. */
Models__DesiredLRPUpdate *service_update(struct arena *a, const Models__DesiredLRP *desired,
                                         const Models__DesiredLRP *wanted);
