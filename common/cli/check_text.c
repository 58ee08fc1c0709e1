#include "common/cli/check_text.h"

#include "common/cli/printable.h"
#include "common/cli/table.h"

static const char *next_text(struct arena *a, const Cell__CheckOutcome *check)
{
    return check->next_in_ms >= 1000 ? arena_printf(a, "next in %llds",
                                                    (long long)check->next_in_ms / 1000)
           : check->next_in_ms > 0 ? arena_printf(a, "next in %lldms", (long long)check->next_in_ms)
                                   : "under way";
}

const char *check_text(struct arena *a, const Cell__CheckOutcome *check, int64_t now_ns)
{
    const char *what = arena_printf(a, "%s%s", text_printable(a, check->what),
                                    check->readiness ? " (readiness)" : "");
    const char *next = next_text(a, check);
    if (check->at == 0) {
        return arena_printf(a, "%s is awaited, %s", what, next);
    }
    const char *age = age_text(a, now_ns > check->at ? now_ns - check->at : 0);
    return check->passed
               ? arena_printf(a, "%s passed %s ago in %lld ms, %s", what, age,
                              (long long)check->took_ms, next)
               : arena_printf(a, "%s failed %s ago: %s; %s", what, age,
                              text_printable(a, check->text), next);
}
