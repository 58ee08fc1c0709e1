/* Validation of tasks: a row for every rule of behaviour.md 13.2, in its order, and the limits of
 * 18. What tasks share with DesiredLRPs has its rows in test_validate_desired.c. */
#include "bbs/task/task.h"
#include "bbs/task/validate_task.h"
#include "models/image_layer.pb-c.h"
#include "test/decide/validate_rows.h"
#include "test/tool/cmocka.h"

/* A good request, all of it changeable. */
struct wish {
    struct arena arena;
    Models__DesireTaskRequest r;
    Models__TaskDefinition d;
    Models__Action action;
    Models__RunAction run;
    Models__LogRateLimit rate;
    Models__SecurityGroupRule rule;
    Models__CachedDependency dependency;
    Models__ImageLayer layer;
    void *lists[3];
};

static char *text(struct wish *q, const char *s)
{
    return arena_strdup(&q->arena, s);
}

static void request_init(struct wish *q)
{
    arena_init(&q->arena);
    models__desire_task_request__init(&q->r);
    models__task_definition__init(&q->d);
    models__action__init(&q->action);
    models__run_action__init(&q->run);
    models__log_rate_limit__init(&q->rate);
    models__security_group_rule__init(&q->rule);
    models__cached_dependency__init(&q->dependency);
    models__image_layer__init(&q->layer);
    q->r.task_guid = text(q, "task-1_A");
    q->r.domain = text(q, "d");
    q->r.task_definition = &q->d;
    q->d.root_fs = text(q, "preloaded:busybox");
    q->d.action = &q->action;
    q->action.run_action = &q->run;
    q->run.path = text(q, "/bin/true");
    q->run.user = text(q, "root");
}

typedef void change(struct wish *q);

#define CHANGE(name) static void name(struct wish *q)

CHANGE(nothing) { (void)q; }
CHANGE(everything) { models__desire_task_request__init(&q->r); }
CHANGE(empty_definition) { models__task_definition__init(&q->d); }
CHANGE(guid_slash) { q->r.task_guid = text(q, "a/b"); }
CHANGE(guid_letter) { q->r.task_guid = text(q, "\xc3\xa4"); }
CHANGE(guid_longest) { q->r.task_guid = repeated(&q->arena, "x", 255); }
CHANGE(guid_too_long) { q->r.task_guid = repeated(&q->arena, "x", 256); }
CHANGE(pool_tag)
{
    q->d.n_placement_tags = 1;
    q->d.placement_tags = ARENA_ARRAY(&q->arena, 1, char *);
    q->d.placement_tags[0] = text(q, "pool:u//:main#1");
}
CHANGE(no_domain) { q->r.domain = text(q, ""); }
CHANGE(domain_longest) { q->r.domain = repeated(&q->arena, "x", 255); }
CHANGE(domain_too_long) { q->r.domain = repeated(&q->arena, "x", 256); }
CHANGE(root_fs) { q->d.root_fs = text(q, "foo"); }
CHANGE(no_action) { q->d.action = NULL; }
CHANGE(bad_action) { q->run.user = text(q, ""); }
CHANGE(memory) { q->d.memory_mb = -1; }
CHANGE(cpu_max) { q->d.cpu_max_percent = 100001; }
CHANGE(disk) { q->d.disk_mb = -1; }
CHANGE(rate)
{
    q->d.log_rate_limit = &q->rate;
    q->rate.bytes_per_second = -2;
}
CHANGE(rate_unlimited)
{
    q->d.log_rate_limit = &q->rate;
    q->rate.bytes_per_second = -1;
}
CHANGE(max_pids) { q->d.max_pids = -1; }
CHANGE(annotation_longest) { q->d.annotation = repeated(&q->arena, "x", 10240); }
CHANGE(annotation_too_long) { q->d.annotation = repeated(&q->arena, "x", 10241); }
CHANGE(egress)
{
    q->lists[0] = &q->rule;
    q->d.egress_rules = (Models__SecurityGroupRule **)q->lists;
    q->d.n_egress_rules = 1;
}
CHANGE(egress_two)
{
    egress(q);
    q->lists[1] = &q->rule;
    q->d.n_egress_rules = 2;
}
CHANGE(username) { q->d.image_username = text(q, "u"); }
CHANGE(password) { q->d.image_password = text(q, "p"); }
CHANGE(credentials)
{
    username(q);
    password(q);
}
CHANGE(dependency)
{
    q->lists[1] = &q->dependency;
    q->d.cached_dependencies = (Models__CachedDependency **)&q->lists[1];
    q->d.n_cached_dependencies = 1;
}
CHANGE(layer)
{
    q->lists[2] = &q->layer;
    q->d.image_layers = (Models__ImageLayer **)&q->lists[2];
    q->d.n_image_layers = 1;
    q->layer.url = text(q, "https://x");
    q->layer.layer_type = MODELS__IMAGE_LAYER__TYPE__SHARED;
    q->layer.media_type = MODELS__IMAGE_LAYER__MEDIA_TYPE__TGZ;
}
CHANGE(layer_well)
{
    layer(q);
    q->layer.destination_path = text(q, "/x");
}
CHANGE(layer_exclusive)
{
    layer_well(q);
    q->layer.layer_type = MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    q->layer.digest_algorithm = MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA256;
    q->layer.digest_value = text(q, "abc");
}
CHANGE(layer_with_user)
{
    layer_exclusive(q);
    q->d.legacy_download_user = text(q, "root");
}
CHANGE(retries)
{
    q->r.optional_max_retries_case = MODELS__DESIRE_TASK_REQUEST__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
    q->r.max_retries = -1;
}
CHANGE(no_retries)
{
    retries(q);
    q->r.max_retries = 0;
}

#define F "Invalid field: "

static void desire(void **state)
{
    static const struct {
        change *change;
        const char *text; /* "" = all is well */
    } rows[] = {
        {nothing, ""},
        {everything, F "task_guid, " F "domain, " F "task_definition"},
        {empty_definition, F "rootfs, invalid action type"},
        {guid_slash, F "task_guid"},
        {guid_letter, F "task_guid"},
        {guid_longest, ""},
        {guid_too_long, INVALID},
        {no_domain, F "domain"},
        {pool_tag, F "placement_tags, tags that begin with pool: are of node pools, which only "
                     "services and jobs of systems name, by node_pool"},
        {domain_longest, ""},
        {domain_too_long, INVALID},
        {root_fs, F "rootfs"},
        {no_action, "invalid action type"},
        {bad_action, F "action, " F "user"},
        {memory, F "memory_mb"},
        {cpu_max, F "cpu_max_percent"},
        {disk, F "disk_mb"},
        {rate, F "log_rate_limit"},
        {rate_unlimited, ""},
        {max_pids, F "max_pids"},
        {annotation_longest, ""},
        {annotation_too_long, F "annotation"},
        {egress, F "egress_rules"},
        {egress_two, F "egress_rules, " F "egress_rules"},
        {username, F "image_password"},
        {password, F "image_username"},
        {credentials, ""},
        {dependency, F "cached_dependency, " F "from, " F "to"},
        {layer, F "image_layer, " F "destination_path"},
        {layer_well, ""},
        {layer_exclusive, F "legacy_download_user"},
        {layer_with_user, ""},
        {retries, F "max_retries"},
        {no_retries, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wish q;
        struct validation v = {0};
        request_init(&q);
        rows[i].change(&q);
        valid_desire_task(&v, &q.r);
        assert_string_equal(said(&q.arena, &v), rows[i].text);
        arena_done(&q.arena);
    }
}

static void moves(void **state)
{
    static const struct {
        const char *move, *guid, *cell, *reason, *text;
    } rows[] = {
        {"start", "t", "c1", "", ""},
        {"start", "", "", "", F "task_guid, " F "cell_id"},
        {"start", "a b", "c1", "", F "task_guid"},
        {"cancel", "", "", "", F "task_guid"},
        {"cancel", "a b", "", "", ""},
        {"fail", "t", "", "R", ""},
        {"fail", "a.b", "", "", F "task_guid, " F "failure_reason"},
        {"reject", "t", "", "R", ""},
        {"reject", "a.b", "", "", F "task_guid, " F "failure_reason"},
        {"complete", "t", "c1", "", ""},
        {"complete", "a.b", "", "", F "task_guid, " F "cell_id"},
        {"resolving", "", "", "", F "task_guid"},
        {"resolving", "a.b", "", "", ""},
        {"delete", "", "", "", F "task_guid"},
        {"delete", "a.b", "", "", ""},
        {"expire", "", "", "", F "task_guid"},
        {"disappear", "", "", "", F "task_guid"},
        {"kick", "", "", "", F "task_guid"},
        {"forget", "", "", "", F "task_guid"},
        {"forget", "t", "", "", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct validation v = {0};
        Board__Move *m = move_new_task(&a, rows[i].move, rows[i].guid);
        m->task->cell_id = (char *)(uintptr_t)rows[i].cell;
        m->task->error_message = (char *)(uintptr_t)rows[i].reason;
        move_row_named(&task_moves, rows[i].move)->valid(&v, m);
        assert_string_equal(validation_ok(&v) ? "" : validation_text(&v), rows[i].text);
        validation_done(&v);
    }
}

static void lengths(void **state)
{
    struct wish q;
    request_init(&q);
    char *longest = repeated(&q.arena, "x", 255), *longer = repeated(&q.arena, "x", 256);
    Board__Move *m = move_new_task(&q.arena, "start", longest);
    char *guid = NULL;
    char **fields[] = {&guid, &m->task->cell_id, &m->task->attempt};
    m->task->cell_id = longest;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct validation v = {0};
        *fields[i] = longest;
        move_row_named(&task_moves, "start")->valid(&v, m);
        assert_true(validation_ok(&v));
        *fields[i] = longer;
        m->subject->key = guid == longer ? longer : longest;
        move_row_named(&task_moves, "complete")->valid(&v, m);
        assert_string_equal(validation_text(&v), INVALID);
        *fields[i] = longest;
        m->subject->key = longest;
        validation_done(&v);
    }
    arena_done(&q.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(desire),
        cmocka_unit_test(moves),
        cmocka_unit_test(lengths),
    };
    return cmocka_run_group_tests_name("validate task", tests, NULL, NULL);
}
