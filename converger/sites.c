#include "converger/sites.h"

#include "common/lifecycle/cloudlet_info.h"

#include <assert.h>

void sites_note(struct liveness_report *h, const char *cloudlet,
                const Board__CloudletInfoRecord *info)
{
    int state = info ? lifecycle_state(&cloudlet_info_lifecycle, info->state) : -1;
    assert(*cloudlet);
    if (state > CLOUDLET_INFO_NONE && state != CLOUDLET_INFO_OFFLINE) {
        liveness_report_expect(h, LIVENESS_REPORT_SITE, cloudlet, info->session);
    } else {
        liveness_report_forget(h, LIVENESS_REPORT_SITE, cloudlet);
    }
}

bool sites_silent(const struct liveness_report *h, const char *cloudlet, uint64_t session,
                  int64_t limit_ns)
{
    const struct silence *s = liveness_report_find(h, LIVENESS_REPORT_SITE, cloudlet);
    return s && s->incarnation == session && silence_ns(h, s) >= limit_ns;
}

void sites_each_silent(const struct liveness_report *h, int64_t limit_ns,
                       void (*each)(void *context, const char *cloudlet), void *context)
{
    const struct silence *s = liveness_report_longest(h, LIVENESS_REPORT_SITE);
    for (; s && silence_ns(h, s) >= limit_ns; s = TAILQ_NEXT(s, link)) {
        each(context, s->name);
    }
}

bool sites_any(const struct liveness_report *h)
{
    return liveness_report_longest(h, LIVENESS_REPORT_SITE);
}
