/* Names of units and relations, and their keys. */
#include "common/model/unit_name.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void a_service_has_a_name_of_parts_with_letters(void **state)
{
    static const char *const good[] = {"a", "web", "web2", "my-db", "a1-b2", "a-1b"};
    static const char *const bad[] = {"",     "1",    "1web", "-a",  "a-",      "a--b", "web-1",
                                      "Web",  "w_b",  "w.b",  "a b", "a/b",     "w\xc3\xa9",
                                      "web-", "a-1-b"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(unit_service_name_is_valid(good[i]));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(unit_service_name_is_valid(bad[i]));
    }
    char name[UNIT_SERVICE_NAME_MAX + 2];
    memset(name, 'a', sizeof(name));
    name[UNIT_SERVICE_NAME_MAX] = 0;
    assert_true(unit_service_name_is_valid(name));
    name[UNIT_SERVICE_NAME_MAX] = 'a';
    name[UNIT_SERVICE_NAME_MAX + 1] = 0;
    assert_false(unit_service_name_is_valid(name));
}

static void a_unit_is_named_by_its_service_and_number(void **state)
{
    static const char *const bad[] = {"web", "web/", "/1", "web/01", "web/-1", "web/1x", "web/1/2",
                                      "web-1/1", "web/4294967296", "web/99999999999", "web/ 1"};
    SCOPED_ARENA(a);
    struct unit_name u;
    assert_true(unit_name_parse(&a, "web/0", &u));
    assert_string_equal(unit_name_text(&a, u), "web/0");
    assert_true(unit_name_parse(&a, "my-db/4294967295", &u));
    assert_int_equal(u.number, UINT32_MAX);
    assert_string_equal(u.service, "my-db");
    assert_string_equal(unit_name_text(&a, u), "my-db/4294967295");
    assert_string_equal(unit_scope_text(&a, u), "my-db.4294967295");
    assert_true(unit_name_equal(u, (struct unit_name){"my-db", UINT32_MAX}));
    assert_false(unit_name_equal(u, (struct unit_name){"my-db", 1}));
    assert_false(unit_name_equal(u, (struct unit_name){"db", UINT32_MAX}));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(unit_name_parse(&a, bad[i], &u));
    }
}

static const struct unit_name web = {"web", 3};

static void numbers_stand_in_keys_in_their_order(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(key_unit(&a, web), "unit/web/0000000003");
    assert_string_equal(key_unit(&a, (struct unit_name){"web", UINT32_MAX}),
                        "unit/web/4294967295");
    assert_true(strcmp(key_unit(&a, (struct unit_name){"web", 9}),
                       key_unit(&a, (struct unit_name){"web", 10})) < 0);
    assert_string_equal(key_unit_status(&a, web), "unit_status/web/0000000003");
    assert_string_equal(key_unit_child(&a, web, "logger"), "unit_child/web/0000000003/logger");
    assert_string_equal(key_unit_scope(&a, web, 7), "unit_scope/web/0000000003/0000000007");
    assert_string_equal(key_unit_service_relation(&a, "web", 7),
                        "unit_service_relation/web/0000000007");
    assert_string_equal(key_machine(&a, 2), "machine/0000000002");
    assert_string_equal(key_machine_unit(&a, 2, web), "machine_unit/0000000002/web/0000000003");
    assert_string_equal(key_relation(&a, UINT32_MAX), "relation/4294967295");
    assert_string_equal(key_sequence(&a, "machine", ""), "sequence/machine");
    assert_string_equal(key_sequence(&a, "unit", "machine"), "sequence/unit/machine");
    assert_string_equal(key_charm(&a, "web", "d"), "charm/web/d");
    const struct member_name m = {7, "web.3", BOARD__ENDPOINT__ROLE__PEER, web};
    assert_string_equal(key_relation_member(&a, &m),
                        "relation_member/0000000007/web.3/2/web/0000000003");
    assert_string_equal(key_relation_settings(&a, &m),
                        "relation_settings/0000000007/web.3/2/web/0000000003");
}

/* What one unit, machine or relation has is not what the one with the longer name has. */
static void prefixes_do_not_mix(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(key_machine_units(&a, 2), "machine_unit/0000000002/");
    assert_string_equal(key_unit_children(&a, web), "unit_child/web/0000000003/");
    assert_string_equal(key_unit_scopes(&a, web), "unit_scope/web/0000000003/");
    assert_string_equal(key_relation_members(&a, 7), "relation_member/0000000007/");
    assert_string_equal(key_range_of(&a, RECORD_UNIT, "web"), "unit/web/");
}

static void keys_of_units_are_read_back(void **state)
{
    SCOPED_ARENA(a);
    const char *keys[] = {key_unit(&a, web), key_unit_status(&a, web),
                          key_unit_child(&a, web, "logger"), key_unit_scope(&a, web, 7),
                          key_machine_unit(&a, 2, web)};
    static const char *const bad[] = {
        "unit/web/3",          "unit/web/000000003a", "unit/web/9999999999", "unit/web",
        "unit//0000000003",    "unit/web/0000000003/x", "machine/0000000003",
        "unit_child/web/0000000003", "unit_scope/web/0000000003/7", "unit_scope/web/0000000003",
        "machine_unit/2/web/0000000003", "actual/web/0000000003/0", "unit/w%/0000000003"};
    struct unit_name u;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_true(unit_of_key(&a, keys[i], &u));
        assert_true(unit_name_equal(u, web));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(unit_of_key(&a, bad[i], &u));
    }
}

static void keys_of_members_and_numbers_are_read_back(void **state)
{
    SCOPED_ARENA(a);
    static const char *const bad[] = {
        "relation_member/0000000007/-/1/web",  "relation_member/0000000007/-/x/web/0000000003",
        "relation_member/7/-/1/web/0000000003", "relation_member/0000000007//1/web/0000000003",
        "relation_member/0000000007/-/11/web/0000000003", "relation_member/0000000007/-/1/web/3",
        "relation_member/0000000007/-/1/web/0000000003/", "unit/web/0000000003"};
    const struct member_name m = {7, "-", BOARD__ENDPOINT__ROLE__PROVIDER, web};
    struct member_name read;
    uint32_t number = 0;
    const char *keys[] = {key_relation_member(&a, &m), key_relation_settings(&a, &m)};
    for (size_t i = 0; i < 2; i++) {
        assert_true(member_of_key(&a, keys[i], &read));
        assert_int_equal(read.relation, 7);
        assert_string_equal(read.principal, "-");
        assert_int_equal(read.role, BOARD__ENDPOINT__ROLE__PROVIDER);
        assert_true(unit_name_equal(read.unit, web));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(member_of_key(&a, bad[i], &read));
        assert_false(number_of_key(&a, bad[i], &number));
    }
    const char *numbers[] = {key_machine(&a, 9), key_relation(&a, 9), key_unit_scope(&a, web, 9),
                             key_unit_service_relation(&a, "web", 9)};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        number = 0;
        assert_true(number_of_key(&a, numbers[i], &number));
        assert_int_equal(number, 9);
    }
}

static void a_relation_has_one_key_whichever_end_is_said_first(void **state)
{
    SCOPED_ARENA(a);
    Board__Endpoint ends[2] = {BOARD__ENDPOINT__INIT, BOARD__ENDPOINT__INIT};
    Board__RelationEnd requirer = BOARD__RELATION_END__INIT, provider = requirer;
    ends[0].name = (char *)"db";
    ends[1].name = (char *)"kv";
    ends[1].role = BOARD__ENDPOINT__ROLE__PROVIDER;
    requirer.service = (char *)"web";
    requirer.endpoint = &ends[0];
    provider.service = (char *)"db";
    provider.endpoint = &ends[1];
    assert_string_equal(
        relation_canonical(&a, (Board__RelationEnd *[]){&requirer, &provider}, 2), "web:db db:kv");
    assert_string_equal(
        relation_canonical(&a, (Board__RelationEnd *[]){&provider, &requirer}, 2), "web:db db:kv");
    ends[0].role = BOARD__ENDPOINT__ROLE__PEER;
    assert_string_equal(relation_canonical(&a, (Board__RelationEnd *[]){&requirer}, 1), "web:db");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_has_a_name_of_parts_with_letters),
        cmocka_unit_test(a_unit_is_named_by_its_service_and_number),
        cmocka_unit_test(numbers_stand_in_keys_in_their_order),
        cmocka_unit_test(prefixes_do_not_mix),
        cmocka_unit_test(keys_of_units_are_read_back),
        cmocka_unit_test(keys_of_members_and_numbers_are_read_back),
        cmocka_unit_test(a_relation_has_one_key_whichever_end_is_said_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
