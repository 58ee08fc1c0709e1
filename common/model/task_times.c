#include "common/model/task_times.h"

int64_t task_keep_left_ns(int64_t keep_ns, int64_t completed_ns, struct sighting seen,
                          struct sighting made, struct moment now)
{
    if (keep_ns <= TASK_SURE_NS) {
        return surely_left_ns(keep_ns, seen, now);
    }
    int64_t said_left_ns = keep_ns - (now.wall_ns - completed_ns);
    int64_t known_left_ns = surely_left_ns(TASK_SURE_NS, made, now);
    return said_left_ns > known_left_ns ? said_left_ns : known_left_ns;
}
