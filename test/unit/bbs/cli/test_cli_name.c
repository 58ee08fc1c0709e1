/* What a NAME on the command line of bbs means. */
#include "bbs/cli/name.h"
#include "common/appfile/app.h"
#include "common/definition/compile.h"
#include "common/model/service_owner.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

static void an_index_may_be_given(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *index, *name; /* NULL: refused */
        int32_t meant;
    } rows[] = {
        {"web", NULL, "web", -1},     {"web/0", NULL, "web", 0},
        {"web/999999", NULL, "web", 999999},
        {"web/007", NULL, "web", 7},  {"a/b/1", NULL, "a/b", 1},
        {"web/", NULL, NULL, 0},      {"web/x", NULL, NULL, 0},
        {"web/-1", NULL, NULL, 0},    {"web/1x", NULL, NULL, 0},
        {"web/1000000", NULL, NULL, 0},
        {"/1", NULL, NULL, 0},        {"/", NULL, NULL, 0},
        {"web", "0", "web", 0},       {"web", "999999", "web", 999999},
        {"web", "1000000", NULL, 0},  {"web", "x", NULL, 0},
        {"web", "-1", NULL, 0},       {"web", "", NULL, 0},
        {"web/1", "1", NULL, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = NULL;
        int32_t index = 42;
        int r = name_read(&f->arena, rows[i].text, rows[i].index, &name, &index, &f->err);
        assert_int_equal(r, rows[i].name ? 0 : -ERR_INVALID);
        if (rows[i].name) {
            assert_string_equal(name, rows[i].name);
            assert_int_equal(index, rows[i].meant);
        }
    }
    assert_string_equal(name_text(&f->arena, "web", 3), "web/3");
    assert_string_equal(name_text(&f->arena, "web", -1), "web");
}

static void a_part_of_a_system_may_be_named(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *index, *name; /* NULL: refused */
        int32_t meant;
        const char *system, *path;
    } rows[] = {
        {"shop:", NULL, "shop:", -1, "shop", "/"},
        {"shop:/", NULL, "shop:/", -1, "shop", "/"},
        {"shop:/api", NULL, "shop:/api", -1, "shop", "/api"},
        {"shop:/store/api", NULL, "shop:/store/api", -1, "shop", "/store/api"},
        {"shop:/store/api/2", NULL, "shop:/store/api", 2, "shop", "/store/api"},
        {"shop:/api", "3", "shop:/api", 3, "shop", "/api"},
        {"shop:/2", NULL, "shop:/2", -1, "shop", "/2"},
        {"shop:/2/0", NULL, "shop:/2", 0, "shop", "/2"},
        {"shop:/api/2/", NULL, "shop:/api/2", -1, "shop", "/api/2"},
        {"shop:/api/2", "1", NULL, 0, NULL, NULL},
        {"shop://api", NULL, NULL, 0, NULL, NULL},
        {"shop:/a b", NULL, NULL, 0, NULL, NULL},
        {"shop:/..", "x", NULL, 0, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = NULL, *system = NULL, *path = NULL;
        int32_t index = 42;
        int r = name_read(&f->arena, rows[i].text, rows[i].index, &name, &index, &f->err);
        assert_int_equal(r, rows[i].name ? 0 : -ERR_INVALID);
        if (rows[i].name) {
            assert_string_equal(name, rows[i].name);
            assert_int_equal(index, rows[i].meant);
            assert_true(name_is_part(&f->arena, name, &system, &path));
            assert_string_equal(system, rows[i].system);
            assert_string_equal(path, rows[i].path);
        }
    }
    const char *system, *path;
    assert_false(name_is_part(&f->arena, "web", &system, &path));
    assert_false(name_is_part(&f->arena, "Shop:/api", &system, &path));
    assert_false(name_is_part(&f->arena, ":/api", &system, &path));
    assert_false(name_is_part(&f->arena, "a:b", &system, &path));
}

static void guids_are_called_as_they_were_asked_for(void **state)
{
    struct fixture *f = *state;
    char path[APP_NAME_MAX + 8], long_name[APP_NAME_MAX + 16];
    snprintf(path, sizeof(path), "/%0*d/api", APP_NAME_MAX - 16, 0);
    snprintf(long_name, sizeof(long_name), "shop:%s", path);
    const char *hashed =
        arena_printf(&f->arena, "%s-0123456789", component_app_name(&f->arena, "shop", path));
    const struct {
        const char *name, *guid, *called; /* NULL: not meant */
    } rows[] = {
        {"web", "web-0123456789", "web"},
        {"web-0123456789", "web-0123456789", "web-0123456789"},
        {"web", "shop.web-0123456789", NULL},
        {"shop", "shop.web-0123456789", NULL},
        {"shop:/web", "shop.web-0123456789", "shop:/web"},
        {"shop:/web", "shop.web-a-0123456789", NULL},
        {"shop:/web", "shop.webb-0123456789", NULL},
        {"shop:/web-a", "shop.web-a-0123456789", "shop:/web-a"},
        {"shop:", "shop.web-0123456789", "shop:/web"},
        {"shop:/", "shop.store.api-2-0123456789", "shop:/store/api-2"},
        {"shop:/store", "shop.store.api-0123456789", "shop:/store/api"},
        {"shop:/store", "shop.stores.api-0123456789", NULL},
        {"shop:/store", "shop.store.api-012345678", NULL},
        {"shop:/api", "shop.store.api-0123456789", NULL},
        {"shop:/", "shops.web-0123456789", NULL},
        {long_name, hashed, long_name},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *called = name_of_guid(&f->arena, rows[i].name, rows[i].guid);
        assert_int_equal(!called, !rows[i].called);
        assert_string_equal(called ? called : "", rows[i].called ? rows[i].called : "");
    }
    assert_string_equal(name_guid_prefix(&f->arena, "web"), "web");
    assert_string_equal(name_guid_prefix(&f->arena, "shop:"), "shop");
    assert_string_equal(name_guid_prefix(&f->arena, "shop:/store/api"), "shop.store.api");
}

static void a_system_has_no_index(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *system, *path; /* NULL: refused */
    } rows[] = {
        {"shop", "shop", "/"},
        {"shop:", "shop", "/"},
        {"shop:/", "shop", "/"},
        {"shop:/store", "shop", "/store"},
        {"shop:/store/", "shop", "/store"},
        {"shop:/store/2", "shop", "/store/2"},
        {"shop:store", NULL, NULL},
        {"Shop:/a", NULL, NULL},
        {"shop://", NULL, NULL},
        {"shop:/a b", NULL, NULL},
        {":", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *system = NULL, *path = NULL;
        int r = name_system(&f->arena, rows[i].text, &system, &path, &f->err);
        assert_int_equal(r, rows[i].path ? 0 : -ERR_INVALID);
        if (rows[i].path) {
            assert_string_equal(system, rows[i].system);
            assert_string_equal(path, rows[i].path);
        }
        bool whole = rows[i].path && strcmp(rows[i].path, "/") == 0;
        r = name_whole_system(&f->arena, rows[i].text, "it is of a whole system: bbs teardown",
                              &system, &f->err);
        assert_int_equal(r, whole ? 0 : -ERR_INVALID);
    }
    assert_int_equal(name_whole_system(&f->arena, "shop:/a", "do", &(const char *){NULL}, &f->err),
                     -ERR_INVALID);
    assert_string_equal(f->err.text, "do shop; a part goes when it is taken out of the definition, "
                                     "by bbs deploy shop --file FILE");
}

static void a_path_may_end_with_a_slash(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *path, *fault; /* one of the two */
    } rows[] = {
        {"/", "/", NULL},
        {"/web", "/web", NULL},
        {"/web/", "/web", NULL},
        {"/store/api/", "/store/api", NULL},
        {"//", NULL, "path //: a name is missing between two /"},
        {"/web//", NULL, "path /web//: a name is missing between two /"},
        {"/store//api", NULL, "path /store//api: a name is missing between two /"},
        {"web", NULL, "path web: a path begins with /"},
        {"", NULL, "path \"\": a path begins with /"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *path = NULL;
        int r = name_path(&f->arena, rows[i].text, &path, &f->err);
        assert_int_equal(r, rows[i].path ? 0 : -ERR_INVALID);
        assert_string_equal(r == 0 ? path : f->err.text, r == 0 ? rows[i].path : rows[i].fault);
    }
}

static void a_name_means_what_is_at_and_below_it(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name, *called;
        bool means;
    } rows[] = {
        {"shop", "shop:/api", true},         {"shop:", "shop:/api", true},
        {"shop:/", "shop:/a/b", true},       {"shop:/a", "shop:/a/b", true},
        {"shop:/a", "shop:/ab", false},      {"shop:/a/b", "shop:/a", false},
        {"sho", "shop:/a", false},           {"shop", "shop", false},
        {"shop:/a//", "shop:/a", false},     {"web", "shop:/web", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(name_means_part(&f->arena, rows[i].name, rows[i].called), rows[i].means);
    }
    Models__DesiredLRP api = MODELS__DESIRED_LRP__INIT, web = MODELS__DESIRED_LRP__INIT;
    Models__DesiredLRP *lrps[] = {&api, &web}, **found;
    api.process_guid = arena_strdup(&f->arena, "shop.store.api-0123456789");
    api.owner = service_owner_of(&f->arena, "6f0c", "/store/api");
    web.process_guid = arena_strdup(&f->arena, "web-0123456789");
    web.owner = service_owner_of(&f->arena, "apps", "/web");
    name_services(&f->arena, lrps, 2);
    assert_string_equal(lrp_name(&api), "shop:/store/api");
    assert_string_equal(lrp_name(&web), "web");
    assert_int_equal(lrps_named(&f->arena, lrps, 2, "shop", &found), 1);
    assert_int_equal(lrps_named(&f->arena, lrps, 2, "shop:/store", &found), 1);
    assert_int_equal(lrps_named(&f->arena, lrps, 2, "shop:/web", &found), 0);
    assert_int_equal(lrps_named(&f->arena, lrps, 2, "web", &found), 1);
    static const char part[] =
        "shop:/store/api is not scaled by itself: change the definition of shop, then bbs deploy "
        "shop --path /store/api or --file FILE";
    static const char whole[] =
        "shop is a system, and only apps are scaled so: bbs teardown shop ends all that runs in "
        "it, bbs systems delete shop deletes it";
    const struct {
        const char *name;
        const Models__DesiredLRP *lrp;
        const char *text; /* NULL = it may be changed */
    } changes[] = {
        {"web", &web, NULL},
        {"web", NULL, NULL},
        {"shop:/store/api", &api, part},
        {"shop:/store/api", NULL, part},
        {"shop.store.api-0123456789", &api, part},
        {"shop", &api, whole},
        {"shop:", &api, whole},
        {"shop:/", NULL, whole},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        int r = name_no_change(&f->arena, changes[i].name, changes[i].lrp, "scaled", &f->err);
        assert_int_equal(r, changes[i].text ? -ERR_INVALID : 0);
        if (changes[i].text) {
            assert_string_equal(f->err.text, changes[i].text);
        }
    }
}

static void what_means_nothing_names_the_nearest(void **state)
{
    struct fixture *f = *state;
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT, *lrps[] = {&lrp};
    Models__Task task = MODELS__TASK__INIT, *tasks[] = {&task};
    lrp.process_guid = arena_strdup(&f->arena, "web-81c3f7580f");
    lrp.owner = app_owner(&f->arena, "web");
    task.task_guid = arena_strdup(&f->arena, "sum-1");
    assert_string_equal(lrp_name(&lrp), "web");
    assert_string_equal(task_name(&task), "sum-1");
    assert_true(task_has_name(&task, "sum-1"));
    assert_false(task_has_name(&task, "sum"));
    assert_int_equal(name_no_process("wbe", lrps, 1, &f->err), -ERR_NOT_FOUND);
    assert_string_equal(f->err.text, "no process \"wbe\"; did you mean \"web\"?");
    (void)name_no_process("other", lrps, 1, &f->err);
    assert_string_equal(f->err.text, "no process \"other\"; bbs ps shows all");
    assert_int_equal(name_no_task("sum-2", tasks, 1, &f->err), -ERR_NOT_FOUND);
    assert_string_equal(f->err.text, "no task \"sum-2\"; did you mean \"sum-1\"?");
    (void)name_no_task("other", tasks, 1, &f->err);
    assert_string_equal(f->err.text, "no task \"other\"; bbs tasks shows all");
    assert_int_equal(name_no_index("web", 1, 1, &f->err), -ERR_NOT_FOUND);
    assert_string_equal(f->err.text, "there is no web/1: it has 1 instance");
    Models__DesiredLRP other = lrp, *both[] = {&lrp, &other};
    assert_int_equal(name_ambiguous("web", both, 2, &f->err), -ERR_CONFLICT);
    assert_non_null(strstr(f->err.text, "\"web\" is being replaced: it has 2 definitions"));
    other.owner = NULL;
    other.process_guid = (char *)"shop:/api";
    assert_int_equal(name_ambiguous("shop", both, 2, &f->err), -ERR_CONFLICT);
    assert_string_equal(f->err.text, "\"shop\" is 2 services: give the name of one, as web");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_index_may_be_given),
        TEST(a_part_of_a_system_may_be_named),
        TEST(guids_are_called_as_they_were_asked_for),
        TEST(a_system_has_no_index),
        TEST(a_path_may_end_with_a_slash),
        TEST(a_name_means_what_is_at_and_below_it),
        TEST(what_means_nothing_names_the_nearest),
    };
    return cmocka_run_group_tests_name("what is meant", tests, NULL, NULL);
}
