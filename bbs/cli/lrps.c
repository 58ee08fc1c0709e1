#include "bbs/cli/lrps.h"

#include "bbs/cli/rootfs.h"
#include "bbs/cli/unheard.h"
#include "common/cli/table.h"
#include "common/codec/json.h"

#include <stdlib.h>
#include <string.h>

static bool is_desired(int32_t desired, const Models__ActualLRP *r)
{
    return r->actual_lrp_key && r->actual_lrp_key->index < desired && !r->stopping;
}

static bool is_running(const Models__ActualLRP *r)
{
    return strcmp(r->state, "RUNNING") == 0 &&
           r->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
}

static const char *problem_of(const Models__ActualLRP *r)
{
    return *r->placement_error                                    ? r->placement_error
           : strcmp(r->state, "CRASHED") == 0 && *r->crash_reason ? r->crash_reason
                                                                  : NULL;
}

void lrp_progress_of(int32_t desired, Models__ActualLRP *const *actuals, size_t count,
                     struct lrp_progress *ret_progress)
{
    struct lrp_progress p = {.desired = desired};
    for (size_t i = 0; i < count; i++) {
        const Models__ActualLRP *r = actuals[i];
        if (!is_desired(desired, r)) {
            p.left++;
        } else if (is_running(r)) {
            p.running++;
            p.newest_ns = r->since > p.newest_ns ? r->since : p.newest_ns;
        } else if (!p.problem) {
            p.problem = problem_of(r);
        }
    }
    *ret_progress = p;
}

bool lrp_progress_done(const struct lrp_progress *p)
{
    return p->running == p->desired && p->left == 0;
}

bool lrp_progress_settled(const struct lrp_progress *p, int64_t wall_ns, int64_t seen_ns)
{
    return p->newest_ns == 0 || wall_ns - p->newest_ns >= LRP_SETTLED_NS ||
           seen_ns >= LRP_SETTLED_NS;
}

const char *lrp_progress_text(struct arena *a, const char *name, const struct lrp_progress *p)
{
    const char *unheard = p->unheard ? arena_printf(a, ", %s", p->unheard) : "";
    if (p->desired == 0) {
        return p->left      ? arena_printf(a, "%s: %d to stop%s", name, (int)p->left, unheard)
               : p->unheard ? arena_printf(a, "%s: %s", name, p->unheard)
                            : arena_printf(a, "%s: all stopped", name);
    }
    const char *left = p->left ? arena_printf(a, ", %d to stop%s", (int)p->left, unheard) : unheard;
    return arena_printf(a, "%s: %d of %d running%s%s%s%s", name, (int)p->running, (int)p->desired,
                        left, p->problem ? " (" : "",
                        p->problem ? text_printable(a, p->problem) : "", p->problem ? ")" : "");
}

const char *net_info_text(struct arena *a, const Models__ActualLRPNetInfo *net)
{
    if (!net || !*net->address) {
        return "-";
    }
    const char *text = net->n_ports ? "" : net->address;
    for (size_t i = 0; i < net->n_ports; i++) {
        const Models__PortMapping *p = net->ports[i];
        text = arena_printf(a, "%s%s%s:%u->%u", text, i ? " " : "", net->address,
                            (unsigned)p->host_port, (unsigned)p->container_port);
    }
    return text;
}

const char *state_text(struct arena *a, const Models__ActualLRP *actual)
{
    const char *state = actual->stopping ? "STOPPING" : actual->state;
    switch (actual->presence) {
    case MODELS__ACTUAL_LRP__PRESENCE__SUSPECT:
        return arena_printf(a, "%s (suspect)", state);
    case MODELS__ACTUAL_LRP__PRESENCE__EVACUATING:
        return arena_printf(a, "%s (evacuating)", state);
    default:
        return state;
    }
}

const char *lrp_reason(const Models__ActualLRP *actual)
{
    bool waits = strcmp(actual->state, "UNCLAIMED") == 0,
         crashed = strcmp(actual->state, "CRASHED") == 0;
    return waits && *actual->placement_error ? actual->placement_error
           : waits || crashed                ? actual->crash_reason
                                             : "";
}

static int compare_lrps(const void *a, const void *b)
{
    const Models__DesiredLRP *x = *(Models__DesiredLRP *const *)a;
    const Models__DesiredLRP *y = *(Models__DesiredLRP *const *)b;
    int order = strcmp(lrp_name(x), lrp_name(y));
    return order ? order : strcmp(x->process_guid, y->process_guid);
}

static const char *guid_of(const Models__ActualLRP *r)
{
    return r->actual_lrp_key ? r->actual_lrp_key->process_guid : "";
}

static int compare_actuals(const void *a, const void *b)
{
    const Models__ActualLRP *x = *(Models__ActualLRP *const *)a;
    const Models__ActualLRP *y = *(Models__ActualLRP *const *)b;
    int order = strcmp(guid_of(x), guid_of(y));
    if (order) {
        return order;
    }
    int32_t x_index = x->actual_lrp_key ? x->actual_lrp_key->index : 0;
    int32_t y_index = y->actual_lrp_key ? y->actual_lrp_key->index : 0;
    return x_index != y_index ? (x_index < y_index ? -1 : 1) : (int)x->presence - (int)y->presence;
}

/* The first of the sorted records that is not below the process. */
static size_t first_of(Models__ActualLRP *const *actuals, size_t count, const char *process_guid)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(guid_of(actuals[middle]), process_guid) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The table in the making. */
struct ps {
    struct table table;
    const Board__CellsStatus *cells;
    int64_t now_ns;
    bool silent; /* one of its cells is */
};

static const char *cell_text(struct ps *ps, const Models__ActualLRPInstanceKey *at)
{
    const char *silence = at && *at->cell_id ? cell_silence(ps->cells, at->cell_id) : NULL;
    ps->silent = ps->silent || silence;
    return silence              ? arena_printf(ps->table.arena, "%s (%s)", at->cell_id, silence)
           : at && *at->cell_id ? at->cell_id
                                : "-";
}

/* `lrp` NULL: its process is not desired any more. */
static void add_record(struct ps *ps, const char *name, const Models__DesiredLRP *lrp,
                       const Models__ActualLRP *r)
{
    struct table *t = &ps->table;
    struct arena *a = t->arena;
    const Models__ActualLRPInstanceKey *at = r->actual_lrp_instance_key;
    table_add(t, (const char *[]){
                     name,
                     arena_printf(a, "%d", r->actual_lrp_key ? (int)r->actual_lrp_key->index : 0),
                     state_text(a, r),
                     cell_text(ps, at),
                     net_info_text(a, r->actual_lrp_net_info),
                     age_text(a, ps->now_ns - r->since),
                     arena_printf(a, "%d", (int)r->crash_count),
                 });
    if (*r->placement_error) {
        const char *why = lrp ? rootfs_problem(a, ps->cells, lrp->root_fs) : NULL;
        table_note(t, arena_printf(a, "not placed: %s", r->placement_error));
        if (why) {
            table_note(t, why);
        }
    }
    if (*r->crash_reason && !is_running(r)) {
        table_note(t, arena_printf(a, "crashed: %s", r->crash_reason));
    }
}

/* While an app is being replaced its two definitions are told apart. */
static bool shares_name(Models__DesiredLRP *const *sorted, size_t count, size_t i)
{
    return (i > 0 && strcmp(lrp_name(sorted[i - 1]), lrp_name(sorted[i])) == 0) ||
           (i + 1 < count && strcmp(lrp_name(sorted[i]), lrp_name(sorted[i + 1])) == 0);
}

/* Records whose process is not desired any more: they stop, or nobody vouches for their domain. */
static void add_left(struct ps *ps, Models__ActualLRP *const *records, const bool *shown,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!shown[i]) {
            add_record(ps, guid_of(records[i]), NULL, records[i]);
            if (!records[i]->stopping) {
                table_note(&ps->table, arena_printf(ps->table.arena,
                                                    "not desired any more: bbs why %s",
                                                    guid_of(records[i])));
            }
        }
    }
}

void ps_table(struct arena *a, Models__DesiredLRP *const *lrps, size_t count,
              Models__ActualLRP *const *actuals, size_t actual_count,
              const Board__CellsStatus *cells, int64_t now_ns, bool terminal, struct buf *out)
{
    Models__DesiredLRP **sorted = arena_copy(a, lrps, count * sizeof(*lrps));
    Models__ActualLRP **records = arena_copy(a, actuals, actual_count * sizeof(*actuals));
    qsort(sorted, count, sizeof(*sorted), compare_lrps);
    qsort(records, actual_count, sizeof(*records), compare_actuals);
    bool *shown = ARENA_ARRAY(a, actual_count, bool);
    struct ps ps = {.cells = cells, .now_ns = now_ns};
    table_init(
        &ps.table, a, 7,
        (const char *[]){"PROCESS", "INDEX", "STATE", "CELL", "ADDRESS:PORT", "AGE", "CRASHES"});
    ps.table.terminal = terminal;
    for (size_t i = 0; i < count; i++) {
        const char *guid = sorted[i]->process_guid;
        const char *name = shares_name(sorted, count, i) ? guid : lrp_name(sorted[i]);
        size_t first = first_of(records, actual_count, guid), k = first;
        for (; k < actual_count && strcmp(guid_of(records[k]), guid) == 0; k++) {
            add_record(&ps, name, sorted[i], records[k]);
            shown[k] = true;
        }
        if (k == first) {
            const char *none = arena_printf(a, "%d desired", (int)sorted[i]->instances);
            table_add(&ps.table, (const char *[]){name, NULL, none, NULL, NULL, NULL, NULL});
        }
    }
    add_left(&ps, records, shown, actual_count);
    if (ps.silent) {
        table_note(&ps.table,
                   "nothing is heard of cells that are LOST or gone: what stands here of "
                   "them is what they said last (bbs cells)");
    }
    table_print(&ps.table, out);
}

void ps_lines_without_record(struct arena *a, Models__DesiredLRP *const *lrps, size_t count,
                             Models__ActualLRP *const *actuals, size_t actual_count,
                             struct buf *out)
{
    Models__ActualLRP **records = arena_copy(a, actuals, actual_count * sizeof(*actuals));
    qsort(records, actual_count, sizeof(*records), compare_actuals);
    for (size_t i = 0; i < count; i++) {
        size_t k = first_of(records, actual_count, lrps[i]->process_guid);
        if (k < actual_count && strcmp(guid_of(records[k]), lrps[i]->process_guid) == 0) {
            continue;
        }
        buf_append_string(out, "{\"process_guid\":");
        json_string_text(bytes_of(lrps[i]->process_guid), out);
        buf_append_string(out, ",\"domain\":");
        json_string_text(bytes_of(lrps[i]->domain), out);
        buf_printf(out, ",\"instances\":%d}\n", (int)lrps[i]->instances);
    }
}

static bool have(Models__DesiredLRP *const *lrps, size_t count, const Models__ActualLRP *actual)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lrps[i]->process_guid, guid_of(actual)) == 0) {
            return true;
        }
    }
    return false;
}

size_t lrps_keep(Models__DesiredLRP *const *lrps, size_t count, Models__ActualLRP **actuals,
                 size_t actual_count)
{
    size_t kept = 0;
    for (size_t i = 0; i < actual_count; i++) {
        if (have(lrps, count, actuals[i])) {
            actuals[kept++] = actuals[i];
        }
    }
    return kept;
}

size_t lrps_keep_index(int32_t index, Models__ActualLRP **actuals, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const Models__ActualLRPKey *key = actuals[i]->actual_lrp_key;
        if (index < 0 || (key && key->index == index)) {
            actuals[kept++] = actuals[i];
        }
    }
    return kept;
}
