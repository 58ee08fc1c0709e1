#include "test/chaos/nemesis/attack_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool resolve_one(const struct nemesis_target *t, char name[FAULT_NAME_BYTES])
{
    struct command_result result;
    char role[FAULT_NAME_BYTES];
    char *suffix = strstr(name, "-leader");
    const char *command = nemesis_target_command(t, "leader");
    if (!suffix || suffix[7]) {
        return true;
    }
    snprintf(role, sizeof(role), "%.*s", (int)(suffix - name), name);
    if (!command || !command_run(command, role, sizeof(role), 1, COMMAND_LIMIT_MS, &result) ||
        !result.said[0] || strlen(result.said) >= FAULT_NAME_BYTES) {
        return false;
    }
    snprintf(name, FAULT_NAME_BYTES, "%.*s", FAULT_NAME_BYTES - 1, result.said);
    return true;
}

bool attack_resolve(const struct nemesis_target *t, struct attack *a)
{
    for (int i = 0; i < a->fault.target_count; i++) {
        if (!resolve_one(t, a->fault.targets[i])) {
            return false;
        }
    }
    return true;
}

/* Runs a command of the kind with whom it befalls and its number. */
static bool run_verb(const struct nemesis_target *t, const struct attack *a, const char *verb,
                     struct command_result *ret_result)
{
    char words[FAULT_TARGETS_MAX + 1][FAULT_NAME_BYTES];
    const struct fault *f = &a->fault;
    int count = f->target_count;
    const char *command = nemesis_target_fault_command(t, f->kind, verb);
    memcpy(words, f->targets, sizeof(f->targets));
    if (f->has_number) {
        snprintf(words[count++], FAULT_NAME_BYTES, "%" PRId64, f->number);
    }
    if (!command) {
        *ret_result = (struct command_result){.status = 127, .said = "the target has no command"};
        return false;
    }
    return command_run(command, words[0], FAULT_NAME_BYTES, count, COMMAND_LIMIT_MS, ret_result);
}

static void sleep_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

bool attack_begin(const struct nemesis_target *t, struct attack *a, volatile const int *stop)
{
    struct command_result result;
    a->begin_ns = nanoseconds_now();
    bool there = false, made = run_verb(t, a, "make", &result);
    while (made && !there && !*stop &&
           nanoseconds_now() - a->begin_ns < (int64_t)PROBE_LIMIT_MS * 1000000) {
        there = run_verb(t, a, "probe", &result);
        if (!there) {
            sleep_ms(PROBE_EVERY_MS);
        }
    }
    snprintf(a->probe, sizeof(a->probe), "%s", result.said);
    a->there_ns = there ? nanoseconds_now() : 0;
    return there;
}

bool attack_end(const struct nemesis_target *t, struct attack *a)
{
    struct command_result result;
    a->heal_ns = nanoseconds_now();
    a->healed = run_verb(t, a, "heal", &result);
    a->end_ns = nanoseconds_now();
    if (!a->healed) {
        snprintf(a->probe, sizeof(a->probe), "%s", result.said);
    }
    return a->healed;
}

void attack_words(const struct attack *a, char *ret_text, size_t size)
{
    size_t used = (size_t)snprintf(ret_text, size, "%s", a->fault.kind->name);
    for (int i = 0; i < a->fault.target_count && used < size; i++) {
        used += (size_t)snprintf(ret_text + used, size - used, " %s", a->fault.targets[i]);
    }
    if (a->fault.has_number && used < size) {
        snprintf(ret_text + used, size - used, " %" PRId64, a->fault.number);
    }
}
