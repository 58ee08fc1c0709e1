#include "crm/records.h"

#include "common/client/feed_client.h"
#include "common/model/record.h"

#include <assert.h>
#include <string.h>

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
                               .name = c->name,
                               .uid = c->uid,
                               .state = state_of(c->state, is_digest(c->digest)),
                               .request = c->request,
                               .limit_ns = limit_of(c->operation),
                               .digest = c->digest,
                               .former_digest = c->former_digest,
                               .cluster_uid = c->uid};
}

static struct crm_record app_record(const Board__AppInstRecord *i)
{
    bool sound = is_digest(i->digest) && is_uid(i->cluster_uid);
    return (struct crm_record){.kind = CRM_APP,
                               .name = i->name,
                               .uid = i->uid,
                               .state = state_of(i->state, sound),
                               .request = i->request,
                               .limit_ns = limit_of(i->operation),
                               .digest = i->digest,
                               .former_digest = i->former_digest,
                               .cluster_uid = i->cluster_uid};
}

/* Both kinds begin so. */
struct record_head {
    ProtobufCMessage base;
    char *name, *uid;
};

/* NULL = it cannot be read, or is not what stands under this key. */
static ProtobufCMessage *read(struct arena *a, enum record_type type, const char *key,
                              const struct followed *r)
{
    ProtobufCMessage *m;
    if (record_decode(a, type, blob_bytes(r->record), &m, NULL) < 0) {
        return NULL;
    }
    const struct record_head *head = (const struct record_head *)(const void *)m;
    return is_uid(head->uid) && strcmp(key_edge(a, type, head->name), key) == 0 ? m : NULL;
}

static size_t read_all(const struct map *followed, const char *cloudlet, enum record_type type,
                       struct arena *a, ProtobufCMessage ***ret_list, bool *ret_unreadable)
{
    const char *all = key_edge_all(a, type, cloudlet);
    size_t count = 0, at = 0;
    for (struct map_node *n = map_from(followed, all); n && text_begins(map_key(n), all);
         n = map_next(n)) {
        count++;
    }
    *ret_list = ARENA_ARRAY(a, count, ProtobufCMessage *);
    for (struct map_node *n = map_from(followed, all); n && text_begins(map_key(n), all);
         n = map_next(n)) {
        ProtobufCMessage *m = read(a, type, map_key(n), map_value(n));
        if (m) {
            (*ret_list)[at++] = m;
        } else {
            *ret_unreadable = true;
        }
    }
    assert(at <= count);
    return at;
}

void crm_records_read(const struct map *followed, const char *cloudlet, struct arena *a,
                      struct crm_records *ret)
{
    ProtobufCMessage **clusters, **apps;
    *ret = (struct crm_records){0};
    ret->cluster_count =
        read_all(followed, cloudlet, RECORD_CLUSTERINST, a, &clusters, &ret->unreadable);
    ret->app_count = read_all(followed, cloudlet, RECORD_APPINST, a, &apps, &ret->unreadable);
    ret->clusters = ARENA_ARRAY(a, ret->cluster_count, const Board__ClusterInstRecord *);
    ret->apps = ARENA_ARRAY(a, ret->app_count, const Board__AppInstRecord *);
    ret->list = ARENA_ARRAY(a, ret->cluster_count + ret->app_count, struct crm_record);
    for (size_t i = 0; i < ret->cluster_count; i++) {
        ret->clusters[i] = (const Board__ClusterInstRecord *)clusters[i];
        ret->list[ret->count++] = cluster_record(ret->clusters[i]);
    }
    for (size_t i = 0; i < ret->app_count; i++) {
        ret->apps[i] = (const Board__AppInstRecord *)apps[i];
        ret->list[ret->count++] = app_record(ret->apps[i]);
    }
}
