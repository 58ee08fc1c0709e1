#include "bbs/route/answer.h"

#include "common/model/not_done.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/evacuation.pb-c.h"

void answer_well(struct effects *out, uint64_t request_id)
{
    effects_reply(out, request_id, 200, PROTOBUF_TYPE, (struct bytes){0});
}

void answer_well_json(struct effects *out, uint64_t request_id)
{
    effects_reply(out, request_id, 200, JSON_TYPE, bytes_of("{}\n"));
}

void answer_error(struct effects *out, uint64_t request_id, Models__Error__Type type,
                  const char *message)
{
    Models__Error error = MODELS__ERROR__INIT;
    error.type = type;
    error.message = (char *)(uintptr_t)message;
    /* Every response has the error in field 1, so one of them serves for all. */
    Models__ActualLRPLifecycleResponse response = MODELS__ACTUAL_LRPLIFECYCLE_RESPONSE__INIT;
    response.error = &error;
    effects_reply_message(out, request_id, &response.base);
}

void answer_evacuation(struct effects *out, uint64_t request_id, Models__Error__Type type,
                       const char *text, bool keep)
{
    Models__Error error = MODELS__ERROR__INIT;
    error.type = type;
    error.message = (char *)(uintptr_t)text;
    Models__EvacuationResponse response = MODELS__EVACUATION_RESPONSE__INIT;
    response.error = text ? &error : NULL;
    response.keep_container = keep;
    effects_reply_message(out, request_id, &response.base);
}

void answer_text(struct effects *out, uint64_t request_id, int status, const char *text)
{
    effects_reply(out, request_id, status, TEXT_TYPE, bytes_of(text));
}

void answer_unavailable(struct effects *out, uint64_t request_id)
{
    effects_reply(out, request_id, 503, "", (struct bytes){0});
    out->list[out->count - 1].reply.retry_after_s = 1;
}

void answer_not_done(struct effects *out, uint64_t request_id, const char *text)
{
    answer_text(out, request_id, 503, arena_printf(out->arena, NOT_DONE "%s\n", text));
    out->list[out->count - 1].reply.retry_after_s = 1;
}

void answer_unsure(struct effects *out, uint64_t request_id)
{
    answer_text(out, request_id, 503, "the store has not answered in time\n");
    out->list[out->count - 1].reply.retry_after_s = 1;
}

void answer_broken(struct effects *out, uint64_t request_id)
{
    effects_reply(out, request_id, 500, "", (struct bytes){0});
}

void answer_wrong_method(struct effects *out, uint64_t request_id, const char *allow)
{
    answer_text(out, request_id, 405, "Method Not Allowed\n");
    out->list[out->count - 1].reply.allow = allow;
}
