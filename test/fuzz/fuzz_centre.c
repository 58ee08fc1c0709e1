/* Target: requests to a bbs of a centre at which a site is READY and has a cluster and an app
 * instance: what clients ask for and what CRMs say, right ones first, then bent. Whatever comes,
 * each request is answered, each change of a record is a row of its lifecycle by who asked, and a
 * CRM changes what is its own, in its session, of this life and request. */
#include "bbs/route/crm.h"
#include "common/base/bytes.h"
#include "common/codec/json.h"
#include "common/lifecycle/lifecycle.h"
#include "common/model/moves.h"
#include "common/model/record.h"
#include "edge_api.pb-c.h"
#include "test/fuzz/bending.h"
#include "test/fuzz/fuzz_board.h"
#include "test/sim/model/etcd.h"

#include <string.h>

#define SITE "acme/paris"
#define CLUSTER "acme/paris/dev/web"
#define INSTANCE "acme/paris/dev/web/dev/shop/1.0"

enum { SPOKEN_MAX = 24 };

static const struct peer client = {.unit = "client", .name = "admin"};
static const struct peer paris = {.unit = "crm", .name = SITE};

/* A client's words; ' stands for ". */
static const struct client_word {
    const char *path;
    const ProtobufCMessageDescriptor *type;
    const char *json;
} words[] = {
    {"/v1/edge/flavor/set", &board__flavor_record__descriptor,
     "{'name':'small','size':{'memory_mb':64,'disk_mb':64}}"},
    {"/v1/edge/app/apply", &board__edge_app_revision_record__descriptor,
     "{'name':'dev/shop/1.0','spec':{'flavor':'small','ports':[{'internal':8080}]},"
     "'definition':{'rootfs':'preloaded:x','action':{'run':{'path':'/p','user':'u'}}}}"},
    {"/v1/edge/cloudlet/create", &board__edge_request__descriptor,
     "{'name':'" SITE "','says':{'cloudlet':{'latitude':48.8,'longitude':2.3}}}"},
    {"/v1/edge/cluster/create", &board__edge_request__descriptor,
     "{'name':'" CLUSTER "','says':{'cluster':{'flavor':'small','nodes':2}}}"},
    {"/v1/edge/instance/create", &board__edge_request__descriptor,
     "{'name':'" INSTANCE "','says':{}}"},
    {"/v1/edge/cluster/update", &board__edge_request__descriptor,
     "{'name':'" CLUSTER "','says':{'cluster':{'nodes':3}}}"},
    {"/v1/edge/instance/update", &board__edge_request__descriptor,
     "{'name':'" INSTANCE "','says':{'instance':{'env':[{'name':'A','value':'1'}]}}}"},
    {"/v1/edge/instance/refresh", &board__edge_request__descriptor,
     "{'name':'" INSTANCE "','says':{'force':true}}"},
    {"/v1/edge/instance/create", &board__edge_request__descriptor,
     "{'name':'acme/paris/dev/autocluster1/dev/shop/1.0','says':{}}"},
    {"/v1/edge/instance/delete", &board__edge_request__descriptor,
     "{'name':'" INSTANCE "','says':{'override':'IGNORE_CRM'}}"},
    {"/v1/edge/cluster/delete", &board__edge_request__descriptor,
     "{'name':'" CLUSTER "','says':{'override':'IGNORE_CRM_AND_TRANSIENT'}}"},
    {"/v1/edge/cloudlet/update", &board__edge_request__descriptor,
     "{'name':'" SITE "','says':{'replace_site':true,'cloudlet':{'latitude':1,'longitude':2,"
     "'quota':{'memory_mb':512}}}}"},
    {"/v1/edge/cloudlet/upgrade", &board__edge_request__descriptor,
     "{'name':'" SITE "','says':{'version':'2.0'}}"},
    {"/v1/edge/cloudlet/delete", &board__edge_request__descriptor,
     "{'name':'" SITE "','says':{'override':'IGNORE_CRM'}}"},
    {"/v1/edge/maintenance/start", &board__edge_request__descriptor, "{'name':'" SITE "'}"},
    {"/v1/edge/maintenance/start_no_failover", &board__edge_request__descriptor,
     "{'name':'" SITE "'}"},
    {"/v1/edge/maintenance/end", &board__edge_request__descriptor, "{'name':'" SITE "'}"},
    {"/v1/edge/app/remove", &board__edge_remove_request__descriptor, "{'name':'dev/shop/1.0'}"},
    {"/v1/edge/flavor/remove", &board__edge_remove_request__descriptor, "{'name':'small'}"},
    {"/v1/edge/cloudlet/create", &board__edge_request__descriptor,
     "{'name':'acme/rome','says':{'cloudlet':{'latitude':41.9,'longitude':12.5}}}"},
    {"/v1/edge/flavor/list", &board__edge_list_request__descriptor, "{'name':'small'}"},
    {"/v1/edge/app/list", &board__edge_list_request__descriptor, "{'name':'dev'}"},
    {"/v1/edge/cloudlet/list", &board__edge_list_request__descriptor, "{'name':'acme'}"},
    {"/v1/edge/info/list", &board__edge_list_request__descriptor, "{'name':''}"},
    {"/v1/edge/maintenance/list", &board__edge_list_request__descriptor, "{}"},
    {"/v1/edge/refs/list", &board__edge_list_request__descriptor, "{'name':'" SITE "'}"},
    {"/v1/edge/cluster/list", &board__edge_list_request__descriptor, "{'name':'" SITE "'}"},
    {"/v1/edge/instance/list", &board__edge_list_request__descriptor, "{'name':'" CLUSTER "'}"},
    {"/v1/edge/progress", &board__edge_progress_request__descriptor, "{'uid':'x'}"},
};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

/* A CRM's; life, request, session and board generation are those that the board has. */
static const struct crm_word {
    const char *move;
    enum record_type type;
    const char *name, *says;
} moves[] = {
    {"init", RECORD_CLOUDLET, SITE, "{'session':1,'identity':'X','version':'1'}"},
    {"sync", RECORD_CLOUDLETINFO, SITE, "{}"},
    {"ready", RECORD_CLOUDLET, SITE,
     "{'version':'1','leads_site':true,'cells':1,'totals':{'memory_mb':2048,'disk_mb':4096,"
     "'containers':64}}"},
    {"ready", RECORD_CLUSTERINST, CLUSTER, "{'cluster_report':{'health':'OK','uses':1}}"},
    {"ready", RECORD_APPINST, INSTANCE, "{'instance_report':{'health':'OK','running':1}}"},
    {"creating", RECORD_CLUSTERINST, CLUSTER, "{'step':{'step':1,'steps':2,'text':'slice'}}"},
    {"creating", RECORD_APPINST, INSTANCE, "{'step':{'text':'x'}}"},
    {"fail", RECORD_CLUSTERINST, CLUSTER, "{'error':'no room'}"},
    {"fail", RECORD_APPINST, INSTANCE, "{'error':'no room'}"},
    {"updating", RECORD_APPINST, INSTANCE, "{}"},
    {"deleting", RECORD_APPINST, INSTANCE, "{}"},
    {"deleted", RECORD_APPINST, INSTANCE, "{}"},
    {"deleted", RECORD_CLUSTERINST, CLUSTER, "{}"},
    {"report", RECORD_APPINST, INSTANCE,
     "{'restored':true,'instance_report':{'health':'SERVER_FAIL','endpoints':['1.2.3.4:5']}}"},
    {"report", RECORD_CLUSTERINST, CLUSTER, "{'cluster_report':{'cells':['c'],'used':{}}}"},
    {"report", RECORD_CLOUDLETINFO, SITE, "{'errors':['x'],'foreign_objects':3}"},
    {"upgrading", RECORD_CLOUDLET, SITE, "{}"},
    {"fail", RECORD_CLOUDLET, SITE, "{'error':'v2 did not come'}"},
    {"deleted", RECORD_CLOUDLET, SITE, "{}"},
    {"init", RECORD_CLOUDLET, SITE, "{'session':2,'identity':'X','version':'2.0'}"},
    {"under_maintenance", RECORD_MAINTENANCE, SITE, "{}"},
    {"normal", RECORD_MAINTENANCE, SITE, "{}"},
    {"report", RECORD_CLUSTERINST, "acme/rome/dev/web", "{}"},
    {"expire", RECORD_APPINST, INSTANCE, "{}"},
};
enum { MOVES = sizeof(moves) / sizeof(moves[0]) };

struct centre_play {
    struct arena arena;
    struct world *w;
    const char *generation;
};

/* ---- The board ------------------------------------------------------------------------------- */

static const Etcd__RangeResponse *all_of(struct centre_play *x)
{
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    struct store_answer answer = {0};
    range.key = (ProtobufCBinaryData){1, (uint8_t *)(uintptr_t) "!"};
    range.range_end = (ProtobufCBinaryData){1, (uint8_t *)(uintptr_t) "~"};
    model_etcd_apply(store_etcd(world_store(x->w, "etcd")), STORE_RANGE, &range.base, &x->arena,
                     &answer);
    FUZZ_REQUIRE(answer.outcome == STORE_DONE);
    return (const Etcd__RangeResponse *)answer.message;
}

static const char *key_at(struct centre_play *x, const Etcd__RangeResponse *all, size_t i)
{
    return i < all->n_kvs
               ? arena_strndup(&x->arena, (const char *)all->kvs[i]->key.data, all->kvs[i]->key.len)
               : NULL;
}

/* NULL = there is none, or it cannot be read. */
static const ProtobufCMessage *message_at(struct centre_play *x, const Etcd__RangeResponse *all,
                                          size_t i)
{
    ProtobufCMessage *m = NULL;
    const char *key = key_at(x, all, i);
    struct bytes value = {all->kvs[i]->value.data, all->kvs[i]->value.len};
    return record_decode(&x->arena, key_type(key), value, &m, NULL) == 0 ? m : NULL;
}

static const ProtobufCMessage *record_on(struct centre_play *x, const Etcd__RangeResponse *all,
                                         const char *key)
{
    for (size_t i = 0; i < all->n_kvs; i++) {
        if (strcmp(key_at(x, all, i), key) == 0) {
            return message_at(x, all, i);
        }
    }
    return NULL;
}

static const char *text_in(const ProtobufCMessage *m, const char *field)
{
    const ProtobufCFieldDescriptor *f =
        m ? protobuf_c_message_descriptor_get_field_by_name(m->descriptor, field) : NULL;
    const char *text = f ? *(const char *const *)((const char *)m + f->offset) : NULL;
    return text ? text : "";
}

static uint64_t number_in(const ProtobufCMessage *m, const char *field)
{
    const ProtobufCFieldDescriptor *f =
        m ? protobuf_c_message_descriptor_get_field_by_name(m->descriptor, field) : NULL;
    return f ? *(const uint64_t *)(const void *)((const char *)m + f->offset) : 0;
}

/* ---- What may change ------------------------------------------------------------------------- */

static int state_in(const struct lifecycle *l, const ProtobufCMessage *m)
{
    return m ? lifecycle_state(l, text_in(m, "state")) : 0; /* each has `none` first */
}

static bool is_row(const struct lifecycle *l, int from, enum actor actor, int to)
{
    for (size_t t = 0; t < l->trigger_count; t++) {
        if (lifecycle_leads(l, from, actor, (int)t, to)) {
            return true;
        }
    }
    return from == to; /* what stands beside the object, or was said of it */
}

static bool is_of_site(struct arena *a, const char *key)
{
    return crm_owns(a, SITE, key) || strcmp(key, key_edge(a, RECORD_REFS, SITE)) == 0 ||
           key_type(key) == RECORD_USE || key_type(key) == RECORD_NAME ||
           key_type(key) == RECORD_PROGRESS;
}

static bool is_of_edge(enum record_type type)
{
    return type == RECORD_FLAVOR || type == RECORD_APP || type == RECORD_APPDEF ||
           type == RECORD_CLOUDLET || type == RECORD_CLOUDLETINFO || type == RECORD_MAINTENANCE ||
           type == RECORD_CLUSTERINST || type == RECORD_APPINST || type == RECORD_REFS ||
           type == RECORD_USE || type == RECORD_NAME || type == RECORD_PROGRESS;
}

static void require_change(struct centre_play *x, const struct peer *by, const char *key,
                           const ProtobufCMessage *before, const ProtobufCMessage *after)
{
    enum record_type type = key_type(key);
    const struct lifecycle *l = record_kind(type)->lifecycle;
    bool crm = strcmp(by->unit, "crm") == 0;
    if (!is_of_edge(type)) {
        return;
    }
    FUZZ_REQUIRE(crm || strcmp(by->unit, "client") == 0);
    FUZZ_REQUIRE(!crm || (strcmp(by->name, SITE) == 0 && is_of_site(&x->arena, key)));
    if (l) {
        int from = state_in(l, before), to = state_in(l, after);
        FUZZ_REQUIRE(from >= 0 && to >= 0);
        FUZZ_REQUIRE(is_row(l, from, crm ? ACTOR_CRM : ACTOR_CLIENT, to));
    }
}

static void require_changes(struct centre_play *x, const struct peer *by,
                            const Etcd__RangeResponse *before, const Etcd__RangeResponse *after)
{
    size_t i = 0, k = 0;
    while (i < before->n_kvs || k < after->n_kvs) {
        const char *was = key_at(x, before, i), *is = key_at(x, after, k);
        int order = !was ? 1 : !is ? -1 : strcmp(was, is);
        if (order < 0) {
            require_change(x, by, was, message_at(x, before, i), NULL);
        } else if (order > 0) {
            require_change(x, by, is, NULL, message_at(x, after, k));
        } else if (before->kvs[i]->mod_revision != after->kvs[k]->mod_revision) {
            require_change(x, by, is, message_at(x, before, i), message_at(x, after, k));
        }
        i += order <= 0;
        k += order >= 0;
    }
}

/* One move of a CRM about a cluster or an instance: what it names is what stands. */
static void require_answered(struct centre_play *x, struct bytes body,
                             const Etcd__RangeResponse *before, const Etcd__RangeResponse *after)
{
    ProtobufCAllocator allocator = arena_protobuf(&x->arena);
    const Board__ApplyRequest *r = board__apply_request__unpack(&allocator, body.size, body.data);
    if (!r || r->n_moves != 1 || !move_well_formed(&x->arena, r->moves[0])) {
        return;
    }
    const char *key = move_key(&x->arena, r->moves[0]);
    const Board__EdgeMove *m = move_edge(r->moves[0]);
    const ProtobufCMessage *was = record_on(x, before, key);
    const ProtobufCMessage *info =
        record_on(x, before, key_edge(&x->arena, RECORD_CLOUDLETINFO, SITE));
    enum record_type type = key_type(key);
    if (!was || (type != RECORD_CLUSTERINST && type != RECORD_APPINST)) {
        return;
    }
    bool names =
        strcmp(m->uid, text_in(was, "uid")) == 0 && m->request == number_in(was, "request") &&
        m->session == number_in(info, "session") && strcmp(m->board_generation, x->generation) == 0;
    const ProtobufCMessage *is = record_on(x, after, key);
    bool same = is &&
                protobuf_c_message_get_packed_size(was) == protobuf_c_message_get_packed_size(is) &&
                strcmp(text_in(was, "state"), text_in(is, "state")) == 0;
    FUZZ_REQUIRE(names || same);
}

/* ---- What is said ---------------------------------------------------------------------------- */

static const char *in_quotes(struct arena *a, const char *text)
{
    char *json = arena_strdup(a, text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return json;
}

static const ProtobufCMessage *message_of(struct arena *a, const ProtobufCMessageDescriptor *type,
                                          const char *text)
{
    ProtobufCMessage *m = NULL;
    int r = json_decode(a, type, bytes_of(in_quotes(a, text)),
                        CODEC_OWN | CODEC_STRICT | CODEC_SNAKE_CASE, &m, NULL);
    FUZZ_REQUIRE(r == 0);
    return m;
}

static struct bytes packed(struct arena *a, const ProtobufCMessage *m)
{
    size_t size = protobuf_c_message_get_packed_size(m);
    uint8_t *data = arena_alloc(a, size + 1);
    protobuf_c_message_pack(m, data);
    return (struct bytes){data, size};
}

static struct bytes said_by_crm(struct centre_play *x, const struct crm_word *word)
{
    struct arena *a = &x->arena;
    const char *key = key_edge(a, word->type, word->name);
    const Etcd__RangeResponse *all = all_of(x);
    const ProtobufCMessage *object = record_on(x, all, key);
    const ProtobufCMessage *info = record_on(x, all, key_edge(a, RECORD_CLOUDLETINFO, SITE));
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    Board__Move *m = move_new(a, word->move, key);
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge =
        (Board__EdgeMove *)(uintptr_t)message_of(a, &board__edge_move__descriptor, word->says);
    m->edge->uid = arena_strdup(a, text_in(object, "uid"));
    m->edge->request = number_in(object, "request");
    m->edge->session = m->edge->session ? m->edge->session : number_in(info, "session");
    m->edge->board_generation = arena_strdup(a, x->generation);
    r.moves = &m;
    r.n_moves = 1;
    return packed(a, &r.base);
}

static int ask_as(struct centre_play *x, const struct peer *peer, const char *path, bool json,
                  struct bytes body)
{
    const Etcd__RangeResponse *before = all_of(x);
    int status =
        fuzz_ask(x->w, &(struct world_request){.method = "POST",
                                               .path = path,
                                               .peer = *peer,
                                               .content_type = json ? "application/json"
                                                                    : "application/x-protobuf",
                                               .accept = "",
                                               .trace_id = "t",
                                               .body = body});
    const Etcd__RangeResponse *after = all_of(x);
    require_changes(x, peer, before, after);
    if (strcmp(path, "/v1/board/apply") == 0 && strcmp(peer->unit, "crm") == 0) {
        require_answered(x, body, before, after);
    }
    FUZZ_REQUIRE(status == 200 || status == 400 || status == 403 || status == 404 ||
                 status == 409 || status == 500 || status == 503);
    return status;
}

/* Straight, up to an app instance that is READY. */
static void set_up(struct centre_play *x, unsigned steps)
{
    static const struct {
        bool crm;
        unsigned number;
    } script[] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2},
                  {0, 3}, {1, 3}, {0, 4}, {1, 4}, {0, 19}};
    for (size_t i = 0; i < sizeof(script) / sizeof(script[0]) && i < steps; i++) {
        const struct client_word *c = &words[script[i].number];
        struct bytes body = script[i].crm
                                ? said_by_crm(x, &moves[script[i].number])
                                : packed(&x->arena, message_of(&x->arena, c->type, c->json));
        int status = ask_as(x, script[i].crm ? &paris : &client,
                            script[i].crm ? "/v1/board/apply" : c->path, false, body);
        FUZZ_REQUIRE(status == 200);
    }
}

static const struct peer *speaker_of(uint8_t byte, bool crm)
{
    static const struct peer others[] = {
        {.unit = "crm", .name = "acme/rome"}, {.unit = "crm", .name = "paris"},
        {.unit = "rep", .name = "cell-1"},    {.unit = "converger", .name = "converger-1"},
        {.unit = "site", .name = SITE},       {.unit = "crm", .name = "acme/pari"},
    };
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    return byte < 32 ? &others[byte % OTHERS] : crm ? &paris : &client;
}

static void speak(struct centre_play *x, struct bytes *in)
{
    uint8_t which = fuzz_byte(in), how = fuzz_byte(in);
    bool crm = which & 128, json = !crm && how & 1, bends = how & 6;
    const struct client_word *c = &words[which % WORDS];
    const struct peer *peer = speaker_of(fuzz_byte(in), crm);
    struct bytes body = crm    ? said_by_crm(x, &moves[which % MOVES])
                        : json ? bytes_of(in_quotes(&x->arena, c->json))
                               : packed(&x->arena, message_of(&x->arena, c->type, c->json));
    for (unsigned i = how & 6; i && bends && in->size > 0; i -= 2) {
        body = fuzz_bent_bytes(&x->arena, body, in);
    }
    ask_as(x, peer, crm ? "/v1/board/apply" : c->path, json, body);
}

static const char *generation_of(struct centre_play *x)
{
    const Etcd__RangeResponse *all = all_of(x);
    for (size_t i = 0; i < all->n_kvs; i++) {
        if (key_type(key_at(x, all, i)) == RECORD_BOARD_GENERATION) {
            return text_in(message_at(x, all, i), "id");
        }
    }
    return "";
}

void fuzz_centre(struct bytes in)
{
    struct centre_play x = {.w = fuzz_world_with_bbs()};
    arena_init(&x.arena);
    x.generation = generation_of(&x);
    FUZZ_REQUIRE(*x.generation);
    set_up(&x, 11 - fuzz_byte(&in) % 12);
    for (unsigned i = 0; i < SPOKEN_MAX && in.size > 0; i++) {
        speak(&x, &in);
    }
    FUZZ_REQUIRE(ask_as(&x, &client, "/v1/ping", false, (struct bytes){0}) == 200);
    arena_done(&x.arena);
    world_free(x.w);
}
