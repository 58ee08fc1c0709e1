/* The six event streams of running bbs on a real etcd, byte by byte (behaviour.md 16). */
#include "common/codec/json_text.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/events.pb-c.h"
#include "test/api/event_rig.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

enum { QUIET_MS = 200 };

static struct bbs_process *const bbs = bbs_rig.bbs;

/* ---- What cells ask -------------------------------------------------------------------------- */

static char *text(const char *s)
{
    return (char *)(size_t)s;
}

/* One instance as a rep of Diego would speak for it. */
struct instance {
    Models__ActualLRPKey key;
    Models__ActualLRPInstanceKey instance;
};

static struct instance instance_of(const char *guid, int32_t index, const char *instance_guid,
                                   const char *cell_id)
{
    struct instance i = {MODELS__ACTUAL_LRPKEY__INIT, MODELS__ACTUAL_LRPINSTANCE_KEY__INIT};
    i.key.process_guid = text(guid);
    i.key.index = index;
    i.key.domain = text("d");
    i.instance.instance_guid = text(instance_guid);
    i.instance.cell_id = text(cell_id);
    return i;
}

static void claim(const struct bbs_process *b, struct instance *i)
{
    Models__ClaimActualLRPRequest r = MODELS__CLAIM_ACTUAL_LRPREQUEST__INIT;
    r.process_guid = i->key.process_guid;
    r.index = i->key.index;
    r.actual_lrp_instance_key = &i->instance;
    ask_well(b, "/v1/actual_lrps/claim", "claim-id", &r.base);
}

static void start(const struct bbs_process *b, struct instance *i, const char *address)
{
    Models__StartActualLRPRequest r = MODELS__START_ACTUAL_LRPREQUEST__INIT;
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    r.actual_lrp_key = &i->key;
    r.actual_lrp_instance_key = &i->instance;
    r.actual_lrp_net_info = &net;
    net.address = text(address);
    ask_well(b, "/v1/actual_lrps/start.r1", "start-id", &r.base);
}

static void crash(const struct bbs_process *b, struct instance *i, const char *reason)
{
    Models__CrashActualLRPRequest r = MODELS__CRASH_ACTUAL_LRPREQUEST__INIT;
    r.actual_lrp_key = &i->key;
    r.actual_lrp_instance_key = &i->instance;
    r.error_message = text(reason);
    ask_well(b, "/v1/actual_lrps/crash", "", &r.base);
}

/* ---- What is told ---------------------------------------------------------------------------- */

static void expect_names(struct subscriber *s, const char *const *names)
{
    struct stream_item item = {0};
    for (long i = 0; names[i]; i++) {
        if (!subscriber_next(s, PATIENCE_MS, &item)) {
            fail_msg("no event where %s was to come", names[i]);
        }
        assert_string_equal(item.name, names[i]);
        assert_int_equal(item.id, i);
    }
    assert_false(subscriber_next(s, QUIET_MS, &item));
    buf_done(&item.payload);
}

/* Reads until as many events as there are names have come, and takes none. */
static void read_events(struct subscriber *s, const char *const *names)
{
    size_t count = 0, wanted = 0;
    while (names[wanted]) {
        wanted++;
    }
    for (struct patience p = {0}; count < wanted && patience_lasts(&p);) {
        assert_true(subscriber_read(s, 20));
        count = 0;
        for (size_t at = 1; at < s->text.size; at++) {
            count += s->text.data[at - 1] == '\n' && s->text.data[at] == '\n';
        }
    }
    assert_int_equal(count, wanted);
}

/* ---- Framing --------------------------------------------------------------------------------- */

/* The head at once, before any event; then each event as one chunk, exactly these bytes. */
static void bytes_of_a_stream(void **state)
{
    struct subscriber s;
    subscriber_open(&s, &bbs[0], "GET", GROUPS, NULL, 0);
    assert_int_equal(s.status, 200);
    const char *head = buf_string(&s.head);
    assert_int_equal(strncmp(head, "HTTP/1.1 200 OK\r\n", 17), 0);
    assert_non_null(strstr(head, "\r\nContent-Type: text/event-stream; charset=utf-8\r\n"));
    assert_non_null(strstr(head, "\r\nCache-Control: no-cache, no-store, must-revalidate\r\n"));
    assert_non_null(strstr(head, "\r\nConnection: keep-alive\r\n"));
    assert_non_null(strstr(head, "\r\nTransfer-Encoding: chunked\r\n"));
    assert_null(strcasestr(head, "Content-Length"));
    assert_int_equal(s.client.input.size, 0);

    desire_lrp(&bbs[0], "framed", 0, "trace");
    SCOPED_BUF(raw);
    for (int i = 0; i < 100; i++) {
        struct bytes in = buf_bytes(&s.client.input);
        if (in.size && memmem(in.data, in.size, "\n\n\r\n", 4)) {
            break;
        }
        client_read(&s.client, 50);
    }
    buf_append(&raw, s.client.input.data, s.client.input.size);
    subscriber_read(&s, 0);
    struct stream_item item = next_item(&s, "desired_lrp_created");
    struct buf wanted, base64;
    buf_init(&wanted);
    buf_init(&base64);
    base64_encode(buf_bytes(&item.payload), &base64);
    buf_printf(&wanted, "id: 0\nevent: desired_lrp_created\ndata: %s\n\n", buf_string(&base64));
    struct buf framed;
    buf_init(&framed);
    buf_printf(&framed, "%zx\r\n%s\r\n", wanted.size, buf_string(&wanted));
    assert_int_equal(raw.size, framed.size);
    assert_memory_equal(raw.data, framed.data, raw.size);
    Models__DesiredLRPCreatedEvent *e =
        models__desired_lrpcreated_event__unpack(NULL, item.payload.size, item.payload.data);
    assert_non_null(e);
    assert_string_equal(e->desired_lrp->process_guid, "framed");
    assert_string_equal(e->desired_lrp->action->run_action->path, "/bin/true");
    assert_string_equal(e->trace_id, "trace");
    models__desired_lrpcreated_event__free_unpacked(e, NULL);
    buf_done(&wanted);
    buf_done(&framed);
    buf_done(&base64);
    buf_done(&item.payload);
    subscriber_close(&s);
    remove_lrp(&bbs[0], "framed");
}

/* The events of a life, in every stream and at either bbs, byte for byte the same at both. */
static void the_same_at_either_bbs(void **state)
{
    static const char *const paths[] = {GROUPS, INSTANCES};
    static const char *const of_groups[] = {"desired_lrp_created", "actual_lrp_created",
                                            "actual_lrp_changed",  "actual_lrp_changed",
                                            "actual_lrp_crashed",  "actual_lrp_changed",
                                            "desired_lrp_changed", "desired_lrp_removed",
                                            "actual_lrp_removed",  NULL};
    static const char *const of_instances[] = {"desired_lrp_created",
                                               "actual_lrp_instance_created",
                                               "actual_lrp_instance_changed",
                                               "actual_lrp_instance_changed",
                                               "actual_lrp_crashed",
                                               "actual_lrp_instance_created",
                                               "actual_lrp_instance_removed",
                                               "desired_lrp_changed",
                                               "desired_lrp_removed",
                                               "actual_lrp_instance_removed",
                                               NULL};
    struct subscriber s[2][2];
    for (int p = 0; p < 2; p++) {
        for (int b = 0; b < 2; b++) {
            subscriber_open(&s[p][b], &bbs[b], p ? "POST" : "GET", paths[p], NULL, 0);
            assert_int_equal(s[p][b].status, 200);
        }
    }
    struct instance i = instance_of("life", 0, "guid-a", "cell-1");
    char reason[2001];
    memset(reason, 'x', 2000);
    reason[2000] = 0;
    desire_lrp(&bbs[0], "life", 1, "desire-id");
    claim(&bbs[1], &i);
    start(&bbs[0], &i, "10.0.0.1");
    start(&bbs[1], &i, "10.0.0.1"); /* nothing new */
    crash(&bbs[1], &i, reason);
    annotate_lrp(&bbs[0], "life", "note");
    remove_lrp(&bbs[1], "life");
    for (int p = 0; p < 2; p++) {
        struct buf whole[2];
        for (int b = 0; b < 2; b++) {
            struct subscriber *x = &s[p][b];
            read_events(x, p ? of_instances : of_groups);
            buf_init(&whole[b]);
            buf_append(&whole[b], x->text.data, x->text.size);
            expect_names(x, p ? of_instances : of_groups);
            subscriber_close(x);
        }
        assert_int_equal(whole[0].size, whole[1].size);
        assert_memory_equal(whole[0].data, whole[1].data, whole[0].size);
        buf_done(&whole[0]);
        buf_done(&whole[1]);
    }
}

/* Trace ids only of desire, update, remove and retire; the crash reason uncut, the instance key
 * from before; a changed event is of the instance. */
static void what_events_say(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    struct subscriber s;
    subscriber_open(&s, &bbs[1], "POST", INSTANCES, NULL, 0);
    struct instance i = instance_of("said", 0, "guid-a", "cell-1");
    char reason[2001];
    memset(reason, 'y', 2000);
    reason[2000] = 0;
    desire_lrp(&bbs[0], "said", 1, "desire-id");
    claim(&bbs[0], &i);
    start(&bbs[0], &i, "10.0.0.1");
    crash(&bbs[0], &i, reason);

    pass_event(&s, "desired_lrp_created");
    const Models__ActualLRPInstanceCreatedEvent *created =
        next_event(a, &s, "actual_lrp_instance_created",
                   &models__actual_lrpinstance_created_event__descriptor);
    assert_string_equal(created->trace_id, "desire-id");
    assert_string_equal(created->actual_lrp->state, "UNCLAIMED");
    assert_int_equal(created->actual_lrp->optional_routable_case,
                     MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE);
    const Models__ActualLRPInstanceChangedEvent *changed =
        next_event(a, &s, "actual_lrp_instance_changed",
                   &models__actual_lrpinstance_changed_event__descriptor);
    assert_string_equal(changed->trace_id, "");
    assert_string_equal(changed->actual_lrp_key->process_guid, "said");
    assert_string_equal(changed->actual_lrp_instance_key->instance_guid, "guid-a");
    assert_string_equal(changed->before->state, "UNCLAIMED");
    assert_string_equal(changed->after->state, "CLAIMED");
    assert_int_equal(changed->after->modification_tag->index, 1);
    pass_event(&s, "actual_lrp_instance_changed");
    const Models__ActualLRPCrashedEvent *crashed =
        next_event(a, &s, "actual_lrp_crashed", &models__actual_lrpcrashed_event__descriptor);
    assert_string_equal(crashed->crash_reason, reason);
    assert_string_equal(crashed->actual_lrp_instance_key->cell_id, "cell-1");
    assert_int_equal(crashed->crash_count, 1);
    remove_lrp(&bbs[0], "said");
    subscriber_close(&s);
}

/* A DesiredLRP is told whole although its record changes in part only; one that was removed since
 * is no matter. */
static void desired_lrps_whole(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    struct subscriber s;
    desire_lrp(&bbs[0], "whole", 0, "");
    subscriber_open(&s, &bbs[0], "POST", INSTANCES, NULL, 0);
    annotate_lrp(&bbs[0], "whole", "one");
    annotate_lrp(&bbs[1], "whole", "two");
    remove_lrp(&bbs[1], "whole");
    for (int n = 0; n < 2; n++) {
        const Models__DesiredLRPChangedEvent *e =
            next_event(a, &s, "desired_lrp_changed", &models__desired_lrpchanged_event__descriptor);
        assert_string_equal(e->before->action->run_action->path, "/bin/true");
        assert_string_equal(e->after->action->run_action->path, "/bin/true");
        assert_string_equal(e->before->annotation, n ? "one" : "");
        assert_string_equal(e->after->annotation, n ? "two" : "one");
        assert_int_equal(e->after->modification_tag->index, n + 1);
        assert_string_equal(e->trace_id, "update-id");
    }
    const Models__DesiredLRPRemovedEvent *e =
        next_event(a, &s, "desired_lrp_removed", &models__desired_lrpremoved_event__descriptor);
    assert_string_equal(e->desired_lrp->annotation, "two");
    assert_string_equal(e->desired_lrp->action->run_action->path, "/bin/true");
    assert_string_equal(e->trace_id, "remove-id");
    subscriber_close(&s);
}

static void version_0(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    static const char *const paths[] = {GROUPS_R0, INSTANCES_R0, GROUPS, INSTANCES};
    struct subscriber s[4];
    for (int i = 0; i < 4; i++) {
        subscriber_open(&s[i], &bbs[0], i % 2 ? "POST" : "GET", paths[i], NULL, 0);
        assert_int_equal(s[i].status, 200);
    }
    desire_lrp(&bbs[1], "old", 1, "");
    for (int i = 0; i < 4; i++) {
        const Models__DesiredLRPCreatedEvent *e = next_event(
            a, &s[i], "desired_lrp_created", &models__desired_lrpcreated_event__descriptor);
        assert_int_equal(e->desired_lrp->deprecated_start_timeout_s, i < 2 ? 7 : 0);
        assert_int_equal(e->desired_lrp->start_timeout_ms, 7000);
        pass_event(&s[i], i % 2 ? "actual_lrp_instance_created" : "actual_lrp_created");
        subscriber_close(&s[i]);
    }
    remove_lrp(&bbs[0], "old");
}

static void tasks(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    struct subscriber s[2];
    subscriber_open(&s[0], &bbs[0], "POST", TASKS, "cell-1", 0); /* ignored */
    subscriber_open(&s[1], &bbs[1], "POST", TASKS_R0, NULL, 0);
    desire_task(&bbs[0], "task");
    ask_task(&bbs[1], "cancel", "task");
    ask_task(&bbs[0], "resolving", "task");
    ask_task(&bbs[1], "delete", "task");
    for (int i = 0; i < 2; i++) {
        const Models__TaskCreatedEvent *created =
            next_event(a, &s[i], "task_created", &models__task_created_event__descriptor);
        const Models__TaskDefinition *d = created->task->task_definition;
        assert_int_equal(d->n_image_layers, i ? 0 : 1);
        assert_int_equal(d->n_cached_dependencies, i ? 1 : 0);
        const Models__TaskChangedEvent *changed =
            next_event(a, &s[i], "task_changed", &models__task_changed_event__descriptor);
        assert_int_equal(changed->before->state, MODELS__TASK__STATE__Pending);
        assert_int_equal(changed->after->state, MODELS__TASK__STATE__Completed);
        pass_event(&s[i], "task_changed");
        struct stream_item item = next_item(&s[i], "task_removed");
        assert_int_equal(item.id, 3);
        buf_done(&item.payload);
        subscriber_close(&s[i]);
    }
}

/* ---- The filter ------------------------------------------------------------------------------ */

/* Also on GET, whose body counts. */
static void by_cell(void **state)
{
    static const char *const groups[] = {"desired_lrp_created", "actual_lrp_changed",
                                         "actual_lrp_changed", NULL};
    static const char *const instances[] = {"desired_lrp_created", "actual_lrp_instance_changed",
                                            "actual_lrp_instance_changed", NULL};
    static const char *const none[] = {"desired_lrp_created", NULL};
    struct subscriber s[4];
    subscriber_open(&s[0], &bbs[0], "GET", GROUPS, "cell-2", 0);
    subscriber_open(&s[1], &bbs[0], "POST", INSTANCES, "cell-2", 0);
    subscriber_open(&s[2], &bbs[0], "GET", GROUPS, "cell-3", 0);
    subscriber_open(&s[3], &bbs[0], "POST", INSTANCES, "cell-3", 0);
    struct instance one = instance_of("where", 0, "guid-a", "cell-1");
    struct instance two = instance_of("where", 1, "guid-b", "cell-2");
    desire_lrp(&bbs[1], "where", 2, "");
    claim(&bbs[0], &one);
    claim(&bbs[0], &two);
    start(&bbs[1], &one, "10.0.0.1");
    start(&bbs[1], &two, "10.0.0.2");
    expect_names(&s[0], groups);
    expect_names(&s[1], instances);
    expect_names(&s[2], none);
    expect_names(&s[3], none);
    for (int i = 0; i < 4; i++) {
        subscriber_close(&s[i]);
    }
    remove_lrp(&bbs[0], "where");
}

static void unreadable_bodies(void **state)
{
    static const struct {
        const char *method, *path;
        int status;
    } rows[] = {{"GET", GROUPS, 500},
                {"GET", GROUPS_R0, 500},
                {"POST", INSTANCES, 500},
                {"POST", INSTANCES_R0, 500}};
    static const uint8_t bad[] = {0x0a, 0x05, 'w'};
    struct buf head, answer, large;
    buf_init(&head);
    buf_init(&answer);
    buf_init(&large);
    Models__EventsByCellId filter = MODELS__EVENTS_BY_CELL_ID__INIT;
    char cell[300];
    memset(cell, 'c', sizeof(cell));
    cell[sizeof(cell) - 1] = 0;
    filter.cell_id = cell;
    buf_message(&large, &filter.base);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct bytes bodies[] = {{bad, sizeof(bad)}, buf_bytes(&large)};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(bbs_process_ask(&bbs[0], rows[i].method, rows[i].path, NULL, bodies[k],
                                             &head, &answer),
                             rows[i].status);
            assert_int_equal(answer.size, 0);
            assert_non_null(strcasestr(buf_string(&head), "Content-Length: 0\r\n"));
        }
    }
    struct tls_client c; /* those of tasks ignore it */
    assert_true(client_open(&c, bbs[0].port, &bbs_rig.client, 0));
    assert_true(
        client_print(&c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n", TASKS));
    client_write(&c, bad, sizeof(bad));
    assert_true(client_read(&c, PATIENCE_MS));
    assert_memory_equal(c.input.data, "HTTP/1.1 200 OK\r\n", 17);
    client_close(&c);
    buf_done(&head);
    buf_done(&answer);
    buf_done(&large);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(bytes_of_a_stream), TEST(the_same_at_either_bbs),
        TEST(what_events_say),   TEST(desired_lrps_whole),
        TEST(version_0),         TEST(tasks),
        TEST(by_cell),           TEST(unreadable_bodies),
    };
    return BBS_RIG_RUN("events_api", tests);
}
