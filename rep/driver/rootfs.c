#include "rep/driver/rootfs.h"

/* The spec has the lowest first. */
struct rootfs_lowers rootfs_layers(struct arena *a, const char *images,
                                   const struct container_spec *spec)
{
    const char **paths = ARENA_ARRAY(a, spec->layer_count, const char *);
    for (size_t i = 0; i < spec->layer_count; i++) {
        paths[i] = arena_printf(a, "%s/store/overlay/%s/diff", images,
                                spec->layers[spec->layer_count - 1 - i]);
    }
    return (struct rootfs_lowers){paths, spec->layer_count};
}
