/* What every subject of the board may note, and what all share: the least of the board's files,
 * which calls no other. */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

struct arena *board_arena(void)
{
    struct arena *a = mem_zeroed(sizeof(*a));
    arena_init(a);
    return a;
}

void effects_forget(struct effects *nowhere)
{
    arena_reset(nowhere->arena);
    effects_init(nowhere, nowhere->arena);
}

void board_want_reload(struct board *b, const char *why)
{
    b->reload_why = why;
}

int64_t backoff_ns(unsigned failures)
{
    int64_t wait = BACKOFF_MIN_NS;
    while (failures-- > 0 && wait < BACKOFF_MAX_NS) {
        wait *= 2;
    }
    return earlier_ns(wait, BACKOFF_MAX_NS);
}

void board_trouble(struct board *b, const char *text, struct effects *out)
{
    if (!b->in_trouble) {
        b->in_trouble = true;
        effects_log(out, LOG_WARN_LEVEL, "waiting for etcd", "reason=\"%s\"", text);
    }
}

void board_well(struct board *b, struct effects *out)
{
    if (b->in_trouble) {
        b->in_trouble = false;
        effects_log(out, LOG_INFO_LEVEL, "etcd answers again", "revision=%lld",
                    (long long)b->revision);
    }
}
