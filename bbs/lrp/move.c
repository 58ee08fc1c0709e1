#include "bbs/lrp/move.h"

#include "bbs/cell/brake.h"
#include "bbs/cell/cell.h"
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/lifecycle/brake.h"
#include "common/lifecycle/cell.h"
#include "common/lifecycle/domain.h"

#include <assert.h>
#include <string.h>

/* An index has at most three records; a few more may be of presences that a newer version knows. */
enum { RECORDS_OF_INDEX_MAX = 8 };

#define INDEX_OP(move, hasty)                                                                       \
    {                                                                                              \
        .name = #move,                                                                             \
        .target = move_target,                                                                     \
        .gather = move_gather,                                                                     \
        .decide = move##_decide,                                                                   \
        .snapshot_size = sizeof(struct move_snapshot),                                             \
        .nothing_unconfirmed = hasty,                                                          \
    }

#define MOVE_ROW(move, wanted)                                                                     \
    {                                                                                              \
        .name = #move, .lifecycle = &actual_lrp_lifecycle, .news = wanted, .valid = valid_##move,  \
        .op = INDEX_OP(move, false), .op_of_rep = INDEX_OP(move, true),                            \
    }

/* Of an evacuation: its "nothing" may say that the container goes, so it is never hasty. */
#define EVACUATION_ROW(move, wanted)                                                               \
    {                                                                                              \
        .name = #move, .lifecycle = &actual_lrp_lifecycle, .news = wanted, .valid = valid_##move,  \
        .op = INDEX_OP(move, false), .op_of_rep = INDEX_OP(move, false),                           \
    }

/* Of the converger: they name an index, or a domain, and nothing else. */
#define REPAIR_ROW(move, wanted)                                                                   \
    {                                                                                              \
        .name = #move, .lifecycle = &actual_lrp_lifecycle, .news = wanted, .valid = valid_repair,  \
        .op = INDEX_OP(move, false), .op_of_rep = INDEX_OP(move, false),                           \
    }

/* Of the converger too, about `what`, which is no instance. */
#define OTHER_OP(move, what)                                                                       \
    {                                                                                              \
        .name = #move, .target = what##_target, .gather = what##_gather, .decide = move##_decide,  \
        .snapshot_size = sizeof(struct move_snapshot),                                             \
    }

#define OTHER_ROW(move, what, table, wanted)                                                       \
    {                                                                                              \
        .name = #move, .lifecycle = &table, .news = wanted, .valid = valid_##move,                 \
        .op = OTHER_OP(move, what), .op_of_rep = OTHER_OP(move, what),                             \
    }

static const struct move_row rows[] = {
    MOVE_ROW(claim, ACTUAL_LRP_NEWS_CLAIM),     MOVE_ROW(start, ACTUAL_LRP_NEWS_START),
    MOVE_ROW(crash, ACTUAL_LRP_NEWS_CRASH),     MOVE_ROW(fail, ACTUAL_LRP_NEWS_FAIL),
    MOVE_ROW(remove, ACTUAL_LRP_NEWS_REMOVE),   MOVE_ROW(unclaim, ACTUAL_LRP_NEWS_UNCLAIM),
    MOVE_ROW(retire, ACTUAL_LRP_NEWS_RETIRE),   REPAIR_ROW(create, ACTUAL_LRP_NEWS_CREATE),
    REPAIR_ROW(ask, ACTUAL_LRP_NEWS_ASK),       REPAIR_ROW(restart, ACTUAL_LRP_NEWS_RESTART),
    REPAIR_ROW(stop, ACTUAL_LRP_NEWS_STOP),     REPAIR_ROW(suspect, ACTUAL_LRP_NEWS_SUSPECT),
    REPAIR_ROW(resolve, ACTUAL_LRP_NEWS_RESOLVE), REPAIR_ROW(vacate, ACTUAL_LRP_NEWS_VACATE),
    REPAIR_ROW(refresh, ACTUAL_LRP_NEWS_REFRESH),
    EVACUATION_ROW(evacuate_claimed, ACTUAL_LRP_NEWS_EVACUATE_CLAIMED),
    EVACUATION_ROW(evacuate_crashed, ACTUAL_LRP_NEWS_EVACUATE_CRASHED),
    EVACUATION_ROW(evacuate_stopped, ACTUAL_LRP_NEWS_EVACUATE_STOPPED),
    EVACUATION_ROW(evacuate_running, ACTUAL_LRP_NEWS_EVACUATE_RUNNING),
    EVACUATION_ROW(remove_evacuating, ACTUAL_LRP_NEWS_REMOVE_EVACUATING),
    OTHER_ROW(expire, expire, domain_lifecycle, DOMAIN_NEWS_EXPIRE),
    OTHER_ROW(lose, lose, cell_lifecycle, CELL_NEWS_LOSE),
    OTHER_ROW(brake, brake, brake_lifecycle, BRAKE_NEWS_BRAKE),
    OTHER_ROW(release, brake, brake_lifecycle, BRAKE_NEWS_RELEASE),
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
            s->ordinary_seen = view_seen(v, list[i].key);
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
           strcmp(m->move, "remove_evacuating") != 0 &&
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

/* The instance that a move takes away if its cell is not there; NULL when it asks for no cell. */
static const Models__ActualLRP *instance_of_cell(const struct move_snapshot *s, const char *move)
{
    const Models__ActualLRP *record = NULL;
    if (strcmp(move, "retire") == 0 || strcmp(move, "stop") == 0 || strcmp(move, "suspect") == 0) {
        record = s->ordinary;
    } else if (strcmp(move, "resolve") == 0) {
        record = s->suspect;
    } else if (strcmp(move, "vacate") == 0) {
        record = s->evacuating;
    }
    return actual_has_instance(record) ? record : NULL;
}

/* What has a record is stopped by that. */
static void gather_removal(struct view *v, const Board__Move *m, struct move_snapshot *s)
{
    bool runs = strcmp(m->move, "start") == 0 || strcmp(m->move, "evacuate_running") == 0;
    if (!runs || s->ordinary || !m->definition[0]) {
        return;
    }
    const char *key =
        key_removal(view_arena(v), m->actual_lrp_key->process_guid, m->definition);
    if (!view_unreadable(v, key)) {
        s->removal = (const Board__RemovalRecord *)message_at(v, key);
    }
}

static void gather_domain(struct view *v, const char *domain, struct move_snapshot *s)
{
    const char *key = key_domain(view_arena(v), domain);
    s->domain = (const Board__DomainRecord *)message_at(v, key);
    s->domain_seen = view_domain_seen(v, key);
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
    gather_removal(v, m, s);
    move_gather_actor(v, in, s);
    const Models__ActualLRP *instance = instance_of_cell(s, m->move);
    if (instance) {
        const char *cell_id = instance->actual_lrp_instance_key->cell_id;
        s->cell = (const Board__CellRecord *)message_at(v, key_cell(a, cell_id));
    }
    if (strcmp(m->move, "stop") == 0 && s->ordinary) {
        gather_domain(v, s->ordinary->actual_lrp_key->domain, s);
    } else if (strcmp(m->move, "resolve") == 0 && s->suspect) {
        gather_domain(v, s->suspect->actual_lrp_key->domain, s);
    } else if (strcmp(m->move, "evacuate_running") == 0 && !s->ordinary) {
        gather_domain(v, m->actual_lrp_key->domain, s);
    }
}

bool move_cell_absent(const Board__CellRecord *cell)
{
    return !cell || cell->state != BOARD__CELL_RECORD__STATE__PRESENT;
}

static bool rep_authorised(const struct move_snapshot *s, const struct op_input *in,
                           struct plan *p)
{
    const Board__Move *m = (const Board__Move *)in->request;
    if (move_cell_absent(s->cell)) {
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

bool move_speaker_authorised(const struct move_snapshot *s, const struct op_input *in,
                             struct plan *p)
{
    switch (in->actor) {
    case ACTOR_REP:
        return rep_authorised(s, in, p);
    case ACTOR_AUCTIONEER:
    case ACTOR_CONVERGER:
        return leader_authorised(s, in, p);
    case ACTOR_CLIENT:
    case ACTOR_BBS:
    case ACTOR_STRANGER: /* comes to no move: its route has refused it, and no row names it */
        break;
    }
    return true;
}

bool move_authorised(const struct move_snapshot *s, const struct op_input *in, struct plan *p)
{
    const Models__ActualLRPInstanceKey *key =
        ((const Board__Move *)in->request)->actual_lrp_instance_key;
    if (s->crowded) { /* nothing was read, so nothing may be written */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the index has more than %d records: delete those of unknown presences",
                    RECORDS_OF_INDEX_MAX);
        return false;
    }
    if (in->actor == ACTOR_REP && (!key || strcmp(key->cell_id, in->peer_name) != 0)) {
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest,
                    "cell %s may not move instances of cell %s", in->peer_name,
                    key ? key->cell_id : "(none)");
        return false;
    }
    return move_speaker_authorised(s, in, p);
}

bool index_desired(const Models__DesiredLRP *desired, int32_t index)
{
    return desired && index >= 0 && index < desired->instances;
}

/* An explicit request of this epoch let it run no more, and none since wants it again: that marks it
 * whatever its domain (S8). */
static bool is_removed(const struct move_snapshot *s, const Board__Move *m)
{
    int32_t index = m->actual_lrp_key->index;
    return s->removal && strcmp(s->removal->epoch, s->epoch) == 0 &&
           index >= s->removal->from_index && !index_desired(s->desired, index);
}

/* Nothing desired contradicts no definition: an emptied board must not stop containers (seed). */
static bool definition_current(const struct move_snapshot *s, const Board__Move *m)
{
    if (!m->definition[0]) {
        return true;
    }
    const Models__DesiredLRP *desired = s->desired;
    return !is_removed(s, m) && (!desired || !desired->modification_tag ||
                                 strcmp(desired->modification_tag->epoch, m->definition) == 0);
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
    if (definition_current(s, move)) {
        guards |= ACTUAL_LRP_IF_DEFINITION_CURRENT;
    }
    guards |= desired ? ACTUAL_LRP_IF_INDEX_DESIRED : ACTUAL_LRP_IF_INDEX_UNDESIRED;
    if (record && record->presence != MODELS__ACTUAL_LRP__PRESENCE__ORDINARY) {
        guards |= ACTUAL_LRP_IF_DISPLACED;
    }
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

void move_put_new(struct plan *p, const struct move_snapshot *s, const struct op_input *in,
                  const char *name)
{
    const Models__ActualLRPKey *key = ((const Board__Move *)in->request)->actual_lrp_key;
    move_put(p, in,
             actual_new(p->arena, key->process_guid, key->index, s->desired->domain,
                        s->desired->owner, in->now, in->random),
             name);
    plan_notice_start(p, key->process_guid, key->index, key->index + 1);
}

void move_put_unclaimed(struct plan *p, const struct move_snapshot *s, const struct op_input *in,
                        const Models__ActualLRP *record, const char *name)
{
    Models__ActualLRP *after = actual_change(p->arena, record, in->now);
    actual_clear_instance(p->arena, after);
    actual_set_state(after, ACTUAL_LRP_UNCLAIMED);
    move_put(p, in, after, name);
    const Models__ActualLRPKey *key = after->actual_lrp_key;
    if (index_desired(s->desired, key->index)) {
        plan_notice_start(p, key->process_guid, key->index, key->index + 1);
    }
}

void move_notice_stop(struct plan *p, const Models__ActualLRP *record)
{
    const Models__ActualLRPInstanceKey *key = record->actual_lrp_instance_key;
    plan_notice_stop(p, record->actual_lrp_key->process_guid, key->instance_guid, key->cell_id);
}
