/* A walk over the routes of two bbs on one model etcd: each answer is decoded and compared, asked
 * in turn of one bbs and of the other, for every answer is as fresh as the store (design.md 2,
 * 4). */
#include "bbs/inside.h"
#include "bbs/board/compare.h"
#include "board.pb-c.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/cells.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/evacuation.pb-c.h"
#include "models/domain.pb-c.h"
#include "models/locket.pb-c.h"
#include "models/ping.pb-c.h"
#include "common/base/arena.h"
#include "test/sim/model/etcd.h"
#include "test/sim/world/world.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { BBS_COUNT = 2 };

struct walk {
    struct world *world;
    struct node *bbs[BBS_COUNT];
    unsigned turn;
    struct arena arena; /* decoded answers */
    struct buf body;    /* of the last answer */
};

static const char *const urls[BBS_COUNT] = {"https://bbs-1:8889", "https://bbs-2:8889"};
static const char *const names[BBS_COUNT] = {"bbs-1", "bbs-2"};

static struct role *make_bbs(void *context, unsigned incarnation)
{
    const size_t *number = context;
    return bbs_new(&(struct bbs_config){.url = urls[*number], .name = names[*number]});
}

/* The next bbs in turn. */
static int call(struct walk *w, const char *path, const ProtobufCMessage *m)
{
    Models__PingResponse empty = MODELS__PING_RESPONSE__INIT;
    buf_clear(&w->body);
    return world_call(w->world, urls[w->turn++ % BBS_COUNT], path, m ? m : &empty.base,
                      10 * SECOND_NS, &w->body);
}

static ProtobufCMessage *ask(struct walk *w, const char *path, const ProtobufCMessage *m,
                             const ProtobufCMessageDescriptor *answer)
{
    assert_int_equal(call(w, path, m), 200);
    ProtobufCAllocator a = arena_protobuf(&w->arena);
    ProtobufCMessage *decoded = protobuf_c_message_unpack(answer, &a, w->body.size, w->body.data);
    assert_non_null(decoded);
    return decoded;
}

/* Type of the error in field 1, -1 for a success with nothing to say. */
static int outcome(struct walk *w, const char *path, const ProtobufCMessage *m)
{
    const Models__ActualLRPLifecycleResponse *r = (const Models__ActualLRPLifecycleResponse *)ask(
        w, path, m, &models__actual_lrplifecycle_response__descriptor);
    if (!r->error) {
        assert_int_equal(w->body.size, 0);
        return -1;
    }
    return (int)r->error->type;
}

enum { WELL = -1 };

static int setup(void **state)
{
    static const size_t numbers[BBS_COUNT] = {0, 1};
    struct walk *w = test_calloc(1, sizeof(*w));
    arena_init(&w->arena);
    buf_init(&w->body);
    w->world = world_new(&(struct world_options){.seed = 7});
    for (size_t i = 0; i < BBS_COUNT; i++) {
        w->bbs[i] = world_add(w->world, &(struct node_config){
                                            .name = names[i],
                                            .unit = "bbs",
                                            .certificate_name = names[i],
                                            .url = urls[i],
                                            .store = world_store(w->world, "etcd"),
                                            .make = make_bbs,
                                            .context = (void *)(uintptr_t)&numbers[i],
                                        });
        world_start(w->world, w->bbs[i]);
    }
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct walk *w = *state;
    world_free(w->world);
    arena_done(&w->arena);
    buf_done(&w->body);
    test_free(w);
    return 0;
}

static void wait_ready(struct walk *w)
{
    for (unsigned i = 0; i < 100; i++) {
        bool both = call(w, "/v1/ping", NULL) == 200;
        both &= call(w, "/v1/ping", NULL) == 200;
        if (both) {
            return;
        }
        world_run(w->world, 100 * MILLISECOND_NS);
    }
    fail_msg("not ready after 10 s:\n%s", world_trace(w->world));
}

/* A valid DesiredLRP; lives in the walk's arena. */
static Models__DesiredLRP *desired(struct walk *w, const char *guid, int32_t instances)
{
    struct arena *a = &w->arena;
    Models__DesiredLRP *d = arena_message(a, &models__desired_lrp__descriptor);
    d->process_guid = arena_strdup(a, guid);
    d->domain = arena_strdup(a, "d");
    d->root_fs = arena_strdup(a, "preloaded:busybox");
    d->instances = instances;
    d->memory_mb = 16;
    d->n_ports = 3;
    d->ports = arena_copy(a, (uint32_t[]){8080, 8081, 8080}, 3 * sizeof(uint32_t));
    d->deprecated_start_timeout_s = 60;
    d->action = arena_message(a, &models__action__descriptor);
    d->action->run_action = arena_message(a, &models__run_action__descriptor);
    d->action->run_action->path = arena_strdup(a, "/bin/httpd");
    d->action->run_action->user = arena_strdup(a, "root");
    d->n_metric_tags = 1;
    d->metric_tags = ARENA_ARRAY(a, 1, Models__DesiredLRP__MetricTagsEntry *);
    d->metric_tags[0] = arena_message(a, &models__desired_lrp__metric_tags_entry__descriptor);
    d->metric_tags[0]->key = arena_strdup(a, "source_id");
    d->metric_tags[0]->value = arena_message(a, &models__metric_tag_value__descriptor);
    d->metric_tags[0]->value->static_ = arena_strdup(a, "s");
    return d;
}

static int desire(struct walk *w, const char *guid, int32_t instances)
{
    Models__DesireLRPRequest r = MODELS__DESIRE_LRPREQUEST__INIT;
    r.desired_lrp = desired(w, guid, instances);
    return outcome(w, "/v1/desired_lrp/desire.r2", &r.base);
}

static int scale(struct walk *w, const char *guid, int32_t instances)
{
    Models__UpdateDesiredLRPRequest r = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPUpdate u = MODELS__DESIRED_LRPUPDATE__INIT;
    r.process_guid = arena_strdup(&w->arena, guid);
    r.update = &u;
    u.optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    u.instances = instances;
    return outcome(w, "/v1/desired_lrp/update", &r.base);
}

static int remove_desired(struct walk *w, const char *guid)
{
    Models__RemoveDesiredLRPRequest r = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    r.process_guid = arena_strdup(&w->arena, guid);
    return outcome(w, "/v1/desired_lrp/remove", &r.base);
}

static const Models__ActualLRPsResponse *actuals(struct walk *w, const char *guid,
                                                 const char *cell_id, int32_t index)
{
    Models__ActualLRPsRequest r = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    r.process_guid = arena_strdup(&w->arena, guid);
    r.cell_id = arena_strdup(&w->arena, cell_id);
    if (index >= 0) {
        r.optional_index_case = MODELS__ACTUAL_LRPS_REQUEST__OPTIONAL_INDEX_INDEX;
        r.index = index;
    }
    return (const Models__ActualLRPsResponse *)ask(w, "/v1/actual_lrps/list", &r.base,
                                                   &models__actual_lrps_response__descriptor);
}

static Models__ActualLRPKey *key(struct walk *w, const char *guid, int32_t index)
{
    Models__ActualLRPKey *k = arena_message(&w->arena, &models__actual_lrpkey__descriptor);
    k->process_guid = arena_strdup(&w->arena, guid);
    k->index = index;
    k->domain = arena_strdup(&w->arena, "d");
    return k;
}

static Models__ActualLRPInstanceKey *instance(struct walk *w, const char *guid, const char *cell_id)
{
    Models__ActualLRPInstanceKey *k = ARENA_NEW(&w->arena, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(k);
    k->instance_guid = arena_strdup(&w->arena, guid);
    k->cell_id = arena_strdup(&w->arena, cell_id);
    return k;
}

static int claim(struct walk *w, const char *guid, int32_t index, const char *i, const char *cell)
{
    Models__ClaimActualLRPRequest r = MODELS__CLAIM_ACTUAL_LRPREQUEST__INIT;
    r.process_guid = arena_strdup(&w->arena, guid);
    r.index = index;
    r.actual_lrp_instance_key = instance(w, i, cell);
    return outcome(w, "/v1/actual_lrps/claim", &r.base);
}

static int start(struct walk *w, const char *guid, int32_t index, const char *i, const char *cell)
{
    Models__StartActualLRPRequest r = MODELS__START_ACTUAL_LRPREQUEST__INIT;
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    net.address = arena_strdup(&w->arena, "10.0.0.1");
    r.actual_lrp_key = key(w, guid, index);
    r.actual_lrp_instance_key = instance(w, i, cell);
    r.actual_lrp_net_info = &net;
    return outcome(w, "/v1/actual_lrps/start.r1", &r.base);
}

static void domains(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    Models__UpsertDomainRequest r = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
    assert_int_equal(outcome(w, "/v1/domains/upsert", &r.base),
                     MODELS__ERROR__TYPE__InvalidRequest);
    r.domain = arena_strdup(&w->arena, "forever");
    assert_int_equal(outcome(w, "/v1/domains/upsert", &r.base), WELL);
    assert_int_equal(outcome(w, "/v1/domains/upsert", &r.base), WELL);
    r.domain = arena_strdup(&w->arena, "brief");
    r.ttl = 2;
    assert_int_equal(outcome(w, "/v1/domains/upsert", &r.base), WELL);
    for (unsigned i = 0; i < BBS_COUNT; i++) {
        const Models__DomainsResponse *list = (const Models__DomainsResponse *)ask(
            w, "/v1/domains/list", NULL, &models__domains_response__descriptor);
        assert_int_equal(list->n_domains, 2);
    }
    world_run(w->world, 3 * SECOND_NS);
    for (unsigned i = 0; i < BBS_COUNT; i++) {
        const Models__DomainsResponse *list = (const Models__DomainsResponse *)ask(
            w, "/v1/domains/list", NULL, &models__domains_response__descriptor);
        assert_int_equal(list->n_domains, 1);
        assert_string_equal(list->domains[0], "forever");
    }
}

static void desired_lrps(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    assert_int_equal(desire(w, "web", 3), WELL);
    assert_int_equal(desire(w, "web", 1), MODELS__ERROR__TYPE__ResourceExists);
    assert_int_equal(desire(w, "not/valid", 1), MODELS__ERROR__TYPE__InvalidRequest);
    assert_int_equal(desire(w, "other", 0), WELL);

    Models__DesiredLRPByProcessGuidRequest get = MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    assert_int_equal(outcome(w, "/v1/desired_lrps/get_by_process_guid.r3", &get.base),
                     MODELS__ERROR__TYPE__InvalidRequest);
    get.process_guid = arena_strdup(&w->arena, "nobody");
    assert_int_equal(outcome(w, "/v1/desired_lrps/get_by_process_guid.r3", &get.base),
                     MODELS__ERROR__TYPE__ResourceNotFound);
    get.process_guid = arena_strdup(&w->arena, "web");
    const Models__DesiredLRP *d =
        ((const Models__DesiredLRPResponse *)ask(w, "/v1/desired_lrps/get_by_process_guid.r3",
                                                 &get.base,
                                                 &models__desired_lrpresponse__descriptor))
            ->desired_lrp;
    assert_non_null(d);
    assert_string_equal(d->root_fs, "preloaded:busybox");
    assert_string_equal(d->action->run_action->path, "/bin/httpd");
    assert_int_equal(d->n_ports, 2);
    assert_int_equal(d->deprecated_start_timeout_s, 0);
    assert_string_equal(d->metrics_guid, "s"); /* harmonised with the tag source_id */
    assert_non_null(d->routes);
    assert_int_equal(strlen(d->modification_tag->epoch), 36);
    assert_int_equal(d->modification_tag->index, 0);

    assert_int_equal(scale(w, "nobody", 1), MODELS__ERROR__TYPE__ResourceNotFound);
    assert_int_equal(scale(w, "web", 3), WELL);
    Models__DesiredLRPsRequest list = MODELS__DESIRED_LRPS_REQUEST__INIT;
    const Models__DesiredLRPsResponse *all = (const Models__DesiredLRPsResponse *)ask(
        w, "/v1/desired_lrps/list.r3", &list.base, &models__desired_lrps_response__descriptor);
    assert_int_equal(all->n_desired_lrps, 2);
    assert_string_equal(all->desired_lrps[1]->process_guid, "web");
    assert_int_equal(all->desired_lrps[1]->modification_tag->index, 1);
    assert_non_null(all->desired_lrps[1]->action);
    char *some[] = {arena_strdup(&w->arena, "web"), arena_strdup(&w->arena, "web"),
                    arena_strdup(&w->arena, "gone")};
    list.process_guids = some;
    list.n_process_guids = 3;
    const Models__DesiredLRPSchedulingInfosResponse *infos =
        (const Models__DesiredLRPSchedulingInfosResponse *)ask(
            w, "/v1/desired_lrp_scheduling_infos/list", &list.base,
            &models__desired_lrpscheduling_infos_response__descriptor);
    assert_int_equal(infos->n_desired_lrp_scheduling_infos, 1);
    assert_int_equal(infos->desired_lrp_scheduling_infos[0]->instances, 3);
    assert_non_null(infos->desired_lrp_scheduling_infos[0]->volume_placement);
    list.domain = arena_strdup(&w->arena, "elsewhere");
    assert_int_equal(call(w, "/v1/desired_lrps/list.r3", &list.base), 200);
    assert_int_equal(w->body.size, 0);

    assert_int_equal(actuals(w, "web", "", -1)->n_actual_lrps, 3);
    assert_int_equal(remove_desired(w, "web"), WELL);
    assert_int_equal(remove_desired(w, "web"), MODELS__ERROR__TYPE__ResourceNotFound);
    assert_int_equal(actuals(w, "web", "", -1)->n_actual_lrps, 0);
}

static void actual_lrps(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    assert_int_equal(desire(w, "web", 2), WELL);
    assert_int_equal(claim(w, "web", 0, "", ""), MODELS__ERROR__TYPE__InvalidRequest);
    assert_int_equal(claim(w, "web", 7, "a", "c1"), MODELS__ERROR__TYPE__ResourceNotFound);
    assert_int_equal(claim(w, "web", 0, "a", "c1"), WELL);
    assert_int_equal(claim(w, "web", 0, "a", "c1"), WELL);
    assert_int_equal(claim(w, "web", 0, "b", "c2"), MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed);
    assert_int_equal(start(w, "web", 0, "a", "c1"), WELL);
    assert_int_equal(start(w, "web", 0, "a", "c1"), WELL);
    assert_int_equal(start(w, "web", 0, "b", "c2"), MODELS__ERROR__TYPE__ActualLRPCannotBeStarted);
    const Models__ActualLRPsResponse *list = actuals(w, "web", "c1", -1);
    assert_int_equal(list->n_actual_lrps, 1);
    const Models__ActualLRP *r = list->actual_lrps[0];
    assert_string_equal(r->state, "RUNNING");
    assert_true(r->routable);
    assert_int_equal(r->modification_tag->index, 2);
    assert_int_equal(actuals(w, "", "", 1)->n_actual_lrps, 1);
    assert_string_equal(actuals(w, "", "", 1)->actual_lrps[0]->state, "UNCLAIMED");

    Models__FailActualLRPRequest failed = MODELS__FAIL_ACTUAL_LRPREQUEST__INIT;
    failed.actual_lrp_key = key(w, "web", 1);
    assert_int_equal(outcome(w, "/v1/actual_lrps/fail", &failed.base),
                     MODELS__ERROR__TYPE__InvalidRequest);
    failed.error_message = arena_strdup(&w->arena, "insufficient resources");
    assert_int_equal(outcome(w, "/v1/actual_lrps/fail", &failed.base), WELL);
    assert_string_equal(actuals(w, "web", "", 1)->actual_lrps[0]->placement_error,
                        "insufficient resources");

    Models__CrashActualLRPRequest crashed = MODELS__CRASH_ACTUAL_LRPREQUEST__INIT;
    crashed.actual_lrp_key = key(w, "web", 0);
    crashed.actual_lrp_instance_key = instance(w, "a", "c1");
    crashed.error_message = arena_strdup(&w->arena, "Exited with status 3");
    assert_int_equal(outcome(w, "/v1/actual_lrps/crash", &crashed.base), WELL);
    r = actuals(w, "web", "", 0)->actual_lrps[0];
    assert_string_equal(r->state, "UNCLAIMED");
    assert_int_equal(r->crash_count, 1);
    assert_string_equal(r->crash_reason, "Exited with status 3");

    /* Retired on a cell that nobody knows: gone. */
    assert_int_equal(claim(w, "web", 0, "b", "c9"), WELL);
    Models__RetireActualLRPRequest retired = MODELS__RETIRE_ACTUAL_LRPREQUEST__INIT;
    retired.actual_lrp_key = key(w, "web", 0);
    assert_int_equal(outcome(w, "/v1/actual_lrps/retire", &retired.base), WELL);
    assert_int_equal(actuals(w, "web", "", 0)->n_actual_lrps, 0);
    assert_int_equal(outcome(w, "/v1/actual_lrps/retire", &retired.base),
                     MODELS__ERROR__TYPE__ResourceNotFound);

    Models__RemoveActualLRPRequest removed = MODELS__REMOVE_ACTUAL_LRPREQUEST__INIT;
    removed.process_guid = arena_strdup(&w->arena, "web");
    removed.index = 1;
    assert_int_equal(outcome(w, "/v1/actual_lrps/remove", &removed.base), WELL);
    assert_int_equal(outcome(w, "/v1/actual_lrps/remove", &removed.base),
                     MODELS__ERROR__TYPE__ResourceNotFound);
}

/* Whether the container is to be kept; the error type, -1 for none, in *ret_error. */
static bool evacuated(struct walk *w, const char *what, const ProtobufCMessage *m, int *ret_error)
{
    const Models__EvacuationResponse *r = (const Models__EvacuationResponse *)ask(
        w, arena_printf(&w->arena, "/v1/actual_lrps/%s", what), m,
        &models__evacuation_response__descriptor);
    *ret_error = r->error ? (int)r->error->type : WELL;
    return r->keep_container;
}

static const ProtobufCMessage *evacuating(struct walk *w, const char *i, const char *cell)
{
    Models__EvacuateRunningActualLRPRequest *r =
        arena_message(&w->arena, &models__evacuate_running_actual_lrprequest__descriptor);
    r->actual_lrp_net_info = arena_message(&w->arena, &models__actual_lrpnet_info__descriptor);
    r->actual_lrp_net_info->address = arena_strdup(&w->arena, "10.0.0.1");
    r->actual_lrp_key = key(w, "web", 0);
    r->actual_lrp_instance_key = instance(w, i, cell);
    return &r->base;
}

/* behaviour.md 11: each of Diego's paths, repeated, by turns at two bbs. */
static void evacuations(void **state)
{
    struct walk *w = *state;
    int error;
    wait_ready(w);
    assert_int_equal(desire(w, "web", 1), WELL);
    assert_int_equal(start(w, "web", 0, "a", "c1"), WELL);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(evacuated(w, "evacuate_running.r1", evacuating(w, "a", "c1"), &error));
        assert_int_equal(error, WELL);
    }
    assert_int_equal(actuals(w, "web", "", 0)->n_actual_lrps, 2);
    const Models__ActualLRPsResponse *own = actuals(w, "web", "c1", 0);
    assert_int_equal(own->n_actual_lrps, 1);
    assert_int_equal(own->actual_lrps[0]->presence, MODELS__ACTUAL_LRP__PRESENCE__EVACUATING);
    assert_int_equal(claim(w, "web", 0, "b", "c2"), WELL);
    assert_true(evacuated(w, "evacuate_running", evacuating(w, "a", "c1"), &error));
    assert_int_equal(start(w, "web", 0, "b", "c2"), WELL);
    for (unsigned i = 0; i < 2; i++) {
        assert_false(evacuated(w, "evacuate_running.r1", evacuating(w, "a", "c1"), &error));
        assert_int_equal(error, WELL);
    }
    assert_int_equal(actuals(w, "web", "c1", 0)->n_actual_lrps, 0);

    Models__EvacuateClaimedActualLRPRequest claimed =
        MODELS__EVACUATE_CLAIMED_ACTUAL_LRPREQUEST__INIT;
    claimed.actual_lrp_key = key(w, "web", 0);
    claimed.actual_lrp_instance_key = instance(w, "b", "c2");
    assert_false(evacuated(w, "evacuate_claimed", &claimed.base, &error));
    assert_int_equal(error, WELL);
    assert_false(evacuated(w, "evacuate_claimed", &claimed.base, &error));
    assert_int_equal(error, MODELS__ERROR__TYPE__ResourceNotFound);

    assert_int_equal(start(w, "web", 0, "c", "c1"), WELL);
    Models__EvacuateCrashedActualLRPRequest crashed =
        MODELS__EVACUATE_CRASHED_ACTUAL_LRPREQUEST__INIT;
    crashed.actual_lrp_key = key(w, "web", 0);
    crashed.actual_lrp_instance_key = instance(w, "c", "c1");
    assert_false(evacuated(w, "evacuate_crashed", &crashed.base, &error));
    assert_int_equal(error, MODELS__ERROR__TYPE__InvalidRequest); /* without a reason */
    crashed.error_message = arena_strdup(&w->arena, "Exited with status 1");
    assert_false(evacuated(w, "evacuate_crashed", &crashed.base, &error));
    assert_int_equal(error, WELL);
    assert_string_equal(actuals(w, "web", "", 0)->actual_lrps[0]->state, "UNCLAIMED");

    assert_int_equal(start(w, "web", 0, "d", "c1"), WELL);
    Models__EvacuateStoppedActualLRPRequest stopped =
        MODELS__EVACUATE_STOPPED_ACTUAL_LRPREQUEST__INIT;
    stopped.actual_lrp_key = key(w, "web", 0);
    stopped.actual_lrp_instance_key = instance(w, "d", "c1");
    assert_false(evacuated(w, "evacuate_stopped", &stopped.base, &error));
    assert_int_equal(error, WELL);
    assert_int_equal(actuals(w, "web", "", 0)->n_actual_lrps, 0);

    Models__RemoveEvacuatingActualLRPRequest gone =
        MODELS__REMOVE_EVACUATING_ACTUAL_LRPREQUEST__INIT;
    gone.actual_lrp_key = key(w, "web", 0);
    gone.actual_lrp_instance_key = instance(w, "d", "c1");
    assert_int_equal(outcome(w, "/v1/actual_lrps/remove_evacuating", &gone.base),
                     MODELS__ERROR__TYPE__ResourceNotFound);
}

/* A rep that is not understood must not lose its container. */
static void bad_evacuations(void **state)
{
    static const struct {
        const char *path;
        bool keep;
    } paths[] = {{"evacuate_claimed", true},
                 {"evacuate_running.r1", true},
                 {"evacuate_running", true},
                 {"evacuate_crashed", false},
                 {"evacuate_stopped", false}};
    Models__ActualLRPKey unreadable = MODELS__ACTUAL_LRPKEY__INIT; /* field 1 is no message */
    struct walk *w = *state;
    wait_ready(w);
    unreadable.process_guid = arena_strdup(&w->arena, "\xff\xff\xff");
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int error;
        assert_true(evacuated(w, paths[i].path, NULL, &error) == paths[i].keep);
        assert_int_equal(error, MODELS__ERROR__TYPE__InvalidRequest);
        assert_true(evacuated(w, paths[i].path, &unreadable.base, &error) == paths[i].keep);
        assert_int_equal(error, MODELS__ERROR__TYPE__InvalidRequest);
    }
}

static unsigned count_stopping(const Models__ActualLRPsResponse *list)
{
    unsigned count = 0;
    for (size_t i = 0; i < list->n_actual_lrps; i++) {
        count += list->actual_lrps[i]->stopping;
    }
    return count;
}

/* Larger than a transaction: a job does it, the answer comes after its last portion. */
static void note_answer(void *context, int status, struct bytes body)
{
    int *answer = context;
    *answer = body.size ? -1 : status;
}

/* The trace id stands with each change of a cause: one of any length leaves room for the changes.
 */
static void a_long_trace_id(void **state)
{
    enum { LONG = 25000, INSTANCES = 56 };
    struct walk *w = *state;
    char *trace_id = arena_alloc(&w->arena, LONG + 1);
    int answer = 0;
    memset(trace_id, 't', LONG);
    trace_id[LONG] = 0;
    wait_ready(w);
    Models__DesireLRPRequest r = MODELS__DESIRE_LRPREQUEST__INIT;
    r.desired_lrp = desired(w, "traced", INSTANCES);
    world_send_traced(w->world, urls[0], "/v1/desired_lrp/desire.r2", trace_id, &r.base,
                      10 * SECOND_NS, note_answer, &answer);
    world_run(w->world, 10 * SECOND_NS);
    assert_int_equal(answer, 200); /* with nothing to say */
    assert_int_equal(actuals(w, "traced", "", -1)->n_actual_lrps, INSTANCES);
}

static void many_instances(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    assert_int_equal(desire(w, "many", 1000), WELL);
    assert_int_equal(actuals(w, "many", "", -1)->n_actual_lrps, 1000);
    assert_int_equal(claim(w, "many", 999, "a", "c1"), WELL);
    assert_int_equal(scale(w, "many", 100), WELL);
    const Models__ActualLRPsResponse *list = actuals(w, "many", "", -1);
    assert_int_equal(list->n_actual_lrps, 101);
    assert_int_equal(count_stopping(list), 1);
    assert_int_equal(scale(w, "many", 1500), WELL);
    assert_int_equal(actuals(w, "many", "", -1)->n_actual_lrps, 1500);
    /* The stopped one comes back, for its index is desired again. */
    Models__RemoveActualLRPRequest removed = MODELS__REMOVE_ACTUAL_LRPREQUEST__INIT;
    removed.process_guid = arena_strdup(&w->arena, "many");
    removed.index = 999;
    removed.actual_lrp_instance_key = instance(w, "a", "c1");
    assert_int_equal(outcome(w, "/v1/actual_lrps/remove", &removed.base), WELL);
    list = actuals(w, "many", "", 999);
    assert_string_equal(list->actual_lrps[0]->state, "UNCLAIMED");
    assert_false(list->actual_lrps[0]->stopping);
    assert_int_equal(remove_desired(w, "many"), WELL);
    world_run(w->world, 2 * SECOND_NS);
    assert_int_equal(actuals(w, "many", "", -1)->n_actual_lrps, 0);
}

static void bad_requests(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    assert_int_equal(call(w, "/v1/nowhere", NULL), 404);
    assert_string_equal(buf_string(&w->body), "404 page not found\n");
    assert_int_equal(call(w, "/v1/ping/", NULL), 404);
    assert_int_equal(call(w, "/v1/tasks/list.r4", NULL), 404);
    assert_int_equal(call(w, "/v1/board/apply", NULL), 403);
    assert_int_equal(call(w, "/v1/board/leader_lock", NULL), 403);
    /* A message of another type: malformed here. */
    Models__DomainsResponse wrong = MODELS__DOMAINS_RESPONSE__INIT;
    Models__Error error = MODELS__ERROR__INIT;
    wrong.error = &error;
    char *texts[] = {arena_strdup(&w->arena, "x")};
    wrong.domains = texts;
    wrong.n_domains = 1;
    assert_int_equal(outcome(w, "/v1/actual_lrps/claim", &wrong.base),
                     MODELS__ERROR__TYPE__InvalidRequest);
    Models__CellsResponse cells = MODELS__CELLS_RESPONSE__INIT;
    assert_int_equal(call(w, "/v1/cells/list.r1", &cells.base), 200);
    assert_int_equal(w->body.size, 0);
    const Board__BoardState *s = (const Board__BoardState *)ask(
        w, "/v1/board/state", NULL, &board__board_state__descriptor);
    assert_true(s->revision > 0);
    assert_int_equal(strlen(s->boot_id), 36);
}

/* A caller may destroy something for what is not found (design.md 2); this LRP is there. */
static void half_an_lrp_is_not_reported_as_none(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    Models__DesireLRPRequest desire = MODELS__DESIRE_LRPREQUEST__INIT;
    desire.desired_lrp = desired(w, "half", 1);
    assert_int_equal(outcome(w, "/v1/desired_lrp/desire.r2", &desire.base), WELL);
    Etcd__RequestOp *op = etcd_op_delete_range(&w->arena, "run/");
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    struct store_answer answer = {0};
    txn.n_success = 1;
    txn.success = &op;
    model_etcd_apply(store_etcd(world_store(w->world, "etcd")), STORE_TXN, &txn.base,
                     &w->arena, &answer);
    Models__DesiredLRPByProcessGuidRequest get = MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    get.process_guid = (char *)(uintptr_t)"half";
    assert_int_equal(call(w, "/v1/desired_lrps/get_by_process_guid.r3", &get.base), 503);
    get.process_guid = (char *)(uintptr_t)"none";
    assert_int_equal(outcome(w, "/v1/desired_lrps/get_by_process_guid.r3", &get.base),
                     MODELS__ERROR__TYPE__ResourceNotFound);
}

/* A desire whose answer may have to wait for a job, when no more can wait: 503, and nothing was
 * done. */
static void a_desire_without_a_place_is_not_done(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    Models__DesireLRPRequest r = MODELS__DESIRE_LRPREQUEST__INIT;
    r.desired_lrp = desired(w, "later", 1000);
    for (size_t i = 0; i < BBS_COUNT; i++) {
        struct bbs *b = (struct bbs *)node_role(w->bbs[i]);
        assert_int_equal(b->router.waiters.reserved, 0);
        b->router.waiters.reserved = WAITERS_MAX;
        assert_int_equal(call(w, "/v1/desired_lrp/desire.r2", &r.base), 503);
        assert_int_equal(w->body.size, 0); /* which is the word that it was not */
    }
    for (size_t i = 0; i < BBS_COUNT; i++) {
        ((struct bbs *)node_role(w->bbs[i]))->router.waiters.reserved = 0;
    }
    world_run(w->world, 2 * SECOND_NS);
    assert_int_equal(remove_desired(w, "later"), MODELS__ERROR__TYPE__ResourceNotFound);
    assert_int_equal(actuals(w, "later", "", -1)->n_actual_lrps, 0);
    for (size_t i = 0; i < BBS_COUNT; i++) { /* each place is given back, used or not */
        assert_int_equal(desire(w, i ? "other" : "later", i ? 0 : 1000), WELL);
        assert_int_equal(((struct bbs *)node_role(w->bbs[i]))->router.waiters.reserved, 0);
    }
}

/* etcd does it, and its answer does not arrive: 503 like one that was not done, but not empty. */
static void a_change_of_unknown_end_says_so(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    Models__DesireLRPRequest r = MODELS__DESIRE_LRPREQUEST__INIT;
    r.desired_lrp = desired(w, "unknown", 1);
    struct node *asked = w->bbs[w->turn % BBS_COUNT];
    world_cut(w->world, NULL, asked, true);
    assert_int_equal(call(w, "/v1/desired_lrp/desire.r2", &r.base), 503);
    assert_non_null(strstr(buf_string(&w->body), "has not answered in time"));
    world_cut(w->world, NULL, asked, false);
    world_run(w->world, 30 * SECOND_NS);
    assert_int_equal(outcome(w, "/v1/desired_lrp/desire.r2", &r.base),
                     MODELS__ERROR__TYPE__ResourceExists);
}

/* In JSON likewise: the message says it (docs/rest.md, Errors). */
static void a_503_in_json_says_what_was_done(void **state)
{
    struct walk *w = *state;
    static const char not_done[] = "{\"code\":\"UNAVAILABLE\",\"message\":\"not done: ";
    assert_int_equal(call(w, "/v1/systems", NULL), 503); /* it has no board yet */
    assert_true(text_begins(buf_string(&w->body), not_done));
    wait_ready(w);
    struct node *asked = w->bbs[w->turn % BBS_COUNT];
    world_cut(w->world, NULL, asked, true);
    assert_int_equal(call(w, "/v1/systems/shop/confirm", NULL), 503);
    assert_true(text_begins(buf_string(&w->body), not_done));
    world_cut(w->world, NULL, asked, false);
}

static void put_cell(struct walk *w, const char *cell_id, Board__CellRecord__State state)
{
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    presence.cell_id = arena_strdup(&w->arena, cell_id);
    presence.zone = (char *)(uintptr_t)"ours";
    cell.presence = &presence;
    cell.state = state;
    store_put(world_store(w->world, "etcd"), key_cell(&w->arena, cell_id),
              record_encoded(&w->arena, &cell.base));
}

/* "cell_id zone" of each cell that is listed, in order. */
static const char *listed_cells(struct walk *w)
{
    const Models__CellsResponse *r = (const Models__CellsResponse *)ask(
        w, "/v1/cells/list.r1", NULL, &models__cells_response__descriptor);
    const char *text = "";
    for (size_t i = 0; i < r->n_cells; i++) {
        text = arena_printf(&w->arena, "%s%s %s;", text, r->cells[i]->cell_id, r->cells[i]->zone);
    }
    return text;
}

/* What others say by Locket is shown as it stands, but for what is no JSON of a cell, a name that
 * one of ours has, and a name twice (behaviour.md 15). */
static void presences_of_others(void **state)
{
    struct walk *w = *state;
    wait_ready(w);
    static const char *const values[][2] = {
        {"a", "{\"cell_id\":\"theirs\",\"zone\":\"z\",\"unknown\":1}"},
        {"b", "{\"cell_id\":\"theirs\",\"zone\":\"again\"}"},
        {"c", "no JSON"},
        {"d", "{\"cell_id\":5}"},
        {"e", "{\"cell_id\":\"here\",\"zone\":\"z\"}"},
        {"f", "{\"cell_id\":\"lost\",\"zone\":\"z\"}"},
        {"g", "{\"cell_id\":\"other\"}"},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        Models__LockRequest r = MODELS__LOCK_REQUEST__INIT;
        Models__Resource resource = MODELS__RESOURCE__INIT;
        resource.key = (char *)(uintptr_t)values[i][0];
        resource.value = (char *)(uintptr_t)values[i][1];
        resource.owner = (char *)(uintptr_t)"o";
        resource.type_code = MODELS__TYPE_CODE__PRESENCE;
        r.resource = &resource;
        r.ttl_in_seconds = 100;
        assert_int_equal(call(w, "/models.Locket/Lock", &r.base), 200);
    }
    put_cell(w, "lost", BOARD__CELL_RECORD__STATE__LOST);
    put_cell(w, "here", BOARD__CELL_RECORD__STATE__PRESENT);
    assert_string_equal(listed_cells(w), "here ours;theirs z;other ;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(domains, setup, teardown),
        cmocka_unit_test_setup_teardown(desired_lrps, setup, teardown),
        cmocka_unit_test_setup_teardown(actual_lrps, setup, teardown),
        cmocka_unit_test_setup_teardown(evacuations, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_evacuations, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_trace_id, setup, teardown),
        cmocka_unit_test_setup_teardown(many_instances, setup, teardown),
        cmocka_unit_test_setup_teardown(half_an_lrp_is_not_reported_as_none, setup, teardown),
        cmocka_unit_test_setup_teardown(a_desire_without_a_place_is_not_done, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_of_unknown_end_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(a_503_in_json_says_what_was_done, setup, teardown),
        cmocka_unit_test_setup_teardown(presences_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_requests, setup, teardown),
    };
    return cmocka_run_group_tests_name("bbs walk", tests, NULL, NULL);
}
