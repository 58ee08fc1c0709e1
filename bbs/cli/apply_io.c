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
        return err_set(err, ERR_CONFLICT, "%.60s %s", app->name, plan->text);
    case APPLY_UNCHANGED:
        break;
    }
    return 0;
}

/* A bbs says what is wrong with a definition, and not with whose. */
static int say_whose(int r, const struct app *app, struct err *err)
{
    struct err inner = *err;
    return r == -ERR_INVALID ? err_set(err, ERR_INVALID, "%.60s: %.200s", app->name, inner.text)
                             : r;
}

/* Decides on what the board has and carries it out; *ret_plan tells what is left to do. */
static int apply_one(struct session *s, const struct app *app, struct apply_plan *ret_plan,
                     struct err *err)
{
    int r = -ERR_EXISTS;
    for (int attempt = 0; r == -ERR_EXISTS && attempt < DECIDE_ATTEMPTS_MAX; attempt++) {
        Models__DesiredLRP **lrps;
        size_t count;
        r = session_desired(s, "", &lrps, &count, err);
        if (r < 0) {
            return r;
        }
        apply_decide(&s->arena, app, lrps, count, ret_plan);
        r = say_whose(carry_out(s, app, ret_plan, err), app, err);
    }
    return r < 0 ? r : session_tell(s, app->name, app->lrp->process_guid, ret_plan->text, err);
}

/* Other definitions of the app go when this one runs; before, they run on. */
static int replace(struct session *s, const struct app *app, const struct apply_plan *plan,
                   struct err *err)
{
    for (size_t i = 0; i < plan->old_count; i++) {
        int r = session_remove(s, app->name, plan->old[i], "replaced, the old one is removed", err);
        if (r != 0) {
            return r;
        }
    }
    return 0;
}

static int wait_for(struct session *s, const struct app *app, const struct apply_plan *plan,
                    struct err *err)
{
    if (!s->wait && plan->old_count == 0) {
        return 0;
    }
    s->settle = plan->old_count > 0;
    int r = session_wait(s, app->name, app->lrp->process_guid, plan->instances, err);
    s->settle = false;
    if (r == 0) {
        r = replace(s, app, plan, err);
    } else if (plan->old_count > 0) {
        fprintf(stderr,
                "bbs: %s: the old definition (%s) runs on; apply again to go on, or bbs rm %s to "
                "give the new one up\n",
                app->name, plan->old[0]->process_guid, app->lrp->process_guid);
    }
    return r;
}

static int apply_all(struct session *s, const struct app *apps, size_t count, struct err *err)
{
    struct apply_plan *plans = ARENA_ARRAY(&s->arena, count, struct apply_plan);
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && strcmp(apps[i].lrp->domain, apps[i - 1].lrp->domain) == 0;
        int r = again ? 0 : upsert_domain(s, apps[i].lrp->domain, err);
        r = r < 0 ? r : apply_one(s, &apps[i], &plans[i], err);
        if (r < 0) {
            return r;
        }
    }
    int worst = 0;
    for (size_t i = 0; i < count; i++) {
        int r = wait_for(s, &apps[i], &plans[i], err);
        if (r < 0) {
            return r;
        }
        worst = r > worst ? r : worst;
    }
    return worst;
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

int bbs_apply_run(const struct invocation *call, struct err *err)
{
    struct session s;
    struct app *apps = NULL;
    size_t count = 0;
    int r = session_open(call, &s, err);
    r = r < 0 ? r : read_files(&s, call, &apps, &count, err);
    r = r < 0 ? r : apply_all(&s, apps, count, err);
    session_close(&s);
    return r;
}
