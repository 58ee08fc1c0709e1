/* Services of a system. */
#include "bbs/rest/service_named.h"
#include "bbs/rest/show.h"
#include "bbs/route/answer.h"
#include "bbs/service/service.h"
#include "common/base/query.h"
#include "common/model/component_path.h"
#include "common/model/service_owner.h"

#include <string.h>

/* So many instances are named of one service. */
enum { INSTANCES_SHOWN_MAX = 1000 };

/* With a path the list has that service alone, or none. */
void rest_services(struct rest *q, struct view *v, const Board__SystemRecord *system,
                   struct effects *out)
{
    struct arena *a = view_arena(v);
    const char *path = query_value(a, q->query, "path");
    const char *fault = path ? component_path_fault(a, path) : NULL;
    if (fault) {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_PATH", "%s", fault);
        return;
    }
    struct rest_range range = {
        .type = RECORD_SERVICE,
        .key = path ? key_service(a, system->uid, path)
                    : key_range_of(a, RECORD_SERVICE, system->uid),
        .whole_key = path != NULL,
    };
    rest_answer_list(v, &range, show_service, q->ask->request_id, out);
}

/* ---- One ------------------------------------------------------------------------------------- */

const Board__ServiceRecord *service_named(struct view *v, const char *uid, const char *name)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    enum { SERVICES_MAX = 10000 };
    if (*name == '/' && !component_path_fault(a, name)) {
        return view_peek_message(v, key_service(a, uid, name));
    }
    int count = view_peek_range(v, key_range_of(a, RECORD_SERVICE, uid), SERVICES_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__ServiceRecord *s = (const Board__ServiceRecord *)list[i].message;
        if (strcmp(s->id, name) == 0) {
            return s;
        }
    }
    return NULL;
}

size_t service_instances(struct view *v, const Board__ServiceRecord *s,
                         Models__ActualLRP ***ret_list)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = BOARD__SELECTOR__INIT;
    struct blob **blobs;
    selector.type = arena_strdup(a, record_type_name(RECORD_ACTUAL));
    selector.owner = service_owner_of(a, s->uid, s->path);
    size_t count = view_select(v, &selector, &blobs), found = 0;
    *ret_list = ARENA_ARRAY(a, count, Models__ActualLRP *);
    for (size_t i = 0; i < count; i++) {
        ProtobufCMessage *m;
        if (record_decode(a, RECORD_ACTUAL, blob_bytes(blobs[i]), &m, NULL) < 0) {
            continue;
        }
        Models__ActualLRP *lrp = (Models__ActualLRP *)m;
        const Models__ActualLRPInstanceKey *key = lrp->actual_lrp_instance_key;
        if (lrp->actual_lrp_key && key && *key->instance_guid) {
            (*ret_list)[found++] = lrp;
        }
    }
    return found;
}

static void add_instances(struct view *v, const Board__ServiceRecord *s,
                          Board__RestServiceStatus *status)
{
    Models__ActualLRP **list;
    size_t count = service_instances(v, s, &list);
    count = count < INSTANCES_SHOWN_MAX ? count : INSTANCES_SHOWN_MAX;
    status->instances = ARENA_ARRAY(view_arena(v), count, char *);
    for (size_t i = 0; i < count; i++) {
        status->instances[status->n_instances++] = list[i]->actual_lrp_instance_key->instance_guid;
    }
}

void rest_one_service(struct rest *q, struct view *v, const Board__SystemRecord *system,
                      struct effects *out)
{
    const Board__ServiceRecord *s = service_named(v, system->uid, q->name);
    if (!s) {
        rest_refuse(out, q->ask->request_id, 404, "INVALID_SERVICE_ID",
                    "system %s has no service %s", q->system, q->name);
        return;
    }
    const Board__RestService *shown = (const Board__RestService *)show_service(view_arena(v),
                                                                               &s->base);
    add_instances(v, s, shown->status);
    rest_answer(out, q->ask->request_id, 200, &shown->base);
}

/* ---- Restart --------------------------------------------------------------------------------- */

static const ProtobufCMessage *show_restarted(struct arena *a, const ProtobufCMessage *answer)
{
    const Board__ServiceResponse *r = (const Board__ServiceResponse *)answer;
    return r->service ? show_service(a, &r->service->base) : NULL;
}

static void restart(struct rest *q, const char *path, struct effects *out)
{
    struct arena *a = q->ask->arena;
    Board__ServiceRequest *r = arena_message(a, &board__service_request__descriptor);
    r->action = BOARD__SERVICE_REQUEST__ACTION__RESTART;
    r->system = arena_strdup(a, q->system);
    r->path = arena_strdup(a, path);
    q->show = show_restarted;
    q->missing = "INVALID_SERVICE_ID";
    valid_service(&q->ask->faults, r);
    rest_op(q, &service_row, &r->base, out);
}

/* An id stays with its path. Of a system that is not there the op tells. */
static void restart_by_id(void *rest, struct view *v, const char *text, struct effects *out)
{
    struct rest *q = rest;
    (void)text;
    if (!v) {
        rest_not_now(out, q->ask->request_id);
        ask_end(q->ask);
        return;
    }
    const Board__SystemRecord *system = view_peek_message(v, key_system(view_arena(v), q->system));
    const Board__ServiceRecord *s = system ? service_named(v, system->uid, q->name) : NULL;
    if (system && !s) {
        rest_refuse_now(q, out, 404, "INVALID_SERVICE_ID",
                        arena_printf(out->arena, "system %s has no service %s", q->system,
                                     q->name));
        return;
    }
    restart(q, s ? s->path : "/", out);
}

/* The op wants a path: an id is looked up behind the read barrier, as a GET would. */
void rest_restart_service(struct rest *q, struct effects *out)
{
    if (*q->name == '/' && !component_path_fault(q->ask->arena, q->name)) {
        restart(q, q->name, out);
    } else {
        board_barrier(q->ask->router->board, board_arena(), restart_by_id, q, out);
    }
}
