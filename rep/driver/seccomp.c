#include "rep/driver/seccomp.h"

#include "rep/driver/capability.h"

#include <string.h>

/* ---- Machines ---- */

/* As uname(2), the profile's conditions and the kernel's seccomp call them. */
static const struct machine {
    const char *uname, *condition, *native;
} machines[] = {
    {"x86_64", "amd64", "SCMP_ARCH_X86_64"},    {"aarch64", "arm64", "SCMP_ARCH_AARCH64"},
    {"armv7l", "arm", "SCMP_ARCH_ARM"},         {"i686", "x86", "SCMP_ARCH_X86"},
    {"ppc64le", "ppc64le", "SCMP_ARCH_PPC64LE"}, {"s390x", "s390x", "SCMP_ARCH_S390X"},
    {"riscv64", "riscv64", "SCMP_ARCH_RISCV64"},
};

static const struct machine *find_machine(const char *uname)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (strcmp(machines[i].uname, uname) == 0) {
            return &machines[i];
        }
    }
    return NULL;
}

static bool runs(const struct seccomp_subject *subject, const char *architecture)
{
    return subject->x32 || !architecture || strcmp(architecture, "SCMP_ARCH_X32") != 0;
}

/* The machine's own architecture and those it runs beside. One that the profile's map does not name
 * has its own alone. */
static json_t *architectures(const json_t *profile, const struct machine *m,
                             const struct seccomp_subject *subject)
{
    json_t *list = json_array();
    json_array_append_new(list, json_string(m->native));
    size_t i, k;
    json_t *row, *sub;
    json_array_foreach(json_object_get(profile, "archMap"), i, row) {
        const char *name = json_string_value(json_object_get(row, "architecture"));
        if (!name || strcmp(name, m->native) != 0) {
            continue;
        }
        json_array_foreach(json_object_get(row, "subArchitectures"), k, sub) {
            if (runs(subject, json_string_value(sub))) {
                json_array_append(list, sub);
            }
        }
    }
    return list;
}

/* ---- Conditions ---- */

struct seccomp_match {
    const struct machine *machine;
    uint64_t capabilities;
};

/* Some word of the list is the machine's; all of the capabilities are there. */
static bool names_machine(const json_t *list, const struct machine *m)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word) {
        if (json_is_string(word) && strcmp(json_string_value(word), m->condition) == 0) {
            return true;
        }
    }
    return false;
}

static size_t count_held(const json_t *list, uint64_t capabilities)
{
    size_t i, held = 0;
    json_t *word;
    json_array_foreach(list, i, word) {
        int bit = json_is_string(word) ? capability_number(json_string_value(word)) : -1;
        held += bit >= 0 && (capabilities >> bit & 1);
    }
    return held;
}

/* Conditions that are not known here: a row with one is not understood. */
static const char *unknown_condition(const json_t *conditions)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)conditions, key, value) {
        if (strcmp(key, "arches") != 0 && strcmp(key, "caps") != 0 &&
            strcmp(key, "minKernel") != 0) {
            return key;
        }
    }
    return NULL;
}

/* 1. It must be for this machine, and for who has all of these capabilities; 2. it must not be for
 * others than this machine, nor for who has none of these, nor for older kernels alone (minKernel):
 * the oldest that a profile names is older than any we run on. */
static bool applies(const json_t *row, const struct seccomp_match *m)
{
    const json_t *in = json_object_get(row, "includes"), *out = json_object_get(row, "excludes");
    const json_t *arches = json_object_get(in, "arches"), *caps = json_object_get(in, "caps");
    if ((json_array_size(arches) > 0 && !names_machine(arches, m->machine)) ||
        count_held(caps, m->capabilities) < json_array_size(caps)) {
        return false; /* 1 */
    }
    arches = json_object_get(out, "arches");
    caps = json_object_get(out, "caps");
    return !names_machine(arches, m->machine) && count_held(caps, m->capabilities) == 0 &&
           !json_object_get(out, "minKernel"); /* 2 */
}

/* ---- Rows ---- */

static bool is_known_action(const char *action)
{
    static const char *const known[] = {
        "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS",
        "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP", "SCMP_ACT_LOG",
    };
    for (size_t i = 0; action && i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(action, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool all_strings(const json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word) {
        if (!json_is_string(word)) {
            return false;
        }
    }
    return json_array_size(list) > 0;
}

static bool copy_arguments(const json_t *from, json_t *to)
{
    size_t i;
    json_t *one;
    json_t *list = json_array();
    bool good = true;
    json_array_foreach(from, i, one) {
        good = good && json_is_integer(json_object_get(one, "index")) &&
               json_is_integer(json_object_get(one, "value")) &&
               json_is_string(json_object_get(one, "op"));
        json_array_append(list, one);
    }
    if (json_array_size(list) > 0) {
        json_object_set(to, "args", list);
    }
    json_decref(list);
    return good;
}

/* A row in the runtime's words; NULL when it is not understood. */
static json_t *copy_row(const json_t *row)
{
    json_t *names = json_object_get(row, "names"), *action = json_object_get(row, "action");
    json_t *number = json_object_get(row, "errnoRet");
    if (!all_strings(names) || !is_known_action(json_string_value(action)) ||
        (number && !json_is_null(number) && !json_is_integer(number)) ||
        unknown_condition(json_object_get(row, "includes")) ||
        unknown_condition(json_object_get(row, "excludes"))) {
        return NULL;
    }
    json_t *to = json_object();
    json_object_set(to, "names", names);
    json_object_set(to, "action", action);
    if (json_is_integer(number)) {
        json_object_set(to, "errnoRet", number);
    }
    if (!copy_arguments(json_object_get(row, "args"), to)) {
        json_decref(to);
        return NULL;
    }
    return to;
}

static int copy_rows(const json_t *rows, const struct seccomp_match *m, json_t *to, struct err *err)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        json_t *copy = copy_row(row);
        if (!copy) {
            return err_set(err, ERR_INVALID, "row %zu of its syscalls is not understood", i);
        }
        if (applies(row, m)) {
            json_array_append(to, copy);
        }
        json_decref(copy);
    }
    return 0;
}

json_t *seccomp_for(const json_t *profile, const struct seccomp_subject *subject, struct err *err)
{
    struct seccomp_match m = {find_machine(subject->machine), subject->capabilities};
    json_t *action = json_object_get(profile, "defaultAction");
    json_t *number = json_object_get(profile, "defaultErrnoRet");
    const json_t *rows = json_object_get(profile, "syscalls");
    if (!m.machine) {
        err_set(err, ERR_INVALID, "the machine \"%.40s\" is not known", subject->machine);
        return NULL;
    }
    if (!is_known_action(json_string_value(action)) || !json_is_array(rows)) {
        err_set(err, ERR_INVALID, "it has no defaultAction, or no syscalls");
        return NULL;
    }
    json_t *list = json_array();
    json_t *to = json_pack("{s:O, s:o, s:o}", "defaultAction", action, "architectures",
                           architectures(profile, m.machine, subject), "syscalls", list);
    if (json_is_integer(number)) {
        json_object_set(to, "defaultErrnoRet", number);
    }
    if (copy_rows(rows, &m, list, err) < 0) {
        json_decref(to);
        return NULL;
    }
    return to;
}
