/* What a request must fulfil before anything is decided: behaviour.md 8.1, 8.3, 9, 10.3 and the
 * lengths of 18, with the exact messages in the exact order. Pure. */
#pragma once

#include "bbs/board/validation.h"
#include "common/model/moves.h"
#include "models/actions.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/domain.pb-c.h"
#include "models/security_group.pb-c.h"

#include "board.pb-c.h"

/* Lengths (behaviour.md 18). More instances than INSTANCES_MAX are a slip of the finger that would
 * fill the store; Diego has no such bound. */
enum {
    ROOT_FS_CHARACTERS_MAX = 1024,
    ANNOTATION_BYTES_MAX = 10240,
    ROUTES_BYTES_MAX = 131072,
    INSTANCES_MAX = 1000000,
    CPU_MAX_PERCENT_MAX = 100000, /* more processors than any cell has; likewise */
};

/* Requests; absent members (NULL) are said. */
void valid_desire(struct validation *v, const Models__DesiredLRP *desired);
void valid_update(struct validation *v, const Models__UpdateDesiredLRPRequest *request);
void valid_remove_desired(struct validation *v, const Models__RemoveDesiredLRPRequest *request);
void valid_process_guid(struct validation *v, const char *process_guid); /* only that it is there */
void valid_upsert_domain(struct validation *v, const Models__UpsertDomainRequest *request);

/* Moves, from Diego's paths and from /v1/board/apply: the column `valid` of moves.def. All but
 * remove are about the ORDINARY record. */
void valid_at_index(struct validation *v, const Board__Move *move); /* names a place: no domain */
void valid_at_key(struct validation *v, const Board__Move *move);   /* and its domain */
void valid_of_instance(struct validation *v, const Board__Move *move); /* and an instance there */
void valid_claim(struct validation *v, const Board__Move *move);
void valid_start(struct validation *v, const Board__Move *move);
void valid_fail(struct validation *v, const Board__Move *move);
void valid_remove(struct validation *v, const Board__Move *move);
void valid_unclaim(struct validation *v, const Board__Move *move);
void valid_evacuate_crashed(struct validation *v, const Board__Move *move);

/* Parts, used by the ones above. */
void valid_action(struct validation *v, const Models__Action *action);
void valid_checksum(struct validation *v, const char *algorithm, const char *value);
void valid_egress_rule(struct validation *v, const Models__SecurityGroupRule *rule);
bool good_guid(const char *guid);        /* [a-zA-Z0-9_-]+ */

/* What DesiredLRPs and tasks have in common. */
void valid_unsealed(struct validation *v, const ProtobufCMessage *definition); /* of a client's */
void valid_of_client(struct validation *v, const Models__DesiredLRP *desired); /* and in no slice */
void not_negative(struct validation *v, int32_t value, const char *field);
void valid_cpu_max(struct validation *v, uint32_t percent); /* ours */
void valid_placement_tags(struct validation *v, char *const *tags, size_t count); /* ours */
void valid_annotation(struct validation *v, const char *annotation);
void valid_log_rate(struct validation *v, const Models__LogRateLimit *limit, const char *field);
void valid_action_of(struct validation *v, const Models__Action *action, const char *field);
void valid_image_credentials(struct validation *v, const char *username, const char *password);
void valid_dependencies(struct validation *v, Models__CachedDependency *const *list, size_t count);
void valid_layers(struct validation *v, Models__ImageLayer *const *list, size_t count,
                  const char *legacy_download_user);
