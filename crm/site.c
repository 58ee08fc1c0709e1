#include "crm/site.h"

#include "common/base/memory.h"
#include "common/base/message.h"
#include "common/model/pool_tag.h"
#include "common/model/slice_fit.h"
#include "crm/app_lrp.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is kept ---------------------------------------------------------------------------- */

struct board_slice {
    struct arena arena;
    const Board__SliceRecord *record;
    uint64_t changed; /* of the board's changes: the last one of it */
};

struct board_lrp {
    char *guid, *uid, *digest, *name, *cluster_uid;
    bool desired;
    uint32_t wanted;
    uint64_t ran;       /* a bit an index, of the first 64: it has been RUNNING once */
    uint32_t instances; /* on the board; and of these RUNNING: */
    uint32_t running;
    uint64_t changed; /* of the board's changes: the last one of it */
};

struct board_instance {
    struct board_lrp *lrp;
    uint32_t index;
    bool running;
    char *guid, *endpoint; /* of the instance; "" = none */
    char *why;             /* it does not run; "" = nobody says */
};

struct board_cell {
    struct arena arena;
    const Board__CellRecord *record;
};

static void slice_free(void *value)
{
    struct board_slice *s = value;
    arena_done(&s->arena);
    free(s);
}

static void lrp_free(void *value)
{
    struct board_lrp *l = value;
    free(l->guid);
    free(l->uid);
    free(l->digest);
    free(l->name);
    free(l->cluster_uid);
    free(l);
}

static void instance_free(void *value)
{
    struct board_instance *i = value;
    free(i->guid);
    free(i->endpoint);
    free(i->why);
    free(i);
}

static void cell_free(void *value)
{
    struct board_cell *c = value;
    arena_done(&c->arena);
    free(c);
}

void crm_board_init(struct crm_board *b)
{
    map_init(&b->slices);
    map_init(&b->lrps);
    map_init(&b->instances);
    map_init(&b->cells);
    map_init(&b->on_cells);
    map_init(&b->used_cells);
    b->changes = 0;
}

void crm_board_done(struct crm_board *b)
{
    if (b) {
        map_done(&b->slices, slice_free);
        map_done(&b->instances, instance_free);
        map_done(&b->lrps, lrp_free);
        map_done(&b->cells, cell_free);
        map_done(&b->on_cells, NULL);
        map_done(&b->used_cells, free);
    }
}

void crm_board_reset(struct crm_board *b)
{
    uint64_t changes = b->changes;
    crm_board_done(b);
    crm_board_init(b);
    b->changes = changes; /* none of before is taken for one of now */
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void change_slice(struct crm_board *b, const char *uid, const Board__SliceRecord *record)
{
    struct board_slice *before = map_remove(&b->slices, uid);
    if (before) {
        slice_free(before);
    }
    if (record) {
        struct board_slice *s = mem_zeroed(sizeof(*s));
        arena_init(&s->arena);
        s->record = (const Board__SliceRecord *)message_copy(&s->arena, &record->base);
        s->changed = b->changes;
        map_put(&b->slices, uid, s);
    }
}

/* NULL: its guid is no CRM's. */
static struct board_lrp *lrp_named(struct crm_board *b, const char *guid)
{
    struct board_lrp *l = map_get(&b->lrps, guid);
    SCOPED_ARENA(a);
    const char *uid, *digest;
    if (l || !app_lrp_parse(&a, guid, &uid, &digest)) {
        return l;
    }
    l = mem_zeroed(sizeof(*l));
    l->guid = mem_text(guid);
    l->uid = mem_text(uid);
    l->digest = mem_text(digest);
    l->name = mem_text("");
    l->cluster_uid = mem_text("");
    map_put(&b->lrps, guid, l);
    return l;
}

static void forget_if_gone(struct crm_board *b, struct board_lrp *l)
{
    if (!l->desired && l->instances == 0) {
        map_remove(&b->lrps, l->guid);
        lrp_free(l);
    }
}

static void set_text(char **text, const char *to)
{
    if (strcmp(*text, to) != 0) {
        free(*text);
        *text = mem_text(to);
    }
}

static void change_desired(struct crm_board *b, const char *guid, const Models__DesiredLRP *d)
{
    bool sliced = d && *d->slice;
    struct board_lrp *l = sliced ? lrp_named(b, guid) : map_get(&b->lrps, guid);
    if (!l) {
        return;
    }
    l->desired = sliced;
    l->changed = b->changes;
    if (sliced) {
        l->wanted = d->instances > 0 ? (uint32_t)d->instances : 0;
        set_text(&l->cluster_uid, d->slice);
        set_text(&l->name, d->annotation);
    }
    forget_if_gone(b, l);
}

static const char *endpoint_of(struct arena *a, const Models__ActualLRP *r)
{
    const Models__ActualLRPNetInfo *net = r->actual_lrp_net_info;
    return net && *net->address && net->n_ports
               ? arena_printf(a, "%s:%u", net->address, net->ports[0]->host_port)
               : "";
}

static void change_actual(struct crm_board *b, const char *key, const Models__ActualLRP *r)
{
    SCOPED_ARENA(a);
    struct board_instance *before = map_remove(&b->instances, key);
    struct board_lrp *left = before ? before->lrp : NULL;
    struct board_lrp *l =
        r && r->actual_lrp_key ? lrp_named(b, r->actual_lrp_key->process_guid) : NULL;
    if (before) {
        assert(left->instances > 0 && left->running >= before->running);
        left->changed = b->changes;
        left->instances--;
        left->running -= before->running;
        instance_free(before);
    }
    if (l) {
        struct board_instance *i = mem_zeroed(sizeof(*i));
        i->lrp = l;
        i->index = (uint32_t)r->actual_lrp_key->index;
        i->running = strcmp(r->state, "RUNNING") == 0;
        i->guid =
            mem_text(r->actual_lrp_instance_key ? r->actual_lrp_instance_key->instance_guid : "");
        i->endpoint = mem_text(i->running ? endpoint_of(&a, r) : "");
        i->why = mem_text(i->running            ? ""
                          : *r->placement_error ? r->placement_error
                                                : r->crash_reason);
        l->changed = b->changes;
        l->ran |= i->running && i->index < 64 ? UINT64_C(1) << i->index : 0;
        l->instances++;
        l->running += i->running;
        map_put(&b->instances, key, i);
    }
    if (left && left != l) {
        forget_if_gone(b, left);
    }
}

static void change_cell(struct crm_board *b, const char *id, const Board__CellRecord *record)
{
    struct board_cell *before = map_remove(&b->cells, id);
    if (before) {
        cell_free(before);
    }
    if (record) {
        struct board_cell *c = mem_zeroed(sizeof(*c));
        arena_init(&c->arena);
        c->record = (const Board__CellRecord *)message_copy(&c->arena, &record->base);
        map_put(&b->cells, id, c);
    }
}

static const char *cell_of(enum record_type type, const ProtobufCMessage *m)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)m;
    return !m                           ? ""
           : type == RECORD_TASK        ? ((const Models__Task *)m)->cell_id
           : type == RECORD_UNIT        ? ((const Board__UnitRecord *)m)->cell_id
           : r->actual_lrp_instance_key ? r->actual_lrp_instance_key->cell_id
                                        : "";
}

/* How much is on a cell. */
struct used_cell {
    size_t count;
    char id[];
};

static void leave_cell(struct crm_board *b, struct used_cell *u)
{
    assert(u->count > 0);
    if (--u->count == 0) {
        free(map_remove(&b->used_cells, u->id));
    }
}

static void change_place(struct crm_board *b, const char *key, const char *cell_id)
{
    struct used_cell *before = map_remove(&b->on_cells, key);
    if (*cell_id) {
        struct used_cell *u = map_named(&b->used_cells, cell_id, offsetof(struct used_cell, id));
        u->count++;
        map_put(&b->on_cells, key, u);
    }
    if (before) {
        leave_cell(b, before);
    }
}

void crm_board_change(struct crm_board *b, const char *key, const ProtobufCMessage *message)
{
    SCOPED_ARENA(a);
    enum record_type type = key_type(key);
    const char *name = key_component(&a, key, 1);
    b->changes++;
    switch ((int)type) {
    case RECORD_SLICE:
        change_slice(b, name, (const Board__SliceRecord *)message);
        break;
    case RECORD_DESIRED:
        change_desired(b, name, (const Models__DesiredLRP *)message);
        break;
    case RECORD_CELL:
        change_cell(b, name, (const Board__CellRecord *)message);
        break;
    case RECORD_ACTUAL:
        change_actual(b, key, (const Models__ActualLRP *)message);
        change_place(b, key, cell_of(type, message));
        break;
    case RECORD_TASK:
    case RECORD_UNIT:
        change_place(b, key, cell_of(type, message));
        break;
    default:
        break;
    }
}

/* ---- What is held ---------------------------------------------------------------------------- */

static uint32_t ran(const struct board_lrp *l)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 64 && i < l->wanted; i++) {
        count += (l->ran >> i & 1) != 0;
    }
    return count;
}

static uint32_t wanted(const struct board_lrp *l)
{
    return l->wanted < 64 ? l->wanted : 64;
}

static bool is_below(const char *key, const char *prefix)
{
    return strncmp(key, prefix, strlen(prefix)) == 0;
}

size_t crm_board_held(const struct crm_board *b, struct arena *a, struct crm_held **ret_list)
{
    struct crm_held *list = ARENA_ARRAY(a, b->slices.count + b->lrps.count, struct crm_held);
    size_t count = 0;
    MAP_EACH(&b->slices, n)
    {
        const Board__SliceRecord *s = ((const struct board_slice *)map_value(n))->record;
        list[count++] = (struct crm_held){.kind = CRM_CLUSTER,
                                          .uid = map_key(n),
                                          .name = s->owner,
                                          .digest = s->digest,
                                          .cluster_uid = map_key(n),
                                          .whole = true};
    }
    MAP_EACH(&b->lrps, n)
    {
        const struct board_lrp *l = map_value(n);
        list[count++] = (struct crm_held){.kind = CRM_APP,
                                          .uid = l->uid,
                                          .name = l->name,
                                          .digest = l->digest,
                                          .cluster_uid = l->cluster_uid,
                                          .whole = l->desired && ran(l) == wanted(l)};
    }
    *ret_list = list;
    return count;
}

/* Why the first of its instances does not run; NULL = nobody says. */
static const char *why_not(const struct crm_board *b, struct arena *a, const struct board_lrp *l)
{
    const char *prefix = key_actual_process(a, l->guid);
    for (struct map_node *n = map_from(&b->instances, prefix); n && is_below(map_key(n), prefix);
         n = map_next(n)) {
        const struct board_instance *i = map_value(n);
        if (*i->why) {
            return arena_strdup(a, i->why);
        }
    }
    return NULL;
}

void crm_board_site(const struct crm_board *b, struct arena *a, const char *uid,
                    struct crm_site *ret)
{
    const struct board_slice *s = map_get(&b->slices, uid);
    const char *prefix = arena_printf(a, "a-%s-", uid);
    struct map_node *from = map_from(&b->lrps, prefix);
    size_t count = 0;
    for (struct map_node *n = from; n && is_below(map_key(n), prefix); n = map_next(n)) {
        count++;
    }
    struct crm_site_lrp *list = ARENA_ARRAY(a, count, struct crm_site_lrp);
    *ret = (struct crm_site){
        .slice = {.stands = s != NULL, .digest = s ? arena_strdup(a, s->record->digest) : ""},
        .lrps = list};
    for (struct map_node *n = from; n && is_below(map_key(n), prefix); n = map_next(n)) {
        const struct board_lrp *l = map_value(n);
        if (strcmp(l->uid, uid) == 0) {
            list[ret->lrp_count++] =
                (struct crm_site_lrp){.process_guid = arena_strdup(a, l->guid),
                                      .digest = arena_strdup(a, l->digest),
                                      .desired = l->desired,
                                      .wanted = wanted(l),
                                      .ran = ran(l),
                                      .instances = l->instances,
                                      .why = ran(l) < wanted(l) ? why_not(b, a, l) : NULL};
        }
    }
}

/* ---- Reports --------------------------------------------------------------------------------- */

static const struct board_lrp *desired_of(const struct crm_board *b, const char *uid,
                                          const char *digest)
{
    SCOPED_ARENA(a);
    const struct board_lrp *l = *digest ? map_get(&b->lrps, app_lrp_guid(&a, uid, digest)) : NULL;
    return l && l->desired ? l : NULL;
}

uint64_t crm_board_changed(const struct crm_board *b, enum crm_kind kind, const char *uid,
                           const char *digest)
{
    const struct board_slice *s = kind == CRM_CLUSTER ? map_get(&b->slices, uid) : NULL;
    const struct board_lrp *l = kind == CRM_APP ? desired_of(b, uid, digest) : NULL;
    return s ? s->changed : l ? l->changed : 0;
}

bool crm_board_running(const struct crm_board *b, const char *uid, const char *digest,
                       uint32_t *ret_running, uint32_t *ret_wanted)
{
    const struct board_lrp *l = desired_of(b, uid, digest);
    *ret_running = l ? l->running : 0;
    *ret_wanted = l ? l->wanted : 0;
    return l != NULL;
}

static void tell_instance(struct arena *a, const struct board_instance *i, Board__AppInstReport *r)
{
    if (*i->endpoint && r->n_endpoints < SITE_TOLD_MAX) {
        r->endpoints[r->n_endpoints++] = arena_strdup(a, i->endpoint);
    }
    if (*i->guid && r->n_runtime_ids < SITE_TOLD_MAX) {
        r->runtime_ids[r->n_runtime_ids++] = arena_strdup(a, i->guid);
    }
}

Board__AppInstReport *crm_board_app_report(const struct crm_board *b, struct arena *a,
                                           const char *uid, const char *digest)
{
    Board__AppInstReport *r = arena_message(a, &board__app_inst_report__descriptor);
    const struct board_lrp *l = desired_of(b, uid, digest);
    const char *prefix = l ? key_actual_process(a, l->guid) : "";
    r->endpoints = ARENA_ARRAY(a, SITE_TOLD_MAX, char *);
    r->runtime_ids = ARENA_ARRAY(a, SITE_TOLD_MAX, char *);
    r->running = l ? l->running : 0;
    for (struct map_node *n = l ? map_from(&b->instances, prefix) : NULL;
         n && is_below(map_key(n), prefix); n = map_next(n)) {
        const struct board_instance *i = map_value(n);
        if (i->running) {
            tell_instance(a, i, r);
        }
    }
    return r;
}

Board__ClusterReport *crm_board_cluster_report(const struct crm_board *b, struct arena *a,
                                               const char *uid)
{
    Board__ClusterReport *r = arena_message(a, &board__cluster_report__descriptor);
    const struct board_slice *kept = map_get(&b->slices, uid);
    r->used = arena_message(a, &board__edge_resources__descriptor);
    if (!kept) {
        return r;
    }
    const Board__SliceRecord *s = kept->record;
    r->cells = ARENA_ARRAY(a, s->n_cells, char *);
    for (; r->n_cells < s->n_cells && r->n_cells < SLICE_CELLS_MAX; r->n_cells++) {
        r->cells[r->n_cells] = arena_strdup(a, s->cells[r->n_cells]);
    }
    for (size_t i = 0; i < s->n_uses; i++) {
        r->used->memory_mb += (int64_t)s->uses[i]->instances * s->uses[i]->memory_mb;
        r->used->disk_mb += (int64_t)s->uses[i]->instances * s->uses[i]->disk_mb;
        r->used->containers += s->uses[i]->instances;
    }
    r->uses = (uint32_t)s->n_uses;
    return r;
}

static const Models__CellCapacity *capacity_of(const Board__CellRecord *cell)
{
    bool present = cell->state == BOARD__CELL_RECORD__STATE__PRESENT;
    return present && cell->presence ? cell->presence->capacity : NULL;
}

uint32_t crm_board_totals(const struct crm_board *b, Board__EdgeResources *ret)
{
    uint32_t cells = 0;
    board__edge_resources__init(ret);
    MAP_EACH(&b->cells, n)
    {
        const Models__CellCapacity *c =
            capacity_of(((const struct board_cell *)map_value(n))->record);
        if (c) {
            ret->memory_mb += c->memory_mb;
            ret->disk_mb += c->disk_mb;
            ret->containers += c->containers;
            cells++;
        }
    }
    return cells;
}

/* ---- Whole cells ----------------------------------------------------------------------------- */

struct offered_cell {
    char *id;
    uint32_t nodes; /* that have room there */
    bool had, used;
};

static bool is_used(const struct crm_board *b, const char *cell_id)
{
    return map_get(&b->used_cells, cell_id) != NULL;
}

static bool has_tags(const Models__CellPresence *p, const Board__NodeSize *node)
{
    for (size_t i = 0; i < node->n_placement_tags; i++) {
        bool found = false;
        for (size_t k = 0; k < p->n_optional_placement_tags; k++) {
            found = found || strcmp(p->optional_placement_tags[k], node->placement_tags[i]) == 0;
        }
        if (!found) {
            return false;
        }
    }
    return p->n_placement_tags == 0; /* it would ask for them */
}

static uint32_t nodes_on(const Models__CellCapacity *c, const Board__NodeSize *node)
{
    int32_t most = SLICE_NODES_MAX;
    most = node->memory_mb > 0 && c->memory_mb / node->memory_mb < most
               ? c->memory_mb / node->memory_mb
               : most;
    most =
        node->disk_mb > 0 && c->disk_mb / node->disk_mb < most ? c->disk_mb / node->disk_mb : most;
    most = node->containers > 0 && c->containers / node->containers < most
               ? c->containers / node->containers
               : most;
    return most > 0 ? (uint32_t)most : 0;
}

/* Its own first, then the roomiest, then by id. */
static int in_order(const void *a, const void *b)
{
    const struct offered_cell *x = a, *y = b;
    int order = (int)y->had - (int)x->had;
    order = order ? order : (int)(x->nodes < y->nodes) - (int)(x->nodes > y->nodes);
    return order ? order : strcmp(x->id, y->id);
}

/* Those that the slice has, and those that it could have. */
static size_t offered(const struct crm_board *b, struct arena *a, const char *uid,
                      const Board__NodeSize *node, struct offered_cell **ret_list)
{
    struct offered_cell *list = ARENA_ARRAY(a, b->cells.count, struct offered_cell);
    const char *own = slice_tag(a, uid);
    size_t count = 0;
    MAP_EACH(&b->cells, n)
    {
        const Board__CellRecord *c = ((const struct board_cell *)map_value(n))->record;
        const Models__CellCapacity *capacity = capacity_of(c);
        bool had = strcmp(c->pool, own) == 0, used = is_used(b, map_key(n));
        bool free_one = !*c->pool && !used && !c->evacuating && capacity &&
                        has_tags(c->presence, node) && nodes_on(capacity, node) > 0;
        if (had || free_one) {
            list[count++] = (struct offered_cell){.id = arena_strdup(a, map_key(n)),
                                                  .nodes = capacity ? nodes_on(capacity, node) : 0,
                                                  .had = had,
                                                  .used = used};
        }
    }
    assert(count <= b->cells.count);
    qsort(list, count, sizeof(*list), in_order);
    *ret_list = list;
    return count;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* False: not enough. */
static bool choose_cells(const struct crm_board *b, struct arena *a,
                         const Board__ClusterInstRecord *cluster, Board__SliceMove *ret)
{
    struct offered_cell *list;
    size_t count = offered(b, a, cluster->uid, cluster->spec->node, &list);
    uint32_t room = 0;
    ret->cells = ARENA_ARRAY(a, SLICE_CELLS_MAX, char *);
    for (size_t i = 0; i < count && ret->n_cells < SLICE_CELLS_MAX; i++) {
        if (room < cluster->spec->nodes || (list[i].had && list[i].used)) {
            room += list[i].nodes;
            ret->cells[ret->n_cells++] = list[i].id;
        }
    }
    qsort(ret->cells, ret->n_cells, sizeof(*ret->cells), by_text);
    return room >= cluster->spec->nodes;
}

Board__SliceMove *crm_board_slice_move(const struct crm_board *b, struct arena *a,
                                       const Board__ClusterInstRecord *cluster,
                                       const char **ret_fault)
{
    Board__SliceMove *m = arena_message(a, &board__slice_move__descriptor);
    m->owner = cluster->name;
    m->digest = cluster->digest;
    m->nodes = cluster->spec->nodes;
    m->node = cluster->spec->node;
    *ret_fault = NULL;
    if (cluster->spec->dedicated && !choose_cells(b, a, cluster, m)) {
        *ret_fault = arena_printf(
            a,
            "not enough cells that are free, and have room for nodes of %d MiB memory and %d MiB "
            "disk: %u nodes wanted",
            m->node ? (int)m->node->memory_mb : 0, m->node ? (int)m->node->disk_mb : 0, m->nodes);
        return NULL;
    }
    return m;
}
