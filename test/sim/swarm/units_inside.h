/* What the files of the workload of units share. */
#pragma once

#include "test/sim/swarm/inside.h"
#include "units.pb-c.h"

#define UNIT_HOOK_PROGRAM "/.corkboard/tools/rep-hook"
#define UNIT_COMMAND "/bin/serve"

enum { UNIT_CHARM_HOOKS_MAX = 32 };

/* unit_authors.c: what runs in containers of units. Each hook that runs is looked at, and ends as
 * is drawn; some tell others something first. */
struct unit_authors {
    struct workload *work;
    struct map hooks; /* guid.run -> struct author_hook, in the arena of the swarm */
    bool healed;      /* all end well, and soon */
};
void unit_authors_init(struct unit_authors *o, struct workload *w);
void unit_authors_step(struct unit_authors *o);
void unit_authors_done(struct unit_authors *o);

/* unit_charms.c: the charms of the workload; `version` says which of two. */
enum { UNIT_SERVICES = 4, UNIT_RELATIONS = 5 };
struct unit_relation_row {
    const char *one, *one_end, *other, *other_end;
};
extern const char *const unit_services[UNIT_SERVICES]; /* the last is subordinate */
extern const struct unit_relation_row unit_relations[UNIT_RELATIONS];
Board__Charm *unit_charm(struct arena *a, unsigned service, unsigned version);
