#include "bbs/cli/file_kind.h"

#include "common/appfile/node.h"

#include <string.h>

static const struct node *first_document(struct arena *a, const char *file, struct bytes text)
{
    struct node **documents, *whole;
    size_t count = 0, size = strlen(file);
    struct err err;
    if (size >= 5 && strcmp(file + size - 5, ".json") == 0) {
        return node_parse_json(a, file, text, &whole, &err) == 0 ? whole : NULL;
    }
    return node_parse_yaml(a, file, text, &documents, &count, &err) == 0 && count > 0 ? documents[0]
                                                                                      : NULL;
}

static bool has_one_of(const struct node *n, const char *const *keys, size_t count)
{
    bool has = false;
    for (size_t i = 0; i < count && !has; i++) {
        has = node_member(n, keys[i]) != NULL;
    }
    return has;
}

enum file_kind file_kind_of(struct arena *a, const char *file, struct bytes text)
{
    static const char *const of_charm[] = {"hooks", "provides",    "requires",
                                           "peers", "subordinate", "hook_timeout"};
    static const char *const of_edge[] = {"organization", "public_ports", "scale_with_cluster",
                                          "auto_delete"};
    static const char *const of_app[] = {
        "instances",        "domain",  "routes",           "setup",        "sidecars",
        "check_definition", "monitor", "start_timeout_ms", "on_cell_loss", "on_evacuate"};
    const struct node *n = first_document(a, file, text);
    const struct node *type = n ? node_member(n, "type") : NULL;
    if (type && node_is_scalar(type) && strncmp(type->text, "v1/", 3) == 0) {
        return FILE_OF_SYSTEM;
    }
    return n && has_one_of(n, of_charm, sizeof(of_charm) / sizeof(of_charm[0])) ? FILE_OF_CHARM
           : n && has_one_of(n, of_edge, sizeof(of_edge) / sizeof(of_edge[0]))  ? FILE_OF_EDGE
           : n && has_one_of(n, of_app, sizeof(of_app) / sizeof(of_app[0]))     ? FILE_OF_APPS
                                                                                : FILE_OF_NOTHING;
}

const char *file_kind_text(struct arena *a, const char *file, enum file_kind kind, const char *what)
{
    static const char *const kinds[] = {
        [FILE_OF_SYSTEM] = "defines a system",
        [FILE_OF_CHARM] = "is a charm",
        [FILE_OF_EDGE] = "is of an app of edge sites",
        [FILE_OF_APPS] = "is of an app",
    };
    static const char *const commands[] = {
        [FILE_OF_SYSTEM] = "deploy SYSTEM --file",
        [FILE_OF_CHARM] = "units deploy",
        [FILE_OF_EDGE] = "edge-apps apply",
        [FILE_OF_APPS] = "apply",
    };
    return kind == FILE_OF_NOTHING ? NULL
                                   : arena_printf(a, "%.80s %s, and %s: bbs %s %.80s", file,
                                                  kinds[kind], what, commands[kind], file);
}
