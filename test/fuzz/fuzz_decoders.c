/* Targets: messages, records, JSON, validation, older views. */
#include "bbs/lrp/validate.h"
#include "bbs/lrp/validate_url.h"
#include "bbs/rest/log_query.h"
#include "bbs/task/validate_task.h"
#include "common/base/query.h"
#include "common/client/boards.h"
#include "common/codec/json.h"
#include "common/codec/scan.h"
#include "common/model/definition_views.h"
#include "common/model/record.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

enum { DECODED_MAX = 4 * 1024 * 1024, RECORD_BYTES_MAX = 4096 };

/* What the scan lets through unpacks, is whole, and packs to what the scan lets through again. */
void fuzz_messages(struct bytes in)
{
    const ProtobufCMessageDescriptor *type = fuzz_descriptor(fuzz_byte(&in));
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct err err = {0};
    size_t decoded = 0;
    if (scan_and_unpack(&a, type, in, DECODED_MAX, &m, &err)) {
        FUZZ_REQUIRE(err.code == ERR_INVALID || err.code == ERR_TOO_LARGE);
    } else {
        FUZZ_REQUIRE(scan_message(type, in, DECODED_MAX, &decoded, NULL) == 0);
        FUZZ_REQUIRE(decoded <= DECODED_MAX);
        FUZZ_REQUIRE(protobuf_c_message_check(m));
        SCOPED_BUF(packed);
        buf_message(&packed, m);
        FUZZ_REQUIRE(scan_message(type, buf_bytes(&packed), SIZE_MAX, NULL, NULL) == 0);
    }
}

void fuzz_records(struct bytes in)
{
    SCOPED_ARENA(a);
    enum record_type type = (enum record_type)(fuzz_byte(&in) % RECORD_UNKNOWN);
    const char *key = fuzz_text(&a, &in);
    key_type(key);
    for (unsigned n = 0; n < 4; n++) {
        key_component(&a, key, n);
    }
    if (key[0] && (uint8_t)key[strlen(key) - 1] < 0xff) { /* as every prefix of ours */
        FUZZ_REQUIRE(strcmp(key_range_end(&a, key), key) > 0);
    }
    ProtobufCMessage *m;
    /* Records come from etcd, where only a bbs writes what it scanned before. So they are not bound
     * in depth like bodies, and this input is short. */
    in.size = in.size < RECORD_BYTES_MAX ? in.size : RECORD_BYTES_MAX;
    if (record_decode(&a, type, in, &m, NULL) == 0) {
        FUZZ_REQUIRE(protobuf_c_message_check(m));
        SCOPED_BUF(again);
        record_encode(&again, m);
    }
}

/* What was decoded and encoded once decodes again, to the same text. */
void fuzz_json(struct bytes in)
{
    const ProtobufCMessageDescriptor *type = fuzz_descriptor(fuzz_byte(&in));
    unsigned flags = fuzz_byte(&in) & (CODEC_PRETTY | CODEC_OWN | CODEC_STRICT);
    SCOPED_ARENA(a);
    struct buf first, second;
    ProtobufCMessage *m;
    buf_init(&first);
    buf_init(&second);
    if (json_compact(in, &first, NULL) == 0) {
        FUZZ_REQUIRE(json_compact(buf_bytes(&first), &second, NULL) == 0);
        FUZZ_REQUIRE(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
    }
    buf_clear(&first);
    buf_clear(&second);
    if (json_decode(&a, type, in, flags, &m, NULL) == 0 &&
        json_encode(m, flags, &first, NULL) == 0) {
        FUZZ_REQUIRE(json_decode(&a, type, buf_bytes(&first), flags, &m, NULL) == 0);
        FUZZ_REQUIRE(json_encode(m, flags, &second, NULL) == 0);
        FUZZ_REQUIRE(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
    }
    ProtobufCMessage **list;
    size_t count;
    json_decode_list(&a, type, in, flags, &list, &count, NULL);
    buf_done(&first);
    buf_done(&second);
}

static void validated(struct arena *a, const ProtobufCMessageDescriptor *type, struct bytes in,
                      void (*rules)(struct validation *v, const ProtobufCMessage *m))
{
    ProtobufCMessage *m;
    if (scan_and_unpack(a, type, in, DECODED_MAX, &m, NULL) == 0) {
        struct validation v = {0};
        rules(&v, m);
        FUZZ_REQUIRE(validation_ok(&v) || validation_text(&v)[0]);
        FUZZ_REQUIRE(strlen(validation_text(&v)) <= VALIDATION_TEXT_MAX + 1024);
        validation_done(&v);
    }
}

static void rules_of_desire(struct validation *v, const ProtobufCMessage *m)
{
    valid_desire(v, ((const Models__DesireLRPRequest *)m)->desired_lrp);
}

static void rules_of_update(struct validation *v, const ProtobufCMessage *m)
{
    valid_update(v, (const Models__UpdateDesiredLRPRequest *)m);
}

static void rules_of_task(struct validation *v, const ProtobufCMessage *m)
{
    valid_desire_task(v, (const Models__DesireTaskRequest *)m);
}

void fuzz_validation(struct bytes in)
{
    SCOPED_ARENA(a);
    validated(&a, &models__desire_lrprequest__descriptor, in, rules_of_desire);
    validated(&a, &models__update_desired_lrprequest__descriptor, in, rules_of_update);
    validated(&a, &models__desire_task_request__descriptor, in, rules_of_task);
}

/* A view of a message is a message. */
static void viewed(struct arena *a, const ProtobufCMessage *m)
{
    SCOPED_BUF(packed);
    FUZZ_REQUIRE(protobuf_c_message_check(m));
    buf_message(&packed, m);
    ProtobufCAllocator allocator = arena_protobuf(a);
    FUZZ_REQUIRE(
        protobuf_c_message_unpack(m->descriptor, &allocator, packed.size, packed.data));
}

void fuzz_views(struct bytes in)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    bool oldest = fuzz_byte(&in) & 1;
    if (scan_and_unpack(&a, &models__desired_lrp__descriptor, in, DECODED_MAX, &m, NULL) == 0) {
        (oldest ? desired_as_r0 : desired_as_r2)(&a, (Models__DesiredLRP *)m);
        viewed(&a, m);
    }
    if (scan_and_unpack(&a, &models__task__descriptor, in, DECODED_MAX, &m, NULL) == 0) {
        task_as_r2(&a, (Models__Task *)m);
        viewed(&a, m);
    }
}

/* A URL that is taken keeps its scheme, whatever follows it; a query gives what stands in it. */
void fuzz_urls(struct bytes in)
{
    SCOPED_ARENA(a);
    struct boards boards;
    uint64_t next_call_id = 1;
    const char *name = fuzz_text(&a, &in), *text = fuzz_text(&a, &in);
    if (valid_url(text)) {
        FUZZ_REQUIRE(strchr(text, ':') && text[0] != ':');
        FUZZ_REQUIRE(strcspn(text, "\x01\n\x7f") >= strcspn(text, "#")); /* Go looks no further */
    }
    const char *value = query_value(&a, text, name);
    FUZZ_REQUIRE(!value || strlen(value) <= strlen(text));
    struct err err = {0};
    if (boards_init(&boards, &a, text, &next_call_id, &err) < 0) {
        FUZZ_REQUIRE(err.text[0]);
    } else {
        FUZZ_REQUIRE(boards.count > 0 && boards.count <= BOARDS_MAX);
        for (size_t i = 0; i < boards.count; i++) {
            FUZZ_REQUIRE(strstr(boards.urls[i], "://"));
        }
    }
}

/* ---- Queries for logs ------------------------------------------------------------------------ */

/* A rep is asked in words of its own alone: nothing of the query gets into them but digits, letters
 * and the marks of a time. */
void fuzz_log_queries(struct bytes in)
{
    SCOPED_ARENA(a);
    struct log_query q;
    struct err err = {0};
    const char *query = arena_strndup(&a, (const char *)in.data, in.size);
    if (log_query_read(&a, query, &q, &err) < 0) {
        FUZZ_REQUIRE(err.code == ERR_INVALID && err.text[0]);
        return;
    }
    FUZZ_REQUIRE(strncmp(q.words, "follow=", 7) == 0);
    FUZZ_REQUIRE(!strpbrk(q.words, "%/? \r\n\"#"));
    FUZZ_REQUIRE(!(q.follow && q.previous));
    FUZZ_REQUIRE(q.index == -1 || q.instance);
}
