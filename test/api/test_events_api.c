/* The six event streams of running bbs on a real etcd, byte by byte (behaviour.md 16), and what is
 * the same for every path (behaviour.md 3). */
#include "bbs/event/stream.h"
#include "common/base/arena.h"
#include "common/codec/json_text.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/events.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/api/bbs_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { BBS_COUNT = 2, EVENT_WAIT_MS = PATIENCE_MS, QUIET_MS = 200 };

#define GROUPS "/v1/events.r1"
#define GROUPS_R0 "/v1/events"
#define INSTANCES "/v1/events/lrp_instances.r1"
#define INSTANCES_R0 "/v1/events/lrp_instances"
#define TASKS "/v1/events/tasks.r1"
#define TASKS_R0 "/v1/events/tasks"

static struct bbs_process *const bbs = bbs_rig.bbs;

static int group_setup(void **state)
{
    (void)state;
    return bbs_rig_start(BBS_COUNT);
}

static int group_teardown(void **state)
{
    (void)state;
    return bbs_rig_end();
}

/* ---- what clients ask ------------------------------------------------------------------------ */

static void ask_traced(const struct bbs_process *b, const char *path, const char *trace_id,
                       const ProtobufCMessage *m)
{
    struct buf body, answer;
    buf_init(&body);
    buf_init(&answer);
    buf_message(&body, m);
    assert_int_equal(bbs_process_ask(b, "POST", path, trace_id, buf_bytes(&body), NULL, &answer),
                     200);
    assert_int_equal(bbs_error_of(&answer), -1);
    buf_done(&body);
    buf_done(&answer);
}

static void ask(const struct bbs_process *b, const char *path, const ProtobufCMessage *m)
{
    ask_traced(b, path, "", m);
}

static char *text(const char *s)
{
    return (char *)(size_t)s;
}

static void desire(const struct bbs_process *b, const char *guid, int32_t instances,
                   const char *trace_id)
{
    Models__DesireLRPRequest r = MODELS__DESIRE_LRPREQUEST__INIT;
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__DesiredLRP__MetricTagsEntry tag = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    Models__DesiredLRP__MetricTagsEntry *tags[] = {&tag};
    Models__MetricTagValue value = MODELS__METRIC_TAG_VALUE__INIT;
    r.desired_lrp = &d;
    d.process_guid = text(guid);
    d.domain = text("d");
    d.root_fs = text("preloaded:busybox");
    d.instances = instances;
    d.start_timeout_ms = 7000;
    d.action = &action;
    action.run_action = &run;
    run.path = text("/bin/true");
    run.user = text("root");
    d.metric_tags = tags;
    d.n_metric_tags = 1;
    tag.key = text("source_id");
    tag.value = &value;
    value.static_ = text("s");
    ask_traced(b, "/v1/desired_lrp/desire.r2", trace_id, &r.base);
}

static void annotate(const struct bbs_process *b, const char *guid, const char *annotation)
{
    Models__UpdateDesiredLRPRequest r = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPUpdate u = MODELS__DESIRED_LRPUPDATE__INIT;
    r.process_guid = text(guid);
    r.update = &u;
    u.optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
    u.annotation = text(annotation);
    ask_traced(b, "/v1/desired_lrp/update", "update-id", &r.base);
}

static void remove_desired(const struct bbs_process *b, const char *guid)
{
    Models__RemoveDesiredLRPRequest r = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    r.process_guid = text(guid);
    ask_traced(b, "/v1/desired_lrp/remove", "remove-id", &r.base);
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
    ask_traced(b, "/v1/actual_lrps/claim", "claim-id", &r.base);
}

static void start(const struct bbs_process *b, struct instance *i, const char *address)
{
    Models__StartActualLRPRequest r = MODELS__START_ACTUAL_LRPREQUEST__INIT;
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    r.actual_lrp_key = &i->key;
    r.actual_lrp_instance_key = &i->instance;
    r.actual_lrp_net_info = &net;
    net.address = text(address);
    ask_traced(b, "/v1/actual_lrps/start.r1", "start-id", &r.base);
}

static void crash(const struct bbs_process *b, struct instance *i, const char *reason)
{
    Models__CrashActualLRPRequest r = MODELS__CRASH_ACTUAL_LRPREQUEST__INIT;
    r.actual_lrp_key = &i->key;
    r.actual_lrp_instance_key = &i->instance;
    r.error_message = text(reason);
    ask(b, "/v1/actual_lrps/crash", &r.base);
}

static void desire_task(const struct bbs_process *b, const char *guid)
{
    Models__DesireTaskRequest r = MODELS__DESIRE_TASK_REQUEST__INIT;
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__ImageLayer layer = MODELS__IMAGE_LAYER__INIT, *layers[] = {&layer};
    r.task_guid = text(guid);
    r.domain = text("d");
    r.task_definition = &d;
    d.root_fs = text("preloaded:busybox");
    d.action = &action;
    action.run_action = &run;
    run.path = text("/bin/true");
    run.user = text("root");
    d.image_layers = layers;
    d.n_image_layers = 1;
    layer.url = text("https://x");
    layer.destination_path = text("/y");
    layer.layer_type = MODELS__IMAGE_LAYER__TYPE__SHARED;
    layer.media_type = MODELS__IMAGE_LAYER__MEDIA_TYPE__TGZ;
    ask(b, "/v1/tasks/desire.r2", &r.base);
}

static void task_move(const struct bbs_process *b, const char *path, const char *guid)
{
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    r.task_guid = text(guid);
    ask(b, path, &r.base);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void expect_names(struct subscriber *s, const char *const *names)
{
    struct stream_item item = {0};
    for (long i = 0; names[i]; i++) {
        if (!subscriber_next(s, EVENT_WAIT_MS, &item)) {
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

static struct stream_item next(struct subscriber *s, const char *name)
{
    struct stream_item item = {0};
    if (!subscriber_next(s, EVENT_WAIT_MS, &item)) {
        fail_msg("no event where %s was to come", name);
    }
    assert_string_equal(item.name, name);
    return item;
}

/* ---- framing --------------------------------------------------------------------------------- */

/* The head at once, before any event; then each event as one chunk, exactly these bytes. */
static void bytes_of_a_stream(void **state)
{
    (void)state;
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

    desire(&bbs[0], "framed", 0, "trace");
    struct buf raw;
    buf_init(&raw);
    for (int i = 0; i < 100; i++) {
        struct bytes in = buf_bytes(&s.client.input);
        if (in.size && memmem(in.data, in.size, "\n\n\r\n", 4)) {
            break;
        }
        client_read(&s.client, 50);
    }
    buf_append(&raw, s.client.input.data, s.client.input.size);
    subscriber_read(&s, 0);
    struct stream_item item = next(&s, "desired_lrp_created");
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
    buf_done(&raw);
    buf_done(&wanted);
    buf_done(&framed);
    buf_done(&base64);
    buf_done(&item.payload);
    subscriber_close(&s);
    remove_desired(&bbs[0], "framed");
}

/* The events of a life, in every stream and at either bbs, byte for byte the same at both. */
static void the_same_at_either_bbs(void **state)
{
    (void)state;
    static const char *const paths[] = {GROUPS, INSTANCES};
    static const char *const of_groups[] = {
        "desired_lrp_created", "actual_lrp_created", "actual_lrp_changed", "actual_lrp_changed",
        "actual_lrp_crashed", "actual_lrp_changed", "desired_lrp_changed", "desired_lrp_removed",
        "actual_lrp_removed", NULL};
    static const char *const of_instances[] = {
        "desired_lrp_created", "actual_lrp_instance_created", "actual_lrp_instance_changed",
        "actual_lrp_instance_changed", "actual_lrp_crashed", "actual_lrp_instance_created",
        "actual_lrp_instance_removed", "desired_lrp_changed", "desired_lrp_removed",
        "actual_lrp_instance_removed", NULL};
    struct subscriber s[2][BBS_COUNT];
    for (int p = 0; p < 2; p++) {
        for (int b = 0; b < BBS_COUNT; b++) {
            subscriber_open(&s[p][b], &bbs[b], p ? "POST" : "GET", paths[p], NULL, 0);
            assert_int_equal(s[p][b].status, 200);
        }
    }
    struct instance i = instance_of("life", 0, "guid-a", "cell-1");
    char reason[2001];
    memset(reason, 'x', 2000);
    reason[2000] = 0;
    desire(&bbs[0], "life", 1, "desire-id");
    claim(&bbs[1], &i);
    start(&bbs[0], &i, "10.0.0.1");
    start(&bbs[1], &i, "10.0.0.1"); /* nothing new */
    crash(&bbs[1], &i, reason);
    annotate(&bbs[0], "life", "note");
    remove_desired(&bbs[1], "life");
    for (int p = 0; p < 2; p++) {
        struct buf whole[BBS_COUNT];
        for (int b = 0; b < BBS_COUNT; b++) {
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

/* Trace ids only of desire, update, remove and retire; the crash reason uncut, the instance key from
 * before; a changed event is of the instance. */
static void what_events_say(void **state)
{
    (void)state;
    struct subscriber s;
    subscriber_open(&s, &bbs[1], "POST", INSTANCES, NULL, 0);
    struct instance i = instance_of("said", 0, "guid-a", "cell-1");
    char reason[2001];
    memset(reason, 'y', 2000);
    reason[2000] = 0;
    desire(&bbs[0], "said", 1, "desire-id");
    claim(&bbs[0], &i);
    start(&bbs[0], &i, "10.0.0.1");
    crash(&bbs[0], &i, reason);

    struct stream_item item = next(&s, "desired_lrp_created");
    buf_done(&item.payload);
    item = next(&s, "actual_lrp_instance_created");
    Models__ActualLRPInstanceCreatedEvent *created =
        models__actual_lrpinstance_created_event__unpack(NULL, item.payload.size, item.payload.data);
    assert_string_equal(created->trace_id, "desire-id");
    assert_string_equal(created->actual_lrp->state, "UNCLAIMED");
    assert_int_equal(created->actual_lrp->optional_routable_case,
                     MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE);
    models__actual_lrpinstance_created_event__free_unpacked(created, NULL);
    buf_done(&item.payload);
    item = next(&s, "actual_lrp_instance_changed");
    Models__ActualLRPInstanceChangedEvent *changed =
        models__actual_lrpinstance_changed_event__unpack(NULL, item.payload.size, item.payload.data);
    assert_string_equal(changed->trace_id, "");
    assert_string_equal(changed->actual_lrp_key->process_guid, "said");
    assert_string_equal(changed->actual_lrp_instance_key->instance_guid, "guid-a");
    assert_string_equal(changed->before->state, "UNCLAIMED");
    assert_string_equal(changed->after->state, "CLAIMED");
    assert_int_equal(changed->after->modification_tag->index, 1);
    models__actual_lrpinstance_changed_event__free_unpacked(changed, NULL);
    buf_done(&item.payload);
    item = next(&s, "actual_lrp_instance_changed");
    buf_done(&item.payload);
    item = next(&s, "actual_lrp_crashed");
    Models__ActualLRPCrashedEvent *crashed =
        models__actual_lrpcrashed_event__unpack(NULL, item.payload.size, item.payload.data);
    assert_string_equal(crashed->crash_reason, reason);
    assert_string_equal(crashed->actual_lrp_instance_key->cell_id, "cell-1");
    assert_int_equal(crashed->crash_count, 1);
    models__actual_lrpcrashed_event__free_unpacked(crashed, NULL);
    buf_done(&item.payload);
    remove_desired(&bbs[0], "said");
    subscriber_close(&s);
}

/* A DesiredLRP is told whole although its record changes in part only; one that was removed since is
 * no matter. */
static void desired_lrps_whole(void **state)
{
    (void)state;
    struct subscriber s;
    desire(&bbs[0], "whole", 0, "");
    subscriber_open(&s, &bbs[0], "POST", INSTANCES, NULL, 0);
    annotate(&bbs[0], "whole", "one");
    annotate(&bbs[1], "whole", "two");
    remove_desired(&bbs[1], "whole");
    for (int n = 0; n < 2; n++) {
        struct stream_item item = next(&s, "desired_lrp_changed");
        Models__DesiredLRPChangedEvent *e =
            models__desired_lrpchanged_event__unpack(NULL, item.payload.size, item.payload.data);
        assert_non_null(e);
        assert_string_equal(e->before->action->run_action->path, "/bin/true");
        assert_string_equal(e->after->action->run_action->path, "/bin/true");
        assert_string_equal(e->before->annotation, n ? "one" : "");
        assert_string_equal(e->after->annotation, n ? "two" : "one");
        assert_int_equal(e->after->modification_tag->index, n + 1);
        assert_string_equal(e->trace_id, "update-id");
        models__desired_lrpchanged_event__free_unpacked(e, NULL);
        buf_done(&item.payload);
    }
    struct stream_item item = next(&s, "desired_lrp_removed");
    Models__DesiredLRPRemovedEvent *e =
        models__desired_lrpremoved_event__unpack(NULL, item.payload.size, item.payload.data);
    assert_string_equal(e->desired_lrp->annotation, "two");
    assert_string_equal(e->desired_lrp->action->run_action->path, "/bin/true");
    assert_string_equal(e->trace_id, "remove-id");
    models__desired_lrpremoved_event__free_unpacked(e, NULL);
    buf_done(&item.payload);
    subscriber_close(&s);
}

static void version_0(void **state)
{
    (void)state;
    static const char *const paths[] = {GROUPS_R0, INSTANCES_R0, GROUPS, INSTANCES};
    struct subscriber s[4];
    for (int i = 0; i < 4; i++) {
        subscriber_open(&s[i], &bbs[0], i % 2 ? "POST" : "GET", paths[i], NULL, 0);
        assert_int_equal(s[i].status, 200);
    }
    desire(&bbs[1], "old", 1, "");
    for (int i = 0; i < 4; i++) {
        struct stream_item item = next(&s[i], "desired_lrp_created");
        Models__DesiredLRPCreatedEvent *e =
            models__desired_lrpcreated_event__unpack(NULL, item.payload.size, item.payload.data);
        assert_non_null(e);
        assert_int_equal(e->desired_lrp->deprecated_start_timeout_s, i < 2 ? 7 : 0);
        assert_int_equal(e->desired_lrp->start_timeout_ms, 7000);
        models__desired_lrpcreated_event__free_unpacked(e, NULL);
        buf_done(&item.payload);
        item = next(&s[i], i % 2 ? "actual_lrp_instance_created" : "actual_lrp_created");
        buf_done(&item.payload);
        subscriber_close(&s[i]);
    }
    remove_desired(&bbs[0], "old");
}

static void tasks(void **state)
{
    (void)state;
    struct subscriber s[2];
    subscriber_open(&s[0], &bbs[0], "POST", TASKS, "cell-1", 0); /* ignored */
    subscriber_open(&s[1], &bbs[1], "POST", TASKS_R0, NULL, 0);
    desire_task(&bbs[0], "task");
    task_move(&bbs[1], "/v1/tasks/cancel", "task");
    task_move(&bbs[0], "/v1/tasks/resolving", "task");
    task_move(&bbs[1], "/v1/tasks/delete", "task");
    for (int i = 0; i < 2; i++) {
        struct stream_item item = next(&s[i], "task_created");
        Models__TaskCreatedEvent *created =
            models__task_created_event__unpack(NULL, item.payload.size, item.payload.data);
        const Models__TaskDefinition *d = created->task->task_definition;
        assert_int_equal(d->n_image_layers, i ? 0 : 1);
        assert_int_equal(d->n_cached_dependencies, i ? 1 : 0);
        models__task_created_event__free_unpacked(created, NULL);
        buf_done(&item.payload);
        item = next(&s[i], "task_changed");
        Models__TaskChangedEvent *changed =
            models__task_changed_event__unpack(NULL, item.payload.size, item.payload.data);
        assert_int_equal(changed->before->state, MODELS__TASK__STATE__Pending);
        assert_int_equal(changed->after->state, MODELS__TASK__STATE__Completed);
        models__task_changed_event__free_unpacked(changed, NULL);
        buf_done(&item.payload);
        item = next(&s[i], "task_changed");
        buf_done(&item.payload);
        item = next(&s[i], "task_removed");
        assert_int_equal(item.id, 3);
        buf_done(&item.payload);
        subscriber_close(&s[i]);
    }
}

/* ---- the filter ------------------------------------------------------------------------------ */

/* Also on GET, whose body counts. */
static void by_cell(void **state)
{
    (void)state;
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
    desire(&bbs[1], "where", 2, "");
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
    remove_desired(&bbs[0], "where");
}

static void unreadable_bodies(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        int status;
    } rows[] = {{"GET", GROUPS, 500},          {"GET", GROUPS_R0, 500},
                {"POST", INSTANCES, 500},      {"POST", INSTANCES_R0, 500}};
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
                                            &head, &answer), rows[i].status);
            assert_int_equal(answer.size, 0);
            assert_non_null(strcasestr(buf_string(&head), "Content-Length: 0\r\n"));
        }
    }
    struct subscriber s; /* those of tasks ignore it */
    assert_true(client_open(&s.client, bbs[0].port, &bbs_rig.client, 0));
    assert_true(client_print(&s.client, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n",
                             TASKS));
    client_write(&s.client, bad, sizeof(bad));
    assert_true(client_read(&s.client, EVENT_WAIT_MS));
    assert_memory_equal(s.client.input.data, "HTTP/1.1 200 OK\r\n", 17);
    client_close(&s.client);
    buf_done(&head);
    buf_done(&answer);
    buf_done(&large);
}

/* ---- how they end ---------------------------------------------------------------------------- */

/* Bytes from the reader, a closed connection, a half-closed one: the stream ends, and others go on. */
static void readers_that_go(void **state)
{
    (void)state;
    struct subscriber talks, hangs_up, half, stays;
    subscriber_open(&stays, &bbs[0], "POST", TASKS, NULL, 0);
    subscriber_open(&talks, &bbs[0], "POST", TASKS, NULL, 0);
    subscriber_open(&half, &bbs[0], "POST", TASKS, NULL, 0);
    subscriber_open(&hangs_up, &bbs[0], "POST", TASKS, NULL, 0);
    client_write(&talks.client, "x", 1);
    assert_true(client_closed(&talks.client, EVENT_WAIT_MS));
    SSL_shutdown(half.client.ssl);
    shutdown(half.client.fd, SHUT_WR);
    assert_true(client_closed(&half.client, EVENT_WAIT_MS));
    subscriber_close(&hangs_up);
    desire_task(&bbs[1], "goes-on");
    struct stream_item item = next(&stays, "task_created");
    buf_done(&item.payload);
    task_move(&bbs[0], "/v1/tasks/cancel", "goes-on");
    task_move(&bbs[0], "/v1/tasks/resolving", "goes-on");
    task_move(&bbs[0], "/v1/tasks/delete", "goes-on");
    subscriber_close(&stays);
    subscriber_close(&talks);
    subscriber_close(&half);
}

/* Reads `count` events; their ids rise by one. */
static void read_all(struct subscriber *s, long first, long count)
{
    struct stream_item item = {0};
    for (long i = first; i < first + count; i++) {
        assert_true(subscriber_next(s, EVENT_WAIT_MS, &item));
        assert_int_equal(item.id, i);
    }
    buf_done(&item.payload);
}

/* A reader that takes nothing falls behind by more than 1024 events and is cut off: when it reads
 * again it gets what was on its way, then the end. Who reads is told everything meanwhile. */
static void a_slow_reader_is_cut_off(void **state)
{
    (void)state;
    enum { UPDATES = 250, NOTE = 10000, INSTANCES_AT_ONCE = 600 };
    enum { TOLD = UPDATES + 2 * (1 + INSTANCES_AT_ONCE) };
    static char note[NOTE + 1];
    memset(note, 'n', NOTE);
    struct subscriber slow, quick;
    desire(&bbs[0], "busy", 0, "");
    subscriber_open(&slow, &bbs[0], "POST", INSTANCES, NULL, 4096);
    subscriber_open(&quick, &bbs[0], "POST", INSTANCES, NULL, 0);
    for (int i = 0; i < UPDATES; i++) { /* more than sockets hold */
        annotate(&bbs[0], "busy", note);
        read_all(&quick, i, 1);
    }
    desire(&bbs[0], "many-1", INSTANCES_AT_ONCE, "");
    read_all(&quick, UPDATES, 1 + INSTANCES_AT_ONCE);
    desire(&bbs[0], "many-2", INSTANCES_AT_ONCE, "");
    read_all(&quick, UPDATES + 1 + INSTANCES_AT_ONCE, 1 + INSTANCES_AT_ONCE);
    struct stream_item item = {0};
    long last = -1;
    while (subscriber_next(&slow, EVENT_WAIT_MS, &item)) {
        assert_int_equal(item.id, last + 1);
        last = item.id;
    }
    assert_true(last >= 0 && last < TOLD - STREAM_BEHIND_MAX);
    assert_true(slow.ended);                                 /* the terminating chunk ... */
    assert_true(client_closed(&slow.client, EVENT_WAIT_MS)); /* ... and the connection closed */
    assert_false(slow.client.reset);
    buf_done(&item.payload);
    subscriber_close(&slow);
    subscriber_close(&quick);
    remove_desired(&bbs[0], "busy");
    remove_desired(&bbs[0], "many-1");
    remove_desired(&bbs[0], "many-2");
}

/* SIGTERM ends the streams well, so that their readers know and list anew. */
static void a_bbs_that_ends(void **state)
{
    (void)state;
    struct bbs_process third;
    struct subscriber s;
    bbs_process_start(&third, bbs_rig.certs.dir, "bbs-3", &bbs_rig.etcd, &bbs_rig.server,
                      &bbs_rig.client);
    bbs_process_wait_ready(&third);
    subscriber_open(&s, &third, "GET", GROUPS, NULL, 0);
    assert_int_equal(s.status, 200);
    assert_int_equal(bbs_process_end(&third), 0);
    while (subscriber_read(&s, 10)) {
    }
    assert_true(s.ended);
    subscriber_close(&s);
}

/* ---- what is the same for every path --------------------------------------------------------- */

struct known_path {
    const char *method, *path;
};

static const struct known_path paths[] = {
#define ROUTE(method_, path_, request, callers, body_max, kind, handler)                           \
    {.method = method_, .path = path_},
#include "bbs/route/routes.def"
#undef ROUTE
};

enum { PATH_COUNT = sizeof(paths) / sizeof(paths[0]) };

/* The methods of a path, as Allow lists them. */
static const char *methods_of(struct arena *a, const char *path)
{
    const char *list = "";
    for (size_t i = 0; i < PATH_COUNT; i++) {
        if (strcmp(paths[i].path, path) == 0) {
            list = arena_printf(a, "%s%s%s", list, *list ? ", " : "", paths[i].method);
        }
    }
    return list;
}

static void wrong_methods_and_paths(void **state)
{
    (void)state;
    struct arena a;
    struct buf head, answer;
    arena_init(&a);
    buf_init(&head);
    buf_init(&answer);
    for (size_t i = 0; i < PATH_COUNT; i++) {
        assert_int_equal(bbs_process_ask(&bbs[0], "PUT", paths[i].path, NULL, (struct bytes){0},
                                        &head, &answer), 405);
        assert_string_equal(buf_string(&answer), "Method Not Allowed\n");
        const char *allow =
            arena_printf(&a, "\r\nAllow: %s\r\n", methods_of(&a, paths[i].path));
        assert_non_null(strstr(buf_string(&head), allow));
        assert_non_null(strstr(buf_string(&head), "\r\nContent-Type: text/plain"));
        const char *unknown[] = {arena_printf(&a, "%s/", paths[i].path),
                                 arena_printf(&a, "%s.r9", paths[i].path)};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(bbs_process_ask(&bbs[0], paths[i].method, unknown[k], NULL,
                                            (struct bytes){0}, &head, &answer), 404);
            assert_string_equal(buf_string(&answer), "404 page not found\n");
            assert_non_null(
                strstr(buf_string(&head), "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
        }
    }
    arena_done(&a);
    buf_done(&head);
    buf_done(&answer);
}

/* Before it is ready: 503 and nothing else for every path, known or not; the health listener is up. */
static void not_ready(void **state)
{
    (void)state;
    struct etcd_server nowhere = bbs_rig.etcd;
    struct bbs_process b;
    struct buf answer;
    buf_init(&answer);
    snprintf(nowhere.endpoint, sizeof(nowhere.endpoint), "https://127.0.0.1:1");
    bbs_process_start(&b, bbs_rig.certs.dir, "bbs-waits", &nowhere, &bbs_rig.server,
                      &bbs_rig.client);
    for (size_t i = 0; i < PATH_COUNT + 1; i++) {
        const char *path = i < PATH_COUNT ? paths[i].path : "/nowhere";
        const char *method = i < PATH_COUNT ? paths[i].method : "POST";
        assert_int_equal(bbs_process_ask(&b, method, path, NULL, (struct bytes){0}, NULL, &answer),
                         503);
        assert_int_equal(answer.size, 0);
    }
    struct tls_client c;
    assert_true(client_open(&c, b.health_port, NULL, 0));
    assert_int_equal(client_ask(&c, "PUT", "/whatever", "", 0, &answer), 200);
    assert_int_equal(answer.size, 0);
    client_close(&c);
    bbs_process_end(&b);
    buf_done(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_a_stream),
        cmocka_unit_test(the_same_at_either_bbs),
        cmocka_unit_test(what_events_say),
        cmocka_unit_test(desired_lrps_whole),
        cmocka_unit_test(version_0),
        cmocka_unit_test(tasks),
        cmocka_unit_test(by_cell),
        cmocka_unit_test(unreadable_bodies),
        cmocka_unit_test(readers_that_go),
        cmocka_unit_test(a_slow_reader_is_cut_off),
        cmocka_unit_test(a_bbs_that_ends),
        cmocka_unit_test(wrong_methods_and_paths),
        cmocka_unit_test(not_ready),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
