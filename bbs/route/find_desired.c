#include "bbs/route/find_desired.h"

#include "common/base/map.h"

#include <string.h>

static size_t find_named(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                         struct blob **list)
{
    struct arena *a = view_arena(v);
    struct map named;
    size_t count = 0;
    map_init(&named);
    for (size_t i = 0; i < r->n_process_guids; i++) {
        const struct seen *seen = view_peek(v, key_desired(a, r->process_guids[i]));
        if (!seen || map_put(&named, r->process_guids[i], list)) {
            continue;
        }
        const Models__DesiredLRP *d = (const Models__DesiredLRP *)seen->message;
        if (!domain[0] || strcmp(d->domain, domain) == 0) {
            list[count++] = seen->blob;
        }
    }
    map_done(&named, NULL);
    return count;
}

size_t find_desired(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                    struct blob ***ret_list)
{
    struct arena *a = view_arena(v);
    if (r->n_process_guids > 0) {
        *ret_list = ARENA_ARRAY(a, r->n_process_guids, struct blob *);
        return find_named(v, r, domain, *ret_list);
    }
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(a, record_type_name(RECORD_DESIRED));
    selector.domain = arena_strdup(a, domain);
    return view_select(v, &selector, ret_list);
}

Models__DesiredLRP *found_desired(struct arena *scratch, struct blob *scheduling)
{
    ProtobufCMessage *m;
    int r = record_decode(scratch, RECORD_DESIRED, blob_bytes(scheduling), &m, NULL);
    return r < 0 ? NULL : (Models__DesiredLRP *)m;
}
