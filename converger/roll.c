#include "converger/roll.h"

#include <assert.h>

/* Desired of all old ones; available of all. */
struct roll_sums {
    int32_t old;
    int32_t available;
};

static struct roll_sums sums_of(const struct roll_view *v)
{
    struct roll_sums s = {0, v->newest.available};
    for (size_t i = 0; i < v->old_count; i++) {
        assert(v->old[i].available <= v->old[i].instances);
        s.old += v->old[i].instances;
        s.available += v->old[i].available;
    }
    return s;
}

/* 3. How many the newest may have now. */
static int32_t surge_to(const struct roll_view *v, struct roll_sums s)
{
    int32_t room = v->wanted + v->surge - s.old;
    return room < v->wanted ? room : v->wanted;
}

/* 4. What it keeps when it gives what `spare` available ones and the others above them are. */
static int32_t shrink_to(const struct roll_revision *r, int32_t spare)
{
    int32_t keep = r->instances;
    while (keep > 0 && (spare > 0 || !r->is_available(r->of, keep - 1))) {
        spare -= r->is_available(r->of, keep - 1);
        keep--;
    }
    return keep;
}

static bool shrink_old(const struct roll_view *v, struct roll_sums s, struct roll_step *ret)
{
    int32_t floor = v->wanted > v->unavailable ? v->wanted - v->unavailable : 0;
    for (size_t i = 0; i < v->old_count; i++) {
        int32_t keep = shrink_to(&v->old[i], s.available - floor);
        if (keep < v->old[i].instances || keep == 0) {
            *ret = (struct roll_step){ROLL_SHRINK, (int)i, keep};
            return true;
        }
    }
    return false;
}

static bool shrink_broken(const struct roll_view *v, struct roll_step *ret)
{
    bool all_new = v->newest.available == v->newest.instances;
    for (size_t i = 0; i < v->old_count && v->waited && all_new; i++) {
        if (v->old[i].available < v->old[i].instances) {
            *ret = (struct roll_step){ROLL_SHRINK, (int)i, v->old[i].instances - 1};
            return true;
        }
    }
    return false;
}

void roll_decide(const struct roll_view *v, struct roll_step *ret)
{
    assert(v->wanted >= 0 && v->surge >= 0 && v->unavailable >= 0);
    assert(v->surge > 0 || v->unavailable > 0);
    assert(v->newest.available <= v->newest.instances);
    struct roll_sums s = sums_of(v);
    *ret = (struct roll_step){.kind = ROLL_NOTHING};
    if (v->held) {
        return; /* 1 */
    }
    if (!v->fits) {
        ret->kind = ROLL_ADJUST; /* 2 */
    } else if (surge_to(v, s) > v->newest.instances) {
        *ret = (struct roll_step){ROLL_SURGE, ROLL_NEWEST, surge_to(v, s)}; /* 3 */
    } else if (shrink_old(v, s, ret) || shrink_broken(v, ret)) {
        return; /* 4, 5 */
    } else if (v->old_count == 0 && v->newest.instances > v->wanted) {
        *ret = (struct roll_step){ROLL_SHRINK, ROLL_NEWEST, v->wanted}; /* 6 */
    }
}
