#include "common/model/sighting.h"

int64_t stood_left_ns(int64_t limit_ns, int64_t stamp_ns, struct sighting seen, struct moment now)
{
    int64_t least_ns = now.mono_ns - seen.since_ns, said_ns = now.wall_ns - stamp_ns;
    int64_t stood_ns = said_ns > least_ns ? said_ns : least_ns;
    if (seen.after_ns != 0) {
        stood_ns = earlier_ns(stood_ns, now.mono_ns - seen.after_ns);
    }
    return limit_ns - stood_ns;
}

int64_t surely_left_ns(int64_t limit_ns, struct sighting seen, struct moment now)
{
    return limit_ns - (now.mono_ns - seen.since_ns);
}

int64_t kept_left_ns(int64_t limit_ns, int64_t stamp_ns, struct sighting seen,
                     struct sighting known, struct moment now)
{
    if (limit_ns <= KEPT_SURE_NS) {
        return surely_left_ns(limit_ns, seen, now);
    }
    int64_t said_left_ns = limit_ns - (now.wall_ns - stamp_ns);
    int64_t known_left_ns = surely_left_ns(KEPT_SURE_NS, known, now);
    return said_left_ns > known_left_ns ? said_left_ns : known_left_ns;
}
