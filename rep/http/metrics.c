#include "rep/http/metrics.h"

#include "common/codec/json.h"
#include "rep/inside.h"

#include <string.h>

#define MEASURE_TIMEOUT_NS (5 * SECOND_NS)
#define BYTES_A_MB ((uint64_t)1024 * 1024)

bool metrics_ask(struct rep *r, uint64_t request_id, struct effects *out)
{
    struct metrics *m = &r->metrics;
    if (m->count == METRICS_WAITING_MAX) {
        return false;
    }
    m->waiting[m->count++] = request_id;
    if (!m->verb_id) {
        m->verb_id = r->next_id++;
        effects_add(out, EFFECT_VERB)->verb =
            (struct verb_call){.id = m->verb_id,
                               .verb = VERB_MEASURE,
                               .deadline_ns = r->now.mono_ns + MEASURE_TIMEOUT_NS};
    }
    return true;
}

static uint64_t quota(int32_t mb)
{
    return mb > 0 ? (uint64_t)mb * BYTES_A_MB : 0;
}

/* Its definition's metrics_guid, else what its metrics are tagged with. */
static char *metric_guid(const Rep__Note *about)
{
    char *guid = about->metric_guid;
    for (size_t i = 0; !*guid && i < about->n_metric_tags; i++) {
        if (strcmp(about->metric_tags[i]->key, "source_id") == 0) {
            guid = about->metric_tags[i]->value;
        }
    }
    return guid;
}

static Cell__ContainerMetrics *figures(struct arena *a, const Rep__Note *about,
                                       const struct container_usage *u)
{
    Cell__ContainerMetrics *m = arena_message(a, &cell__container_metrics__descriptor);
    m->metric_guid = metric_guid(about);
    m->cpu_usage_fraction = u->cpu_fraction;
    m->disk_usage_bytes = u->disk_bytes;
    m->disk_quota_bytes = quota(about->disk_mb);
    m->memory_usage_bytes = u->memory_bytes;
    m->memory_quota_bytes = quota(about->memory_mb);
    return m;
}

static Cell__CellMetrics *collect(const struct rep *r, struct arena *a,
                                  const struct verb_answer *answer)
{
    Cell__CellMetrics *all = arena_message(a, &cell__cell_metrics__descriptor);
    all->cell_id = (char *)r->config.cell_id;
    all->lrps = ARENA_ARRAY(a, answer->usage_count, Cell__LRPMetrics *);
    all->units = ARENA_ARRAY(a, answer->usage_count, Cell__UnitMetrics *);
    all->tasks = ARENA_ARRAY(a, answer->usage_count, Cell__TaskMetrics *);
    for (size_t i = 0; i < answer->usage_count; i++) {
        const struct container *c = container_find(&r->containers, answer->usages[i].guid);
        if (c) {
            c->kind->measured(c, a, figures(a, c->about, &answer->usages[i]), all);
        }
    }
    return all;
}

static void reply_all(struct rep *r, int status, const char *type, struct bytes body,
                      struct effects *out)
{
    struct metrics *m = &r->metrics;
    for (size_t i = 0; i < m->count; i++) {
        effects_reply(out, m->waiting[i], status, type, body);
    }
    m->count = 0;
}

void metrics_answer(struct rep *r, const struct verb_answer *answer, struct effects *out)
{
    SCOPED_BUF(body);
    struct err err;
    if (answer->id != r->metrics.verb_id) {
        return;
    }
    r->metrics.verb_id = 0;
    if (answer->outcome != VERB_DONE) {
        buf_printf(&body, "the containers were not measured: %s\n", answer->text);
        reply_all(r, 500, "text/plain; charset=utf-8", buf_bytes(&body), out);
    } else if (json_encode(&collect(r, out->arena, answer)->base, 0, &body, &err) < 0) {
        reply_all(r, 500, "text/plain; charset=utf-8", bytes_of(err.text), out);
    } else {
        reply_all(r, 200, "application/json", buf_bytes(&body), out);
    }
}

void metrics_hangup(struct rep *r, uint64_t request_id)
{
    struct metrics *m = &r->metrics;
    for (size_t i = 0; i < m->count; i++) {
        if (m->waiting[i] == request_id) {
            m->waiting[i] = m->waiting[--m->count];
            return;
        }
    }
}
