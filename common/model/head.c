#include "common/model/head.h"

#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

const Board__Root *head_root(const Board__HeadRecord *h, const char *path)
{
    const Board__Root *found = NULL;
    for (size_t i = 0; i < h->n_roots; i++) {
        const Board__Root *root = h->roots[i];
        if (component_path_within(path, root->path) &&
            (!found || component_path_within(root->path, found->path))) {
            found = root;
        }
    }
    return found;
}

bool head_has(const Board__HeadRecord *h, const char *tree, const char *path)
{
    const Board__Root *root = head_root(h, path);
    return root && root->tree[0] && strcmp(root->tree, tree) == 0;
}

size_t head_roots_within(struct arena *a, const Board__HeadRecord *h, const char *path,
                         Board__Root ***ret)
{
    size_t count = 0;
    Board__Root **list = ARENA_ARRAY(a, h->n_roots, Board__Root *);
    for (size_t i = 0; i < h->n_roots; i++) {
        if (component_path_within(h->roots[i]->path, path)) {
            list[count++] = h->roots[i];
        }
    }
    *ret = list;
    return count;
}

size_t head_roots_of(struct arena *a, const Board__HeadRecord *h, const char *path,
                     const Board__Root ***ret)
{
    size_t count = 0;
    const Board__Root *over = head_root(h, path);
    const Board__Root **list = ARENA_ARRAY(a, h->n_roots, const Board__Root *);
    for (size_t i = 0; i < h->n_roots; i++) {
        if (h->roots[i] == over || component_path_within(h->roots[i]->path, path)) {
            list[count++] = h->roots[i];
        }
    }
    *ret = list;
    return count;
}

/* The next generation, with room for `more` roots beside those that are not within the path. */
static Board__HeadRecord *without(struct arena *a, const Board__HeadRecord *h, const char *path,
                                  size_t more)
{
    Board__HeadRecord *after = arena_message(a, &board__head_record__descriptor);
    *after = *h;
    after->generation = h->generation + 1;
    after->roots = ARENA_ARRAY(a, h->n_roots + more, Board__Root *);
    after->n_roots = 0;
    for (size_t i = 0; i < h->n_roots; i++) {
        if (!component_path_within(h->roots[i]->path, path)) {
            after->roots[after->n_roots++] = h->roots[i];
        }
    }
    return after;
}

/* In its place: by path, by segments. */
static void insert(Board__HeadRecord *h, Board__Root *root)
{
    size_t at = h->n_roots++;
    while (at > 0 && component_path_compare(h->roots[at - 1]->path, root->path) > 0) {
        h->roots[at] = h->roots[at - 1];
        at--;
    }
    assert(at == 0 || component_path_compare(h->roots[at - 1]->path, root->path) < 0);
    h->roots[at] = root;
}

Board__HeadRecord *head_put(struct arena *a, const Board__HeadRecord *h, const char *path,
                            const char *tree, const char *build)
{
    Board__Root *root = arena_message(a, &board__root__descriptor);
    root->path = (char *)(uintptr_t)path;
    root->tree = (char *)(uintptr_t)tree;
    root->build = (char *)(uintptr_t)build;
    return head_restore(a, h, path, &root, 1);
}

Board__HeadRecord *head_restore(struct arena *a, const Board__HeadRecord *h, const char *path,
                                Board__Root *const *roots, size_t count)
{
    Board__HeadRecord *after = without(a, h, path, count);
    for (size_t i = 0; i < count; i++) {
        assert(component_path_within(roots[i]->path, path));
        insert(after, roots[i]);
    }
    return after;
}

Board__HeadRecord *head_told(struct arena *a, const Board__HeadRecord *h)
{
    Board__HeadRecord *after = arena_message(a, &board__head_record__descriptor);
    *after = *h;
    after->spread = after->generation;
    return after;
}

Board__HeadRecord *head_cleared(struct arena *a, const Board__HeadRecord *h)
{
    Board__HeadRecord *after = without(a, h, "/", 0);
    assert(after->n_roots == 0);
    return after;
}
