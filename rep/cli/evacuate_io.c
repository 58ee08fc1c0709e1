/* rep evacuate: begins an evacuation at a rep's admin listener and waits for its end. */
#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/codec/json.h"
#include "rep/cli/commands_io.h"

#include "board.pb-c.h"
#include "cell.pb-c.h"

#include <stdio.h>
#include <string.h>

enum { POLL_MS = 200, NOT_EMPTY = 1, CELL_ID_BYTES = 256 };

const struct cli_option rep_evacuate_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the rep's admin URL, to be used on its own machine (bbs cells shows it)",
     .env = "REP_ADMIN_URL",
     .required = true},
    {.name = "timeout", .value = "TIME", .help = "how long to wait for its end", .fallback = "11m"},
    {.name = "bbs-url",
     .value = "URLS",
     .help =
         "bbs servers to ask, at the end, whether the cell has left the board; without them an end "
         "with nothing left at the last look is all that is known",
     .env = "CORKBOARD_BBS_URLS,BBS_URL"},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

struct evacuation_watch {
    const struct invocation *call;
    struct cli_client *rep;
    int64_t until_ms;
    char cell_id[CELL_ID_BYTES]; /* "" = not known yet; then nothing below is known */
    size_t left;                 /* instances, tasks and units, as it last said */
    size_t units;                /* of these, units, which nobody moves */
    bool evacuates;
};

/* Answers in the arena, which is of this look alone. */
static int look_into(struct evacuation_watch *w, struct arena *a, struct err *err)
{
    struct bytes body;
    ProtobufCMessage *m;
    cli_client_limit(w->rep, w->until_ms - cli_now_ms());
    int r = cli_client_get(w->rep, a, "/state", &body, err);
    r = r < 0 ? r : json_decode(a, &cell__cell_state__descriptor, body, CODEC_OWN, &m, err);
    if (r == 0) {
        const Cell__CellState *s = (const Cell__CellState *)m;
        snprintf(w->cell_id, sizeof(w->cell_id), "%s", s->cell_id);
        w->units = s->n_units;
        w->left = s->n_lrps + s->n_tasks + s->n_units;
        w->evacuates = s->evacuating;
    }
    return r;
}

static int look(struct evacuation_watch *w, struct err *err)
{
    SCOPED_ARENA(a);
    return look_into(w, &a, err);
}

/* It answered 503: it has no incarnation, or its driver does not list. */
static bool not_ready(int r, const struct err *why)
{
    return r == -ERR_UNAVAILABLE && strstr(why->text, "not ready") != NULL;
}

/* 0 once nobody answers any more: it has ended, in whatever way. */
static int wait_for_end(struct evacuation_watch *w, struct err *err)
{
    struct err why = {.text = ""};
    size_t shown = SIZE_MAX;
    while (cli_now_ms() < w->until_ms) {
        int r = look(w, &why);
        if (r == -ERR_UNAVAILABLE && !not_ready(r, &why)) {
            return 0;
        }
        if (r == 0 && !w->evacuates) {
            return err_set(err, ERR_CONFLICT,
                           "the rep of %.60s was started again and does not "
                           "evacuate",
                           w->cell_id);
        }
        if (r == 0 && w->left != shown) {
            shown = w->left;
            fprintf(stderr, "%s: %zu left\n", w->cell_id, shown);
        }
        if (cli_interrupted()) {
            return err_set(err, ERR_UNKNOWN, "interrupted; the evacuation goes on");
        }
        cli_sleep_ms(POLL_MS);
    }
    return w->cell_id[0] ? err_set(err, ERR_TIMEOUT, "%.60s still has %zu; the evacuation goes on",
                                   w->cell_id, w->left)
                         : err_set(err, ERR_TIMEOUT, "it still begins; the evacuation goes on");
}

static bool lists(const Board__CellsStatus *cells, const char *cell_id)
{
    for (size_t i = 0; i < cells->n_cells; i++) {
        if (strcmp(cells->cells[i]->presence->cell_id, cell_id) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether it ended well, by the board's word. */
static int ask_board(const struct evacuation_watch *w, const char *urls, struct err *err)
{
    struct cli_client *board = NULL;
    ProtobufCMessage *m;
    int r = cli_client_open(w->call, urls, &board, err);
    if (r == 0) {
        cli_client_limit(board, 10000);
        r = cli_client_call(board, w->call->arena, "/v1/board/cells", NULL,
                            &board__cells_status__descriptor, &m, err);
    }
    if (r == 0 && lists((const Board__CellsStatus *)m, w->cell_id)) {
        fprintf(stderr,
                "rep: %s has ended, and is still on the board; the evacuation goes on when its rep "
                "is started again\n",
                w->cell_id);
        r = NOT_EMPTY;
    }
    cli_client_close(board);
    return r;
}

/* "cell-1 is empty", {"cell_id":"cell-1","result":"empty"} */
static int tell(const struct evacuation_watch *w, const char *result, const char *text,
                struct err *err)
{
    SCOPED_BUF(out);
    if (strcmp(cli_text(w->call, "output"), "json") == 0) {
        buf_append_string(&out, "{\"cell_id\":");
        json_string_text(bytes_of(w->cell_id), &out);
        buf_printf(&out, ",\"result\":\"%s\"}\n", result);
    } else {
        buf_printf(&out, "%s %s\n", w->cell_id, text);
    }
    return cli_print(buf_bytes(&out), err);
}

/* Without a bbs' word an end is only as good as the last look before it: the rep may have died. */
static int judge_end(const struct evacuation_watch *w, const char *urls, struct err *err)
{
    if (!w->cell_id[0]) {
        fprintf(stderr, "rep: it no longer answers; what was left there is not known\n");
        return NOT_EMPTY;
    }
    if (w->units > 0) {
        fprintf(stderr,
                "rep: %s has ended; %zu units stay with their machine, and run again with the next "
                "rep of it; bbs units destroy-unit UNIT --force ends one for good\n",
                w->cell_id, w->units);
        return NOT_EMPTY;
    }
    if (urls) {
        int r = ask_board(w, urls, err);
        return r != 0 ? r : tell(w, "empty", "is empty", err);
    }
    if (w->left > 0) {
        fprintf(stderr, "rep: %s no longer answers; %zu were left (--bbs-url shows more)\n",
                w->cell_id, w->left);
        return NOT_EMPTY;
    }
    return tell(w, "ended", "has ended (not checked with a bbs)", err);
}

/* The rep says so when its successor would not know of it. */
static int begin(struct evacuation_watch *w, struct err *err)
{
    struct bytes body;
    ProtobufCMessage *m;
    int r = cli_client_post(w->rep, w->call->arena, "/evacuate", &body, err);
    r = r < 0 ? r
              : json_decode(w->call->arena, &cell__evacuation_begun__descriptor, body, CODEC_OWN,
                            &m, err);
    if (r == 0 && ((const Cell__EvacuationBegun *)m)->warning[0]) {
        fprintf(stderr, "rep: warning: %s\n", ((const Cell__EvacuationBegun *)m)->warning);
    }
    return r;
}

int rep_evacuate_run(const struct invocation *call, struct err *err)
{
    struct evacuation_watch w = {.call = call};
    const char *output = NULL;
    int64_t limit_ms = 0;
    int r = cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_choice(call, "output", &output, err);
    r = r < 0 ? r : cli_client_open(call, cli_text(call, "url"), &w.rep, err);
    if (r == 0) {
        w.until_ms = cli_now_ms() + limit_ms;
        r = look(&w, err);
        r = not_ready(r, err) ? 0
                              : r; /* it can begin nevertheless, and resumes with its incarnation */
        r = r < 0 ? r : begin(&w, err);
        r = r < 0 ? r : wait_for_end(&w, err);
    }
    cli_client_close(w.rep);
    return r == 0 ? judge_end(&w, cli_text(call, "bbs-url"), err) : r;
}
