/* S2, S10: what a replaced instance of a rep or a deposed leader asks is refused. The transaction's
 * compares cannot show it: they hold the board to what the decision read, and a decision that does
 * not look at the session given reads the present one all the same. */
#include "common/codec/scan.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

enum { BODY_MAX = 16 * 1024 * 1024 };

struct licence {
    struct checkers *k;
    const struct world_answer *answer;
    const Board__Move *move;
    const char *key; /* of the cell's record, or of the lock */
    int64_t until;   /* the revision that the answer speaks of */
};

static bool licensed_by(const struct licence *l, const struct past *p)
{
    if (!p || !p->message) {
        return false;
    }
    if (p->type == RECORD_LEAD) {
        return l->move->term && p->create_revision == l->move->term->term;
    }
    return ((const Board__CellRecord *)p->message)->session == l->move->session;
}

/* Some version that stood while it was asked has the session or term given. */
static bool was_licensed(const struct licence *l)
{
    const struct past *p = history_at(&l->k->history, l->key, l->until);
    while (p && p->revision > l->answer->arrived_revision) {
        if (licensed_by(l, p)) {
            return true;
        }
        p = p->before;
    }
    return licensed_by(l, p);
}

static void check_result(struct checkers *k, const struct world_answer *answer, struct arena *a,
                         const Board__ApplyRequest *q, const Board__Move *move,
                         const Board__MoveResult *result)
{
    bool rep = q->cell_id[0] != 0;
    if (result->outcome != BOARD__MOVE_RESULT__OUTCOME__DONE || (!rep && !move->term)) {
        return;
    }
    struct licence l = {
        .k = k,
        .answer = answer,
        .move = move,
        .key = rep ? key_cell(a, q->cell_id) : key_lead(a, move->term->role),
        .until = result->revision,
    };
    if (!was_licensed(&l)) {
        checkers_report(k, rep ? "S2" : "S10", "%s did %s of %s with %s %lld, which is not the board's",
                        node_name(answer->by), move->move, node_name(answer->from),
                        rep ? "session" : "term",
                        rep ? (long long)move->session : (long long)move->term->term);
    }
}

void check_answer(struct checkers *k, const struct world_answer *answer)
{
    ProtobufCMessage *q, *r;
    if (strcmp(answer->path, "/v1/board/apply") != 0 || answer->status != 200) {
        return;
    }
    struct arena a;
    arena_init(&a);
    if (scan_and_unpack(&a, &board__apply_request__descriptor, answer->request, BODY_MAX, &q,
                        NULL) == 0 &&
        scan_and_unpack(&a, &board__apply_response__descriptor, answer->body, BODY_MAX, &r,
                        NULL) == 0) {
        const Board__ApplyRequest *request = (const Board__ApplyRequest *)q;
        const Board__ApplyResponse *response = (const Board__ApplyResponse *)r;
        for (size_t i = 0; i < response->n_results && i < request->n_moves; i++) {
            check_result(k, answer, &a, request, request->moves[i], response->results[i]);
            check_offer(k, answer, request->moves[i], response->results[i]);
            note_dismissal(k, request->moves[i], response->results[i]);
        }
    } else {
        checkers_report(k, "S2", "%s answers %s with something malformed", node_name(answer->by),
                        answer->path);
    }
    arena_done(&a);
}
