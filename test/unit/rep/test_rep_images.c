/* What a rep makes of images: pulled before their container is made; what they say runs there. */
#include "common/base/bytes.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"
#include "rep_image.pb-c.h"

#include <string.h>

#define IMAGE "docker:///web#v1"
#define GRANTED ((Models__Error__Type)0)

/* A cell that pulls, and an instance of this root filesystem up to the answer about its definition,
 * which `lrp` completes. Its guid. */
static const char *begin(struct rep_rig *g, Models__DesiredLRP *lrp)
{
    g->config.pulls_images = true;
    rep_rig_open(g, NULL, 0);
    assert_int_equal(rep_rig_work(g, "web", 10), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    const Models__ActualLRP *claimed = rep_rig_record(g, "web", "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(g, claim, claimed);
    rep_rig_feed_put(g, claimed);
    rep_rig_answer_desired(g, lrp);
    return guid;
}

static Models__DesiredLRP *of_image(struct rep_rig *g)
{
    Models__DesiredLRP *lrp = rep_rig_desired(g, "web", NULL, 0);
    lrp->root_fs = (char *)IMAGE;
    lrp->disk_mb = 10;
    return lrp;
}

static Models__DesiredLRP *from_image(struct rep_rig *g)
{
    Models__DesiredLRP *lrp = of_image(g);
    Models__RunAction *run = lrp->action->run_action;
    run->path = run->user = run->dir = (char *)"";
    run->n_args = 0;
    run->from_image = true;
    return lrp;
}

/* Two layers of 3 MB together, and words of its own. */
struct record {
    Rep__Image image;
    Rep__ImageLayer layers[2], *list[2];
    char *entrypoint[2], *cmd[1], *env[2];
};

static void record_init(struct record *r)
{
    rep__image__init(&r->image);
    for (int i = 0; i < 2; i++) {
        rep__image_layer__init(&r->layers[i]);
        r->layers[i].id = (char *)(i ? "upper" : "lower");
        r->layers[i].size = (i ? 2 : 1) * 1000000;
        r->list[i] = &r->layers[i];
    }
    r->entrypoint[0] = (char *)"/bin/entry";
    r->entrypoint[1] = (char *)"first";
    r->cmd[0] = (char *)"second";
    r->env[0] = (char *)"GREETING=hello";
    r->env[1] = (char *)"INSTANCE_INDEX=of the image";
    r->image.layers = r->list;
    r->image.n_layers = 2;
    r->image.entrypoint = r->entrypoint;
    r->image.n_entrypoint = 2;
    r->image.cmd = r->cmd;
    r->image.n_cmd = 1;
    r->image.env = r->env;
    r->image.n_env = 2;
    r->image.user = (char *)"app";
    r->image.working_dir = (char *)"/srv";
}

static void pulled(struct rep_rig *g, struct verb_call call, const Rep__Image *image,
                   const char *text)
{
    uint8_t *packed = arena_array(&g->arena, rep__image__get_packed_size(image), 1);
    drive_event(&g->d,
                (struct event){.kind = EVENT_VERB,
                               .verb = {.id = call.id,
                                        .verb = VERB_PULL,
                                        .guid = call.guid,
                                        .outcome = VERB_DONE,
                                        .text = text,
                                        .data = {packed, rep__image__pack(image, packed)}}});
}

/* Up to its PREPARE. */
static struct verb_call prepare(struct rep_rig *g, Models__DesiredLRP *lrp, const Rep__Image *image)
{
    begin(g, lrp);
    pulled(g, rep_rig_take_verb(g, VERB_PULL), image, "");
    rep_rig_answer_desired(g, lrp);
    return rep_rig_take_verb(g, VERB_PREPARE);
}

static const char *crash_text(struct rep_rig *g)
{
    assert_int_equal(rep_rig_verbs(g, VERB_PREPARE), 0);
    return rep_rig_take_move(g, "crash").move->instance->error_message;
}

static const char *value_of(const struct container_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->env_count; i++) {
        if (strcmp(spec->env[i].name, name) == 0) {
            return spec->env[i].value;
        }
    }
    return NULL;
}

static void it_is_pulled_before_its_container_is_made(void **state)
{
    SCOPED_REP_RIG(g);
    struct record r;
    record_init(&r);
    Models__DesiredLRP *lrp = of_image(&g);
    lrp->image_username = (char *)"me";
    lrp->image_password = (char *)"secret";
    begin(&g, lrp);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
    assert_string_equal(pull.image->name, IMAGE);
    assert_string_equal(pull.image->username, "me");
    assert_string_equal(pull.image->password, "secret");
    pulled(&g, pull, &r.image, "");
    rep_rig_answer_desired(&g, lrp);
    struct verb_call call = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_int_equal(call.spec->layer_count, 2);
    assert_string_equal(call.spec->layers[0], "lower");
    assert_string_equal(call.spec->layers[1], "upper");
    assert_int_equal(call.spec->disk_mb, 7); /* the image has 3 of its 10 */
    assert_string_equal(value_of(call.spec, "GREETING"), "hello");
    assert_string_equal(value_of(call.spec, "INSTANCE_INDEX"), "0");
    assert_int_equal(rep_rig_said(&g, "registry silent"), 0);
}

/* What the definition says itself stays, of what it leaves out the image tells. */
static void an_image_says_what_runs(void **state)
{
    static char *own[] = {(char *)"third"};
    for (int given = 0; given < 2; given++) {
        SCOPED_REP_RIG(g);
        struct record r;
        record_init(&r);
        Models__DesiredLRP *lrp = from_image(&g);
        Models__RunAction *run = lrp->action->run_action;
        if (given) {
            run->args = own;
            run->n_args = 1;
            run->dir = (char *)"/own";
            run->user = (char *)"root";
        }
        const struct container_spec *spec = prepare(&g, lrp, &r.image).spec;
        assert_string_equal(spec->path, "/bin/entry");
        assert_string_equal(spec->args[0], "first");
        assert_string_equal(spec->args[1], given ? "third" : "second");
        assert_null(spec->args[2]);
        assert_string_equal(spec->dir, given ? "/own" : "/srv");
        assert_string_equal(spec->user, given ? "root" : "app");
    }
}

static void an_image_without_words(void **state)
{
    struct record r;
    record_init(&r);
    r.image.n_entrypoint = 0;
    r.image.working_dir = r.image.user = (char *)"";
    {
        SCOPED_REP_RIG(g);
        const struct container_spec *spec = prepare(&g, from_image(&g), &r.image).spec;
        assert_string_equal(spec->path, "second"); /* the command alone */
        assert_null(spec->args[0]);
        assert_string_equal(spec->dir, "/");
        assert_string_equal(spec->user, "");
    }
    r.image.n_cmd = 0;
    SCOPED_REP_RIG(g);
    Models__DesiredLRP *lrp = from_image(&g);
    begin(&g, lrp);
    pulled(&g, rep_rig_take_verb(&g, VERB_PULL), &r.image, "");
    rep_rig_answer_desired(&g, lrp);
    assert_string_equal(crash_text(&g), "failed to create container: the image does not say what "
                                        "should run");
}

static void what_is_no_image_says_nothing(void **state)
{
    SCOPED_REP_RIG(g);
    Models__DesiredLRP *lrp = from_image(&g);
    lrp->root_fs = (char *)"preloaded:busybox";
    begin(&g, lrp);
    assert_int_equal(rep_rig_verbs(&g, VERB_PULL), 0);
    assert_string_equal(crash_text(&g), "failed to create container: the root filesystem is no "
                                        "image that could say what should run");
}

static void a_refused_pull_is_a_crash(void **state)
{
    SCOPED_REP_RIG(g);
    begin(&g, of_image(&g));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PULL), VERB_FAILED, "manifest unknown");
    assert_string_equal(crash_text(&g), "failed to create container: manifest unknown");
}

static void an_answer_that_cannot_be_read_is_a_crash(void **state)
{
    static const uint8_t nonsense[] = {0xff, 0xff, 0xff};
    SCOPED_REP_RIG(g);
    begin(&g, of_image(&g));
    struct verb_call call = rep_rig_take_verb(&g, VERB_PULL);
    drive_event(&g.d, (struct event){.kind = EVENT_VERB,
                                     .verb = {.id = call.id,
                                              .verb = VERB_PULL,
                                              .guid = call.guid,
                                              .outcome = VERB_DONE,
                                              .text = "",
                                              .data = {nonsense, sizeof(nonsense)}}});
    assert_string_equal(crash_text(&g), "failed to create container: its image cannot be read");
}

static void a_pull_without_an_answer_is_tried_three_times(void **state)
{
    SCOPED_REP_RIG(g);
    Models__DesiredLRP *lrp = of_image(&g);
    begin(&g, lrp);
    for (int i = 0; i < 3; i++) {
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PULL), VERB_UNCERTAIN, "no answer in time");
        for (int s = 0; s < 60 && i < 2 && rep_rig_calls(&g, "get_by_process_guid") == 0; s++) {
            rep_rig_advance(&g, 1000); /* a back-off */
        }
        if (i < 2) {
            rep_rig_answer_desired(&g, lrp);
        }
    }
    rep_rig_advance(&g, 60000);
    assert_string_equal(crash_text(&g), "the container's driver did not answer in time");
}

/* The limit is that of image and container together. */
static void an_image_as_large_as_the_disk_is_refused(void **state)
{
    for (int mb = 3; mb <= 4; mb++) {
        SCOPED_REP_RIG(g);
        struct record r;
        record_init(&r);
        Models__DesiredLRP *lrp = of_image(&g);
        lrp->disk_mb = mb;
        begin(&g, lrp);
        pulled(&g, rep_rig_take_verb(&g, VERB_PULL), &r.image, "");
        rep_rig_answer_desired(&g, lrp);
        if (mb == 4) {
            assert_int_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->disk_mb, 1);
        } else {
            assert_string_equal(crash_text(&g), "failed to create container: the image has 3 MB, "
                                                "and the disk limit is 3 MB");
        }
    }
}

static void a_silent_registry_is_told(void **state)
{
    SCOPED_REP_RIG(g);
    struct record r;
    record_init(&r);
    begin(&g, of_image(&g));
    pulled(&g, rep_rig_take_verb(&g, VERB_PULL), &r.image, "connection refused");
    assert_int_equal(rep_rig_said(&g, "registry silent"), 1);
    assert_int_equal(rep_rig_said(&g, "connection refused"), 1);
}

/* A client crashed it, and the auctioneer gave it to this cell again: it is claimed again at once,
 * with the same pull. */
static void its_record_is_looked_at_during_a_pull(void **state)
{
    SCOPED_REP_RIG(g);
    struct record r;
    record_init(&r);
    Models__DesiredLRP *lrp = of_image(&g);
    const char *guid = begin(&g, lrp);
    struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "UNCLAIMED", "", ""));
    const Models__ActualLRP *claimed = rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "claim"), claimed);
    rep_rig_feed_put(&g, claimed);
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_verbs(&g, VERB_PULL), 0);
    pulled(&g, pull, &r.image, "");
    rep_rig_answer_desired(&g, lrp);
    rep_rig_take_verb(&g, VERB_PREPARE);
}

/* REMOVE goes out at once, which ends it; what it brings is nobody's. */
static void a_stop_does_not_wait_for_a_pull(void **state)
{
    SCOPED_REP_RIG(g);
    struct record r;
    record_init(&r);
    Models__DesiredLRP *lrp = of_image(&g);
    const char *guid = begin(&g, lrp);
    struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
    rep_rig_request(&g, "bbs", "POST",
                    arena_printf(&g.arena, "/v1/lrps/web/instances/%s/stop", guid), "",
                    (struct bytes){0});
    struct rep_rig_move removal = rep_rig_take_move(&g, "remove");
    pulled(&g, pull, &r.image, "");
    rep_rig_move_done(&g, removal, NULL);
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    struct verb_call remove = rep_rig_take_verb(&g, VERB_REMOVE);
    assert_string_equal(remove.guid, guid);
    rep_rig_verb(&g, remove, VERB_DONE, "");
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    assert_int_equal(rep_rig_calls(&g, "get_by_process_guid"), 0);
}

/* Desired anew under its name, while the image of the old one came. */
static void another_image_is_pulled_for_another_definition(void **state)
{
    SCOPED_REP_RIG(g);
    struct record r;
    record_init(&r);
    Models__DesiredLRP *lrp = of_image(&g);
    begin(&g, lrp);
    pulled(&g, rep_rig_take_verb(&g, VERB_PULL), &r.image, "");
    lrp->root_fs = (char *)"docker:///web#v2";
    rep_rig_answer_desired(&g, lrp);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
    assert_string_equal(pull.image->name, "docker:///web#v2");
    pulled(&g, pull, &r.image, "");
    rep_rig_answer_desired(&g, lrp);
    rep_rig_take_verb(&g, VERB_PREPARE);
}

static void a_cell_that_pulls_none_takes_none(void **state)
{
    for (int pulls = 0; pulls < 2; pulls++) {
        SCOPED_REP_RIG(g);
        g.config.pulls_images = pulls;
        rep_rig_open(&g, NULL, 0);
        assert_int_equal(rep_rig_work_of(&g, "web", 10, IMAGE), pulls ? 0 : 1);
    }
}

/* It is pulled under the name that the operator gave, and is no part of the container's disk. */
static void a_preloaded_image_is_pulled_too(void **state)
{
    static const struct name_value images[] = {{"busybox", "oci:///srv/busybox#v1"}};
    static const char *const names[] = {"preloaded:busybox", "preloaded:busybox?x"};
    for (size_t i = 0; i < 2; i++) {
        SCOPED_REP_RIG(g);
        struct record r;
        record_init(&r);
        g.config.rootfs_images = images;
        g.config.rootfs_image_count = 1;
        Models__DesiredLRP *lrp = of_image(&g);
        lrp->root_fs = (char *)(uintptr_t)names[i];
        begin(&g, lrp);
        struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
        assert_string_equal(pull.image->name, "oci:///srv/busybox#v1");
        assert_true(pull.image->preloaded);
        pulled(&g, pull, &r.image, "");
        rep_rig_answer_desired(&g, lrp);
        struct verb_call call = rep_rig_take_verb(&g, VERB_PREPARE);
        assert_int_equal(call.spec->layer_count, 2);
        assert_int_equal(call.spec->disk_mb, 10);
    }
}

static void a_task_waits_for_its_image(void **state)
{
    for (int comes = 0; comes < 2; comes++) {
        SCOPED_REP_RIG(g);
        struct record r;
        record_init(&r);
        g.config.pulls_images = true;
        rep_rig_open(&g, NULL, 0);
        assert_true(rep_rig_task_work(&g, "t-1", 100));
        struct rep_rig_move start = rep_rig_take_move(&g, "start");
        Models__Task *task = rep_rig_task(&g, "t-1", MODELS__TASK__STATE__Running, RIG_CELL,
                                          start.move->task->attempt);
        task->task_definition->root_fs = (char *)IMAGE;
        task->task_definition->image_username = (char *)"me";
        rep_rig_task_put(&g, task);
        rep_rig_task_answer(&g, start, GRANTED, task);
        assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
        struct verb_call pull = rep_rig_take_verb(&g, VERB_PULL);
        assert_string_equal(pull.image->username, "me");
        if (comes) {
            pulled(&g, pull, &r.image, "");
            assert_int_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->layer_count, 2);
        } else {
            rep_rig_verb(&g, pull, VERB_FAILED, "manifest unknown");
            struct rep_rig_move reject = rep_rig_take_move(&g, "reject");
            assert_non_null(strstr(reject.move->task->error_message,
                                   "failed to create container: manifest unknown"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_pulled_before_its_container_is_made),
        cmocka_unit_test(an_image_says_what_runs),
        cmocka_unit_test(an_image_without_words),
        cmocka_unit_test(what_is_no_image_says_nothing),
        cmocka_unit_test(a_refused_pull_is_a_crash),
        cmocka_unit_test(an_answer_that_cannot_be_read_is_a_crash),
        cmocka_unit_test(a_pull_without_an_answer_is_tried_three_times),
        cmocka_unit_test(an_image_as_large_as_the_disk_is_refused),
        cmocka_unit_test(a_silent_registry_is_told),
        cmocka_unit_test(its_record_is_looked_at_during_a_pull),
        cmocka_unit_test(a_stop_does_not_wait_for_a_pull),
        cmocka_unit_test(another_image_is_pulled_for_another_definition),
        cmocka_unit_test(a_cell_that_pulls_none_takes_none),
        cmocka_unit_test(a_preloaded_image_is_pulled_too),
        cmocka_unit_test(a_task_waits_for_its_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
