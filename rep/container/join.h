/* Containers that share the network of another one of the cell (docs/cell.md, Join): its namespaces
 * of network and users, its addresses, its ports and its range of ids. These are there until the
 * last of them is removed. A definition names the instance; a subordinate unit has its principal's
 * (docs/units.md, On its cell). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "models/network.pb-c.h"
#include "rep_note.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

struct container;
struct rep;

/* The instance that a definition's network names by its property "join", "instance:GUID": its guid,
 * borrowed; NULL: none, or not in this form. */
const char *join_wanted(const Models__Network *network);

/* -ERR_INVALID with err when the property has another form, or when the definition has ports or
 * egress rules of its own: it has those of the other. */
int join_check(const Models__Network *network, size_t ports, size_t egress_rules, struct err *err);

/* Why it may not share the network of this instance, as a crash tells it, in the arena; NULL: it
 * may, and its note says whose it shares, and has that one's ports and ids. Asked again it only
 * looks whether that is still so. */
const char *join_refuses(struct rep *r, struct container *c, const char *guid, bool privileged,
                         struct arena *a);

/* The same of a subordinate unit: why it may not share the network of its principal's container. */
const char *join_principal_refuses(struct rep *r, struct container *c, bool privileged,
                                   struct arena *a);

/* Tells the note whether its network is its own: as the one says that it joins, else as all have it
 * on this cell. */
void join_tell_network(const struct rep *r, Rep__Note *note);

/* Whether another container of the table shares its network, by either's word. */
bool join_is_shared(const struct rep *r, const struct container *c);
