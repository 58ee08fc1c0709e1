#include "test/chaos/workload/work.h"

#include "models/error.pb-c.h"

#include <stdio.h>
#include <string.h>

uint64_t worker_draw(struct worker *w, uint64_t n)
{
    w->random ^= w->random << 13; /* xorshift: the judge does not depend on it */
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % n;
}

void lead_note(struct work *work, const char *generation, int64_t term)
{
    pthread_mutex_lock(&work->lead_lock);
    if (term > work->lead.term || strcmp(generation, work->lead.generation) != 0) {
        work->lead.term = term;
        snprintf(work->lead.generation, sizeof(work->lead.generation), "%s", generation);
    }
    pthread_mutex_unlock(&work->lead_lock);
}

struct lead_seen lead_read(struct work *work)
{
    pthread_mutex_lock(&work->lead_lock);
    struct lead_seen seen = work->lead;
    pthread_mutex_unlock(&work->lead_lock);
    return seen;
}

static const char *const outcome_words[] = {
    [OUTCOME_OK] = "ok", [OUTCOME_FAILED] = "failed", [OUTCOME_UNKNOWN] = "unknown"};

static json_t *seen_of(const struct asked *ask, const struct reply *r)
{
    if (r->outcome == OUTCOME_OK) {
        return ask->see ? ask->see(r->message) : json_null();
    }
    return r->error_type == MODELS__ERROR__TYPE__ResourceExists     ? json_string("exists")
           : r->error_type == MODELS__ERROR__TYPE__ResourceNotFound ? json_string("not_found")
                                                                    : json_string("error");
}

/* A get that finds nothing has seen that. */
static void tell_absence(const struct asked *ask, struct reply *r, json_t **saw)
{
    if (ask->see && r->error_type == MODELS__ERROR__TYPE__ResourceNotFound) {
        r->outcome = OUTCOME_OK;
        r->message = NULL;
        json_decref(*saw);
        *saw = json_null();
    }
}

struct reply worker_ask(struct worker *w, struct arena *a, const struct asked *ask)
{
    const struct target *t = &w->work->target;
    const struct target_process *bbs = &t->bbs[worker_draw(w, t->bbs_count)];
    int64_t begin = chaos_now_ns();
    struct reply r = caller_post(w->caller, a, bbs->url, ask->path, ask->request, ask->answer_type);
    int64_t end = chaos_now_ns();
    json_t *saw = seen_of(ask, &r);
    tell_absence(ask, &r, &saw);
    json_t *line = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:s, s:o}", "kind", "call",
                             "client", w->number, "bbs", bbs->name, "op", ask->op, "key", ask->key,
                             "begin", (json_int_t)begin, "end", (json_int_t)end, "result",
                             outcome_words[r.outcome], "saw", saw);
    if (ask->value) {
        json_object_set_new(line, "value", json_string(ask->value));
    }
    if (ask->instances >= 0) {
        json_object_set_new(line, "instances", json_integer(ask->instances));
    }
    if (r.outcome != OUTCOME_OK) {
        json_object_set_new(line, "why", json_string(r.why)); /* NULL if it is no UTF-8: left out */
    }
    if (!r.answered && r.outcome == OUTCOME_UNKNOWN) {
        json_object_del(line, "end"); /* it was never answered */
        json_object_set_new(line, "gave_up", json_integer((json_int_t)end));
    }
    record(w->work->recorder, line);
    return r;
}
