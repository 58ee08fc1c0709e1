#include "bbs/cli/secrets.h"

#include "common/cli/table.h"

#include <assert.h>

void secrets_table(struct arena *a, const Board__SecretsResponse *all, int64_t now_ns,
                   struct buf *out)
{
    struct table t;
    table_init(&t, a, 3, (const char *[]){"NAME", "SET", "BY"});
    for (size_t i = 0; i < all->n_secrets; i++) {
        const Board__SecretInfo *s = all->secrets[i];
        const char *age = arena_printf(a, "%s ago", age_text(a, now_ns - s->set_at));
        table_add(&t, (const char *[]){s->name, age, *s->set_by ? s->set_by : NULL});
    }
    table_print(&t, out);
}

/* 1. Systems need a key that this bbs has not.
 * 2. It is the newest: what is new is sealed by it.
 * 3. Systems need an older one: they can be sealed by the newest.
 * 4. Nobody needs an older one. */
const char *key_advice(struct arena *a, const Board__KeysResponse *all, const Board__KeyUse *key)
{
    assert(all->n_keys > 0);
    uint32_t newest = 0;
    for (size_t i = 0; i < all->n_keys; i++) {
        newest = all->keys[i]->held ? all->keys[i]->number : newest;
    }
    if (!key->held) { /* 1 */
        return arena_printf(a, "put key %u into the key file of this bbs", key->number);
    }
    if (key->number == newest) { /* 2 */
        return "active";
    }
    if (key->systems > 0) { /* 3 */
        return arena_printf(a, "when each bbs has key %u: bbs keys rewrap", newest);
    }
    return "not needed: it may go from each key file"; /* 4 */
}

void keys_table(struct arena *a, const Board__KeysResponse *all, struct buf *out)
{
    struct table t;
    table_init(&t, a, 4, (const char *[]){"KEY", "HERE", "SYSTEMS", "USE"});
    for (size_t i = 0; i < all->n_keys; i++) {
        const Board__KeyUse *k = all->keys[i];
        table_add(&t, (const char *[]){arena_printf(a, "%u", k->number), k->held ? "yes" : "no",
                                       arena_printf(a, "%u", k->systems), key_advice(a, all, k)});
    }
    table_print(&t, out);
}
