/* What the command line says of root filesystems that no cell has. */
#include "bbs/cli/rootfs.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

/* A cell with "scheme:name name ..." of each text; without names it has any of the scheme. */
static Board__CellStatus *cell_with(struct fixture *f, const char *const *providers)
{
    struct arena *a = &f->arena;
    Board__CellStatus *c = arena_message(a, &board__cell_status__descriptor);
    c->presence = arena_message(a, &models__cell_presence__descriptor);
    c->presence->rootfs_providers = ARENA_ARRAY(a, 4, Models__Provider *);
    for (size_t i = 0; providers[i]; i++) {
        Models__Provider *p = arena_message(a, &models__provider__descriptor);
        char *text = arena_strdup(a, providers[i]), *left = NULL;
        p->name = strtok_r(text, ": ", &left);
        p->properties = ARENA_ARRAY(a, 64, char *);
        for (char *name; (name = strtok_r(NULL, " ", &left));) {
            p->properties[p->n_properties++] = name;
        }
        c->presence->rootfs_providers[c->presence->n_rootfs_providers++] = p;
    }
    return c;
}

static void what_no_cell_has_is_reported_with_what_they_have(void **state)
{
    struct fixture *f = *state;
    Board__CellStatus *cells[] = {
        cell_with(f, (const char *[]){"preloaded: busybox alpine", NULL}),
        cell_with(f, (const char *[]){"preloaded: alpine debian", "oci:", NULL}),
        cell_with(f, (const char *[]){NULL}),
    };
    Board__CellsStatus all = BOARD__CELLS_STATUS__INIT;
    all.cells = cells;
    all.n_cells = 3;
    static const char *const rows[][2] = {
        {"preloaded:busybox", NULL},
        {"preloaded:debian?layer=http://x", NULL},
        {"oci:whatever", NULL},
        {"preloaded:busbox", "no cell has the root filesystem preloaded:busbox; did you mean "
                             "preloaded:busybox? (cells have: busybox, alpine, debian, any oci)"},
        {"preloaded:", "no cell has the root filesystem preloaded: (cells have: busybox, alpine, "
                       "debian, any oci)"},
        {"docker:///library/busybox",
         "no cell can pull the image docker:///library/busybox: that takes the oci driver, root, "
         "skopeo and containers-storage"},
        {"", "no cell has the root filesystem  (cells have: busybox, alpine, debian, any oci)"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *said = rootfs_problem(&f->arena, &all, rows[i][0]);
        if (!said || !rows[i][1]) {
            assert_ptr_equal(said, rows[i][1]);
        } else {
            assert_string_equal(said, rows[i][1]);
        }
    }
    all.n_cells = 0;
    assert_null(rootfs_problem(&f->arena, &all, "preloaded:x"));
    assert_null(rootfs_problem(&f->arena, NULL, "preloaded:x"));
    all.cells = &cells[2];
    all.n_cells = 1;
    assert_string_equal(rootfs_problem(&f->arena, &all, "preloaded:x"),
                        "no cell has the root filesystem preloaded:x, nor any other");
    assert_string_equal(rootfs_of_cell(&f->arena, cells[1]->presence), "alpine, debian, any oci");
    assert_string_equal(rootfs_of_cell(&f->arena, cells[2]->presence), "");
    assert_string_equal(rootfs_of_cell(&f->arena, NULL), "");
}

static void only_so_many_names_are_shown(void **state)
{
    struct fixture *f = *state;
    const char *text = "preloaded:";
    for (int i = 0; i < ROOTFS_SHOWN_MAX; i++) {
        text = arena_printf(&f->arena, "%s r%d", text, i);
    }
    const char *more = arena_printf(&f->arena, "%s last", text);
    const char *full =
        rootfs_of_cell(&f->arena, cell_with(f, (const char *[]){text, NULL})->presence);
    assert_string_equal(full, "r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11");
    assert_string_equal(
        rootfs_of_cell(&f->arena, cell_with(f, (const char *[]){more, NULL})->presence),
        arena_printf(&f->arena, "%s and more", full));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_no_cell_has_is_reported_with_what_they_have),
        TEST(only_so_many_names_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
