/* What a cell's rep hears of the board: by its tag, and by topics, each from its snapshot on. */
#include "common/base/memory.h"
#include "common/model/record.h"
#include "test/decide/unit_cells.h"

#include <stdlib.h>
#include <string.h>

static const ProtobufCFieldDescriptor *cell_field(const ProtobufCMessage *m)
{
    return m ? protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "cell_id") : NULL;
}

/* By the tag. */
static bool is_of_cell(const ProtobufCMessage *m, const char *cell)
{
    const ProtobufCFieldDescriptor *f = cell_field(m);
    return f && strcmp(*(char *const *)((const char *)m + f->offset), cell) == 0;
}

static bool has_tag(enum record_type type)
{
    return type == RECORD_MACHINE || type == RECORD_MACHINE_CELL || type == RECORD_UNIT ||
           type == RECORD_UNIT_STATUS || type == RECORD_UNIT_CHILD || type == RECORD_UNIT_SCOPE;
}

static bool is_below(const char *key, const char *topic)
{
    size_t size = strlen(topic);
    return strncmp(key, topic, size) == 0 && (topic[size - 1] == '/' || !key[size]);
}

/* The topic by which it is followed, if there is one, and whether its snapshot had that already. */
static bool has_topic(const struct unit_cell *cell, const char *key, int64_t revision,
                      bool *ret_had)
{
    bool found = false;
    *ret_had = false;
    MAP_EACH(&cell->snapshots, n)
    {
        if (is_below(key, map_key(n))) {
            found = true;
            *ret_had = *ret_had || *(const int64_t *)map_value(n) >= revision;
        }
    }
    return found;
}

static void tell(struct unit_cells *c, struct unit_cell *cell, const char *key,
                 const ProtobufCMessage *m, int64_t revision)
{
    const struct unit_stamp *s = map_get(&c->stamps, key);
    if (!m) {
        unit_knowledge_record(&cell->k, key, NULL);
        return;
    }
    SCOPED_BUF(packed);
    record_encode(&packed, m);
    struct followed f = {.record = blob_new(packed.data, packed.size),
                         .create_revision = s ? s->created : revision,
                         .mod_revision = revision};
    unit_knowledge_record(&cell->k, key, &f);
    blob_unref(f.record);
}

void unit_cells_stamp(struct unit_cells *c)
{
    for (; c->stamped < c->w->log_count; c->stamped++) {
        const struct unit_world_entry *e = &c->w->log[c->stamped];
        struct unit_stamp *s = map_get(&c->stamps, e->key);
        if (!s) {
            s = mem_zeroed(sizeof(*s));
            map_put(&c->stamps, e->key, s);
        }
        s->created = e->before ? s->created : e->revision;
        s->modified = e->revision;
    }
}

/* Of a topic that it has just begun to follow: as the store stands, which may be later than what it
 * has heard. */
static void snapshot(struct unit_cells *c, struct unit_cell *cell, const char *topic)
{
    SCOPED_ARENA(a);
    const char **keys;
    size_t count = laid_keys(c->w->store, &a, topic, &keys);
    int64_t *at = mem_zeroed(sizeof(*at));
    *at = c->w->revision - 1;
    free(map_put(&cell->snapshots, topic, at));
    for (size_t i = 0; i < count; i++) {
        const struct unit_stamp *s = map_get(&c->stamps, keys[i]);
        if (is_below(keys[i], topic)) {
            tell(c, cell, keys[i], laid_message(c->w->store, &a, keys[i]), s ? s->modified : 1);
        }
    }
    unit_knowledge_reported(&cell->k, topic);
}

void unit_cell_follow(struct unit_cells *c, struct unit_cell *cell)
{
    SCOPED_ARENA(a);
    const char *const *list;
    bool changed;
    size_t left_out, count = unit_knowledge_topics(&cell->k, &a, &list, &changed, &left_out);
    const char **own = ARENA_ARRAY(&a, count, const char *);
    for (size_t i = 0; i < count; i++) {
        own[i] = arena_strdup(&a, list[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (map_get(&cell->snapshots, own[i])) {
            unit_knowledge_reported(&cell->k, own[i]);
        } else if (random_below(&c->w->random, 3) == 0) {
            snapshot(c, cell, own[i]);
        }
    }
}

void unit_cell_hear(struct unit_cells *c, struct unit_cell *cell, size_t count)
{
    unit_cells_stamp(c);
    while (count > 0 && cell->heard < c->w->log_count) {
        const struct unit_world_entry *e = &c->w->log[cell->heard++];
        bool had, followed = has_topic(cell, e->key, e->revision, &had);
        bool tagged = has_tag(key_type(e->key)) &&
                      (is_of_cell(e->after, cell->id) || is_of_cell(e->before, cell->id));
        if (!had && (tagged || followed)) {
            bool stays = followed || is_of_cell(e->after, cell->id);
            tell(c, cell, e->key, stays ? e->after : NULL, e->revision);
        }
        bool more = cell->heard < c->w->log_count && c->w->log[cell->heard].revision == e->revision;
        count -= !more;
    }
}

void unit_cell_begin(struct unit_cells *c, struct unit_cell *cell)
{
    SCOPED_ARENA(a);
    const char **keys;
    unit_cells_stamp(c);
    size_t count = laid_keys(c->w->store, &a, "", &keys);
    unit_knowledge_init(&cell->k, cell->id);
    unit_knowledge_board_generation(&cell->k, LAID_SYSTEM_GENERATION);
    cell->heard = c->w->log_count;
    map_init(&cell->snapshots);
    for (size_t i = 0; i < count; i++) {
        const struct unit_stamp *s = map_get(&c->stamps, keys[i]);
        if (has_tag(key_type(keys[i]))) {
            const ProtobufCMessage *m = laid_message(c->w->store, &a, keys[i]);
            tell(c, cell, keys[i], is_of_cell(m, cell->id) ? m : NULL, s ? s->modified : 1);
        }
    }
}

void unit_cell_end(struct unit_cell *cell)
{
    unit_knowledge_done(&cell->k);
    map_done(&cell->snapshots, free);
}
