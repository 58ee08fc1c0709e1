/* From a DesiredLRP or a task to a container: what the driver gets, and what the rep notes about
 * it. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/contract/driver.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "rep_image.pb-c.h"
#include "rep_note.pb-c.h"

/* Whether this cell can run it. ERR_INVALID says what is wrong with its root filesystem's name, or
 * what the cell cannot do; ERR_TOO_LARGE names the bound of its steps that it passes
 * (rep/steps/tree.h). */
int spec_check(const Models__DesiredLRP *lrp, struct err *err);

/* The instance's note: `reserved` completed with definition, resources, internal routes and metric
 * tags (dynamic ones resolved) of the LRP, the source of its exit text, its steps if it has more
 * than one program, and with these ports.
 * Freshly allocated; spec_check() need not have passed. */
Rep__Note *spec_note(const Rep__Note *reserved, const Models__DesiredLRP *lrp,
                     const struct port_pair *ports, size_t port_count);

/* The spec, in the arena, borrowing from all of them; spec_check() passed. Without steps in the
 * note its program is the run action's; with steps each has its own. `address` is the host's, as
 * net info tells it; with host networking it is the container's, too. The environment is that of
 * environment.h. `image`: what was pulled for it, NULL = nothing. Its layers are the root
 * filesystem, and where a run action has `from_image` it says what is left out there. A program
 * that nobody names has the path "". */
void spec_make(struct arena *a, const Models__DesiredLRP *lrp, const Rep__Note *about,
               const char *address, const Rep__Image *image, struct container_spec *ret_spec);

/* The same three of a task. */
int spec_check_task(const Models__TaskDefinition *definition, struct err *err);
Rep__Note *spec_note_task(const Rep__Note *reserved, const Models__TaskDefinition *definition);
void spec_make_task(struct arena *a, const Models__TaskDefinition *definition,
                    const Rep__Note *about, const char *address, const Rep__Image *image,
                    struct container_spec *ret_spec);

/* The same of a unit, by what its charm runs (docs/units.md, A charm): its first process only
 * waits, for runs. */
int spec_check_unit(const Models__DesiredLRP *run, struct err *err);
Rep__Note *spec_note_unit(const Rep__Note *reserved, const Models__DesiredLRP *run,
                          const struct port_pair *ports, size_t port_count);
void spec_make_unit(struct arena *a, const Models__DesiredLRP *run, const Rep__Note *about,
                    const char *address, const Rep__Image *image, struct container_spec *ret_spec);
/* What a run of it does: the charm's action, under this number; without one it has the path "". In
 * the arena, borrowing from all of them. */
struct step_process spec_process_of_unit(struct arena *a, const Models__DesiredLRP *run,
                                         const Rep__Note *about, const char *address,
                                         uint32_t number);
