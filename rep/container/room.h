/* What a container takes of the cell: memory, disk, a slot, host ports; and its sources. */
#pragma once

#include "models/network.pb-c.h"
#include "rep/container/container.h"

struct rep;

/* The memory that it takes: its own, and its proxy's (rep-auctioneer.md 2.2). */
int32_t room_memory_mb(const struct rep *r, const Rep__Note *about);

/* Takes it for a container that is there already. */
void room_adopt(struct rep *r, const struct container *c);

/* Why it may not be made here, as a crash tells it (docs/cell.md, Isolation); NULL: it may, and has
 * its range of ids in its note, unless it needs none: a privileged one, or any on a cell without
 * user namespaces. One that joins another's network (join.h) has what that one has. Texts are in
 * the arena. */
const char *room_refuses(struct rep *r, struct container *c, const Models__Network *network,
                         bool privileged, struct arena *a);

/* Frees the memory of a container whose process is gone, once; not of one that is made again. */
void room_give_memory(struct rep *r, struct container *c);

/* Frees the host ports in its note, if nobody shares them. */
void room_give_ports(struct rep *r, const struct container *c);

/* Frees all that it still has. */
void room_give(struct rep *r, const struct container *c);

/* All of these volume drivers are the cell's. */
bool room_has_drivers(const struct rep *r, char *const *drivers, size_t count);

/* "preloaded:NAME" with a name this cell has. */
bool room_has_rootfs(const struct rep *r, const char *rootfs);
