/* For how long what a centre asks of a site may take, and how long it waits for other things
 * (docs/edge.md, Times): settings (settings.def), by which bbs and converger decide. */
#pragma once

#include <stdint.h>

struct edge_times {
    /* Operations, from their request to the first move of the CRM, and from one to the next. */
    int64_t cluster_create_ns, cluster_update_ns, cluster_delete_ns;
    int64_t instance_create_ns, instance_update_ns, instance_delete_ns;
    int64_t cloudlet_create_ns; /* until its CRM comes: people install sites */
    int64_t cloudlet_delete_ns;
    int64_t upgrade_ns;
    int64_t delete_prepare_ns;     /* until what depends on it is gone */
    int64_t maintenance_answer_ns; /* until a CRM agrees */
    int64_t cluster_idle_ns;       /* one made for an instance, that nobody has, goes */
    int64_t site_silence_ns;       /* unheard in its session for so long: OFFLINE */
    int64_t progress_keep_ns;      /* after its end */
};
