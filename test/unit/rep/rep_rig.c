#include "test/unit/rep/rep_rig.h"

#include "common/model/keys.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "setting.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/feed_frames.h"

#include <string.h>

/* ---- Keeping effects ------------------------------------------------------------------------- */

static struct call keep_call(struct rep_rig *g, const struct call *c)
{
    struct call kept = *c;
    kept.url = arena_strdup(&g->arena, c->url);
    kept.body.data = arena_copy(&g->arena, c->body.data, c->body.size);
    return kept;
}

static size_t count_texts(const char *const *list)
{
    size_t count = 0;
    while (list && list[count]) {
        count++;
    }
    return count;
}

/* With a NULL behind the last. */
static const char *const *copy_texts(struct arena *a, const char *const *list, size_t count)
{
    const char **copy = ARENA_ARRAY(a, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        copy[i] = arena_strdup(a, list[i]);
    }
    copy[count] = NULL;
    return copy;
}

/* The spec lives with the step; what tests look at is copied by hand. */
static struct verb_call keep_verb(struct rep_rig *g, const struct verb_call *v)
{
    struct verb_call kept = *v;
    kept.guid = v->guid ? arena_strdup(&g->arena, v->guid) : NULL;
    kept.label = v->label ? arena_strdup(&g->arena, v->label) : NULL;
    kept.path = v->path ? arena_strdup(&g->arena, v->path) : NULL;
    kept.text = v->text ? arena_strdup(&g->arena, v->text) : NULL;
    kept.source = v->source ? arena_strdup(&g->arena, v->source) : NULL;
    kept.ports = arena_copy(&g->arena, v->ports, v->port_count * sizeof(*v->ports));
    kept.note.data = arena_copy(&g->arena, v->note.data, v->note.size);
    if (v->spec) {
        struct container_spec *spec = arena_copy(&g->arena, v->spec, sizeof(*spec));
        spec->rootfs = arena_strdup(&g->arena, v->spec->rootfs);
        spec->path = arena_strdup(&g->arena, v->spec->path);
        spec->args = copy_texts(&g->arena, v->spec->args, count_texts(v->spec->args));
        spec->layers = copy_texts(&g->arena, v->spec->layers, v->spec->layer_count);
        spec->dir = arena_strdup(&g->arena, v->spec->dir ? v->spec->dir : "");
        spec->user = arena_strdup(&g->arena, v->spec->user ? v->spec->user : "");
        spec->ports = arena_copy(&g->arena, spec->ports, spec->port_count * sizeof(*spec->ports));
        struct name_value *env = ARENA_ARRAY(&g->arena, spec->env_count, struct name_value);
        for (size_t i = 0; i < spec->env_count; i++) {
            env[i].name = arena_strdup(&g->arena, spec->env[i].name);
            env[i].value = arena_strdup(&g->arena, spec->env[i].value);
        }
        spec->env = env;
        spec->steps = arena_copy(&g->arena, spec->steps, spec->step_count * sizeof(*spec->steps));
        kept.spec = spec;
    }
    return kept;
}

static struct reply keep_reply(struct rep_rig *g, const struct reply *from)
{
    struct reply kept = *from;
    kept.allow = from->allow ? arena_strdup(&g->arena, from->allow) : NULL;
    kept.etag = arena_strdup(&g->arena, from->etag);
    kept.content_type = arena_strdup(&g->arena, from->content_type);
    kept.body.data = arena_copy(&g->arena, from->body.data, from->body.size);
    return kept;
}

static void keep(struct rep_rig *g, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_CALL:
    case EFFECT_SUBSCRIBE:
        assert_true(g->call_count < RIG_KEPT_MAX);
        g->calls[g->call_count++] = keep_call(g, &e->call);
        break;
    case EFFECT_VERB:
        assert_true(g->verb_count < RIG_KEPT_MAX);
        g->verbs[g->verb_count++] = keep_verb(g, &e->verb);
        break;
    case EFFECT_PROBE:
        assert_true(g->probe_count < RIG_KEPT_MAX);
        g->probes[g->probe_count] = e->probe;
        g->probes[g->probe_count].guid = arena_strdup(&g->arena, e->probe.guid);
        g->probes[g->probe_count].address = arena_strdup(&g->arena, e->probe.address);
        g->probes[g->probe_count++].path = arena_strdup(&g->arena, e->probe.path);
        break;
    case EFFECT_REPLY:
        assert_true(g->reply_count < RIG_KEPT_MAX);
        g->replies[g->reply_count++] = keep_reply(g, &e->reply);
        break;
    case EFFECT_OUTPUT:
        g->output = e->output;
        g->output.guid = e->output.guid ? arena_strdup(&g->arena, e->output.guid) : NULL;
        g->output.label = e->output.label ? arena_strdup(&g->arena, e->output.label) : NULL;
        g->output.source = e->output.source ? arena_strdup(&g->arena, e->output.source) : NULL;
        g->output_count++;
        break;
    case EFFECT_INCARNATION:
        assert_int_equal(g->incarnation, 0);
        g->incarnation = e->incarnation;
        break;
    case EFFECT_EVACUATION:
        assert_int_equal(g->keeping, 0);
        g->keeping = e->evacuation.id;
        g->kept = e->evacuation.kept;
        g->kept_count++;
        break;
    case EFFECT_LOG:
        g->logs++;
        buf_printf(&g->said, "%s%s %s %s\n", e->log.single ? "single " : "",
                   e->log.level >= LOG_WARN_LEVEL ? "warn" : "info", e->log.message, e->log.data);
        break;
    case EFFECT_EXIT:
        g->exited = true;
        g->exit_code = e->exit.code;
        break;
    default:
        break;
    }
}

static struct event disk_answers(struct rep_rig *g, const char *text)
{
    assert_true(g->keeping);
    struct event ev = {.kind = EVENT_EVACUATION, .evacuation = {.id = g->keeping, .text = text}};
    g->keeping = 0;
    return ev;
}

void rep_rig_kept(struct rep_rig *g, const char *text)
{
    drive_event(&g->d, disk_answers(g, text));
}

static void step(void *target, const struct event *ev, struct effects *out)
{
    struct rep_rig *g = target;
    size_t before = out->arena->used;
    role_step(g->role, ev, out);
    size_t bytes = out->arena->used - before;
    g->step_bytes = bytes > g->step_bytes ? bytes : g->step_bytes;
    for (size_t i = 0; i < out->count; i++) {
        keep(g, &out->list[i]);
    }
    if (g->keeping && !g->slow_disk) {
        struct event answer = disk_answers(g, "");
        struct effects more;
        answer.now = ev->now;
        memcpy(answer.entropy, ev->entropy, sizeof(answer.entropy));
        effects_init(&more, out->arena);
        step(g, &answer, &more);
        out->due_ns = more.due_ns;
    }
}

/* ---- Life ------------------------------------------------------------------------------------ */

void rep_rig_init(struct rep_rig *g)
{
    static const char *const rootfs[] = {"busybox", NULL};
    memset(g, 0, sizeof(*g));
    arena_init(&g->arena);
    buf_init(&g->said);
    g->revision = 100;
    g->config = (struct rep_config){
        .cell_id = RIG_CELL,
        .identity = "identity-1",
        .incarnation = 7,
        .boot_id = RIG_BOOT,
        .zone = "z1",
        .boards = "https://bbs-1:1,https://bbs-2:1",
        .url = "https://cell-1:1801",
        .address = "10.0.0.1",
        .memory_mb = 1000,
        .disk_mb = 1000,
        .containers = 4,
        .rootfs_names = rootfs,
        .port_low = 61000,
        .port_high = 61003,
    };
}

void rep_rig_done(struct rep_rig *g)
{
    role_free(g->role);
    drive_done(&g->d);
    buf_done(&g->said);
    arena_done(&g->arena);
}

size_t rep_rig_said(struct rep_rig *g, const char *part)
{
    size_t count = 0;
    for (const char *at = buf_string(&g->said); (at = strstr(at, part)); at = strchr(at, '\n')) {
        count++;
    }
    return count;
}

void rep_rig_start(struct rep_rig *g)
{
    g->role = rep_new(&g->config);
    drive_init(&g->d, step, g);
    drive_start(&g->d);
}

uint64_t rep_rig_take_incarnation(struct rep_rig *g)
{
    uint64_t incarnation = g->incarnation;
    g->incarnation = 0;
    return incarnation;
}

void rep_rig_answer_incarnation(struct rep_rig *g)
{
    rep_rig_answer_incarnation_board_generation(g, RIG_BOARD_GENERATION);
}

void rep_rig_answer_incarnation_board_generation(struct rep_rig *g, const char *board_generation)
{
    struct call c = rep_rig_take_call(g, "/v1/board/cell");
    Board__CellResponse answer = BOARD__CELL_RESPONSE__INIT;
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    cell.incarnation = g->config.incarnation;
    answer.cell = &cell;
    answer.board_generation = (char *)(uintptr_t)board_generation;
    drive_answer(&g->d, c.id, &answer.base);
}

void rep_rig_feed_open(struct rep_rig *g)
{
    rep_rig_feed_open_board_generation(g, RIG_BOARD_GENERATION);
}

void rep_rig_feed_open_board_generation(struct rep_rig *g, const char *board_generation)
{
    g->feed_id = rep_rig_take_call(g, "/v1/board/feed").id;
    SCOPED_BUF(b);
    frame_reset(&b, board_generation);
    frame_current(&b, board_generation, g->revision);
    drive_stream(&g->d, g->feed_id, buf_bytes(&b));
}

void rep_rig_answer_list(struct rep_rig *g, const struct container_status *list, size_t count)
{
    struct verb_call v = rep_rig_take_verb(g, VERB_LIST);
    drive_event(&g->d, (struct event){.kind = EVENT_VERB,
                                      .verb = {.id = v.id,
                                               .verb = VERB_LIST,
                                               .outcome = VERB_DONE,
                                               .text = "",
                                               .containers = list,
                                               .container_count = count}});
}

void rep_rig_open(struct rep_rig *g, const struct container_status *list, size_t count)
{
    rep_rig_start(g);
    rep_rig_answer_incarnation(g);
    rep_rig_feed_open(g);
    rep_rig_answer_list(g, list, count);
}

/* ---- Taking ---------------------------------------------------------------------------------- */

struct call rep_rig_take_call(struct rep_rig *g, const char *part)
{
    for (size_t i = 0; i < g->call_count; i++) {
        struct call c = g->calls[i];
        if (strstr(c.url, part)) {
            memmove(&g->calls[i], &g->calls[i + 1], (--g->call_count - i) * sizeof(c));
            return c;
        }
    }
    fail_msg("no call to %s", part);
    return (struct call){0};
}

struct verb_call rep_rig_take_verb(struct rep_rig *g, enum verb verb)
{
    for (size_t i = 0; i < g->verb_count; i++) {
        struct verb_call v = g->verbs[i];
        if (v.verb == verb) {
            memmove(&g->verbs[i], &g->verbs[i + 1], (--g->verb_count - i) * sizeof(v));
            return v;
        }
    }
    fail_msg("no verb %d", (int)verb);
    return (struct verb_call){0};
}

struct reply rep_rig_take_reply(struct rep_rig *g)
{
    assert_true(g->reply_count > 0);
    struct reply first = g->replies[0];
    memmove(&g->replies[0], &g->replies[1], --g->reply_count * sizeof(first));
    return first;
}

size_t rep_rig_calls(const struct rep_rig *g, const char *part)
{
    size_t n = 0;
    for (size_t i = 0; i < g->call_count; i++) {
        n += strstr(g->calls[i].url, part) != NULL;
    }
    return n;
}

size_t rep_rig_verbs(const struct rep_rig *g, enum verb verb)
{
    size_t n = 0;
    for (size_t i = 0; i < g->verb_count; i++) {
        n += g->verbs[i].verb == verb;
    }
    return n;
}

void rep_rig_advance(struct rep_rig *g, int64_t ms)
{
    while (ms > 0) {
        int64_t piece = ms < 1000 ? ms : 1000;
        drive_advance(&g->d, piece);
        SCOPED_BUF(b);
        frame_heartbeat(&b, RIG_BOARD_GENERATION, g->revision);
        drive_stream(&g->d, g->feed_id, buf_bytes(&b));
        ms -= piece;
    }
}

/* ---- Moves ----------------------------------------------------------------------------------- */

struct rep_rig_move rep_rig_take_move(struct rep_rig *g, const char *name)
{
    while (rep_rig_verbs(g, VERB_PORTS)) {
        rep_rig_verb(g, rep_rig_take_verb(g, VERB_PORTS), VERB_DONE, "");
    }
    struct call c = rep_rig_take_call(g, "/v1/board/apply");
    ProtobufCAllocator allocator = arena_protobuf(&g->arena);
    const Board__ApplyRequest *request =
        board__apply_request__unpack(&allocator, c.body.size, c.body.data);
    assert_non_null(request);
    assert_int_equal(request->n_moves, 1);
    assert_string_equal(request->moves[0]->move, name);
    assert_int_equal(request->moves[0]->incarnation, g->config.incarnation);
    return (struct rep_rig_move){c.id, request, request->moves[0]};
}

static void answer_move(struct rep_rig *g, struct rep_rig_move m, Board__MoveResult result)
{
    Board__ApplyResponse answer = BOARD__APPLY_RESPONSE__INIT;
    Board__MoveResult *results[] = {&result};
    result.revision = ++g->revision;
    answer.n_results = 1;
    answer.results = results;
    answer.board_generation = (char *)(m.request->board_generation[0] ? m.request->board_generation
                                                                      : RIG_BOARD_GENERATION);
    drive_answer(&g->d, m.id, &answer.base);
}

static void end_move(struct rep_rig *g, struct rep_rig_move m, Board__MoveResult__Outcome outcome,
                     Models__Error *error, const Models__ActualLRP *record)
{
    Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
    result.outcome = outcome;
    result.error = error;
    result.record = (Models__ActualLRP *)record;
    answer_move(g, m, result);
}

void rep_rig_move_done(struct rep_rig *g, struct rep_rig_move m, const Models__ActualLRP *record)
{
    end_move(g, m, BOARD__MOVE_RESULT__OUTCOME__DONE, NULL, record);
}

void rep_rig_move_refused(struct rep_rig *g, struct rep_rig_move m, Models__Error__Type type,
                          const Models__ActualLRP *record)
{
    Models__Error error = MODELS__ERROR__INIT;
    error.type = type;
    error.message = (char *)"refused by hand";
    end_move(g, m, BOARD__MOVE_RESULT__OUTCOME__REFUSED, &error, record);
}

Models__ActualLRP *rep_rig_record(struct rep_rig *g, const char *process_guid, const char *state,
                                  const char *guid, const char *cell_id)
{
    Models__ActualLRP *r = arena_message(&g->arena, &models__actual_lrp__descriptor);
    r->actual_lrp_key = arena_message(&g->arena, &models__actual_lrpkey__descriptor);
    r->actual_lrp_key->process_guid = arena_strdup(&g->arena, process_guid);
    r->actual_lrp_key->domain = (char *)"d";
    r->actual_lrp_instance_key = ARENA_NEW(&g->arena, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(r->actual_lrp_instance_key);
    r->actual_lrp_instance_key->instance_guid = arena_strdup(&g->arena, guid);
    r->actual_lrp_instance_key->cell_id = arena_strdup(&g->arena, cell_id);
    r->state = arena_strdup(&g->arena, state);
    return r;
}

static void feed_change(struct rep_rig *g, Board__FeedFrame__Kind kind, const char *key,
                        const ProtobufCMessage *record)
{
    SCOPED_BUF(b);
    frame_change(&b, kind, key, record, ++g->revision);
    drive_stream(&g->d, g->feed_id, buf_bytes(&b));
}

static void feed(struct rep_rig *g, Board__FeedFrame__Kind kind, const Models__ActualLRP *record)
{
    feed_change(g, kind,
                key_actual(&g->arena, record->actual_lrp_key->process_guid,
                           record->actual_lrp_key->index, (int)record->presence),
                &record->base);
}

void rep_rig_feed_put(struct rep_rig *g, const Models__ActualLRP *record)
{
    feed(g, BOARD__FEED_FRAME__KIND__PUT, record);
}

void rep_rig_feed_delete(struct rep_rig *g, const Models__ActualLRP *record)
{
    feed(g, BOARD__FEED_FRAME__KIND__DELETE, record);
}

void rep_rig_set(struct rep_rig *g, const char *setting, int64_t value)
{
    Board__SettingRecord record = BOARD__SETTING_RECORD__INIT;
    record.name = (char *)(uintptr_t)setting;
    record.value = value;
    feed_change(g, value < 0 ? BOARD__FEED_FRAME__KIND__DELETE : BOARD__FEED_FRAME__KIND__PUT,
                key_setting(&g->arena, record.name), &record.base);
}

void rep_rig_set_drain(struct rep_rig *g, int64_t seconds)
{
    rep_rig_set(g, "drain", seconds);
}

void rep_rig_feed_later_version(struct rep_rig *g, const char *key)
{
    SCOPED_BUF(b);
    frame_later_version(&b, key, ++g->revision);
    drive_stream(&g->d, g->feed_id, buf_bytes(&b));
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

void rep_rig_request(struct rep_rig *g, const char *unit, const char *method, const char *path,
                     const char *type, struct bytes body)
{
    const char *query = strchr(path, '?');
    if (query) {
        path = arena_strndup(&g->arena, path, (size_t)(query - path));
    }
    drive_event(&g->d, (struct event){.kind = EVENT_REQUEST,
                                      .request = {.id = ++g->request_id,
                                                  .method = method,
                                                  .path = path,
                                                  .query = query ? query + 1 : "",
                                                  .trace_id = "",
                                                  .accept = type,
                                                  .content_type = type,
                                                  .if_none_match = "",
                                                  .peer = {.unit = unit, .name = ""},
                                                  .body = body}});
}

/* POST /work; gives what came back. */
static const Cell__Work *post_work(struct rep_rig *g, const Cell__Work *work)
{
    SCOPED_BUF(b);
    buf_message(&b, &work->base);
    rep_rig_request(g, "auctioneer", "POST", "/work", "application/x-protobuf", buf_bytes(&b));
    struct reply reply = rep_rig_take_reply(g);
    assert_int_equal(reply.status, 200);
    ProtobufCAllocator allocator = arena_protobuf(&g->arena);
    const Cell__Work *rest = cell__work__unpack(&allocator, reply.body.size, reply.body.data);
    assert_non_null(rest);
    return rest;
}

size_t rep_rig_work_of(struct rep_rig *g, const char *process_guid, int32_t memory_mb,
                       const char *rootfs)
{
    Cell__LRP lrp = CELL__LRP__INIT;
    lrp.process_guid = (char *)process_guid;
    lrp.domain = (char *)"d";
    lrp.rootfs = (char *)(uintptr_t)rootfs;
    lrp.memorymb = memory_mb;
    lrp.diskmb = 10;
    lrp.definition_id = (char *)RIG_DEFINITION;
    Cell__LRP *lrps[] = {&lrp};
    Cell__Work work = CELL__WORK__INIT;
    work.n_lrps = 1;
    work.lrps = lrps;
    work.cell_id = (char *)RIG_CELL;
    return post_work(g, &work)->n_lrps;
}

size_t rep_rig_work(struct rep_rig *g, const char *process_guid, int32_t memory_mb)
{
    return rep_rig_work_of(g, process_guid, memory_mb, "preloaded:busybox");
}

Models__DesiredLRP *rep_rig_desired(struct rep_rig *g, const char *process_guid,
                                    const uint32_t *ports, size_t port_count)
{
    struct arena *a = &g->arena;
    Models__DesiredLRP *lrp = arena_message(a, &models__desired_lrp__descriptor);
    lrp->process_guid = arena_strdup(a, process_guid);
    lrp->domain = (char *)"d";
    lrp->root_fs = (char *)"preloaded:busybox";
    lrp->memory_mb = 100;
    lrp->disk_mb = 10;
    lrp->modification_tag = arena_message(a, &models__modification_tag__descriptor);
    lrp->modification_tag->epoch = (char *)RIG_DEFINITION;
    lrp->action = arena_message(a, &models__action__descriptor);
    lrp->action->run_action = arena_message(a, &models__run_action__descriptor);
    lrp->action->run_action->path = (char *)"/bin/httpd";
    lrp->action->run_action->log_source = (char *)"APP/WEB";
    lrp->log_source = (char *)"APP";
    lrp->log_guid = arena_strdup(a, process_guid);
    lrp->n_ports = port_count;
    lrp->ports = arena_copy(a, ports, port_count * sizeof(*ports));
    return lrp;
}

void rep_rig_answer_desired(struct rep_rig *g, const Models__DesiredLRP *lrp)
{
    struct call c = rep_rig_take_call(g, "/v1/desired_lrps/get_by_process_guid.r3");
    Models__DesiredLRPResponse answer = MODELS__DESIRED_LRPRESPONSE__INIT;
    answer.desired_lrp = (Models__DesiredLRP *)lrp;
    drive_answer(&g->d, c.id, &answer.base);
}

/* ---- The driver ------------------------------------------------------------------------------ */

void rep_rig_verb(struct rep_rig *g, struct verb_call call, enum verb_outcome outcome,
                  const char *text)
{
    drive_event(&g->d, (struct event){.kind = EVENT_VERB,
                                      .verb = {.id = call.id,
                                               .verb = call.verb,
                                               .guid = call.guid,
                                               .outcome = outcome,
                                               .text = text}});
}

void rep_rig_exited(struct rep_rig *g, const char *guid, int code)
{
    drive_event(
        &g->d,
        (struct event){
            .kind = EVENT_CONTAINER,
            .container = {.guid = guid, .state = CONTAINER_EXITED, .exit_code = code, .text = ""}});
}

const char *rep_rig_run(struct rep_rig *g, const char *process_guid)
{
    static const uint32_t ports[] = {8080};
    assert_int_equal(rep_rig_work(g, process_guid, 100), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(g, claim, rep_rig_record(g, process_guid, "CLAIMED", guid, RIG_CELL));
    rep_rig_answer_desired(g, rep_rig_desired(g, process_guid, ports, 1));
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_START), VERB_DONE, "");
    rep_rig_move_done(g, rep_rig_take_move(g, "start"),
                      rep_rig_record(g, process_guid, "RUNNING", guid, RIG_CELL));
    rep_rig_feed_put(g, rep_rig_record(g, process_guid, "RUNNING", guid, RIG_CELL));
    return guid;
}

struct container_status rep_rig_status(struct rep_rig *g, const char *guid,
                                       const char *process_guid, enum container_state state)
{
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = (char *)process_guid;
    key.domain = (char *)"d";
    Models__PortMapping port = MODELS__PORT_MAPPING__INIT;
    port.container_port = 8080;
    port.host_port = 61001;
    Models__PortMapping *ports[] = {&port};
    Rep__Note note = REP__NOTE__INIT;
    note.format = 1;
    note.key = &key;
    note.instance_guid = (char *)guid;
    note.definition_id = (char *)RIG_DEFINITION;
    note.memory_mb = 100;
    note.disk_mb = 10;
    note.log_source = (char *)"APP/WEB";
    note.n_ports = 1;
    note.ports = ports;
    size_t size = rep__note__get_packed_size(&note);
    uint8_t *packed = arena_alloc(&g->arena, size);
    rep__note__pack(&note, packed);
    return (struct container_status){
        .guid = guid, .state = state, .text = "", .note = {.data = packed, .size = size}};
}

struct probe rep_rig_take_probe(struct rep_rig *g)
{
    assert_true(g->probe_count > 0);
    struct probe first = g->probes[0];
    memmove(g->probes, g->probes + 1, --g->probe_count * sizeof(*g->probes));
    return first;
}

void rep_rig_probed(struct rep_rig *g, struct probe probe, enum probe_outcome outcome, int status)
{
    drive_event(&g->d, (struct event){.kind = EVENT_PROBED,
                                      .probed = {.id = probe.id,
                                                 .guid = probe.guid,
                                                 .outcome = outcome,
                                                 .status = status,
                                                 .took_ms = 7,
                                                 .text = ""}});
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

bool rep_rig_task_work(struct rep_rig *g, const char *task_guid, int32_t memory_mb)
{
    Cell__Task task = CELL__TASK__INIT;
    task.taskguid = (char *)task_guid;
    task.domain = (char *)"d";
    task.rootfs = (char *)"preloaded:busybox";
    task.memorymb = memory_mb;
    task.diskmb = 10;
    Cell__Task *tasks[] = {&task};
    Cell__Work work = CELL__WORK__INIT;
    work.n_tasks = 1;
    work.tasks = tasks;
    return post_work(g, &work)->n_tasks == 0;
}

Models__Task *rep_rig_task(struct rep_rig *g, const char *task_guid, Models__Task__State state,
                           const char *cell_id, const char *attempt)
{
    struct arena *a = &g->arena;
    Models__Task *task = arena_message(a, &models__task__descriptor);
    Models__TaskDefinition *d = arena_message(a, &models__task_definition__descriptor);
    task->task_guid = arena_strdup(a, task_guid);
    task->domain = (char *)"d";
    task->state = state;
    task->cell_id = arena_strdup(a, cell_id);
    task->attempt = arena_strdup(a, attempt);
    task->created_at = RIG_TASK_CREATED;
    task->task_definition = d;
    d->root_fs = (char *)"preloaded:busybox";
    d->memory_mb = 100;
    d->disk_mb = 10;
    d->result_file = (char *)"/tmp/result";
    d->action = arena_message(a, &models__action__descriptor);
    d->action->run_action = arena_message(a, &models__run_action__descriptor);
    d->action->run_action->path = (char *)"/bin/work";
    d->log_source = (char *)"STG";
    d->log_guid = arena_strdup(a, task_guid);
    return task;
}

void rep_rig_task_answer(struct rep_rig *g, struct rep_rig_move m, Models__Error__Type type,
                         const Models__Task *task)
{
    Models__Error error = MODELS__ERROR__INIT;
    Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
    error.type = type;
    error.message = (char *)"refused by hand";
    result.outcome = type ? BOARD__MOVE_RESULT__OUTCOME__REFUSED
                          : BOARD__MOVE_RESULT__OUTCOME__DONE;
    result.error = type ? &error : NULL;
    result.task = (Models__Task *)task;
    answer_move(g, m, result);
}

void rep_rig_task_put(struct rep_rig *g, const Models__Task *task)
{
    feed_change(g, BOARD__FEED_FRAME__KIND__PUT, key_task(&g->arena, task->task_guid), &task->base);
}

void rep_rig_task_delete(struct rep_rig *g, const Models__Task *task)
{
    feed_change(g, BOARD__FEED_FRAME__KIND__DELETE, key_task(&g->arena, task->task_guid),
                &task->base);
}

struct container_status rep_rig_task_status(struct rep_rig *g, const char *task_guid,
                                            const char *attempt, bool executing,
                                            enum container_state state)
{
    Rep__TaskNote task = REP__TASK_NOTE__INIT;
    task.guid = (char *)task_guid;
    task.domain = (char *)"d";
    task.attempt = (char *)attempt;
    task.result_file = (char *)"/tmp/result";
    task.executing = executing;
    task.created_at = RIG_TASK_CREATED;
    Rep__Note note = REP__NOTE__INIT;
    note.format = 1;
    note.task = &task;
    note.instance_guid = (char *)task_guid;
    note.log_source = (char *)"STG";
    note.memory_mb = 100;
    note.disk_mb = 10;
    size_t size = rep__note__get_packed_size(&note);
    uint8_t *packed = arena_alloc(&g->arena, size);
    rep__note__pack(&note, packed);
    return (struct container_status){
        .guid = task_guid, .state = state, .text = "", .note = {.data = packed, .size = size}};
}
