#include "test/decide/validate_rows.h"

char *repeated(struct arena *a, const char *piece, size_t count)
{
    SCOPED_BUF(b);
    for (size_t i = 0; i < count; i++) {
        buf_append_string(&b, piece);
    }
    return arena_strdup(a, buf_string(&b));
}

Models__Action *run_action(struct arena *a)
{
    Models__Action *action = NEW(a, Models__Action, models__action);
    action->run_action = NEW(a, Models__RunAction, models__run_action);
    action->run_action->path = TEXT("/bin/true");
    action->run_action->user = TEXT("root");
    return action;
}

const char *said(struct arena *a, struct validation *v)
{
    const char *text = validation_ok(v) ? "" : arena_strdup(a, validation_text(v));
    validation_done(v);
    return text;
}
