#include "rep/steps/exit_text.h"

#include "common/contract/moment.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

const char *exit_status_text(struct arena *a, int code, int signal, struct shortage of)
{
    assert(signal >= 0);
    return arena_printf(a, "Exited with status %d%s", signal ? 128 + signal : code,
                        of.memory ? " (out of memory)"
                        : of.disk ? " (out of disk)"
                                  : "");
}

const char *exit_text(struct arena *a, const char *source, int code, int signal, struct shortage of)
{
    return arena_printf(a, "%s: %s", source[0] ? source : "LOG",
                        exit_status_text(a, code, signal, of));
}

/* In units of so many ns: the whole ones, and what is left without zeros at its end. */
static const char *in_units(struct arena *a, const char *front, uint64_t ns, uint64_t unit,
                            const char *name)
{
    uint64_t rest = ns % unit;
    int width = 0;
    assert(unit > 0);
    for (uint64_t u = unit; u > 1; u /= 10) {
        width++;
    }
    for (; rest && rest % 10 == 0; rest /= 10) {
        width--;
    }
    return rest ? arena_printf(a, "%s%" PRIu64 ".%0*" PRIu64 "%s", front, ns / unit, width, rest,
                               name)
                : arena_printf(a, "%s%" PRIu64 "%s", front, ns / unit, name);
}

const char *duration_text(struct arena *a, int64_t ns)
{
    uint64_t left = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    const char *sign = ns < 0 ? "-" : "";
    uint64_t minutes = left / (60 * SECOND_NS), hours = minutes / 60;
    if (left == 0) {
        return "0s";
    } else if (left < (uint64_t)MICROSECOND_NS) {
        return in_units(a, sign, left, 1, "ns");
    } else if (left < (uint64_t)MILLISECOND_NS) {
        return in_units(a, sign, left, MICROSECOND_NS, "\u00b5s");
    } else if (left < (uint64_t)SECOND_NS) {
        return in_units(a, sign, left, MILLISECOND_NS, "ms");
    } else if (hours > 0) {
        sign = arena_printf(a, "%s%" PRIu64 "h%" PRIu64 "m", sign, hours, minutes % 60);
    } else if (minutes > 0) {
        sign = arena_printf(a, "%s%" PRIu64 "m", sign, minutes);
    }
    return in_units(a, sign, left % (60 * SECOND_NS), SECOND_NS, "s");
}

/* One digit after the point, rounded, and none if that is 0. */
const char *size_text(struct arena *a, int64_t bytes)
{
    static const char units[] = "BKMGTPE";
    size_t unit = 0;
    double value = (double)bytes;
    assert(bytes >= 0);
    for (; value >= 1024 && unit + 2 < sizeof(units); unit++) {
        value /= 1024;
    }
    char *text = arena_printf(a, "%.1f", value);
    size_t n = strlen(text);
    if (text[n - 1] == '0') {
        text[n - 2] = '\0';
    }
    return arena_printf(a, "%s%c", text, units[unit]);
}

const char *texts_joined(struct arena *a, const char *first, const char *second)
{
    if (!first[0] || !second[0]) {
        return first[0] ? first : second;
    }
    return arena_printf(a, "%s; %s", first, second);
}
