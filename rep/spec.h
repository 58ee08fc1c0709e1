/* From a DesiredLRP or a task to a container: what the driver is told, and what the rep notes about it. */
#ifndef REP_SPEC_H
#define REP_SPEC_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/contract/driver.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "rep_note.pb-c.h"

/* Whether this cell can run it: only the run action so far. ERR_INVALID names the action, or the key
 * beside it (JSON's name), that it cannot do. */
int spec_check(const Models__DesiredLRP *lrp, struct err *err);

/* The instance's note: `reserved` completed with definition, resources, internal routes and metric
 * tags (dynamic ones resolved) of the LRP, and with these ports. Freshly allocated. */
Rep__Note *spec_note(const Rep__Note *reserved, const Models__DesiredLRP *lrp,
                     const struct port_pair *ports, size_t port_count);

/* The spec, in the arena, borrowing from both messages; spec_check() passed. The environment is
 * INSTANCE_GUID, INSTANCE_INDEX, CF_INSTANCE_GUID, CF_INSTANCE_INDEX, then the LRP's own, then the
 * run action's (later ones win), and last PORT and PORT_<container port>: with host networking an
 * app must listen where its port was allotted, whatever its own environment says. */
void spec_make(struct arena *a, const Models__DesiredLRP *lrp, const Rep__Note *about,
               struct container_spec *ret_spec);

/* The same three of a task. Its environment is the definition's own and then the run action's. */
int spec_check_task(const Models__TaskDefinition *definition, struct err *err);
Rep__Note *spec_note_task(const Rep__Note *reserved, const Models__TaskDefinition *definition);
void spec_make_task(struct arena *a, const Models__TaskDefinition *definition,
                    const Rep__Note *about, struct container_spec *ret_spec);

#endif
