/* Components of a resolved definition as records of the board, and what a service's component runs
 * (docs/systems.md, Definitions). Pure. */
#pragma once

#include "common/definition/definition.h"
#include "models/desired_lrp.pb-c.h"

struct definition_target {
    const char *system; /* id */
    const char *uid;
    const char *tree;          /* borne by the records */
    const char *system_domain; /* of addresses outside; "" or NULL = ports get none */
    const char *path;          /* only what stands there and below; NULL = all */
};

struct definition_records {
    Board__ComponentRecord **components; /* by path, by segments */
    size_t count;
    Board__IndexRecord *index;
};

/* Makes the records. Faults are added to those of the tree; with none of them, and nothing that it
 * needs, *ret is whole. */
void definition_compile(struct arena *a, struct definition_tree *tree,
                        const struct definition_target *target, struct definition_records *ret);

/* What a revision of the service runs: with process_guid, domain, owner and instances. Where
 * secrets are filled in afterwards component_guid() is asked again: their versions count. */
Models__DesiredLRP *component_lrp(struct arena *a, const Board__ComponentRecord *c,
                                  const char *system, const char *uid);

/* "<system>.<a>.<b>", as what a service's process_guid begins with, and its log_guid. */
const char *component_app_name(struct arena *a, const char *system, const char *path);

/* The process_guid of a definition of the service at `path`: at most 200 bytes. */
const char *component_guid(struct arena *a, const char *system, const char *path,
                           const Models__DesiredLRP *lrp);
