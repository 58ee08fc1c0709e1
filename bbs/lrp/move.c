#include "bbs/lrp/move.h"

#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/lifecycle/domain.h"

#include <assert.h>
#include <string.h>

/* An index has at most three records; a few more may be of presences that a newer version knows. */
enum { RECORDS_OF_INDEX_MAX = 8 };

#define MOVE_OP(move, hasty)                                                                       \
    {                                                                                              \
        .name = #move,                                                                             \
        .target = move_target,                                                                     \
        .gather = move_gather,                                                                     \
        .decide = move##_decide,                                                                   \
        .snapshot_size = sizeof(struct move_snapshot),                                             \
        .nothing_without_barrier = hasty,                                                          \
    }

#define MOVE_ROW(move, wanted)                                                                     \
    {                                                                                              \
        .name = #move, .lifecycle = &actual_lrp_lifecycle, .news = wanted, .valid = valid_##move, .op = MOVE_OP(move, false),          \
        .op_of_rep = MOVE_OP(move, true),                                                          \
    }

/* Of the converger: they name an index, or a domain, and nothing else. */
#define REPAIR_ROW(move, wanted)                                                                   \
    {                                                                                              \
        .name = #move, .lifecycle = &actual_lrp_lifecycle, .news = wanted, .valid = valid_repair, .op = MOVE_OP(move, false),          \
        .op_of_rep = MOVE_OP(move, false),                                                         \
    }

#define EXPIRE_OP                                                                                  \
    {                                                                                              \
        .name = "expire", .target = expire_target, .gather = expire_gather,                        \
        .decide = expire_decide, .snapshot_size = sizeof(struct move_snapshot),                    \
    }

static const struct move_row rows[] = {
    MOVE_ROW(claim, ACTUAL_LRP_NEWS_CLAIM),     MOVE_ROW(start, ACTUAL_LRP_NEWS_START),
    MOVE_ROW(crash, ACTUAL_LRP_NEWS_CRASH),     MOVE_ROW(fail, ACTUAL_LRP_NEWS_FAIL),
    MOVE_ROW(remove, ACTUAL_LRP_NEWS_REMOVE),   MOVE_ROW(unclaim, ACTUAL_LRP_NEWS_UNCLAIM),
    MOVE_ROW(retire, ACTUAL_LRP_NEWS_RETIRE),
    REPAIR_ROW(create, ACTUAL_LRP_NEWS_CREATE), REPAIR_ROW(ask, ACTUAL_LRP_NEWS_ASK),
    REPAIR_ROW(restart, ACTUAL_LRP_NEWS_RESTART), REPAIR_ROW(stop, ACTUAL_LRP_NEWS_STOP),
    {.name = "expire", .lifecycle = &domain_lifecycle, .news = DOMAIN_NEWS_EXPIRE,
     .valid = valid_expire, .op = EXPIRE_OP, .op_of_rep = EXPIRE_OP},
};

const struct move_row *move_row_named(const char *name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *move_target(struct arena *a, const struct op_input *in)
{
    const Board__Move *m = (const Board__Move *)in->request;
    return key_actual_index(a, m->actual_lrp_key->process_guid, m->actual_lrp_key->index);
}

static void gather_records(struct view *v, const Models__ActualLRPKey *key,
                           struct move_snapshot *s)
{
    const struct seen *list;
    const char *prefix = key_actual_index(view_arena(v), key->process_guid, key->index);
    int count = view_range(v, prefix, RECORDS_OF_INDEX_MAX, &list);
    s->crowded = count < 0;
    for (int i = 0; i < count; i++) {
        const Models__ActualLRP *record = (const Models__ActualLRP *)list[i].message;
        switch (record->presence) {
        case MODELS__ACTUAL_LRP__PRESENCE__ORDINARY:
            s->ordinary = record;
            break;
        case MODELS__ACTUAL_LRP__PRESENCE__EVACUATING:
            s->evacuating = record;
            break;
        case MODELS__ACTUAL_LRP__PRESENCE__SUSPECT:
            s->suspect = record;
            break;
        default: /* of a newer version: left alone */
            break;
        }
    }
}

/* The desired record is read only where it decides, so that claims without a definition do not wait
 * for its updates. */
static bool asks_desired(const Board__Move *m)
{
    return strcmp(m->move, "fail") != 0 && strcmp(m->move, "retire") != 0 &&
           (strcmp(m->move, "claim") != 0 || m->definition[0]);
}

static const ProtobufCMessage *message_at(struct view *v, const char *key)
{
    const struct seen *seen = view_get(v, key);
    return seen ? seen->message : NULL;
}

void move_gather_actor(struct view *v, const struct op_input *in, struct move_snapshot *s)
{
    struct arena *a = view_arena(v);
    s->epoch = view_epoch(v);
    if (in->actor == ACTOR_REP) {
        s->cell = (const Board__CellRecord *)message_at(v, key_cell(a, in->peer_name));
    } else if (in->actor == ACTOR_AUCTIONEER || in->actor == ACTOR_CONVERGER) {
        const struct seen *seen = view_get(v, key_lead(a, actor_name(in->actor)));
        if (seen) {
            s->lead_holder = ((const Board__LeadRecord *)seen->message)->holder;
            s->lead_term = seen->create_revision;
        }
    }
}

void move_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct move_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = (const Board__Move *)in->request;
    s->policy = &CRASH_POLICY_DEFAULT;
    gather_records(v, m->actual_lrp_key, s);
    if (asks_desired(m)) {
        const char *key = key_desired(a, m->actual_lrp_key->process_guid);
        s->desired = (const Models__DesiredLRP *)message_at(v, key);
    }
    move_gather_actor(v, in, s);
    if (strcmp(m->move, "retire") == 0 && actual_has_instance(s->ordinary)) {
        const char *cell_id = s->ordinary->actual_lrp_instance_key->cell_id;
        s->cell = (const Board__CellRecord *)message_at(v, key_cell(a, cell_id));
    }
    if (strcmp(m->move, "stop") == 0 && s->ordinary) {
        const char *key = key_domain(a, s->ordinary->actual_lrp_key->domain);
        s->domain = (const Board__DomainRecord *)message_at(v, key);
        s->domain_seen_since_ns = view_seen_since_ns(v, key);
    }
}

static bool rep_authorised(const struct move_snapshot *s, const struct op_input *in,
                           struct plan *p)
{
    const Board__Move *m = (const Board__Move *)in->request;
    const Models__ActualLRPInstanceKey *key = m->actual_lrp_instance_key;
    if (!key || strcmp(key->cell_id, in->peer_name) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest,
                    "cell %s may not move instances of cell %s", in->peer_name,
                    key ? key->cell_id : "(none)");
        return false;
    }
    if (!s->cell || s->cell->state != BOARD__CELL_RECORD__STATE__PRESENT) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "cell %s is %s: open a session first", in->peer_name,
                    s->cell ? "lost" : "unknown");
        return false;
    }
    if (s->cell->session != m->session) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "session %llu of cell %s is over: the board's is %llu",
                    (unsigned long long)m->session, in->peer_name,
                    (unsigned long long)s->cell->session);
        return false;
    }
    return true;
}

static bool leader_authorised(const struct move_snapshot *s, const struct op_input *in,
                              struct plan *p)
{
    const Board__Term *term = ((const Board__Move *)in->request)->term;
    if (!term || strcmp(term->role, actor_name(in->actor)) != 0 ||
        strcmp(term->epoch, s->epoch) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "a move of the %s needs its term in epoch %s", actor_name(in->actor),
                    s->epoch);
        return false;
    }
    if (!s->lead_holder || s->lead_term != term->term) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "term %lld of the %s is over: the board's is %lld", (long long)term->term,
                    actor_name(in->actor), (long long)s->lead_term);
        return false;
    }
    return true;
}

bool move_authorised(const struct move_snapshot *s, const struct op_input *in, struct plan *p)
{
    if (s->crowded) { /* nothing was read, so nothing may be written */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the index has more than %d records: delete those of unknown presences",
                    RECORDS_OF_INDEX_MAX);
        return false;
    }
    switch (in->actor) {
    case ACTOR_REP:
        return rep_authorised(s, in, p);
    case ACTOR_AUCTIONEER:
    case ACTOR_CONVERGER:
        return leader_authorised(s, in, p);
    case ACTOR_CLIENT:
    case ACTOR_BBS:
        break;
    }
    return true;
}

bool index_desired(const Models__DesiredLRP *desired, int32_t index)
{
    return desired && index >= 0 && index < desired->instances;
}

/* Nothing desired contradicts no definition: an emptied board must not stop containers (seed). */
static bool definition_current(const Models__DesiredLRP *desired, const char *definition)
{
    return !definition[0] || !desired || !desired->modification_tag ||
           strcmp(desired->modification_tag->epoch, definition) == 0;
}

bool move_of_suspect(const struct move_snapshot *s, const Board__Move *move)
{
    return s->suspect && instance_key_equal(s->suspect->actual_lrp_instance_key,
                                            move->actual_lrp_instance_key);
}

const Models__ActualLRP *move_record(const struct move_snapshot *s, const Board__Move *move)
{
    switch (move->presence) {
    case MODELS__ACTUAL_LRP__PRESENCE__EVACUATING:
        return s->evacuating;
    case MODELS__ACTUAL_LRP__PRESENCE__SUSPECT:
        return s->suspect;
    default:
        return s->ordinary;
    }
}

uint32_t move_guards(const struct move_snapshot *s, const Board__Move *move)
{
    uint32_t guards = 0;
    const Models__ActualLRP *record = move_record(s, move);
    bool desired = index_desired(s->desired, move->actual_lrp_key->index);
    if (record && instance_key_equal(record->actual_lrp_instance_key,
                                     move->actual_lrp_instance_key)) {
        guards |= ACTUAL_LRP_IF_SAME_INSTANCE;
    }
    if (!move->actual_lrp_instance_key) {
        guards |= ACTUAL_LRP_IF_NO_INSTANCE;
    }
    if (definition_current(s->desired, move->definition)) {
        guards |= ACTUAL_LRP_IF_DEFINITION_CURRENT;
    }
    guards |= desired ? ACTUAL_LRP_IF_INDEX_DESIRED : ACTUAL_LRP_IF_INDEX_UNDESIRED;
    if (record && record->stopping) {
        guards |= desired ? ACTUAL_LRP_IF_STOPPING_DESIRED : ACTUAL_LRP_IF_STOPPING_FOR_GOOD;
    }
    return guards;
}

static const char *record_key(struct arena *a, const Models__ActualLRP *record)
{
    const Models__ActualLRPKey *key = record->actual_lrp_key;
    return key_actual(a, key->process_guid, key->index, (int)record->presence);
}

struct change *move_put(struct plan *p, const struct op_input *in, const Models__ActualLRP *record,
                        const char *name)
{
    p->record = &record->base;
    return plan_put(p, record_key(p->arena, record), name, in->actor, &record->base);
}

struct change *move_delete(struct plan *p, const struct op_input *in,
                           const Models__ActualLRP *record, const char *name)
{
    return plan_delete(p, record_key(p->arena, record), name, in->actor);
}
