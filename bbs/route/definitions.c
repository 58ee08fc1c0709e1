/* Definitions of app instances, for the CRMs that run them. */
#include "bbs/route/answer.h"
#include "bbs/route/crm.h"
#include "bbs/route/read.h"
#include "common/model/edge_name.h"

#include <string.h>

static const char *instance_key(struct arena *a, const struct ask *ask)
{
    const Board__Subject *s = ask->in.request;
    return edge_name_fault(a, RECORD_APPINST, s->key) ? "" : key_edge(a, RECORD_APPINST, s->key);
}

static const ProtobufCMessage *definition(const struct ask *ask, struct view *v)
{
    struct arena *a = view_arena(v);
    const Board__AppInstRecord *instance = view_message(v, instance_key(a, ask));
    const Board__EdgeAppRevisionRecord *found =
        instance && instance->spec ? view_message(v, key_appdef(a, edge_app_of(a, instance->name),
                                                                instance->spec->revision))
                                   : NULL;
    return found ? &found->base : arena_message(a, &board__edge_app_revision_record__descriptor);
}

static const struct read_row read_definition = {.message = definition};

/* 1. Of an instance of its own cloudlet: else the request is denied, whatever there is. */
void route_definition(struct ask *ask, struct effects *out)
{
    const Board__Subject *s = ask->in.request;
    const char *key = instance_key(out->arena, ask);
    bool kind = strcmp(s->kind, record_type_name(RECORD_APPINST)) == 0;
    if (!kind || !crm_owns(out->arena, ask->in.peer_name, key)) { /* 1 */
        answer_text(out, ask->request_id, 403,
                    arena_printf(out->arena,
                                 "the certificate is of cloudlet %s, and app instance \"%.200s\" "
                                 "is not its own\n",
                                 ask->in.peer_name, s->key));
        ask_end(ask);
        return;
    }
    ask->read = &read_definition;
    route_read(ask, out);
}
