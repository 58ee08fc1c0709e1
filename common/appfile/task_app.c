#include "common/appfile/task_app.h"

#include "common/appfile/app.h"
#include "common/appfile/app_keys.h"
#include "common/codec/json.h"
#include "common/codec/json_tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEEP_MAX_S = 7 * 24 * 60 * 60 };

static int text_of(const struct app_source *s, const struct node *from, const char *key,
                   const char **ret_text)
{
    const struct node *v = node_given(from, key);
    if (v && (!node_is_scalar(v) || !*v->text)) {
        return app_mistake(s, v, key, "must be a text that is not empty");
    }
    *ret_text = v ? v->text : NULL;
    return 0;
}

/* "90s", "5m", "2h", "1d" */
static bool read_seconds(const char *text, int64_t *ret_s)
{
    const char *end = text + strspn(text, "0123456789");
    long long value = strtoll(text, NULL, 10); /* LLONG_MAX of what is larger */
    long long unit = strcmp(end, "s") == 0   ? 1
                     : strcmp(end, "m") == 0 ? 60
                     : strcmp(end, "h") == 0 ? 60 * 60
                     : strcmp(end, "d") == 0 ? 24 * 60 * 60
                                             : 0;
    if (end == text || !unit || value > KEEP_MAX_S) {
        return false;
    }
    assert(value >= 0);
    *ret_s = value * unit;
    return *ret_s <= KEEP_MAX_S;
}

static int read_policies(const struct app_source *s, const struct node *from,
                         Models__DesireTaskRequest *request)
{
    const struct node *retries = node_given(from, "max_retries"), *keep = node_given(from, "keep");
    int64_t keep_s = 0;
    if (retries) {
        if (retries->kind != NODE_INTEGER || retries->integer < 0 ||
            retries->integer > TASK_APP_RETRIES_MAX) {
            return app_mistake(s, retries, "max_retries", "must be a number from 0 to 1000");
        }
        request->optional_max_retries_case =
            MODELS__DESIRE_TASK_REQUEST__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
        request->max_retries = (int32_t)retries->integer;
    }
    if (keep) {
        if (!node_is_scalar(keep) || !read_seconds(keep->text, &keep_s)) {
            bool number = keep->kind == NODE_INTEGER && keep->integer >= 0;
            return app_mistake(s, keep, "keep",
                               number ? "needs a unit: s, m, h or d, as in 90s"
                                      : "must be a time of at most 7d, like 90s or 2h");
        }
        request->optional_keep_s_case = MODELS__DESIRE_TASK_REQUEST__OPTIONAL_KEEP_S_KEEP_S;
        request->keep_s = (uint32_t)keep_s;
    }
    return 0;
}

/* A bbs takes any text, as Diego's does, and tries in vain when the task is over. */
static int check_callback(const struct app_source *s, const struct node *from, const char *url)
{
    size_t size = strncasecmp(url, "http://", 7) == 0    ? 7
                  : strncasecmp(url, "https://", 8) == 0 ? 8
                                                         : 0;
    bool blank = url[strcspn(url, " \t\r\n")];
    if (!*url || (size && url[size] && url[size] != '/' && !blank)) {
        return 0;
    }
    return app_mistake(s, node_given(from, "completion_callback_url"), "completion_callback_url",
                       "must be http://HOST or https://HOST, with a path if need be, no blanks");
}

static int check(const struct app_source *s, const struct node *from, const char *domain,
                 const Models__TaskDefinition *d)
{
    int r = check_callback(s, from, d->completion_callback_url);
    if (r < 0) {
        return r;
    }
    const char **names = ARENA_ARRAY(s->arena, d->n_metric_tags, const char *);
    const Models__MetricTagValue **tags =
        ARENA_ARRAY(s->arena, d->n_metric_tags, const Models__MetricTagValue *);
    for (size_t i = 0; i < d->n_metric_tags; i++) {
        names[i] = d->metric_tags[i]->key;
        tags[i] = d->metric_tags[i]->value;
    }
    return app_check(s, from,
                     &(struct app_said){.domain = domain,
                                        .root_fs = d->root_fs,
                                        .log_guid = d->log_guid,
                                        .metrics_guid = d->metrics_guid,
                                        .annotation = d->annotation,
                                        .action = d->action,
                                        .env = d->environment_variables,
                                        .env_count = d->n_environment_variables,
                                        .tag_names = names,
                                        .tags = tags,
                                        .tag_count = d->n_metric_tags,
                                        .egress = d->egress_rules,
                                        .egress_count = d->n_egress_rules,
                                        .dependencies = d->cached_dependencies,
                                        .dependency_count = d->n_cached_dependencies,
                                        .layers = d->image_layers,
                                        .layer_count = d->n_image_layers,
                                        .legacy_download_user = d->legacy_download_user,
                                        .volumes = d->volume_mounts,
                                        .volume_count = d->n_volume_mounts,
                                        .log_rate = d->log_rate_limit,
                                        .image_username = d->image_username,
                                        .image_password = d->image_password});
}

static int decode(const struct app_source *s, const struct node *from, const char *name,
                  Models__TaskDefinition **ret_definition)
{
    const char *path = "";
    ProtobufCMessage *m = NULL;
    json_t *tree = json_object();
    int r = app_to_api(s, from, tree);
    if (r == 0) {
        app_add_defaults(tree, name);
        r = json_decode_tree(s->arena, &models__task_definition__descriptor, tree,
                             CODEC_STRICT | CODEC_OWN, &m, &path, s->err);
        if (r < 0) {
            const char *what = arena_strdup(s->arena, s->err ? s->err->text : "");
            r = app_mistake_of_api(s, from, path, what);
        }
    }
    json_decref(tree);
    *ret_definition = (Models__TaskDefinition *)m;
    return r;
}

static int make(const struct app_source *s, const struct node *from, struct task_app *ret)
{
    const char *name, *guid, *domain;
    if (from->kind != NODE_MAP) {
        return app_mistake(s, from, "task", "must be a map with the keys of a task");
    }
    if (node_given(from, "apps")) {
        return app_mistake(s, node_given(from, "apps"), "apps",
                           "these are apps, and no task: bbs apply takes the file");
    }
    int r = text_of(s, from, "name", &name);
    r = r < 0 ? r : text_of(s, from, "task_guid", &guid);
    r = r < 0 ? r : text_of(s, from, "domain", &domain);
    if (r == 0 && !name && !guid) {
        r = app_mistake(s, from, "name", "is missing: what is the task called?");
    }
    if (r == 0 && !app_name_is_valid(name ? name : guid)) {
        const char *key = name ? "name" : "task_guid";
        r = app_mistake(s, node_given(from, key), key,
                        APP_NAME_RULE);
    }
    Models__DesireTaskRequest *q = ARENA_NEW(s->arena, Models__DesireTaskRequest);
    models__desire_task_request__init(q);
    r = r < 0 ? r : read_policies(s, from, q);
    r = r < 0 ? r : decode(s, from, name ? name : guid, &q->task_definition);
    r = r < 0 ? r : check(s, from, domain ? domain : "default", q->task_definition);
    if (r < 0) {
        return r;
    }
    assert(q->task_definition && (name || guid));
    q->task_guid = arena_strdup(s->arena, guid ? guid : "");
    q->domain = arena_strdup(s->arena, domain ? domain : "default");
    q->owner = app_owner(s->arena, name ? name : guid);
    *ret = (struct task_app){.name = name ? name : guid, .guid_given = guid != NULL, .request = q};
    return 0;
}

int task_app_parse(struct arena *a, const char *file, struct bytes text, struct task_app *ret_task,
                   struct err *err)
{
    struct node **documents = NULL, *one = NULL;
    size_t count = 0;
    struct app_source s = {
        .arena = a, .file = file, .err = err, .type = &models__task_definition__descriptor};
    int r = appfile_documents(a, file, text, &documents, &count, err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        if (documents[i]->kind != NODE_NULL && one) {
            r = app_mistake(&s, documents[i], "task", "a file holds one; this is a second");
        } else if (documents[i]->kind != NODE_NULL) {
            one = documents[i];
        }
    }
    if (r == 0 && !one) {
        r = err_set(err, ERR_INVALID, "%s: holds no task", file);
    }
    return r < 0 ? r : make(&s, one, ret_task);
}
