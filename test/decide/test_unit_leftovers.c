/* What the converger ends of unit services and relations, rule by rule (bbs/units/leftovers.c):
 * settle, release, trim. */
#include "bbs/units/units.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#define WEB(life) "unit_service/web name=web guid=s-web charm=d state=" life "\n"
#define DB(life) "unit_service/db name=db guid=s-db charm=d state=" life "\n"
#define UNIT "unit/web/0000000003 service=web number=3 guid=g3 service_guid=s-web state=dying\n"
#define CHARM(digest) "charm/web/" digest " service=web digest=" digest "\n"
#define NAMES                                                                                      \
    "relation_key/web%3Adb%20db%3Akv number=7\nunit_service_relation/web/0000000007 number=7\n"    \
    "unit_service_relation/db/0000000007 number=7\n"
#define REL(life) "relation/0000000007 number=7 guid=r7 ends=web:db:0,db:kv:1 state=" life "\n"
#define MEMBER "relation_member/0000000007/-/1/db/0000000000 unit_guid=d0 state=joined\n"
#define TOLD "relation_settings/0000000007/-/1/db/0000000000 unit_guid=d0\n"
#define SETTLE "settle relation/0000000007 guid=r7"
#define GOES                                                                                       \
    "settle -relation/0000000007\nsettle -relation_key/web%3Adb%20db%3Akv\n"                       \
    "settle -unit_service_relation/web/0000000007\nsettle -unit_service_relation/db/0000000007"
#define SWEEP(guid) "\nopen job/" guid "/sweep target=" guid " kind=7 worker=boot name=sweep"
#define NOT_SETTLED(life)                                                                          \
    "ResourceConflict: relation 7 is " life ": it is settled when it is dying and nobody is in it"
#define NOT_RELEASED(life)                                                                         \
    "ResourceConflict: unit service web is " life ": it is released when it is dying and has "     \
    "neither units nor relations"
#define NO_NAMESAKE                                                                                \
    "ResourceNotFound: the unit service of that guid is gone: another one has its name"

static void an_empty_relation_is_settled(void **state)
{
    static const struct unit_move_row rows[] = {
        {"nobody is in it", ACTOR_CONVERGER, WEB("alive") DB("alive") REL("dying") NAMES, SETTLE,
         GOES},
        {"a dying service goes with it", ACTOR_CONVERGER,
         WEB("dying") DB("alive") REL("dying") NAMES "unit_config/web\n" TOLD, SETTLE,
         GOES "\nrelease -unit_service/web\nrelease -unit_config/web" SWEEP("r7")},
        {"one that has a unit does not", ACTOR_CONVERGER,
         WEB("dying") UNIT DB("alive") REL("dying") NAMES, SETTLE, GOES},
        {"somebody is in it", ACTOR_CONVERGER, WEB("alive") DB("alive") REL("dying") NAMES MEMBER,
         SETTLE, NOT_SETTLED("dying")},
        {"it is alive", ACTOR_CONVERGER, WEB("alive") DB("alive") REL("alive") NAMES, SETTLE,
         NOT_SETTLED("alive")},
        {"it is gone", ACTOR_CONVERGER, WEB("alive") DB("alive"), SETTLE, "nothing"},
        {"another one has its number", ACTOR_CONVERGER, WEB("alive") DB("alive") REL("dying") NAMES,
         "settle relation/0000000007 guid=old",
         "ResourceNotFound: the relation of that guid is gone: another one has its number"},
    };
    try_unit_moves(&relation_moves, rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

static void an_empty_service_is_released(void **state)
{
#define RELEASE "release unit_service/web guid=s-web"
    static const struct unit_move_row rows[] = {
        {"it has nothing", ACTOR_CONVERGER, WEB("dying") "unit_config/web\n" CHARM("d"), RELEASE,
         "release -unit_service/web\nrelease -unit_config/web" SWEEP("s-web")},
        {"it has a unit", ACTOR_CONVERGER, WEB("dying") UNIT, RELEASE, NOT_RELEASED("dying")},
        {"it has a relation", ACTOR_CONVERGER, WEB("dying") DB("alive") REL("dying") NAMES, RELEASE,
         NOT_RELEASED("dying")},
        {"it is alive", ACTOR_CONVERGER, WEB("alive"), RELEASE, NOT_RELEASED("alive")},
        {"it is gone", ACTOR_CONVERGER, DB("alive"), RELEASE, "nothing"},
        {"another one has its name", ACTOR_CONVERGER, WEB("dying"),
         "release unit_service/web guid=old", NO_NAMESAKE},
    };
    try_unit_moves(&unit_service_moves, rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

static void an_old_charm_goes(void **state)
{
#define TRIM "trim unit_service/web guid=s-web charm="
    static const struct unit_move_row rows[] = {
        {"an older one", ACTOR_CONVERGER, WEB("alive") CHARM("d") CHARM("e"), TRIM "e",
         "trim -charm/web/e"},
        {"the service's, by now", ACTOR_CONVERGER, WEB("alive") CHARM("d") CHARM("e"), TRIM "d",
         "nothing"},
        {"gone already", ACTOR_CONVERGER, WEB("alive") CHARM("d"), TRIM "e", "nothing"},
        {"none is said", ACTOR_CONVERGER, WEB("alive") CHARM("d"),
         "trim unit_service/web guid=s-web", "nothing"},
        {"a dying service's go with it", ACTOR_CONVERGER, WEB("dying") UNIT CHARM("d") CHARM("e"),
         TRIM "e", "ResourceConflict: unit service web is dying: its charms go with it"},
        {"it is gone", ACTOR_CONVERGER, DB("alive"), TRIM "e", "nothing"},
        {"another one has its name", ACTOR_CONVERGER, WEB("alive") CHARM("e"),
         "trim unit_service/web guid=old charm=e", NO_NAMESAKE},
    };
    try_unit_moves(&unit_service_moves, rows, sizeof(rows) / sizeof(rows[0]));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_relation_is_settled),
        cmocka_unit_test(an_empty_service_is_released),
        cmocka_unit_test(an_old_charm_goes),
    };
    return cmocka_run_group_tests_name("units: leftovers", tests, NULL, NULL);
}
