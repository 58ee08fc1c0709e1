/* The rep's step: hands each event to its subjects and ends with reconcile(). */
#include "rep/rep.h"

#include "common/base/memory.h"
#include "common/model/record.h"
#include "common/model/setting_record.h"
#include "rep/container/pull.h"
#include "rep/container/steps.h"
#include "rep/http/request.h"
#include "rep/inside.h"
#include "rep/instance/instance.h"
#include "rep/reconcile.h"
#include "rep/task/cell_task.h"
#include "rep/unit/unit_tools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>


/* ---- The feed -------------------------------------------------------------------------------- */

/* The pass that CURRENT calls for looks at all of them. */
static void retry_now(struct rep *r)
{
    MAP_EACH(&r->containers.by_guid, n)
    {
        struct container *c = map_value(n);
        c->retry_ns = 0;
    }
    moves_retry_strays(r);
}

/* One that this version cannot read is ignored: the default is in force. Until the feed is current
 * again, what stood before is. */
static void settings_in_force(struct rep *r)
{
    struct settings s = SETTINGS_DEFAULT;
    SCOPED_ARENA(a);
    const char *all = key_setting(&a, "");
    for (struct map_node *n = map_from(&r->feed_client.records, all);
         n && strncmp(map_key(n), all, strlen(all)) == 0; n = map_next(n)) {
        const struct followed *f = map_value(n);
        ProtobufCMessage *m;
        if (record_decode(&a, RECORD_SETTING, blob_bytes(f->record), &m, NULL) == 0) {
            settings_take(&s, (const Board__SettingRecord *)m);
        }
    }
    r->drain_ns = s.drain_ns;
    r->crash = s.crash;
}

static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct rep *r = context;
    switch (change) {
    case FEED_CLIENT_RESET:
        cell_units_reset(r);
        if (knowledge_board_generation(&r->knowledge, r->feed_client.board_generation)) {
            retry_now(r); /* no refusal of the old board generation's says anything of this one */
        }
        break;
    case FEED_CLIENT_CURRENT:
        settings_in_force(r);
        pass_call(&r->pass);
        break;
    case FEED_CLIENT_PUT:
    case FEED_CLIENT_DELETE:
        cell_units_record(r, key, change == FEED_CLIENT_PUT ? record : NULL);
        if (!r->feed_client.current) { /* a snapshot ends with CURRENT: a pass over everything */
            break;
        }
        if (key_type(key) == RECORD_SETTING) {
            settings_in_force(r);
        } else {
            container_kind_at(&r->containers, key)->record(r, key, record, out);
        }
        break;
    }
}

/* ---- The driver ------------------------------------------------------------------------------ */

static void on_verb(struct rep *r, const struct verb_answer *answer, struct effects *out)
{
    if (answer->verb == VERB_LIST) {
        listing_answer(r, answer, out);
        return;
    }
    if (answer->verb == VERB_MEASURE) {
        metrics_answer(r, answer, out);
        return;
    }
    if (answer->verb == VERB_EXEC) {
        checks_executed(r, answer);
        return;
    }
    if (unit_fetch_answer(r, answer)) {
        return;
    }
    struct container *c = container_find(&r->containers, answer->guid);
    if (c && (steps_answer(r, c, answer, out) || pull_answer(r, c, answer, out))) {
        return;
    }
    if (!c || c->op < OP_PREPARE || c->op_id != answer->id) {
        return; /* of a container that was unknown here (listing.c) */
    }
    enum container_op op = c->op;
    container_addressed(c, answer->address);
    c->op = OP_NONE;
    c->touched = r->next_id;
    container_touch(c);
    if (op == OP_REMOVE) {
        reconcile_removed(r, c, answer, out);
    } else if (op != OP_SIGNAL) {
        c->kind->verb(r, c, answer, out);
    } else if (answer->outcome != VERB_DONE) {
        listing_want(&r->listing); /* its process may have ended unseen */
    }
}

/* A hint that a process ended, or that a step has come further. */
static void on_container(struct rep *r, const struct container_status *s, struct effects *out)
{
    struct container *c = container_find(&r->containers, s->guid);
    if (!c || c->deleting) {
        return;
    }
    container_addressed(c, s->address);
    if (step_facts_learn(c, s)) {
        container_touch(c);
    }
    if (s->state != CONTAINER_EXITED) {
        return;
    }
    c->touched = r->next_id;
    if (c->phase == PHASE_CREATED || c->phase == PHASE_RUNNING) {
        container_exited(c, PHASE_TRIGGER_ENDED, s, out);
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void on_stop(struct rep *r, enum stop_kind kind, struct effects *out)
{
    if (kind == STOP_IN_ORDER && !r->config.leave_on_term) {
        drain_begin(r, "SIGTERM", out);
        return;
    }
    effects_log(out, LOG_INFO_LEVEL, "rep ends", "containers=%zu", r->containers.by_guid.count);
    effects_exit(out, 0, "stopped as asked; containers run on");
    r->ended = true;
}

static void on_event(struct rep *r, const struct event *ev, struct effects *out)
{
    switch (ev->kind) {
    case EVENT_START:
        drain_start(r, out);
        r->pass.due_ns = r->now.mono_ns + r->config.reconcile_interval_ns;
        break;
    case EVENT_REQUEST:
        if (ev->request.tools) {
            tools_face_request(&r->tools, r->tools_owner, &ev->request, out);
        } else {
            request_handle(r, &ev->request, out);
        }
        break;
    case EVENT_HANGUP:
        metrics_hangup(r, ev->hangup);
        drain_kept_hangup(r, ev->hangup);
        tools_face_hangup(&r->tools, ev->hangup);
        break;
    case EVENT_RESPONSE:
        askers_answer(&r->askers, &ev->response, out);
        break;
    case EVENT_VERB:
        on_verb(r, &ev->verb, out);
        break;
    case EVENT_CONTAINER:
        on_container(r, &ev->container, out);
        break;
    case EVENT_PROBED:
        checks_probed(r, &ev->probed, out);
        break;
    case EVENT_EVACUATION:
        drain_kept_answer(r, &ev->evacuation, out);
        break;
    case EVENT_STOP:
        on_stop(r, ev->stop, out);
        break;
    default:
        break;
    }
}

/* Incarnation and heartbeats. */
static void keep_incarnation(struct rep *r, const struct event *ev, struct effects *out)
{
    if (incarnation_step(r, ev, out)) {
        heartbeat_sender_start(&r->heartbeat_sender, ev, out);
        pass_call(&r->pass);
    } else if (heartbeat_sender_step(&r->heartbeat_sender, ev, out) == HEARTBEAT_REJECTED) {
        incarnation_lost(r, "a bbs refused our heartbeat", out);
    }
}

static void rep_step(struct role *role, const struct event *ev, struct effects *out)
{
    struct rep *r = (struct rep *)role;
    r->now = ev->now;
    random_seed(&r->random, ev->entropy);
    if (!r->ended && r->unusable) {
        effects_exit(out, EXIT_USAGE, r->unusable_why.text);
        r->ended = true;
    }
    if (r->ended) {
        return;
    }
    starts_settle(r);
    on_event(r, ev, out);
    if (r->ended) {
        return;
    }
    feed_client_step(&r->feed_client, ev, out);
    if (!r->drain.leaving) {
        keep_incarnation(r, ev, out);
    }
    if (!r->incarnation.open) {
        moves_release(r, out);
    }
    if (r->ended) {
        return;
    }
    reconcile(r, out);
    listing_step(r, out);
    drain_step(r, out);
    if (r->ended) {
        return;
    }
    if (!r->incarnation.open && !r->drain.leaving) {
        incarnation_step(r, ev, out);
    }
}

static size_t rep_body_limit(const struct role *role, const char *path)
{
    (void)role;
    return path_body_max(&rep_routes, path, EMPTY_BODY_MAX);
}

static void rep_free(struct role *role)
{
    struct rep *r = (struct rep *)role;
    tools_face_done(&r->tools);
    moves_done(&r->moves);
    askers_done(&r->askers);
    cell_units_done(&r->units);
    knowledge_done(&r->knowledge);
    containers_done(&r->containers);
    feed_client_done(&r->feed_client);
    arena_done(&r->forever);
    free(r);
}

static const struct role_ops rep_ops = {
    .name = "rep", .step = rep_step, .body_limit = rep_body_limit, .free = rep_free};

/* ---- Making one ------------------------------------------------------------------------------ */

/* Settings where the configuration says 0 (design.md 5). */
#define RECONCILE_INTERVAL_NS (30 * SECOND_NS)
#define RESERVATION_NS (60 * SECOND_NS)
#define STOP_GRACE_NS (10 * SECOND_NS)

static const struct container_kind *const kinds[KIND_COUNT] = {
    [KIND_INSTANCE] = &instance_kind, [KIND_TASK] = &task_kind, [KIND_UNIT] = &unit_kind};

/* A copy of the list with `more` (may be NULL) at its end. */
static const char *const *copy_list(struct arena *a, const char *const *list, const char *more)
{
    size_t count = rep_list_size(list);
    const char **copy = ARENA_ARRAY(a, count + 2, const char *);
    for (size_t i = 0; i < count; i++) {
        copy[i] = arena_strdup(a, list[i]);
    }
    copy[count] = more;
    return copy;
}

static int64_t setting(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

/* Bad settings are reported by the first step, for making a role cannot fail. */
static void init_capacity(struct rep *r)
{
    const struct rep_config *c = &r->config;
    if (c->port_low > c->port_high || c->memory_mb < 0 || c->disk_mb < 0 || c->containers < 0 ||
        c->proxy_memory_mb < 0) {
        err_set(&r->unusable_why, ERR_INVALID,
                "capacity %d MB memory (%d MB for each proxy), %d MB disk, %d containers, "
                "ports %u-%u makes no sense",
                c->memory_mb, c->proxy_memory_mb, c->disk_mb, c->containers, (unsigned)c->port_low,
                (unsigned)c->port_high);
        r->unusable = true;
        return;
    }
    capacity_init(&r->capacity, (struct resources){c->memory_mb, c->disk_mb, c->containers},
                  c->port_low, c->port_high);
    id_ranges_init(&r->ids, c->ids_first, c->ids_count);
}

static void copy_config(struct rep *r, const struct rep_config *from)
{
    struct arena *a = &r->forever;
    struct rep_config *to = &r->config;
    *to = *from;
    to->cell_id = arena_strdup(a, from->cell_id);
    to->identity = arena_strdup(a, from->identity);
    to->boot_id = arena_strdup(a, from->boot_id ? from->boot_id : "");
    if (to->evacuation.on) {
        to->evacuation.boot_id = arena_strdup(a, from->evacuation.boot_id);
    }
    to->zone = arena_strdup(a, from->zone);
    to->boards = arena_strdup(a, from->boards);
    to->url = arena_strdup(a, from->url);
    to->admin_url = arena_strdup(a, from->admin_url ? from->admin_url : "");
    to->address = arena_strdup(a, from->address);
    to->isolation = arena_strdup(a, from->isolation ? from->isolation : "");
    to->network = from->network ? arena_strdup(a, from->network) : NULL;
    to->tools_dir = from->tools_dir ? arena_strdup(a, from->tools_dir) : NULL;
    to->tools_socket_dir = from->tools_socket_dir ? arena_strdup(a, from->tools_socket_dir) : NULL;
    to->rootfs_names = copy_list(a, from->rootfs_names, NULL);
    to->volume_drivers = copy_list(a, from->volume_drivers, NULL);
    to->placement_tags = copy_list(a, from->placement_tags, NULL);
    to->optional_placement_tags =
        copy_list(a, from->optional_placement_tags, arena_printf(a, "cell:%s", to->cell_id));
    to->reconcile_interval_ns = setting(from->reconcile_interval_ns, RECONCILE_INTERVAL_NS);
    to->reservation_ns = setting(from->reservation_ns, RESERVATION_NS);
    to->stop_grace_ns = setting(from->stop_grace_ns, STOP_GRACE_NS);
    to->hooks = (unsigned)setting(from->hooks, UNIT_HOOKS_AT_ONCE);
    to->evacuation_ns = setting(from->evacuation_ns, EVACUATION_NS);
    to->checks.again_ns = setting(from->checks.again_ns, CHECKS_AGAIN_NS);
    to->checks.interval_ns = setting(from->checks.interval_ns, CHECKS_INTERVAL_NS);
    to->checks.timeout_ns = setting(from->checks.timeout_ns, CHECKS_TIMEOUT_NS);
}

static void init_board_side(struct rep *r)
{
    if (boards_init(&r->boards, &r->forever, r->config.boards, &r->next_id, &r->unusable_why) < 0) {
        r->unusable = true;
    }
    static const struct {
        enum record_type type;
        const char *setting; /* NULL = what is this cell's */
        bool prefix;
    } rows[REP_SELECTORS] = {{.type = RECORD_ACTUAL},
                             {.type = RECORD_TASK},
                             {.type = RECORD_SETTING, .setting = "drain"},
                             {.type = RECORD_SETTING, .setting = "crash_", .prefix = true},
                             {.type = RECORD_MACHINE},
                             {.type = RECORD_MACHINE_CELL},
                             {.type = RECORD_UNIT},
                             {.type = RECORD_UNIT_STATUS},
                             {.type = RECORD_UNIT_CHILD},
                             {.type = RECORD_UNIT_SCOPE}};
    for (size_t i = 0; i < REP_SELECTORS; i++) {
        board__selector__init(&r->selector[i]);
        r->selector[i].type = (char *)record_type_name(rows[i].type);
        if (rows[i].setting) {
            r->selector[i].key_prefix =
                (char *)(uintptr_t)key_setting(&r->forever, rows[i].setting);
            r->selector[i].whole_key = !rows[i].prefix;
        } else {
            r->selector[i].cell_id = (char *)r->config.cell_id;
        }
        r->selectors[i] = &r->selector[i];
    }
    r->feed_client.boards = &r->boards;
    r->feed_client.selectors = r->selectors;
    r->feed_client.selector_count = REP_SELECTORS;
    r->feed_client.on_change = on_change;
    r->feed_client.context = r;
    feed_client_init(&r->feed_client);
    knowledge_init(&r->knowledge, &r->feed_client, r->config.cell_id);
    cell_units_init(&r->units, r);
    unit_tools_init(r);
    heartbeat_sender_init(&r->heartbeat_sender, &r->boards);
    board__cell_heartbeat__init(&r->heartbeat);
    r->heartbeat.cell_id = (char *)r->config.cell_id;
    r->heartbeat.incarnation = r->config.incarnation;
    r->heartbeat_sender.request.cell = &r->heartbeat;
}

struct role *rep_new(const struct rep_config *config)
{
    struct rep *r = mem_zeroed(sizeof(*r));
    assert(!path_table_fault(&rep_routes));
    r->role.ops = &rep_ops;
    r->next_id = 1;
    r->drain_ns = SETTINGS_DEFAULT.drain_ns;
    r->crash = SETTINGS_DEFAULT.crash;
    arena_init(&r->forever);
    copy_config(r, config);
    containers_init(&r->containers, r, kinds);
    checks_at_once_init(&r->checks);
    tools_face_init(&r->tools);
    init_capacity(r);
    moves_init(&r->moves, r);
    askers_init(&r->askers);
    init_board_side(r);
    return &r->role;
}
