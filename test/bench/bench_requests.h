/* The requests that benchmarks send, in an arena. */
#pragma once

#include "common/base/arena.h"

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

struct bench_process {
    const char *guid;
    int instances;
    int disk_mb; /* 0 = no limit, so no file system of its own */
    int environment; /* variables of about 100 bytes each */
};

/* POST /v1/desired_lrp/desire.r2: `sleep` in preloaded:busybox, 32 MiB, domain "bench". */
const ProtobufCMessage *bench_desire(struct arena *a, const struct bench_process *p,
                                     const char **ret_path);

/* POST /v1/desired_lrp/remove */
const ProtobufCMessage *bench_remove(struct arena *a, const char *process_guid,
                                     const char **ret_path);

/* POST /v1/actual_lrps/claim and start.r1 for one instance. */
const ProtobufCMessage *bench_claim(struct arena *a, const char *process_guid, int32_t index,
                                    const char *instance_guid, const char **ret_path);
const ProtobufCMessage *bench_start(struct arena *a, const char *process_guid, int32_t index,
                                    const char *instance_guid, const char **ret_path);

/* The steps of a task's life, as an ordinary client takes them: POST /v1/tasks/desire.r2, start,
 * complete, resolving, delete. */
enum bench_task_step {
    BENCH_TASK_DESIRE,
    BENCH_TASK_START,
    BENCH_TASK_COMPLETE,
    BENCH_TASK_RESOLVING,
    BENCH_TASK_DELETE,
    BENCH_TASK_STEPS
};
const ProtobufCMessage *bench_task(struct arena *a, const char *task_guid,
                                   enum bench_task_step step, const char **ret_path);

/* "desire", "start", ... */
const char *bench_task_step_name(enum bench_task_step step);
