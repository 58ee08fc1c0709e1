/* How stories of pairs of acts are played: test/sim/stories/unit_play.h. */
#include "test/sim/stories/unit_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/record.h"
#include "rep/unit/hook.h"
#include "rep_note.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/units_inside.h"

#define PLAY_LIMIT_NS (120 * SECOND_NS)

/* ---- Who looks on ---------------------------------------------------------------------------- */

static void race_committed(void *context, const struct world_commit *commit)
{
    checkers_committed(&((struct racing *)context)->checkers, commit);
}

/* A hook is noted once, with its number; other notes have the same one, or none. */
static void race_journal(struct racing *r, const char *service, const Rep__UnitNote *j)
{
    const Rep__UnitNoteHook *h = j->hook;
    bool of_web = strcmp(service, "web") == 0;
    if (of_web && !h) {
        r->brokens += r->hook == HOOK_BROKEN;
        r->hook = HOOK_NONE;
    }
    if (!h || strcmp(h->state, "noted") != 0) {
        return;
    }
    r->stops += h->hook == HOOK_STOP;
    if (of_web && h->run > r->last_run) {
        size_t used = strlen(r->order);
        r->last_run = h->run;
        r->hook = (int)h->hook;
        snprintf(r->order + used, sizeof(r->order) - used, "%s ",
                 hook_name((enum unit_hook)h->hook));
    }
}

static void race_verb(void *context, struct node *n, const struct verb_call *call)
{
    struct racing *r = context;
    if (call->verb == VERB_NOTE && call->durable) {
        Rep__Note *note = rep__note__unpack(NULL, call->note.size, call->note.data);
        if (note && note->unit && note->unit->journal) {
            race_journal(r, note->unit->service, note->unit->journal);
        }
        if (note) {
            rep__note__free_unpacked(note, NULL);
        }
    }
    r->removes += call->verb == VERB_REMOVE;
    r->commands += call->verb == VERB_RUN && strcmp(call->run->path, UNIT_HOOK_PROGRAM) != 0;
    checkers_verb(&r->checkers, n, call);
}

static void race_logged(void *context, struct node *n, const struct log_line *line)
{
    checkers_logged(&((struct racing *)context)->checkers, n, line);
}

/* ---- Acts ------------------------------------------------------------------------------------ */

static char *word_of(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void race_answered(void *context, int status, struct bytes body)
{
    (void)context, (void)status, (void)body;
}

/* Nobody waits for the answer. */
static void race_send(struct racing *r, const char *path, const ProtobufCMessage *m)
{
    struct cluster *c = r->cluster;
    struct node *bbs = node_up(c->bbs[0]) ? c->bbs[0] : c->bbs[1];
    world_send(c->world, node_url(bbs), path, m, 10 * SECOND_NS, race_answered, r);
}

static unsigned race_service(const char *name)
{
    unsigned i = 0;
    while (strcmp(unit_services[i], name) != 0) {
        i++;
        assert_true(i < UNIT_SERVICES);
    }
    return i;
}

static int race_by_name(const void *a, const void *b)
{
    return strcmp((*(Board__CharmHook *const *)a)->name, (*(Board__CharmHook *const *)b)->name);
}

/* That of the swarm; the logger has a second end, so that two relations lead to one principal. */
static Board__Charm *race_charm(struct arena *a, unsigned service)
{
    static const char *const hooks[] = {"joined", "changed", "departed", "broken"};
    Board__Charm *c = unit_charm(a, service, 0);
    if (service == UNIT_SERVICES - 1) {
        Board__Endpoint *log = c->endpoints[0];
        c->endpoints[c->n_endpoints] = log;
        c->endpoints[0] = arena_copy(a, log, sizeof(*log));
        c->endpoints[0]->name = word_of("audit");
        c->n_endpoints++;
        for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
            Board__CharmHook *h = arena_copy(a, c->hooks[0], sizeof(*h));
            h->name = word_of(arena_printf(a, "audit-relation-%s", hooks[i]));
            c->hooks[c->n_hooks++] = h;
        }
        qsort(c->hooks, c->n_hooks, sizeof(c->hooks[0]), race_by_name);
    }
    return c;
}

static void race_deploy(struct racing *r, const char *name, unsigned count)
{
    Board__DeployUnitsRequest m = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    m.charm = race_charm(&r->arena, race_service(name));
    m.count = count;
    race_send(r, "/v1/units/deploy", &m.base);
}

void race_deploy_named(struct racing *r, const char *name)
{
    struct cluster *c = r->cluster;
    Board__DeployUnitsRequest m = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    Board__UnitEnd one = BOARD__UNIT_END__INIT, other = BOARD__UNIT_END__INIT;
    Board__UnitEnd *list[] = {&one, &other};
    Board__RelateUnitsRequest relate = BOARD__RELATE_UNITS_REQUEST__INIT;
    m.charm = unit_charm(&r->arena, race_service("web"), 0);
    m.name = word_of(name);
    one = (Board__UnitEnd){one.base, word_of(name), word_of("kv")};
    other = (Board__UnitEnd){other.base, word_of("db"), word_of("kv")};
    relate.ends = list;
    relate.n_ends = 2;
    const char *url = node_url(c->bbs[0]);
    assert_int_equal(world_call(c->world, url, "/v1/units/deploy", &m.base, SETTLE_NS, NULL), 200);
    assert_int_equal(world_call(c->world, url, "/v1/units/relate", &relate.base, SETTLE_NS, NULL),
                     200);
}

static void race_add(struct racing *r, const char *name, unsigned count, bool unused)
{
    Board__AddUnitsRequest m = BOARD__ADD_UNITS_REQUEST__INIT;
    Board__UnitNeeds needs = BOARD__UNIT_NEEDS__INIT;
    needs.unused = true;
    m.service = word_of(name);
    m.count = count;
    m.needs = unused ? &needs : NULL;
    race_send(r, "/v1/units/add", &m.base);
}

static void race_relation(struct racing *r, const char *number, bool ends)
{
    static const struct unit_relation_row audit = {"logger", "audit", "web", "juju-info"};
    const struct unit_relation_row *row =
        atoi(number) == UNIT_RELATIONS ? &audit : &unit_relations[atoi(number)];
    Board__UnitEnd one = BOARD__UNIT_END__INIT, other = BOARD__UNIT_END__INIT;
    Board__UnitEnd *list[] = {&one, &other};
    Board__RelateUnitsRequest relate = BOARD__RELATE_UNITS_REQUEST__INIT;
    Board__UnitRelationRequest end = BOARD__UNIT_RELATION_REQUEST__INIT;
    one = (Board__UnitEnd){one.base, word_of(row->one), word_of(row->one_end)};
    other = (Board__UnitEnd){other.base, word_of(row->other), word_of(row->other_end)};
    relate.ends = end.ends = list;
    relate.n_ends = end.n_ends = 2;
    race_send(r, ends ? "/v1/units/relation/destroy" : "/v1/units/relate",
              ends ? &end.base : &relate.base);
}

static void race_unit(struct racing *r, const char *path, const char *unit, bool forced)
{
    Board__UnitRequest m = BOARD__UNIT_REQUEST__INIT;
    m.unit = word_of(unit);
    m.forced = forced;
    m.max_wait_ms = forced;
    m.resolved = strstr(path, "resolve") ? BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP
                                         : BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
    race_send(r, path, &m.base);
}

static void race_machine(struct racing *r, const char *number, bool forced)
{
    Board__MachineRequest m = BOARD__MACHINE_REQUEST__INIT;
    m.optional_number_case = BOARD__MACHINE_REQUEST__OPTIONAL_NUMBER_NUMBER;
    m.number = (uint32_t)atoi(number);
    m.forced = forced;
    m.max_wait_ms = forced;
    race_send(r, "/v1/units/machine/destroy", &m.base);
}

static void race_add_machine(struct racing *r, const char *cell)
{
    Board__AddMachineRequest m = BOARD__ADD_MACHINE_REQUEST__INIT;
    m.cell_id = word_of(cell);
    race_send(r, "/v1/units/machine/add", &m.base);
}

void race_remove_service(struct racing *r, const char *name)
{
    Board__UnitServiceRequest m = BOARD__UNIT_SERVICE_REQUEST__INIT;
    m.service = word_of(name);
    race_send(r, "/v1/units/service/destroy", &m.base);
}

void race_process(struct racing *r, struct node *n, bool up)
{
    if (up && !node_up(n)) {
        checkers_restarted(&r->checkers, n);
        world_start(r->cluster->world, n);
    } else if (!up && node_up(n)) {
        world_kill(r->cluster->world, n);
    }
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

/* Whether a unit's container is of a service. Records are here for the call alone. */
struct race_of {
    const char *guid, *service;
    bool is;
};

static void find_service(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct race_of *of = context;
    const Board__UnitRecord *u = (const Board__UnitRecord *)m;
    if (type == RECORD_UNIT && strcmp(u->guid, of->guid) == 0) {
        of->is = strcmp(u->service, of->service) == 0;
    }
}

static bool race_is_meant(struct racing *r, const char *guid)
{
    struct race_of of = {guid, r->hooks_of, !r->hooks_of};
    if (r->hooks_of) {
        cluster_each(r->cluster, "unit/", find_service, &of);
    }
    return of.is;
}

static int race_hooks_in(struct racing *r, struct node *cell, const char *guid, bool end)
{
    struct model_containers *m = node_containers(cell);
    int64_t run;
    for (int k = 0; (run = model_containers_step(m, guid, k)) >= 0; k++) {
        const struct step_process *p = model_containers_run(m, guid, (uint32_t)run);
        if (p && strcmp(p->path, UNIT_HOOK_PROGRAM) == 0) {
            if (end && race_is_meant(r, guid)) {
                world_end_step(r->cluster->world, cell, guid, (uint32_t)run, r->hooks_exit, false);
            }
            return 1;
        }
    }
    return 0;
}

/* How many run. All end, or those of a service. */
static int race_hooks(struct racing *r, bool end)
{
    struct cluster *c = r->cluster;
    const char *guid;
    int count = 0;
    for (unsigned i = 0; i < c->options.cells; i++) {
        for (int n = 0; (guid = model_containers_guid(node_containers(c->cells[i]), n)); n++) {
            count += race_hooks_in(r, c->cells[i], guid, end);
        }
    }
    return count;
}

/* ---- What there is --------------------------------------------------------------------------- */

struct race_count {
    const char *state;
    int count;
};

/* Of whatever has a state in a text. */
static void count_race_state(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct race_count *n = context;
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "state");
    (void)type;
    assert_non_null(f);
    n->count += strcmp(*(char *const *)((const char *)m + f->offset), n->state) == 0;
}

static int race_made(struct cluster *c)
{
    int count = 0;
    for (unsigned i = 0; i < c->options.cells; i++) {
        for (int n = 0; model_containers_made(node_containers(c->cells[i]), n); n++) {
            count++;
        }
    }
    return count;
}

static void find_oldest(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Board__UnitRecord *u = (const Board__UnitRecord *)m;
    int *oldest = context;
    if (type == RECORD_UNIT && *u->principal && (*oldest < 0 || (int)u->number < *oldest)) {
        *oldest = (int)u->number;
    }
}

static int race_oldest(struct racing *r)
{
    int oldest = -1;
    cluster_each(r->cluster, "unit/", find_oldest, &oldest);
    return oldest;
}

/* What the story heard. NULL: the word means something else. */
static const int *race_heard(const struct racing *r, const char *what)
{
    return strcmp(what, "stops") == 0     ? &r->stops
           : strcmp(what, "brokens") == 0 ? &r->brokens
           : strcmp(what, "removes") == 0 ? &r->removes
                                          : NULL;
}

int race_counted(struct racing *r, const char *what)
{
    const int *heard = race_heard(r, what);
    if (heard) {
        return *heard;
    }
    if (strcmp(what, "oldest") == 0) {
        return race_oldest(r);
    }
    if (strcmp(what, "hooks") == 0) {
        return race_hooks(r, false);
    }
    static const struct {
        const char *state, *prefix;
    } states[] = {{"started", "unit_status/"}, {"stopped", "unit_status/"},
                  {"error", "unit_status/"},   {"dying", "unit/"},
                  {"dead", "unit/"},           {"departing", "relation_member/"}};
    if (strcmp(what, "made") == 0) {
        return race_made(r->cluster);
    }
    if (strcmp(what, "lost") == 0) {
        return cluster_lost_cells(r->cluster);
    }
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct race_count n = {what, 0};
        if (strcmp(what, states[i].state) == 0) {
            cluster_each(r->cluster, states[i].prefix, count_race_state, &n);
            return n.count;
        }
    }
    return cluster_records(r->cluster, arena_printf(&r->arena, "%s/", what));
}

/* All that one alternative says. */
static bool race_is(struct racing *r, char *texts)
{
    bool all = true;
    for (char *rest = texts, *one; (one = strsep(&rest, " "));) {
        char *is = strchr(one, '=');
        assert_non_null(is);
        *is = '\0';
        all = all && race_counted(r, one) == atoi(is + 1);
    }
    return all;
}

static bool race_comes_to(struct racing *r, const char *text)
{
    bool any = false;
    for (char *rest = arena_strdup(&r->arena, text), *one; (one = strsep(&rest, "|"));) {
        any = any || race_is(r, one);
    }
    return any;
}

void race_step(struct racing *r, int64_t ns)
{
    if (r->hooks_exit >= 0) {
        race_hooks(r, true);
    }
    world_run(r->cluster->world, ns);
    if (!checkers_clean(&r->checkers)) {
        fail_msg("%s", buf_string(&r->checkers.violation));
    }
}

void race_await(struct racing *r, const char *text, int64_t step_ns)
{
    int64_t until = world_now(r->cluster->world) + PLAY_LIMIT_NS;
    while (!race_comes_to(r, text)) {
        if (world_now(r->cluster->world) >= until) {
            fail_msg("it does not come to %s", text);
        }
        race_step(r, step_ns);
    }
}

/* ---- One race -------------------------------------------------------------------------------- */

static void race_rest(struct racing *r)
{
    for (int i = 0; i < 100; i++) {
        race_step(r, 30 * MILLISECOND_NS);
    }
}

static void race_hooks_are(struct racing *r, const char *what)
{
    bool off = strcmp(what, "off") == 0, fail = strcmp(what, "fail") == 0;
    r->hooks_exit = off ? -1 : fail;
    r->hooks_of = off || fail || strcmp(what, "on") == 0 ? NULL : unit_services[race_service(what)];
}

/* The first container that runs ends, or the first of a service of which there is a record. */
static void race_fall(struct racing *r, const char *service)
{
    struct cluster *c = r->cluster;
    struct race_of of = {.service = service, .is = !*service};
    int n = 0;
    for (; !of.is && (of.guid = model_containers_guid(node_containers(c->cells[0]), n)); n++) {
        cluster_each(c, "unit/", find_service, &of);
    }
    assert_true(of.is);
    world_end_container(c->world, c->cells[0], *service ? n - 1 : 0, 137);
}

/* ---- A restore ------------------------------------------------------------------------------- */

static void race_restore(struct racing *r)
{
    struct cluster *c = r->cluster;
    store_restore(c->store, r->snapshot, SECOND_NS);
    checkers_restored(&r->checkers, r->snapshot);
    race_rest(r);
    cluster_new_board_generation(c, "again");
    race_rest(r);
    race_rest(r); /* a bbs looks again within 5 s */
}

/* On the machine itself; of what is not unknown it is refused. */
static void race_recall(struct racing *r)
{
    struct cluster *c = r->cluster;
    const char *guid;
    for (int n = 0; (guid = model_containers_made(node_containers(c->cells[0]), n)); n++) {
        world_send_request(
            c->world, node_url(c->cells[0]),
            &(struct world_request){.method = "POST",
                                    .path = arena_printf(&r->arena, "/v1/units/%s/recall", guid),
                                    .admin = true,
                                    .peer = {.unit = "client", .name = "admin"},
                                    .content_type = "application/octet-stream",
                                    .accept = "",
                                    .trace_id = ""},
            10 * SECOND_NS, race_answered, r);
    }
}

/* The record at the key is as a later version writes it, or as this one does again. */
static void race_written(struct racing *r, const char *key, bool later)
{
    struct cluster *c = r->cluster;
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    struct store_answer answer = {0};
    range.key = (ProtobufCBinaryData){strlen(key), (uint8_t *)(uintptr_t)key};
    model_etcd_apply(store_etcd(c->store), STORE_RANGE, &range.base, &r->arena, &answer);
    assert_int_equal(answer.outcome, STORE_DONE);
    const Etcd__RangeResponse *found = (const Etcd__RangeResponse *)answer.message;
    if (found->n_kvs != 1) {
        fail_msg("there is no %s", key);
    }
    struct bytes value = {found->kvs[0]->value.data, found->kvs[0]->value.len};
    uint8_t *copy = arena_alloc(&r->arena, value.size);
    memcpy(copy, value.data, value.size);
    assert_true(value.size > 0 && (copy[0] == RECORD_VERSION) == later);
    copy[0] = later ? RECORD_VERSION + 1 : RECORD_VERSION;
    store_put(c->store, key, (struct bytes){copy, value.size});
    world_note(c->world, "stranger", "writes %s as %s version", key, later ? "a later" : "this");
}

static void race_act(struct racing *r, char *text)
{
    char *words[3] = {word_of(""), word_of(""), word_of("")};
    struct cluster *c = r->cluster;
    if (strncmp(text, "await ", 6) == 0) {
        race_await(r, text + 6, 30 * MILLISECOND_NS);
        return;
    }
    if (strncmp(text, "watch ", 6) == 0) {
        race_await(r, text + 6, MILLISECOND_NS / 2);
        return;
    }
    for (int i = 0; i < 3 && text; i++) {
        words[i] = strsep(&text, " ");
    }
    const char *verb = words[0], *what = words[1];
    unsigned count = (unsigned)atoi(words[2]);
    if (strcmp(verb, "deploy") == 0) {
        race_deploy(r, what, count);
    } else if (strcmp(verb, "add") == 0 || strcmp(verb, "unused") == 0) {
        race_add(r, what, count ? count : 1, strcmp(verb, "unused") == 0);
    } else if (strcmp(verb, "relate") == 0 || strcmp(verb, "unrelate") == 0) {
        race_relation(r, what, *verb == 'u');
    } else if (strcmp(verb, "rmunit") == 0 || strcmp(verb, "force") == 0) {
        race_unit(r, "/v1/units/unit/destroy", what, *verb == 'f');
    } else if (strcmp(verb, "resolve") == 0) {
        race_unit(r, "/v1/units/resolve", what, false);
    } else if (strcmp(verb, "rmmachine") == 0 || strcmp(verb, "forcemachine") == 0) {
        race_machine(r, what, *verb == 'f');
    } else if (strcmp(verb, "addmachine") == 0) {
        race_add_machine(r, what);
    } else if (strcmp(verb, "rmservice") == 0) {
        race_remove_service(r, what);
    } else if (strcmp(verb, "kill") == 0 || strcmp(verb, "start") == 0) {
        race_process(r, c->cells[0], *verb == 's');
    } else if (strcmp(verb, "killbbs") == 0 || strcmp(verb, "startbbs") == 0) {
        race_process(r, c->bbs[0], *verb == 's');
    } else if (strcmp(verb, "killconverger") == 0) {
        race_process(r, c->converger, false);
    } else if (strcmp(verb, "anew") == 0) {
        world_reboot(c->world, c->cells[0], true);
        c->anew[0]++;
    } else if (strcmp(verb, "empty") == 0) {
        world_stop(c->world, c->cells[0]);
    } else if (strcmp(verb, "fall") == 0) {
        race_fall(r, what);
    } else if (strcmp(verb, "later") == 0 || strcmp(verb, "present") == 0) {
        race_written(r, what, *verb == 'l');
    } else if (strcmp(verb, "snapshot") == 0) {
        r->snapshot = model_etcd_revision(store_etcd(c->store));
    } else if (strcmp(verb, "restore") == 0) {
        race_restore(r);
    } else if (strcmp(verb, "recall") == 0) {
        race_recall(r);
    } else if (strcmp(verb, "rest") == 0) {
        race_rest(r);
    } else {
        assert_string_equal(verb, "hooks");
        race_hooks_are(r, what);
    }
}

void race_acts(struct racing *r, const char *text, int64_t apart_ns)
{
    for (char *rest = arena_strdup(&r->arena, text), *one; rest && (one = strsep(&rest, ";"));) {
        one += strspn(one, " ");
        bool at_once = strncmp(one, "watch ", 6) == 0;
        if (*one) {
            race_act(r, one);
            race_step(r, at_once ? 1 : apart_ns);
        }
    }
}

/* All services go, whatever somebody has to say about hooks that fail. */
static void race_ends(struct racing *r)
{
    SCOPED_BUF(left);
    int64_t until = world_now(r->cluster->world) + PLAY_LIMIT_NS;
    race_process(r, r->cluster->cells[0], true);
    race_process(r, r->cluster->bbs[0], true);
    race_process(r, r->cluster->converger, true);
    race_hooks_are(r, "on");
    do {
        for (unsigned i = 0; i < UNIT_SERVICES; i++) {
            race_remove_service(r, unit_services[i]);
        }
        for (unsigned i = 0; i < 2; i++) {
            race_unit(r, "/v1/units/resolve", i ? "db/1" : "db/0", false);
        }
        for (int i = 0; i < 30; i++) {
            race_step(r, 30 * MILLISECOND_NS);
        }
        buf_clear(&left);
        checkers_units_are_gone(&r->checkers, &left);
        if (left.size && world_now(r->cluster->world) > until) {
            fail_msg("all was destroyed: %s", buf_string(&left));
        }
    } while (left.size);
    race_await(r, "made=0 lost=0", 30 * MILLISECOND_NS);
}

void race_begins(struct racing *r, struct cluster *c)
{
    *r = (struct racing){.cluster = c};
    arena_init(&r->arena);
    checkers_init(&r->checkers, c, 30 * SECOND_NS);
    world_observe(c->world, &(struct world_observer){.committed = race_committed,
                                                     .verb = race_verb,
                                                     .logged = race_logged,
                                                     .context = r});
}

void race_is_over(struct racing *r)
{
    race_ends(r);
    world_observe(r->cluster->world, &(struct world_observer){0});
    checkers_done(&r->checkers);
    arena_done(&r->arena);
}
