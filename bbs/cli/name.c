#include "bbs/cli/name.h"

#include "common/appfile/app.h"
#include "common/codec/nearest.h"
#include "common/definition/compile.h"
#include "common/model/component_path.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool read_index(const char *text, int32_t *ret_index)
{
    size_t digits = strspn(text, "0123456789");
    *ret_index = (int32_t)strtol(text, NULL, 10);
    return digits > 0 && digits <= 6 && !text[digits];
}

/* ---- Parts of systems ---- */

/* The kind of owner by which a list notes how a service of a system is called: no record has it. */
#define NAMED_OWNER_KIND "called"

/* The colon of "SYSTEM:PATH"; NULL = it is none. */
static const char *colon_of(const char *name)
{
    size_t id = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    bool part = id > 0 && name[id] == ':' && (name[id + 1] == '/' || !name[id + 1]);
    return part ? name + id : NULL;
}

bool name_is_part(struct arena *a, const char *name, const char **ret_system, const char **ret_path)
{
    const char *colon = colon_of(name);
    if (colon) {
        *ret_system = arena_strndup(a, name, (size_t)(colon - name));
        *ret_path = colon[1] ? colon + 1 : "/";
    }
    return colon;
}

/* A path as people write it: it may end with a slash. */
static const char *without_last_slash(struct arena *a, const char *path)
{
    size_t size = strlen(path);
    bool ended = size > 2 && path[size - 1] == '/' && path[size - 2] != '/';
    return ended ? arena_strndup(a, path, size - 1) : path;
}

int name_path(struct arena *a, const char *text, const char **ret_path, struct err *err)
{
    *ret_path = without_last_slash(a, text);
    const char *fault = component_path_fault(a, *ret_path);
    return fault ? err_set(err, ERR_INVALID, "%.200s", fault) : 0;
}

int name_system(struct arena *a, const char *text, const char **ret_system, const char **ret_path,
                struct err *err)
{
    const char *system = text, *path = "/";
    if (strchr(text, ':') && !name_is_part(a, text, &system, &path)) {
        return err_set(err, ERR_INVALID,
                       "\"%.60s\" is not a SYSTEM or SYSTEM:PATH (shop, shop:/store)", text);
    }
    path = without_last_slash(a, path);
    const char *fault = component_path_fault(a, path);
    if (fault) {
        return err_set(err, ERR_INVALID, "\"%.60s\": %.150s", text, fault);
    }
    *ret_system = system;
    *ret_path = path;
    return 0;
}

int name_whole_system(struct arena *a, const char *text, const char *what, const char **ret_system,
                      struct err *err)
{
    const char *path;
    int r = name_system(a, text, ret_system, &path, err);
    return r < 0 || strcmp(path, "/") == 0
               ? r
               : err_set(err, ERR_INVALID,
                         "%s %.63s; a part goes when it is taken out of the definition, by bbs "
                         "deploy %.63s --file FILE",
                         what, *ret_system, *ret_system);
}

const char *name_of_part(struct arena *a, const char *system, const char *path)
{
    return arena_printf(a, "%s:%s", system, path);
}

bool name_means_part(struct arena *a, const char *name, const char *called)
{
    const char *system = name, *path = "/", *its_system, *its_path;
    if (!name_is_part(a, called, &its_system, &its_path)) {
        return false;
    }
    (void)name_is_part(a, name, &system, &path);
    return strcmp(system, its_system) == 0 && !component_path_fault(a, path) &&
           !component_path_fault(a, its_path) && component_path_within(its_path, path);
}

const char *name_guid_prefix(struct arena *a, const char *name)
{
    const char *system, *path;
    return name_is_part(a, name, &system, &path) ? component_app_name(a, system, path) : name;
}

const char *name_of_guid(struct arena *a, const char *name, const char *process_guid)
{
    const char *system, *path, *prefix = name_guid_prefix(a, name);
    size_t size = strlen(prefix);
    if (app_has_guid(prefix, process_guid)) {
        return name;
    }
    if (!name_is_part(a, name, &system, &path) || strncmp(process_guid, prefix, size) != 0 ||
        process_guid[size] != '.') {
        return NULL;
    }
    const char *below = process_guid + strlen(system), *dash = strrchr(below, '-');
    char *its_path = arena_strndup(a, below, dash ? (size_t)(dash - below) : strlen(below));
    for (char *c = its_path; *c; c++) {
        *c = *c == '.' ? '/' : *c;
    }
    return app_has_guid(component_app_name(a, system, its_path), process_guid)
               ? name_of_part(a, system, its_path)
               : NULL;
}

void name_services(struct arena *a, Models__DesiredLRP *const *lrps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Models__Owner *o = lrps[i]->owner;
        const char *path = service_owner_is(o) ? service_owner_path(o) : NULL;
        const char *dot = strchr(lrps[i]->process_guid, '.');
        if (path && dot && !service_owner_app(o)) {
            const char *id =
                arena_strndup(a, lrps[i]->process_guid, (size_t)(dot - lrps[i]->process_guid));
            o->uid = (char *)(uintptr_t)name_of_part(a, id, path);
            o->kind = arena_strdup(a, NAMED_OWNER_KIND);
        }
    }
}

/* The path and index of a part: "/api/2" has both, "/2" is a path, and so is "/api/2/"; "/:main" is
 * a node pool's name. */
static int read_part(struct arena *a, const char *text, const char *colon, const char **ret_name,
                     int32_t *ret_index, struct err *err)
{
    const char *slash = strrchr(colon, '/');
    size_t size = strlen(text);
    int32_t index = -1;
    bool ended = slash && !slash[1] && slash > colon + 1;
    bool indexed = slash && slash > colon + 1 && read_index(slash + 1, &index);
    size = indexed || ended ? (size_t)(slash - text) : size;
    const char *name = arena_strndup(a, text, size);
    const char *path = name + (colon - text) + 1;
    const char *fault = !*path              ? NULL
                        : strchr(path, ':') ? component_subname_fault(a, path, true)
                                            : component_path_fault(a, path);
    if (fault) {
        return err_set(err, ERR_INVALID, "\"%.60s\": %.150s", text, fault);
    }
    *ret_name = name;
    *ret_index = indexed ? index : -1;
    return 0;
}

int name_read(struct arena *a, const char *text, const char *index, const char **ret_name,
              int32_t *ret_index, struct err *err)
{
    const char *colon = colon_of(text), *slash = colon ? NULL : strrchr(text, '/');
    *ret_name = slash ? arena_strndup(a, text, (size_t)(slash - text)) : text;
    *ret_index = -1;
    int r = colon ? read_part(a, text, colon, ret_name, ret_index, err) : 0;
    if (r < 0) {
        return r;
    }
    if (slash && (slash == text || !read_index(slash + 1, ret_index))) {
        return err_set(err, ERR_INVALID, "\"%.60s\" is not an app and an index (web, web/0, ...)",
                       text);
    }
    if (*ret_index >= 0 && index) {
        return err_set(err, ERR_INVALID, "\"%.60s\" has an index already: leave \"%.20s\" out",
                       text, index);
    }
    if (index && !read_index(index, ret_index)) {
        return err_set(err, ERR_INVALID, "\"%.40s\" is not an index (0, 1, ...)", index);
    }
    return 0;
}

const char *name_text(struct arena *a, const char *name, int32_t index)
{
    return index < 0 ? name : arena_printf(a, "%s/%d", name, (int)index);
}

/* ---- What a name means ---- */

static const char *name_of(const Models__Owner *owner, const char *guid)
{
    const char *app = service_owner_is(owner) ? service_owner_app(owner) : NULL;
    if (app) {
        return app;
    }
    bool names =
        owner && *owner->uid &&
        (strcmp(owner->kind, APP_OWNER_KIND) == 0 || strcmp(owner->kind, NAMED_OWNER_KIND) == 0);
    return names ? owner->uid : guid;
}

const char *lrp_name(const Models__DesiredLRP *lrp)
{
    return name_of(lrp->owner, lrp->process_guid);
}

const char *task_name(const Models__Task *task)
{
    return name_of(task->owner, task->task_guid);
}

bool task_has_name(const Models__Task *task, const char *name)
{
    return strcmp(task_name(task), name) == 0 || strcmp(task->task_guid, name) == 0;
}

size_t lrps_named(struct arena *a, Models__DesiredLRP *const *lrps, size_t count, const char *name,
                  Models__DesiredLRP ***ret_found)
{
    Models__DesiredLRP **found = ARENA_ARRAY(a, count, Models__DesiredLRP *);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lrps[i]->process_guid, name) == 0) {
            found[0] = lrps[i];
            *ret_found = found;
            return 1;
        }
        if (strcmp(lrp_name(lrps[i]), name) == 0) {
            found[n++] = lrps[i];
        }
    }
    for (size_t i = 0, exact = n; exact == 0 && i < count; i++) {
        if (name_means_part(a, name, lrp_name(lrps[i]))) {
            found[n++] = lrps[i];
        }
    }
    *ret_found = found;
    return n;
}

/* ---- What has no such name ---- */

/* `n`: the nearest of those that there are; `else_`: what is said when none is near. */
static int unknown(const char *kind, const char *name, const struct nearest *n, const char *else_,
                   struct err *err)
{
    return n->best ? err_set(err, ERR_NOT_FOUND, "no %s \"%.60s\"; did you mean \"%.60s\"?", kind,
                             name, n->best)
                   : err_set(err, ERR_NOT_FOUND, "no %s \"%.60s\"; %s", kind, name, else_);
}

int name_no_process(const char *name, Models__DesiredLRP *const *lrps, size_t count,
                    struct err *err)
{
    struct nearest n;
    nearest_begin(&n, name);
    for (size_t i = 0; i < count; i++) {
        nearest_consider(&n, lrp_name(lrps[i]));
    }
    return unknown("process", name, &n, "bbs ps shows all", err);
}

int name_no_task(const char *name, Models__Task *const *tasks, size_t count, struct err *err)
{
    struct nearest n;
    nearest_begin(&n, name);
    for (size_t i = 0; i < count; i++) {
        nearest_consider(&n, task_name(tasks[i]));
        nearest_consider(&n, tasks[i]->task_guid);
    }
    return unknown("task", name, &n, "bbs tasks shows all", err);
}

int name_cell(const Board__CellsStatus *cells, const char *cell_id, const char *verb,
              struct err *err)
{
    struct nearest n;
    nearest_begin(&n, cell_id);
    for (size_t i = 0; i < cells->n_cells; i++) {
        const Models__CellPresence *p = cells->cells[i]->presence;
        if (p && strcmp(p->cell_id, cell_id) == 0) {
            return 0;
        }
        nearest_consider(&n, p ? p->cell_id : NULL);
    }
    if (verb) {
        return err_set(err, ERR_NOT_FOUND, "no cell \"%.60s\"; did you mean \"bbs cells %.40s\"?",
                       cell_id, verb);
    }
    return unknown("cell", cell_id, &n, cells->n_cells ? "bbs cells shows all" : "there is none",
                   err);
}

int name_no_index(const char *name, int32_t index, int32_t instances, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no %.60s/%d: it has %d instance%s", name,
                   (int)index, (int)instances, instances == 1 ? "" : "s");
}

int name_is_system(const char *system, const char *verb, struct err *err)
{
    return err_set(err, ERR_INVALID,
                   "%.63s is a system, and only apps are %s so: bbs teardown %.63s ends all that "
                   "runs in it, bbs systems delete %.63s deletes it",
                   system, verb, system, system);
}

int name_no_change(struct arena *a, const char *name, const Models__DesiredLRP *lrp,
                   const char *verb, struct err *err)
{
    const char *called = lrp ? lrp_name(lrp) : "", *colon = colon_of(called);
    const char *system, *path;
    bool own = colon && lrp && called != lrp->process_guid;
    if (!name_is_part(a, name, &system, &path)) {
        if (!own) {
            return 0;
        }
        system = arena_strndup(a, called, (size_t)(colon - called));
        path = strcmp(name, lrp->process_guid) == 0 ? colon + 1 : "/";
    } else if (lrp && !own) {
        return 0; /* an app of that name */
    }
    if (strcmp(path, "/") == 0) {
        return name_is_system(system, verb, err);
    }
    return err_set(err, ERR_INVALID,
                   "%.40s:%.60s is not %s by itself: change the definition of %.40s, then bbs "
                   "deploy %.40s --path %.60s or --file FILE",
                   system, path, verb, system, system, path);
}

int name_ambiguous(const char *name, Models__DesiredLRP *const *lrps, size_t count, struct err *err)
{
    assert(count > 1);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(lrp_name(lrps[i]), lrp_name(lrps[0])) != 0) {
            return err_set(err, ERR_CONFLICT,
                           "\"%.60s\" is %zu services: give the name of one, as %.100s", name,
                           count, lrp_name(lrps[0]));
        }
    }
    return err_set(
        err, ERR_CONFLICT,
        "\"%.60s\" is being replaced: it has %zu definitions; bbs why %.60s tells how far "
        "that is; wait for its end, or give a process_guid (bbs ps --output json)",
        name, count, name);
}
