#include "bbs/cli/commands_io.h"

#include "bbs/cli/session_io.h"
#include "bbs/cli/systems_io.h"
#include "common/cli/cli_io.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of an index that no process has, and of which nothing is left, nothing could be shown. */
static int check_index(const char *name, int32_t index, Models__DesiredLRP *const *lrps,
                       size_t count, struct err *err)
{
    int32_t most = 0;
    for (size_t i = 0; i < count; i++) {
        most = lrps[i]->instances > most ? lrps[i]->instances : most;
    }
    return index < most ? 0 : name_no_index(name, index, most, err);
}

/* Of these processes; `name` NULL: of whatever stands on the board; of one index unless -1. */
static int show_ps(struct session *s, const char *name, int32_t index,
                   Models__DesiredLRP *const *lrps, size_t count, struct err *err)
{
    Models__ActualLRP **actuals;
    size_t actual_count;
    const char *guid = name && count == 1 ? lrps[0]->process_guid : "";
    int r = session_actuals(s, &s->arena, guid, &actuals, &actual_count, err);
    if (r < 0) {
        return r;
    }
    if (name) {
        actual_count = lrps_keep(lrps, count, actuals, actual_count);
        actual_count = lrps_keep_index(index, actuals, actual_count);
        r = actual_count ? 0 : check_index(name, index, lrps, count, err);
    }
    if (r < 0) {
        return r;
    }
    const Board__CellsStatus *cells = NULL;
    if (!s->json && actual_count > 0) {
        (void)session_cells(s, &cells, NULL); /* without them the table tells less */
    }
    SCOPED_BUF(out);
    if (s->json) {
        for (size_t i = 0; i < actual_count; i++) {
            session_json(s, &actuals[i]->base, &out);
        }
        ps_lines_without_record(&s->arena, lrps, count, actuals, actual_count, &out);
    } else {
        ps_table(&s->arena, lrps, count, actuals, actual_count, cells, cli_wall_ns(),
                 isatty(STDOUT_FILENO), &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int ps(struct session *s, const struct invocation *call, struct err *err)
{
    Models__DesiredLRP **lrps = NULL;
    size_t count = 0;
    const char *name = NULL;
    int32_t index = -1;
    int r = call->argument_count ? cli_target(call, &name, &index, err) : 0;
    if (r == 0) {
        r = name ? session_named(s, name, &lrps, &count, err)
                 : session_desired(s, "", &lrps, &count, err);
    }
    return r < 0 ? r : show_ps(s, name, index, lrps, count, err);
}

SESSION_RUN(bbs_ps_run, ps)

static int read_instances(const char *text, int32_t *ret_count, struct err *err)
{
    size_t digits = strspn(text, "0123456789");
    long count = strtol(text, NULL, 10); /* LONG_MAX of what is larger */
    if (digits == 0 || text[digits] || count > APP_INSTANCES_MAX) {
        return err_set(err, ERR_INVALID, "\"%.40s\" is not a number of instances (0 to %d)", text,
                       APP_INSTANCES_MAX);
    }
    *ret_count = (int32_t)count;
    return 0;
}

static int scale_process(struct session *s, const char *process_guid, int32_t instances,
                         struct err *err)
{
    Models__DesiredLRPUpdate update = MODELS__DESIRED_LRPUPDATE__INIT;
    update.optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    update.instances = instances;
    Models__UpdateDesiredLRPRequest request = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = arena_strdup(&s->arena, process_guid);
    request.update = &update;
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, "/v1/desired_lrp/update", &request.base,
                           &models__desired_lrplifecycle_response__descriptor, &m, err);
}

static int scale_app(struct session *s, const char *app, int32_t instances, struct err *err)
{
    Board__ServiceRequest request = BOARD__SERVICE_REQUEST__INIT;
    request.action = BOARD__SERVICE_REQUEST__ACTION__SCALE;
    request.name = arena_strdup(&s->arena, app);
    request.instances = instances;
    const Board__ServiceResponse *answer;
    return session_service_call(s, &s->arena, &request, &answer, err);
}

static int scale(struct session *s, const struct invocation *call, struct err *err)
{
    const char *name = call->arguments[0];
    int32_t instances = 0;
    Models__DesiredLRP **lrps;
    size_t count = 0;
    int r = read_instances(call->arguments[1], &instances, err);
    r = r < 0 ? r : session_named(s, name, &lrps, &count, err);
    int kept = name_no_change(&s->arena, name, r < 0 ? NULL : lrps[0], "scaled", err);
    r = kept < 0 ? kept : r;
    if (r == 0 && count > 1) {
        r = name_ambiguous(name, lrps, count, err);
    }
    if (r < 0) {
        return r;
    }
    r = session_note_placed(s, name, lrps[0]->process_guid, instances, err);
    if (r < 0) {
        return r;
    }
    const char *result = lrps[0]->instances == instances
                             ? "unchanged"
                             : arena_printf(&s->arena, "scaled from %d to %d",
                                            (int)lrps[0]->instances, (int)instances);
    s->app = lrp_app(lrps[0]);
    r = s->app ? scale_app(s, s->app, instances, err)
               : scale_process(s, lrps[0]->process_guid, instances, err);
    r = r < 0 ? session_about(s, name, r, err)
              : session_line(s, name, lrps[0]->process_guid, result, err);
    return r < 0 || !s->wait ? r : session_wait(s, name, lrps[0]->process_guid, instances, err);
}

SESSION_RUN(bbs_scale_run, scale)

/* A process that goes, under the name that was given for it. */
struct gone {
    const char *name;
    const Models__DesiredLRP *lrp;
    int result;
};

/* What is of a system goes with a deploy or a teardown; so of a system in which nothing runs. */
static int no_removal(struct session *s, const char *name, const Models__DesiredLRP *lrp,
                      struct err *err)
{
    bool system = false;
    int r = name_no_change(&s->arena, name, lrp, "removed", err);
    if (r == 0 && !lrp) {
        struct err inner;
        system = session_is_system(s, name, &system, &inner) == 0 && system;
    }
    return system ? name_is_system(name, "removed", err) : r;
}

/* All that the names mean, each process once. A name without a meaning is reported and counted. */
static size_t find_all(struct session *s, const struct invocation *call,
                       Models__DesiredLRP *const *lrps, size_t count, struct gone *gone,
                       struct err *err)
{
    size_t total = 0;
    for (size_t i = 0; i < call->argument_count; i++) {
        const char *name = call->arguments[i];
        Models__DesiredLRP **found;
        size_t n = lrps_named(&s->arena, lrps, count, name, &found);
        int kept = no_removal(s, name, n > 0 ? found[0] : NULL, err);
        if (kept < 0) {
            session_count(s, name, kept, err);
            continue;
        }
        if (n == 0) {
            session_count(s, name, session_not_found(s, name, lrps, count, err), err);
        }
        for (size_t k = 0; k < n; k++) {
            bool again = false;
            for (size_t g = 0; g < total; g++) {
                again = again || gone[g].lrp == found[k];
            }
            if (!again) {
                gone[total++] = (struct gone){.name = name, .lrp = found[k]};
            }
        }
    }
    return total;
}

/* A mistaken name leaves all as it was (`bbs rm web 2`: somebody thought of scale); a removal that
 * fails leaves the others to go. */
static int remove_all(struct session *s, const struct invocation *call, struct err *err)
{
    Models__DesiredLRP **lrps;
    size_t count;
    int r = session_desired(s, "", &lrps, &count, err);
    if (r < 0) {
        return r;
    }
    struct gone *gone = ARENA_ARRAY(&s->arena, count, struct gone);
    size_t total = find_all(s, call, lrps, count, gone, err);
    if (s->status) {
        fputs(total > 0 ? "bbs: nothing was removed\n" : "", stderr);
        return s->status;
    }
    size_t removed = 0;
    for (size_t i = 0; i < total && session_goes_on(s); i++) {
        gone[i].result = session_remove(s, gone[i].name, gone[i].lrp, err);
        removed += gone[i].result == 0;
        session_count(s, gone[i].name, gone[i].result, err);
    }
    s->undone =
        removed < total ? arena_printf(&s->arena, "%zu of %zu removed", removed, total) : NULL;
    for (size_t i = 0; s->wait && i < total && session_goes_on(s); i++) {
        if (gone[i].result == 0) {
            const char *guid = gone[i].lrp->process_guid;
            s->app = lrp_app(gone[i].lrp);
            session_count(s, gone[i].name, session_wait(s, gone[i].name, guid, 0, err), err);
        }
    }
    return session_end(s, err);
}

SESSION_RUN(bbs_rm_run, remove_all)
