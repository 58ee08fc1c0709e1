#include "bbs/cli/system_board.h"

#include "common/base/memory.h"
#include "common/model/component_path.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_LETTERS_MIN = 4 };

struct system_record {
    int64_t revision; /* of its last change */
    uint64_t listing;
    size_t size;
    uint8_t data[];
};

void system_board_init(struct system_board *b)
{
    *b = (struct system_board){.revision = 0};
    map_init(&b->records);
    frames_init(&b->frames);
}

void system_board_done(struct system_board *b)
{
    map_done(&b->records, free);
    frames_done(&b->frames);
}

void system_board_connect(struct system_board *b)
{
    frames_connect(&b->frames);
    b->caught_up = b->confirmed = false;
}

/* ---- Frames ---- */

static void keep(struct system_board *b, const Board__FeedFrame *f)
{
    const struct system_record *old = map_get(&b->records, f->key);
    if (old && old->revision > f->mod_revision) {
        return; /* the feed was resumed before it */
    }
    struct system_record *r = mem_zeroed(sizeof(*r) + f->record.len);
    r->revision = f->mod_revision;
    r->listing = b->listing;
    r->size = f->record.len;
    if (f->record.len > 0) {
        memcpy(r->data, f->record.data, f->record.len);
    }
    b->changed = true;
    free(map_put(&b->records, f->key, r));
}

static void drop(struct system_board *b, const Board__FeedFrame *f)
{
    const struct system_record *old = map_get(&b->records, f->key);
    if (old && old->revision <= f->revision) {
        free(map_remove(&b->records, f->key));
        b->changed = true;
    }
}

static void move_on(struct system_board *b, const Board__FeedFrame *f)
{
    if (*f->board_generation) {
        snprintf(b->board_generation, sizeof(b->board_generation), "%s", f->board_generation);
    }
    b->revision = f->revision;
    b->caught_up = true;
}

/* What a snapshot does not list is gone. */
static void drop_unlisted(struct system_board *b)
{
    MAP_EACH(&b->records, n)
    {
        const struct system_record *r = map_value(n);
        if (r->listing != b->listing) {
            free(map_remove(&b->records, map_key(n)));
        }
    }
}

static void take_frame(void *board, struct arena *a, const Board__FeedFrame *f)
{
    struct system_board *b = board;
    (void)a;
    switch (f->kind) {
    case BOARD__FEED_FRAME__KIND__RESET:
        b->listing++;
        b->caught_up = false;
        break;
    case BOARD__FEED_FRAME__KIND__CURRENT:
        drop_unlisted(b);
        b->changed = b->seen = true;
        move_on(b, f);
        break;
    case BOARD__FEED_FRAME__KIND__HEARTBEAT:
        if (b->seen && f->revision >= b->revision) {
            b->confirmed = true;
            move_on(b, f);
        }
        break;
    case BOARD__FEED_FRAME__KIND__RECORD:
    case BOARD__FEED_FRAME__KIND__PUT:
        keep(b, f);
        break;
    case BOARD__FEED_FRAME__KIND__DELETE:
        drop(b, f);
        break;
    default:
        break;
    }
}

int system_board_take(struct system_board *b, struct bytes bytes, struct err *err)
{
    return frames_take(&b->frames, bytes, take_frame, b, err);
}

/* ---- The view ---- */

static void add(struct system_view *v, enum record_type type, ProtobufCMessage *m)
{
    switch (type) {
    case RECORD_SYSTEM:
        v->systems[v->system_count++] = (Board__SystemRecord *)m;
        break;
    case RECORD_HEAD:
        v->head = (const Board__HeadRecord *)m;
        break;
    case RECORD_HOLD:
        v->hold = (const Board__HoldRecord *)m;
        break;
    case RECORD_VERSIONS:
        v->versions = (const Board__VersionsRecord *)m;
        break;
    case RECORD_SERVICE:
        v->services[v->service_count++] = (Board__ServiceRecord *)m;
        break;
    case RECORD_BUILD:
        v->builds[v->build_count++] = (Board__BuildRecord *)m;
        break;
    case RECORD_DEPLOY:
        v->deploys[v->deploy_count++] = (Board__DeployRecord *)m;
        break;
    case RECORD_TEARDOWN:
        v->teardowns[v->teardown_count++] = (Board__TeardownRecord *)m;
        break;
    case RECORD_JOB_RUN:
        v->runs[v->run_count++] = (Board__JobRunRecord *)m;
        break;
    case RECORD_POOL:
        v->pools[v->pool_count++] = (Board__PoolRecord *)m;
        break;
    case RECORD_INDEX:
        v->indexes[v->index_count++] = (Board__IndexRecord *)m;
        break;
    case RECORD_LEADER_LOCK:
        v->converger = strcmp(((const Board__LeaderLockRecord *)m)->role, "converger") == 0
                           ? (const Board__LeaderLockRecord *)m
                           : v->converger;
        break;
    default:
        break;
    }
}

static int by_path(const void *x, const void *y)
{
    const Board__ServiceRecord *const *a = x, *const *b = y;
    return component_path_compare((*a)->path, (*b)->path);
}

/* Newest first, then by id. */
#define NEWEST_FIRST(name, type)                                                                   \
    static int name(const void *x, const void *y)                                                  \
    {                                                                                              \
        const type *a = *(type *const *)x, *b = *(type *const *)y;                                 \
        return a->created_at != b->created_at ? (a->created_at > b->created_at ? -1 : 1)           \
                                              : strcmp(a->id, b->id);                              \
    }
NEWEST_FIRST(newest_build, Board__BuildRecord)
NEWEST_FIRST(newest_deploy, Board__DeployRecord)
NEWEST_FIRST(newest_teardown, Board__TeardownRecord)
NEWEST_FIRST(newest_run, Board__JobRunRecord)

static void sort(void *list, size_t count, int (*order)(const void *, const void *))
{
    if (count > 1) {
        qsort(list, count, sizeof(void *), order);
    }
}

static void make_lists(struct arena *a, size_t n, struct system_view *v)
{
    v->systems = ARENA_ARRAY(a, n, Board__SystemRecord *);
    v->services = ARENA_ARRAY(a, n, Board__ServiceRecord *);
    v->builds = ARENA_ARRAY(a, n, Board__BuildRecord *);
    v->deploys = ARENA_ARRAY(a, n, Board__DeployRecord *);
    v->teardowns = ARENA_ARRAY(a, n, Board__TeardownRecord *);
    v->runs = ARENA_ARRAY(a, n, Board__JobRunRecord *);
    v->pools = ARENA_ARRAY(a, n, Board__PoolRecord *);
    v->indexes = ARENA_ARRAY(a, n, Board__IndexRecord *);
}

void system_view_of(struct arena *a, const struct system_board *b, struct system_view *ret)
{
    static const Board__HoldRecord none = BOARD__HOLD_RECORD__INIT;
    *ret = (struct system_view){.hold = &none,
                                .board_generation = arena_strdup(a, b->board_generation)};
    make_lists(a, b->records.count, ret);
    MAP_EACH((struct map *)(uintptr_t)&b->records, n)
    {
        const struct system_record *r = map_value(n);
        enum record_type type = key_type(map_key(n));
        ProtobufCMessage *m;
        if (record_descriptor(type) &&
            record_decode(a, type, (struct bytes){r->data, r->size}, &m, NULL) == 0) {
            add(ret, type, m);
        }
    }
    ret->system = ret->system_count ? ret->systems[0] : NULL;
    sort(ret->services, ret->service_count, by_path);
    sort(ret->builds, ret->build_count, newest_build);
    sort(ret->deploys, ret->deploy_count, newest_deploy);
    sort(ret->teardowns, ret->teardown_count, newest_teardown);
    sort(ret->runs, ret->run_count, newest_run);
}

/* ---- Finding ---- */

const Board__PoolRecord *system_view_pool(const struct system_view *v, const char *name)
{
    for (size_t i = 0; i < v->pool_count; i++) {
        if (strcmp(v->pools[i]->name, name) == 0) {
            return v->pools[i];
        }
    }
    return NULL;
}

/* Whether `id` is it, or the begin of it that people write. */
static bool fits(const char *whole, const char *id)
{
    size_t size = strlen(id);
    return strcmp(whole, id) == 0 || (size >= ID_LETTERS_MIN && strncmp(whole, id, size) == 0);
}

#define FIND(name, type, list, count)                                                              \
    const type *name(const struct system_view *v, const char *id)                                  \
    {                                                                                              \
        const type *found = NULL;                                                                  \
        size_t n = 0;                                                                              \
        assert(id);                                                                                \
        for (size_t i = 0; i < v->count; i++) {                                                    \
            if (strcmp(v->list[i]->id, id) == 0) {                                                 \
                return v->list[i];                                                                 \
            }                                                                                      \
            n += fits(v->list[i]->id, id);                                                         \
            found = fits(v->list[i]->id, id) ? v->list[i] : found;                                 \
        }                                                                                          \
        return n == 1 ? found : NULL;                                                              \
    }
FIND(system_view_deploy, Board__DeployRecord, deploys, deploy_count)
FIND(system_view_build, Board__BuildRecord, builds, build_count)
FIND(system_view_teardown, Board__TeardownRecord, teardowns, teardown_count)
FIND(system_view_run, Board__JobRunRecord, runs, run_count)

const char *system_view_owner(const struct system_view *v, enum record_type type, const char *id,
                              size_t *ret_count)
{
    const char *owner = NULL;
    *ret_count = 0;
#define COUNT(list, count)                                                                         \
    for (size_t i = 0; i < v->count; i++) {                                                        \
        bool meant = fits(v->list[i]->id, id);                                                     \
        *ret_count += meant;                                                                       \
        owner = meant ? v->list[i]->system : owner;                                                \
    }
    switch (type) {
    case RECORD_BUILD:
        COUNT(builds, build_count)
        break;
    case RECORD_DEPLOY:
        COUNT(deploys, deploy_count)
        break;
    case RECORD_TEARDOWN:
        COUNT(teardowns, teardown_count)
        break;
    default:
        assert(type == RECORD_JOB_RUN);
        COUNT(runs, run_count)
    }
#undef COUNT
    return owner;
}

static int path_against(const void *path, const void *service)
{
    return component_path_compare(path, (*(const Board__ServiceRecord *const *)service)->path);
}

const Board__ServiceRecord *system_view_service(const struct system_view *v, const char *path)
{
    Board__ServiceRecord **found = v->service_count == 0
                                       ? NULL
                                       : bsearch(path, v->services, v->service_count,
                                                 sizeof(*v->services), path_against);
    return found ? *found : NULL;
}

const Board__Root *system_view_root(const struct system_view *v, const char *path)
{
    const Board__Root *found = NULL;
    assert(*path == '/');
    for (size_t i = 0; v->head && i < v->head->n_roots; i++) {
        const Board__Root *r = v->head->roots[i];
        if (component_path_within(path, r->path) &&
            (!found || component_path_within(r->path, found->path))) {
            found = r;
        }
    }
    return found;
}

const char *system_view_kind(const struct system_view *v, const char *path)
{
    const Board__Root *root = system_view_root(v, path);
    for (size_t i = 0; root && i < v->index_count; i++) {
        const Board__IndexRecord *x = v->indexes[i];
        for (size_t k = 0; strcmp(x->tree, root->tree) == 0 && k < x->n_entries; k++) {
            if (strcmp(x->entries[k]->path, path) == 0) {
                return x->entries[k]->kind;
            }
        }
    }
    return NULL;
}
