/* The copy is given up and loaded again, and the new one takes its place: what each subject of the
 * board learns of it (design.md 2). */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

void reload_begin(struct board *b, const char *why, struct effects *out)
{
    if (why) {
        b->reloads++;
        effects_log(out, LOG_WARN_LEVEL, "the copy of the board is loaded again", "reason=\"%s\"",
                    why);
    }
    b->reload_why = NULL;
    b->loaded = false;
    watch_stop(b, out);
    feed_pause(b->feed);
    await_stop(&b->awaits, &b->behind);
    load_begin(b, out);
}

/* How it is known that etcd went back within the board generation; NULL = it did not. */
static const char *went_back(const struct version *board_generation, struct arena *a)
{
    ProtobufCMessage *m;
    bool is = record_decode(a, RECORD_BOARD_GENERATION, blob_bytes(board_generation->blob), &m,
                            NULL) == 0;
    const char *reason = is ? ((const Board__BoardGenerationRecord *)m)->went_back : "";
    return *reason ? reason : NULL;
}

/* Another board's history begins, or the first that this bbs sees. */
static void set_board_generation(struct board *b, const char *board_generation)
{
    free(b->board_generation);
    b->board_generation = mem_text(board_generation);
    b->board_generation_number++;
    fall_over(b);
    health_reset(b);
}

/* The copy that was loaded takes the place of the one that was. */
static void take_over(struct board *b, const char *id, bool same_board_generation)
{
    struct load *l = &b->load;
    if (same_board_generation) {
        copy_inherit(l->copy, b->copy, b->applied_ns);
    } else {
        set_board_generation(b, id);
    }
    b->board_generation_revision = l->board_generation->create_revision;
    copy_free(b->copy);
    b->copy = l->copy;
    l->copy = NULL;
    l->complete = false;
    b->revision = b->known_revision = l->revision;
    b->applied_ns = l->asked_ns;
    b->loaded = true;
}

static void loaded(struct board *b, struct effects *out)
{
    /* Of the copy that was loaded. Its key may be one that nobody of us writes. */
    const struct version *generation = b->load.board_generation;
    const char *id = key_component(out->arena, version_key(generation), 1);
    bool same_board_generation = b->board_generation && strcmp(b->board_generation, id) == 0;
    take_over(b, id, same_board_generation);
    feed_reset(b->feed, b->copy, b->board_generation, b->revision);
    board_jobs_reset(b);
    verify_reset(b);
    watch_start(b, out);
    effects_log(out, LOG_INFO_LEVEL, "the board is loaded",
                "records=%zu revision=%lld board_generation=%s", copy_count(b->copy),
                (long long)b->revision, b->board_generation);
    if (!same_board_generation) {
        ops_new_board_generation(b);
    }
    if (b->loads++ > 0 && b->hooks.on_reset) {
        b->hooks.on_reset(b->hooks.context, out);
    }
    const char *reason = went_back(generation, out->arena);
    if (reason) {
        fall_found(b, reason, out);
    }
}

void reload_step(struct board *b, struct effects *out)
{
    if (b->load.complete) {
        loaded(b, out);
    }
    if (b->fall.is && b->loaded && !b->reload_why) {
        board_want_reload(b, WENT_BACK);
    }
    if (b->reload_why) {
        reload_begin(b, b->reload_why, out);
    }
}
