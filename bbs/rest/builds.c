/* Builds of a system. */
#include "bbs/rest/show.h"
#include "bbs/system/system.h"
#include "common/codec/secrets.h"
#include "common/base/query.h"
#include "common/model/component_path.h"

#include <string.h>

/* So many workloads are shown of one build. */
enum { WORKLOADS_SHOWN_MAX = 1000 };

void rest_builds(struct rest *q, struct view *v, const Board__SystemRecord *system,
                 struct effects *out)
{
    rest_answer_newest(q, v, RECORD_BUILD, system->uid, show_build, out);
}

static const char *rootfs_of(struct view *v, const char *tree, const char *path)
{
    const Board__ComponentRecord *c =
        view_peek_message(v, key_tree(view_arena(v), tree, path));
    return !c ? NULL : c->run ? c->run->root_fs : c->task ? c->task->root_fs : NULL;
}

static void add_workloads(struct view *v, const Board__IndexRecord *index,
                          Board__RestBuildStatus *status)
{
    struct arena *a = view_arena(v);
    size_t most = index->n_entries < WORKLOADS_SHOWN_MAX ? index->n_entries : WORKLOADS_SHOWN_MAX;
    status->workloads = ARENA_ARRAY(a, most, Board__RestBuildStatus__WorkloadsEntry *);
    for (size_t i = 0; i < index->n_entries && status->n_workloads < most; i++) {
        const char *rootfs = rootfs_of(v, index->tree, index->entries[i]->path);
        if (rootfs) {
            Board__RestBuildStatus__WorkloadsEntry *entry =
                arena_message(a, &board__rest_build_status__workloads_entry__descriptor);
            entry->key = index->entries[i]->path;
            entry->value = arena_strdup(a, secrets_hide_url(a, rootfs));
            status->workloads[status->n_workloads++] = entry;
        }
    }
}

void rest_one_build(struct rest *q, struct view *v, const Board__SystemRecord *system,
                    struct effects *out)
{
    struct arena *a = view_arena(v);
    const Board__BuildRecord *build = view_peek_message(v, key_build(a, system->uid, q->name));
    if (!build) {
        rest_refuse(out, q->ask->request_id, 404, "INVALID_BUILD_ID", "system %s has no build %s",
                    q->system, q->name);
        return;
    }
    const Board__RestBuild *shown = (const Board__RestBuild *)show_build(a, &build->base);
    const Board__IndexRecord *index =
        *build->tree ? view_peek_message(v, key_index(a, build->tree)) : NULL;
    if (index) {
        add_workloads(v, index, shown->status);
    }
    rest_answer(out, q->ask->request_id, 200, &shown->base);
}

void rest_build(struct rest *q, struct effects *out)
{
    const Board__RestBuildRequest *body = q->body;
    struct arena *a = q->ask->arena;
    Board__BuildRequest *r = arena_message(a, &board__build_request__descriptor);
    const char *fault = *body->path ? component_path_fault(a, body->path) : NULL;
    if (fault) {
        rest_refuse_now(q, out, 400, "INVALID_PATH", fault);
        return;
    }
    r->system = arena_strdup(a, q->system);
    r->id = *body->id ? body->id : rest_new_id(q);
    r->path = body->path;
    r->version = body->version;
    r->definition = (ProtobufCBinaryData){strlen(body->definition), (uint8_t *)body->definition};
    q->status = 201;
    q->show = show_build;
    q->missing = "INVALID_BUILD_ID";
    valid_build(&q->ask->faults, r);
    rest_op(q, &build_row, &r->base, out);
}

/* ---- What was resolved ----------------------------------------------------------------------- */

/* The lines of the log about the path, or below it: those that name it. */
static void append_lines(const char *log, const char *path, struct buf *out)
{
    for (const char *line = log; *line;) {
        size_t size = strcspn(line, "\n");
        size_t length = strlen(path);
        bool about = strcmp(path, "/") == 0 || (size >= length && memcmp(line, path, length) == 0);
        if (about) {
            buf_append(out, line, size);
            buf_append(out, "\n", 1);
        }
        line += size + (line[size] == '\n');
    }
}

/* What the resolver said about a path; of a build that failed, why. Corkboard builds no images. */
void rest_build_logs(struct rest *q, struct view *v, const Board__SystemRecord *system,
                     struct effects *out)
{
    struct arena *a = view_arena(v);
    const Board__BuildRecord *build = view_peek_message(v, key_build(a, system->uid, q->name));
    const char *path = query_value(a, q->query, "path");
    const char *fault = path ? component_path_fault(a, path) : "the query has no path=";
    SCOPED_BUF(text);
    if (!build) {
        rest_refuse(out, q->ask->request_id, 404, "INVALID_BUILD_ID", "system %s has no build %s",
                    q->system, q->name);
        return;
    }
    if (fault) {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_PATH", "%s", fault);
        return;
    }
    const Board__IndexRecord *index =
        *build->tree ? view_peek_message(v, key_index(a, build->tree)) : NULL;
    if (index) {
        append_lines(index->log, path, &text);
    }
    if (*build->message) {
        buf_printf(&text, "%s\n", build->message);
    }
    effects_reply(out, q->ask->request_id, 200, "text/plain; charset=utf-8", buf_bytes(&text));
}
