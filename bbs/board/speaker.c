#include "bbs/board/speaker.h"

#include <string.h>

void speaker_gather(struct view *v, const struct op_input *in, struct speaker *ret)
{
    struct arena *a = view_arena(v);
    ret->board_generation = view_board_generation(v);
    if (in->actor == ACTOR_REP) {
        ret->cell = view_message(v, key_cell(a, in->peer_name));
    } else if (in->actor & ACTORS_LEADERS) {
        const struct seen *leader_lock = view_get(v, key_lead(a, actor_name(in->actor)));
        ret->leader_lock_term = leader_lock ? leader_lock->create_revision : 0;
    }
}

bool cell_is_absent(const Board__CellRecord *cell)
{
    return !cell || cell->state != BOARD__CELL_RECORD__STATE__PRESENT;
}

const char *incarnation_refused(struct arena *a, const Board__CellRecord *cell, const char *cell_id,
                                uint64_t incarnation)
{
    if (cell_is_absent(cell)) {
        return arena_printf(a, "cell %s is %s: register the cell first", cell_id,
                            cell ? "lost" : "unknown");
    }
    if (cell->incarnation != incarnation) {
        return arena_printf(a, "incarnation %llu of cell %s is over: the board's is %llu",
                            (unsigned long long)incarnation, cell_id,
                            (unsigned long long)cell->incarnation);
    }
    return NULL;
}

const char *term_refused(struct arena *a, const char *role, int64_t stands, int64_t term)
{
    if (stands && stands == term) {
        return NULL;
    }
    return arena_printf(a, "term %lld of the %s is over: the board's is %lld", (long long)term,
                        role, (long long)stands);
}

/* Why the leader may not speak; NULL if it may. */
static const char *leader_refused(const struct speaker *s, enum actor actor,
                                  const Board__Term *term, struct arena *a)
{
    const char *role = actor_name(actor);
    if (!term || strcmp(term->role, role) != 0 ||
        strcmp(term->board_generation, s->board_generation) != 0) {
        return arena_printf(a, "a move of the %s needs its term in board generation %s", role,
                            s->board_generation);
    }
    return term_refused(a, role, s->leader_lock_term, term->term);
}

bool speaker_in_term(const struct speaker *s, const struct op_input *in, const Board__Term *term,
                     struct plan *p)
{
    const char *why = leader_refused(s, in->actor, term, p->arena);
    if (why) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s", why);
    }
    return !why;
}

bool speaker_authorised(const struct speaker *s, const struct op_input *in, struct plan *p)
{
    const Board__Move *m = in->request;
    const char *why = NULL;
    if (in->actor == ACTOR_REP) {
        why = incarnation_refused(p->arena, s->cell, in->peer_name, m->incarnation);
    } else if (in->actor & ACTORS_LEADERS) {
        return speaker_in_term(s, in, m->term, p);
    }
    if (why) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s", why);
    }
    return !why;
}

bool speaker_authorised_for(const struct speaker *s, const struct op_input *in, const char *cell_id,
                            const char *things, struct plan *p)
{
    if (in->actor == ACTOR_REP && strcmp(cell_id, in->peer_name) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest, "cell %s may not move %s of cell %s",
                    in->peer_name, things, cell_id[0] ? cell_id : "(none)");
        return false;
    }
    return speaker_authorised(s, in, p);
}
