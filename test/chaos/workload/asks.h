/* The messages of the workload's calls. Pure; all lives in the arena. */
#pragma once

#include "common/base/arena.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* What is desired of an LRP. */
struct ask_lrp {
    const char *process_guid, *domain, *rootfs, *annotation;
    int instances;
};

/* A web server that answers with its instance guid and index. */
const ProtobufCMessage *ask_desire(struct arena *a, const struct ask_lrp *lrp);

/* instances < 0: they stay as they are. */
const ProtobufCMessage *ask_update(struct arena *a, const char *process_guid,
                                   const char *annotation, int instances);
const ProtobufCMessage *ask_remove(struct arena *a, const char *process_guid);
const ProtobufCMessage *ask_get(struct arena *a, const char *process_guid);
const ProtobufCMessage *ask_list(struct arena *a, const char *domain);
const ProtobufCMessage *ask_domain(struct arena *a, const char *domain, uint32_t ttl_s);

/* A task that runs for `seconds` and whose result is a word of its own, drawn as it runs: two runs
 * have two. */
const ProtobufCMessage *ask_task(struct arena *a, const char *task_guid, const char *domain,
                                 const char *rootfs, int seconds);
const ProtobufCMessage *ask_of_task(struct arena *a, const char *task_guid); /* TaskGuidRequest */
const ProtobufCMessage *ask_task_get(struct arena *a, const char *task_guid);
