#include "test/decide/laid_board.h"

#include <stdlib.h>
#include <string.h>

#include "bbs/board/inside.h"
#include "common/base/memory.h"

struct laid_board {
    struct board board; /* as far as a view looks at it */
    struct arena arena;
};

struct laid_board *laid_new(struct moment now, const char *board_generation)
{
    struct laid_board *l = mem_zeroed(sizeof(*l));
    arena_init(&l->arena);
    l->board.copy = copy_new();
    l->board.now = now;
    l->board.revision = LAID_NOW;
    l->board.board_generation = arena_strdup(&l->arena, board_generation);
    l->board.board_generation_revision = LAID_BOARD_GENERATION;
    return l;
}

void laid_free(struct laid_board *l)
{
    if (l) {
        copy_free(l->board.copy);
        arena_done(&l->arena);
        free(l);
    }
}

void laid_put(struct laid_board *l, const char *key, const ProtobufCMessage *message,
              int64_t create_revision, int64_t mod_revision, int64_t seen_ns)
{
    SCOPED_ARENA(scratch);
    SCOPED_BUF(record);
    record_encode(&record, message);
    struct bytes value = {.data = record.data, .size = record.size};
    version_unref(copy_put(l->board.copy,
                           version_new(&scratch, key, value, create_revision, mod_revision),
                           (struct sighting){.since_ns = seen_ns}));
}

void laid_put_later(struct laid_board *l, const char *key)
{
    SCOPED_ARENA(scratch);
    version_unref(copy_put(l->board.copy,
                           version_new(&scratch, key, bytes_of("\x7f later"), 10, 10),
                           (struct sighting){.since_ns = 0}));
}

void laid_remove(struct laid_board *l, const char *key)
{
    struct version *was = copy_find(l->board.copy, key) ? copy_remove(l->board.copy, key) : NULL;
    if (was) {
        version_unref(was);
    }
}

void laid_at(struct laid_board *l, int64_t revision)
{
    l->board.revision = revision;
}

size_t laid_keys(const struct laid_board *l, struct arena *a, const char *prefix,
                 const char ***ret_keys)
{
    size_t count = 0, size = strlen(prefix);
    *ret_keys = ARENA_ARRAY(a, copy_count(l->board.copy), const char *);
    for (struct copied *p = copy_from(l->board.copy, prefix);
         p && strncmp(version_key(copied_version(p)), prefix, size) == 0; p = copy_next(p)) {
        (*ret_keys)[count++] = arena_strdup(a, version_key(copied_version(p)));
    }
    return count;
}

const ProtobufCMessage *laid_message(const struct laid_board *l, struct arena *a, const char *key)
{
    const struct copied *p = copy_find(l->board.copy, key);
    const struct seen *seen = p ? seen_of(a, copied_version(p)) : NULL;
    return seen ? seen->message : NULL;
}

/* ---- deciding ---- */

static void gather(struct laid_board *l, const struct op_row *row, const struct op_input *in,
                   struct arena *a, struct read_set *reads, void *snapshot)
{
    read_set_init(reads, a);
    memset(snapshot, 0, row->snapshot_size);
    struct view v = {.board = &l->board, .arena = a, .reads = reads};
    row->gather(&v, in, snapshot);
}

void laid_decide_drawn(struct laid_board *l, const struct op_row *row, const struct op_input *in,
                       struct random *random, struct arena *a, struct laid_plan *ret)
{
    struct op_input asked = *in;
    asked.random = random;
    asked.now = l->board.now;
    plan_init(&ret->plan, a);
    void *snapshot = arena_alloc(a, row->snapshot_size);
    gather(l, row, &asked, a, &ret->reads, snapshot);
    row->decide(snapshot, &asked, &ret->plan);
}

void laid_decide(struct laid_board *l, const struct op_row *row, const struct op_input *in,
                 struct arena *a, struct laid_plan *ret)
{
    struct random random;
    random_seed(&random, (uint64_t[2]){1, 2});
    laid_decide_drawn(l, row, in, &random, a, ret);
}

void laid_print(const struct plan *p, struct buf *out)
{
    plan_print(p, out);
    for (const struct change *c = p->changes; c; c = c->next) {
        buf_printf(out, "%s ", c->text);
        if (c->message) {
            record_encode(out, c->message);
        }
    }
    buf_printf(out, "%d", p->keep_container);
}

/* ---- judging ---- */

static bool newer_below(const struct laid_board *l, const char *prefix, int64_t revision)
{
    for (struct copied *p = copy_from(l->board.copy, prefix);
         p && strncmp(version_key(copied_version(p)), prefix, strlen(prefix)) == 0;
         p = copy_next(p)) {
        if (copied_version(p)->mod_revision > revision) {
            return true;
        }
    }
    return false;
}

static bool any_between(const struct laid_board *l, const char *from, const char *end)
{
    struct copied *p = copy_from(l->board.copy, from);
    return p && strcmp(version_key(copied_version(p)), end) < 0;
}

static bool passes(const struct laid_board *l, const struct compare *c)
{
    const struct copied *p = copy_find(l->board.copy, c->key);
    switch (c->kind) {
    case COMPARE_UNCHANGED:
        return p && copied_version(p)->mod_revision == c->revision;
    case COMPARE_EXISTS:
        return p;
    case COMPARE_ABSENT:
        return !p;
    case COMPARE_RANGE_EMPTY:
        return !newer_below(l, c->key, 0);
    case COMPARE_GAP_EMPTY:
        return !any_between(l, c->key, c->end);
    case COMPARE_NOTHING_NEWER:
        return !newer_below(l, c->key, c->revision);
    case COMPARE_KIND_COUNT:
        break;
    }
    return false;
}

bool laid_passes(const struct laid_board *l, const struct read_set *reads)
{
    for (size_t i = 0; i < reads->count; i++) {
        if (!passes(l, &reads->list[i])) {
            return false;
        }
    }
    return true;
}

/* ---- changing a record ---- */

/* A record says in these what its key says, too. */
static bool names_its_record(const char *field)
{
    static const char *const names[] = {"process_guid", "index",   "presence", "task_guid",
                                        "key",          "cell_id", "role",     "id",
                                        "domain",       "path",    "service"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], field) == 0) {
            return true;
        }
    }
    return false;
}

static char *draw_word(struct arena *a, struct random *r)
{
    static const char *const words[] = {"",   "a",       "b",         "D1",      "D2",
                                        "c2", "RUNNING", "UNCLAIMED", "CLAIMED", "CRASHED"};
    return arena_strdup(a, words[random_below(r, sizeof(words) / sizeof(words[0]))]);
}

static int64_t draw_number(struct random *r)
{
    static const int64_t numbers[] = {0, 1, 2, 3, 5, 7, 8, 900, 60000000000, 2000000000000};
    return numbers[random_below(r, sizeof(numbers) / sizeof(numbers[0]))];
}

/* Changes one field of the message or of one within it; maybe to what it was. */
static void change_field(ProtobufCMessage *m, struct arena *a, struct random *r)
{
    const ProtobufCMessageDescriptor *d = m->descriptor;
    if (!d->n_fields) {
        return;
    }
    const ProtobufCFieldDescriptor *f = &d->fields[random_below(r, d->n_fields)];
    void *at = (char *)m + f->offset;
    size_t *count = (size_t *)((char *)m + f->quantifier_offset);
    if (names_its_record(f->name) || (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)) {
        return;
    }
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        *count = *count ? *count - 1 : 0;
        return;
    }
    switch (f->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        if (*(ProtobufCMessage **)at) {
            change_field(*(ProtobufCMessage **)at, a, r);
        }
        break;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)at = draw_word(a, r);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)at = !*(protobuf_c_boolean *)at;
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumDescriptor *e = f->descriptor;
        *(int *)at = e->values[random_below(r, e->n_values)].value;
        break;
    }
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_UINT32:
        *(int32_t *)at = (int32_t)random_below(r, 4);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
        *(int64_t *)at = draw_number(r);
        break;
    default:
        break;
    }
}

/* ---- the law ---- */

struct holding {
    struct laid_board *board;
    const struct op_row *row;
    const struct op_input *in;
    const struct laid_plan *first;
    const struct buf *first_text;
    bool (*excused)(const struct op_row *row, const char *key, bool added);
    struct buf *fault;
};

static bool writes(const struct plan *p, const char *key)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        if (strcmp(c->key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* The record at `key` is another one now. */
static void judge(struct holding *h, const char *key, const char *how)
{
    if (h->fault->size || !laid_passes(h->board, &h->first->reads) ||
        (h->excused && h->excused(h->row, key, strcmp(how, "added") == 0))) {
        return;
    }
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    struct laid_plan other;
    laid_decide(h->board, h->row, h->in, &a, &other);
    laid_print(&other.plan, &text);
    bool same =
        text.size == h->first_text->size && memcmp(text.data, h->first_text->data, text.size) == 0;
    /* The rest of a DesiredLRP stands under its definition id: whoever writes it compares the
     * part that names it. */
    bool over = writes(&h->first->plan, key) && key_type(key) != RECORD_RUN;
    if (!same || over) {
        buf_printf(h->fault, "%s: with %s %s %s, and no compare of it says so:\n", h->row->name,
                   key, how, same ? "it writes over it" : "it would decide something else");
        for (size_t i = 0; i < h->first->reads.count; i++) {
            const struct compare *c = &h->first->reads.list[i];
            buf_printf(h->fault, "  %s %s\n", compare_kind_name(c->kind), c->key);
        }
        plan_print(&h->first->plan, h->fault);
        plan_print(&other.plan, h->fault);
    }
}

static void put_changed(struct holding *h, struct version *was, int64_t seen_ns, bool change,
                        struct random *random)
{
    SCOPED_ARENA(a);
    const struct seen *seen = seen_of(&a, was);
    if (change) {
        change_field((ProtobufCMessage *)(uintptr_t)seen->message, &a, random);
    }
    laid_put(h->board, version_key(was), seen->message, was->create_revision, LAID_NOW + 1,
             seen_ns);
}

/* Takes it away, touches it, changes it; then it stands as it did. */
static void try_record(struct holding *h, const char *key, unsigned changes, struct random *random)
{
    struct copy *copy = h->board->board.copy;
    struct sighting seen = copied_seen(copy_find(copy, key));
    struct version *was = version_ref(copied_version(copy_find(copy, key)));
    version_unref(copy_remove(copy, key));
    judge(h, key, "gone");
    bool once = key_type(key) == RECORD_RUN; /* written once: a put of it can only be the same */
    for (unsigned i = 0; i <= changes && !once; i++) {
        put_changed(h, was, seen.since_ns, i > 0, random);
        judge(h, key, "changed");
    }
    version_unref(copy_put(copy, was, seen));
}

static void try_stranger(struct holding *h, const struct laid_stranger *stranger)
{
    struct copy *copy = h->board->board.copy;
    if (copy_find(copy, stranger->key)) {
        return;
    }
    laid_put(h->board, stranger->key, stranger->message, LAID_NOW + 1, LAID_NOW + 1,
             h->board->board.now.mono_ns);
    judge(h, stranger->key, "added");
    version_unref(copy_remove(copy, stranger->key));
}

enum plan_verdict laid_hold(struct laid_board *l, const struct op_row *row,
                            const struct op_input *in, const struct laid_stranger *strangers,
                            size_t stranger_count, struct random *random, unsigned changes,
                            bool (*excused)(const struct op_row *row, const char *key, bool added),
                            struct buf *ret_fault)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    struct laid_plan first;
    laid_decide(l, row, in, &a, &first);
    laid_print(&first.plan, &text);
    enum plan_verdict verdict = first.plan.verdict;
    struct holding h = {l, row, in, &first, &text, excused, ret_fault};
    if (verdict == PLAN_COMMIT && !laid_passes(l, &first.reads)) {
        buf_printf(ret_fault, "%s: its compares refuse what it has read", row->name);
    } else if (verdict == PLAN_COMMIT) {
        const char **keys;
        size_t count = laid_keys(l, &a, "", &keys);
        for (size_t i = 0; i < count; i++) {
            try_record(&h, keys[i], changes, random);
        }
        for (size_t i = 0; i < stranger_count; i++) {
            try_stranger(&h, &strangers[i]);
        }
    }
    return verdict;
}
