/* What bbs rm, scale and restart say of instances on cells of which nothing is heard. */
#include "bbs/cli/lrps.h"
#include "bbs/cli/unheard.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdlib.h>
#include <string.h>

/* "c1=PRESENT c2=LOST" */
static Board__CellsStatus *cells_of(struct fixture *f, const char *text)
{
    Board__CellsStatus *all = arena_message(&f->arena, &board__cells_status__descriptor);
    all->cells = ARENA_ARRAY(&f->arena, 8, Board__CellStatus *);
    char *rest = arena_strdup(&f->arena, text), *word;
    while ((word = strsep(&rest, " ")) && *word) {
        char *id = strsep(&word, "=");
        Board__CellStatus *c = arena_message(&f->arena, &board__cell_status__descriptor);
        c->presence = arena_message(&f->arena, &models__cell_presence__descriptor);
        c->presence->cell_id = id;
        c->state = strcmp(word, "HELD") == 0 ? arena_strdup(&f->arena, "LOST (held)") : word;
        all->cells[all->n_cells++] = c;
    }
    return all;
}

/* "0@c1 1@c2 1@": index and cell, "" of one that waits */
static size_t records_of(struct fixture *f, const char *text, Models__ActualLRP **ret)
{
    size_t n = 0;
    char *rest = arena_strdup(&f->arena, text), *word;
    while ((word = strsep(&rest, " ")) && *word) {
        int32_t index = (int32_t)strtol(strsep(&word, "@"), NULL, 10);
        Models__ActualLRP *r = ret[n++] = ARENA_NEW(&f->arena, Models__ActualLRP);
        models__actual_lrp__init(r);
        r->actual_lrp_key = arena_message(&f->arena, &models__actual_lrpkey__descriptor);
        r->actual_lrp_key->index = index;
        r->actual_lrp_instance_key = ARENA_NEW(&f->arena, Models__ActualLRPInstanceKey);
        models__actual_lrpinstance_key__init(r->actual_lrp_instance_key);
        r->actual_lrp_instance_key->cell_id = word;
    }
    return n;
}

static void what_may_run_still_is_not_called_stopped(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *records, *cells, *later; /* later NULL = the cells can not be asked */
        int32_t from;
        const char *text; /* NULL = nothing */
    } rows[] = {
        {"0@c1", "c1=PRESENT", "c1=PRESENT", 0, NULL},
        {"0@c1 1@c2", "c1=PRESENT c2=LOST", "c1=PRESENT c2=LOST", 0,
         "1 may still run on c2, which is LOST; it is stopped when the cell is back"},
        {"0@c2 1@c2", "c2=LOST", "c2=LOST", 0,
         "2 may still run on c2, which is LOST; they are stopped when the cell is back"},
        {"0@c2 1@c3", "c2=LOST c3=LOST", "c2=LOST c3=LOST", 0,
         "2 may still run on c2 and c3, which are LOST; they are stopped when the cells are back"},
        {"0@c2 1@c3", "c2=LOST", "c2=LOST", 0,
         "2 may still run on c2 and c3, which are LOST or gone; they are stopped when the cells "
         "are "
         "back"},
        {"0@c2 1@c3 2@c4 3@c5", "c1=PRESENT", "c1=PRESENT", 0,
         "4 may still run on c2, c3, c4 and others, which are gone; they are stopped when the "
         "cells "
         "are back"},
        {"0@c2", "c2=HELD", "c2=HELD", 0,
         "1 may still run on c2, which is LOST, held; it is stopped when the cell is back"},
        /* scale 1: the index 0 goes on, and is not meant */
        {"0@c2 1@c1", "c1=PRESENT c2=LOST", "c1=PRESENT c2=LOST", 1, NULL},
        {"0@c1 1@c2", "c1=PRESENT c2=LOST", "c1=PRESENT c2=LOST", 1,
         "1 may still run on c2, which is LOST; it is stopped when the cell is back"},
        /* one that waits is nowhere; beside it the one of before, which is suspect */
        {"0@ 0@c2", "c2=LOST", "c2=LOST", 0,
         "1 may still run on c2, which is LOST; it is stopped when the cell is back"},
        {"0@", "c2=LOST", "c2=LOST", 0, NULL},
        /* meanwhile: it is back, it fell silent, it was emptied and left */
        {"0@c2", "c2=LOST", "c2=PRESENT", 0, NULL},
        {"0@c2", "c2=PRESENT", "c2=LOST", 0,
         "1 may still run on c2, which is LOST; it is stopped when the cell is back"},
        {"0@c2", "c2=PRESENT", "", 0, NULL},
        {"0@c2", "c2=LOST", NULL, 0,
         "1 may still run on c2, which is not heard; it is stopped when the cell is back"},
        {"0@c2", "c2=PRESENT", NULL, 0, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Models__ActualLRP *records[8];
        struct placed *all;
        size_t count = records_of(f, rows[i].records, records);
        count = unheard_note(&f->arena, "web-1", rows[i].from, records, count,
                             cells_of(f, rows[i].cells), &all);
        const Board__CellsStatus *later = rows[i].later ? cells_of(f, rows[i].later) : NULL;
        const char *text = unheard_text(&f->arena, "web-1", all, count, later);
        if (!text != !rows[i].text || (text && strcmp(text, rows[i].text) != 0)) {
            fail_msg("row %zu: %s", i, text ? text : "nothing is said");
        }
        assert_null(unheard_text(&f->arena, "web-2", all, count, later));
    }
}

/* Held there, or replaced already: both may run on. */
static void a_restart_says_that_the_old_one_may_run_still(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *records, *cells, *text;
    } rows[] = {
        {"0@c1 1@c2", "c1=PRESENT c2=LOST", NULL}, /* of another index */
        {"0@c2 1@c1", "c1=PRESENT c2=LOST",
         "the old one may still run on c2, which is LOST, until that is back"},
        {"0@c1 0@c2", "c1=PRESENT c2=LOST",
         "the old one may still run on c2, which is LOST, until that is back"},
        {"0@ 0@c2", "c2=HELD",
         "the old one may still run on c2, which is LOST, held, until that is back"},
        {"0@c2 0@c3", "c2=LOST",
         "old ones may still run on c2 and c3, which are LOST or gone, until those are back"},
        {"0@", "", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Models__ActualLRP *records[8];
        size_t count = records_of(f, rows[i].records, records);
        const char *text =
            unheard_old_text(&f->arena, 0, records, count, cells_of(f, rows[i].cells));
        if (!text != !rows[i].text || (text && strcmp(text, rows[i].text) != 0)) {
            fail_msg("row %zu: %s", i, text ? text : "nothing is said");
        }
    }
    assert_null(unheard_old_text(&f->arena, 0, NULL, 0, NULL));
}

static void cells_that_cannot_be_asked_are_named(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *cells, *text;
    } rows[] = {
        {"c1=PRESENT", NULL},
        {"", NULL},
        {"c1=PRESENT c2=LOST", "c2 is LOST and cannot be asked"},
        {"c1=HELD", "c1 is LOST, held and cannot be asked"},
        {"c1=LOST c2=LOST", "c1 and c2 are LOST and cannot be asked"},
        {"c1=LOST c2=LOST c3=LOST c4=LOST", "c1, c2, c3 and others are LOST and cannot be asked"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = unheard_cells_text(&f->arena, cells_of(f, rows[i].cells));
        if (!text != !rows[i].text || (text && strcmp(text, rows[i].text) != 0)) {
            fail_msg("row %zu: %s", i, text ? text : "nothing is said");
        }
    }
    assert_null(unheard_cells_text(&f->arena, NULL));
}

static void waiting_says_so(void **state)
{
    struct fixture *f = *state;
    struct lrp_progress p = {.unheard = "1 may still run on c2"};
    assert_string_equal(lrp_progress_text(&f->arena, "web", &p), "web: 1 may still run on c2");
    p.left = 1;
    assert_string_equal(lrp_progress_text(&f->arena, "web", &p),
                        "web: 1 to stop, 1 may still run on c2");
    p = (struct lrp_progress){.desired = 1, .running = 1, .unheard = "1 may still run on c2"};
    assert_string_equal(lrp_progress_text(&f->arena, "web", &p),
                        "web: 1 of 1 running, 1 may still run on c2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_may_run_still_is_not_called_stopped),
        TEST(a_restart_says_that_the_old_one_may_run_still),
        TEST(cells_that_cannot_be_asked_are_named),
        TEST(waiting_says_so),
    };
    return cmocka_run_group_tests_name("what is not heard", tests, NULL, NULL);
}
