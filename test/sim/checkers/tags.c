/* Modification tags (behaviour.md 10.1, 16.4): a client takes a record for new by its tag. A record
 * that is made has an epoch of its own; within one epoch the index never falls, and what clients
 * can see of a record changes with a higher one; but the presence alone. */
#include <string.h>

#include "test/sim/checkers/checkers.h"
#include "test/sim/checkers/event_frames.h"

/* What clients can see of the record, but tag, presence and the keys, which all presences share. */
static const char *actual_shows(struct arena *a, const Models__ActualLRP *r)
{
    Models__ModificationTag none = MODELS__MODIFICATION_TAG__INIT;
    Models__ActualLRP seen = *r;
    seen.stopping = false;
    seen.definition_id = (char *)(size_t) "";
    seen.owner = NULL;
    seen.presence = MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
    seen.modification_tag = &none;
    return event_actual_text(a, &seen);
}

static void check_tag(struct checkers *k, const struct past *p, const Models__ModificationTag *was,
                      const Models__ModificationTag *is, bool must_rise)
{
    bool same = strcmp(was->epoch, is->epoch) == 0;
    if (same && (is->index < was->index || (must_rise && is->index == was->index))) {
        checkers_report(k, "tags", "%s: %s by %s leads from index %u to %u", p->key,
                        p->cause ? p->cause->move : "?", p->cause ? p->cause->actor : "?",
                        was->index, is->index);
    }
}

static void check_actual(struct checkers *k, const struct past *p, struct arena *a)
{
    const Models__ActualLRP *was = (const Models__ActualLRP *)p->before->message;
    const Models__ActualLRP *is = (const Models__ActualLRP *)p->message;
    bool differs = strcmp(actual_shows(a, was), actual_shows(a, is)) != 0;
    check_tag(k, p, was->modification_tag, is->modification_tag, differs);
}

static void check_desired(struct checkers *k, const struct past *p)
{
    const Models__DesiredLRP *was = (const Models__DesiredLRP *)p->before->message;
    const Models__DesiredLRP *is = (const Models__DesiredLRP *)p->message;
    check_tag(k, p, was->modification_tag, is->modification_tag, true);
}

void check_tags(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    SCOPED_ARENA(a);
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        if (!one->message || !one->before || !one->before->message) {
            continue;
        }
        if (one->type == RECORD_ACTUAL) {
            check_actual(k, one, &a);
        } else if (one->type == RECORD_DESIRED) {
            check_desired(k, one);
        }
    }
}
