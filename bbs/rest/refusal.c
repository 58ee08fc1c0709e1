#include "bbs/rest/refusal.h"

#include "common/lifecycle/system.h"

#include <assert.h>

bool system_refusal(struct arena *a, const char *id, const Board__SystemRecord *system,
                    struct refusal *ret)
{
    static const struct {
        int state;
        const char *code, *text;
    } rows[] = {
        {SYSTEM_PENDING, "SYSTEM_PENDING",
         "is pending: ask again when a converger has opened it"},
        {SYSTEM_FAILED, "SYSTEM_FAILED", "has failed: delete it, and create it again"},
        {SYSTEM_DELETING, "SYSTEM_DELETING", "is being deleted"},
    };
    if (!system) {
        *ret = (struct refusal){404, "INVALID_SYSTEM_ID",
                                arena_printf(a, "there is no system %s", id)};
        return true;
    }
    int state = lifecycle_state(&system_lifecycle, system->state);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].state == state) {
            *ret = (struct refusal){409, rows[i].code,
                                    arena_printf(a, "system %s %s", id, rows[i].text)};
            return true;
        }
    }
    return false;
}

/* 1. The request itself is wrong: as the handler says.
 * 2. There is no such system: 404; where it is what the request is about 400 (docs/rest.md,
 * Errors).
 * 3. What it is about is not in the system: as the handler says.
 * 4. It is there already, as another one: CONFLICT; a system: SYSTEM_ALREADY_EXISTS.
 * 5. The system lets nothing be done: as it says. Otherwise what is there is not so that this can
 * be done: CONFLICT.
 * 6. All else: UNKNOWN. */
struct refusal op_refusal(struct arena *a, const struct rest *q, const Models__Error *error,
                          const ProtobufCMessage *record)
{
    bool of_system = record && record->descriptor == &board__system_record__descriptor;
    struct refusal r = {500, "UNKNOWN", error->message}; /* 6 */
    assert(error->message);
    switch ((int)error->type) {
    case MODELS__ERROR__TYPE__InvalidRequest: /* 1 */
        r.status = 400, r.code = q->invalid;
        break;
    case MODELS__ERROR__TYPE__ResourceNotFound:
        if (!record) { /* 2 */
            r.status = q->of_system ? 400 : 404, r.code = "INVALID_SYSTEM_ID";
        } else { /* 3 */
            r.status = 404, r.code = q->missing;
        }
        break;
    case MODELS__ERROR__TYPE__ResourceExists: /* 4 */
        r.status = 409, r.code = q->of_system ? "SYSTEM_ALREADY_EXISTS" : "CONFLICT";
        break;
    case MODELS__ERROR__TYPE__ResourceConflict: /* 5 */
        if (!of_system || !system_refusal(a, q->system, (const void *)record, &r)) {
            r.status = 409, r.code = "CONFLICT";
        }
        r.text = error->message;
        break;
    default:
        break;
    }
    return r;
}
