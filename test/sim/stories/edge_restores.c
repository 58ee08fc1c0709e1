/* A centre or a site that is as it was before, or another one, or has records of a later version.
 */
#include "test/sim/stories/edge_play.h"

#include "board.pb-c.h"
#include "common/model/record.h"
#include "test/sim/model/etcd.h"

#define LATE "acme/paris/dev/late"

static int confirm(struct edge_play *x)
{
    Board__EdgeMove *says = federation_says(&x->f, 0);
    says->force = true;
    return federation_ask(&x->f, "cloudlet", "update", PARIS, says);
}

/* As an operator does it. */
static void restore(struct cluster *c, int64_t revision)
{
    store_restore(c->store, revision, SECOND_NS);
    world_run(c->world, 2 * SECOND_NS);
    cluster_new_board_generation(c, "again");
}

void story_a_centre_is_restored(struct cluster *c)
{
    struct edge_play x;
    says(c, "An app runs at its site, and the centre is saved. Then another cluster is made, and "
            "the app is updated.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    struct federation_object former = federation_object(&x.f, SHOP);
    int64_t revision = model_etcd_revision(store_etcd(c->store));
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    const char *late = federation_object(&x.f, LATE).uid;
    edge_done(&x, edge_refresh_shop(&x, "another"));
    edge_await(&x, SHOP, "READY");
    int before = cluster_containers(x.paris->cluster);

    says(c, "The centre is restored. It knows nothing of the cluster, and the site removes "
            "nothing, and goes on.");
    restore(c, revision);
    assert_false(federation_object(&x.f, LATE).exists);
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_string_equal(federation_info_state(x.paris), "READY");
    assert_int_equal(federation_held(x.paris, late).slices, 1);
    assert_true(cluster_containers(x.paris->cluster) >= before);
    assert_string_equal(federation_state(&x.f, SHOP), "READY");
    federation_kill_crm(&x.paris->crms[0]);
    federation_start_crm(&x.paris->crms[0]);
    federation_run(&x.f, 3600 * SECOND_NS);
    assert_int_equal(federation_held(x.paris, late).slices, 1);

    says(c, "A client confirms that the centre is to be believed: what it does not know goes, what "
            "it knows is there as it says.");
    edge_done(&x, confirm(&x));
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_int_equal(federation_held(x.paris, late).slices, 0);
    assert_string_equal(federation_object(&x.f, SHOP).digest, former.digest);
    edge_shop_runs(&x);
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    edge_end(&x);
}

void story_a_site_is_restored(struct cluster *c)
{
    struct edge_play x;
    says(c, "A site is saved before an app comes there. With it, another cluster is deleted.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    const char *late = federation_object(&x.f, LATE).uid;
    int64_t revision = model_etcd_revision(store_etcd(x.paris->cluster->store));
    edge_with_shop(&x);
    edge_done(&x, federation_delete(&x.f, LATE, 0));
    edge_await(&x, LATE, "");
    struct federation_object shop = federation_object(&x.f, SHOP);

    says(c, "The site is restored: it makes again what it should have, and lets go of what it "
            "should not. At the centre no operation begins, and nothing is lost.");
    restore(x.paris->cluster, revision);
    federation_run(&x.f, 2 * EDGE_SETTLE_NS);
    assert_string_equal(federation_info_state(x.paris), "READY");
    assert_int_equal(federation_held(x.paris, late).slices, 0);
    assert_int_equal(federation_held(x.paris, "").slices, 1);
    struct federation_object after = federation_object(&x.f, SHOP);
    assert_string_equal(after.uid, shop.uid);
    assert_int_equal(after.request, shop.request);
    assert_string_equal(after.state, "READY");
    edge_shop_runs(&x);
    assert_int_equal(cluster_containers(x.paris->cluster), 2);
    edge_end(&x);
}

void story_a_site_is_built_again(struct cluster *c)
{
    struct edge_play x;
    says(c, "The machines of a site are lost, and its cluster is built again: another site, by its "
            "identity, with the same certificate.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    federation_kill_crm(&x.paris->crms[0]);
    store_restore(x.paris->cluster->store, x.empty_revision, SECOND_NS);
    world_run(c->world, 2 * SECOND_NS);
    cluster_new_board_generation(x.paris->cluster, "another");
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_int_equal(federation_held(x.paris, "").slices, 0);
    federation_start_crm(&x.paris->crms[0]);
    federation_run(&x.f, 2 * EDGE_SETTLE_NS);

    says(c, "The centre does not take it: it is not the site that had this name.");
    assert_string_equal(federation_info_state(x.paris), "OFFLINE");
    assert_int_equal(federation_held(x.paris, "").slices, 0);
    edge_refused(&x, edge_create_cluster(&x, LATE, 2), "is offline");

    says(c, "A client gives it the name. It is READY, and makes all that the centre wants there.");
    Board__EdgeMove *says_replace = federation_says(&x.f, 0);
    says_replace->replace_site = true;
    edge_done(&x, federation_ask(&x.f, "cloudlet", "update", PARIS, says_replace));
    assert_true(federation_await_info(x.paris, "READY", 2 * EDGE_SETTLE_NS));
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "READY");
    edge_shop_runs(&x);
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    edge_end(&x);
}

void story_a_full_disk_at_a_site(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    says(c, "The disk of a site's etcd is full, again and again, while clusters and apps are "
            "made, changed and deleted there. Each operation waits for room, and is done.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_web(&x);
    edge_apply_shop(&x, "");
    static const char *const acts[] = {"create", "refresh", "delete"};
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        world_run(w, (int64_t)random_below(world_random(w), 1000) * MILLISECOND_NS);
        store_fill(x.paris->cluster->store, true);
        if (i == 1) {
            edge_apply_shop(&x, "another");
        }
        edge_done(&x, federation_ask(&x.f, "instance", acts[i], SHOP, federation_says(&x.f, 0)));
        for (unsigned k = 0; k < 20; k++) {
            federation_run(&x.f, SECOND_NS / 4);
            store_fill(x.paris->cluster->store, true);
        }
        store_fill(x.paris->cluster->store, false);
        edge_await(&x, SHOP, i == 2 ? "" : "READY");
        if (i < 2) {
            edge_shop_runs(&x);
        }
    }
    edge_done(&x, federation_delete(&x.f, WEB, 0));
    edge_await(&x, WEB, "");
    edge_holds_nothing(&x);
    edge_end(&x);
}

static void keep_record(void *context, enum record_type type, const ProtobufCMessage *m)
{
    SCOPED_BUF(bytes);
    (void)type;
    buf_message(&bytes, m);
    *(Board__AppInstRecord **)context =
        board__app_inst_record__unpack(NULL, bytes.size, bytes.data);
}

/* SHOP's record, as this version writes it or as a later one does. */
static void write_shop(struct edge_play *x, const Board__AppInstRecord *r, bool later)
{
    struct bytes value = record_encoded(&x->f.arena, &r->base);
    uint8_t *copy = arena_copy(&x->f.arena, value.data, value.size);
    copy[0] = later ? RECORD_VERSION + 1 : RECORD_VERSION;
    store_put(x->f.centre->store, key_edge(&x->f.arena, RECORD_APPINST, SHOP),
              (struct bytes){.data = copy, .size = value.size});
}

/* All that follow the centre's board. */
static void begin_again(struct edge_play *x)
{
    struct cluster *c = x->f.centre;
    federation_kill_crm(&x->paris->crms[0]);
    world_kill(c->world, c->converger);
    world_kill(c->world, c->bbs[0]);
    world_run(c->world, SECOND_NS);
    world_start(c->world, c->bbs[0]);
    world_start(c->world, c->converger);
    federation_start_crm(&x->paris->crms[0]);
    federation_run(&x->f, 3600 * SECOND_NS);
    assert_string_equal(federation_info_state(x->paris), "READY");
}

void story_a_record_of_a_later_version(struct cluster *c)
{
    struct edge_play x;
    Board__AppInstRecord *record = NULL;
    says(c, "A later version of the software has written an app's record: its state is none of "
            "ours. Nobody touches it, nor what is at its site, also when CRM, converger and bbs "
            "begin again.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    struct federation_object former = federation_object(&x.f, SHOP);
    cluster_each(c, "appinst/", keep_record, &record);
    char *state = record->state;
    record->state = (char *)(uintptr_t) "MIGRATING";
    write_shop(&x, record, false);
    federation_run(&x.f, 5 * SECOND_NS);
    assert_int_not_equal(federation_delete(&x.f, SHOP, 0), 0);
    begin_again(&x);
    assert_string_equal(federation_state(&x.f, SHOP), "MIGRATING");
    assert_int_equal(federation_running(x.paris, former.uid, former.digest), 2);

    says(c, "Then the whole record is one that we cannot read.");
    record->state = state;
    write_shop(&x, record, true);
    federation_run(&x.f, 5 * SECOND_NS);
    assert_int_not_equal(federation_delete(&x.f, SHOP, 0), 0);
    begin_again(&x);
    assert_int_equal(federation_running(x.paris, former.uid, former.digest), 2);

    says(c, "Beside it all goes on. When it is one of ours again, so does what it is about.");
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    write_shop(&x, record, false);
    board__app_inst_record__free_unpacked(record, NULL);
    federation_run(&x.f, 5 * SECOND_NS);
    edge_shop_runs(&x);
    edge_done(&x, federation_delete(&x.f, SHOP, 0));
    edge_await(&x, SHOP, "");
    edge_end(&x);
}
