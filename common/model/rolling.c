#include "common/model/rolling.h"

#include "common/contract/moment.h"

#include <assert.h>

enum { PERCENT = 100, SURGE_PERCENT = 25 };

/* "25%" or "3". */
struct share {
    int32_t number;
    bool is_percent;
};

static bool share_read(const char *text, struct share *ret)
{
    int64_t number = 0;
    size_t digits = 0;
    while (text[digits] >= '0' && text[digits] <= '9' && number <= ROLLING_NUMBER_MAX) {
        number = number * 10 + (text[digits++] - '0');
    }
    bool is_percent = text[digits] == '%';
    if (digits == 0 || text[digits + (is_percent ? 1 : 0)] ||
        number > (is_percent ? PERCENT : ROLLING_NUMBER_MAX)) {
        return false;
    }
    *ret = (struct share){(int32_t)number, is_percent};
    return true;
}

static const char *share_fault(struct arena *a, const char *name, const char *text)
{
    struct share s;
    if (!text[0] || share_read(text, &s)) {
        return NULL;
    }
    return arena_printf(a, "%s \"%.20s\" is neither a number up to %d nor up to 100%%, as 25%%",
                        name, text, ROLLING_NUMBER_MAX);
}

static const char *seconds_fault(struct arena *a, const char *name, int32_t s)
{
    return s >= 0 && s <= ROLLING_SECONDS_MAX
               ? NULL
               : arena_printf(a, "%s is %d, and may be 0 to %d", name, (int)s, ROLLING_SECONDS_MAX);
}

static bool is_zero(const char *text)
{
    struct share s;
    return text[0] && share_read(text, &s) && s.number == 0;
}

static int32_t deadline_s(const Board__Rolling *r)
{
    return r && r->deadline_s > 0 ? r->deadline_s : ROLLING_DEADLINE_S;
}

const char *rolling_fault(struct arena *a, const Board__Rolling *r)
{
    const char *fault = share_fault(a, "max_surge", r->max_surge);
    fault = fault ? fault : share_fault(a, "max_unavailable", r->max_unavailable);
    fault = fault ? fault : seconds_fault(a, "ready_s", r->ready_s);
    fault = fault ? fault : seconds_fault(a, "deadline_s", r->deadline_s);
    if (!fault && is_zero(r->max_surge) &&
        (is_zero(r->max_unavailable) || !r->max_unavailable[0])) {
        fault = "max_surge and max_unavailable are both 0: no instance could ever be replaced";
    }
    if (!fault && r->ready_s > deadline_s(r)) {
        fault = arena_printf(a, "ready_s (%d) is longer than deadline_s (%d): nothing could become "
                                "ready in time",
                             (int)r->ready_s, (int)deadline_s(r));
    }
    return fault;
}

/* Of so many, rounded up or down. */
static int32_t share_of(struct share s, int32_t wanted, bool up)
{
    int64_t parts = (int64_t)wanted * s.number + (up ? PERCENT - 1 : 0);
    return s.is_percent ? (int32_t)(parts / PERCENT) : s.number;
}

void rolling_bounds_of(const Board__Rolling *r, int32_t wanted, struct rolling_bounds *ret)
{
    assert(wanted >= 0);
    struct share surge = {SURGE_PERCENT, true}, unavailable = {0, false};
    if (r) {
        (void)share_read(r->max_surge, &surge);
        (void)share_read(r->max_unavailable, &unavailable);
    }
    *ret = (struct rolling_bounds){
        .surge = share_of(surge, wanted, true),
        .unavailable = share_of(unavailable, wanted, false),
        .ready_ns = (r ? r->ready_s : ROLLING_READY_S) * SECOND_NS,
        .deadline_ns = deadline_s(r) * SECOND_NS,
    };
    if (ret->surge == 0 && ret->unavailable == 0) {
        ret->surge = 1;
    }
    assert(ret->surge >= 0 && ret->unavailable >= 0 && ret->surge + ret->unavailable > 0);
}
