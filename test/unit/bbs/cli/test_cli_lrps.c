/* What bbs apply decides, how waiting ends, what ps and events show. */
#include "bbs/cli/events.h"
#include "bbs/cli/lrps.h"
#include "board.pb-c.h"
#include "common/model/record.h"
#include "common/model/service_owner.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct app *app_of(struct fixture *f, const char *more)
{
    struct app *apps;
    size_t count;
    const char *text =
        arena_printf(&f->arena, "name: web\nrootfs: preloaded:b\ncommand: [x]\n%s\n", more);
    if (appfile_parse(&f->arena, "a", bytes_of(text), &apps, &count, &f->err) < 0) {
        fail_msg("%s", f->err.text);
    }
    return apps;
}

/* A service with these revisions, "guid:instances" each, the last the target. */
static Board__ServiceRecord *service(struct fixture *f, const char *state, int32_t instances,
                                     const char *const *revisions, size_t count)
{
    Board__ServiceRecord *s = arena_message(&f->arena, &board__service_record__descriptor);
    s->state = arena_strdup(&f->arena, state);
    s->instances = instances;
    s->revisions = ARENA_ARRAY(&f->arena, count, Board__Revision *);
    s->n_revisions = count;
    for (size_t i = 0; i < count; i++) {
        Board__Revision *r = arena_message(&f->arena, &board__revision__descriptor);
        const char *colon = strchr(revisions[i], ':');
        r->process_guid = arena_strndup(&f->arena, revisions[i], (size_t)(colon - revisions[i]));
        r->hash = r->process_guid;
        r->instances = atoi(colon + 1);
        s->revisions[i] = r;
        s->target = r->hash;
    }
    return s;
}

/* What stands beside the new definition goes; an answer that may be about this apply's own doing is
 * not told as nothing. */
static void an_answer_is_taken(void **state)
{
    struct fixture *f = *state;
    static const char *const revisions[] = {"web-a:2", "web-b:0", "web-c:1", "web-d:3"};
    Board__ServiceResponse answer = BOARD__SERVICE_RESPONSE__INIT;
    answer.service = service(f, "updating", 3, revisions, 4);
    answer.service->generation = 5;
    answer.text = arena_strdup(&f->arena, "updated");
    answer.changed = true;
    struct application a = {.app = app_of(f, "")};
    apply_take(&f->arena, &answer, true, &a);
    assert_string_equal(a.text, "updated");
    assert_int_equal(a.instances, 3);
    assert_int_equal(a.old_count, 2);
    assert_string_equal(a.old[0], "web-a");
    assert_string_equal(a.old[1], "web-c");
    answer.changed = false;
    answer.text = arena_strdup(&f->arena, "unchanged");
    apply_take(&f->arena, &answer, false, &a);
    assert_string_equal(a.text, "unchanged");
    apply_take(&f->arena, &answer, true, &a);
    assert_string_equal(a.text, "applied");
    answer.service->generation = 1;
    apply_take(&f->arena, &answer, true, &a);
    assert_string_equal(a.text, "created");
    assert_true(apply_stands(answer.service, "web-c"));
    assert_false(apply_stands(answer.service, "web-b"));
    assert_false(apply_stands(answer.service, "web-x"));
}

static void what_somebody_else_asked_for_is_told(void **state)
{
    struct fixture *f = *state;
    static const char *const own[] = {"web-a:2"}, *const other[] = {"web-a:2", "web-b:0"};
    static const struct {
        const char *state; /* NULL = there is no such service */
        bool other;
        int32_t instances, desired;
        const char *says; /* NULL = all is as asked */
    } rows[] = {
        {"scaling", false, 2, 2, NULL},
        {NULL, false, 0, 2, "somebody else removed it meanwhile (web-a)"},
        {"deleting", false, 2, 2, "somebody else removed it meanwhile (web-a)"},
        {"updating", true, 2, 2,
         "another apply is in between: web-b stands beside it, and replaces it when it runs"},
        {"scaling", false, 3, 2, "somebody else scaled it to 3 meanwhile"},
        {"scaling", false, 3, 0, "somebody else made it again, or scaled it, to 3 meanwhile"},
        {"scaling", false, 0, 0, NULL},
        {"deleting", false, 2, 0, NULL},
        {NULL, false, 0, 0, NULL},
        {"updating", true, 2, 0, NULL}, /* another definition's */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const Board__ServiceRecord *s =
            rows[i].state ? service(f, rows[i].state, rows[i].instances,
                                    rows[i].other ? other : own, rows[i].other ? 2 : 1)
                          : NULL;
        const char *says = apply_other(&f->arena, s, "web-a", rows[i].desired);
        assert_int_equal(says != NULL, rows[i].says != NULL);
        if (says) {
            assert_string_equal(says, rows[i].says);
        }
    }
}

static void an_app_is_known_by_its_owner(void **state)
{
    struct fixture *f = *state;
    Models__DesiredLRP *lrp = app_of(f, "")->lrp;
    assert_string_equal(lrp_app(lrp), "web"); /* of an earlier version */
    lrp->owner = service_owner_of(&f->arena, SERVICE_APPS_UID, "/api");
    assert_string_equal(lrp_app(lrp), "api");
    lrp->owner = service_owner_of(&f->arena, "6f0c", "/api");
    assert_null(lrp_app(lrp));
    lrp->owner = NULL;
    assert_null(lrp_app(lrp));
}

static Models__ActualLRP *record(struct fixture *f, const char *guid, int index, const char *name)
{
    Models__ActualLRP *r = arena_message(&f->arena, &models__actual_lrp__descriptor);
    r->actual_lrp_key = arena_message(&f->arena, &models__actual_lrpkey__descriptor);
    r->actual_lrp_key->process_guid = arena_strdup(&f->arena, guid);
    r->actual_lrp_key->index = index;
    r->state = arena_strdup(&f->arena, name);
    return r;
}

static Models__ActualLRP *placed(struct fixture *f, Models__ActualLRP *r, const char *cell,
                                 unsigned port)
{
    r->actual_lrp_instance_key = ARENA_NEW(&f->arena, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(r->actual_lrp_instance_key);
    r->actual_lrp_instance_key->cell_id = arena_strdup(&f->arena, cell);
    r->actual_lrp_net_info = arena_message(&f->arena, &models__actual_lrpnet_info__descriptor);
    if (port) {
        r->actual_lrp_net_info->address = arena_strdup(&f->arena, "10.0.0.1");
        r->actual_lrp_net_info->ports = ARENA_NEW(&f->arena, Models__PortMapping *);
        r->actual_lrp_net_info->ports[0] = ARENA_NEW(&f->arena, Models__PortMapping);
        models__port_mapping__init(r->actual_lrp_net_info->ports[0]);
        r->actual_lrp_net_info->ports[0]->host_port = port;
        r->actual_lrp_net_info->ports[0]->container_port = 8080;
        r->actual_lrp_net_info->n_ports = 1;
    }
    return r;
}

static void waiting_ends_when_all_desired_run_and_no_others(void **state)
{
    struct fixture *f = *state;
    Models__ActualLRP *stopping = record(f, "g", 2, "RUNNING");
    stopping->stopping = 1;
    Models__ActualLRP *suspect = record(f, "g", 1, "RUNNING");
    suspect->presence = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    Models__ActualLRP *unplaced = record(f, "g", 1, "UNCLAIMED");
    static char error[] = "insufficient resources:\tmemory";
    unplaced->placement_error = error;
    Models__ActualLRP *one = record(f, "g", 0, "RUNNING"), *two = record(f, "g", 1, "RUNNING");
    struct {
        int32_t desired;
        Models__ActualLRP *records[4];
        size_t count;
        bool done;
        const char *text;
    } rows[] = {
        {0, {NULL}, 0, true, "web: all stopped"},
        {0, {one}, 1, false, "web: 1 to stop"},
        {2, {one}, 1, false, "web: 1 of 2 running"},
        {2, {one, two}, 2, true, "web: 2 of 2 running"},
        {2, {one, suspect}, 2, false, "web: 1 of 2 running"},
        {2, {one, suspect, two}, 3, true, "web: 2 of 2 running"},
        {2, {one, two, stopping}, 3, false, "web: 2 of 2 running, 1 to stop"},
        {3, {one, two, stopping}, 3, false, "web: 2 of 3 running, 1 to stop"},
        {2, {one, unplaced}, 2, false, "web: 1 of 2 running (insufficient resources:?memory)"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lrp_progress p;
        lrp_progress_of(rows[i].desired, rows[i].records, rows[i].count, &p);
        assert_string_equal(lrp_progress_text(&f->arena, "web", &p), rows[i].text);
        assert_int_equal(lrp_progress_done(&p), rows[i].done);
    }
}

static void what_runs_for_a_moment_has_not_settled(void **state)
{
    struct fixture *f = *state;
    enum { AT = 1000 };
    Models__ActualLRP *old = record(f, "g", 0, "RUNNING"), *new = record(f, "g", 1, "RUNNING");
    Models__ActualLRP *both[] = {old, new};
    struct lrp_progress p;
    old->since = AT - 5 * LRP_SETTLED_NS;
    new->since = AT;
    lrp_progress_of(2, both, 2, &p);
    assert_int_equal(p.newest_ns, AT);
    assert_true(lrp_progress_done(&p));
    assert_false(lrp_progress_settled(&p, AT + LRP_SETTLED_NS - 1, LRP_SETTLED_NS - 1));
    assert_true(lrp_progress_settled(&p, AT + LRP_SETTLED_NS, 0));
    /* Another machine's clock is ahead of ours. */
    assert_false(lrp_progress_settled(&p, AT - 3600 * LRP_SETTLED_NS, LRP_SETTLED_NS - 1));
    assert_true(lrp_progress_settled(&p, AT - 3600 * LRP_SETTLED_NS, LRP_SETTLED_NS));
    /* Nothing runs that could end. */
    lrp_progress_of(0, NULL, 0, &p);
    assert_true(lrp_progress_settled(&p, AT, 0));
}

static void names_mean_owners_and_guids(void **state)
{
    struct fixture *f = *state;
    Models__DesiredLRP *web = app_of(f, "")->lrp, *other = app_of(f, "")->lrp;
    Models__DesiredLRP *foreign = app_of(f, "")->lrp, **found;
    other->process_guid = arena_strdup(&f->arena, "web-other");
    foreign->process_guid = arena_strdup(&f->arena, "diego");
    foreign->owner = NULL;
    Models__DesiredLRP *all[] = {web, other, foreign};
    assert_int_equal(lrps_named(&f->arena, all, 3, "web", &found), 2);
    assert_int_equal(lrps_named(&f->arena, all, 3, "web-other", &found), 1);
    assert_ptr_equal(found[0], other);
    assert_int_equal(lrps_named(&f->arena, all, 3, "diego", &found), 1);
    assert_int_equal(lrps_named(&f->arena, all, 3, "we", &found), 0);
    assert_string_equal(lrp_name(web), "web");
    assert_string_equal(lrp_name(foreign), "diego");
}

/* bbs ps web/1 */
static void an_index_has_its_records(void **state)
{
    struct fixture *f = *state;
    Models__ActualLRP *a = record(f, "g", 0, "RUNNING"), *b = record(f, "g", 1, "UNCLAIMED"),
                      *c = record(f, "g", 1, "RUNNING"), *d = record(f, "g", 2, "RUNNING");
    Models__ActualLRP *all[] = {a, b, c, d}, *some[] = {a, b, c, d};
    assert_int_equal(lrps_keep_index(-1, all, 4), 4);
    assert_int_equal(lrps_keep_index(1, all, 4), 2);
    assert_ptr_equal(all[0], b);
    assert_ptr_equal(all[1], c);
    assert_int_equal(lrps_keep_index(3, some, 4), 0);
    assert_int_equal(lrps_keep_index(0, some, 0), 0);
}

/* What a silent cell said last may be so no more. */
static void ps_tells_of_silent_cells(void **state)
{
    struct fixture *f = *state;
    static const char *const states[] = {"PRESENT", "LOST", "LOST (held)"};
    Models__CellPresence presences[3];
    Board__CellStatus statuses[3], *list[3];
    Board__CellsStatus cells = BOARD__CELLS_STATUS__INIT;
    for (int i = 0; i < 3; i++) {
        models__cell_presence__init(&presences[i]);
        presences[i].cell_id = arena_printf(&f->arena, "cell-%d", i + 1);
        board__cell_status__init(&statuses[i]);
        statuses[i].presence = &presences[i];
        statuses[i].state = arena_strdup(&f->arena, states[i]);
        list[i] = &statuses[i];
    }
    cells.cells = list;
    cells.n_cells = 3;
    Models__DesiredLRP *web = app_of(f, "")->lrp;
    web->process_guid = arena_strdup(&f->arena, "web-1");
    Models__ActualLRP *r[] = {
        placed(f, record(f, "web-1", 0, "RUNNING"), "cell-1", 61000),
        placed(f, record(f, "web-1", 1, "RUNNING"), "cell-2", 61000),
        placed(f, record(f, "web-1", 2, "RUNNING"), "cell-3", 61000),
        placed(f, record(f, "web-1", 3, "CLAIMED"), "cell-4", 0),
    };
    r[1]->presence = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    ps_table(&f->arena, &web, 1, r, 4, &cells, 65000000000, false, &f->out);
    assert_string_equal(
        buf_string(&f->out),
        "PROCESS  INDEX  STATE              CELL                 ADDRESS:PORT          AGE  "
        "CRASHES\n"
        "web      0      RUNNING            cell-1               10.0.0.1:61000->8080  65s  0\n"
        "web      1      RUNNING (suspect)  cell-2 (LOST)        10.0.0.1:61000->8080  65s  0\n"
        "web      2      RUNNING            cell-3 (LOST, held)  10.0.0.1:61000->8080  65s  0\n"
        "web      3      CLAIMED            cell-4 (gone)        -                     65s  0\n"
        "    nothing is heard of cells that are LOST or gone: what stands here of them is what "
        "they said last "
        "(bbs cells)\n");
    buf_clear(&f->out);
    ps_table(&f->arena, &web, 1, r, 1, &cells, 65000000000, false, &f->out);
    assert_null(strstr(buf_string(&f->out), "LOST"));
}

static void ps_shows_every_record_in_order(void **state)
{
    struct fixture *f = *state;
    Models__DesiredLRP *web = app_of(f, "")->lrp, *idle = app_of(f, "instances: 0")->lrp;
    web->process_guid = arena_strdup(&f->arena, "web-1");
    idle->process_guid = arena_strdup(&f->arena, "zzz");
    idle->owner = NULL;
    Models__ActualLRP *r[] = {
        placed(f, record(f, "web-1", 10, "RUNNING"), "cell-2", 61001),
        record(f, "web-1", 1, "UNCLAIMED"),
        placed(f, record(f, "web-1", 0, "RUNNING"), "cell-1", 61000),
        record(f, "unknown", 0, "RUNNING"),
        placed(f, record(f, "web-1", 2, "CLAIMED"), "cell-1", 0),
        placed(f, record(f, "gone", 1, "RUNNING"), "cell-1", 0),
    };
    r[1]->placement_error = arena_strdup(&f->arena, "insufficient\nresources");
    r[1]->crash_reason = arena_strdup(&f->arena, "exit status 1");
    r[1]->crash_count = 2;
    r[0]->presence = MODELS__ACTUAL_LRP__PRESENCE__EVACUATING;
    r[2]->since = 5000000000;
    r[4]->stopping = r[5]->stopping = 1;
    Models__DesiredLRP *all[] = {idle, web};
    ps_table(&f->arena, all, 2, r, 6, NULL, 65000000000, false, &f->out);
    assert_string_equal(
        buf_string(&f->out),
        "PROCESS  INDEX  STATE                 CELL    ADDRESS:PORT          AGE  CRASHES\n"
        "web      0      RUNNING               cell-1  10.0.0.1:61000->8080  60s  0\n"
        "web      1      UNCLAIMED             -       -                     65s  2\n"
        "    not placed: insufficient?resources\n"
        "    crashed: exit status 1\n"
        "web      2      STOPPING              cell-1  -                     65s  0\n"
        "web      10     RUNNING (evacuating)  cell-2  10.0.0.1:61001->8080  65s  0\n"
        "zzz      -      0 desired             -       -                     -    -\n"
        "gone     1      STOPPING              cell-1  -                     65s  0\n"
        "unknown  0      RUNNING               -       -                     65s  0\n"
        "    not desired any more: bbs why unknown\n");
    buf_clear(&f->out);
    Board__CellsStatus cells = BOARD__CELLS_STATUS__INIT;
    Board__CellStatus bare = BOARD__CELL_STATUS__INIT, *one = &bare;
    cells.cells = &one;
    cells.n_cells = 1;
    ps_table(&f->arena, all, 2, r, 6, &cells, 65000000000, false, &f->out);
    assert_non_null(strstr(buf_string(&f->out), "    not placed: insufficient?resources\n"
                                                "    no cell has the root filesystem"));
    assert_non_null(strstr(buf_string(&f->out), " cell-1 (gone) "));
    buf_clear(&f->out);
    /* In JSON each that the table shows, too. */
    ps_lines_without_record(&f->arena, all, 2, r, 6, &f->out);
    assert_string_equal(buf_string(&f->out),
                        "{\"process_guid\":\"zzz\",\"domain\":\"default\",\"instances\":0}\n");
    buf_clear(&f->out);
    ps_lines_without_record(&f->arena, all, 2, r, 0, &f->out);
    assert_string_equal(buf_string(&f->out),
                        "{\"process_guid\":\"zzz\",\"domain\":\"default\",\"instances\":0}\n"
                        "{\"process_guid\":\"web-1\",\"domain\":\"default\",\"instances\":1}\n");
    buf_clear(&f->out);
    assert_int_equal(lrps_keep(all, 2, r, 6), 4);
    ps_table(&f->arena, all, 2, r, 4, NULL, 65000000000, false, &f->out);
    assert_null(strstr(buf_string(&f->out), "unknown"));
    assert_null(strstr(buf_string(&f->out), "gone"));
}

static void add_frame(struct buf *feed, Board__FeedFrame__Kind kind, int64_t revision,
                      const char *key, const ProtobufCMessage *record, int64_t created)
{
    Board__FeedFrame f = BOARD__FEED_FRAME__INIT;
    struct buf packed, bytes;
    buf_init(&packed);
    buf_init(&bytes);
    f.kind = kind;
    f.revision = revision;
    f.key = strdup(key);
    static char board_generation[] = "e1";
    f.board_generation = board_generation;
    if (record) {
        record_encode(&bytes, record);
        f.record = (ProtobufCBinaryData){bytes.size, bytes.data};
    }
    f.create_revision = created;
    f.mod_revision = revision;
    buf_message(&packed, &f.base);
    buf_varint(feed, packed.size);
    buf_append(feed, packed.data, packed.size);
    free(f.key);
    buf_done(&packed);
    buf_done(&bytes);
}

/* A snapshot, three changes, a heartbeat. */
static void make_feed(struct fixture *f, struct buf *feed)
{
    Models__ActualLRP *r = placed(f, record(f, "web-1", 0, "RUNNING"), "cell-1", 61000);
    Models__DesiredLRP *web = app_of(f, "instances: 2")->lrp;
    const char *key = key_actual(&f->arena, "web-1", 0, 0);
    add_frame(feed, BOARD__FEED_FRAME__KIND__RESET, 0, "", NULL, 0);
    add_frame(feed, BOARD__FEED_FRAME__KIND__RECORD, 0, key, &r->base, 3);
    add_frame(feed, BOARD__FEED_FRAME__KIND__RECORD, 0, "later/thing", NULL, 4);
    add_frame(feed, BOARD__FEED_FRAME__KIND__CURRENT, 10, "", NULL, 0);
    add_frame(feed, BOARD__FEED_FRAME__KIND__PUT, 12, key, &r->base, 3);
    add_frame(feed, BOARD__FEED_FRAME__KIND__PUT, 12, key_desired(&f->arena, "web-1"), &web->base,
              12);
    add_frame(feed, BOARD__FEED_FRAME__KIND__DELETE, 13, "later/thing", NULL, 4);
}

static const char text_events[] =
    "12       changed  instance web-1/0: RUNNING on cell-1 10.0.0.1:61000->8080\n"
    "12       new      desired web-1: web, 2 instances\n"
    "13       gone     unknown thing\n";

static void events_print_a_line_a_change(void **state)
{
    struct fixture *f = *state;
    struct events e;
    SCOPED_BUF(feed);
    make_feed(f, &feed);
    /* In one piece, and byte by byte. */
    for (size_t piece = feed.size; piece >= 1; piece = piece > 1 ? 1 : 0) {
        events_init(&e, false);
        events_connect(&e, false);
        for (size_t at = 0; at < feed.size; at += piece) {
            assert_int_equal(events_take(&e, (struct bytes){feed.data + at, piece}, &f->err), 0);
        }
        assert_string_equal(buf_string(&e.out), text_events);
        /* More of revision 13 may be missing: it resumes behind 12. */
        assert_int_equal(e.revision, 12);
        assert_string_equal(e.board_generation, "e1");
        buf_clear(&feed);
        add_frame(&feed, BOARD__FEED_FRAME__KIND__HEARTBEAT, 20, "", NULL, 0);
        events_take(&e, buf_bytes(&feed), &f->err);
        assert_int_equal(e.revision, 20);
        buf_clear(&feed);
        make_feed(f, &feed);
        events_done(&e);
    }
    events_init(&e, true);
    assert_int_equal(events_take(&e, buf_bytes(&feed), &f->err), 0);
    assert_non_null(
        strstr(buf_string(&e.out),
               "{\"change\":\"new\",\"revision\":12,\"key\":\"desired/web-1\",\"record\":{"
               "\"process_guid\":\"web-"));
    assert_non_null(strstr(buf_string(&e.out), "\"key\":\"later/thing\",\"record\":null}\n"));
    /* With the time at which the changes were heard of. */
    e.times = true;
    e.now_ns = INT64_C(1767323045678) * 1000000;
    for (int json = 0; json < 2; json++) {
        buf_clear(&e.out);
        e.json = json;
        assert_int_equal(events_take(&e, buf_bytes(&feed), &f->err), 0);
        assert_non_null(strstr(buf_string(&e.out),
                               json
                                   ? "\"revision\":12,\"heard_at\":1767323045678000000,\"key\":"
                                   : "2026-01-02T03:04:05.678Z 13       gone     unknown thing\n"));
    }
    buf_clear(&feed);
    buf_append(&feed, "\xff\xff\xff\xff\x0f", 5);
    assert_int_equal(events_take(&e, buf_bytes(&feed), &f->err), -ERR_INVALID);
    events_done(&e);
}

/* A record keeps the reason of its last crash for as long as it lives: it is told of one that waits
 * because of it, and of no later state. */
static void a_reason_is_reported_while_it_matters(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *state, *crash, *error, *text;
    } rows[] = {
        {"UNCLAIMED", "", "", "UNCLAIMED\n"},
        {"UNCLAIMED", "LOG: Exited", "", "UNCLAIMED (LOG: Exited)\n"},
        {"UNCLAIMED", "LOG: Exited", "no room", "UNCLAIMED (no room)\n"},
        {"CRASHED", "LOG: Exited", "", "CRASHED (LOG: Exited)\n"},
        {"CLAIMED", "LOG: Exited", "", "CLAIMED\n"},
        {"RUNNING", "LOG: Exited", "", "RUNNING\n"},
        {"RUNNING", "LOG: Exited", "no room", "RUNNING\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct events e;
        SCOPED_BUF(feed);
        Models__ActualLRP *r = record(f, "web-1", 0, rows[i].state);
        r->crash_reason = arena_strdup(&f->arena, rows[i].crash);
        r->placement_error = arena_strdup(&f->arena, rows[i].error);
        add_frame(&feed, BOARD__FEED_FRAME__KIND__PUT, 12, key_actual(&f->arena, "web-1", 0, 0),
                  &r->base, 3);
        events_init(&e, false);
        assert_int_equal(events_take(&e, buf_bytes(&feed), &f->err), 0);
        assert_string_equal(
            buf_string(&e.out),
            arena_printf(&f->arena, "12       changed  instance web-1/0: %s", rows[i].text));
        events_done(&e);
    }
}

/* ---- What a bbs did not tell before it was left for another one is told, and only that ---- */

struct heard {
    Board__FeedFrame__Kind kind;
    int64_t revision;
    const char *key;
    int64_t create_revision;
};

#define RESET(revision) {BOARD__FEED_FRAME__KIND__RESET, revision, "", 0}
#define RECORD(revision, key, created) {BOARD__FEED_FRAME__KIND__RECORD, revision, key, created}
#define CURRENT(revision) {BOARD__FEED_FRAME__KIND__CURRENT, revision, "", 0}
#define PUT(revision, key, created) {BOARD__FEED_FRAME__KIND__PUT, revision, key, created}
#define GONE(revision, key, created) {BOARD__FEED_FRAME__KIND__DELETE, revision, key, created}
#define HEARTBEAT(revision) {BOARD__FEED_FRAME__KIND__HEARTBEAT, revision, "", 0}

/* What events_take() gives of these frames. */
#define HEARS(f, e, ...)                                                                           \
    hears(f, e, (const struct heard[]){__VA_ARGS__},                                               \
          sizeof((const struct heard[]){__VA_ARGS__}) / sizeof(struct heard))

static int hears(struct fixture *f, struct events *e, const struct heard *list, size_t count)
{
    SCOPED_BUF(feed);
    for (size_t i = 0; i < count; i++) {
        add_frame(&feed, list[i].kind, list[i].revision, list[i].key, NULL,
                  list[i].create_revision);
    }
    return events_take(e, buf_bytes(&feed), &f->err);
}

/* It has been told of a, b and c, all up to revision 18. */
static void begin_at_18(struct fixture *f, struct events *e, bool json)
{
    events_init(e, json);
    events_connect(e, false);
    assert_int_equal(HEARS(f, e, RESET(10), RECORD(3, "desired/a", 3), RECORD(4, "desired/b", 4),
                           CURRENT(10), PUT(12, "desired/c", 12), HEARTBEAT(18)),
                     0);
    assert_true(e->caught_up);
    assert_int_equal(e->revision, 18);
    buf_clear(&e->out);
}

/* What has the last revision comes again. */
static void a_resumed_feed_tells_once(void **state)
{
    struct fixture *f = *state;
    struct events e;
    begin_at_18(f, &e, false);
    events_connect(&e, false);
    assert_int_equal(HEARS(f, &e, PUT(12, "desired/c", 12), PUT(19, "desired/e", 19),
                           GONE(20, "desired/e", 19)),
                     0);
    assert_int_equal(e.revision, 19);
    events_connect(&e, false); /* behind 19, then */
    assert_int_equal(HEARS(f, &e, GONE(20, "desired/e", 19)), 0);
    assert_int_equal(e.revision, 19);
    assert_int_equal(HEARS(f, &e, HEARTBEAT(20)), 0);
    assert_int_equal(e.revision, 20);
    assert_string_equal(buf_string(&e.out), "19       new      desired e\n"
                                            "20       gone     desired e\n");
    events_done(&e);
}

static void a_snapshot_of_what_is_known_tells_nothing(void **state)
{
    struct fixture *f = *state;
    struct events e;
    begin_at_18(f, &e, false);
    events_connect(&e, true);
    assert_false(e.caught_up);
    assert_int_equal(HEARS(f, &e, RESET(18), RECORD(3, "desired/a", 3), HEARTBEAT(40),
                           RECORD(4, "desired/b", 4), RECORD(12, "desired/c", 12)),
                     0);
    assert_false(e.caught_up);
    assert_int_equal(HEARS(f, &e, CURRENT(18)), 0);
    assert_true(e.caught_up);
    assert_int_equal(e.out.size, 0);
    events_done(&e);
}

static void a_bbs_that_is_behind_is_left(void **state)
{
    struct fixture *f = *state;
    struct events e;
    begin_at_18(f, &e, false);
    events_connect(&e, true);
    assert_int_equal(HEARS(f, &e, RESET(17), RECORD(3, "desired/a", 3), CURRENT(17)),
                     -ERR_UNAVAILABLE);
    assert_int_equal(e.out.size, 0);
    assert_int_equal(e.revision, 18);
    events_done(&e);
}

/* And what has gone by then, as c, as well. What follows the snapshot at once is not its turn. */
static void what_is_newer_comes_in_its_turn(void **state)
{
    struct fixture *f = *state;
    struct events e;
    begin_at_18(f, &e, false);
    for (int gone = 0; gone < 2; gone++) {
        events_connect(&e, true);
        assert_int_equal(HEARS(f, &e, RESET(25), RECORD(20, "desired/a", 3),
                               RECORD(4, "desired/b", 4)),
                         0);
        if (!gone) {
            assert_int_equal(HEARS(f, &e, RECORD(12, "desired/c", 12)), 0);
        }
        assert_int_equal(HEARS(f, &e, RECORD(22, "desired/x", 21), CURRENT(25),
                               PUT(26, "desired/y", 26), HEARTBEAT(26)),
                         0);
        assert_int_equal(e.out.size, 0);
        assert_true(e.behind && e.caught_up);
        assert_int_equal(e.revision, 18);
    }
    events_connect(&e, false);
    assert_int_equal(HEARS(f, &e, HEARTBEAT(18)), 0);
    assert_int_equal(e.out.size, 0);
    events_done(&e);
}

/* One was made, one changed, one is gone. */
static void what_differs_was_missed(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {
        "(some changes were missed)\n"
        "14       new      desired d\n"
        "13       changed  desired b\n"
        "18       gone     desired c\n",
        "{\"change\":\"missed\"}\n{\"change\":\"new\",\"revision\":14,",
    };
    for (int json = 0; json < 2; json++) {
        struct events e;
        begin_at_18(f, &e, json);
        events_connect(&e, true);
        assert_int_equal(HEARS(f, &e, RESET(18), RECORD(3, "desired/a", 3),
                               RECORD(14, "desired/d", 11), RECORD(13, "desired/b", 4),
                               CURRENT(18)),
                         0);
        assert_ptr_equal(strstr(buf_string(&e.out), texts[json]), buf_string(&e.out));
        events_done(&e);
    }
}

/* The snapshot did not have it any more, and nobody tells of it until the feed is there. */
static void what_went_unheard_was_missed(void **state)
{
    struct fixture *f = *state;
    struct events e;
    begin_at_18(f, &e, false);
    events_connect(&e, true);
    assert_int_equal(HEARS(f, &e, RESET(30), RECORD(12, "desired/c", 12), CURRENT(30)), 0);
    assert_int_equal(e.out.size, 0);
    events_connect(&e, false);
    assert_int_equal(HEARS(f, &e, HEARTBEAT(29), GONE(30, "desired/a", 3), HEARTBEAT(30)), 0);
    assert_string_equal(buf_string(&e.out), "30       gone     desired a\n"
                                            "(some changes were missed)\n"
                                            "30       gone     desired b\n");
    events_done(&e);
}

/* The position stays below the last change until a heartbeat has come: a snapshot of that position
 * is older than what was told, and would bring back what has gone. */
static void events_of_a_bbs_that_is_one_change_behind(void **state)
{
    struct fixture *f = *state;
    const Board__FeedFrame__Kind RESET = BOARD__FEED_FRAME__KIND__RESET,
                                 RECORD = BOARD__FEED_FRAME__KIND__RECORD,
                                 CURRENT = BOARD__FEED_FRAME__KIND__CURRENT;
    for (int gone = 0; gone < 2; gone++) {
        struct events e;
        SCOPED_BUF(feed);
        events_init(&e, false);
        events_connect(&e, false);
        add_frame(&feed, RESET, 10, "", NULL, 0);
        add_frame(&feed, RECORD, 3, "desired/a", NULL, 3);
        add_frame(&feed, CURRENT, 10, "", NULL, 0);
        add_frame(&feed, gone ? BOARD__FEED_FRAME__KIND__DELETE : BOARD__FEED_FRAME__KIND__PUT, 11,
                  "desired/a", NULL, 3);
        assert_int_equal(events_take(&e, buf_bytes(&feed), &f->err), 0);
        buf_clear(&e.out);
        for (int64_t revision = 10; revision <= 11; revision++) {
            buf_clear(&feed);
            events_connect(&e, true);
            add_frame(&feed, RESET, revision, "", NULL, 0);
            if (revision == 10 || !gone) {
                add_frame(&feed, RECORD, revision == 10 ? 3 : 11, "desired/a", NULL, 3);
            }
            add_frame(&feed, CURRENT, revision, "", NULL, 0);
            assert_int_equal(events_take(&e, buf_bytes(&feed), &f->err),
                             revision == 10 ? -ERR_UNAVAILABLE : 0);
            assert_int_equal(e.out.size, 0);
        }
        events_done(&e);
    }
}

static void events_in_json_hide_secrets(void **state)
{
    struct fixture *f = *state;
    for (int show = 0; show < 2; show++) {
        struct events e;
        SCOPED_BUF(feed);
        Models__DesiredLRP *web = app_of(f, "env: {KEY: geheim}")->lrp;
        add_frame(&feed, BOARD__FEED_FRAME__KIND__PUT, 12, key_desired(&f->arena, "web-1"),
                  &web->base, 12);
        events_init(&e, true);
        e.show_secrets = show;
        assert_int_equal(events_take(&e, buf_bytes(&feed), &f->err), 0);
        const char *text = buf_string(&e.out);
        assert_int_equal(strstr(text, "geheim") != NULL, show);
        assert_int_equal(strstr(text, "\"value\":\"(hidden)\"") != NULL, !show);
        events_done(&e);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_is_taken),
        TEST(what_somebody_else_asked_for_is_told),
        TEST(an_app_is_known_by_its_owner),
        TEST(waiting_ends_when_all_desired_run_and_no_others),
        TEST(what_runs_for_a_moment_has_not_settled),
        TEST(names_mean_owners_and_guids),
        TEST(ps_shows_every_record_in_order),
        TEST(an_index_has_its_records),
        TEST(ps_tells_of_silent_cells),
        TEST(events_print_a_line_a_change),
        TEST(a_reason_is_reported_while_it_matters),
        TEST(a_resumed_feed_tells_once),
        TEST(a_snapshot_of_what_is_known_tells_nothing),
        TEST(a_bbs_that_is_behind_is_left),
        TEST(what_is_newer_comes_in_its_turn),
        TEST(what_differs_was_missed),
        TEST(what_went_unheard_was_missed),
        TEST(events_of_a_bbs_that_is_one_change_behind),
        TEST(events_in_json_hide_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
