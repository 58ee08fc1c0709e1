/* bbs cloudlets why, bbs clusters why, bbs appinsts why. */
#include "bbs/cli/edge/edge_io.h"
#include "bbs/cli/edge/edge_why.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"
#include "common/model/edge_name.h"

#include <string.h>

/* In JSON one object: {"name":...,"why":[a sentence each]}. */
static int print_why(struct session *s, const char *name, struct bytes text, struct err *err)
{
    SCOPED_BUF(out);
    const char *at = (const char *)text.data, *end = at + text.size, *comma = "";
    if (!s->json) {
        return cli_print(text, err);
    }
    buf_append_string(&out, "{\"name\":");
    json_string_text(bytes_of(name), &out);
    buf_append_string(&out, ",\"why\":[");
    while (at < end) {
        const char *line = at + strspn(at, " "), *next = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((next ? next : end) - line);
        buf_append_string(&out, comma);
        json_string_text((struct bytes){(const uint8_t *)line, size}, &out);
        comma = ",";
        at = next ? next + 1 : end;
    }
    buf_append_string(&out, "]}\n");
    return cli_print(buf_bytes(&out), err);
}

/* All that is at the cloudlet of the name. */
static int read_there(struct session *s, const char *name, struct edge_board *ret, struct err *err)
{
    const char *cloudlet = edge_cloudlet_of(&s->arena, name);
    return edge_read_board(s, *cloudlet ? cloudlet : name, ret, err);
}

static int why_cloudlet(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__ProgressRecord *p = NULL;
    const char *name = call->arguments[0];
    struct edge_board b;
    int r = read_there(s, name, &b, err);
    const Board__CloudletRecord *c = NULL;
    const char **names = ARENA_ARRAY(&s->arena, r < 0 ? 0 : b.cloudlets->n_cloudlets, const char *);
    for (size_t i = 0; r == 0 && i < b.cloudlets->n_cloudlets; i++) {
        names[i] = b.cloudlets->cloudlets[i]->name;
        c = strcmp(names[i], name) == 0 ? b.cloudlets->cloudlets[i] : c;
    }
    if (r == 0 && !c) {
        return edge_not_found(call, "cloudlet", name, names, b.cloudlets->n_cloudlets, err);
    }
    r = r < 0 ? r : edge_progress(s, &s->arena, c->uid, &p, err);
    if (r < 0) {
        return r;
    }
    SCOPED_BUF(out);
    edge_why_cloudlet(&s->arena, &b, c, p, &out);
    return print_why(s, name, buf_bytes(&out), err);
}

static int why_cluster(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__ProgressRecord *p = NULL;
    const char *name = call->arguments[0];
    struct edge_board b;
    int r = read_there(s, name, &b, err);
    const Board__ClusterInstRecord *c = NULL;
    const char **names = ARENA_ARRAY(&s->arena, r < 0 ? 0 : b.clusters->n_clusters, const char *);
    for (size_t i = 0; r == 0 && i < b.clusters->n_clusters; i++) {
        names[i] = b.clusters->clusters[i]->name;
        c = strcmp(names[i], name) == 0 ? b.clusters->clusters[i] : c;
    }
    if (r == 0 && !c) {
        return edge_not_found(call, "cluster", name, names, b.clusters->n_clusters, err);
    }
    r = r < 0 ? r : edge_progress(s, &s->arena, c->uid, &p, err);
    if (r < 0) {
        return r;
    }
    SCOPED_BUF(out);
    edge_why_cluster(&s->arena, &b, c, p, &out);
    return print_why(s, name, buf_bytes(&out), err);
}

static int why_instance(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__ProgressRecord *p = NULL;
    const char *name = call->arguments[0];
    struct edge_board b;
    int r = read_there(s, name, &b, err);
    const Board__AppInstRecord *one = NULL;
    const char **names = ARENA_ARRAY(&s->arena, r < 0 ? 0 : b.instances->n_instances, const char *);
    for (size_t i = 0; r == 0 && i < b.instances->n_instances; i++) {
        names[i] = b.instances->instances[i]->name;
        one = strcmp(names[i], name) == 0 ? b.instances->instances[i] : one;
    }
    if (r == 0 && !one) {
        return edge_not_found(call, "app instance", name, names, b.instances->n_instances, err);
    }
    r = r < 0 ? r : edge_progress(s, &s->arena, one->uid, &p, err);
    if (r < 0) {
        return r;
    }
    SCOPED_BUF(out);
    edge_why_instance(&s->arena, &b, one, p, &out);
    return print_why(s, name, buf_bytes(&out), err);
}

SESSION_RUN(bbs_cloudlets_why_run, why_cloudlet)
SESSION_RUN(bbs_clusters_why_run, why_cluster)
SESSION_RUN(bbs_appinsts_why_run, why_instance)
