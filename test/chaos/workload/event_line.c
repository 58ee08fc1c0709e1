#include "test/chaos/workload/event_line.h"

#include "bbs/cli/frames.h"
#include "common/model/keys.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

#include <stdio.h>
#include <string.h>

static void put_text(json_t *line, const char *name, const char *text)
{
    if (text && text[0]) {
        json_object_set_new(line, name, json_string(text));
    }
}

static void put_number(json_t *line, const char *name, int64_t number)
{
    json_object_set_new(line, name, json_integer((json_int_t)number));
}

static void put_actual(struct arena *a, json_t *line, const Models__ActualLRP *lrp,
                       struct route *route)
{
    const Models__ActualLRPKey *key = lrp->actual_lrp_key;
    const Models__ActualLRPInstanceKey *instance = lrp->actual_lrp_instance_key;
    const Models__ActualLRPNetInfo *net = lrp->actual_lrp_net_info;
    put_text(line, "process", key ? key->process_guid : "");
    put_number(line, "index", key ? key->index : -1);
    put_text(line, "domain", key ? key->domain : "");
    put_number(line, "presence", (int64_t)lrp->presence);
    put_text(line, "state", lrp->state);
    put_text(line, "instance", instance ? instance->instance_guid : "");
    put_text(line, "cell", instance ? instance->cell_id : "");
    put_number(line, "crashes", lrp->crash_count);
    if (lrp->stopping) {
        json_object_set_new(line, "stopping", json_true());
    }
    if (key && strcmp(lrp->state, "RUNNING") == 0 && net && net->n_ports > 0 && instance) {
        snprintf(route->address, sizeof(route->address), "%s:%u", net->address,
                 net->ports[0]->host_port);
        snprintf(route->instance, sizeof(route->instance), "%s", instance->instance_guid);
        put_text(line, "address", route->address);
    }
    snprintf(route->process, sizeof(route->process), "%s", key ? key->process_guid : "?");
    route->index = key ? key->index : -1;
    (void)a;
}

static void put_task(json_t *line, const Models__Task *t)
{
    static const char *const words[] = {"Invalid", "Pending", "Running", "Completed", "Resolving"};
    put_text(line, "task", t->task_guid);
    put_text(line, "state", (unsigned)t->state < 5 ? words[t->state] : "other");
    put_text(line, "cell", t->cell_id);
    put_text(line, "result", t->failed ? t->failure_reason : t->result);
    put_number(line, "failed", t->failed);
    put_text(line, "attempt", t->attempt);
}

static void put_record(struct arena *a, json_t *line, enum record_type type,
                       const ProtobufCMessage *m, struct route *route)
{
    const Models__DesiredLRP *desired = (const void *)m;
    const Board__DomainRecord *domain = (const void *)m;
    const Board__CellRecord *cell = (const void *)m;
    const Board__LeaderLockRecord *lead = (const void *)m;
    const Board__LimiterRecord *limiter = (const void *)m;
    switch (type) {
    case RECORD_ACTUAL:
        put_actual(a, line, (const void *)m, route);
        break;
    case RECORD_TASK:
        put_task(line, (const void *)m);
        break;
    case RECORD_DESIRED:
        put_text(line, "process", desired->process_guid);
        put_text(line, "domain", desired->domain);
        put_number(line, "instances", desired->instances);
        put_text(line, "annotation", desired->annotation);
        break;
    case RECORD_DOMAIN:
        put_text(line, "domain", domain->domain);
        put_number(line, "ttl_s", domain->ttl_s);
        break;
    case RECORD_CELL:
        put_text(line, "cell", cell->presence ? cell->presence->cell_id : "");
        put_text(line, "state",
                 cell->state == BOARD__CELL_RECORD__STATE__LOST ? "LOST" : "PRESENT");
        put_number(line, "incarnation", (int64_t)cell->incarnation);
        put_number(line, "evacuating", cell->evacuating);
        break;
    case RECORD_LEADER_LOCK:
        put_text(line, "role", lead->role);
        put_text(line, "holder", lead->holder);
        break;
    case RECORD_LIMITER:
        put_number(line, "limiter", (int64_t)limiter->state);
        break;
    default:
        break;
    }
}

json_t *event_line(struct arena *a, const Board__FeedFrame *frame, struct route *ret_route)
{
    *ret_route = (struct route){.index = -1, .revision = frame->revision};
    bool gone = frame->kind == BOARD__FEED_FRAME__KIND__DELETE;
    json_t *line = json_object();
    put_text(line, "kind", "event");
    put_text(line, "what",
             frame->kind == BOARD__FEED_FRAME__KIND__RECORD ? "snapshot"
             : gone                                         ? "gone"
                                                            : "put");
    put_number(line, "revision", frame->revision);
    put_number(line, "made", frame->create_revision);
    put_number(line, "changed", frame->mod_revision);
    put_text(line, "key", frame->key);
    put_text(line, "record", record_type_name(key_type(frame->key)));
    const ProtobufCMessage *m = frame_record(a, frame);
    if (m) {
        put_record(a, line, key_type(frame->key), m, ret_route);
    }
    return line;
}
