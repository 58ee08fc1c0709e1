/* S2, S10: the transaction of a rep's move compares its cell's record, that of a leader's move its
 * lock. S6: it compares each record that it writes, and the epoch (DESIGN 2, 6). */
#include "models/actual_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static int order(ProtobufCBinaryData a, const char *key)
{
    size_t size = strlen(key), least = a.len < size ? a.len : size;
    int c = memcmp(a.data, key, least);
    return c ? c : (a.len > size) - (a.len < size);
}

static bool compared(const Etcd__TxnRequest *txn, const char *key)
{
    for (size_t i = 0; i < txn->n_compare; i++) {
        const Etcd__Compare *c = txn->compare[i];
        int low = order(c->key, key);
        if (low == 0 || (low < 0 && c->range_end.len && order(c->range_end, key) > 0)) {
            return true;
        }
    }
    return false;
}

static bool compares_epoch(const Etcd__TxnRequest *txn)
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

static void check_rep(struct checkers *k, struct arena *a, const struct past *p,
                      const Etcd__TxnRequest *txn)
{
    const char *was = cell_of(p->before), *is = cell_of(p);
    const char *cell = is ? is : was;
    if (cell && !compared(txn, key_cell(a, cell))) {
        checkers_report(k, "S2", "%s: %s by the rep of %s does not compare the cell's record",
                        p->key, p->cause->move, cell);
    }
}

static void check_change(struct checkers *k, struct arena *a, const struct past *p,
                         const Etcd__TxnRequest *txn)
{
    if (p->type == RECORD_EPOCH || p->type == RECORD_RUN || !p->cause) {
        return;
    }
    if (!compared(txn, p->key)) {
        checkers_report(k, "S6", "%s is written by %s without a compare", p->key, p->cause->move);
    }
    if (!compares_epoch(txn)) {
        checkers_report(k, "S2", "%s: %s does not compare the epoch", p->key, p->cause->move);
    }
    if (p->type != RECORD_ACTUAL) {
        return;
    }
    if (strcmp(p->cause->actor, "rep") == 0) {
        check_rep(k, a, p, txn);
    } else if ((strcmp(p->cause->actor, "auctioneer") == 0 ||
                strcmp(p->cause->actor, "converger") == 0) &&
               !compared(txn, key_lead(a, p->cause->actor))) {
        checkers_report(k, "S10", "%s: %s by the %s does not compare its lock", p->key,
                        p->cause->move, p->cause->actor);
    }
}

void check_fencing(struct checkers *k, const struct passage *p, const Etcd__TxnRequest *txn)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < p->count; i++) {
        check_change(k, &a, p->list[i], txn);
    }
    arena_done(&a);
}
