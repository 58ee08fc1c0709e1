/* S6: a leader's move that says which version of a record it judged changes that one. The
 * transaction's compares cannot show it: they hold the board to what the decision read, and a
 * decision that does not look at the version given reads the present one all the same. */
#include "test/sim/checkers/checkers.h"

#include <string.h>

/* The move may have made this version: none later than the answer, none before it was asked. */
static bool may_have_made(const struct seen_answer *seen, const struct past *p)
{
    return p->revision > seen->answer->arrived_revision && p->cause &&
           strcmp(p->cause->move, seen->move->move) == 0;
}

/* The state of a system is judged by its head, too. */
static bool was_judged(struct checkers *k, const Board__Move *move, const struct past *p)
{
    SCOPED_ARENA(a);
    if (!p->before || p->before->revision != move->subject->revision) {
        return false;
    }
    if (p->type != RECORD_SYSTEM) {
        return true;
    }
    const char *uid = ((const Board__SystemRecord *)p->before->message)->uid;
    const struct past *head = history_at(&k->history, key_head(&a, uid), p->revision - 1);
    return (head ? head->revision : 0) == move_system(move)->head_revision;
}

/* By the tables of moves: those of a service that hold whatever its version is, target, delete and
 * remove, read all that they rest on. */
static bool judges(const Board__Move *move)
{
    static const char *const of_service[] = {"surge",  "shrink",  "adjust",
                                             "retire", "observe", "unroute"};
    enum record_type kind = move_kind(move);
    bool judged = kind == RECORD_SYSTEM && strcmp(move->move, "observe") == 0;
    for (size_t i = 0; i < sizeof(of_service) / sizeof(of_service[0]); i++) {
        judged = judged || (kind == RECORD_SERVICE && strcmp(move->move, of_service[i]) == 0);
    }
    return judged && move->subject->revision != 0;
}

void check_judgement(struct checkers *k, const struct seen_answer *seen)
{
    const Board__Move *move = seen->move;
    if (seen->result->outcome != BOARD__MOVE_RESULT__OUTCOME__DONE || !judges(move)) {
        return;
    }
    SCOPED_ARENA(a);
    const char *key = move_key(&a, move);
    const struct past *made = NULL;
    for (const struct past *p = history_at(&k->history, key, seen->result->revision); p;
         p = p->before) {
        if (!may_have_made(seen, p)) {
            continue;
        }
        if (was_judged(k, move, p)) {
            return;
        }
        made = p;
    }
    if (made) {
        checkers_report(k, "S6", "%s of %s, judged at %lld, changed what stood at %lld", move->move,
                        key, (long long)move->subject->revision,
                        (long long)(made->before ? made->before->revision : 0));
    }
}
