#include "common/base/message.h"

#include <assert.h>

struct bytes message_packed(struct arena *a, const ProtobufCMessage *m)
{
    size_t size = protobuf_c_message_get_packed_size(m);
    uint8_t *data = arena_alloc(a, size);
    protobuf_c_message_pack(m, data);
    return (struct bytes){.data = data, .size = size};
}

ProtobufCMessage *message_copy(struct arena *a, const ProtobufCMessage *m)
{
    if (!m) {
        return NULL;
    }
    struct bytes packed = message_packed(a, m);
    ProtobufCAllocator allocator = arena_protobuf(a);
    ProtobufCMessage *copy =
        protobuf_c_message_unpack(m->descriptor, &allocator, packed.size, packed.data);
    assert(copy);
    return copy;
}

bool message_equal(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
    assert(a->descriptor == b->descriptor);
    if (protobuf_c_message_get_packed_size(a) != protobuf_c_message_get_packed_size(b)) {
        return false;
    }
    SCOPED_ARENA(scratch);
    return bytes_equal(message_packed(&scratch, a), message_packed(&scratch, b));
}

uint64_t bytes_hash(struct bytes in)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < in.size; i++) {
        h = (h ^ in.data[i]) * UINT64_C(0x100000001b3);
    }
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}
