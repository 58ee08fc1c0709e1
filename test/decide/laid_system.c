#include "test/decide/laid_system.h"

#include "bbs/board/inside.h"
#include "common/base/message.h"
#include "common/model/record.h"
#include "test/decide/system_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

static const struct moment now = {.mono_ns = 500 * SECOND_NS,
                                  .wall_ns = LAID_SYSTEM_NOW_S * SECOND_NS};

void laid_system_put(struct laid_system *l, const char *key, const ProtobufCMessage *m)
{
    int64_t revision = LAID_FIRST + 10 + (int64_t)l->count++;
    laid_put(l->board, key, m, revision, revision, 0);
}

void laid_system_init(struct laid_system *l, const char *texts)
{
    *l = (struct laid_system){0};
    arena_init(&l->arena);
    l->board = laid_new(now, LAID_SYSTEM_GENERATION);
    Board__LeaderLockRecord *lead =
        arena_message(&l->arena, &board__leader_lock_record__descriptor);
    lead->role = arena_strdup(&l->arena, "converger");
    laid_put(l->board, key_lead(&l->arena, "converger"), &lead->base, LAID_SYSTEM_TERM,
             LAID_SYSTEM_TERM, 0);
    char *rest, *all = arena_strdup(&l->arena, texts);
    for (char *line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *key;
        ProtobufCMessage *m = system_row(&l->arena, line, &key);
        laid_system_put(l, key, m);
    }
}

void laid_system_done(struct laid_system *l)
{
    laid_free(l->board);
    arena_done(&l->arena);
}

/* ---- What is asked --------------------------------------------------------------------------- */

static void set_words(struct laid_system *l, ProtobufCMessage *m, Board__Subject *subject,
                      char *words)
{
    char *rest;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (value) {
            *value++ = 0;
        }
        if (subject && strcmp(word, "revision") == 0) {
            subject->revision = atoll(value);
        } else {
            system_row_set(&l->arena, m, word, value ? value : "1");
        }
    }
}

/* The body of that kind, which names the system. */
static ProtobufCMessage *add_body(struct laid_system *l, Board__Move *m)
{
    struct arena *a = &l->arena;
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(
        m->base.descriptor, record_type_name(move_kind(m)));
    assert_non_null(f);
    ProtobufCMessage *body = arena_message(a, f->descriptor);
    m->body_case = (Board__Move__BodyCase)f->id;
    *(void **)((char *)m + f->offset) = body;
    bool system = move_kind(m) == RECORD_SYSTEM;
    system_row_set(a, body, system ? "uid" : "system", system ? LAID_SYSTEM_UID : "shop");
    return body;
}

Board__Move *laid_system_move(struct laid_system *l, const struct move_family *family,
                              const char *text)
{
    struct arena *a = &l->arena;
    char *words = arena_strdup(a, text), *rest;
    const char *name = strtok_r(words, " ", &rest), *key = strtok_r(NULL, " ", &rest);
    Board__Move *m = move_new(a, name, key);
    m->term = arena_message(a, &board__term__descriptor);
    m->term->role = arena_strdup(a, "converger");
    m->term->board_generation = arena_strdup(a, LAID_SYSTEM_GENERATION);
    m->term->term = LAID_SYSTEM_TERM;
    set_words(l, add_body(l, m), m->subject, rest);
    assert_non_null(move_row_named(family, m->move));
    return m;
}

ProtobufCMessage *laid_system_request(struct laid_system *l,
                                      const ProtobufCMessageDescriptor *type, const char *text)
{
    ProtobufCMessage *m = arena_message(&l->arena, type);
    set_words(l, m, NULL, arena_strdup(&l->arena, text));
    return m;
}

/* ---- What is planned ------------------------------------------------------------------------- */

static void print_item(struct buf *out, const ProtobufCFieldDescriptor *f, const void *at)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        buf_printf(out, "%s", *(char *const *)at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        buf_printf(out, "%d", *(const protobuf_c_boolean *)at);
        break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
        buf_printf(out, "%d", *(const int32_t *)at);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        if (*(const int64_t *)at >= SECOND_NS) {
            buf_printf(out, "%llds", (long long)(*(const int64_t *)at / SECOND_NS));
        } else {
            buf_printf(out, "%lld", (long long)*(const int64_t *)at);
        }
        break;
    case PROTOBUF_C_TYPE_BYTES:
        buf_printf(out, "%zu bytes", ((const ProtobufCBinaryData *)at)->len);
        break;
    default:
        break;
    }
}

/* "1:small:c1+c2", ":released" behind it. */
static void print_epoch(struct buf *out, const Board__PoolEpoch *e)
{
    buf_printf(out, "%u:%s:", e->number, e->instance_type);
    for (size_t i = 0; i < e->n_cells; i++) {
        buf_printf(out, "%s%s", i ? "+" : "", e->cells[i]);
    }
    buf_append_string(out, e->released ? ":released" : "");
}

/* Of a root, a hold, an entry: its first texts. */
static void print_part(struct buf *out, const ProtobufCMessage *m)
{
    bool any = false;
    if (m->descriptor == &board__pool_epoch__descriptor) {
        print_epoch(out, (const Board__PoolEpoch *)m);
        return;
    }
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        const char *at = (const char *)m + f->offset;
        bool paused = f->type == PROTOBUF_C_TYPE_BOOL && *(const protobuf_c_boolean *)at;
        if (f->label != PROTOBUF_C_LABEL_REPEATED && f->type == PROTOBUF_C_TYPE_STRING) {
            buf_printf(out, "%s%s", any ? ":" : "", *(char *const *)at);
            any = true;
        } else if (paused) {
            buf_printf(out, ":%s", f->name);
        }
    }
}

static void print_list(struct buf *out, const ProtobufCFieldDescriptor *f,
                       const ProtobufCMessage *m)
{
    size_t count = *(const size_t *)((const char *)m + f->quantifier_offset);
    void *const *list = *(void *const *const *)((const char *)m + f->offset);
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s", i ? "," : "");
        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
            print_part(out, list[i]);
        } else {
            buf_printf(out, "%s", (const char *)list[i]);
        }
    }
}

static void print_field(struct buf *out, const ProtobufCFieldDescriptor *f,
                        const ProtobufCMessage *m)
{
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        print_list(out, f, m);
    } else if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
        print_item(out, f, (const char *)m + f->offset);
    }
}

/* Fields that it changes; all that say something of a record that is new. */
static void print_changed(struct buf *out, const ProtobufCMessage *before,
                          const ProtobufCMessage *m)
{
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        SCOPED_BUF(is);
        SCOPED_BUF(was);
        print_field(&is, f, m);
        if (before) {
            print_field(&was, f, before);
        }
        const char *nothing = f->label == PROTOBUF_C_LABEL_REPEATED ||
                                      f->type == PROTOBUF_C_TYPE_STRING ||
                                      f->type == PROTOBUF_C_TYPE_MESSAGE
                                  ? ""
                              : f->type == PROTOBUF_C_TYPE_BYTES ? "0 bytes"
                                                                 : "0";
        if (strcmp(buf_string(&is), before ? buf_string(&was) : nothing) != 0) {
            buf_printf(out, " %s=%s", f->name, buf_string(&is));
        }
    }
}

const char *laid_system_print(struct laid_system *l, const struct plan *p)
{
    SCOPED_BUF(out);
    if (p->verdict == PLAN_REFUSE) {
        buf_printf(&out, "%s: %s",
                   protobuf_c_enum_descriptor_get_value(&models__error__type__descriptor,
                                                        (int)p->error_type)->name,
                   p->error_message);
    } else if (p->verdict == PLAN_NOTHING) {
        buf_printf(&out, "nothing");
    }
    for (const struct change *c = p->changes; c; c = c->next) {
        buf_printf(&out, "%s%s %s%s", c == p->changes ? "" : "\n", c->move,
                   c->message ? "" : "-", c->key);
        if (c->message) {
            print_changed(&out, laid_message(l->board, &l->arena, c->key), c->message);
        }
    }
    return arena_strdup(&l->arena, buf_string(&out));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

void laid_system_try(struct laid_system *l, const struct op_row *op, enum actor actor,
                     const char *peer, const ProtobufCMessage *request, const char *rule,
                     const char *want)
{
    struct laid_plan p;
    struct op_input in = {.actor = actor, .peer_name = peer, .trace_id = "", .boot_id = "boot",
                          .request = request, .now = now};
    laid_decide(l->board, op, &in, &l->arena, &p);
    const char *is = laid_system_print(l, &p.plan);
    if (strcmp(is, want) != 0) {
        fail_msg("%s:\n%s\nnot\n%s", rule, is, want);
    }
    assert_true(p.plan.verdict != PLAN_COMMIT || laid_passes(l->board, &p.reads));
}

void try_system_moves(const struct move_family *family, const struct system_move_row *rows,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct laid_system l;
        laid_system_init(&l, rows[i].board);
        const Board__Move *m = laid_system_move(&l, family, rows[i].move);
        laid_system_try(&l, move_row_named(family, m->move)->op, ACTOR_CONVERGER, "x", &m->base,
                        rows[i].rule, rows[i].plan);
        laid_system_done(&l);
    }
}

void try_system_ops(const struct op_row *op, const ProtobufCMessageDescriptor *request,
                    const struct system_op_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct laid_system l;
        laid_system_init(&l, rows[i].board);
        const ProtobufCMessage *m = laid_system_request(&l, request, rows[i].request);
        laid_system_try(&l, op, ACTOR_CLIENT, "x", m, rows[i].rule, rows[i].plan);
        laid_system_done(&l);
    }
}
