/* Targets: what comes as a file or as a stream rather than as a request. */
#include "common/appfile/app.h"
#include "common/client/follower.h"
#include "common/shell/grpc.h"
#include "models/actual_lrp.pb-c.h"
#include "rep/driver/passwd.h"
#include "rep/driver/status.h"
#include "rep/note.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

static void app(const char *file, struct bytes in)
{
    struct arena a;
    struct err err = {0};
    struct app *apps;
    size_t count;
    arena_init(&a);
    if (appfile_parse(&a, file, in, &apps, &count, &err)) {
        FUZZ_REQUIRE(err.text[0]); /* every mistake is told */
    } else {
        FUZZ_REQUIRE(count <= APPS_MAX);
        for (size_t i = 0; i < count; i++) {
            FUZZ_REQUIRE(protobuf_c_message_check(&apps[i].lrp->base));
            FUZZ_REQUIRE(strcmp(apps[i].lrp->process_guid,
                                app_process_guid(&a, apps[i].name, apps[i].lrp)) == 0);
        }
    }
    arena_done(&a);
}

void fuzz_app_yaml(struct bytes in)
{
    app("app.yaml", in);
}

void fuzz_app_json(struct bytes in)
{
    app("app.json", in);
}

/* ---- the feed -------------------------------------------------------------------------------- */

static void feed_news(void *context, enum follower_news news, const char *key,
                      const struct followed *record, struct effects *out)
{
    (void)out;
    int64_t *last = context;
    FUZZ_REQUIRE((news == FOLLOWER_PUT || news == FOLLOWER_DELETE) == (key != NULL && record != NULL));
    if (news == FOLLOWER_RESET) {
        *last = 0;
    }
}

static void feed_event(struct follower *f, struct event *ev)
{
    struct arena a;
    struct effects out;
    arena_init(&a);
    effects_init(&out, &a);
    ev->now = (struct moment){.mono_ns = 1000 * SECOND_NS, .wall_ns = 1767225600 * SECOND_NS};
    follower_step(f, ev, &out);
    arena_done(&a);
}

/* Whatever comes, in pieces of whatever size: the follower takes it or begins anew. */
void fuzz_feed(struct bytes in)
{
    struct arena a;
    arena_init(&a);
    uint64_t next_call_id = 1;
    int64_t last = 0;
    struct boards boards;
    struct follower f = {.on_news = feed_news, .context = &last};
    const Board__Selector *none[1] = {NULL};
    FUZZ_REQUIRE(boards_init(&boards, &a, "https://a:1,https://b:2", &next_call_id, NULL) == 0);
    f.boards = &boards;
    f.selectors = none;
    follower_init(&f);
    feed_event(&f, &(struct event){.kind = EVENT_START});
    while (in.size > 0) {
        size_t size = 1 + (size_t)fuzz_byte(&in) * 4;
        size = size < in.size ? size : in.size;
        struct event ev = {.kind = EVENT_STREAM};
        ev.stream = (struct stream_news){
            .id = f.call_id, .status = 200, .data = {in.data, size}, .text = ""};
        feed_event(&f, &ev);
        in = (struct bytes){in.data + size, in.size - size};
        FUZZ_REQUIRE(f.partial.size <= FOLLOWER_FRAME_MAX + 16);
        if (f.call_id == 0) {
            break; /* it hung up on whoever sends such things */
        }
    }
    follower_done(&f);
    arena_done(&a);
}

/* ---- gRPC ------------------------------------------------------------------------------------ */

void fuzz_grpc(struct bytes in)
{
    enum { BOUND = 16 * 1024 };
    struct grpc_trailers t;
    grpc_trailers_init(&t);
    struct bytes line = fuzz_piece(&in);
    grpc_trailers_line(&t, line);
    FUZZ_REQUIRE(t.status >= GRPC_NO_STATUS);
    FUZZ_REQUIRE(t.text.size <= line.size);
    grpc_trailers_done(&t);
    struct bytes message;
    int64_t size;
    while ((size = grpc_frame_next(in, BOUND, &message)) > 0) {
        FUZZ_REQUIRE((size_t)size == message.size + GRPC_FRAME_HEADER_BYTES);
        FUZZ_REQUIRE((size_t)size <= in.size && message.size <= BOUND);
        in = (struct bytes){in.data + size, in.size - (size_t)size};
    }
}

/* ---- what a cell reads back ------------------------------------------------------------------ */

void fuzz_files(struct bytes in)
{
    struct arena a;
    arena_init(&a);
    const char *words = fuzz_text(&a, &in);
    struct bytes first = fuzz_piece(&in);
    struct user user;
    if (user_resolve(words, first, in, &user, NULL) == 0) {
        FUZZ_REQUIRE(user.group_count <= USER_GROUPS_MAX);
    }
    struct ending ending;
    if (status_parse(first, &ending, NULL) == 0) {
        FUZZ_REQUIRE(ending.code >= -1 && ending.code <= 255);
        FUZZ_REQUIRE(strlen(ending.text) <= STATUS_TEXT_BYTES);
    }
    report_parse(first, words[0]);
    Rep__Note *note;
    if (note_read(in, words, &note, NULL) == 0) {
        Rep__Note *copy = note_copy(note);
        FUZZ_REQUIRE(bytes_equal(note_pack(&a, note), note_pack(&a, copy)));
        rep__note__free_unpacked(copy, NULL);
        rep__note__free_unpacked(note, NULL);
    }
    arena_done(&a);
}
