/* The data keys of systems: wrapped anew by the newest key; which keys are in use. */
#include "bbs/secret/facts.h"
#include "common/lifecycle/system.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Wrapped anew ---------------------------------------------------------------------------- */

static const Board__RewrapRequest *asked_rewrap(const struct op_input *in)
{
    return (const Board__RewrapRequest *)in->request;
}

static const char *rewrap_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked_rewrap(in)->system);
}

void valid_rewrap(struct validation *v, const Board__RewrapRequest *request)
{
    if (!*request->system) {
        say_field(v, "system");
    }
    check_length(v, request->system, NAME_CHARACTERS_MAX);
}

static void rewrap_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    ((struct secret_snapshot *)snapshot)->system =
        secret_system_gather(v, asked_rewrap(in)->system);
}

/* 1. There is no such system: refused; or it has no data key, or is in a state that this version
 *    does not know: nothing.
 * 2. It is wrapped by the newest key of this bbs, or by a newer one of another: nothing.
 * 3. This bbs cannot unwrap it: refused.
 * 4. The same data key is wrapped by the newest. */
static void rewrap_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const Board__SystemRecord *system = ((const struct secret_snapshot *)snapshot)->system;
    if (!system) { /* 1 */
        secret_system_refused(system, asked_rewrap(in)->system, p);
        return;
    }
    int state = lifecycle_state(&system_lifecycle, system->state);
    int to = state < 0 ? -1 : lifecycle_transition(&system_lifecycle, state, in->actor,
                                                   SYSTEM_TRIGGER_REWRAP, 0);
    p->record = &system->base;
    if (to < 0 || !system->data_key ||
        (in->seal && system->data_key->key >= seal_newest(in->seal))) { /* 1, 2 */
        return;
    }
    if (secret_keys_refused(in->seal, system, p)) { /* 3 */
        return;
    }
    Board__WrappedKey *key = arena_message(p->arena, &board__wrapped_key__descriptor);
    if (!seal_rewrap(in->seal, p->arena, system->uid, system->data_key, key)) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the data key of system %s is not what key %u wrapped: is it the same key on "
                    "each bbs?", system->id, system->data_key->key);
        return;
    }
    assert(key->key > system->data_key->key);
    secret_put_data_key(p, in, system, key); /* 4 */
}

const struct op_row rewrap_key_row = {
    .name = "rewrap key",
    .target = rewrap_target,
    .gather = rewrap_gather,
    .decide = rewrap_decide,
    .snapshot_size = sizeof(struct secret_snapshot),
};

/* ---- Told ------------------------------------------------------------------------------------ */

static Board__KeyUse *use_of(struct view *v, Board__KeysResponse *r, uint32_t number)
{
    for (size_t i = 0; i < r->n_keys; i++) {
        if (r->keys[i]->number == number) {
            return r->keys[i];
        }
    }
    if (r->n_keys == KEYS_SHOWN_MAX) {
        return NULL;
    }
    Board__KeyUse *use = arena_message(view_arena(v), &board__key_use__descriptor);
    use->number = number;
    r->keys[r->n_keys++] = use;
    return use;
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = (*(Board__KeyUse *const *)x)->number, b = (*(Board__KeyUse *const *)y)->number;
    return (a > b) - (a < b);
}

static void add_system(struct view *v, const struct seal *seal, Board__KeysResponse *r,
                       const Board__SystemRecord *system)
{
    if (!system->data_key) {
        return;
    }
    Board__KeyUse *use = use_of(v, r, system->data_key->key);
    if (use) {
        use->systems++;
    }
    if (system->data_key->key < seal_newest(seal) && r->n_older < OLDER_SHOWN_MAX) {
        r->older[r->n_older++] = arena_strdup(view_arena(v), system->id);
    }
}

/* One at a time: there may be 10,000. */
static void add_systems(struct view *v, const struct seal *seal, Board__KeysResponse *r)
{
    SCOPED_ARENA(scratch);
    Board__Selector selector = BOARD__SELECTOR__INIT;
    struct blob **blobs;
    selector.type = arena_strdup(view_arena(v), record_type_name(RECORD_SYSTEM));
    size_t count = view_select(v, &selector, &blobs);
    for (size_t i = 0; i < count; i++) {
        ProtobufCMessage *m;
        if (record_decode(&scratch, RECORD_SYSTEM, blob_bytes(blobs[i]), &m, NULL) == 0) {
            add_system(v, seal, r, (const Board__SystemRecord *)m);
        }
        arena_reset(&scratch);
    }
}

Board__KeysResponse *keys_told(struct view *v, const struct seal *seal)
{
    struct arena *a = view_arena(v);
    Board__KeysResponse *r = arena_message(a, &board__keys_response__descriptor);
    const uint32_t *numbers;
    size_t count = seal ? seal->ops->numbers(seal, &numbers) : 0;
    r->keys = ARENA_ARRAY(a, KEYS_SHOWN_MAX, Board__KeyUse *);
    r->older = ARENA_ARRAY(a, OLDER_SHOWN_MAX, char *);
    assert(count <= SEAL_KEYS_MAX);
    for (size_t i = 0; i < count; i++) {
        use_of(v, r, numbers[i])->held = true;
    }
    add_systems(v, seal, r);
    if (r->n_keys > 1) {
        qsort(r->keys, r->n_keys, sizeof(Board__KeyUse *), by_number);
    }
    return r;
}
