#include "test/decide/edge_rows.h"

#include "bbs/edge/tracked.h"
#include "common/codec/json.h"
#include "common/model/moves.h"
#include "common/model/record.h"
#include "test/decide/laid_board.h"
#include "test/tool/cmocka.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERM = 5, CHANGES = 3, RECORDS_MAX = 400 };

static const struct moment now = {.wall_ns = EDGE_NOW * SECOND_NS, .mono_ns = 50 * SECOND_NS};

struct laid_edge {
    struct arena arena;
    struct laid_board *board;
    struct random random;
};

static ProtobufCMessage *message_of(struct arena *a, const ProtobufCMessageDescriptor *d,
                                    const char *text)
{
    struct err err;
    ProtobufCMessage *m;
    char *json = arena_strdup(a, text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    /* Of a key that is said twice the last one counts. */
    json_t *tree = json_loads(json, 0, NULL);
    char *once = tree ? json_dumps(tree, JSON_COMPACT) : NULL;
    json = arena_strdup(a, once ? once : json);
    json_decref(tree);
    free(once);
    if (json_decode(a, d, bytes_of(json), CODEC_OWN | CODEC_STRICT | CODEC_SNAKE_CASE, &m, &err) <
        0) {
        fail_msg("%s\n%s", err.text, text);
    }
    return m;
}

/* "KEY {JSON}" */
static ProtobufCMessage *record_of(struct arena *a, const char *line, const char **ret_key)
{
    const char *space = strchr(line, ' ');
    assert_non_null(space);
    *ret_key = arena_strndup(a, line, (size_t)(space - line));
    ProtobufCMessage *m = message_of(a, record_descriptor(key_type(*ret_key)), space + 1);
    if (strstr(line, EDGE_ALL_IDS)) { /* JSON has no number that has the highest bit too */
        assert_int_equal(key_type(*ret_key), RECORD_REFS);
        ((Board__RefsRecord *)m)->reservable_ids = UINT64_MAX;
    }
    return m;
}

static void begin(struct laid_edge *l, const char *lines)
{
    arena_init(&l->arena);
    random_seed(&l->random, (const uint64_t[2]){1, 2});
    l->board = laid_new(now, EDGE_GENERATION);
    int64_t revision = LAID_FIRST + 10;
    Board__LeaderLockRecord *lead =
        arena_message(&l->arena, &board__leader_lock_record__descriptor);
    lead->role = arena_strdup(&l->arena, "converger");
    laid_put(l->board, key_lead(&l->arena, "converger"), &lead->base, TERM, TERM, 0);
    char *rest, *all = arena_strdup(&l->arena, lines);
    for (char *line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *key;
        ProtobufCMessage *m = record_of(&l->arena, line, &key);
        laid_put(l->board, key, m, revision, revision, 0);
        revision++;
    }
}

static void end(struct laid_edge *l)
{
    laid_free(l->board);
    arena_done(&l->arena);
}

static Board__Move *move_of(struct arena *a, const char *text, enum actor actor)
{
    char *words = arena_strdup(a, text), *rest;
    const char *name = strtok_r(words, " ", &rest), *key = strtok_r(NULL, " ", &rest);
    Board__Move *m = move_new(a, name, key);
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = (Board__EdgeMove *)message_of(a, &board__edge_move__descriptor,
                                            rest && *rest ? rest : "{}");
    if (actor == ACTOR_CONVERGER) {
        m->term = arena_message(a, &board__term__descriptor);
        m->term->role = arena_strdup(a, "converger");
        m->term->board_generation = arena_strdup(a, EDGE_GENERATION);
        m->term->term = TERM;
    }
    return m;
}

/* ---- What it comes to ------------------------------------------------------------------------ */

/* A guid that was drawn is told as NEW. */
static void append_plain(struct buf *out, const char *text)
{
    for (const char *c = text; *c;) {
        size_t n = strspn(c, "0123456789abcdef-");
        if (n == 36 && c[8] == '-' && c[14] == '4') {
            buf_append_string(out, "NEW");
        } else {
            buf_printf(out, "%.*s", (int)(n ? n : 1), c);
        }
        c += n ? n : 1;
    }
}

static bool field_equal(const ProtobufCMessage *x, const ProtobufCMessage *y,
                        const ProtobufCFieldDescriptor *f)
{
    SCOPED_ARENA(a);
    struct bytes both[2];
    const ProtobufCMessage *of[2] = {x, y};
    for (int i = 0; i < 2; i++) { /* the field alone, packed */
        ProtobufCMessage *m = arena_message(&a, x->descriptor);
        size_t size = f->label == PROTOBUF_C_LABEL_REPEATED ? sizeof(void *)
                      : f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE
                          ? sizeof(void *)
                      : f->type == PROTOBUF_C_TYPE_INT64 || f->type == PROTOBUF_C_TYPE_UINT64 ||
                              f->type == PROTOBUF_C_TYPE_DOUBLE
                          ? 8
                          : 4;
        memcpy((char *)m + f->offset, (const char *)of[i] + f->offset, size);
        if (f->label == PROTOBUF_C_LABEL_REPEATED) {
            memcpy((char *)m + f->quantifier_offset, (const char *)of[i] + f->quantifier_offset,
                   sizeof(size_t));
        }
        both[i].size = protobuf_c_message_get_packed_size(m);
        uint8_t *packed = arena_alloc(&a, both[i].size);
        protobuf_c_message_pack(m, packed);
        both[i].data = (const void *)packed;
    }
    return both[0].size == both[1].size && memcmp(both[0].data, both[1].data, both[0].size) == 0;
}

/* Only what is otherwise than before. */
static ProtobufCMessage *difference(struct arena *a, const ProtobufCMessage *before,
                                    const ProtobufCMessage *after)
{
    ProtobufCMessage *m = arena_copy(a, after, after->descriptor->sizeof_message);
    const ProtobufCMessage *empty = arena_message(a, after->descriptor);
    for (unsigned i = 0; before && i < after->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &after->descriptor->fields[i];
        if (f->label == PROTOBUF_C_LABEL_REPEATED && field_equal(before, after, f)) {
            memset((char *)m + f->quantifier_offset, 0, sizeof(size_t));
        } else if (f->label != PROTOBUF_C_LABEL_REPEATED && field_equal(before, after, f)) {
            size_t size = f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE ||
                                  f->type == PROTOBUF_C_TYPE_INT64 ||
                                  f->type == PROTOBUF_C_TYPE_UINT64 ||
                                  f->type == PROTOBUF_C_TYPE_DOUBLE
                              ? 8
                              : 4;
            memcpy((char *)m + f->offset, (const char *)empty + f->offset, size);
        }
    }
    return m;
}

/* Fields that are no longer set are told by their names. */
static void print_unset(struct buf *out, const ProtobufCMessage *before,
                        const ProtobufCMessage *after)
{
    SCOPED_ARENA(a);
    const ProtobufCMessage *empty = arena_message(&a, after->descriptor);
    for (unsigned i = 0; before && i < after->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &after->descriptor->fields[i];
        if (!field_equal(before, after, f) && field_equal(empty, after, f)) {
            buf_printf(out, " without %s", f->name);
        }
    }
}

static void print_change(struct laid_edge *l, const struct change *c, struct buf *out)
{
    struct arena *a = &l->arena;
    const ProtobufCMessage *before = laid_message(l->board, a, c->key);
    SCOPED_BUF(json);
    struct err err;
    if (!c->message) {
        buf_printf(out, "  -");
        append_plain(out, c->key);
        buf_append_string(out, "\n");
        return;
    }
    assert_int_equal(
        json_encode(difference(a, before, c->message), CODEC_OWN | CODEC_SNAKE_CASE, &json, &err),
        0);
    buf_printf(out, "  %s", before ? "" : "+");
    append_plain(out, c->key);
    buf_append_string(out, " ");
    append_plain(out, buf_string(&json));
    print_unset(out, before, c->message);
    buf_append_string(out, "\n");
}

static void print_progress(struct laid_edge *l, const struct change *c, struct buf *out)
{
    const Board__ProgressRecord *p = (const Board__ProgressRecord *)c->message;
    const Board__ProgressRecord *before =
        (const Board__ProgressRecord *)laid_message(l->board, &l->arena, c->key);
    for (size_t i = before ? before->n_lines : 0; i < p->n_lines; i++) {
        buf_printf(out, "  \"%s\"\n", p->lines[i]->text);
    }
    if (*p->end) {
        buf_printf(out, "  end: %s\n", p->end);
    }
}

static void print_plan(struct laid_edge *l, const struct laid_plan *p, struct buf *out)
{
    if (p->plan.verdict == PLAN_REFUSE) {
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(
            &models__error__type__descriptor, (int)p->plan.error_type);
        buf_printf(out, "  %s: %s\n", v->name, p->plan.error_message);
    } else if (p->plan.verdict == PLAN_NOTHING) {
        buf_append_string(out, "  nothing\n");
    }
    for (const struct change *c = p->plan.changes; c; c = c->next) {
        if (key_type(c->key) == RECORD_PROGRESS && c->message) {
            print_progress(l, c, out);
        } else {
            print_change(l, c, out);
        }
    }
    if (p->plan.verdict == PLAN_COMMIT) {
        buf_append_string(out, "  compares:");
        for (size_t i = 0; i < p->reads.count; i++) {
            buf_printf(out, "%s %s %s", i ? "," : "", compare_kind_name(p->reads.list[i].kind),
                       p->reads.list[i].key);
        }
        buf_append_string(out, "\n");
    }
}

/* What runs nowhere else, and what goes first, is only told, of a moment; a revision is written
 * once, and stays as long as an instance has it. */
static bool is_excused(const struct op_row *row, const char *key, bool added)
{
    bool lists = strcmp(row->name, "move of maintenance") == 0;
    bool looks = strcmp(row->name, "move of a cluster") == 0;
    return (lists && (key_type(key) == RECORD_APPINST || key_type(key) == RECORD_USE)) ||
           (looks && key_type(key) == RECORD_APPDEF) ||
           (looks && key_type(key) == RECORD_APPINST && !added);
}

static void try_one(struct laid_edge *l, const struct op_row *op, const struct op_input *in,
                    const char *rule, struct buf *out)
{
    struct laid_plan p;
    SCOPED_BUF(fault);
    laid_decide(l->board, op, in, &l->arena, &p);
    print_plan(l, &p, out);
    assert_true(p.plan.verdict != PLAN_COMMIT || laid_passes(l->board, &p.reads));
    laid_hold(l->board, op, in, NULL, 0, &l->random, CHANGES, is_excused, &fault);
    if (fault.size) {
        fail_msg("%s:\n%s", rule, buf_string(&fault));
    }
}

static struct op_input input_by(enum actor actor, const char *peer, const void *request)
{
    return (struct op_input){.actor = actor,
                             .peer_name = peer,
                             .trace_id = "",
                             .boot_id = "b",
                             .request = request,
                             .now = now};
}

void edge_rows_try(const struct move_family *family, const struct edge_row *rows, size_t count,
                   struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct edge_row *r = &rows[i];
        struct laid_edge l;
        begin(&l, r->board);
        const char *peer = strchr(r->by, ' ') ? strchr(r->by, ' ') + 1 : "";
        enum actor actor = actor_of_unit(arena_strndup(&l.arena, r->by, strcspn(r->by, " ")));
        Board__Move *m = move_of(&l.arena, r->move, actor);
        const struct move_row *row = move_row_named(family, m->move);
        buf_printf(out, "%s: %s by %s\n", r->rule, m->move, r->by);
        assert_non_null(row);
        struct validation v = {0};
        row->valid(&v, m);
        if (!move_permitted(family, row, actor)) {
            buf_append_string(out, "  not permitted\n");
        } else if (!validation_ok(&v)) {
            buf_printf(out, "  InvalidRequest: %s\n", validation_text(&v));
        } else {
            struct op_input in = input_by(actor, peer, m);
            try_one(&l, row->op, &in, r->rule, out);
        }
        validation_done(&v);
        end(&l);
    }
}

void edge_row_try(const struct op_row *op, const ProtobufCMessageDescriptor *type,
                  void (*valid)(struct validation *v, const void *request),
                  const struct edge_row *row, struct buf *out)
{
    struct laid_edge l;
    struct validation v = {0};
    begin(&l, row->board);
    const ProtobufCMessage *request = message_of(&l.arena, type, row->move);
    buf_printf(out, "%s: %s\n", row->rule, op->name);
    valid(&v, request);
    if (validation_ok(&v)) {
        struct op_input in = input_by(ACTOR_CLIENT, "", request);
        try_one(&l, op, &in, row->rule, out);
    } else {
        buf_printf(out, "  InvalidRequest: %s\n", validation_text(&v));
    }
    validation_done(&v);
    end(&l);
}

const char *edge_row_state(const struct move_family *family, const struct edge_row *row,
                           struct arena *a)
{
    struct laid_edge l;
    struct laid_plan p;
    begin(&l, row->board);
    Board__Move *m = move_of(&l.arena, row->move, ACTOR_CLIENT);
    struct op_input in = input_by(ACTOR_CLIENT, "", m);
    const char *key = move_key(&l.arena, m);
    laid_decide(l.board, move_row_named(family, m->move)->op, &in, &l.arena, &p);
    const char *state = p.plan.verdict == PLAN_REFUSE ? "refused" : "stays";
    for (const struct change *c = p.plan.changes; c; c = c->next) {
        if (strcmp(c->key, key) == 0) {
            state = !c->message ? "none" : ((const struct tracked_head *)c->message)->state;
        }
    }
    state = arena_strdup(a, state);
    end(&l);
    return state;
}
