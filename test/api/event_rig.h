/* What tests of event streams at running bbs share (bbs_rig.h): the paths, requests whose changes
 * are told, and the reading of what is told. */
#pragma once

#include "test/api/bbs_rig.h"

#define GROUPS "/v1/events.r1"
#define GROUPS_R0 "/v1/events"
#define INSTANCES "/v1/events/lrp_instances.r1"
#define INSTANCES_R0 "/v1/events/lrp_instances"
#define TASKS "/v1/events/tasks.r1"
#define TASKS_R0 "/v1/events/tasks"

/* POST of a message, which must be done well; "" is no trace id. */
void ask_well(const struct bbs_process *b, const char *path, const char *trace_id,
              const ProtobufCMessage *m);

/* With trace ids "update-id" and "remove-id". */
void desire_lrp(const struct bbs_process *b, const char *guid, int32_t instances,
                const char *trace_id);
void annotate_lrp(const struct bbs_process *b, const char *guid, const char *annotation);
void remove_lrp(const struct bbs_process *b, const char *guid);

/* A task with an image layer; and whatever is asked with its guid alone: "cancel", "resolving",
 * "delete". */
void desire_task(const struct bbs_process *b, const char *guid);
void ask_task(const struct bbs_process *b, const char *what, const char *guid);

/* The next event, which must be of this name: as it came, to be ended with buf_done(&item.payload);
 * as a message in the arena; or passed over. */
struct stream_item next_item(struct subscriber *s, const char *name);
void *next_event(struct arena *a, struct subscriber *s, const char *name,
                 const ProtobufCMessageDescriptor *type);
void pass_event(struct subscriber *s, const char *name);

/* Passes over `count` events, whose ids rise by one. */
void pass_events(struct subscriber *s, long first, long count);
