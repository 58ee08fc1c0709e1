#include "bbs/lrp/actual.h"

#include "common/base/message.h"
#include "common/lifecycle/actual_lrp.h"

#include <assert.h>
#include <string.h>

int actual_state(const Models__ActualLRP *record)
{
    return record ? lifecycle_state(&actual_lrp_lifecycle, record->state) : ACTUAL_LRP_NONE;
}

void actual_set_state(Models__ActualLRP *record, int state)
{
    assert(state > ACTUAL_LRP_NONE && state < ACTUAL_LRP_STATE_COUNT);
    record->state = (char *)(uintptr_t)actual_lrp_lifecycle.states[state];
}

void actual_set_routable(Models__ActualLRP *record, bool routable)
{
    record->optional_routable_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE;
    record->routable = routable;
}

static Models__ModificationTag *new_tag(struct arena *a, const char *epoch, uint32_t index)
{
    Models__ModificationTag *tag = arena_message(a, &models__modification_tag__descriptor);
    tag->epoch = arena_strdup(a, epoch);
    tag->index = index;
    return tag;
}

void actual_clear_instance(struct arena *a, Models__ActualLRP *record)
{
    /* Empty, not absent: so the bytes are those of the original (behaviour.md 2). */
    record->actual_lrp_instance_key = arena_message(a, &models__actual_lrpinstance_key__descriptor);
    record->actual_lrp_net_info = arena_message(a, &models__actual_lrpnet_info__descriptor);
    record->definition_id = (char *)(uintptr_t)protobuf_c_empty_string;
    record->stopping = false;
    record->optional_routed_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTED__NOT_SET;
    record->routed = false;
}

Models__ActualLRP *actual_new(struct arena *a, const char *process_guid, int32_t index,
                              const char *domain, const Models__Owner *owner, struct moment now,
                              struct random *random)
{
    Models__ActualLRP *record = arena_message(a, &models__actual_lrp__descriptor);
    Models__ActualLRPKey *key = arena_message(a, &models__actual_lrpkey__descriptor);
    key->process_guid = arena_strdup(a, process_guid);
    key->index = index;
    key->domain = arena_strdup(a, domain);
    record->actual_lrp_key = key;
    actual_clear_instance(a, record);
    actual_set_state(record, ACTUAL_LRP_UNCLAIMED);
    actual_set_routable(record, false);
    record->since = now.wall_ns;
    record->owner = (Models__Owner *)(uintptr_t)owner;
    char epoch[GUID_BYTES];
    random_guid(random, epoch);
    record->modification_tag = new_tag(a, epoch, 0);
    return record;
}

Models__ActualLRP *actual_copy(struct arena *a, const Models__ActualLRP *before)
{
    return arena_copy(a, before, sizeof(*before));
}

Models__ActualLRP *actual_change(struct arena *a, const Models__ActualLRP *before,
                                 struct moment now)
{
    Models__ActualLRP *record = actual_copy(a, before);
    const Models__ModificationTag *tag = before->modification_tag;
    record->modification_tag = new_tag(a, tag ? tag->epoch : "", tag ? tag->index + 1 : 0);
    record->since = now.wall_ns > before->since ? now.wall_ns : before->since;
    return record;
}

char *actual_cut_text(struct arena *a, const char *text)
{
    static const char mark[] = "(truncated)";
    size_t size = strlen(text);
    if (size < ACTUAL_TEXT_MAX) {
        return arena_strdup(a, text);
    }
    return arena_printf(a, "%.*s%s", (int)(ACTUAL_TEXT_MAX - (sizeof(mark) - 1)), text, mark);
}

bool instance_key_equal(const Models__ActualLRPInstanceKey *a,
                        const Models__ActualLRPInstanceKey *b)
{
    return a && b && strcmp(a->instance_guid, b->instance_guid) == 0 &&
           strcmp(a->cell_id, b->cell_id) == 0;
}

bool actual_has_instance(const Models__ActualLRP *record)
{
    const Models__ActualLRPInstanceKey *key = record ? record->actual_lrp_instance_key : NULL;
    return key && (key->instance_guid[0] || key->cell_id[0]);
}

bool actual_same_content(const Models__ActualLRP *a, const Models__ActualLRP *b)
{
    Models__ActualLRP left = *a, right = *b;
    left.since = right.since;
    left.modification_tag = right.modification_tag;
    return message_equal(&left.base, &right.base);
}
