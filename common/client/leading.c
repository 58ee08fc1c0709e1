#include "common/client/leading.h"

#include <assert.h>

/* ---- The step -------------------------------------------------------------------------------- */

static void end(struct leading *l, int code, const char *text, struct effects *out)
{
    l->ended = true;
    effects_exit(out, code, text);
}

bool leading_begin(struct leading *l, const struct event *ev, struct effects *out)
{
    l->now = ev->now;
    if (l->unusable && !l->ended) {
        end(l, LEADING_EXIT_USAGE, l->unusable_why.text, out);
    }
    if (l->ended) {
        return false;
    }
    feed_client_step(&l->feed_client, ev, out);
    return true;
}

enum leader_change leading_elect(struct leading *l, const struct event *ev, struct effects *out)
{
    if (ev->kind == EVENT_STOP && l->stop_ns == NEVER_NS) {
        l->stop_ns = ev->now.mono_ns + LEADING_STOP_WAIT_NS;
        leader_stop(&l->leader, ev, out);
    }
    enum leader_change change = leader_step(&l->leader, ev, out);
    if (change == LEADER_ELECTED) {
        effects_log(out, LOG_INFO_LEVEL, "leads", "term=%lld board_generation=%s",
                    (long long)l->leader.term, l->leader.board_generation);
    } else if (change == LEADER_DEPOSED) {
        effects_log(out, LOG_WARN_LEVEL, "leads no more", "id=%s", l->leader.id);
    }
    return change;
}

void leading_end(struct leading *l, const struct event *ev, struct effects *out)
{
    if (l->stop_ns == NEVER_NS) {
        return;
    }
    if (leader_stopped(&l->leader) || ev->now.mono_ns >= l->stop_ns) {
        end(l, 0, "stopped as asked", out);
    }
    effects_due(out, l->stop_ns);
}

static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct leading *l = context;
    leader_change(&l->leader, change, key, record, l->now);
    l->on_change(l, change, key, record, out);
}

/* ---- Making it ------------------------------------------------------------------------------- */

void leading_refuse(struct leading *l, const struct err *why)
{
    if (!l->unusable) {
        l->unusable = true;
        l->unusable_why = *why;
    }
}

static char *text_of(struct arena *a, const char *text)
{
    return arena_strdup(a, text ? text : "");
}

static void init_selectors(struct leading *l, const struct leading_config *c)
{
    assert(c->selector_count <= LEADING_SELECTORS_MAX);
    for (size_t i = 0; i < c->selector_count; i++) {
        board__selector__init(&l->selectors[i]);
        l->selectors[i].type = text_of(&l->forever, c->selectors[i].type);
        l->selectors[i].state = text_of(&l->forever, c->selectors[i].state);
        l->selectors[i].key_prefix = text_of(&l->forever, c->selectors[i].key_prefix);
        l->selector_list[i] = &l->selectors[i];
    }
}

void leading_init(struct leading *l, const struct leading_config *c)
{
    *l = (struct leading){
        .role.ops = c->ops, .next_call_id = 1, .on_change = c->on_change, .stop_ns = NEVER_NS};
    arena_init(&l->forever);
    l->name = arena_strdup(&l->forever, c->name);
    init_selectors(l, c);
    struct err err = {0};
    if (boards_init(&l->boards, &l->forever, c->boards, &l->next_call_id, &err) < 0) {
        leading_refuse(l, &err);
    }
    l->feed_client = (struct feed_client){.boards = &l->boards,
                                    .selectors = l->selector_list,
                                    .selector_count = c->selector_count,
                                    .on_change = on_change,
                                    .context = l,
                                    .back_off_max_ns = LEADING_BACK_OFF_MAX_NS};
    feed_client_init(&l->feed_client);
    l->leader = (struct leader){.boards = &l->boards,
                                .feed_client = &l->feed_client,
                                .role = c->lead_name ? c->lead_name : c->ops->name,
                                .url = arena_strdup(&l->forever, c->url)};
    leader_init(&l->leader);
}

void leading_done(struct leading *l)
{
    leader_done(&l->leader);
    feed_client_done(&l->feed_client);
    arena_done(&l->forever);
}
