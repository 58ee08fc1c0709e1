/* DesiredLRPs: desire, update, remove and their reads (behaviour.md 8); infos.c has the partial
 * ones. A DesiredLRP is two records, so a list is the copy's scheduling parts joined with the run
 * parts, which are fetched. */
#include "bbs/lrp/desired.h"
#include "bbs/lrp/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/find_desired.h"
#include "bbs/route/records.h"
#include "bbs/route/route.h"
#include "common/base/map.h"
#include "common/model/definition_views.h"

#include <stdlib.h>
#include <string.h>

/* Up to so many run parts are fetched one by one, beyond it all of them at once. */
enum { FETCH_SINGLY_MAX = 256, GET_ATTEMPTS_MAX = 3 };

/* ---- writes ---------------------------------------------------------------------------------- */

/* The key of the job that the plan opened, NULL if none. */
static const char *opened_job(const struct plan *p)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        if (c->message && key_type(c->key) == RECORD_JOB) {
            return c->key;
        }
    }
    return NULL;
}

/* Whether the copy, already past the commit, has no such job any more. */
static bool job_over(struct ask *ask, const char *key, int64_t revision, struct arena *a)
{
    struct view *v = board_view(ask->bbs->board, a);
    return view_revision(v) >= revision && !view_peek(v, key);
}

/* Answers after the last slice (DESIGN 2, Jobs). */
static void answer_after_job(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    const char *job = result->end == OP_DECIDED ? opened_job(result->plan) : NULL;
    if (job && !job_over(ask, job, result->revision, out->arena)) {
        if (!waiters_add(&ask->bbs->waiters, ask->request_id, job, board_now(ask->bbs->board))) {
            answer_unavailable(out, ask->request_id);
        }
    } else {
        ask_answer(context, result, out);
    }
}

void route_desire(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_desire(&v, ((const Models__DesireLRPRequest *)ask->in.request)->desired_lrp);
    if (ask_valid(ask, &v, out)) {
        board_op(ask->bbs->board, &desire_row, &ask->in, ask->arena, answer_after_job, ask, out);
    }
}

void route_update(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_update(&v, (const Models__UpdateDesiredLRPRequest *)ask->in.request);
    if (ask_valid(ask, &v, out)) {
        board_op(ask->bbs->board, &update_row, &ask->in, ask->arena, answer_after_job, ask, out);
    }
}

/* Answers before the instances are gone. */
void route_remove_desired(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_remove_desired(&v, (const Models__RemoveDesiredLRPRequest *)ask->in.request);
    if (ask_valid(ask, &v, out)) {
        ask_op(ask, &remove_row, out);
    }
}

/* ---- whole DesiredLRPs ----------------------------------------------------------------------- */

static bool has_source_tag(const Models__DesiredLRP *d, const char **ret_value)
{
    for (size_t i = 0; i < d->n_metric_tags; i++) {
        if (strcmp(d->metric_tags[i]->key, "source_id") == 0) {
            *ret_value = d->metric_tags[i]->value ? d->metric_tags[i]->value->static_ : "";
            return true;
        }
    }
    return false;
}

static struct blob *encoded(const ProtobufCMessage *m)
{
    struct buf b;
    buf_init(&b);
    record_encode(&b, m);
    struct blob *blob = blob_new(b.data, b.size);
    buf_done(&b);
    return blob;
}

/* The two legacy names of the metric source (behaviour.md 8.5): a few fields to be joined with the
 * rest, or NULL. */
static struct blob *harmonised(const Models__DesiredLRP *d)
{
    Models__DesiredLRP extra = MODELS__DESIRED_LRP__INIT;
    const char *value;
    if (has_source_tag(d, &value)) {
        if (d->metrics_guid[0] || !value[0]) {
            return NULL;
        }
        extra.metrics_guid = (char *)(uintptr_t)value;
        return encoded(&extra.base);
    }
    if (!d->metrics_guid[0]) {
        return NULL;
    }
    Models__MetricTagValue source = MODELS__METRIC_TAG_VALUE__INIT;
    source.static_ = d->metrics_guid;
    Models__DesiredLRP__MetricTagsEntry entry = MODELS__DESIRED_LRP__METRIC_TAGS_ENTRY__INIT;
    char name[] = "source_id";
    entry.key = name;
    entry.value = &source;
    Models__DesiredLRP__MetricTagsEntry *entries[] = {&entry};
    extra.n_metric_tags = 1;
    extra.metric_tags = entries;
    return encoded(&extra.base);
}

/* What is asked for: a list, or one DesiredLRP. */
struct question {
    struct bbs *bbs;
    uint64_t request_id;
    bool r2;                  /* without image layers */
    const char *process_guid; /* NULL for a list */
    unsigned attempts;        /* of a get: how often it has looked */
};

/* An answer under way: the scheduling parts, waiting for their run parts. Lives in the fetch's
 * arena. */
struct listing {
    struct question question;
    size_t count;
    struct {
        struct blob *scheduling; /* counted */
        struct blob *extra;      /* counted; may be NULL */
        const char *run_key;
    } *list;
};

static void get_again(const struct question *q, struct effects *out);

static const ProtobufCMessage *r2_view(struct arena *a, ProtobufCMessage *decoded)
{
    desired_as_r2(a, (Models__DesiredLRP *)decoded);
    return decoded;
}

static const struct record_viewer r2_viewer = {&models__desired_lrp__descriptor, r2_view};

static void add_desired(struct records *records, struct blob *const parts[RECORD_PARTS], bool r2)
{
    if (r2 && desired_has_layers(record_body(blob_bytes(parts[1])))) {
        records_add_view(records, parts, &r2_viewer);
    } else {
        records_add(records, parts);
    }
}

/* Without its run part an LRP was removed meanwhile: a get looks again, for another may be desired
 * under its name. A list reads all run parts at the revision of its scheduling parts, so that it is
 * the board at one instant; there none is missing but what this version cannot read. */
static void answer_listing(struct listing *l, struct map *runs, struct effects *out)
{
    struct records *records = records_new(l->count);
    size_t whole = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct blob *run = map_get(runs, l->list[i].run_key);
        if (run) {
            add_desired(records,
                        (struct blob *const[RECORD_PARTS]){l->list[i].scheduling, run,
                                                           l->list[i].extra},
                        l->question.r2);
            whole++;
        }
    }
    if (l->question.process_guid && whole == 0) {
        records_free(records);
        l->question.attempts++;
        get_again(&l->question, out);
    } else {
        records_answer(records, l->question.request_id, out);
    }
}

static void runs_fetched(void *context, const struct seen *list, size_t count, const char *text,
                         struct effects *out)
{
    struct listing *l = context;
    if (text) {
        answer_unavailable(out, l->question.request_id);
    } else {
        struct map runs;
        map_init(&runs);
        for (size_t i = 0; i < count; i++) {
            map_put(&runs, list[i].key, list[i].blob);
        }
        answer_listing(l, &runs, out);
        map_done(&runs, NULL);
    }
    for (size_t i = 0; i < l->count; i++) {
        blob_unref(l->list[i].scheduling);
        blob_unref(l->list[i].extra);
    }
}

static struct question question_copy(struct arena *a, const struct question *q)
{
    struct question copy = *q;
    copy.process_guid = q->process_guid ? arena_strdup(a, q->process_guid) : NULL;
    return copy;
}

/* Notes a scheduling part, decoded in `scratch`; false when this version cannot read it. */
static bool note_part(struct listing *l, struct blob *scheduling, struct arena *a,
                      struct arena *scratch)
{
    const Models__DesiredLRP *d = found_desired(scratch, scheduling);
    if (!d) {
        return false;
    }
    const char *epoch = d->modification_tag ? d->modification_tag->epoch : "";
    l->list[l->count].scheduling = blob_ref(scheduling);
    l->list[l->count].extra = harmonised(d);
    l->list[l->count].run_key = key_run(a, d->process_guid, epoch);
    l->count++;
    return true;
}

/* Fetches the run parts of what was found, as they stood at `revision` (0 = now), then answers. */
static void fetch_runs(const struct question *q, struct blob *const *found, size_t count,
                       int64_t revision, struct effects *out)
{
    struct arena *a = board_arena(), scratch;
    struct listing *l = ARENA_NEW(a, struct listing);
    l->question = question_copy(a, q);
    l->list = arena_array(a, count, sizeof(*l->list));
    const char **keys = ARENA_ARRAY(a, count + 1, const char *);
    arena_init(&scratch);
    for (size_t i = 0; i < count; i++) {
        if (note_part(l, found[i], a, &scratch)) {
            keys[l->count - 1] = l->list[l->count - 1].run_key;
        }
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    count = l->count;
    if (count > FETCH_SINGLY_MAX) {
        keys[0] = arena_printf(a, "%s/", record_type_name(RECORD_RUN));
        count = 1;
    }
    board_fetch(q->bbs->board, a, keys, count, revision, runs_fetched, l, out);
}

static void list_read(struct ask *ask, struct view *v, bool r2, struct effects *out)
{
    const Models__DesiredLRPsRequest *r = (const Models__DesiredLRPsRequest *)ask->in.request;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct blob **list;
    size_t count = find_desired(v, r, r->domain, &list);
    if (count == 0) {
        answer_well(out, ask->request_id);
        return;
    }
    struct question q = {.bbs = ask->bbs, .request_id = ask->request_id, .r2 = r2};
    fetch_runs(&q, list, count, view_revision(v), out);
}

static void list_r2_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    list_read(context, v, true, out);
}

static void list_r3_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    list_read(context, v, false, out);
}

void route_list_desired_r2(struct ask *ask, struct effects *out)
{
    ask_read(ask, list_r2_read, out);
}

void route_list_desired(struct ask *ask, struct effects *out)
{
    ask_read(ask, list_r3_read, out);
}

static void not_found(uint64_t request_id, struct effects *out)
{
    answer_error(out, request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                 error_text(MODELS__ERROR__TYPE__ResourceNotFound));
}

static void get_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    const struct question *q = context;
    if (!v) {
        answer_unavailable(out, q->request_id);
        return;
    }
    const struct seen *seen = view_peek(v, key_desired(view_arena(v), q->process_guid));
    if (!seen) {
        not_found(q->request_id, out);
        return;
    }
    fetch_runs(q, (struct blob *const[]){seen->blob}, 1, 0, out);
}

static void get_again(const struct question *q, struct effects *out)
{
    if (q->attempts >= GET_ATTEMPTS_MAX) { /* it was there each time: "not found" would be untrue */
        answer_unavailable(out, q->request_id);
        return;
    }
    struct arena *a = board_arena();
    struct question *again = ARENA_NEW(a, struct question);
    *again = question_copy(a, q);
    board_barrier(q->bbs->board, a, get_read, again, out);
}

static void get(struct ask *ask, bool r2, struct effects *out)
{
    const char *guid =
        ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid;
    struct validation v;
    validation_init(&v);
    valid_process_guid(&v, guid);
    if (ask_valid(ask, &v, out)) {
        get_again(&(struct question){.bbs = ask->bbs,
                                     .request_id = ask->request_id,
                                     .r2 = r2,
                                     .process_guid = guid},
                  out);
        ask_end(ask);
    }
}

void route_get_desired_r2(struct ask *ask, struct effects *out)
{
    get(ask, true, out);
}

void route_get_desired(struct ask *ask, struct effects *out)
{
    get(ask, false, out);
}
