#include "test/chaos/workload/target_io.h"

#include <stdio.h>
#include <string.h>

static int text_of(const json_t *from, const char *name, char *to, size_t size, struct err *err)
{
    const json_t *v = json_object_get(from, name);
    if (!v) {
        return 0;
    }
    if (!json_is_string(v) || json_string_length(v) >= size) {
        return err_set(err, ERR_INVALID, "target.json: \"%s\" is no text shorter than %zu bytes",
                       name, size);
    }
    snprintf(to, size, "%s", json_string_value(v));
    return 0;
}

#define TEXT(from, name, to) text_of(from, name, to, sizeof(to), err)

static int processes_of(const json_t *root, const char *name, struct target_process *to,
                        size_t *ret_count, struct err *err)
{
    const json_t *list = json_object_get(root, name);
    if (list && (!json_is_array(list) || json_array_size(list) > TARGET_PROCESSES_MAX)) {
        return err_set(err, ERR_INVALID, "target.json: \"%s\" is no list of at most %d", name,
                       TARGET_PROCESSES_MAX);
    }
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        if (TEXT(one, "name", to[i].name) < 0 || TEXT(one, "url", to[i].url) < 0 ||
            TEXT(one, "zone", to[i].zone) < 0) {
            return -ERR_INVALID;
        }
        if (!to[i].name[0]) {
            return err_set(err, ERR_INVALID, "target.json: number %zu of \"%s\" has no name", i + 1,
                           name);
        }
    }
    *ret_count = json_array_size(list);
    return 0;
}

static int identity_of(const json_t *root, const char *name, struct target_identity *to,
                       struct err *err)
{
    const json_t *from = json_object_get(root, name);
    int r = TEXT(from, "cert", to->cert);
    return r < 0 ? r : TEXT(from, "key", to->key);
}

static int read_parts(const json_t *root, struct target *t, struct err *err)
{
    const json_t *commands = json_object_get(root, "commands");
    const json_t *probes = json_object_get(root, "probes");
    snprintf(t->rootfs, sizeof(t->rootfs), "preloaded:busybox");
    int r = processes_of(root, "bbs", t->bbs, &t->bbs_count, err);
    r = r < 0 ? r : processes_of(root, "cells", t->cells, &t->cell_count, err);
    r = r < 0 ? r : TEXT(json_object_get(root, "client"), "ca", t->ca);
    r = r < 0 ? r : identity_of(root, "client", &t->client, err);
    r = r < 0 ? r : identity_of(probes, "converger", &t->converger, err);
    r = r < 0 ? r : identity_of(probes, "rep", &t->rep, err);
    r = r < 0 ? r : TEXT(json_object_get(probes, "rep"), "cell", t->rep_cell);
    r = r < 0 ? r : TEXT(commands, "containers", t->containers);
    r = r < 0 ? r : TEXT(commands, "evacuate", t->evacuate);
    r = r < 0 ? r : TEXT(root, "rootfs", t->rootfs);
    return r;
}

int target_read(const char *dir, struct target *ret_target, struct err *err)
{
    char file[4096];
    json_error_t why;
    snprintf(file, sizeof(file), "%s/target.json", dir);
    json_t *root = json_load_file(file, 0, &why);
    if (!root) {
        return err_set(err, why.line < 0 ? ERR_IO : ERR_INVALID, "%.120s: %.100s (line %d)", file,
                       why.text, why.line);
    }
    struct target t = {0};
    int r = read_parts(root, &t, err);
    json_decref(root);
    if (r == 0 && (t.bbs_count == 0 || !t.bbs[0].url[0] || !t.ca[0] || !t.client.cert[0])) {
        r = err_set(err, ERR_INVALID,
                    "%.120s: it needs \"bbs\" with url, and \"client\" with ca, cert and key",
                    file);
    }
    if (r == 0) {
        *ret_target = t;
    }
    return r;
}
