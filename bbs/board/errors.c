#include "bbs/board/errors.h"

static const struct {
    Models__Error__Type type;
    const char *text;
} texts[] = {
    {MODELS__ERROR__TYPE__InvalidRequest, "the request received is invalid"},
    {MODELS__ERROR__TYPE__ResourceConflict, "the requested resource is in a conflicting state"},
    {MODELS__ERROR__TYPE__ResourceExists, "the requested resource already exists"},
    {MODELS__ERROR__TYPE__ResourceNotFound, "the requested resource could not be found"},
    {MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed, "cannot claim actual LRP"},
    {MODELS__ERROR__TYPE__ActualLRPCannotBeStarted, "cannot start actual LRP"},
    {MODELS__ERROR__TYPE__ActualLRPCannotBeCrashed, "cannot crash actual LRP"},
    {MODELS__ERROR__TYPE__ActualLRPCannotBeFailed, "cannot fail actual LRP"},
    {MODELS__ERROR__TYPE__ActualLRPCannotBeRemoved, "cannot remove actual LRP"},
    {MODELS__ERROR__TYPE__ActualLRPCannotBeUnclaimed, "cannot unclaim actual LRP"},
};

const char *error_text(Models__Error__Type type)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].type == type) {
            return texts[i].text;
        }
    }
    return "the request failed for an unknown reason";
}

void plan_refuse_as(struct plan *p, Models__Error__Type type)
{
    plan_refuse(p, type, "%s", error_text(type));
}

void plan_answer_error(struct plan *p, Models__Error__Type type)
{
    p->error_type = type;
    p->error_message = error_text(type);
}

bool plan_error(const struct plan *p, Models__Error *out)
{
    if (p->verdict != PLAN_REFUSE && !p->error_message[0]) {
        return false;
    }
    models__error__init(out);
    out->type = p->error_type;
    out->message = (char *)(uintptr_t)p->error_message;
    return true;
}
