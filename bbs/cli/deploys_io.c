/* bbs deploy, bbs teardown; bbs builds, bbs deploys, bbs teardowns. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/system_tables.h"
#include "bbs/cli/system_tree.h"
#include "bbs/cli/system_why.h"
#include "bbs/cli/systems_io.h"
#include "common/base/query.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"

#include <string.h>
#include <unistd.h>

static const struct cli_option target_options[] = {
    {.name = "version", .value = "V", .help = "the tag V of the definition's repository"},
    {.name = "path",
     .value = "PATH",
     .help = "what stands at PATH, its references read anew; only PATH is held"},
    {.name = "build", .value = "ID", .help = "a build that was made before: bbs builds"},
    {.name = "file", .value = "FILE", .help = "the definition in FILE, with files that it names"},
    {.name = "undo",
     .value = "ID",
     .help = "what stood before the deploy ID; \"last\": the last one that began"},
    {0},
};

static const struct cli_option rollback_options[] = {
    {.name = "rollback", .help = "when it fails, put back what stood before"},
    {0},
};

static const struct cli_option build_options[] = {
    {.name = "version", .value = "V", .help = "the tag V of the definition's repository"},
    {.name = "path", .value = "PATH", .help = "what stands at PATH, its references read anew"},
    {.name = "file", .value = "FILE", .help = "the definition in FILE, with files that it names"},
    {0},
};

static const struct cli_option log_options[] = {
    {.name = "path", .value = "PATH", .help = "lines about PATH; / = all", .fallback = "/"},
    {0},
};

/* ---- What is asked ---- */

/* The one option that is given, of a table; NULL after an error. */
static const char *one_target(const struct invocation *call, const struct cli_option *table,
                              struct err *err)
{
    const char *found = NULL, *names = "";
    for (size_t i = 0; table[i].name; i++) {
        names = arena_printf(call->arena, "%s%s--%s", names,
                             i == 0              ? ""
                             : table[i + 1].name ? ", "
                                                 : " or ",
                             table[i].name);
    }
    for (size_t i = 0; table[i].name; i++) {
        if (cli_text(call, table[i].name)) {
            if (found) {
                err_set(err, ERR_INVALID, "--%s and --%s: give one of them", found, table[i].name);
                return NULL;
            }
            found = table[i].name;
        }
    }
    if (!found) {
        err_set(err, ERR_INVALID, "what is to be deployed? give one of %s", names);
    }
    return found;
}

static void member(struct buf *body, const char *key, struct bytes value)
{
    buf_printf(body, "%s\"%s\":", body->size > 1 ? "," : "", key);
    json_string_text(value, body);
}

/* The newest deploy that put something else at its path. */
static const Board__DeployRecord *last_begun(const struct system_view *v)
{
    for (size_t i = 0; i < v->deploy_count; i++) {
        if (v->deploys[i]->generation > 0 && !v->deploys[i]->reverting) {
            return v->deploys[i];
        }
    }
    return NULL;
}

/* The whole id of what --undo or --build names; the bbs says of what is not there. */
static const char *whole_id(const struct system_view *v, const char *target, const char *id)
{
    if (strcmp(target, "build") == 0) {
        const Board__BuildRecord *b = system_view_build(v, id);
        return b ? b->id : id;
    }
    const Board__DeployRecord *d =
        strcmp(id, "last") == 0 ? last_begun(v) : system_view_deploy(v, id);
    return d ? d->id : id;
}

static int add_target(struct session *s, const struct invocation *call, const char *target,
                      const struct system_view *v, const char **ret_value, struct buf *body,
                      struct err *err)
{
    const char *value = *ret_value = cli_text(call, target);
    struct bytes text;
    if (strcmp(target, "file") == 0) {
        int r = system_file_read(&s->arena, value, v->system->id, &text, err);
        if (r == 0) {
            member(body, "definition", text);
        }
        return r;
    }
    if (strcmp(target, "path") == 0) {
        int r = name_path(&s->arena, value, &value, err);
        if (r < 0) {
            return r;
        }
        *ret_value = value;
    }
    bool by_id = strcmp(target, "undo") == 0 || strcmp(target, "build") == 0;
    value = by_id ? whole_id(v, target, value) : value;
    if (by_id && strcmp(value, "last") == 0) {
        return err_set(err, ERR_NOT_FOUND, "%.63s: no deploy has begun that could be undone",
                       v->system->id);
    }
    member(body, strcmp(target, "build") == 0 ? "buildId" : target, bytes_of(value));
    return 0;
}

/* [SYSTEM], and the one option that is given of a table. */
static int what_of(const struct invocation *call, const struct cli_option *table,
                   const char **ret_system, const char **ret_target, struct err *err)
{
    const char *path;
    int r = system_target(call, ret_system, &path, err);
    if (r == 0 && strcmp(path, "/") != 0) {
        return err_set(err, ERR_INVALID,
                       "%.60s takes a system, and a path of it by --path: %.60s %.63s --path "
                       "%.100s",
                       call->title, call->title, *ret_system, path);
    }
    *ret_target = r == 0 ? one_target(call, table, err) : NULL;
    return r < 0 ? r : *ret_target ? 0 : -ERR_INVALID;
}

/* ---- bbs deploy ---- */

/* After a POST: says what was made, and waits if that is wanted. */
static int made(struct session *s, const struct invocation *call, const struct action_wait *w,
                const char *what, struct bytes answer, struct err *err)
{
    const char *kind = w->teardown ? "teardown" : "deploy", *id = w->system->id;
    struct arena *a = &s->arena;
    bool waits = s->wait || w->watch;
    int r = 0;
    if (!s->json) {
        r = cli_print_or(
            bytes_of(arena_printf(a, "%s %s %s: %s%s\n", id, kind, w->id, what,
                                  waits ? ""
                                        : arena_printf(a, "; bbs %ss %s %s -w follows it", kind,
                                                       id, short_id(a, w->id)))),
            arena_printf(a, "%s %s was begun, but that could not be written", kind, w->id), err);
    } else if (!waits) {
        r = system_print_json(s, answer, err);
    }
    if (r < 0 || !waits) {
        return r;
    }
    (void)call;
    r = action_wait(s, w, err);
    if (s->json && r >= 0) {
        const char *rest = arena_printf(a, "/%ss/%s", kind, w->id);
        int got = system_rest(s, "GET", id, rest, NULL, &answer, err);
        got = got < 0 ? got : system_print_json(s, answer, err);
        r = got < 0 ? got : r;
    }
    return r;
}

static const char *target_words(struct arena *a, const char *target, const char *value)
{
    return strcmp(target, "file") == 0 ? value : arena_printf(a, "%s %s", target, value);
}

static int deploy(struct session *s, const struct invocation *call, struct err *err)
{
    const char *id, *target, *value;
    SCOPED_BUF(body);
    struct system_view v;
    struct bytes answer;
    struct action_wait w = {.id = draw_uuid(&s->arena), .limit_ms = system_patience(s)};
    int r = what_of(call, target_options, &id, &target, err);
    r = r < 0 ? r : system_get(s, id, &v, err);
    buf_append_string(&body, "{");
    member(&body, "id", bytes_of(w.id));
    r = r < 0 ? r : add_target(s, call, target, &v, &value, &body, err);
    if (r != 0) {
        return r;
    }
    buf_printf(&body, "%s}", cli_switch(call, "rollback") ? ",\"rollbackOnFailure\":true" : "");
    r = system_rest(s, "POST", id, "/deploys", buf_string(&body), &answer, err);
    w.system = v.system;
    w.watch = cli_switch(call, "watch") && !s->json;
    const char *what = target_words(&s->arena, target, value);
    return r < 0 ? r : made(s, call, &w, what, answer, err);
}

static int teardown(struct session *s, const struct invocation *call, struct err *err)
{
    const char *id;
    const Board__SystemRecord *system = NULL;
    struct bytes answer;
    struct action_wait w = {
        .id = draw_uuid(&s->arena), .limit_ms = system_patience(s), .teardown = true};
    int r = name_whole_system(&s->arena, call->arguments[0],
                              "a teardown is of a whole system: bbs teardown", &id, err);
    r = r < 0 ? r : systems_find(s, id, &system, err);
    const char *body = arena_printf(&s->arena, "{\"id\":\"%s\"}", w.id);
    r = r < 0 ? r : system_rest(s, "POST", id, "/teardowns", body, &answer, err);
    w.system = system;
    w.watch = cli_switch(call, "watch") && !s->json;
    return r < 0 ? r : made(s, call, &w, "every service of it is to go", answer, err);
}

SESSION_RUN(bbs_deploy_run, deploy)
SESSION_RUN(bbs_teardown_run, teardown)

/* ---- Lists ---- */

/* `kind`: "builds", "deploys", "teardowns"; GET, of one if `id` is not NULL. */
static int print_rest(struct session *s, const char *system, const char *kind, const char *id,
                      struct err *err)
{
    struct bytes answer;
    const char *rest = arena_printf(&s->arena, "/%s%s%s", kind, id ? "/" : "",
                                    id ? percent_encoded(&s->arena, id) : "");
    int r = system_rest(s, "GET", system, rest, NULL, &answer, err);
    return r < 0 ? r : system_print_json(s, answer, err);
}

static int explain(struct session *s, const struct system_why *w, struct err *err)
{
    SCOPED_BUF(out);
    system_why_print(w, s->json, &out);
    return cli_print(buf_bytes(&out), err);
}

/* [SYSTEM] [ID] */
static int system_of_call(struct session *s, const struct invocation *call, const char **ret_id,
                          const char **ret_of, struct system_view *v, struct err *err)
{
    const char *path;
    int r = system_target_id(s, call, ret_id, &path, ret_of, err);
    if (r == 0 && strcmp(path, "/") != 0) {
        r = err_set(err, ERR_INVALID, "\"%.60s\" is a part of a system; this is of all of %.63s",
                    system_argument(call, 0), *ret_id);
    }
    return r < 0 ? r : system_get(s, *ret_id, v, err);
}

static int builds(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    const char *system, *id = NULL;
    int r = system_of_call(s, call, &system, &id, &v, err);
    const Board__BuildRecord *b = r == 0 && id ? system_view_build(&v, id) : NULL;
    if (r == 0 && id && !b) {
        r = system_no_such(s, &v, RECORD_BUILD, id, err);
    }
    if (r < 0 || s->json) {
        return r < 0 ? r : print_rest(s, system, "builds", b ? b->id : NULL, err);
    }
    if (b) {
        struct system_why w;
        system_why_build(&s->arena, &v, b, cli_wall_ns(), &w);
        system_add_lack(s, &v, &w);
        r = explain(s, &w, err);
        return r < 0 || strcmp(b->state, "failed") != 0 ? r : CLI_FAILED;
    }
    SCOPED_BUF(out);
    builds_table(&s->arena, &v, isatty(STDOUT_FILENO), &out);
    return cli_print(buf_bytes(&out), err);
}

/* The exit status of one that is over, or not. */
static int status_of(const char *state, bool conflict)
{
    bool failed = strcmp(state, "failed") == 0;
    return !failed ? CLI_DONE : conflict ? CLI_CONFLICT : CLI_FAILED;
}

static int show_deploy(struct session *s, const struct system_view *v, const Board__DeployRecord *d,
                       struct err *err)
{
    struct system_why w;
    system_why_deploy(&s->arena, v, d, cli_wall_ns(), &w);
    system_add_lack(s, v, &w);
    int r = s->json ? print_rest(s, v->system->id, "deploys", d->id, err) : explain(s, &w, err);
    return r < 0 ? r : status_of(d->state, d->conflict);
}

static int deploys(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    const char *system, *id = NULL;
    int64_t limit_ms = system_patience(s);
    bool watch = cli_switch(call, "watch");
    int r = system_of_call(s, call, &system, &id, &v, err);
    const Board__DeployRecord *d = r == 0 && id                        ? system_view_deploy(&v, id)
                                   : r == 0 && watch && v.deploy_count ? v.deploys[0]
                                                                       : NULL;
    if (r == 0 && id && !d) {
        r = system_no_such(s, &v, RECORD_DEPLOY, id, err);
    }
    if (r == 0 && d && watch) {
        struct action_wait w = {v.system, d->id, false, !s->json, limit_ms};
        r = action_wait(s, &w, err);
        return r < 0 || !s->json ? r : print_rest(s, system, "deploys", d->id, err);
    }
    if (r < 0 || d) {
        return r < 0 ? r : show_deploy(s, &v, d, err);
    }
    if (s->json) {
        return print_rest(s, system, "deploys", NULL, err);
    }
    SCOPED_BUF(out);
    deploys_table(&s->arena, &v, isatty(STDOUT_FILENO), &out);
    return cli_print(buf_bytes(&out), err);
}

static int show_teardown(struct session *s, const struct system_view *v,
                         const Board__TeardownRecord *t, struct err *err)
{
    struct system_why w;
    system_why_teardown(&s->arena, v, t, cli_wall_ns(), &w);
    system_add_lack(s, v, &w);
    int r = s->json ? print_rest(s, v->system->id, "teardowns", t->id, err) : explain(s, &w, err);
    return r < 0 ? r : status_of(t->state, t->conflict);
}

static int teardowns(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    const char *system, *id = NULL;
    int64_t limit_ms = system_patience(s);
    int r = system_of_call(s, call, &system, &id, &v, err);
    bool watch = cli_switch(call, "watch");
    const Board__TeardownRecord *t = r == 0 && id ? system_view_teardown(&v, id)
                                     : r == 0 && watch && v.teardown_count ? v.teardowns[0]
                                                                           : NULL;
    if (r == 0 && id && !t) {
        r = system_no_such(s, &v, RECORD_TEARDOWN, id, err);
    }
    if (r == 0 && t && watch) {
        struct action_wait w = {v.system, t->id, true, !s->json, limit_ms};
        return action_wait(s, &w, err);
    }
    if (r < 0 || t) {
        return r < 0 ? r : show_teardown(s, &v, t, err);
    }
    if (s->json) {
        return print_rest(s, system, "teardowns", NULL, err);
    }
    SCOPED_BUF(out);
    teardowns_table(&s->arena, &v, isatty(STDOUT_FILENO), &out);
    return cli_print(buf_bytes(&out), err);
}

static int build_create(struct session *s, const struct invocation *call, struct err *err)
{
    const char *system, *target, *value;
    SCOPED_BUF(body);
    struct system_view v;
    struct bytes answer;
    const char *id = draw_uuid(&s->arena);
    int r = what_of(call, build_options, &system, &target, err);
    r = r < 0 ? r : system_get(s, system, &v, err);
    buf_append_string(&body, "{");
    member(&body, "id", bytes_of(id));
    r = r < 0 ? r : add_target(s, call, target, &v, &value, &body, err);
    buf_append_string(&body, "}");
    r = r != 0 ? r : system_rest(s, "POST", system, "/builds", buf_string(&body), &answer, err);
    if (r > 0) {
        return r;
    }
    if (r < 0 || s->json) {
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    const char *line = arena_printf(
        &s->arena, "%s build %s: bbs builds %s %s tells how it stands\n", system, id, system, id);
    return cli_print(bytes_of(line), err);
}

static int build_logs(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    struct bytes answer;
    const char *system, *id = NULL;
    int r = system_of_call(s, call, &system, &id, &v, err);
    r = r < 0 ? r : system_needs_id(call, id, err);
    const Board__BuildRecord *b = r == 0 ? system_view_build(&v, id) : NULL;
    if (r == 0 && !b) {
        r = system_no_such(s, &v, RECORD_BUILD, id, err);
    }
    const char *rest = r == 0 ? arena_printf(&s->arena, "/builds/%s/logs?path=%s", b->id,
                                             percent_encoded(&s->arena, cli_text(call, "path")))
                              : "";
    r = r < 0 ? r : system_rest(s, "GET", system, rest, NULL, &answer, err);
    return r < 0 ? r : cli_print(answer, err);
}

static SESSION_RUN(run_builds, builds)
static SESSION_RUN(run_build_create, build_create)
static SESSION_RUN(run_build_logs, build_logs)
static SESSION_RUN(run_deploys, deploys)
static SESSION_RUN(run_teardowns, teardowns)

    /* ---- The tables ---- */

    static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const watched[] = BBS_ASKS_WITH(bbs_watch_options);
static const struct cli_option *const build[] = BBS_ASKS_WITH(build_options, bbs_timeout_options);
static const struct cli_option *const logs[] = BBS_ASKS_WITH(log_options, bbs_timeout_options);
const struct cli_option *const bbs_deploy_tables[] =
    BBS_ASKS_WITH(target_options, rollback_options, bbs_long_wait_options);
const struct cli_option *const bbs_teardown_tables[] = BBS_ASKS_WITH(bbs_long_wait_options);

const char bbs_deploy_details[] =
    "A definition is put at a path of the system, and its services are brought to it, as many\n"
    "at a time as their rolling: says. --path holds that path alone, everything else all of the\n"
    "system: who wants a part that somebody holds has failed, and the text says who holds it.\n"
    "\n"
    "  bbs deploy shop --file shop.yaml --wait     a file, no repository is needed\n"
    "  bbs deploy shop --version 1.5.0 --rollback  goes back by itself when it fails\n"
    "  bbs deploy shop --undo last                 what stood before\n"
    "\n"
    "The server does it: it goes on when this command ends. Exit status with --wait: 0\n"
    "succeeded, 1 failed (bbs why tells why), 4 somebody else held a part of it, 6 not over in\n"
    "time. SYSTEM may come from CORKBOARD_SYSTEM.\n";

const char bbs_teardown_details[] =
    "Every service of the system goes; the system stays, and can be deployed again. It holds\n"
    "all of the system meanwhile. SYSTEM never comes from CORKBOARD_SYSTEM. Exit status with\n"
    "--wait: as of bbs deploy.\n";

static const char builds_details[] =
    "SYSTEM may come from CORKBOARD_SYSTEM, and ID may stand alone then; it may be cut to what\n"
    "no other begins with, four letters at least. Of one build it tells how far it is, and what\n"
    "is wrong with its definition; exit status 1 if it failed.\n";

static const char lists_details[] =
    "SYSTEM may come from CORKBOARD_SYSTEM, and ID may stand alone then; it may be cut to what\n"
    "no other begins with, four letters at least. Of one it tells whose turn it is and what\n"
    "would end it; exit status 1 if it failed, 4 if somebody else held a part of the system.\n";

static const struct cli_command build_verbs[] = {
    {"", "[SYSTEM [ID]]", "shows the builds of a system, or one", builds_details, question, 0, 2,
     run_builds},
    {"create", "[SYSTEM]", "resolves and checks a definition, without deploying it", NULL, build, 0,
     1, run_build_create},
    {"logs", "[SYSTEM] ID", "shows what was resolved", NULL, logs, 1, 2, run_build_logs},
    {0},
};

static const struct cli_command deploy_verbs[] = {
    {"", "[SYSTEM [ID]]", "shows the deploys of a system, or one", lists_details, watched, 0, 2,
     run_deploys},
    {0},
};

static const struct cli_command teardown_verbs[] = {
    {"", "[SYSTEM [ID]]", "shows the teardowns of a system, or one", lists_details, watched, 0, 2,
     run_teardowns},
    {0},
};

const struct cli_group bbs_builds_group = {"builds", "Builds:", build_verbs};
const struct cli_group bbs_deploys_group = {"deploys", "Deploys:", deploy_verbs};
const struct cli_group bbs_teardowns_group = {"teardowns", "Teardowns:", teardown_verbs};
