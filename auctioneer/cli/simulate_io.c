/* simulate: cells and work from files or from the live board, and what an auction would make of
 * them. */
#include "auctioneer/cli/commands_io.h"
#include "auctioneer/cli/message_list_io.h"
#include "auctioneer/cli/simulate_cells.h"
#include "auctioneer/cli/simulate_text.h"
#include "auctioneer/rules.h"
#include "auctioneer/simulate.h"
#include "auctioneer/wanted.h"
#include "common/appfile/app.h"
#include "common/appfile/app_file_io.h"
#include "common/appfile/task_app.h"
#include "common/charmfile/charm.h"
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
    {.name = "charm", .value = "FILE", .help = "a charm, whose units are placed", .repeated = true},
    {.name = "units",
     .value = "N",
     .help = "of each charm so many",
     .fallback = "1",
     .letter = 'n'},
    {.name = "to", .value = "MACHINE", .help = "the machine that the unit is to be on"},
    {.name = "unused", .help = "units go to machines that never had one"},
    {.name = "pool", .value = "NAME", .help = "the node pool that all of the files is for"},
    {.name = "cells", .value = "FILE", .help = "cell states; the live ones by default"},
    {.name = "pools", .value = "FILE", .help = "with --cells: which node pool has which cell"},
    {.name = "machines", .value = "FILE", .help = "with --cells: which machine each cell is"},
    {.name = "slices", .value = "FILE", .help = "with --cells: the slices, and what runs in them"},
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
    const char *pool; /* its tag, which what the files say bears; NULL = of none */
    struct machine_wish wish;
    int64_t units; /* of each charm */
    const Board__SliceRecord **slices;
    size_t slice_count;
    const Board__UnitsStatus *board_units; /* as the board has them; NULL: not asked */
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

static int cells_of_file(struct dry_run *d, const char *file, struct err *err)
{
    struct message_list l = {.type = &cell__cell_state__descriptor, .noun = "state"};
    int r = message_list_read(d->arena, file, &l, err);
    d->cells = ARENA_ARRAY(d->arena, l.count, struct why_cell);
    for (; r == 0 && d->cell_count < l.count; d->cell_count++) {
        d->cells[d->cell_count] = cell_of((const Cell__CellState *)l.list[d->cell_count]);
    }
    return r < 0 ? r : check_cells(d, err);
}

static int slices_of_file(struct dry_run *d, const char *file, struct err *err)
{
    struct message_list l = {.type = &board__slice_record__descriptor, .noun = "slice"};
    int r = message_list_read(d->arena, file, &l, err);
    d->slices = (const Board__SliceRecord **)(void *)l.list;
    d->slice_count = r < 0 ? 0 : l.count;
    return r;
}

/* What the board would say of the cells. */
static int sights_of_files(struct dry_run *d, struct err *err)
{
    const char *pools = cli_text(d->call, "pools"), *machines = cli_text(d->call, "machines"),
               *slices = cli_text(d->call, "slices");
    struct message_list p = {.type = &board__cell_status__descriptor, .noun = "cell"};
    struct message_list m = {.type = &board__machine_entry__descriptor, .noun = "machine"};
    int r = pools ? message_list_read(d->arena, pools, &p, err) : 0;
    r = r < 0 || !machines ? r : message_list_read(d->arena, machines, &m, err);
    r = r < 0 || !slices ? r : slices_of_file(d, slices, err);
    if (r == 0) {
        simulate_pools(d->arena, d->cells, d->cell_count, (Board__CellStatus **)(void *)p.list,
                       p.count);
        simulate_machines(d->cells, d->cell_count, (Board__MachineEntry **)(void *)m.list, m.count);
    }
    return r;
}

/* What this cell says of itself now; one that does not answer takes part as an unusable one. */
static void ask_cell(struct dry_run *d, const Models__CellPresence *presence, struct why_cell *ret)
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
    r = r < 0 ? r : json_decode(d->arena, &cell__cell_state__descriptor, body, CODEC_OWN, &m, &err);
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

/* One that is lost is not asked, as no auctioneer relies on it. */
static void see_cell(struct dry_run *d, const Board__CellStatus *status, struct why_cell *ret)
{
    if (strcmp(status->state, "LOST") == 0) {
        *ret = (struct why_cell){.id = status->presence->cell_id, .unusable = "it is lost"};
    } else {
        ask_cell(d, status->presence, ret);
    }
}

static int ask_board(struct dry_run *d, const char *path, const ProtobufCMessage *request,
                     const ProtobufCMessageDescriptor *type, ProtobufCMessage **ret,
                     struct err *err)
{
    return cli_client_call(d->client, d->arena, path, request, type, ret, err);
}

/* All units and machines. */
static int units_of_board(struct dry_run *d, struct err *err)
{
    Board__UnitsStatusRequest request = BOARD__UNITS_STATUS_REQUEST__INIT;
    ProtobufCMessage *m = NULL;
    int r =
        ask_board(d, "/v1/units/status", &request.base, &board__units_status__descriptor, &m, err);
    d->board_units = (const Board__UnitsStatus *)m;
    return r;
}

static int slices_of_board(struct dry_run *d, struct err *err)
{
    ProtobufCMessage *m = NULL;
    int r =
        ask_board(d, "/v1/board/slices/list", NULL, &board__slices_response__descriptor, &m, err);
    const Board__SlicesResponse *answer = (const Board__SlicesResponse *)m;
    d->slices = r < 0 ? NULL : (const Board__SliceRecord **)(void *)answer->slices;
    d->slice_count = r < 0 ? 0 : answer->n_slices;
    return r;
}

static int cells_of_board(struct dry_run *d, struct err *err)
{
    ProtobufCMessage *m = NULL;
    int r = ask_board(d, "/v1/board/cells", NULL, &board__cells_status__descriptor, &m, err);
    r = r < 0 ? r : units_of_board(d, err);
    r = r < 0 ? r : slices_of_board(d, err);
    if (r < 0) {
        return r;
    }
    const Board__CellsStatus *answer = (const Board__CellsStatus *)m;
    d->cells = ARENA_ARRAY(d->arena, answer->n_cells, struct why_cell);
    for (; d->cell_count < answer->n_cells && !cli_interrupted(); d->cell_count++) {
        see_cell(d, answer->cells[d->cell_count], &d->cells[d->cell_count]);
    }
    /* Without those that were not heard it would be another cluster. */
    r = cli_interrupted() ? err_set(err, ERR_UNKNOWN, "interrupted") : check_cells(d, err);
    if (r == 0) {
        simulate_pools(d->arena, d->cells, d->cell_count, answer->cells, answer->n_cells);
        simulate_machines(d->cells, d->cell_count, d->board_units->machines,
                          d->board_units->n_machines);
    }
    return r;
}

static int gather_cells(struct dry_run *d, struct err *err)
{
    const char *file = cli_text(d->call, "cells"), *pool = cli_text(d->call, "pool");
    int r = file ? cells_of_file(d, file, err) : cells_of_board(d, err);
    r = r < 0 || !file ? r : sights_of_files(d, err);
    return r < 0 || !pool
               ? r
               : simulate_pool_tag(d->arena, d->cells, d->cell_count, pool, &d->pool, err);
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

/* With the tag of --pool beside what it asks for itself. */
static void pool_tags(struct dry_run *d, char ***tags, size_t *count)
{
    if (d->pool) {
        char **more = ARENA_ARRAY(d->arena, *count + 1, char *);
        for (size_t i = 0; i < *count; i++) {
            more[i] = (*tags)[i];
        }
        more[(*count)++] = arena_strdup(d->arena, d->pool);
        *tags = more;
    }
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
        pool_tags(d, &apps[i].lrp->placementtags, &apps[i].lrp->n_placementtags);
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
    pool_tags(d, &app.request->task_definition->placement_tags,
              &app.request->task_definition->n_placement_tags);
    task.task_definition = app.request->task_definition;
    task.domain = app.request->domain;
    task.task_guid = arena_strdup(d->arena, app.guid_given ? app.request->task_guid : app.name);
    return add_job(d, keep(d, wanted_of_task(&task)), 0, err);
}

static int add_unit(struct dry_run *d, const Board__UnitRecord *unit, struct err *err)
{
    return add_job(d, keep(d, wanted_of_unit(unit, 0)), wanted_unit_index(unit->number), err);
}

/* Of the units that the service has already, the new ones keep away as they would. */
static int work_of_charm_file(struct dry_run *d, const char *file, struct err *err)
{
    struct bytes text;
    struct charm charm;
    int r = app_file_read(d->arena, file, &text, err);
    r = r < 0 ? r : charm_parse(d->arena, file, text, &charm, err);
    if (r < 0) {
        return r;
    }
    if (charm.subordinate) {
        return err_set(err, ERR_INVALID,
                       "%.100s: %.63s is subordinate: its units come with those that it is related "
                       "to, where these are",
                       file, charm.name);
    }
    struct simulated_service s = simulate_service(d->arena, d->cells, d->cell_count, charm.name);
    Board__UnitRecord unit = BOARD__UNIT_RECORD__INIT;
    unit.service = arena_strdup(d->arena, charm.name);
    unit.service_guid = arena_strdup(d->arena, s.guid);
    unit.needs = charm_needs(d->arena, charm.container, NULL, 0);
    unit.needs->on_machine = d->wish.only;
    unit.needs->machine = d->wish.number;
    unit.needs->unused = d->wish.unused;
    for (int64_t i = 0; r == 0 && i < d->units; i++) {
        unit.number = s.next + (uint32_t)i;
        r = add_unit(d, &unit, err);
    }
    return r;
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
              : cli_client_call(
                    d->client, d->arena, "/v1/desired_lrp_scheduling_infos/list", &desired.base,
                    &models__desired_lrpscheduling_infos_response__descriptor, &infos, err);
    const Models__ActualLRPsResponse *all = (const Models__ActualLRPsResponse *)records;
    struct wanted *w = NULL; /* those of a process follow each other */
    for (size_t i = 0; r == 0 && i < all->n_actual_lrps; i++) {
        const Models__ActualLRP *lrp = all->actual_lrps[i];
        if (!awaits_placement(lrp)) {
            continue;
        }
        const Models__ActualLRPKey *key = lrp->actual_lrp_key;
        if (!w || strcmp(w->guid, key->process_guid) != 0) {
            const Models__DesiredLRPSchedulingInfo *info = info_of(
                (const Models__DesiredLRPSchedulingInfosResponse *)infos, key->process_guid);
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

/* As waiting_unit.c has it. */
static int waiting_units_of_board(struct dry_run *d, struct err *err)
{
    int r = d->board_units ? 0 : units_of_board(d, err);
    for (size_t i = 0; r == 0 && i < d->board_units->n_services; i++) {
        const Board__UnitServiceEntry *service = d->board_units->services[i];
        for (size_t k = 0; r == 0 && k < service->n_units; k++) {
            const Board__UnitRecord *unit = service->units[k]->unit;
            if (unit && strcmp(unit->place, "unassigned") == 0 && !*unit->principal) {
                r = add_unit(d, unit, err);
            }
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
            const char *unit = d->jobs[i].unit;
            return err_set(err, ERR_INVALID, "%.100s is there twice",
                           unit && *unit ? unit : d->jobs[i].guid);
        }
    }
    return 0;
}

static int gather_work(struct dry_run *d, struct err *err)
{
    const char *const *tasks = cli_list(d->call, "task"), *const *charms =
                                                              cli_list(d->call, "charm");
    int r = 0;
    d->jobs = ARENA_ARRAY(d->arena, SIMULATE_JOBS_MAX, struct job);
    for (size_t i = 0; r == 0 && i < d->call->argument_count; i++) {
        r = work_of_app_file(d, d->call->arguments[i], err);
    }
    for (; r == 0 && tasks && *tasks; tasks++) {
        r = work_of_task_file(d, *tasks, err);
    }
    for (; r == 0 && charms && *charms; charms++) {
        r = work_of_charm_file(d, *charms, err);
    }
    if (!d->work_given && r == 0) {
        r = instances_of_board(d, err);
        r = r < 0 ? r : tasks_of_board(d, err);
        r = r < 0 ? r : waiting_units_of_board(d, err);
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
                           work ? "cells" : "work",
                           work ? "--cells FILE" : "FILE, --task FILE or --charm FILE");
        }
    }
    int r = cli_client_open(d->call, cli_text(d->call, "bbs-url"), &d->client, err);
    if (r == 0) {
        cli_client_limit(d->client, d->deadline_ms - cli_now_ms());
    }
    return r;
}

static bool is_listed(const struct invocation *call, const char *name)
{
    const char *const *list = cli_list(call, name);
    return list && *list;
}

/* What the options say of the work, and whether they go together. */
static int read_wishes(struct dry_run *d, struct err *err)
{
    const struct invocation *call = d->call;
    int64_t to = 0;
    bool charms = is_listed(call, "charm"), board = cli_text(call, "cells") == NULL;
    d->wish.only = cli_text(call, "to") != NULL;
    d->wish.unused = cli_switch(call, "unused");
    d->work_given = call->argument_count > 0 || is_listed(call, "task") || charms;
    int r = cli_number(call, "units", 1, SIMULATE_JOBS_MAX, &d->units, err);
    r = r < 0 ? r : cli_number(call, "to", 0, UINT32_MAX, &to, err);
    d->wish.number = (uint32_t)to;
    if (r < 0) {
        return r;
    }
    if (!charms && (d->wish.only || d->wish.unused || cli_typed(call, "units"))) {
        return err_set(err, ERR_INVALID, "--units, --to and --unused are of --charm FILE");
    }
    if (d->wish.only && d->wish.unused) {
        return err_set(err, ERR_INVALID,
                       "--to names a machine, and --unused wants one that never had a unit: give "
                       "one of them");
    }
    if (d->wish.only && d->units > 1) {
        return err_set(err, ERR_INVALID,
                       "--to is for one unit, not %d: leave out --units, or the machine",
                       (int)d->units);
    }
    if (cli_text(call, "pool") && charms) {
        return err_set(
            err, ERR_INVALID,
            "--pool is for apps and tasks: no unit of a --charm goes to a cell of a node "
            "pool");
    }
    if (cli_text(call, "pool") && !d->work_given) {
        return err_set(err, ERR_INVALID,
                       "--pool is for the work of files: what waits on the board says its own");
    }
    if (board &&
        (cli_text(call, "pools") || cli_text(call, "machines") || cli_text(call, "slices"))) {
        return err_set(err, ERR_INVALID,
                       "--pools, --machines and --slices go with --cells FILE: of live cells the "
                       "board says it");
    }
    return 0;
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
    const char *output = "table";
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_number(call, "seed", 0, INT64_MAX, &seed, err);
    r = r < 0 ? r : auctioneer_rules(call, &config, err);
    r = r < 0 ? r : rules_init(d.arena, &config, &rules, err);
    r = r < 0 ? r : read_wishes(&d, err);
    d.deadline_ms = cli_now_ms() + limit_ms;
    r = r < 0 ? r : open_board(&d, err);
    r = r < 0 ? r : gather_cells(&d, err);
    r = r < 0 ? r : gather_work(&d, err);
    cli_client_close(d.client);
    if (r == 0) {
        struct simulate_input in = {.rules = &rules,
                                    .cells = d.cells,
                                    .cell_count = d.cell_count,
                                    .jobs = d.jobs,
                                    .job_count = d.job_count,
                                    .slices = d.slices,
                                    .slice_count = d.slice_count,
                                    .seed = (uint64_t)seed};
        simulate(d.arena, &in, &s);
        r = show(d.arena, &s, strcmp(output, "json") == 0, err);
    }
    for (; d.kept; d.kept = d.kept->next) {
        wanted_unref(d.kept->wanted);
    }
    return r;
}
