/* What the plan shows of records of units whose counterpart is not there: each of a whole board
 * taken away, and put there of another guid, and of a later version. */
#include "converger/unit_mirrors.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

#include <string.h>

#define UNIT(name, more)                                                                           \
    "unit/" name "/0000000000 service=" name " number=0 guid=" name "0 service_guid=s-" name       \
    " state=alive place=alive machine=1 cell_id=c1 identity=I" more
#define STATUS(name) "unit_status/" name "/0000000000 guid=" name "0 state=started"
#define LISTED "machine_unit/0000000001/web/0000000000"
#define NAMED "relation_key/logger%3Alog%20web%3Ajuju-info"
#define MEMBER "relation_member/0000000004/web.0/1/web/0000000000"
#define SCOPE "unit_scope/web/0000000000/0000000004"
#define WITHOUT_WEB " without unit/web/0000000000 of guid web0\n"
#define WITHOUT_R4 " without relation/0000000004 of guid r4\n"

/* `lacking`: what is shown if that record is not there; of one with a guid likewise if that is
 * another one, but for `own`, which the record itself lacks then. */
static const struct board_row {
    const char *record, *lacking, *own;
} board[] = {
    {"machine/0000000001 number=1 guid=m1 state=alive cell_id=c1 identity=I",
     "machine_cell/c1 without machine/0000000001\n", NULL},
    {"machine_cell/c1 number=1 cell_id=c1", "", NULL},
    {LISTED " guid=web0", "unit/web/0000000000 without " LISTED " of guid web0\n",
     LISTED " without unit/web/0000000000 of guid another\n"},
    {"relation/0000000004 number=4 guid=r4 state=alive ends=logger:log:0,web:juju-info:1",
     NAMED WITHOUT_R4 "unit_service_relation/logger/0000000004" WITHOUT_R4
                      "unit_service_relation/web/0000000004" WITHOUT_R4,
     NULL},
    {NAMED " number=4 guid=r4", "relation/0000000004 without " NAMED " of guid r4\n",
     NAMED " without relation/0000000004 of guid another\n"},
    {"unit_service_relation/web/0000000004 number=4 guid=r4",
     "relation/0000000004 without unit_service_relation/web/0000000004 of guid r4\n",
     "unit_service_relation/web/0000000004 without relation/0000000004 of guid another\n"},
    {"unit_service_relation/logger/0000000004 number=4 guid=r4",
     "relation/0000000004 without unit_service_relation/logger/0000000004 of guid r4\n",
     "unit_service_relation/logger/0000000004 without relation/0000000004 of guid another\n"},
    {MEMBER " unit_guid=web0 relation_guid=r4 state=joined", SCOPE " without " MEMBER "\n", NULL},
    {SCOPE " member=" MEMBER " relation_guid=r4", MEMBER " without " SCOPE "\n", NULL},
    {UNIT("web", " assigned=1"), LISTED WITHOUT_WEB "unit_status/web/0000000000" WITHOUT_WEB, NULL},
    {STATUS("web"), "unit/web/0000000000 without unit_status/web/0000000000 of guid web0\n",
     "unit_status/web/0000000000 without unit/web/0000000000 of guid another\n"},
    {UNIT("logger", " principal=web/0 principal_guid=web0"),
     "unit_child/web/0000000000/logger without unit/logger/0000000000 of guid logger0\n"
     "unit_status/logger/0000000000 without unit/logger/0000000000 of guid logger0\n",
     NULL},
    {STATUS("logger"),
     "unit/logger/0000000000 without unit_status/logger/0000000000 of guid logger0\n",
     "unit_status/logger/0000000000 without unit/logger/0000000000 of guid another\n"},
    {"unit_child/web/0000000000/logger unit=logger/0 guid=logger0",
     "unit/logger/0000000000 without unit_child/web/0000000000/logger of guid logger0\n",
     "unit_child/web/0000000000/logger without unit/logger/0000000000 of guid another\n"},
};
enum { ROWS = sizeof(board) / sizeof(board[0]) };

static void put(struct converger_rig *f, const char *record, Board__FeedFrame__Kind kind,
                bool another)
{
    const char *key;
    ProtobufCMessage *m = unit_row(&f->arena, arena_strdup(&f->arena, record), &key);
    if (another) {
        const ProtobufCFieldDescriptor *guid =
            protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "guid");
        *(char **)((char *)m + guid->offset) = arena_strdup(&f->arena, "another");
    }
    rig_change(f, kind, key, m);
    rig_send(f);
}

struct heard {
    struct converger_rig *f;
    unsigned most;
};

static bool hear(void *context, const char *key, const char *counterpart)
{
    struct heard *h = context;
    buf_printf(&h->f->text, "%s without %s\n", key, counterpart);
    return --h->most > 0;
}

static const char *lacking(struct converger_rig *f, unsigned most)
{
    struct heard h = {f, most};
    buf_clear(&f->text);
    unit_mirrors_each(&(struct unit_mirrors){&f->arena, &f->x->life.feed_client, hear, &h});
    return buf_string(&f->text);
}

static void lay_board(struct converger_rig *f)
{
    rig_leader_lock(f);
    for (size_t i = 0; i < ROWS; i++) {
        put(f, board[i].record, PUT, false);
    }
    assert_string_equal(lacking(f, 100), "");
}

static void what_is_gone_is_told(void **state)
{
    struct converger_rig *f = *state;
    lay_board(f);
    for (size_t i = 0; i < ROWS; i++) {
        put(f, board[i].record, DELETE, false);
        assert_string_equal(lacking(f, 100), board[i].lacking);
        put(f, board[i].record, PUT, false);
    }
    assert_string_equal(lacking(f, 100), "");
}

static void another_guid_is_none(void **state)
{
    struct converger_rig *f = *state;
    lay_board(f);
    for (size_t i = 0; i < ROWS; i++) {
        if (board[i].own) {
            put(f, board[i].record, PUT, true);
            const char *said = lacking(f, 100);
            assert_non_null(strstr(said, board[i].lacking));
            assert_non_null(strstr(said, board[i].own));
            assert_int_equal(strlen(said), strlen(board[i].lacking) + strlen(board[i].own));
            put(f, board[i].record, PUT, false);
        }
    }
}

/* Nobody can say what it says. */
static void a_later_version_lacks_nothing(void **state)
{
    struct converger_rig *f = *state;
    lay_board(f);
    for (size_t i = 0; i < ROWS; i++) {
        const char *key;
        unit_row(&f->arena, arena_strdup(&f->arena, board[i].record), &key);
        frame_later_version(&f->sent, key, ++f->revision);
        rig_send(f);
        assert_string_equal(lacking(f, 100), "");
        put(f, board[i].record, PUT, false);
    }
}

static void no_more_than_is_wanted(void **state)
{
    struct converger_rig *f = *state;
    lay_board(f);
    put(f, board[3].record, DELETE, false);
    assert_string_equal(lacking(f, 1), NAMED WITHOUT_R4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_gone_is_told),
        TEST(another_guid_is_none),
        TEST(a_later_version_lacks_nothing),
        TEST(no_more_than_is_wanted),
    };
    return cmocka_run_group_tests_name("converger: counterparts", tests, NULL, NULL);
}
