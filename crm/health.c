#include "crm/health.h"

bool app_health_see(struct app_health *h, uint32_t running, uint32_t wanted, int64_t now_ns)
{
    enum app_health_state was = h->is;
    if (running >= wanted) { /* 1 */
        *h = (struct app_health){.is = APP_OK};
        return was != h->is;
    }
    h->short_since_ns = h->short_since_ns ? h->short_since_ns : now_ns; /* 2 */
    if (now_ns >= h->short_since_ns + APP_FAIL_NS) {
        h->is = APP_SERVER_FAIL;
    }
    return was != h->is;
}

int64_t app_health_due_ns(const struct app_health *h)
{
    return h->short_since_ns && h->is != APP_SERVER_FAIL ? h->short_since_ns + APP_FAIL_NS
                                                         : NEVER_NS;
}

const char *app_health_name(enum app_health_state health)
{
    static const char *const names[APP_HEALTH_COUNT] = {"UNKNOWN", "OK", "SERVER_FAIL"};
    return names[health];
}
