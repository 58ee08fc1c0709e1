/* Services of a system. */
#include "bbs/rest/show.h"
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

/* By its id, or by its path; NULL = there is none. */
static const Board__ServiceRecord *service_named(struct view *v, const char *uid, const char *name)
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

static void add_instances(struct view *v, const Board__ServiceRecord *s,
                          Board__RestServiceStatus *status)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = BOARD__SELECTOR__INIT;
    struct blob **blobs;
    selector.type = arena_strdup(a, record_type_name(RECORD_ACTUAL));
    selector.owner = service_owner_of(a, s->uid, s->path);
    size_t count = view_select(v, &selector, &blobs);
    count = count < INSTANCES_SHOWN_MAX ? count : INSTANCES_SHOWN_MAX;
    status->instances = ARENA_ARRAY(a, count, char *);
    for (size_t i = 0; i < count; i++) {
        ProtobufCMessage *m;
        if (record_decode(a, RECORD_ACTUAL, blob_bytes(blobs[i]), &m, NULL) < 0) {
            continue;
        }
        const Models__ActualLRP *lrp = (const Models__ActualLRP *)m;
        const Models__ActualLRPInstanceKey *key = lrp->actual_lrp_instance_key;
        if (key && *key->instance_guid) {
            status->instances[status->n_instances++] = key->instance_guid;
        }
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

/* The op wants a path, and an id is looked up in the copy as it stands: it stays with its path. */
void rest_restart_service(struct rest *q, struct effects *out)
{
    struct arena *a = q->ask->arena;
    bool path = *q->name == '/' && !component_path_fault(a, q->name);
    struct view *v = board_view(q->ask->router->board, a);
    const Board__SystemRecord *system = view_peek_message(v, key_system(a, q->system));
    const Board__ServiceRecord *s = system && !path ? service_named(v, system->uid, q->name) : NULL;
    if (system && !path && !s) {
        rest_refuse_now(q, out, 404, "INVALID_SERVICE_ID",
                        arena_printf(out->arena, "system %s has no service %s", q->system,
                                     q->name));
        return;
    }
    Board__ServiceRequest *r = arena_message(a, &board__service_request__descriptor);
    r->action = BOARD__SERVICE_REQUEST__ACTION__RESTART;
    r->system = arena_strdup(a, q->system);
    r->path = s ? s->path : arena_strdup(a, path ? q->name : "/");
    q->show = show_restarted;
    q->missing = "INVALID_SERVICE_ID";
    valid_service(&q->ask->faults, r);
    rest_op(q, &service_row, &r->base, out);
}
