/* bbs appinsts refresh: of one, or of all instances of an app. */
#include "bbs/cli/edge/edge_io.h"
#include "common/cli/cli_io.h"
#include "common/model/edge_name.h"

#include <stdio.h>
#include <string.h>

enum { TOLD_EACH = 10 };

const struct cli_option bbs_appinst_refresh_options[] = {
    {.name = "app", .value = "APP", .help = "all instances of this app, instead of NAME"},
    {.name = "force", .help = "also where it has the newest revision"},
    {0},
};

static Board__EdgeMove *move_of(struct session *s)
{
    Board__EdgeMove *says = arena_message(&s->arena, &board__edge_move__descriptor);
    says->force = cli_switch(s->call, "force");
    return says;
}

/* Those of the app, by name, and what became of each. */
struct edge_refresh {
    Board__AppInstRecord **list;
    struct edge_wanted *wanted;
    bool *asked;
    size_t count;
    struct edge_refreshed so_far;
};

static int find_all(struct session *s, const char *app, struct edge_refresh *ret, uint64_t *newest,
                    struct err *err)
{
    ProtobufCMessage *m = NULL, *apps = NULL;
    int r = edge_list(s, "app", app, &board__edge_apps_response__descriptor, &apps, err);
    r = r < 0 ? r
              : edge_list(s, "instance", "", &board__edge_instances_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__EdgeAppsResponse *known = (const Board__EdgeAppsResponse *)apps;
    const Board__EdgeInstancesResponse *all = (const Board__EdgeInstancesResponse *)m;
    if (known->n_apps != 1 || strcmp(known->apps[0]->name, app) != 0) {
        return err_set(err, ERR_NOT_FOUND, "there is no app \"%.120s\"", app);
    }
    *newest = known->apps[0]->revision;
    ret->list = ARENA_ARRAY(&s->arena, all->n_instances, Board__AppInstRecord *);
    ret->wanted = ARENA_ARRAY(&s->arena, all->n_instances, struct edge_wanted);
    ret->asked = ARENA_ARRAY(&s->arena, all->n_instances, bool);
    for (size_t i = 0; i < all->n_instances; i++) {
        if (strcmp(edge_app_of(&s->arena, all->instances[i]->name), app) == 0) {
            ret->list[ret->count++] = all->instances[i];
        }
    }
    ret->so_far.all = ret->count;
    return 0;
}

/* A line each TOLD_EACH, and after the last one. */
static int count_one(struct session *s, struct edge_refresh *all, struct err *err)
{
    size_t done = edge_refreshed_done(&all->so_far);
    SCOPED_BUF(out);
    if (s->json || (done % TOLD_EACH && done < all->count)) {
        return 0;
    }
    buf_printf(&out, "%s\n", edge_refreshed_text(&s->arena, &all->so_far));
    return cli_print(buf_bytes(&out), err);
}

/* What one came to; in JSON a line of it. */
static int end_one(struct session *s, struct edge_refresh *all, size_t i, size_t *counter,
                   const char *result, struct err *err)
{
    ++*counter;
    int r = s->json ? edge_done(s, all->list[i]->name, result, "", err) : 0;
    return r < 0 ? r : count_one(s, all, err);
}

static int ask_all(struct session *s, struct edge_refresh *all, uint64_t newest, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < all->count && session_goes_on(s); i++) {
        const Board__AppInstRecord *one = all->list[i];
        if (edge_needs_no_refresh(one, newest, cli_switch(s->call, "force"))) {
            r = end_one(s, all, i, &all->so_far.skipped, "skipped", err);
            continue;
        }
        int asked = edge_begin(s, &edge_instance_noun, "refresh", one->name, move_of(s), s->wait,
                               &all->wanted[i], err);
        session_count(s, one->name, asked, err);
        all->asked[i] = asked == 0;
        r = asked < 0 ? end_one(s, all, i, &all->so_far.failed, "failed", err)
            : s->wait ? 0
                      : end_one(s, all, i, &all->so_far.updated, "requested", err);
    }
    return r;
}

static int await_all(struct session *s, struct edge_refresh *all, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < all->count && session_goes_on(s); i++) {
        enum edge_end end = EDGE_GOES_ON;
        const char *why = "";
        if (!all->asked[i]) {
            continue;
        }
        r = edge_await(s, &edge_instance_noun, &all->wanted[i], false, &end, &why, err);
        if (r < 0) {
            return r;
        }
        int status = edge_end_status(end);
        if (status) {
            fprintf(stderr, "bbs: %s\n", edge_end_text(&s->arena, &all->wanted[i], end, why));
            s->status = s->status ? s->status : status;
        }
        r = status == CLI_TIMEOUT ? end_one(s, all, i, &all->so_far.under_way, "under way", err)
            : status              ? end_one(s, all, i, &all->so_far.failed, "failed", err)
                                  : end_one(s, all, i, &all->so_far.updated, "updated", err);
    }
    return r;
}

static int refresh_app(struct session *s, const char *app, struct err *err)
{
    struct edge_refresh all = {0};
    uint64_t newest = 0;
    int r = find_all(s, app, &all, &newest, err);
    if (r == 0 && all.count == 0) {
        return edge_done(s, app, "none", arena_printf(&s->arena, "no instance of %s is there", app),
                         err);
    }
    r = r < 0 ? r : ask_all(s, &all, newest, err);
    r = r < 0 || !s->wait ? r : await_all(s, &all, err);
    if (r < 0) {
        return r;
    }
    s->undone = edge_refreshed_text(&s->arena, &all.so_far);
    return session_end(s, err);
}

static int refresh(struct session *s, const struct invocation *call, struct err *err)
{
    const char *app = cli_text(call, "app");
    if ((app != NULL) == (call->argument_count == 1)) {
        return err_set(err, ERR_INVALID, "%s",
                       app ? "--app is instead of NAME: give one of them"
                           : "NAME is missing, or --app APP: bbs appinsts refresh NAME");
    }
    if (app && cli_switch(call, "follow")) {
        return err_set(err, ERR_INVALID, "--follow is of one instance: --app takes --wait");
    }
    return app ? refresh_app(s, app, err)
               : edge_change(s, &edge_instance_noun, "refresh", call->arguments[0], move_of(s),
                             err);
}

SESSION_RUN(bbs_appinsts_refresh_run, refresh)
