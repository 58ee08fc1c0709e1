/* Unit services and the jobs about them, rule by rule (bbs/units): deploy, add-unit. */
#include "bbs/units/facts.h"
#include "bbs/units/add_units.h"
#include "bbs/units/units.h"
#include "common/charmfile/charm.h"
#include "common/model/unit_name.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define WEB(life)                                                                                  \
    "unit_service/web name=web guid=s-web charm=d state=" life "\n"
#define LOGGER                                                                                     \
    "unit_service/logger name=logger guid=s-logger subordinate=1 charm=d state=alive\n"
#define MACHINE(rest) "machine/0000000003 number=3 guid=m3 " rest "\n"
#define TAKES "state=alive host_units=1"

/* A request upon a board, and what it comes to: the verdict's words, or nothing for a commit. */
struct asked {
    const char *rule, *board, *request, *refusal;
};

static void decide(struct laid_system *l, const struct op_row *row, const ProtobufCMessage *request,
                   struct laid_plan *p)
{
    const struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = "x", .trace_id = "",
                                .boot_id = "boot", .request = request};
    laid_decide(l->board, row, &in, &l->arena, p);
    assert_true(p->plan.verdict != PLAN_COMMIT || laid_passes(l->board, &p->reads));
    assert_true(p->plan.change_count <= 64 && p->reads.count <= 118);
}

static const struct change *change_of(const struct plan *p, const char *key)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        if (strcmp(c->key, key) == 0) {
            return c;
        }
    }
    return NULL;
}

/* ---- Deploy ---------------------------------------------------------------------------------- */

/* "web count=2 greeting=hi subordinate peers=1": its charm has the option greeting. */
static Board__DeployUnitsRequest *deploy_request(struct arena *a, const char *text)
{
    Board__DeployUnitsRequest *r = arena_message(a, &board__deploy_units_request__descriptor);
    struct charm_value option = {"greeting", "hello"};
    struct charm_endpoint *ends = ARENA_ARRAY(a, CHARM_ENDPOINTS_MAX, struct charm_endpoint);
    Models__DesiredLRP *run = arena_message(a, &models__desired_lrp__descriptor);
    struct charm c = {.name = "web", .config = &option, .config_count = 1, .endpoints = ends,
                      .container = run, .hook_timeout_s = CHARM_HOOK_TIMEOUT_S};
    run->root_fs = arena_strdup(a, "preloaded:busybox");
    run->memory_mb = 64;
    r->needs = arena_message(a, &board__unit_needs__descriptor);
    r->settings = ARENA_ARRAY(a, 1, Board__UnitSetting *);
    char *rest, *words = arena_strdup(a, text);
    r->name = strtok_r(words, " ", &rest);
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        char *value = strchr(word, '=');
        int number = value ? atoi(value + 1) : 0;
        if (strncmp(word, "count=", 6) == 0) {
            r->count = (uint32_t)number;
        } else if (strncmp(word, "machine=", 8) == 0) {
            r->needs->on_machine = true;
            r->needs->machine = (uint32_t)number;
        } else if (strcmp(word, "unused") == 0) {
            r->needs->unused = true;
        } else if (strcmp(word, "subordinate") == 0) {
            c.subordinate = true;
            ends[c.endpoint_count++] = (struct charm_endpoint){
                .name = "info", .role = CHARM_REQUIRES, .interface = "juju-info",
                .container = true};
        } else if (strncmp(word, "peers=", 6) == 0) {
            for (int i = 0; i < number; i++) {
                ends[c.endpoint_count++] = (struct charm_endpoint){
                    .name = arena_printf(a, "ring%02d", i), .role = CHARM_PEERS,
                    .interface = "ring"};
            }
        } else {
            r->settings[r->n_settings] = arena_message(a, &board__unit_setting__descriptor);
            *value = 0;
            r->settings[r->n_settings]->key = word;
            r->settings[r->n_settings++]->value = value + 1;
        }
    }
    r->charm = charm_message(a, &c);
    return r;
}

static void what_cannot_be_deployed_is_refused(void **state)
{
    static const struct asked rows[] = {
        {"the name is taken", WEB("alive"), "web count=1",
         "unit service web is there already: choose another name, or upgrade it"},
        {"by a dying one", WEB("dying"), "web count=1",
         "unit service web is dying, and has its name until it is gone: bbs units why says what "
         "it waits for"},
        {"no such machine", "", "web count=1 machine=3",
         "there is no machine 3: bbs units machines lists those that are, and bbs units "
         "add-machine CELL makes one"},
        {"the machine is dying", MACHINE("state=dying host_units=1"), "web count=1 machine=3",
         "machine 3 takes no units: it is dying"},
        {"it is cordoned", MACHINE(TAKES " cordoned=1"), "web count=1 machine=3",
         "machine 3 takes no units: it is cordoned: bbs units uncordon opens it"},
        {"it only manages", MACHINE("state=alive"), "web count=1 machine=3",
         "machine 3 takes no units: it is one that only manages"},
        {"a node pool has its cell", MACHINE(TAKES " cell_id=c9 identity=I")
         "cell/c9 identity=I pool=pool:s:main\n", "web count=1 machine=3",
         "machine 3 takes no units: it is a cell of a node pool, which has it for its own "
         "services"},
        {"peers of an earlier one", "relation_key/web%3Aring00 number=1\n", "web count=1 peers=1",
         "the relation web:ring00 of an earlier service is there yet"},
        {"no number", "sequence/relation next=-1\n", "web count=1 peers=1",
         "the numbers of relations are used up"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, rows[i].board);
        decide(&l, &deploy_units_row, &deploy_request(&l.arena, rows[i].request)->base, &p);
        assert_int_equal(p.plan.verdict, PLAN_REFUSE);
        assert_string_equal(p.plan.error_message, rows[i].refusal);
        laid_system_done(&l);
    }
    (void)state;
}

static void what_is_asked_badly_is_said(void **state)
{
    static const struct asked rows[] = {
        {"a name", "", "Web count=1", "name: " UNIT_SERVICE_NAME_RULE},
        {"a name that is a unit's", "", "web-1 count=1", "name: " UNIT_SERVICE_NAME_RULE},
        {"too many", "", "web count=100001",
         "count: 100001 units at once; there can be 100000 at most"},
        {"several on a machine", "", "web count=2 machine=3",
         "count: 2 units on machine 3: ask for one, or leave the machine out"},
        {"both places", "", "web count=1 machine=3 unused",
         "needs: a machine is named, and an unused one wanted: say one of the two"},
        {"a subordinate with a number", "", "web count=1 subordinate",
         "web is subordinate: its units come with those of the services that it is related to; "
         "leave number, machine and constraints out"},
        {"a subordinate with needs", "", "web unused subordinate",
         "web is subordinate: its units come with those of the services that it is related to; "
         "leave number, machine and constraints out"},
        {"settings", "", "web count=1 greting=x",
         "settings: the charm web has no option \"greting\"; did you mean \"greeting\"?"},
        {"nothing", "", "web count=100000 greeting=x", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct validation v = {0};
        valid_deploy_units(&v, deploy_request(&a, rows[i].request));
        assert_string_equal(validation_ok(&v) ? "" : validation_text(&v), rows[i].refusal);
        validation_done(&v);
    }
    (void)state;
}

/* Nothing that is asked for is left out without a word. */
static void what_the_charm_says_is_not_asked_for(void **state)
{
    static char pool[] = "pool", *tags[] = {pool};
    static char text[] = "x";
    const Board__UnitNeeds none = BOARD__UNIT_NEEDS__INIT;
    Board__UnitNeeds n[7];
    static const char *const deploys[] = {
        "needs.memory_mb: the charm says it, of all units",
        "needs.disk_mb: the charm says it, of all units",
        "needs.max_pids: the charm says it, of all units",
        "needs.rootfs: the charm says it, of all units",
        "needs.volume_drivers: the charm says it, of all units",
        "needs.machine: 3 is meant only with on_machine",
        "",
    };
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        n[i] = none;
    }
    n[0].memory_mb = n[1].disk_mb = n[2].max_pids = 1;
    n[3].rootfs = text;
    n[4].volume_drivers = n[6].placement_tags = tags;
    n[4].n_volume_drivers = n[6].n_placement_tags = 1;
    n[5].machine = 3;
    for (size_t i = 0; i < 7; i++) {
        SCOPED_ARENA(a);
        struct validation of_deploy = {0}, of_add = {0};
        Board__DeployUnitsRequest *deploy = deploy_request(&a, "web count=1");
        Board__AddUnitsRequest add = BOARD__ADD_UNITS_REQUEST__INIT;
        deploy->needs = add.needs = &n[i];
        add.service = deploy->name;
        add.count = 1;
        valid_deploy_units(&of_deploy, deploy);
        valid_add_units(&of_add, &add);
        const char *refusal = validation_ok(&of_deploy) ? "" : validation_text(&of_deploy);
        assert_string_equal(refusal, deploys[i]);
        assert_string_equal(validation_text(&of_add),
                            *refusal ? refusal
                                     : "needs.placement_tags: they are of the service: deploy "
                                       "takes them");
        validation_done(&of_deploy);
        validation_done(&of_add);
    }
}

static void a_service_is_deployed_with_its_peers_and_the_job_of_its_units(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    laid_units_init(&l, "sequence/relation next=7\n" MACHINE(TAKES));
    decide(&l, &deploy_units_row,
           &deploy_request(&l.arena, "db count=1 machine=3 greeting=hi peers=2")->base, &p);
    assert_int_equal(p.plan.verdict, PLAN_COMMIT);
    assert_int_equal(p.plan.change_count, 3 + 2 * 3 + 1 + 1);
    const Board__UnitServiceRecord *s =
        (const Board__UnitServiceRecord *)change_of(&p.plan, "unit_service/db")->message;
    assert_string_equal(s->state, "alive");
    assert_string_equal(s->needs->rootfs, "preloaded:busybox");
    assert_int_equal(s->needs->memory_mb, 64);
    assert_false(s->needs->on_machine); /* that is of the units that were asked for */
    const char *charm = arena_printf(&l.arena, "charm/db/%s", s->charm);
    assert_non_null(change_of(&p.plan, charm));
    const Board__UnitConfigRecord *config =
        (const Board__UnitConfigRecord *)change_of(&p.plan, "unit_config/db")->message;
    assert_string_equal(config->settings[0]->value, "hi");
    const Board__RelationRecord *ring =
        (const Board__RelationRecord *)change_of(&p.plan, "relation/0000000008")->message;
    assert_int_equal(ring->n_ends, 1);
    assert_string_equal(ring->ends[0]->service_guid, s->guid);
    assert_string_equal(ring->ends[0]->endpoint->name, "ring01");
    assert_non_null(change_of(&p.plan, "relation_key/db%3Aring01"));
    assert_non_null(change_of(&p.plan, "unit_service_relation/db/0000000008"));
    const Board__SequenceRecord *next =
        (const Board__SequenceRecord *)change_of(&p.plan, "sequence/relation")->message;
    assert_int_equal(next->next, 9);
    const Board__JobRecord *job = (const Board__JobRecord *)p.plan.record;
    assert_string_equal(job->target, s->guid);
    assert_string_equal(job->worker, "boot");
    assert_int_equal(job->units->left, 1);
    assert_true(job->units->needs->on_machine);
    laid_system_done(&l);
    (void)state;
}

/* Each endpoint that a charm can have is of peers. */
static void the_largest_deploy_fits_into_a_transaction(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    laid_units_init(&l, "");
    const Board__DeployUnitsRequest *r = deploy_request(&l.arena, "web count=1 peers=16");
    struct validation v = {0};
    valid_deploy_units(&v, r);
    assert_true(validation_ok(&v));
    validation_done(&v);
    decide(&l, &deploy_units_row, &r->base, &p);
    assert_int_equal(p.plan.verdict, PLAN_COMMIT);
    assert_int_equal(p.plan.change_count, 3 + 16 * 3 + 1 + 1);
    laid_system_done(&l);
    (void)state;
}

/* ---- Add-unit -------------------------------------------------------------------------------- */

static Board__AddUnitsRequest *add_request(struct arena *a, const char *service, uint32_t count)
{
    Board__AddUnitsRequest *r = arena_message(a, &board__add_units_request__descriptor);
    r->service = arena_strdup(a, service);
    r->count = count;
    return r;
}

static void units_are_added_to_a_living_principal_alone(void **state)
{
    static const struct {
        const char *board, *service;
        uint32_t count;
        const char *refusal; /* NULL = the job is opened */
    } rows[] = {
        {"", "web", 1, "there is no unit service web: bbs units lists those that are"},
        {WEB("dying"), "web", 1, "unit service web is dying: it gets no more units"},
        {LOGGER, "logger", 1,
         "unit service logger is subordinate: its units come with those of the services that it "
         "is related to"},
        {WEB("alive") "sequence/unit/web next=-3\n", "web", 3,
         "the numbers of unit service web are used up: 2 are left"},
        {WEB("alive") "sequence/unit/web next=-3\n", "web", 2, NULL},
        {WEB("alive"), "web", UNITS_ASKED_MAX, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid_system l;
        struct laid_plan p;
        struct validation v = {0};
        laid_units_init(&l, rows[i].board);
        const Board__AddUnitsRequest *r = add_request(&l.arena, rows[i].service, rows[i].count);
        valid_add_units(&v, r);
        assert_true(validation_ok(&v));
        validation_done(&v);
        decide(&l, &add_units_row, &r->base, &p);
        if (rows[i].refusal) {
            assert_int_equal(p.plan.verdict, PLAN_REFUSE);
            assert_string_equal(p.plan.error_message, rows[i].refusal);
        } else {
            const Board__JobRecord *job = (const Board__JobRecord *)p.plan.record;
            assert_int_equal(p.plan.change_count, 1);
            assert_int_equal(job->units->left, rows[i].count);
            assert_string_equal(job->target, "s-web");
        }
        laid_system_done(&l);
    }
    SCOPED_ARENA(a);
    struct validation v = {0};
    valid_add_units(&v, add_request(&a, "web/1", 0));
    assert_string_equal(validation_text(&v), "service: " UNIT_SERVICE_NAME_RULE
                                             ", count: how many units are to be added?");
    validation_done(&v);
    (void)state;
}

/* ---- The job of added units ------------------------------------------------------------------ */

static Board__JobRecord *put_job(struct laid_system *l, Board__JobRecord__Kind kind,
                                 const char *guid)
{
    Board__JobRecord *job = arena_message(&l->arena, &board__job_record__descriptor);
    job->kind = kind;
    job->target = arena_strdup(&l->arena, guid);
    job->name = arena_strdup(&l->arena, "j");
    job->units = arena_message(&l->arena, &board__units_job__descriptor);
    job->units->service = arena_strdup(&l->arena, "web");
    job->units->guid = job->target;
    return job;
}

/* What a portion does of a job that has so many units left, as "units left", -1 = it has ended. */
static void try_add(const char *rule, const char *board, const char *guid, uint32_t left,
                    unsigned units, int still, const char *first)
{
    struct laid_system l;
    struct laid_plan p;
    laid_units_init(&l, board);
    Board__JobRecord *job = put_job(&l, BOARD__JOB_RECORD__KIND__ADD_UNITS, guid);
    const char *key = arena_printf(&l.arena, "job/%s/j", guid);
    job->units->left = left;
    laid_system_put(&l, key, &job->base);
    struct op_input in = {.actor = ACTOR_BBS, .peer_name = "boot", .trace_id = "",
                          .boot_id = "boot", .request = &job->base};
    laid_decide(l.board, &add_units_job_row, &in, &l.arena, &p);
    unsigned made = 0;
    for (const struct change *c = p.plan.changes; c; c = c->next) {
        made += strncmp(c->key, "unit/", 5) == 0;
    }
    const struct change *kept = change_of(&p.plan, key);
    if (p.plan.verdict != PLAN_COMMIT || made != units || !kept ||
        (kept->message ? (int)((const Board__JobRecord *)kept->message)->units->left : -1) !=
            still ||
        (first && !change_of(&p.plan, first))) {
        fail_msg("%s: %u units were made\n%s", rule, made, laid_system_print(&l, &p.plan));
    }
    assert_true(p.plan.change_count <= 64 && p.reads.count <= 118);
    assert_true(laid_passes(l.board, &p.reads));
    laid_system_done(&l);
}

static void units_are_made_by_portions(void **state)
{
    try_add("the first", WEB("alive"), "s-web", 100, 28, 72, "unit/web/0000000000");
    try_add("it goes on", WEB("alive") "sequence/unit/web next=28\n", "s-web", 72, 28, 44,
            "unit_status/web/0000000055");
    try_add("as many as a portion holds", WEB("alive"), "s-web", 28, 28, -1, "unit/web/0000000027");
    try_add("one more", WEB("alive"), "s-web", 29, 28, 1, NULL);
    try_add("the last", WEB("alive") "sequence/unit/web next=3\n", "s-web", 1, 1, -1,
            "unit/web/0000000003");
    try_add("a number is taken", WEB("alive") "unit/web/0000000000 service=web\n", "s-web", 28, 27,
            1, "unit/web/0000000027");
    try_add("it is dying", WEB("dying"), "s-web", 5, 0, -1, NULL);
    try_add("it is gone", "", "s-web", 5, 0, -1, NULL);
    try_add("a namesake", WEB("alive"), "older", 5, 0, -1, NULL);
    try_add("numbers are used up", WEB("alive") "sequence/unit/web next=-3\n", "s-web", 5, 2, -1,
            NULL);
    (void)state;
}

static void an_added_unit_waits_for_a_machine(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    laid_units_init(&l, WEB("alive"));
    Board__JobRecord *job = put_job(&l, BOARD__JOB_RECORD__KIND__ADD_UNITS, "s-web");
    job->units->left = 1;
    job->units->needs = arena_message(&l.arena, &board__unit_needs__descriptor);
    job->units->needs->unused = true;
    laid_system_put(&l, "job/s-web/j", &job->base);
    struct op_input in = {.actor = ACTOR_BBS, .peer_name = "boot", .trace_id = "",
                          .boot_id = "boot", .request = &job->base};
    laid_decide(l.board, &add_units_job_row, &in, &l.arena, &p);
    const Board__UnitRecord *u =
        (const Board__UnitRecord *)change_of(&p.plan, "unit/web/0000000000")->message;
    const Board__UnitStatusRecord *status =
        (const Board__UnitStatusRecord *)change_of(&p.plan, "unit_status/web/0000000000")->message;
    assert_string_equal(u->place, "unassigned");
    assert_string_equal(u->state, "alive");
    assert_string_equal(u->service_guid, "s-web");
    assert_true(u->needs->unused && !u->assigned);
    assert_string_equal(status->state, "pending");
    assert_string_equal(status->guid, u->guid);
    laid_system_done(&l);

    laid_units_init(&l, WEB("alive")); /* the job is over */
    in.request = &put_job(&l, BOARD__JOB_RECORD__KIND__ADD_UNITS, "s-web")->base;
    laid_decide(l.board, &add_units_job_row, &in, &l.arena, &p);
    assert_int_equal(p.plan.verdict, PLAN_NOTHING);
    laid_system_done(&l);
    (void)state;
}

/* What a client or a rep sends as a map: at each bound, and beyond it. */
static void a_list_of_settings_keeps_its_bounds(void **state)
{
    enum { MOST = 64, KEY = 128, BYTES = 64 * 1024 };
    (void)state;
    SCOPED_ARENA(a);
    Board__UnitSetting *list[MOST + 1];
    for (size_t i = 0; i <= MOST; i++) {
        list[i] = arena_message(&a, &board__unit_setting__descriptor);
        list[i]->key = arena_printf(&a, "k%02zu", i);
        list[i]->value = arena_strdup(&a, "");
    }
    assert_null(unit_settings_list_fault(&a, list, 0));
    assert_null(unit_settings_list_fault(&a, list, MOST));
    assert_string_equal(unit_settings_list_fault(&a, list, MOST + 1),
                        "65 keys; there can be 64 at most");
    list[0]->key = memset(arena_alloc(&a, KEY + 2), 'k', KEY + 2);
    list[0]->key[KEY] = 0;
    assert_null(unit_settings_list_fault(&a, list, 1));
    list[0]->value = memset(arena_alloc(&a, BYTES), 'v', BYTES);
    list[0]->value[BYTES - KEY] = 0;
    assert_null(unit_settings_list_fault(&a, list, 1));
    list[0]->value[BYTES - KEY] = 'v';
    list[0]->value[BYTES - KEY + 1] = 0;
    assert_string_equal(unit_settings_list_fault(&a, list, 1),
                        "65537 bytes of keys and values; there can be 65536 at most");
    list[0]->value = arena_strdup(&a, "\xc3\x28");
    list[0]->key = arena_strdup(&a, "k");
    assert_string_equal(unit_settings_list_fault(&a, list, 1), "the value of k is not UTF-8");
    list[0]->value = arena_strdup(&a, "");
    list[0]->key = memset(arena_alloc(&a, KEY + 2), 'k', KEY + 2);
    list[0]->key[KEY + 1] = 0;
    assert_non_null(strstr(unit_settings_list_fault(&a, list, 1), "and -, at most 128"));
    list[0]->key = arena_strdup(&a, "a=b");
    assert_non_null(strstr(unit_settings_list_fault(&a, list, 1), "the key \"a=b\" must be"));
    list[0]->key = list[1]->key;
    assert_string_equal(unit_settings_list_fault(&a, list, 2), "the key k01 stands twice");
    list[0]->key = list[2]->key;
    assert_string_equal(unit_settings_list_fault(&a, list, 2),
                        "the key k01 stands behind k02: keys are in byte order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_deployed_is_refused),
        cmocka_unit_test(what_is_asked_badly_is_said),
        cmocka_unit_test(a_service_is_deployed_with_its_peers_and_the_job_of_its_units),
        cmocka_unit_test(the_largest_deploy_fits_into_a_transaction),
        cmocka_unit_test(units_are_added_to_a_living_principal_alone),
        cmocka_unit_test(units_are_made_by_portions),
        cmocka_unit_test(an_added_unit_waits_for_a_machine),
        cmocka_unit_test(a_list_of_settings_keeps_its_bounds),
        cmocka_unit_test(what_the_charm_says_is_not_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
