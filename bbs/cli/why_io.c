/* bbs why. */
#include "bbs/cli/why.h"

#include "bbs/cli/leader_io.h"
#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "bbs/cli/settings.h"
#include "bbs/cli/systems_io.h"
#include "bbs/cli/task_calls_io.h"
#include "common/base/query.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"
#include "models/domain.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASK_MS = 2000,           /* a cell is worth a short wait */
    INSTANCES_SHOWN_MAX = 50 /* when no index is given; those that are well are left out then */
};

const struct cli_option bbs_why_options[] = {
    {.name = "task", .help = "NAME is a task, or its guid"},
    {0},
};

struct why_asker {
    struct session *s;
    const struct invocation *call;
    const char *name;
    struct why_facts facts;
    char **domains;
    size_t domain_count;
    struct leader_asker auctioneer;
    const char *asked_cell;       /* the last that was asked for checks; NULL = none */
    const Cell__CellState *asked; /* its answer; NULL = none */
};

/* An older bbs knows none: all goes by the defaults. */
static const struct settings *get_settings(struct why_asker *q)
{
    ProtobufCMessage *m;
    if (cli_client_call(q->s->client, &q->s->arena, "/v1/board/settings/list", NULL,
                        &board__settings_response__descriptor, &m, NULL) < 0) {
        return &SETTINGS_DEFAULT;
    }
    struct settings *s = ARENA_NEW(&q->s->arena, struct settings);
    settings_of((const Board__SettingsResponse *)m, s);
    return s;
}

static int get_facts(struct why_asker *q, struct err *err)
{
    ProtobufCMessage *m;
    int r = session_cells(q->s, &q->facts.cells, err);
    if (r == 0) {
        r = cli_client_call(q->s->client, &q->s->arena, "/v1/domains/list", NULL,
                            &models__domains_response__descriptor, &m, err);
    }
    if (r == 0) {
        q->domains = ((const Models__DomainsResponse *)m)->domains;
        q->domain_count = ((const Models__DomainsResponse *)m)->n_domains;
        q->facts.now_ns = cli_wall_ns();
        q->facts.settings = get_settings(q);
    }
    return r;
}

static bool is_fresh(const struct why_asker *q, const char *domain)
{
    for (size_t i = 0; i < q->domain_count; i++) {
        if (strcmp(q->domains[i], domain) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- The leading auctioneer ---- */

/* What it says; no bytes when it cannot be asked, or knows nothing of it. */
static struct bytes ask_of(struct why_asker *q, const struct why *w)
{
    if (!w->waits) {
        return (struct bytes){0};
    }
    struct arena *a = &q->s->arena;
    const char *guid = percent_encoded(a, w->guid);
    return leader_ask(&q->auctioneer,
                      w->index < 0
                          ? arena_printf(a, "/why?task_guid=%s", guid)
                          : arena_printf(a, "/why?process_guid=%s&index=%d", guid, (int)w->index));
}

/* ---- What a cell knows of its instances ---- */

static const char *url_of(const struct why_asker *q, const char *cell_id)
{
    const Board__CellsStatus *cells = q->facts.cells;
    for (size_t i = 0; cells && i < cells->n_cells; i++) {
        const Models__CellPresence *cell = cells->cells[i]->presence;
        if (cell && strcmp(cell->cell_id, cell_id) == 0) {
            return cell->rep_url;
        }
    }
    return "";
}

/* What a rep tells of itself; asked once. NULL: it cannot be asked. */
static const Cell__CellState *ask_cell(struct why_asker *q, const char *cell_id)
{
    struct cli_client *c = NULL;
    struct bytes body;
    ProtobufCMessage *m = NULL;
    struct arena *a = &q->s->arena;
    if (q->asked_cell && strcmp(q->asked_cell, cell_id) == 0) {
        return q->asked;
    }
    q->asked_cell = cell_id;
    q->asked = NULL;
    const char *url = url_of(q, cell_id);
    if (*url && cli_client_open(q->call, url, &c, NULL) == 0) {
        cli_client_limit(c, session_at_most_ms(q->s, ASK_MS));
        if (cli_client_get(c, a, "/state?checks=1", &body, NULL) == 0 &&
            json_decode(a, &cell__cell_state__descriptor, body, CODEC_OWN, &m, NULL) == 0) {
            q->asked = (const Cell__CellState *)m;
        }
    }
    cli_client_close(c);
    return q->asked;
}

static bool has_checks(const Models__DesiredLRP *lrp)
{
    return lrp->check_definition || lrp->monitor;
}

/* Nothing is said of who cannot be asked. */
static void add_checks(struct why_asker *q, struct why *w, const Models__ActualLRP *actual)
{
    const Models__ActualLRPInstanceKey *key = actual->actual_lrp_instance_key;
    const Cell__CellState *s = key && *key->cell_id ? ask_cell(q, key->cell_id) : NULL;
    for (size_t i = 0; s && i < s->n_lrps; i++) {
        if (strcmp(s->lrps[i]->instance_guid, key->instance_guid) == 0) {
            why_checks(w, s->lrps[i], q->facts.now_ns);
        }
    }
}

/* ---- The command ---- */

static int print(struct why_asker *q, struct why *w, struct err *err)
{
    SCOPED_BUF(out);
    struct bytes says = ask_of(q, w);
    const char *lack = w->waits && !says.size ? leader_lack(&q->auctioneer) : NULL;
    if (lack) {
        why_say(w, lack);
    }
    why_print(w, says, q->s->json, &out);
    return cli_print(buf_bytes(&out), err);
}

static int explain_task(struct why_asker *q, struct err *err)
{
    Models__Task *task;
    struct why w;
    int r = session_task(q->s, q->name, &task, err);
    if (r < 0) {
        return r;
    }
    session_hide(q->s, &task->base);
    why_task(&q->s->arena, &q->facts, task, &w);
    return print(q, &w, err);
}

/* The highest index that is desired or has a record, and one more. */
static int32_t index_end(const Models__DesiredLRP *lrp, Models__ActualLRP *const *actuals,
                         size_t count)
{
    int32_t end = lrp->instances;
    for (size_t i = 0; i < count; i++) {
        if (actuals[i]->actual_lrp_key && actuals[i]->actual_lrp_key->index >= end) {
            end = actuals[i]->actual_lrp_key->index + 1;
        }
    }
    return end;
}

static int by_index(const void *left, const void *right)
{
    const Models__ActualLRP *a = *(Models__ActualLRP *const *)left;
    const Models__ActualLRP *b = *(Models__ActualLRP *const *)right;
    int32_t x = a->actual_lrp_key ? a->actual_lrp_key->index : -1;
    int32_t y = b->actual_lrp_key ? b->actual_lrp_key->index : -1;
    return x != y ? (x < y ? -1 : 1) : (int)a->presence - (int)b->presence;
}

/* Nothing is desired there, and nothing is left there. */
static bool is_nowhere(const Models__DesiredLRP *lrp, int32_t index,
                       Models__ActualLRP *const *actuals, size_t count)
{
    bool nowhere = index >= lrp->instances;
    for (size_t i = 0; i < count && nowhere; i++) {
        nowhere = !actuals[i]->actual_lrp_key || actuals[i]->actual_lrp_key->index != index;
    }
    return nowhere;
}

static int explain_index(struct why_asker *q, const Models__DesiredLRP *lrp, int32_t index,
                         Models__ActualLRP *const *actuals, size_t count, struct err *err)
{
    struct why w;
    why_instance(&q->s->arena, &q->facts, lrp, lrp->process_guid, index, actuals, count, &w);
    for (size_t i = 0; i < count && has_checks(lrp); i++) {
        bool this = actuals[i]->actual_lrp_key && actuals[i]->actual_lrp_key->index == index;
        if (this) {
            add_checks(q, &w, actuals[i]);
        }
    }
    return print(q, &w, err);
}

/* When there are more than fit, those that are well are left out, then the highest indices. */
static int explain_all(struct why_asker *q, const Models__DesiredLRP *lrp,
                       Models__ActualLRP **actuals, size_t count, struct err *err)
{
    struct arena *a = &q->s->arena;
    int32_t end = index_end(lrp, actuals, count), shown = 0, well = 0, more = 0;
    size_t at = 0, next;
    int r = 0;
    if (end == 0) {
        return explain_index(q, lrp, 0, actuals, count, err); /* says that there is none */
    }
    if (count > 0) {
        qsort(actuals, count, sizeof(*actuals), by_index);
    }
    while (at < count && !actuals[at]->actual_lrp_key) {
        at++;
    }
    for (int32_t i = 0; r == 0 && i < end; i++, at = next) {
        struct why w;
        for (next = at; next < count && actuals[next]->actual_lrp_key->index <= i;) {
            next++;
        }
        why_instance(a, &q->facts, lrp, lrp->process_guid, i, actuals + at, next - at, &w);
        for (size_t k = at; k < next && has_checks(lrp) && end <= INSTANCES_SHOWN_MAX; k++) {
            add_checks(q, &w, actuals[k]);
        }
        bool left_out = end > INSTANCES_SHOWN_MAX && (w.well || shown == INSTANCES_SHOWN_MAX);
        well += left_out && w.well;
        more += left_out && !w.well;
        shown += !left_out;
        r = left_out ? 0 : print(q, &w, err);
    }
    if (r == 0 && well + more > 0) {
        const char *name = q->facts.by_guid ? lrp->process_guid : lrp_name(lrp);
        fprintf(stderr, "bbs: %s: left out are %d that run%s; bbs why %s/N explains one\n", name,
                (int)well, more ? arena_printf(a, ", and %d others", (int)more) : "", name);
    }
    return r;
}

static int explain_process(struct why_asker *q, const Models__DesiredLRP *lrp, int32_t index,
                           struct err *err)
{
    Models__ActualLRP **actuals;
    size_t count;
    struct arena *a = &q->s->arena;
    int r = session_actuals(q->s, a, lrp->process_guid, &actuals, &count, err);
    if (r < 0) {
        return r;
    }
    q->facts.domain_fresh = is_fresh(q, lrp->domain);
    if (index >= 0 && is_nowhere(lrp, index, actuals, count)) {
        const char *name = q->facts.by_guid ? lrp->process_guid : lrp_name(lrp);
        return err_set(err, ERR_NOT_FOUND,
                       "there is no %.60s/%d: it has %d instance%s: bbs ps %.60s", name, (int)index,
                       (int)lrp->instances, lrp->instances == 1 ? "" : "s", name);
    }
    if (index >= 0) {
        return explain_index(q, lrp, index, actuals, count, err);
    }
    return explain_all(q, lrp, actuals, count, err);
}

/* Of a process that is not desired any more, known by its process_guid alone: what is left of it.
 * NOT_FOUND, with what was said already, when nothing is. */
static int explain_left(struct why_asker *q, const char *guid, int32_t index, struct err *err)
{
    Models__DesiredLRP *left = session_left(q->s, guid);
    return left ? explain_process(q, left, index, err) : -ERR_NOT_FOUND;
}

/* A system, or a part of one: its own state, and of a service each instance below it. */
static int explain_part(struct why_asker *q, bool *ret_all, struct err *err)
{
    const char *system = q->name, *path = "/";
    (void)name_is_part(&q->s->arena, q->name, &system, &path);
    *ret_all = strcmp(path, "/") == 0;
    return system_explain(q->s, system, path, err);
}

static int explain_app(struct why_asker *q, int32_t index, struct err *err)
{
    Models__DesiredLRP **lrps;
    size_t count;
    bool system = false, all = false;
    int r = index < 0 ? session_means_system(q->s, q->name, &system, err) : 0;
    r = r < 0 || !system ? r : explain_part(q, &all, err);
    if (r < 0 || all) {
        return r;
    }
    r = session_named(q->s, q->name, &lrps, &count, err);
    if (r == -ERR_NOT_FOUND && system) {
        return 0; /* all is said: nothing of it runs */
    }
    if (r == -ERR_NOT_FOUND) {
        return explain_left(q, q->name, index, err);
    }
    q->facts.by_guid = count > 1;
    bool told = false;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = explain_process(q, lrps[i], index, err);
        told = told || r == 0;
        r = r == -ERR_NOT_FOUND && (told || i + 1 < count) ? 0 : r; /* of another definition */
    }
    return r;
}

int bbs_why_run(const struct invocation *call, struct err *err)
{
    struct session s;
    struct why_asker q = {.s = &s, .call = call, .auctioneer = {.s = &s, .role = "auctioneer"}};
    int32_t index = -1;
    int r = session_open(call, &s, err);
    r = r < 0 ? r : cli_target(call, &q.name, &index, err);
    r = r < 0 ? r : get_facts(&q, err);
    if (r == 0) {
        r = cli_switch(call, "task") ? explain_task(&q, err) : explain_app(&q, index, err);
    }
    session_close(&s);
    return r;
}
