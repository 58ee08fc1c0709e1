#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "common/appfile/app_file_io.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/domain.pb-c.h"

#include <stdio.h>
#include <string.h>

/* Between two attempts the board may have changed. */
enum { DECIDE_ATTEMPTS_MAX = 3 };

static int upsert_domain(struct session *s, const char *domain, struct err *err)
{
    Models__UpsertDomainRequest request = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
    request.domain = arena_strdup(&s->arena, domain);
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, "/v1/domains/upsert", &request.base,
                           &models__upsert_domain_response__descriptor, &m, err);
}

static int desire(struct session *s, const struct app *app, int32_t instances, struct err *err)
{
    Models__DesireLRPRequest request = MODELS__DESIRE_LRPREQUEST__INIT;
    Models__DesiredLRP lrp = *app->lrp;
    lrp.instances = instances;
    request.desired_lrp = &lrp;
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, "/v1/desired_lrp/desire.r2", &request.base,
                           &models__desired_lrplifecycle_response__descriptor, &m, err);
}

static int update(struct session *s, const char *process_guid, Models__DesiredLRPUpdate *update,
                  struct err *err)
{
    Models__UpdateDesiredLRPRequest request = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = arena_strdup(&s->arena, process_guid);
    request.update = update;
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, "/v1/desired_lrp/update", &request.base,
                           &models__desired_lrplifecycle_response__descriptor, &m, err);
}

static int carry_out(struct session *s, const struct app *app, const struct apply_plan *plan,
                     struct err *err)
{
    switch (plan->action) {
    case APPLY_CREATE:
        return desire(s, app, plan->instances, err);
    case APPLY_UPDATE:
        return update(s, app->lrp->process_guid, plan->update, err);
    case APPLY_REFUSE:
        return err_set(err, ERR_CONFLICT, "%s", plan->text);
    case APPLY_UNCHANGED:
        break;
    }
    return 0;
}

/* An app of the files, and how far it has come. */
struct application {
    const struct app *app;
    struct apply_plan plan;
    bool done; /* the board has it, reported or not */
    bool ran;  /* it was waited for, and runs alone as far as this apply knows */
};

/* Decides on what the board has and carries it out. What exists though it had to be made was made
 * meanwhile, by somebody else or by an earlier try of ours whose answer was lost: the board is
 * looked at again. */
static int apply_one(struct session *s, struct application *a, Models__DesiredLRP *const *lrps,
                     size_t count, struct err *err)
{
    const char *made = NULL;
    int r = 0;
    for (int attempt = 0; attempt < DECIDE_ATTEMPTS_MAX; attempt++) {
        Models__DesiredLRP **again;
        if (attempt > 0) {
            r = session_desired(s, "", &again, &count, err);
            lrps = again;
        }
        if (r < 0) {
            return r;
        }
        apply_decide(&s->arena, a->app, lrps, count, &a->plan);
        r = carry_out(s, a->app, &a->plan, err);
        if (r != -ERR_EXISTS) {
            break;
        }
        made = cli_client_may_have_done(s->client) ? a->plan.text : made;
    }
    const char *text = made && a->plan.action == APPLY_UNCHANGED ? made : a->plan.text;
    if (r < 0) {
        return session_about(s, a->app->name, r, err);
    }
    a->done = true;
    r = session_line(s, a->app->name, a->app->lrp->process_guid, text, err);
    if (a->plan.action == APPLY_CREATE) {
        session_warn_of_rootfs(s, a->app->name, a->app->lrp->root_fs);
    }
    return r;
}

/* Its domain, unless the app before it has the same, and the app. */
static int apply_in_domain(struct session *s, struct application *a, const char **domain,
                           Models__DesiredLRP *const *lrps, size_t count, struct err *err)
{
    const char *own = a->app->lrp->domain;
    if (!*domain || strcmp(own, *domain) != 0) {
        int r = upsert_domain(s, own, err);
        if (r < 0) {
            return session_about(s, a->app->name, r, err);
        }
        *domain = own;
    }
    return apply_one(s, a, lrps, count, err);
}

/* Other definitions of the app go when this one runs; before, they run on. Each goes only while
 * this one stands: when two applies contradict each other, the one that comes up first removes the
 * other's, which can not remove it then. */
static int replace(struct session *s, const struct application *a, struct err *err)
{
    const char *name = a->app->name, *guid = a->app->lrp->process_guid;
    int status = 0; /* of the first that does not stop */
    for (size_t i = 0; i < a->plan.old_count; i++) {
        const Models__DesiredLRP *old = a->plan.old[i];
        int r = session_remove(s, name, old, guid, "replaced, the old one is removed", err);
        if (r == -ERR_CONFLICT) {
            return err_set(err, ERR_CONFLICT,
                           "%.60s: somebody else removed its new definition meanwhile (%.120s)",
                           name, guid);
        }
        const char *what =
            arena_printf(&s->arena, "%s: the old definition (%s)", name, old->process_guid);
        r = r < 0 || !s->wait ? r : session_wait(s, what, old->process_guid, 0, err);
        if (r < 0) {
            return r;
        }
        status = status ? status : r;
    }
    return status;
}

static bool waits(const struct session *s, const struct apply_plan *plan)
{
    return s->wait || plan->old_count > 0;
}

static int wait_for(struct session *s, const struct application *a, struct err *err)
{
    const struct apply_plan *plan = &a->plan;
    if (!waits(s, plan)) {
        return 0;
    }
    s->settle = plan->old_count > 0;
    const char *guid = a->app->lrp->process_guid;
    int r = session_wait(s, a->app->name, guid, plan->instances, err);
    s->settle = false;
    if (r == 0) {
        return replace(s, a, err);
    }
    if (plan->old_count > 0 && r != -ERR_CONFLICT) {
        fprintf(stderr,
                "bbs: %s: the old definition (%s) runs on; apply again to go on, or bbs rm %s to "
                "give the new one up\n",
                a->app->name, plan->old[0]->process_guid, guid);
    }
    return r;
}

/* What stands beside the apps now that they were carried out: somebody may have applied another
 * definition of one at the same time, and of two that do so at least one sees the other. */
static int look_again(struct session *s, struct application *all, size_t count, struct err *err)
{
    Models__DesiredLRP **lrps;
    size_t lrp_count;
    bool made = false;
    for (size_t i = 0; i < count; i++) {
        made = made || (all[i].done && all[i].plan.action == APPLY_CREATE);
    }
    int r = made ? session_desired(s, "", &lrps, &lrp_count, err) : 0;
    for (size_t i = 0; made && r == 0 && i < count; i++) {
        struct apply_plan now;
        apply_decide(&s->arena, all[i].app, lrps, lrp_count, &now);
        all[i].plan.old = now.old;
        all[i].plan.old_count = now.old_count;
    }
    return r;
}

/* What was waited for runs; an apply that began later may have another end in mind, or have reached
 * it: of several at once the last one says that it is done, the others that they were not the last.
 */
static int look_last(struct session *s, const struct application *all, size_t count,
                     struct err *err)
{
    Models__DesiredLRP **lrps;
    size_t lrp_count;
    bool ran = false;
    for (size_t i = 0; i < count; i++) {
        ran = ran || all[i].ran;
    }
    int r = ran ? session_desired(s, "", &lrps, &lrp_count, err) : 0;
    for (size_t i = 0; ran && r == 0 && i < count; i++) {
        const char *rival =
            all[i].ran ? apply_rival(&s->arena, all[i].app, lrps, lrp_count) : NULL;
        if (rival) {
            const char *name = all[i].app->name;
            session_count(s, name, err_set(err, ERR_CONFLICT, "%.60s: %s", name, rival), err);
        }
    }
    return r;
}

/* One that fails leaves the others to be applied. */
static int apply_all(struct session *s, const struct app *apps, size_t count, struct err *err)
{
    struct application *all = ARENA_ARRAY(&s->arena, count, struct application);
    Models__DesiredLRP **lrps;
    size_t lrp_count;
    const char *domain = NULL;
    int r = session_desired(s, "", &lrps, &lrp_count, err);
    if (r < 0) {
        return r;
    }
    size_t applied = 0;
    for (size_t i = 0; i < count && session_goes_on(s); i++) {
        all[i].app = &apps[i];
        r = apply_in_domain(s, &all[i], &domain, lrps, lrp_count, err);
        applied += all[i].done;
        session_count(s, apps[i].name, r, err);
    }
    if (!session_goes_on(s)) {
        s->undone = arena_printf(&s->arena, "%zu of %zu applied", applied, count);
        return session_end(s, err);
    }
    r = look_again(s, all, count, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < count && session_goes_on(s); i++) {
        if (all[i].done) {
            r = wait_for(s, &all[i], err);
            all[i].ran = r == 0 && waits(s, &all[i].plan);
            session_count(s, apps[i].name, r, err);
        }
    }
    r = session_goes_on(s) ? look_last(s, all, count, err) : 0;
    return r < 0 ? r : session_end(s, err);
}

/* Within one file the parser looks; the later of two would replace the earlier. */
static int check_names(const struct app *all, const char *const *files, size_t count,
                       struct err *err)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(all[i].name, all[k].name) == 0) {
                return err_set(err, ERR_INVALID, "the app \"%.60s\" is in %.80s and in %.80s",
                               all[i].name, files[k], files[i]);
            }
        }
    }
    return 0;
}

/* All files are read before anything is done: a mistake in the last one leaves all as it was. */
static int read_files(struct session *s, const struct invocation *call, struct app **ret_apps,
                      size_t *ret_count, struct err *err)
{
    struct app *all = ARENA_ARRAY(&s->arena, call->argument_count * APPS_MAX, struct app);
    const char **files = ARENA_ARRAY(&s->arena, call->argument_count * APPS_MAX, const char *);
    size_t total = 0;
    for (size_t i = 0; i < call->argument_count; i++) {
        struct bytes text;
        struct app *apps;
        size_t count;
        int r = app_file_read(&s->arena, call->arguments[i], &text, err);
        r = r < 0 ? r : appfile_parse(&s->arena, call->arguments[i], text, &apps, &count, err);
        if (r < 0) {
            return r;
        }
        for (size_t k = 0; k < count; k++) {
            all[total] = apps[k];
            files[total++] = call->arguments[i];
        }
    }
    *ret_apps = all;
    *ret_count = total;
    return check_names(all, files, total, err);
}

static int apply_files(struct session *s, const struct invocation *call, struct err *err)
{
    struct app *apps;
    size_t count;
    int r = read_files(s, call, &apps, &count, err);
    return r < 0 ? r : apply_all(s, apps, count, err);
}

SESSION_RUN(bbs_apply_run, apply_files)
