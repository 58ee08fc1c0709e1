#include "common/base/memory.h"
#include "converger/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_NS (30 * SECOND_NS)

/* ---- The keepers ----------------------------------------------------------------------------- */

static void ignore(void *state, const char *subject, enum move_end end)
{
    (void)state;
    (void)subject;
    (void)end;
}

static void init_keepers(struct converger *x, const struct converger_config *config)
{
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        const struct keeper *keeper = keeper_rows[i].keeper;
        struct kept *k = x->keepers[i] = calloc(1, keeper->state_size);
        assert(k);
        k->x = x;
        k->owner = (struct mover_owner){keeper->settled ? keeper->settled : ignore, k};
    }
    EACH_KEEPER(x, init, config)
}

static void free_keepers(struct converger *x)
{
    EACH_KEEPER(x, done)
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        free(x->keepers[i]);
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void on_reset(struct converger *x)
{
    bool other_board_generation =
        strcmp(x->board_generation, x->life.feed_client.board_generation) != 0;
    EACH_KEEPER(x, reset)
    cache_reset(&x->cache, other_board_generation);
    strcpy(x->board_generation, x->life.feed_client.board_generation);
}

static void change_of_record(struct converger *x, const char *key, const struct followed *record)
{
    enum record_type type = key_type(key);
    cache_change(&x->cache, key, record, x->board_generation, x->life.now);
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        const struct keeper *keeper = keeper_rows[i].keeper;
        if ((keeper_rows[i].kinds >> type & 1) && keeper->change) {
            keeper->change(x->keepers[i], key, record);
        }
    }
}

static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct converger *x = context;
    (void)out;
    switch (change) {
    case FEED_CLIENT_RESET:
        on_reset(x);
        break;
    case FEED_CLIENT_PUT:
        change_of_record(x, key, record);
        break;
    case FEED_CLIENT_DELETE:
        change_of_record(x, key, NULL);
        break;
    case FEED_CLIENT_CURRENT:
        cache_current(&x->cache, &x->life.feed_client);
        EACH_KEEPER(x, current)
        x->by_time = false;
        break;
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void look(struct converger *x, struct effects *out)
{
    bool all = x->life.now.mono_ns >= x->full_ns;
    if (all) {
        x->by_time = x->full_ns != 0;
        x->full_ns = x->life.now.mono_ns + x->interval_ns;
        x->full_passes++;
    }
    EACH_KEEPER(x, look, all, out)
    effects_due(out, x->full_ns);
}

static void leader_lock(struct converger *x, const struct event *ev, struct effects *out)
{
    switch (leading_elect(&x->life, ev, out)) {
    case LEADER_ELECTED:
        x->full_ns = 0;
        liveness_report_restart(&x->life.leader.liveness_report);
        break;
    case LEADER_DEPOSED:
        mover_stop(&x->mover);
        break;
    case LEADER_SAME:
        break;
    }
}

static void step(struct role *role, const struct event *ev, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    if (!leading_begin(&x->life, ev, out)) {
        return;
    }
    leader_lock(x, ev, out);
    if (ev->kind == EVENT_REQUEST) {
        questions_answer(&converger_questions, role, &ev->request, out);
    }
    if (x->life.leader.leads) {
        mover_hear(&x->mover, ev, out);
        EACH_KEEPER(x, hear, ev, out)
        if (x->life.feed_client.current) {
            look(x, out);
        }
        mover_send(&x->mover, ev->now, out);
    } else {
        EACH_KEEPER(x, stand_by)
    }
    leading_end(&x->life, ev, out);
}

/* ---- Making it ------------------------------------------------------------------------------- */

static size_t body_limit(const struct role *role, const char *path)
{
    (void)role;
    return path_body_max(&converger_questions, path, 0);
}

static void free_role(struct role *role)
{
    struct converger *x = (struct converger *)role;
    mover_done(&x->mover);
    free_keepers(x);
    cache_done(&x->cache);
    leading_done(&x->life);
    free(x);
}

static const struct role_ops ops = {
    .name = "converger", .step = step, .body_limit = body_limit, .free = free_role};

/* Of these not every record is followed: what is told of an operation may be long, and is of use
 * here when it has ended. */
static const struct leading_selector narrowed[] = {
    {"progress", "ready", NULL}, {"progress", "deleted", NULL}, {"progress", "failed", NULL}};

static size_t select_narrowed(const char *type, struct leading_selector *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof(narrowed) / sizeof(narrowed[0]); i++) {
        if (strcmp(narrowed[i].type, type) == 0) {
            ret[count++] = narrowed[i];
        }
    }
    return count;
}

/* Its lock, who sends heartbeats, and whatever a keeper is notified of. */
static size_t selectors_of(struct leading_selector *ret)
{
    size_t count = 0;
    uint64_t kinds = 0;
    ret[count++] = (struct leading_selector){"lead", NULL, "lead/converger"};
    ret[count++] = (struct leading_selector){"beat", NULL, NULL};
    for (size_t i = 0; i < KEEPER_COUNT; i++) {
        kinds |= keeper_rows[i].kinds;
    }
    for (int type = 0; type < RECORD_UNKNOWN; type++) {
        if (kinds >> type & 1) {
            const char *name = record_type_name((enum record_type)type);
            size_t few = select_narrowed(name, ret + count);
            ret[count] = few ? ret[count] : (struct leading_selector){name, NULL, NULL};
            count += few ? few : 1;
            assert(count + sizeof(narrowed) / sizeof(narrowed[0]) <= LEADING_SELECTORS_MAX);
        }
    }
    return count;
}

struct role *converger_new(const struct converger_config *config)
{
    struct converger *x = mem_zeroed(sizeof(*x));
    struct leading_selector selectors[LEADING_SELECTORS_MAX];
    assert(!path_table_fault(&converger_questions));
    leading_init(&x->life, &(struct leading_config){
                               .ops = &ops,
                               .name = config->name,
                               .boards = config->boards,
                               .url = config->url,
                               .selectors = selectors,
                               .selector_count = selectors_of(selectors),
                               .on_change = on_change,
                           });
    x->interval_ns = config->interval_ns ? config->interval_ns : INTERVAL_NS;
    x->settings = SETTINGS_DEFAULT;
    cache_init(&x->cache);
    x->mover = (struct mover){.boards = &x->life.boards, .leader = &x->life.leader};
    mover_init(&x->mover);
    init_keepers(x, config);
    return &x->life.role;
}
