/* Containers of a definition: what their root filesystem is, what runs in them, what they may use.
 */
#include "common/appfile/app.h"
#include "common/appfile/app_keys.h"
#include "common/definition/compile_inside.h"
#include "common/definition/template.h"
#include "common/model/image_name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MILLI = 1000, PERCENT = 100, ENV_MAX = 1000, SIDECARS_MAX = 16 };

const char *definition_text(const struct definition_source *s, const struct node *map,
                            const char *key)
{
    const struct node *v = node_given(map, key);
    if (!v) {
        return "";
    }
    if (!node_is_scalar(v)) {
        definition_mistake(s, v, key, "must be a text");
        return "";
    }
    for (const char *c = v->text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            definition_mistake(s, v, key, "has a control character in it");
            return "";
        }
    }
    return v->text;
}

int64_t definition_integer(const struct definition_source *s, const struct node *map,
                           const char *key, int64_t least, int64_t most, int64_t otherwise)
{
    const struct node *v = node_given(map, key);
    if (!v) {
        return otherwise;
    }
    if (v->kind != NODE_INTEGER || v->integer < least || v->integer > most) {
        definition_mistake(s, v, key, "must be a whole number from %lld to %lld", (long long)least,
                           (long long)most);
        return otherwise;
    }
    return v->integer;
}

/* ---- Build ---------------------------------------------------------------------------------- */

static const char *docker_image(const struct definition_source *s, const struct node *build)
{
    const char *registry = definition_text(s, build, "registry");
    const char *repository = definition_text(s, build, "repository");
    const char *tag = definition_text(s, build, "tag");
    if (!*repository) {
        definition_mistake(s, build, "build.repository", "is missing");
        return "";
    }
    return arena_printf(s->arena, "docker://%s/%s%s%s", registry, repository, *tag ? "#" : "", tag);
}

static const char *root_fs_of(const struct definition_source *s, const struct node *build)
{
    const struct node *type = node_given(build, "type");
    const char *word = type && node_is_scalar(type) ? type->text : "";
    if (strcmp(word, "command_build") == 0 || strcmp(word, "docker_build") == 0) {
        definition_mistake(s, build, "",
                           "build type %s is not supported: build the image elsewhere and name it "
                           "with docker_image",
                           word);
        return "";
    }
    if (!definition_check_keys(s, build, "build", DK_BUILD)) {
        return "";
    }
    if (strcmp(word, "docker_image") == 0) {
        return docker_image(s, build);
    }
    if (strcmp(word, "rootfs") == 0 || (!*word && node_given(build, "rootfs"))) {
        const char *name = definition_text(s, build, "rootfs");
        if (!*name) {
            definition_mistake(s, build, "build.rootfs", "is missing");
        }
        return name;
    }
    definition_mistake(s, build, "build.type", "%s%.40s%s: there are docker_image and rootfs",
                       *word ? "\"" : "is missing", word, *word ? "\" is unknown" : "");
    return "";
}

static void read_build(const struct definition_source *s, const struct node *n,
                       struct definition_container *c)
{
    const struct node *build = node_given(n, "build");
    struct image_name name;
    struct err why = {.text = ""};
    if (!build) {
        definition_mistake(s, n, "build", "is missing: its root filesystem");
        return;
    }
    c->root_fs = root_fs_of(s, build);
    if (!*c->root_fs) {
        return;
    }
    if (strlen(c->root_fs) > APP_ROOTFS_MAX ||
        image_name_parse(s->arena, c->root_fs, &name, &why) < 0) {
        definition_mistake(s, build, "build", "%.100s: %s", c->root_fs,
                           *why.text ? why.text : "the name is too long");
        return;
    }
    c->is_image = image_name_is_pulled(c->root_fs);
}

/* ---- Exec ----------------------------------------------------------------------------------- */

static bool is_word(const struct definition_source *s, const struct node *v, const char *key)
{
    bool good = node_is_scalar(v) && v->kind != NODE_NULL;
    if (!good) {
        definition_mistake(s, v, key, "must be a text");
    }
    return good;
}

static void read_command(const struct definition_source *s, const struct node *command,
                         Models__RunAction *run)
{
    static const char key[] = "exec.command";
    if (node_is_scalar(command)) {
        run->path = arena_strdup(s->arena, "/bin/sh");
        run->args = ARENA_ARRAY(s->arena, 2, char *);
        run->args[run->n_args++] = arena_strdup(s->arena, "-c");
        run->args[run->n_args++] = arena_strdup(s->arena, command->text);
        return;
    }
    if (command->kind != NODE_LIST || command->count == 0) {
        definition_mistake(s, command, key, "must be a list of texts, or a text");
        return;
    }
    run->args = ARENA_ARRAY(s->arena, command->count, char *);
    for (size_t i = 0; i < command->count; i++) {
        if (!is_word(s, command->items[i], key)) {
            continue;
        }
        char *word = arena_strdup(s->arena, command->items[i]->text);
        if (i == 0) {
            run->path = word;
        } else {
            run->args[run->n_args++] = word;
        }
    }
    if (!*run->path) {
        definition_mistake(s, command, key, "must begin with a program");
    }
}

static void read_variable(const struct definition_source *s, const char *name, const struct node *v,
                          Models__EnvironmentVariable *to)
{
    const char *key = arena_printf(s->arena, "exec.environment.%.60s", name);
    const char *secret = definition_secret_name(s->arena, v);
    to->name = arena_strdup(s->arena, name);
    if (!*name || strchr(name, '=')) {
        definition_mistake(s, v, key, "a name is not empty, and has no =");
    }
    if (secret) {
        to->sealed = arena_message(s->arena, &models__sealed__descriptor);
        to->sealed->name = arena_strdup(s->arena, secret);
    } else if (definition_is_only(v, "$secret_ref")) {
        definition_mistake(s, v, key, "$secret_ref must be path:name, as /api:key");
    } else if (!node_is_scalar(v)) {
        definition_mistake(s, v, key, "must be a text, or {$secret: NAME}");
    } else {
        to->value = arena_strdup(s->arena, v->text);
    }
}

static size_t read_env(const struct definition_source *s, const struct node *exec,
                       Models__EnvironmentVariable ***ret)
{
    const struct node *env = exec ? node_given(exec, "environment") : NULL;
    *ret = NULL;
    if (!env) {
        return 0;
    }
    if (env->kind != NODE_MAP || env->count > ENV_MAX) {
        definition_mistake(s, env, "exec.environment", "must be a map of at most %d names",
                           ENV_MAX);
        return 0;
    }
    *ret = ARENA_ARRAY(s->arena, env->count, Models__EnvironmentVariable *);
    for (size_t i = 0; i < env->count; i++) {
        (*ret)[i] = arena_message(s->arena, &models__environment_variable__descriptor);
        read_variable(s, env->keys[i], env->items[i], (*ret)[i]);
    }
    return env->count;
}

/* What runs: of a service, a job, or a sidecar; the user and dir are those of the component. */
static Models__Action *action_of(const struct definition_source *s, const struct node *n,
                                 const struct node *exec, bool is_image, const char *user,
                                 const char *dir)
{
    Models__Action *action = arena_message(s->arena, &models__action__descriptor);
    Models__RunAction *run = arena_message(s->arena, &models__run_action__descriptor);
    const struct node *command = NULL;
    action->run_action = run;
    if (exec && definition_check_keys(s, exec, "exec", DK_EXEC)) {
        command = node_given(exec, "command");
    }
    if (command) {
        read_command(s, command, run);
    } else if (is_image) {
        run->from_image = true;
    } else {
        definition_mistake(s, exec ? exec : n, "exec.command", "is missing: what runs");
    }
    run->user = arena_strdup(s->arena, *user ? user : command ? "root" : "");
    run->dir = arena_strdup(s->arena, dir);
    return action;
}

/* ---- Resources ------------------------------------------------------------------------------ */

/* "64M", "64Mi", "1.5G", "64MiB", in MB, up. -1 = it is none. */
static int64_t size_mb(const char *text)
{
    char *end = NULL;
    if (strspn(text, "0123456789.") == 0) {
        return -1;
    }
    double value = strtod(text, &end);
    static const char units[] = "kmgt";
    static const double factors[] = {1.0 / 1024, 1, 1024, 1024 * 1024};
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (!unit) {
        return -1;
    }
    const char *rest = end + 1;
    if (*rest && strcasecmp(rest, "i") != 0 && strcasecmp(rest, "b") != 0 &&
        strcasecmp(rest, "ib") != 0) {
        return -1;
    }
    value *= factors[unit - units];
    return value >= 0 && value <= INT32_MAX ? (int64_t)value + ((double)(int64_t)value < value)
                                            : -1;
}

static int32_t read_size(const struct definition_source *s, const struct node *map, const char *key,
                         int32_t least, int32_t otherwise)
{
    const struct node *v = node_given(map, key);
    int64_t mb = v && node_is_scalar(v) ? size_mb(v->text) : -1;
    if (v && mb < 0) {
        definition_mistake(s, v, key, "must be a size, like 64M or 1G (K, M, G or T)");
    } else if (v && mb < least) {
        definition_mistake(s, v, key, "must be %d MB at least", least);
    }
    return v && mb >= 0 ? (int32_t)mb : otherwise;
}

/* "0.5" or "500m", in percent of a processor, up. */
static uint32_t read_cpu(const struct definition_source *s, const struct node *map)
{
    const struct node *v = node_given(map, "cpu");
    char *end = NULL;
    double value = -1;
    if (!v) {
        return 0;
    }
    if (node_is_scalar(v) && strspn(v->text, "0123456789.") > 0) {
        value = strtod(v->text, &end) * PERCENT;
        value = strcmp(end, "m") == 0 ? value / MILLI : value;
        value = *end && strcmp(end, "m") != 0 ? -1 : value;
    }
    if (!(value > 0 && value <= 100000)) {
        definition_mistake(s, v, "cpu", "must be processors: 0.5, 2 or 500m");
        return 0;
    }
    return (uint32_t)value + ((double)(uint32_t)value < value);
}

static void read_resources(const struct definition_source *s, const struct node *n,
                           struct definition_container *c)
{
    const struct node *resources = node_given(n, "resources");
    c->memory_mb = APP_DEFAULT_MEMORY_MB;
    if (resources && definition_check_keys(s, resources, "resources", DK_RESOURCES)) {
        c->memory_mb =
            read_size(s, resources, "memory", APP_LEAST_MEMORY_MB, APP_DEFAULT_MEMORY_MB);
        c->cpu_max_percent = read_cpu(s, resources);
    }
    c->disk_mb = read_size(s, n, "disk", 1, APP_DEFAULT_DISK_MB);
}

/* ---- Sidecars ------------------------------------------------------------------------------- */

static void read_sidecars(const struct definition_source *s, const struct node *n, const char *user,
                          const char *dir, struct definition_container *c)
{
    const struct node *sidecars = node_given(n, "sidecars");
    if (!sidecars) {
        return;
    }
    if (sidecars->kind != NODE_MAP || sidecars->count > SIDECARS_MAX) {
        definition_mistake(s, sidecars, "sidecars", "must be a map of at most %d", SIDECARS_MAX);
        return;
    }
    c->sidecars = ARENA_ARRAY(s->arena, sidecars->count, Models__Sidecar *);
    for (size_t i = 0; i < sidecars->count; i++) {
        const struct node *from = sidecars->items[i];
        if (node_given(from, "build")) {
            definition_mistake(s, from, "",
                               "sidecar \"%.63s\": an image of its own is not supported; leave its "
                               "build out and it runs in the service's root filesystem",
                               sidecars->keys[i]);
            continue;
        }
        if (!definition_check_keys(s, from, sidecars->keys[i], DK_SIDECAR)) {
            continue;
        }
        const struct node *exec = node_given(from, "exec");
        Models__Sidecar *sidecar = arena_message(s->arena, &models__sidecar__descriptor);
        sidecar->action = action_of(s, from, exec, false, user, dir);
        Models__RunAction *run = sidecar->action->run_action;
        run->n_env = read_env(s, exec, &run->env);
        run->log_source = arena_strdup(s->arena, sidecars->keys[i]);
        c->sidecars[c->sidecar_count++] = sidecar;
    }
}

void definition_read_container(const struct definition_source *s, const struct node *n,
                               struct definition_container *ret)
{
    *ret = (struct definition_container){.root_fs = ""};
    const struct node *exec = node_given(n, "exec");
    const char *user = definition_text(s, n, "user"), *dir = definition_text(s, n, "dir");
    if (*dir && *dir != '/') {
        definition_mistake(s, node_given(n, "dir"), "dir", "must begin with /");
    }
    read_build(s, n, ret);
    ret->action = action_of(s, n, exec, ret->is_image || !*ret->root_fs, user, dir);
    ret->env_count = read_env(s, exec, &ret->env);
    read_resources(s, n, ret);
    read_sidecars(s, n, user, dir, ret);
    assert(ret->action->run_action);
}
