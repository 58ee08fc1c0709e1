#include "rep/removal.h"

#include "rep/inside.h"
#include "rep/operation.h"
#include "rep/room.h"

#include <assert.h>

void removal_end(struct rep *r, struct container *c, const char *why, struct effects *out)
{
    assert(c->op == OP_NONE);
    room_give(r, c);
    r->listing.removed_id = r->next_id;
    const char *key = c->kind->record_key(r, c, out->arena);
    container_move(c, PHASE_NEWS_DELETED, why, out);
    if (key) {
        moves_look_at_stray(r, key, out);
    }
}

void removal_continue(struct rep *r, struct container *c, struct effects *out)
{
    if (!c->made) {
        removal_end(r, c, "nothing is left to delete", out);
    } else if (!operation_must_wait(r, c)) {
        operation_verb(r, c, OP_REMOVE, out)->label = c->kind->label(c, out->arena);
    }
}

void removal_verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                  struct effects *out)
{
    if (answer->outcome == VERB_DONE) {
        removal_end(r, c, "deleted", out);
        return;
    }
    effects_log(out, LOG_WARN_LEVEL, "container not deleted", "%s why=\"%s\"",
                c->kind->words(c, out->arena), answer->text);
    operation_retry_later(r, c);
}
