/* The calls of each record, apart, and the search for an order of them. A list is a read of each
 * record of its kind. Where the store was restored from a snapshot the record may be anything. */
#include "test/chaos/judge/checks.h"

#include "common/base/memory.h"
#include "test/chaos/judge/models.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct record_calls {
    struct linear_call *calls;
    struct model_call *about;
    size_t count, room;
    char key[];
};

struct gathering {
    struct map keys;   /* key -> record_calls */
    struct map values; /* text -> its number + 1 as a pointer */
    intptr_t numbers;
};

static int32_t number_of(struct gathering *g, const char *text)
{
    if (!text[0]) {
        return 0;
    }
    void *known = map_get(&g->values, text);
    if (!known) {
        known = (void *)++g->numbers; /* numbers are told apart, and never followed */
        map_put(&g->values, text, known);
    }
    return (int32_t)(intptr_t)known;
}

static bool is_task(const char *key)
{
    return strncmp(key, "task/", 5) == 0;
}

static void add(struct gathering *g, const char *key, const struct call *call, enum call_op op,
                const char *saw)
{
    struct record_calls *r = map_named(&g->keys, key, offsetof(struct record_calls, key));
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 16;
        r->calls = mem_resized(r->calls, r->room, sizeof(*r->calls));
        r->about = mem_resized(r->about, r->room, sizeof(*r->about));
    }
    const char *value = is_task(key) ? saw + strcspn(saw, ":!") : saw; /* how it ended */
    r->about[r->count] =
        (struct model_call){call, op, saw, number_of(g, call->value), number_of(g, value)};
    r->calls[r->count] = (struct linear_call){call->begin, call->end, NULL};
    r->count++;
}

/* Every record that a list is about and that calls of others name. */
static void add_list(struct gathering *g, const struct call *call)
{
    json_t *saw = json_loads(call->saw, 0, NULL);
    for (struct map_node *n = map_from(&g->keys, call->key);
         n && strncmp(map_key(n), call->key, strlen(call->key)) == 0; n = map_next(n)) {
        const char *guid = strchr(map_key(n), '/') + 1;
        const char *value = json_string_value(json_object_get(saw, guid));
        struct call *one = (struct call *)call;
        add(g, map_key(n), one, CALL_GET, value ? value : "");
    }
    json_decref(saw);
}

static bool is_about_records(const struct call *c)
{
    bool reads = c->op == CALL_GET || c->op == CALL_TASK_GET;
    return c->op != CALL_OTHER && c->op != CALL_LIST && !(reads && c->result != CALL_OK) &&
           strchr(c->key, '/');
}

static void gather(struct gathering *g, const struct history *h)
{
    for (size_t i = 0; i < h->calls_count; i++) {
        const struct call *c = &h->calls[i];
        if (is_about_records(c)) {
            add(g, c->key, c, c->op, c->op == CALL_GET || c->op == CALL_TASK_GET ? c->saw : "");
        }
    }
    for (size_t i = 0; i < h->calls_count; i++) {
        if (h->calls[i].op == CALL_LIST && h->calls[i].result == CALL_OK) {
            add_list(g, &h->calls[i]);
        }
    }
}

static int by_call(const void *a, const void *b)
{
    const struct model_call *x = a, *y = b;
    return x->call->begin != y->call->begin
               ? (x->call->begin > y->call->begin) - (x->call->begin < y->call->begin)
               : (x->call->end > y->call->end) - (x->call->end < y->call->end);
}

/* Until when calls are judged together: the next restore. */
static int64_t part_end(const struct history *h, int64_t from)
{
    for (size_t i = 0; i < h->faults_count; i++) {
        if (strncmp(h->faults[i].kind, "restore", 7) == 0 && h->faults[i].begin > from) {
            return h->faults[i].begin;
        }
    }
    return HISTORY_NEVER;
}

static int64_t part_begin(const struct history *h, int64_t end)
{
    for (size_t i = 0; i < h->faults_count; i++) {
        if (h->faults[i].begin == end) {
            return h->faults[i].end ? h->faults[i].end : end;
        }
    }
    return end;
}

static void tell(const struct record_calls *r, size_t first, size_t at, struct verdict *v)
{
    const struct model_call *m = r->calls[at].about;
    struct place lines[8];
    int count = 0;
    lines[count++] = m->call->place;
    for (size_t i = at; i-- > first && count < 8;) {
        lines[count++] = ((const struct model_call *)r->calls[i].about)->call->place;
    }
    verdict_add(v, is_task(r->key) ? PROMISE_S4 : PROMISE_S6, lines, count,
                "%.100s: no order of the calls allows that client %d's call of line %d ended as it "
                "did (saw \"%.60s\")",
                r->key, m->call->client, m->call->place.line, m->saw[0] ? m->saw : m->call->saw);
}

static void judge_record(const struct history *h, struct record_calls *r, struct verdict *v)
{
    bool task = is_task(r->key), first = true;
    qsort(r->about, r->count, sizeof(*r->about), by_call);
    for (int64_t from = 0; from != HISTORY_NEVER; first = false) {
        int64_t end = part_end(h, from);
        size_t count = 0, at = 0;
        for (size_t i = 0; i < r->count; i++) {
            const struct call *c = r->about[i].call;
            bool cut = c->begin >= end || (c->end >= end && c->result != CALL_UNKNOWN);
            if (c->begin >= from && !(end != HISTORY_NEVER && cut)) {
                r->calls[count++] = (struct linear_call){c->begin, c->end, &r->about[i]};
            }
        }
        struct linear_state state = {first  ? 0
                                     : task ? (int)MODEL_TASK_ANYTHING
                                            : (int)MODEL_REGISTER_ANYTHING,
                                     0};
        enum linear_verdict verdict =
            linear_check(r->calls, count, state, task ? model_task : model_register, &at);
        v->looked[task ? PROMISE_S4 : PROMISE_S6] += (int64_t)count;
        v->undecided += verdict == LINEAR_UNDECIDED;
        if (verdict == LINEAR_BAD) {
            tell(r, 0, at, v);
        }
        from = end == HISTORY_NEVER ? end : part_begin(h, end);
    }
}

static void free_record(void *record)
{
    struct record_calls *r = record;
    free(r->calls);
    free(r->about);
    free(r);
}

void chaos_check_calls(const struct history *h, struct verdict *v)
{
    struct gathering g = {.numbers = 0};
    map_init(&g.keys);
    map_init(&g.values);
    gather(&g, h);
    MAP_EACH(&g.keys, n)
    {
        judge_record(h, map_value(n), v);
    }
    map_done(&g.keys, free_record);
    map_done(&g.values, NULL);
}
