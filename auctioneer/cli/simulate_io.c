/* simulate: cells and work from files or from the live board, and what an auction would make of
 * them. */
#include "auctioneer/cli/commands_io.h"
#include "auctioneer/cli/simulate_text.h"
#include "auctioneer/rules.h"
#include "auctioneer/simulate.h"
#include "auctioneer/wanted.h"
#include "common/appfile/app.h"
#include "common/appfile/app_file_io.h"
#include "common/appfile/task_app.h"
#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/codec/json.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/cells.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <stdlib.h>
#include <string.h>

/* As cli_bbs_options and cli_tls_options, but nothing is required: files may say all. */
const struct cli_option auctioneer_simulate_options[] = {
    {.name = "task", .value = "FILE", .help = "a task file", .repeated = true},
    {.name = "cells", .value = "FILE", .help = "cell states; the live ones by default"},
    {.name = "bbs-url",
     .value = "URLS",
     .help = "the bbs servers, comma-separated",
     .env = "CORKBOARD_BBS_URLS,BBS_URL"},
    {.name = "ca-cert-file",
     .value = "FILE",
     .help = "the CA's certificate",
     .env = "CA_CERT_FILE"},
    {.name = "client-cert-file",
     .value = "FILE",
     .help = "the client's certificate",
     .env = "CLIENT_CERT_FILE"},
    {.name = "client-key-file",
     .value = "FILE",
     .help = "the client's key",
     .env = "CLIENT_KEY_FILE"},
    {.name = "seed",
     .value = "N",
     .help = "of what is drawn between equal cells: the same seed gives the same",
     .fallback = "1"},
    {.name = "timeout", .value = "TIME", .help = CLIENT_TIMEOUT_HELP, .fallback = "10s"},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

/* What the jobs borrow from. */
struct kept_wanted {
    struct kept_wanted *next;
    struct wanted *wanted;
};

struct dry_run {
    const struct invocation *call;
    struct arena *arena;
    bool work_given; /* by files */
    struct kept_wanted *kept;
    struct cli_client *client; /* to a bbs; NULL: files say all */
    int64_t deadline_ms;
    struct why_cell *cells;
    size_t cell_count;
    struct job *jobs;
    size_t job_count;
};

/* ---- Cells ----------------------------------------------------------------------------------- */

static int by_id(const void *left, const void *right)
{
    const struct why_cell *a = left, *b = right;
    return strcmp(a->id, b->id);
}

static int check_cells(struct dry_run *d, struct err *err)
{
    if (d->cell_count > SIMULATE_CELLS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "more than %d cells", SIMULATE_CELLS_MAX);
    }
    qsort(d->cells, d->cell_count, sizeof(*d->cells), by_id);
    for (size_t i = 0; i < d->cell_count; i++) {
        if (!*d->cells[i].id) {
            return err_set(err, ERR_INVALID, "a cell state without cell_id");
        }
        if (d->cells[i].state && d->cells[i].state->failedstarts < 0) {
            return err_set(err, ERR_INVALID, "cell %.64s: %d failed starts are less than none",
                           d->cells[i].id, (int)d->cells[i].state->failedstarts);
        }
        if (i > 0 && by_id(&d->cells[i - 1], &d->cells[i]) == 0) {
            return err_set(err, ERR_INVALID, "cell %.64s is there twice", d->cells[i].id);
        }
    }
    return 0;
}

static struct why_cell cell_of(const Cell__CellState *state)
{
    return (struct why_cell){
        .id = state->cell_id, .state = state, .unusable = state->evacuating ? "evacuating" : NULL};
}

/* As a rep's /state writes them, and as `rep state` does. */
enum { STATES_READ = CODEC_OWN | CODEC_SNAKE_CASE };

/* One object on each line that is not empty, or a list of them. */
static int read_states(struct arena *a, struct bytes text, ProtobufCMessage ***ret_list,
                       size_t *ret_count, struct err *err)
{
    const char *at = arena_strndup(a, (const char *)text.data, text.size);
    size_t lines = 1;
    at += strspn(at, " \t\r\n");
    if (*at == '[') {
        return json_decode_list(a, &cell__cell_state__descriptor, bytes_of(at),
                                STATES_READ, ret_list, ret_count, err);
    }
    for (const char *c = at; *c; c++) {
        lines += *c == '\n';
    }
    ProtobufCMessage **list = ARENA_ARRAY(a, lines, ProtobufCMessage *);
    size_t count = 0;
    for (; *at; at += strspn(at, " \t\r\n")) {
        size_t size = strcspn(at, "\n");
        struct bytes line = {.data = (const uint8_t *)at, .size = size};
        if (json_decode(a, &cell__cell_state__descriptor, line, STATES_READ, &list[count], err) <
            0) {
            return err_prefix(err, "state %zu", count + 1);
        }
        count++;
        at += size;
    }
    *ret_list = list;
    *ret_count = count;
    return 0;
}

static int cells_of_file(struct dry_run *d, const char *file, struct err *err)
{
    struct bytes text;
    ProtobufCMessage **list = NULL;
    int r = app_file_read(d->arena, file, &text, err);
    if (r == 0 && read_states(d->arena, text, &list, &d->cell_count, err) < 0) {
        r = err_prefix(err, "%.100s", file);
    }
    if (r < 0) {
        return r;
    }
    d->cells = ARENA_ARRAY(d->arena, d->cell_count, struct why_cell);
    for (size_t i = 0; i < d->cell_count; i++) {
        d->cells[i] = cell_of((const Cell__CellState *)list[i]);
    }
    return 0;
}

/* What this cell says of itself now; one that does not answer takes part as an unusable one. */
static void ask_cell(struct dry_run *d, const Models__CellPresence *presence,
                     struct why_cell *ret)
{
    struct cli_client *c = NULL;
    struct bytes body;
    struct err err;
    ProtobufCMessage *m = NULL;
    int64_t left_ms = d->deadline_ms - cli_now_ms();
    int r = cli_client_open(d->call, presence->rep_url, &c, &err);
    if (r == 0) {
        cli_client_limit(c, left_ms > 0 ? left_ms : 0);
        r = cli_client_get(c, d->arena, "/state", &body, &err);
    }
    r = r < 0 ? r
              : json_decode(d->arena, &cell__cell_state__descriptor, body, CODEC_OWN, &m, &err);
    cli_client_close(c);
    const Cell__CellState *state = (const Cell__CellState *)m;
    if (r == 0 && strcmp(state->cell_id, presence->cell_id) == 0) {
        *ret = cell_of(state);
        return;
    }
    *ret = (struct why_cell){.id = presence->cell_id,
                             .unusable = r < 0 ? arena_strdup(d->arena, err.text)
                                               : "another cell answers at its address"};
}

static int cells_of_board(struct dry_run *d, struct err *err)
{
    ProtobufCMessage *m;
    int r = cli_client_call(d->client, d->arena, "/v1/cells/list.r1", NULL,
                            &models__cells_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Models__CellsResponse *answer = (const Models__CellsResponse *)m;
    d->cells = ARENA_ARRAY(d->arena, answer->n_cells, struct why_cell);
    for (; d->cell_count < answer->n_cells && !cli_interrupted(); d->cell_count++) {
        ask_cell(d, answer->cells[d->cell_count], &d->cells[d->cell_count]);
    }
    /* Without those that were not heard it would be another cluster. */
    return cli_interrupted() ? err_set(err, ERR_UNKNOWN, "interrupted") : 0;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static int add_job(struct dry_run *d, struct wanted *w, int32_t index, struct err *err)
{
    if (d->job_count == SIMULATE_JOBS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "more than %d instances and tasks", SIMULATE_JOBS_MAX);
    }
    d->jobs[d->job_count++] = wanted_job(w, index);
    return 0;
}

static struct wanted *keep(struct dry_run *d, struct wanted *w)
{
    struct kept_wanted *k = ARENA_NEW(d->arena, struct kept_wanted);
    *k = (struct kept_wanted){.next = d->kept, .wanted = w};
    d->kept = k;
    return w;
}

static int add_instances(struct dry_run *d, const Models__DesiredLRP *lrp, struct err *err)
{
    struct wanted *w = keep(d, wanted_of_lrp(lrp));
    int r = 0;
    for (int32_t i = 0; r == 0 && i < lrp->instances; i++) {
        r = add_job(d, w, i, err);
    }
    return r;
}

/* People know an app by its name. */
static int work_of_app_file(struct dry_run *d, const char *file, struct err *err)
{
    struct bytes text;
    struct app *apps = NULL;
    size_t count = 0;
    int r = app_file_read(d->arena, file, &text, err);
    r = r < 0 ? r : appfile_parse(d->arena, file, text, &apps, &count, err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        apps[i].lrp->process_guid = arena_strdup(d->arena, apps[i].name);
        r = add_instances(d, apps[i].lrp, err);
    }
    return r;
}

static int work_of_task_file(struct dry_run *d, const char *file, struct err *err)
{
    struct bytes text;
    struct task_app app;
    int r = app_file_read(d->arena, file, &text, err);
    r = r < 0 ? r : task_app_parse(d->arena, file, text, &app, err);
    if (r < 0) {
        return r;
    }
    Models__Task task = MODELS__TASK__INIT;
    task.task_definition = app.request->task_definition;
    task.domain = app.request->domain;
    task.task_guid = arena_strdup(d->arena, app.guid_given ? app.request->task_guid : app.name);
    return add_job(d, keep(d, wanted_of_task(&task)), 0, err);
}

static const Models__DesiredLRPSchedulingInfo *
info_of(const Models__DesiredLRPSchedulingInfosResponse *all, const char *process_guid)
{
    for (size_t i = 0; i < all->n_desired_lrp_scheduling_infos; i++) {
        const Models__DesiredLRPSchedulingInfo *info = all->desired_lrp_scheduling_infos[i];
        if (info->desired_lrp_key && info->desired_lrp_resource &&
            strcmp(info->desired_lrp_key->process_guid, process_guid) == 0) {
            return info;
        }
    }
    return NULL;
}

static struct wanted *wanted_of_info(struct arena *a, const Models__DesiredLRPSchedulingInfo *info)
{
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    lrp.process_guid = info->desired_lrp_key->process_guid;
    lrp.domain = info->desired_lrp_key->domain;
    lrp.instances = info->instances;
    lrp.memory_mb = info->desired_lrp_resource->memory_mb;
    lrp.disk_mb = info->desired_lrp_resource->disk_mb;
    lrp.max_pids = info->desired_lrp_resource->max_pids;
    lrp.root_fs = info->desired_lrp_resource->root_fs;
    lrp.n_placementtags = info->n_placementtags;
    lrp.placementtags = info->placementtags;
    const Models__VolumePlacement *volumes = info->volume_placement;
    lrp.volume_mounts =
        ARENA_ARRAY(a, volumes ? volumes->n_driver_names : 0, Models__VolumeMount *);
    for (size_t i = 0; volumes && i < volumes->n_driver_names; i++) {
        Models__VolumeMount *mount = arena_message(a, &models__volume_mount__descriptor);
        mount->driver = volumes->driver_names[i];
        lrp.volume_mounts[lrp.n_volume_mounts++] = mount;
    }
    return wanted_of_lrp(&lrp);
}

/* What the auctioneer would take up: UNCLAIMED, ORDINARY, desired (backlog.h). */
static bool awaits_placement(const Models__ActualLRP *lrp)
{
    return lrp->actual_lrp_key && strcmp(lrp->state, "UNCLAIMED") == 0 &&
           lrp->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
}

static int instances_of_board(struct dry_run *d, struct err *err)
{
    Models__ActualLRPsRequest actuals = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    Models__DesiredLRPsRequest desired = MODELS__DESIRED_LRPS_REQUEST__INIT;
    ProtobufCMessage *records = NULL, *infos = NULL;
    int r = cli_client_call(d->client, d->arena, "/v1/actual_lrps/list", &actuals.base,
                            &models__actual_lrps_response__descriptor, &records, err);
    r = r < 0 ? r
              : cli_client_call(d->client, d->arena, "/v1/desired_lrp_scheduling_infos/list",
                                &desired.base,
                                &models__desired_lrpscheduling_infos_response__descriptor, &infos,
                                err);
    const Models__ActualLRPsResponse *all = (const Models__ActualLRPsResponse *)records;
    struct wanted *w = NULL; /* those of a process follow each other */
    for (size_t i = 0; r == 0 && i < all->n_actual_lrps; i++) {
        const Models__ActualLRP *lrp = all->actual_lrps[i];
        if (!awaits_placement(lrp)) {
            continue;
        }
        const Models__ActualLRPKey *key = lrp->actual_lrp_key;
        if (!w || strcmp(w->guid, key->process_guid) != 0) {
            const Models__DesiredLRPSchedulingInfo *info =
                info_of((const Models__DesiredLRPSchedulingInfosResponse *)infos,
                        key->process_guid);
            w = info ? keep(d, wanted_of_info(d->arena, info)) : NULL;
        }
        if (w && key->index < w->instances) {
            r = add_job(d, w, key->index, err);
        }
    }
    return r;
}

static int tasks_of_board(struct dry_run *d, struct err *err)
{
    Models__TasksRequest request = MODELS__TASKS_REQUEST__INIT;
    ProtobufCMessage *m = NULL;
    int r = cli_client_call(d->client, d->arena, "/v1/tasks/list.r3", &request.base,
                            &models__tasks_response__descriptor, &m, err);
    const Models__TasksResponse *all = (const Models__TasksResponse *)m;
    for (size_t i = 0; r == 0 && i < all->n_tasks; i++) {
        if (all->tasks[i]->state == MODELS__TASK__STATE__Pending) {
            r = add_job(d, keep(d, wanted_of_task(all->tasks[i])), 0, err);
        }
    }
    return r;
}

static int by_name(const void *left, const void *right)
{
    const struct job *a = left, *b = right;
    int order = (int)a->kind - (int)b->kind;
    order = order ? order : strcmp(a->guid, b->guid);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int check_jobs(struct dry_run *d, struct err *err)
{
    qsort(d->jobs, d->job_count, sizeof(*d->jobs), by_name);
    for (size_t i = 1; i < d->job_count; i++) {
        if (by_name(&d->jobs[i - 1], &d->jobs[i]) == 0) {
            return err_set(err, ERR_INVALID, "%.100s is there twice", d->jobs[i].guid);
        }
    }
    return 0;
}

static int gather_work(struct dry_run *d, struct err *err)
{
    const char *const *tasks = cli_list(d->call, "task");
    int r = 0;
    d->jobs = ARENA_ARRAY(d->arena, SIMULATE_JOBS_MAX, struct job);
    for (size_t i = 0; r == 0 && i < d->call->argument_count; i++) {
        r = work_of_app_file(d, d->call->arguments[i], err);
    }
    for (; r == 0 && tasks && *tasks; tasks++) {
        r = work_of_task_file(d, *tasks, err);
    }
    if (!d->work_given && r == 0) {
        r = instances_of_board(d, err);
        r = r < 0 ? r : tasks_of_board(d, err);
    }
    return r < 0 ? r : check_jobs(d, err);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int open_board(struct dry_run *d, struct err *err)
{
    static const char *const needed[] = {"bbs-url", "ca-cert-file", "client-cert-file",
                                         "client-key-file"};
    bool work = d->work_given;
    if (cli_text(d->call, "cells") && work) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (!cli_text(d->call, needed[i])) {
            return err_set(err, ERR_INVALID,
                           "--%s is needed to ask the board for its %s; or give %s", needed[i],
                           work ? "cells" : "work", work ? "--cells FILE" : "FILE or --task FILE");
        }
    }
    int r = cli_client_open(d->call, cli_text(d->call, "bbs-url"), &d->client, err);
    if (r == 0) {
        cli_client_limit(d->client, d->deadline_ms - cli_now_ms());
    }
    return r;
}

static int show(struct arena *a, const Auction__Simulation *s, bool json, struct err *err)
{
    SCOPED_BUF(out);
    int r = 0;
    if (json) {
        r = json_encode(&s->base, CODEC_OWN | CODEC_SNAKE_CASE, &out, err);
        buf_append_string(&out, "\n");
    } else {
        simulate_text(a, s, &out);
    }
    r = r < 0 ? r : cli_print(buf_bytes(&out), err);
    return r < 0 ? r : s->refused > 0 ? CLI_PARTLY_PLACED : 0;
}

int auctioneer_simulate_run(const struct invocation *call, struct err *err)
{
    struct dry_run d = {.call = call, .arena = call->arena};
    struct auctioneer_config config = {0};
    struct schedule_rules rules;
    Auction__Simulation s;
    int64_t limit_ms = 0, seed = 0;
    const char *output = "table", *file = cli_text(call, "cells");
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_number(call, "seed", 0, INT64_MAX, &seed, err);
    r = r < 0 ? r : auctioneer_rules(call, &config, err);
    r = r < 0 ? r : rules_init(d.arena, &config, &rules, err);
    const char *const *tasks = cli_list(call, "task");
    d.work_given = call->argument_count > 0 || (tasks && *tasks);
    d.deadline_ms = cli_now_ms() + limit_ms;
    r = r < 0 ? r : open_board(&d, err);
    r = r < 0 ? r : gather_work(&d, err);
    r = r < 0 ? r : file ? cells_of_file(&d, file, err) : cells_of_board(&d, err);
    r = r < 0 ? r : check_cells(&d, err);
    cli_client_close(d.client);
    if (r == 0) {
        struct simulate_input in = {.rules = &rules,
                                    .cells = d.cells,
                                    .cell_count = d.cell_count,
                                    .jobs = d.jobs,
                                    .job_count = d.job_count,
                                    .seed = (uint64_t)seed};
        simulate(d.arena, &in, &s);
        r = show(d.arena, &s, strcmp(output, "json") == 0, err);
    }
    for (; d.kept; d.kept = d.kept->next) {
        wanted_unref(d.kept->wanted);
    }
    return r;
}
