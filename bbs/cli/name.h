/* What a NAME on the command line means: an app and its index, a process_guid, a task, a cell; and
 * what is said of one that means nothing. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "common/base/err.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "web/2" is web and 2, "web" is web and -1; so is "web" with the index "2", for those who write it
 * so (NULL = there is none). "shop:/api" is a part of a system and -1, "shop:/api/2" the same part
 * and 2; "shop:/api/2/" is a part whose name is a number. ERR_INVALID when the index is none, or
 * said twice, or the path is none. */
int name_read(struct arena *a, const char *text, const char *index, const char **ret_name,
              int32_t *ret_index, struct err *err);

/* "web/2", "web" of -1 */
const char *name_text(struct arena *a, const char *name, int32_t index);

/* Whether `name`, which has no index, is "SYSTEM:PATH"; gives both, "/" of "shop:". */
bool name_is_part(struct arena *a, const char *name, const char **ret_system,
                  const char **ret_path);

/* SYSTEM or SYSTEM:PATH; "/" without a path. No index stands behind it: "shop:/store/2" is a path.
 * ERR_INVALID when it is neither. */
int name_system(struct arena *a, const char *text, const char **ret_system, const char **ret_path,
                struct err *err);

/* The same of what a whole system alone has. `what` begins the text for who names a part: "a
 * teardown is of a whole system: bbs teardown". */
int name_whole_system(struct arena *a, const char *text, const char *what, const char **ret_system,
                      struct err *err);

/* A path alone, "/store" or "/store/". ERR_INVALID when it is none. */
int name_path(struct arena *a, const char *text, const char **ret_path, struct err *err);

/* "shop:/api" */
const char *name_of_part(struct arena *a, const char *system, const char *path);

/* Whether `name` means it, which is called "shop:/api": "shop" and "shop:/" mean all of a system,
 * "shop:/store" what stands at and below that path. */
bool name_means_part(struct arena *a, const char *name, const char *called);

/* What the process_guids begin with that a NAME means: of an app, or process_guid, itself; of a
 * part of a system "shop.store.api". */
const char *name_guid_prefix(struct arena *a, const char *name);

/* How the process_guid is called if `name` means it: "web" as it is of an app with all its
 * definitions, past ones too, or of a process_guid; "shop:/store/api" of "shop:/store". NULL = it
 * is not meant. One whose path is too long for a guid is meant by its whole path. */
const char *name_of_guid(struct arena *a, const char *name, const char *process_guid);

/* Notes in them how those of services of systems are called, for lrp_name(): what the board has of
 * their owner has no place for it. Once, where a list was got. */
void name_services(struct arena *a, Models__DesiredLRP *const *lrps, size_t count);

/* How people call it: the owner's uid if the command line desired it, else its guid. */
const char *lrp_name(const Models__DesiredLRP *lrp);
const char *task_name(const Models__Task *task);

/* Those of `lrps` that `name` means: the one with this process_guid, else all of this name, else
 * those of the system, or of the part of a system, of this name. Gives their number, at most
 * `count`, in *ret_found. */
size_t lrps_named(struct arena *a, Models__DesiredLRP *const *lrps, size_t count, const char *name,
                  Models__DesiredLRP ***ret_found);

/* Whether `name` is its name, or its guid. */
bool task_has_name(const Models__Task *task, const char *name);

/* ERR_NOT_FOUND, with the nearest name of those that there are. */
int name_no_process(const char *name, Models__DesiredLRP *const *lrps, size_t count,
                    struct err *err);
int name_no_task(const char *name, Models__Task *const *tasks, size_t count, struct err *err);

/* 0 when a cell has the id, else as above. `verb`: of the group `cells`, that may have been meant;
 * NULL = none. */
int name_cell(const Board__CellsStatus *cells, const char *cell_id, const char *verb,
              struct err *err);

/* ERR_NOT_FOUND: "there is no web/9: it has 2 instances" */
int name_no_index(const char *name, int32_t index, int32_t instances, struct err *err);

/* 0, or ERR_INVALID when `name` means a system or a part of one: that is changed by a deploy or a
 * teardown alone, and the text says which. `lrp`: what it was found to mean; NULL = nothing was
 * found, and the name itself must say so. `verb`: "removed", "scaled". */
int name_no_change(struct arena *a, const char *name, const Models__DesiredLRP *lrp,
                   const char *verb, struct err *err);

/* ERR_INVALID, of a system. */
int name_is_system(const char *system, const char *verb, struct err *err);

/* ERR_CONFLICT: the `count` (2 or more) that it names are several services of a system, or several
 * definitions of what is being replaced, and the command is for one. */
int name_ambiguous(const char *name, Models__DesiredLRP *const *lrps, size_t count,
                   struct err *err);
