/* S2, S10: the transaction of a rep's move compares its cell's record, that of a leader's move its
 * lock. S6: it compares each record that it writes, all that the move's decision rests on, and the
 * board generation; and no two of its ops rest on each other (design.md 2, 6). */
#include "models/actual_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "common/model/unit_name.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static int order(ProtobufCBinaryData a, const char *key)
{
    size_t size = strlen(key), least = a.len < size ? a.len : size;
    int c = memcmp(a.data, key, least);
    return c ? c : (a.len > size) - (a.len < size);
}

/* As it stood: a record unchanged, a key or range where nothing was, a range with nothing newer.
 * That a record merely exists says nothing of what was read in it. */
static bool as_read(const Etcd__Compare *c)
{
    if (c->target == ETCD__COMPARE__COMPARE_TARGET__CREATE) {
        return c->result == ETCD__COMPARE__COMPARE_RESULT__EQUAL && c->create_revision == 0;
    }
    return c->target == ETCD__COMPARE__COMPARE_TARGET__MOD &&
           (c->result == ETCD__COMPARE__COMPARE_RESULT__EQUAL || c->range_end.len);
}

static bool compared(const Etcd__TxnRequest *txn, const char *key)
{
    for (size_t i = 0; i < txn->n_compare; i++) {
        const Etcd__Compare *c = txn->compare[i];
        int low = order(c->key, key);
        bool covers = low == 0 || (low < 0 && c->range_end.len && order(c->range_end, key) > 0);
        if (covers && as_read(c)) {
            return true;
        }
    }
    return false;
}

static bool compares_board_generation(const Etcd__TxnRequest *txn)
{
    for (size_t i = 0; i < txn->n_compare; i++) {
        const ProtobufCBinaryData *key = &txn->compare[i]->key;
        if (key->len > 6 && memcmp(key->data, "epoch/", 6) == 0) {
            return true;
        }
    }
    return false;
}

static const char *cell_of(const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)(p ? p->message : NULL);
    const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
    return key && *key->cell_id ? key->cell_id : NULL;
}

/* ---- What a move must have read ---- */

enum {
    READS_DESIRED = 1 << 0,
    READS_INDEX = 1 << 1,  /* all records of the index */
    READS_CELL = 1 << 2,   /* that of the instance */
    READS_DOMAIN = 1 << 3, /* when it rests on absence */
    READS_LIMITER = 1 << 4,
};

static const struct {
    const char *move;
    unsigned reads;
} required[] = {
    {"create", READS_DESIRED},
    {"restart", READS_DESIRED},
    {"stop", READS_DESIRED | READS_DOMAIN},
    {"claim", READS_DESIRED},
    {"start", READS_DESIRED | READS_INDEX},
    {"crash", READS_DESIRED},
    {"suspect", READS_DESIRED | READS_INDEX | READS_CELL},
    {"resolve", READS_DESIRED | READS_INDEX | READS_CELL | READS_DOMAIN},
    {"vacate", READS_CELL},
    {"retire", READS_CELL},
    {"evacuate_claimed", READS_DESIRED | READS_INDEX},
    {"evacuate_crashed", READS_DESIRED | READS_INDEX},
    {"evacuate_stopped", READS_DESIRED | READS_INDEX},
    {"evacuate_running", READS_DESIRED | READS_INDEX},
};

static unsigned reads_of(const char *move)
{
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        if (strcmp(required[i].move, move) == 0) {
            return required[i].reads;
        }
    }
    return 0;
}

static const Models__ActualLRP *record_of(const struct past *p)
{
    const struct past *any = p->message ? p : p->before;
    return (const Models__ActualLRP *)(any ? any->message : NULL);
}

struct scrutiny {
    struct checkers *k;
    struct arena *arena;
    const struct passage *passage;
    const Etcd__TxnRequest *txn;
    const struct past *change;
};

/* The transaction must compare `key`, and no other op of the batch may write it: etcd judges all
 * compares against the state before the transaction (design.md 2, Group commit). */
static void must_read(struct scrutiny *s, const char *key, const char *invariant, const char *what)
{
    const struct past *p = s->change;
    if (!compared(s->txn, key)) {
        checkers_report(s->k, invariant, "%s: %s by the %s does not compare %s, %s", p->key,
                        p->cause->move, p->cause->actor, what, key);
    }
    for (size_t i = 0; i < s->passage->count; i++) {
        const struct past *other = s->passage->list[i];
        if (other != p && other->cause && other->cause->op != p->cause->op &&
            strcmp(other->key, key) == 0) {
            checkers_report(s->k, "S6", "%s: %s rests on %s, which another op of its batch writes",
                            p->key, p->cause->move, key);
        }
    }
}

static void must_read_index(struct scrutiny *s, const Models__ActualLRPKey *key)
{
    for (int presence = 0; presence < 3; presence++) {
        must_read(s, key_actual(s->arena, key->process_guid, key->index, presence), "S6",
                  "a record of its index");
    }
}

/* A mark that was there before is an explicit request, or was judged then. */
static bool rests_on_absence(const struct past *p)
{
    const Models__ActualLRP *was =
        (const Models__ActualLRP *)(p->before ? p->before->message : NULL);
    return strcmp(p->cause->actor, "converger") == 0 && strcmp(p->cause->move, "stop") == 0 &&
           was && !was->stopping;
}

static void check_reads(struct scrutiny *s)
{
    const struct past *p = s->change;
    const Models__ActualLRP *r = record_of(p);
    const char *cell = cell_of(p) ? cell_of(p) : cell_of(p->before);
    unsigned reads = reads_of(p->cause->move);
    if (strcmp(p->cause->move, "claim") == 0 && strcmp(p->cause->actor, "client") == 0) {
        reads = 0; /* carries no definition, so none is read */
    }
    if (reads & READS_DESIRED) {
        must_read(s, key_desired(s->arena, r->actual_lrp_key->process_guid), "S6",
                  "the DesiredLRP");
    }
    if (reads & READS_INDEX) {
        must_read_index(s, r->actual_lrp_key);
    }
    if ((reads & READS_CELL) && cell) {
        must_read(s, key_cell(s->arena, cell), "S2", "the instance's cell");
    }
    if ((reads & READS_DOMAIN) && rests_on_absence(p)) {
        must_read(s, key_domain(s->arena, r->actual_lrp_key->domain), "S8", "the domain");
    }
}

static const char *cell_of_task(const struct past *p)
{
    const Models__Task *t = (const Models__Task *)(p ? p->message : NULL);
    return t && t->cell_id[0] ? t->cell_id : NULL;
}

/* A rep's move compares its own cell's record, whose incarnation it gave; that of a lost cell the
 * one that says so. */
static void check_task_reads(struct scrutiny *s)
{
    const struct past *p = s->change;
    const char *cell = cell_of_task(p) ? cell_of_task(p) : cell_of_task(p->before);
    bool reads_cell =
        strcmp(p->cause->actor, "rep") == 0 || strcmp(p->cause->move, "disappear") == 0;
    if (reads_cell && cell) {
        must_read(s, key_cell(s->arena, cell), "S2", "the task's cell");
    }
}

static bool by_leader(const struct past *p)
{
    return strcmp(p->cause->actor, "auctioneer") == 0 ||
           strcmp(p->cause->actor, "converger") == 0 || strcmp(p->cause->actor, "site") == 0;
}

/* Of these it is enough to compare that they are there, or are not. */
static bool is_written_once(enum record_type type)
{
    return type == RECORD_RUN || type == RECORD_TREE || type == RECORD_INDEX ||
           type == RECORD_REVISION || type == RECORD_SOURCE;
}

/* What is compared in place of the key that is written; NULL = nothing is to be. A new relation has
 * a number of the sequence, which nobody else gets; the name of a new job about units is drawn, or
 * leads to the same job. What says again what another record says is written with that one. What a
 * member tells is its own rep's alone, and is swept when nobody reads it. */
static const char *guard_of(struct scrutiny *s)
{
    const struct past *p = s->change, *was = p->before;
    const ProtobufCMessage *any = p->message ? p->message : was ? was->message : NULL;
    bool made = p->message && !(was && was->message);
    struct unit_name unit;
    switch (p->type) {
    case RECORD_JOB:
        return made && ((const Board__JobRecord *)any)->units ? NULL : p->key;
    case RECORD_RELATION:
    case RECORD_UNIT_SERVICE_RELATION:
        return made ? key_sequence(s->arena, "relation", "") : p->key;
    case RECORD_MACHINE_UNIT:
        return unit_of_key(s->arena, p->key, &unit) ? key_unit(s->arena, unit) : p->key;
    case RECORD_USE: /* of one that is made, or of one that is looked at */
        return made ? ((const Board__UseRecord *)any)->referring : p->key;
    case RECORD_PROGRESS: /* of a new life: its uid is drawn */
        return made ? arena_printf(s->arena, "%s/%s", ((const Board__ProgressRecord *)any)->kind,
                                   ((const Board__ProgressRecord *)any)->name)
                    : p->key;
    case RECORD_UNIT_SCOPE:
        return ((const Board__UnitScopeRecord *)any)->member;
    case RECORD_RELATION_SETTINGS:
        return strcmp(p->cause->actor, "rep") == 0
                   ? key_cell(s->arena, ((const Board__RelationSettingsRecord *)any)->cell_id)
                   : NULL;
    default:
        return p->key;
    }
}

static void check_change(struct scrutiny *s)
{
    const struct past *p = s->change;
    if (p->type == RECORD_BOARD_GENERATION || is_written_once(p->type) || !p->cause) {
        return;
    }
    const char *guard = guard_of(s);
    if (guard) {
        must_read(s, guard, "S6", "what it writes");
    }
    if (!compares_board_generation(s->txn)) {
        checkers_report(s->k, "S2", "%s: %s does not compare the board generation", p->key,
                        p->cause->move);
    }
    if (by_leader(p) && p->type != RECORD_LEADER_LOCK) {
        must_read(s, key_lead(s->arena, p->cause->actor), "S10", "its lock");
    }
    if (p->type == RECORD_CELL && strcmp(p->cause->move, "lose") == 0) {
        must_read(s, key_brake(s->arena), "S6", "the limiter");
    }
    if (p->type == RECORD_TASK) {
        check_task_reads(s);
    }
    if (p->type != RECORD_ACTUAL) {
        return;
    }
    const char *cell = cell_of(p) ? cell_of(p) : cell_of(p->before);
    /* What a start replaces was another cell's; the rep speaks for the cell of the record that it
     * starts in the same transaction, which is looked at for itself. */
    bool replaced = strcmp(p->cause->move, "replace") == 0;
    if (strcmp(p->cause->actor, "rep") == 0 && cell && !replaced) {
        must_read(s, key_cell(s->arena, cell), "S2", "its cell");
    }
    check_reads(s);
}

/* Whoever writes its cause compares that nobody did since (design.md 2). */
static void check_slot(struct checkers *k, struct arena *a, const Etcd__TxnRequest *txn)
{
    for (size_t i = 0; i < txn->n_success; i++) {
        const Etcd__RequestOp *op = txn->success[i];
        if (op->request_case != ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            continue;
        }
        const ProtobufCBinaryData *data = &op->request_put->key;
        const char *key = arena_strndup(a, (const char *)data->data, data->len);
        if (key_type(key) == RECORD_CAUSE && !compared(txn, key)) {
            checkers_report(k, "S6", "%s is written without a compare", key);
        }
    }
}

void check_fencing(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    SCOPED_ARENA(a);
    if (commit) {
        check_slot(k, &a, commit->txn);
    }
    for (size_t i = 0; commit && i < p->count; i++) {
        check_change(&(struct scrutiny){k, &a, p, commit->txn, p->list[i]});
    }
}
