/* bbs restart: one instance after the other. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/restart.h"
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/printable.h"
#include "common/codec/json.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <stdio.h>
#include <string.h>

enum { POLL_MS = 200 };

const struct cli_option bbs_restart_options[] = {
    {.name = "timeout",
     .value = "TIME",
     .help = "how long to try, and to wait for each instance",
     .fallback = "60s"},
    {0},
};

struct restart {
    struct session *s;
    const char *name;
    Models__DesiredLRP *lrp;
    int32_t first, end; /* indices */
    int32_t done;       /* how many run again, reported or not */
    /* Of the one that is restarted now. */
    int32_t index;
    const char *label;    /* "web/0" */
    const char *old_guid; /* "" = none was there */
    const char *unheard;  /* unheard_old_text() */
    bool stopped;
};

/* How many were done, for whoever has to go on. */
static const char *so_far(const struct restart *r)
{
    return arena_printf(&r->s->arena, "%d of %d restarted", (int)r->done,
                        (int)(r->end - r->first));
}

/* Before it is asked to stop: the board gives up at once what a cell has of which it hears nothing.
 */
static int note_unheard(struct restart *r, struct err *err)
{
    Models__ActualLRP **actuals;
    const Board__CellsStatus *cells;
    size_t count;
    struct arena *a = &r->s->arena;
    int code = session_actuals(r->s, a, r->lrp->process_guid, &actuals, &count, err);
    code = code < 0 ? code : session_cells_now(r->s, a, &cells, err);
    r->unheard = code < 0 ? NULL : unheard_old_text(a, r->index, actuals, count, cells);
    return code;
}

/* The record of the index, in `a`; *ret_record is NULL when there is none. */
static int get_record(const struct restart *r, struct arena *a,
                      const Models__ActualLRP **ret_record, struct err *err)
{
    Models__ActualLRP **actuals;
    size_t count;
    int code = session_actuals(r->s, a, r->lrp->process_guid, &actuals, &count, err);
    if (code == 0) {
        *ret_record = restart_record(actuals, count, r->index);
    }
    return code;
}

static int retire(struct restart *r, struct err *err)
{
    const Models__ActualLRP *record = NULL;
    int code = note_unheard(r, err);
    code = code < 0 ? code : get_record(r, &r->s->arena, &record, err);
    const Models__ActualLRPInstanceKey *at = record ? record->actual_lrp_instance_key : NULL;
    r->old_guid = at ? at->instance_guid : "";
    if (code < 0 || !record) {
        return code;
    }
    Models__RetireActualLRPRequest request = MODELS__RETIRE_ACTUAL_LRPREQUEST__INIT;
    request.actual_lrp_key = record->actual_lrp_key;
    ProtobufCMessage *m;
    code = cli_client_call(r->s->client, &r->s->arena, "/v1/actual_lrps/retire", &request.base,
                           &models__actual_lrplifecycle_response__descriptor, &m, err);
    r->stopped = code == 0 || cli_client_may_have_done(r->s->client);
    return code == -ERR_NOT_FOUND ? 0 : code; /* it went meanwhile, and is made again */
}

/* Somebody may have removed the app, or scaled it down. */
static int still_desired(const struct restart *r, struct arena *a, struct err *err)
{
    Models__DesiredLRPByProcessGuidRequest request =
        MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    request.process_guid = r->lrp->process_guid;
    ProtobufCMessage *m;
    int code = cli_client_call(r->s->client, a, "/v1/desired_lrps/get_by_process_guid.r3",
                               &request.base, &models__desired_lrpresponse__descriptor, &m, err);
    if (code == -ERR_NOT_FOUND) {
        return err_set(err, ERR_CONFLICT, "somebody else removed it meanwhile");
    }
    const Models__DesiredLRP *now =
        code == 0 ? ((const Models__DesiredLRPResponse *)m)->desired_lrp : NULL;
    return now && now->instances <= r->index
               ? err_set(err, ERR_CONFLICT, "somebody else scaled it to %d meanwhile",
                         (int)now->instances)
               : code;
}

static int tell_done(const struct restart *r, const Models__ActualLRP *record, struct err *err)
{
    const Models__ActualLRPInstanceKey *at = record->actual_lrp_instance_key;
    SCOPED_BUF(out);
    if (r->s->json) {
        buf_append_string(&out, "{\"name\":");
        json_string_text(bytes_of(r->name), &out);
        buf_append_string(&out, ",\"process_guid\":");
        json_string_text(bytes_of(r->lrp->process_guid), &out);
        buf_printf(&out, ",\"index\":%d,\"result\":\"restarted\",\"cell_id\":", (int)r->index);
        json_string_text(bytes_of(at->cell_id), &out);
        buf_append_string(&out, ",\"instance_guid\":");
        json_string_text(bytes_of(at->instance_guid), &out);
        if (r->unheard) {
            buf_append_string(&out, ",\"warning\":");
            json_string_text(bytes_of(r->unheard), &out);
        }
        buf_append_string(&out, "}\n");
    } else {
        buf_printf(&out, "%s restarted on %s (%s)%s%s\n", r->label, at->cell_id,
                   at->instance_guid, r->unheard ? "; " : "", r->unheard ? r->unheard : "");
    }
    int code = cli_print_or(buf_bytes(&out), "it was restarted; that could not be written", err);
    return code;
}

/* An instance that crashes as it starts is RUNNING for a moment, too. */
struct settling_instance {
    char guid[80];
    int64_t since_ms;
};

static bool has_settled(struct settling_instance *s, const Models__ActualLRP *record,
                        int64_t now_ms)
{
    const char *guid = record->actual_lrp_instance_key->instance_guid;
    if (strcmp(s->guid, guid) != 0) {
        snprintf(s->guid, sizeof(s->guid), "%s", guid);
        s->since_ms = now_ms;
    }
    return (now_ms - s->since_ms) * 1000000 >= LRP_SETTLED_NS;
}

/* Looks once: 1 when the new one runs and has settled, and was reported. `text`: how it is. */
static int look(struct restart *r, struct settling_instance *settling, char *text, size_t size,
                struct err *err)
{
    SCOPED_ARENA(a);
    const Models__ActualLRP *record = NULL;
    int64_t now_ms = cli_now_ms();
    int code = get_record(r, &a, &record, err);
    code = code < 0 || record ? code : still_desired(r, &a, err);
    if (code == 0) {
        snprintf(text, size, "%s", restart_text(&a, record));
        switch (restart_judge(record, r->old_guid)) {
        case RESTART_RUNS:
            if (has_settled(settling, record, now_ms)) {
                r->done++;
                r->stopped = false; /* nothing is half done */
                code = tell_done(r, record, err);
                code = code == 0 ? 1 : code;
            }
            break;
        case RESTART_CRASHED:
            code = err_set(err, ERR_IO, "it crashed as it started again: %.80s",
                           text_printable(&a, record->crash_reason));
            break;
        case RESTART_STOPS:
        case RESTART_STARTS:
            break;
        }
    }
    return code;
}

/* Neither done nor impossible. */
static bool is_late(int code)
{
    return code == 0 || code == -ERR_UNAVAILABLE || code == -ERR_TIMEOUT;
}

/* `code`: of the last look, or of the stop unless a bbs was `asked`; `is`: how it was seen last. */
static int late(const struct restart *r, bool asked, int code, const char *is, struct err *err)
{
    const char *trouble = code < 0 ? arena_strdup(&r->s->arena, err->text) : "";
    return err_set(err, code < 0 ? (enum err_code) - code : ERR_TIMEOUT, "%.160s",
                   restart_late_text(&r->s->arena, asked, r->s->timeout_ms, is, trouble));
}

static int wait_for(struct restart *r, struct err *err)
{
    struct cli_progress shown = {0};
    struct settling_instance settling = {.since_ms = 0};
    char text[200] = "", line[500];
    int64_t begun_ms = cli_now_ms(), left_ms;
    int code;
    do {
        left_ms = r->s->timeout_ms - (cli_now_ms() - begun_ms);
        cli_client_limit(r->s->client, session_look_ms(left_ms));
        code = look(r, &settling, text, sizeof(text), err);
        if (!is_late(code) || cli_interrupted()) {
            break;
        }
        if (*text) {
            snprintf(line, sizeof(line), "%s: %s", r->label, text);
            cli_progress(&shown, line);
        }
        cli_sleep_ms(POLL_MS);
    } while (left_ms > 0);
    cli_progress(&shown, NULL);
    if (code > 0) {
        return 0;
    }
    return !cli_interrupted() && is_late(code) ? late(r, true, code, text, err) : code;
}

/* Why it goes no further. */
static int stop_here(const struct restart *r, struct err *err)
{
    struct err inner = *err;
    const char *what = !r->stopped ? ""
                                   : arena_printf(&r->s->arena,
                                                  "; %s was stopped, and is "
                                                  "started again whatever happens here",
                                                  r->label);
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted; %s%s", so_far(r), what);
    }
    return err_set(err, inner.code, "%.60s: %.140s; %s", r->label, inner.text, so_far(r));
}

static int restart_all(struct restart *r, struct err *err)
{
    for (r->index = r->first; r->index < r->end; r->index++) {
        r->label = arena_printf(&r->s->arena, "%s/%d", r->name, (int)r->index);
        r->stopped = false;
        cli_client_limit(r->s->client, r->s->timeout_ms);
        int code = cli_interrupted() ? -ERR_UNKNOWN : retire(r, err);
        code = code < 0 && is_late(code) ? late(r, false, code, "", err) : code;
        code = code < 0 ? code : wait_for(r, err);
        if (code < 0 || cli_interrupted()) {
            return stop_here(r, err);
        }
    }
    return 0;
}

/* Which instances are meant. */
static int find(struct restart *r, int32_t index, struct err *err)
{
    Models__DesiredLRP **lrps;
    size_t count;
    int code = session_named(r->s, r->name, &lrps, &count, err);
    if (code < 0) {
        return code;
    }
    if (count > 1) {
        return name_ambiguous(r->name, lrps, count, err);
    }
    r->lrp = lrps[0];
    if (index >= r->lrp->instances) {
        return name_no_index(r->name, index, r->lrp->instances, err);
    }
    r->first = index < 0 ? 0 : index;
    r->end = index < 0 ? r->lrp->instances : index + 1;
    return r->end > 0 ? 0
                      : session_line(r->s, r->name, r->lrp->process_guid,
                                     "has no instances: nothing is restarted", err);
}

int bbs_restart_run(const struct invocation *call, struct err *err)
{
    struct session s;
    struct restart r = {.s = &s};
    int32_t index = -1;
    int code = cli_target(call, &r.name, &index, err);
    if (code < 0) {
        return code;
    }
    code = session_open(call, &s, err);
    code = code < 0 ? code : find(&r, index, err);
    code = code < 0 ? code : restart_all(&r, err);
    if (code < 0 && s.json && !cli_interrupted()) {
        session_count(&s, call->arguments[0], code, err);
        code = s.status;
    }
    session_close(&s);
    return code;
}
