#include "test/sim/world/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auctioneer/auctioneer.h"
#include "bbs/bbs.h"
#include "bbs/board/board_generation.h"
#include "board.pb-c.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "converger/converger.h"
#include "models/actual_lrp.pb-c.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task.pb-c.h"
#include "models/domain.pb-c.h"
#include "rep/rep.h"
#include "test/sim/model/containers.h"
#include "test/sim/model/etcd.h"
#include "test/sim/model/sealer.h"

#define CALL_LIMIT_NS (10 * SECOND_NS)

/* ---- Processes ---- */

struct process {
    struct cluster *cluster;
    const char *name;
    const char *url;
    const char *zone;
    unsigned number;
};

/* What is called so in this cluster. */
static const char *own_name(struct cluster *c, const char *name)
{
    return c->options.name ? arena_printf(&c->arena, "%s.%s", name, c->options.name) : name;
}

static const char *bbs_list(struct cluster *c)
{
    const char *list = "";
    for (unsigned i = 0; i < c->options.bbs; i++) {
        list = arena_printf(&c->arena, "%s%s%s", list, *list ? "," : "", node_url(c->bbs[i]));
    }
    return list;
}

static struct role *make_bbs(void *context, unsigned incarnation)
{
    static const uint32_t keys[] = {1, 2};
    struct process *p = context;
    struct cluster *c = p->cluster;
    return bbs_new(&(struct bbs_config){
        .name = p->name,
        .url = p->url,
        .verify_interval_ns = c->options.verify_interval_ns,
        .seal = c->options.keyless ? NULL : model_sealer(&c->arena, keys, c->keys == 2 ? 2 : 1),
    });
}

static struct role *make_auctioneer(void *context, unsigned incarnation)
{
    struct process *p = context;
    return auctioneer_new(&(struct auctioneer_config){.name = p->name,
                                                      .url = p->url,
                                                      .boards = bbs_list(p->cluster),
                                                      .zones = "",
                                                      .scoring = "default"});
}

static struct role *make_converger(void *context, unsigned incarnation)
{
    struct process *p = context;
    return converger_new(&(struct converger_config){
        .name = p->name, .url = p->url, .boards = bbs_list(p->cluster)});
}

/* The shell of a real rep keeps identity and incarnation in its state directory; here the world
 * keeps the incarnation. */
static const char *const *types_of(struct process *p)
{
    struct arena *a = &p->cluster->arena;
    const char *type = p->cluster->options.types ? p->cluster->options.types : "";
    for (unsigned i = 1; i < p->number && *type; i++) {
        type += strcspn(type, " ");
        type += strspn(type, " ");
    }
    const char **tags = ARENA_ARRAY(a, 2, const char *);
    tags[0] = *type ? arena_printf(a, "type:%.*s", (int)strcspn(type, " "), type) : NULL;
    return tags;
}

static const char *identity_of(struct process *p)
{
    unsigned anew = p->cluster->anew[p->number - 1];
    return anew ? arena_printf(&p->cluster->arena, "identity-%u-of-%s", anew + 1, p->name)
                : arena_printf(&p->cluster->arena, "identity-of-%s", p->name);
}

static struct role *make_rep(void *context, unsigned incarnation)
{
    struct process *p = context;
    static const char *const rootfs[] = {"busybox", NULL}, *const none[] = {NULL};
    unsigned more = p->cluster->options.graded ? CLUSTER_CELLS_MAX - p->number : 0;
    unsigned disk = p->cluster->options.cell_disk_instances;
    unsigned containers = p->cluster->options.cell_containers;
    containers = (containers ? containers : 100) + more;
    return rep_new(&(struct rep_config){
        .cell_id = p->name,
        .identity = identity_of(p),
        .incarnation = incarnation,
        .evacuation = node_evacuation(p->cluster->cells[p->number - 1]),
        .boot_id = arena_printf(&p->cluster->arena, "boot-%u",
                                node_boots(p->cluster->cells[p->number - 1])),
        .zone = p->zone,
        .boards = bbs_list(p->cluster),
        .url = p->url,
        .address = arena_printf(&p->cluster->arena, "10.0.0.%u", p->number),
        .own_network = p->cluster->options.own_network,
        .memory_mb =
            (int32_t)(cluster_cell_instances(p->cluster) * CLUSTER_INSTANCE_MEMORY_MB + more),
        .disk_mb = (int32_t)((disk ? disk : 128) * CLUSTER_INSTANCE_DISK_MB + more),
        .containers = (int32_t)containers,
        .rootfs_names = rootfs,
        .pulls_images = p->cluster->options.pulls_images,
        .placement_tags = none,
        .optional_placement_tags = types_of(p),
        .ids_first = 1000000000, /* a range for each of its containers, and none to spare */
        .ids_count = containers * CONTAINER_IDS,
        .port_low = 20000,
        .port_high = 20999,
        .reconcile_interval_ns = p->cluster->options.reconcile_interval_ns,
        .evacuation_ns = p->cluster->options.evacuation_ns,
    });
}

static struct node *add(struct cluster *c, const char *unit, const char *name, unsigned port,
                        unsigned number, struct role *(*make)(void *, unsigned))
{
    struct process *p = ARENA_NEW(&c->arena, struct process);
    *p = (struct process){
        .cluster = c,
        .name = own_name(c, name),
        .url = arena_printf(&c->arena, "https://%s:%u", own_name(c, name), port),
        .zone = arena_printf(&c->arena, "z%u", (number - 1) % c->options.zones + 1),
        .number = number,
    };
    struct node *n = world_add(c->world, &(struct node_config){
                                             .name = p->name,
                                             .unit = unit,
                                             .certificate_name = p->name,
                                             .url = p->url,
                                             .cluster = c,
                                             .store = strcmp(unit, "bbs") == 0 ? c->store : NULL,
                                             .has_containers = strcmp(unit, "rep") == 0,
                                             .make = make,
                                             .context = p,
                                         });
    assert(n);
    return n;
}

/* The first bears the role's name, its standbys a number as well. */
static void add_leaders(struct cluster *c, const char *role, unsigned port,
                        struct role *(*make)(void *, unsigned), struct node **list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const char *name = i ? arena_printf(&c->arena, "%s-%u", role, i + 1) : role;
        list[i] = add(c, role, name, port, i + 1, make);
        world_start(c->world, list[i]);
    }
}

static struct cluster *add_cluster(struct world *w, const struct cluster_options *options)
{
    struct cluster *c = calloc(1, sizeof(*c));
    assert(c);
    c->options = *options;
    c->options.bbs = options->bbs ? options->bbs : 2;
    c->options.cells = options->cells ? options->cells : 3;
    c->options.zones = options->zones ? options->zones : 2;
    c->options.auctioneers = options->auctioneers ? options->auctioneers : 1;
    assert(c->options.bbs <= CLUSTER_BBS_MAX && c->options.cells <= CLUSTER_CELLS_MANY);
    assert(c->options.auctioneers <= CLUSTER_LEADERS_MAX);
    assert(c->options.convergers <= CLUSTER_LEADERS_MAX);
    arena_init(&c->arena);
    c->world = w;
    c->store = world_store(w, own_name(c, "etcd"));
    for (unsigned i = 0; i < c->options.bbs; i++) {
        const char *name = arena_printf(&c->arena, "bbs-%u", i + 1);
        c->bbs[i] = add(c, "bbs", name, 8889, i + 1, make_bbs);
        world_start(c->world, c->bbs[i]);
    }
    add_leaders(c, "auctioneer", 9016, make_auctioneer, c->auctioneers, c->options.auctioneers);
    add_leaders(c, "converger", 9017, make_converger, c->convergers, c->options.convergers);
    c->auctioneer = c->auctioneers[0];
    c->converger = c->convergers[0];
    for (unsigned i = 0; i < c->options.cells; i++) {
        const char *name = arena_printf(&c->arena, "cell-%u", i + 1);
        c->cells[i] = add(c, "rep", name, 1801, i + 1, make_rep);
        world_start(c->world, c->cells[i]);
    }
    return c;
}

struct cluster *cluster_new(const struct cluster_options *options)
{
    return add_cluster(world_new(&options->world), options);
}

struct cluster *cluster_beside(struct cluster *first, const struct cluster_options *options)
{
    struct cluster *c = add_cluster(first->world, options);
    c->next = first->next;
    return first->next = c;
}

unsigned cluster_cell_instances(const struct cluster *c)
{
    return c->options.cell_instances ? c->options.cell_instances : 64;
}

void cluster_free(struct cluster *c)
{
    world_free(c->world);
    while (c) {
        struct cluster *next = c->next;
        arena_done(&c->arena);
        free(c);
        c = next;
    }
}

/* ---- What the store holds ---- */

/* Calls `each` for every record whose key starts with `prefix`. */
void cluster_each(struct cluster *c, const char *prefix,
                  void (*each)(void *context, enum record_type type, const ProtobufCMessage *m),
                  void *context)
{
    SCOPED_ARENA(a);
    const char *end = key_range_end(&a, prefix);
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    range.key = (ProtobufCBinaryData){strlen(prefix), (uint8_t *)prefix};
    range.range_end = (ProtobufCBinaryData){strlen(end), (uint8_t *)end};
    struct store_answer answer = {0};
    model_etcd_apply(store_etcd(c->store), STORE_RANGE, &range.base, &a, &answer);
    assert(answer.outcome == STORE_DONE);
    const Etcd__RangeResponse *r = (const Etcd__RangeResponse *)answer.message;
    for (size_t i = 0; i < r->n_kvs; i++) {
        const Etcd__KeyValue *kv = r->kvs[i];
        const char *key = arena_strndup(&a, (const char *)kv->key.data, kv->key.len);
        ProtobufCMessage *m;
        struct bytes record = {.data = kv->value.data, .size = kv->value.len};
        if (record_decode(&a, key_type(key), record, &m, NULL) == 0) {
            each(context, key_type(key), m);
        }
    }
}

struct count {
    const char *state;
    const char *version; /* NULL = whatever tags it shows */
    const char *cell_id; /* NULL = on whatever cell, or none */
    Models__ActualLRP__Presence presence;
    bool crashed; /* only those that have */
    int number;
    const char *address; /* instance_address of its net info; NULL = any */
};

static bool shows_version(const Models__ActualLRP *r, const char *version)
{
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        if (strcmp(r->metric_tags[i]->key, "version") == 0) {
            return strcmp(r->metric_tags[i]->value, version) == 0;
        }
    }
    return false;
}

static void count_state(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct count *count = context;
    const Models__ActualLRP *r = (const Models__ActualLRP *)m;
    const Models__ActualLRPInstanceKey *instance = r->actual_lrp_instance_key;
    bool on = !count->cell_id || (instance && strcmp(instance->cell_id, count->cell_id) == 0);
    on = on && (!count->version || shows_version(r, count->version));
    on = on && (!count->crashed || r->crash_count > 0);
    on = on && (!count->address ||
                (r->actual_lrp_net_info &&
                 strcmp(r->actual_lrp_net_info->instance_address, count->address) == 0));
    if (r->presence == count->presence && on &&
        (!*count->state || strcmp(r->state, count->state) == 0)) {
        count->number++;
    }
}

static int count_of_process(struct cluster *c, const char *process_guid, struct count count)
{
    SCOPED_ARENA(a);
    cluster_each(c, key_actual_process(&a, process_guid), count_state, &count);
    return count.number;
}

int cluster_count(struct cluster *c, const char *process_guid, const char *state)
{
    return count_of_process(c, process_guid, (struct count){.state = state});
}

int cluster_crashed(struct cluster *c, const char *process_guid)
{
    return count_of_process(c, process_guid, (struct count){.state = "", .crashed = true});
}

int cluster_addressed(struct cluster *c, const char *process_guid, const char *address)
{
    return count_of_process(c, process_guid, (struct count){.state = "", .address = address});
}

int cluster_evacuating(struct cluster *c, const char *process_guid)
{
    return count_of_process(
        c, process_guid,
        (struct count){.state = "", .presence = MODELS__ACTUAL_LRP__PRESENCE__EVACUATING});
}

int cluster_tagged(struct cluster *c, const char *process_guid, const char *version)
{
    return count_of_process(c, process_guid,
                            (struct count){.state = "RUNNING", .version = version});
}

int cluster_on(struct cluster *c, const struct node *cell)
{
    struct count count = {.state = "", .cell_id = node_name(cell)};
    cluster_each(c, "actual/", count_state, &count);
    return count.number;
}

struct newest {
    struct arena *arena;
    const char *process_guid, *instance_guid;
};

static void take_guid(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct newest *n = context;
    const Models__ActualLRP *lrp = (const Models__ActualLRP *)m;
    (void)type;
    if (strcmp(lrp->actual_lrp_key->process_guid, n->process_guid) == 0) {
        n->instance_guid = arena_strdup(n->arena, lrp->actual_lrp_instance_key->instance_guid);
    }
}

const char *cluster_instance_guid(struct cluster *c, const char *process_guid)
{
    struct newest n = {&c->arena, process_guid, ""};
    cluster_each(c, "actual/", take_guid, &n);
    return n.instance_guid;
}

static void take_instances(void *context, enum record_type type, const ProtobufCMessage *m)
{
    *(int *)context = ((const Models__DesiredLRP *)m)->instances;
}

int cluster_desired(struct cluster *c, const char *process_guid)
{
    SCOPED_ARENA(a);
    int instances = -1;
    cluster_each(c, key_desired(&a, process_guid), take_instances, &instances);
    return instances;
}

struct found_task {
    int state;
    char *outcome;
    size_t size;
};

static void take_task(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct found_task *f = context;
    const Models__Task *t = (const Models__Task *)m;
    f->state = (int)t->state;
    if (f->outcome) {
        snprintf(f->outcome, f->size, "%s%s", t->failed ? "failed " : "",
                 t->failed ? t->failure_reason : t->result);
    }
}

int cluster_task(struct cluster *c, const char *task_guid, char *ret_outcome, size_t size)
{
    struct found_task f = {.outcome = ret_outcome, .size = size};
    SCOPED_ARENA(a);
    cluster_each(c, key_task(&a, task_guid), take_task, &f);
    return f.state;
}

static void count_present(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Board__CellRecord *r = (const Board__CellRecord *)m;
    *(int *)context += r->state == BOARD__CELL_RECORD__STATE__PRESENT;
}

static void count_any(void *context, enum record_type type, const ProtobufCMessage *m)
{
    *(int *)context += 1;
}

int cluster_records(struct cluster *c, const char *prefix)
{
    int count = 0;
    cluster_each(c, prefix, count_any, &count);
    return count;
}

static void count_lost(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Board__CellRecord *r = (const Board__CellRecord *)m;
    *(int *)context += r->state == BOARD__CELL_RECORD__STATE__LOST;
}

int cluster_lost_cells(struct cluster *c)
{
    int lost = 0;
    cluster_each(c, "cell/", count_lost, &lost);
    return lost;
}

bool cluster_ready(void *cluster)
{
    struct cluster *c = cluster;
    int present = 0;
    cluster_each(c, "cell/", count_present, &present);
    return present == (int)c->options.cells && cluster_records(c, "lead/auctioneer") == 1 &&
           (!c->converger || cluster_records(c, "lead/converger") == 1);
}

struct lock {
    struct cluster *cluster;
    int leader;
};

static void take_leader(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct lock *lock = context;
    const Board__LeaderLockRecord *r = (const Board__LeaderLockRecord *)m;
    for (int i = 0; i < CLUSTER_LEADERS_MAX; i++) {
        const struct node *a = lock->cluster->auctioneers[i], *v = lock->cluster->convergers[i];
        if ((a && strcmp(node_url(a), r->url) == 0) || (v && strcmp(node_url(v), r->url) == 0)) {
            lock->leader = i;
        }
    }
}

int cluster_leader(struct cluster *c, const char *role)
{
    SCOPED_ARENA(a);
    struct lock lock = {c, -1};
    cluster_each(c, key_lead(&a, role), take_leader, &lock);
    return lock.leader;
}

void cluster_lose(struct cluster *c, const char *key)
{
    SCOPED_ARENA(a);
    Etcd__DeleteRangeRequest delete = ETCD__DELETE_RANGE_REQUEST__INIT;
    delete.key = (ProtobufCBinaryData){strlen(key), (uint8_t *)(uintptr_t)key};
    Etcd__RequestOp op = ETCD__REQUEST_OP__INIT, *ops[] = {&op};
    op.request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE;
    op.request_delete_range = &delete;
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 1;
    txn.success = ops;
    struct store_answer answer = {0};
    model_etcd_apply(store_etcd(c->store), STORE_TXN, &txn.base, &a, &answer);
    assert(answer.outcome == STORE_DONE);
    world_note(c->world, "stranger", "deletes %s", key);
}

void cluster_new_board_generation(struct cluster *c, const char *id)
{
    SCOPED_ARENA(a);
    struct store_answer answer = {0};
    Etcd__RangeRequest question;
    Etcd__TxnRequest txn;
    board_generation_question(&a, &question);
    model_etcd_apply(store_etcd(c->store), STORE_RANGE, &question.base, &a, &answer);
    board_generation_again(&a, (const Etcd__RangeResponse *)answer.message, id, 0, &txn);
    model_etcd_apply(store_etcd(c->store), STORE_TXN, &txn.base, &a, &answer);
    assert(answer.outcome == STORE_DONE);
    world_note(c->world, "operator", "bbs restore: board generation %s", id);
}

int cluster_containers(struct cluster *c)
{
    int running = 0;
    for (unsigned i = 0; i < c->options.cells; i++) {
        running += model_containers_running(node_containers(c->cells[i]));
    }
    return running;
}

/* ---- What a client asks ---- */

static const char *url_of_bbs(struct cluster *c, struct node *bbs)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        if (bbs ? c->bbs[i] == bbs : node_up(c->bbs[i])) {
            return node_url(c->bbs[i]);
        }
    }
    assert(!"no bbs is up");
    return NULL;
}

/* Gives the error type of a lifecycle answer. */
static int lifecycle_call(struct cluster *c, struct node *bbs, const char *path,
                          const ProtobufCMessage *m)
{
    SCOPED_BUF(body);
    int status = world_call(c->world, url_of_bbs(c, bbs), path, m, CALL_LIMIT_NS, &body);
    int result = -1;
    if (status == 200) {
        Models__DesiredLRPLifecycleResponse *r =
            models__desired_lrplifecycle_response__unpack(NULL, body.size, body.data);
        assert(r);
        result = r->error ? (int)r->error->type : 0;
        models__desired_lrplifecycle_response__free_unpacked(r, NULL);
    }
    world_note(c->world, "client", "%s: %s", path,
               result == 0   ? "done"
               : result == -1 ? "no answer"
                              : "refused");
    return result;
}

void cluster_with_desire(const char *process_guid, int instances,
                         void (*send)(void *context, const ProtobufCMessage *m), void *context)
{
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    run.path = (char *)"/bin/sleep";
    run.user = (char *)"root";
    Models__Action action = MODELS__ACTION__INIT;
    action.run_action = &run;
    Models__MetricTagValue source = MODELS__METRIC_TAG_VALUE__INIT;
    source.static_ = (char *)process_guid;
    Models__DesiredLRP__MetricTagsEntry tag = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    tag.key = (char *)"source_id";
    tag.value = &source;
    Models__DesiredLRP__MetricTagsEntry *tags[] = {&tag};
    uint32_t ports[] = {8080};
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    lrp.process_guid = (char *)process_guid;
    lrp.domain = (char *)"default";
    lrp.root_fs = (char *)"preloaded:busybox";
    lrp.instances = instances;
    lrp.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    lrp.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    lrp.action = &action;
    lrp.n_metric_tags = 1;
    lrp.metric_tags = tags;
    lrp.n_ports = 1;
    lrp.ports = ports;
    Models__DesireLRPRequest request = MODELS__DESIRE_LRPREQUEST__INIT;
    request.desired_lrp = &lrp;
    send(context, &request.base);
}

struct desire {
    struct cluster *cluster;
    struct node *bbs;
    world_answered *answered;
    void *context;
    int result;
};

static void desire_and_wait(void *context, const ProtobufCMessage *m)
{
    struct desire *d = context;
    d->result = lifecycle_call(d->cluster, d->bbs, "/v1/desired_lrp/desire.r2", m);
}

int cluster_desire(struct cluster *c, struct node *bbs, const char *process_guid, int instances)
{
    struct desire d = {.cluster = c, .bbs = bbs};
    cluster_with_desire(process_guid, instances, desire_and_wait, &d);
    return d.result;
}

/* One instance, with what differs from cluster_desire's: NULL = nothing. */
struct special_desire {
    struct desire desire;
    const char *join, *image;
};

static void desire_special(void *context, const ProtobufCMessage *m)
{
    SCOPED_ARENA(a);
    struct special_desire *d = context;
    Models__DesireLRPRequest request = *(const Models__DesireLRPRequest *)m;
    Models__DesiredLRP lrp = *request.desired_lrp;
    Models__Network network = MODELS__NETWORK__INIT;
    Models__Network__PropertiesEntry entry = MODELS__NETWORK__PROPERTIES_ENTRY__INIT;
    Models__Network__PropertiesEntry *entries[] = {&entry};
    if (d->join) {
        entry.key = (char *)"join";
        entry.value = arena_printf(&a, "instance:%s", d->join);
        network.n_properties = 1;
        network.properties = entries;
        lrp.network = &network;
        lrp.n_ports = 0;
    }
    if (d->image) {
        lrp.root_fs = arena_strdup(&a, d->image);
    }
    request.desired_lrp = &lrp;
    desire_and_wait(&d->desire, &request.base);
}

int cluster_desire_joined(struct cluster *c, const char *process_guid, const char *instance_guid)
{
    struct special_desire d = {.desire.cluster = c, .join = instance_guid};
    cluster_with_desire(process_guid, 1, desire_special, &d);
    return d.desire.result;
}

int cluster_desire_image(struct cluster *c, const char *process_guid, const char *image)
{
    struct special_desire d = {.desire.cluster = c, .image = image};
    cluster_with_desire(process_guid, 1, desire_special, &d);
    return d.desire.result;
}

static void desire_only(void *context, const ProtobufCMessage *m)
{
    struct desire *d = context;
    world_send(d->cluster->world, url_of_bbs(d->cluster, d->bbs), "/v1/desired_lrp/desire.r2", m,
               CALL_LIMIT_NS, d->answered, d->context);
}

void cluster_desire_send(struct cluster *c, struct node *bbs, const char *process_guid,
                         int instances, world_answered *answered, void *context)
{
    struct desire d = {.cluster = c, .bbs = bbs, .answered = answered, .context = context};
    cluster_with_desire(process_guid, instances, desire_only, &d);
}

/* Calls `send` with the request (UpdateDesiredLRPRequest) that these make. */
static void with_scale(const char *process_guid, int instances,
                       void (*send)(void *context, const ProtobufCMessage *m), void *context)
{
    Models__DesiredLRPUpdate update = MODELS__DESIRED_LRPUPDATE__INIT;
    update.optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    update.instances = instances;
    Models__UpdateDesiredLRPRequest request = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)process_guid;
    request.update = &update;
    send(context, &request.base);
}

static void scale_and_wait(void *context, const ProtobufCMessage *m)
{
    struct desire *d = context;
    d->result = lifecycle_call(d->cluster, d->bbs, "/v1/desired_lrp/update", m);
}

int cluster_scale(struct cluster *c, const char *process_guid, int instances)
{
    struct desire d = {.cluster = c};
    with_scale(process_guid, instances, scale_and_wait, &d);
    return d.result;
}

static void scale_only(void *context, const ProtobufCMessage *m)
{
    struct desire *d = context;
    world_send(d->cluster->world, url_of_bbs(d->cluster, d->bbs), "/v1/desired_lrp/update", m,
               CALL_LIMIT_NS, d->answered, d->context);
}

void cluster_scale_send(struct cluster *c, struct node *bbs, const char *process_guid,
                        int instances, world_answered *answered, void *context)
{
    struct desire d = {.cluster = c, .bbs = bbs, .answered = answered, .context = context};
    with_scale(process_guid, instances, scale_only, &d);
}

int cluster_tag(struct cluster *c, const char *process_guid, const char *version)
{
    const char *const texts[][2] = {{"source_id", process_guid}, {"version", version}};
    enum { TAGS = sizeof(texts) / sizeof(texts[0]) };
    Models__MetricTagValue values[TAGS];
    Models__DesiredLRPUpdate__MetricTagsEntry entries[TAGS], *tags[TAGS];
    for (size_t i = 0; i < TAGS; i++) {
        models__metric_tag_value__init(&values[i]);
        models__desired_lrpupdate__metric_tags_entry__init(&entries[i]);
        values[i].static_ = (char *)(uintptr_t)texts[i][1];
        entries[i].key = (char *)(uintptr_t)texts[i][0];
        entries[i].value = &values[i];
        tags[i] = &entries[i];
    }
    Models__DesiredLRPUpdate update = MODELS__DESIRED_LRPUPDATE__INIT;
    update.n_metric_tags = TAGS;
    update.metric_tags = tags;
    Models__UpdateDesiredLRPRequest request = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)(uintptr_t)process_guid;
    request.update = &update;
    return lifecycle_call(c, NULL, "/v1/desired_lrp/update", &request.base);
}

int cluster_remove(struct cluster *c, const char *process_guid)
{
    Models__RemoveDesiredLRPRequest request = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)process_guid;
    return lifecycle_call(c, NULL, "/v1/desired_lrp/remove", &request.base);
}

int cluster_upsert_domain(struct cluster *c, unsigned ttl_s)
{
    Models__UpsertDomainRequest request = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
    request.domain = (char *)"default";
    request.ttl = ttl_s;
    return lifecycle_call(c, NULL, "/v1/domains/upsert", &request.base);
}

void cluster_post_evacuate(struct cluster *c, struct node *cell, int64_t limit_ns,
                           world_answered *answered, void *context)
{
    world_note(c->world, "operator", "POST /evacuate to %s", node_name(cell));
    world_send_request(c->world, node_url(cell),
                       &(struct world_request){.method = "POST",
                                               .path = "/evacuate",
                                               .peer = {.unit = "client", .name = "admin"},
                                               .admin = true,
                                               .content_type = "",
                                               .accept = "",
                                               .trace_id = ""},
                       limit_ns, answered, context);
}

int cluster_retire(struct cluster *c, const char *process_guid, int index)
{
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = (char *)process_guid;
    key.index = index;
    key.domain = (char *)"default";
    Models__RetireActualLRPRequest request = MODELS__RETIRE_ACTUAL_LRPREQUEST__INIT;
    request.actual_lrp_key = &key;
    return lifecycle_call(c, NULL, "/v1/actual_lrps/retire", &request.base);
}
