/* Which images go. */
#include "rep/container/image_plan.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

/* "ab" is an image of the layers a and b, each of 100 bytes. */
static struct stored_image stored(struct arena *a, const char *layers, int64_t used_ns, bool pinned)
{
    Rep__Image *image = ARENA_NEW(a, Rep__Image);
    rep__image__init(image);
    image->id = (char *)(uintptr_t)layers;
    image->n_layers = strlen(layers);
    image->layers = ARENA_ARRAY(a, image->n_layers, Rep__ImageLayer *);
    for (size_t i = 0; i < image->n_layers; i++) {
        Rep__ImageLayer *l = image->layers[i] = ARENA_NEW(a, Rep__ImageLayer);
        rep__image_layer__init(l);
        l->id = arena_strndup(a, layers + i, 1);
        l->size = 100;
    }
    return (struct stored_image){image, used_ns, pinned};
}

static void plans_by_rows(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    const struct stored_image all[] = {
        stored(a, "abc", 30, false), /* 0 */
        stored(a, "abd", 20, false), /* 1 */
        stored(a, "ef", 10, true),   /* 2 */
        stored(a, "g", 40, false),   /* 3 */
    };
    static const struct {
        int64_t bytes_max, more;
        const char *go; /* indices; NULL: no room */
    } rows[] = {
        {700, 0, ""},     {800, 100, ""},   {700, 100, "1"},  {600, 100, "10"}, {699, 0, "1"},
        {700, 200, "10"}, {700, 500, "103"}, {700, 501, NULL}, {100, 0, "103"},  {0, 1, NULL},
    };
    assert_int_equal(image_bytes(all[0].image), 300);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t *go = NULL, count = 0;
        int rc = image_plan(a, all, 4, rows[i].bytes_max, rows[i].more, &go, &count, &f->err);
        assert_int_equal(rc, rows[i].go ? 0 : -ERR_TOO_LARGE);
        assert_int_equal(count, rows[i].go ? strlen(rows[i].go) : 0);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(go[k], rows[i].go[k] - '0');
        }
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(plans_by_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
