/* Unit services change: configure and upgrade, rule by rule (bbs/units). */
#include "bbs/units/unit_charm.h"
#include "bbs/units/units.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define WEB(life, charm)                                                                           \
    "unit_service/web name=web guid=s-web charm=" charm " state=" life "\n"

/* "web greeting kv:1 ring:2": options, and endpoints by their role. */
static Board__Charm *charm_of(struct arena *a, const char *text)
{
    struct charm_endpoint *ends = ARENA_ARRAY(a, CHARM_ENDPOINTS_MAX, struct charm_endpoint);
    struct charm_value *options = ARENA_ARRAY(a, 8, struct charm_value);
    Models__DesiredLRP *run = arena_message(a, &models__desired_lrp__descriptor);
    run->root_fs = arena_strdup(a, "preloaded:busybox");
    char *rest, *words = arena_strdup(a, text);
    struct charm c = {.name = strtok_r(words, " ", &rest), .config = options, .endpoints = ends,
                      .container = run, .hook_timeout_s = CHARM_HOOK_TIMEOUT_S};
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        char *role = strchr(word, ':');
        if (!role) {
            options[c.config_count++] = (struct charm_value){word, "hello"};
            continue;
        }
        *role++ = 0;
        enum charm_role is = *role == '0' ? CHARM_REQUIRES : *role == '1' ? CHARM_PROVIDES
                                                                          : CHARM_PEERS;
        ends[c.endpoint_count++] =
            (struct charm_endpoint){.name = word, .role = is, .interface = word};
    }
    return charm_message(a, &c);
}

/* A board on which web has that charm. */
static const char *lay(struct laid_system *l, const char *board, const char *charm)
{
    laid_units_init(l, board);
    const Board__CharmRecord *r = unit_charm_record(&l->arena, "web", charm_of(&l->arena, charm));
    laid_system_put(l, "charm/web/d", &r->base);
    return r->digest;
}

static const char *decided(struct laid_system *l, const struct op_row *row,
                           const ProtobufCMessage *request, struct laid_plan *p)
{
    const struct op_input in = {.actor = ACTOR_CLIENT, .peer_name = "x", .trace_id = "",
                                .boot_id = "boot", .request = request};
    laid_decide(l->board, row, &in, &l->arena, p);
    assert_true(p->plan.verdict != PLAN_COMMIT || laid_passes(l->board, &p->reads));
    assert_true(p->plan.change_count <= 64 && p->reads.count <= 118);
    return p->plan.verdict == PLAN_REFUSE ? p->plan.error_message : "";
}

/* "greeting=hi -colour": what is set, and what is unset. */
static Board__ConfigureUnitsRequest *configure_request(struct arena *a, const char *text)
{
    Board__ConfigureUnitsRequest *r = arena_message(a, &board__configure_units_request__descriptor);
    r->service = arena_strdup(a, "web");
    r->settings = ARENA_ARRAY(a, 8, Board__UnitSetting *);
    r->unset = ARENA_ARRAY(a, 8, char *);
    char *rest, *words = arena_strdup(a, text);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (!value) {
            r->unset[r->n_unset++] = word + 1;
            continue;
        }
        *value = 0;
        r->settings[r->n_settings] = arena_message(a, &board__unit_setting__descriptor);
        r->settings[r->n_settings]->key = word;
        r->settings[r->n_settings++]->value = value + 1;
    }
    return r;
}

/* What is set after it, "greeting=hi "; "nothing" where nothing is written. */
static void try_configure(const char *rule, const char *board, const char *before, const char *ask,
                          const char *want)
{
    struct laid_system l;
    struct laid_plan p;
    struct validation v = {0};
    lay(&l, board, "web colour greeting");
    Board__UnitConfigRecord *config =
        arena_message(&l.arena, &board__unit_config_record__descriptor);
    const Board__ConfigureUnitsRequest *is_set = configure_request(&l.arena, before);
    config->settings = is_set->settings;
    config->n_settings = is_set->n_settings;
    laid_system_put(&l, "unit_config/web", &config->base);
    const Board__ConfigureUnitsRequest *r = configure_request(&l.arena, ask);
    valid_configure_units(&v, r);
    const char *is = arena_strdup(&l.arena, validation_ok(&v) ? "" : validation_text(&v));
    if (validation_ok(&v)) {
        is = decided(&l, &configure_units_row, &r->base, &p);
        if (p.plan.verdict == PLAN_NOTHING) {
            is = "nothing";
        }
        for (const struct change *c = p.plan.changes; c; c = c->next) {
            const Board__UnitConfigRecord *after = (const Board__UnitConfigRecord *)c->message;
            assert_string_equal(c->key, "unit_config/web");
            for (size_t i = 0; i < after->n_settings; i++) {
                is = arena_printf(&l.arena, "%s%s=%s ", is, after->settings[i]->key,
                                  after->settings[i]->value);
            }
        }
    }
    validation_done(&v);
    if (strcmp(is, want) != 0) {
        fail_msg("%s: %s, not %s", rule, is, want);
    }
    laid_system_done(&l);
}

static void a_service_is_configured(void **state)
{
    static const char web[] = WEB("alive", "d");
    try_configure("a key is set", web, "", "greeting=hi", "greeting=hi ");
    try_configure("others stay", web, "greeting=hi", "colour=red", "colour=red greeting=hi ");
    try_configure("it is set otherwise", web, "greeting=hi", "greeting=ho", "greeting=ho ");
    try_configure("it is empty, which is no default", web, "", "greeting=", "greeting= ");
    try_configure("it is unset", web, "colour=red greeting=hi", "-greeting", "colour=red ");
    try_configure("set so already", web, "greeting=hi", "greeting=hi", "nothing");
    try_configure("unset already", web, "greeting=hi", "-colour", "nothing");
    try_configure("no such key", web, "", "greting=x",
                  "the charm web has no option \"greting\"; did you mean \"greeting\"?");
    try_configure("no such key to unset", web, "", "-color",
                  "the charm web has no option \"color\"; did you mean \"colour\"?");
    try_configure("set and unset", web, "", "greeting=x -greeting",
                  "unset: greeting is set by the same request");
    try_configure("it is dying", WEB("dying", "d"), "", "greeting=x",
                  "unit service web is dying: it is not configured any more");
    try_configure("there is none", "", "", "greeting=x",
                  "there is no unit service web: bbs units lists those that are");
    (void)state;
}

static void an_upgrade_that_does_not_fit_is_refused(void **state)
{
#define USED                                                                                       \
    WEB("alive", "d") "relation/0000000007 number=7 guid=r7 ends=web:kv:1:kv,db:x:0:kv "           \
    "state=alive\nunit_service_relation/web/0000000007 number=7\n"
    static const struct {
        const char *rule, *board, *charm, *refusal;
    } rows[] = {
        {"it has the end", USED, "web kv:1", ""},
        {"it drops an end in use", USED, "web",
         "unit service web is not upgraded: relation 7 is in the way: the charm web does not have "
         "kv in provides with the interface kv"},
        {"the end has another role", USED, "web kv:0",
         "unit service web is not upgraded: relation 7 is in the way: the charm web does not have "
         "kv in provides with the interface kv"},
        {"it is dying", WEB("dying", "d"), "web",
         "unit service web is dying: it is not upgraded any more"},
        {"there is none", "", "web",
         "there is no unit service web: bbs units lists those that are"},
        {"the other kind", "unit_service/web name=web guid=s-web subordinate=1 charm=d "
         "state=alive\n", "web",
         "unit service web is subordinate: a charm of the other kind is another service"},
        {"as many charms as may be", WEB("alive", "d") "charm/web/1\ncharm/web/2\ncharm/web/3\n"
         "charm/web/4\ncharm/web/5\ncharm/web/6\ncharm/web/7\n", "web kv:1",
         "unit service web has 8 charms, which is the most: its units run older ones yet"},
        {"one less", WEB("alive", "d") "charm/web/1\ncharm/web/2\ncharm/web/3\ncharm/web/4\n"
         "charm/web/5\ncharm/web/6\n", "web kv:1", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct laid_system l;
        struct laid_plan p;
        lay(&l, rows[i].board, "web colour greeting");
        Board__UpgradeUnitsRequest *r =
            arena_message(&l.arena, &board__upgrade_units_request__descriptor);
        r->service = arena_strdup(&l.arena, "web");
        r->charm = charm_of(&l.arena, rows[i].charm);
        assert_string_equal(decided(&l, &upgrade_units_row, &r->base, &p), rows[i].refusal);
        laid_system_done(&l);
    }
    (void)state;
}

static void a_service_is_upgraded(void **state)
{
    struct laid_system l;
    struct laid_plan p;
    lay(&l, WEB("alive", "d"), "web colour");
    Board__UnitConfigRecord *config =
        arena_message(&l.arena, &board__unit_config_record__descriptor);
    const Board__ConfigureUnitsRequest *is_set = configure_request(&l.arena, "colour=red other=x");
    config->settings = is_set->settings;
    config->n_settings = is_set->n_settings;
    laid_system_put(&l, "unit_config/web", &config->base);
    Board__UpgradeUnitsRequest *r =
        arena_message(&l.arena, &board__upgrade_units_request__descriptor);
    r->service = arena_strdup(&l.arena, "web");
    r->charm = charm_of(&l.arena, "web colour kv:1 ring:2");
    assert_string_equal(decided(&l, &upgrade_units_row, &r->base, &p), "");
    /* service, charm, configuration; of the new peers a relation, and the sequence */
    assert_int_equal(p.plan.change_count, 3 + 3 + 1);
    const Board__UnitServiceRecord *s = (const Board__UnitServiceRecord *)p.plan.changes->message;
    assert_string_equal(s->charm, unit_charm_digest(&l.arena, r->charm));
    assert_string_equal(s->guid, "s-web");
    const struct change *c = p.plan.changes->next->next;
    assert_string_equal(c->key, "unit_config/web");
    assert_int_equal(((const Board__UnitConfigRecord *)c->message)->n_settings, 1);
    assert_string_equal(c->next->key, "relation/0000000000");
    laid_system_done(&l);

    const char *digest = lay(&l, "", "web colour"); /* the charm that it has: nothing */
    const char *key;
    ProtobufCMessage *m = unit_row(
        &l.arena,
        arena_printf(&l.arena, "unit_service/web name=web guid=s-web state=alive charm=%s", digest),
        &key);
    laid_system_put(&l, key, m);
    r = arena_message(&l.arena, &board__upgrade_units_request__descriptor);
    r->service = arena_strdup(&l.arena, "web");
    r->charm = charm_of(&l.arena, "web colour");
    decided(&l, &upgrade_units_row, &r->base, &p);
    assert_int_equal(p.plan.verdict, PLAN_NOTHING);
    laid_system_done(&l);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_is_configured),
        cmocka_unit_test(an_upgrade_that_does_not_fit_is_refused),
        cmocka_unit_test(a_service_is_upgraded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
