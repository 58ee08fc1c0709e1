#include "common/model/sealed_values.h"

#include "common/base/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct sealed_walk {
    struct arena *arena;
    struct sealed_place *list;
    size_t count, capacity;
};

static void add(struct sealed_walk *p, Models__Sealed **sealed, char **text)
{
    if (!*sealed) {
        return;
    }
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 8;
        struct sealed_place *more = ARENA_ARRAY(p->arena, p->capacity, struct sealed_place);
        for (size_t i = 0; i < p->count; i++) {
            more[i] = p->list[i];
        }
        p->list = more;
    }
    p->list[p->count++] = (struct sealed_place){sealed, text};
}

/* Those of this message itself, by its type. */
static void add_own(struct sealed_walk *p, ProtobufCMessage *m)
{
    if (m->descriptor == &models__environment_variable__descriptor) {
        Models__EnvironmentVariable *v = (Models__EnvironmentVariable *)m;
        add(p, &v->sealed, &v->value);
    } else if (m->descriptor == &models__desired_lrp__descriptor) {
        Models__DesiredLRP *d = (Models__DesiredLRP *)m;
        add(p, &d->sealed_image_password, &d->image_password);
    } else if (m->descriptor == &models__task_definition__descriptor) {
        Models__TaskDefinition *d = (Models__TaskDefinition *)m;
        add(p, &d->sealed_image_password, &d->image_password);
    }
}

static void walk(struct sealed_walk *p, ProtobufCMessage *m);

static void walk_field(struct sealed_walk *p, ProtobufCMessage *m,
                       const ProtobufCFieldDescriptor *f)
{
    uint8_t *at = (uint8_t *)m + f->offset;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = *(const size_t *)(const void *)((uint8_t *)m + f->quantifier_offset);
        ProtobufCMessage **list = *(ProtobufCMessage ***)(void *)at;
        for (size_t i = 0; i < count; i++) {
            walk(p, list[i]);
        }
    } else if (*(ProtobufCMessage **)(void *)at) {
        walk(p, *(ProtobufCMessage **)(void *)at);
    }
}

/* Whatever a definition may have: a place is found by its type, wherever it stands. How deep it is
 * was bounded when it was decoded. */
static void walk(struct sealed_walk *p, ProtobufCMessage *m)
{
    add_own(p, m);
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        bool other = (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
                     *(const uint32_t *)(const void *)((uint8_t *)m + f->quantifier_offset) !=
                         f->id;
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && !other) {
            walk_field(p, m, f);
        }
    }
}

size_t sealed_places(struct arena *a, ProtobufCMessage *m, struct sealed_place **ret_places)
{
    struct sealed_walk p = {.arena = a};
    walk(&p, m);
    *ret_places = p.list;
    return p.count;
}

bool sealed_values_any(const ProtobufCMessage *m)
{
    SCOPED_ARENA(a);
    struct sealed_place *places;
    return sealed_places(&a, (ProtobufCMessage *)(uintptr_t)m, &places) > 0;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

size_t sealed_names(struct arena *a, const ProtobufCMessage *m, const char ***ret_names)
{
    struct sealed_place *places;
    size_t count = sealed_places(a, (ProtobufCMessage *)(uintptr_t)m, &places), kept = 0;
    const char **names = ARENA_ARRAY(a, count, const char *);
    for (size_t i = 0; i < count; i++) {
        names[i] = arena_strdup(a, (*places[i].sealed)->name);
    }
    if (count > 1) {
        qsort(names, count, sizeof(*names), by_name);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) {
            names[kept++] = names[i];
        }
    }
    assert(kept <= count);
    *ret_names = names;
    return kept;
}

/* ---- filled ---------------------------------------------------------------------------------- */

/* 1. A name that is not set: nothing is changed.
 * 2. Each place gets the value that stands now, whatever version it had. */
static const char *fill(struct arena *a, ProtobufCMessage *m, sealed_lookup *lookup,
                        void *context)
{
    struct sealed_place *places;
    size_t count = sealed_places(a, m, &places);
    const Models__Sealed **values = ARENA_ARRAY(a, count, const Models__Sealed *);
    for (size_t i = 0; i < count; i++) {
        values[i] = lookup(context, (*places[i].sealed)->name);
        if (!values[i]) { /* 1 */
            return arena_strdup(a, (*places[i].sealed)->name);
        }
    }
    for (size_t i = 0; i < count; i++) { /* 2 */
        assert(strcmp(values[i]->name, (*places[i].sealed)->name) == 0);
        *places[i].sealed = (Models__Sealed *)message_copy(a, &values[i]->base);
        *places[i].text = arena_strdup(a, "");
    }
    return NULL;
}

const char *sealed_values_fill_lrp(struct arena *a, Models__DesiredLRP *d, sealed_lookup *lookup,
                                   void *context)
{
    return fill(a, &d->base, lookup, context);
}

const char *sealed_values_fill_task(struct arena *a, Models__TaskDefinition *d,
                                    sealed_lookup *lookup, void *context)
{
    return fill(a, &d->base, lookup, context);
}

/* ---- opened ---------------------------------------------------------------------------------- */

const char *sealed_values_open(struct arena *a, ProtobufCMessage *m, sealed_open *open,
                               void *context, const char **ret_why)
{
    struct sealed_place *places;
    size_t count = sealed_places(a, m, &places);
    const char **texts = ARENA_ARRAY(a, count, const char *);
    for (size_t i = 0; i < count; i++) {
        texts[i] = open(context, a, *places[i].sealed, ret_why);
        if (!texts[i]) {
            return arena_strdup(a, (*places[i].sealed)->name);
        }
    }
    for (size_t i = 0; i < count; i++) {
        *places[i].text = arena_strdup(a, texts[i]);
        *places[i].sealed = NULL;
    }
    return NULL;
}
