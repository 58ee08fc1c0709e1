/* Targets: what decodes what a centre, its sites and its users say: messages, names, files, and the
 * answers that the command line shows. */
#include "bbs/cli/edge/edge_tree.h"
#include "bbs/cli/edge/edge_why.h"
#include "bbs/cli/edge/edge_words.h"
#include "common/appfile/app.h"
#include "common/appfile/edge_app.h"
#include "common/codec/json.h"
#include "common/codec/scan.h"
#include "common/contract/moment.h"
#include "common/model/edge_name.h"
#include "crm.pb-c.h"
#include "crm/app_lrp.h"
#include "crm/crm.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

enum { DECODED_MAX = 4 * 1024 * 1024 };

#define NOW_NS (INT64_C(1767225600) * SECOND_NS)

/* ---- messages -------------------------------------------------------------------------------- */

static const ProtobufCMessageDescriptor *const edge_types[] = {
    &board__edge_request__descriptor,       &board__edge_remove_request__descriptor,
    &board__edge_list_request__descriptor,  &board__edge_progress_request__descriptor,
    &board__edge_move__descriptor,          &board__flavor_record__descriptor,
    &board__edge_app_record__descriptor,    &board__edge_app_revision_record__descriptor,
    &board__cloudlet_record__descriptor,    &board__cloudlet_info_record__descriptor,
    &board__maintenance_record__descriptor, &board__cluster_inst_record__descriptor,
    &board__app_inst_record__descriptor,    &board__refs_record__descriptor,
    &board__use_record__descriptor,         &board__dns_name_record__descriptor,
    &board__progress_record__descriptor,    &board__slice_record__descriptor,
    &board__site_record__descriptor,        &board__site_move__descriptor,
    &board__slice_move__descriptor,         &crm__crm_state__descriptor,
};

/* What unpacks is whole, and says the same in JSON and back. */
void fuzz_edge_messages(struct bytes in)
{
    const unsigned flags = CODEC_OWN | CODEC_STRICT | CODEC_SNAKE_CASE;
    const ProtobufCMessageDescriptor *type =
        edge_types[fuzz_byte(&in) % (sizeof(edge_types) / sizeof(edge_types[0]))];
    bool json = fuzz_byte(&in) & 1;
    SCOPED_ARENA(a);
    SCOPED_BUF(first);
    SCOPED_BUF(second);
    ProtobufCMessage *m;
    int r = json ? json_decode(&a, type, in, flags, &m, NULL)
                 : scan_and_unpack(&a, type, in, DECODED_MAX, &m, NULL);
    if (r < 0) {
        return;
    }
    FUZZ_REQUIRE(protobuf_c_message_check(m));
    if (json_encode(m, flags, &first, NULL) == 0) {
        FUZZ_REQUIRE(json_decode(&a, type, buf_bytes(&first), flags, &m, NULL) == 0);
        FUZZ_REQUIRE(json_encode(m, flags, &second, NULL) == 0);
        FUZZ_REQUIRE(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static void require_label(const char *label, size_t size)
{
    FUZZ_REQUIRE(size > 0 && size <= EDGE_NAME_MAX && label[0] != '-' && label[size - 1] != '-');
    for (size_t i = 0; i < size; i++) {
        FUZZ_REQUIRE((label[i] >= 'a' && label[i] <= 'z') || label[i] == '-' ||
                     (label[i] >= '0' && label[i] <= '9'));
    }
}

static void require_dns_name(const char *name)
{
    FUZZ_REQUIRE(strlen(name) <= EDGE_DNS_NAME_MAX);
    for (const char *label = name; label;) {
        const char *dot = strchr(label, '.');
        require_label(label, dot ? (size_t)(dot - label) : strlen(label));
        label = dot ? dot + 1 : NULL;
    }
}

static void instance_name(struct arena *a, const char *name)
{
    const char *dns = edge_dns_name(a, name);
    const char *again = arena_printf(a, "%s/%s", edge_cluster_of(a, name), edge_app_of(a, name));
    FUZZ_REQUIRE(strcmp(again, name) == 0);
    FUZZ_REQUIRE(edge_name_fault(a, RECORD_CLUSTERINST, edge_cluster_of(a, name)) == NULL);
    FUZZ_REQUIRE(edge_name_fault(a, RECORD_CLOUDLET, edge_cloudlet_of(a, name)) == NULL);
    FUZZ_REQUIRE(edge_name_fault(a, RECORD_APP, edge_app_of(a, name)) == NULL);
    if (dns) {
        require_dns_name(dns);
    }
}

/* What may be a name is one key and comes back from it; versions have an order; the guid of an app
 * instance's DesiredLRP tells what it was made of. */
void fuzz_edge_names(struct bytes in)
{
    SCOPED_ARENA(a);
    enum record_type type = (enum record_type)(fuzz_byte(&in) % RECORD_UNKNOWN);
    const char *name = fuzz_text(&a, &in), *other = fuzz_text(&a, &in), *uid, *digest;
    const char *fault = edge_name_fault(&a, type, name);
    if (!fault) {
        const char *key = key_edge(&a, type, name);
        FUZZ_REQUIRE(strcmp(key_edge_name(&a, key), name) == 0 && key_type(key) == type);
    } else {
        FUZZ_REQUIRE(*fault && strlen(fault) < 512);
    }
    if (!fault && type == RECORD_APPINST) {
        instance_name(&a, name);
    }
    if (!edge_cluster_fault(&a, name)) {
        FUZZ_REQUIRE(!edge_cluster_is_automatic(name));
    }
    for (unsigned n = 0; n < 8; n++) {
        edge_name_parts(&a, name, n, n + fuzz_byte(&in) % 8);
    }
    int order = edge_version_order(name, other);
    FUZZ_REQUIRE((order > 0) - (order < 0) ==
                 (edge_version_order(other, name) < 0) - (edge_version_order(other, name) > 0));
    FUZZ_REQUIRE(edge_version_order(name, name) == 0);
    if (app_lrp_parse(&a, name, &uid, &digest)) {
        FUZZ_REQUIRE(strcmp(app_lrp_guid(&a, uid, digest), name) == 0);
    }
}

/* ---- files and words of users ---------------------------------------------------------------- */

/* Of an app file of sites: a mistake is told with its line, or the app is one that a centre reads.
 */
void fuzz_edge_app(struct bytes in)
{
    SCOPED_ARENA(a);
    struct edge_app *apps;
    size_t count;
    struct err err = {0};
    const char *file = fuzz_byte(&in) & 1 ? "app.json" : "app.yaml";
    if (edge_app_parse(&a, file, in, &apps, &count, &err) < 0) {
        FUZZ_REQUIRE(err.text[0]);
        return;
    }
    FUZZ_REQUIRE(count <= APPS_MAX);
    for (size_t i = 0; i < count; i++) {
        const Board__EdgeAppRevisionRecord *r = apps[i].revision;
        FUZZ_REQUIRE(protobuf_c_message_check(&r->base) && r->spec && r->definition);
        FUZZ_REQUIRE(!edge_name_fault(&a, RECORD_APP, r->name));
        FUZZ_REQUIRE(!*r->definition->process_guid && r->definition->instances == 0);
    }
}

/* ---- what is shown --------------------------------------------------------------------------- */

static void *answered(struct arena *a, const ProtobufCMessageDescriptor *type, struct bytes *in)
{
    ProtobufCMessage *m;
    return scan_and_unpack(a, type, fuzz_piece(in), DECODED_MAX, &m, NULL) == 0
               ? m
               : arena_message(a, type);
}

/* Nothing in it can play with a terminal. */
static void require_calm(struct buf *out)
{
    for (size_t i = 0; i < out->size; i++) {
        FUZZ_REQUIRE(out->data[i] == '\n' || out->data[i] >= ' ');
        FUZZ_REQUIRE(out->data[i] != 0x7f);
    }
    buf_clear(out);
}

static void show_each(struct arena *a, const struct edge_board *b, const Board__ProgressRecord *p,
                      struct buf *out)
{
    for (size_t i = 0; i < b->cloudlets->n_cloudlets; i++) {
        edge_cloudlet_show(a, b, b->cloudlets->cloudlets[i], out);
        edge_why_cloudlet(a, b, b->cloudlets->cloudlets[i], p, out);
        require_calm(out);
    }
    for (size_t i = 0; i < b->clusters->n_clusters; i++) {
        edge_cluster_show(a, b, b->clusters->clusters[i], out);
        edge_why_cluster(a, b, b->clusters->clusters[i], p, out);
        require_calm(out);
    }
    for (size_t i = 0; i < b->instances->n_instances; i++) {
        edge_instance_show(a, b, b->instances->instances[i], out);
        edge_why_instance(a, b, b->instances->instances[i], p, out);
        require_calm(out);
    }
}

static void follow_each(struct arena *a, const struct edge_board *b, const Board__ProgressRecord *p,
                        struct buf *out)
{
    for (size_t i = 0; i < b->instances->n_instances; i++) {
        const struct edge_thing thing = edge_thing_of_instance(b->instances->instances[i]);
        struct edge_wanted w = {.noun = "app instance", .name = thing.name};
        const char *why = "";
        enum edge_end end = edge_look(a, &w, &thing, p, &why);
        FUZZ_REQUIRE(*edge_end_text(a, &w, end, why) && edge_end_status(end) <= 6);
        edge_lines(&w, p, i & 1, out);
        require_calm(out);
    }
}

void fuzz_edge_shown(struct bytes in)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(out);
    struct edge_board b = {
        .cloudlets = answered(&a, &board__edge_cloudlets_response__descriptor, &in),
        .infos = answered(&a, &board__edge_infos_response__descriptor, &in),
        .refs = answered(&a, &board__edge_refs_response__descriptor, &in),
        .maintenance = answered(&a, &board__edge_maintenance_response__descriptor, &in),
        .clusters = answered(&a, &board__edge_clusters_response__descriptor, &in),
        .instances = answered(&a, &board__edge_instances_response__descriptor, &in),
        .now_ns = NOW_NS,
    };
    const Board__ProgressRecord *p = answered(&a, &board__progress_record__descriptor, &in);
    edge_flavors_table(&a, answered(&a, &board__edge_flavors_response__descriptor, &in), NOW_NS, 80,
                       &out);
    edge_apps_table(&a, answered(&a, &board__edge_apps_response__descriptor, &in), NOW_NS, 80,
                    &out);
    edge_cloudlets_table(&a, &b, &out);
    edge_clusters_table(&a, &b, &out);
    edge_instances_table(&a, &b, &out);
    edge_tree(&a, &b, &out);
    require_calm(&out);
    show_each(&a, &b, p, &out);
    follow_each(&a, &b, p, &out);
    edge_end_of(p);
    int32_t mb;
    double latitude, longitude;
    const char *text = fuzz_text(&a, &in);
    if (edge_size_read("memory", text, &mb, NULL) == 0) {
        FUZZ_REQUIRE(mb > 0);
    }
    edge_location_read(text, &latitude, &longitude, NULL);
}

/* ---- requests to a crm ----------------------------------------------------------------------- */

void fuzz_crm(struct bytes in)
{
    enum { REQUESTS_MAX = 8 };
    static const char *const paths[] = {"/state", "/plan", "/ping", "/", "/state/x"};
    SCOPED_ARENA(a);
    struct effects out;
    struct role *r = crm_new(&(struct crm_config){.name = "crm-1",
                                                  .cloudlet = "acme/paris",
                                                  .version = "1.0",
                                                  .boards = "https://a:1",
                                                  .centres = "https://c:1,https://d:1",
                                                  .url = "https://crm-1:1"});
    effects_init(&out, &a);
    role_step(r,
              &(struct event){.kind = EVENT_START,
                              .now = {.mono_ns = 1000 * SECOND_NS, .wall_ns = NOW_NS},
                              .entropy = {3, 4}},
              &out);
    for (unsigned i = 0; i < REQUESTS_MAX && in.size > 0; i++) {
        const char *path = paths[fuzz_byte(&in) % (sizeof(paths) / sizeof(paths[0]))];
        const char *method = fuzz_byte(&in) & 1 ? "GET" : "POST";
        FUZZ_REQUIRE(fuzz_request(r, method, path, fuzz_piece(&in)));
    }
    role_free(r);
}
