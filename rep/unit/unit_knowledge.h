/* What a rep knows of the board about the units of its cell (docs/units.md, What a rep follows):
 * the records that the feed tells, the topics that these lead to, and what the agent and the tools
 * of a hook look at. Pure: the owner of a feed client gives it every change.
 *
 * By the cell's tag it is told of machine, machine_cell, unit, unit_status, unit_child and
 * unit_scope; by topic of the status of each unit, which has the tag from its first report on; of
 * the services of these units with configuration, charms and relations, of each relation of these,
 * of members and settings of each scope that a unit here is in, and of the services at the ends of
 * container relations. A topic that many units need is followed once.
 *
 * What it costs. A record: O(log n) of the records that are held, and a step for each unit here
 * that it is about, which unit_knowledge_touched() then names: the unit itself, the subordinates of
 * a principal, the units here of a service, or of a scope; the first unit of a service here, and
 * the last one, also O(relations of that service). Facts: O(relations of the service and scopes of
 * the unit), and O(members) where they are peers; the members of a scope are otherwise kept once,
 * and lent. Memory is bounded by what the feed client holds: a reference to each record, and 24
 * bytes a member. */
#pragma once

#include "common/client/feed_client.h"
#include "rep/unit/agent.h"
#include "rep/unit/tools.h"

enum {
    UNIT_NUMBERS_KEPT_MAX = 1024, /* of subordinates, taken and not used yet */
    UNIT_REFUSED_MAX = 16384,     /* enters that were refused; with one more all are tried again */
};

struct unit_knowledge {
    const char *cell_id; /* borrowed */
    char board_generation[FEED_CLIENT_BOARD_GENERATION_BYTES];
    struct map records;  /* key -> struct unit_record_held */
    struct map topics;   /* that are wanted -> struct unit_topic */
    struct map waiting;  /* of these, those without their snapshot */
    bool topics_changed; /* since unit_knowledge_topics() */
    struct map foreign;  /* keys of records that a later version has written */
    struct map guids;    /* of units -> their key */
    struct map outlines; /* key of a charm -> struct unit_outline */
    struct map sides;    /* of a relation in a scope -> struct unit_side: its members */
    struct map here;     /* scope and unit, of the units here that are in it */
    struct map children; /* principal and subordinate */
    struct map touched;  /* keys of units about which something has changed */
    struct map numbers;  /* service -> struct unit_numbers, that nobody has */
    struct map reserved; /* principal and service -> the number that it has */
    struct map refused;  /* unit and relation -> struct agent_cause */
    size_t numbers_kept; /* in all of `numbers` */
};

/* The text is borrowed. */
void unit_knowledge_init(struct unit_knowledge *k, const char *cell_id);
void unit_knowledge_done(struct unit_knowledge *k);

/* ---- What it is told ------------------------------------------------------------------------- */

/* The board generation of the feed ("epoch" of the journal). In another one numbers that were taken
 * and refusals mean nothing. Without one ("") no unit is known. */
void unit_knowledge_board_generation(struct unit_knowledge *k, const char *board_generation);

/* The record at this key stands so; NULL: it is gone. Any key may be given: others are ignored. Of
 * what a later version has written only that is known (unit_foreign()). */
void unit_knowledge_record(struct unit_knowledge *k, const char *key,
                           const struct followed *record);

/* The copy was emptied (FEED_CLIENT_RESET): no record is held, and no topic has its snapshot. */
void unit_knowledge_reset(struct unit_knowledge *k);

/* ---- Topics ---------------------------------------------------------------------------------- */

/* The topics that it wants now, in byte order, as feed_client_add_topic() takes them; at most
 * FEED_CLIENT_TOPICS_MAX. The list is in the arena, the texts are borrowed until the next record.
 * *ret_changed: they are others than when this was asked last. More topics are left out, and units
 * that need them are not known: *ret_left_out says how many. */
size_t unit_knowledge_topics(struct unit_knowledge *k, struct arena *a,
                             const char *const **ret_list, bool *ret_changed, size_t *ret_left_out);

/* The snapshot of this topic was told. */
void unit_knowledge_reported(struct unit_knowledge *k, const char *topic);

/* All of the above with a feed client: adds the topics that it wants, takes others in place of
 * those that nobody wants any more when there is no room for new ones, and hears which have had
 * their snapshot. For after each step of the feed client. O(topics that wait). Returns how many are
 * left out, though they are wanted: for the log. */
size_t unit_knowledge_follow(struct unit_knowledge *k, struct feed_client *f, struct effects *out);

/* ---- Units ----------------------------------------------------------------------------------- */

/* A unit that the board has on this cell, of whatever identity. */
struct unit_known {
    struct unit_name name;
    const char *guid;
};

/* All of them, in byte order of their keys; the list and its texts are in the arena. */
size_t unit_knowledge_units(const struct unit_knowledge *k, struct arena *a,
                            struct unit_known **ret_list);
/* Those about which something has changed since this was asked last, gone ones among them, whose
 * guid is "". */
size_t unit_knowledge_touched(struct unit_knowledge *k, struct arena *a,
                              struct unit_known **ret_list);
/* False: there is none of that guid. */
bool unit_knowledge_find(const struct unit_knowledge *k, struct arena *a, const char *guid,
                         struct unit_name *ret);

/* The guids of its subordinates, as the records of these name it; in the arena. */
size_t unit_knowledge_children(const struct unit_knowledge *k, struct arena *a,
                               struct unit_name principal, const char ***ret_guids);

/* Every topic of the unit of this name has had its snapshot, or there is no such unit, and a later
 * version has written none of what it is decided by: what is not here is not on the board. The
 * agent's facts are `confirmed` only if it is so, the feed client is current, and the incarnation
 * is open. */
bool unit_knowledge_known(const struct unit_knowledge *k, struct unit_name name);

/* A key of what it is decided by that a later version has written; NULL = there is none. */
const char *unit_foreign(const struct unit_knowledge *k, struct arena *a, struct unit_name name);

/* The record of a unit, its status, the current machine of the cell, a service, a relation; in the
 * arena, NULL = none is held. */
const Board__UnitRecord *unit_knowledge_unit(const struct unit_knowledge *k, struct arena *a,
                                             struct unit_name name);
/* That of this name ("web/3"), if it has the guid. */
const Board__UnitRecord *unit_knowledge_of_guid(const struct unit_knowledge *k, struct arena *a,
                                                const char *text, const char *guid);
const Board__UnitStatusRecord *unit_knowledge_status(const struct unit_knowledge *k,
                                                     struct arena *a, struct unit_name name);
const Board__MachineRecord *unit_knowledge_machine(const struct unit_knowledge *k, struct arena *a);
const Board__UnitServiceRecord *unit_knowledge_service(const struct unit_knowledge *k,
                                                       struct arena *a, const char *service);
const Board__RelationRecord *unit_knowledge_relation(const struct unit_knowledge *k,
                                                     struct arena *a, uint32_t number);

/* The charm of that digest; NULL = it is not held. */
const Board__Charm *unit_knowledge_charm(const struct unit_knowledge *k, struct arena *a,
                                         const char *service, const char *digest);
/* What each look at a unit asks of a charm, made once, when its record comes. */
struct unit_outline {
    char *shape; /* unit_shape(); NULL = it runs nothing */
    bool has_command;
};

/* Of the charm of that digest, until the next record; NULL = it is not held. O(log n). */
const struct unit_outline *unit_knowledge_outline(const struct unit_knowledge *k, struct arena *a,
                                                  const char *service, const char *digest);

/* What the service is configured with: the defaults of that charm, and what was set of its keys; in
 * byte order of the keys. */
size_t unit_knowledge_config(const struct unit_knowledge *k, struct arena *a, const char *service,
                             const Board__Charm *charm, Board__UnitSetting ***ret_list);

/* ---- What the agent looks at ----------------------------------------------------------------- */

/* Fills what comes from the board, of the unit of this name, and the guid and the journal (NULL =
 * none) that are given; everything else is as it was. Of `confirmed` it sets
 * unit_knowledge_known() alone, and is to be given only facts that are cleared. Borrows from the
 * arena, and from `k` until the next record. At most HOOK_RELATIONS_MAX memberships and
 * AGENT_CHILDREN_MAX subordinates are seen: others come when these are gone. */
void unit_knowledge_facts(struct unit_knowledge *k, struct arena *a, struct unit_name name,
                          const char *guid, const Rep__UnitNote *journal, struct agent_facts *f);

/* What the tools of a hook see of the board, as it is now: name, principal, machine, configuration
 * by the charm of that digest, and of each relation that the unit is in its own settings and those
 * of the members that it sees, of those too that have left. Who is there hangs on the hook that the
 * journal notes: the unit that joined or changed always is, the one that departs never. The remote
 * unit, address and ports are the caller's. HOOK_SCOPE_TOLD_MAX members of a scope at most, those
 * the journal was told of, and the one that its hook is about, first. */
void unit_knowledge_tools(const struct unit_knowledge *k, struct arena *a, struct unit_name name,
                          const char *charm, const Rep__UnitNote *journal, struct tool_world *w);

/* ---- What is remembered of moves ------------------------------------------------------------- */

/* The move `numbers` gave these of the sequence: `count` from `first` on. Facts give them to the
 * principals that need one; those beyond UNIT_NUMBERS_KEPT_MAX stay unused. */
void unit_knowledge_numbers(struct unit_knowledge *k, const char *service, uint32_t first,
                            uint32_t count);
/* How many are worth taking at once: for so many principals here, of the services that the
 * subordinate one has a container relation with, none is kept and no subordinate is there. 1 to 64.
 * O(units of these services here). */
uint32_t unit_knowledge_numbers_due(const struct unit_knowledge *k, const char *service);

/* By what bbs judges the enter that these facts lead to: to be kept with the move. */
struct agent_cause unit_knowledge_cause(const struct agent_facts *f, uint32_t relation);

/* The enter of that relation was refused, which was made with this cause. It is not tried again
 * while nothing that it was judged by has changed; with a subordinate once more, by another
 * number. */
void unit_knowledge_enter_refused(struct unit_knowledge *k, struct unit_name name,
                                  uint32_t relation, struct agent_cause cause);
