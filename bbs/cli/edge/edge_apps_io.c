/* bbs edge-apps. */
#include "bbs/cli/edge/edge_io.h"
#include "bbs/cli/file_kind.h"
#include "common/appfile/app.h"
#include "common/appfile/app_file_io.h"
#include "common/appfile/edge_app.h"
#include "common/cli/cli_io.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <string.h>

static int list_apps(struct session *s, const char *name, const Board__EdgeAppsResponse **ret,
                     struct err *err)
{
    ProtobufCMessage *m = NULL;
    int r = edge_list(s, "app", name, &board__edge_apps_response__descriptor, &m, err);
    *ret = (const Board__EdgeAppsResponse *)m;
    return r;
}

static int no_app(struct session *s, const char *name, struct err *err)
{
    const Board__EdgeAppsResponse *all;
    int r = list_apps(s, "", &all, err);
    if (r < 0) {
        return r;
    }
    const char **names = ARENA_ARRAY(&s->arena, all->n_apps, const char *);
    for (size_t i = 0; i < all->n_apps; i++) {
        names[i] = all->apps[i]->name;
    }
    return edge_not_found(s->call, "app", name, names, all->n_apps, err);
}

static int show(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__EdgeAppsResponse *all;
    const char *name = call->argument_count ? call->arguments[0] : "";
    int r = list_apps(s, name, &all, err);
    if (r < 0 || (*name && all->n_apps == 0)) {
        return r < 0 ? r : no_app(s, name, err);
    }
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < all->n_apps; i++) {
        session_json(s, &all->apps[i]->base, &out);
    }
    if (!s->json) {
        edge_apps_table(&s->arena, all, cli_wall_ns(), cli_columns(), &out);
    }
    return cli_print(buf_bytes(&out), err);
}

/* ---- Apply ----------------------------------------------------------------------------------- */

/* Why a file is none of ours: some are definitions of systems, or charms. */
static int no_edge_file(struct session *s, const char *file, struct bytes text, int r,
                        struct err *err)
{
    enum file_kind kind = file_kind_of(&s->arena, file, text);
    const char *why = kind == FILE_OF_CHARM || kind == FILE_OF_SYSTEM
                          ? file_kind_text(&s->arena, file, kind, "edge-apps takes files of apps")
                          : NULL;
    return why ? err_set(err, ERR_INVALID, "%s", why) : r;
}

/* All files are read before anything is done: a mistake in the last one leaves all as it was. An
 * app that stands in two files would be what the later one says. */
static int read_files(struct session *s, const struct invocation *call, struct edge_app **ret_apps,
                      size_t *ret_count, struct err *err)
{
    struct edge_app *all = ARENA_ARRAY(&s->arena, call->argument_count * APPS_MAX, struct edge_app);
    size_t total = 0;
    for (size_t i = 0; i < call->argument_count; i++) {
        struct bytes text;
        struct edge_app *apps;
        size_t count;
        int r = app_file_read(&s->arena, call->arguments[i], &text, err);
        if (r < 0) {
            return r;
        }
        r = edge_app_parse(&s->arena, call->arguments[i], text, &apps, &count, err);
        if (r < 0) {
            return no_edge_file(s, call->arguments[i], text, r, err);
        }
        for (size_t k = 0; k < count; k++) {
            for (size_t n = 0; n < total; n++) {
                if (strcmp(all[n].revision->name, apps[k].revision->name) == 0) {
                    return err_set(err, ERR_INVALID, "the app \"%.100s\" is in %.80s and before",
                                   all[n].revision->name, call->arguments[i]);
                }
            }
            all[total++] = apps[k];
        }
    }
    *ret_apps = all;
    *ret_count = total;
    return 0;
}

/* The revision that the app has; 0 = there is none, or nobody says. */
static uint64_t revision_of(struct session *s, const char *name)
{
    const Board__EdgeAppsResponse *all;
    if (list_apps(s, name, &all, NULL) < 0) {
        return 0;
    }
    for (size_t i = 0; i < all->n_apps; i++) {
        if (strcmp(all->apps[i]->name, name) == 0) {
            return all->apps[i]->revision;
        }
    }
    return 0;
}

static int apply_one(struct session *s, const struct edge_app *app, struct err *err)
{
    const char *name = app->revision->name;
    uint64_t before = revision_of(s, name);
    ProtobufCMessage *answer;
    int r = edge_call(s, &s->arena, "app/apply", &app->revision->base,
                      &models__desired_lrplifecycle_response__descriptor, &answer, err);
    if (r < 0) {
        return session_about(s, name, r, err);
    }
    uint64_t after = revision_of(s, name);
    const char *result = after == before ? "unchanged" : before ? "changed" : "created";
    const char *revision =
        after ? arena_printf(&s->arena, ": revision %llu", (unsigned long long)after) : "";
    return edge_done(s, name, result, arena_printf(&s->arena, "%s %s%s", name, result, revision),
                     err);
}

/* One that fails leaves the others to be applied. */
static int apply(struct session *s, const struct invocation *call, struct err *err)
{
    struct edge_app *apps = NULL;
    size_t count = 0, applied = 0;
    int r = read_files(s, call, &apps, &count, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < count && session_goes_on(s); i++) {
        r = apply_one(s, &apps[i], err);
        applied += r == 0;
        session_count(s, apps[i].revision->name, r, err);
    }
    s->undone =
        applied < count ? arena_printf(&s->arena, "%zu of %zu applied", applied, count) : NULL;
    return session_end(s, err);
}

static int rm(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeRemoveRequest request = BOARD__EDGE_REMOVE_REQUEST__INIT;
    ProtobufCMessage *answer;
    const char *name = call->arguments[0];
    request.name = arena_strdup(&s->arena, name);
    int r = edge_call(s, &s->arena, "app/remove", &request.base,
                      &models__desired_lrplifecycle_response__descriptor, &answer, err);
    return r == -ERR_NOT_FOUND ? no_app(s, name, err)
           : r < 0
               ? session_about(s, name, r, err)
               : edge_done(s, name, "removed", arena_printf(&s->arena, "%s is removed", name), err);
}

SESSION_RUN(bbs_edge_apps_show_run, show)
SESSION_RUN(bbs_edge_apps_apply_run, apply)
SESSION_RUN(bbs_edge_apps_rm_run, rm)
