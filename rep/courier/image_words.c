#include "rep/courier/image_words.h"

#include "rep/container/image_plan.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *loaded(struct bytes text)
{
    return json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static bool digest_is(const char *text)
{
    return strncmp(text, "sha256:", 7) == 0 && strspn(text + 7, "0123456789abcdef") == 64 &&
           text[71] == '\0';
}

/* ---- Manifests ---- */

static int choose(struct arena *a, const json_t *list, const char *arch, struct manifest *m,
                  struct err *err)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        const json_t *platform = json_object_get(one, "platform");
        const char *digest = text_of(one, "digest");
        if (strcmp(text_of(platform, "architecture"), arch) == 0 &&
            strcmp(text_of(platform, "os"), "linux") == 0 && digest_is(digest)) {
            m->chosen = arena_strdup(a, digest);
            return 0;
        }
    }
    return err_set(err, ERR_NOT_FOUND, "the image is not there for linux on %s", arch);
}

static int read_layers(struct arena *a, const json_t *layers, struct manifest *m, struct err *err)
{
    size_t count = json_array_size(layers), i;
    struct manifest_layer *list = ARENA_ARRAY(a, count, struct manifest_layer);
    json_t *one;
    if (count == 0 || count > IMAGE_LAYERS_MAX) {
        return err_set(err, count ? ERR_TOO_LARGE : ERR_INVALID,
                       "the image has %zu layers; 1 to %d can be run", count, IMAGE_LAYERS_MAX);
    }
    json_array_foreach(layers, i, one) {
        int64_t size = json_integer_value(json_object_get(one, "size"));
        list[i] = (struct manifest_layer){arena_strdup(a, text_of(one, "digest")), size};
        if (!digest_is(list[i].digest) || size < 0 || size > INT64_MAX / 4 / IMAGE_LAYERS_MAX) {
            return err_set(err, ERR_INVALID, "a layer of the image's manifest makes no sense");
        }
        m->size += size;
    }
    m->layers = list;
    m->layer_count = count;
    return 0;
}

static int read_manifest(struct arena *a, const json_t *root, const char *arch, struct manifest *m,
                         struct err *err)
{
    const char *config = text_of(json_object_get(root, "config"), "digest");
    if (json_is_array(json_object_get(root, "manifests"))) {
        return choose(a, json_object_get(root, "manifests"), arch, m, err);
    }
    if (!digest_is(config) || !json_is_array(json_object_get(root, "layers"))) {
        return err_set(err, ERR_INVALID, "the image's manifest is of an unknown form");
    }
    memcpy(m->config, config + 7, sizeof(m->config));
    return read_layers(a, json_object_get(root, "layers"), m, err);
}

int manifest_parse(struct arena *a, struct bytes text, const char *arch, struct manifest *ret,
                   struct err *err)
{
    json_t *root = loaded(text);
    struct manifest m = {.chosen = NULL};
    int rc = root ? read_manifest(a, root, arch, &m, err)
                  : err_set(err, ERR_INVALID, "the image's manifest is no JSON");
    json_decref(root);
    if (rc == 0) {
        *ret = m;
    }
    return rc;
}

/* ---- The configuration ---- */

/* A list of texts, or none; false: it is something else. */
static bool read_words(struct arena *a, const json_t *list, char ***ret, size_t *ret_count)
{
    size_t count = json_array_size(list), i;
    json_t *one;
    if ((list && !json_is_array(list) && !json_is_null(list)) || count > IMAGE_WORDS_MAX) {
        return false;
    }
    char **words = ARENA_ARRAY(a, count, char *);
    json_array_foreach(list, i, one) {
        if (!json_is_string(one)) {
            return false;
        }
        words[i] = arena_strdup(a, json_string_value(one));
    }
    *ret = words;
    *ret_count = count;
    return true;
}

static bool env_valid(char *const *env, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(env[i], '=');
        if (!equals || equals == env[i]) {
            return false;
        }
    }
    return true;
}

int image_config_parse(struct arena *a, struct bytes text, Rep__Image *image, struct err *err)
{
    json_t *root = loaded(text);
    const json_t *config = json_object_get(root, "config");
    bool good = root && json_is_object(root) &&
                (!config || json_is_object(config) || json_is_null(config)) &&
                read_words(a, json_object_get(config, "Env"), &image->env, &image->n_env) &&
                env_valid(image->env, image->n_env) &&
                read_words(a, json_object_get(config, "Entrypoint"), &image->entrypoint,
                           &image->n_entrypoint) &&
                read_words(a, json_object_get(config, "Cmd"), &image->cmd, &image->n_cmd);
    if (good) {
        image->working_dir = arena_strdup(a, text_of(config, "WorkingDir"));
        image->user = arena_strdup(a, text_of(config, "User"));
    }
    json_decref(root);
    return good ? 0 : err_set(err, ERR_INVALID, "the image's configuration makes no sense");
}

/* ---- The store ---- */

static const json_t *by_id(const json_t *list, const char *id)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        if (strcmp(text_of(one, "id"), id) == 0) {
            return one;
        }
    }
    return NULL;
}

/* From the uppermost down, then turned round. False: the chain is broken, or has no end. */
static bool follow(struct arena *a, const json_t *layers, const char *top, Rep__Image *image)
{
    Rep__ImageLayer *chain[IMAGE_LAYERS_MAX];
    size_t count = 0;
    for (const char *id = top; id[0];) {
        const json_t *layer = by_id(layers, id);
        if (!layer || count == IMAGE_LAYERS_MAX || strchr(id, '/')) {
            return false;
        }
        Rep__ImageLayer *l = chain[count++] = ARENA_NEW(a, Rep__ImageLayer);
        rep__image_layer__init(l);
        l->id = arena_strdup(a, id);
        l->size = json_integer_value(json_object_get(layer, "diff-size"));
        id = text_of(layer, "parent");
    }
    image->layers = ARENA_ARRAY(a, count, Rep__ImageLayer *);
    image->n_layers = count;
    for (size_t i = 0; i < count; i++) {
        image->layers[i] = chain[count - 1 - i];
    }
    return count > 0;
}

int image_layers_parse(struct arena *a, struct bytes images, struct bytes layers, Rep__Image *image,
                       struct err *err)
{
    json_t *all = loaded(images), *parts = loaded(layers);
    const json_t *here = by_id(all, image->id);
    bool good = here && follow(a, parts, text_of(here, "layer"), image);
    json_decref(all);
    json_decref(parts);
    return good ? 0 : err_set(err, ERR_NOT_FOUND, "the store does not have the image's layers");
}

bool image_layer_known(struct bytes layers, const char *digest)
{
    json_t *all = loaded(layers), *one;
    bool known = false;
    size_t i;
    json_array_foreach(all, i, one) {
        known = known || strcmp(text_of(one, "compressed-diff-digest"), digest) == 0;
    }
    json_decref(all);
    return known;
}

/* ---- Registries ---- */

void auth_file_print(const char *host, const char *user, const char *password, struct buf *out)
{
    SCOPED_BUF(both);
    SCOPED_BUF(text);
    buf_printf(&both, "%s:%s", user, password);
    buf_reserve(&text, both.size * 2 + 8);
    EVP_EncodeBlock(text.data, both.data, (int)both.size);
    json_t *file = json_pack("{s:{s:{s:s}}}", "auths", host, "auth", (const char *)text.data);
    char *printed = json_dumps(file, JSON_COMPACT);
    buf_append_string(out, printed ? printed : "{}");
    free(printed);
    json_decref(file);
}

bool registry_is_silent(const char *words)
{
    static const char *const silent[] = {
        "connection refused", "i/o timeout",          "no such host",
        "connection reset",   "no route to host",     "network is unreachable",
        "TLS handshake timeout", "context deadline exceeded", "unexpected EOF", ": EOF",
        "server misbehaving", "Temporary failure in name resolution",
        "HTTP status: 5",     "status code: 5",       "status code 5",
    };
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        if (strstr(words, silent[i])) {
            return true;
        }
    }
    return false;
}

/* The log's form of a text: \" and \\ are the characters themselves; else the sign goes. */
static void unquote(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        at += at[0] == '\\' && at[1] != '\0';
        *to++ = *at;
    }
    *to = '\0';
}

const char *pull_failure(struct arena *a, struct bytes words)
{
    char *text = arena_strndup(a, words.size ? (const char *)words.data : "", words.size);
    for (size_t n = strlen(text); n > 0 && strchr("\n \"", text[n - 1]); n--) {
        text[n - 1] = '\0';
    }
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    char *message = strstr(line, "msg=\"");
    line = message ? message + 5 : line;
    static const char parsing[] = "Error parsing image name";
    bool is_name = strncmp(line, parsing, sizeof(parsing) - 1) == 0;
    char *named = is_name ? strstr(line, "\\\": ") : NULL;
    line = named ? named + 4 : line;
    if (message) {
        unquote(line);
    }
    for (char *query = strchr(line, '?'); query; query = strchr(query + 1, '?')) {
        size_t n = strcspn(query, " \"\\");
        memset(query + 1, '.', n > 1 ? n - 1 : 0); /* it may hold a secret */
    }
    return line[0] ? line : "the program that pulls ended without a word";
}
