/* What seals and opens secrets, as a table (docs/systems.md, Secrets): the keys of a bbs, which
 * stand in its key file (bbs/seal_io.c); a marking one in the simulator. Each system has a data
 * key, which one of these keys wraps, and by which its values are sealed: what they are bound to
 * (uid, name, version) opens nothing else. All functions give the same for the same, and touch
 * nothing outside: decisions may call them. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include "systems.pb-c.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SEAL_KEYS_MAX = 64 };

struct seal {
    const struct seal_ops *ops;
};

struct seal_ops {
    /* The numbers of the keys, ascending; at least one. Borrowed. */
    size_t (*numbers)(const struct seal *s, const uint32_t **ret);
    void (*draw)(const struct seal *s, struct arena *a, const char *uid, const char *nonce,
                 Board__WrappedKey *ret);
    bool (*rewrap)(const struct seal *s, struct arena *a, const char *uid,
                   const Board__WrappedKey *from, Board__WrappedKey *ret);
    bool (*close)(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                  struct bytes text, Models__Sealed *sealed);
    bool (*open)(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                 const Models__Sealed *sealed, struct bytes *ret_text);
};

/* The number of the active key, the highest; 0 = this bbs has no keys (NULL). */
static inline uint32_t seal_newest(const struct seal *s)
{
    const uint32_t *numbers;
    size_t count = s ? s->ops->numbers(s, &numbers) : 0;
    return count ? numbers[count - 1] : 0;
}

/* Whether it has the key of this number. */
static inline bool seal_has(const struct seal *s, uint32_t key)
{
    const uint32_t *numbers;
    size_t count = s ? s->ops->numbers(s, &numbers) : 0;
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] == key) {
            return true;
        }
    }
    return false;
}

/* A new data key for the system, wrapped by the active key, in the arena. It follows from that key,
 * the uid and the nonce, which is kept nowhere. */
static inline void seal_draw(const struct seal *s, struct arena *a, const char *uid,
                             const char *nonce, Board__WrappedKey *ret)
{
    assert(seal_newest(s) > 0 && *uid);
    s->ops->draw(s, a, uid, nonce, ret);
    assert(ret->key == seal_newest(s) && ret->text.len > 0);
}

/* The same data key, wrapped by the active key; false if it cannot be unwrapped. */
static inline bool seal_rewrap(const struct seal *s, struct arena *a, const char *uid,
                               const Board__WrappedKey *from, Board__WrappedKey *ret)
{
    return seal_has(s, from->key) && s->ops->rewrap(s, a, uid, from, ret);
}

/* Seals a value: uid, name and version are set, key and text are added, in the arena. False if the
 * data key cannot be unwrapped. */
static inline bool seal_close(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                              struct bytes text, Models__Sealed *sealed)
{
    assert(*sealed->uid && *sealed->name && *sealed->version);
    return seal_has(s, key->key) && s->ops->close(s, a, key, text, sealed);
}

/* The value, in the arena, with a NUL behind it; false if a key is missing, or it is not what was
 * sealed under that uid, name and version. */
static inline bool seal_open(const struct seal *s, struct arena *a, const Board__WrappedKey *key,
                             const Models__Sealed *sealed, struct bytes *ret_text)
{
    return key && seal_has(s, key->key) && s->ops->open(s, a, key, sealed, ret_text);
}
