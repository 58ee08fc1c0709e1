/* App files: what `bbs apply` is told to keep running, in YAML or JSON. docs/app-file.md lists all
 * keys (app_keys.def): the API's own (messages.tsv: the JSON names of DesiredLRP) and
 * shorthands. The process_guid is the name and a hash of the definition. A file holds one app,
 * several YAML documents, or a list under `apps:`. */
#pragma once

#include "common/appfile/node.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "models/desired_lrp.pb-c.h"

enum {
    APPFILE_MAX_BYTES = 1024 * 1024,
    APPS_MAX = 256,
    APP_NAME_MAX = 200,
    APP_INSTANCES_MAX = 1000000, /* as a bbs takes them */
    APP_DEFAULT_MEMORY_MB = 128,
    APP_DEFAULT_DISK_MB = 256,
    /* runc 1.1.5 itself takes up to 2.3 MB of a container's memory as it starts it; with less it
     * cannot, and says so in words about cgroups. */
    APP_LEAST_MEMORY_MB = 4,
};

/* Owner of what the command line desires (design.md 11): kind and, as uid, the app's name. */
#define APP_OWNER_KIND "cli"

struct app {
    const char *name;
    unsigned line;        /* where it begins in its file */
    bool instances_given; /* the file says how many; else `bbs scale` has the last word */
    /* Ready to be desired: with process_guid, owner and all defaults, without modification tag. */
    Models__DesiredLRP *lrp;
};

/* Reads all apps of a file's text; `file` is its name for errors, and ".json" at its end means
 * JSON. A mistake gives ERR_INVALID with file, line and key: "web.yaml:3: memroy: unknown key; did
 * you mean "memory"?". Everything given lives in the arena. */
int appfile_parse(struct arena *a, const char *file, struct bytes text, struct app **ret_apps,
                  size_t *ret_count, struct err *err);

/* ---- What app files and task files share ---- */

/* The documents of a file's text; ".json" at the end of its name means JSON. */
int appfile_documents(struct arena *a, const char *file, struct bytes text,
                      struct node ***ret_nodes, size_t *ret_count, struct err *err);

/* Letters, digits, - and _, at most APP_NAME_MAX. */
#define APP_NAME_RULE "must be letters, digits, - and _, not - first, at most 200"
bool app_name_is_valid(const char *name);

/* Memory, disk, log_guid and metric_tags where the API's JSON has none. */
void app_add_defaults(json_t *definition, const char *name);

/* Of what the command line desires. */
Models__Owner *app_owner(struct arena *a, const char *name);

/* name + "-" + ten hex digits of a hash of the definition: everything but what may change while
 * instances run (instances, routes, annotation, metric_tags) and what is not the user's
 * (process_guid, owner, modification_tag). design.md 5, "Definition of a running instance". */
const char *app_process_guid(struct arena *a, const char *name, const Models__DesiredLRP *lrp);

/* Whether a process_guid is what `name` means: itself, or one that app_process_guid() gives to an
 * app of this name, whatever its definition. "web" has web-81c3f7580f, and not web-api-81c3f7580f.
 */
bool app_has_guid(const char *name, const char *process_guid);
