#include "bbs/cli/record_text.h"

#include "bbs/cli/lrps.h"
#include "bbs/cli/tasks.h"

const char *record_text(struct arena *a, enum record_type type, const ProtobufCMessage *m)
{
    static const char *(*const texts[RECORD_TYPE_COUNT])(struct arena *,
                                                         const ProtobufCMessage *) = {
#define RECORD_ROW(ID, name, key, message, lifecycle, place, tags, topic, text, story, ...) \
    [RECORD_##ID] = record_text_##text,
#include "common/model/records.def"
        [RECORD_UNKNOWN] = record_text_nothing,
    };
    return texts[type](a, m);
}

const char *record_text_nothing(struct arena *a, const ProtobufCMessage *m)
{
    (void)a, (void)m;
    return "";
}

const char *record_text_actual(struct arena *a, const ProtobufCMessage *m)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)m;
    const Models__ActualLRPInstanceKey *at = r->actual_lrp_instance_key;
    const char *cell = at && *at->cell_id ? arena_printf(a, " on %s", at->cell_id) : "";
    const char *net = net_info_text(a, r->actual_lrp_net_info);
    const char *problem = lrp_reason(r);
    return arena_printf(a, "%s%s%s%s%s%s%s", state_text(a, r), cell, *net == '-' ? "" : " ",
                        *net == '-' ? "" : net, *problem ? " (" : "", problem, *problem ? ")" : "");
}

const char *record_text_limiter(struct arena *a, const ProtobufCMessage *m)
{
    const Board__LimiterRecord *limiter = (const Board__LimiterRecord *)m;
    const ProtobufCEnumValue *state = protobuf_c_enum_descriptor_get_value(
        &board__limiter_record__state__descriptor, (int)limiter->state);
    return arena_printf(a, "%s, %zu cells", state ? state->name : "?", limiter->n_cells);
}

const char *record_text_cell(struct arena *a, const ProtobufCMessage *m)
{
    const Board__CellRecord *c = (const Board__CellRecord *)m;
    const ProtobufCEnumValue *state =
        protobuf_c_enum_descriptor_get_value(&board__cell_record__state__descriptor, (int)c->state);
    return arena_printf(a, "%s%s%s incarnation %llu%s%s%s", state ? state->name : "?",
                        c->presence ? " zone " : "", c->presence ? c->presence->zone : "",
                        (unsigned long long)c->incarnation, c->evacuating ? " evacuating" : "",
                        *c->pool ? " of " : "", c->pool);
}

const char *record_text_desired(struct arena *a, const ProtobufCMessage *m)
{
    const Models__DesiredLRP *lrp = (const Models__DesiredLRP *)m;
    return arena_printf(a, "%s, %d instance%s", lrp_name(lrp), (int)lrp->instances,
                        lrp->instances == 1 ? "" : "s");
}

const char *record_text_leader_lock(struct arena *a, const ProtobufCMessage *m)
{
    const Board__LeaderLockRecord *leader_lock = (const Board__LeaderLockRecord *)m;
    return arena_printf(a, "held by %s at %s", leader_lock->holder, leader_lock->url);
}

const char *record_text_task(struct arena *a, const ProtobufCMessage *m)
{
    const Models__Task *task = (const Models__Task *)m;
    bool why = task_is_over(task) && task->failed;
    return arena_printf(a, "%s%s%s%s%s%s", task_state_text(a, task),
                        *task->cell_id ? " on " : "", task->cell_id, why ? " (" : "",
                        why ? task_failure_text(a, task) : "", why ? ")" : "");
}
