/* Desire, update, remove and their job: rows of before, when, plan. The numbers are those of the
 * rules in bbs/lrp/desire.c, update.c, remove_desired.c and instances.c (behaviour.md 8, design.md
 * 2, 5). Which indices gather finds is proved by the walk (test/unit/bbs/test_bbs_walk.c). */
#include "bbs/lrp/desired.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

/* Instances as gather gives them: "0=CLAIMED a@c1; 1=; 2=UNCLAIMED" are indices 0 to 2 to change,
 * an empty one without a record; `next` and `end` of the range. */
static struct instances instances(struct arena *a, const char *text, int32_t next, int32_t end)
{
    struct instances s = {.list = ARENA_ARRAY(a, PORTION_RECORDS_MAX, struct instance),
                          .next = next,
                          .end = end};
    while (text && *text) {
        int index, used;
        assert_int_equal(sscanf(text, "%d=%n", &index, &used), 1);
        size_t size = strcspn(text + used, ";");
        const char *record = arena_strndup(a, text + used, size);
        s.list[s.count++] = (struct instance){
            .index = index, .record = size ? row_actual(a, record, index, 0) : NULL};
        text += used + size;
        text += *text == ';';
        text += *text == ' ';
    }
    return s;
}

struct desired_case {
    const char *name;
    void (*decide)(const void *snapshot, const struct op_input *in, struct plan *p);
    const char *request; /* "instances=3", "" = nothing changes */
    const char *desired; /* before; NULL = none */
    const char *job;     /* "1..9" = its range; NULL = none */
    const char *changes; /* as above */
    int32_t next, end;
    const char *plan;
    bool replacement_missing; /* of a removal */
};

static Models__DesireLRPRequest *desire_request(struct arena *a, const char *text)
{
    Models__DesireLRPRequest *r = arena_message(a, &models__desire_lrprequest__descriptor);
    r->desired_lrp = row_desired(a, text);
    r->desired_lrp->owner = arena_message(a, &models__owner__descriptor);
    r->desired_lrp->owner->uid = arena_strdup(a, "cli");
    return r;
}

static Models__UpdateDesiredLRPRequest *update_request(struct arena *a, const char *text)
{
    Models__UpdateDesiredLRPRequest *r = ARENA_NEW(a, Models__UpdateDesiredLRPRequest);
    models__update_desired_lrprequest__init(r);
    r->process_guid = arena_strdup(a, ROWS_PROCESS);
    int instances;
    if (sscanf(text, "instances=%d", &instances) == 1) {
        r->update = arena_message(a, &models__desired_lrpupdate__descriptor);
        r->update->optional_instances_case =
            MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
        r->update->instances = instances;
    } else if (strncmp(text, "tag=", 4) == 0) {
        typedef Models__DesiredLRPUpdate__MetricTagsEntry entry_type;
        entry_type *tag = ARENA_NEW(a, entry_type);
        models__desired_lrpupdate__metric_tags_entry__init(tag);
        tag->key = arena_strdup(a, "k");
        tag->value = arena_message(a, &models__metric_tag_value__descriptor);
        tag->value->static_ = arena_strdup(a, text + 4);
        r->update = arena_message(a, &models__desired_lrpupdate__descriptor);
        r->update->metric_tags = arena_copy(a, &tag, sizeof(tag));
        r->update->n_metric_tags = 1;
    } else if (strstr(text, "route") || strstr(text, "http=")) {
        r->update = arena_message(a, &models__desired_lrpupdate__descriptor);
        r->update->routes = row_routes(a, text);
    }
    return r;
}

static const ProtobufCMessage *request_of(struct arena *a, const struct desired_case *c)
{
    if (c->decide == desire_decide) {
        return &desire_request(a, c->request)->base;
    }
    return &update_request(a, c->request)->base; /* remove and job do not look at it */
}

static Board__JobRecord *job_of(struct arena *a, const char *text)
{
    Board__JobRecord *j = arena_message(a, &board__job_record__descriptor);
    j->instances = arena_message(a, &board__job_record__instances__descriptor);
    assert_int_equal(sscanf(text, "%d..%d", &j->instances->cursor, &j->instances->end), 2);
    j->target = arena_strdup(a, ROWS_PROCESS);
    j->worker = arena_strdup(a, "another");
    return j;
}

static void decide(struct arena *a, const struct desired_case *c, struct plan *plan)
{
    struct random random;
    struct op_input in = row_input(c->decide == job_decide ? ACTOR_BBS : ACTOR_CLIENT, &random,
                                   request_of(a, c));
    struct instances list = {0};
    if (c->end) {
        list = instances(a, c->changes, c->next, c->end);
    }
    const Models__DesiredLRP *desired = c->desired ? row_desired(a, c->desired) : NULL;
    const Board__JobRecord *job = c->job ? job_of(a, c->job) : NULL;
    if (c->decide == job_decide) {
        struct job_snapshot s = {.job = job, .desired = desired, .instances = list};
        c->decide(&s, &in, plan);
    } else {
        struct desired_snapshot s = {.desired = desired, .job = job, .instances = list,
                                     .board_generation = ROWS_BOARD_GENERATION,
                                     .replacement_missing = c->replacement_missing};
        c->decide(&s, &in, plan);
    }
}

static void run_cases(const struct desired_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        SCOPED_BUF(printed);
        plan_init(&plan, &a);
        decide(&a, &cases[i], &plan);
        print_plan(&plan, &printed);
        if (strcmp(buf_string(&printed), cases[i].plan) != 0) {
            fail_msg("%s\nexpected:\n%sgot:\n%s", cases[i].name, cases[i].plan,
                     buf_string(&printed));
        }
    }
}

#define RUN(cases) run_cases(cases, sizeof(cases) / sizeof((cases)[0]))

/* The definition id that row_input's random gives first. */
static const char *first_guid(void)
{
    static char guid[GUID_BYTES];
    struct random random;
    row_input(ACTOR_CLIENT, &random, NULL);
    random_guid(&random, guid);
    return guid;
}

static void desires(void **state)
{
    SCOPED_ARENA(a);
#define STORED(n, rest)                                                                            \
    arena_printf(&a, "put desired/web desire by client -> instances=%d tag=0\n"                    \
                     "put run/web/%s desire by client -> instances=0 tag=0\n%s",                   \
                 n, first_guid(), rest)
    const struct desired_case cases[] = {
        {"1 the guid is in use", desire_decide, "instances=2", "instances=1 def=D1", NULL, NULL, 0,
         0, "refuse ResourceExists: the requested resource already exists\n"},
        {"3 no instances", desire_decide, "instances=0", NULL, NULL, NULL, 0, 0, STORED(0, "")},
        {"4 two instances", desire_decide, "instances=2", NULL, NULL, "0=; 1=", 2, 2,
         STORED(2, "put actual/web/0000000000/0 create by client -> UNCLAIMED owner=cli "
                   "since=1000 new/0\n"
                   "put actual/web/0000000001/0 create by client -> UNCLAIMED owner=cli "
                   "since=1000 new/0\n"
                   "notice start web 0..2\n")},
        {"4 one exists and is skipped", desire_decide, "instances=3", NULL, NULL, "0=; 2=", 3, 3,
         STORED(3, "put actual/web/0000000000/0 create by client -> UNCLAIMED owner=cli "
                   "since=1000 new/0\n"
                   "put actual/web/0000000002/0 create by client -> UNCLAIMED owner=cli "
                   "since=1000 new/0\n"
                   "notice start web 0..1\nnotice start web 2..3\n")},
        {"4 one of an old definition", desire_decide, "instances=1", NULL, NULL,
         "0=RUNNING a@c1 def=D0", 1, 1,
         STORED(1, "put actual/web/0000000000/0 stop by client -> RUNNING a@c1 def=D0 routable "
                   "since=0 E/4 stopping\nnotice stop web a at c1\n")},
        {"4 beyond a portion: a job", desire_decide, "instances=900", NULL, NULL, "0=", 56, 900,
         STORED(900, "put actual/web/0000000000/0 create by client -> UNCLAIMED owner=cli "
                     "since=1000 new/0\n"
                     "put job/web open by client -> [56, 900) by boot\n"
                     "notice start web 0..1\n")},
        {"4 a removal's job is replaced", desire_decide, "instances=1", NULL, "40..900", NULL, 56,
         900, STORED(1, "put job/web replace by client -> [56, 900) by boot\n")},
        {"4 or has nothing left to do", desire_decide, "instances=1", NULL, "40..50", NULL, 50, 50,
         STORED(1, "delete job/web finish by client\n")},
    };
    RUN(cases);
}

static void updates(void **state)
{
#define UPDATED(n) "put desired/web update by client -> instances=" n " tag=3\n"
#define FEWER(n)                                                                                   \
    UPDATED(n)                                                                                     \
    "put removal/web/D1 update by client -> from=" n " board_generation=" ROWS_BOARD_GENERATION    \
    "\n"
    static const struct desired_case cases[] = {
        {"1 unknown", update_decide, "instances=2", NULL, NULL, NULL, 0, 0,
         "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"3 nothing changes, the tag goes up", update_decide, "", "instances=2 def=D1", NULL, NULL,
         0, 0, UPDATED("2")},
        {"5 the same tags", update_decide, "tag=v", "instances=2 def=D1 tag=v", NULL, NULL, 0, 0,
         UPDATED("2")},
        {"5 another tag", update_decide, "tag=w", "instances=2 def=D1 tag=v", NULL, NULL, 0, 0,
         UPDATED("2") "notice refresh web 0..2\n"},
        {"5 the first route", update_decide, "route=h", "instances=2 def=D1", NULL, NULL, 0, 0,
         UPDATED("2") "notice refresh web 0..2\n"},
        {"5 the last route, of a kind that instances do not show", update_decide, "no routes",
         "instances=2 def=D1 http=h", NULL, NULL, 0, 0,
         UPDATED("2") "notice refresh web 0..2\n"},
        {"5 another route of that kind", update_decide, "http=i", "instances=2 def=D1 http=h",
         NULL, NULL, 0, 0, UPDATED("2")},
        {"4 two more", update_decide, "instances=4", "instances=2 def=D1", NULL, "2=; 3=", 4, 4,
         UPDATED("4") "put actual/web/0000000002/0 create by client -> UNCLAIMED since=1000 new/0\n"
                      "put actual/web/0000000003/0 create by client -> UNCLAIMED since=1000 new/0\n"
                      "notice start web 2..4\n"},
        {"4 fewer: one of each kind", update_decide, "instances=0", "instances=4 def=D1", NULL,
         "0=UNCLAIMED; 1=CRASHED; 2=CLAIMED a@c1 since=7; 3=RUNNING b@c2 since=8", 4, 4,
         FEWER("0") "delete actual/web/0000000000/0 stop by client\n"
                      "delete actual/web/0000000001/0 stop by client\n"
                      "put actual/web/0000000002/0 stop by client -> CLAIMED a@c1 since=7 E/4 "
                      "stopping\n"
                      "put actual/web/0000000003/0 stop by client -> RUNNING b@c2 routable "
                      "since=8 E/4 stopping\n"
                      "notice stop web a at c1\nnotice stop web b at c2\n"},
        {"4 beyond a portion: a job", update_decide, "instances=1", "instances=4000 def=D1", NULL,
         "1=UNCLAIMED", 57, 4000,
         FEWER("1") "delete actual/web/0000000001/0 stop by client\n"
                      "put job/web open by client -> [57, 4000) by boot\n"},
        {"4 an older job is replaced", update_decide, "instances=9", "instances=4000 def=D1",
         "900..4000", "9=UNCLAIMED", 65, 4000,
         FEWER("9") "delete actual/web/0000000009/0 stop by client\n"
                      "put job/web replace by client -> [65, 4000) by boot\n"},
    };
    RUN(cases);
}

static void removals(void **state)
{
#define REMOVED                                                                                    \
    "delete desired/web remove by client\ndelete run/web/D1 remove by client\n"                    \
    "put removal/web/D1 remove by client -> from=0 board_generation=" ROWS_BOARD_GENERATION "\n"
    static const struct desired_case cases[] = {
        {"1 unknown", remove_desired_decide, "", NULL, NULL, NULL, 0, 0,
         "refuse ResourceNotFound: the requested resource could not be found\n"},
        {"1 unknown goes first", remove_desired_decide, "", NULL, NULL, NULL, 0, 0,
         "refuse ResourceNotFound: the requested resource could not be found\n",
         .replacement_missing = true},
        {"2 what should replace it is not there", remove_desired_decide, "", "instances=1 def=D1",
         NULL, NULL, 0, 0,
         "refuse ResourceConflict: the requested resource is in a conflicting state\n",
         .replacement_missing = true},
        {"3 without instances", remove_desired_decide, "", "instances=0 def=D1", NULL, NULL, 0, 0,
         REMOVED},
        {"4 one of each kind", remove_desired_decide, "", "instances=2 def=D1", NULL,
         "0=UNCLAIMED; 1=RUNNING a@c1 since=7", 2, 2,
         REMOVED "delete actual/web/0000000000/0 stop by client\n"
                 "put actual/web/0000000001/0 stop by client -> RUNNING a@c1 routable since=7 E/4 "
                 "stopping\nnotice stop web a at c1\n"},
        {"4 beyond a portion: a job", remove_desired_decide, "", "instances=100 def=D1", NULL,
         "0=UNCLAIMED", 56, 100,
         REMOVED "delete actual/web/0000000000/0 stop by client\n"
                 "put job/web open by client -> [56, 100) by boot\n"},
    };
    RUN(cases);
}

static void jobs(void **state)
{
    static const struct desired_case cases[] = {
        {"1 it is gone", job_decide, "", "instances=3 def=D1", NULL, NULL, 0, 0, "nothing\n"},
        {"2 a portion of creations", job_decide, "", "instances=900 def=D1", "56..900", "56=; 57=",
         112, 900,
         "put actual/web/0000000056/0 create by bbs -> UNCLAIMED since=1000 new/0\n"
         "put actual/web/0000000057/0 create by bbs -> UNCLAIMED since=1000 new/0\n"
         "put job/web advance by bbs -> [112, 900) by another\nnotice start web 56..58\n"},
        {"2 the last portion of a removal", job_decide, "", NULL, "56..58",
         "56=UNCLAIMED; 57=CLAIMED a@c1", 58, 58,
         "delete actual/web/0000000056/0 stop by bbs\n"
         "put actual/web/0000000057/0 stop by bbs -> CLAIMED a@c1 since=0 E/4 stopping\n"
         "delete job/web finish by bbs\nnotice stop web a at c1\n"},
        {"2 nothing to do in its range", job_decide, "", NULL, "56..58", NULL, 58, 58,
         "delete job/web finish by bbs\n"},
    };
    RUN(cases);
}

static void the_two_parts_joined_are_the_whole(void **state)
{
    SCOPED_ARENA(a);
    Models__DesiredLRP *whole = row_desired(&a, "instances=3 def=D1"), *scheduling, *run;
    whole->annotation = arena_strdup(&a, "note");
    whole->on_cell_loss = MODELS__ON_CELL_LOSS__HOLD;
    whole->on_evacuate = MODELS__ON_EVACUATE__STAY;
    whole->cpu_weight = 5;
    whole->log_source = arena_strdup(&a, "APP");
    whole->image_username = arena_strdup(&a, "u");
    desired_split(&a, whole, &scheduling, &run);
    uint8_t joined[512];
    size_t size = models__desired_lrp__pack(scheduling, joined);
    size += models__desired_lrp__pack(run, joined + size);
    ProtobufCAllocator allocator = arena_protobuf(&a);
    const Models__DesiredLRP *again = models__desired_lrp__unpack(&allocator, size, joined);
    assert_non_null(again);
    uint8_t left[512], right[512];
    size = models__desired_lrp__pack(whole, left);
    assert_int_equal(models__desired_lrp__pack(again, right), size);
    assert_memory_equal(left, right, size);
    /* All that an update may change is in the scheduling part. */
    assert_string_equal(run->annotation, "");
    assert_int_equal(run->instances, 0);
    assert_int_equal(run->on_cell_loss, 0);
    assert_int_equal(run->on_evacuate, 0);
    assert_null(run->modification_tag);
    assert_int_equal(scheduling->cpu_weight, 0);
}

/* The policy that an update names changes, the other stays. */
static void policies_are_kept_and_updated(void **state)
{
    static const struct {
        Models__OnCellLoss on_cell_loss; /* asked; -1 = not */
        Models__OnEvacuate on_evacuate;
        Models__OnCellLoss then_loss;
        Models__OnEvacuate then_evacuate;
    } rows[] = {
        {(Models__OnCellLoss)-1, (Models__OnEvacuate)-1, MODELS__ON_CELL_LOSS__HOLD,
         MODELS__ON_EVACUATE__STAY},
        {MODELS__ON_CELL_LOSS__REPLACE, (Models__OnEvacuate)-1, MODELS__ON_CELL_LOSS__REPLACE,
         MODELS__ON_EVACUATE__STAY},
        {(Models__OnCellLoss)-1, MODELS__ON_EVACUATE__MOVE, MODELS__ON_CELL_LOSS__HOLD,
         MODELS__ON_EVACUATE__MOVE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct plan plan;
        struct random random;
        plan_init(&plan, &a);
        Models__DesiredLRP *before = row_desired(&a, "instances=1 def=D1 hold");
        before->on_evacuate = MODELS__ON_EVACUATE__STAY;
        Models__UpdateDesiredLRPRequest *r = update_request(&a, "");
        if (!r->update) {
            r->update = arena_message(&a, &models__desired_lrpupdate__descriptor);
        }
        if ((int)rows[i].on_cell_loss >= 0) {
            r->update->optional_on_cell_loss_case =
                MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_CELL_LOSS_ON_CELL_LOSS;
            r->update->on_cell_loss = rows[i].on_cell_loss;
        }
        if ((int)rows[i].on_evacuate >= 0) {
            r->update->optional_on_evacuate_case =
                MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_EVACUATE_ON_EVACUATE;
            r->update->on_evacuate = rows[i].on_evacuate;
        }
        struct desired_snapshot s = {.desired = before};
        struct op_input in = row_input(ACTOR_CLIENT, &random, &r->base);
        update_decide(&s, &in, &plan);
        const Models__DesiredLRP *after = (const Models__DesiredLRP *)plan.changes->message;
        assert_int_equal(after->on_cell_loss, rows[i].then_loss);
        assert_int_equal(after->on_evacuate, rows[i].then_evacuate);
    }
}

/* design.md 2: a record larger than 1 MiB is InvalidRequest. */
static void too_large_is_refused(void **state)
{
    SCOPED_ARENA(a);
    struct plan plan;
    struct random random;
    plan_init(&plan, &a);
    Models__DesireLRPRequest *r = desire_request(&a, "instances=0");
    char *text = arena_alloc(&a, DESIRED_BYTES_MAX + 1);
    memset(text, 'x', DESIRED_BYTES_MAX);
    r->desired_lrp->trusted_system_certificates_path = text;
    struct desired_snapshot s = {0};
    struct op_input in = row_input(ACTOR_CLIENT, &random, &r->base);
    desire_decide(&s, &in, &plan);
    assert_int_equal(plan.verdict, PLAN_REFUSE);
    assert_int_equal(plan.error_type, MODELS__ERROR__TYPE__InvalidRequest);

    Models__UpdateDesiredLRPRequest *update = update_request(&a, "instances=0");
    update->update->optional_annotation_case =
        MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
    update->update->annotation = text;
    s.desired = row_desired(&a, "instances=0 def=D1");
    in = row_input(ACTOR_CLIENT, &random, &update->base);
    plan_init(&plan, &a);
    update_decide(&s, &in, &plan);
    assert_int_equal(plan.verdict, PLAN_REFUSE);
    assert_int_equal(plan.error_type, MODELS__ERROR__TYPE__InvalidRequest);
}

/* The run part as stored after a desire with these ports. */
static const Models__DesiredLRP *stored_ports(struct arena *a, const uint32_t *ports, size_t count)
{
    struct plan plan;
    struct random random;
    plan_init(&plan, a);
    Models__DesireLRPRequest *r = desire_request(a, "instances=0");
    r->desired_lrp->ports = arena_copy(a, ports, count * sizeof(*ports));
    r->desired_lrp->n_ports = count;
    struct desired_snapshot s = {0};
    struct op_input in = row_input(ACTOR_CLIENT, &random, &r->base);
    desire_decide(&s, &in, &plan);
    assert_int_equal(plan.verdict, PLAN_COMMIT);
    return (const Models__DesiredLRP *)plan.changes->next->message;
}

/* behaviour.md 8.2: duplicates go, the order stays; of a hundred thousand as well, which fit into a
 * record and which a comparison of each with each would take minutes for. */
static void duplicate_ports_are_dropped(void **state)
{
    enum { MANY = 200000 };
    static uint32_t many[MANY];
    static const uint32_t few[] = {8080, 0, 22, 8080, UINT32_MAX, 22, 8080, 1};
    static const uint32_t left[] = {8080, 0, 22, UINT32_MAX, 1};
    SCOPED_ARENA(a);
    const Models__DesiredLRP *run = stored_ports(&a, few, sizeof(few) / sizeof(few[0]));
    assert_int_equal(run->n_ports, sizeof(left) / sizeof(left[0]));
    assert_memory_equal(run->ports, left, sizeof(left));
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = (i * 7919) % (MANY / 2); /* 7919 is prime: each comes twice */
    }
    run = stored_ports(&a, many, MANY);
    assert_int_equal(run->n_ports, MANY / 2);
    assert_memory_equal(run->ports, many, MANY / 2 * sizeof(many[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(desires),
        cmocka_unit_test(updates),
        cmocka_unit_test(removals),
        cmocka_unit_test(jobs),
        cmocka_unit_test(the_two_parts_joined_are_the_whole),
        cmocka_unit_test(policies_are_kept_and_updated),
        cmocka_unit_test(too_large_is_refused),
        cmocka_unit_test(duplicate_ports_are_dropped),
    };
    return cmocka_run_group_tests_name("desired LRPs", tests, NULL, NULL);
}
