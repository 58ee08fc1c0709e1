/* What a program of a container finds in its environment (design.md 7, Environment). */
#pragma once

#include "common/base/arena.h"
#include "common/contract/driver.h"
#include "models/environment_variables.pb-c.h"
#include "rep_note.pb-c.h"

/* The driver fills it in where the container has an address of its own. */
#define ADDRESS_VARIABLE "CF_INSTANCE_INTERNAL_IP"

/* Variables as the API has them; of two with one name the later one counts. Borrowed. */
struct variable_list {
    Models__EnvironmentVariable *const *list;
    size_t count;
};

/* Where the program runs. All is borrowed. */
struct environment_facts {
    const Rep__Note *about;           /* without key: a task */
    const char *address;              /* the host's */
    char *const *image; /* "NAME=value", of the image that it runs in, if it is one */
    size_t image_count;
    struct variable_list definition;  /* of the DesiredLRP or the task */
    struct variable_list step;        /* of the run action */
};

/* The environment, each name once, in the arena and borrowing from the facts. Gives how many. In
 * this order, of which later ones win; a name that is set again keeps its place:
 *
 *   1. the image's
 *   2. of an instance: INSTANCE_GUID, INSTANCE_INDEX, CF_INSTANCE_GUID, CF_INSTANCE_INDEX; of a
 *      unit: CORKBOARD_UNIT, CORKBOARD_SERVICE, CORKBOARD_PRINCIPAL ("" = it is one)
 *   3. with a network of its own: PORT, the first container port
 *   4. the definition's
 *   5. with the host's network: PORT and PORT_<container port>, for there an app must listen where
 *      its port was allotted
 *   6. the step's own
 *   7. CF_INSTANCE_IP (the host's), CF_INSTANCE_INTERNAL_IP (the container's: with a network of its
 *      own "", for the driver to fill in), CF_INSTANCE_PORT and CF_INSTANCE_ADDR (the host port of
 *      the first mapping; "" where that has none), CF_INSTANCE_PORTS (a JSON list of all, "[]"
 *      without any)
 *
 * A task has no ports and is no instance with an index, so it has of these 1, 4, 6 and 7 alone. */
size_t environment_make(struct arena *a, const struct environment_facts *facts,
                        const struct name_value **ret_list);
