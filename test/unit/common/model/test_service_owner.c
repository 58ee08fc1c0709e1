/* Whose a DesiredLRP of a service is: read as it was written. */
#include "common/model/service_owner.h"
#include "test/tool/cmocka.h"

static void a_service_of_a_system(void **state)
{
    struct arena a;
    arena_init(&a);
    const Models__Owner *o = service_owner_of(&a, "6f0c", "/store/api");
    assert_string_equal(o->kind, "service");
    assert_string_equal(o->uid, "6f0c/store/api");
    assert_true(service_owner_is(o));
    assert_string_equal(service_owner_uid(&a, o), "6f0c");
    assert_string_equal(service_owner_path(o), "/store/api");
    assert_string_equal(service_owner_key(&a, o), "service/6f0c/%2Fstore%2Fapi");
    assert_null(service_owner_app(o));
    o = service_owner_of(&a, "6f0c", "/");
    assert_string_equal(service_owner_path(o), "/");
    arena_done(&a);
}

static void a_plain_app(void **state)
{
    struct arena a;
    arena_init(&a);
    const Models__Owner *o = service_owner_of(&a, SERVICE_APPS_UID, service_app_path(&a, "web"));
    assert_string_equal(o->uid, "apps/web");
    assert_string_equal(service_owner_app(o), "web");
    assert_string_equal(service_owner_key(&a, o), "service/apps/%2Fweb");
    assert_null(service_owner_app(service_owner_of(&a, "apps2", "/web")));
    arena_done(&a);
}

static void whose_is_none(void **state)
{
    struct arena a;
    arena_init(&a);
    Models__Owner o = MODELS__OWNER__INIT;
    assert_false(service_owner_is(NULL));
    assert_false(service_owner_is(&o));
    o.kind = arena_strdup(&a, "cli");
    o.uid = arena_strdup(&a, "apps/web");
    assert_false(service_owner_is(&o));
    assert_null(service_owner_app(&o));
    o.kind = arena_strdup(&a, "service");
    o.uid = arena_strdup(&a, "web");
    assert_false(service_owner_is(&o)); /* no path */
    o.uid = arena_strdup(&a, "/web");
    assert_false(service_owner_is(&o)); /* no system */
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_of_a_system),
        cmocka_unit_test(a_plain_app),
        cmocka_unit_test(whose_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
