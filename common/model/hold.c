#include "common/model/hold.h"

#include "common/base/time_text.h"
#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

static bool is_of(const Board__Hold *entry, Board__Hold__Kind kind, const char *id)
{
    return entry->kind == kind && strcmp(entry->id, id) == 0;
}

const Board__Hold *hold_of(const Board__HoldRecord *h, Board__Hold__Kind kind, const char *id)
{
    for (size_t i = 0; i < h->n_holds; i++) {
        if (is_of(h->holds[i], kind, id)) {
            return h->holds[i];
        }
    }
    return NULL;
}

const Board__Hold *hold_over(const Board__HoldRecord *h, const char *path)
{
    for (size_t i = 0; i < h->n_holds; i++) {
        if (component_path_within(path, h->holds[i]->path)) {
            return h->holds[i];
        }
    }
    return NULL;
}

bool hold_covers(const Board__HoldRecord *h, const char *id, const char *path)
{
    const Board__Hold *entry = hold_over(h, path);
    return entry && strcmp(entry->id, id) == 0;
}

size_t hold_conflicts(struct arena *a, const Board__HoldRecord *h, const char *path,
                      const Board__Hold ***ret)
{
    size_t count = 0;
    const Board__Hold **list = ARENA_ARRAY(a, h->n_holds, const Board__Hold *);
    for (size_t i = 0; i < h->n_holds; i++) {
        if (component_path_related(path, h->holds[i]->path)) {
            list[count++] = h->holds[i];
        }
    }
    *ret = list;
    return count;
}

/* As it is, with room for one entry more. */
static Board__HoldRecord *copied(struct arena *a, const Board__HoldRecord *h)
{
    Board__HoldRecord *after = arena_message(a, &board__hold_record__descriptor);
    *after = *h;
    after->holds = ARENA_ARRAY(a, h->n_holds + 1, Board__Hold *);
    for (size_t i = 0; i < h->n_holds; i++) {
        after->holds[i] = h->holds[i];
    }
    return after;
}

/* 1. It holds this path: held already. Another one: an error, and the first stays as it is.
 * 2. Somebody stands against it.
 * 3. There is no room.
 * 4. It is added. */
enum hold_answer hold_take(struct arena *a, const Board__HoldRecord *h, const Board__Hold *entry,
                           Board__HoldRecord **ret_after)
{
    const Board__Hold *own = hold_of(h, entry->kind, entry->id);
    const Board__Hold **holders;
    assert(entry->kind != BOARD__HOLD__KIND__NONE);
    assert(entry->kind != BOARD__HOLD__KIND__TEARDOWN || component_path_depth(entry->path) == 0);
    if (own) { /* 1 */
        return strcmp(own->path, entry->path) == 0 ? HOLD_HELD : HOLD_OTHER_PATH;
    }
    if (hold_conflicts(a, h, entry->path, &holders) > 0) { /* 2 */
        return HOLD_CONFLICT;
    }
    if (h->n_holds >= HOLD_ENTRIES_MAX) { /* 3 */
        return HOLD_FULL;
    }
    Board__HoldRecord *after = copied(a, h); /* 4 */
    after->holds[after->n_holds++] = (Board__Hold *)(uintptr_t)entry;
    *ret_after = after;
    return HOLD_TAKEN;
}

Board__HoldRecord *hold_drop(struct arena *a, const Board__HoldRecord *h, Board__Hold__Kind kind,
                             const char *id)
{
    if (!hold_of(h, kind, id)) {
        return NULL;
    }
    Board__HoldRecord *after = copied(a, h);
    after->n_holds = 0;
    for (size_t i = 0; i < h->n_holds; i++) {
        if (!is_of(h->holds[i], kind, id)) {
            after->holds[after->n_holds++] = h->holds[i];
        }
    }
    assert(after->n_holds + 1 == h->n_holds);
    return after;
}

Board__HoldRecord *hold_pause(struct arena *a, const Board__HoldRecord *h, const char *id,
                              bool paused)
{
    assert(hold_of(h, BOARD__HOLD__KIND__DEPLOY, id));
    Board__HoldRecord *after = copied(a, h);
    for (size_t i = 0; i < h->n_holds; i++) {
        if (is_of(h->holds[i], BOARD__HOLD__KIND__DEPLOY, id)) {
            Board__Hold *entry = arena_message(a, &board__hold__descriptor);
            *entry = *h->holds[i];
            entry->paused = paused;
            after->holds[i] = entry;
        }
    }
    return after;
}

/* ---- For people ------------------------------------------------------------------------------ */

enum { HOLDERS_NAMED = 3 };

/* Deploys first: at most one is a teardown. */
static const Board__Hold **ordered(struct arena *a, const Board__Hold *const *holders,
                                   size_t count)
{
    size_t n = 0;
    const Board__Hold **list = ARENA_ARRAY(a, count, const Board__Hold *);
    for (int teardowns = 0; teardowns <= 1; teardowns++) {
        for (size_t i = 0; i < count; i++) {
            if ((holders[i]->kind == BOARD__HOLD__KIND__TEARDOWN) == teardowns) {
                list[n++] = holders[i];
            }
        }
    }
    assert(n == count);
    return list;
}

const char *hold_text(struct arena *a, const Board__Hold *const *holders, size_t count)
{
    assert(count > 0);
    size_t named = count < HOLDERS_NAMED ? count : HOLDERS_NAMED;
    const Board__Hold **list = ordered(a, holders, count);
    bool deploy = list[0]->kind == BOARD__HOLD__KIND__DEPLOY;
    bool deploys = count > 1 && list[1]->kind == BOARD__HOLD__KIND__DEPLOY;
    const char *text = deploys ? "deploys " : deploy ? "deploy " : "";
    for (size_t i = 0; i < named; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        text = list[i]->kind == BOARD__HOLD__KIND__TEARDOWN
                   ? arena_printf(a, "%s%steardown %s", text, between, list[i]->id)
                   : arena_printf(a, "%s%s%s of %s", text, between, list[i]->id, list[i]->path);
    }
    if (count > named) {
        text = arena_printf(a, "%s and %zu more", text, count - named);
    }
    char since[WALL_TEXT_BYTES];
    return count == 1 && holders[0]->since > 0
               ? arena_printf(a, "%s is in progress since %s", text,
                              wall_text(holders[0]->since, since))
               : arena_printf(a, "%s %s in progress", text, count == 1 ? "is" : "are");
}
