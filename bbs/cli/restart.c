#include "bbs/cli/restart.h"

#include "bbs/cli/lrps.h"
#include "common/cli/printable.h"

#include <stdlib.h>
#include <string.h>

int restart_target(struct arena *a, const char *text, const char **ret_name, int32_t *ret_index,
                   struct err *err)
{
    const char *slash = strrchr(text, '/');
    size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
    if (slash && (slash == text || digits == 0 || digits > 6 || slash[1 + digits])) {
        return err_set(err, ERR_INVALID, "\"%.60s\" is not an app and an index (web, web/0, ...)",
                       text);
    }
    *ret_name = slash ? arena_strndup(a, text, (size_t)(slash - text)) : text;
    *ret_index = slash ? (int32_t)strtol(slash + 1, NULL, 10) : -1;
    return 0;
}

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
        return RESTART_STARTS; /* it went, and is made anew */
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

const char *restart_text(struct arena *a, const char *label, const Models__ActualLRP *record)
{
    if (!record) {
        return arena_printf(a, "%s: is made anew", label);
    }
    const Models__ActualLRPInstanceKey *at = record->actual_lrp_instance_key;
    const char *why = lrp_reason(record);
    bool placed = at && *at->cell_id;
    return arena_printf(a, "%s: %s%s%s%s%s%s", label, state_text(a, record), placed ? " on " : "",
                        placed ? at->cell_id : "", *why ? " (" : "", text_printable(a, why),
                        *why ? ")" : "");
}
