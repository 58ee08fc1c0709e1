/* What a rep knows of the board about its units: records in any order, topics that come and go,
 * what an agent and the tools see of it, and the bounds. */
#include "rep/unit/unit_knowledge.h"

#include "common/base/random.h"
#include "common/model/record.h"
#include "rep/unit/unit_moves.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdlib.h>
#include <string.h>

enum { ORDERS = 300, ROWS_MAX = 64 };

/* protobuf-c has no constant strings. */
static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

/* ---- Tools ----------------------------------------------------------------------------------- */

struct known {
    struct arena arena;
    struct unit_knowledge k;
};

static void known_init(struct known *s)
{
    arena_init(&s->arena);
    unit_knowledge_init(&s->k, "c1");
    unit_knowledge_board_generation(&s->k, "e1");
}

static void known_done(struct known *s)
{
    unit_knowledge_done(&s->k);
    arena_done(&s->arena);
}

/* "unit/web/0000000003 guid=g3 ...", written at this revision. */
static void put_row(struct known *s, const char *row, int64_t created, int64_t revision)
{
    const char *key;
    ProtobufCMessage *m = unit_row(&s->arena, arena_strdup(&s->arena, row), &key);
    SCOPED_BUF(packed);
    record_encode(&packed, m);
    struct followed f = {.record = blob_new(packed.data, packed.size),
                         .create_revision = created,
                         .mod_revision = revision};
    unit_knowledge_record(&s->k, key, &f);
    blob_unref(f.record);
}

static void drop(struct known *s, const char *key)
{
    unit_knowledge_record(&s->k, key, NULL);
}

static const char *topics_text(struct known *s)
{
    const char *const *list;
    bool changed;
    size_t left_out, count = unit_knowledge_topics(&s->k, &s->arena, &list, &changed, &left_out);
    const char *all = "";
    for (size_t i = 0; i < count; i++) {
        all = arena_printf(&s->arena, "%s%s\n", all, list[i]);
    }
    return all;
}

static void tell_all_but(struct known *s, const char *left_out)
{
    const char *const *list;
    bool changed;
    size_t more, count = unit_knowledge_topics(&s->k, &s->arena, &list, &changed, &more);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], left_out) != 0) {
            unit_knowledge_reported(&s->k, arena_strdup(&s->arena, list[i]));
        }
    }
}

static struct agent_facts facts(struct known *s, const char *service, uint32_t number)
{
    struct agent_facts f = {.now_ns = 0};
    unit_knowledge_facts(&s->k, &s->arena, (struct unit_name){service, number}, "g", NULL, &f);
    return f;
}

/* ---- A board --------------------------------------------------------------------------------- */

#define UNIT(service, number, more)                                                                \
    "unit/" service "/000000000" number " service=" service " number=" number                      \
    " guid=" service number " service_guid=s-" service " state=alive cell_id=c1" more
#define PRINCIPAL(service, number) UNIT(service, number, " assigned=1 machine=1")
#define MEMBER(relation, principal, role, service, number)                                         \
    "relation_member/000000000" relation "/" principal "/" role "/" service "/000000000" number    \
    " state=joined unit_guid=" service number
#define SETTINGS(relation, principal, role, service, number)                                       \
    "relation_settings/000000000" relation "/" principal "/" role "/" service "/000000000" number  \
    " unit_guid=" service number
#define SCOPE(relation, principal, role, service, number)                                          \
    "unit_scope/" service "/000000000" number "/000000000" relation " relation_guid=r" relation    \
    " member=relation_member/000000000" relation "/" principal "/" role "/" service                \
    "/000000000" number
#define WEB_SERVICE "unit_service/web name=web guid=s-web state=alive charm=d"
#define LOGGER_SERVICE                                                                             \
    "unit_service/logger name=logger guid=s-logger state=alive subordinate=1 charm=l"

/* Webs 0 and 1 are here and of relation 1 with db; web 0 has logger 4 through relation 2. */
static const char *const board[] = {
    "machine/0000000001 number=1 guid=m1 state=alive cell_id=c1",
    "machine_cell/c1 number=1 cell_id=c1",
    PRINCIPAL("web", "0"),
    PRINCIPAL("web", "1"),
    UNIT("logger", "4", " principal=web/0 principal_guid=web0 machine=1"),
    "unit_status/web/0000000000 guid=web0 state=started",
    "unit_child/web/0000000000/logger unit=logger/4 guid=logger4",
    WEB_SERVICE,
    LOGGER_SERVICE,
    "unit_config/web",
    "charm/web/d service=web digest=d",
    "unit_service_relation/web/0000000001 number=1 guid=r1",
    "unit_service_relation/web/0000000002 number=2 guid=r2",
    "unit_service_relation/logger/0000000002 number=2 guid=r2",
    "relation/0000000001 number=1 guid=r1 state=alive ends=web:db:0:kv:0,db:db:1:kv:0",
    "relation/0000000002 number=2 guid=r2 state=alive scope=1 "
    "ends=logger:log:0:juju-info:1,web:juju-info:1:juju-info:1",
    SCOPE("1", "-", "0", "web", "0"),
    SCOPE("1", "-", "0", "web", "1"),
    SCOPE("2", "web.0", "1", "web", "0"),
    SCOPE("2", "web.0", "0", "logger", "4"),
    MEMBER("1", "-", "0", "web", "0"),
    MEMBER("1", "-", "0", "web", "1"),
    MEMBER("1", "-", "1", "db", "3"),
    MEMBER("1", "-", "1", "db", "7"),
    MEMBER("2", "web.0", "1", "web", "0"),
    MEMBER("2", "web.0", "0", "logger", "4"),
    SETTINGS("1", "-", "1", "db", "3"),
    SETTINGS("1", "-", "1", "db", "7"),
    SETTINGS("1", "-", "1", "db", "5"),
    SETTINGS("2", "web.0", "1", "web", "0"),
};
enum { BOARD_ROWS = sizeof(board) / sizeof(board[0]) };

static void lay_board(struct known *s)
{
    for (size_t i = 0; i < BOARD_ROWS; i++) {
        put_row(s, board[i], 100, 100 + (int64_t)i);
    }
}

static const char *board_topics = "charm/logger/\n"
                                  "charm/web/\n"
                                  "relation/0000000001\n"
                                  "relation/0000000002\n"
                                  "relation_member/0000000001/-/\n"
                                  "relation_member/0000000002/web.0/\n"
                                  "relation_settings/0000000001/-/\n"
                                  "relation_settings/0000000002/web.0/\n"
                                  "unit_config/logger\n"
                                  "unit_config/web\n"
                                  "unit_service/logger\n"
                                  "unit_service/web\n"
                                  "unit_service_relation/logger/\n"
                                  "unit_service_relation/web/\n"
                                  "unit_status/logger/0000000004\n"
                                  "unit_status/web/0000000000\n"
                                  "unit_status/web/0000000001\n";

static const char *sight_text(struct arena *a, const struct agent_facts *f)
{
    const char *all = arena_printf(
        a, "unit=%s service=%s principal=%s status=%s charm=%s", f->unit ? f->unit->guid : "-",
        f->service ? f->service->guid : "-", f->principal ? f->principal->guid : "-",
        f->status ? f->status->state : "-", f->sight.charm);
    for (size_t i = 0; i < f->child_count; i++) {
        all = arena_printf(a, "%s child=%s:%d", all, f->children[i].guid, f->children[i].alive);
    }
    for (size_t i = 0; i < f->relation_count; i++) {
        const struct agent_relation *r = &f->relations[i];
        all = arena_printf(a, "%s relation=%u:%s", all, r->record->number,
                           r->other ? r->other->name : "-");
    }
    for (size_t i = 0; i < f->sight.relation_count; i++) {
        const struct sight_relation *r = &f->sight.relations[i];
        all = arena_printf(a, "%s scope=%u:%s%s%s", all, r->number, r->guid,
                           r->alive ? "" : ":dying", r->silent ? ":silent" : "");
        for (size_t n = 0; n < r->member_count; n++) {
            all = arena_printf(a, "%s/%u@%u%s", all, r->members[n].unit,
                               (unsigned)r->members[n].version, r->members[n].departing ? "!" : "");
        }
    }
    return all;
}

static const char *seen(struct known *s, const char *service, uint32_t number)
{
    struct agent_facts f = facts(s, service, number);
    return sight_text(&s->arena, &f);
}

#define WEB_0                                                                                      \
    "unit=web0 service=s-web principal=- status=started charm=d child=logger4:1 relation=1:- "     \
    "relation=2:logger scope=1:r1/3@126/7@127 scope=2:r2:silent/4@100"
#define WEB_1                                                                                      \
    "unit=web1 service=s-web principal=- status=- charm=d relation=1:- relation=2:logger "         \
    "scope=1:r1/3@126/7@127"
#define LOGGER_4                                                                                   \
    "unit=logger4 service=s-logger principal=web0 status=- charm=l relation=2:web "                \
    "scope=2:r2/0@129"

/* ---- What is seen ---------------------------------------------------------------------------- */

static void an_agent_sees_its_side_of_the_board(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    put_row(&s, WEB_SERVICE, 100, 107);
    assert_string_equal(seen(&s, "web", 0), WEB_0);
    assert_string_equal(seen(&s, "web", 1), WEB_1);
    assert_string_equal(seen(&s, "db", 3), "unit=- service=- principal=- status=- charm=");
    struct agent_facts f = facts(&s, "web", 0);
    assert_int_equal(f.revision, 102);
    assert_int_equal(f.status_revision, 105);
    assert_int_equal(f.sight.config_version, 109);
    assert_int_equal(f.relations[1].other_revision, 108);
    assert_int_equal(f.children[0].revision, 104);
    assert_string_equal(f.sight.epoch, "e1");
    assert_int_equal(unit_knowledge_machine(&s.k, &s.arena)->number, 1);
    known_done(&s);
}

/* The principal's service is not the end by which logger is known to web, so it is followed too,
 * and a logger sees the principal of its own scope alone. */
static void a_subordinate_sees_its_principal_alone(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    put_row(&s, MEMBER("2", "web.1", "1", "web", "1"), 100, 200);
    put_row(&s, SETTINGS("2", "web.1", "1", "web", "1"), 100, 200);
    assert_string_equal(seen(&s, "logger", 4), LOGGER_4);
    put_row(&s, UNIT("web", "0", " guid=other"), 300, 300);
    assert_string_equal(seen(&s, "logger", 4),
                        "unit=logger4 service=s-logger principal=- status=- charm=l "
                        "relation=2:web scope=2:r2/0@129");
    known_done(&s);
}

static void peers_see_the_others(void **state)
{
    struct known s;
    known_init(&s);
    put_row(&s, PRINCIPAL("db", "2"), 1, 1);
    put_row(&s, "relation/0000000005 number=5 guid=r5 state=dying ends=db:ring:2:ring:0", 1, 1);
    put_row(&s, SCOPE("5", "-", "2", "db", "2"), 1, 1);
    put_row(&s, MEMBER("5", "-", "2", "db", "1"), 11, 11);
    put_row(&s, MEMBER("5", "-", "2", "db", "2"), 12, 12);
    put_row(&s, MEMBER("5", "-", "2", "db", "3"), 13, 13);
    assert_string_equal(seen(&s, "db", 2), "unit=db2 service=- principal=- status=- charm= "
                                           "scope=5:r5:dying/1@11/3@13");
    known_done(&s);
}

/* What it told is as it was when it entered, until its settings are seen; who departs is told of
 * as one that does; who has left is not there. */
static void members_come_and_go(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    put_row(&s, MEMBER("1", "-", "1", "db", "8"), 301, 305);
    put_row(&s, "relation_member/0000000001/-/1/db/0000000003 state=departing unit_guid=db3", 122,
            306);
    assert_non_null(strstr(seen(&s, "web", 1), "scope=1:r1/3@126!/7@127/8@301"));
    drop(&s, "relation_settings/0000000001/-/1/db/0000000007");
    assert_non_null(strstr(seen(&s, "web", 1), "/7@100/8@301"));
    drop(&s, "relation_member/0000000001/-/1/db/0000000003");
    drop(&s, "relation_member/0000000001/-/1/db/0000000007");
    drop(&s, "relation_member/0000000001/-/1/db/0000000008");
    assert_string_equal(seen(&s, "web", 1),
                        "unit=web1 service=s-web principal=- status=- charm=d relation=1:- "
                        "relation=2:logger scope=1:r1");
    known_done(&s);
}

/* Another service has the name, or another relation the number. */
static void namesakes_are_not_taken_for_it(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    put_row(&s, "unit_service/web name=web guid=other state=alive charm=x", 400, 400);
    put_row(&s, "unit_service/logger name=logger guid=other state=alive", 400, 400);
    put_row(&s,
            "relation/0000000001 number=1 guid=other state=alive "
            "ends=web:db:0:kv:0,db:db:1:kv:0",
            400, 400);
    put_row(&s, UNIT("logger", "4", " state=dying guid=other"), 400, 400);
    assert_string_equal(seen(&s, "web", 0),
                        "unit=web0 service=- principal=- status=started charm= child=logger4:0 "
                        "relation=1:- relation=2:- scope=1:r1:dying scope=2:r2:silent/4@100");
    known_done(&s);
}

/* ---- Any order ------------------------------------------------------------------------------- */

static void hold_the_board(struct known *s)
{
    assert_string_equal(topics_text(s), board_topics);
    assert_string_equal(seen(s, "web", 0), WEB_0);
    assert_string_equal(seen(s, "web", 1), WEB_1);
    assert_string_equal(seen(s, "logger", 4), LOGGER_4);
}

/* Each record comes once or twice, some go and come again. Then all go, in another order. */
static void records_come_in_any_order(void **state)
{
    for (uint64_t seed = 0; seed < ORDERS; seed++) {
        struct known s;
        struct random r;
        size_t order[BOARD_ROWS];
        random_seed(&r, (uint64_t[2]){seed, 7});
        known_init(&s);
        for (size_t i = 0; i < BOARD_ROWS; i++) {
            size_t at = (size_t)random_below(&r, i + 1);
            order[i] = order[at];
            order[at] = i;
        }
        for (size_t i = 0; i < BOARD_ROWS; i++) {
            const char *row = board[order[i]];
            put_row(&s, row, 100, 100 + (int64_t)order[i]);
            if (random_below(&r, 4) == 0) {
                drop(&s, arena_strndup(&s.arena, row, strcspn(row, " ")));
                put_row(&s, row, 100, 100 + (int64_t)order[i]);
            }
        }
        hold_the_board(&s);
        for (size_t i = BOARD_ROWS; i > 0; i--) {
            const char *row = board[order[(i + seed) % BOARD_ROWS]];
            drop(&s, arena_strndup(&s.arena, row, strcspn(row, " ")));
        }
        assert_string_equal(topics_text(&s), "");
        assert_int_equal(s.k.records.count + s.k.guids.count + s.k.sides.count + s.k.here.count +
                             s.k.children.count + s.k.waiting.count,
                         0);
        known_done(&s);
    }
}

static void what_cannot_be_read_is_not_there(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    struct followed f = {.record = blob_new("\x09rubbish", 8), .mod_revision = 900};
    unit_knowledge_record(&s.k, "unit_service/web", &f);
    unit_knowledge_record(&s.k, "unit/web", &f);
    unit_knowledge_record(&s.k, "actual/p/0000000000/0", &f);
    blob_unref(f.record);
    assert_null(facts(&s, "web", 0).service);
    assert_int_equal(s.k.records.count, BOARD_ROWS - 1);
    known_done(&s);
}

static const char *foreign(struct known *s, const char *service, uint32_t number)
{
    const char *key = unit_foreign(&s->k, &s->arena, (struct unit_name){service, number});
    return key ? key : "";
}

/* Each record of the board is written by a later version, and then again by this one: whom it is
 * about is not known meanwhile, and looks again. */
static void what_a_later_version_has_written_is_left_alone(void **state)
{
    static const struct {
        const char *key;
        bool web_0, web_1, logger_4;
    } rows[] = {
        {"unit/web/0000000000", true, false, true}, /* whose subordinate the logger is */
        {"unit/web/0000000001", false, true, false},
        {"unit/logger/0000000004", false, false, true},
        {"unit_status/web/0000000000", true, false, false},
        {"unit_status/logger/0000000004", false, false, true},
        {"unit_child/web/0000000000/logger", true, false, false},
        {"unit_scope/web/0000000001/0000000001", false, true, false},
        {"unit_scope/logger/0000000004/0000000002", false, false, true},
        {"unit_service/web", true, true, false},
        {"unit_service/logger", false, false, true},
        {"unit_config/web", true, true, false},
        {"charm/web/d", true, true, false},
        {"charm/web/e", true, true, false},
        {"unit_service_relation/web/0000000001", true, true, false},
        {"unit_service_relation/web/0000000009", true, true, false},
        {"relation/0000000001", true, true, false},
        {"relation/0000000002", true, true, true},
        {"relation_member/0000000001/-/1/db/0000000003", true, true, false},
        {"relation_settings/0000000002/web.0/0/logger/0000000004", true, true, true},
        {"relation/0000000009", false, false, false}, /* of others */
        {"unit/web/0000000009", false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct known s;
        struct unit_known *list;
        const char *key = rows[i].key;
        known_init(&s);
        lay_board(&s);
        tell_all_but(&s, "");
        assert_string_equal(foreign(&s, "web", 0), "");
        unit_knowledge_touched(&s.k, &s.arena, &list);
        struct followed f = {.record = blob_new("\x09later", 6), .mod_revision = 900};
        unit_knowledge_record(&s.k, key, &f);
        blob_unref(f.record);
        assert_string_equal(foreign(&s, "web", 0), rows[i].web_0 ? key : "");
        assert_string_equal(foreign(&s, "web", 1), rows[i].web_1 ? key : "");
        assert_string_equal(foreign(&s, "logger", 4), rows[i].logger_4 ? key : "");
        assert_false(rows[i].web_0 && unit_knowledge_known(&s.k, (struct unit_name){"web", 0}));
        drop(&s, key);
        assert_int_equal(s.k.foreign.count, 0);
        known_done(&s);
    }
}

static void a_reset_empties_it(void **state)
{
    struct known s;
    struct unit_known *list;
    known_init(&s);
    lay_board(&s);
    tell_all_but(&s, "");
    unit_knowledge_touched(&s.k, &s.arena, &list);
    unit_knowledge_reset(&s.k);
    assert_string_equal(topics_text(&s), "");
    assert_int_equal(unit_knowledge_touched(&s.k, &s.arena, &list), 3);
    assert_string_equal(list[0].guid, "");
    lay_board(&s);
    hold_the_board(&s);
    assert_false(unit_knowledge_known(&s.k, (struct unit_name){"web", 0}));
    known_done(&s);
}

/* ---- Topics ---------------------------------------------------------------------------------- */

static void a_topic_is_wanted_while_anything_leads_to_it(void **state)
{
    struct known s;
    const char *const *list;
    bool changed;
    size_t left_out;
    known_init(&s);
    lay_board(&s);
    assert_string_equal(topics_text(&s), board_topics);
    unit_knowledge_topics(&s.k, &s.arena, &list, &changed, &left_out);
    assert_false(changed);
    drop(&s, "unit_scope/web/0000000000/0000000001"); /* web 1 is in it yet */
    assert_string_equal(topics_text(&s), board_topics);
    drop(&s, "unit_scope/web/0000000001/0000000001");
    assert_null(strstr(topics_text(&s), "relation_member/0000000001/-/"));
    assert_null(strstr(topics_text(&s), "relation_settings/0000000001/-/"));
    drop(&s, "unit/web/0000000000");
    assert_non_null(strstr(topics_text(&s), "unit_service_relation/web/"));
    drop(&s, "unit/web/0000000001"); /* the last one here */
    unit_knowledge_topics(&s.k, &s.arena, &list, &changed, &left_out);
    assert_false(changed && left_out);
    assert_null(strstr(topics_text(&s), "unit_service_relation/web/"));
    assert_null(strstr(topics_text(&s), "unit_config/web"));
    assert_null(strstr(topics_text(&s), "relation/0000000001"));
    assert_non_null(strstr(topics_text(&s), "unit_service/web")); /* logger's other end */
    known_done(&s);
}

/* Without one of its topics it is not. */
static void a_unit_is_known_when_all_was_told(void **state)
{
    static const char *const of_web = "charm/web/ unit_config/web unit_service_relation/web/ "
                                      "relation/0000000001 relation_member/0000000001/-/ "
                                      "relation_settings/0000000001/-/ "
                                      "unit_status/web/0000000000 unit_status/web/0000000001";
    static const char *const of_logger =
        "charm/logger/ unit_config/logger unit_service_relation/logger/ "
        "unit_status/logger/0000000004 unit_status/web/0000000001";
    char *rest = strdup(board_topics), *line = rest, *topic;
    while ((topic = strsep(&line, "\n")) && *topic) {
        struct known s;
        known_init(&s);
        lay_board(&s);
        tell_all_but(&s, topic);
        assert_true(unit_knowledge_known(&s.k, (struct unit_name){"web", 0}) ==
                    (strstr(of_logger, topic) != NULL));
        assert_true(unit_knowledge_known(&s.k, (struct unit_name){"logger", 4}) ==
                    (strstr(of_web, topic) != NULL));
        unit_knowledge_reported(&s.k, topic);
        assert_true(unit_knowledge_known(&s.k, (struct unit_name){"web", 0}) &&
                    unit_knowledge_known(&s.k, (struct unit_name){"logger", 4}));
        known_done(&s);
    }
    free(rest);
}

static void what_is_new_is_not_known_yet(void **state)
{
    const struct unit_name web = {"web", 0};
    struct known s;
    known_init(&s);
    lay_board(&s);
    tell_all_but(&s, "");
    assert_true(facts(&s, "web", 0).confirmed);
    put_row(&s, "unit_service_relation/web/0000000009 number=9 guid=r9", 500, 500);
    assert_false(unit_knowledge_known(&s.k, web));
    assert_true(unit_knowledge_known(&s.k, (struct unit_name){"logger", 4}));
    assert_true(unit_knowledge_known(&s.k, (struct unit_name){"nobody", 1}));
    assert_true(unit_knowledge_known(&s.k, (struct unit_name){"web", 9})); /* it is gone */
    unit_knowledge_reported(&s.k, "relation/0000000009");
    put_row(&s,
            "relation/0000000009 number=9 guid=r9 state=alive scope=1 "
            "ends=cache:log:0:juju-info:1,web:juju-info:1:juju-info:1",
            500, 500);
    assert_false(unit_knowledge_known(&s.k, web));
    unit_knowledge_reported(&s.k, "unit_service/cache");
    assert_true(unit_knowledge_known(&s.k, web));
    unit_knowledge_board_generation(&s.k, "");
    assert_false(unit_knowledge_known(&s.k, web));
    known_done(&s);
}

static void more_topics_than_a_feed_takes_are_left_out(void **state)
{
    struct known s;
    const char *const *list;
    bool changed;
    size_t left_out, units = FEED_CLIENT_TOPICS_MAX / 5 + 1;
    known_init(&s);
    for (size_t i = 0; i < units; i++) {
        put_row(&s,
                arena_printf(&s.arena, "unit/s%zu/0000000000 service=s%zu guid=g%zu cell_id=c1", i,
                             i, i),
                1, 1);
    }
    size_t count = unit_knowledge_topics(&s.k, &s.arena, &list, &changed, &left_out);
    assert_int_equal(count, FEED_CLIENT_TOPICS_MAX);
    assert_int_equal(left_out, 4); /* 820 units */
    for (size_t i = 0; i < count; i++) {
        unit_knowledge_reported(&s.k, arena_strdup(&s.arena, list[i]));
    }
    size_t known = 0;
    for (size_t i = 0; i < units; i++) {
        known +=
            unit_knowledge_known(&s.k, (struct unit_name){arena_printf(&s.arena, "s%zu", i), 0});
    }
    assert_true(known < units && known > 0);
    drop(&s, "unit/s0/0000000000"); /* room for another one's, and what was told stays */
    assert_int_equal(unit_knowledge_topics(&s.k, &s.arena, &list, &changed, &left_out),
                     FEED_CLIENT_TOPICS_MAX - 1);
    assert_int_equal(left_out, 0);
    known_done(&s);
}

/* ---- Who looks again ------------------------------------------------------------------------- */

static const char *touched(struct known *s)
{
    struct unit_known *list;
    size_t count = unit_knowledge_touched(&s->k, &s->arena, &list);
    const char *all = "";
    for (size_t i = 0; i < count; i++) {
        all = arena_printf(&s->arena, "%s %s%s", all, unit_name_text(&s->arena, list[i].name),
                           *list[i].guid ? "" : "-");
    }
    return all;
}

static void those_look_again_whom_it_is_about(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    put_row(&s, PRINCIPAL("api", "0"), 1, 1);
    assert_string_equal(touched(&s), " api/0 logger/4 web/0 web/1");
    assert_string_equal(touched(&s), "");
    put_row(&s, SETTINGS("1", "-", "1", "db", "7"), 100, 600);
    assert_string_equal(touched(&s), " web/0 web/1");
    put_row(&s, MEMBER("2", "web.0", "0", "logger", "4"), 100, 600);
    assert_string_equal(touched(&s), " logger/4 web/0");
    put_row(&s, MEMBER("2", "web.1", "0", "logger", "5"), 600, 600);
    assert_string_equal(touched(&s), "");
    put_row(&s, "unit_status/web/0000000001 guid=web1 state=pending", 600, 600);
    assert_string_equal(touched(&s), " web/1");
    put_row(&s, "unit_config/web", 600, 600);
    assert_string_equal(touched(&s), " web/0 web/1");
    put_row(&s, LOGGER_SERVICE, 100, 600);
    assert_string_equal(touched(&s), " logger/4 web/0 web/1");
    put_row(&s, PRINCIPAL("web", "0"), 100, 600); /* and who hangs on its life */
    assert_string_equal(touched(&s), " logger/4 web/0");
    unit_knowledge_reported(&s.k, "relation_member/0000000002/web.0/");
    assert_string_equal(touched(&s), " logger/4 web/0");
    drop(&s, "unit/logger/0000000004");
    assert_string_equal(touched(&s), " logger/4- web/0");
    known_done(&s);
}

static void units_are_found(void **state)
{
    struct known s;
    struct unit_known *list;
    struct unit_name name;
    known_init(&s);
    lay_board(&s);
    assert_int_equal(unit_knowledge_units(&s.k, &s.arena, &list), 3);
    assert_string_equal(list[0].name.service, "logger");
    assert_string_equal(list[2].guid, "web1");
    assert_true(unit_knowledge_find(&s.k, &s.arena, "web1", &name));
    assert_int_equal(name.number, 1);
    put_row(&s, UNIT("web", "1", " guid=other"), 700, 700);
    assert_false(unit_knowledge_find(&s.k, &s.arena, "web1", &name));
    assert_true(unit_knowledge_find(&s.k, &s.arena, "other", &name));
    known_done(&s);
}

/* ---- Bounds of what is seen ------------------------------------------------------------------ */

static void as_much_is_seen_as_an_agent_takes(void **state)
{
    struct known s;
    known_init(&s);
    put_row(&s, PRINCIPAL("web", "0"), 1, 1);
    for (unsigned i = 1; i <= HOOK_RELATIONS_MAX + 1; i++) {
        put_row(&s,
                arena_printf(&s.arena,
                             "unit_scope/web/0000000000/%010u relation_guid=r "
                             "member=relation_member/%010u/-/0/web/0000000000",
                             i, i),
                1, 1);
    }
    for (unsigned i = 0; i <= AGENT_CHILDREN_MAX; i++) {
        put_row(&s, arena_printf(&s.arena, "unit_child/web/0000000000/c%u unit=c%u/0 guid=g", i, i),
                1, 1);
    }
    struct agent_facts f = facts(&s, "web", 0);
    assert_int_equal(f.sight.relation_count, HOOK_RELATIONS_MAX);
    assert_int_equal(f.child_count, AGENT_CHILDREN_MAX);
    assert_false(f.children[0].alive);
    known_done(&s);
}

/* ---- What is remembered of moves ------------------------------------------------------------- */

static void a_principal_keeps_its_number(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    drop(&s, "unit_child/web/0000000000/logger");
    assert_false(facts(&s, "web", 1).relations[1].has_number);
    assert_int_equal(unit_knowledge_numbers_due(&s.k, "logger"), 2);
    unit_knowledge_numbers(&s.k, "logger", 40, 2);
    unit_knowledge_numbers(&s.k, "cache", 90, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(facts(&s, "web", 1).relations[1].number, 40);
        assert_int_equal(facts(&s, "web", 0).relations[1].number, 41);
    }
    assert_int_equal(unit_knowledge_numbers_due(&s.k, "logger"), 1);
    put_row(&s, "unit_child/web/0000000000/logger unit=logger/41 guid=x", 800, 800);
    assert_false(facts(&s, "web", 0).relations[1].has_number);
    drop(&s, "unit_child/web/0000000000/logger");
    assert_false(facts(&s, "web", 0).relations[1].has_number); /* it is used up */
    assert_true(facts(&s, "web", 1).relations[1].has_number);
    assert_false(facts(&s, "logger", 4).relations[0].has_number);
    unit_knowledge_board_generation(&s.k, "e2");
    assert_false(facts(&s, "web", 1).relations[1].has_number);
    unit_knowledge_numbers(&s.k, "logger", 0, 64 * UNIT_NUMBERS_KEPT_MAX);
    assert_int_equal(s.k.numbers_kept, UNIT_NUMBERS_KEPT_MAX);
    known_done(&s);
}

/* It may be why the enter was refused: once it is another one, and no more than once. */
static void a_number_that_was_refused_is_given_up(void **state)
{
    struct known s;
    struct unit_name web = {"web", 1};
    known_init(&s);
    lay_board(&s);
    unit_knowledge_numbers(&s.k, "logger", 0, 3);
    struct agent_facts f = facts(&s, "web", 1);
    uint32_t relation = f.relations[1].record->number;
    for (uint32_t number = 0; number < 2; number++) {
        f = facts(&s, "web", 1);
        assert_true(f.relations[1].has_number && f.relations[1].number == number);
        const struct agent_cause cause = unit_knowledge_cause(&f, relation);
        assert_int_equal(cause.number, number + 1);
        unit_knowledge_enter_refused(&s.k, web, relation, cause);
    }
    f = facts(&s, "web", 1);
    assert_int_equal(f.relations[1].number, 1); /* it is not why */
    assert_int_equal(f.relations[1].refused.number, 2);
    known_done(&s);
    (void)state;
}

static void a_refusal_is_kept_while_it_stands(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    drop(&s, "unit_scope/web/0000000001/0000000001");
    struct agent_facts f = facts(&s, "web", 1);
    const struct agent_cause cause = unit_knowledge_cause(&f, 1);
    assert_false(f.relations[0].was_refused);
    unit_knowledge_enter_refused(&s.k, (struct unit_name){"web", 1}, 1, cause);
    f = facts(&s, "web", 1);
    assert_true(f.relations[0].was_refused && !f.relations[1].was_refused);
    assert_int_equal(f.relations[0].refused.relation, 114);
    put_row(&s, SCOPE("1", "-", "0", "web", "1"), 900, 900); /* it landed after all */
    assert_false(facts(&s, "web", 1).relations[0].was_refused);
    unit_knowledge_enter_refused(&s.k, (struct unit_name){"web", 1}, 1, cause);
    drop(&s, "unit/web/0000000001");
    assert_int_equal(s.k.refused.count, 0);
    for (unsigned i = 0; i <= UNIT_REFUSED_MAX; i++) {
        unit_knowledge_enter_refused(&s.k, (struct unit_name){"web", i}, 1, cause);
        assert_true(s.k.refused.count <= UNIT_REFUSED_MAX);
    }
    assert_int_equal(s.k.refused.count, 1);
    known_done(&s);
}

/* ---- The tools of a hook --------------------------------------------------------------------- */

static void put_message(struct known *s, const char *key, const ProtobufCMessage *m)
{
    SCOPED_BUF(packed);
    record_encode(&packed, m);
    struct followed f = {.record = blob_new(packed.data, packed.size), .mod_revision = 950};
    unit_knowledge_record(&s->k, key, &f);
    blob_unref(f.record);
}

static void put_charm(struct known *s, const char *key, const char *rootfs, bool command)
{
    Board__Charm charm = BOARD__CHARM__INIT;
    Board__CharmRecord record = BOARD__CHARM_RECORD__INIT;
    Models__DesiredLRP run = MODELS__DESIRED_LRP__INIT;
    Models__RunAction words = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    words.path = text("/bin/sleep");
    action.run_action = &words;
    run.root_fs = text(rootfs);
    run.action = command ? &action : NULL;
    charm.run = *rootfs ? &run : NULL;
    record.charm = &charm;
    put_message(s, key, &record.base);
}

static const struct unit_outline *outline_of(struct known *s, const char *service)
{
    return unit_knowledge_outline(&s->k, &s->arena, service, "d");
}

/* It is made when the charm comes, by what that says, and goes with it. */
static void a_charm_that_is_held_has_an_outline(void **state)
{
    struct known s;
    known_init(&s);
    assert_null(outline_of(&s, "web"));
    put_charm(&s, "charm/web/d", "preloaded:one", true);
    put_charm(&s, "charm/db/d", "preloaded:two", false);
    put_charm(&s, "charm/none/d", "", false);
    const char *shape = arena_strdup(&s.arena, outline_of(&s, "web")->shape);
    assert_true(outline_of(&s, "web")->has_command);
    assert_false(outline_of(&s, "db")->has_command);
    assert_string_not_equal(outline_of(&s, "db")->shape, shape);
    assert_null(outline_of(&s, "none")->shape);
    assert_false(outline_of(&s, "none")->has_command);
    put_charm(&s, "charm/web/d", "preloaded:two", false); /* a restored board has another one */
    assert_string_not_equal(outline_of(&s, "web")->shape, shape);
    assert_string_equal(outline_of(&s, "web")->shape, outline_of(&s, "db")->shape);
    drop(&s, "charm/web/d");
    assert_null(outline_of(&s, "web"));
    assert_non_null(outline_of(&s, "db"));
    unit_knowledge_reset(&s.k);
    assert_null(outline_of(&s, "db"));
    known_done(&s);
}

static void tools_see_settings_and_configuration(void **state)
{
    struct known s;
    struct tool_world w = {.address = "here"};
    Board__UnitSetting a = BOARD__UNIT_SETTING__INIT, b = a, set = a;
    Board__UnitSetting *defaults[] = {&a, &b}, *sets[] = {&set};
    Board__Charm charm = BOARD__CHARM__INIT;
    Board__CharmRecord record = BOARD__CHARM_RECORD__INIT;
    Board__UnitConfigRecord config = BOARD__UNIT_CONFIG_RECORD__INIT;
    Board__RelationSettingsRecord told = BOARD__RELATION_SETTINGS_RECORD__INIT;
    known_init(&s);
    lay_board(&s);
    a.key = text("a"), a.value = text("1"), b.key = text("b"), b.value = text("2"),
    set.key = text("b"), set.value = text("3");
    charm.config = defaults, charm.n_config = 2, record.charm = &charm;
    config.settings = told.settings = sets, config.n_settings = told.n_settings = 1;
    put_message(&s, "charm/web/d", &record.base);
    put_message(&s, "unit_config/web", &config.base);
    put_message(&s, "relation_settings/0000000001/-/0/web/0000000000", &told.base);
    put_message(&s, "relation_settings/0000000001/-/1/db/0000000005", &told.base);
    unit_knowledge_tools(&s.k, &s.arena, (struct unit_name){"web", 0}, "d", NULL, &w);
    assert_string_equal(w.unit, "web/0");
    assert_string_equal(w.machine, "1");
    assert_string_equal(w.principal, "");
    assert_string_equal(w.address, "here");
    assert_int_equal(w.config_count, 2);
    assert_non_null(w.charm);
    assert_string_equal(w.config[0]->value, "1");
    assert_string_equal(w.config[1]->value, "3");
    assert_int_equal(w.relation_count, 2);
    assert_string_equal(w.relations[0].endpoint, "db");
    assert_int_equal(w.relations[0].own_count, 1);
    assert_int_equal(w.relations[0].member_count, 3);
    assert_true(w.relations[0].members[0].present && w.relations[0].members[2].present);
    assert_string_equal(w.relations[0].members[1].unit, "db/5"); /* it has left */
    assert_false(w.relations[0].members[1].present);
    assert_string_equal(w.relations[0].members[1].settings[0]->value, "3");
    unit_knowledge_tools(&s.k, &s.arena, (struct unit_name){"logger", 4}, "l", NULL, &w);
    assert_string_equal(w.principal, "web/0");
    assert_string_equal(w.machine, "1");
    assert_string_equal(w.relations[0].members[0].unit, "web/0");
    known_done(&s);
}

/* Of so many that not all are shown, those are of which it was told. */
static void tools_show_whom_the_unit_was_told_of(void **state)
{
    struct known s;
    struct tool_world w = {.address = ""};
    Rep__UnitNote j = REP__UNIT_NOTE__INIT;
    Rep__UnitNoteRelation r = REP__UNIT_NOTE_RELATION__INIT, *relations[] = {&r};
    Rep__UnitNoteMember m = REP__UNIT_NOTE_MEMBER__INIT, *members[] = {&m};
    known_init(&s);
    lay_board(&s);
    for (unsigned i = 10; i < 10 + HOOK_SCOPE_TOLD_MAX; i++) {
        put_row(&s, arena_printf(&s.arena, "relation_settings/0000000001/-/1/db/%010u", i), 1, 1);
    }
    m.unit = 9 + HOOK_SCOPE_TOLD_MAX;
    r.number = 1, r.members = members, r.n_members = 1;
    j.relations = relations, j.n_relations = 1;
    unit_knowledge_tools(&s.k, &s.arena, (struct unit_name){"web", 0}, "d", &j, &w);
    const struct tool_relation *t = &w.relations[0];
    assert_int_equal(t->member_count, HOOK_SCOPE_TOLD_MAX);
    assert_string_equal(t->members[0].unit, "db/3");
    assert_string_equal(t->members[t->member_count - 1].unit,
                        arena_printf(&s.arena, "db/%u", m.unit));
    Rep__UnitNoteHook joined = REP__UNIT_NOTE_HOOK__INIT;
    joined.hook = HOOK_JOINED, joined.relation = 1, joined.unit = m.unit - 1, j.hook = &joined;
    unit_knowledge_tools(&s.k, &s.arena, (struct unit_name){"web", 0}, "d", &j, &w);
    t = &w.relations[0];
    assert_int_equal(t->member_count, HOOK_SCOPE_TOLD_MAX);
    assert_string_equal(t->members[t->member_count - 2].unit,
                        arena_printf(&s.arena, "db/%u", joined.unit));
    assert_true(t->members[t->member_count - 2].present);
    known_done(&s);
}

/* Who of db/3 (which departs), db/5 (which has left) and db/7 is listed, told of db/3 and db/5. */
static const char *listed(struct known *s, enum unit_hook hook, uint32_t relation, uint32_t unit)
{
    struct tool_world w = {.address = ""};
    Rep__UnitNoteHook h = REP__UNIT_NOTE_HOOK__INIT;
    Rep__UnitNote j = REP__UNIT_NOTE__INIT;
    Rep__UnitNoteRelation r = REP__UNIT_NOTE_RELATION__INIT, *relations[] = {&r};
    Rep__UnitNoteMember one = REP__UNIT_NOTE_MEMBER__INIT, other = one, *members[] = {&one, &other};
    h.hook = hook, h.relation = relation, h.unit = unit, j.hook = &h;
    one.unit = 3, other.unit = 5, r.number = 1, r.members = members, r.n_members = 2;
    j.relations = relations, j.n_relations = 1;
    unit_knowledge_tools(&s->k, &s->arena, (struct unit_name){"web", 0}, "d", &j, &w);
    const struct tool_relation *t = &w.relations[0];
    const char *all = "";
    assert_int_equal(t->member_count, 3); /* each can be read */
    for (size_t i = 0; i < t->member_count; i++) {
        all =
            t->members[i].present ? arena_printf(&s->arena, "%s %s", all, t->members[i].unit) : all;
    }
    return all;
}

static void a_hook_lists_whom_it_is_about(void **state)
{
    static const struct {
        const char *ends; /* a record that has another state */
        enum unit_hook hook;
        uint32_t relation, unit;
        const char *listed;
    } rows[] = {
        {NULL, HOOK_CONFIG_CHANGED, 0, 0, " db/7"},
        {NULL, HOOK_JOINED, 1, 3, " db/3 db/7"},  /* 1: it departs by now */
        {NULL, HOOK_CHANGED, 1, 5, " db/5 db/7"}, /* 1: it has left by now */
        {NULL, HOOK_JOINED, 2, 3, " db/7"},       /* another relation's */
        {NULL, HOOK_DEPARTED, 1, 3, " db/7"},
        {NULL, HOOK_DEPARTED, 1, 7, ""}, /* 2: it stays where it is; this unit was to forget it */
        {"relation/0000000001 number=1 guid=r1 state=dying ends=web:db:0:kv:0,db:db:1:kv:0",
         HOOK_DEPARTED, 1, 3, " db/5"}, /* 2, 3 */
        {"relation/0000000001 number=1 guid=r1 state=dying ends=web:db:0:kv:0,db:db:1:kv:0",
         HOOK_CHANGED, 1, 3, " db/3 db/5"}, /* 1, 3: owed by its joined */
        {"unit/web/0000000000 service=web number=0 guid=web0 service_guid=s-web state=dying "
         "cell_id=c1 assigned=1 machine=1",
         HOOK_DEPARTED, 1, 5, " db/3"}, /* 2, 3 */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct known s;
        known_init(&s);
        lay_board(&s);
        put_row(&s, "relation_member/0000000001/-/1/db/0000000003 state=departing unit_guid=db3", 1,
                9);
        if (rows[i].ends) {
            put_row(&s, rows[i].ends, 1, 950);
        }
        assert_string_equal(listed(&s, rows[i].hook, rows[i].relation, rows[i].unit),
                            rows[i].listed);
        known_done(&s);
    }
    (void)state;
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static void what_is_published_goes_over_what_stands(void **state)
{
    SCOPED_ARENA(a);
    const char *member = "relation_member/0000000001/-/0/web/0000000000";
    Board__UnitSetting x = BOARD__UNIT_SETTING__INIT, *list[] = {&x};
    Board__RelationSettingsRecord own = BOARD__RELATION_SETTINGS_RECORD__INIT;
    Rep__UnitNoteWrite other = REP__UNIT_NOTE_WRITE__INIT, write = other;
    Rep__UnitNoteWrite *writes[] = {&other, &write};
    Rep__UnitNote j = REP__UNIT_NOTE__INIT;
    x.key = text("x"), x.value = text("1"), own.settings = list, own.n_settings = 1, own.hook = 6;
    other.relation = 2, other.key = text("x"), other.value = text("9");
    write.relation = 1, write.key = text("y"), write.value = text("2");
    j.unpublished = writes, j.n_unpublished = 2;
    const Board__Move *m = unit_move_publish(&a, member, "g", &own, &j, 1);
    assert_int_equal(move_units(m)->n_settings, 2);
    assert_string_equal(move_units(m)->settings[0]->value, "1");
    assert_string_equal(move_units(m)->settings[1]->value, "2");
    assert_int_equal(move_units(m)->hook, 7);
    write.key = text("x"), write.value = text(""); /* the key goes */
    m = unit_move_publish(&a, member, "g", &own, &j, 1);
    assert_int_equal(move_units(m)->n_settings, 0);
    write.value = text("1"); /* it stands there already: that wakes nobody */
    assert_null(unit_move_publish(&a, member, "g", &own, &j, 1));
    write.key = text("z"), write.value = text("");
    assert_null(unit_move_publish(&a, member, "g", &own, &j, 1));
    write.value = text("3");
    assert_int_equal(move_units(unit_move_publish(&a, member, "g", NULL, &j, 1))->hook, 1);
}

static void who_enters_says_how_it_is_reached(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    const Board__UnitRecord *logger =
        unit_knowledge_unit(&s.k, &s.arena, (struct unit_name){"logger", 4});
    const Board__RelationRecord *r = unit_knowledge_relation(&s.k, &s.arena, 2);
    const Board__Move *m =
        unit_move_enter(&s.arena, logger, r, (struct unit_address){"10.0.0.1", 61000}, false, 0);
    assert_string_equal(move_key(&s.arena, m),
                        "relation_member/0000000002/web.0/0/logger/0000000004");
    assert_string_equal(move_units(m)->relation_guid, "r2");
    assert_int_equal(move_units(m)->n_settings, 2);
    assert_string_equal(move_units(m)->settings[0]->value, "61000");
    assert_string_equal(move_units(m)->settings[1]->value, "10.0.0.1");
    m = unit_move_enter(&s.arena, logger, r, (struct unit_address){"", 0}, false, 0);
    assert_int_equal(move_units(m)->n_settings, 0);
    assert_null(unit_move_enter(&s.arena, logger, unit_knowledge_relation(&s.k, &s.arena, 1),
                                (struct unit_address){"", 0}, false, 0));
    known_done(&s);
}

static const char *move_said(struct known *s, const struct agent_facts *f, struct agent_step step)
{
    const Board__Move *m =
        unit_move_of_act(&s->arena, &s->k, f, &step, (struct unit_address){"", 0});
    return m ? arena_printf(&s->arena, "%s %s %s", m->move, move_key(&s->arena, m),
                            move_units(m)->guid)
             : "-";
}

/* Each says whose guid it means: a subordinate's, where it is about that. */
static void an_act_is_a_move_of_the_right_guid(void **state)
{
    struct known s;
    known_init(&s);
    lay_board(&s);
    struct agent_facts f = facts(&s, "web", 0);
    f.guid = "web0";
    static const struct {
        struct agent_step step;
        const char *move;
    } rows[] = {
        {{.act = AGENT_DIE}, "die unit/web/0000000000 web0"},
        {{.act = AGENT_REMOVE}, "remove unit/web/0000000000 web0"},
        {{.act = AGENT_DESTROY}, "destroy unit/web/0000000000 web0"},
        {{.act = AGENT_DESTROY_CHILD, .child = {"logger", 4}},
         "destroy unit/logger/0000000004 logger4"},
        {{.act = AGENT_DESTROY_CHILD, .child = {"logger", 5}}, "-"},
        {{.act = AGENT_LEAVE, .relation = 2},
         "leave relation_member/0000000002/web.0/1/web/0000000000 web0"},
        {{.act = AGENT_LEAVE, .relation = 3}, "-"},
        {{.act = AGENT_ENTER, .relation = 1},
         "enter relation_member/0000000001/-/0/web/0000000000 web0"},
        {{.act = AGENT_NUMBERS, .service = "logger"}, "numbers unit_service/logger s-logger"},
        {{.act = AGENT_WAIT}, "-"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(move_said(&s, &f, rows[i].step), rows[i].move);
    }
    known_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_sees_its_side_of_the_board),
        cmocka_unit_test(a_subordinate_sees_its_principal_alone),
        cmocka_unit_test(peers_see_the_others),
        cmocka_unit_test(members_come_and_go),
        cmocka_unit_test(namesakes_are_not_taken_for_it),
        cmocka_unit_test(records_come_in_any_order),
        cmocka_unit_test(what_cannot_be_read_is_not_there),
        cmocka_unit_test(what_a_later_version_has_written_is_left_alone),
        cmocka_unit_test(a_reset_empties_it),
        cmocka_unit_test(a_topic_is_wanted_while_anything_leads_to_it),
        cmocka_unit_test(a_unit_is_known_when_all_was_told),
        cmocka_unit_test(what_is_new_is_not_known_yet),
        cmocka_unit_test(more_topics_than_a_feed_takes_are_left_out),
        cmocka_unit_test(those_look_again_whom_it_is_about),
        cmocka_unit_test(units_are_found),
        cmocka_unit_test(as_much_is_seen_as_an_agent_takes),
        cmocka_unit_test(a_principal_keeps_its_number),
        cmocka_unit_test(a_number_that_was_refused_is_given_up),
        cmocka_unit_test(a_refusal_is_kept_while_it_stands),
        cmocka_unit_test(a_charm_that_is_held_has_an_outline),
        cmocka_unit_test(tools_see_settings_and_configuration),
        cmocka_unit_test(tools_show_whom_the_unit_was_told_of),
        cmocka_unit_test(a_hook_lists_whom_it_is_about),
        cmocka_unit_test(what_is_published_goes_over_what_stands),
        cmocka_unit_test(who_enters_says_how_it_is_reached),
        cmocka_unit_test(an_act_is_a_move_of_the_right_guid),
    };
    return cmocka_run_group_tests_name("what a rep knows of its units", tests, NULL, NULL);
}
