/* Systems: create, delete, confirm, and the moves of the converger about them
 * (common/lifecycle/system.def). */
#include "bbs/system/system.h"

#include "bbs/system/parts.h"
#include "common/definition/file_name.h"
#include "common/lifecycle/system.h"
#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

/* ---- What is asked --------------------------------------------------------------------------- */

static const Board__CreateSystemRequest *asked_create(const struct op_input *in)
{
    return (const Board__CreateSystemRequest *)in->request;
}

static const char *create_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked_create(in)->id);
}

static const char *request_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, ((const Board__SystemRequest *)in->request)->system);
}

/* What git would take for an option, or people cannot read. */
static bool is_url(const char *text)
{
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c <= ' ' || *c == 0x7f) {
            return false;
        }
    }
    return *text != '-' && strlen(text) <= SYSTEM_URL_BYTES_MAX;
}

void valid_create_system(struct validation *v, const Board__CreateSystemRequest *request)
{
    SCOPED_ARENA(a);
    const char *key = request->ssh_key, *url = request->definition_url;
    const char *fault = *key ? component_subname_fault(&a, key, false) : NULL;
    /* Whether a converger may read its own disk, it says itself. */
    const char *url_fault = *url && is_url(url) ? definition_url_fault(&a, url, true) : NULL;
    check_system_id(v, request->id);
    check_action_id(v, request->uid);
    if (!is_url(request->definition_url)) {
        say(v, arena_printf(&a, "the definition's URL is at most %d printable characters, and does "
                                "not begin with -",
                            SYSTEM_URL_BYTES_MAX));
    }
    if (url_fault) {
        say(v, url_fault);
    }
    if (fault) {
        say(v, fault);
    }
}

void valid_system_request(struct validation *v, const Board__SystemRequest *request)
{
    check_system_id(v, request->system);
}

/* ---- Create ---------------------------------------------------------------------------------- */

/* How many there are is not compared: a few more than may be do no harm. */
static void create_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct system_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const char *uid = asked_create(in)->uid;
    s->of = system_facts_gather(v, asked_create(in)->id, NULL);
    s->head = view_message(v, key_head(a, uid));
    s->hold = view_message(v, key_hold(a, uid));
    s->domain = view_get(v, key_domain(a, system_domain(a, uid)));
    s->count = view_peek_count(v, "system/");
    s->board_generation = view_board_generation(v);
}

static void put_domain(struct plan *p, const char *uid, enum actor actor)
{
    Board__DomainRecord *d = arena_message(p->arena, &board__domain_record__descriptor);
    d->domain = borrowed(system_domain(p->arena, uid));
    plan_put(p, key_domain(p->arena, d->domain), "upsert", actor, &d->base);
}

static void put_new(struct plan *p, const struct system_snapshot *s, const struct op_input *in)
{
    const Board__CreateSystemRequest *r = asked_create(in);
    struct arena *a = p->arena;
    Board__SystemRecord *system = arena_message(a, &board__system_record__descriptor);
    system->id = r->id;
    system->uid = r->uid;
    system->definition_url = r->definition_url;
    system->ssh_key = r->ssh_key;
    system->state = borrowed(system_lifecycle.states[SYSTEM_PENDING]);
    system->message = borrowed("waits for a converger to open it");
    system->board_generation = borrowed(s->board_generation);
    system->created_at = system->since = in->now.wall_ns;
    Board__HeadRecord *head = arena_message(a, &board__head_record__descriptor);
    head->uid = r->uid;
    Board__HoldRecord *hold = arena_message(a, &board__hold_record__descriptor);
    hold->uid = r->uid;
    plan_put(p, key_system(a, r->id), "create", in->actor, &system->base);
    plan_put(p, key_head(a, r->uid), "create", in->actor, &head->base);
    plan_put(p, key_hold(a, r->uid), "create", in->actor, &hold->base);
    put_domain(p, r->uid, in->actor);
    p->record = &system->base;
}

/* 1. It stands, made by this request: nothing.
 * 2. It stands, or something of its uid does: ResourceExists.
 * 3. There are as many as may be: ResourceConflict.
 * 4. It is pending, with a head and a hold that are empty and a domain that is fresh for ever. */
static void create_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct system_snapshot *s = snapshot;
    const Board__CreateSystemRequest *r = asked_create(in);
    p->record = s->of.system ? &s->of.system->base : NULL;
    if (s->of.system && strcmp(s->of.system->uid, r->uid) == 0) { /* 1 */
        return;
    }
    if (s->of.system || s->head || s->hold || s->domain) { /* 2 */
        bool goes = s->of.system && strcmp(s->of.system->state, "deleting") == 0;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists, "system %s %s", r->id,
                    goes ? "is being deleted: create it again when it is gone" : "exists already");
    } else if (s->count >= SYSTEMS_MAX) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "there are %zu systems, and may be %d: delete one first", s->count,
                    SYSTEMS_MAX);
    } else { /* 4 */
        assert(lifecycle_transition(&system_lifecycle, SYSTEM_NONE, in->actor,
                                    SYSTEM_TRIGGER_CREATE, 0) == SYSTEM_PENDING);
        put_new(p, s, in);
    }
}

const struct op_row create_system_row = {
    .name = "create system",
    .target = create_target,
    .gather = create_gather,
    .decide = create_decide,
    .snapshot_size = sizeof(struct system_snapshot),
};

/* ---- Delete, confirm ------------------------------------------------------------------------- */

static void request_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct system_snapshot *s = snapshot;
    const Board__SystemRequest *r = in->request;
    s->of = system_facts_gather(v, r->system, NULL);
    s->board_generation = view_board_generation(v);
    if (s->of.system) {
        struct arena *a = view_arena(v);
        const char *key = key_domain(a, system_domain(a, s->of.uid));
        s->domain = view_get(v, key);
        s->domain_fresh = s->domain && view_domain_seen(v, key).in_this_board_generation;
    }
}

/* There is no such system: refused, and NULL. Otherwise where the lifecycle leads it. */
static const Board__SystemRecord *led_from(const struct system_snapshot *s, struct plan *p,
                                           const struct op_input *in, int trigger, int *ret_to)
{
    if (s->of.state == SYSTEM_NONE) {
        (void)system_facts_refused(&s->of, p);
        return NULL;
    }
    p->record = &s->of.system->base;
    *ret_to = lifecycle_transition(&system_lifecycle, s->of.state, in->actor, trigger, 0);
    return s->of.system;
}

/* 1. There is none: ResourceNotFound.
 * 2. It is being deleted: nothing.
 * 3. It is, from now on. */
static void delete_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    int to = -1;
    const Board__SystemRecord *before =
        led_from(snapshot, p, in, SYSTEM_TRIGGER_DELETE, &to); /* 1 */
    if (!before || to < 0) {                                   /* 2 */
        return;
    }
    assert(to == SYSTEM_DELETING); /* 3 */
    Board__SystemRecord *after = system_changed(p->arena, before, to, in->now);
    after->deleted_at = after->since;
    after->message = borrowed("what it runs goes, then what it keeps");
    p->record = &after->base;
    plan_put(p, key_system(p->arena, after->id), "delete", in->actor, &after->base);
}

/* 1. There is none: ResourceNotFound.
 * 2. It is confirmed, and its domain is fresh: nothing.
 * 3. It is of this board generation now, and so is its domain. */
static void confirm_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct system_snapshot *s = snapshot;
    int to = -1;
    const Board__SystemRecord *before =
        led_from(s, p, in, SYSTEM_TRIGGER_CONFIRM, &to); /* 1 */
    if (!before || to < 0 ||
        (strcmp(before->board_generation, s->board_generation) == 0 && s->domain_fresh)) { /* 2 */
        return;
    }
    Board__SystemRecord *after = system_changed(p->arena, before, to, in->now); /* 3 */
    assert(to == s->of.state);
    after->board_generation = borrowed(s->board_generation);
    p->record = &after->base;
    plan_put(p, key_system(p->arena, after->id), "confirm", in->actor, &after->base);
    put_domain(p, after->uid, in->actor);
}

const struct op_row delete_system_row = {
    .name = "delete system",
    .target = request_target,
    .gather = request_gather,
    .decide = delete_decide,
    .snapshot_size = sizeof(struct system_snapshot),
};

const struct op_row confirm_system_row = {
    .name = "confirm system",
    .target = request_target,
    .gather = request_gather,
    .decide = confirm_decide,
    .snapshot_size = sizeof(struct system_snapshot),
};
