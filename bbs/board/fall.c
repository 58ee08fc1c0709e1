/* etcd went back to an older revision within the board generation: acknowledged writes are lost, by
 * a restore or by a disk or a machine that forgot them. What a bbs knows of it and says until the
 * board generation is made again (design.md 2, Board generation; docs/restore.md). */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <stdlib.h>

#define SAY_AGAIN_NS (60 * SECOND_NS)

static const char what_to_do[] = "etcd lost acknowledged writes or was restored: run `bbs restore`";

static void say(struct board *b, struct effects *out)
{
    b->fall.say_ns = b->now.mono_ns + SAY_AGAIN_NS;
    effects_log(out, LOG_ERROR_LEVEL, what_to_do, "board_generation=%s reason=\"%s\"",
                b->board_generation, b->fall.reason);
}

void fall_found(struct board *b, const char *reason, struct effects *out)
{
    if (!b->fall.is) {
        b->fall.is = true;
        b->fall.reason = mem_text(reason);
        b->fall.text = mem_text(
            arena_printf(out->arena, "%s, see docs/restore.md (%s)", what_to_do, reason));
        say(b, out);
    }
}

void fall_over(struct board *b)
{
    free(b->fall.reason);
    free(b->fall.text);
    free(b->fall.cell);
    b->fall = (struct fall){0};
}

void fall_timer(struct board *b, struct effects *out)
{
    if (b->fall.is && b->fall.say_ns <= b->now.mono_ns) {
        say(b, out);
    }
}

const char *board_went_back(const struct board *b)
{
    return b->fall.is ? b->fall.text : NULL;
}
