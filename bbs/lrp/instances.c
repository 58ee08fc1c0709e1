#include "bbs/lrp/instances.h"

#include "bbs/lrp/actual.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/lifecycle/job.h"

#include <assert.h>
#include <string.h>

/* Marked records and states of a newer version are left alone. */
static bool to_stop(const Models__ActualLRP *record, bool wanted, const char *definition_id)
{
    if (record->stopping || actual_state(record) < 0) {
        return false;
    }
    bool other = actual_has_instance(record) && record->definition_id[0] &&
                 strcmp(record->definition_id, definition_id) != 0;
    return !wanted || other;
}

static const Models__ActualLRP *record_of(const struct seen *seen)
{
    return seen ? (const Models__ActualLRP *)seen->message : NULL;
}

/* Of what an index that is not wanted still has on a cell that is being emptied only what is there
 * is read: where the copy shows none and one is just being made, that takes the ORDINARY or the
 * SUSPECT record away, which was read. */
static bool is_evacuating(struct view *v, const char *process_guid, int32_t index, bool wanted)
{
    const char *key = key_actual(view_arena(v), process_guid, index,
                                 MODELS__ACTUAL_LRP__PRESENCE__EVACUATING);
    return !wanted && view_peek(v, key);
}

static void gather_record(struct view *v, const char *process_guid, int32_t index, int presence,
                          bool wanted, const char *definition_id, struct instances *s)
{
    const char *key = key_actual(view_arena(v), process_guid, index, presence);
    if (view_unreadable(v, key)) {
        return; /* wanted or not */
    }
    const Models__ActualLRP *record = record_of(view_get(v, key));
    bool missing = !record && wanted && presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
    if (missing || (record && to_stop(record, wanted, definition_id))) {
        assert(s->count < PORTION_RECORDS_MAX);
        s->list[s->count++] = (struct instance){.index = index, .record = record};
    }
}

/* Indices that a portion may fill, with as many records and twice as many reads. */
static int portion_indices(const struct view *v)
{
    unsigned share = view_nested(v);
    return share ? PORTIONS_RECORDS_MAX / (int)share - 6 : PORTION_INDICES_MAX;
}

void instances_gather(struct view *v, const char *process_guid, int32_t wanted,
                      const char *definition_id, int32_t from, int32_t end, struct instances *ret)
{
    struct arena *a = view_arena(v);
    assert(from <= end);
    *ret = (struct instances){.list = ARENA_ARRAY(a, PORTION_RECORDS_MAX, struct instance),
                              .next = from,
                              .end = end};
    int most = portion_indices(v), reads = 0;
    for (; ret->next < end && (int)ret->count < most; ret->next++) {
        bool keep = ret->next < wanted;
        bool evacuating = is_evacuating(v, process_guid, ret->next, keep);
        reads += evacuating ? 3 : 2;
        if (reads > 2 * most) {
            break;
        }
        gather_record(v, process_guid, ret->next, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY, keep,
                      definition_id, ret);
        gather_record(v, process_guid, ret->next, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT, keep,
                      definition_id, ret);
        if (evacuating) {
            gather_record(v, process_guid, ret->next, MODELS__ACTUAL_LRP__PRESENCE__EVACUATING,
                          keep, definition_id, ret);
        }
    }
}

static void create(const char *process_guid, int32_t index, const Models__DesiredLRP *desired,
                   const struct op_input *in, struct plan *p)
{
    assert(index >= 0 && index < desired->instances);
    int to = lifecycle_transition(&actual_lrp_lifecycle, ACTUAL_LRP_NONE, in->actor,
                                  ACTUAL_LRP_TRIGGER_CREATE, ACTUAL_LRP_IF_INDEX_DESIRED);
    assert(to == ACTUAL_LRP_UNCLAIMED);
    const Models__ActualLRP *record =
        actual_new(p->arena, process_guid, index, desired->domain, desired->owner, in->now,
                   in->random);
    const char *key = key_actual(p->arena, process_guid, index, (int)record->presence);
    plan_put(p, key, "create", in->actor, &record->base);
}

static void stop(const Models__ActualLRP *record, const struct op_input *in, struct plan *p)
{
    const Models__ActualLRPKey *id = record->actual_lrp_key;
    const Models__ActualLRPInstanceKey *instance = record->actual_lrp_instance_key;
    const char *key = key_actual(p->arena, id->process_guid, id->index, (int)record->presence);
    int to = lifecycle_transition(&actual_lrp_lifecycle, actual_state(record), in->actor,
                                  ACTUAL_LRP_TRIGGER_STOP, 0);
    assert(to >= 0);
    if (to == ACTUAL_LRP_NONE) {
        plan_delete(p, key, "stop", in->actor);
        return;
    }
    assert(instance && !record->stopping);
    Models__ActualLRP *marked = actual_copy(p->arena, record);
    marked->stopping = true;
    plan_put(p, key, "stop", in->actor, &marked->base);
    plan_notice_stop(p, id->process_guid, instance->instance_guid, instance->cell_id);
}

void instances_settle(const struct instances *s, const char *process_guid,
                      const Models__DesiredLRP *desired, const struct op_input *in,
                      struct plan *p)
{
    assert(s->next <= s->end);
    int32_t first = 0, end = 0; /* of the created ones that the auctioneer does not know yet */
    for (size_t i = 0; i < s->count; i++) {
        const struct instance *instance = &s->list[i];
        if (instance->record) {
            stop(instance->record, in, p);
            continue;
        }
        create(process_guid, instance->index, desired, in, p);
        if (instance->index != end || first == end) {
            if (first < end) {
                plan_notice_start(p, process_guid, first, end);
            }
            first = instance->index;
        }
        end = instance->index + 1;
    }
    if (first < end) {
        plan_notice_start(p, process_guid, first, end);
    }
}

/* The job with the range that is left. */
static const Board__JobRecord *with_rest(Board__JobRecord *job, const struct instances *s,
                                         struct arena *a)
{
    assert(s->next < s->end);
    job->instances = arena_message(a, &board__job_record__instances__descriptor);
    job->instances->cursor = s->next;
    job->instances->end = s->end;
    return job;
}

/* A request's own job, worked on by this bbs. */
static Board__JobRecord *opened(const char *process_guid, const Models__DesiredLRP *desired,
                                const struct op_input *in, struct arena *a)
{
    Board__JobRecord *job = arena_message(a, &board__job_record__descriptor);
    job->target = arena_strdup(a, process_guid);
    job->kind = desired ? BOARD__JOB_RECORD__KIND__CREATE_INSTANCES
                        : BOARD__JOB_RECORD__KIND__REMOVE_INSTANCES;
    job->domain = arena_strdup(a, desired ? desired->domain : "");
    job->worker = arena_strdup(a, in->boot_id);
    job->trace_id = arena_strdup(a, in->trace_id);
    return job;
}

/* In state `from`, it comes to stand as `left` by this news, or ends when nothing is left. */
static void put_job(const char *process_guid, int from, const Board__JobRecord *left, int trigger,
                    const struct op_input *in, struct plan *p)
{
    trigger = left ? trigger : JOB_TRIGGER_FINISH;
    int to = lifecycle_transition(&job_lifecycle, from, in->actor, trigger, 0);
    assert(to == (left ? JOB_OPEN : JOB_NONE));
    const char *key = key_job(p->arena, process_guid, ""), *name = job_lifecycle.triggers[trigger];
    if (left) {
        plan_put(p, key, name, in->actor, &left->base);
    } else {
        plan_delete(p, key, name, in->actor);
    }
}

void instances_job(const struct instances *s, const char *process_guid,
                   const Models__DesiredLRP *desired, const Board__JobRecord *job,
                   const struct op_input *in, struct plan *p)
{
    bool left = s->next < s->end;
    if (left || job) {
        put_job(process_guid, job ? JOB_OPEN : JOB_NONE,
                left ? with_rest(opened(process_guid, desired, in, p->arena), s, p->arena) : NULL,
                job ? JOB_TRIGGER_REPLACE : JOB_TRIGGER_OPEN, in, p);
    }
}

Board__JobRecord__Instances instances_of_job(const Board__JobRecord *job)
{
    static const Board__JobRecord__Instances nothing = BOARD__JOB_RECORD__INSTANCES__INIT;
    return job->instances ? *job->instances : nothing;
}

static const char *job_target(struct arena *a, const struct op_input *in)
{
    return key_desired(a, ((const Board__JobRecord *)in->request)->target);
}

static void job_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct job_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const char *guid = ((const Board__JobRecord *)in->request)->target;
    s->job = view_message(v, key_job(a, guid, ""));
    if (!s->job) {
        return;
    }
    const Board__JobRecord__Instances range = instances_of_job(s->job);
    s->desired = view_message(v, key_desired(a, guid));
    instances_gather(v, guid, s->desired ? s->desired->instances : 0,
                     s->desired ? s->desired->modification_tag->epoch : "", range.cursor,
                     range.end, &s->instances);
}

/* 1. The job is gone: another bbs ended it, or it was replaced by nothing.
 * 2. The next portion as the DesiredLRP stands now, then the job advances or ends. */
void job_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct job_snapshot *s = snapshot;
    if (!s->job) { /* 1 */
        return;
    }
    const char *guid = s->job->target;
    instances_settle(&s->instances, guid, s->desired, in, p); /* 2 */
    const Board__JobRecord *left = NULL;
    if (s->instances.next < s->instances.end) {
        left = with_rest(arena_copy(p->arena, s->job, sizeof(*s->job)), &s->instances, p->arena);
    }
    put_job(guid, JOB_OPEN, left, JOB_TRIGGER_ADVANCE, in, p);
}

const struct op_row instances_job_row = {
    .name = "instances job",
    .target = job_target,
    .gather = job_gather,
    .decide = job_decide,
    .snapshot_size = sizeof(struct job_snapshot),
};
