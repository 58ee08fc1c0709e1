#include "test/decide/unit_rows.h"

#include "bbs/units/units.h"
#include "common/model/record.h"
#include "test/decide/system_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

/* The next part up to one of the bytes, which is cut off. */
static char *part(char **text, const char *bytes)
{
    char *whole = strsep(text, bytes);
    assert_non_null(whole);
    return whole;
}

static Board__Endpoint *endpoint_row(struct arena *a, char *text)
{
    Board__Endpoint *e = arena_message(a, &board__endpoint__descriptor);
    e->name = part(&text, ":");
    e->role = (Board__Endpoint__Role)atoi(part(&text, ":"));
    e->interface = text ? part(&text, ":") : e->interface;
    e->scope = (Board__Endpoint__Scope)(text ? atoi(text) : 0);
    return e;
}

static void set_ends(struct arena *a, Board__RelationRecord *r, char *text)
{
    r->ends = ARENA_ARRAY(a, 2, Board__RelationEnd *);
    while (text) {
        char *one = part(&text, ",");
        Board__RelationEnd *end = arena_message(a, &board__relation_end__descriptor);
        end->service = part(&one, ":");
        end->service_guid = arena_printf(a, "s-%s", end->service);
        end->endpoint = endpoint_row(a, one);
        r->ends[r->n_ends++] = end;
    }
}

static void set_endpoints(struct arena *a, Board__CharmRecord *r, char *text)
{
    r->charm = arena_message(a, &board__charm__descriptor);
    r->charm->endpoints = ARENA_ARRAY(a, 4, Board__Endpoint *);
    while (text) {
        r->charm->endpoints[r->charm->n_endpoints++] = endpoint_row(a, part(&text, ","));
    }
}

static void set_field(struct arena *a, ProtobufCMessage *m, const char *name, char *value);

/* "status.state": the field of a message in it, which is made with its first one. */
static void set_inner(struct arena *a, ProtobufCMessage *m, char *name, char *value)
{
    const char *outer = part(&name, ".");
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, outer);
    assert_true(f && f->type == PROTOBUF_C_TYPE_MESSAGE);
    ProtobufCMessage **at = (ProtobufCMessage **)((char *)m + f->offset);
    *at = *at ? *at : arena_message(a, f->descriptor);
    set_field(a, *at, name, value);
}

/* "a,b": texts of a repeated field. */
static void set_list(struct arena *a, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
                     char *text)
{
    size_t *count = (size_t *)((char *)m + f->quantifier_offset);
    char **list = ARENA_ARRAY(a, strlen(text) + 1, char *);
    for (*count = 0; text;) {
        list[(*count)++] = part(&text, ",");
    }
    *(char ***)((char *)m + f->offset) = list;
}

/* Texts as they are, for keys have an underscore; numbers by their type. */
static void set_field(struct arena *a, ProtobufCMessage *m, const char *name, char *value)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);
    if (strchr(name, '.')) {
        set_inner(a, m, arena_strdup(a, name), value);
    } else if (strcmp(name, "ends") == 0) {
        set_ends(a, (Board__RelationRecord *)m, value);
    } else if (strcmp(name, "endpoints") == 0) {
        set_endpoints(a, (Board__CharmRecord *)m, value);
    } else if (f && f->type == PROTOBUF_C_TYPE_ENUM) {
        *(int *)((char *)m + f->offset) = atoi(value);
    } else if (f && f->type == PROTOBUF_C_TYPE_STRING && f->label == PROTOBUF_C_LABEL_REPEATED) {
        set_list(a, m, f, value);
    } else if (f && f->type == PROTOBUF_C_TYPE_STRING) {
        *(char **)((char *)m + f->offset) = value;
    } else {
        system_row_set(a, m, name, value);
    }
}

static void set_fields(struct arena *a, ProtobufCMessage *m, char *rest)
{
    while (rest) {
        char *word = part(&rest, " "), *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = 0;
        set_field(a, m, word, value);
    }
}

ProtobufCMessage *unit_row(struct arena *a, char *text, const char **ret_key)
{
    *ret_key = part(&text, " ");
    ProtobufCMessage *m = arena_message(a, record_descriptor(key_type(*ret_key)));
    set_fields(a, m, text);
    return m;
}

void laid_units_init(struct laid_system *l, const char *texts)
{
    laid_system_init(l, "");
    char *rest = arena_printf(&l->arena, "cell/c1 incarnation=1 identity=I\n%s", texts);
    while (rest && *rest) {
        const char *key;
        ProtobufCMessage *m = unit_row(&l->arena, part(&rest, "\n"), &key);
        laid_system_put(l, key, m);
    }
}

Board__Move *units_move(struct arena *a, const char *text)
{
    char *rest = arena_strdup(a, text);
    const char *name = part(&rest, " "), *key = part(&rest, " ");
    Board__Move *m = move_new(a, name, key);
    m->incarnation = 1;
    m->term = arena_message(a, &board__term__descriptor);
    m->term->role = arena_strdup(a, "converger");
    m->term->board_generation = arena_strdup(a, LAID_SYSTEM_GENERATION);
    m->term->term = LAID_SYSTEM_TERM;
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    if (rest && strncmp(rest, "revision=", 9) == 0) {
        m->subject->revision = atoll(part(&rest, " ") + 9);
    }
    set_fields(a, &m->units->base, rest);
    assert_true(move_well_formed(a, m));
    return m;
}

Board__Move *laid_units_move(struct laid_system *l, const char *text)
{
    return units_move(&l->arena, text);
}

void try_unit_moves(const struct move_family *family, const struct unit_move_row *rows,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct laid_system l;
        laid_units_init(&l, rows[i].board);
        const Board__Move *m = laid_units_move(&l, rows[i].move);
        const struct move_row *row = move_row_named(family, m->move);
        struct validation v = {0};
        row->valid(&v, m);
        assert_true(validation_ok(&v));
        validation_done(&v);
        assert_true(move_permitted(family, row, rows[i].actor));
        laid_system_try(&l, row->op, rows[i].actor, "c1", &m->base, rows[i].rule, rows[i].plan);
        laid_system_done(&l);
    }
}

Board__RelateUnitsRequest *relate_request(struct arena *a, const char *ends)
{
    char *rest = arena_strdup(a, ends);
    Board__RelateUnitsRequest *r = arena_message(a, &board__relate_units_request__descriptor);
    r->ends = ARENA_ARRAY(a, 2, Board__UnitEnd *);
    while (rest && r->n_ends < 2) {
        char *one = part(&rest, " ");
        Board__UnitEnd *end = arena_message(a, &board__unit_end__descriptor);
        end->service = part(&one, ":");
        end->endpoint = part(&one, ":");
        r->ends[r->n_ends++] = end;
    }
    return r;
}

void try_relates(const struct relate_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct laid_system l;
        struct validation v = {0};
        laid_units_init(&l, rows[i].board);
        const Board__RelateUnitsRequest *r = relate_request(&l.arena, rows[i].ends);
        valid_relate_units(&v, r);
        assert_true(validation_ok(&v));
        validation_done(&v);
        laid_system_try(&l, &relate_units_row, ACTOR_CLIENT, "c1", &r->base, rows[i].rule,
                        rows[i].plan);
        laid_system_done(&l);
    }
}
