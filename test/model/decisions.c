#include "test/model/decisions.h"

#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/base/message.h"
#include "common/contract/plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char process[] = "p", domain[] = "d", definition[] = "v", generation[] = "g";
#define NOW_NS (1000000 * SECOND_NS)

int model_cell_of(int who)
{
    assert(who != MODEL_NOBODY);
    return (who - 1) / MODEL_SLOTS;
}

static bool of_rep(int move)
{
    return move < HARMONY_ACTION_COUNT;
}

static const char *name_of(int move)
{
    static const char *const repairs[] = {"create", "suspect", "resolve",
                                          "vacate", "restart", "stop"};
    return of_rep(move) ? harmony_action_name((enum harmony_action)move)
                        : repairs[move - MODEL_CREATE];
}

static const struct move_row *row_of(int move)
{
    const struct move_row *row = move_row_named(&lrp_moves, name_of(move));
    assert(row);
    return row;
}

/* ---- Numbers become records ------------------------------------------------------------------ */

static Models__ActualLRPInstanceKey *instance_key(struct arena *a, int who)
{
    Models__ActualLRPInstanceKey *k = arena_message(a, &models__actual_lrpinstance_key__descriptor);
    if (who != MODEL_NOBODY) {
        k->instance_guid = arena_printf(a, "%d", who);
        k->cell_id = arena_printf(a, "cell-%d", model_cell_of(who));
    }
    return k;
}

/* What waits has waited long enough; what runs has not run for long. */
static Models__ActualLRP *record(struct arena *a, const struct model_question *q, int presence)
{
    const struct model_record *m = &q->at[presence];
    if (m->state == ACTUAL_LRP_NONE) {
        return NULL;
    }
    Models__ActualLRP *r = arena_message(a, &models__actual_lrp__descriptor);
    Models__ActualLRPKey *key = arena_message(a, &models__actual_lrpkey__descriptor);
    key->process_guid = process;
    key->domain = domain;
    r->actual_lrp_key = key;
    r->actual_lrp_instance_key = instance_key(a, m->who);
    actual_set_state(r, m->state);
    actual_set_routable(r, m->state == ACTUAL_LRP_RUNNING);
    r->presence = (Models__ActualLRP__Presence)presence;
    r->stopping = m->stopping;
    r->definition_id = m->who ? definition : (char *)(uintptr_t)protobuf_c_empty_string;
    r->crash_count = q->immediate ? 0 : 5;
    r->since = m->state == ACTUAL_LRP_RUNNING ? NOW_NS : 0;
    return r;
}

static const Models__DesiredLRP *desired(struct arena *a)
{
    Models__DesiredLRP *d = arena_message(a, &models__desired_lrp__descriptor);
    d->process_guid = process;
    d->domain = domain;
    d->instances = 1;
    d->modification_tag = arena_message(a, &models__modification_tag__descriptor);
    d->modification_tag->epoch = definition;
    return d;
}

static const Board__RemovalRecord *removal(struct arena *a)
{
    Board__RemovalRecord *r = arena_message(a, &board__removal_record__descriptor);
    r->process_guid = process;
    r->definition_id = definition;
    r->board_generation = generation;
    return r;
}

/* The board has incarnation 2; who gives another gives 1. */
static const Board__CellRecord *cell(struct arena *a, int state)
{
    if (state == CELL_NONE) {
        return NULL;
    }
    Board__CellRecord *r = arena_message(a, &board__cell_record__descriptor);
    r->state = state == CELL_LOST ? BOARD__CELL_RECORD__STATE__LOST
                                  : BOARD__CELL_RECORD__STATE__PRESENT;
    r->incarnation = 2;
    return r;
}

static Board__Move *move_of(struct arena *a, const struct model_question *q)
{
    Board__Move *m =
        move_new_instance(a, name_of(q->move), process, 0, q->presence, arena_strdup(a, domain));
    if (of_rep(q->move)) {
        m->instance->actual_lrp_instance_key = instance_key(a, q->who);
        m->instance->definition_id = definition;
        m->incarnation = q->current ? 2 : 1;
        return m;
    }
    m->term = arena_message(a, &board__term__descriptor);
    m->term->role = arena_strdup(a, actor_name(ACTOR_CONVERGER));
    m->term->board_generation = generation;
    m->term->term = 1;
    return m;
}

/* ---- What its row reads (move_gather() of bbs/lrp/move.c) ------------------------------------ */

/* Of a repair, whose cell is read. */
static const struct model_record *about(const struct model_question *q)
{
    switch ((enum lrp_about)row_of(q->move)->about) {
    case ABOUT_SUSPECT:
        return &q->at[MODELS__ACTUAL_LRP__PRESENCE__SUSPECT];
    case ABOUT_EVACUATING:
        return &q->at[MODELS__ACTUAL_LRP__PRESENCE__EVACUATING];
    default:
        return &q->at[MODELS__ACTUAL_LRP__PRESENCE__ORDINARY];
    }
}

bool model_reads_desired(int move)
{
    /* A rep's move names its definition. */
    unsigned bits = READS_DESIRED | (of_rep(move) ? READS_DESIRED_OF_DEFINITION : 0);
    return row_of(move)->reads & bits;
}

bool model_reads_cell(const struct model_question *q, int which)
{
    if (of_rep(q->move)) {
        return model_cell_of(q->who) == which; /* speaker_gather() */
    }
    int who = about(q)->who;
    return (row_of(q->move)->reads & READS_CELL) && who != MODEL_NOBODY &&
           model_cell_of(who) == which;
}

static void gather_around(struct arena *a, const struct model_question *q, struct move_snapshot *s)
{
    unsigned reads = row_of(q->move)->reads;
    if ((reads & READS_CELL) && about(q)->who != MODEL_NOBODY) {
        s->cell = cell(a, q->cell[model_cell_of(about(q)->who)]);
    }
    if ((reads & READS_DOMAIN) || ((reads & READS_DOMAIN_OF_KEY) && !s->ordinary)) {
        Board__DomainRecord *d = arena_message(a, &board__domain_record__descriptor);
        d->domain = domain; /* without expiry: fresh */
        s->domain = d;
        s->domain_seen.in_this_board_generation = true;
    }
    if ((reads & READS_REMOVAL) && !s->ordinary && q->removed) {
        s->removal = removal(a);
    }
}

static void gather(struct arena *a, const struct model_question *q, const Board__Move *m,
                   struct move_snapshot *s)
{
    *s = (struct move_snapshot){.policy = &SETTINGS_DEFAULT.crash,
                                .by = {.leader_lock_term = 1, .board_generation = generation}};
    bool named = move_place(a, m, &s->place);
    assert(named);
    (void)named;
    s->ordinary = record(a, q, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY);
    s->evacuating = record(a, q, MODELS__ACTUAL_LRP__PRESENCE__EVACUATING);
    s->suspect = record(a, q, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
    s->ordinary_seen.since_ns = s->ordinary && s->ordinary->since ? NOW_NS : 0;
    if (model_reads_desired(q->move) && q->desired) {
        s->desired = desired(a);
    }
    if (of_rep(q->move)) {
        s->by.cell = cell(a, q->cell[model_cell_of(q->who)]);
    }
    gather_around(a, q, s);
}

/* ---- Records become numbers ------------------------------------------------------------------ */

static struct model_record numbers(const Models__ActualLRP *r)
{
    struct model_record m = {0};
    if (r) {
        m.state = (uint8_t)actual_state(r);
        m.who = actual_has_instance(r) ? (uint8_t)atoi(r->actual_lrp_instance_key->instance_guid)
                                       : MODEL_NOBODY;
        m.stopping = r->stopping;
    }
    return m;
}

static void read_plan(const struct plan *p, struct model_answer *ret)
{
    *ret = (struct model_answer){.verdict = (uint8_t)p->verdict,
                                 .type = p->verdict == PLAN_REFUSE ? (uint8_t)p->error_type : 0,
                                 .keep = p->keep_container,
                                 .shown = MODEL_PRESENCES};
    for (const struct change *c = p->changes; c; c = c->next) {
        int presence = c->key[strlen(c->key) - 1] - '0'; /* actual/<guid>/<index>/<presence> */
        assert(presence >= 0 && presence < MODEL_PRESENCES && !(ret->writes & 1 << presence));
        ret->writes |= (uint8_t)(1 << presence);
        ret->to[presence] = numbers((const Models__ActualLRP *)c->message);
    }
    if (p->record) {
        const Models__ActualLRP *shown = (const Models__ActualLRP *)p->record;
        ret->shown = (uint8_t)shown->presence;
        ret->record = numbers(shown);
    }
}

static void decide(const struct model_question *q, struct model_answer *ret)
{
    SCOPED_ARENA(a);
    struct random random;
    random_seed(&random, (uint64_t[2]){1, 1});
    Board__Move *m = move_of(&a, q);
    const struct op_input in = {.actor = of_rep(q->move) ? ACTOR_REP : ACTOR_CONVERGER,
                                .peer_name = of_rep(q->move)
                                                 ? instance_key(&a, q->who)->cell_id
                                                 : "",
                                .trace_id = "",
                                .boot_id = "",
                                .request = &m->base,
                                .now = {.mono_ns = NOW_NS, .wall_ns = NOW_NS},
                                .random = &random};
    struct move_snapshot s;
    struct plan p;
    gather(&a, q, m, &s);
    plan_init(&p, &a);
    row_of(q->move)->op->decide(&s, &in, &p);
    read_plan(&p, ret);
}

/* ---- Answers are kept ------------------------------------------------------------------------ */

enum { KEPT_MAX = 1 << 19 };

static struct kept {
    struct model_question q;
    bool used;
    struct model_answer answer;
} *kept;
static size_t kept_count;

static size_t hash(const struct model_question *q)
{
    const unsigned char *bytes = (const unsigned char *)q;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < sizeof(*q); i++) {
        h = (h ^ bytes[i]) * 1099511628211u;
    }
    return (size_t)(h ^ h >> 29) % KEPT_MAX;
}

const struct model_answer *model_decide(const struct model_question *q)
{
    if (!kept && !(kept = calloc(KEPT_MAX, sizeof(*kept)))) {
        abort();
    }
    size_t at = hash(q);
    while (kept[at].used && memcmp(&kept[at].q, q, sizeof(*q)) != 0) {
        at = (at + 1) % KEPT_MAX;
    }
    if (!kept[at].used) {
        if (++kept_count > KEPT_MAX / 2) {
            fprintf(stderr, "the model asks more than %d questions: raise KEPT_MAX\n",
                    KEPT_MAX / 2);
            abort();
        }
        kept[at].q = *q;
        kept[at].used = true;
        decide(q, &kept[at].answer);
    }
    return &kept[at].answer;
}

/* ---- A rep ----------------------------------------------------------------------------------- */

enum harmony_action model_judge(bool draining, enum harmony_container container,
                                enum harmony_record record_is)
{
    return draining ? harmonise_evacuating(container, record_is).action
                    : harmonise(container, record_is).action;
}

enum harmony_action model_judge_refused(bool draining, enum harmony_container container,
                                        enum harmony_record record_is,
                                        enum harmony_action refused, int type)
{
    Models__Error__Type t = (Models__Error__Type)type;
    return draining ? harmonise_evacuating_refused(container, record_is, refused, t).action
                    : harmonise_refused(container, record_is, refused, t).action;
}
