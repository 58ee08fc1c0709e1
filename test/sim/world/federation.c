#include "test/sim/world/federation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "board.pb-c.h"
#include "common/base/message.h"
#include "common/model/record.h"
#include "crm/crm.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/sim/model/containers.h"

#define CRM_PORT 9025
#define NODE_CONTAINERS 16

static const char *const site_names[FEDERATION_SITES_MAX] = {"paris", "rome", "oslo", "bern"};

/* Messages are not written to: protobuf-c has no constant strings. */
static char *text(const char *borrowed)
{
    return (char *)(uintptr_t)(borrowed ? borrowed : "");
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* What processes borrow lives as long as the world: at its end they are told by their names. */
static struct arena *names(const struct federation *f)
{
    return &f->centre->arena;
}

static const char *bbs_of(struct federation *f, const struct cluster *c)
{
    const char *list = "";
    for (unsigned i = 0; i < c->options.bbs; i++) {
        list = arena_printf(names(f), "%s%s%s", list, i ? "," : "", node_url(c->bbs[i]));
    }
    return list;
}

static struct role *make_crm(void *context, unsigned incarnation)
{
    const struct federation_crm *c = context;
    const struct federation_site *s = c->site;
    (void)incarnation; /* it keeps nothing */
    return crm_new(&(struct crm_config){.name = node_name(c->node),
                                        .cloudlet = s->cloudlet,
                                        .version = c->version,
                                        .boards = s->boards,
                                        .centres = s->federation->centres,
                                        .url = node_url(c->node),
                                        .launch = c->launch});
}

static void cut_crm(struct federation_crm *c, bool cut)
{
    const struct cluster *centre = c->site->federation->centre;
    for (unsigned i = 0; i < centre->options.bbs; i++) {
        world_cut(centre->world, c->node, centre->bbs[i], cut);
        world_cut(centre->world, centre->bbs[i], c->node, cut);
    }
}

struct federation_crm *federation_add_crm(struct federation_site *s, const char *version)
{
    struct federation *f = s->federation;
    assert(s->crm_count < FEDERATION_CRMS_MAX);
    struct federation_crm *c = &s->crms[s->crm_count++];
    const char *name = arena_printf(names(f), "crm-%u.%s", s->crm_count, s->name);
    *c = (struct federation_crm){.site = s, .version = version};
    c->node = world_add(f->centre->world,
                        &(struct node_config){
                            .name = name,
                            .unit = "site",
                            .certificate_name = name,
                            .centre_name = s->cloudlet,
                            .url = arena_printf(names(f), "https://%s:%d", name, CRM_PORT),
                            .cluster = s->cluster,
                            .make = make_crm,
                            .context = c,
                        });
    assert(c->node);
    cut_crm(c, s->cut);
    return c;
}

static void add_site(struct federation *f, const struct federation_options *options)
{
    struct federation_site *s = &f->sites[f->site_count];
    struct cluster_options cluster = options->site.cells ? options->site : f->centre->options;
    cluster.cells = options->site.cells ? cluster.cells : 2;
    cluster.name = site_names[f->site_count++];
    *s = (struct federation_site){.federation = f, .name = cluster.name};
    s->cloudlet = arena_printf(names(f), "acme/%s", s->name);
    s->cluster = cluster_beside(f->centre, &cluster);
    s->boards = bbs_of(f, s->cluster);
    for (unsigned i = 0; i < (options->crms ? options->crms : 1); i++) {
        federation_add_crm(s, options->version ? options->version : "1.0");
    }
}

void federation_init(struct federation *f, struct cluster *centre,
                     const struct federation_options *options)
{
    unsigned sites = options->sites ? options->sites : 1;
    assert(sites <= FEDERATION_SITES_MAX);
    *f = (struct federation){.centre = centre};
    arena_init(&f->arena);
    f->refusal = text("");
    f->centres = bbs_of(f, centre);
    while (f->site_count < sites) {
        add_site(f, options);
        bool ready = world_run_until(centre->world, FEDERATION_CALL_NS, cluster_ready,
                                     f->sites[f->site_count - 1].cluster);
        assert(ready);
    }
}

void federation_done(struct federation *f)
{
    arena_done(&f->arena);
}

/* ---- CRMs ------------------------------------------------------------------------------------ */

void federation_start_crm(struct federation_crm *c)
{
    c->wanted = true;
    world_start(c->site->federation->centre->world, c->node);
}

void federation_kill_crm(struct federation_crm *c)
{
    c->wanted = false;
    world_kill(c->site->federation->centre->world, c->node);
}

void federation_tend(struct federation *f)
{
    for (unsigned i = 0; i < f->site_count; i++) {
        for (unsigned k = 0; k < f->sites[i].crm_count; k++) {
            struct federation_crm *c = &f->sites[i].crms[k];
            if (c->wanted && !node_up(c->node)) {
                world_start(f->centre->world, c->node);
            }
        }
    }
}

void federation_run(struct federation *f, int64_t duration_ns)
{
    for (int64_t until = world_now(f->centre->world) + duration_ns;;) {
        int64_t left_ns = until - world_now(f->centre->world);
        if (left_ns <= 0) {
            return;
        }
        federation_tend(f);
        world_run(f->centre->world, left_ns < SECOND_NS ? left_ns : SECOND_NS);
    }
}

struct leading_crm {
    struct federation_site *site;
    struct federation_crm *found;
};

static void note_leader(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct leading_crm *l = context;
    (void)type;
    for (unsigned i = 0; i < l->site->crm_count; i++) {
        struct federation_crm *c = &l->site->crms[i];
        if (strcmp(node_url(c->node), ((const Board__LeaderLockRecord *)m)->url) == 0) {
            l->found = c;
        }
    }
}

struct federation_crm *federation_leading_crm(struct federation_site *s)
{
    SCOPED_ARENA(a);
    struct leading_crm l = {.site = s};
    cluster_each(s->cluster, key_lead(&a, "site"), note_leader, &l);
    return l.found;
}

/* ---- The link, and a site that is slow ------------------------------------------------------- */

void federation_cut(struct federation_site *s, bool cut)
{
    s->cut = cut;
    for (unsigned i = 0; i < s->crm_count; i++) {
        cut_crm(&s->crms[i], cut);
    }
    world_note(s->cluster->world, s->cloudlet, cut ? "is cut off" : "is reached again");
}

static void pause_node(struct world *w, struct node *n, bool paused)
{
    if (paused && node_up(n) && !node_paused(n)) {
        world_pause(w, n);
    } else if (!paused && node_paused(n)) {
        world_wake(w, n);
    }
}

void federation_pause_site(struct federation_site *s, bool paused)
{
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        pause_node(s->cluster->world, s->cluster->bbs[i], paused);
    }
}

void federation_pause_cells(struct federation_site *s, bool paused)
{
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        pause_node(s->cluster->world, s->cluster->cells[i], paused);
    }
}

void federation_refuse_starts(struct federation_site *s, unsigned count)
{
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        model_containers_fail_starts(node_containers(s->cluster->cells[i]), count,
                                     "the site refuses");
    }
    world_note(s->cluster->world, s->cloudlet, "refuses the next %u starts of each cell", count);
}

/* ---- A client of the centre ------------------------------------------------------------------ */

static const char *centre_bbs(struct federation *f)
{
    for (unsigned i = 0; i < f->centre->options.bbs; i++) {
        if (node_up(f->centre->bbs[i]) && !node_paused(f->centre->bbs[i])) {
            return node_url(f->centre->bbs[i]);
        }
    }
    return node_url(f->centre->bbs[0]);
}

static int call(struct federation *f, const char *noun, const char *verb, const char *name,
                const ProtobufCMessage *m)
{
    SCOPED_BUF(body);
    const char *path = arena_printf(&f->arena, "/v1/edge/%s/%s", noun, verb);
    int result = -1;
    f->refusal = text("no answer");
    if (world_call(f->centre->world, centre_bbs(f), path, m, FEDERATION_CALL_NS, &body) == 200) {
        Models__DesiredLRPLifecycleResponse *r =
            models__desired_lrplifecycle_response__unpack(NULL, body.size, body.data);
        assert(r);
        result = r->error ? (int)r->error->type : 0;
        f->refusal = arena_strdup(&f->arena, r->error ? r->error->message : "");
        models__desired_lrplifecycle_response__free_unpacked(r, NULL);
    }
    world_note(f->centre->world, "client", "%s %s %s: %s", verb, noun, name,
               result == 0 ? "done" : f->refusal);
    return result;
}

static Board__EdgeRequest *request_of(struct federation *f, const char *name,
                                      const Board__EdgeMove *says)
{
    Board__EdgeRequest *r = arena_message(&f->arena, &board__edge_request__descriptor);
    r->name = text(name);
    r->says = (Board__EdgeMove *)(uintptr_t)says;
    return r;
}

int federation_ask(struct federation *f, const char *noun, const char *verb, const char *name,
                   const Board__EdgeMove *says)
{
    return call(f, noun, verb, name, &request_of(f, name, says)->base);
}

static void not_heard(void *context, int status, struct bytes body)
{
    (void)context, (void)status, (void)body;
}

void federation_send(struct federation *f, const char *noun, const char *verb, const char *name,
                     const Board__EdgeMove *says, world_answered *answered, void *context)
{
    world_note(f->centre->world, "client", "%s %s %s", verb, noun, name);
    world_send(f->centre->world, centre_bbs(f),
               arena_printf(&f->arena, "/v1/edge/%s/%s", noun, verb),
               &request_of(f, name, says)->base, FEDERATION_CALL_NS,
               answered ? answered : not_heard, context);
}

Board__EdgeMove *federation_says(struct federation *f, Board__EdgeOperation__Override override)
{
    Board__EdgeMove *m = arena_message(&f->arena, &board__edge_move__descriptor);
    m->override = override;
    return m;
}

int federation_flavor(struct federation *f, const char *name, unsigned times)
{
    Board__FlavorRecord r = BOARD__FLAVOR_RECORD__INIT;
    Board__NodeSize size = BOARD__NODE_SIZE__INIT;
    size.memory_mb = (int32_t)times * CLUSTER_INSTANCE_MEMORY_MB;
    size.disk_mb = (int32_t)times * CLUSTER_INSTANCE_DISK_MB;
    size.containers = NODE_CONTAINERS;
    r.name = text(name);
    r.size = &size;
    return call(f, "flavor", "set", name, &r.base);
}

int federation_remove(struct federation *f, const char *noun, const char *name)
{
    Board__EdgeRemoveRequest r = BOARD__EDGE_REMOVE_REQUEST__INIT;
    r.name = text(name);
    return call(f, noun, "remove", name, &r.base);
}

struct applied {
    struct federation *federation;
    const struct federation_app *app;
    int result;
};

static void apply_definition(void *context, const ProtobufCMessage *m)
{
    struct applied *x = context;
    const struct federation_app *app = x->app;
    Board__EdgeAppRevisionRecord r = BOARD__EDGE_APP_REVISION_RECORD__INIT;
    Board__EdgeAppSpec spec = BOARD__EDGE_APP_SPEC__INIT;
    Board__EdgePort port = BOARD__EDGE_PORT__INIT, *ports[] = {&port};
    Models__DesiredLRP lrp = *((const Models__DesireLRPRequest *)m)->desired_lrp;
    lrp.process_guid = lrp.domain = text("");
    lrp.instances = lrp.memory_mb = lrp.disk_mb = 0;
    lrp.annotation = text(app->text);
    port.internal = app->port;
    spec.flavor = text(app->flavor);
    spec.n_ports = app->port ? 1 : 0;
    spec.ports = ports;
    spec.scale_with_cluster = app->scale_with_cluster;
    spec.auto_delete = app->auto_delete;
    r.name = text(app->name);
    r.spec = &spec;
    r.definition = &lrp;
    x->result = call(x->federation, "app", "apply", app->name, &r.base);
}

int federation_app(struct federation *f, const struct federation_app *app)
{
    struct applied x = {.federation = f, .app = app};
    cluster_with_desire(app->name, 0, apply_definition, &x);
    return x.result;
}

int federation_create_cloudlet(struct federation_site *s)
{
    Board__CloudletSpec spec = BOARD__CLOUDLET_SPEC__INIT;
    Board__EdgeMove *says = federation_says(s->federation, 0);
    spec.latitude = 48.85;
    spec.longitude = 2.35;
    says->cloudlet = &spec;
    return federation_ask(s->federation, "cloudlet", "create", s->cloudlet, says);
}

int federation_maintain(struct federation_site *s, const char *verb)
{
    return federation_ask(s->federation, "maintenance", verb, s->cloudlet, NULL);
}

int federation_upgrade(struct federation_site *s, const char *version)
{
    Board__EdgeMove *says = federation_says(s->federation, 0);
    says->version = text(version);
    return federation_ask(s->federation, "cloudlet", "upgrade", s->cloudlet, says);
}

Board__EdgeMove *federation_says_cluster(struct federation *f, const struct federation_cluster *c)
{
    Board__EdgeMove *says = federation_says(f, c->override);
    says->cluster = arena_message(&f->arena, &board__cluster_spec__descriptor);
    says->cluster->flavor = text(c->flavor);
    says->cluster->nodes = c->nodes;
    says->cluster->dedicated = c->dedicated;
    says->reservable = c->reservable;
    return says;
}

int federation_create_cluster(struct federation *f, const struct federation_cluster *c)
{
    return federation_ask(f, "cluster", "create", c->name, federation_says_cluster(f, c));
}

int federation_update_cluster(struct federation *f, const struct federation_cluster *c)
{
    return federation_ask(f, "cluster", "update", c->name, federation_says_cluster(f, c));
}

Board__EdgeMove *federation_says_instance(struct federation *f, const struct federation_instance *i)
{
    Board__EdgeMove *says = federation_says(f, i->override);
    says->instance = arena_message(&f->arena, &board__app_inst_spec__descriptor);
    says->instance->flavor = text(i->flavor);
    if (i->colour) {
        Models__EnvironmentVariable *variable =
            arena_message(&f->arena, &models__environment_variable__descriptor);
        variable->name = text("COLOUR");
        variable->value = text(i->colour);
        says->instance->n_env = 1;
        says->instance->env = ARENA_ARRAY(&f->arena, 1, Models__EnvironmentVariable *);
        says->instance->env[0] = variable;
    }
    return says;
}

int federation_create_instance(struct federation *f, const struct federation_instance *i)
{
    return federation_ask(f, "instance", "create", i->name, federation_says_instance(f, i));
}

int federation_update_instance(struct federation *f, const struct federation_instance *i)
{
    return federation_ask(f, "instance", "update", i->name, federation_says_instance(f, i));
}

int federation_refresh_instance(struct federation *f, const char *name, bool force)
{
    Board__EdgeMove *says = federation_says(f, 0);
    says->force = force;
    return federation_ask(f, "instance", "refresh", name, says);
}

/* A cloudlet, a cluster or an instance by the parts of its name. */
static enum record_type type_of(const char *name)
{
    unsigned slashes = 0;
    for (const char *p = name; *p; p++) {
        slashes += *p == '/';
    }
    return slashes == 1 ? RECORD_CLOUDLET : slashes == 3 ? RECORD_CLUSTERINST : RECORD_APPINST;
}

int federation_delete(struct federation *f, const char *name,
                      Board__EdgeOperation__Override override)
{
    enum record_type type = type_of(name);
    const char *noun = type == RECORD_CLOUDLET      ? "cloudlet"
                       : type == RECORD_CLUSTERINST ? "cluster"
                                                    : "instance";
    return federation_ask(f, noun, "delete", name, federation_says(f, override));
}

/* ---- What the centre's store holds ----------------------------------------------------------- */

struct looked {
    struct arena *arena;
    const char *key_name; /* below it there may be others: only the very one counts */
    struct federation_object object;
};

static void take_operation(struct looked *l, const Board__EdgeOperation *o)
{
    if (o) {
        l->object.word = arena_strdup(l->arena, o->word);
        l->object.error = arena_strdup(l->arena, o->error);
        l->object.override = o->override;
        l->object.overdue = o->overdue;
        l->object.restored = o->restored;
        l->object.deadline = o->deadline;
    }
}

/* What all three kinds have. */
#define TAKE(l, r)                                                                                 \
    do {                                                                                           \
        (l)->object.exists = true;                                                                 \
        (l)->object.state = arena_strdup((l)->arena, (r)->state);                                  \
        (l)->object.uid = arena_strdup((l)->arena, (r)->uid);                                      \
        (l)->object.request = (r)->request;                                                        \
        take_operation((l), (r)->operation);                                                       \
    } while (0)

static void take_cloudlet(struct looked *l, const Board__CloudletRecord *r)
{
    if (strcmp(r->name, l->key_name) == 0) {
        TAKE(l, r);
    }
}

static void take_cluster(struct looked *l, const Board__ClusterInstRecord *r)
{
    if (strcmp(r->name, l->key_name) == 0) {
        TAKE(l, r);
        l->object.digest = arena_strdup(l->arena, r->digest);
        l->object.former_digest = arena_strdup(l->arena, r->former_digest);
        l->object.health = arena_strdup(l->arena, r->reported ? r->reported->health : "");
    }
}

static void take_instance(struct looked *l, const Board__AppInstRecord *r)
{
    if (strcmp(r->name, l->key_name) == 0) {
        TAKE(l, r);
        l->object.digest = arena_strdup(l->arena, r->digest);
        l->object.former_digest = arena_strdup(l->arena, r->former_digest);
        l->object.health = arena_strdup(l->arena, r->reported ? r->reported->health : "");
        l->object.running = r->reported ? r->reported->running : 0;
        l->object.real_cluster = arena_strdup(l->arena, r->real_cluster);
        l->object.revision = r->spec ? r->spec->revision : 0;
        l->object.instances = r->spec ? r->spec->instances : 0;
    }
}

static void take_object(void *context, enum record_type type, const ProtobufCMessage *m)
{
    if (type == RECORD_CLOUDLET) {
        take_cloudlet(context, (const Board__CloudletRecord *)m);
    } else if (type == RECORD_CLUSTERINST) {
        take_cluster(context, (const Board__ClusterInstRecord *)m);
    } else if (type == RECORD_APPINST) {
        take_instance(context, (const Board__AppInstRecord *)m);
    }
}

struct federation_object federation_object(struct federation *f, const char *name)
{
    SCOPED_ARENA(a);
    struct looked l = {.arena = &f->arena, .key_name = name};
    l.object = (struct federation_object){.state = "",
                                          .uid = "",
                                          .digest = "",
                                          .former_digest = "",
                                          .word = "",
                                          .error = "",
                                          .health = "",
                                          .real_cluster = ""};
    cluster_each(f->centre, key_edge(&a, type_of(name), name), take_object, &l);
    return l.object;
}

struct said_state {
    const char *name;
    char state[32];
    uint64_t session;
};

static void take_said(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct said_state *s = context;
    const Board__CloudletInfoRecord *info = (const Board__CloudletInfoRecord *)m;
    const Board__MaintenanceRecord *maintenance = (const Board__MaintenanceRecord *)m;
    bool is_info = type == RECORD_CLOUDLETINFO;
    if (strcmp(is_info ? info->name : maintenance->name, s->name) == 0) {
        strncpy(s->state, is_info ? info->state : maintenance->state, sizeof(s->state) - 1);
        s->session = is_info ? info->session : 0;
    }
}

static struct said_state said(struct federation_site *s, enum record_type type)
{
    SCOPED_ARENA(a);
    struct said_state x = {.name = s->cloudlet};
    cluster_each(s->federation->centre, key_edge(&a, type, s->cloudlet), take_said, &x);
    return x;
}

const char *federation_info_state(struct federation_site *s)
{
    struct said_state x = said(s, RECORD_CLOUDLETINFO);
    return arena_strdup(&s->federation->arena, x.state);
}

const char *federation_maintenance_state(struct federation_site *s)
{
    struct said_state x = said(s, RECORD_MAINTENANCE);
    return arena_strdup(&s->federation->arena, x.state);
}

uint64_t federation_session(struct federation_site *s)
{
    return said(s, RECORD_CLOUDLETINFO).session;
}

bool federation_is(struct federation *f, const char *name, const char *state)
{
    SCOPED_ARENA(a);
    struct looked l = {.arena = &a, .key_name = name, .object.state = ""};
    cluster_each(f->centre, key_edge(&a, type_of(name), name), take_object, &l);
    return strcmp(l.object.state, state) == 0;
}

const char *federation_state(struct federation *f, const char *name)
{
    return federation_object(f, name).state;
}

struct progress_sought {
    struct arena *arena;
    const char *text, *end;
    int lines;
};

static void take_progress(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct progress_sought *p = context;
    const Board__ProgressRecord *r = (const Board__ProgressRecord *)m;
    (void)type;
    for (size_t i = 0; i < r->n_lines; i++) {
        p->lines += strstr(r->lines[i]->text, p->text) != NULL;
    }
    p->end = arena_strdup(p->arena, r->end);
}

static struct progress_sought progress(struct federation *f, const char *uid, const char *sought)
{
    SCOPED_ARENA(a);
    struct progress_sought p = {.arena = &f->arena, .text = sought, .end = ""};
    cluster_each(f->centre, key_progress(&a, uid), take_progress, &p);
    return p;
}

int federation_progress(struct federation *f, const char *uid, const char *sought)
{
    return progress(f, uid, sought).lines;
}

const char *federation_progress_end(struct federation *f, const char *uid)
{
    return progress(f, uid, "").end;
}

struct awaited_object {
    struct federation *federation;
    struct federation_site *site;
    const char *name, *state;
};

static bool is_there(void *context)
{
    struct awaited_object *x = context;
    return federation_is(x->federation, x->name, x->state);
}

static bool is_said(void *context)
{
    struct awaited_object *x = context;
    struct said_state s = said(x->site, RECORD_CLOUDLETINFO);
    return strcmp(s.state, x->state) == 0;
}

/* world_run_until() looks after each step; a tenth of a second is enough here. */
static bool await(struct federation *f, bool (*done)(void *), struct awaited_object *x,
                  int64_t limit_ns)
{
    for (int64_t until = world_now(f->centre->world) + limit_ns; !done(x);) {
        if (world_now(f->centre->world) >= until) {
            return false;
        }
        federation_tend(f);
        world_run(f->centre->world, 100 * MILLISECOND_NS);
    }
    return true;
}

bool federation_await(struct federation *f, const char *name, const char *state, int64_t limit_ns)
{
    return await(f, is_there, &(struct awaited_object){f, NULL, name, state}, limit_ns);
}

bool federation_await_info(struct federation_site *s, const char *state, int64_t limit_ns)
{
    return await(s->federation, is_said,
                 &(struct awaited_object){s->federation, s, s->cloudlet, state}, limit_ns);
}

/* ---- What a site's store holds --------------------------------------------------------------- */

struct held_sought {
    struct arena *arena;
    const char *uid;    /* "" = of all */
    const char *prefix; /* of process_guids */
    struct federation_held held;
    unsigned found; /* slices and definitions, whose digest counts when there is one */
};

static void take_digest(struct held_sought *h, const char *digest)
{
    h->held.digest = h->found++ ? "" : arena_strdup(h->arena, digest);
}

static void take_held(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct held_sought *h = context;
    size_t size = strlen(h->prefix);
    if (type == RECORD_SLICE) {
        const Board__SliceRecord *s = (const Board__SliceRecord *)m;
        if (!*h->uid || strcmp(s->uid, h->uid) == 0) {
            h->held.slices++;
            take_digest(h, s->digest);
        }
    } else if (type == RECORD_DESIRED) {
        const char *guid = ((const Models__DesiredLRP *)m)->process_guid;
        if (strncmp(guid, h->prefix, size) == 0) {
            h->held.definitions++;
            take_digest(h, guid + size);
        }
    } else if (type == RECORD_ACTUAL) {
        const Models__ActualLRP *r = (const Models__ActualLRP *)m;
        if (r->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY &&
            strncmp(r->actual_lrp_key->process_guid, h->prefix, size) == 0) {
            h->held.instances++;
            h->held.running += strcmp(r->state, "RUNNING") == 0;
        }
    }
}

static struct federation_held held_below(struct federation_site *s, const char *uid,
                                         const char *prefix)
{
    struct held_sought h = {.arena = &s->federation->arena, .uid = uid, .prefix = prefix};
    h.held.digest = "";
    cluster_each(s->cluster, "slice/", take_held, &h);
    cluster_each(s->cluster, "desired/", take_held, &h);
    cluster_each(s->cluster, "actual/", take_held, &h);
    return h.held;
}

struct federation_held federation_held(struct federation_site *s, const char *uid)
{
    SCOPED_ARENA(a);
    return held_below(s, uid, *uid ? arena_printf(&a, "a-%s-", uid) : "a-");
}

int federation_running(struct federation_site *s, const char *uid, const char *digest)
{
    SCOPED_ARENA(a);
    return held_below(s, uid, arena_printf(&a, "a-%s-%s", uid, digest)).running;
}
