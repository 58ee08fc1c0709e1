/* What the targets share. */
#include "test/fuzz/fuzz.h"

#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "common/model/record.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/domain.pb-c.h"
#include "models/evacuation.pb-c.h"
#include "models/events.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "rep_note.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct fuzz_target fuzz_targets[] = {
#define TARGET(name_, what_) {.name = #name_, .what = what_, .run = fuzz_##name_},
#include "test/fuzz/targets.def"
#undef TARGET
};
const size_t fuzz_target_count = sizeof(fuzz_targets) / sizeof(fuzz_targets[0]);

const struct fuzz_target *fuzz_target_named(const char *name)
{
    for (size_t i = 0; i < fuzz_target_count; i++) {
        if (strcmp(fuzz_targets[i].name, name) == 0) {
            return &fuzz_targets[i];
        }
    }
    return NULL;
}

void fuzz_broken(const char *file, int line, const char *promise)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

uint8_t fuzz_byte(struct bytes *in)
{
    if (in->size == 0) {
        return 0;
    }
    uint8_t byte = in->data[0];
    *in = (struct bytes){in->data + 1, in->size - 1};
    return byte;
}

struct bytes fuzz_piece(struct bytes *in)
{
    size_t size = fuzz_byte(in);
    size |= (size_t)fuzz_byte(in) << 8;
    size = size < in->size ? size : in->size;
    struct bytes piece = {in->data, size};
    *in = (struct bytes){in->data + size, in->size - size};
    return piece;
}

const char *fuzz_text(struct arena *a, struct bytes *in)
{
    struct bytes piece = fuzz_piece(in);
    return piece.size ? arena_strndup(a, (const char *)piece.data, piece.size) : "";
}

const ProtobufCMessageDescriptor *fuzz_descriptor(uint8_t byte)
{
    static const ProtobufCMessageDescriptor *const list[] = {
        &models__desire_lrprequest__descriptor,
        &models__update_desired_lrprequest__descriptor,
        &models__desired_lrp__descriptor,
        &models__desired_lrps_request__descriptor,
        &models__start_actual_lrprequest__descriptor,
        &models__actual_lrps_request__descriptor,
        &models__actual_lrp__descriptor,
        &models__evacuate_running_actual_lrprequest__descriptor,
        &models__desire_task_request__descriptor,
        &models__task__descriptor,
        &models__complete_task_request__descriptor,
        &models__upsert_domain_request__descriptor,
        &models__events_by_cell_id__descriptor,
        &models__action__descriptor,
        &board__apply_request__descriptor,
        &board__apply_response__descriptor,
        &board__cell_request__descriptor,
        &board__heartbeat_request__descriptor,
        &board__feed_request__descriptor,
        &board__feed_frame__descriptor,
        &board__cause_record__descriptor,
        &cell__work__descriptor,
        &cell__cell_state__descriptor,
        &cell__lrpupdate__descriptor,
        &cell__lrpstarts__descriptor,
        &rep__note__descriptor,
    };
    return list[byte % (sizeof(list) / sizeof(list[0]))];
}

struct peer fuzz_peer(uint8_t byte)
{
    static const struct peer list[] = {
        {.unit = "client", .name = "admin"},
        {.unit = "rep", .name = "cell-1"},
        {.unit = "auctioneer", .name = "auctioneer-1"},
        {.unit = "converger", .name = "converger-1"},
        {.unit = "bbs", .name = "bbs-1"},
        {.unit = "", .name = ""},
    };
    return list[byte % (sizeof(list) / sizeof(list[0]))];
}

/* At most so much of a stream is read. */
enum { CURSOR_BYTES_MAX = 4 * 1024 * 1024 };

static void read_cursor(struct cursor *c)
{
    SCOPED_BUF(out);
    enum cursor_state state = CURSOR_MORE;
    while (state == CURSOR_MORE && out.size < CURSOR_BYTES_MAX) {
        size_t before = out.size;
        state = cursor_fill(c, &out, CURSOR_CHUNK_BYTES);
        FUZZ_REQUIRE(state != CURSOR_MORE || out.size > before);
    }
    cursor_free(c);
}

bool fuzz_request(struct role *r, const char *method, const char *path, struct bytes in)
{
    static const char *const types[] = {"application/json", "application/x-protobuf", "text/plain",
                                        ""};
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    struct peer peer = fuzz_peer(fuzz_byte(&in));
    uint8_t words = fuzz_byte(&in);
    size_t limit = r->ops->body_limit(r, path);
    struct event ev = {.kind = EVENT_REQUEST,
                       .now = {.mono_ns = 2000 * SECOND_NS, .wall_ns = 1767225600 * SECOND_NS},
                       .entropy = {1, 2}};
    ev.request = (struct request){.id = 77,
                                  .method = method,
                                  .path = path,
                                  .query = words & 64 ? "process_guid=a&index=0" : "",
                                  .trace_id = "",
                                  .content_type = types[words & 3],
                                  .accept = types[(words >> 2) & 3],
                                  .if_none_match = words & 16 ? "\"7-1\"" : "",
                                  .peer = peer,
                                  .body = in.size <= limit ? in : (struct bytes){0},
                                  .too_large = in.size > limit || (words & 32)};
    role_step(r, &ev, &out);
    unsigned answers = 0;
    for (size_t i = 0; i < out.count; i++) {
        if (out.list[i].kind == EFFECT_REPLY) {
            FUZZ_REQUIRE(out.list[i].reply.id == 77);
            answers++;
            if (out.list[i].reply.cursor) {
                read_cursor(out.list[i].reply.cursor);
            }
        }
        FUZZ_REQUIRE(out.list[i].kind != EFFECT_EXIT);
    }
    FUZZ_REQUIRE(answers <= 1);
    return answers == 1;
}
