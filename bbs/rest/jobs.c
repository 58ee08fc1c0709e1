/* Runs of jobs. */
#include "bbs/job_run/job_run.h"
#include "bbs/rest/show.h"
#include "common/codec/json.h"
#include "common/model/component_path.h"

#include <string.h>

void rest_jobs(struct rest *q, struct view *v, const Board__SystemRecord *system,
               struct effects *out)
{
    rest_answer_newest(q, v, RECORD_JOB_RUN, system->uid, show_job, out);
}

void rest_one_job(struct rest *q, struct view *v, const Board__SystemRecord *system,
                  struct effects *out)
{
    q->missing = "INVALID_JOB_ID";
    rest_answer_one(v, key_jobrun(view_arena(v), system->uid, q->name), show_job, q, "job", out);
}

/* ---- Run ------------------------------------------------------------------------------------- */

/* A text, or {"$secret_ref": "/path:name"}. False: neither. */
static bool read_value(struct arena *a, struct bytes json, Models__EnvironmentVariable *ret)
{
    ProtobufCMessage *m;
    SCOPED_BUF(text);
    if (json_decode(a, &board__rest_secret_ref__descriptor, json, CODEC_STRICT, &m, NULL) == 0) {
        ret->sealed = arena_message(a, &models__sealed__descriptor);
        ret->sealed->name = ((const Board__RestSecretRef *)m)->secret_ref;
        return *ret->sealed->name;
    }
    buf_append_string(&text, "{\"value\":");
    buf_append(&text, json.data, json.size);
    buf_append_string(&text, "}");
    if (json_decode(a, &board__rest_text__descriptor, buf_bytes(&text), CODEC_STRICT, &m, NULL) <
        0) {
        return false;
    }
    ret->value = ((const Board__RestText *)m)->value;
    return true;
}

/* In the order of the names, which is that of the map. */
static void read_environment(struct rest *q, const Models__ProtoRoutes *map,
                             Board__JobRunRequest *r)
{
    struct arena *a = q->ask->arena;
    r->environment = ARENA_ARRAY(a, map->n_routes, Models__EnvironmentVariable *);
    for (size_t i = 0; i < map->n_routes; i++) {
        const Models__ProtoRoutes__RoutesEntry *entry = map->routes[i];
        Models__EnvironmentVariable *one =
            arena_message(a, &models__environment_variable__descriptor);
        one->name = entry->key;
        if (!read_value(a, (struct bytes){entry->value.data, entry->value.len}, one)) {
            say(&q->ask->faults,
                arena_printf(a, "environment.%.64s: a text or {\"$secret_ref\": \"/path:name\"}",
                             entry->key));
        }
        r->environment[r->n_environment++] = one;
    }
}

void rest_run_job(struct rest *q, struct effects *out)
{
    const Board__RestJobRequest *body = q->body;
    struct arena *a = q->ask->arena;
    Board__JobRunRequest *r = arena_message(a, &board__job_run_request__descriptor);
    const char *fault = component_path_fault(a, body->path);
    if (fault) {
        rest_refuse_now(q, out, 400, "INVALID_PATH", fault);
        return;
    }
    r->system = arena_strdup(a, q->system);
    r->id = *body->id ? body->id : rest_new_id(q);
    r->path = body->path;
    r->n_command = body->n_command;
    r->command = body->command;
    if (body->environment) {
        read_environment(q, body->environment, r);
    }
    q->status = 201;
    q->show = show_job;
    q->missing = "INVALID_PATH";
    valid_run_job(&q->ask->faults, r);
    rest_op(q, &run_job_row, &r->base, out);
}

void rest_cancel_job(struct rest *q, struct effects *out)
{
    struct arena *a = q->ask->arena;
    Board__CancelJobRunRequest *r = arena_message(a, &board__cancel_job_run_request__descriptor);
    r->system = arena_strdup(a, q->system);
    r->id = arena_strdup(a, q->name);
    q->show = show_job;
    q->missing = "INVALID_JOB_ID";
    valid_cancel_job(&q->ask->faults, r);
    rest_op(q, &cancel_job_row, &r->base, out);
}
