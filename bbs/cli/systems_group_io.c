/* bbs systems; and finding and changing the deploy under way, for pause, resume and abort. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/name.h"
#include "bbs/cli/system_tables.h"
#include "bbs/cli/systems_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/commands.h"
#include "common/cli/printable.h"
#include "common/codec/json.h"
#include "common/model/component_path.h"
#include "system_api.pb-c.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPENING_MS = 60000 };

static const struct cli_option create_options[] = {
    {.name = "definition",
     .value = "URL",
     .help = "the git repository of its definition; none: it is deployed from files"},
    {.name = "ssh-key",
     .value = "/:NAME",
     .help = "the secret of the system that opens the repository"},
    {0},
};

static const struct cli_option delete_options[] = {
    {.name = "wait", .help = "wait until nothing of it is left"},
    {.name = "timeout", .value = "TIME", .help = "how long to wait; it goes on", .fallback = "1h"},
    {0},
};

static const struct cli_option confirm_options[] = {
    {.name = "all", .help = "all systems"},
    {0},
};

/* ---- Lists ---- */

static int print_systems(struct session *s, struct err *err)
{
    struct system_view v;
    struct bytes answer;
    SCOPED_BUF(out);
    if (s->json) {
        int r = system_rest(s, "GET", "", "", NULL, &answer, err);
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    int r = systems_get(s, &v, err);
    if (r == 0) {
        systems_table(&s->arena, &v, isatty(STDOUT_FILENO), &out);
        r = cli_print(buf_bytes(&out), err);
    }
    return r;
}

/* The exit status says whether it is well. */
static int status(struct session *s, const struct invocation *call, struct err *err)
{
    const char *id, *path;
    struct bytes answer;
    int r = system_target(call, &id, &path, err);
    const Board__SystemRecord *system;
    r = r < 0 ? r : systems_find(s, id, &system, err);
    if (r == 0 && s->json) {
        r = system_rest(s, "GET", id, "", NULL, &answer, err);
        r = r < 0 ? r : system_print_json(s, answer, err);
    } else if (r == 0) {
        r = system_explain(s, id, path, err);
    }
    bool bad =
        r == 0 && (strcmp(system->state, "degraded") == 0 || strcmp(system->state, "failed") == 0);
    return r < 0 ? r : bad ? CLI_FAILED : CLI_DONE;
}

static int show(struct session *s, const struct invocation *call, struct err *err)
{
    return call->argument_count ? status(s, call, err) : print_systems(s, err);
}

static int list(struct session *s, const struct invocation *call, struct err *err)
{
    (void)call;
    return print_systems(s, err);
}

static int tree(struct session *s, const struct invocation *call, struct err *err)
{
    const char *id, *path;
    struct bytes answer;
    int r = system_target(call, &id, &path, err);
    if (r == 0 && s->json && !cli_switch(call, "watch")) {
        r = system_rest(s, "GET", id, "/services", NULL, &answer, err);
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    return r < 0 ? r : tree_show(s, id, path, cli_switch(call, "watch"), err);
}

static int no_versions(struct session *s, const char *id, struct err *err)
{
    const Board__SystemRecord *system;
    int r = systems_find(s, id, &system, err);
    const char *why = r < 0 ? ""
                      : *system->definition_url
                          ? "was read yet, or its repository has no tag that is one"
                          : "is there: it has no repository, and is deployed by bbs deploy --file";
    if (r == 0) {
        fprintf(stderr, "bbs: no version of %s %s\n", id, why);
    }
    return r;
}

static int versions(struct session *s, const struct invocation *call, struct err *err)
{
    const char *id, *path;
    struct bytes answer;
    SCOPED_BUF(out);
    size_t i;
    int r = system_target(call, &id, &path, err);
    r = r < 0 ? r : system_rest(s, "GET", id, "/versions", NULL, &answer, err);
    if (r < 0 || s->json) {
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    json_t *version, *list = json_loadb((const char *)answer.data, answer.size, 0, NULL);
    json_array_foreach(list, i, version)
    {
        printable_append(&out, json_string_value(version) ? json_string_value(version) : "");
        buf_append_string(&out, "\n");
    }
    bool none = json_array_size(list) == 0;
    json_decref(list);
    r = none ? no_versions(s, id, err) : 0;
    return r < 0 ? r : cli_print(buf_bytes(&out), err);
}

/* ---- Creating and deleting ---- */

struct system_wait {
    struct session *s;
    struct cli_progress progress;
    bool deleted; /* it is to go; else to be opened */
    const char *state, *message;
};

static int look_at_system(void *owner, struct arena *a, const struct system_view *v, bool fresh,
                          struct err *err)
{
    struct system_wait *w = owner;
    (void)err;
    if (v->system) {
        w->state = arena_strdup(&w->s->arena, v->system->state);
        w->message = arena_strdup(&w->s->arena, v->system->message);
        cli_progress(&w->progress, arena_printf(a, "%s: %s%s%s", v->system->id, w->state,
                                                *w->message ? ": " : "", w->message));
    }
    bool gone = !v->system && (w->state || fresh);
    return gone || (v->system && !w->deleted && strcmp(w->state, "pending") != 0);
}

static int wait_for_system(struct session *s, struct system_wait *w, const char *id,
                           const char *uid, int64_t limit_ms, struct err *err)
{
    struct system_follow f = {
        .id = id, .uid = uid, .limit_ms = limit_ms, .look = look_at_system, .owner = w};
    int r = system_follow(s, &f, err);
    cli_progress(&w->progress, NULL);
    if (r < 0) {
        struct err inner = *err;
        return err_set(err, inner.code, "%s; %.63s is %s: bbs why %.63s",
                       cli_interrupted() ? "interrupted" : "it takes longer", id,
                       w->state ? w->state : "pending", id);
    }
    return 0;
}

static int create(struct session *s, const struct invocation *call, struct err *err)
{
    const char *id = call->arguments[0], *url = cli_text(call, "definition");
    SCOPED_BUF(body);
    struct bytes answer;
    const Board__SystemRecord *system;
    buf_append_string(&body, "{\"id\":");
    json_string_text(bytes_of(id), &body);
    buf_append_string(&body, ",\"definitionUrl\":");
    json_string_text(bytes_of(url ? url : ""), &body);
    if (cli_text(call, "ssh-key")) {
        buf_append_string(&body, ",\"sshKey\":");
        json_string_text(bytes_of(cli_text(call, "ssh-key")), &body);
    }
    buf_append_string(&body, "}");
    int r = system_rest(s, "POST", "", "", buf_string(&body), &answer, err);
    if (r == -ERR_CONFLICT && cli_client_may_have_done(s->client)) {
        r = 0; /* an earlier try of ours, whose answer was lost */
    }
    if (r < 0 || s->json) {
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    struct system_wait w = {.s = s};
    r = systems_find(s, id, &system, err);
    r = r < 0 ? r : wait_for_system(s, &w, id, system->uid, OPENING_MS, err);
    if (r < 0 || !w.state) {
        return r;
    }
    if (strcmp(w.state, "failed") == 0) {
        fprintf(stderr, "bbs: %s is failed: %s\n", id, w.message);
        return CLI_FAILED;
    }
    return cli_print(bytes_of(arena_printf(&s->arena, "%s created\n", id)), err);
}

static int delete (struct session *s, const struct invocation *call, struct err *err)
{
    const char *id;
    const Board__SystemRecord *system;
    struct bytes answer;
    int64_t limit_ms = system_patience(s);
    int r = name_whole_system(&s->arena, call->arguments[0],
                              "a whole system is deleted: bbs systems delete", &id, err);
    r = r < 0 ? r : systems_find(s, id, &system, err);
    r = r < 0 ? r : system_rest(s, "DELETE", id, "", NULL, &answer, err);
    r = r == -ERR_NOT_FOUND && cli_client_may_have_done(s->client) ? 0 : r;
    if (r < 0) {
        return r;
    }
    if (s->wait) {
        struct system_wait w = {.s = s, .deleted = true};
        r = wait_for_system(s, &w, id, system->uid, limit_ms, err);
    }
    const char *line = s->json ? arena_printf(&s->arena, "{\"name\":\"%s\",\"result\":\"%s\"}\n",
                                              id, s->wait ? "deleted" : "deleting")
                               : arena_printf(&s->arena, "%s %s\n", id,
                                              s->wait ? "deleted"
                                                      : "is being deleted: bbs why tells how far "
                                                        "it is");
    return r < 0 ? r : cli_print(bytes_of(line), err);
}

/* ---- After a restore ---- */

static int confirm_one(struct session *s, const char *id, struct err *err)
{
    struct bytes answer;
    int r = system_rest(s, "POST", id, "/confirm", NULL, &answer, err);
    if (r < 0 || s->json) {
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    return cli_print(bytes_of(arena_printf(&s->arena, "%s confirmed\n", id)), err);
}

static int confirm(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    bool all = cli_switch(call, "all");
    if (all == (call->argument_count > 0)) {
        return err_set(err, ERR_INVALID, "which systems? give their names, or --all");
    }
    int r = all ? systems_get(s, &v, err) : 0;
    size_t count = r < 0 ? 0 : all ? v.system_count : call->argument_count;
    for (size_t i = 0; r == 0 && i < count && session_goes_on(s); i++) {
        const char *id = all ? v.systems[i]->id : call->arguments[i];
        session_count(s, id, confirm_one(s, id, err), err);
    }
    return r < 0 ? r : session_end(s, err);
}

/* ---- pause, resume, abort ---- */

int session_is_system(struct session *s, const char *name, bool *ret, struct err *err)
{
    const char *system, *path;
    struct system_view v;
    *ret = name_is_part(&s->arena, name, &system, &path);
    int r = *ret ? 0 : systems_get(s, &v, err);
    for (size_t i = 0; r == 0 && !*ret && i < v.system_count; i++) {
        *ret = strcmp(v.systems[i]->id, name) == 0;
    }
    return r;
}

/* The deploy under way that a path means: the one that holds it, or the only one below it. */
static int deploy_under_way(const struct system_view *v, const char *path, const char **ret_id,
                            struct err *err)
{
    const char *id = v->system->id;
    size_t found = 0;
    for (size_t i = 0; i < v->deploy_count; i++) {
        const Board__DeployRecord *d = v->deploys[i];
        if (!d->completed_at && component_path_related(d->path, path)) {
            *ret_id = d->id;
            found++;
        }
    }
    if (found > 1) {
        return err_set(err, ERR_CONFLICT,
                       "%zu deploys are under way at and below %.63s:%.80s; say "
                       "which path: bbs deploys %.63s shows them",
                       found, id, path, id);
    }
    return found ? 0
                 : err_set(err, ERR_CONFLICT,
                           "no deploy of %.63s:%.80s is under way; bbs deploys "
                           "%.63s shows all",
                           id, path, id);
}

int session_change_deploy(struct session *s, const char *name, const char *verb, struct err *err)
{
    const char *system = name, *path = "/", *deploy = "";
    struct system_view v;
    struct bytes answer;
    (void)name_is_part(&s->arena, name, &system, &path);
    int r = system_get(s, system, &v, err);
    r = r < 0 ? r : deploy_under_way(&v, path, &deploy, err);
    const char *rest = r == 0 ? arena_printf(&s->arena, "/deploys/%s/%s", deploy, verb) : "";
    r = r < 0 ? r : system_rest(s, "POST", system, rest, NULL, &answer, err);
    if (r < 0 || s->json) {
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    const char *said = strcmp(verb, "pause") == 0    ? "paused: nothing more is started or stopped"
                       : strcmp(verb, "resume") == 0 ? "goes on"
                                                     : "ends, and puts back what stood before";
    return cli_print(bytes_of(arena_printf(&s->arena, "%s deploy %s %s\n", system, deploy, said)),
                     err);
}

/* ---- The tables ---- */

static SESSION_RUN(run_show, show)
static SESSION_RUN(run_list, list)
static SESSION_RUN(run_status, status)
static SESSION_RUN(run_tree, tree)
static SESSION_RUN(run_versions, versions)
static SESSION_RUN(run_create, create)
static SESSION_RUN(run_delete, delete)
static SESSION_RUN(run_confirm, confirm)

    static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const watched[] = BBS_ASKS_WITH(bbs_watch_options);
static const struct cli_option *const created[] =
    BBS_ASKS_WITH(create_options, bbs_timeout_options);
static const struct cli_option *const deleted[] = BBS_ASKS_WITH(delete_options);
static const struct cli_option *const checked[] = {bbs_output_options, NULL};
static const struct cli_option *const confirmed[] =
    BBS_ASKS_WITH(confirm_options, bbs_timeout_options);

static const char systems_details[] =
    "A system is a tree of services, which run for ever, of jobs, which run when asked, and of\n"
    "inner systems (docs/systems.md). With a SYSTEM its state is explained; exit status 1: it\n"
    "is degraded, or failed. SYSTEM may come from CORKBOARD_SYSTEM, but for delete.\n"
    "\n"
    "  stable    every service runs                      updating  a service takes up a "
    "definition\n"
    "  scaling   instances are missing, or too many      degraded  a service has failed\n"
    "  pending   it is not open yet                      failed    it could not be opened\n"
    "  deleting  all of it is removed\n";

static const char create_details[] =
    "NAME has 1 to 63 of a-z 0-9 -. With --definition its versions are the tags of a git\n"
    "repository; without, it is deployed from files: bbs deploy NAME --file FILE.\n";

static const char tree_details[] =
    "With -w it is followed until nothing is under way: on a terminal the tree is drawn anew at\n"
    "each change, elsewhere a line says each. Exit status 1: the system is degraded.\n";

static const char delete_details[] =
    "All of it is removed, its services first; deploys that are under way fail. There is no way\n"
    "back.\n";

static const char check_details[] =
    "FILE, and the files that it refers to, are read as bbs deploy --file does it: mistakes are\n"
    "told by file and line, all of them (exit status 2). What stands in git repositories is read\n"
    "by a build alone: bbs builds create. \"-\" is standard input.\n";

static const char systems_confirm_details[] =
    "After etcd was restored from a backup nothing of a system rolls, is torn down or removed\n"
    "until somebody has looked at it and says so (docs/restore.md).\n";

static const struct cli_command verbs[] = {
    {"", "[SYSTEM]", "shows the systems, or explains the state of one", systems_details, question,
     0, 1, run_show},
    {"list", "", "shows the systems", NULL, question, 0, 0, run_list},
    {"status", "[SYSTEM]", "explains the state of one", NULL, question, 0, 1, run_status},
    {"tree", "[SYSTEM[:PATH]]", "shows one as a tree of services and jobs", tree_details, watched,
     0, 1, run_tree},
    {"create", "NAME", "creates one, in which nothing runs yet", create_details, created, 1, 1,
     run_create},
    {"delete", "SYSTEM", "removes one, with all that it has", delete_details, deleted, 1, 1,
     run_delete},
    {"versions", "[SYSTEM]", "shows the versions that its repository has", NULL, question, 0, 1,
     run_versions},
    {"check", "FILE", "finds mistakes in a definition, and asks nobody", check_details, checked, 1,
     1, bbs_system_check_run},
    {"confirm", "[SYSTEM...]", "lets systems go on after a restore", systems_confirm_details,
     confirmed, 0, CLI_ARGUMENTS_MAX, run_confirm},
    {0},
};

const struct cli_group bbs_systems_group = {"systems", "Systems:", verbs};
