/* Keys of bbs that are gone: a heartbeat key that was silent for 10 minutes goes with the causes of
 * its bbs (design.md 2, 6); so do causes without a heartbeat key, of a bbs that died before its
 * first heartbeat. */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SWEEP_INTERVAL_NS (30 * SECOND_NS)
#define SILENT_MAX_NS (600 * SECOND_NS)

static const char all_causes[] = "cause/", causes_end[] = "cause0";

void sweep_bbs(struct board *b, const char *boot_id, const struct compare *heartbeat,
               store_done *done, struct effects *out)
{
    struct arena *a = out->arena;
    Etcd__TxnRequest *t = arena_message(a, &etcd__txn_request__descriptor);
    t->compare = ARENA_ARRAY(a, 2, Etcd__Compare *);
    t->compare[t->n_compare++] = board_generation_compare(b, a);
    if (heartbeat) {
        t->compare[t->n_compare++] = compare_compile(a, heartbeat);
    }
    t->n_success = 2;
    t->success = ARENA_ARRAY(a, 2, Etcd__RequestOp *);
    t->success[0] = etcd_op_delete(a, key_beat(a, boot_id));
    t->success[1] = etcd_op_delete_range(a, key_cause_boot(a, boot_id));
    store_send(b, STORE_TXN, &t->base, TXN_TIMEOUT_NS, done, NULL, out);
}

static void on_swept(struct board *b, void *context, const struct store_answer *answer,
                     struct effects *out)
{
    (void)b, (void)context, (void)answer, (void)out; /* the next look tells */
}

/* One bbs at a look. */
static void sweep_silent(struct board *b, struct effects *out)
{
    for (struct copied *p = copy_from(b->copy, "beat/"); p; p = copy_next(p)) {
        const struct version *item = copied_version(p);
        if (item->type != RECORD_HEARTBEAT) {
            return;
        }
        const char *boot_id = key_component(out->arena, version_key(item), 1);
        if (strcmp(boot_id, b->boot_id) != 0 &&
            b->now.mono_ns - copied_seen(p).since_ns >= SILENT_MAX_NS) {
            const struct compare silent = {.kind = COMPARE_UNCHANGED,
                                           .key = version_key(item),
                                           .revision = item->mod_revision};
            sweep_bbs(b, boot_id, &silent, on_swept, out);
            return;
        }
    }
}

/* ---- causes without a heartbeat key ---- */

static bool has_heartbeat(const struct board *b, const char *boot_id, struct arena *a)
{
    return strcmp(boot_id, b->boot_id) == 0 || copy_find(b->copy, key_beat(a, boot_id));
}

static void forget_orphan(struct sweep *s)
{
    free(s->orphan);
    s->orphan = NULL;
}

/* It may be a bbs that has just begun; after 10 minutes it is not. */
static void mind_orphan(struct board *b, struct effects *out)
{
    struct sweep *s = &b->sweep;
    if (has_heartbeat(b, s->orphan, out->arena)) {
        forget_orphan(s);
    } else if (b->now.mono_ns - s->orphan_ns >= SILENT_MAX_NS) {
        const struct compare none = {.kind = COMPARE_ABSENT,
                                     .key = key_beat(out->arena, s->orphan)};
        sweep_bbs(b, s->orphan, &none, on_swept, out);
        forget_orphan(s);
    }
}

static void on_cause(struct board *b, void *context, const struct store_answer *answer,
                     struct effects *out)
{
    (void)context;
    struct sweep *s = &b->sweep;
    const Etcd__RangeResponse *found = (const Etcd__RangeResponse *)answer->message;
    s->call_id = 0;
    buf_clear(&s->from);
    if (answer->outcome != STORE_DONE || !found || found->n_kvs == 0 || !b->copy) {
        return; /* or the end: from the beginning at the next look */
    }
    struct arena *a = out->arena;
    const ProtobufCBinaryData *key = &found->kvs[0]->key;
    const char *boot_id = key_component(a, arena_strndup(a, (const char *)key->data, key->len), 1);
    buf_append_string(&s->from, key_range_end(a, key_cause_boot(a, boot_id)));
    if (!has_heartbeat(b, boot_id, a)) {
        s->orphan = mem_text(boot_id);
        s->orphan_ns = b->now.mono_ns;
    }
}

/* The first cause of the next bbs: they are not in the copy. */
static void ask_cause(struct board *b, struct effects *out)
{
    struct sweep *s = &b->sweep;
    Etcd__RangeRequest *r = arena_message(out->arena, &etcd__range_request__descriptor);
    r->key = key_data(s->from.size ? arena_strdup(out->arena, buf_string(&s->from)) : all_causes);
    r->range_end = key_data(causes_end);
    r->limit = 1;
    r->keys_only = true;
    s->call_id = store_send(b, STORE_RANGE, &r->base, PAGE_TIMEOUT_NS, on_cause, NULL, out);
}

void sweep_timer(struct board *b, struct effects *out)
{
    struct sweep *s = &b->sweep;
    if (!b->loaded || b->stop_ns || s->next_ns > b->now.mono_ns) {
        return;
    }
    s->next_ns = b->now.mono_ns + SWEEP_INTERVAL_NS;
    sweep_silent(b, out);
    if (s->orphan) {
        mind_orphan(b, out);
    } else if (!s->call_id) {
        ask_cause(b, out);
    }
}

int64_t sweep_due_ns(const struct board *b)
{
    return b->loaded && !b->stop_ns ? b->sweep.next_ns : NEVER_NS;
}

void sweep_free(struct board *b)
{
    forget_orphan(&b->sweep);
    buf_done(&b->sweep.from);
}
