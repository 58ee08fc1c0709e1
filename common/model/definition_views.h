/* Older views of DesiredLRPs and tasks: what the deprecated routes and event streams show
 * (behaviour.md 8.5, 13.3, 16.2). Pure; each changes the message given, which must be a decoded
 * copy of the caller's own in `a` (nothing is freed, what is new lives in `a` too). */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

/* r2 knows no image layers: SHARED ones become cached dependencies before the others, EXCLUSIVE
 * ones downloads in parallel before `setup`. */
void desired_as_r2(struct arena *a, Models__DesiredLRP *desired);

/* The same for a task (r2, and the r0 stream); its downloads come before `action`. A task without a
 * definition stays as it is. */
void task_as_r2(struct arena *a, Models__Task *task);

/* Whether these change anything: of a packed DesiredLRP or Task (for a DesiredLRP its run part),
 * reported without decoding it. */
bool desired_has_layers(struct bytes desired);
bool task_has_layers(struct bytes task);

/* Version 0, of the r0 streams: as r2; then time-outs in their old units too, cached dependencies
 * moved into `setup`, and Try and EmitProgress replaced by what they wrap (a quirk of Diego). */
void desired_as_r0(struct arena *a, Models__DesiredLRP *desired);
