/* Steps that bring files into a container or send them from it. steps/N/ has transfer.json, what is
 * to be done; url and key, which may hold secrets; and answer, the courier's word. */
#include "common/base/memory.h"
#include "rep/courier/answer.h"
#include "rep/courier/courier.h"
#include "rep/driver/driver_parts.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

_Static_assert((int)TRANSFER_INSIDE == (int)COURIER_INSIDE, "the courier says where it failed");

/* ---- Before it begins ------------------------------------------------------------------------ */

/* "sha256:HEX", as the courier wants it; "" when none is known. */
static const char *checksum_words(struct arena *a, const struct file_transfer *t)
{
    char *words = t->checksum_value[0]
                      ? arena_printf(a, "%s:%s", t->checksum_algorithm, t->checksum_value)
                      : arena_strdup(a, "");
    for (char *at = words; *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return words;
}

static json_t *words_of_transfer(struct arena *a, const struct file_transfer *t,
                                 const struct user *user, const char *home)
{
    bool at_home = home && t->path[0] != '/';
    return json_pack("{s:b s:b s:s s:s s:s s:I s:I}", "upload", t->way == TRANSFER_UPLOAD, "bound",
                     t->bound, "path", t->path, "home", at_home ? home : "", "checksum",
                     checksum_words(a, t), "uid", (json_int_t)user->uid, "gid",
                     (json_int_t)user->gid);
}

int transfer_prepare(const char *dir, const struct step_process *step, const struct user *user,
                     const char *home, struct err *err)
{
    SCOPED_ARENA(a);
    const struct file_transfer *t = step->transfer;
    const char *own = arena_printf(&a, "%s/steps/%u", dir, step->step);
    int result = step_dir_make(dir, step->step, err);
    result = result < 0 ? result : file_write(own, "url", bytes_of(t->url), err);
    if (result == 0 && t->cache_key[0]) {
        result = file_write(own, "key", bytes_of(t->cache_key), err);
    }
    return result < 0 ? result
                      : json_write(own, "transfer.json", words_of_transfer(&a, t, user, home), err);
}

static json_t *read_words(const char *dir, uint32_t step)
{
    char *own = mem_printf("%s/steps/%u", dir, step);
    json_t *words = json_read(own, "transfer.json", NULL);
    free(own);
    return words;
}

bool transfer_is(const char *dir, uint32_t step)
{
    char *path = mem_printf("%s/steps/%u/transfer.json", dir, step);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

bool transfer_is_bound(const char *dir, uint32_t step)
{
    json_t *words = transfer_is(dir, step) ? read_words(dir, step) : NULL;
    bool bound = json_is_true(json_object_get(words, "bound"));
    json_decref(words);
    return bound;
}

/* ---- Its courier ----------------------------------------------------------------------------- */

static const char *text_of(const json_t *words, const char *name)
{
    const char *text = json_string_value(json_object_get(words, name));
    return text ? text : "";
}

/* Where the container's paths begin. With a root of its own there may be volumes and memory on the
 * way, which its own processes see and the cell does not; the container's directory is the step's
 * grandparent. */
static void add_root(const struct driver *d, const json_t *words, struct command *c)
{
    const char *home = text_of(words, "home");
    const char *root = home[0] ? home : d->ops->root;
    if (root[0] == '/') {
        command_add(c, "--root=%s", root);
    } else {
        command_add(c, "--container=../..");
    }
}

static void add_place(struct driver *d, const char *guid, const json_t *words, struct command *c)
{
    if (json_is_true(json_object_get(words, "bound"))) {
        command_add(c, "--tree");
        command_add(c, "--for=%s", guid);
    } else {
        add_root(d, words, c);
        command_add(c, "--to=%s", text_of(words, "path"));
    }
}

static void add_download(struct driver *d, const char *guid, const char *dir, const json_t *words,
                         struct command *c)
{
    const char *key = arena_printf(&c->arena, "%s/key", dir);
    const char *checksum = text_of(words, "checksum");
    command_add(c, "download");
    command_add(c, "--cache=%s", d->cache_dir);
    command_add(c, "--cache-bytes=%lld", (long long)d->cache_bytes);
    if (access(key, F_OK) == 0) {
        command_add(c, "--key-file=key");
    }
    if (checksum[0]) {
        command_add(c, "--checksum=%s", checksum);
    }
    if (d->file_root) {
        command_add(c, "--file-root=%s", d->file_root);
    }
    add_place(d, guid, words, c);
}

int transfer_command(struct driver *d, const char *guid, const char *dir, struct command *c,
                     struct err *err)
{
    json_t *words = json_read(dir, "transfer.json", err);
    if (!words) {
        return -err->code;
    }
    command_add(c, "--again");
    command_add(c, "--process");
    command_add(c, "--");
    command_add(c, "%s", d->courier);
    if (json_is_true(json_object_get(words, "upload"))) {
        command_add(c, "upload");
        add_root(d, words, c);
        command_add(c, "--from=%s", text_of(words, "path"));
    } else {
        add_download(d, guid, dir, words, c);
    }
    command_add(c, "--answer=answer");
    command_add(c, "--url-file=url");
    command_add(c, "--user=%lld:%lld", json_integer_value(json_object_get(words, "uid")),
                json_integer_value(json_object_get(words, "gid")));
    if (d->fetch_ca) {
        command_add(c, "--fetch-ca=%s", d->fetch_ca);
    }
    json_decref(words);
    return 0;
}

/* ---- What it answered ------------------------------------------------------------------------ */

static bool read_answer(const char *dir, uint32_t step, struct courier_answer *ret)
{
    SCOPED_BUF(text);
    char *own = mem_printf("%s/steps/%u", dir, step);
    bool read = file_read(own, "answer", COURIER_ANSWER_BYTES, &text, NULL) == 0 &&
                answer_parse(buf_bytes(&text), ret, NULL) == 0;
    free(own);
    return read;
}

void transfer_told(const char *dir, struct step_fact *fact, struct arena *a)
{
    struct courier_answer answer = {0};
    bool ended = fact->kind == FACT_ENDED && fact->exit_code >= 0;
    bool well = ended && fact->exit_code == 0 && fact->exit_signal == 0;
    if (!ended || !transfer_is(dir, fact->step)) {
        return;
    }
    bool answered = read_answer(dir, fact->step, &answer);
    if (well && answered && answer.done) {
        fact->moved = answer.moved;
    } else {
        fact->text = arena_strdup(a, answered && !answer.done ? answer.text
                                                              : "its courier gave no answer");
    }
}

/* ---- What is bound --------------------------------------------------------------------------- */

static int by_destination(const void *a, const void *b)
{
    return strcmp(((const struct bound_tree *)a)->to, ((const struct bound_tree *)b)->to);
}

static int bound_of(struct driver *d, const char *dir, uint32_t step, struct arena *a,
                    struct bound_tree *ret, struct err *err)
{
    json_t *words = read_words(dir, step);
    struct courier_answer answer = {0};
    int result = 0;
    if (!read_answer(dir, step, &answer) || !answer.done) {
        result = err_set(err, ERR_NOT_FOUND, "what is to be bound at \"%.100s\" is not there",
                         text_of(words, "path"));
    } else {
        ret->to = arena_strdup(a, text_of(words, "path"));
        ret->from = arena_printf(a, "%s/trees/%s/root", d->cache_dir, answer.digest);
    }
    json_decref(words);
    return result;
}

int transfer_bound(struct driver *d, const char *dir, struct arena *a, struct bound_tree **ret_list,
                   size_t *ret_count, struct err *err)
{
    struct bound_tree *list = ARENA_ARRAY(a, STEPS_MAX, struct bound_tree);
    DIR *all = opendir(arena_printf(a, "%s/steps", dir));
    size_t count = 0;
    int result = 0;
    for (struct dirent *e; result == 0 && all && (e = readdir(all));) {
        unsigned long step = strtoul(e->d_name, NULL, 10);
        if (isdigit((unsigned char)e->d_name[0]) && step < STEPS_MAX && count < STEPS_MAX &&
            transfer_is_bound(dir, (uint32_t)step)) {
            result = bound_of(d, dir, (uint32_t)step, a, &list[count++], err);
        }
    }
    if (all) {
        closedir(all);
    }
    if (result == 0) {
        qsort(list, count, sizeof(*list), by_destination);
        *ret_list = list;
        *ret_count = count;
    }
    return result;
}

/* ---- The cache ------------------------------------------------------------------------------- */

char *transfer_uses(const struct driver *d, const char *guid)
{
    return mem_printf("%s/uses/%s", d->cache_dir, guid);
}

/* Containers that are gone, though nobody removed them, use nothing. */
static void drop_uses(struct driver *d)
{
    char *path = mem_printf("%s/uses", d->cache_dir);
    DIR *all = opendir(path);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (guid_valid(e->d_name) && !map_get(&d->containers, e->d_name)) {
            unlinkat(dirfd(all), e->d_name, 0);
        }
    }
    if (all) {
        closedir(all);
    }
    free(path);
}

/* However it ended: the next couriers do without it. */
static void on_swept(struct driver_job *j, enum job_event event)
{
    struct driver *d = job_owner(j);
    if (event == JOB_ENDED) {
        d->sweeping = false;
        if (d->sweep_again) {
            d->sweep_again = false;
            transfers_left(d);
        }
    }
}

void transfers_sweep(struct driver *d)
{
    enum { SWEEP_S = 600 };
    struct command c;
    struct timespec now;
    if (access(d->courier, X_OK) < 0 || access(d->cache_dir, F_OK) < 0) {
        return;
    }
    drop_uses(d);
    clock_gettime(CLOCK_MONOTONIC, &now);
    command_init(&c);
    command_add(&c, "%s", d->courier);
    command_add(&c, "sweep");
    command_add(&c, "--answer=%s/swept", d->cache_dir);
    command_add(&c, "--cache=%s", d->cache_dir);
    command_add(&c, "--cache-bytes=%lld", (long long)d->cache_bytes);
    struct job_plan plan = {
        .dir = d->state_dir,
        .argv = c.argv.list,
        .deadline_ns = (now.tv_sec + SWEEP_S) * SECOND_NS,
        .on_event = on_swept,
        .owner = d,
    };
    d->sweeping = jobs_add(d->jobs, &plan, NULL) == 0;
    command_done(&c);
}

/* What a courier has under way is there, too: a sweep tells them apart. */
static bool is_anything_left(const struct driver *d)
{
    char *path = mem_printf("%s/part", d->cache_dir);
    DIR *all = opendir(path);
    bool left = false;
    for (struct dirent *e; all && !left && (e = readdir(all));) {
        left = e->d_name[0] != '.';
    }
    if (all) {
        closedir(all);
    }
    free(path);
    return left;
}

void transfers_left(struct driver *d)
{
    if (d->sweeping) {
        d->sweep_again = true;
    } else if (is_anything_left(d)) {
        transfers_sweep(d);
    }
}
