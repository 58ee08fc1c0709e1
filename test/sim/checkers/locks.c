/* Locks of outside owners (common/lifecycle/lock.def): none changes hands before its time is over
 * since it was last renewed, unless its owner gave it back; whatever clocks say and whoever dies.
 */
#include "test/sim/checkers/checkers.h"

#include <string.h>

static const Board__LockRecord *lock_of(const struct past *p)
{
    return p && p->message ? (const Board__LockRecord *)p->message : NULL;
}

void check_locks(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        if (one->type != RECORD_LOCK) {
            continue;
        }
        const Board__LockRecord *was = lock_of(one->before), *is = lock_of(one);
        bool released = one->cause && strcmp(one->cause->move, "release") == 0;
        if (!was || released || (is && strcmp(was->owner, is->owner) == 0)) {
            continue;
        }
        k->seen[SEEN_LOCKS_LOST]++;
        int64_t after_ns = one->at_ns - one->before->at_ns;
        if (after_ns / SECOND_NS < was->ttl_s) {
            checkers_report(
                k, "locks", "%s is taken from %s %lld ms after it was renewed for %lld s", one->key,
                was->owner, (long long)(after_ns / MILLISECOND_NS), (long long)was->ttl_s);
        }
    }
}
