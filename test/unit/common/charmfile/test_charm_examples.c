/* The charms of deploy/local/examples/units are sound, and fit each other as their comments say. */
#include "common/charmfile/endpoints.h"

#include "test/tool/cmocka.h"
#include "test/tool/courier_rig.h"
#include "test/tool/fixture.h"

#include <stdlib.h>
#include <string.h>

static struct charm *example(struct fixture *f, const char *name)
{
    const char *path = arena_printf(&f->arena, "deploy/local/examples/units/%s.yaml", name);
    struct charm *c = ARENA_NEW(&f->arena, struct charm);
    size_t size = 0;
    char *text = file_text(path, &size);
    assert_non_null(text);
    char *kept = arena_strndup(&f->arena, text, size);
    free(text);
    if (charm_parse(&f->arena, path, bytes_of(kept), c, &f->err) < 0) {
        fail_msg("%s", f->err.text);
    }
    assert_string_equal(c->name, name);
    return c;
}

static struct charm_fit fit_of(struct fixture *f, const char *x, const char *y)
{
    struct charm_end ends[2] = {{x, example(f, x), ""}, {y, example(f, y), ""}};
    struct charm_fit fit;
    if (charm_ends_fit(&f->arena, ends, &fit, &f->err) < 0) {
        fail_msg("%s", f->err.text);
    }
    return fit;
}

static void they_are_charms(void **state)
{
    struct fixture *f = *state;
    assert_false(example(f, "db")->subordinate);
    assert_false(example(f, "web")->subordinate);
    assert_true(example(f, "logger")->subordinate);
    assert_non_null(charm_hook_named(example(f, "web"), "db-relation-changed"));
}

static void they_are_related_without_naming_ends(void **state)
{
    struct fixture *f = *state;
    struct charm_fit fit = fit_of(f, "web", "db");
    assert_string_equal(fit.ends[0].name, "db");
    assert_string_equal(fit.ends[1].interface, "kv");
    assert_false(fit.container);
    static const char *const hosts[] = {"web", "db"};
    for (size_t i = 0; i < 2; i++) {
        fit = fit_of(f, "logger", hosts[i]);
        assert_string_equal(fit.ends[0].name, "host");
        assert_string_equal(fit.ends[1].name, CHARM_IMPLICIT);
        assert_true(fit.container);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_are_charms),
        TEST(they_are_related_without_naming_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
