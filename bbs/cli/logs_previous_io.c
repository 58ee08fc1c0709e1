/* bbs logs --previous: asks the cells what they keep of containers that were removed. Any cell may:
 * the definition, the index or the app that they were of may not be there any more. */
#include "bbs/cli/logs_io.h"
#include "common/base/query.h"
#include "common/cli/cli_io.h"

#include <stdio.h>

/* What one cell said. */
struct cell_logs {
    struct arena arena;
    struct log_source cell;
    struct log_source *sources;
    size_t count;
    bool asked;
    int result;
    struct err err;
};

struct asking {
    struct logs *logs;
    const char *name, *path;
    int32_t index;
    int64_t until_ms; /* half of the time: what they keep is to be read then */
    struct cell_logs *answers; /* one for each cell */
    pthread_mutex_t lock;
    size_t next;
};

static void ask(struct asking *g, struct cell_logs *one)
{
    struct logs *l = g->logs;
    struct cli_client *c = NULL;
    struct bytes body = {0};
    one->asked = true;
    one->result = cli_client_open(l->call, one->cell.url, &c, &one->err);
    if (one->result == 0) {
        int64_t left_ms = g->until_ms - cli_now_ms();
        cli_client_limit(c, left_ms > 0 ? left_ms : 0);
        one->result = cli_client_get(c, &one->arena, g->path, &body, &one->err);
    }
    cli_client_close(c);
    if (one->result == 0) {
        one->result = logs_kept(&one->arena, body, g->name, g->index, &one->cell, &one->sources,
                                &one->count, &one->err);
    }
}

static void *ask_on(void *asking)
{
    struct asking *g = asking;
    while (!cli_interrupted()) {
        pthread_mutex_lock(&g->lock);
        size_t i = g->next++;
        pthread_mutex_unlock(&g->lock);
        if (i >= g->logs->cell_count) {
            break;
        }
        ask(g, &g->answers[i]);
    }
    return NULL;
}

static void ask_all(struct asking *g)
{
    pthread_t threads[LOGS_ASKED_MAX];
    pthread_attr_t attributes;
    size_t begun = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, LOGS_STACK_BYTES);
    while (begun < LOGS_ASKED_MAX && begun + 1 < g->logs->cell_count &&
           pthread_create(&threads[begun], &attributes, ask_on, g) == 0) {
        begun++;
    }
    ask_on(g); /* this thread, too */
    while (begun > 0) {
        pthread_join(threads[--begun], NULL);
    }
    pthread_attr_destroy(&attributes);
}

/* Which cells did not answer, as "cell-1, cell-2"; the first reason in *ret_why. */
static const char *silent_ones(struct asking *g, size_t *ret_count, const char **ret_why)
{
    struct arena *a = &g->logs->s->arena;
    const char *names = "";
    for (size_t i = 0; i < g->logs->cell_count; i++) {
        const struct cell_logs *one = &g->answers[i];
        if (one->asked && one->result == 0) {
            continue;
        }
        const char *why = one->asked ? one->err.text : "there was no time left to ask it";
        *ret_why = *ret_count ? *ret_why : arena_strdup(a, why);
        if (*ret_count < 8) {
            names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", one->cell.cell_id);
        }
        ++*ret_count;
    }
    return *ret_count > 8 ? arena_printf(a, "%s and %zu more", names, *ret_count - 8) : names;
}

static size_t collect(struct asking *g, struct log_source **ret_all)
{
    struct arena *a = &g->logs->s->arena;
    size_t total = 0;
    for (size_t i = 0; i < g->logs->cell_count; i++) {
        total += g->answers[i].count;
    }
    struct log_source *all = ARENA_ARRAY(a, total, struct log_source);
    size_t at = 0;
    for (size_t i = 0; i < g->logs->cell_count; i++) {
        for (size_t k = 0; k < g->answers[i].count; k++) {
            all[at] = g->answers[i].sources[k];
            all[at].label = arena_strdup(a, all[at].label);
            all[at].process_guid = arena_strdup(a, all[at].process_guid);
            all[at].instance_guid = arena_strdup(a, all[at].instance_guid);
            at++;
        }
    }
    *ret_all = all;
    return total;
}

/* Cells that are not PRESENT are not among those that are asked; NULL = there are none, or nobody
 * knows. */
static const char *unheard(struct logs *l)
{
    const Board__CellsStatus *cells;
    return session_cells(l->s, &cells, NULL) < 0 ? NULL : unheard_cells_text(&l->s->arena, cells);
}

/* `lost`: what is said of cells that are not heard, or NULL. */
static int nothing_kept(struct asking *g, const char *silent, size_t silent_count, const char *why,
                        const char *lost, struct err *err)
{
    const char *at = g->index < 0 ? "" : arena_printf(&g->logs->s->arena, "/%d", (int)g->index);
    if (lost) {
        return err_set(err, ERR_UNAVAILABLE,
                       "of %.60s%s nothing is kept on the cells that answered; %.120s, and may "
                       "keep it",
                       g->name, at, lost);
    }
    if (silent_count > 0) {
        return err_set(err, ERR_UNAVAILABLE,
                       "of %.60s%s nothing is kept on the cells that answered; no answer from "
                       "%.60s: %.60s",
                       g->name, at, silent, why);
    }
    return err_set(err, ERR_NOT_FOUND,
                   "of %.60s%s nothing is kept: the last 3 of an index are, for an hour", g->name,
                   at);
}

static int add_newest(struct asking *g, struct err *err)
{
    struct logs *l = g->logs;
    struct log_source *all;
    size_t silent_count = 0;
    const char *why = "", *silent = silent_ones(g, &silent_count, &why);
    size_t count = collect(g, &all);
    count = logs_newest(&l->s->arena, all, count);
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted");
    }
    const char *lost = unheard(l);
    if (count == 0) {
        return nothing_kept(g, silent, silent_count, why, lost, err);
    }
    if (lost) {
        fprintf(stderr, "bbs: %s, and may keep more\n", lost);
    }
    if (silent_count > 0) {
        fprintf(stderr, "bbs: no answer from %s, which may keep more: %s\n", silent, why);
    }
    if (count > LOGS_FOLLOWED_MAX) {
        fprintf(stderr, "bbs: the newest %d of %zu; give an index for others\n", LOGS_FOLLOWED_MAX,
                count);
        count = LOGS_FOLLOWED_MAX;
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = logs_add(l, all[i], err);
    }
    return r;
}

int logs_add_previous(struct logs *l, const char *name, int32_t index, struct err *err)
{
    struct arena *a = &l->s->arena;
    struct asking g = {
        .logs = l,
        .name = name,
        .path = arena_printf(a, "/v1/logs?process_guid_prefix=%s",
                             percent_encoded(a, name_guid_prefix(a, name))),
        .index = index,
        .until_ms = cli_now_ms() + session_left_ms(l->s) / 2,
        .answers = ARENA_ARRAY(a, l->cell_count, struct cell_logs),
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    for (size_t i = 0; i < l->cell_count; i++) {
        arena_init(&g.answers[i].arena);
        g.answers[i].cell =
            (struct log_source){.cell_id = l->cells[i]->cell_id, .url = l->cells[i]->rep_url};
    }
    ask_all(&g);
    int r = add_newest(&g, err);
    for (size_t i = 0; i < l->cell_count; i++) {
        arena_done(&g.answers[i].arena);
    }
    return r;
}
