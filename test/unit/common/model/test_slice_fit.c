/* Room for the nodes of slices, and for what runs in one (common/model/slice_fit.h). */
#include "common/model/slice_fit.h"
#include "test/tool/cmocka.h"

#include <string.h>

enum { MOST = 4 };

/* Cells and slices of a row: the lists end at the first without memory, or without nodes. */
struct fit_row {
    const char *rule;
    struct slice_cell cells[MOST];
    struct slice_want wants[MOST];
    uint32_t placed[MOST];
};

#define CELL(memory, disk, containers)                                                             \
    {                                                                                              \
        .room = {memory, disk, containers}, .slice = ""                                            \
    }
#define OF(uid, memory)                                                                            \
    {                                                                                              \
        .room = {memory, 1000, 100}, .slice = uid                                                  \
    }
#define WANT(uid_, nodes_, memory)                                                                 \
    {                                                                                              \
        .uid = uid_, .nodes = nodes_, .node = { memory, 1, 1 }                                     \
    }

static void nodes_go_to_the_first_cell_with_room(void **state)
{
    static char ssd_text[] = "disk:ssd";
    static char *const ssd[] = {ssd_text};
    static const struct fit_row rows[] = {
        {"none is wanted", {CELL(10, 10, 10)}, {{0}}, {0}},
        {"no cell", {{{0}}}, {WANT("a", 2, 1)}, {0}},
        {"as many as fit", {CELL(10, 10, 10)}, {WANT("a", 4, 3)}, {3}},
        {"over two cells", {CELL(10, 10, 10), CELL(5, 10, 10)}, {WANT("a", 5, 3)}, {4}},
        {"a node is on one cell", {CELL(5, 10, 10), CELL(5, 10, 10)}, {WANT("a", 1, 6)}, {0}},
        {"disk bounds", {CELL(10, 2, 10)}, {{.uid = "a", .nodes = 3, .node = {1, 1, 1}}}, {2}},
        {"containers bound", {CELL(10, 10, 3)}, {{.uid = "a", .nodes = 3, .node = {1, 1, 2}}}, {1}},
        {"the larger one first, whatever its place",
         {CELL(10, 10, 10)},
         {WANT("a", 3, 2), WANT("b", 1, 8)},
         {1, 1}},
        {"of equal ones the lower uid",
         {CELL(10, 10, 10)},
         {WANT("b", 2, 5), WANT("a", 1, 5)},
         {1, 1}},
        {"its own cells alone",
         {OF("a", 4), CELL(10, 10, 10)},
         {{.uid = "a", .nodes = 3, .node = {2, 1, 1}, .whole_cells = true}},
         {2}},
        {"and nobody else's there", {OF("b", 10), CELL(4, 10, 10)}, {WANT("a", 3, 2)}, {2}},
        {"tags of a node",
         {CELL(4, 10, 10), {{4, 10, 10}, "", ssd, 1}},
         {{.uid = "a", .nodes = 3, .node = {2, 1, 1}, .tags = ssd, .tag_count = 1}},
         {2}},
        {"a cell that asks for a tag takes no others",
         {{{4, 10, 10}, "", ssd, 1, 1}},
         {WANT("a", 1, 2),
          {.uid = "b", .nodes = 1, .node = {2, 1, 1}, .tags = ssd, .tag_count = 1}},
         {0, 1}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        size_t cells = 0, wants = 0;
        while (cells < MOST && rows[i].cells[cells].room.memory_mb) {
            cells++;
        }
        while (wants < MOST && rows[i].wants[wants].nodes) {
            wants++;
        }
        const uint32_t *placed = slice_fit(&a, rows[i].cells, cells, rows[i].wants, wants);
        for (size_t k = 0; k < wants; k++) {
            if (placed[k] != rows[i].placed[k]) {
                fail_msg("%s: %u nodes of %s", rows[i].rule, placed[k], rows[i].wants[k].uid);
            }
        }
    }
    (void)state;
}

static void what_runs_in_one_fits_into_its_nodes(void **state)
{
    static const struct {
        const char *rule;
        struct slice_load loads[MOST];
        const char *fault;
    } rows[] = {
        {"nothing", {{0}}, NULL},
        {"all of it", {{"a", 2, {100, 50, 1}}}, NULL},
        {"an instance as large as a node", {{"a", 1, {100, 100, 1}}}, NULL},
        {"one that is larger",
         {{"a", 1, {101, 1, 1}}},
         "an instance of 101 MiB memory and 1 MiB disk is larger than a node, of 100 and 100 MiB"},
        {"memory", {{"a", 3, {67, 1, 1}}}, "not enough memory: 201 MiB wanted, 200 MiB in it"},
        {"disk", {{"a", 3, {1, 67, 1}}}, "not enough disk: 201 MiB wanted, 200 MiB in it"},
        {"containers", {{"a", 5, {1, 1, 1}}}, "not enough containers: 5 wanted, 4 in it"},
        {"of two owners the sum",
         {{"a", 1, {100, 1, 1}}, {"b", 2, {51, 1, 1}}},
         "not enough memory: 202 MiB wanted, 200 MiB in it"},
        {"of one owner the larger", {{"a", 1, {100, 1, 1}}, {"a", 2, {100, 1, 1}}}, NULL},
        {"the larger of each",
         {{"a", 2, {90, 10, 1}}, {"a", 2, {10, 90, 1}}, {"b", 1, {20, 30, 1}}},
         "not enough disk: 210 MiB wanted, 200 MiB in it"},
        {"no overflow",
         {{"a", INT32_MAX, {100, 1, 1}}, {"b", INT32_MAX, {100, 1, 1}}},
         "not enough memory: 429496729400 MiB wanted, 200 MiB in it"},
    };
    static const struct slice_room node = {100, 100, 2};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        size_t count = 0;
        while (count < MOST && rows[i].loads[count].owner) {
            count++;
        }
        const char *fault = slice_load_fault(&a, rows[i].loads, count, 2, &node);
        if (!fault != !rows[i].fault || (fault && strcmp(fault, rows[i].fault) != 0)) {
            fail_msg("%s: %s", rows[i].rule, fault ? fault : "it fits");
        }
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_go_to_the_first_cell_with_room),
        cmocka_unit_test(what_runs_in_one_fits_into_its_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
