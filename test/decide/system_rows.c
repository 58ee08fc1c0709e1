#include "test/decide/system_rows.h"

#include "common/model/record.h"
#include "converger/system_copy.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define UID "u"
#define ID "shop"
#define GENERATION "E"

/* ---- One word ---------------------------------------------------------------------------- */

static char *spaced(struct arena *a, const char *value)
{
    char *s = arena_strdup(a, value);
    for (char *at = s; *at; at++) {
        *at = *at == '_' ? ' ' : *at;
    }
    return s;
}

void system_row_set(struct arena *a, ProtobufCMessage *m, const char *name, const char *value)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);
    if (!f) {
        fail_msg("no field %s in %s", name, m->descriptor->name);
    }
    void *at = (char *)m + f->offset;
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        *(char **)at = spaced(a, value);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)at = (ProtobufCBinaryData){
            .len = strlen(value), .data = (uint8_t *)arena_strdup(a, value)};
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)at = *value != '0';
        break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
        *(int32_t *)at = atoi(value);
        break;
    default:
        *(int64_t *)at = atoll(value);
    }
}

/* A message more in a repeated field of them. */
static void *added(struct arena *a, size_t *n, void *list_at,
                   const ProtobufCMessageDescriptor *type)
{
    void **list = *(void ***)list_at;
    if ((*n & (*n - 1)) == 0) { /* full: there is room for a power of two */
        list = arena_array(a, *n ? 2 * *n : 1, sizeof(void *));
        if (*n > 0) {
            memcpy(list, *(void **)list_at, *n * sizeof(void *));
        }
        *(void ***)list_at = list;
    }
    return list[(*n)++] = arena_message(a, type);
}

static void add_root(struct arena *a, size_t *n, Board__Root ***list, const char *path,
                     const char *tree)
{
    Board__Root *r = added(a, n, list, &board__root__descriptor);
    r->path = arena_strdup(a, path);
    r->tree = arena_strdup(a, strcmp(tree, "-") == 0 ? "" : tree);
    r->build = arena_printf(a, "%s", r->tree);
}

/* "path=kind:hash[:secret]" */
static void add_entry(struct arena *a, Board__IndexRecord *index, const char *path, char *says)
{
    Board__IndexRecord__Entry *e =
        added(a, &index->n_entries, &index->entries, &board__index_record__entry__descriptor);
    char *hash = strchr(says, ':');
    assert_non_null(hash);
    *hash++ = 0;
    char *secret = strchr(hash, ':');
    if (secret) {
        *secret++ = 0;
        e->secrets = arena_copy(a, &secret, sizeof(secret));
        e->n_secrets = 1;
    }
    e->path = arena_strdup(a, path);
    e->kind = says;
    e->hash = hash;
}

static void add_hold(struct arena *a, Board__HoldRecord *h, const char *id, const char *path)
{
    Board__Hold *e = added(a, &h->n_holds, &h->holds, &board__hold__descriptor);
    e->kind = *id == 'T' ? BOARD__HOLD__KIND__TEARDOWN : BOARD__HOLD__KIND__DEPLOY;
    e->id = arena_strdup(a, id);
    e->path = arena_strdup(a, path);
}

/* "1=small:c1+c2", "1=!small:c1": epoch 1, over. */
static void add_epoch(struct arena *a, Board__PoolRecord *p, const char *number, char *says)
{
    Board__PoolEpoch *e =
        added(a, &p->n_epochs, &p->epochs, &board__pool_epoch__descriptor);
    char *cells = strchr(says, ':'), *rest;
    assert_non_null(cells);
    *cells++ = 0;
    e->number = (uint32_t)atoi(number);
    e->released = *says == '!';
    e->instance_type = says + e->released;
    e->cells = arena_array(a, strlen(cells) + 1, sizeof(char *));
    for (char *c = strtok_r(cells, "+", &rest); c; c = strtok_r(NULL, "+", &rest)) {
        e->cells[e->n_cells++] = c;
    }
}

/* "pool.main=small:3": a pool of the system that stands there; "own=small:2": the service's. */
static void add_node_pool(struct arena *a, Board__ComponentRecord *c, const char *name, char *says)
{
    Board__NodePool *p = strcmp(name, "own") == 0
                             ? (c->own_pool = arena_message(a, &board__node_pool__descriptor))
                             : added(a, &c->n_node_pools, &c->node_pools,
                                     &board__node_pool__descriptor);
    char *number = strchr(says, ':');
    assert_non_null(number);
    *number++ = 0;
    p->name = arena_strdup(a, p == c->own_pool ? "" : name + strlen("pool."));
    p->instance_type = says;
    p->num_instances = atoi(number);
}

/* "h1=2:/:main#1": a revision with two instances in epoch 1 of /:main. */
static void add_revision(struct arena *a, Board__ServiceRecord *s, const char *hash, char *says)
{
    Board__Revision *r = added(a, &s->n_revisions, &s->revisions, &board__revision__descriptor);
    char *pool = strchr(says, ':'), *epoch = strchr(says, '#');
    assert_true(pool && epoch);
    *pool++ = *epoch++ = 0;
    r->hash = arena_strdup(a, hash);
    r->instances = atoi(says);
    r->pool = pool;
    r->pool_epoch = (uint32_t)atoi(epoch);
}

/* "type=small": it has the optional tag of that instance type; "required=x": a required tag. */
static void add_tag(struct arena *a, Board__CellRecord *c, const char *name, const char *value)
{
    Models__CellPresence *p = c->presence;
    char *tag = *name == 't' ? arena_printf(a, "type:%s", value) : arena_strdup(a, value);
    char **list = arena_copy(a, &tag, sizeof(tag));
    *(*name == 't' ? &p->optional_placement_tags : &p->placement_tags) = list;
    *(*name == 't' ? &p->n_optional_placement_tags : &p->n_placement_tags) = 1;
}

/* The same of the records that node pools are about. */
static bool set_special_of_pool(struct arena *a, ProtobufCMessage *m, const char *name, char *value)
{
    bool tag = strcmp(name, "type") == 0 || strcmp(name, "required") == 0;
    if (m->descriptor == &board__pool_record__descriptor && *name >= '0' && *name <= '9') {
        add_epoch(a, (Board__PoolRecord *)m, name, value);
    } else if (m->descriptor == &board__component_record__descriptor &&
               (strncmp(name, "pool.", 5) == 0 || strcmp(name, "own") == 0)) {
        add_node_pool(a, (Board__ComponentRecord *)m, name, value);
    } else if (m->descriptor == &board__component_record__descriptor && strcmp(name, "run") == 0) {
        Board__ComponentRecord *c = (Board__ComponentRecord *)m;
        c->run = arena_message(a, &models__desired_lrp__descriptor);
        c->run->root_fs = value;
    } else if (m->descriptor == &board__service_record__descriptor && strchr(value, '#')) {
        add_revision(a, (Board__ServiceRecord *)m, name, value);
    } else if (m->descriptor == &board__cell_record__descriptor && tag) {
        add_tag(a, (Board__CellRecord *)m, name, value);
    } else if (m->descriptor == &board__cell_record__descriptor && strcmp(name, "lost") == 0) {
        ((Board__CellRecord *)m)->state = BOARD__CELL_RECORD__STATE__LOST;
    } else if (m->descriptor == &models__actual_lrp__descriptor && strcmp(name, "cell") == 0) {
        ((Models__ActualLRP *)m)->actual_lrp_instance_key->cell_id = value;
    } else {
        return false;
    }
    return true;
}

/* What is no plain field; false: it is one. */
static bool set_special(struct arena *a, ProtobufCMessage *m, const char *name, char *value)
{
    if (m->descriptor == &board__head_record__descriptor && *name == '/') {
        Board__HeadRecord *h = (Board__HeadRecord *)m;
        add_root(a, &h->n_roots, &h->roots, name, value);
    } else if (m->descriptor == &board__index_record__descriptor && *name == '/') {
        add_entry(a, (Board__IndexRecord *)m, name, value);
    } else if (m->descriptor == &board__hold_record__descriptor) {
        add_hold(a, (Board__HoldRecord *)m, name, value);
    } else if (strcmp(name, "before") == 0) {
        Board__DeployRecord *d = (Board__DeployRecord *)m;
        char *tree = strchr(value, ':');
        *tree++ = 0;
        add_root(a, &d->n_before, &d->before, value, tree);
    } else if (strcmp(name, "stale") == 0) {
        Board__BuildRecord *b = (Board__BuildRecord *)m;
        b->stale = arena_copy(a, &value, sizeof(value));
        b->n_stale = 1;
    } else {
        return set_special_of_pool(a, m, name, value);
    }
    return true;
}

/* ---- One record ------------------------------------------------------------------------------ */

static const char *key_of(struct arena *a, const char *kind, const char *name)
{
    enum record_type type = record_type_named(kind);
    switch (type) {
    case RECORD_SYSTEM:
        return key_system(a, ID);
    case RECORD_HEAD:
        return key_head(a, UID);
    case RECORD_VERSIONS:
        return key_versions(a, UID);
    case RECORD_HOLD:
        return key_hold(a, UID);
    case RECORD_TREE: /* as keys have it */
        return arena_printf(a, "tree/%s", name);
    case RECORD_DOMAIN:
        return key_domain(a, "system." UID);
    case RECORD_INDEX:
        return key_index(a, name);
    case RECORD_SOURCE:
        return key_source(a, name);
    case RECORD_SERVICE:
        return key_service(a, UID, name);
    case RECORD_SECRET:
        return key_secret(a, UID, name);
    case RECORD_CELL:
        return key_cell(a, name);
    case RECORD_ACTUAL:
        return key_actual(a, name, 0, 0);
    case RECORD_TASK:
        return key_task(a, name);
    case RECORD_POOL:
        if (*name == '/') {
            return key_pool(a, UID, name);
        }
        return arena_printf(a, "%s/%s/%s", kind, UID, name);
    default:
        assert_int_not_equal(type, RECORD_UNKNOWN);
        return arena_printf(a, "%s/%s/%s", kind, UID, name);
    }
}

static void set_if_there(struct arena *a, ProtobufCMessage *m, const char *name, const char *value)
{
    if (protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name)) {
        system_row_set(a, m, name, value);
    }
}

/* What every record of its kind says. */
static void preset(struct arena *a, ProtobufCMessage *m, const char *name)
{
    bool is_system = m->descriptor == &board__system_record__descriptor;
    if (m->descriptor == &board__secret_record__descriptor) {
        return;
    }
    if (m->descriptor == &board__cell_record__descriptor) {
        Board__CellRecord *c = (Board__CellRecord *)m;
        c->presence = arena_message(a, &models__cell_presence__descriptor);
        c->presence->cell_id = arena_strdup(a, name);
        return;
    }
    if (m->descriptor == &models__actual_lrp__descriptor) {
        Models__ActualLRP *l = (Models__ActualLRP *)m;
        l->actual_lrp_key = arena_message(a, &models__actual_lrpkey__descriptor);
        l->actual_lrp_key->process_guid = arena_strdup(a, name);
        l->actual_lrp_instance_key = arena_message(a, &models__actual_lrpinstance_key__descriptor);
        l->state = arena_strdup(a, "RUNNING");
        return;
    }
    if (m->descriptor == &board__pool_record__descriptor) {
        system_row_set(a, m, "name", name);
    }
    set_if_there(a, m, "uid", UID);
    set_if_there(a, m, "id", is_system ? ID : name);
    set_if_there(a, m, "system", ID);
    set_if_there(a, m, "tree", m->descriptor == &board__index_record__descriptor ? name : "");
    set_if_there(a, m, "board_generation", GENERATION);
    if (m->descriptor == &board__deploy_record__descriptor) {
        system_row_set(a, m, "target", "version");
        system_row_set(a, m, "path", "/");
    }
}

ProtobufCMessage *system_row(struct arena *a, const char *text, const char **ret_key)
{
    char *words = arena_strdup(a, text), *rest;
    char *kind = strtok_r(words, " ", &rest), *word = strtok_r(NULL, " ", &rest);
    bool named = word && !strchr(word, '=');
    const char *name = named ? word : "";
    const char *key = *ret_key = key_of(a, kind, name);
    ProtobufCMessage *m = arena_message(a, record_descriptor(key_type(key)));
    preset(a, m, name);
    for (word = named ? strtok_r(NULL, " ", &rest) : word; word;
         word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (value) {
            *value++ = 0;
        }
        if (!value || !set_special(a, m, word, value)) {
            system_row_set(a, m, word, value ? value : "1");
        }
    }
    return m;
}

static void put(struct system_rows *r, struct system_copy *f, const char *text)
{
    struct arena *a = &r->arena;
    const char *key;
    const ProtobufCMessage *m = system_row(a, text, &key);
    struct followed *record = ARENA_NEW(a, struct followed);
    struct bytes b = record_encoded(a, m);
    record->record = blob_new(b.data, b.size);
    record->mod_revision = ++r->revision;
    struct followed *was = map_put(&r->records, key, record);
    if (was) {
        blob_unref(was->record);
    }
    system_copy_change(f, key, record);
}

static void look(struct system_rows *r)
{
    const char *id = map_get(&r->records, key_system(&r->arena, ID)) ? ID : NULL;
    system_copy_view(&r->copy, &r->records, &r->arena, UID, id, GENERATION, &r->view);
}

void system_rows_init(struct system_rows *r, const char *const *texts)
{
    *r = (struct system_rows){0};
    arena_init(&r->arena);
    map_init(&r->records);
    system_copy_init(&r->copy);
    for (size_t i = 0; texts[i]; i++) {
        put(r, &r->copy, texts[i]);
    }
    look(r);
}

void system_rows_more(struct system_rows *r, const char *text)
{
    if (*text) {
        put(r, &r->copy, text);
    }
    look(r);
}

void system_rows_done(struct system_rows *r)
{
    MAP_EACH(&r->records, n)
    {
        blob_unref(((struct followed *)map_value(n))->record);
    }
    map_done(&r->records, NULL);
    system_copy_done(&r->copy);
    arena_done(&r->arena);
}

/* ---- What is planned ------------------------------------------------------------------------- */

/* Every field that says something. */
static void print_body(struct buf *out, const ProtobufCMessage *m)
{
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        const void *at = (const char *)m + f->offset;
        bool single = f->label != PROTOBUF_C_LABEL_REPEATED;
        if (!single || strcmp(f->name, "system") == 0 || strcmp(f->name, "uid") == 0) {
            continue;
        }
        if (f->type == PROTOBUF_C_TYPE_STRING && **(char *const *)at) {
            buf_printf(out, " %s=%s", f->name, *(char *const *)at);
        } else if (f->type == PROTOBUF_C_TYPE_UINT32 && *(const uint32_t *)at) {
            buf_printf(out, " %s=%u", f->name, *(const uint32_t *)at);
        } else if (f->type == PROTOBUF_C_TYPE_UINT64 && *(const uint64_t *)at) {
            buf_printf(out, " %s=%llu", f->name, (unsigned long long)*(const uint64_t *)at);
        }
    }
}

static const ProtobufCMessage *body_of(const Board__Move *m)
{
    return m->system ? &m->system->base : NULL; /* each body is a pointer in one union */
}

const char *system_rows_print(struct system_rows *r, const struct system_moves *m)
{
    SCOPED_BUF(out);
    for (size_t i = 0; i < m->count; i++) {
        const Board__Move *move = m->list[i].move;
        buf_printf(&out, "%s%s %s", i ? "\n" : "", move->move, move_key(&r->arena, move));
        print_body(&out, body_of(move));
    }
    return arena_strdup(&r->arena, buf_string(&out));
}
