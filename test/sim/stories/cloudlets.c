/* The life of a cloudlet: it is made, comes, falls silent, comes back, is somebody else's, is under
 * maintenance, and goes (docs/edge.md, Cloudlets, Maintenance). */
#include "test/sim/stories/crms.h"

/* A site is called OFFLINE within this time, and READY within that one when it is back. */
#define OFFLINE_NS (45 * SECOND_NS)
#define BACK_NS (30 * SECOND_NS)

static void note_body(void *context, int status, struct bytes body)
{
    struct buf *answer = context;
    assert_int_equal(status, 200);
    buf_append(answer, body.data, body.size);
}

/* What a CRM says of itself to people has this in it: GET /state. */
static void expect_told(struct crms *x, struct node *n, const char *text)
{
    SCOPED_BUF(answer);
    const struct world_request q = {.method = "GET",
                                    .path = "/state",
                                    .peer = {.unit = "client", .name = "me"},
                                    .content_type = "",
                                    .accept = "",
                                    .trace_id = ""};
    world_send_request(x->world, node_url(n), &q, SECOND_NS, note_body, &answer);
    world_run(x->world, SECOND_NS);
    if (!strstr(buf_string(&answer), text)) {
        fail_msg("%s does not say `%s`: %s", node_name(n), text, buf_string(&answer));
    }
}

static void note_duration(struct crms *x, const char *what, int64_t ns)
{
    world_note(x->world, "story", "%s after %lld.%lld s", what, (long long)(ns / SECOND_NS),
               (long long)(ns / (SECOND_NS / 10) % 10));
}

/* Both are gone, and the site holds nothing of them. */
static void delete_app(struct crms *x)
{
    assert_string_equal(crms_delete(x, WEB), "");
    edge_await(&x->play, WEB, "");
    edge_holds_nothing(&x->play);
    x->containers = 0;
}

void story_a_cloudlet_comes_and_goes(struct cluster *c)
{
    struct crms x;
    says(c, "A CRM is started where no cloudlet is: it is told the command that makes one.");
    crms_open(&x, c, false);
    crms_start(&x, "1.0");
    crms_pass(&x, 3 * SECOND_NS);
    expect_told(&x, crms_node(&x, "1.0"), "`bbs cloudlets create acme/paris`");

    says(c, "It is made, and the CRM comes: INIT, NEED_SYNC, READY.");
    Board__EdgeMove *says_where = federation_says(&x.play.f, 0);
    Board__CloudletSpec spec = BOARD__CLOUDLET_SPEC__INIT;
    spec.latitude = 48.85;
    spec.longitude = 2.35;
    says_where->cloudlet = &spec;
    federation_send(&x.play.f, "cloudlet", "create", PARIS, says_where, NULL, NULL);
    crms_until(&x, "CRM_INITOK", "INIT", 1);
    crms_until(&x, "CRM_INITOK", "NEED_SYNC", 1);
    crms_until(&x, "READY", "READY", 1);
    assert_int_equal(crms_info(&x)->cells, 1);
    assert_true(crms_info(&x)->totals->memory_mb > 0);
    assert_string_equal(crms_end(&x), "ready");
    const char *uid = crms_cloudlet(&x)->uid, *identity = crms_cloudlet(&x)->identity;
    edge_refused(&x.play, federation_create_cloudlet(x.site), "cloudlet acme/paris exists");
    edge_done(&x.play, federation_flavor(&x.play.f, "small", 1));
    edge_with_shop(&x.play);
    x.containers = 2;

    says(c, "A CRM that begins again opens another session. What is used does not go.");
    world_kill(c->world, crms_node(&x, "1.0"));
    crms_start(&x, "1.0");
    crms_until(&x, "READY", "READY", 2);
    assert_string_equal(crms_cloudlet(&x)->uid, uid);
    assert_string_equal(crms_delete(&x, PARIS), "cloudlet acme/paris is used by " WEB ", " SHOP);

    says(c, "It goes when nothing is there. Made again it is another one, at the same site.");
    delete_app(&x);
    assert_string_equal(crms_delete(&x, PARIS), "");
    crms_await(&x, "", "", SETTLE_NS);
    expect_told(&x, crms_node(&x, "1.0"), "`bbs cloudlets create acme/paris`");
    edge_done(&x.play, federation_create_cloudlet(x.site));
    crms_await(&x, "READY", "READY", SETTLE_NS);
    assert_string_not_equal(crms_cloudlet(&x)->uid, uid);
    assert_string_equal(crms_cloudlet(&x)->identity, identity);
    crms_close(&x);
}

void story_a_site_is_silent_and_comes_back(struct cluster *c)
{
    struct crms x;
    says(c, "The link of a site is cut: it is OFFLINE, and what runs there runs on.");
    crms_begin(&x, c, false);
    federation_cut(x.site, true);
    note_duration(&x, "OFFLINE", crms_await(&x, "READY", "OFFLINE", OFFLINE_NS));
    crms_pass(&x, crms_drawn_ns(&x, 0, 100 * SECOND_NS));

    says(c, "The link is back: in the same session it says so, compares, and is READY.");
    federation_cut(x.site, false);
    note_duration(&x, "READY", crms_await(&x, "READY", "READY", BACK_NS));
    assert_int_equal(crms_info(&x)->session, 1);
    crms_pass(&x, 40 * SECOND_NS);
    assert_string_equal(crms_info(&x)->state, "READY");

    says(c, "Cut for less than that, nobody notices.");
    int64_t since = crms_info(&x)->since;
    federation_cut(x.site, true);
    crms_pass(&x, 20 * SECOND_NS);
    federation_cut(x.site, false);
    crms_pass(&x, 60 * SECOND_NS);
    assert_int_equal(crms_info(&x)->since, since);
    assert_int_equal(crms_info(&x)->session, 1);

    says(c, "The CRM is killed, and started when the site is OFFLINE: with another session it is "
            "READY again.");
    world_kill(c->world, crms_node(&x, "1.0"));
    note_duration(&x, "OFFLINE", crms_await(&x, "READY", "OFFLINE", OFFLINE_NS));
    crms_start(&x, "1.0");
    note_duration(&x, "READY", crms_await(&x, "READY", "READY", BACK_NS));
    assert_int_equal(crms_info(&x)->session, 2);
    crms_close(&x);
}

static bool is_dead(void *node)
{
    return !node_up(node);
}

void story_a_site_is_faster_than_its_offline(struct cluster *c)
{
    struct crms x;
    says(c, "The CRM dies. When the converger calls its site OFFLINE it dies too, and what it asks "
            "for comes 20 s later. The CRM has another session by then: it stays READY.");
    crms_begin(&x, c, false);
    world_kill(c->world, crms_node(&x, "1.0"));
    crms_pass(&x, 20 * SECOND_NS);
    world_kill_asking(c->world, c->converger, 20 * SECOND_NS);
    assert_true(world_run_until(c->world, OFFLINE_NS, is_dead, c->converger));
    crms_start(&x, "1.0");
    crms_until(&x, "CRM_INITOK", "INIT", 2);
    crms_await(&x, "READY", "READY", BACK_NS);
    int64_t since = crms_info(&x)->since;
    crms_pass(&x, 40 * SECOND_NS);
    world_start(c->world, c->converger);
    assert_int_equal(crms_info(&x)->since, since);

    says(c, "It was cut off, and began nothing anew. The late OFFLINE is true of its session: it "
            "says at once that it is back.");
    federation_cut(x.site, true);
    crms_pass(&x, 20 * SECOND_NS);
    world_kill_asking(c->world, c->converger, 20 * SECOND_NS);
    assert_true(world_run_until(c->world, OFFLINE_NS, is_dead, c->converger));
    federation_cut(x.site, false);
    crms_until(&x, "READY", "OFFLINE", 2);
    world_start(c->world, c->converger);
    crms_await(&x, "READY", "READY", BACK_NS);
    crms_pass(&x, 40 * SECOND_NS);
    assert_string_equal(crms_info(&x)->state, "READY");
    assert_int_equal(crms_info(&x)->session, 2);
    crms_close(&x);
}

/* ---- Which site ------------------------------------------------------------------------------ */

static const char *update(struct crms *x, Board__CloudletSpec *spec, bool replace_site)
{
    Board__EdgeMove *says = federation_says(&x->play.f, 0);
    says->cloudlet = spec;
    says->replace_site = replace_site;
    return federation_ask(&x->play.f, "cloudlet", "update", PARIS, says) ? x->play.f.refusal : "";
}

void story_another_site_takes_a_name(struct cluster *c)
{
    struct crms x;
    says(c, "The cluster of acme/rome is given the certificate of acme/paris: the name is another "
            "site's, and stays so.");
    crms_open(&x, c, false);
    edge_done(&x.play, federation_create_cloudlet(x.site));
    crms_start(&x, "1.0");
    crms_await(&x, "READY", "READY", SETTLE_NS);
    const char *identity = crms_cloudlet(&x)->identity;
    struct node *other = crms_elsewhere(&x);
    crms_pass(&x, 15 * SECOND_NS);
    expect_told(&x, other, "cloudlet acme/paris is at another site");
    assert_string_equal(crms_info(&x)->state, "READY");
    assert_int_equal(crms_info(&x)->session, 1);

    says(c, "Somebody gives it the name: from then on it is the site, and the former one is not.");
    assert_string_equal(update(&x, NULL, true), "");
    crms_until(&x, "CRM_INITOK", NULL, 2);
    assert_string_not_equal(crms_cloudlet(&x)->identity, identity);
    assert_false(crms_cloudlet(&x)->replace_site);
    crms_await(&x, "READY", "READY", 2 * BACK_NS);
    crms_start(&x, "1.0");
    crms_pass(&x, 15 * SECOND_NS);
    expect_told(&x, crms_node(&x, "1.0"), "cloudlet acme/paris is at another site");
    assert_int_equal(crms_info(&x)->session, 2);
    crms_close(&x);
}

void story_a_site_has_a_quota(struct cluster *c)
{
    struct crms x;
    says(c, "A site has a quota of two nodes, of which an app has both: a third one is refused.");
    crms_begin(&x, c, false);
    Board__CloudletSpec spec = BOARD__CLOUDLET_SPEC__INIT;
    Board__EdgeResources quota = BOARD__EDGE_RESOURCES__INIT;
    spec.latitude = 48.85;
    spec.longitude = 2.35;
    spec.quota = &quota;
    spec.alert_percent = 101;
    quota.memory_mb = 2 * CLUSTER_INSTANCE_MEMORY_MB;
    assert_string_equal(update(&x, &spec, false), "alert_percent: from 1 to 100");
    spec.alert_percent = 0;
    assert_string_equal(update(&x, &spec, false), "");
    assert_int_equal(crms_cloudlet(&x)->spec->alert_percent, 80);
    assert_string_equal(crms_cloudlet(&x)->state, "READY");
    assert_string_equal(crms_create_cluster(&x, PARIS "/dev/third"),
                        "not enough memory at acme/paris: 64 MiB wanted, 0 of 128 MiB free");

    says(c, "With one for three it is made. A quota below what is used takes nothing away.");
    quota.memory_mb = 3 * CLUSTER_INSTANCE_MEMORY_MB;
    assert_string_equal(update(&x, &spec, false), "");
    assert_string_equal(crms_create_cluster(&x, PARIS "/dev/third"), "");
    edge_await(&x.play, PARIS "/dev/third", "READY");
    quota.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    assert_string_equal(update(&x, &spec, false), "");
    crms_pass(&x, 10 * SECOND_NS);
    assert_int_equal(cluster_records(x.site->cluster, "slice/"), 2);
    assert_string_equal(crms_create_cluster(&x, PARIS "/dev/fourth"),
                        "not enough memory at acme/paris: 64 MiB wanted, 0 of 64 MiB free");
    crms_close(&x);
}

/* ---- Maintenance ----------------------------------------------------------------------------- */

static void await_maintenance(struct crms *x, const char *state)
{
    for (int64_t until = world_now(x->world) + SETTLE_NS; world_now(x->world) < until;) {
        if (strcmp(crms_maintenance(x)->state, state) == 0) {
            return;
        }
        crms_pass(x, SECOND_NS / 10);
    }
    fail_msg("maintenance is at %s, not %s", crms_maintenance(x)->state, state);
}

static void maintain(struct crms *x, const char *verb)
{
    edge_done(&x->play, federation_maintain(x->site, verb));
}

void story_somebody_works_at_a_site(struct cluster *c)
{
    struct crms x;
    says(c, "Maintenance begins when what runs nowhere else was told and the CRM agrees. The site "
            "takes no change, and all runs on.");
    crms_begin(&x, c, false);
    maintain(&x, "start");
    await_maintenance(&x, "UNDER_MAINTENANCE");
    assert_non_null(strstr(crms_progress(&x), "runs nowhere else: " SHOP));
    assert_string_equal(crms_create_cluster(&x, PARIS "/dev/late"),
                        "cloudlet acme/paris is in maintenance");
    edge_refused(&x.play, federation_maintain(x.site, "start"), "is at UNDER_MAINTENANCE");
    assert_string_equal(crms_upgrade(&x, "2.0"), "cloudlet acme/paris is in maintenance");
    maintain(&x, "end");
    await_maintenance(&x, "NORMAL_OPERATION");
    assert_string_equal(crms_create_cluster(&x, PARIS "/dev/late"), "");
    edge_await(&x.play, PARIS "/dev/late", "READY");

    says(c, "Nobody looks for what runs nowhere else when nobody asks for that.");
    maintain(&x, "start_no_failover");
    await_maintenance(&x, "UNDER_MAINTENANCE");
    maintain(&x, "end");
    await_maintenance(&x, "NORMAL_OPERATION");

    says(c, "A CRM that is paused does not answer within 5 min: that is told, and whoever asked "
            "may ask for the end.");
    world_pause(c->world, crms_node(&x, "1.0"));
    maintain(&x, "start_no_failover");
    crms_pass(&x, 299 * SECOND_NS);
    assert_false(crms_maintenance(&x)->overdue);
    crms_pass(&x, 4 * SECOND_NS);
    assert_true(crms_maintenance(&x)->overdue);
    assert_string_equal(crms_maintenance(&x)->state, "CRM_REQUESTED");
    maintain(&x, "end");
    crms_pass(&x, SECOND_NS);
    assert_string_equal(crms_maintenance(&x)->state, "NORMAL_OPERATION_INIT");
    world_wake(c->world, crms_node(&x, "1.0"));
    crms_await(&x, "READY", "READY", BACK_NS);
    await_maintenance(&x, "NORMAL_OPERATION");
    crms_close(&x);
}

/* ---- It goes --------------------------------------------------------------------------------- */

void story_a_cloudlet_goes_while_it_is_cut_off(struct cluster *c)
{
    struct crms x;
    says(c, "An app is at a site that is cut off. It is deleted without waiting for the site, and "
            "the cloudlet after it: the site knows nothing of that, and its app runs.");
    crms_begin(&x, c, false);
    const char *uid = crms_cloudlet(&x)->uid;
    federation_cut(x.site, true);
    crms_await(&x, "READY", "OFFLINE", OFFLINE_NS);
    Board__EdgeOperation__Override ignore = BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM;
    edge_done(&x.play, federation_delete(&x.play.f, SHOP, ignore));
    edge_done(&x.play, federation_delete(&x.play.f, WEB, ignore));
    assert_string_equal(crms_delete(&x, PARIS), "");
    crms_pass(&x, 200 * SECOND_NS);
    assert_string_equal(crms_cloudlet(&x)->state, "DELETE_REQUESTED");

    says(c, "The CRM begins again, still cut off, and then the link is back: the site lets go of "
            "all it holds, and the cloudlet is gone.");
    world_kill(c->world, crms_node(&x, "1.0"));
    crms_start(&x, "1.0");
    crms_pass(&x, 20 * SECOND_NS);
    federation_cut(x.site, false);
    edge_await_within(&x.play, PARIS, "", 120 * SECOND_NS);
    edge_holds_nothing(&x.play);
    x.containers = 0;
    crms_pass(&x, 20 * SECOND_NS);
    edge_done(&x.play, federation_create_cloudlet(x.site));
    crms_await(&x, "READY", "READY", SETTLE_NS);
    assert_string_not_equal(crms_cloudlet(&x)->uid, uid);
    crms_close(&x);
}
