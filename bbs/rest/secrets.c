/* Secrets of a system. Their values are shown one by one, to who asks for it. */
#include "bbs/rest/show.h"
#include "bbs/secret/secret.h"
#include "common/codec/secrets.h"
#include "common/model/component_path.h"

#include <string.h>

/* None has a value in a list. */
static const ProtobufCMessage *show_secret(struct arena *a, const ProtobufCMessage *record)
{
    const Board__SecretRecord *r = (const Board__SecretRecord *)record;
    Board__RestSecret *shown = arena_message(a, &board__rest_secret__descriptor);
    shown->path = r->sealed ? r->sealed->name : shown->path;
    shown->value = arena_strdup(a, SECRET_TEXT);
    shown->set_at = show_time(a, r->set_at);
    shown->set_by = r->set_by;
    return &shown->base;
}

void rest_secrets(struct rest *q, struct view *v, const Board__SystemRecord *system,
                  struct effects *out)
{
    const struct rest_range range = {
        .type = RECORD_SECRET, .key = key_range_of(view_arena(v), RECORD_SECRET, system->uid)};
    rest_answer_list(v, &range, show_secret, q->ask->request_id, out);
}

void rest_one_secret(struct rest *q, struct view *v, const Board__SystemRecord *system,
                     struct effects *out)
{
    struct arena *a = view_arena(v);
    uint64_t id = q->ask->request_id;
    const char *fault = component_subname_fault(a, q->name, false);
    if (fault) {
        rest_refuse(out, id, 400, "INVALID_PATH", "%s", fault);
        return;
    }
    const Board__SecretResponse *told =
        secret_told(v, q->ask->router->seal, system->id, q->name);
    if (told->error) {
        bool missing = told->error->type == MODELS__ERROR__TYPE__ResourceNotFound;
        rest_refuse(out, id, missing ? 404 : 409, missing ? "INVALID_SECRET" : "CONFLICT", "%s",
                    told->error->message);
        return;
    }
    Board__RestSecret *shown = arena_message(a, &board__rest_secret__descriptor);
    shown->path = told->secret->name;
    shown->value = told->value;
    shown->set_at = show_time(a, told->secret->set_at);
    shown->set_by = told->secret->set_by;
    rest_answer(out, id, 200, &shown->base);
}

/* A name that is none is answered; true if it is one. */
static bool name_is_good(struct rest *q, struct effects *out)
{
    const char *fault = component_subname_fault(out->arena, q->name, false);
    if (fault) {
        rest_refuse_now(q, out, 400, "INVALID_PATH", fault);
    }
    return !fault;
}

void rest_set_secret(struct rest *q, struct effects *out)
{
    const Board__RestSecretRequest *body = q->body;
    struct arena *a = q->ask->arena;
    Board__SetSecretRequest *r = arena_message(a, &board__set_secret_request__descriptor);
    if (!name_is_good(q, out)) {
        return;
    }
    r->system = arena_strdup(a, q->system);
    r->name = arena_strdup(a, q->name);
    r->value = (ProtobufCBinaryData){strlen(body->value), (uint8_t *)body->value};
    q->missing = "INVALID_SECRET";
    q->show = show_secret;
    valid_set_secret(&q->ask->faults, r);
    rest_op(q, &set_secret_row, &r->base, out);
}

/* One that is not set is as it should be. */
void rest_unset_secret(struct rest *q, struct effects *out)
{
    struct arena *a = q->ask->arena;
    Board__SecretRequest *r = arena_message(a, &board__secret_request__descriptor);
    if (!name_is_good(q, out)) {
        return;
    }
    r->system = arena_strdup(a, q->system);
    r->name = arena_strdup(a, q->name);
    q->missing = "INVALID_SECRET";
    valid_secret(&q->ask->faults, r);
    rest_op(q, &unset_secret_row, &r->base, out);
}
