#include "rep/container/image_plan.h"

#include "common/base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Layers by id, and how many images have each. */
struct layer_count {
    int64_t size;
    size_t images;
};

struct counting {
    struct map layers;
    struct layer_count *list;
    size_t count;
    int64_t bytes;
};

static void count_image(struct counting *c, const Rep__Image *image)
{
    for (size_t i = 0; i < image->n_layers; i++) {
        struct layer_count *l = map_get(&c->layers, image->layers[i]->id);
        if (!l) {
            l = &c->list[c->count++];
            l->size = image->layers[i]->size;
            map_put(&c->layers, image->layers[i]->id, l);
            c->bytes += l->size;
        }
        l->images++;
    }
}

static void uncount_image(struct counting *c, const Rep__Image *image)
{
    for (size_t i = 0; i < image->n_layers; i++) {
        struct layer_count *l = map_get(&c->layers, image->layers[i]->id);
        assert(l && l->images > 0); /* all were counted */
        if (--l->images == 0) {
            c->bytes -= l->size;
        }
    }
}

static struct counting count_all(struct arena *a, const struct stored_image *images, size_t count)
{
    struct counting c = {.bytes = 0};
    size_t layers = 0;
    for (size_t i = 0; i < count; i++) {
        layers += images[i].image->n_layers;
    }
    map_init(&c.layers);
    c.list = ARENA_ARRAY(a, layers, struct layer_count);
    for (size_t i = 0; i < count; i++) {
        count_image(&c, images[i].image);
    }
    return c;
}

int64_t image_bytes(const Rep__Image *image)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < image->n_layers; i++) {
        bytes += image->layers[i]->size;
    }
    return bytes;
}

struct candidate {
    const struct stored_image *of;
    size_t index;
};

static int by_use(const void *one, const void *other)
{
    const struct candidate *a = one, *b = other;
    if (a->of->used_ns != b->of->used_ns) {
        return a->of->used_ns < b->of->used_ns ? -1 : 1;
    }
    return strcmp(a->of->image->id, b->of->image->id);
}

int image_plan(struct arena *a, const struct stored_image *images, size_t count, int64_t bytes_max,
               int64_t more, size_t **ret_go, size_t *ret_count, struct err *err)
{
    struct candidate *list = ARENA_ARRAY(a, count, struct candidate);
    size_t *go = ARENA_ARRAY(a, count, size_t), candidates = 0, gone = 0;
    struct counting c = count_all(a, images, count);
    for (size_t i = 0; i < count; i++) {
        if (!images[i].pinned) {
            list[candidates++] = (struct candidate){&images[i], i};
        }
    }
    qsort(list, candidates, sizeof(*list), by_use);
    for (size_t i = 0; i < candidates && c.bytes > bytes_max - more; i++) {
        uncount_image(&c, list[i].of->image);
        go[gone++] = list[i].index;
    }
    map_done(&c.layers, NULL);
    if (c.bytes > bytes_max - more && more > 0) {
        return err_set(err, ERR_TOO_LARGE,
                       "the image has %lld bytes, and those that are used leave no room for it",
                       (long long)more);
    }
    assert(gone <= candidates && candidates <= count);
    *ret_go = go;
    *ret_count = gone;
    return 0;
}
