#include "crm/records.h"

#include "common/base/memory.h"
#include "common/model/keys.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct read_record {
    bool unreadable;
    struct crm_record record; /* its texts are its own */
};

static void text_free(const char *owned)
{
    free((char *)(uintptr_t)owned);
}

static void kept_free(void *value)
{
    struct read_record *o = value;
    text_free(o->record.name);
    text_free(o->record.uid);
    text_free(o->record.state_name);
    text_free(o->record.digest);
    text_free(o->record.former_digest);
    text_free(o->record.cluster_uid);
    free(o);
}

void crm_records_init(struct crm_records *r)
{
    map_init(&r->by_key);
    r->unreadable = 0;
}

void crm_records_done(struct crm_records *r)
{
    if (r) {
        map_done(&r->by_key, kept_free);
    }
}

void crm_records_reset(struct crm_records *r)
{
    crm_records_done(r);
    crm_records_init(r);
}

/* ---- One record ------------------------------------------------------------------------------ */

enum { WORD_BYTES_MAX = 64 };

/* It becomes a part of keys, and of names at the site. */
static bool is_word(const char *text, const char *more)
{
    size_t size = 0;
    while ((text[size] >= 'a' && text[size] <= 'z') || (text[size] >= 'A' && text[size] <= 'Z') ||
           (text[size] >= '0' && text[size] <= '9') || (text[size] && strchr(more, text[size]))) {
        size++;
    }
    return size > 0 && size <= WORD_BYTES_MAX && !text[size];
}

static bool is_uid(const char *text)
{
    return is_word(text, "-_");
}

static bool is_digest(const char *text)
{
    return is_word(text, ""); /* a - would end it (app_lrp_parse) */
}

static int state_of(const char *name, bool sound)
{
    int state = sound ? lifecycle_state(&tracked_lifecycle, name) : -1;
    return state < 0 ? CRM_STATE_FOREIGN : state;
}

static int64_t limit_of(const Board__EdgeOperation *o)
{
    return o && o->limit_ns > 0 ? o->limit_ns : 0;
}

static struct crm_record cluster_record(const Board__ClusterInstRecord *c)
{
    return (struct crm_record){.kind = CRM_CLUSTER,
                               .name = mem_text(c->name),
                               .uid = mem_text(c->uid),
                               .state = state_of(c->state, is_digest(c->digest)),
                               .state_name = mem_text(c->state),
                               .request = c->request,
                               .limit_ns = limit_of(c->operation),
                               .digest = mem_text(c->digest),
                               .former_digest = mem_text(c->former_digest),
                               .cluster_uid = mem_text(c->uid)};
}

static struct crm_record app_record(const Board__AppInstRecord *i)
{
    bool sound = is_digest(i->digest) && is_uid(i->cluster_uid);
    return (struct crm_record){.kind = CRM_APP,
                               .name = mem_text(i->name),
                               .uid = mem_text(i->uid),
                               .state = state_of(i->state, sound),
                               .state_name = mem_text(i->state),
                               .request = i->request,
                               .limit_ns = limit_of(i->operation),
                               .digest = mem_text(i->digest),
                               .former_digest = mem_text(i->former_digest),
                               .cluster_uid = mem_text(i->cluster_uid)};
}

/* Both kinds begin so. */
struct record_head {
    ProtobufCMessage base;
    char *name, *uid;
};

/* NULL = it cannot be read, or is not what stands under this key. */
static ProtobufCMessage *read(struct arena *a, enum record_type type, const char *key,
                              struct bytes record)
{
    ProtobufCMessage *m;
    if (record_decode(a, type, record, &m, NULL) < 0) {
        return NULL;
    }
    const struct record_head *head = (const struct record_head *)(const void *)m;
    return is_uid(head->uid) && strcmp(key_edge(a, type, head->name), key) == 0 ? m : NULL;
}

static void forget(struct crm_records *r, const char *key)
{
    struct read_record *before = map_remove(&r->by_key, key);
    if (before) {
        assert(r->unreadable >= before->unreadable);
        r->unreadable -= before->unreadable;
        kept_free(before);
    }
}

void crm_records_change(struct crm_records *r, const char *key, struct bytes record)
{
    SCOPED_ARENA(a);
    enum record_type type = key_type(key);
    if ((type != RECORD_CLUSTERINST && type != RECORD_APPINST) ||
        !text_begins(key, key_edge_all(&a, type, r->cloudlet))) {
        return;
    }
    forget(r, key);
    if (record.size == 0) {
        return;
    }
    struct read_record *o = mem_zeroed(sizeof(*o));
    const ProtobufCMessage *m = read(&a, type, key, record);
    o->unreadable = !m;
    r->unreadable += o->unreadable;
    if (!o->unreadable) {
        o->record = type == RECORD_CLUSTERINST ? cluster_record((const Board__ClusterInstRecord *)m)
                                               : app_record((const Board__AppInstRecord *)m);
    }
    map_put(&r->by_key, key, o);
}

size_t crm_records_list(const struct crm_records *r, struct arena *a, struct crm_record **ret_list)
{
    struct crm_record *list = ARENA_ARRAY(a, r->by_key.count, struct crm_record);
    size_t count = 0;
    MAP_EACH(&r->by_key, n)
    {
        const struct read_record *o = map_value(n);
        if (!o->unreadable) {
            list[count++] = o->record;
        }
    }
    assert(count <= r->by_key.count);
    *ret_list = list;
    return count;
}
