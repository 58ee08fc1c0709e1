/* ActualLRP records: making them, and the field effects of each change (behaviour.md 10.1). Records
 * that were read are never written to: a change starts from a copy. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/random.h"
#include "common/contract/moment.h"
#include "models/actual_lrp.pb-c.h"

/* Texts of this many bytes or more are cut (behaviour.md 10.1). */
enum { ACTUAL_TEXT_MAX = 1024 };

/* The state in common/lifecycle/actual_lrp.def; ACTUAL_LRP_NONE for NULL, -1 for a name that this
 * version does not know. */
int actual_state(const Models__ActualLRP *record);

/* A new UNCLAIMED record: new epoch, index 0, routable false. `owner` may be NULL. */
Models__ActualLRP *actual_new(struct arena *a, const char *process_guid, int32_t index,
                              const char *domain, const Models__Owner *owner, struct moment now,
                              struct random *random);

/* A shallow copy whose own members may be set; what they point to stays the old record's. It is a
 * change of its own: `since` is now (never falls) and the modification tag one further. */
Models__ActualLRP *actual_change(struct arena *a, const Models__ActualLRP *before,
                                 struct moment now);

/* The same copy with nothing changed: for marks that are invisible on Diego paths (design.md 5). */
Models__ActualLRP *actual_copy(struct arena *a, const Models__ActualLRP *before);

/* By the number of common/lifecycle/actual_lrp.def. */
void actual_set_state(Models__ActualLRP *record, int state);

/* Instance key and net info become empty, and with them what belonged to that instance alone:
 * definition and the stopping mark. */
void actual_clear_instance(struct arena *a, Models__ActualLRP *record);

void actual_set_routable(Models__ActualLRP *record, bool routable); /* said then, also false */

/* The text as stored: 1024 bytes or more become their first 1013 and "(truncated)". */
char *actual_cut_text(struct arena *a, const char *text);

/* Both parts given and equal. */
bool instance_key_equal(const Models__ActualLRPInstanceKey *a,
                        const Models__ActualLRPInstanceKey *b);

/* The record bears an instance key. */
bool actual_has_instance(const Models__ActualLRP *record);

/* Nothing but `since` and the modification tag differs. */
bool actual_same_content(const Models__ActualLRP *a, const Models__ActualLRP *b);
