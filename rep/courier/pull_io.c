/* pull: an image to layers of the cell's store. What a name stands for is asked by its manifest
 * alone; what is not there is copied by digest. Both are skopeo's work, in a mount namespace of its
 * own; the store is that of containers-storage. */
#include "common/model/image_name.h"
#include "rep/container/image_plan.h"
#include "rep/courier/checksum.h"
#include "rep/courier/image_words.h"
#include "rep/courier/paths_io.h"
#include "rep/courier/store_io.h"
#include "rep/courier/verbs_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ASK_AGAIN_NS (60 * 1000000000LL) /* a tag is asked for so often */

enum { NAME_FILE_BYTES = 64 * 1024 };

#if defined(__aarch64__)
static const char machine[] = "arm64";
#else
static const char machine[] = "amd64";
#endif

const struct cli_option courier_pull_options[] = {
    {"images", "DIR", "the cell's images", .required = true},
    {"image-bytes", "N", "all layers together have at most so many bytes", "20000000000"},
    {"name-file", "FILE", "lines: the image's name, user and password, if it has them",
     .required = true},
    {"guid", "GUID", "the container that is to have it", .required = true},
    {"containers", "DIR", "the cell's containers: theirs are not removed", .required = true},
    {"registries", "FILE", "containers-registries.conf(5); the system's by default"},
    {"registry-certs", "DIR", "in DIR/HOST:PORT: *.crt of CAs that are believed of that registry"},
    {"oci-root", "DIR", "images of oci: names stand below it; without it there are none"},
    {0},
};

struct pull {
    struct courier_job *job;
    struct image_store store;
    struct image_name name;
    const char *user, *password; /* "" = none */
    const char *registry;        /* host of the image */
    const char *auth_file, *certs; /* "" = none */
    const char *key;               /* of its tag */
    int64_t asked_at;
};

/* What the registry says. */
struct registry_answer {
    const char *digest; /* of what the name leads to */
    const char *copied; /* of the image's manifest */
    struct manifest manifest;
};

/* ---- What is asked for ---- */

/* So that nobody gets by name alone what another one has a password for. */
static void make_key(struct pull *p, const char *source)
{
    char text[CHECKSUM_TEXT_BYTES + 1];
    struct summing sum = {0};
    const char *all = arena_printf(p->job->arena, "%s\n%s\n%s", source, p->user, p->password);
    summing_begin(&sum, CHECKSUM_SHA256);
    summing_add(&sum, all, strlen(all));
    struct checksum c = summing_end(&sum);
    summing_done(&sum);
    checksum_print(&c, '-', text);
    p->key = arena_strdup(p->job->arena, text + 7);
}

static const char *take_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    *at = end ? end + 1 : line + strlen(line);
    if (end) {
        *end = '\0';
    }
    return line;
}

static int read_name(struct pull *p, struct err *err)
{
    struct bytes file;
    int rc = small_read(p->job->arena, AT_FDCWD, cli_text(p->job->call, "name-file"),
                        NAME_FILE_BYTES, &file, err);
    if (rc) {
        return rc;
    }
    char *at = arena_strndup(p->job->arena, (const char *)file.data, file.size);
    const char *name = take_line(&at);
    p->user = take_line(&at);
    p->password = take_line(&at);
    rc = image_name_parse(p->job->arena, name, &p->name, err);
    if (rc == 0 && p->name.scheme != IMAGE_DOCKER && p->name.scheme != IMAGE_OCI) {
        rc = err_set(err, ERR_INVALID, "\"%.60s\" is not pulled", name);
    }
    return rc;
}

/* An oci image is looked for where its path leads: not out of the root. */
static int find_layout(struct pull *p, struct err *err)
{
    char real[PATH_MAX], root_real[PATH_MAX];
    const char *root = cli_text(p->job->call, "oci-root");
    if (!root || !realpath(root, root_real)) {
        return err_set(err, ERR_DENIED, "this cell has no directory of oci images");
    }
    if (!realpath(p->name.path, real)) {
        return err_set(err, ERR_NOT_FOUND, "no image at %.100s: %s", p->name.path, strerror(errno));
    }
    size_t n = strcmp(root_real, "/") == 0 ? 0 : strlen(root_real);
    if (strncmp(real, root_real, n) != 0 || (real[n] != '/' && real[n] != '\0')) {
        return err_set(err, ERR_DENIED, "the image is not below the cell's directory of them");
    }
    p->name.path = arena_strdup(p->job->arena, real);
    return 0;
}

static int find_registry(struct pull *p, struct err *err)
{
    struct bytes file = {0};
    const char *registries = p->store.registries[0] ? p->store.registries
                                                    : "/etc/containers/registries.conf";
    int rc = small_read(p->job->arena, AT_FDCWD, registries, NAME_FILE_BYTES, &file, err);
    if (rc && p->store.registries[0]) {
        return rc;
    }
    p->registry = p->name.host[0] ? p->name.host
                                  : image_default_registry(p->job->arena, file);
    const char *certs = cli_text(p->job->call, "registry-certs");
    if (certs) {
        const char *own = arena_printf(p->job->arena, "%s/%s", certs, p->registry);
        p->certs = access(own, F_OK) == 0 ? own : "";
    }
    return 0;
}

static int write_auth(struct pull *p, struct err *err)
{
    SCOPED_BUF(text);
    if (!p->user[0] && !p->password[0]) {
        return 0;
    }
    auth_file_print(p->registry, p->user, p->password, &text);
    p->auth_file =
        arena_printf(p->job->arena, "%s.auth", cli_text(p->job->call, "name-file"));
    return small_replace(p->auth_file, buf_bytes(&text), err);
}

/* ---- skopeo ---- */

struct skopeo_words {
    const char *list[32];
    size_t count;
};

static void add(struct skopeo_words *w, const char *word)
{
    if (word[0] && w->count < 31) {
        w->list[w->count++] = word;
    }
}

/* `side`: what the options of the one end of a copy begin with. */
static void add_access(struct skopeo_words *w, const struct pull *p, const char *side)
{
    struct arena *a = p->job->arena;
    if (p->name.scheme == IMAGE_OCI) {
        return;
    }
    add(w, p->auth_file[0] ? arena_printf(a, "--%sauthfile=%s", side, p->auth_file)
                           : arena_printf(a, "--%sno-creds", side));
    if (p->certs[0]) {
        add(w, arena_printf(a, "--%scert-dir=%s", side, p->certs));
    }
}

static struct skopeo_words skopeo(const struct pull *p, const char *verb)
{
    struct skopeo_words w = {{"skopeo", "--insecure-policy"}, 2};
    if (p->store.registries[0]) {
        add(&w, arena_printf(p->job->arena, "--registries-conf=%s", p->store.registries));
    }
    add(&w, verb);
    return w;
}

static int inspect(struct pull *p, const char *digest, struct bytes *ret, struct err *err)
{
    SCOPED_BUF(out);
    SCOPED_BUF(said);
    struct skopeo_words w = skopeo(p, "inspect");
    add(&w, "--raw");
    add_access(&w, p, "");
    add(&w, image_source(p->job->arena, &p->name, p->registry, digest));
    int rc = store_run(&p->store, w.list, &out, MANIFEST_BYTES, &said, err);
    if (rc && rc != -ERR_TIMEOUT && rc != -ERR_TOO_LARGE &&
        !registry_is_silent(buf_string(&said))) {
        err->code = ERR_DENIED; /* it has answered, and not with the image */
        rc = -ERR_DENIED;
    }
    *ret = (struct bytes){arena_copy(p->job->arena, out.data, out.size), out.size};
    return rc;
}

static const char *digest_of(struct arena *a, struct bytes text)
{
    char printed[CHECKSUM_TEXT_BYTES + 1];
    struct summing sum = {0};
    summing_begin(&sum, CHECKSUM_SHA256);
    summing_add(&sum, text.data, text.size);
    struct checksum c = summing_end(&sum);
    summing_done(&sum);
    checksum_print(&c, ':', printed);
    return arena_strdup(a, printed);
}

/* The manifest, and through a list of such. */
static int ask(struct pull *p, struct registry_answer *ret, struct err *err)
{
    struct bytes text;
    struct arena *a = p->job->arena;
    int rc = inspect(p, p->name.digest, &text, err);
    rc = rc ? rc : manifest_parse(a, text, machine, &ret->manifest, err);
    if (rc) {
        return rc;
    }
    ret->digest = ret->copied = digest_of(a, text);
    if (p->name.digest[0] && strcmp(p->name.digest, ret->digest) != 0) {
        return err_set(err, ERR_DENIED, "the registry gave another image than that of the digest");
    }
    if (ret->manifest.chosen) {
        ret->copied = ret->manifest.chosen;
        rc = inspect(p, ret->copied, &text, err);
        rc = rc ? rc : manifest_parse(a, text, machine, &ret->manifest, err);
        if (rc == 0 && ret->manifest.chosen) {
            rc = err_set(err, ERR_INVALID, "the image is a list in a list");
        }
    }
    return rc;
}

static int copy(struct pull *p, const struct registry_answer *from, struct err *err)
{
    SCOPED_BUF(out);
    SCOPED_BUF(said);
    struct arena *a = p->job->arena;
    struct skopeo_words w = skopeo(p, "copy");
    add(&w, "--quiet");
    add_access(&w, p, "src-");
    add(&w, image_source(a, &p->name, p->registry, from->copied));
    add(&w, arena_printf(a, "containers-storage:[overlay@%s/store+%s/run]localhost/corkboard:%s",
                         p->store.dir, p->store.dir, from->manifest.config));
    return store_run(&p->store, w.list, &out, MANIFEST_BYTES, &said, err);
}

/* ---- An image that is new ---- */

static int describe(struct pull *p, const struct registry_answer *from, Rep__Image *image,
                    struct err *err)
{
    SCOPED_BUF(config);
    SCOPED_BUF(images);
    SCOPED_BUF(layers);
    const char *const of_config[] = {
        "get-image-data", from->manifest.config,
        arena_printf(p->job->arena, "sha256:%s", from->manifest.config), NULL,
    };
    rep__image__init(image);
    image->id = arena_strdup(p->job->arena, from->manifest.config);
    image->digest = (char *)(uintptr_t)from->digest;
    int rc = store_tool(&p->store, of_config, &config, err);
    rc = rc ? rc : store_tool(&p->store, (const char *const[]){"images", "-j", NULL}, &images, err);
    rc = rc ? rc : store_tool(&p->store, (const char *const[]){"layers", "-j", NULL}, &layers, err);
    rc = rc ? rc : image_config_parse(p->job->arena, buf_bytes(&config), image, err);
    return rc ? rc
              : image_layers_parse(p->job->arena, buf_bytes(&images), buf_bytes(&layers), image,
                                   err);
}

/* What comes over the network: the layers that the store has not. */
static int64_t count_new(struct pull *p, const struct manifest *m)
{
    SCOPED_BUF(layers);
    int64_t bytes = 0;
    if (store_tool(&p->store, (const char *const[]){"layers", "-j", NULL}, &layers, NULL) < 0) {
        return m->size;
    }
    for (size_t i = 0; i < m->layer_count; i++) {
        bytes += image_layer_known(buf_bytes(&layers), m->layers[i].digest) ? 0
                                                                           : m->layers[i].size;
    }
    return bytes;
}

static void discard(struct pull *p, const char *id)
{
    SCOPED_BUF(out);
    store_tool(&p->store, (const char *const[]){"delete-image", id, NULL}, &out, NULL);
}

/* Before it is known how large it becomes, there is room for it as it is moved. */
static int bring(struct pull *p, const struct registry_answer *from, Rep__Image *image,
                 struct courier_answer *ret, struct err *err)
{
    struct err nothing;
    ret->moved = count_new(p, &from->manifest);
    int rc = store_make_room(&p->store, ret->moved, err);
    if (rc == 0) {
        rc = copy(p, from, err);
    }
    if (rc) {
        return rc;
    }
    rc = describe(p, from, image, err);
    if (rc) {
        discard(p, from->manifest.config);
        return rc;
    }
    rc = store_image_write(&p->store, image, err);
    rc = rc ? rc : store_pin(&p->store, cli_text(p->job->call, "guid"), image->id, err);
    return rc ? rc : store_make_room(&p->store, 0, &nothing);
}

static void fill_answer(const Rep__Image *image, struct courier_answer *ret)
{
    ret->done = true;
    snprintf(ret->digest, sizeof(ret->digest), "sha256-%s", image->id);
    ret->size = image_bytes(image);
    ret->entries = (int64_t)image->n_layers;
}

/* ---- The name ---- */

/* One that is there already: it is the container's now. */
static int use(struct pull *p, const Rep__Image *image, struct courier_answer *ret, struct err *err)
{
    fill_answer(image, ret);
    return store_pin(&p->store, cli_text(p->job->call, "guid"), image->id, err);
}

static int remember(struct pull *p, const struct registry_answer *from, struct err *err)
{
    Rep__ImageTag tag = REP__IMAGE_TAG__INIT;
    tag.digest = (char *)(uintptr_t)from->digest;
    tag.id = (char *)(uintptr_t)from->manifest.config;
    tag.asked_at = p->asked_at;
    return store_tag_write(&p->store, p->key, &tag, err);
}

/* `here`: what the name stood for, as far as it is still there; NULL. */
static int by_asking(struct pull *p, const Rep__Image *here, struct courier_answer *ret,
                     struct err *err)
{
    struct registry_answer from = {0};
    Rep__Image image;
    int rc = ask(p, &from, err);
    if (rc && here && (rc == -ERR_UNAVAILABLE || rc == -ERR_TIMEOUT)) {
        snprintf(ret->text, sizeof(ret->text), "%s", err->text);
        return use(p, here, ret, err);
    }
    if (rc) {
        return rc;
    }
    Rep__Image *same = store_image_read(&p->store, from.manifest.config);
    if (same) {
        rc = use(p, same, ret, err);
        rep__image__free_unpacked(same, NULL);
    } else {
        rc = bring(p, &from, &image, ret, err);
        if (rc == 0) {
            fill_answer(&image, ret);
        }
    }
    return rc ? rc : remember(p, &from, err);
}

static int by_name(struct pull *p, struct courier_answer *ret, struct err *err)
{
    Rep__ImageTag *tag;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    p->asked_at = now.tv_sec * 1000000000LL + now.tv_nsec;
    bool known = store_tag_read(&p->store, p->key, &tag);
    Rep__Image *here = known ? store_image_read(&p->store, tag->id) : NULL;
    bool fresh = here && (p->name.digest[0] || (tag->asked_at <= p->asked_at &&
                                                p->asked_at - tag->asked_at < ASK_AGAIN_NS));
    int rc = fresh ? use(p, here, ret, err) : by_asking(p, here, ret, err);
    if (here) {
        rep__image__free_unpacked(here, NULL);
    }
    if (tag) {
        rep__image_tag__free_unpacked(tag, NULL);
    }
    return rc;
}

static int run(struct pull *p, struct courier_answer *ret, struct err *err)
{
    int rc = p->name.scheme == IMAGE_OCI ? find_layout(p, err) : find_registry(p, err);
    rc = rc ? rc : store_open(&p->store, err);
    if (rc) {
        return rc;
    }
    make_key(p, image_source(p->job->arena, &p->name, p->registry, p->name.digest));
    int lock = store_lock(&p->store, p->key, err);
    if (lock < 0) {
        return lock;
    }
    rc = write_auth(p, err);
    rc = rc ? rc : by_name(p, ret, err);
    if (p->auth_file[0]) {
        unlink(p->auth_file);
    }
    close(lock);
    return rc;
}

int courier_pull(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    struct pull p = {.job = job, .registry = "", .auth_file = "", .certs = ""};
    const char *registries = cli_text(job->call, "registries");
    int rc = cli_number(job->call, "image-bytes", 0, INT64_MAX / 4, &p.store.bytes_max, err);
    if (rc) {
        return rc;
    }
    p.store.arena = job->arena;
    p.store.dir = cli_text(job->call, "images");
    p.store.containers = cli_text(job->call, "containers");
    p.store.registries = registries ? registries : "";
    p.store.end_ms = job->end_ms;
    job->begun = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would take its answer, nor what it brings */
    rc = read_name(&p, err);
    return rc ? rc : run(&p, ret, err);
}
