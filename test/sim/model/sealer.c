#include "test/sim/model/sealer.h"

struct model_seal {
    struct seal seal;
    const uint32_t *numbers;
    size_t count;
};

static const struct model_seal *model_of(const struct seal *s)
{
    return (const struct model_seal *)s; /* seal is its first member */
}

static size_t numbers(const struct seal *s, const uint32_t **ret)
{
    *ret = model_of(s)->numbers;
    return model_of(s)->count;
}

/* ---- Text and back --------------------------------------------------------------------------- */

enum { MARK = 0xa5 }; /* of UTF-8 it makes what is none */

/* "<bound>=" and the text, each byte of it turned. */
static ProtobufCBinaryData marked(struct arena *a, const char *bound, struct bytes text)
{
    size_t head = strlen(bound) + 1;
    uint8_t *to = (uint8_t *)arena_alloc(a, head + text.size);
    memcpy(to, bound, head - 1);
    to[head - 1] = '=';
    for (size_t i = 0; i < text.size; i++) {
        to[head + i] = text.data[i] ^ MARK;
    }
    return (ProtobufCBinaryData){head + text.size, to};
}

static bool unmarked(struct arena *a, const char *bound, ProtobufCBinaryData from,
                     struct bytes *ret)
{
    size_t head = strlen(bound) + 1;
    if (from.len < head || memcmp(from.data, bound, head - 1) != 0 || from.data[head - 1] != '=') {
        return false;
    }
    uint8_t *to = (uint8_t *)arena_alloc(a, from.len - head + 1);
    for (size_t i = head; i < from.len; i++) {
        to[i - head] = from.data[i] ^ MARK;
    }
    *ret = (struct bytes){to, from.len - head};
    return true;
}

/* ---- The table ------------------------------------------------------------------------------- */

static const char *bound_key(struct arena *a, uint32_t number, const char *uid)
{
    return arena_printf(a, "wrapped by %u for %s", number, uid);
}

static void put(const struct seal *s, struct arena *a, const char *uid, struct bytes data_key,
                Board__WrappedKey *ret)
{
    ret->key = seal_newest(s);
    ret->text = marked(a, bound_key(a, ret->key, uid), data_key);
}

static void draw(const struct seal *s, struct arena *a, const char *uid, const char *nonce,
                 Board__WrappedKey *ret)
{
    put(s, a, uid, bytes_of(arena_printf(a, "data key %s", nonce)), ret);
}

static bool rewrap(const struct seal *s, struct arena *a, const char *uid,
                   const Board__WrappedKey *from, Board__WrappedKey *ret)
{
    struct bytes data_key;
    if (!unmarked(a, bound_key(a, from->key, uid), from->text, &data_key)) {
        return false;
    }
    put(s, a, uid, data_key, ret);
    return true;
}

/* What a value is bound to; NULL = the data key cannot be unwrapped. */
static const char *bound_value(struct arena *a, const Board__WrappedKey *key,
                               const Models__Sealed *sealed)
{
    struct bytes data_key;
    if (!unmarked(a, bound_key(a, key->key, sealed->uid), key->text, &data_key)) {
        return NULL;
    }
    return arena_printf(a, "sealed by %.*s for %s %s %s", (int)data_key.size,
                        (const char *)data_key.data, sealed->uid, sealed->name, sealed->version);
}

static bool close_value(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                        struct bytes text, Models__Sealed *sealed)
{
    const char *bound = bound_value(a, key, sealed);
    (void)s;
    if (!bound) {
        return false;
    }
    sealed->key = key->key;
    sealed->text = marked(a, bound, text);
    return true;
}

static bool open_value(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                       const Models__Sealed *sealed, struct bytes *ret_text)
{
    const char *bound = bound_value(a, key, sealed);
    (void)s;
    return bound && unmarked(a, bound, sealed->text, ret_text);
}

static const struct seal_ops model_ops = {.numbers = numbers,
                                          .draw = draw,
                                          .rewrap = rewrap,
                                          .close = close_value,
                                          .open = open_value};

const struct seal *model_sealer(struct arena *a, const uint32_t *list, size_t count)
{
    struct model_seal *m = ARENA_NEW(a, struct model_seal);
    assert(count > 0 && count <= SEAL_KEYS_MAX);
    m->seal.ops = &model_ops;
    m->numbers = (const uint32_t *)arena_copy(a, list, count * sizeof(*list));
    m->count = count;
    return &m->seal;
}
