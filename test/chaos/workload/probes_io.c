/* What must be refused, or left alone, asked again and again.
 *
 * The ghost: an instance of a process that nobody desires, on a cell that is not there, in a domain
 * that nobody keeps fresh. Whoever stops what is absent without looking at the domain stops it
 * (S8).
 *
 * The deposed: with a converger's certificate, if the target has one ("probes"), a move with the
 * term before the present leader's. It must be refused (S10). */
#include "test/chaos/workload/work.h"

#include "board.pb-c.h"
#include "common/base/random.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/error.pb-c.h"

#include <stdio.h>
#include <string.h>

enum { PROBE_MS = 1000 };
#define GHOST_CELL "chaos-nowhere"

static Models__ActualLRPInstanceKey *ghost_instance(struct arena *a, const struct work *work)
{
    Models__ActualLRPInstanceKey *key =
        arena_message(a, &models__actual_lrpinstance_key__descriptor);
    key->instance_guid = arena_printf(a, "%s-ghost-instance", work->run);
    key->cell_id = arena_strdup(a, GHOST_CELL);
    return key;
}

static struct reply make_ghost(struct worker *w, struct arena *a)
{
    Models__ActualLRPKey *key = arena_message(a, &models__actual_lrpkey__descriptor);
    key->process_guid = arena_printf(a, "%s-ghost", w->work->run);
    key->domain = arena_strdup(a, CHAOS_STALE_DOMAIN);
    Models__ActualLRPNetInfo *net = arena_message(a, &models__actual_lrpnet_info__descriptor);
    net->address = arena_strdup(a, "192.0.2.1");
    Models__StartActualLRPRequest *start =
        arena_message(a, &models__start_actual_lrprequest__descriptor);
    start->actual_lrp_key = key;
    start->actual_lrp_instance_key = ghost_instance(a, w->work);
    start->actual_lrp_net_info = net;
    return worker_ask(
        w, a,
        &(struct asked){.op = "ghost_start",
                        .key = arena_printf(a, "ghost/%s", key->process_guid),
                        .instances = -1,
                        .path = "/v1/actual_lrps/start.r1",
                        .request = &start->base,
                        .answer_type = &models__actual_lrplifecycle_response__descriptor});
}

static void remove_ghost(struct worker *w, struct arena *a)
{
    Models__RemoveActualLRPRequest *request =
        arena_message(a, &models__remove_actual_lrprequest__descriptor);
    request->process_guid = arena_printf(a, "%s-ghost", w->work->run);
    request->actual_lrp_instance_key = ghost_instance(a, w->work);
    worker_ask(w, a,
               &(struct asked){.op = "ghost_remove",
                               .key = arena_printf(a, "ghost/%s", request->process_guid),
                               .instances = -1,
                               .path = "/v1/actual_lrps/remove",
                               .request = &request->base,
                               .answer_type = &models__actual_lrplifecycle_response__descriptor});
}

/* A move that a leader may make at any time: the routes of a running instance are sent again. */
static Board__ApplyRequest *refresh(struct arena *a, const struct work *work,
                                    const struct lead_seen *lead)
{
    Board__ApplyRequest *request = arena_message(a, &board__apply_request__descriptor);
    Board__Move *move = arena_message(a, &board__move__descriptor);
    move->move = arena_strdup(a, "refresh");
    move->subject = arena_message(a, &board__subject__descriptor);
    move->subject->kind = arena_strdup(a, "actual");
    move->subject->key = arena_printf(a, "%s-one/0000000000/0", work->run);
    move->term = arena_message(a, &board__term__descriptor);
    move->term->role = arena_strdup(a, "converger");
    move->term->board_generation = arena_strdup(a, lead->generation);
    move->term->term = lead->term - 1;
    move->instance = arena_message(a, &board__instance_move__descriptor);
    move->instance->domain = arena_strdup(a, CHAOS_DOMAIN);
    move->body_case = BOARD__MOVE__BODY_INSTANCE;
    request->board_generation = arena_strdup(a, lead->generation);
    request->moves = ARENA_ARRAY(a, 1, Board__Move *);
    request->moves[request->n_moves++] = move;
    return request;
}

static void act_deposed(struct worker *w, struct caller *converger, struct arena *a)
{
    const struct target *t = &w->work->target;
    struct lead_seen lead = lead_read(w->work);
    if (lead.term < 2) {
        return;
    }
    const struct target_process *bbs = &t->bbs[worker_draw(w, t->bbs_count)];
    int64_t begin = chaos_now_ns();
    struct reply r =
        caller_post(converger, a, bbs->url, "/v1/board/apply", &refresh(a, w->work, &lead)->base,
                    &board__apply_response__descriptor);
    const Board__ApplyResponse *answer = (const void *)r.message;
    bool told = r.outcome == OUTCOME_OK && answer->n_results == 1;
    Board__MoveResult__Outcome outcome =
        told ? answer->results[0]->outcome : BOARD__MOVE_RESULT__OUTCOME__UNKNOWN;
    const char *why =
        told && answer->results[0]->error ? answer->results[0]->error->message : r.why;
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:s}", "kind", "probe", "probe", "deposed", "bbs",
                  bbs->name, "begin", (json_int_t)begin, "end", (json_int_t)chaos_now_ns(), "term",
                  (json_int_t)(lead.term - 1), "result",
                  outcome == BOARD__MOVE_RESULT__OUTCOME__DONE      ? "accepted"
                  : outcome == BOARD__MOVE_RESULT__OUTCOME__NOTHING ? "nothing"
                  : outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED ? "refused"
                  : r.outcome == OUTCOME_FAILED                     ? "refused"
                                                                    : "unknown");
    json_object_set_new(line, "why", json_string(why ? why : ""));
    record(w->work->recorder, line);
}

void *work_probes(void *worker)
{
    struct worker *w = worker;
    const struct target_identity *identity = &w->work->target.converger;
    struct caller *converger = identity->cert[0] ? caller_new(&w->work->target, identity) : NULL;
    bool made = false;
    while (!atomic_load(&w->work->stop)) {
        SCOPED_ARENA(a);
        made = made || make_ghost(w, &a).outcome == OUTCOME_OK;
        if (converger) {
            act_deposed(w, converger, &a);
        }
        chaos_sleep_ms(PROBE_MS);
    }
    SCOPED_ARENA(a);
    remove_ghost(w, &a);
    caller_free(converger);
    return NULL;
}
