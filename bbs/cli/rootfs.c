#include "bbs/cli/rootfs.h"

#include "common/codec/nearest.h"
#include "common/model/image_name.h"

#include <stdbool.h>
#include <string.h>

static const char preloaded[] = "preloaded", layered[] = "preloaded+layer";

/* The names that were met, each once. */
struct rootfs_names {
    struct arena *arena;
    const char *list[ROOTFS_SHOWN_MAX];
    size_t count;
    bool more;
};

static void names_add(struct rootfs_names *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++) {
        if (strcmp(n->list[i], name) == 0) {
            return;
        }
    }
    if (n->count == ROOTFS_SHOWN_MAX) {
        n->more = true;
    } else {
        n->list[n->count++] = name;
    }
}

/* Of a scheme without names a cell has whatever is asked for (rep-auctioneer.md 5.1). With a layer
 * of its own a cell has the same names as without. */
static void names_add_cell(struct rootfs_names *n, const Models__CellPresence *cell)
{
    for (size_t i = 0; cell && i < cell->n_rootfs_providers; i++) {
        const Models__Provider *p = cell->rootfs_providers[i];
        bool plain = strcmp(p->name, preloaded) == 0;
        if (strcmp(p->name, layered) == 0) {
            continue;
        }
        for (size_t k = 0; k < p->n_properties; k++) {
            names_add(n, plain ? p->properties[k]
                               : arena_printf(n->arena, "%s:%s", p->name, p->properties[k]));
        }
        if (p->n_properties == 0) {
            names_add(n, arena_printf(n->arena, "any %s", p->name));
        }
    }
}

static const char *names_text(const struct rootfs_names *n)
{
    const char *text = "";
    for (size_t i = 0; i < n->count; i++) {
        text = arena_printf(n->arena, "%s%s%s", text, i ? ", " : "", n->list[i]);
    }
    return n->more ? arena_printf(n->arena, "%s and more", text) : text;
}

const char *rootfs_of_cell(struct arena *a, const Models__CellPresence *cell)
{
    struct rootfs_names names = {.arena = a};
    names_add_cell(&names, cell);
    return names_text(&names);
}

static bool equal(const char *s, const char *from, size_t size)
{
    return strncmp(s, from, size) == 0 && s[size] == 0;
}

static bool has(const Models__CellPresence *cell, const char *scheme, size_t scheme_size,
                const char *name, size_t name_size)
{
    for (size_t i = 0; cell && i < cell->n_rootfs_providers; i++) {
        const Models__Provider *p = cell->rootfs_providers[i];
        if (!equal(p->name, scheme, scheme_size)) {
            continue;
        }
        if (p->n_properties == 0) {
            return true;
        }
        for (size_t k = 0; k < p->n_properties; k++) {
            if (equal(p->properties[k], name, name_size)) {
                return true;
            }
        }
    }
    return false;
}

const char *rootfs_problem(struct arena *a, const Board__CellsStatus *cells, const char *rootfs)
{
    size_t scheme_size = strcspn(rootfs, ":");
    const char *name = rootfs + scheme_size + (rootfs[scheme_size] == ':');
    size_t name_size = strcspn(name, "?");
    struct rootfs_names names = {.arena = a};
    struct nearest near;
    const char *word = arena_strndup(a, name, name_size);
    if (!cells || cells->n_cells == 0) {
        return NULL;
    }
    nearest_begin(&near, word);
    for (size_t i = 0; i < cells->n_cells; i++) {
        const Models__CellPresence *cell = cells->cells[i]->presence;
        if (has(cell, rootfs, scheme_size, name, name_size)) {
            return NULL;
        }
        names_add_cell(&names, cell);
    }
    for (size_t i = 0; i < names.count; i++) {
        nearest_consider(&near, names.list[i]);
    }
    const char *meant =
        near.best && equal(preloaded, rootfs, scheme_size)
            ? arena_printf(a, "; did you mean preloaded:%s?", near.best)
            : "";
    if (image_name_is_pulled(rootfs)) {
        return arena_printf(a,
                            "no cell can pull the image %s: that takes the oci driver, root, "
                            "skopeo and containers-storage",
                            rootfs);
    }
    return names.count
               ? arena_printf(a, "no cell has the root filesystem %s%s (cells have: %s)", rootfs,
                              meant, names_text(&names))
               : arena_printf(a, "no cell has the root filesystem %s, nor any other", rootfs);
}
