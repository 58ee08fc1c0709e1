/* What the board ever said of each instance: whose it is, and whether it was released since. */
#include "bbs/lrp/move.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static const Models__ActualLRP *bearer(const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)(p ? p->message : NULL);
    const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
    return key && *key->instance_guid ? r : NULL;
}

static const char *guid_of(const Models__ActualLRP *r)
{
    return r ? r->actual_lrp_instance_key->instance_guid : "";
}

static struct instance *named(struct checkers *k, const Models__ActualLRP *r)
{
    struct instance *i = map_get(&k->instances, guid_of(r));
    if (!i) {
        i = ARENA_NEW(&k->history.arena, struct instance);
        *i = (struct instance){
            .guid = guid_of(r),
            .process_guid = r->actual_lrp_key->process_guid,
            .index = r->actual_lrp_key->index,
            .cell_id = r->actual_lrp_instance_key->cell_id,
            .definition_id = "",
            .alone_ns = NEVER_NS,
            .phantom_ns = NEVER_NS,
        };
        for (int presence = 0; presence < 3; presence++) {
            i->keys[presence] =
                key_actual(&k->history.arena, i->process_guid, i->index, presence);
        }
        map_put(&k->instances, i->guid, i);
    }
    i->definition_id = *r->definition_id ? r->definition_id : i->definition_id;
    i->ran = i->ran || strcmp(r->state, "RUNNING") == 0;
    k->forgotten -= i->forgotten;
    i->forgotten = false;
    return i;
}

/* ---- After a restore ---- */

/* Another instance has its index now. */
static bool is_taken(struct checkers *k, const struct instance *i)
{
    for (int presence = 0; presence < 3; presence++) {
        const struct past *p = map_get(&k->history.now, i->keys[presence]);
        if (bearer(p) && strcmp(guid_of(bearer(p)), i->guid) != 0) {
            return true;
        }
    }
    return false;
}

/* What is desired under its name is something else. */
static bool is_outdated(struct checkers *k, struct arena *a, const struct instance *i)
{
    const Models__DesiredLRP *d =
        (const Models__DesiredLRP *)history_now(&k->history, key_desired(a, i->process_guid));
    return d && *i->definition_id && strcmp(d->modification_tag->epoch, i->definition_id) != 0;
}

/* An explicit request of this board generation lets it run no more. */
static bool is_removed(struct checkers *k, struct arena *a, const struct instance *i)
{
    const struct past *p =
        map_get(&k->history.now, key_removal(a, i->process_guid, i->definition_id));
    const Board__RemovalRecord *r = (const Board__RemovalRecord *)(p ? p->message : NULL);
    const Models__DesiredLRP *d =
        (const Models__DesiredLRP *)history_now(&k->history, key_desired(a, i->process_guid));
    return r && p->revision > history_board_generation(&k->history) && i->index >= r->from_index &&
           !index_desired(d, i->index);
}

/* A rep makes the record of a container that the board has forgotten again, and lets it run until
 * it does; where the board says something else meanwhile, the container ends (docs/restore.md). */
static void release_forgotten(struct checkers *k)
{
    SCOPED_ARENA(a);
    MAP_EACH(&k->instances, n)
    {
        struct instance *i = map_value(n);
        if (i->forgotten &&
            (is_taken(k, i) || is_outdated(k, &a, i) || is_removed(k, &a, i))) {
            i->released = true;
        }
    }
}

/* As the board was at `revision`, now by the world's clock. */
static bool is_unwanted(struct checkers *k, struct arena *a, const struct instance *i,
                        const char *domain, int64_t revision)
{
    const struct past *p = history_at(&k->history, key_domain(a, domain), revision);
    const Board__DomainRecord *d = (const Board__DomainRecord *)(p ? p->message : NULL);
    if (!d || p->revision <= history_board_generation(&k->history) ||
        (d->ttl_s && world_now(k->cluster->world) - p->at_ns >= d->ttl_s * SECOND_NS)) {
        return false;
    }
    const struct past *ordinary =
        history_at(&k->history, i->keys[0], revision);
    p = history_at(&k->history, key_desired(a, i->process_guid), revision);
    return !(ordinary && ordinary->message) &&
           !index_desired((const Models__DesiredLRP *)(p ? p->message : NULL), i->index);
}

/* A cell that is being emptied may end a container whose record a restore made the board forget, by
 * the word of a bbs whose board of that moment had the domain upserted and fresh in the board
 * generation of now, and the index neither desired nor held by anybody
 * (bbs/lrp/evacuate_running.c). */
void note_dismissal(struct checkers *k, const struct seen_answer *seen)
{
    const Board__Move *move = seen->move;
    const Board__MoveResult *result = seen->result;
    bool told_to_end = strcmp(move->move, "evacuate_running") == 0 && !result->keep_container &&
                       result->outcome == BOARD__MOVE_RESULT__OUTCOME__NOTHING &&
                       move_instance(move)->actual_lrp_instance_key;
    struct instance *i =
        told_to_end ? map_get(&k->instances,
                              move_instance(move)->actual_lrp_instance_key->instance_guid)
                    : NULL;
    SCOPED_ARENA(a);
    if (i && i->forgotten &&
        is_unwanted(k, &a, i, move_instance(move)->domain, result->revision)) {
        i->released = true;
    }
}

void forget_instances(struct checkers *k)
{
    k->forgotten = 0;
    MAP_EACH(&k->instances, n)
    {
        struct instance *i = map_value(n);
        i->released_early = i->released;
        i->forgotten = !instance_stands(k, i);
        k->forgotten += i->forgotten;
        i->alone_ns = i->phantom_ns = NEVER_NS;
    }
    release_forgotten(k);
}

/* ---- Each revision ---- */

/* A process is desired again: what runs of its definition of before is refused when its rep speaks
 * for it, and ends (design.md 5). A removal has marked what is ORDINARY; what is EVACUATING it
 * leaves alone. */
static void release_outdated(struct checkers *k, const struct past *p)
{
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)p->message;
    bool made = d && !(p->before && p->before->message);
    SCOPED_ARENA(a);
    MAP_EACH(&k->instances, n)
    {
        struct instance *i = map_value(n);
        if (made && strcmp(i->process_guid, d->process_guid) == 0 && is_outdated(k, &a, i)) {
            i->released = true;
        }
    }
}

/* An instance runs: a SUSPECT one of its index may end. Its start has removed that record, unless
 * it did not see it, in a copy that was silently wrong. */
static void release_replaced(struct checkers *k, const Models__ActualLRP *r)
{
    const struct instance *runs = named(k, r);
    const Models__ActualLRP *suspect = (const Models__ActualLRP *)history_now(
        &k->history, runs->keys[MODELS__ACTUAL_LRP__PRESENCE__SUSPECT]);
    bool ordinary = r->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
    if (ordinary && strcmp(r->state, "RUNNING") == 0 && suspect) {
        named(k, suspect)->released = true;
    }
}

void note_instances(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i]->type == RECORD_DESIRED) {
            release_outdated(k, p->list[i]);
        }
        if (p->list[i]->type != RECORD_ACTUAL) {
            continue;
        }
        const Models__ActualLRP *was = bearer(p->list[i]->before), *is = bearer(p->list[i]);
        if (is && is->stopping) {
            named(k, is)->released = true;
        } else if (is) {
            release_replaced(k, is);
        }
        if (was && strcmp(guid_of(was), guid_of(is)) != 0) {
            struct instance *left = named(k, was);
            left->released = left->released || !instance_stands(k, left); /* or under another key */
        }
    }
    if (k->forgotten) {
        release_forgotten(k);
    }
}
