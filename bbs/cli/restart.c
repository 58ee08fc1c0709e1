#include "bbs/cli/restart.h"

#include "bbs/cli/lrps.h"
#include "common/cli/printable.h"

#include <string.h>

const Models__ActualLRP *restart_record(Models__ActualLRP *const *actuals, size_t count,
                                        int32_t index)
{
    for (size_t i = 0; i < count; i++) {
        const Models__ActualLRP *r = actuals[i];
        if (r->actual_lrp_key && r->actual_lrp_key->index == index &&
            r->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY) {
            return r;
        }
    }
    return NULL;
}

enum restart_state restart_judge(const Models__ActualLRP *record, const char *old_guid)
{
    if (!record) {
        return RESTART_STARTS; /* it went, and is made again */
    }
    const Models__ActualLRPInstanceKey *at = record->actual_lrp_instance_key;
    const char *guid = at ? at->instance_guid : "";
    if (record->stopping || (*guid && strcmp(guid, old_guid) == 0)) {
        return RESTART_STOPS;
    }
    if (record->crash_count > 0 || strcmp(record->state, "CRASHED") == 0) {
        return RESTART_CRASHED;
    }
    return strcmp(record->state, "RUNNING") == 0 ? RESTART_RUNS : RESTART_STARTS;
}

const char *restart_text(struct arena *a, const Models__ActualLRP *record)
{
    if (!record) {
        return "is made again";
    }
    const Models__ActualLRPInstanceKey *at = record->actual_lrp_instance_key;
    const char *why = lrp_reason(record);
    bool placed = at && *at->cell_id;
    return arena_printf(a, "%s%s%s%s%s%s", state_text(a, record), placed ? " on " : "",
                        placed ? at->cell_id : "", *why ? " (" : "", text_printable(a, why),
                        *why ? ")" : "");
}

const char *restart_late_text(struct arena *a, bool asked, int64_t waited_ms, const char *is,
                              const char *trouble)
{
    return arena_printf(a, "%s within %lld s%s%s%s%s",
                        asked ? "does not run again" : "no bbs confirmed its stop",
                        (long long)(waited_ms / 1000), *is ? "; it was " : "", is,
                        *trouble ? "; " : "", trouble);
}
