#include "rep/container/health.h"

#include "common/contract/moment.h"
#include "rep/steps/exit_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

static const struct health_row {
    int number;
    enum health_phase phase;
    enum health_outcome outcome;
    enum health_phase next;
    enum health_word says;
} rows[] = {
    {1, HEALTH_STARTING, HEALTH_PASSED, HEALTH_HEALTHY, HEALTH_SAYS_HEALTHY},
    {2, HEALTH_STARTING, HEALTH_AWAITED, HEALTH_STARTING, HEALTH_SAYS_NOTHING},
    {3, HEALTH_STARTING, HEALTH_BROKEN, HEALTH_STARTING, HEALTH_SAYS_NOTHING},
    {4, HEALTH_STARTING, HEALTH_TIME_OVER, HEALTH_UNHEALTHY, HEALTH_SAYS_NEVER},
    {5, HEALTH_HEALTHY, HEALTH_PASSED, HEALTH_HEALTHY, HEALTH_SAYS_NOTHING},
    {6, HEALTH_HEALTHY, HEALTH_AWAITED, HEALTH_HEALTHY, HEALTH_SAYS_NOTHING},
    {7, HEALTH_HEALTHY, HEALTH_BROKEN, HEALTH_UNHEALTHY, HEALTH_SAYS_UNHEALTHY},
    {8, HEALTH_NOT_READY, HEALTH_PASSED, HEALTH_READY, HEALTH_SAYS_READY},
    {9, HEALTH_NOT_READY, HEALTH_AWAITED, HEALTH_NOT_READY, HEALTH_SAYS_NOTHING},
    {10, HEALTH_NOT_READY, HEALTH_BROKEN, HEALTH_NOT_READY, HEALTH_SAYS_NOTHING},
    {11, HEALTH_READY, HEALTH_PASSED, HEALTH_READY, HEALTH_SAYS_NOTHING},
    {12, HEALTH_READY, HEALTH_AWAITED, HEALTH_READY, HEALTH_SAYS_NOTHING},
    {13, HEALTH_READY, HEALTH_BROKEN, HEALTH_NOT_READY, HEALTH_SAYS_NOT_READY},
};

struct health_next health_next(enum health_phase phase, enum health_outcome outcome)
{
    assert(phase < HEALTH_PHASE_COUNT && outcome < HEALTH_OUTCOME_COUNT);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].phase == phase && rows[i].outcome == outcome) {
            return (struct health_next){rows[i].number, rows[i].next, rows[i].says};
        }
    }
    return (struct health_next){0, phase, HEALTH_SAYS_NOTHING}; /* it is being ended */
}

bool health_has(const Rep__Health *health, bool readiness)
{
    for (size_t i = 0; health && i < health->n_checks; i++) {
        if ((bool)health->checks[i]->readiness == readiness) {
            return true;
        }
    }
    return false;
}

bool health_is_routable(const Rep__Health *health)
{
    return !health_has(health, true) || health->ready;
}

int64_t health_start_ends_ns(const Rep__Health *health)
{
    int64_t ms = health->start_timeout_ms < HEALTH_TIME_MOST_MS ? health->start_timeout_ms
                                                               : HEALTH_TIME_MOST_MS;
    return ms > 0 && health->watched_since_ns ? health->watched_since_ns + ms * MILLISECOND_NS
                                              : NEVER_NS;
}

static bool is_of(const Rep__Check *check, enum health_phase phase)
{
    return (bool)check->readiness == (phase == HEALTH_NOT_READY || phase == HEALTH_READY);
}

enum health_outcome health_outcome(const Rep__Health *health, const struct check_result *results,
                                   enum health_phase phase, int64_t now_ns)
{
    enum health_outcome out = HEALTH_PASSED;
    assert(health && phase < HEALTH_PHASE_COUNT);
    for (size_t i = 0; i < health->n_checks; i++) {
        if (!is_of(health->checks[i], phase)) {
            continue;
        }
        if (results[i].known && !results[i].passed) {
            out = HEALTH_BROKEN;
        } else if (!results[i].known && out == HEALTH_PASSED) {
            out = HEALTH_AWAITED;
        }
    }
    bool over = phase == HEALTH_STARTING && now_ns >= health_start_ends_ns(health);
    return over && out != HEALTH_PASSED ? HEALTH_TIME_OVER : out;
}

/* ---- When ------------------------------------------------------------------------------------ */

int64_t health_interval_ns(const Rep__Check *check, const struct health_pace *pace)
{
    int64_t ms = check->interval_ms;
    if (ms <= 0) {
        return pace->interval_ns;
    }
    ms = ms < HEALTH_INTERVAL_LEAST_MS ? HEALTH_INTERVAL_LEAST_MS : ms;
    return (ms < HEALTH_TIME_MOST_MS ? ms : HEALTH_TIME_MOST_MS) * MILLISECOND_NS;
}

int64_t health_timeout_ms(const Rep__Check *check, const struct health_pace *pace)
{
    int64_t ms = check->timeout_ms > 0 ? check->timeout_ms : pace->timeout_ns / MILLISECOND_NS;
    return ms < 1 ? 1 : ms < HEALTH_TIME_MOST_MS ? ms : HEALTH_TIME_MOST_MS;
}

/* In step with when it was due: what a look takes does not add up. */
int64_t health_next_ns(const Rep__Check *check, enum health_phase phase, bool passed,
                      int64_t due_ns, int64_t now_ns, const struct health_pace *pace)
{
    if (phase == HEALTH_STARTING && passed && !check->readiness) {
        return NEVER_NS;
    }
    assert(pace->again_ns > 0 && pace->interval_ns > 0 && pace->timeout_ns > 0);
    int64_t interval_ns = health_interval_ns(check, pace);
    bool soon = !passed && pace->again_ns < interval_ns;
    int64_t next_ns = due_ns + (soon ? pace->again_ns : interval_ns);
    return next_ns > now_ns ? next_ns : now_ns;
}

/* ---- Words ----------------------------------------------------------------------------------- */

const char *health_address_text(struct arena *a, const char *address, uint32_t port)
{
    return arena_printf(a, strchr(address, ':') ? "[%s]:%u" : "%s:%u", address, port);
}

const char *health_check_name(struct arena *a, const Rep__Check *check)
{
    switch (check->kind) {
    case REP__CHECK__KIND__HTTP:
        return arena_printf(a, "http :%u%.200s", check->port, check->path);
    case REP__CHECK__KIND__TCP:
        return arena_printf(a, "tcp :%u", check->port);
    default:
        return "monitor";
    }
}

static const char *why(struct arena *a, int64_t timeout_ms, const struct probed *probed)
{
    switch (probed->outcome) {
    case PROBE_REFUSED:
        return "connection refused";
    case PROBE_TIMED_OUT:
        return arena_printf(a, "timed out after %.2f seconds", (double)timeout_ms / 1000);
    default:
        return probed->text;
    }
}

const char *health_probe_text(struct arena *a, const Rep__Check *check, const char *address,
                              uint32_t port, int64_t timeout_ms, const struct probed *probed)
{
    enum { OK = 200 };
    bool http = check->kind == REP__CHECK__KIND__HTTP;
    if (probed->outcome == PROBE_ANSWERED && (!http || probed->status == OK)) {
        return "";
    }
    const char *reason = probed->outcome == PROBE_ANSWERED
                             ? arena_printf(a, "received status code %d in %lldms", probed->status,
                                            (long long)probed->took_ms)
                             : why(a, timeout_ms, probed);
    return http ? arena_printf(a, "failed to make HTTP request to '%s' on port %u: %s",
                               check->path, port, reason)
                : arena_printf(a, "failed to make TCP connection to %s: %s",
                               health_address_text(a, address, port), reason);
}

/* A monitor's words are its program's, and stand alone. */
static const char *words_of_check(struct arena *a, const Rep__Health *health,
                                  const Rep__Check *check, const struct check_result *result,
                                  enum health_phase phase)
{
    const char *text = result->known ? result->text : "it has not come to an end";
    if (check->kind == REP__CHECK__KIND__MONITOR) {
        return text;
    }
    if (phase != HEALTH_STARTING) {
        return arena_printf(a, "Liveness check unsuccessful: %s", text);
    }
    return arena_printf(
        a, "Timed out after %s (%u attempts) waiting for startup check to succeed: %s",
        duration_text(a, health->start_timeout_ms * MILLISECOND_NS), result->tried, text);
}

/* Until they first pass each one that has not speaks; later the first to fail. */
const char *health_details(struct arena *a, const Rep__Health *health,
                           const struct check_result *results, enum health_phase phase)
{
    const char *text = "";
    for (size_t i = 0; i < health->n_checks; i++) {
        bool failed = results[i].known ? !results[i].passed : phase == HEALTH_STARTING;
        if (!health->checks[i]->readiness && failed) {
            const char *one = words_of_check(a, health, health->checks[i], &results[i], phase);
            text = texts_joined(a, text, one);
            if (phase != HEALTH_STARTING) {
                break;
            }
        }
    }
    return text;
}

const char *health_reason(struct arena *a, const Rep__Health *health, const char *details,
                          enum health_phase phase)
{
    return phase == HEALTH_STARTING
               ? arena_printf(a, "Instance never healthy after %s: %s",
                              duration_text(a, health->start_timeout_ms * MILLISECOND_NS), details)
               : arena_printf(a, "Instance became unhealthy: %s", details);
}

const char *health_line(struct arena *a, const Rep__Health *health, enum health_word word,
                        bool *ret_to_stderr)
{
    *ret_to_stderr = word == HEALTH_SAYS_NEVER || word == HEALTH_SAYS_UNHEALTHY;
    switch (word) {
    case HEALTH_SAYS_HEALTHY:
        return "Container became healthy";
    case HEALTH_SAYS_NEVER:
        return arena_printf(a, "Failed after %s: startup health check never passed.",
                            duration_text(a, health->start_timeout_ms * MILLISECOND_NS));
    case HEALTH_SAYS_UNHEALTHY:
        return "Container became unhealthy";
    case HEALTH_SAYS_READY:
        return "Container passed the readiness health check. Container marked ready and added to "
               "route pool.";
    case HEALTH_SAYS_NOT_READY:
        return "Container failed the readiness health check. Container marked not ready and "
               "removed from route pool.";
    default:
        return "Starting health monitoring of container";
    }
}
