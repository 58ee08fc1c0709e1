/* The program rep-network: gives a container's network namespace its interface, its ports and its
 * egress rules, and takes them away again. It is a process of its own, so that a plugin or a packet
 * filter that hangs costs a container and not the cell, and several work at once.
 *
 *   rep-network attach DIR      called by the runtime when the namespaces of the container of that
 *                               directory are there and none of its programs runs yet (a
 *                               "createRuntime" hook); its state comes on standard input
 *   rep-network detach          takes it all back, in the container's directory; may be repeated
 *   rep-network sweep TABLE CONTAINERS [SUBNET]
 *                               makes the cell's table, and takes back what stands in it, what is
 *                               leased and which interfaces are there for containers that have no
 *                               directory; says what that was, a line each
 *   rep-network audit TABLE CONTAINERS [SUBNET]
 *                               says the same and changes nothing
 *   rep-network drop TABLE      deletes the table
 *   rep-network probe DIR [SUBNET]
 *                               tries attach and detach by the plan in DIR, in namespaces made for
 *                               it, of which nothing remains
 *
 * What it does stands in network.json (rep/driver/network_plan.h). It says why it failed on
 * standard error, and exits with 1. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep/driver/network_plan.h"

/* A plugin that has not ended after so long is killed. */
enum { PLUGIN_MS = 20000 };

/* These are the verbs above. -code with err. */
int network_attach(const char *dir, long pid, struct err *err);
int network_detach(const char *dir, struct err *err);
int network_probe_here(const char *dir, const char *subnet, struct err *err);

/* What of this cell is there for nobody: `tell` hears a line for each. With `mend` it is taken
 * back, after the table was made. */
struct network_cell {
    const char *table;
    const char *containers; /* the directory of their directories */
    const char *subnet;     /* NULL: plugins choose addresses */
};
int network_sweep(const struct network_cell *cell, bool mend, void (*tell)(const char *line),
                  struct err *err);

/* plan_io.c: the plan of a container's directory. -ERR_NOT_FOUND when it has none, or one that is
 * cut. The reference that it borrows from is `ret_read`. */
int plan_load(struct arena *a, const char *dir, struct network_plan *ret_plan, json_t **ret_read,
              struct err *err);
/* A small file of it, by its name; NULL: there is none. New reference; in the arena. */
json_t *plan_json(const char *dir, const char *name);
const char *plan_text(struct arena *a, const char *dir, const char *name);
int plan_write(const char *dir, const char *name, const char *text, bool append, struct err *err);

/* plugin_io.c: runs the plugins of a list. "add": in their order; the last one's result, a new
 * reference, or NULL with err. "del": backwards, and goes on where one fails; 0, or -code of the
 * first that did. */
json_t *plugins_add(const struct network_plan *plan, const char *space, struct err *err);
int plugins_delete(const struct network_plan *plan, const char *space, json_t *result,
                   struct err *err);

/* link_io.c: interfaces of this namespace, by name. 0, or -1 with errno. An alias is a text that
 * the kernel keeps with one; each that has one is told. A group is a number that the packet filter
 * knows it by. */
int link_mark(const char *name, const char *alias, uint32_t group);
int link_delete(const char *name);
void link_each(void (*each)(void *context, const char *name, const char *alias), void *context);

/* filter_io.c: one transaction of the packet filter; what it lists is appended to `out` (NULL:
 * nothing is asked), as JSON. -ERR_IO with the filter's first line. */
int filter_run(const char *words, struct buf *out, struct err *err);
