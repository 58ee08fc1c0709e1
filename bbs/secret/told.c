/* Secrets as they are told, and opened for those who may have them. */
#include "bbs/secret/facts.h"

#include <assert.h>
#include <string.h>

/* ---- Told ------------------------------------------------------------------------------------ */

static Models__Error *new_error(struct arena *a, Models__Error__Type type, const char *text)
{
    Models__Error *e = arena_message(a, &models__error__descriptor);
    e->type = type;
    e->message = arena_strdup(a, text);
    return e;
}

/* The system of this id; NULL, with the error, unless it is open. */
static const Board__SystemRecord *open_system(struct view *v, const char *id,
                                              Models__Error **ret_error)
{
    struct arena *a = view_arena(v);
    const Board__SystemRecord *system = *id ? view_peek_message(v, key_system(a, id)) : NULL;
    const char *why = secret_system_fault(a, system, id);
    if (why) {
        *ret_error = new_error(a, system ? MODELS__ERROR__TYPE__ResourceConflict
                                         : MODELS__ERROR__TYPE__ResourceNotFound, why);
    }
    return why ? NULL : system;
}

static Board__SecretInfo *info_of(struct arena *a, const Board__SecretRecord *record)
{
    Board__SecretInfo *info = arena_message(a, &board__secret_info__descriptor);
    info->name = record->sealed->name;
    info->version = record->sealed->version;
    info->set_at = record->set_at;
    info->set_by = record->set_by;
    return info;
}

Board__SecretsResponse *secrets_told(struct view *v, const char *system_id)
{
    struct arena *a = view_arena(v);
    Board__SecretsResponse *r = arena_message(a, &board__secrets_response__descriptor);
    const Board__SystemRecord *system = open_system(v, system_id, &r->error);
    const struct seen *list;
    int count = system ? view_peek_range(v, key_range_of(a, RECORD_SECRET, system->uid),
                                         2 * SECRETS_MAX, &list) : 0;
    r->secrets = ARENA_ARRAY(a, (size_t)(count > 0 ? count : 0), Board__SecretInfo *);
    for (int i = 0; i < count; i++) {
        const Board__SecretRecord *record = (const Board__SecretRecord *)list[i].message;
        if (record->sealed) {
            r->secrets[r->n_secrets++] = info_of(a, record);
        }
    }
    return r;
}

/* 1. There is no such system, or it is not open.
 * 2. The secret is not set.
 * 3. This bbs cannot open it.
 * 4. Its value. */
Board__SecretResponse *secret_told(struct view *v, const struct seal *seal, const char *system_id,
                                   const char *name)
{
    struct arena *a = view_arena(v);
    Board__SecretResponse *r = arena_message(a, &board__secret_response__descriptor);
    const Board__SystemRecord *system = open_system(v, system_id, &r->error);
    if (!system) { /* 1 */
        return r;
    }
    const Board__SecretRecord *record = view_peek_message(v, key_secret(a, system->uid, name));
    const char *why = secret_keys_fault(a, seal, system);
    struct bytes text;
    if (!record || !record->sealed) { /* 2 */
        r->error = new_error(a, MODELS__ERROR__TYPE__ResourceNotFound,
                             arena_printf(a, "secret %s of system %s is not set", name,
                                          system->id));
    } else if (why) { /* 3 */
        r->error = new_error(a, MODELS__ERROR__TYPE__ResourceConflict, why);
    } else if (!seal_open(seal, a, system->data_key, record->sealed, &text)) { /* 3 */
        r->error = new_error(a, MODELS__ERROR__TYPE__ResourceConflict,
                             arena_printf(a, "secret %s of system %s is not what was sealed: set "
                                          "it again", name, system->id));
    } else { /* 4 */
        r->secret = info_of(a, record);
        r->value = arena_strndup(a, (const char *)text.data, text.size);
    }
    return r;
}

/* ---- Filled ---------------------------------------------------------------------------------- */

struct secret_values secret_values_gather(struct view *v, const char *uid,
                                          const char *const *names, size_t count)
{
    struct arena *a = view_arena(v);
    const Models__Sealed **values = ARENA_ARRAY(a, count, const Models__Sealed *);
    assert(count <= SEALED_NAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        const Board__SecretRecord *r = view_message(v, key_secret(a, uid, names[i]));
        values[i] = r ? r->sealed : NULL;
    }
    return (struct secret_values){.count = count, .names = names, .values = values};
}

const Models__Sealed *secret_values_lookup(void *context, const char *name)
{
    const struct secret_values *all = context;
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->names[i], name) == 0) {
            return all->values[i];
        }
    }
    return NULL;
}

/* ---- Opened ---------------------------------------------------------------------------------- */

struct opener {
    struct view *view;
    const struct seal *seal;
};

/* A value is opened by the data key of the system that it was sealed for, as long as that is there.
 */
static const char *open_one(void *context, struct arena *a, const Models__Sealed *sealed,
                            const char **ret_why)
{
    const struct opener *o = context;
    const Board__SystemRecord *system =
        *sealed->system ? view_peek_message(o->view, key_system(a, sealed->system)) : NULL;
    struct bytes text;
    if (!system || strcmp(system->uid, sealed->uid) != 0) {
        *ret_why = arena_printf(a, "its system %s is gone", sealed->system);
        return NULL;
    }
    *ret_why = secret_keys_fault(a, o->seal, system);
    if (*ret_why) {
        return NULL;
    }
    if (!seal_open(o->seal, a, system->data_key, sealed, &text)) {
        *ret_why = "it is not what was sealed";
        return NULL;
    }
    return (const char *)text.data;
}

const char *secrets_open(struct view *v, const struct seal *seal, ProtobufCMessage *m)
{
    struct opener o = {.view = v, .seal = seal};
    const char *why = "";
    const char *name = sealed_values_open(view_arena(v), m, open_one, &o, &why);
    return name ? arena_printf(view_arena(v), "secret %s cannot be opened: %s", name, why) : NULL;
}
