/* bbs logs: finds by the board where the containers are whose output is wanted, and has it read. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/logs_io.h"
#include "bbs/cli/systems_io.h"
#include "common/base/query.h"
#include "common/base/time_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_option bbs_logs_options[] = {
    {.name = "follow",
     .letter = 'f',
     .help = "go on as they write, until the app is removed, the "
             "task is over, or Ctrl-C"},
    {.name = "lines",
     .value = "N",
     .help = "the last so many of each; 0 = only what comes; 100 unless --tail or --since is said"},
    {.name = "tail", .value = "N", .help = "the last so many of stdout and stderr together"},
    {.name = "since",
     .value = "T",
     .help = "only lines from then on: a time in UTC (2026-01-02T03:04:05Z), or how long "
             "ago (10m)"},
    {.name = "source", .value = "S", .help = "only lines of this source: APP/WEB"},
    {.name = "stream", .value = "stdout|stderr", .help = "only this one of both"},
    {.name = "previous",
     .help = "of those that have ended, the newest of each index of each definition, past ones "
             "too; kept for an hour"},
    {.name = "times",
     .letter = 't',
     .help = "when the cell read each line (UTC); - for one of an earlier version"},
    {.name = "raw",
     .help = "give a terminal their control characters, too; else those are shown as \\u001b"},
    {.name = "task", .help = "NAME is a task, or its guid"},
    {0},
};

int logs_get_cells(struct logs *l, struct err *err)
{
    ProtobufCMessage *m;
    int r = cli_client_call(l->s->client, &l->s->arena, "/v1/cells/list.r1", NULL,
                            &models__cells_response__descriptor, &m, err);
    if (r == 0) {
        l->cells = ((const Models__CellsResponse *)m)->cells;
        l->cell_count = ((const Models__CellsResponse *)m)->n_cells;
    }
    return r;
}

/* ---- Of an app ---- */

static int by_index(const void *left, const void *right)
{
    const Models__ActualLRP *a = *(Models__ActualLRP *const *)left;
    const Models__ActualLRP *b = *(Models__ActualLRP *const *)right;
    int32_t x = a->actual_lrp_key ? a->actual_lrp_key->index : 0;
    int32_t y = b->actual_lrp_key ? b->actual_lrp_key->index : 0;
    return x != y ? (x < y ? -1 : 1) : (int)a->presence - (int)b->presence;
}

/* Those with a container, in the order of their indices. */
static int add_process(struct logs *l, const char *name, const char *process_guid, int32_t index,
                       struct err *err)
{
    Models__ActualLRP **actuals;
    size_t count;
    int r = session_actuals(l->s, &l->s->arena, process_guid, &actuals, &count, err);
    if (r == 0 && count > 0) {
        qsort(actuals, count, sizeof(*actuals), by_index);
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        const Models__ActualLRPKey *key = actuals[i]->actual_lrp_key;
        const Models__ActualLRPInstanceKey *at = actuals[i]->actual_lrp_instance_key;
        if (key && at && *at->instance_guid && (index < 0 || key->index == index)) {
            struct log_source one = {.process_guid = key->process_guid,
                                     .instance_guid = at->instance_guid,
                                     .cell_id = at->cell_id,
                                     .index = key->index};
            one.label = arena_printf(&l->s->arena, "%s/%d", name, (int)key->index);
            r = logs_add(l, one, err);
        }
    }
    return r;
}

/* `desired`: instances of all definitions together, or of the largest; -1 = nobody knows. */
static int no_container(const struct logs *l, int32_t index, int32_t desired, struct err *err)
{
    const char *what = name_text(&l->s->arena, l->name, index);
    if (desired >= 0 && index >= desired) {
        return err_set(
            err, ERR_NOT_FOUND,
            "there is no %.70s: %.60s has %d instance%s; bbs logs %.70s --previous shows "
            "what an earlier one wrote",
            what, l->name, (int)desired, desired == 1 ? "" : "s", what);
    }
    return err_set(err, ERR_NOT_FOUND,
                   "%.70s has no container now; bbs logs %.70s --previous shows what the last one "
                   "wrote, bbs why %.70s says why",
                   what, what, what);
}

/* The definitions of the app, and what is left of a process that is not desired any more. */
static int find_definitions(struct logs *l, const char *name, Models__DesiredLRP ***ret_lrps,
                            size_t *ret_count, struct err *err)
{
    int r = session_named(l->s, name, ret_lrps, ret_count, err);
    Models__DesiredLRP *left = r == -ERR_NOT_FOUND ? session_left(l->s, name) : NULL;
    bool task = l->s->names_task && !left; /* of which nothing previous is kept */
    if (left) {
        *ret_lrps = arena_copy(&l->s->arena, &left, sizeof(left));
        *ret_count = 1;
        return 0;
    }
    if (r == -ERR_NOT_FOUND && !task) {
        struct err inner = *err;
        return logs_no_process(name, inner.text, err);
    }
    return r;
}

/* Whether another one of them is called as the i-th is. */
static bool has_namesake(Models__DesiredLRP *const *lrps, size_t count, size_t i)
{
    bool has = false;
    for (size_t k = 0; k < count; k++) {
        has = has || (k != i && strcmp(lrp_name(lrps[k]), lrp_name(lrps[i])) == 0);
    }
    return has;
}

/* What is seen of a system later on is known by its name with a path alone. */
static const char *whole_system(struct logs *l, const char *name)
{
    return strchr(name, ':') ? name : name_of_part(&l->s->arena, name, "/");
}

static int show_app(struct logs *l, int32_t index, struct err *err)
{
    Models__DesiredLRP **lrps = NULL;
    size_t count = 0;
    const char *name = l->name;
    int32_t desired = -1;
    int r = find_definitions(l, name, &lrps, &count, err);
    bool several = false;
    for (size_t i = 0; r == 0 && i < count; i++) {
        const char *called = lrp_name(lrps[i]);
        bool namesake = has_namesake(lrps, count, i);
        const char *label = namesake ? lrps[i]->process_guid : called;
        several = several || namesake;
        r = add_process(l, label, lrps[i]->process_guid, index, err);
        desired = lrps[i]->instances > desired ? lrps[i]->instances : desired;
    }
    if (r < 0 && !(l->follow && r == -ERR_UNAVAILABLE)) {
        return r;
    }
    if (count > 0 && !name_of_guid(&l->s->arena, name, lrps[0]->process_guid)) {
        name = whole_system(l, name);
    }
    if (l->follow) { /* what was found now has only shown that it is not too much */
        return logs_follow(l, name, index, several, err);
    }
    return l->count ? logs_read_all(l, err) : no_container(l, index, desired, err);
}

static int show_previous(struct logs *l, int32_t index, struct err *err)
{
    bool system = false;
    int r = session_means_system(l->s, l->name, &system, err);
    l->name = r == 0 && system ? whole_system(l, l->name) : l->name;
    r = r < 0 ? r : logs_add_previous(l, l->name, index, err);
    return r < 0 ? r : logs_read_all(l, err);
}

/* ---- The command ---- */

/* What is asked of the rep beside the number of lines. */
static int read_choice(struct logs *l, struct err *err)
{
    const struct invocation *call = l->call;
    struct arena *a = &l->s->arena;
    const char *since = cli_text(call, "since"), *source = cli_text(call, "source");
    int64_t ns;
    if (since && !wall_parse(since, &ns) && !duration_parse(since, &ns)) {
        return err_set(err, ERR_INVALID,
                       "--since must be a time in UTC (2026-01-02T03:04:05Z) or how long ago "
                       "(10m), not \"%.40s\"",
                       since);
    }
    l->lines = since || cli_text(call, "tail") ? -1 : LOGS_LINES;
    l->choice = arena_printf(a, "%s%s%s%s%s", since ? "&since=" : "",
                             since ? percent_encoded(a, since) : "", source ? "&source=" : "",
                             source ? percent_encoded(a, source) : "",
                             cli_switch(call, "times") ? "&times=1" : "");
    return 0;
}

int logs_options_read(struct logs *l, struct err *err)
{
    const struct invocation *call = l->call;
    int r = read_choice(l, err);
    r = r < 0 ? r : cli_number(call, "lines", 0, 1000000, &l->lines, err);
    r = r < 0 ? r : cli_number(call, "tail", 1, 1000000, &l->tail, err);
    r = r < 0 ? r : cli_choice(call, "stream", &l->stream, err);
    l->follow = cli_switch(call, "follow");
    l->times = cli_switch(call, "times");
    l->terminal = isatty(STDOUT_FILENO) && !cli_switch(call, "raw");
    if (r == 0 && l->tail > 0 && cli_text(call, "lines")) {
        r = err_set(err, ERR_INVALID, "--lines is of each stream, --tail of both: not both");
    }
    return r;
}

static int read_options(struct logs *l, struct err *err)
{
    int r = logs_options_read(l, err);
    bool previous = cli_switch(l->call, "previous");
    if (r == 0 && previous && l->follow) {
        r = err_set(err, ERR_INVALID, "what has ended writes no more: --previous or -f, not both");
    } else if (r == 0 && previous && cli_switch(l->call, "task")) {
        r = err_set(err, ERR_INVALID, "a task runs once: --previous is of an app");
    }
    return r;
}

/* Of a job of a system the task of its newest run is meant; of all else the name stays. */
static int find_job(struct logs *l, bool *ret_task, struct err *err)
{
    const char *system, *path, *guid = NULL;
    *ret_task = cli_switch(l->call, "task");
    if (*ret_task || !name_is_part(&l->s->arena, l->name, &system, &path)) {
        return 0;
    }
    int r = session_newest_run(l->s, system, path, &guid, err);
    bool previous = cli_switch(l->call, "previous");
    if (previous && guid) {
        return err_set(err, ERR_INVALID,
                       "a job runs once: --previous is of a service; bbs jobs %.63s lists the runs "
                       "of %.100s",
                       system, path);
    }
    if (previous && r == -ERR_NOT_FOUND) {
        return 0; /* what a system wrote is kept for longer than it is there */
    }
    *ret_task = r == 0 && guid;
    l->name = *ret_task ? guid : l->name;
    return r;
}

int bbs_logs_run(const struct invocation *call, struct err *err)
{
    struct session s;
    struct logs l = {.s = &s, .call = call};
    int32_t index = -1;
    int r = session_open(call, &s, err);
    r = r < 0 ? r : cli_target(call, &l.name, &index, err);
    r = r < 0 ? r : read_options(&l, err);
    bool task = false;
    r = r < 0 ? r : find_job(&l, &task, err);
    r = r < 0 ? r : logs_get_cells(&l, err);
    if (r == 0) {
        r = task                           ? logs_task(&l, err)
            : cli_switch(call, "previous") ? show_previous(&l, index, err)
                                           : show_app(&l, index, err);
    }
    session_close(&s);
    return r;
}
