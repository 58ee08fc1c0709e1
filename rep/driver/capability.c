#include "rep/driver/capability.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* `usual`: what an unprivileged container gets, the set that other
 * container tools give as well. */
static const struct capability {
    const char *name;
    bool usual;
} capabilities[] = {
    {"CAP_CHOWN", true},           {"CAP_DAC_OVERRIDE", true},  {"CAP_DAC_READ_SEARCH", false},
    {"CAP_FOWNER", true},          {"CAP_FSETID", true},        {"CAP_KILL", true},
    {"CAP_SETGID", true},          {"CAP_SETUID", true},        {"CAP_SETPCAP", true},
    {"CAP_LINUX_IMMUTABLE", false}, {"CAP_NET_BIND_SERVICE", true}, {"CAP_NET_BROADCAST", false},
    {"CAP_NET_ADMIN", false},      {"CAP_NET_RAW", true},       {"CAP_IPC_LOCK", false},
    {"CAP_IPC_OWNER", false},      {"CAP_SYS_MODULE", false},   {"CAP_SYS_RAWIO", false},
    {"CAP_SYS_CHROOT", true},      {"CAP_SYS_PTRACE", false},   {"CAP_SYS_PACCT", false},
    {"CAP_SYS_ADMIN", false},      {"CAP_SYS_BOOT", false},     {"CAP_SYS_NICE", false},
    {"CAP_SYS_RESOURCE", false},   {"CAP_SYS_TIME", false},     {"CAP_SYS_TTY_CONFIG", false},
    {"CAP_MKNOD", true},           {"CAP_LEASE", false},        {"CAP_AUDIT_WRITE", true},
    {"CAP_AUDIT_CONTROL", false},  {"CAP_SETFCAP", true},       {"CAP_MAC_OVERRIDE", false},
    {"CAP_MAC_ADMIN", false},      {"CAP_SYSLOG", false},       {"CAP_WAKE_ALARM", false},
    {"CAP_BLOCK_SUSPEND", false},  {"CAP_AUDIT_READ", false},   {"CAP_PERFMON", false},
    {"CAP_BPF", false},            {"CAP_CHECKPOINT_RESTORE", false},
};

static_assert(sizeof(capabilities) / sizeof(capabilities[0]) == CAPABILITY_COUNT, "one row each");

const char *capability_name(int number)
{
    return number >= 0 && number < CAPABILITY_COUNT ? capabilities[number].name : NULL;
}

int capability_number(const char *name)
{
    for (int i = 0; i < CAPABILITY_COUNT; i++) {
        if (strcmp(capabilities[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

uint64_t capabilities_of(bool privileged, uint64_t own)
{
    uint64_t set = 0;
    for (int i = 0; i < CAPABILITY_COUNT; i++) {
        set |= privileged || capabilities[i].usual ? UINT64_C(1) << i : 0;
    }
    return set & own;
}
