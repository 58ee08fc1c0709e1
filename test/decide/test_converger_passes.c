/* The converger's passes: rows of a process before, and the repairs. */
#include "converger/passes.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS_MAX = 4 };

struct row {
    const char *name;
    const char *desired; /* NULL = not desired */
    /* "INDEX STATE ...": in front "~" its domain is stale, "S" it is SUSPECT, "E" EVACUATING; on a
     * cell whose name begins with "x" it is on an absent one; "differs": in routes or tags. */
    const char *records[RECORDS_MAX];
    bool job, full, hold;
    int32_t at;          /* only this index is looked at; 0 = all */
    int32_t remake_s;    /* so many seconds from now what is missing may be made */
    const char *repairs; /* "pass:move INDEX, ...; due S" */
};

static const struct row rows[] = {
    {"all is well",
     "instances=2",
     {"0 RUNNING a@c1", "1 CLAIMED b@c1"},
     .full = true,
     .repairs = ""},
    {"nothing at all", NULL, {0}, .full = true, .repairs = ""},

    {"none has a record", "instances=2", {0}, .repairs = "missing:create 0, missing:create 1"},
    {"one between and one behind are missing",
     "instances=4",
     {"0 RUNNING a@c1", "2 RUNNING b@c1"},
     .repairs = "missing:create 1, missing:create 3"},
    {"as many as desired, but not these",
     "instances=2",
     {"0 RUNNING a@c1", "2 RUNNING b@c1"},
     .repairs = "missing:create 1, extra:stop 2"},
    {"only one index is looked at: missing",
     "instances=4",
     {0},
     .at = 2,
     .repairs = "missing:create 2"},
    {"the last one", "instances=4", {0}, .at = 3, .repairs = "missing:create 3"},
    {"behind the last one", "instances=4", {0}, .at = 4, .repairs = ""},
    {"missing whatever the domain",
     "instances=2",
     {"~0 RUNNING a@c1"},
     .repairs = "missing:create 1"},
    {"a job is at work",
     "instances=2",
     {"5 RUNNING a@c1"},
     .job = true,
     .full = true,
     .repairs = ""},
    {"one that went is seen to be gone before it is made again",
     "instances=3",
     {"0 RUNNING a@c1"},
     .full = true,
     .remake_s = 2,
     .repairs = "; due 1002"},
    {"nothing is missing, and nothing waits",
     "instances=1",
     {"0 RUNNING a@c1"},
     .remake_s = 2,
     .repairs = ""},
    {"nothing is missing of 0 instances", "instances=0", {0}, .repairs = ""},

    {"all states behind the last",
     "instances=0",
     {"0 UNCLAIMED since=999", "1 CLAIMED a@c1", "2 RUNNING b@c1", "3 CRASHED crash=3"},
     .repairs = "extra:stop 0, extra:stop 1, extra:stop 2, extra:stop 3"},
    {"all states without a DesiredLRP",
     NULL,
     {"0 UNCLAIMED since=1", "1 CLAIMED a@c1", "2 RUNNING b@c1", "3 CRASHED crash=3"},
     .full = true,
     .repairs = "extra:stop 0, extra:stop 1, extra:stop 2, extra:stop 3"},
    {"a stale domain",
     NULL,
     {"~0 UNCLAIMED", "~1 CLAIMED a@c1", "~2 RUNNING b@c1", "~3 CRASHED crash=3"},
     .full = true,
     .repairs = ""},
    {"each record by its own domain",
     NULL,
     {"~0 RUNNING a@c1", "1 RUNNING b@c1"},
     .repairs = "extra:stop 1"},
    {"a state of a newer version is left alone", NULL, {"0 FROZEN"}, .full = true, .repairs = ""},
    {"and is not missing", "instances=1", {"0 FROZEN"}, .full = true, .repairs = ""},

    {"marked: not said on a change", NULL, {"0 RUNNING a@c1 stopping"}, .repairs = ""},
    {"marked: said in a full pass",
     NULL,
     {"0 RUNNING a@c1 stopping"},
     .full = true,
     .repairs = "stopping:stop 0"},
    {"marked in a domain that is stale now",
     NULL,
     {"~0 CLAIMED a@c1 stopping"},
     .full = true,
     .repairs = "stopping:stop 0"},
    {"marked and desired again",
     "instances=1",
     {"0 RUNNING a@c1 stopping"},
     .full = true,
     .repairs = "stopping:stop 0"},

    {"lost: CLAIMED and RUNNING on an absent cell",
     "instances=4",
     {"0 CLAIMED a@x1", "1 RUNNING b@x1", "2 RUNNING c@c1", "3 UNCLAIMED since=999"},
     .repairs = "lost:suspect 0, lost:suspect 1"},
    {"a crashed one is nowhere", "instances=1", {"0 CRASHED crash=200 since=1"}, .repairs = ""},
    {"a stale domain loses cells too",
     "instances=1",
     {"~0 RUNNING a@x1"},
     .repairs = "lost:suspect 0"},
    {"it waits for its cell",
     "instances=1",
     {"0 RUNNING a@x1"},
     .hold = true,
     .full = true,
     .repairs = ""},
    {"it waits no more once it is to stop",
     "instances=1",
     {"0 RUNNING a@x1 stopping"},
     .hold = true,
     .repairs = "lost:suspect 0"},
    {"lost and to stop: said once",
     "instances=1",
     {"0 RUNNING a@x1 stopping"},
     .full = true,
     .repairs = "lost:suspect 0"},
    {"lost, marked and not desired, in a stale domain",
     NULL,
     {"~0 CLAIMED a@x1 stopping"},
     .full = true,
     .repairs = "lost:suspect 0"},
    {"lost and not desired: extra", NULL, {"0 RUNNING a@x1"}, .repairs = "extra:stop 0"},
    {"lost and not desired, in a stale domain",
     NULL,
     {"~0 RUNNING a@x1"},
     .full = true,
     .repairs = ""},
    {"lost while a job is at work",
     "instances=1",
     {"0 RUNNING a@x1"},
     .job = true,
     .repairs = "lost:suspect 0"},
    {"the last index that is desired, the first that is not",
     "instances=1",
     {"0 RUNNING a@x1", "1 RUNNING b@x1"},
     .repairs = "lost:suspect 0, extra:stop 1"},
    {"the replacement is lost too",
     "instances=1",
     {"0 RUNNING b@x2", "S0 RUNNING a@x1"},
     .repairs = "lost:suspect 0, suspect:resolve 0"},
    {"it was only reserved",
     "instances=1",
     {"0 CLAIMED b@x2", "S0 RUNNING a@x1"},
     .repairs = "lost:suspect 0"},
    {"the replacement is lost, the first one is back",
     "instances=1",
     {"0 CLAIMED b@x2", "S0 RUNNING a@c1"},
     .repairs = "suspect:resolve 0"},

    {"suspect: its replacement is awaited",
     "instances=1",
     {"0 CLAIMED b@c2", "S0 RUNNING a@x1"},
     .full = true,
     .repairs = ""},
    {"its replacement runs",
     "instances=1",
     {"0 RUNNING b@c2", "S0 RUNNING a@x1"},
     .repairs = "suspect:resolve 0"},
    {"its cell is back",
     "instances=1",
     {"0 UNCLAIMED since=999", "S0 CLAIMED a@c1"},
     .repairs = "suspect:resolve 0"},
    {"its cell is back, its replacement crashed",
     "instances=1",
     {"0 CRASHED crash=200 since=1", "S0 RUNNING a@c1"},
     .repairs = "suspect:resolve 0"},
    {"its cell is back, a newer version is at work",
     "instances=1",
     {"0 FROZEN", "S0 RUNNING a@c1"},
     .full = true,
     .repairs = ""},
    {"nothing stands beside it", "instances=1", {"S0 RUNNING a@x1"}, .repairs = "missing:create 0"},
    {"it is to stop",
     "instances=1",
     {"0 UNCLAIMED since=999", "S0 RUNNING a@x1 stopping"},
     .repairs = "suspect:resolve 0"},
    {"it is not desired", NULL, {"S0 RUNNING a@x1"}, .repairs = "suspect:resolve 0"},
    {"it is not desired, in a stale domain",
     NULL,
     {"~S0 RUNNING a@x1"},
     .full = true,
     .repairs = ""},
    {"it is not desired, a job sees to it",
     NULL,
     {"S0 RUNNING a@x1"},
     .job = true,
     .full = true,
     .repairs = ""},
    {"the index behind the last",
     "instances=1",
     {"0 RUNNING a@c1", "1 UNCLAIMED since=999", "S1 RUNNING b@x1"},
     .repairs = "extra:stop 1, suspect:resolve 1"},
    {"one of a newer version is left alone", NULL, {"S0 FROZEN"}, .full = true, .repairs = ""},
    {"each index by its own",
     "instances=2",
     {"0 RUNNING c@c2", "1 CLAIMED d@c2", "S1 RUNNING b@x1"},
     .repairs = ""},

    {"evacuating: its cell is there",
     "instances=1",
     {"0 RUNNING b@c2", "E0 RUNNING a@c1"},
     .full = true,
     .repairs = ""},
    {"its cell is absent",
     "instances=1",
     {"0 CLAIMED b@c2", "E0 RUNNING a@x1"},
     .repairs = "evacuating:vacate 0"},
    {"its cell is absent, whatever is desired",
     NULL,
     {"~E0 CLAIMED a@x1"},
     .repairs = "evacuating:vacate 0"},
    {"three of an index",
     "instances=1",
     {"0 RUNNING c@c3", "E0 RUNNING b@x2", "S0 RUNNING a@x1"},
     .repairs = "evacuating:vacate 0, suspect:resolve 0"},
    {"they are neither missing nor extra",
     "instances=1",
     {"0 RUNNING b@c2", "E0 RUNNING a@c1", "E1 RUNNING a@c1"},
     .full = true,
     .repairs = ""},

    {"differs: its rep is told",
     "instances=1",
     {"0 RUNNING a@c1 differs"},
     .repairs = "differs:refresh 0"},
    {"not once it is to stop", "instances=1", {"0 RUNNING a@c1 stopping differs"}, .repairs = ""},
    {"not before it runs", "instances=1", {"0 CLAIMED a@c1 differs"}, .full = true, .repairs = ""},
    {"its cell is absent, so nobody could be notified",
     "instances=1",
     {"0 RUNNING a@x1 differs"},
     .hold = true,
     .full = true,
     .repairs = ""},
    {"it is not desired", NULL, {"~0 RUNNING a@c1 differs"}, .full = true, .repairs = ""},
    {"one that is replaced shows what it did",
     "instances=1",
     {"0 CLAIMED b@c2", "E0 RUNNING a@c1 differs", "S0 RUNNING c@x1 differs"},
     .repairs = ""},

    {"30 s are not too long",
     "instances=1",
     {"0 UNCLAIMED since=970"},
     .full = true,
     .repairs = ""},
    {"31 s are",
     "instances=1",
     {"0 UNCLAIMED since=969"},
     .full = true,
     .repairs = "unplaced:ask 0"},
    {"not on a change", "instances=1", {"0 UNCLAIMED since=900"}, .repairs = ""},
    {"a negative age is 0", "instances=1", {"0 UNCLAIMED since=2000"}, .full = true, .repairs = ""},

    {"3 crashes: 30 s",
     "instances=1",
     {"0 CRASHED crash=3 since=970"},
     .repairs = "crashed:restart 0"},
    {"a second early", "instances=1", {"0 CRASHED crash=3 since=971"}, .repairs = "; due 1001"},
    {"4: 60 s", "instances=1", {"0 CRASHED crash=4 since=941"}, .repairs = "; due 1001"},
    {"5: 120 s", "instances=1", {"0 CRASHED crash=5 since=881"}, .repairs = "; due 1001"},
    {"6: 240 s", "instances=1", {"0 CRASHED crash=6 since=761"}, .repairs = "; due 1001"},
    {"7: 480 s", "instances=1", {"0 CRASHED crash=7 since=521"}, .repairs = "; due 1001"},
    {"8: 960 s", "instances=1", {"0 CRASHED crash=8 since=41"}, .repairs = "; due 1001"},
    {"199: 960 s", "instances=1", {"0 CRASHED crash=199 since=41"}, .repairs = "; due 1001"},
    {"199: due", "instances=1", {"0 CRASHED crash=199 since=40"}, .repairs = "crashed:restart 0"},
    {"200: never", "instances=1", {"0 CRASHED crash=200 since=1"}, .repairs = ""},
    {"the first of several",
     "instances=3",
     {"0 CRASHED crash=4 since=990", "1 CRASHED crash=3 since=980", "2 CRASHED crash=3 since=1"},
     .repairs = "crashed:restart 2; due 1010"},
    {"not desired: not restarted", "instances=0", {"~0 CRASHED crash=3 since=1"}, .repairs = ""},
};

static struct instance_view instance_of(struct arena *a, const char *text)
{
    bool stale = *text == '~';
    text += stale;
    int presence = *text == 'S'   ? MODELS__ACTUAL_LRP__PRESENCE__SUSPECT
                   : *text == 'E' ? MODELS__ACTUAL_LRP__PRESENCE__EVACUATING
                                  : MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
    char *rest;
    int32_t index = (int32_t)strtol(text + (presence != 0), &rest, 10);
    const Models__ActualLRP *record = row_actual(a, rest + 1, index, presence);
    struct instance_view view;
    instance_view_of(record, index, presence, &view);
    view.seen.since_ns = ROWS_NOW_S * SECOND_NS;
    view.fresh = !stale;
    view.differs = strstr(text, " differs") != NULL;
    const Models__ActualLRPInstanceKey *key = record->actual_lrp_instance_key;
    view.cell_present = key && key->cell_id[0] == 'c';
    return view;
}

static void view_of(struct arena *a, const struct row *row, struct process_view *v)
{
    struct instance_view *list = ARENA_ARRAY(a, RECORDS_MAX, struct instance_view);
    *v = (struct process_view){.first = row->at,
                               .last = row->at ? row->at : INT32_MAX,
                               .job = row->job,
                               .instances = list,
                               .now = {.mono_ns = ROWS_NOW_S * SECOND_NS,
                                       .wall_ns = ROWS_NOW_S * SECOND_NS},
                               .remake_ns = (ROWS_NOW_S + row->remake_s) * SECOND_NS,
                               .unplaced_after_ns = 30 * SECOND_NS,
                               .policy = &SETTINGS_DEFAULT.crash};
    if (row->desired) {
        Models__DesiredLRP *desired = row_desired(a, row->desired);
        desired->on_cell_loss =
            row->hold ? MODELS__ON_CELL_LOSS__HOLD : MODELS__ON_CELL_LOSS__REPLACE;
        desired_view_of(desired, &v->desired);
    }
    for (; v->count < RECORDS_MAX && row->records[v->count]; v->count++) {
        list[v->count] = instance_of(a, row->records[v->count]);
    }
}

static void print(const struct repairs *r, struct buf *out)
{
    for (size_t i = 0; i < r->count; i++) {
        buf_printf(out, "%s%s:%s %d", i ? ", " : "", r->list[i].pass, r->list[i].move,
                   r->list[i].index);
    }
    if (r->due_ns != NEVER_NS) {
        buf_printf(out, "; due %lld", (long long)(r->due_ns / SECOND_NS));
    }
}

static void every_row(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct process_view v;
        struct repairs repairs;
        SCOPED_BUF(out);
        repairs_init(&repairs, &a);
        view_of(&a, &rows[i], &v);
        passes_run(&v, rows[i].full, &repairs);
        print(&repairs, &out);
        if (strcmp(buf_string(&out), rows[i].repairs) != 0) {
            fail_msg("%s\nexpected: %s\ngot:      %s", rows[i].name, rows[i].repairs,
                     buf_string(&out));
        }
        assert_false(repairs.more);
    }
}

static void repairs_are_bounded(void **state)
{
    struct arena a;
    struct process_view v;
    struct repairs repairs;
    static const struct row row = {"a million", "instances=1000000", {0}, .repairs = ""};
    arena_init(&a);
    repairs_init(&repairs, &a);
    view_of(&a, &row, &v);
    passes_run(&v, true, &repairs);
    assert_int_equal(repairs.count, REPAIRS_MAX);
    assert_int_equal(repairs.list[REPAIRS_MAX - 1].index, REPAIRS_MAX - 1);
    assert_true(repairs.more);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row),
        cmocka_unit_test(repairs_are_bounded),
    };
    return cmocka_run_group_tests_name("passes of the converger", tests, NULL, NULL);
}
