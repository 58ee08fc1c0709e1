/* S2, S10: what a replaced instance of a rep or a deposed leader asks is refused. The transaction's
 * compares cannot show it: they hold the board to what the decision read, and a decision that does
 * not look at the incarnation given reads the present one all the same. */
#include "test/sim/checkers/checkers.h"

struct licence {
    struct checkers *k;
    const struct seen_answer *seen;
    const char *key; /* of the cell's record, or of the lock */
    int64_t until;   /* the revision that the answer speaks of */
};

static bool licensed_by(const struct licence *l, const struct past *p)
{
    if (!p || !p->message) {
        return false;
    }
    if (p->type == RECORD_LEADER_LOCK) {
        return l->seen->move->term && p->create_revision == l->seen->move->term->term;
    }
    return ((const Board__CellRecord *)p->message)->incarnation == l->seen->move->incarnation;
}

/* Some version that stood while it was asked has the incarnation or term given. */
static bool was_licensed(const struct licence *l)
{
    const struct past *p = history_at(&l->k->history, l->key, l->until);
    while (p && p->revision > l->seen->answer->arrived_revision) {
        if (licensed_by(l, p)) {
            return true;
        }
        p = p->before;
    }
    return licensed_by(l, p);
}

void check_licence(struct checkers *k, const struct seen_answer *seen)
{
    const Board__Move *move = seen->move;
    const char *cell_id = seen->request->cell_id;
    bool rep = *cell_id != 0;
    if (seen->result->outcome != BOARD__MOVE_RESULT__OUTCOME__DONE || (!rep && !move->term)) {
        return;
    }
    SCOPED_ARENA(a);
    struct licence l = {
        .k = k,
        .seen = seen,
        .key = rep ? key_cell(&a, cell_id) : key_lead(&a, move->term->role),
        .until = seen->result->revision,
    };
    if (!was_licensed(&l)) {
        checkers_report(k, rep ? "S2" : "S10",
                        "%s did %s of %s with %s %lld, which is not the board's",
                        node_name(seen->answer->by), move->move, node_name(seen->answer->from),
                        rep ? "incarnation" : "term",
                        rep ? (long long)move->incarnation : (long long)move->term->term);
    }
}
