/* DesiredLRPs without instances as registers: several clients create, change, remove and read the
 * same few, each call at a bbs that is drawn anew. Every value is written once. */
#include "test/chaos/workload/asks.h"
#include "test/chaos/workload/work.h"

#include <stdio.h>
#include <string.h>

static json_t *see_annotation(const ProtobufCMessage *answer)
{
    const Models__DesiredLRPResponse *r = (const void *)answer;
    return r->desired_lrp ? json_string(r->desired_lrp->annotation) : json_null();
}

static struct asked written(struct worker *w, struct arena *a, const char *guid, unsigned long n)
{
    struct asked ask = {.key = arena_printf(a, "lrp/%s", guid),
                        .value = arena_printf(a, "%d-%lu", w->number, n),
                        .instances = -1,
                        .answer_type = &models__desired_lrplifecycle_response__descriptor};
    struct ask_lrp lrp = {guid, CHAOS_DOMAIN, w->work->target.rootfs, ask.value, 0};
    uint64_t drawn = worker_draw(w, 10);
    if (drawn < 3) {
        ask.op = "create", ask.path = "/v1/desired_lrp/desire.r2";
        ask.request = ask_desire(a, &lrp);
    } else if (drawn < 8) {
        ask.op = "update", ask.path = "/v1/desired_lrp/update";
        ask.request = ask_update(a, guid, ask.value, -1);
    } else {
        ask.op = "remove", ask.path = "/v1/desired_lrp/remove";
        ask.request = ask_remove(a, guid);
        ask.value = NULL;
    }
    return ask;
}

static void read_one(struct worker *w, struct arena *a, const char *guid)
{
    worker_ask(w, a,
               &(struct asked){.op = "get",
                               .key = arena_printf(a, "lrp/%s", guid),
                               .path = "/v1/desired_lrps/get_by_process_guid.r3",
                               .request = ask_get(a, guid),
                               .answer_type = &models__desired_lrpresponse__descriptor,
                               .see = see_annotation,
                               .instances = -1});
}

/* All registers of the run, as a list shows them: {guid: annotation}. The judge takes it for a get
 * of each. */
static json_t *see_all(const ProtobufCMessage *answer)
{
    const Models__DesiredLRPsResponse *r = (const void *)answer;
    json_t *all = json_object();
    for (size_t i = 0; i < r->n_desired_lrps; i++) {
        const char *guid = r->desired_lrps[i]->process_guid;
        const char *part = strstr(guid, "-register-");
        if (part) {
            json_object_set_new(all, guid, json_string(r->desired_lrps[i]->annotation));
        }
    }
    return all;
}

static void read_list(struct worker *w, struct arena *a)
{
    worker_ask(w, a,
               &(struct asked){.op = "list",
                               .key = arena_printf(a, "lrp/%s-register-", w->work->run),
                               .path = "/v1/desired_lrps/list.r3",
                               .request = ask_list(a, CHAOS_DOMAIN),
                               .answer_type = &models__desired_lrps_response__descriptor,
                               .see = see_all,
                               .instances = -1});
}

void *work_registers(void *worker)
{
    struct worker *w = worker;
    for (unsigned long n = 0; !atomic_load(&w->work->stop); n++) {
        SCOPED_ARENA(a);
        const char *guid =
            arena_printf(&a, "%s-register-%d", w->work->run, (int)worker_draw(w, WORK_REGISTERS));
        uint64_t drawn = worker_draw(w, 10);
        if (drawn < 5 && !atomic_load(&w->work->rest)) {
            struct asked ask = written(w, &a, guid, n);
            worker_ask(w, &a, &ask);
            read_one(w, &a, guid); /* at once, at another bbs perhaps: of a copy that is behind */
        } else if (drawn < 8) {
            read_one(w, &a, guid);
        } else {
            read_list(w, &a);
        }
        chaos_sleep_ms(WORK_CALL_MS);
    }
    return NULL;
}
