/* The system calls that a container may make: the profile that container tools share
 * (containers-common's seccomp.json) turned into the words of the runtime. The profile has rows for
 * several machines and for several sets of capabilities; here those that apply are chosen. Pure. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* For whom: the machine's name as uname(2) has it, one bit for each capability, and whether its
 * kernel runs programs of the x32 kind. Where it does not, as with most, their rules are left out:
 * each start of a container makes all rules of each architecture anew, 10 ms for x32 alone. */
struct seccomp_subject {
    const char *machine;
    uint64_t capabilities;
    bool x32;
};

/* Where the profile stands. */
#define SECCOMP_PROFILE "/usr/share/containers/seccomp.json"

/* The runtime's "seccomp" object: a new reference. NULL with ERR_INVALID when the profile is none,
 * has rows that are not understood, or does not know the machine: nothing of it is left out in
 * silence. */
json_t *seccomp_for(const json_t *profile, const struct seccomp_subject *subject, struct err *err);
