/* What the watch reported goes into the copy, all changes of one revision together, and on to the
 * feed, the jobs and the layer above (design.md 2). */
#include "bbs/board/inside.h"

#include <stdlib.h>
#include <string.h>

/* The cause among the changes of one revision, decoded into the arena; NULL if there is none. */
static const Board__CauseRecord *cause_of(struct board *b, int64_t revision, struct arena *a)
{
    struct watch_change *n;
    STAILQ_FOREACH(n, &b->watch.list, link)
    {
        if (n->revision != revision) {
            break;
        }
        ProtobufCMessage *m;
        if (n->cause && record_decode(a, RECORD_CAUSE, blob_bytes(n->cause), &m, NULL) == 0) {
            return (const Board__CauseRecord *)m;
        }
    }
    return NULL;
}

/* The entry for a key. Entries stand in the order of the transaction's puts, as do the events, so
 * the next one is nearly always the right one. */
static const Board__CauseRecord__Change *entry_for(const Board__CauseRecord *cause, const char *key,
                                                   size_t *next)
{
    if (!cause) {
        return NULL;
    }
    for (size_t tried = 0; tried < cause->n_changes; tried++) {
        size_t i = (*next + tried) % cause->n_changes;
        if (strcmp(cause->changes[i]->key, key) == 0) {
            *next = i + 1;
            return cause->changes[i];
        }
    }
    return NULL;
}

static void tell(struct board *b, const struct watch_change *n, struct version *before,
                 struct version *after, const Board__CauseRecord__Change *entry,
                 struct effects *out)
{
    if (b->hooks.on_change) {
        b->hooks.on_change(b->hooks.context,
                           &(struct board_change){.key = n->key,
                                                  .type = n->type,
                                                  .before = before,
                                                  .after = after,
                                                  .cause = entry},
                           out);
    }
}

/* True if the copy holds what the watch says was there before: nothing as new as this. */
static bool agrees(const struct board *b, const struct watch_change *n)
{
    const struct copied *p = copy_find(b->copy, n->key);
    int64_t held = p ? copied_version(p)->mod_revision : 0;
    return held < n->revision && (n->previous_revision == 0 || held == n->previous_revision);
}

static void apply_one(struct board *b, struct watch_change *n,
                      const Board__CauseRecord__Change *entry, struct effects *out)
{
    struct version *before, *after = version_ref(n->item);
    if (after) {
        before = copy_put(b->copy, version_ref(after),
                          (struct sighting){.since_ns = b->now.mono_ns, .after_ns = b->applied_ns});
    } else {
        before = copy_remove(b->copy, n->key);
    }
    feed_change(b->feed, n->revision, before, after);
    verify_touched(b, n->key);
    if (n->type == RECORD_JOB) {
        board_jobs_noted(b, n->key);
    }
    tell(b, n, before, after, entry, out);
    version_unref(before);
    version_unref(after);
}

/* What is wrong with the changes of one revision, or NULL. A watch that begins at exactly the
 * revision to which etcd was compacted does not get the deletions made in it; the cause names
 * them all the same. */
static const char *change_fault(struct board *b, const Board__CauseRecord *cause, int64_t revision,
                                struct arena *a)
{
    size_t next_entry = 0, reported = 0;
    bool *is_reported = ARENA_ARRAY(a, cause ? cause->n_changes : 0, bool);
    struct watch_change *n;
    STAILQ_FOREACH(n, &b->watch.list, link)
    {
        if (n->revision != revision) {
            break;
        }
        if (entry_for(cause, n->key, &next_entry)) {
            /* It may stand in the place of another that was left out. */
            if (is_reported[next_entry - 1]) {
                return "the watch sent a change of its transaction twice";
            }
            is_reported[next_entry - 1] = true;
            reported++;
        }
        if (record_is_kept(n->type) && !agrees(b, n)) {
            return "the watch sent a value that the copy never had";
        }
    }
    return cause && reported < cause->n_changes ? "the watch left out a change of its transaction"
                                            : NULL;
}

/* One revision, whole or not at all: who follows the board sees nothing of changes in which
 * something is wrong. Gives what is, or NULL. */
static const char *apply_revision(struct board *b, struct effects *out)
{
    struct watch *w = &b->watch;
    int64_t revision = STAILQ_FIRST(&w->list)->revision;
    const Board__CauseRecord *cause = cause_of(b, revision, out->arena);
    const char *fault = change_fault(b, cause, revision, out->arena);
    if (fault) {
        return fault;
    }
    size_t next_entry = 0;
    struct watch_change *n;
    while ((n = STAILQ_FIRST(&w->list)) && n->revision == revision) {
        STAILQ_REMOVE_HEAD(&w->list, link);
        const Board__CauseRecord__Change *entry = entry_for(cause, n->key, &next_entry);
        if (record_is_kept(n->type)) {
            if (n->type == RECORD_BOARD_GENERATION) {
                fault = "the board generation changed";
            }
            apply_one(b, n, entry, out);
        }
        version_unref(n->item);
        blob_unref(n->cause);
        free(n);
    }
    b->revision = revision;
    b->applied_ns = b->now.mono_ns;
    feed_advance(b->feed, revision);
    if (b->hooks.on_revision) {
        b->hooks.on_revision(b->hooks.context, revision, out);
    }
    return fault;
}

void apply_changes(struct board *b, struct effects *out)
{
    while (b->loaded && !STAILQ_EMPTY(&b->watch.list)) {
        if (out->count >= EFFECTS_ENOUGH) {
            effects_due(out, b->now.mono_ns);
            break;
        }
        const char *fault = apply_revision(b, out);
        if (fault) {
            board_want_reload(b, fault);
            return;
        }
    }
}
