/* The limits of a process (setrlimit(2)) in the words of the OCI runtime specification. Pure. */
#pragma once

#include "rep/driver/oci_spec.h"

#include <jansson.h>

/* Files a container may hold open when its spec does not say. */
enum { NOFILE_DEFAULT = 16384 };

#define LIMIT_NOFILE "RLIMIT_NOFILE"
#define LIMIT_NPROC "RLIMIT_NPROC"

/* The list "rlimits": open files always, processes where the spec says; each at most this process's
 * own hard limit. With the small init, which is a process of the same user, of one process more.
 * A new reference. */
json_t *process_limits(const struct container_spec *spec, const struct oci_facts *facts,
                       bool with_init);

/* Of a "process" object; 0: it says nothing of this one. */
long long process_limit_of(const json_t *process, const char *type);

/* Whether the spec, or a step of it, says more than a hard limit lets it have; then a sentence that
 * says so is appended to `why`. */
bool process_limits_cut(const struct container_spec *spec, const struct oci_facts *facts,
                        struct buf *why);
