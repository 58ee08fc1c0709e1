#include "rep/instance/instance.h"

#include "rep/inside.h"

static enum harmony_container side_of(const struct container *c)
{
    switch (c->phase) {
    case PHASE_RESERVED:
        return WITH_RESERVED;
    case PHASE_INITIALIZING:
    case PHASE_CREATED:
        return WITH_STARTING;
    case PHASE_RUNNING:
        return WITH_RUNNING;
    default:
        return container_stop_asked(c) ? WITH_SHUTDOWN : WITH_CRASHED;
    }
}

static enum harmony_record record_of(const struct rep *r, const struct container *c)
{
    return knowledge_of(&r->knowledge, NULL, c->about->key, container_guid(c), NULL);
}

/* Before the feed brought its first snapshot an unseen record says nothing: wait for it. */
struct harmony instance_judge(const struct rep *r, struct container *c)
{
    enum harmony_record record = record_of(r, c);
    if (record == RECORD_IS_UNSEEN && r->feed_client.revision == 0) {
        return (struct harmony){0, HARMONY_NOTHING, "the board is not known yet"};
    }
    if (!r->drain.on) {
        return harmonise(side_of(c), record);
    }
    struct harmony h = harmonise_evacuating(side_of(c), record);
    if (h.action == HARMONY_EVACUATE_RUNNING && harmony_record_is_own(record) &&
        r->now.mono_ns < c->kept_until_ns) {
        container_due(c, c->kept_until_ns);
        h.action = HARMONY_NOTHING; /* bbs said so a moment ago */
    }
    return h;
}

bool instance_is_told_otherwise(const struct rep *r, const struct container *c)
{
    const Models__ActualLRP *record;
    SCOPED_ARENA(scratch);
    knowledge_of(&r->knowledge, &scratch, c->about->key, container_guid(c), &record);
    return record && record->optional_routable_case && c->phase == PHASE_RUNNING &&
           record->routable != health_is_routable(c->about->health);
}

struct harmony instance_judge_refused(const struct rep *r, const struct container *c,
                                      enum harmony_action action, Models__Error__Type type)
{
    return r->drain.on ? harmonise_evacuating_refused(side_of(c), record_of(r, c), action, type)
                       : harmonise_refused(side_of(c), record_of(r, c), action, type);
}

bool instance_may_launch(const struct rep *r, struct container *c)
{
    struct harmony h = instance_judge(r, c);
    return !container_stop_asked(c) && !c->deleting && h.action == HARMONY_GO_ON;
}
