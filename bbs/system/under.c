#include "bbs/system/under.h"

#include "common/lifecycle/service.h"
#include "common/model/component_path.h"
#include "common/model/head.h"

#include <assert.h>
#include <string.h>

/* Services at and below a path, in the order of their keys. */
struct under {
    const char *uid, *path;
    const struct seen *list;
    size_t count;
    bool all; /* were read: there are not more than may be */
};

/* A service is told, changed and removed by who holds its path; so none is missing that stood. That
 * none is newer is compared: the one at the path is not in the range below it. */
static struct under under_gather(struct view *v, const char *uid, const char *path)
{
    struct arena *a = view_arena(v);
    bool root = component_path_depth(path) == 0;
    const char *own = key_service(a, uid, path);
    const char *below =
        root ? key_range_of(a, RECORD_SERVICE, uid) : arena_printf(a, "%s%%2F", own);
    const struct seen *list;
    int count = view_peek_range(v, below, COMPONENTS_MAX, &list);
    struct under u = {.uid = uid, .path = path, .all = count >= 0};
    view_nothing_newer(v, below);
    const struct seen *at = root ? NULL : view_get(v, own);
    struct seen *joined = ARENA_ARRAY(a, (count > 0 ? (size_t)count : 0) + 1, struct seen);
    if (at) {
        joined[u.count++] = *at; /* its key comes before those below it */
    }
    for (int i = 0; i < count; i++) {
        joined[u.count++] = list[i];
    }
    u.list = joined;
    return u;
}

static const Board__ServiceRecord *under_find(struct arena *a, const struct under *u,
                                              const char *path)
{
    const char *key = key_service(a, u->uid, path);
    size_t first = 0, end = u->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = strcmp(u->list[middle].key, key);
        if (order == 0) {
            return (const Board__ServiceRecord *)u->list[middle].message;
        }
        first = order < 0 ? middle + 1 : first;
        end = order < 0 ? end : middle;
    }
    return NULL;
}

/* It was told of this component by this deploy. */
static bool knows(const Board__ServiceRecord *s, const Board__IndexRecord__Entry *e,
                  const char *deploy)
{
    return s && lifecycle_state(&service_lifecycle, s->state) != SERVICE_DELETING &&
           strcmp(s->deploy, deploy) == 0 && strcmp(s->component, e->hash) == 0;
}

/* And it is as that wants it. */
static bool is_settled(const Board__ServiceRecord *s, const Board__IndexRecord__Entry *e,
                       const char *deploy)
{
    return knows(s, e, deploy) && lifecycle_state(&service_lifecycle, s->state) == SERVICE_STABLE;
}

/* A service that is to stand at or below the path, by this root. */
static bool is_wanted(const struct under *u, const Board__HeadRecord *head,
                      const Board__Root *root, const Board__IndexRecord__Entry *e)
{
    return strcmp(e->kind, "service") == 0 && component_path_within(e->path, u->path) &&
           head_root(head, e->path) == root;
}

/* Of what stands by one root; counted in *ret_count. */
static bool root_settled(struct view *v, const struct under *u, const Board__HeadRecord *head,
                         const Board__Root *root, const char *deploy, size_t *ret_count)
{
    const Board__IndexRecord *index = index_peek(v, root->tree);
    for (size_t i = 0; index && i < index->n_entries; i++) {
        const Board__IndexRecord__Entry *e = index->entries[i];
        if (!is_wanted(u, head, root, e)) {
            continue;
        }
        (*ret_count)++;
        if (!is_settled(under_find(view_arena(v), u, e->path), e, deploy)) {
            return false;
        }
    }
    return index || !*root->tree;
}

bool services_settled(struct view *v, const Board__HeadRecord *head, const char *uid,
                      const char *path, const char *deploy)
{
    const struct under u = under_gather(v, uid, path);
    const Board__Root **roots;
    size_t count = head_roots_of(view_arena(v), head, path, &roots), wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (!root_settled(v, &u, head, roots[i], deploy, &wanted)) {
            return false;
        }
    }
    assert(wanted <= COMPONENTS_MAX * (count + 1));
    return u.all && wanted == u.count;
}

bool services_lack(struct view *v, const Board__HeadRecord *head, const char *uid,
                   const char *path, const char *deploy, const char *secret)
{
    const struct under u = under_gather(v, uid, path);
    const Board__Root **roots;
    size_t count = head_roots_of(view_arena(v), head, path, &roots);
    for (size_t i = 0; i < count; i++) {
        const Board__IndexRecord *index = index_peek(v, roots[i]->tree);
        for (size_t n = 0; index && n < index->n_entries; n++) {
            const Board__IndexRecord__Entry *e = index->entries[n];
            if (is_wanted(&u, head, roots[i], e) && entry_needs_secret(e, secret) &&
                !knows(under_find(view_arena(v), &u, e->path), e, deploy)) {
                return true;
            }
        }
    }
    return false;
}
