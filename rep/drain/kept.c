#include "rep/drain/kept.h"

#include "common/codec/json.h"
#include "rep/inside.h"

#include <assert.h>
#include <stdio.h>

static void ask(struct rep *r, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    const struct drain *d = &r->drain;
    assert(!k->id && (!k->wanted || d->on));
    k->id = r->next_id++;
    assert(k->id);
    k->asked = k->wanted;
    k->failed = false;
    struct effect *e = effects_add(out, EFFECT_EVACUATION);
    e->evacuation.id = k->id;
    e->evacuation.kept.on = k->asked;
    if (k->asked) { /* the same moment by both clocks, as they are now */
        e->evacuation.kept.until_mono_ns = d->until_ns;
        e->evacuation.kept.until_wall_ns = r->now.wall_ns + d->until_ns - r->now.mono_ns;
        e->evacuation.kept.boot_id = r->config.boot_id;
    }
}

void drain_kept_init(struct rep *r)
{
    r->drain.kept.stands = !r->config.evacuation.on;
}

static void settle(struct rep *r, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    if (!k->id && !k->stands && !k->failed) {
        ask(r, out);
    }
}

void drain_keep(struct rep *r, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    k->wanted = true;
    k->stands = k->failed = false;
    settle(r, out);
}

bool drain_drop(struct rep *r, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    if (k->wanted) {
        effects_log(out, LOG_INFO_LEVEL, "evacuation is over", "containers=%zu",
                    r->containers.by_guid.count);
        k->wanted = k->stands = k->failed = false;
    }
    settle(r, out);
    return !k->id && (k->stands || k->failed);
}

/* ---- Who asked ------------------------------------------------------------------------------- */

static void accept(const struct rep *r, uint64_t request_id, struct effects *out)
{
    const struct drain_kept *k = &r->drain.kept;
    Cell__EvacuationBegun m = CELL__EVACUATION_BEGUN__INIT;
    SCOPED_BUF(body);
    struct err err;
    m.ping_path = (char *)"/ping";
    if (k->wanted && k->failed) {
        m.warning = arena_printf(out->arena, "a rep that is started again may not know of the "
                                             "evacuation: %s; mend that and ask again", k->why);
    }
    json_encode(&m.base, CODEC_OWN, &body, &err); /* two texts are not nested too deep */
    effects_reply(out, request_id, 202, "application/json", buf_bytes(&body));
}

static void accept_all(struct rep *r, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    for (size_t i = 0; i < k->count; i++) {
        accept(r, k->waiting[i], out);
    }
    k->count = 0;
}

void drain_await_kept(struct rep *r, uint64_t request_id, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    assert(r->drain.on && k->count <= DRAIN_WAITING_MAX);
    if (!k->wanted || k->stands) { /* all is gone from the cell, or it is on the disk */
        accept(r, request_id, out);
        return;
    }
    if (k->count == DRAIN_WAITING_MAX) {
        effects_reply(out, request_id, 503, "text/plain; charset=utf-8",
                      bytes_of("too many wait for the disk; the evacuation has begun\n"));
        return;
    }
    k->waiting[k->count++] = request_id;
    k->failed = false;
    settle(r, out);
}

void drain_kept_hangup(struct rep *r, uint64_t request_id)
{
    struct drain_kept *k = &r->drain.kept;
    for (size_t i = 0; i < k->count; i++) {
        if (k->waiting[i] == request_id) {
            k->waiting[i] = k->waiting[--k->count];
            return;
        }
    }
}

/* ---- The disk's answer ----------------------------------------------------------------------- */

static void refused(struct rep *r, const char *text, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    k->failed = k->asked == k->wanted;
    snprintf(k->why, sizeof(k->why), "%s", text);
    effects_log(out, LOG_WARN_LEVEL,
                k->asked ? "the evacuation is not kept" : "what is kept of the evacuation is left",
                "why=\"%s\" so=\"%s\"", k->why,
                k->asked ? "a rep that is started again may not know of it"
                         : "a rep that is started again before its limit goes on with it");
}

void drain_kept_answer(struct rep *r, const struct evacuation_kept *answer, struct effects *out)
{
    struct drain_kept *k = &r->drain.kept;
    if (!k->id || answer->id != k->id) {
        return;
    }
    k->id = 0;
    if (answer->text[0]) {
        refused(r, answer->text, out);
    } else {
        k->stands = k->asked == k->wanted;
    }
    assert(!(k->stands && k->failed));
    if (!k->wanted || k->stands || k->failed) {
        accept_all(r, out);
    }
    settle(r, out);
}
