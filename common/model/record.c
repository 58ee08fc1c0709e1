#include "common/model/record.h"

#include "board.pb-c.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

const ProtobufCMessageDescriptor *record_descriptor(enum record_type type)
{
    static const ProtobufCMessageDescriptor *const descriptors[RECORD_TYPE_COUNT] = {
        [RECORD_ACTUAL] = &models__actual_lrp__descriptor,
        [RECORD_BEAT] = &board__beat_record__descriptor,
        [RECORD_BRAKE] = &board__brake_record__descriptor,
        [RECORD_CAUSE] = &board__cause_record__descriptor,
        [RECORD_CELL] = &board__cell_record__descriptor,
        [RECORD_DESIRED] = &models__desired_lrp__descriptor,
        [RECORD_DOMAIN] = &board__domain_record__descriptor,
        [RECORD_EPOCH] = &board__epoch_record__descriptor,
        [RECORD_JOB] = &board__job_record__descriptor,
        [RECORD_LEAD] = &board__lead_record__descriptor,
        [RECORD_LOCK] = &board__lock_record__descriptor,
        [RECORD_REMOVAL] = &board__removal_record__descriptor,
        [RECORD_RUN] = &models__desired_lrp__descriptor,
        [RECORD_TASK] = &models__task__descriptor,
    };
    return type < RECORD_TYPE_COUNT ? descriptors[type] : NULL;
}

void record_encode(struct buf *out, const ProtobufCMessage *message)
{
    static const uint8_t version = RECORD_VERSION;
    buf_append(out, &version, 1);
    buf_message(out, message);
}

struct bytes record_body(struct bytes record)
{
    if (record.size == 0 || record.data[0] != RECORD_VERSION) {
        return (struct bytes){0};
    }
    return (struct bytes){.data = record.data + 1, .size = record.size - 1};
}

int record_decode(struct arena *a, enum record_type type, struct bytes record,
                  ProtobufCMessage **ret_message, struct err *err)
{
    const ProtobufCMessageDescriptor *descriptor = record_descriptor(type);
    if (!descriptor || record.size == 0 || record.data[0] != RECORD_VERSION) {
        return err_set(err, ERR_INVALID, "record of unknown type or format version %d",
                       record.size ? record.data[0] : -1);
    }
    struct bytes body = record_body(record);
    ProtobufCAllocator allocator = arena_protobuf(a);
    ProtobufCMessage *m =
        protobuf_c_message_unpack(descriptor, &allocator, body.size, body.data);
    if (!m) {
        return err_set(err, ERR_INVALID, "malformed %s record of %zu bytes",
                       record_type_name(type), record.size);
    }
    *ret_message = m;
    return 0;
}
