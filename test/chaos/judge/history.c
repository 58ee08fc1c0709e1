#include "test/chaos/judge/history.h"

#include "common/base/memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char text[1];
};

void chaos_history_init(struct history *h)
{
    *h = (struct history){.run = "", .stale_domain = ""};
    arena_init(&h->arena);
    map_init(&h->texts);
    h->first = HISTORY_NEVER;
}

void chaos_history_done(struct history *h)
{
    free(h->calls), free(h->events), free(h->stretches), free(h->visits);
    free(h->containers), free(h->faults), free(h->attempts), free(h->steadies), free(h->looks);
    map_done(&h->texts, NULL);
    arena_done(&h->arena);
}

const char *chaos_history_text(struct history *h, const char *text)
{
    char *found = map_get(&h->texts, text);
    if (!found) {
        found = arena_strdup(&h->arena, text);
        map_put(&h->texts, found, found);
    }
    return found;
}

/* ---- A line under way ---- */

struct reading {
    struct history *h;
    struct place place;
    json_t *line;
    struct err *err;
    int result; /* the first thing wrong */
};

static void wrong(struct reading *r, const char *field, const char *what)
{
    if (r->result == 0) {
        r->result = err_set(r->err, ERR_INVALID, "%.80s:%d: \"%s\" %s", r->place.file,
                            r->place.line, field, what);
    }
}

static const char *text_of(struct reading *r, const json_t *from, const char *field, bool needed)
{
    const json_t *v = json_object_get(from, field);
    if ((!v || json_is_null(v)) && !needed) {
        return chaos_history_text(r->h, "");
    }
    if (!json_is_string(v)) {
        wrong(r, field, v ? "is no text" : "is missing");
        return "";
    }
    return chaos_history_text(r->h, json_string_value(v));
}
#define NEED_TEXT(field) text_of(r, r->line, field, true)
#define MAY_TEXT(field) text_of(r, r->line, field, false)

static int64_t number_of(struct reading *r, const json_t *from, const char *field, bool needed,
                         int64_t otherwise)
{
    const json_t *v = json_object_get(from, field);
    if (!v && !needed) {
        return otherwise;
    }
    if (!json_is_integer(v)) {
        wrong(r, field, v ? "is no whole number" : "is missing");
        return otherwise;
    }
    return json_integer_value(v);
}
#define NEED_NUMBER(field) number_of(r, r->line, field, true, 0)
#define MAY_NUMBER(field, otherwise) number_of(r, r->line, field, false, otherwise)

/* Indices, numbers of instances and the like. */
static int small_of(struct reading *r, const json_t *from, const char *field, bool needed,
                    int otherwise)
{
    int64_t n = number_of(r, from, field, needed, otherwise);
    if (n < -1000000000 || n > 1000000000) {
        wrong(r, field, "is out of range");
        return otherwise;
    }
    return (int)n;
}
#define MAY_SMALL(field, otherwise) small_of(r, r->line, field, false, otherwise)

static bool flag_of(struct reading *r, const char *field, bool needed)
{
    const json_t *v = json_object_get(r->line, field);
    if ((needed || v) && !json_is_boolean(v)) {
        wrong(r, field, v ? "is neither true nor false" : "is missing");
    }
    return json_is_true(v);
}

/* Begin and end: the second may be absent, then it is HISTORY_NEVER. */
static void interval_of(struct reading *r, int64_t *begin, int64_t *end)
{
    *begin = NEED_NUMBER("begin");
    *end = MAY_NUMBER("end", HISTORY_NEVER);
    if (*begin < 0 || *end < *begin) {
        wrong(r, "end", "is before \"begin\", or one of them below 0");
    }
}

static void note_time(struct history *h, int64_t at)
{
    h->first = at < h->first ? at : h->first;
    h->last = at > h->last && at != HISTORY_NEVER ? at : h->last;
}

static void *grow(void *list, size_t *count, size_t *room, size_t size)
{
    if (*count == *room) {
        *room = *room ? *room * 2 : 64;
        list = mem_resized(list, *room, size);
    }
    memset((char *)list + *count * size, 0, size);
    (*count)++;
    return list;
}
#define ADD(h, name)                                                                               \
    ((h)->name = grow((h)->name, &(h)->name##_count, &(h)->name##_room, sizeof(*(h)->name)),       \
     &(h)->name[(h)->name##_count - 1])

/* ---- Calls ---- */

static const char *const op_words[CALL_OPS] = {
    [CALL_CREATE] = "create",
    [CALL_UPDATE] = "update",
    [CALL_REMOVE] = "remove",
    [CALL_GET] = "get",
    [CALL_LIST] = "list",
    [CALL_TASK_CREATE] = "task_create",
    [CALL_TASK_GET] = "task_get",
    [CALL_TASK_CANCEL] = "task_cancel",
    [CALL_TASK_RESOLVE] = "task_resolve",
    [CALL_TASK_DELETE] = "task_delete",
    [CALL_OTHER] = "",
};

static enum call_op op_of(const char *word)
{
    int op = 0;
    while (op < CALL_OTHER && strcmp(op_words[op], word) != 0) {
        op++;
    }
    return (enum call_op)op;
}

static enum call_result result_of(struct reading *r)
{
    const char *word = NEED_TEXT("result");
    if (strcmp(word, "ok") != 0 && strcmp(word, "failed") != 0 && strcmp(word, "unknown") != 0) {
        wrong(r, "result", "is not ok, failed or unknown");
    }
    return *word == 'o' ? CALL_OK : *word == 'f' ? CALL_FAILED : CALL_UNKNOWN;
}

static void read_list(struct reading *r, struct call *c)
{
    const json_t *saw = json_object_get(r->line, "saw");
    if (c->result == CALL_OK && !json_is_object(saw)) {
        wrong(r, "saw", "is no object, as that of a list must be");
        return;
    }
    c->saw = c->result == CALL_FAILED ? MAY_TEXT("saw") : "";
    if (c->result == CALL_OK) { /* kept as it stands: the registers take it apart */
        char *text = json_dumps(saw, JSON_COMPACT | JSON_SORT_KEYS);
        c->saw = arena_strdup(&r->h->arena, text ? text : "{}");
        free(text);
    }
}

static void read_call(struct reading *r)
{
    struct call c = {.place = r->place, .result = result_of(r)};
    c.op = op_of(NEED_TEXT("op"));
    c.key = NEED_TEXT("key");
    c.value = MAY_TEXT("value");
    c.client = MAY_SMALL("client", 0);
    c.instances = MAY_SMALL("instances", -1);
    interval_of(r, &c.begin, &c.end);
    if (c.op == CALL_LIST) {
        read_list(r, &c);
    } else {
        c.saw = MAY_TEXT("saw");
    }
    if (c.result != CALL_UNKNOWN && c.end == HISTORY_NEVER) {
        wrong(r, "end", "is missing, though there was an answer");
    }
    if ((c.op == CALL_CREATE || c.op == CALL_UPDATE) && !c.value[0]) {
        wrong(r, "value", "is missing");
    }
    if (c.result == CALL_UNKNOWN) {
        c.end = HISTORY_NEVER;
    }
    if (r->result == 0) {
        note_time(r->h, c.begin);
        note_time(r->h, c.end);
        *ADD(r->h, calls) = c;
    }
}

/* ---- Streams ---- */

static int stream_of(struct reading *r)
{
    struct history *h = r->h;
    const char *name = NEED_TEXT("bbs");
    int i = 0;
    while (i < h->stream_count && h->streams[i].name != name) {
        i++;
    }
    if (i == 64) {
        wrong(r, "bbs", "is the 65th");
        return 0;
    }
    if (i == h->stream_count && r->result == 0) {
        h->streams[i].name = name;
        h->stream_count++;
    }
    return i;
}

static int generation_of(struct reading *r, const char *name)
{
    struct history *h = r->h;
    int i = 0;
    while (i < h->generation_count && h->generations[i] != name) {
        i++;
    }
    if (i == 64) {
        wrong(r, "generation", "is the 65th");
        return 0;
    }
    if (i == h->generation_count) {
        h->generations[h->generation_count++] = name;
    }
    return i;
}

/* A snapshot begins, or is complete: what follows goes on from it. */
static void read_turn(struct reading *r, bool complete)
{
    int stream = stream_of(r);
    int generation = generation_of(r, NEED_TEXT("generation"));
    int64_t revision = NEED_NUMBER("revision");
    if (r->result < 0) {
        return;
    }
    r->h->streams[stream].generation = generation;
    if (!complete) {
        r->h->streams[stream].resets++;
        return;
    }
    *ADD(r->h, stretches) = (struct stretch){stream, generation, revision, revision, r->place};
    r->h->streams[stream].open = true;
    r->h->streams[stream].stretch = r->h->stretches_count - 1;
    r->h->streams[stream].position = revision;
}

static void follow_stream(struct reading *r, const struct event *e)
{
    struct history *h = r->h;
    if (e->what != EVENT_SNAPSHOT && h->streams[e->bbs].open) {
        struct stretch *s = &h->stretches[h->streams[e->bbs].stretch];
        s->last = e->revision > s->last ? e->revision : s->last;
    }
}

static void read_event(struct reading *r)
{
    struct event e = {.place = r->place, .bbs = stream_of(r)};
    const char *what = NEED_TEXT("what");
    e.what = *what == 's' ? EVENT_SNAPSHOT : *what == 'g' ? EVENT_GONE : EVENT_PUT;
    if (strcmp(what, "snapshot") != 0 && strcmp(what, "gone") != 0 && strcmp(what, "put") != 0) {
        wrong(r, "what", "is not put, gone or snapshot");
    }
    e.at = NEED_NUMBER("at");
    e.revision = NEED_NUMBER("revision");
    e.made = NEED_NUMBER("made");
    e.key = NEED_TEXT("key");
    e.record = NEED_TEXT("record");
    e.process = strcmp(e.record, "task") == 0 ? MAY_TEXT("task") : MAY_TEXT("process");
    e.process = strcmp(e.record, "lead") == 0 ? MAY_TEXT("role") : e.process;
    e.domain = MAY_TEXT("domain");
    e.state = MAY_TEXT("state");
    e.instance = MAY_TEXT("instance");
    e.cell = MAY_TEXT("cell");
    e.result = MAY_TEXT("result");
    e.index = MAY_SMALL("index", -1);
    e.presence = MAY_SMALL("presence", 0);
    e.instances = MAY_SMALL("instances", -1);
    e.stopping = flag_of(r, "stopping", false);
    e.generation = r->h->streams[e.bbs].generation;
    e.reset = r->h->streams[e.bbs].resets;
    if (r->result == 0) {
        note_time(r->h, e.at);
        follow_stream(r, &e);
        *ADD(r->h, events) = e;
    }
}

/* ---- The others ---- */

static void read_visit(struct reading *r)
{
    struct visit v = {.place = r->place, .ok = flag_of(r, "ok", true)};
    v.process = NEED_TEXT("process");
    v.instance = MAY_TEXT("instance");
    v.answered_by = MAY_TEXT("answered_by");
    v.index = small_of(r, r->line, "index", true, 0);
    interval_of(r, &v.begin, &v.end);
    if (v.end == HISTORY_NEVER) {
        wrong(r, "end", "is missing");
    }
    if (r->result == 0) {
        note_time(r->h, v.end);
        *ADD(r->h, visits) = v;
    }
}

static struct container container_of(struct reading *r, const json_t *from, int64_t at)
{
    return (struct container){.place = r->place,
                              .instance = text_of(r, from, "instance", true),
                              .process = text_of(r, from, "process", false),
                              .task = text_of(r, from, "task", false),
                              .cell = text_of(r, from, "cell", false),
                              .index = small_of(r, from, "index", false, -1),
                              .pid = small_of(r, from, "pid", true, 0),
                              .begun = number_of(r, from, "begun", true, 0),
                              .first = at,
                              .seen = at,
                              .gone = HISTORY_NEVER};
}

static void see_container(struct history *h, const struct container *c)
{
    for (size_t i = h->live; i < h->containers_count; i++) {
        struct container *known = &h->containers[i];
        if (known->gone == HISTORY_NEVER && known->pid == c->pid && known->begun == c->begun &&
            known->instance == c->instance) {
            known->seen = c->seen;
            return;
        }
    }
    *ADD(h, containers) = *c;
}

static void read_truth(struct reading *r)
{
    struct history *h = r->h;
    int64_t at = NEED_NUMBER("at");
    const json_t *list = json_object_get(r->line, "containers");
    size_t i;
    json_t *one;
    if (!json_is_array(list)) {
        wrong(r, "containers", "is no list");
    }
    if (h->looks_count && at < h->looks[h->looks_count - 1]) {
        wrong(r, "at", "is before that of the line before");
    }
    json_array_foreach((json_t *)list, i, one)
    {
        struct container c = container_of(r, one, at);
        if (r->result < 0) {
            return;
        }
        see_container(h, &c);
    }
    if (r->result < 0) {
        return;
    }
    for (size_t k = h->live; k < h->containers_count; k++) {
        struct container *c = &h->containers[k];
        c->gone = c->gone == HISTORY_NEVER && c->seen < at ? at : c->gone;
        h->live += k == h->live && c->gone != HISTORY_NEVER;
    }
    note_time(h, at);
    *ADD(h, looks) = at;
}

static void read_fault(struct reading *r, bool there)
{
    struct befallen f = {.place = r->place, .was_there = there, .healthy = HISTORY_NEVER};
    const json_t *targets = json_object_get(r->line, "targets");
    size_t i;
    json_t *one;
    f.number = small_of(r, r->line, "n", true, 0);
    f.kind = NEED_TEXT("fault");
    f.begin = NEED_NUMBER("begin");
    f.there = MAY_NUMBER("there", 0);
    f.end = MAY_NUMBER("end", 0);
    f.heal = MAY_NUMBER("heal", f.end);
    f.bound_ms = MAY_NUMBER("bound_ms", 20000);
    f.recovery = MAY_TEXT("recovery");
    f.probe = MAY_TEXT("probe");
    f.healed = !json_object_get(r->line, "healed") || flag_of(r, "healed", false);
    f.occupied = flag_of(r, "occupied", false);
    f.bound_from_end = strcmp(MAY_TEXT("bound_from"), "end") == 0;
    if (!json_is_array(targets)) {
        wrong(r, "targets", "is no list");
    }
    if (f.end && f.end < f.begin) {
        wrong(r, "end", "is before \"begin\"");
    }
    json_array_foreach((json_t *)targets, i, one)
    {
        if (!json_is_string(one)) {
            wrong(r, "targets", "has something that is no text");
        } else if (f.target_count < FAULT_TARGETS_KEPT) {
            f.targets[f.target_count++] = chaos_history_text(r->h, json_string_value(one));
        }
    }
    f.was_there = f.was_there && f.there > 0;
    if (r->result == 0) {
        note_time(r->h, f.begin);
        note_time(r->h, f.end);
        *ADD(r->h, faults) = f;
    }
}

static void read_healthy(struct reading *r)
{
    int n = small_of(r, r->line, "n", true, 0);
    int64_t at = NEED_NUMBER("at");
    for (size_t i = 0; i < r->h->faults_count; i++) {
        if (r->h->faults[i].number == n) {
            r->h->faults[i].healthy = at;
        }
    }
    note_time(r->h, at);
}

static void read_attempt(struct reading *r)
{
    struct attempt a = {.place = r->place, .why = MAY_TEXT("why")};
    a.probe = NEED_TEXT("probe");
    a.result = NEED_TEXT("result");
    interval_of(r, &a.begin, &a.end);
    if (r->result == 0) {
        *ADD(r->h, attempts) = a;
    }
}

static void read_work(struct reading *r)
{
    const char *what = NEED_TEXT("what"), *name;
    int64_t at = NEED_NUMBER("at");
    json_t *instances;
    int64_t *to = strcmp(what, "begin") == 0  ? &r->h->begin
                  : strcmp(what, "rest") == 0 ? &r->h->rest
                                              : &r->h->end;
    *to = at;
    r->h->run = MAY_TEXT("run");
    r->h->stale_domain = MAY_TEXT("stale_domain");
    json_t *apps = json_object_get(r->line, "apps");
    if (apps && !json_is_object(apps)) {
        wrong(r, "apps", "is no object");
        return;
    }
    if (to == &r->h->begin) {
        json_object_foreach(apps, name, instances)
        {
            *ADD(r->h, steadies) =
                (struct steady){chaos_history_text(r->h, name), (int)json_integer_value(instances)};
        }
    }
    note_time(r->h, at);
}

static void read_kind(struct reading *r, const char *kind)
{
#define IS(word) (strcmp(kind, word) == 0)
    if (IS("call")) {
        read_call(r);
    } else if (IS("event")) {
        read_event(r);
    } else if (IS("reset") || IS("current")) {
        read_turn(r, IS("current"));
    } else if (IS("gap")) {
        (void)stream_of(r);
    } else if (IS("request")) {
        read_visit(r);
    } else if (IS("truth")) {
        read_truth(r);
    } else if (IS("fault") || IS("not_there")) {
        read_fault(r, IS("fault"));
    } else if (IS("healthy")) {
        read_healthy(r);
    } else if (IS("probe")) {
        read_attempt(r);
    } else if (IS("work")) {
        read_work(r);
    } else if (!IS("making")) {
        wrong(r, "kind", "is none that the judge knows");
    }
#undef IS
}

int chaos_history_take(struct history *h, struct place place, const char *line, size_t size,
                       struct err *err)
{
    json_error_t why;
    size_t items = h->calls_count + h->events_count + h->visits_count + h->containers_count;
    if (size > HISTORY_LINE_MAX || items >= HISTORY_ITEMS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "%.80s:%d: %s", place.file, place.line,
                       size > HISTORY_LINE_MAX ? "the line is longer than 4 MiB"
                                               : "more than 20 million records");
    }
    json_t *json = json_loadb(line, size, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(json)) {
        json_decref(json);
        return err_set(err, ERR_INVALID, "%.80s:%d: no whole JSON object: %.100s", place.file,
                       place.line, json ? "something else" : why.text);
    }
    struct reading r = {h, place, json, err, 0};
    const char *kind = text_of(&r, json, "kind", true);
    if (r.result == 0) {
        read_kind(&r, kind);
    }
    h->lines++;
    h->bytes += size + 1;
    json_decref(json);
    return r.result;
}

static int by_begin(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

static int visits_by_end(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

static int faults_by_begin(const void *a, const void *b)
{
    const struct befallen *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : x->number - y->number;
}

void chaos_history_close(struct history *h)
{
    if (h->calls_count) {
        qsort(h->calls, h->calls_count, sizeof(*h->calls), by_begin);
    }
    if (h->visits_count) {
        qsort(h->visits, h->visits_count, sizeof(*h->visits), visits_by_end);
    }
    if (h->faults_count) {
        qsort(h->faults, h->faults_count, sizeof(*h->faults), faults_by_begin);
    }
    h->first = h->first == HISTORY_NEVER ? 0 : h->first;
}
