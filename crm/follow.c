#include "crm/follow_parts.h"

#include "common/base/memory.h"
#include "common/model/record.h"
#include "crm/app_lrp.h"
#include "models/domain.pb-c.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void follow_init(struct follow *f)
{
    assert(f->life && f->centre);
    crm_board_init(&f->board);
    crm_works_init(&f->works);
    reports_init(&f->reports);
    map_init(&f->watched);
    f->records.cloudlet = f->centre->cloudlet;
    crm_records_init(&f->records);
    f->compare_ns = f->say_ns = 0;
}

static void forget_works(struct follow *f)
{
    follow_forget_calls(f);
    crm_works_done(&f->works);
    crm_works_init(&f->works);
    follow_tell_anew(f);
}

static void keep_foreign(struct follow *f, const struct crm_plan *plan)
{
    f->foreign = plan->foreign;
    for (size_t i = 0; i < EDGE_FOREIGN_TOLD_MAX; i++) {
        free(f->foreign_names[i]);
        f->foreign_names[i] = i < plan->foreign ? mem_text(plan->foreign_names[i]) : NULL;
    }
}

void follow_done(struct follow *f)
{
    forget_works(f);
    keep_foreign(f, &(struct crm_plan){0});
    crm_board_done(&f->board);
    crm_works_done(&f->works);
    reports_done(&f->reports);
    map_done(&f->watched, free);
    crm_records_done(&f->records);
}

/* ---- What the boards have -------------------------------------------------------------------- */

void follow_site_change(struct follow *f, enum feed_client_change change, const char *key,
                        const struct followed *record)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m = NULL;
    assert(key || change == FEED_CLIENT_RESET || change == FEED_CLIENT_CURRENT);
    if (change == FEED_CLIENT_RESET) {
        crm_board_reset(&f->board);
    } else if (change == FEED_CLIENT_DELETE) {
        crm_board_change(&f->board, key, NULL);
    } else if (change == FEED_CLIENT_PUT &&
               record_decode(&a, key_type(key), blob_bytes(record->record), &m, NULL) == 0) {
        crm_board_change(&f->board, key, m);
    }
    f->changed = true;
}

void follow_centre_change(struct follow *f, enum feed_client_change change, const char *key,
                          const struct followed *record)
{
    assert(key || change == FEED_CLIENT_RESET || change == FEED_CLIENT_CURRENT);
    if (change == FEED_CLIENT_RESET) {
        crm_records_reset(&f->records);
    } else if (change == FEED_CLIENT_DELETE || change == FEED_CLIENT_PUT) {
        struct bytes none = {0};
        crm_records_change(&f->records, key,
                           change == FEED_CLIENT_PUT ? blob_bytes(record->record) : none);
    }
}

void follow_plan(const struct follow *f, struct arena *a, struct crm_plan *ret)
{
    struct crm_plan_input in = {0};
    struct crm_held *held;
    struct crm_record *records;
    in.record_count = crm_records_list(&f->records, a, &records);
    in.records = records;
    in.held_count = crm_board_held(&f->board, a, &held);
    in.held = held;
    in.snapshot = feed_client_complete(&f->centre->feed_client);
    /* While a record of the centre cannot be read, what has none may be its own. */
    in.epoch_known = f->epoch_known && f->records.unreadable == 0;
    in.busy_count = crm_works_busy(&f->works, a, &in.busy);
    crm_plan(a, &in, ret);
}

static void hear(struct follow *f, const struct event *ev, struct effects *out)
{
    if (!follow_hear_centre(f, ev, out)) {
        follow_hear_site(f, ev, out);
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void site_of(void *context, struct arena *a, const char *uid, struct crm_site *ret)
{
    crm_board_site(&((const struct follow *)context)->board, a, uid, ret);
}

static void work(struct follow *f, const struct crm_plan *plan, const struct event *ev,
                 struct effects *out)
{
    struct crm_wanted *list;
    size_t count = crm_works_next(&f->works, out->arena, site_of, f, ev->now.mono_ns, &list);
    for (size_t i = 0; i < count; i++) {
        follow_tell_step(f, plan, &list[i], out->arena);
        follow_ask(f, &list[i], ev, out);
    }
}

static int64_t due_ns(const struct follow *f)
{
    return earlier_ns(crm_works_due_ns(&f->works), follow_telling_due_ns(f));
}

/* What could not be said is found again when the centre takes it. */
static void note_changes(struct follow *f, struct arena *a, int64_t now_ns)
{
    const struct feed_client *centre = &f->centre->feed_client;
    bool says = f->unsaid && follow_may_say(f, a, now_ns);
    f->changed =
        f->changed || says || centre->change_revision != f->centre_seen || now_ns >= due_ns(f);
    f->centre_seen = centre->change_revision;
}

/* A comparison goes by what both boards have said so far, also while the link is cut. */
static void follow_boards(struct follow *f, const struct event *ev, struct effects *out)
{
    struct crm_plan plan;
    struct crm_said *said;
    Board__Move **moves = ARENA_ARRAY(out->arena, FOLLOW_MOVES_MAX, Board__Move *);
    int64_t now_ns = ev->now.mono_ns;
    uint64_t ended = f->works.ended;
    f->changed = false;
    f->compare_ns = now_ns + FOLLOW_AGAIN_NS;
    follow_plan(f, out->arena, &plan);
    f->changed = !f->compared || f->foreign != plan.foreign; /* the centre is to be told */
    keep_foreign(f, &plan);
    f->compared = true;
    bool says = follow_may_say(f, out->arena, now_ns);
    size_t count = crm_works_follow(&f->works, out->arena, &plan, now_ns, &said);
    work(f, &plan, ev, out);
    count = follow_gather_said(f, out->arena, said, count, now_ns, moves);
    if (says) {
        follow_say(f, moves, count, ev, out);
    }
    f->unsaid = count > 0 && !f->batch_id;
    f->changed = f->changed || f->works.ended != ended;
}

/* Nobody awaits the answers: it is done again soon. */
static void vouch(struct follow *f, const struct event *ev, struct effects *out)
{
    if (!f->centre->feed_client.current) {
        return;
    }
    if (ev->now.mono_ns >= f->vouch_ns) {
        f->vouch_ns = ev->now.mono_ns + FOLLOW_DOMAIN_NS;
        MAP_EACH(&f->board.slices, n)
        {
            Models__UpsertDomainRequest request = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
            request.domain = (char *)(uintptr_t)app_lrp_domain(out->arena, map_key(n));
            request.ttl = FOLLOW_DOMAIN_TTL_S;
            request.term = follow_term(f, out->arena);
            boards_call(&f->life->boards, out, "/v1/domains/upsert", "", &request.base,
                        ev->now.mono_ns + FOLLOW_CALL_NS);
        }
    }
    effects_due(out, f->vouch_ns);
}

static void note_session(struct follow *f, struct arena *a)
{
    if (!f->life->leader.leads || !f->centre->session) {
        if (f->follows) {
            forget_works(f); /* somebody else does them, or they are found again */
        }
        f->follows = f->compared = false;
    } else if (!f->follows && centre_is_ready(f->centre, a)) {
        f->follows = f->changed = true;
        f->unsaid = false;
        f->seen_from = 0;
    }
}

void follow_step(struct follow *f, const struct event *ev, bool epoch_known, struct effects *out)
{
    int64_t now_ns = ev->now.mono_ns;
    hear(f, ev, out);
    follow_ask_waiting(f, ev, out);
    note_session(f, out->arena);
    f->changed = f->changed || epoch_known != f->epoch_known;
    f->epoch_known = epoch_known;
    if (!f->follows || !f->life->feed_client.current ||
        !feed_client_complete(&f->centre->feed_client)) {
        return;
    }
    vouch(f, ev, out);
    note_changes(f, out->arena, now_ns);
    if (f->changed && now_ns >= f->compare_ns) {
        follow_boards(f, ev, out);
    }
    int64_t due = f->changed ? f->compare_ns : due_ns(f);
    due = f->unsaid && f->say_ns > now_ns ? earlier_ns(due, f->say_ns) : due;
    effects_due(out, due > now_ns ? due : f->compare_ns);
}
