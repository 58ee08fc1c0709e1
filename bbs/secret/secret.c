#include "bbs/secret/secret.h"

#include "bbs/secret/facts.h"
#include "common/codec/json_text.h"
#include "common/lifecycle/system.h"
#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

/* ---- What is asked --------------------------------------------------------------------------- */

static const Board__SetSecretRequest *asked_set(const struct op_input *in)
{
    return (const Board__SetSecretRequest *)in->request;
}

static const Board__SecretRequest *asked_unset(const struct op_input *in)
{
    return (const Board__SecretRequest *)in->request;
}

/* Those of one system take turns: the first one makes its data key. */
static const char *set_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked_set(in)->system);
}

static const char *unset_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked_unset(in)->system);
}

static void check_system(struct validation *v, const char *system)
{
    if (!*system) {
        say_field(v, "system");
    }
    check_length(v, system, NAME_CHARACTERS_MAX);
}

static void check_name(struct validation *v, const char *name)
{
    SCOPED_ARENA(a);
    const char *fault = component_subname_fault(&a, name, false);
    if (fault) {
        say(v, fault);
    }
}

void valid_secret(struct validation *v, const Board__SecretRequest *request)
{
    check_system(v, request->system);
    check_name(v, request->name);
}

void valid_secrets(struct validation *v, const Board__SecretsRequest *request)
{
    check_system(v, request->system);
}

/* It becomes a variable of an environment, or a file. */
void valid_set_secret(struct validation *v, const Board__SetSecretRequest *request)
{
    const struct bytes value = {request->value.data, request->value.len};
    check_system(v, request->system);
    check_name(v, request->name);
    if (value.size > SECRET_VALUE_BYTES_MAX) {
        say(v, "the value of a secret has at most 16 KiB");
    } else if (value.size > 0 && memchr(value.data, 0, value.size)) {
        say(v, "the value of a secret cannot have a NUL in it");
    } else if (!utf8_valid(value)) {
        say(v, "the value of a secret must be UTF-8: encode it, as base64 for example");
    }
}

/* ---- What is decided ------------------------------------------------------------------------- */

static void gather(struct view *v, const char *system, const char *name,
                   struct secret_snapshot *s)
{
    s->system = secret_system_gather(v, system);
    if (s->system) {
        s->record = view_message(v, key_secret(view_arena(v), s->system->uid, name));
        s->count = secrets_count(v, s->system->uid);
    }
}

static void set_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    gather(v, asked_set(in)->system, asked_set(in)->name, snapshot);
}

static void unset_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    gather(v, asked_unset(in)->system, asked_unset(in)->name, snapshot);
}

/* Whether the secret has this value already. */
static bool is_set_to(const struct secret_snapshot *s, const struct op_input *in, struct arena *a,
                      struct bytes value)
{
    struct bytes now;
    return s->record && s->record->sealed &&
           seal_open(in->seal, a, s->system->data_key, s->record->sealed, &now) &&
           now.size == value.size &&
           (value.size == 0 || memcmp(now.data, value.data, value.size) == 0);
}

static Board__SecretRecord *new_record(const struct secret_snapshot *s, const struct op_input *in,
                                       struct arena *a)
{
    Board__SecretRecord *after = arena_message(a, &board__secret_record__descriptor);
    Models__Sealed *sealed = arena_message(a, &models__sealed__descriptor);
    char version[GUID_BYTES];
    random_guid(in->random, version);
    sealed->name = asked_set(in)->name;
    sealed->version = arena_strdup(a, version);
    sealed->system = s->system->id;
    sealed->uid = s->system->uid;
    after->sealed = sealed;
    after->set_at = in->now.wall_ns;
    if (s->record && s->record->set_at > after->set_at) {
        after->set_at = s->record->set_at;
    }
    after->set_by = arena_strdup(a, in->peer_name);
    return after;
}

/* The data key; the first secret of a system makes it. */
static const Board__WrappedKey *data_key(const struct secret_snapshot *s, const struct op_input *in,
                                         struct plan *p)
{
    if (s->system->data_key) {
        return s->system->data_key;
    }
    char nonce[GUID_BYTES];
    random_guid(in->random, nonce);
    Board__WrappedKey *key = arena_message(p->arena, &board__wrapped_key__descriptor);
    seal_draw(in->seal, p->arena, s->system->uid, nonce, key);
    secret_put_data_key(p, in, s->system, key);
    return key;
}

/* 1. There is no such system, or it is not open: refused.
 * 2. This bbs cannot seal for it: refused.
 * 3. It has this value: nothing; who set it and when stay, and so does what was deployed with it.
 * 4. It is one more than a system may have: refused.
 * 5. The value is sealed; the first one brings the system's data key. */
static void set_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct secret_snapshot *s = snapshot;
    const struct bytes value = {asked_set(in)->value.data, asked_set(in)->value.len};
    if (secret_system_refused(s->system, asked_set(in)->system, p) || /* 1 */
        secret_keys_refused(in->seal, s->system, p)) { /* 2 */
        return;
    }
    p->record = s->record ? &s->record->base : NULL;
    if (is_set_to(s, in, p->arena, value)) { /* 3 */
        return;
    }
    if (!s->record && s->count >= SECRETS_MAX) { /* 4 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "system %s has %zu secrets, and may have %d: unset one first", s->system->id,
                    s->count, SECRETS_MAX);
        return;
    }
    Board__SecretRecord *after = new_record(s, in, p->arena); /* 5 */
    if (!seal_close(in->seal, p->arena, data_key(s, in, p), value, after->sealed)) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the data key of system %s is not what key %u wrapped: is it the same key on "
                    "each bbs?", s->system->id, s->system->data_key ? s->system->data_key->key : 0);
        return;
    }
    assert(after->sealed->key > 0 && after->sealed->text.len > 0);
    plan_put(p, key_secret(p->arena, s->system->uid, after->sealed->name), "set", in->actor,
             &after->base);
    p->record = &after->base;
}

/* 1. There is no such system, or it is not open: refused.
 * 2. It is not set: nothing.
 * 3. The record goes. What was deployed with it keeps the value until it is deployed again. */
static void unset_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct secret_snapshot *s = snapshot;
    if (secret_system_refused(s->system, asked_unset(in)->system, p)) { /* 1 */
        return;
    }
    if (s->record) { /* 3; otherwise 2 */
        plan_delete(p, key_secret(p->arena, s->system->uid, asked_unset(in)->name), "unset",
                    in->actor);
    }
}

const struct op_row set_secret_row = {
    .name = "set secret",
    .target = set_target,
    .gather = set_gather,
    .decide = set_decide,
    .snapshot_size = sizeof(struct secret_snapshot),
};

const struct op_row unset_secret_row = {
    .name = "unset secret",
    .target = unset_target,
    .gather = unset_gather,
    .decide = unset_decide,
    .snapshot_size = sizeof(struct secret_snapshot),
};
