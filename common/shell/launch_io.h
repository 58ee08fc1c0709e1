/* Programs of the operator's: EFFECT_LAUNCH in children of this process (common/contract/launch.h),
 * which neither wait for nor hold up the loop. */
#pragma once

#include "common/contract/launch.h"

struct event_base;
struct launcher;

/* `told` is called once for each launch, from the loop and never from inside launcher_launch();
 * what it is given is borrowed. */
struct launcher *launcher_new(struct event_base *base,
                              void (*told)(void *context, const struct launched *l), void *context);

/* Kills what runs, untold. Accepts NULL. */
void launcher_free(struct launcher *l);

/* Borrows the launch. */
void launcher_launch(struct launcher *l, const struct launch *launch);

/* Another limit than LAUNCH_TIME_S, for tests. */
void launcher_set_time(struct launcher *l, int ms);
