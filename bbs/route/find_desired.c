#include "bbs/route/find_desired.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *x, const void *y)
{
    return strcmp(((const struct picked *)x)->key, ((const struct picked *)y)->key);
}

/* Somebody may name one twice. */
static size_t drop_repeated(struct picked *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(list[kept - 1].key, list[i].key) != 0) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static size_t find_named(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                         struct picked *list)
{
    struct arena *a = view_arena(v);
    size_t count = 0;
    for (size_t i = 0; i < r->n_process_guids; i++) {
        struct picked *p = &list[count];
        if (view_pick_one(v, key_desired(a, r->process_guids[i]), p) &&
            (!domain[0] || strcmp(p->domain, domain) == 0)) {
            count++;
        }
    }
    qsort(list, count, sizeof(*list), by_key);
    return drop_repeated(list, count);
}

size_t find_desired(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                    struct picked **ret_list)
{
    struct arena *a = view_arena(v);
    if (r->n_process_guids > 0) {
        *ret_list = ARENA_ARRAY(a, r->n_process_guids, struct picked);
        return find_named(v, r, domain, *ret_list);
    }
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(a, record_type_name(RECORD_DESIRED));
    selector.domain = arena_strdup(a, domain);
    return view_pick(v, &selector, ret_list);
}
