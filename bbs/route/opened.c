#include "bbs/route/opened.h"

#include "bbs/route/whole_desired.h"
#include "bbs/secret/secret.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"

#include <assert.h>
#include <string.h>

/* Why what is sealed in the message cannot be opened; NULL: it is. */
static Models__Error *open_all(const struct ask *ask, struct view *v, ProtobufCMessage *m)
{
    const char *why = secrets_open(v, ask->in.seal, m);
    if (!why) {
        return NULL;
    }
    Models__Error *error = arena_message(view_arena(v), &models__error__descriptor);
    error->type = MODELS__ERROR__TYPE__UnknownError;
    error->message = arena_strdup(view_arena(v), why);
    return error;
}

/* ---- A DesiredLRP ---------------------------------------------------------------------------- */

/* Whether an instance of the process was given to the cell, in whatever state. */
static bool is_on_cell(struct view *v, const char *process_guid, const char *cell_id)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = read_selector(v, RECORD_ACTUAL);
    struct picked *list;
    if (!*cell_id) {
        return false; /* a selector without one means any */
    }
    selector.key_prefix = arena_strdup(a, key_actual_process(a, process_guid));
    selector.cell_id = arena_strdup(a, cell_id);
    return view_pick(v, &selector, &list) > 0;
}

const ProtobufCMessage *opened_desired(const struct ask *ask, struct view *v,
                                       const struct picked *one)
{
    Models__DesiredLRP *d = whole_desired_decoded(v, one);
    if (!d || !sealed_values_any(&d->base) ||
        !is_on_cell(v, d->process_guid, ask->in.peer_name)) {
        return NULL;
    }
    Models__DesiredLRPResponse *r =
        arena_message(view_arena(v), &models__desired_lrpresponse__descriptor);
    r->error = open_all(ask, v, &d->base);
    r->desired_lrp = r->error ? NULL : d;
    return &r->base;
}

/* ---- A task ---------------------------------------------------------------------------------- */

const ProtobufCMessage *opened_task(const struct ask *ask, struct view *v,
                                    const struct picked *one)
{
    ProtobufCMessage *m;
    if (record_decode(view_arena(v), RECORD_TASK, blob_bytes(one->blob), &m, NULL) < 0) {
        return NULL;
    }
    Models__Task *task = (Models__Task *)m;
    bool runs = task->state == MODELS__TASK__STATE__Running && *task->cell_id &&
                strcmp(task->cell_id, ask->in.peer_name) == 0;
    if (!runs || !sealed_values_any(m)) {
        return NULL;
    }
    Models__TaskResponse *r = arena_message(view_arena(v), &models__task_response__descriptor);
    r->error = open_all(ask, v, m);
    r->task = r->error ? NULL : task;
    return &r->base;
}
