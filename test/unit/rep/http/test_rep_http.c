/* The rep's HTTP interface: who may call, /state and its tag, /work and its bounds, updates. */
#include "test/unit/rep/rep_rig.h"

#include "rep/container/note.h"
#include "rep/http/metrics.h"
#include "rep/http/output.h"
#include "rep/http/request.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

#define PROTOBUF "application/x-protobuf"

static struct reply ask(struct rep_rig *g, const char *unit, const char *method, const char *path,
                        const char *body)
{
    rep_rig_request(g, unit, method, path, "", bytes_of(body));
    return rep_rig_take_reply(g);
}

static const char *text_of(struct rep_rig *g, struct reply r)
{
    return arena_strndup(&g->arena, (const char *)r.body.data, r.body.size);
}

static void who_may_call_what(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    static const struct {
        const char *unit, *method, *path;
        int status;
    } rows[] = {
        {"somebody", "GET", "/ping", 200},
        {"somebody", "GET", "/state", 200},
        {"auctioneer", "GET", "/state", 200},
        {"auctioneer", "POST", "/work", 400}, /* bad JSON */
        {"somebody", "POST", "/work", 403},
        {"rep", "POST", "/work", 403},
        {"bbs", "POST", "/work", 403},
        {"bbs", "POST", "/v1/lrps/a/instances/b/stop", 500},
        {"somebody", "POST", "/v1/lrps/a/instances/b/stop", 403},
        {"auctioneer", "POST", "/v1/lrps/a/instances/b/stop", 403},
        {"bbs", "PUT", "/v2/lrps/a/instances/b", 400},
        {"somebody", "PUT", "/v2/lrps/a/instances/b", 403},
        {"bbs", "GET", "/work", 405},
        {"bbs", "GET", "/v1/lrps/a/instances/b/stop", 405},
        {"bbs", "POST", "/container_metrics", 405},
        {"bbs", "POST", "/state", 405},
        {"rep", "GET", "/v1/logs/a", 403},
        {"auctioneer", "GET", "/v1/logs", 403},
        {"somebody", "GET", "/v1/logs", 400},
        {"somebody", "POST", "/v1/logs", 405},
        {"somebody", "GET", "/v1/logs/", 404},
        {"somebody", "POST", "/sim/reset", 500},
        {"somebody", "GET", "/sim/reset", 405},
        {"somebody", "GET", "/evacuated", 404},
        {"bbs", "POST", "/v1/lrps//instances/b/stop", 404},
        {"bbs", "POST", "/v1/lrps/a/instances/b/stop/now", 404},
        {"bbs", "POST", "/v1/lrps/a/instances/b/sto", 404},
        {"bbs", "GET", "/stat", 404},
        {"bbs", "GET", "", 404},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status = ask(&g, rows[i].unit, rows[i].method, rows[i].path, "{").status;
        if (status != rows[i].status) {
            fail_msg("row %zu: %s %s by %s: %d", i, rows[i].method, rows[i].path, rows[i].unit,
                     status);
        }
    }
    assert_string_equal(text_of(&g, ask(&g, "bbs", "GET", "/nothing", "")), "404 page not found\n");
    struct reply wrong = ask(&g, "bbs", "GET", "/work", "");
    assert_string_equal(wrong.allow, "POST");
}

static void a_body_beyond_its_bound_is_refused(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_int_equal(g.role->ops->body_limit(g.role, "/work"), WORK_BODY_MAX);
    assert_int_equal(g.role->ops->body_limit(g.role, "/v2/lrps/a/instances/b"), UPDATE_BODY_MAX);
    assert_int_equal(g.role->ops->body_limit(g.role, "/else"), EMPTY_BODY_MAX);
    drive_event(&g.d, (struct event){.kind = EVENT_REQUEST,
                                     .request = {.id = 1,
                                                 .method = "POST",
                                                 .path = "/work",
                                                 .query = "",
                                                 .trace_id = "",
                                                 .accept = "",
                                                 .content_type = "",
                                                 .if_none_match = "",
                                                 .peer = {.unit = "auctioneer", .name = ""},
                                                 .too_large = true}});
    assert_int_equal(rep_rig_take_reply(&g).status, 400);
}

static void state_in_json_has_diegos_keys(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    assert_string_equal(
        text_of(&g, ask(&g, "somebody", "GET", "/state", "")),
        arena_printf(
            &g.arena,
            "{\"rep_url\":\"https://cell-1:1801\",\"cell_id\":\"cell-1\",\"cell_index\":0,"
            "\"RootFSProviders\":{\"preloaded\":{\"type\":\"fixed_set\",\"set\":{\"busybox\":{}}},"
            "\"preloaded+layer\":{\"type\":\"fixed_set\",\"set\":{\"busybox\":{}}}},"
            "\"AvailableResources\":{\"MemoryMB\":900,\"DiskMB\":990,\"Containers\":3},"
            "\"TotalResources\":{\"MemoryMB\":1000,\"DiskMB\":1000,\"Containers\":4},"
            "\"LRPs\":[{\"instance_guid\":\"%s\",\"process_guid\":\"web\",\"index\":0,"
            "\"domain\":\"d\",\"PlacementTags\":null,\"VolumeDrivers\":null,"
            "\"RootFs\":\"preloaded:busybox\",\"MemoryMB\":100,\"DiskMB\":10,\"MaxPids\":0,"
            "\"state\":\"RUNNING\"}],\"Tasks\":null,\"StartingContainerCount\":0,"
            "\"Zone\":\"z1\",\"Evacuating\":false,\"VolumeDrivers\":null,\"PlacementTags\":null,"
            "\"OptionalPlacementTags\":[\"cell:cell-1\"],\"ProxyMemoryAllocationMB\":0}",
            guid));
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static void measured(struct rep_rig *g, struct verb_call call, enum verb_outcome outcome,
                     const struct container_usage *usages, size_t count)
{
    drive_event(&g->d, (struct event){.kind = EVENT_VERB,
                                      .verb = {.id = call.id,
                                               .verb = VERB_MEASURE,
                                               .outcome = outcome,
                                               .text = outcome == VERB_DONE ? "" : "hung",
                                               .usages = usages,
                                               .usage_count = count}});
}

static void metrics_in_json_have_diegos_keys(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_request(&g, "somebody", "GET", "/container_metrics", "", bytes_of(""));
    rep_rig_request(&g, "somebody", "GET", "/container_metrics", "", bytes_of(""));
    const struct container_usage usages[] = {
        {.guid = guid, .cpu_fraction = 0.25, .memory_bytes = 4096, .disk_bytes = 512},
        {.guid = "unknown", .memory_bytes = 1}, /* its removal has not been seen yet */
    };
    measured(&g, rep_rig_take_verb(&g, VERB_MEASURE), VERB_DONE, usages, 2);
    assert_int_equal(rep_rig_verbs(&g, VERB_MEASURE), 0); /* one is for both */
    for (int i = 0; i < 2; i++) {
        struct reply r = rep_rig_take_reply(&g);
        assert_int_equal(r.status, 200);
        assert_string_equal(
            text_of(&g, r),
            arena_printf(&g.arena,
                         "{\"cell_id\":\"cell-1\",\"lrps\":[{\"instance_guid\":\"%s\","
                         "\"process_guid\":\"web\",\"index\":0,\"metric_guid\":\"\","
                         "\"cpu_usage_fraction\":0.25,\"disk_usage_bytes\":512,"
                         "\"disk_quota_bytes\":10485760,\"memory_usage_bytes\":4096,"
                         "\"memory_quota_bytes\":104857600}],\"tasks\":null}",
                         guid));
    }
}

static void metrics_that_cannot_be_had_are_an_error(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_request(&g, "somebody", "GET", "/container_metrics", "", bytes_of(""));
    measured(&g, rep_rig_take_verb(&g, VERB_MEASURE), VERB_UNCERTAIN, NULL, 0);
    assert_int_equal(rep_rig_take_reply(&g).status, 500);
    /* The next one is measured again, and whoever has gone waits no more. */
    for (int i = 0; i < METRICS_WAITING_MAX; i++) {
        rep_rig_request(&g, "somebody", "GET", "/container_metrics", "", bytes_of(""));
    }
    struct verb_call call = rep_rig_take_verb(&g, VERB_MEASURE);
    rep_rig_request(&g, "somebody", "GET", "/container_metrics", "", bytes_of(""));
    assert_int_equal(rep_rig_take_reply(&g).status, 503);
    drive_event(&g.d, (struct event){.kind = EVENT_HANGUP, .hangup = g.request_id - 1});
    rep_rig_request(&g, "somebody", "GET", "/container_metrics", "", bytes_of(""));
    measured(&g, call, VERB_DONE, NULL, 0);
    for (int i = 0; i < METRICS_WAITING_MAX; i++) {
        struct reply r = rep_rig_take_reply(&g);
        assert_int_equal(r.status, 200);
        assert_string_equal(text_of(&g, r),
                            "{\"cell_id\":\"cell-1\",\"lrps\":null,\"tasks\":null}");
    }
    assert_int_equal(g.reply_count, 0);
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* A task's guid may be longer than a container's name. */
static void output_is_of_the_tasks_container(void **state)
{
    enum { NAME_CHARACTERS = 64 };
    for (int more = 0; more <= 1; more++) {
        SCOPED_REP_RIG(g);
        char path[100], guid[NAME_CHARACTERS + 2] = "";
        rep_rig_open(&g, NULL, 0);
        memset(guid, 'g', (size_t)(NAME_CHARACTERS + more));
        snprintf(path, sizeof(path), "/v1/logs/%s", guid);
        rep_rig_request(&g, "cli", "GET", path, "", bytes_of(""));
        assert_int_equal(g.output_count, 1);
        assert_int_equal(strlen(g.output.guid), NAME_CHARACTERS);
        assert_string_equal(g.output.guid, note_name_of_task(&g.arena, guid));
        assert_int_equal(strcmp(g.output.guid, guid) == 0, more == 0);
    }
}

#define AGO(s) (-(s) * SECOND_NS) /* of what an answer begins with, before now */

static void output_is_given_past_the_step(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    static const struct {
        const char *path, *query;
        int status; /* 0: the driver answers */
        struct output_request wanted;
    } rows[] = {
        {"/v1/logs/a-b_1", "", 0, {.guid = "a-b_1", .lines = -1}},
        {"/v1/logs/a", "follow=1&lines=20", 0, {.guid = "a", .lines = 20, .follow = true}},
        {"/v1/logs/a", "follow=0&lines=0", 0, {.guid = "a"}},
        {"/v1/logs/a", "lines=1000000&stream=stderr", 0,
         {.guid = "a", .lines = OUTPUT_LINES_MAX, .stream = OUTPUT_STDERR}},
        {"/v1/logs/a", "stream=stdout&line=2", 0,
         {.guid = "a", .lines = -1, .stream = OUTPUT_STDOUT}},
        {"/v1/logs/a", "lines=1000001", 400, {0}},
        {"/v1/logs/a", "lines=-1", 400, {0}},
        {"/v1/logs/a", "lines=", 400, {0}},
        {"/v1/logs/a", "stream=both", 400, {0}},
        {"/v1/logs/a", "tail=7&times=1&sources=1&source=APP%2FWEB", 0,
         {.guid = "a", .lines = -1, .tail = 7, .times = true, .sources = true,
          .source = "APP/WEB"}},
        {"/v1/logs/a", "times=0&sources=0&since=2026-01-02T03:04:05.5Z", 0,
         {.guid = "a", .lines = -1, .since_ns = INT64_C(1767323045500000000)}},
        {"/v1/logs/a", "since=1m30s", 0, {.guid = "a", .lines = -1, .since_ns = AGO(90)}},
        {"/v1/logs/a", "since=1970-01-01T00:00:00Z", 0, {.guid = "a", .lines = -1, .since_ns = 1}},
        {"/v1/logs/a", "since=3650d", 0, {.guid = "a", .lines = -1, .since_ns = AGO(315360000)}},
        {"/v1/logs/a", "since=yesterday", 400, {0}},
        {"/v1/logs/a", "since=", 400, {0}},
        {"/v1/logs/a", "tail=0", 400, {0}},
        {"/v1/logs/a", "tail=1&lines=1", 400, {0}},
        {"/v1/logs", "process_guid=w%2Feb%21+%4&index=2", 0, {.label = "w/eb! %4/2"}},
        {"/v1/logs", "index=2", 400, {0}},
        {"/v1/logs", "process_guid=a", 400, {0}},
        {"/v1/logs", "process_guid=a&index=x", 400, {0}},
        {"/v1/logs", "process_guid=a%00b&index=1", 0, {.label = "a%00b/1"}},
        {"/v1/logs", "process_guid_prefix=web-", 0, {.label = "web-", .label_begins = true}},
        {"/v1/logs", "process_guid_prefix=", 400, {0}},
        {"/v1/logs", "process_guid_prefix=a&index=1", 400, {0}},
        {"/v1/logs", "process_guid_prefix=a&process_guid=a&index=1", 400, {0}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t before = g.output_count;
        drive_event(&g.d, (struct event){.kind = EVENT_REQUEST,
                                         .request = {.id = 77,
                                                     .method = "GET",
                                                     .path = rows[i].path,
                                                     .query = rows[i].query,
                                                     .trace_id = "",
                                                     .accept = "",
                                                     .content_type = "",
                                                     .if_none_match = "",
                                                     .peer = {.unit = "cli", .name = ""}}});
        if (rows[i].status) {
            assert_int_equal(rep_rig_take_reply(&g).status, rows[i].status);
            assert_int_equal(g.output_count, before);
            continue;
        }
        const struct output_request *w = &rows[i].wanted;
        assert_int_equal(g.output_count, before + 1);
        assert_int_equal(g.output.id, 77);
        assert_string_equal(g.output.guid ? g.output.guid : "", w->guid ? w->guid : "");
        assert_string_equal(g.output.label ? g.output.label : "", w->label ? w->label : "");
        assert_int_equal(g.output.lines, w->lines);
        assert_int_equal(g.output.tail, w->tail);
        assert_int_equal(g.output.since_ns, w->since_ns < 0 ? g.d.now.wall_ns + w->since_ns
                                                            : w->since_ns);
        assert_int_equal(g.output.times, w->times);
        assert_int_equal(g.output.sources, w->sources);
        assert_string_equal(g.output.source ? g.output.source : "", w->source ? w->source : "");
        assert_int_equal(g.output.label_begins, w->label_begins);
        assert_int_equal(g.output.follow, w->follow);
        assert_int_equal(g.output.stream, w->stream);
        assert_int_equal(g.reply_count, 0);
    }
}

static void what_ended_leaves_its_output(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_exited(&g, guid, 1);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "crash"),
                      rep_rig_record(&g, "web", "UNCLAIMED", "", ""));
    assert_string_equal(rep_rig_take_verb(&g, VERB_REMOVE).label, "web/0");
}

/* ---- States ---------------------------------------------------------------------------------- */

static Cell__CellState *state_of(struct rep_rig *g)
{
    rep_rig_request(g, "auctioneer", "GET", "/state", PROTOBUF, (struct bytes){0});
    struct reply r = rep_rig_take_reply(g);
    ProtobufCAllocator allocator = arena_protobuf(&g->arena);
    Cell__CellState *s = cell__cell_state__unpack(&allocator, r.body.size, r.body.data);
    assert_non_null(s);
    return s;
}

static void states_are_told_in_diegos_words(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    Cell__CellState *s = state_of(&g);
    assert_string_equal(s->lrps[0]->state, "CLAIMED");
    assert_string_equal(s->lrps[0]->definition_id, RIG_DEFINITION);
    assert_int_equal(s->startingcontainercount, 1);
    assert_int_equal(s->incarnation, 7);
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    assert_string_equal(state_of(&g)->lrps[0]->state, "CLAIMED");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");
    s = state_of(&g);
    assert_string_equal(s->lrps[0]->state, "RUNNING");
    assert_int_equal(s->startingcontainercount, 0);
    rep_rig_exited(&g, guid, 1);
    assert_string_equal(state_of(&g)->lrps[0]->state, "CRASHED");
}

static struct reply tagged_state(struct rep_rig *g, const char *tag)
{
    drive_event(&g->d, (struct event){.kind = EVENT_REQUEST,
                                      .request = {.id = 1,
                                                  .method = "GET",
                                                  .path = "/state",
                                                  .query = "",
                                                  .trace_id = "",
                                                  .accept = PROTOBUF,
                                                  .content_type = "",
                                                  .if_none_match = tag,
                                                  .peer = {.unit = "auctioneer", .name = ""}}});
    return rep_rig_take_reply(g);
}

static void an_unchanged_state_is_reported_by_its_tag(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    struct reply first = tagged_state(&g, "");
    assert_int_equal(first.status, 200);
    assert_true(first.etag[0] == '"');
    struct reply again = tagged_state(&g, first.etag);
    assert_int_equal(again.status, 304);
    assert_int_equal(again.body.size, 0);
    rep_rig_work(&g, "web", 1);
    struct reply changed = tagged_state(&g, first.etag);
    assert_int_equal(changed.status, 200);
    assert_string_not_equal(changed.etag, first.etag);
}

static void a_cell_that_is_not_well_says_so(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    assert_int_equal(tagged_state(&g, "").status, 503);
    rep_rig_answer_incarnation(&g);
    assert_int_equal(tagged_state(&g, "").status, 503); /* adoption has not ended */
    rep_rig_answer_list(&g, NULL, 0);
    assert_int_equal(tagged_state(&g, "").status, 200);
    rep_rig_advance(&g, 31000);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_LIST), VERB_UNCERTAIN, "hung");
    struct reply sick = tagged_state(&g, "");
    assert_int_equal(sick.status, 503);
    assert_true(sick.body.size > 0);
    struct reply told = ask(&g, "somebody", "GET", "/state", "");
    assert_int_equal(told.status, 503);
    assert_non_null(strstr(text_of(&g, told), "\"cell_id\":\"cell-1\"")); /* a whole state */
    assert_non_null(strstr(text_of(&g, told), "\"ProxyMemoryAllocationMB\":0}"));
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void what_does_not_fit_goes_back(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_int_equal(rep_rig_work(&g, "a", 1001), 1);
    assert_int_equal(rep_rig_work(&g, "a", -1), 1);
    assert_int_equal(rep_rig_work(&g, "a", 600), 0);
    assert_int_equal(rep_rig_work(&g, "b", 401), 1);
    assert_int_equal(rep_rig_work(&g, "b", 400), 0);
    assert_int_equal(rep_rig_work(&g, "c", 0), 0);
    assert_int_equal(rep_rig_work(&g, "d", 0), 0);
    assert_int_equal(rep_rig_work(&g, "e", 0), 1); /* four containers */
}

/* Each LRP takes its own memory and its proxy's, and gives both back. */
static void a_proxy_takes_memory_too(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.proxy_memory_mb = 100;
    g.config.index = 3;
    rep_rig_open(&g, NULL, 0);
    assert_int_equal(rep_rig_work(&g, "a", 901), 1);
    assert_int_equal(rep_rig_work(&g, "a", 500), 0);
    assert_int_equal(rep_rig_work(&g, "b", 301), 1);
    Cell__CellState *s = state_of(&g);
    assert_int_equal(s->proxymemoryallocationmb, 100);
    assert_int_equal(s->cell_index, 3);
    assert_int_equal(s->availableresources->memorymb, 400);
    assert_int_equal(s->lrps[0]->memorymb, 500); /* what it asked for */
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    rep_rig_move_refused(&g, claim, MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed,
                         rep_rig_record(&g, "a", "RUNNING", "other", "cell-2"));
    assert_int_equal(state_of(&g)->availableresources->memorymb, 1000);
}

/* A task has no proxy: it takes its own memory alone, and gives back just that. */
static void a_task_has_no_proxy(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.proxy_memory_mb = 100;
    rep_rig_open(&g, NULL, 0);
    assert_true(rep_rig_task_work(&g, "t", 950));
    assert_int_equal(state_of(&g)->availableresources->memorymb, 50);
    rep_rig_task_answer(&g, rep_rig_take_move(&g, "start"),
                        MODELS__ERROR__TYPE__ResourceNotFound, NULL);
    assert_int_equal(state_of(&g)->n_tasks, 0);
    assert_int_equal(state_of(&g)->availableresources->memorymb, 1000);
}

static void the_same_start_is_not_reserved_twice(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_int_equal(rep_rig_work(&g, "web", 600), 0);
    assert_int_equal(rep_rig_work(&g, "web", 600), 0);
    assert_int_equal(state_of(&g)->n_lrps, 1);
}

static void work_in_json_by_descending_memory(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
#define LRP(name, memory, rootfs)                                                                  \
    "{\"process_guid\":\"" name "\",\"index\":0,\"domain\":\"d\",\"RootFs\":\"" rootfs             \
    "\",\"MemoryMB\":" memory ",\"DiskMB\":1}"
    struct reply r = ask(
        &g, "auctioneer", "POST", "/work",
        "{\"LRPs\":[" LRP("small", "300", "preloaded:busybox") "," LRP(
            "large", "800",
            "preloaded:busybox?x") "," LRP("none", "1",
                                           "preloaded:busy") "," LRP("other", "1",
                                                                     "docker:///x") "],\"Tasks\":"
                                                                                    "null}");
    assert_int_equal(r.status, 200);
    const char *text = text_of(&g, r);
    assert_non_null(strstr(text, "\"small\"")); /* the large one came first */
    assert_null(strstr(text, "\"large\""));
    assert_non_null(strstr(text, "\"none\""));
    assert_non_null(strstr(text, "\"other\""));
    assert_null(strstr(text, "definition")); /* Diego's keys only */
    assert_string_equal(
        text_of(&g, ask(&g, "auctioneer", "POST", "/work",
                        "{\"LRPs\":[" LRP("tiny", "1", "preloaded:busybox") "],\"Tasks\":null}")),
        "{\"LRPs\":null,\"Tasks\":null}");
}

static void work_for_another_cell_is_an_error(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_int_equal(
        ask(&g, "auctioneer", "POST", "/work",
            "{\"LRPs\":[" LRP("a", "1", "preloaded:busybox") "],\"cell_id\":\"cell-2\"}")
            .status,
        500);
    assert_int_equal(state_of(&g)->n_lrps, 0);
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static struct rep_rig_move claim_of(struct rep_rig *g, const char *process_guid)
{
    assert_int_equal(rep_rig_work(g, process_guid, 1), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    rep_rig_move_done(g, claim,
                      rep_rig_record(g, process_guid, "CLAIMED",
                                     claim.move->instance->actual_lrp_instance_key->instance_guid,
                                     RIG_CELL));
    return claim;
}

static void no_port_is_allotted_twice(void **state)
{
    static const uint32_t ports[] = {80, 81, 82};
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    claim_of(&g, "a");
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "a", ports, 3));
    struct verb_call first = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_int_equal(first.spec->ports[2].host_port, 61002);
    /* One is left: two are not to be had, and the one is not lost. */
    claim_of(&g, "b");
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "b", ports, 2));
    struct rep_rig_move crash = rep_rig_take_move(&g, "crash");
    assert_string_equal(crash.move->instance->error_message, "no host port is free in 61000-61003");
    rep_rig_move_done(&g, crash, rep_rig_record(&g, "b", "UNCLAIMED", "", ""));
    claim_of(&g, "c");
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "c", ports, 1));
    assert_int_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->ports[0].host_port, 61003);
    /* Given back when the container is gone. */
    rep_rig_verb(&g, first, VERB_FAILED, "full");
    rep_rig_move_done(&g, rep_rig_take_move(&g, "crash"),
                      rep_rig_record(&g, "a", "UNCLAIMED", "", ""));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    claim_of(&g, "d");
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "d", ports, 3));
    assert_int_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->ports[0].host_port, 61000);
}

/* ---- Updates --------------------------------------------------------------------------------- */

/* The driver has it before bbs hears of it: "KEY=VALUE ... HOSTNAME ...". */
static void noted(struct rep_rig *g, const char *expected)
{
    assert_int_equal(rep_rig_calls(g, "/v1/board/apply"), 0);
    struct verb_call call = rep_rig_take_verb(g, VERB_NOTE);
    Rep__Note *note;
    SCOPED_BUF(text);
    assert_int_equal(note_read(call.note, call.guid, &note, NULL), 0);
    for (size_t i = 0; i < note->n_metric_tags; i++) {
        buf_printf(&text, "%s%s=%s", text.size ? " " : "", note->metric_tags[i]->key,
                   note->metric_tags[i]->value);
    }
    for (size_t i = 0; i < note->n_internal_routes; i++) {
        buf_printf(&text, "%s%s", text.size ? " " : "", note->internal_routes[i]->hostname);
    }
    assert_string_equal(buf_string(&text), expected);
    rep__note__free_unpacked(note, NULL);
    rep_rig_verb(g, call, VERB_DONE, "");
}

static void new_tags_are_reported_to_bbs(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    const char *path = arena_printf(&g.arena, "/v2/lrps/web/instances/%s", guid);
    assert_int_equal(ask(&g, "bbs", "PUT", path,
                         "{\"internal_routes\":[{\"hostname\":\"a.internal\"}],"
                         "\"metric_tags\":{\"k\":\"v\"}}")
                         .status,
                     202);
    noted(&g, "k=v a.internal");
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->instance->n_actual_lrp_internal_routes, 1);
    assert_string_equal(start.move->instance->actual_lrp_internal_routes[0]->hostname,
                        "a.internal");
    assert_string_equal(start.move->instance->metric_tags[0]->value, "v");
    assert_int_equal(start.move->instance->actual_lrp_net_info->n_ports, 1);
    rep_rig_move_done(&g, start, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    /* null leaves the routes as they are. */
    assert_int_equal(
        ask(&g, "bbs", "PUT", path, "{\"internal_routes\":null,\"metric_tags\":{\"k\":\"w\"}}")
            .status,
        202);
    noted(&g, "k=w a.internal");
    start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->instance->n_actual_lrp_internal_routes, 1);
    assert_string_equal(start.move->instance->metric_tags[0]->value, "w");
    rep_rig_move_done(&g, start, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    /* What is there and empty replaces: the last of them goes. */
    assert_int_equal(ask(&g, "bbs", "PUT", path, "{\"internal_routes\":[]}").status, 202);
    noted(&g, "k=w");
    start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->instance->n_actual_lrp_internal_routes, 0);
    assert_int_equal(start.move->instance->n_metric_tags, 1);
    rep_rig_move_done(&g, start, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    assert_int_equal(ask(&g, "bbs", "PUT", path,
                         "{\"internal_routes\":[{\"hostname\":\"b\"}],\"metric_tags\":{}}")
                         .status,
                     202);
    noted(&g, "b");
    start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->instance->n_metric_tags, 0);
    rep_rig_move_done(&g, start, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    /* Our own bbs says all there is, whatever it leaves out. */
    assert_int_equal(ask(&g, "bbs", "PUT", path, "{\"replaces\":true}").status, 202);
    noted(&g, "");
    start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->instance->n_actual_lrp_internal_routes, 0);
    assert_int_equal(start.move->instance->n_metric_tags, 0);
}

/* The record has them only once a bbs has said so. */
static void new_tags_are_reported_until_they_are_settled(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    const char *path = arena_printf(&g.arena, "/v2/lrps/web/instances/%s", guid);
    assert_int_equal(ask(&g, "bbs", "PUT", path, "{\"metric_tags\":{\"k\":\"v\"}}").status, 202);
    noted(&g, "k=v");
    drive_response(&g.d, rep_rig_take_move(&g, "start").id, 503, "", (struct bytes){0});
    rep_rig_advance(&g, 1000);
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_string_equal(start.move->instance->metric_tags[0]->value, "v");
}

/* What could not be noted is told to bbs nevertheless. */
static void a_note_that_fails_holds_nothing_up(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    const char *path = arena_printf(&g.arena, "/v1/lrps/web/instances/%s", guid);
    const char *body = "{\"metric_tags\":{\"k\":\"v\"}}";
    assert_int_equal(ask(&g, "bbs", "PUT", path, body).status, 202);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_FAILED, "no space");
    assert_string_equal(rep_rig_take_move(&g, "start").move->instance->metric_tags[0]->value, "v");
    assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 0);
}

/* A note that was not written is tried again after 100 ms, 200 ms ... 5 s, and up to a quarter more
 * by chance; new tags are tried at once. When it is written, that is all. */
static void a_note_that_fails_is_tried_again(void **state)
{
    static const int waits_ms[] = {100, 200, 400, 800, 1600, 3200, 5000, 5000};
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    const char *path = arena_printf(&g.arena, "/v1/lrps/web/instances/%s", guid);
    assert_int_equal(ask(&g, "bbs", "PUT", path, "{\"metric_tags\":{\"k\":\"v\"}}").status, 202);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_FAILED, "no space");
    rep_rig_move_done(&g, rep_rig_take_move(&g, "start"),
                      rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    for (size_t i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++) {
        rep_rig_advance(&g, waits_ms[i] - 1);
        assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 0);
        rep_rig_advance(&g, waits_ms[i] / 4 + 1);
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), i % 2 ? VERB_FAILED : VERB_UNCERTAIN,
                     "no space");
    }
    assert_int_equal(rep_rig_calls(&g, "/v1/board/apply"), 0); /* bbs knows */
    assert_int_equal(ask(&g, "bbs", "PUT", path, "{\"metric_tags\":{\"k\":\"w\"}}").status, 202);
    noted(&g, "k=w");
    rep_rig_move_done(&g, rep_rig_take_move(&g, "start"),
                      rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_advance(&g, 20000);
    assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_call_what),
        cmocka_unit_test(a_body_beyond_its_bound_is_refused),
        cmocka_unit_test(state_in_json_has_diegos_keys),
        cmocka_unit_test(states_are_told_in_diegos_words),
        cmocka_unit_test(an_unchanged_state_is_reported_by_its_tag),
        cmocka_unit_test(a_cell_that_is_not_well_says_so),
        cmocka_unit_test(what_does_not_fit_goes_back),
        cmocka_unit_test(metrics_in_json_have_diegos_keys),
        cmocka_unit_test(metrics_that_cannot_be_had_are_an_error),
        cmocka_unit_test(output_is_given_past_the_step),
        cmocka_unit_test(output_is_of_the_tasks_container),
        cmocka_unit_test(what_ended_leaves_its_output),
        cmocka_unit_test(a_proxy_takes_memory_too),
        cmocka_unit_test(a_task_has_no_proxy),
        cmocka_unit_test(the_same_start_is_not_reserved_twice),
        cmocka_unit_test(work_in_json_by_descending_memory),
        cmocka_unit_test(work_for_another_cell_is_an_error),
        cmocka_unit_test(no_port_is_allotted_twice),
        cmocka_unit_test(new_tags_are_reported_to_bbs),
        cmocka_unit_test(new_tags_are_reported_until_they_are_settled),
        cmocka_unit_test(a_note_that_fails_holds_nothing_up),
        cmocka_unit_test(a_note_that_fails_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
