#include "crm/inside.h"

#include "common/base/memory.h"
#include "common/model/edge_name.h"
#include "common/model/moves.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between two attempts to say which site this is. */
#define SITE_AGAIN_NS (1 * SECOND_NS)

#define LEAD_KEY "lead/site"

/* ---- The site -------------------------------------------------------------------------------- */

static void settled(void *context, const char *subject, enum move_end end)
{
    struct crm *x = context;
    (void)subject;
    (void)end;
    x->moving = false; /* the feed tells what came of it */
    x->again_ns = x->life.now.mono_ns + SITE_AGAIN_NS;
}

static void move_site_record(struct crm *x, const char *name, const char *generation,
                             struct effects *out)
{
    Board__Move *m = move_new(out->arena, name, SITE_KEY);
    m->body_case = BOARD__MOVE__BODY_SITE;
    m->site = arena_message(out->arena, &board__site_move__descriptor);
    m->site->cloudlet = (char *)(uintptr_t)x->cloudlet;
    m->site->board_generation = arena_strdup(out->arena, generation);
    assert(!x->moving && x->life.leader.leads);
    x->moving = true;
    mover_add(&x->mover, &x->owner, name, m);
}

/* The centre's board that the site follows, once it has had all of it. Another one than before, for
 * the centre was restored, only when somebody has confirmed that (docs/edge.md, Cloudlets). */
static bool follows_anew(const struct crm *x, const Board__SiteRecord *s, struct arena *a)
{
    const char *generation = x->centre.feed_client.board_generation;
    const Board__CloudletRecord *c = centre_cloudlet(&x->centre, a);
    if (!centre_is_ready(&x->centre, a) || strcmp(s->board_generation, generation) == 0) {
        return false;
    }
    return !*s->board_generation || (c && strcmp(c->confirmed_generation, generation) == 0);
}

/* 1. Nobody has said yet which site this is: it is drawn.
 * 2. It is another one, and stays that.
 * 3. The centre's board is followed. */
static void keep_identity(struct crm *x, struct effects *out)
{
    const Board__SiteRecord *s = crm_identity(x, out->arena);
    x->site_why[0] = 0;
    if (s && strcmp(s->cloudlet, x->cloudlet) != 0) { /* 2 */
        snprintf(x->site_why, sizeof(x->site_why),
                 "this cluster is the site of cloudlet %s, not of %s", s->cloudlet, x->cloudlet);
        return;
    }
    if (!x->life.feed_client.current || x->moving) {
        return;
    }
    assert(!s || strcmp(s->cloudlet, x->cloudlet) == 0);
    const char *name = !s                               ? "name"   /* 1 */
                       : follows_anew(x, s, out->arena) ? "follow" /* 3 */
                                                        : NULL;
    if (name && x->life.now.mono_ns < x->again_ns) {
        effects_due(out, x->again_ns);
    } else if (name) {
        move_site_record(x, name, s ? x->centre.feed_client.board_generation : "", out);
    }
}

static void on_site_change(void *context, enum feed_client_change change, const char *key,
                           const struct followed *record, struct effects *out)
{
    (void)out;
    follow_site_change(&((struct crm *)context)->follow, change, key, record);
}

static void on_centre_change(void *context, enum feed_client_change change, const char *key,
                             const struct followed *record)
{
    follow_centre_change(&((struct crm *)context)->follow, change, key, record);
}

/* The site has had all of this board of the centre before: what it has not is gone. */
static bool knows_epoch(const struct crm *x, struct arena *a)
{
    const Board__SiteRecord *s = crm_identity(x, a);
    return s && strcmp(s->cloudlet, x->cloudlet) == 0 && *s->board_generation &&
           strcmp(s->board_generation, x->centre.feed_client.board_generation) == 0;
}

/* ---- The step -------------------------------------------------------------------------------- */

static void elect(struct crm *x, const struct event *ev, struct effects *out)
{
    if (leading_elect(&x->life, ev, out) == LEADER_DEPOSED) {
        mover_stop(&x->mover);
        x->again_ns = 0;
    }
}

static void move_at_site(struct crm *x, const struct event *ev, struct effects *out)
{
    if (x->life.leader.leads) {
        mover_hear(&x->mover, ev, out);
        keep_identity(x, out);
        mover_send(&x->mover, ev->now, out);
    }
}

/* Somebody else speaks for the site: v2 of an upgrade, or one that took the lead unheard. The lead
 * is given back, so that it need not wait for silence. */
static void displaced(struct crm *x, const struct event *ev, struct effects *out)
{
    effects_log(out, LOG_WARN_LEVEL, "another CRM has opened a session: this one ends",
                "cloudlet=%s session=%llu", x->cloudlet, (unsigned long long)x->centre.session);
    centre_leave(&x->centre);
    assert(x->centre.session == 0);
    struct event stop = *ev;
    stop.kind = EVENT_STOP;
    stop.stop = STOP_IN_ORDER;
    elect(x, &stop, out);
}

static void watch_site(struct crm *x, struct effects *out)
{
    const struct feed_client *f = &x->life.feed_client;
    if (f->current || !f->was_current) {
        x->lost_ns = 0;
        return;
    }
    x->lost_ns = x->lost_ns ? x->lost_ns : x->life.now.mono_ns;
    if (!crm_site_is_lost(x)) {
        effects_due(out, x->lost_ns + SITE_LOST_NS);
    }
}

static void crm_step(struct role *role, const struct event *ev, struct effects *out)
{
    struct crm *x = (struct crm *)role;
    if (!leading_begin(&x->life, ev, out)) {
        return;
    }
    centre_hear(&x->centre, ev, out);
    elect(x, ev, out);
    watch_site(x, out);
    const struct upgrade_facts facts = crm_upgrade_facts(x, out->arena);
    upgrade_step(&x->upgrade, ev, &facts, out);
    struct centre_site site = crm_standing(x, out->arena);
    if (centre_step(&x->centre, ev, &site, out) == CENTRE_DISPLACED) {
        displaced(x, ev, out);
    }
    move_at_site(x, ev, out);
    follow_step(&x->follow, ev, knows_epoch(x, out->arena), out);
    if (ev->kind == EVENT_REQUEST) {
        questions_answer(&crm_questions, role, &ev->request, out);
    }
    leading_end(&x->life, ev, out);
}

/* ---- Making it ------------------------------------------------------------------------------- */

static size_t body_limit(const struct role *role, const char *path)
{
    (void)role;
    return path_body_max(&crm_questions, path, 0);
}

static void free_crm(struct role *role)
{
    struct crm *x = (struct crm *)role;
    mover_done(&x->mover);
    follow_done(&x->follow);
    centre_done(&x->centre);
    leading_done(&x->life);
    free(x);
}

static const struct role_ops ops = {
    .name = "crm", .step = crm_step, .body_limit = body_limit, .free = free_crm};

static const struct leading_selector selectors[] = {
    {"lead", NULL, LEAD_KEY}, {"beat", NULL, NULL},  {"site", NULL, NULL},
    {"cell", NULL, NULL},     {"slice", NULL, NULL}, {"desired", NULL, NULL},
    {"actual", NULL, NULL},   {"task", NULL, NULL},  {"unit", NULL, NULL}};

static void init_centre(struct crm *x, const struct crm_config *config)
{
    struct err err = {0};
    SCOPED_ARENA(a);
    const char *fault = edge_name_fault(&a, RECORD_CLOUDLET, x->cloudlet);
    if (fault) {
        err_set(&err, ERR_INVALID, "--cloudlet: %s", fault);
        leading_refuse(&x->life, &err);
    }
    if (boards_init(&x->centre.boards, &x->life.forever, config->centres, &x->life.next_call_id,
                    &err) < 0) {
        struct err why;
        err_set(&why, ERR_INVALID, "--centre: %s", err.text);
        leading_refuse(&x->life, &why);
    }
    x->centre.version = x->version;
    x->centre.on_change = on_centre_change;
    x->centre.context = x;
    centre_init(&x->centre);
}

struct role *crm_new(const struct crm_config *config)
{
    struct crm *x = mem_zeroed(sizeof(*x));
    assert(!path_table_fault(&crm_questions));
    leading_init(&x->life, &(struct leading_config){
                               .ops = &ops,
                               .lead_name = actor_name(ACTOR_SITE),
                               .name = config->name,
                               .boards = config->boards,
                               .url = config->url,
                               .selectors = selectors,
                               .selector_count = sizeof(selectors) / sizeof(selectors[0]),
                               .on_change = on_site_change,
                           });
    x->cloudlet = arena_strdup(&x->life.forever, config->cloudlet);
    x->version = arena_strdup(&x->life.forever, config->version);
    x->mover = (struct mover){.boards = &x->life.boards, .leader = &x->life.leader};
    mover_init(&x->mover);
    x->follow.life = &x->life;
    x->follow.centre = &x->centre;
    x->centre.cloudlet = x->cloudlet;
    follow_init(&x->follow);
    x->owner = (struct mover_owner){settled, x};
    x->upgrade = (struct upgrade){
        .command = arena_strdup(&x->life.forever, config->launch ? config->launch : ""),
        .next_id = &x->life.next_call_id};
    init_centre(x, config);
    return &x->life.role;
}
