#include "rep/instance/instance.h"

#include "rep/container/note.h"
#include "rep/container/room.h"
#include "rep/inside.h"

#include <string.h>

/* Of a UUID's text, as Diego's rep cuts it. */
enum { INSTANCE_GUID_CHARACTERS = 28 };

static void new_guid(struct rep *r, char guid[GUID_BYTES])
{
    do {
        random_guid(&r->random, guid);
        guid[INSTANCE_GUID_CHARACTERS] = '\0';
    } while (container_find(&r->containers, guid));
}

static Rep__Note *reservation_note(struct rep *r, const Cell__LRP *lrp)
{
    char guid[GUID_BYTES];
    new_guid(r, guid);
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = lrp->process_guid;
    key.index = lrp->index;
    key.domain = lrp->domain;
    Rep__Note note = REP__NOTE__INIT;
    note.format = NOTE_FORMAT;
    note.key = &key;
    note.instance_guid = guid;
    note.definition_id = lrp->definition_id;
    note.incarnation = r->config.incarnation;
    note.root_fs = lrp->rootfs;
    note.memory_mb = lrp->memorymb;
    note.disk_mb = lrp->diskmb;
    note.max_pids = lrp->maxpids;
    note.n_placement_tags = lrp->n_placementtags;
    note.placement_tags = lrp->placementtags;
    return note_copy(&note);
}

/* The auctioneer repeats what it does not see claimed after 5 s. */
static bool is_starting_here(const struct rep *r, const Cell__LRP *lrp)
{
    const struct container *c = container_of_index(&r->containers, lrp->process_guid, lrp->index);
    return c && container_is_starting(c) && !container_stop_asked(c) && !c->deleting &&
           strcmp(c->about->definition_id, lrp->definition_id) == 0;
}

static bool is_acceptable(const struct rep *r, const Cell__LRP *lrp)
{
    return lrp->process_guid[0] != '\0' && lrp->domain[0] != '\0' && lrp->index >= 0 &&
           room_has_drivers(r, lrp->volumedrivers, lrp->n_volumedrivers) &&
           room_has_rootfs(r, lrp->rootfs);
}

bool instance_reserve(struct rep *r, const Cell__LRP *lrp, struct effects *out)
{
    if (is_starting_here(r, lrp)) {
        return true;
    }
    if (!is_acceptable(r, lrp)) {
        return false;
    }
    Rep__Note *note = reservation_note(r, lrp);
    if (lrp->memorymb < 0 ||
        !capacity_take(&r->capacity, room_memory_mb(r, note), lrp->diskmb)) {
        rep__note__free_unpacked(note, NULL);
        return false;
    }
    struct container *c = container_add(&r->containers, note);
    c->reserved_until_ns = r->now.mono_ns + r->config.reservation_ns;
    container_transition(c, PHASE_TRIGGER_RESERVE, "work accepted", out);
    return true;
}
