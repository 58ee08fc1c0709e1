/* Secrets of systems, and the keys that they are sealed by. */
#include "bbs/route/answer.h"
#include "bbs/route/read.h"
#include "bbs/secret/secret.h"

static void valid_list(struct validation *v, const void *request)
{
    valid_secrets(v, request);
}

static const ProtobufCMessage *told_secrets(const struct ask *ask, struct view *v)
{
    const Board__SecretsRequest *r = ask->in.request;
    return &secrets_told(v, r->system)->base;
}

static const ProtobufCMessage *told_keys(const struct ask *ask, struct view *v)
{
    return &keys_told(v, ask->in.seal)->base;
}

const struct read_row read_secrets = {.valid = valid_list, .message = told_secrets};
const struct read_row read_keys = {.message = told_keys};

static void answer_value(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    const struct ask *ask = context;
    const Board__SecretRequest *r = ask->in.request;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    effects_reply_message(out, ask->request_id,
                          &secret_told(v, ask->in.seal, r->system, r->name)->base);
}

void route_secret_value(struct ask *ask, struct effects *out)
{
    valid_secret(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_read(ask, answer_value, out);
    }
}

void route_set_secret(struct ask *ask, struct effects *out)
{
    valid_set_secret(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &set_secret_row, out);
    }
}

void route_unset_secret(struct ask *ask, struct effects *out)
{
    valid_secret(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &unset_secret_row, out);
    }
}

void route_rewrap_key(struct ask *ask, struct effects *out)
{
    valid_rewrap(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &rewrap_key_row, out);
    }
}
