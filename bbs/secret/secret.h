/* Secrets of systems (docs/systems.md, Secrets): set, unset, told and opened; and the data keys
 * that they are sealed by. Values are sealed by the decision (op_input.seal) and never stand in a
 * plan, a refusal or a log otherwise. Pure.
 *
 * Refused: ResourceNotFound, there is no such system, or no such secret; ResourceConflict, the
 * system is not open, this bbs has no key for it, or there are too many. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"
#include "common/contract/seal.h"
#include "common/model/sealed_values.h"

#include "secret_api.pb-c.h"

enum {
    SECRETS_MAX = 1000,              /* of one system */
    SECRET_VALUE_BYTES_MAX = 16 * 1024,
    OLDER_SHOWN_MAX = 1000,          /* systems in one answer about keys */
    KEYS_SHOWN_MAX = 256,
};

/* Board__SetSecretRequest; Board__SecretRequest. plan->record: the SecretRecord as it stands then;
 * of unset NULL. */
extern const struct op_row set_secret_row;
extern const struct op_row unset_secret_row;

/* Board__RewrapRequest: the data key of a system is wrapped by the newest key; upward only. */
extern const struct op_row rewrap_key_row;

/* What is wrong with a request, for its route. */
void valid_set_secret(struct validation *v, const Board__SetSecretRequest *request);
void valid_secret(struct validation *v, const Board__SecretRequest *request);
void valid_secrets(struct validation *v, const Board__SecretsRequest *request);
void valid_rewrap(struct validation *v, const Board__RewrapRequest *request);

/* ---- Reads: whole answers, in the view's arena, with the error in them ----------------------- */

/* All secrets of a system, by name, without values. */
Board__SecretsResponse *secrets_told(struct view *v, const char *system);

/* One with its value. */
Board__SecretResponse *secret_told(struct view *v, const struct seal *seal, const char *system,
                                   const char *name);

/* The keys of this bbs, and those that data keys of systems are wrapped by. */
Board__KeysResponse *keys_told(struct view *v, const struct seal *seal);

/* ---- What others ask ------------------------------------------------------------------------- */

/* The values of a system's secrets, for sealed_values_fill_...(): of each of `names`, as gather
 * reads it; each read is noted. */
struct secret_values {
    size_t count;
    const char *const *names;
    const Models__Sealed **values; /* NULL = it is not set */
};
struct secret_values secret_values_gather(struct view *v, const char *uid,
                                          const char *const *names, size_t count);

/* The sealed_lookup of them; the context is a const struct secret_values. */
const Models__Sealed *secret_values_lookup(void *context, const char *name);

/* Opens all that is sealed in a decoded message of the caller's own; what it becomes lives in the
 * view's arena. NULL, or why not, for people; nothing has changed then. */
const char *secrets_open(struct view *v, const struct seal *seal, ProtobufCMessage *m);
