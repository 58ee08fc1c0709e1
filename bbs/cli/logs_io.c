/* bbs logs: finds the cells by the board and reads what containers wrote from their reps. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "bbs/cli/task_calls_io.h"
#include "bbs/cli/tasks.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"
#include "models/cells.pb-c.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOURCES_MAX = 64,   /* followed at once, each by a thread of its own */
    SILENCE_MS = INT32_MAX, /* a container may write nothing for days */
    STACK_BYTES = 256 * 1024,
    RETRY_MS = 500,
    RESUME_MS = 30 * 1000, /* for a cell that went silent while it was followed */
};

const struct cli_option bbs_logs_options[] = {
    {.name = "follow", .letter = 'f', .help = "go on as they write, until they end or Ctrl-C"},
    {.name = "lines", .value = "N", .help = "the last so many of each; 0 = only what comes",
     .fallback = "100"},
    {.name = "stream", .value = "stdout|stderr", .help = "only this one of both"},
    {.name = "previous", .help = "of the last one before, which has ended and is kept for an hour"},
    {.name = "task", .help = "NAME is a task, or its guid"},
    {0},
};

/* One container whose output is wanted. */
struct source {
    const char *label; /* before each line when there are several */
    const char *cell_id, *url, *guid;
};

struct logs {
    struct session *s;
    const struct invocation *call;
    Models__CellPresence **cells;
    size_t cell_count;
    struct source sources[SOURCES_MAX];
    size_t count;
    const char *anywhere; /* guid of a task that is over: any cell may have it; else NULL */
    const char *query;
    bool follow;
};

/* ---- Where it is ---- */

static int get_cells(struct logs *l, struct err *err)
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

static const char *url_of(const struct logs *l, const char *cell_id)
{
    for (size_t i = 0; i < l->cell_count; i++) {
        if (strcmp(l->cells[i]->cell_id, cell_id) == 0) {
            return l->cells[i]->rep_url;
        }
    }
    return NULL;
}

static int add_source(struct logs *l, const char *label, const char *cell_id, const char *guid,
                      struct err *err)
{
    const char *url = url_of(l, cell_id);
    if (!url) {
        return err_set(err, ERR_UNAVAILABLE, "%.60s was on cell %.60s, which is not present", label,
                       cell_id);
    }
    if (l->count == SOURCES_MAX) {
        return err_set(err, ERR_TOO_LARGE, "more than %d instances; give an index", SOURCES_MAX);
    }
    l->sources[l->count++] =
        (struct source){.label = label, .cell_id = cell_id, .url = url, .guid = guid};
    return 0;
}

/* The newest kept one of an index on this cell, but for `present`; NULL when there is none. */
static const char *newest_kept(struct logs *l, const char *url, const char *path,
                               const char *present, json_int_t *ret_at)
{
    struct cli_client *c = NULL;
    struct bytes body = {0};
    struct err err;
    const char *found = NULL;
    int r = cli_client_open(l->call, url, &c, &err);
    if (r == 0) {
        cli_client_limit(c, l->s->timeout_ms);
        r = cli_client_get(c, &l->s->arena, path, &body, &err);
    }
    cli_client_close(c);
    if (r < 0) {
        fprintf(stderr, "bbs: not asked: %s\n", err.text); /* the others may have it */
        return NULL;
    }
    json_t *list = json_loadb((const char *)body.data, body.size, 0, NULL);
    for (size_t i = 0; i < json_array_size(list) && !found; i++) {
        const json_t *one = json_array_get(list, i);
        const char *guid = json_string_value(json_object_get(one, "instance_guid"));
        if (guid && strcmp(guid, present) != 0) {
            found = arena_strdup(&l->s->arena, guid);
            *ret_at = json_integer_value(json_object_get(one, "removed_at"));
        }
    }
    json_decref(list);
    return found;
}

/* An ended one may have been on any cell. */
static int add_previous(struct logs *l, const char *label, const char *process_guid, int32_t index,
                        const char *present, struct err *err)
{
    struct arena *a = &l->s->arena;
    const char *path = arena_printf(a, "/v1/logs?process_guid=%s&index=%d",
                                    cli_escaped(a, process_guid), (int)index);
    const char *guid = NULL, *cell = NULL;
    json_int_t newest = -1, at = 0;
    for (size_t i = 0; i < l->cell_count; i++) {
        const char *found = newest_kept(l, l->cells[i]->rep_url, path, present, &at);
        if (found && at > newest) {
            newest = at;
            guid = found;
            cell = l->cells[i]->cell_id;
        }
    }
    return guid ? add_source(l, label, cell, guid, err) : 0;
}

static int add_actual(struct logs *l, const char *name, const Models__ActualLRP *r,
                      struct err *err)
{
    const Models__ActualLRPInstanceKey *at = r->actual_lrp_instance_key;
    const Models__ActualLRPKey *key = r->actual_lrp_key;
    const char *label = arena_printf(&l->s->arena, "%s/%d", name, (int)key->index);
    const char *guid = at ? at->instance_guid : "";
    if (cli_switch(l->call, "previous")) {
        return r->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY
                   ? add_previous(l, label, key->process_guid, key->index, guid, err)
                   : 0;
    }
    return *guid ? add_source(l, label, at->cell_id, guid, err) : 0;
}

static int by_index(const void *left, const void *right)
{
    const Models__ActualLRP *a = *(Models__ActualLRP *const *)left;
    const Models__ActualLRP *b = *(Models__ActualLRP *const *)right;
    int32_t x = a->actual_lrp_key ? a->actual_lrp_key->index : 0;
    int32_t y = b->actual_lrp_key ? b->actual_lrp_key->index : 0;
    return x != y ? (x < y ? -1 : 1) : (int)a->presence - (int)b->presence;
}

static int find_instances(struct logs *l, const Models__DesiredLRP *lrp, int32_t index,
                          struct err *err)
{
    Models__ActualLRP **actuals;
    size_t count;
    int r = session_actuals(l->s, &l->s->arena, lrp->process_guid, &actuals, &count, err);
    if (r == 0 && count > 0) {
        qsort(actuals, count, sizeof(*actuals), by_index);
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        if (actuals[i]->actual_lrp_key && (index < 0 || actuals[i]->actual_lrp_key->index == index)) {
            r = add_actual(l, lrp_name(lrp), actuals[i], err);
        }
    }
    return r;
}

static int nothing_found(const struct logs *l, const char *name, int32_t index, struct err *err)
{
    const char *at = index < 0 ? "" : arena_printf(&l->s->arena, "/%d", (int)index);
    return cli_switch(l->call, "previous")
               ? err_set(err, ERR_NOT_FOUND,
                         "of %.60s%s nothing is kept: the last 3 of an index are, for an hour",
                         name, at)
               : err_set(err, ERR_NOT_FOUND,
                         "%.60s%s has no container now; bbs logs %.60s --previous shows what the "
                         "last one wrote, bbs why %.60s says why",
                         name, at, name, name);
}

/* An app that was removed has no name any more, but what it wrote may be kept. */
static int find_app(struct logs *l, int32_t index, struct err *err)
{
    Models__DesiredLRP **lrps = NULL;
    size_t count = 0;
    const char *name = l->call->arguments[0];
    int r = session_named(l->s, name, &lrps, &count, err);
    const Models__DesiredLRP *left = r == -ERR_NOT_FOUND ? session_left(l->s, name) : NULL;
    if (left) {
        r = find_instances(l, left, index, err);
    } else if (r == -ERR_NOT_FOUND && cli_switch(l->call, "previous")) {
        int32_t one = index < 0 ? 0 : index;
        r = add_previous(l, arena_printf(&l->s->arena, "%s/%d", name, (int)one), name, one, "",
                         err);
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = find_instances(l, lrps[i], index, err);
    }
    return r == 0 && l->count == 0 ? nothing_found(l, name, index, err) : r;
}

/* A task that is over is on no cell any more: then all of them are asked. */
static int find_task(struct logs *l, struct err *err)
{
    Models__Task *task = NULL;
    const char *name = l->call->arguments[0];
    int r = session_task(l->s, name, &task, err);
    if (r < 0 && r != -ERR_NOT_FOUND) {
        return r;
    }
    const char *guid = task ? task->task_guid : name;
    if (task && *task->cell_id) {
        return add_source(l, name, task->cell_id, guid, err);
    }
    if (task && task->state == MODELS__TASK__STATE__Pending) {
        return err_set(err, ERR_NOT_FOUND, "%.60s waits for a cell: bbs why --task %.60s", name,
                       guid);
    }
    l->anywhere = guid;
    return 0;
}

/* ---- Reading ---- */

struct reader {
    struct logs *logs;
    const struct source *source;
    pthread_mutex_t *printing;
    struct buf line; /* the begin of one, when lines are labelled or JSON */
    size_t taken; /* bytes so far */
    struct err err;
    int result;
};

static void add_line(const struct reader *r, struct bytes line, struct buf *out)
{
    if (!r->logs->s->json) {
        buf_printf(out, "%s ", r->source->label);
        buf_append(out, line.data, line.size);
        return;
    }
    buf_append_string(out, "{\"instance\":");
    json_string_text(bytes_of(r->source->label), out);
    buf_append_string(out, ",\"instance_guid\":");
    json_string_text(bytes_of(r->source->guid), out);
    buf_append_string(out, ",\"line\":");
    json_string_text((struct bytes){line.data, line.size - 1}, out);
    buf_append_string(out, "}\n");
}

static int print_labelled(struct reader *r, struct bytes bytes)
{
    struct buf out;
    buf_init(&out);
    buf_append(&r->line, bytes.data, bytes.size);
    const uint8_t *end;
    while (r->line.size && (end = memchr(r->line.data, '\n', r->line.size))) {
        size_t size = (size_t)(end - r->line.data) + 1;
        add_line(r, (struct bytes){r->line.data, size}, &out);
        buf_consume(&r->line, size);
    }
    pthread_mutex_lock(r->printing);
    int result = out.size ? cli_print(buf_bytes(&out), &r->err) : 0;
    pthread_mutex_unlock(r->printing);
    buf_done(&out);
    return result;
}

static int take(void *owner, struct bytes bytes)
{
    struct reader *r = owner;
    r->taken += bytes.size;
    if (r->logs->s->json || (r->logs->count > 1 && !cli_switch(r->logs->call, "task"))) {
        return print_labelled(r, bytes);
    }
    return cli_print(bytes, &r->err);
}

static void read_once(struct reader *r, struct cli_client *c, const char *query)
{
    char path[640];
    snprintf(path, sizeof(path), "/v1/logs/%.400s%s", r->source->guid, query);
    r->result = cli_client_get_stream(c, path, SILENCE_MS, take, r, &r->err);
}

/* A rep that was restarted is followed on: its container runs on. What was written meanwhile is in
 * its files only. */
static void read_on(struct reader *r, struct cli_client *c)
{
    int64_t lost_ms = cli_now_ms();
    const char *query = strchr(r->logs->query, '&'); /* without lines, which stands first */
    char again[128];
    snprintf(again, sizeof(again), "?lines=0%s", query ? query : "");
    pthread_mutex_lock(r->printing);
    fprintf(stderr, "bbs: %s: its cell does not answer; trying on, lines may be missing\n",
            r->source->label);
    pthread_mutex_unlock(r->printing);
    while (r->result == -ERR_UNAVAILABLE && !cli_interrupted() &&
           cli_now_ms() - lost_ms < RESUME_MS) {
        size_t taken = r->taken;
        cli_sleep_ms(RETRY_MS);
        read_once(r, c, again);
        lost_ms = r->taken > taken || cli_client_answered(c) ? cli_now_ms() : lost_ms;
    }
}

static void read_one(struct reader *r)
{
    struct logs *l = r->logs;
    struct cli_client *c = NULL;
    r->err = (struct err){.code = ERR_IO, .text = ""};
    buf_init(&r->line);
    r->result = cli_client_open(l->call, r->source->url, &c, &r->err);
    if (r->result == 0) {
        cli_client_limit(c, l->follow && !l->anywhere ? -1 : l->s->timeout_ms);
        read_once(r, c, l->query);
    }
    if (l->follow && r->result == -ERR_UNAVAILABLE && cli_client_answered(c)) {
        read_on(r, c);
    }
    cli_client_close(c);
    buf_done(&r->line);
}

static void *run_reader(void *reader)
{
    read_one(reader);
    return NULL;
}

static void follow_all(struct reader *readers, size_t count)
{
    pthread_t threads[SOURCES_MAX];
    pthread_attr_t attributes;
    bool begun[SOURCES_MAX];
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (size_t i = 0; i < count; i++) {
        begun[i] = pthread_create(&threads[i], &attributes, run_reader, &readers[i]) == 0;
        if (!begun[i]) {
            readers[i].result = err_set(&readers[i].err, ERR_IO, "cannot begin one more thread");
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (begun[i]) {
            pthread_join(threads[i], NULL);
        }
    }
    pthread_attr_destroy(&attributes);
}

static int not_kept(const struct logs *l, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no output of a task \"%.60s\" is kept; bbs tasks shows all",
                   l->call->arguments[0]);
}

/* The worst of all, after each was told. */
static int judge(struct logs *l, struct reader *readers, struct err *err)
{
    int result = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (readers[i].result < 0) {
            result = err_set(err, (enum err_code)-readers[i].result, "%.60s on %.60s: %.150s",
                             readers[i].source->label, readers[i].source->cell_id,
                             readers[i].err.text);
            if (l->count > 1 && i + 1 < l->count && !cli_interrupted()) {
                fprintf(stderr, "bbs: %s\n", err->text);
            }
        }
    }
    if (cli_switch(l->call, "task") && result == -ERR_NOT_FOUND) {
        result = not_kept(l, err);
    }
    return cli_interrupted() ? err_set(err, ERR_UNKNOWN, "interrupted") : result;
}

/* Cell after cell until one has it. One that does not answer may have had it, so this is what is
 * told when none has. */
static int read_anywhere(struct logs *l, struct err *err)
{
    pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
    struct err kept;
    int worst = 0;
    l->count = 1;
    for (size_t i = 0; i < l->cell_count && !cli_interrupted(); i++) {
        const Models__CellPresence *cell = l->cells[i];
        struct reader one = {.logs = l, .source = &l->sources[0], .printing = &printing};
        l->sources[0] = (struct source){.label = l->call->arguments[0],
                                        .cell_id = cell->cell_id,
                                        .url = cell->rep_url,
                                        .guid = l->anywhere};
        read_one(&one);
        int r = judge(l, &one, err);
        if (r == 0 || one.taken > 0) {
            return r;
        }
        if (r != -ERR_NOT_FOUND) {
            worst = r;
            kept = *err;
        }
    }
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted");
    }
    if (worst < 0) {
        *err = kept;
        return worst;
    }
    return not_kept(l, err);
}

static int read_all(struct logs *l, struct err *err)
{
    struct reader readers[SOURCES_MAX];
    pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
    for (size_t i = 0; i < l->count; i++) {
        readers[i] =
            (struct reader){.logs = l, .source = &l->sources[i], .printing = &printing};
    }
    if (l->follow && l->count > 1) {
        follow_all(readers, l->count);
    } else {
        for (size_t i = 0; i < l->count && !cli_interrupted(); i++) {
            read_one(&readers[i]);
        }
    }
    return judge(l, readers, err);
}

/* ---- The command ---- */

static int make_query(struct logs *l, struct err *err)
{
    int64_t lines = 0;
    const char *stream = NULL;
    int r = cli_number(l->call, "lines", 0, 1000000, &lines, err);
    r = r < 0 ? r : cli_choice(l->call, "stream", &stream, err);
    l->follow = cli_switch(l->call, "follow") && !cli_switch(l->call, "previous");
    l->query = arena_printf(&l->s->arena, "?lines=%lld%s%s%s", (long long)lines,
                            l->follow ? "&follow=1" : "", stream ? "&stream=" : "",
                            stream ? stream : "");
    return r;
}

int bbs_logs_run(const struct invocation *call, struct err *err)
{
    struct session s;
    struct logs l = {.s = &s, .call = call};
    int32_t index = -1;
    int r = session_open(call, &s, err);
    r = r < 0 ? r : cli_index(call, 1, &index, err);
    r = r < 0 ? r : make_query(&l, err);
    r = r < 0 ? r : get_cells(&l, err);
    if (r == 0) {
        r = cli_switch(call, "task") ? find_task(&l, err) : find_app(&l, index, err);
    }
    r = r < 0 ? r : l.anywhere ? read_anywhere(&l, err) : read_all(&l, err);
    session_close(&s);
    return r;
}
