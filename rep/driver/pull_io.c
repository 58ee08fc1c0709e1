/* PULL: a courier brings an image (rep/courier/courier.h); it is killed when the container is
 * removed meanwhile. Name and password go to it in a file that only root can read. */
#include "common/base/memory.h"
#include "rep/courier/answer.h"
#include "rep/driver/driver_parts.h"

#include <dirent.h>
#include <sys/stat.h>

enum { IMAGE_BYTES = 8 << 20 };

struct pull_op {
    struct pull_op *next;
    struct driver *driver;
    uint64_t id;
    char *guid, *dir; /* of the job's files */
    bool answered;
};

static void take_out(struct pull_op *op)
{
    for (struct pull_op **at = &op->driver->pulling; *at; at = &(*at)->next) {
        if (*at == op) {
            *at = op->next;
            break;
        }
    }
}

static void clear(const struct pull_op *op)
{
    static const char *const files[] = {"name", "name.auth", "answer", "answer.part"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[4300];
        snprintf(path, sizeof(path), "%s/%s", op->dir, files[i]);
        unlink(path);
    }
    rmdir(op->dir);
}

static void pull_free(void *pull)
{
    struct pull_op *op = pull;
    take_out(op);
    clear(op);
    free(op->guid);
    free(op->dir);
    free(op);
}

static void tell(struct pull_op *op, enum verb_outcome outcome, const char *text,
                 struct bytes image)
{
    if (op->answered) {
        return;
    }
    op->answered = true;
    driver_answer(op->driver, &(struct verb_answer){
                                  .id = op->id,
                                  .verb = VERB_PULL,
                                  .guid = op->guid,
                                  .outcome = outcome,
                                  .text = text,
                                  .data = image,
                              });
}

static void fail(struct pull_op *op, const char *text)
{
    tell(op, VERB_FAILED, text, (struct bytes){0});
}

static void ended(struct pull_op *op)
{
    SCOPED_BUF(file);
    SCOPED_BUF(image);
    struct courier_answer answer;
    struct err err = {0};
    char folder[4300];
    int rc = file_read(op->dir, "answer", COURIER_ANSWER_BYTES + 1, &file, &err);
    rc = rc ? rc : answer_parse(buf_bytes(&file), &answer, &err);
    if (rc) {
        fail(op, "the courier of the image was killed");
    } else if (!answer.done) {
        fail(op, answer.text);
    } else {
        snprintf(folder, sizeof(folder), "%s/images", op->driver->images.dir);
        rc = file_read(folder, answer.digest + strlen("sha256-"), IMAGE_BYTES, &image, &err);
        tell(op, rc ? VERB_FAILED : VERB_DONE, rc ? err.text : answer.text, buf_bytes(&image));
    }
}

static void on_pull(struct driver_job *j, enum job_event event)
{
    struct pull_op *op = job_owner(j);
    if (event == JOB_LATE) {
        fail(op, "the image was not pulled in time");
    } else if (event == JOB_ENDED) {
        if (!job_began(j)) {
            fail(op, "the image was not pulled in time: others went first");
        }
        ended(op);
        pull_free(op);
    }
}

static void add_option(struct command *c, const char *name, const char *value)
{
    if (value) {
        command_add(c, "--%s=%s", name, value);
    }
}

static int write_name(const struct pull_op *op, const struct image_call *image, struct err *err)
{
    SCOPED_BUF(text);
    if (strpbrk(image->name, "\n\r") || strpbrk(image->username, "\n\r") ||
        strpbrk(image->password, "\n\r")) {
        return err_set(err, ERR_INVALID, "the image's name, user and password are a line each");
    }
    buf_printf(&text, "%s\n%s\n%s\n", image->name, image->username, image->password);
    return file_write(op->dir, "name", buf_bytes(&text), err);
}

static int run(struct pull_op *op, const struct verb_call *call, struct err *err)
{
    struct driver *d = op->driver;
    struct command c;
    command_init(&c);
    command_add(&c, "%s", d->courier);
    command_add(&c, "pull");
    command_add(&c, "--answer=%s/answer", op->dir);
    command_add(&c, "--name-file=%s/name", op->dir);
    command_add(&c, "--images=%s", d->images.dir);
    command_add(&c, "--image-bytes=%lld", (long long)d->images.bytes);
    command_add(&c, "--containers=%s", d->containers_dir);
    command_add(&c, "--guid=%s", op->guid);
    add_option(&c, "registries", d->images.registries);
    add_option(&c, "registry-certs", d->images.registry_certs);
    add_option(&c, "oci-root", call->image->preloaded ? "/" : d->images.oci_root);
    struct job_plan plan = {
        .key = call->image->name,
        .dir = op->dir,
        .argv = c.argv.list,
        .deadline_ns = call->deadline_ns,
        .on_event = on_pull,
        .forget = pull_free,
        .owner = op,
    };
    int rc = jobs_add(d->images.pulls, &plan, err);
    command_done(&c);
    return rc;
}

static struct pull_op *pull_new(struct driver *d, const struct verb_call *call)
{
    struct pull_op *op = mem_zeroed(sizeof(*op));
    op->driver = d;
    op->id = call->id;
    op->guid = strdup(call->guid);
    op->dir = mem_printf("%s/jobs/%s", d->images.dir, call->guid);
    op->next = d->pulling;
    d->pulling = op;
    return op;
}

static int make_dirs(const struct pull_op *op, struct err *err)
{
    char jobs[4300];
    snprintf(jobs, sizeof(jobs), "%s/jobs", op->driver->images.dir);
    clear(op); /* what a rep that was killed left */
    int rc = dir_make(op->driver->images.dir, err);
    rc = rc ? rc : dir_make(jobs, err);
    return rc == 0 && mkdir(op->dir, 0700) < 0
               ? err_set(err, ERR_IO, "cannot make %.100s: %s", op->dir, strerror(errno))
               : rc;
}

void verb_pull(struct driver *d, const struct verb_call *call)
{
    struct pull_op *op = pull_new(d, call);
    struct err err = {0};
    int rc = d->images.pulls ? make_dirs(op, &err)
                             : err_set(&err, ERR_UNAVAILABLE, "this cell pulls no images");
    rc = rc ? rc : write_name(op, call->image, &err);
    rc = rc ? rc : run(op, call, &err);
    if (rc) {
        fail(op, err.text);
        pull_free(op);
    }
}

void pulls_cancel(struct driver *d, const char *guid)
{
    for (struct pull_op *op = d->pulling; op; op = op->next) {
        if (strcmp(op->guid, guid) == 0) {
            fail(op, "the container is removed");
            jobs_cancel(d->images.pulls, op);
        }
    }
}

void pulls_unpin(const struct driver *d, const char *guid)
{
    char path[4300];
    snprintf(path, sizeof(path), "%s/pins/%s", d->images.dir, guid);
    unlink(path);
}

/* ---- At the start ---- */

static void each_in(const struct driver *d, const char *folder,
                    void (*drop)(const struct driver *d, const char *guid))
{
    char *path = mem_printf("%s/%s", d->images.dir, folder);
    DIR *all = opendir(path);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (guid_valid(e->d_name)) {
            drop(d, e->d_name);
        }
    }
    if (all) {
        closedir(all);
    }
    free(path);
}

static void drop_job(const struct driver *d, const char *guid)
{
    struct pull_op op = {.dir = mem_printf("%s/jobs/%s", d->images.dir, guid)};
    clear(&op);
    free(op.dir);
}

static void drop_pin(const struct driver *d, const char *guid)
{
    if (!map_get(&d->containers, guid)) {
        pulls_unpin(d, guid);
    }
}

void images_sweep(struct driver *d)
{
    each_in(d, "jobs", drop_job);
    each_in(d, "pins", drop_pin);
}

/* ---- The settings ---- */

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

void images_init(struct driver *d, const struct driver_config *config)
{
    enum { PULLS_AT_ONCE = 2 };
    d->images = (struct driver_images){
        .dir = mem_printf("%s/images", d->state_dir),
        .registries = copy(config->images.registries),
        .registry_certs = copy(config->images.registry_certs),
        .oci_root = copy(config->images.oci_root),
        .bytes = config->images.bytes ? config->images.bytes : DRIVER_IMAGE_BYTES,
    };
    if (config->kind == DRIVER_OCI && config->images.on && d->loop) {
        d->images.pulls = jobs_new(d->loop, PULLS_AT_ONCE);
    }
}

void images_done(struct driver *d)
{
    jobs_free(d->images.pulls);
    free(d->images.dir);
    free(d->images.registries);
    free(d->images.registry_certs);
    free(d->images.oci_root);
}
