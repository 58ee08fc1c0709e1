/* Targets: what the command line makes of what it is told: the feed as lines, answers as tables and
 * sentences, words of users. */
#include "bbs/cli/cells.h"
#include "bbs/cli/events.h"
#include "bbs/cli/lrps.h"
#include "bbs/cli/tasks.h"
#include "bbs/cli/why.h"
#include "common/cli/options.h"
#include "common/cli/state_text.h"
#include "common/codec/scan.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "rep/cli/state_table.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

enum { DECODED_MAX = 4 * 1024 * 1024, LINES_BYTES_MAX = 16 * 1024 * 1024 };

#define NOW_NS (INT64_C(1767225600) * 1000 * 1000 * 1000)

/* Nothing in it can play with a terminal. */
static void require_tame(const struct buf *out)
{
    for (size_t i = 0; i < out->size; i++) {
        FUZZ_REQUIRE(out->data[i] == '\n' || out->data[i] >= ' ');
    }
}

/* ---- `bbs events` ---------------------------------------------------------------------------- */

/* In pieces of whatever size: lines come out, or it is told to be no feed. */
void fuzz_output(struct bytes in)
{
    struct events e;
    struct err err = {0};
    uint8_t words = fuzz_byte(&in);
    events_init(&e, words & 1);
    e.show_secrets = words & 2;
    while (in.size > 0) {
        size_t size = 1 + (size_t)fuzz_byte(&in) * 4;
        size = size < in.size ? size : in.size;
        if (events_take(&e, (struct bytes){in.data, size}, &err) < 0) {
            FUZZ_REQUIRE(err.text[0]);
            events_connect(&e, words & 4);
        }
        in = (struct bytes){in.data + size, in.size - size};
        FUZZ_REQUIRE(e.frames.partial.size <= FRAME_MAX + 16);
        FUZZ_REQUIRE(e.out.size == 0 || e.out.data[e.out.size - 1] == '\n');
        FUZZ_REQUIRE(e.out.size <= LINES_BYTES_MAX);
        require_tame(&e.out);
        buf_clear(&e.out);
    }
    events_done(&e);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const void *answer(struct arena *a, const ProtobufCMessageDescriptor *type, struct bytes *in)
{
    ProtobufCMessage *m;
    return scan_and_unpack(a, type, fuzz_piece(in), DECODED_MAX, &m, NULL) == 0 ? m : NULL;
}

static void show_tasks(struct arena *a, const Models__TasksResponse *r, struct buf *out)
{
    tasks_table(a, r->tasks, r->n_tasks, NOW_NS, false, out);
    require_tame(out);
    for (size_t i = 0; i < r->n_tasks; i++) {
        Models__Task **found;
        struct task_selection named = {.name = task_name(r->tasks[i])};
        FUZZ_REQUIRE(tasks_selected(a, r->tasks, r->n_tasks, &named, &found) > 0);
        task_text(a, r->tasks[i], NOW_NS, out);
        task_outcome_text(a, named.name, r->tasks[i], out);
        task_progress_text(a, named.name, r->tasks[i]);
    }
}

static void show_lrps(struct arena *a, const Models__DesiredLRPsResponse *lrps,
                      const Models__ActualLRPsResponse *actuals, const struct why_facts *facts,
                      struct buf *out)
{
    ps_table(a, lrps->desired_lrps, lrps->n_desired_lrps, actuals->actual_lrps,
             actuals->n_actual_lrps, facts->cells, NOW_NS, false, out);
    require_tame(out);
    for (size_t i = 0; i < lrps->n_desired_lrps; i++) {
        const Models__DesiredLRP *lrp = lrps->desired_lrps[i];
        Models__DesiredLRP **found;
        struct lrp_progress progress;
        struct why why;
        FUZZ_REQUIRE(
            lrps_named(a, lrps->desired_lrps, lrps->n_desired_lrps, lrp_name(lrp), &found));
        lrp_progress_of(lrp->instances, actuals->actual_lrps, actuals->n_actual_lrps, &progress);
        lrp_progress_text(a, lrp_name(lrp), &progress);
        why_instance(a, facts, lrp, lrp->process_guid, 0, actuals->actual_lrps,
                     actuals->n_actual_lrps, &why);
        FUZZ_REQUIRE(why.count <= WHY_LINES_MAX);
        why_print(&why, (struct bytes){0}, i & 1, out);
    }
}

/* One piece each for the answers that a command reads together. */
void fuzz_tables(struct bytes in)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(out);
    const Board__CellsStatus *cells = answer(&a, &board__cells_status__descriptor, &in);
    const Models__DesiredLRPsResponse *lrps =
        answer(&a, &models__desired_lrps_response__descriptor, &in);
    const Models__ActualLRPsResponse *actuals =
        answer(&a, &models__actual_lrps_response__descriptor, &in);
    const Models__TasksResponse *tasks = answer(&a, &models__tasks_response__descriptor, &in);
    const Cell__CellState *state = answer(&a, &cell__cell_state__descriptor, &in);
    const Cell__CellMetrics *metrics = answer(&a, &cell__cell_metrics__descriptor, &in);
    struct why_facts facts = {
        .cells = cells, .now_ns = NOW_NS, .settings = &SETTINGS_DEFAULT};
    if (cells) {
        cells_table(&a, cells, NOW_NS, &out);
        require_tame(&out);
    }
    if (cells && lrps && actuals) {
        show_lrps(&a, lrps, actuals, &facts, &out);
    }
    if (cells && tasks && tasks->n_tasks) {
        struct why why;
        show_tasks(&a, tasks, &out);
        why_task(&a, &facts, tasks->tasks[0], &why);
        why_print(&why, in, false, &out);
    }
    buf_clear(&out);
    if (state) {
        rep_state_table(&a, state, &out);
        rep_containers_table(&a, state, 0, &out);
    }
    if (metrics) {
        rep_metrics_table(&a, metrics, &out);
    }
    require_tame(&out);
    buf_clear(&out);
    if (cli_state_text(in, false, &out, NULL) == 0) {
        require_tame(&out);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

static int nothing(const struct invocation *call, struct err *err)
{
    (void)call, (void)err;
    return 0;
}

/* A command line of the input's words, for a program with an option of each kind. */
void fuzz_options(struct bytes in)
{
    static const struct cli_option options[] = {
        {.name = "wait", .help = "", .letter = 'w'},
        {.name = "timeout", .value = "TIME", .help = "", .fallback = "5m"},
        {.name = "number", .value = "N", .help = "", .env = "NUMBER,OTHER"},
        {.name = "part", .value = "X", .help = ""},
        {.name = "tag", .value = "TAG", .help = "", .repeated = true},
        {.name = "output", .value = "table|json", .help = "", .fallback = "table"},
        {.name = "bbs", .value = "URL", .help = "", .required = true},
        {.name = NULL},
    };
    static const struct cli_option *const tables[] = {options, NULL};
    static const struct cli_command commands[] = {
        {.name = "apply", .arguments = "FILE...", .summary = "", .options = tables,
         .arguments_min = 1, .arguments_max = CLI_ARGUMENTS_MAX, .run = nothing},
        {.name = "cells", .arguments = "", .summary = "", .options = tables, .run = nothing},
        {.name = NULL},
    };
    static const struct cli_program program = {"bbs", "", commands};
    enum { WORDS_MAX = 64 };
    char *argv[WORDS_MAX + 2] = {(char *)(size_t) "bbs"}, *env[WORDS_MAX + 1] = {NULL};
    int argc = 1, env_count = 0;
    SCOPED_ARENA(a);
    struct invocation call;
    struct err err = {0};
    while (in.size > 0 && argc <= WORDS_MAX && env_count < WORDS_MAX) {
        bool to_env = fuzz_byte(&in) >= 240;
        char *word = (char *)(size_t)fuzz_text(&a, &in);
        *(to_env ? &env[env_count++] : &argv[argc++]) = word;
    }
    if (cli_parse(&a, &program, argc, argv, &call, &err) < 0) {
        FUZZ_REQUIRE(err.text[0]);
    } else if (call.command && cli_complete(&call, env, &err) == 0) {
        int64_t number = 7, ms = 7;
        double part = 0.5;
        const char *word = NULL;
        FUZZ_REQUIRE(cli_number(&call, "number", 3, 1000, &number, NULL) < 0 ||
                     (number >= 3 && number <= 1000));
        FUZZ_REQUIRE(cli_decimal(&call, "part", 0.25, 4, &part, NULL) < 0 ||
                     (part >= 0.25 && part <= 4));
        FUZZ_REQUIRE(cli_duration_ms(&call, "timeout", &ms, NULL) < 0 ||
                     (ms >= 0 && ms <= 24 * 3600 * 1000));
        FUZZ_REQUIRE(cli_choice(&call, "output", &word, NULL) < 0 || strcmp(word, "table") == 0 ||
                     strcmp(word, "json") == 0);
        FUZZ_REQUIRE(cli_text(&call, "bbs"));
    }
}
