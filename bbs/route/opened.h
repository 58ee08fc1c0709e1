/* Answers to a rep with secrets opened: of what its cell runs, and to no other (docs/systems.md,
 * Secrets). Whoever else asks gets them sealed. For read_row.opened: NULL if nothing is sealed, or
 * it is not this cell's; an answer with an error if it cannot be opened, for the rep asks again. */
#pragma once

#include "bbs/route/read.h"

/* The DesiredLRP, if an instance of it is on the rep's cell. */
const ProtobufCMessage *opened_desired(const struct ask *ask, struct view *v,
                                       const struct picked *one);

/* The task, if it runs on the rep's cell. */
const ProtobufCMessage *opened_task(const struct ask *ask, struct view *v,
                                    const struct picked *one);
