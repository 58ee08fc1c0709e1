#include "bbs/units/unit_charm.h"

#include "bbs/lrp/validate.h"
#include "bbs/units/facts.h"
#include "bbs/units/references.h"
#include "common/base/message.h"
#include "common/lifecycle/relation.h"

#include <assert.h>
#include <string.h>

void valid_unit_charm(struct validation *v, const Board__Charm *charm)
{
    SCOPED_ARENA(a);
    const char *fault = charm_message_fault(&a, charm);
    if (fault) {
        say(v, arena_printf(&a, "charm: %s", fault));
        return;
    }
    const Models__DesiredLRP *run = charm->run;
    check_length(v, run->root_fs, ROOT_FS_CHARACTERS_MAX);
    not_negative(v, run->memory_mb, "memory_mb");
    not_negative(v, run->disk_mb, "disk_mb");
    not_negative(v, run->max_pids, "max_pids");
    valid_placement_tags(v, run->placementtags, run->n_placementtags);
    if (!*run->root_fs) {
        say_field(v, "rootfs");
    }
    if (run->action) {
        valid_action_of(v, run->action, "action");
    }
}

int unit_charm_read(struct arena *a, const char *file, Board__Charm **ret_charm, struct err *err)
{
    struct charm charm;
    int r = charm_parse(a, "charm", bytes_of(file), &charm, err);
    if (r == 0) {
        *ret_charm = charm_message(a, &charm);
    }
    return r;
}

const char *unit_charm_digest(struct arena *a, const Board__Charm *charm)
{
    return arena_printf(a, "%016llx",
                        (unsigned long long)bytes_hash(message_packed(a, &charm->base)));
}

Board__CharmRecord *unit_charm_record(struct arena *a, const char *service,
                                      const Board__Charm *charm)
{
    Board__CharmRecord *r = arena_message(a, &board__charm_record__descriptor);
    r->service = arena_strdup(a, service);
    r->digest = arena_strdup(a, unit_charm_digest(a, charm));
    r->charm = (Board__Charm *)(uintptr_t)charm;
    return r;
}

const char *unit_settings_fault(struct arena *a, const Board__Charm *charm,
                                Board__UnitSetting *const *settings, size_t count)
{
    struct charm c = charm_of_message(a, charm);
    struct charm_value *given = ARENA_ARRAY(a, count, struct charm_value);
    const struct charm_value *all;
    size_t all_count;
    struct err err = {0};
    for (size_t i = 0; i < count; i++) {
        given[i] = (struct charm_value){settings[i]->key, settings[i]->value};
    }
    return charm_configuration(a, &c, given, count, &all, &all_count, &err) < 0
               ? arena_strdup(a, err.text)
               : NULL;
}

/* ---- Peers ----------------------------------------------------------------------------------- */

static Board__RelationEnd *peer_end(struct arena *a, const char *service, const char *guid,
                                    const Board__Endpoint *endpoint)
{
    Board__RelationEnd *end = arena_message(a, &board__relation_end__descriptor);
    end->service = arena_strdup(a, service);
    end->service_guid = arena_strdup(a, guid);
    end->endpoint = (Board__Endpoint *)(uintptr_t)endpoint;
    return end;
}

void peers_gather(struct view *v, const char *service, const Board__Charm *charm, struct peers *ret)
{
    struct arena *a = view_arena(v);
    *ret = (struct peers){.service = service};
    assert(charm->n_endpoints <= CHARM_ENDPOINTS_MAX);
    for (size_t i = 0; i < charm->n_endpoints; i++) {
        const Board__Endpoint *e = charm->endpoints[i];
        if (e->role != BOARD__ENDPOINT__ROLE__PEER) {
            continue;
        }
        Board__RelationEnd *end = peer_end(a, service, "", e);
        const char *key = key_relation_key(a, relation_canonical(a, &end, 1));
        if (view_get(v, key)) {
            ret->stands = e->name;
        } else {
            ret->ends[ret->count] = e;
            ret->keys[ret->count++] = key;
        }
    }
    if (ret->count > 0) {
        ret->sequence = view_message(v, key_sequence(a, "relation", ""));
    }
}

bool peers_numbered(const struct peers *peers, struct plan *p)
{
    bool good = !peers->sequence || peers->sequence->next <= UINT32_MAX - peers->count;
    if (!good) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the numbers of relations are used up");
    }
    return good;
}

void peers_put(const struct peers *peers, const char *service_guid, int trigger, uint32_t guards,
               const struct op_input *in, struct plan *p)
{
    struct arena *a = p->arena;
    const char *move = relation_lifecycle.triggers[trigger];
    Board__SequenceRecord *next = arena_message(a, &board__sequence_record__descriptor);
    next->next = peers->sequence ? peers->sequence->next : 0;
    for (size_t i = 0; i < peers->count; i++) {
        Board__RelationEnd *end = peer_end(a, peers->service, service_guid, peers->ends[i]);
        Board__RelationRecord *r = relation_new(a, in, next->next++, &end, 1);
        life_change(p, in, &relation_lifecycle, RELATION_NONE, trigger, guards,
                    key_relation(a, r->number), &r->base);
        relation_put_names(p, in, r, peers->keys[i], move);
    }
    if (peers->count > 0) {
        plan_put(p, key_sequence(a, "relation", ""), move, in->actor, &next->base);
    }
}
