/* The life of an LRP's instance on its cell (docs/instances.md): reserved, claimed, launched,
 * running, over, its end reported, deleted. It asks the driver and bbs for nothing but what the
 * table of harmonise.h says. */
#pragma once

#include "rep/container/kind.h"

extern const struct container_kind instance_kind;

/* ---- judge.c: the table's word, by what is known of the record */

/* What is to be done about the container, and why. */
struct harmony instance_judge(const struct rep *r, struct container *c);

/* It runs, and its record says of `routable` what its checks do not: writes were lost, or a start
 * call from before came late. */
bool instance_is_told_otherwise(const struct rep *r, const struct container *c);

/* As instance_judge() when a bbs has refused `action` with an error of this type; what stands on
 * the board is already known. */
struct harmony instance_judge_refused(const struct rep *r, const struct container *c,
                                      enum harmony_action action, Models__Error__Type type);

/* Whether it still lets this container start: its record is ours and no stop was asked. */
bool instance_may_launch(const struct rep *r, struct container *c);

/* ---- launch.c: from a claimed reservation to a running container. The DesiredLRP is fetched,
 * ports are allotted, PREPARE, START; each step begins when the record still is this container's */

/* The next step of a container in INITIALIZING or CREATED without an operation. */
void launch_continue(struct rep *r, struct container *c, struct effects *out);

/* The end of PREPARE or START; the container's operation is over already. */
void launch_verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out);

/* ---- offer.c */

/* Reserves the instance that is offered (rep-auctioneer.md 2.2). True, too, for one that this cell
 * is starting already. False: nothing is reserved. */
bool instance_reserve(struct rep *r, const Cell__LRP *lrp, struct effects *out);

/* ---- moves.c: members of instance_kind; and what a bbs said of a record of this index */

/* As the members of struct container_kind (rep/container/kind.h). */
Board__Move *instance_move(const struct rep *r, struct arena *a, struct container *c,
                           struct move_order *o);
void instance_learn(struct rep *r, struct arena *a, const Models__ActualLRPKey *key,
                    const struct move_order *o, const Board__MoveResult *result);
enum harmony_action instance_stray(const struct rep *r, const char *key);
Board__Move *instance_stray_move(const struct rep *r, struct arena *a, struct move_order *o);
bool instance_stray_settled(struct rep *r, const struct move_order *o,
                            const Board__MoveResult *result);
