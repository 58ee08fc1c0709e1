#include "bbs/cli/session_io.h"

#include "bbs/cli/rootfs.h"
#include "bbs/cli/systems_io.h"
#include "bbs/cli/task_calls_io.h"
#include "bbs/cli/tasks.h"
#include "common/cli/cli_io.h"
#include "common/cli/printable.h"
#include "common/codec/json.h"
#include "common/codec/secrets.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <stdio.h>
#include <string.h>

enum {
    POLL_MS = 100,
    POLL_SLOW_MS = 500,
    POLL_SLOW_AFTER_MS = 5000,
    ANSWER_MS = 10000,
    LOOK_LEAST_MS = 500,
    OTHER_MS = 1000
};

const struct cli_option bbs_timeout_options[] = {
    {.name = "timeout", .value = "TIME", .help = CLIENT_TIMEOUT_HELP, .fallback = "10s"},
    {0},
};

const struct cli_option bbs_wait_options[] = {
    {.name = "wait", .help = "wait until all of it is so, and has been for a second"},
    {.name = "timeout", .value = "TIME", .help = "how long to try and to wait", .fallback = "60s"},
    {0},
};

const struct cli_option bbs_output_options[] = {
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs: one JSON value a line",
     .fallback = "table"},
    {0},
};

const struct cli_option bbs_secrets_options[] = {
    {.name = "show-secrets", .help = "show values of the environment, passwords and the like"},
    {0},
};

static bool has_option(const struct invocation *call, const char *name)
{
    for (size_t i = 0; i < call->given_count; i++) {
        if (strcmp(call->given[i].option->name, name) == 0) {
            return true;
        }
    }
    return false;
}

int session_open(const struct invocation *call, struct session *s, struct err *err)
{
    *s = (struct session){.call = call, .begun_ms = cli_now_ms(), .timeout_ms = ANSWER_MS};
    arena_init(&s->arena);
    const char *output = "table";
    int r = cli_choice(call, "output", &output, err);
    s->json = strcmp(output, "json") == 0;
    s->wait = has_option(call, "wait") && cli_switch(call, "wait");
    s->show_secrets = has_option(call, "show-secrets") && cli_switch(call, "show-secrets");
    if (r == 0 && has_option(call, "timeout")) {
        r = cli_duration_ms(call, "timeout", &s->timeout_ms, err);
    }
    r = r < 0 ? r : cli_client_open(call, cli_text(call, "bbs-url"), &s->client, err);
    if (r == 0) {
        cli_client_limit(s->client, s->timeout_ms);
    }
    return r;
}

void session_close(struct session *s)
{
    cli_client_close(s->client);
    arena_done(&s->arena);
}

int session_run(const struct invocation *call,
                int (*work)(struct session *s, const struct invocation *call, struct err *err),
                struct err *err)
{
    struct session s;
    int r = session_open(call, &s, err);
    r = r < 0 ? r : work(&s, call, err);
    session_close(&s);
    return r;
}

int session_desired(struct session *s, const char *domain, Models__DesiredLRP ***ret_lrps,
                    size_t *ret_count, struct err *err)
{
    Models__DesiredLRPsRequest request = MODELS__DESIRED_LRPS_REQUEST__INIT;
    request.domain = arena_strdup(&s->arena, domain);
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, &s->arena, "/v1/desired_lrps/list.r3", &request.base,
                            &models__desired_lrps_response__descriptor, &m, err);
    if (r == 0) {
        const Models__DesiredLRPsResponse *answer = (const Models__DesiredLRPsResponse *)m;
        *ret_lrps = answer->desired_lrps;
        *ret_count = answer->n_desired_lrps;
        name_services(&s->arena, *ret_lrps, *ret_count);
    }
    return r;
}

static bool is_task(struct session *s, const char *name)
{
    Models__Task **tasks, **found;
    size_t count;
    return session_tasks(s, "", "", &tasks, &count, NULL) == 0 &&
           tasks_selected(&s->arena, tasks, count, &(struct task_selection){.name = name}, &found) >
               0;
}

static bool is_unit_service(struct session *s, const char *name)
{
    Board__UnitServiceWholeRequest request = BOARD__UNIT_SERVICE_WHOLE_REQUEST__INIT;
    ProtobufCMessage *m;
    request.service = arena_strdup(&s->arena, name);
    return cli_client_call(s->client, &s->arena, "/v1/units/get", &request.base,
                           &board__unit_service_whole__descriptor, &m, NULL) == 0;
}

int session_not_found(struct session *s, const char *name, Models__DesiredLRP *const *lrps,
                      size_t count, struct err *err)
{
    s->names_task = is_task(s, name);
    if (s->names_task) {
        return err_set(err, ERR_NOT_FOUND,
                       "no process \"%.60s\", but a task: bbs task shows it, and so do bbs why "
                       "and bbs logs with --task",
                       name);
    }
    const Board__SystemRecord *system;
    const char *id = name, *path;
    bool part = name_is_part(&s->arena, name, &id, &path);
    int r = systems_find(s, id, &system, part ? err : NULL);
    if (r == -ERR_NOT_FOUND && part) {
        return r;
    }
    if (r == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "nothing of \"%.80s\" runs: bbs why %.80s says why, bbs "
                       "systems tree %.63s shows what there is",
                       name, name, id);
    }
    return is_unit_service(s, name)
               ? err_set(err, ERR_NOT_FOUND,
                         "no process \"%.60s\", but a unit service: bbs units %.60s shows it, and "
                         "bbs units why and bbs units logs take its units",
                         name, name)
               : name_no_process(name, lrps, count, err);
}

int session_means_system(struct session *s, const char *name, bool *ret, struct err *err)
{
    Models__DesiredLRP **all;
    size_t count;
    int r = session_desired(s, "", &all, &count, err);
    *ret = false;
    for (size_t i = 0; r == 0 && i < count; i++) {
        if (strcmp(all[i]->process_guid, name) == 0 || strcmp(lrp_name(all[i]), name) == 0) {
            *ret = strchr(name, ':') && strcmp(all[i]->process_guid, name) != 0;
            return 0;
        }
    }
    return r < 0 ? r : session_is_system(s, name, ret, err);
}

int session_named(struct session *s, const char *name, Models__DesiredLRP ***ret_lrps,
                  size_t *ret_count, struct err *err)
{
    Models__DesiredLRP **all;
    size_t count;
    int r = session_desired(s, "", &all, &count, err);
    if (r < 0) {
        return r;
    }
    *ret_count = lrps_named(&s->arena, all, count, name, ret_lrps);
    return *ret_count ? 0 : session_not_found(s, name, all, count, err);
}

int session_actuals(struct session *s, struct arena *a, const char *process_guid,
                    Models__ActualLRP ***ret_actuals, size_t *ret_count, struct err *err)
{
    Models__ActualLRPsRequest request = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    request.process_guid = arena_strdup(a, process_guid);
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, a, "/v1/actual_lrps/list", &request.base,
                            &models__actual_lrps_response__descriptor, &m, err);
    if (r == 0) {
        const Models__ActualLRPsResponse *answer = (const Models__ActualLRPsResponse *)m;
        *ret_actuals = answer->actual_lrps;
        *ret_count = answer->n_actual_lrps;
    }
    return r;
}

int session_cells_now(struct session *s, struct arena *a, const Board__CellsStatus **ret_cells,
                      struct err *err)
{
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, a, "/v1/board/cells", NULL, &board__cells_status__descriptor,
                            &m, err);
    if (r == 0) {
        *ret_cells = (const Board__CellsStatus *)m;
    }
    return r;
}

int session_cells(struct session *s, const Board__CellsStatus **ret_cells, struct err *err)
{
    int r = s->cells ? 0 : session_cells_now(s, &s->arena, &s->cells, err);
    *ret_cells = s->cells;
    return r;
}

int session_note_placed(struct session *s, const char *name, const char *process_guid, int32_t from,
                        struct err *err)
{
    Models__ActualLRP **actuals;
    const Board__CellsStatus *cells = NULL;
    struct placed *some, *all;
    size_t count;
    if (!s->wait) {
        return 0;
    }
    int r = session_actuals(s, &s->arena, process_guid, &actuals, &count, err);
    r = r < 0 ? r : session_cells_now(s, &s->arena, &cells, err);
    if (r < 0) {
        struct err inner = *err;
        return cli_interrupted()
                   ? err_set(err, ERR_UNKNOWN, "interrupted; %.60s was left as it was", name)
                   : err_set(err, inner.code, "%.60s was left as it was: %.180s", name, inner.text);
    }
    count = unheard_note(&s->arena, process_guid, from, actuals, count, cells, &some);
    all = ARENA_ARRAY(&s->arena, s->placed_count + count, struct placed);
    for (size_t i = 0; i < s->placed_count + count; i++) {
        all[i] = i < s->placed_count ? s->placed[i] : some[i - s->placed_count];
    }
    s->placed = all;
    s->placed_count += count;
    s->warns_of_lost = true;
    return 0;
}

/* The board knows nothing more of an instance on a LOST cell once another one runs in its place. */
static void warn_of_lost(struct session *s)
{
    const Board__CellsStatus *cells = NULL;
    if (s->warns_of_lost && session_cells_now(s, &s->arena, &cells, NULL) == 0) {
        const char *lost = unheard_cells_text(&s->arena, cells);
        s->warns_of_lost = false;
        if (lost) {
            fprintf(stderr,
                    "bbs: %s: instances that were replaced may still run there until it "
                    "is back\n",
                    lost);
        }
    }
}

/* When the cells cannot be asked they are taken to be as they were. */
static const char *unheard(struct session *s, struct arena *a, const char *process_guid)
{
    const Board__CellsStatus *cells = NULL;
    if (s->placed_count == 0) {
        return NULL;
    }
    (void)session_cells_now(s, a, &cells, NULL);
    return unheard_text(a, process_guid, s->placed, s->placed_count, cells);
}

/* When the cells cannot be asked nothing is said: what was to be done is done. */
void session_warn_of_rootfs(struct session *s, const char *name, const char *rootfs)
{
    const Board__CellsStatus *cells;
    const char *why = NULL;
    if (session_cells(s, &cells, NULL) == 0) {
        why = rootfs_problem(&s->arena, cells, rootfs);
    }
    if (why) {
        fprintf(stderr, "bbs: %s waits: %s\n", name, text_printable(&s->arena, why));
    }
}

Models__DesiredLRP *session_left(struct session *s, const char *process_guid)
{
    Models__ActualLRP **actuals;
    size_t count;
    if (session_actuals(s, &s->arena, process_guid, &actuals, &count, NULL) < 0 || count == 0) {
        return NULL;
    }
    const Models__ActualLRPKey *key = actuals[0]->actual_lrp_key;
    Models__DesiredLRP *left = arena_message(&s->arena, &models__desired_lrp__descriptor);
    left->process_guid = arena_strdup(&s->arena, process_guid);
    left->domain = key ? key->domain : left->domain;
    return left;
}

/* Since when all is as desired, and which instance was the youngest then. */
struct settling {
    int64_t newest_ns;
    int64_t since_ms;
    bool done;
    int64_t other_ms; /* since when another number is desired than is waited for; 0 = it is not */
};

/* Of a look that began at these times: what it shows may have been so then. */
static bool has_settled(struct settling *s, const struct lrp_progress *p, int64_t wall_ns,
                        int64_t now_ms)
{
    bool done = lrp_progress_done(p);
    if (!done || !s->done || s->newest_ns != p->newest_ns) {
        *s = (struct settling){p->newest_ns, now_ms, done, s->other_ms};
    }
    return done && lrp_progress_settled(p, wall_ns, (now_ms - s->since_ms) * 1000000);
}

/* The same of an app, by its service. */
static int check_app(struct session *s, struct arena *a, const char *name, const char *process_guid,
                     int32_t desired, struct err *err)
{
    const Board__ServiceResponse *answer = NULL;
    int r = session_service(s, a, BOARD__SERVICE_REQUEST__ACTION__NONE, s->app, &answer, err);
    bool gone = r == -ERR_NOT_FOUND;
    if (r < 0 && !gone) {
        return r;
    }
    const char *why = apply_other(a, gone ? NULL : answer->service, process_guid, desired);
    s->unled = !gone && answer->unled;
    return why ? err_set(err, ERR_CONFLICT, "%.60s: %s", name, why) : 0;
}

/* It is not as it was asked to be: somebody may have asked for something else since. Another number
 * is believed when it stands for a second: another bbs than the one that was asked may be behind.
 */
static int check_desired(struct session *s, struct arena *a, const char *name,
                         const char *process_guid, int32_t desired, struct settling *settling,
                         struct err *err)
{
    Models__DesiredLRPByProcessGuidRequest request =
        MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    request.process_guid = arena_strdup(a, process_guid);
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, a, "/v1/desired_lrps/get_by_process_guid.r3", &request.base,
                            &models__desired_lrpresponse__descriptor, &m, err);
    if (r == -ERR_NOT_FOUND && desired > 0) {
        return err_set(err, ERR_CONFLICT, "%.60s: somebody else removed it meanwhile (%.120s)",
                       name, process_guid);
    }
    const Models__DesiredLRP *now =
        r == 0 ? ((const Models__DesiredLRPResponse *)m)->desired_lrp : NULL;
    int64_t now_ms = cli_now_ms();
    bool other = now && now->instances != desired;
    settling->other_ms = !other ? 0 : settling->other_ms ? settling->other_ms : now_ms;
    if (other && now_ms - settling->other_ms >= OTHER_MS) {
        return err_set(err, ERR_CONFLICT, "%.60s: somebody else %s %d meanwhile", name,
                       desired > 0 ? "scaled it to" : "made it again, or scaled it, to",
                       (int)now->instances);
    }
    return r == -ERR_NOT_FOUND ? 0 : r;
}

/* Looks once: 1 when all is as desired and stays so; CLI_TIMEOUT when it is as far as one sees. */
static int look(struct session *s, const char *name, const char *process_guid, int32_t desired,
                struct cli_progress *shown, struct lrp_progress *p, struct settling *settling,
                char *text, size_t text_size, struct err *err)
{
    SCOPED_ARENA(a);
    Models__ActualLRP **actuals;
    size_t count;
    int64_t wall_ns = cli_wall_ns(), now_ms = cli_now_ms();
    int r = session_actuals(s, &a, process_guid, &actuals, &count, err);
    if (r == 0) {
        lrp_progress_of(desired, actuals, count, p);
        p->unheard = lrp_progress_done(p) ? unheard(s, &a, process_guid) : NULL;
        snprintf(text, text_size, "%s", lrp_progress_text(&a, name, p));
        cli_progress(shown, text);
        r = p->unheard ? CLI_TIMEOUT : has_settled(settling, p, wall_ns, now_ms);
        p->problem = p->unheard = NULL; /* they live in the arena that ends here */
    }
    if (r == 0 && !settling->done) {
        r = s->app ? check_app(s, &a, name, process_guid, desired, err)
                   : check_desired(s, &a, name, process_guid, desired, settling, err);
    }
    return r;
}

/* Past the end of the time: only what was there by then is waited for, so for LRP_SETTLED_NS at
 * most; one that begins again crashes as it starts. */
static bool still_settling(const struct session *s, const struct settling *settling,
                           int64_t over_ms)
{
    return s->settle && settling->done && settling->since_ms <= over_ms;
}

int64_t session_left_ms(const struct session *s)
{
    int64_t left_ms = s->timeout_ms - (cli_now_ms() - s->begun_ms);
    return left_ms > 0 ? left_ms : 0;
}

int64_t session_at_most_ms(const struct session *s, int64_t limit_ms)
{
    int64_t left_ms = session_left_ms(s);
    return left_ms < limit_ms ? left_ms : limit_ms;
}

int64_t session_look_ms(int64_t left_ms)
{
    return left_ms < LOOK_LEAST_MS ? LOOK_LEAST_MS : left_ms < ANSWER_MS ? left_ms : ANSWER_MS;
}

int session_wait(struct session *s, const char *name, const char *process_guid, int32_t desired,
                 struct err *err)
{
    struct cli_progress shown = {0};
    struct lrp_progress p = {.desired = desired};
    struct settling settling = {0};
    char text[400] = "";
    int64_t passed_ms = 0, over_ms = 0;
    int r;
    for (;;) {
        cli_client_limit(s->client, session_look_ms(session_left_ms(s)));
        r = look(s, name, process_guid, desired, &shown, &p, &settling, text, sizeof(text), err);
        if (r > 0 || (r < 0 && r != -ERR_UNAVAILABLE && r != -ERR_TIMEOUT)) {
            break;
        }
        passed_ms = cli_now_ms() - s->begun_ms;
        over_ms = passed_ms >= s->timeout_ms && over_ms == 0 ? cli_now_ms() : over_ms;
        if ((over_ms && !(r == 0 && still_settling(s, &settling, over_ms))) || cli_interrupted()) {
            break;
        }
        cli_sleep_ms(passed_ms < POLL_SLOW_AFTER_MS ? POLL_MS : POLL_SLOW_MS);
    }
    if (r == 1) {
        cli_progress_end(&shown, text);
        warn_of_lost(s);
        return 0;
    }
    cli_progress(&shown, NULL);
    if (r > 0) { /* nothing more is seen of it, however long one waits */
        fprintf(stderr, "bbs: %s\n", text);
        return r;
    }
    if (cli_interrupted() && r != -ERR_CONFLICT) { /* maybe in the middle of a look */
        return err_set(err, ERR_UNKNOWN, "interrupted%s%.140s%s", *text ? "; " : "", text,
                       *text ? "; it goes on" : "");
    }
    if (r < 0) {
        return r;
    }
    if (settling.done && !s->settle) {
        return 0; /* the time was over while it settled */
    }
    fprintf(stderr, "bbs: after %lld s: %s\n", (long long)(passed_ms / 1000), text);
    session_warn_of_unled(s, name);
    return p.running > 0 && p.running < desired ? CLI_PARTLY_PLACED : CLI_TIMEOUT;
}

int session_print(struct session *s, struct bytes text, struct err *err)
{
    return s->instead ? cli_print_or(text, s->instead, err) : cli_print(text, err);
}

int session_line(struct session *s, const char *name, const char *process_guid, const char *result,
                 struct err *err)
{
    SCOPED_BUF(out);
    if (s->json) {
        buf_append_string(&out, "{\"name\":");
        json_string_text(bytes_of(name), &out);
        buf_printf(&out, ",\"%s\":", s->guid_key ? s->guid_key : "process_guid");
        json_string_text(bytes_of(process_guid), &out);
        buf_append_string(&out, ",\"result\":");
        json_string_text(bytes_of(result), &out);
        buf_append_string(&out, "}\n");
    } else {
        buf_printf(&out, "%s %s (%s)\n", name, result, process_guid);
    }
    const char *instead =
        arena_printf(&s->arena, "%.60s: %.120s (%.80s), but that could not be written", name,
                     result, process_guid);
    return cli_print_or(buf_bytes(&out), s->instead ? s->instead : instead, err);
}

int session_service_call(struct session *s, struct arena *a, const Board__ServiceRequest *request,
                         const Board__ServiceResponse **ret, struct err *err)
{
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, a, "/v1/board/service", &request->base,
                            &board__service_response__descriptor, &m, err);
    if (r == 0) {
        *ret = (const Board__ServiceResponse *)m;
    }
    if (r == 0 && !(*ret)->service) {
        return err_set(err, ERR_IO, "the bbs gives no service in its answer");
    }
    return r;
}

int session_service(struct session *s, struct arena *a, Board__ServiceRequest__Action action,
                    const char *app, const Board__ServiceResponse **ret, struct err *err)
{
    Board__ServiceRequest request = BOARD__SERVICE_REQUEST__INIT;
    request.action = action;
    request.name = arena_strdup(a, app);
    return session_service_call(s, a, &request, ret, err);
}

void session_warn_of_unled(struct session *s, const char *name)
{
    if (s->unled) {
        fprintf(stderr,
                "bbs: %s waits for a converger: none leads, which would replace or remove "
                "it\n",
                name);
    }
}

static int remove_process(struct session *s, const Models__DesiredLRP *lrp, struct err *err)
{
    Models__RemoveDesiredLRPRequest request = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = lrp->process_guid;
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, "/v1/desired_lrp/remove", &request.base,
                           &models__desired_lrplifecycle_response__descriptor, &m, err);
}

int session_remove(struct session *s, const char *name, const Models__DesiredLRP *lrp,
                   struct err *err)
{
    const char *app = lrp_app(lrp);
    const Board__ServiceResponse *answer;
    int r = session_note_placed(s, name, lrp->process_guid, 0, err);
    if (r < 0) {
        return r;
    }
    r = app ? session_service(s, &s->arena, BOARD__SERVICE_REQUEST__ACTION__DELETE, app, &answer,
                              err)
            : remove_process(s, lrp, err);
    /* Somebody else's removal, or our own of which the answer was lost: gone is gone. */
    r = r == -ERR_NOT_FOUND ? 0 : r;
    return r < 0 ? session_about(s, name, r, err)
                 : session_line(s, name, lrp->process_guid, "removed", err);
}

int session_about(struct session *s, const char *name, int r, struct err *err)
{
    bool missing = r == -ERR_UNAVAILABLE || r == -ERR_TIMEOUT || r == -ERR_UNKNOWN;
    bool may = missing && cli_client_may_have_done(s->client);
    struct err inner = *err;
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted%s%.60s%s", may ? "; " : "", may ? name : "",
                       may ? ": it may have been done" : "");
    }
    return err_set(err, inner.code, "%.60s: %.*s%s", name, may ? 150 : 200, inner.text,
                   may ? "; it may have been done" : "");
}

static void tell_error(struct session *s, const char *name, const struct err *err)
{
    SCOPED_BUF(out);
    if (cli_interrupted()) {
        s->halted = arena_strdup(&s->arena, err->text);
    } else {
        fprintf(stderr, "bbs: %s\n", err->text);
    }
    if (s->json) {
        buf_append_string(&out, "{\"name\":");
        json_string_text(bytes_of(name), &out);
        buf_append_string(&out, ",\"error\":");
        json_string_text(bytes_of(err->text), &out);
        buf_append_string(&out, "}\n");
        (void)cli_print(buf_bytes(&out), NULL);
    }
}

void session_count(struct session *s, const char *name, int r, struct err *err)
{
    if (r < 0) {
        tell_error(s, name, err);
    }
    int status = r < 0 ? cli_interrupted() ? CLI_INTERRUPTED : cli_exit_of(err->code) : r;
    s->status = s->status ? s->status : status;
}

int session_end(struct session *s, struct err *err)
{
    static const char word[] = "interrupted";
    if (!cli_interrupted() || s->status == 0) {
        return s->status;
    }
    const char *what = s->halted ? s->halted : "";
    what += strncmp(what, word, sizeof(word) - 1) == 0 ? sizeof(word) - 1 : 0;
    what += *what == ';' ? strspn(what, "; ") : 0;
    return err_set(err, ERR_UNKNOWN, "%s%s%.160s%s%s", word, *what ? "; " : "", what,
                   s->undone ? "; " : "", s->undone ? s->undone : "");
}

bool session_goes_on(struct session *s)
{
    if (cli_interrupted() && s->status == 0) {
        s->status = CLI_INTERRUPTED;
    }
    return !cli_interrupted();
}

void session_hide(struct session *s, ProtobufCMessage *m)
{
    if (!s->show_secrets) {
        secrets_hide(&s->arena, m);
    }
}

void session_json(struct session *s, ProtobufCMessage *m, struct buf *out)
{
    session_hide(s, m);
    if (json_encode(m, CODEC_OWN | CODEC_SNAKE_CASE, out, NULL) == 0) {
        buf_append_string(out, "\n");
    }
}

int cli_target(const struct invocation *call, const char **ret_name, int32_t *ret_index,
               struct err *err)
{
    const char *index = call->argument_count > 1 ? call->arguments[1] : NULL;
    int r = name_read(call->arena, call->arguments[0], index, ret_name, ret_index, err);
    if (r == 0 && *ret_index >= 0 && has_option(call, "task") && cli_switch(call, "task")) {
        return err_set(err, ERR_INVALID, "a task has no index: \"%.40s\"",
                       index ? index : call->arguments[0]);
    }
    return r;
}
