/* What the bbs command line shows of cells and of the limiter. */
#include "bbs/limiter/limiter.h"
#include "bbs/cli/cells.h"
#include "bbs/cli/name.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#define NOW_NS (1000 * SECOND_NS)
#define HEAD                                                                                       \
    "CELL  ZONE  STATE        FOR  MEMORY  DISK  CONTAINERS  ROOTFS  URL              ADMIN URL\n"

static void shows(const char *const *cells, size_t count, const char *limiter, const char *expected)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(out);
    Board__CellsStatus status = BOARD__CELLS_STATUS__INIT;
    status.limiter = limiter ? row_limiter(&a, limiter) : NULL;
    status.n_cells = count;
    status.cells = ARENA_ARRAY(&a, count, Board__CellStatus *);
    for (size_t i = 0; i < count; i++) {
        status.cells[i] = ARENA_NEW(&a, Board__CellStatus);
        Board__CellRecord *cell = row_cell(&a, cells[i]);
        cell->presence->cell_id = arena_printf(&a, "c%zu", i + 1);
        cell_status(cell, status.limiter, status.cells[i]);
    }
    cells_table(&a, &status, NOW_NS, &out);
    assert_string_equal(buf_string(&out), expected);
}

static void present_lost_and_held(void **state)
{
    static const char *const cells[] = {"present zone=z1 since=400", "lost zone=z1 since=988",
                                        "present zone=z2 since=400"};
    shows(cells, 3, "HELD cells=c3:1 since=970 until=1030",
          HEAD
          "c1    z1    PRESENT      10m  -       -     -           -       https://c1:1801  -\n"
          "c2    z1    LOST         12s  -       -     -           -       https://c1:1801  -\n"
          "c3    z2    LOST (held)  30s  -       -     -           -       https://c1:1801  -\n"
          "    1 cell fell silent: held for 30s, and for 30s more (c3)\n"
          "    While they are held, what runs there is neither replaced nor given up.\n"
          "    bbs cells confirm   they are lost: what ran there is started elsewhere\n"
          "    bbs cells keep      they are not: hold them until confirmed\n");
}

static void evacuating_cells_and_root_filesystems(void **state)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(out);
    char *names[] = {(char *)"busybox", (char *)"alpine"};
    Models__Provider preloaded = MODELS__PROVIDER__INIT, *providers[] = {&preloaded};
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    Board__CellStatus cell = BOARD__CELL_STATUS__INIT, *cells[] = {&cell};
    Board__CellsStatus status = BOARD__CELLS_STATUS__INIT;
    preloaded.name = (char *)"preloaded";
    preloaded.properties = names;
    preloaded.n_properties = 2;
    presence.cell_id = (char *)"c1";
    presence.zone = (char *)"z1";
    presence.rep_url = (char *)"https://c1:1801";
    presence.rootfs_providers = providers;
    presence.n_rootfs_providers = 1;
    cell.presence = &presence;
    cell.state = (char *)"PRESENT";
    cell.admin_url = (char *)"https://127.0.0.1:1802";
    cell.evacuating = true;
    cell.since = NOW_NS;
    status.cells = cells;
    status.n_cells = 1;
    cells_table(&a, &status, NOW_NS, &out);
    assert_string_equal(
        buf_string(&out),
        "CELL  ZONE  STATE                 FOR  MEMORY  DISK  CONTAINERS  ROOTFS           URL     "
        "         "
        "ADMIN URL\n"
        "c1    z1    PRESENT (evacuating)  0s   -       -     -           busybox, alpine  "
        "https://c1:1801  https://127.0.0.1:1802\n");
}

/* A cell that is LOST is not held any more, one that a released limiter lists is PRESENT yet. */
static void what_is_released_is_not_held(void **state)
{
    static const char *const cells[] = {"lost zone=z1 since=400", "present zone=z1 since=400"};
    shows(
        cells, 2, "RELEASED cells=c1:1,c2:1 since=940",
        "CELL  ZONE  STATE    FOR  MEMORY  DISK  CONTAINERS  ROOTFS  URL              ADMIN URL\n"
        "c1    z1    LOST     10m  -       -     -           -       https://c1:1801  -\n"
        "c2    z1    PRESENT  10m  -       -     -           -       https://c1:1801  -\n"
        "    2 cells fell silent together: released 60s ago; those that stay silent become LOST, a "
        "few at a time (c1, c2)\n");
}

static void kept_until_confirmed(void **state)
{
    static const char *const cells[] = {"present zone=z1 since=400"};
    shows(cells, 1, "KEPT cells=c1:1 since=940",
          HEAD
          "c1    z1    LOST (held)  60s  -       -     -           -       https://c1:1801  -\n"
          "    1 cell fell silent: kept for 60s, and until confirmed or back (c1)\n"
          "    While they are held, what runs there is neither replaced nor given up.\n"
          "    bbs cells confirm   they are lost: what ran there is started elsewhere\n");
}

static void a_cell_that_is_not_there_is_named(void **state)
{
    SCOPED_ARENA(a);
    Models__CellPresence presences[2];
    Board__CellStatus statuses[2], *list[2];
    Board__CellsStatus cells = BOARD__CELLS_STATUS__INIT;
    for (int i = 0; i < 2; i++) {
        models__cell_presence__init(&presences[i]);
        presences[i].cell_id = arena_printf(&a, "cell-%d", i + 1);
        board__cell_status__init(&statuses[i]);
        statuses[i].presence = &presences[i];
        list[i] = &statuses[i];
    }
    cells.cells = list;
    struct err err;
    assert_int_equal(name_cell(&cells, "cell-1", NULL, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "no cell \"cell-1\"; there is none");
    cells.n_cells = 2;
    static const struct {
        const char *name, *verb, *text; /* text NULL: one has it */
    } rows[] = {
        {"cell-2", NULL, NULL},
        {"cell-2", "keep", NULL},
        {"cel-2", NULL, "no cell \"cel-2\"; did you mean \"cell-2\"?"},
        {"nope", NULL, "no cell \"nope\"; bbs cells shows all"},
        {"keeep", "keep", "no cell \"keeep\"; did you mean \"bbs cells keep\"?"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int r = name_cell(&cells, rows[i].name, rows[i].verb, &err);
        assert_int_equal(r, rows[i].text ? -ERR_NOT_FOUND : 0);
        if (r < 0) {
            assert_string_equal(err.text, rows[i].text);
        }
    }
    const Board__CellsStatus *only = cells_only(&a, &cells, "cell-2");
    assert_int_equal(only->n_cells, 1);
    assert_string_equal(only->cells[0]->presence->cell_id, "cell-2");
    assert_int_equal(cells_only(&a, &cells, "nope")->n_cells, 0);
}

static void words_are_answered(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(limiter_text(&a, row_limiter(&a, "KEPT cells=c1:1")),
                        "1 cell kept (c1): they stay held until bbs cells confirm, or until they "
                        "are back");
    assert_string_equal(
        limiter_text(&a, row_limiter(&a, "RELEASED cells=a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1")),
        "10 cells confirmed (a, b, c, d, e, f, g, h and 2 more): those that stay silent become "
        "LOST, a few at a time, and what ran there is started elsewhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evacuating_cells_and_root_filesystems),
        cmocka_unit_test(present_lost_and_held),
        cmocka_unit_test(what_is_released_is_not_held),
        cmocka_unit_test(kept_until_confirmed),
        cmocka_unit_test(a_cell_that_is_not_there_is_named),
        cmocka_unit_test(words_are_answered),
    };
    return cmocka_run_group_tests_name("cells for people", tests, NULL, NULL);
}
