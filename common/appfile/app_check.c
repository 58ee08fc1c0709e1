#include "common/appfile/app_checks.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

/* Where a key stands; the whole map when its value was not given there. */
static const struct node *place_of(const struct node *from, const char *key)
{
    const struct node *v = node_given(from, key);
    return v ? v : from;
}

static int check_size(const struct app_source *s, const struct node *at, const char *key,
                      size_t size, size_t most, const char *of)
{
    assert(most > 0 && at);
    return size <= most ? 0
                        : app_mistake(s, at, key,
                                      arena_printf(s->arena, "is longer than %zu %s", most, of));
}

int app_check_domain(const struct app_source *s, const struct node *at, const char *domain)
{
    return *domain ? check_size(s, at, "domain", text_characters(domain), APP_TEXT_MAX,
                                "characters")
                   : app_mistake(s, at, "domain", "must not be empty");
}

static int check_texts(const struct app_source *s, const struct node *from,
                       const struct app_said *said)
{
    int r = app_check_domain(s, place_of(from, "domain"), said->domain);
    r = r < 0 ? r
              : check_size(s, place_of(from, "rootfs"), "rootfs", text_characters(said->root_fs),
                           APP_ROOTFS_MAX, "characters");
    r = r < 0 ? r
              : check_size(s, place_of(from, "log_guid"), "log_guid",
                           text_characters(said->log_guid), APP_TEXT_MAX, "characters");
    return r < 0 ? r
                 : check_size(s, place_of(from, "annotation"), "annotation",
                              strlen(said->annotation), APP_ANNOTATION_MAX, "bytes");
}

/* The list has an entry for each of the file, in their order, whether those are a map's or a
 * list's. */
static int check_env(const struct app_source *s, const struct node *at, const char *key,
                     Models__EnvironmentVariable *const *env, size_t count)
{
    assert(at && (count == 0 || env));
    for (size_t i = 0; i < count; i++) {
        const struct node *here = i < at->count ? at->items[i] : at;
        const char *name = env[i]->name;
        if (!*name) {
            return app_mistake(s, here, key, "a name must not be empty");
        }
        if (strchr(name, '=')) {
            return app_mistake(s, here, key,
                               arena_printf(s->arena, "\"%.60s\": a name can have no =", name));
        }
    }
    return 0;
}

/* What the runtime is told: it takes no other, and does not say which it was. */
static int check_dir(const struct app_source *s, const struct node *from, const char *key,
                     const char *dir)
{
    return !*dir || *dir == '/'
               ? 0
               : app_mistake(s, node_at(from, key), key,
                             arena_printf(s->arena,
                                          "\"%.60s\" is no absolute path: it must begin with /",
                                          dir));
}

static int check_run(const struct app_source *s, const struct node *from, const char *path,
                     const Models__RunAction *run)
{
    if (run->from_image && *run->path) {
        return app_mistake(s, node_at(from, path), path,
                           "path and from_image both say what runs; leave one out");
    }
    if (!run->from_image && (!*run->path || !*run->user)) {
        return app_mistake(s, node_at(from, path), path,
                           *run->path ? "user is missing: whom it runs as"
                                      : "path is missing: the program");
    }
    const char *env = arena_printf(s->arena, "%s.env", path);
    int r = check_dir(s, from, arena_printf(s->arena, "%s.dir", path), run->dir);
    return r < 0 ? r : check_env(s, node_at(from, env), env, run->env, run->n_env);
}

/* What a transfer must say, whichever it is. */
static int check_transfer(const struct app_source *s, const struct node *from, const char *path,
                          const char *source, const char *to, const char *user)
{
    const char *missing = !*source ? "from is missing: what is taken"
                          : !*to   ? "to is missing: where it goes"
                          : !*user ? "user is missing: whose the files are"
                                   : NULL;
    return missing ? app_mistake(s, node_at(from, path), path, missing) : 0;
}

/* The actions beneath one, a list or one alone, and where they stand. */
struct inner {
    const char *name;
    Models__Action *const *list;
    size_t count;
    bool alone; /* its key is "action", not "actions" */
};

static struct inner inner_of(const Models__Action *action)
{
    if (action->timeout_action) {
        return (struct inner){"timeout", &action->timeout_action->action, 1, true};
    } else if (action->emit_progress_action) {
        return (struct inner){"emit_progress", &action->emit_progress_action->action, 1, true};
    } else if (action->try_action) {
        return (struct inner){"try", &action->try_action->action, 1, true};
    } else if (action->parallel_action) {
        const Models__ParallelAction *p = action->parallel_action;
        return (struct inner){"parallel", p->actions, p->n_actions, false};
    } else if (action->serial_action) {
        const Models__SerialAction *p = action->serial_action;
        return (struct inner){"serial", p->actions, p->n_actions, false};
    } else if (action->codependent_action) {
        const Models__CodependentAction *p = action->codependent_action;
        return (struct inner){"codependent", p->actions, p->n_actions, false};
    }
    return (struct inner){NULL, NULL, 0, false};
}

/* The API would take the first of several, and leave the others out. */
static bool says_several(const Models__Action *a)
{
    return !!a->run_action + !!a->download_action + !!a->upload_action + !!a->timeout_action +
               !!a->emit_progress_action + !!a->try_action + !!a->parallel_action +
               !!a->serial_action + !!a->codependent_action >
           1;
}

/* As deep as a file may be nested. */
static int check_step(const struct app_source *s, const struct node *from, const char *path,
                      const Models__Action *action)
{
    if (action && says_several(action)) {
        return app_mistake(s, node_at(from, path), path,
                           "says several actions; serial, parallel and codependent have a list");
    }
    if (action && action->run_action) {
        return check_run(s, from, arena_printf(s->arena, "%s.run", path), action->run_action);
    }
    if (action && action->download_action) {
        const Models__DownloadAction *d = action->download_action;
        path = arena_printf(s->arena, "%s.download", path);
        int r = check_transfer(s, from, path, d->from, d->to, d->user);
        r = r < 0 ? r : app_check_url(s, from, path, "from", d->from);
        return r < 0 ? r
                     : app_check_checksum(s, from, path, d->checksum_algorithm,
                                          d->checksum_value);
    }
    if (action && action->upload_action) {
        const Models__UploadAction *u = action->upload_action;
        path = arena_printf(s->arena, "%s.upload", path);
        int r = check_transfer(s, from, path, u->from, u->to, u->user);
        return r < 0 ? r : app_check_url(s, from, path, "to", u->to);
    }
    struct inner inner = action ? inner_of(action) : (struct inner){NULL, NULL, 0, false};
    if (!inner.name) {
        return app_mistake(s, node_at(from, path), path,
                           "must have run, download or upload, or serial, parallel, codependent, "
                           "try, timeout or emit_progress");
    }
    path = arena_printf(s->arena, "%s.%s", path, inner.name);
    if (inner.count == 0) {
        return app_mistake(s, node_at(from, path), path, "actions are missing: what is done");
    }
    if (action->timeout_action && action->timeout_action->timeout_ms <= 0) {
        return app_mistake(s, node_at(from, path), path, "timeout_ms must be more than 0");
    }
    for (size_t i = 0; i < inner.count; i++) {
        const char *deeper = inner.alone ? arena_printf(s->arena, "%s.action", path)
                                         : arena_printf(s->arena, "%s.actions[%zu]", path, i);
        int r = check_step(s, from, deeper, inner.list[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* A rep refuses it as well, once for each start. */
static int check_monitor(const struct app_source *s, const struct node *from, const char *path,
                         const Models__Action *action)
{
    if (action->download_action || action->upload_action) {
        return app_mistake(s, node_at(from, path), path,
                           "a monitor cannot have a download or an upload");
    }
    struct inner inner = inner_of(action);
    path = arena_printf(s->arena, "%s.%s", path, inner.name ? inner.name : "run");
    for (size_t i = 0; i < inner.count; i++) {
        const char *deeper = inner.alone ? arena_printf(s->arena, "%s.action", path)
                                         : arena_printf(s->arena, "%s.actions[%zu]", path, i);
        int r = check_monitor(s, from, deeper, inner.list[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* What `command`, or an image, made; user and dir stand beside it. */
static int check_command(const struct app_source *s, const struct node *from,
                         const Models__RunAction *run)
{
    assert(run);
    return !*run->user && !run->from_image
               ? app_mistake(s, place_of(from, "user"), "user",
                             "must not be empty; left out, it is root")
               : check_dir(s, from, "dir", run->dir);
}

static int check_actions(const struct app_source *s, const struct node *from,
                         const struct app_said *said)
{
    assert(said->action || s->may_idle); /* `command` may have made it */
    int r = !said->action                ? 0
            : node_given(from, "action") ? check_step(s, from, "action", said->action)
                                         : check_command(s, from, said->action->run_action);
    if (r == 0 && said->setup) {
        r = check_step(s, from, "setup", said->setup);
    }
    if (r == 0 && said->monitor) {
        r = check_step(s, from, "monitor", said->monitor);
        r = r < 0 ? r : check_monitor(s, from, "monitor", said->monitor);
    }
    for (size_t i = 0; i < said->sidecar_count && r == 0; i++) {
        r = check_step(s, from, arena_printf(s->arena, "sidecars[%zu].action", i),
                       said->sidecars[i]->action);
    }
    return r;
}

static int check_check(const struct app_source *s, const struct node *from, const char *path,
                       const Models__Check *check)
{
    uint32_t port = check->http_check  ? check->http_check->port
                    : check->tcp_check ? check->tcp_check->port
                                       : 0;
    if (!check->http_check == !check->tcp_check) {
        return app_mistake(s, node_at(from, path), path, "must have http_check or tcp_check");
    }
    return port >= 1 && port <= UINT16_MAX
               ? 0
               : app_mistake(s, node_at(from, path), path, "port must be from 1 to 65535");
}

static int check_checks(const struct app_source *s, const struct node *from,
                        const struct app_said *said)
{
    const Models__CheckDefinition *d = said->checks;
    int r = 0;
    for (size_t i = 0; d && i < d->n_checks && r == 0; i++) {
        r = check_check(s, from, arena_printf(s->arena, "check_definition.checks[%zu]", i),
                        d->checks[i]);
    }
    for (size_t i = 0; d && i < d->n_readiness_checks && r == 0; i++) {
        r = check_check(s, from,
                        arena_printf(s->arena, "check_definition.readiness_checks[%zu]", i),
                        d->readiness_checks[i]);
    }
    return r;
}

/* Exactly one of a text and a value that is known. */
static bool good_tag(const Models__MetricTagValue *v)
{
    bool text = v && *v->static_;
    bool dynamic =
        v && v->dynamic != MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__DynamicValueInvalid;
    return text != dynamic;
}

static int check_tags(const struct app_source *s, const struct node *from,
                      const struct app_said *said)
{
    assert(said->tag_count == 0 || (said->tag_names && said->tags));
    const struct node *tags = node_given(from, "metric_tags");
    const char *source = "";
    if (tags && said->tag_count == 0) {
        return app_mistake(s, tags, "metric_tags",
                           "must not be empty; left out, it is source_id: the name");
    }
    for (size_t i = 0; i < said->tag_count; i++) {
        const char *name = said->tag_names[i];
        const struct node *at = tags ? node_member(tags, name) : NULL;
        if (!good_tag(said->tags[i])) {
            return app_mistake(s, at ? at : from, arena_printf(s->arena, "metric_tags.%s", name),
                               "must be a text that is not empty, or {dynamic: INDEX} or {dynamic: "
                               "INSTANCE_GUID}");
        }
        source = strcmp(name, "source_id") == 0 ? said->tags[i]->static_ : source;
    }
    return !*said->metrics_guid || strcmp(source, said->metrics_guid) == 0
               ? 0
               : app_mistake(s, place_of(from, "metrics_guid"), "metrics_guid",
                             "must be what metric_tags say as source_id");
}

static int check_log_rate(const struct app_source *s, const struct node *from,
                          const Models__LogRateLimit *limit)
{
    static const char key[] = "log_rate_limit.bytes_per_second";
    return !limit || limit->bytes_per_second >= -1
               ? 0
               : app_mistake(s, node_at(from, key), key,
                             "must not be negative, but for -1: no limit");
}

static int check_credentials(const struct app_source *s, const struct node *from,
                             const char *username, const char *password)
{
    if (!*username == !*password) {
        return 0;
    }
    const char *key = *username ? "image_username" : "image_password";
    return app_mistake(s, place_of(from, key), key,
                       *username ? "needs its image_password beside it"
                                 : "needs its image_username beside it");
}

int app_check(const struct app_source *s, const struct node *from, const struct app_said *said)
{
    if (!*said->root_fs) {
        return app_mistake(s, from, "rootfs",
                           "is missing, for example preloaded:busybox, or image");
    }
    if (!said->action && !s->may_idle) {
        return app_mistake(s, from, "command", "is missing: what should run?");
    }
    int r = check_texts(s, from, said);
    r = r < 0 ? r : check_actions(s, from, said);
    r = r < 0 ? r : check_checks(s, from, said);
    r = r < 0 ? r : check_env(s, place_of(from, "env"), "env", said->env, said->env_count);
    r = r < 0 ? r : app_check_egress(s, from, said->egress, said->egress_count);
    r = r < 0 ? r : app_check_files(s, from, said);
    r = r < 0 ? r : check_log_rate(s, from, said->log_rate);
    r = r < 0 ? r : check_credentials(s, from, said->image_username, said->image_password);
    return r < 0 ? r : check_tags(s, from, said);
}
