#include "rep/board/knowledge.h"

#include "common/base/memory.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    int64_t revision;
    struct blob *record; /* as on the board; NULL = none */
};

static void answer_free(void *value)
{
    struct answer *a = value;
    if (a) {
        blob_unref(a->record);
        free(a);
    }
}

void knowledge_init(struct knowledge *k, const struct feed_client *feed_client, const char *cell_id)
{
    *k = (struct knowledge){.feed_client = feed_client, .cell_id = cell_id};
    map_init(&k->answers);
}

void knowledge_done(struct knowledge *k)
{
    map_done(&k->answers, answer_free);
}

void knowledge_answer(struct knowledge *k, const char *key, const ProtobufCMessage *record,
                      int64_t revision)
{
    assert(key_type(key) == RECORD_TASK || key_type(key) == RECORD_ACTUAL);
    const struct answer *old = map_get(&k->answers, key);
    if (revision <= feed_client_reached(k->feed_client) || (old && old->revision > revision)) {
        return;
    }
    struct answer *a = mem_zeroed(sizeof(*a));
    a->revision = revision;
    if (record) {
        SCOPED_BUF(packed);
        record_encode(&packed, record);
        a->record = blob_new(packed.data, packed.size);
    }
    answer_free(map_put(&k->answers, key, a));
}

void knowledge_trim(struct knowledge *k)
{
    MAP_EACH(&k->answers, n)
    {
        struct answer *a = map_value(n);
        if (a->revision <= feed_client_reached(k->feed_client)) {
            answer_free(map_remove(&k->answers, map_key(n)));
        }
    }
}

bool knowledge_board_generation(struct knowledge *k, const char *board_generation)
{
    if (!*board_generation || strcmp(k->board_generation, board_generation) == 0 ||
        strlen(board_generation) >= sizeof(k->board_generation)) {
        return false;
    }
    bool had_another = k->board_generation[0] != '\0';
    map_done(&k->answers, answer_free);
    strcpy(k->board_generation, board_generation);
    return had_another;
}

/* The encoded record at the key; *ret_known says whether anything is known at all. What the feed
 * had overtaken before it began again stays overtaken. */
static struct bytes at_key(const struct knowledge *k, const char *key, bool *ret_known)
{
    const struct answer *a = map_get(&k->answers, key);
    if (a && a->revision > feed_client_reached(k->feed_client)) {
        *ret_known = true;
        return blob_bytes(a->record);
    }
    const struct followed *f = feed_client_get(k->feed_client, key);
    *ret_known = f != NULL;
    return f ? blob_bytes(f->record) : (struct bytes){0};
}

static const Models__ActualLRP *decode(struct arena *a, struct bytes record)
{
    ProtobufCMessage *m;
    if (record.size == 0 || record_decode(a, RECORD_ACTUAL, record, &m, NULL) < 0) {
        return NULL;
    }
    return (const Models__ActualLRP *)m;
}

const Models__ActualLRP *knowledge_at(const struct knowledge *k, struct arena *a, const char *key)
{
    bool known;
    return decode(a, at_key(k, key, &known));
}

static enum harmony_record look(const struct knowledge *k, struct arena *a,
                                const Models__ActualLRPKey *key, const char *guid,
                                const Models__ActualLRP **ret_record)
{
    static const Models__ActualLRP__Presence presences[] = {
        MODELS__ACTUAL_LRP__PRESENCE__ORDINARY,
        MODELS__ACTUAL_LRP__PRESENCE__SUSPECT,
        MODELS__ACTUAL_LRP__PRESENCE__EVACUATING,
    };
    enum harmony_record seen = RECORD_IS_UNSEEN;
    const Models__ActualLRP *found = NULL;
    for (size_t i = 0; i < sizeof(presences) / sizeof(presences[0]); i++) {
        bool known;
        struct bytes bytes =
            at_key(k, key_actual(a, key->process_guid, key->index, (int)presences[i]), &known);
        const Models__ActualLRP *record = decode(a, bytes);
        if (bytes.size > 0 && !record) {
            *ret_record = NULL;
            return RECORD_IS_FOREIGN; /* kept and left alone (design.md 2) */
        }
        bool bears = record && record->actual_lrp_instance_key &&
                     strcmp(record->actual_lrp_instance_key->instance_guid, guid) == 0 &&
                     strcmp(record->actual_lrp_instance_key->cell_id, k->cell_id) == 0;
        if (bears || (i == 0 && known)) {
            seen = harmony_record_of(record, guid, k->cell_id);
            found = record;
        }
        if (bears) {
            break;
        }
    }
    assert(found || !harmony_record_is_own(seen));
    *ret_record = found;
    return seen;
}

enum harmony_record knowledge_of(const struct knowledge *k, struct arena *a,
                                 const Models__ActualLRPKey *key, const char *guid,
                                 const Models__ActualLRP **ret_record)
{
    const Models__ActualLRP *record = NULL;
    SCOPED_ARENA(scratch);
    if (a) {
        return look(k, a, key, guid, ret_record ? ret_record : &record);
    }
    assert(!ret_record);
    return look(k, &scratch, key, guid, &record);
}

const Models__Task *knowledge_task(const struct knowledge *k, struct arena *a,
                                   const Rep__TaskNote *note, enum harmony_task_record *ret_seen)
{
    bool known;
    struct bytes bytes = at_key(k, key_task(a, note->guid), &known);
    ProtobufCMessage *m = NULL;
    bool foreign = bytes.size > 0 && record_decode(a, RECORD_TASK, bytes, &m, NULL) < 0;
    const Models__Task *record = foreign ? NULL : (const Models__Task *)m;
    if (ret_seen && foreign) {
        *ret_seen = TASK_RECORD_IS_FOREIGN; /* kept and left alone (design.md 2) */
    } else if (ret_seen) {
        const char *attempt = note->attempt[0] ? note->attempt : NULL;
        *ret_seen = known ? harmony_task_record_of(record, attempt, note->created_at, k->cell_id)
                          : TASK_RECORD_IS_UNSEEN;
    }
    return record;
}

enum harmony_task_record knowledge_task_seen(const struct knowledge *k, const Rep__TaskNote *note)
{
    SCOPED_ARENA(scratch);
    enum harmony_task_record seen;
    knowledge_task(k, &scratch, note, &seen);
    return seen;
}
