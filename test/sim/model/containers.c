/* The verbs of a model runtime, carried out in their time, and what they lead to. */
#include "test/sim/model/containers_inside.h"

#include "rep_image.pb-c.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define GUID_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

#define LATE_NS (3 * SECOND_NS)        /* after its deadline a verb may still be done */
#define LONG_LIST_NS (700 * MILLISECOND_NS) /* that a listing may take when it wavers */

struct model_containers *model_containers_new(void)
{
    struct model_containers *m = calloc(1, sizeof(*m));
    assert(m);
    m->pace = (struct model_containers_pace){
        .prepare_ns = 5 * MILLISECOND_NS,
        .start_ns = 50 * MILLISECOND_NS,
        .signal_ns = 1 * MILLISECOND_NS,
        .remove_ns = 10 * MILLISECOND_NS,
        .list_ns = 1 * MILLISECOND_NS,
        .term_ns = 20 * MILLISECOND_NS,
        .pull_ns = 200 * MILLISECOND_NS,
    };
    m->next_pid = 1000;
    m->addresses.count = MODEL_ADDRESSES_MAX;
    return m;
}

void model_file_free(void *value)
{
    blob_unref(value);
}

void model_box_free(void *value)
{
    struct box *b = value;
    map_done(&b->files, model_file_free);
    model_steps_free(b->steps);
    free(b->guid);
    free(b->join);
    blob_unref(b->note);
    free(b);
}

static void pending_free(struct pending *p)
{
    free(p->guid);
    free(p->path);
    free(p->join);
    free(p->ports);
    free(p->image);
    model_steps_free(p->steps);
    map_done(&p->given, model_file_free);
    blob_unref(p->note);
    arena_done(&p->listed);
    free(p);
}

void model_containers_free(struct model_containers *m)
{
    if (!m) {
        return;
    }
    while (m->pending) {
        struct pending *p = m->pending;
        m->pending = p->next;
        pending_free(p);
    }
    map_done(&m->boxes, model_box_free);
    map_done(&m->notes, model_file_free);
    map_done(&m->pins, free);
    free(m);
}

struct model_containers_pace *model_containers_pace(struct model_containers *m)
{
    return &m->pace;
}

static int64_t duration(const struct model_containers *m, enum verb verb)
{
    switch (verb) {
    case VERB_PREPARE:
        return m->pace.prepare_ns;
    case VERB_START:
    case VERB_BEGIN:
    case VERB_RUN:
        return m->pace.start_ns;
    case VERB_REMOVE:
        return m->pace.remove_ns;
    case VERB_LIST:
    case VERB_MEASURE:
        return m->pace.list_ns;
    case VERB_PORTS: /* no process is started for it */
        return 0;
    case VERB_PULL:
        return m->pace.pull_ns;
    default:
        return m->pace.signal_ns;
    }
}

/* Verbs of one container take turns: not before the last of it, but EXEC runs beside them. */
static int64_t turn_ns(const struct model_containers *m, int64_t now_ns,
                       const struct verb_call *call)
{
    bool waits = call->verb == VERB_PREPARE || call->verb == VERB_START ||
                 call->verb == VERB_REMOVE || call->verb == VERB_BEGIN ||
                 call->verb == VERB_RUN;
    for (const struct pending *p = m->pending; waits && p; p = p->next) {
        if (p->guid && p->call.verb != VERB_EXEC && strcmp(p->guid, call->guid) == 0 &&
            p->at_ns > now_ns) {
            now_ns = p->at_ns;
        }
    }
    return now_ns;
}

static void keep_ports(struct pending *p, const struct verb_call *call)
{
    p->port_count = call->spec ? call->spec->port_count : call->port_count;
    p->ports = calloc(p->port_count + 1, sizeof(*p->ports));
    assert(p->ports);
    for (size_t i = 0; i < p->port_count; i++) {
        p->ports[i] = call->spec ? call->spec->ports[i].host_port : call->ports[i];
    }
}

static struct pending *pending_new(struct model_containers *m, const struct verb_call *call)
{
    struct pending *p = calloc(1, sizeof(*p));
    assert(p);
    p->number = ++m->calls;
    p->call = *call;
    keep_ports(p, call);
    p->steps = model_steps_new(call->spec);
    p->no_program =
        call->spec && !call->spec->path && call->spec->step_count == 0 && !call->spec->idle;
    p->ids_first = call->spec ? call->spec->ids_first : 0;
    for (size_t i = 0; call->spec && i < call->spec->volume_count; i++) {
        const char *driver = call->spec->volumes[i].driver;
        p->bad_volume |= strcmp(driver, "bind") != 0 && strcmp(driver, "tmpfs") != 0;
    }
    p->own_network = call->spec && call->spec->address_variable;
    p->join = call->spec && call->spec->join ? strdup(call->spec->join) : NULL;
    p->of_image = call->spec && call->spec->layer_count > 0;
    p->image = call->image ? strdup(call->image->name) : NULL;
    p->call.image = NULL;
    p->call.text = ""; /* of a line for a log, which no model keeps */
    p->call.spec = NULL;
    p->call.ports = NULL;
    p->guid = call->guid ? strdup(call->guid) : NULL;
    p->call.guid = p->guid;
    p->call.path = p->path = call->path ? strdup(call->path) : NULL;
    p->note = blob_new(call->note.data, call->note.size);
    arena_init(&p->listed);
    p->call.run = call->run ? model_run_copy(&p->listed, call->run) : NULL;
    map_init(&p->given);
    for (size_t i = 0; call->spec && i < call->spec->file_count; i++) {
        const struct given_file *f = &call->spec->files[i];
        model_file_free(map_put(&p->given, f->path, blob_new(f->data.data, f->data.size)));
    }
    return p;
}

static void pending_add(struct model_containers *m, struct pending *p)
{
    struct pending **at = &m->pending;
    while (*at && (*at)->at_ns <= p->at_ns) {
        at = &(*at)->next;
    }
    p->next = *at;
    *at = p;
}

void model_containers_waver(struct model_containers *m, uint64_t seed)
{
    m->wavers = true;
    random_seed(&m->random, (uint64_t[2]){0x77617665, seed});
}

static int64_t draw_ns(struct model_containers *m, int64_t most_ns)
{
    return (int64_t)random_below(&m->random, (uint64_t)most_ns + 1);
}

static bool changes(enum verb verb)
{
    return verb == VERB_PREPARE || verb == VERB_START || verb == VERB_REMOVE ||
           verb == VERB_SIGNAL || verb == VERB_NOTE || verb == VERB_BEGIN || verb == VERB_CUT ||
           verb == VERB_RUN || verb == VERB_FORGET;
}

/* What is not answered in time may be done all the same. True if it is. */
static bool done_untold(struct model_containers *m, int64_t now_ns, const struct verb_call *call)
{
    if (!m->wavers || !changes(call->verb) || random_below(&m->random, 3) == 0) {
        return false;
    }
    int64_t deadline_ns = call->deadline_ns > now_ns ? call->deadline_ns : now_ns;
    int64_t soonest_ns = turn_ns(m, now_ns, call);
    int64_t last_ns = deadline_ns + (random_below(&m->random, 2) ? LATE_NS : 0);
    if (soonest_ns > last_ns) {
        return false;
    }
    struct pending *p = pending_new(m, call);
    p->mute = true;
    p->at_ns = soonest_ns + draw_ns(m, last_ns - soonest_ns);
    pending_add(m, p);
    return true;
}

static void list_now(struct model_containers *m, struct pending *p);

/* How long a listing takes, and of when it is. */
static void list_somehow(struct model_containers *m, struct pending *p)
{
    if (random_below(&m->random, 4) == 0) {
        p->at_ns += draw_ns(m, LONG_LIST_NS);
    }
    if (random_below(&m->random, 2)) {
        list_now(m, p);
    }
}

/* They are answered before the REMOVE that ends them. */
static void cancel_pulls(struct model_containers *m, int64_t now_ns, const char *guid)
{
    for (struct pending **at = &m->pending; *at; at = &(*at)->next) {
        struct pending *p = *at;
        if (p->call.verb == VERB_PULL && strcmp(p->guid, guid) == 0 && !p->cancelled) {
            *at = p->next;
            p->cancelled = true;
            p->at_ns = now_ns;
            pending_add(m, p);
            return;
        }
    }
}

/* A program of a monitor that answers nothing runs until its deadline. */
static bool runs_on(const struct model_containers *m, const struct verb_call *call)
{
    const struct box *b = call->verb == VERB_EXEC ? map_get(&m->boxes, call->guid) : NULL;
    return b && !call->argv && b->state == CONTAINER_RUNNING && b->deaf_for == 0 &&
           b->answers[0].outcome == PROBE_TIMED_OUT;
}

/* The EXEC of this id is ended now, if it has not come to its end. */
static void end_exec(struct model_containers *m, int64_t now_ns, uint64_t exec)
{
    for (struct pending **at = &m->pending; *at; at = &(*at)->next) {
        struct pending *p = *at;
        if (p->call.verb == VERB_EXEC && p->call.id == exec) {
            *at = p->next;
            p->hung = true;
            p->at_ns = earlier_ns(p->at_ns, now_ns + m->pace.signal_ns);
            pending_add(m, p);
            return;
        }
    }
}

void model_containers_call(struct model_containers *m, int64_t now_ns,
                           const struct verb_call *call)
{
    if (call->verb == VERB_REMOVE) {
        cancel_pulls(m, now_ns, call->guid);
    }
    struct pending *p = pending_new(m, call);
    p->at_ns = runs_on(m, call) ? NEVER_NS : turn_ns(m, now_ns, call) + duration(m, call->verb);
    if (call->verb == VERB_SIGNAL && call->exec) {
        end_exec(m, now_ns, call->exec);
    }
    if (call->verb == VERB_LIST && m->wavers) {
        list_somehow(m, p);
    }
    /* A pull is a courier's, which a runtime that hangs does not hold up. */
    p->hung = (m->hung && call->verb != VERB_PULL) || p->at_ns > call->deadline_ns;
    bool done = !p->hung || done_untold(m, now_ns, call);
    if (p->hung) {
        p->at_ns = call->deadline_ns > now_ns ? call->deadline_ns : now_ns;
    }
    pending_add(m, p);
    struct box *b = call->guid ? map_get(&m->boxes, call->guid) : NULL;
    if (call->verb == VERB_START && b && b->state == CONTAINER_PREPARED && done) {
        b->state = CONTAINER_STARTING;
    }
}

/* ---- Doing a verb ---- */

static enum verb_outcome failed(struct verb_answer *answer, const char *text)
{
    answer->text = text;
    return VERB_FAILED;
}

static bool guid_valid(const char *guid)
{
    return guid[0] && strlen(guid) <= 64 && strspn(guid, GUID_LETTERS) == strlen(guid);
}

/* Which of its ports others hold. */
static void ports(const struct model_containers *m, const struct pending *p, struct arena *arena,
                  struct verb_answer *answer)
{
    uint32_t *taken = ARENA_ARRAY(arena, p->port_count, uint32_t);
    for (size_t i = 0; i < p->port_count; i++) {
        if (m->port_held[p->ports[i] & UINT16_MAX]) {
            taken[answer->taken_count++] = p->ports[i];
        }
    }
    answer->taken = taken;
}

/* Whoever has the network of this container, itself or another one that joined it; NULL: nobody. */
static struct box *sharer_of(const struct model_containers *m, const char *guid)
{
    MAP_EACH(&m->boxes, n)
    {
        struct box *b = map_value(n);
        if (strcmp(b->join ? b->join : b->guid, guid) == 0) {
            return b;
        }
    }
    return NULL;
}

bool model_containers_share(const struct model_containers *m, const char *guid, const char *join)
{
    const struct box *b = map_get(&m->boxes, guid);
    return b && join && strcmp(b->join ? b->join : b->guid, join) == 0;
}

/* Somebody else has some of them, and not by sharing all. */
static bool others_ids(const struct model_containers *m, const struct pending *p)
{
    const char *other = model_containers_with_ids(m, p->ids_first);
    return other && !model_containers_share(m, other, p->join);
}

void model_box_remove(struct model_containers *m, const char *guid)
{
    struct box *b = map_remove(&m->boxes, guid);
    if (!sharer_of(m, b->join ? b->join : b->guid)) {
        model_address_give(&m->addresses, b->address);
    }
    model_box_free(b);
}

const char *model_containers_with_ids(const struct model_containers *m, uint32_t first)
{
    MAP_EACH(&m->boxes, n)
    {
        const struct box *b = map_value(n);
        int64_t apart = (int64_t)b->ids_first - (int64_t)first;
        if (first > 0 && b->ids_first > 0 && apart > -CONTAINER_IDS && apart < CONTAINER_IDS) {
            return b->guid;
        }
    }
    return NULL;
}

static enum verb_outcome prepare(struct model_containers *m, struct pending *p,
                                 struct arena *arena, struct verb_answer *answer)
{
    ports(m, p, arena, answer);
    if (answer->taken_count > 0) {
        return failed(answer, "a host port is held by another process");
    }
    if (!guid_valid(p->guid)) {
        return failed(answer, "not a container's guid");
    }
    if (map_get(&m->boxes, p->guid)) {
        return failed(answer, "the container exists");
    }
    if (others_ids(m, p)) {
        return failed(answer, "its range of ids is another container's");
    }
    if (p->join && !sharer_of(m, p->join)) {
        return failed(answer, "the container whose network it is to join is not there");
    }
    if (p->no_program) {
        return failed(answer, "a container needs a program");
    }
    if (p->bad_volume) {
        return failed(answer, "failed to mount volume");
    }
    if (p->of_image && !map_get(&m->pins, p->guid)) {
        return failed(answer, "its image is not there");
    }
    if (m->fail_prepares) {
        m->fail_prepares--;
        return failed(answer, m->fail_text);
    }
    unsigned address = p->join          ? sharer_of(m, p->join)->address
                       : p->own_network ? model_address_take(&m->addresses)
                                        : 0;
    if (p->own_network && address == 0) {
        return failed(answer, "all addresses of its network are in use");
    }
    struct box *b = calloc(1, sizeof(*b));
    assert(b);
    b->guid = strdup(p->guid);
    b->state = CONTAINER_PREPARED;
    b->address = address;
    b->note = blob_ref(p->note);
    b->ids_first = p->ids_first;
    b->join = p->join;
    p->join = NULL;
    b->ends_at_ns = NEVER_NS;
    b->steps = p->steps;
    p->steps = NULL;
    b->answers[0] = b->answers[1] = (struct model_answer){PROBE_ANSWERED, 200};
    b->deaf_for = (unsigned char)p->guid[0] % 3;
    b->files = p->given;
    map_init(&p->given);
    map_put(&m->boxes, p->guid, b);
    model_file_free(map_remove(&m->notes, p->guid));
    return VERB_DONE;
}

static enum verb_outcome start(struct model_containers *m, struct box *b,
                               struct verb_answer *answer)
{
    if (!b) {
        return failed(answer, "no such container");
    }
    if (b->state != CONTAINER_STARTING && b->state != CONTAINER_PREPARED) {
        return failed(answer, "container was started already");
    }
    if (b->rebooted) {
        return failed(answer, b->text);
    }
    if (m->fail_starts) {
        m->fail_starts--;
        b->state = CONTAINER_EXITED;
        strcpy(b->text, m->fail_text);
        return failed(answer, m->fail_text);
    }
    b->state = CONTAINER_RUNNING;
    b->pid = m->next_pid++;
    return VERB_DONE;
}

/* Its steps with it. */
void model_box_end(struct box *b, int64_t at_ns, int exit_code, int exit_signal)
{
    model_steps_end_all(b->steps,
                        &(struct step_fact){FACT_ENDED, 0, at_ns, .exit_signal = MODEL_SIGKILL});
    b->state = CONTAINER_EXITED;
    b->exit_code = exit_code;
    b->exit_signal = exit_signal;
    b->pid = 0;
    b->ends_at_ns = NEVER_NS;
    b->end_untold = true;
}

static enum verb_outcome signal_step(struct model_containers *m, struct box *b,
                                     const struct pending *p, struct verb_answer *answer)
{
    const struct step_fact killed = {FACT_ENDED, 0, p->at_ns, .exit_signal = MODEL_SIGKILL};
    int64_t ends_at_ns = b->deaf ? NEVER_NS : p->at_ns + m->pace.term_ns;
    bool done = p->call.signal == MODEL_SIGKILL
                    ? model_steps_end(b->steps, p->call.step, &killed)
                    : model_steps_term(b->steps, p->call.step, ends_at_ns);
    return done ? VERB_DONE : failed(answer, "the step does not run");
}

static enum verb_outcome begin_step(struct model_containers *m, struct box *b,
                                    const struct pending *p, struct verb_answer *answer)
{
    bool early = b && b->state == CONTAINER_PREPARED && !b->rebooted &&
                 model_steps_is_bound(b->steps, p->call.step);
    if (!b || (b->state != CONTAINER_RUNNING && !early)) {
        return failed(answer, "container does not run");
    }
    if (!model_steps_begin(b->steps, p->call.step, p->at_ns)) {
        return failed(answer, "no such step, or it was begun before");
    }
    if (m->fail_begins) {
        const struct step_fact never = {FACT_ENDED, 0, p->at_ns, .exit_code = -1,
                                        .text = m->fail_text};
        m->fail_begins--;
        model_steps_end(b->steps, p->call.step, &never);
        return failed(answer, m->fail_text);
    }
    return VERB_DONE;
}

static enum verb_outcome run(struct model_containers *m, struct box *b, const struct pending *p,
                             struct verb_answer *answer)
{
    if (!b || b->state != CONTAINER_RUNNING) {
        return failed(answer, "container does not run");
    }
    if (!model_steps_run(&b->steps, p->call.run, p->at_ns)) {
        return failed(answer, "it was run before, or too many are not forgotten");
    }
    if (m->fail_begins) {
        const struct step_fact never = {FACT_ENDED, 0, p->at_ns, .exit_code = -1,
                                        .text = m->fail_text};
        m->fail_begins--;
        model_steps_end(b->steps, p->call.run->step, &never);
        return failed(answer, m->fail_text);
    }
    return VERB_DONE;
}

static enum verb_outcome forget(struct box *b, const struct pending *p,
                                struct verb_answer *answer)
{
    bool done = !b || model_steps_forget(b->steps, p->call.step);
    return done ? VERB_DONE : failed(answer, "it runs");
}

static enum verb_outcome cut_step(struct box *b, const struct pending *p,
                                  struct verb_answer *answer)
{
    bool done = b && b->state == CONTAINER_RUNNING &&
                model_steps_cut(b->steps, p->call.step, p->call.why, p->at_ns);
    return done ? VERB_DONE : failed(answer, "container does not run, or has no steps");
}

static enum verb_outcome signal_box(struct model_containers *m, struct box *b,
                                    const struct pending *p, struct verb_answer *answer)
{
    if (!b || b->state != CONTAINER_RUNNING) {
        return failed(answer, "container does not run");
    }
    if (p->call.exec) {
        return VERB_DONE; /* by now, or it had ended before */
    }
    if (p->call.step > 0) {
        return signal_step(m, b, p, answer);
    }
    if (p->call.signal == MODEL_SIGKILL) {
        model_box_end(b, p->at_ns, 0, MODEL_SIGKILL);
    } else if (p->call.signal == MODEL_SIGTERM && b->ends_at_ns == NEVER_NS && !b->deaf) {
        b->ends_at_ns = p->at_ns + m->pace.term_ns;
    }
    return VERB_DONE;
}

/* Its own, once it was started. */
static const char *address_of(const struct box *b, struct arena *arena)
{
    return b->address && b->state != CONTAINER_PREPARED ? model_address(arena, b->address) : NULL;
}

struct container_status model_box_status(const struct box *b, struct arena *arena)
{
    struct bytes note = blob_bytes(b->note);
    struct container_status s = {
        .guid = arena_strdup(arena, b->guid),
        .state = b->state,
        .exit_code = b->exit_code,
        .exit_signal = b->exit_signal,
        .text = arena_strdup(arena, b->text),
        .rebooted = b->rebooted,
        .pid = b->pid,
        .address = address_of(b, arena),
        .note = {.data = arena_copy(arena, note.data, note.size), .size = note.size},
    };
    model_steps_facts(b->steps, arena, &s);
    return s;
}

static struct container_status copy_status(struct arena *arena, struct container_status s)
{
    struct step_fact *facts = ARENA_ARRAY(arena, s.fact_count, struct step_fact);
    s.guid = arena_strdup(arena, s.guid);
    s.text = arena_strdup(arena, s.text);
    s.address = s.address ? arena_strdup(arena, s.address) : NULL;
    s.note.data = arena_copy(arena, s.note.data, s.note.size);
    for (size_t i = 0; i < s.fact_count; i++) {
        facts[i] = s.facts[i];
        facts[i].text = arena_strdup(arena, facts[i].text);
    }
    s.facts = s.fact_count > 0 ? facts : NULL;
    return s;
}

static struct container_status kept_status(struct arena *arena, const struct map_node *n)
{
    struct bytes note = blob_bytes(map_value(n));
    return (struct container_status){
        .guid = arena_strdup(arena, map_key(n)),
        .state = CONTAINER_KEPT,
        .text = "",
        .note = {.data = arena_copy(arena, note.data, note.size), .size = note.size},
    };
}

/* Both by guid; no guid is among both. */
static size_t list_into(struct model_containers *m, struct arena *arena,
                        struct container_status **ret_list)
{
    size_t count = 0;
    struct map_node *box = map_from(&m->boxes, ""), *kept = map_from(&m->notes, "");
    *ret_list = ARENA_ARRAY(arena, m->boxes.count + m->notes.count, struct container_status);
    while (box || kept) {
        bool first = box && (!kept || strcmp(map_key(box), map_key(kept)) < 0);
        (*ret_list)[count++] =
            first ? model_box_status(map_value(box), arena) : kept_status(arena, kept);
        box = first ? map_next(box) : box;
        kept = first ? kept : map_next(kept);
    }
    return count;
}

/* What it was told last outlives it, or nothing does. */
static void remove_box(struct model_containers *m, struct pending *p, struct box *b)
{
    if (!p->call.keep_note) {
        model_file_free(map_remove(&m->notes, p->guid));
    } else if (b) {
        model_file_free(map_put(&m->notes, p->guid, blob_ref(b->note)));
    }
    if (b) {
        model_box_remove(m, p->guid);
    }
}

static void list_now(struct model_containers *m, struct pending *p)
{
    p->list_count = list_into(m, &p->listed, &p->list);
}

static void list(struct model_containers *m, const struct pending *p, struct arena *arena,
                 struct verb_answer *answer)
{
    struct container_status *all;
    size_t count = p->list ? p->list_count : list_into(m, arena, &all);
    if (p->list) {
        all = ARENA_ARRAY(arena, count, struct container_status);
        for (size_t i = 0; i < count; i++) {
            all[i] = copy_status(arena, p->list[i]);
        }
    }
    answer->containers = all;
    answer->container_count = count;
}

/* A model uses nothing; which ones are measured is what matters. */
static void measure(struct model_containers *m, struct arena *arena, struct verb_answer *answer)
{
    struct container_usage *all = ARENA_ARRAY(arena, m->boxes.count, struct container_usage);
    MAP_EACH(&m->boxes, n)
    {
        const struct box *b = map_value(n);
        if (b->state == CONTAINER_RUNNING) {
            all[answer->usage_count++].guid = arena_strdup(arena, b->guid);
        }
    }
    answer->usages = all;
}

/* What a driver does to one container it does in order: a note that nobody waits for any more does
 * not take the place of a later one. */
static enum verb_outcome note(struct box *b, const struct pending *p, struct verb_answer *answer)
{
    if (!b) {
        return failed(answer, "no such container");
    }
    if (p->number < b->noted) {
        return VERB_DONE;
    }
    b->noted = p->number;
    blob_unref(b->note);
    b->note = blob_ref(p->note);
    return VERB_DONE;
}

static enum verb_outcome read_file(struct box *b, const struct pending *p, struct arena *arena,
                                   struct verb_answer *answer)
{
    const char *output = b ? model_steps_output(b->steps, p->call.step) : NULL;
    if (p->call.step > 0) {
        answer->data = bytes_of(output ? arena_strdup(arena, output) : "");
        return output ? VERB_DONE : failed(answer, "no such run");
    }
    /* What it was mounted on went with the machine. */
    const struct blob *file = b && !b->rebooted ? map_get(&b->files, p->path) : NULL;
    if (!file) {
        return failed(answer, b ? "no such file" : "no such container");
    }
    struct bytes data = blob_bytes(file);
    if (data.size > VERB_READ_BYTES_MAX) {
        return failed(answer, "the file is too large");
    }
    answer->data = (struct bytes){arena_copy(arena, data.data, data.size), data.size};
    return VERB_DONE;
}

/* One layer, and words of its own: what the image is called, which it prints. */
static struct bytes image_record(struct arena *arena, const char *name)
{
    char *print[] = {(char *)"/bin/image", arena_strdup(arena, name)};
    Rep__ImageLayer layer = REP__IMAGE_LAYER__INIT, *layers[] = {&layer};
    Rep__Image image = REP__IMAGE__INIT;
    layer.id = (char *)"layer";
    layer.size = 1024;
    image.id = image.digest = print[1];
    image.layers = layers;
    image.n_layers = 1;
    image.entrypoint = print;
    image.n_entrypoint = 2;
    uint8_t *packed = arena_array(arena, rep__image__get_packed_size(&image), 1);
    return (struct bytes){packed, rep__image__pack(&image, packed)};
}

static enum verb_outcome pull(struct model_containers *m, const struct pending *p,
                              struct arena *arena, struct verb_answer *answer)
{
    if (p->cancelled) {
        return failed(answer, "the container is removed");
    }
    if (m->fail_pulls) {
        m->fail_pulls--;
        return failed(answer, m->fail_text);
    }
    free(map_remove(&m->pins, p->guid));
    map_put(&m->pins, p->guid, strdup(p->image));
    answer->data = image_record(arena, p->image);
    return VERB_DONE;
}

/* What a step runs as a monitor says what a probe of health would hear. */
static enum verb_outcome exec(struct box *b, const struct pending *p, struct verb_answer *answer)
{
    if (!b || b->state != CONTAINER_RUNNING) {
        return failed(answer, "container does not run");
    }
    if (p->call.argv) {
        return VERB_DONE;
    }
    if (!model_steps_has(b->steps, p->call.step)) {
        return failed(answer, "no such step");
    }
    if (b->deaf_for > 0) {
        b->deaf_for--;
        answer->exit_code = 1;
        return VERB_DONE;
    }
    bool well = b->answers[0].outcome == PROBE_ANSWERED && b->answers[0].status == 200;
    if (b->answers[0].outcome == PROBE_FAILED) {
        return failed(answer, "as the story has it");
    }
    answer->exit_code = well ? 0 : 1;
    answer->text = b->answers[0].outcome == PROBE_ANSWERED ? "it says so\n" : "";
    return VERB_DONE;
}

static void carry_out(struct model_containers *m, struct pending *p, struct arena *arena,
                      struct verb_answer *answer)
{
    struct box *b = p->guid ? map_get(&m->boxes, p->guid) : NULL;
    if (p->hung) {
        answer->outcome = VERB_UNCERTAIN;
        answer->text = "no answer in time";
        return;
    }
    switch (p->call.verb) {
    case VERB_PREPARE:
        answer->outcome = prepare(m, p, arena, answer);
        break;
    case VERB_START:
        answer->outcome = start(m, b, answer);
        answer->address = answer->outcome == VERB_DONE ? address_of(b, arena) : NULL;
        break;
    case VERB_SIGNAL:
        answer->outcome = signal_box(m, b, p, answer);
        break;
    case VERB_PULL:
        answer->outcome = pull(m, p, arena, answer);
        break;
    case VERB_REMOVE:
        free(map_remove(&m->pins, p->guid));
        remove_box(m, p, b);
        break;
    case VERB_NOTE:
        answer->outcome = note(b, p, answer);
        break;
    case VERB_BEGIN:
        answer->outcome = begin_step(m, b, p, answer);
        break;
    case VERB_CUT:
        answer->outcome = cut_step(b, p, answer);
        break;
    case VERB_RUN:
        answer->outcome = run(m, b, p, answer);
        break;
    case VERB_FORGET:
        answer->outcome = forget(b, p, answer);
        break;
    case VERB_SAY:
        answer->outcome = b ? VERB_DONE : failed(answer, "no such container");
        break;
    case VERB_LIST:
        list(m, p, arena, answer);
        break;
    case VERB_MEASURE:
        measure(m, arena, answer);
        break;
    case VERB_PORTS:
        ports(m, p, arena, answer);
        break;
    case VERB_READ:
        answer->outcome = read_file(b, p, arena, answer);
        break;
    default:
        answer->outcome = exec(b, p, answer);
        break;
    }
}

/* ---- Events ---- */

static struct box *next_end(const struct model_containers *m, int64_t *ret_at_ns)
{
    struct box *first = NULL;
    int64_t at = NEVER_NS;
    MAP_EACH(&m->boxes, n)
    {
        struct box *b = map_value(n);
        bool untold = b->end_untold || model_steps_untold(b->steps);
        int64_t due = untold ? 0 : earlier_ns(b->ends_at_ns, model_steps_due(b->steps));
        if (due < at) {
            at = due;
            first = b;
        }
    }
    *ret_at_ns = at;
    return first;
}

int64_t model_containers_due(const struct model_containers *m)
{
    int64_t at;
    next_end(m, &at);
    return m->pending ? earlier_ns(at, m->pending->at_ns) : at;
}

static void do_untold(struct model_containers *m, struct pending *p, struct arena *arena)
{
    struct verb_answer unheard = {.text = ""};
    carry_out(m, p, arena, &unheard);
    m->untold++;
    pending_free(p);
}

unsigned model_containers_untold(const struct model_containers *m)
{
    return m->untold;
}

/* Facts are told before the answer to the verb that led to them. */
static bool leads_to_facts(const struct pending *p)
{
    return !p->hung && !p->mute &&
           (p->call.verb == VERB_BEGIN || p->call.verb == VERB_CUT || p->call.verb == VERB_RUN);
}

bool model_containers_next(struct model_containers *m, int64_t now_ns, struct arena *arena,
                           struct event *ret_event)
{
    int64_t at;
    struct box *b = next_end(m, &at);
    struct pending *p = m->pending;
    if (b && at <= now_ns && (!p || at <= p->at_ns)) {
        bool untold = b->end_untold || model_steps_untold(b->steps);
        if (!untold && b->ends_at_ns <= now_ns) {
            model_box_end(b, now_ns, 0, MODEL_SIGTERM);
        } else if (!untold) {
            model_steps_end_due(b->steps, now_ns);
        }
        b->end_untold = false;
        model_steps_told(b->steps);
        *ret_event = (struct event){.kind = EVENT_CONTAINER};
        ret_event->container = model_box_status(b, arena);
        return true;
    }
    if (!p || p->at_ns > now_ns) {
        return false;
    }
    if (leads_to_facts(p) && !p->carried) {
        p->answer = (struct verb_answer){.text = ""};
        carry_out(m, p, arena, &p->answer);
        p->carried = true;
        return model_containers_next(m, now_ns, arena, ret_event);
    }
    m->pending = p->next;
    if (p->mute) {
        do_untold(m, p, arena);
        return model_containers_next(m, now_ns, arena, ret_event);
    }
    *ret_event = (struct event){.kind = EVENT_VERB,
                                .verb = {.id = p->call.id,
                                         .verb = p->call.verb,
                                         .guid = p->guid ? arena_strdup(arena, p->guid) : NULL,
                                         .outcome = VERB_DONE,
                                         .text = ""}};
    if (p->carried) {
        ret_event->verb.outcome = p->answer.outcome;
        ret_event->verb.text = p->answer.text;
    } else {
        carry_out(m, p, arena, &ret_event->verb);
    }
    ret_event->verb.text = arena_strdup(arena, ret_event->verb.text);
    pending_free(p);
    return true;
}

void model_containers_orphaned(struct model_containers *m, int64_t now_ns)
{
    SCOPED_ARENA(a);
    while (m->pending) {
        struct pending *p = m->pending;
        m->pending = p->next;
        struct verb_answer unheard = {.text = ""};
        if (!p->carried && p->call.verb != VERB_PULL) { /* its courier dies with the rep */
            carry_out(m, p, &a, &unheard);
        }
        pending_free(p);
    }
    MAP_EACH(&m->boxes, n)
    {
        struct box *b = map_value(n);
        b->end_untold = false;
        model_steps_told(b->steps);
    }
    model_unpin_unmade(m);
}
