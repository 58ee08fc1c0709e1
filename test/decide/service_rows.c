#include "test/decide/service_rows.h"

#include "bbs/lrp/desired.h"
#include "bbs/service/service.h"
#include "common/model/keys.h"
#include "common/model/moves.h"
#include "common/model/service_owner.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 16, TERM = 5, SERVICE_REVISION = 50, OTHER_REVISION = 60 };

/* ---- The board ------------------------------------------------------------------------------- */

struct scene {
    struct arena *a;
    struct laid_board *board;
    const char *text;
    bool is_app;
    const char *uid, *path;
    struct laid_stranger strangers[16];
    size_t stranger_count;
};

static bool has_word(const struct scene *s, const char *word)
{
    const char *padded = arena_printf(s->a, " %s ", s->text);
    return strstr(padded, arena_printf(s->a, " %s ", word)) != NULL;
}

/* The items of "name=x,y". Gives their number. */
static size_t items(const struct scene *s, const char *name, char *ret[ITEMS_MAX])
{
    char *all = row_value(s->a, s->text, name), *rest;
    size_t count = 0;
    for (char *item = all ? strtok_r(all, ",", &rest) : NULL; item;
         item = strtok_r(NULL, ",", &rest)) {
        assert_true(count < ITEMS_MAX);
        ret[count++] = item;
    }
    return count;
}

/* The n-th part of "x:y:z"; "" = there is none. */
static char *part(struct arena *a, const char *item, unsigned n)
{
    while (n--) {
        item = strchr(item, ':');
        if (!item) {
            return arena_strdup(a, "");
        }
        item++;
    }
    return arena_strndup(a, item, strcspn(item, ":"));
}

static void lay(const struct scene *s, const char *key, const ProtobufCMessage *m,
                int64_t revision)
{
    laid_put(s->board, key, m, revision, revision, 0);
}

static char *guid_of(struct arena *a, const char *letter)
{
    return arena_printf(a, "web-%.1s", letter);
}

Models__DesiredLRP *service_definition(struct arena *a, const char *letter, bool routes)
{
    Models__DesiredLRP *d = arena_message(a, &models__desired_lrp__descriptor);
    d->process_guid = guid_of(a, letter);
    d->domain = arena_strdup(a, ROWS_DOMAIN);
    d->root_fs = arena_strdup(a, "preloaded:b");
    d->routes = arena_message(a, &models__proto_routes__descriptor);
    if (routes) {
        Models__ProtoRoutes__RoutesEntry *e =
            arena_message(a, &models__proto_routes__routes_entry__descriptor);
        e->key = arena_strdup(a, "cf-router");
        e->value = (ProtobufCBinaryData){2, (uint8_t *)arena_strdup(a, "[]")};
        d->routes->routes = arena_copy(a, &e, sizeof(e));
        d->routes->n_routes = 1;
    }
    return d;
}

static const struct {
    const char *word;
    const char *state;
} states[] = {
    {"pending", "pending"}, {"updating", "updating"}, {"scaling", "scaling"},
    {"stable", "stable"},   {"failed", "failed"},     {"deleting", "deleting"},
};

static void lay_revisions(const struct scene *s, Board__ServiceRecord *r)
{
    char *list[ITEMS_MAX];
    r->n_revisions = items(s, "revs", list);
    r->revisions = ARENA_ARRAY(s->a, r->n_revisions + 1, Board__Revision *);
    for (size_t i = 0; i < r->n_revisions; i++) {
        Board__Revision *v = arena_message(s->a, &board__revision__descriptor);
        v->hash = part(s->a, list[i], 0);
        v->process_guid = guid_of(s->a, v->hash);
        v->instances = atoi(part(s->a, list[i], 1));
        v->tree = part(s->a, list[i], 2);
        r->revisions[i] = v;
    }
}

static Board__Rolling *rolling_of(const struct scene *s)
{
    Board__Rolling *r = arena_message(s->a, &board__rolling__descriptor);
    r->max_surge = arena_strdup(s->a, "100%");
    r->max_unavailable = arena_strdup(s->a, "0");
    r->ready_s = 1;
    r->deadline_s = 600;
    return r;
}

static void lay_service(const struct scene *s)
{
    if (!has_word(s, "app") && !has_word(s, "system")) {
        return;
    }
    Board__ServiceRecord *r = arena_message(s->a, &board__service_record__descriptor);
    r->id = arena_strdup(s->a, "ID");
    r->uid = arena_strdup(s->a, s->uid);
    r->system = arena_strdup(s->a, s->is_app ? "" : "shop");
    r->path = arena_strdup(s->a, s->path);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        r->state = has_word(s, states[i].word) ? arena_strdup(s->a, states[i].state) : r->state;
    }
    r->target = row_text(s->a, s->text, "target");
    r->instances = (int32_t)row_number(s->a, s->text, "instances", 0);
    r->generation = (uint64_t)row_number(s->a, s->text, "gen", 1);
    r->observed = (uint64_t)row_number(s->a, s->text, "seen", 1);
    r->deploy = row_text(s->a, s->text, "deploy");
    r->component = row_text(s->a, s->text, "component");
    r->message = row_text(s->a, s->text, "message");
    r->fault = row_text(s->a, s->text, "fault");
    r->paused = has_word(s, "paused");
    r->unrouted_at = has_word(s, "unrouted") ? 900 * SECOND_NS : 0;
    r->restarting = arena_strdup(s->a, has_word(s, "restarting") ? "R" : "");
    r->restart_at = has_word(s, "restarting") ? 900 * SECOND_NS : 0;
    r->domain = arena_strdup(s->a, ROWS_DOMAIN);
    r->board_generation = arena_strdup(s->a, !s->is_app                  ? ""
                                             : has_word(s, "restored") ? "F"
                                                                         : ROWS_BOARD_GENERATION);
    r->rolling = rolling_of(s);
    if (has_word(s, "as_told")) { /* what a target of the tree says besides */
        r->domain = arena_printf(s->a, "system.%s", s->uid);
        r->routes = arena_message(s->a, &models__proto_routes__descriptor);
    }
    lay_revisions(s, r);
    lay(s, key_service(s->a, s->uid, s->path), &r->base, SERVICE_REVISION);
}

static Models__Owner *owner_of(const struct scene *s, const char *item)
{
    Models__Owner *owner = service_owner_of(s->a, s->uid, s->path);
    if (strchr(item, '~')) {
        owner->kind = arena_strdup(s->a, "cli");
        owner->uid = arena_strdup(s->a, "web");
    }
    return strchr(item, '!') ? NULL : owner;
}

static void lay_desired(const struct scene *s)
{
    char *list[ITEMS_MAX];
    size_t count = items(s, "desired", list);
    for (size_t i = 0; i < count; i++) {
        Models__DesiredLRP *d = service_definition(s->a, list[i], strstr(list[i], "+r"));
        d->instances = atoi(part(s->a, list[i], 1));
        d->owner = owner_of(s, list[i]);
        d->modification_tag = arena_message(s->a, &models__modification_tag__descriptor);
        d->modification_tag->epoch = arena_strdup(s->a, "D");
        lay(s, key_desired(s->a, d->process_guid), &d->base, OTHER_REVISION);
        Models__DesiredLRP *run = arena_message(s->a, &models__desired_lrp__descriptor);
        run->cpu_weight = 7;
        lay(s, key_run(s->a, d->process_guid, "D"), &run->base, OTHER_REVISION);
    }
    count = items(s, "kept", list);
    for (size_t i = 0; i < count; i++) {
        const Models__DesiredLRP *d = service_definition(s->a, list[i], list[i][1] == 'r');
        lay(s, key_revision(s->a, s->uid, s->path, part(s->a, arena_strndup(s->a, list[i], 1), 0)),
            &d->base, OTHER_REVISION);
    }
}

static void lay_actuals(const struct scene *s)
{
    char *list[ITEMS_MAX];
    size_t count = items(s, "actual", list);
    for (size_t i = 0; i < count; i++) {
        int32_t index = atoi(part(s->a, list[i], 1));
        const char *state = part(s->a, list[i], 2);
        bool placed = strcmp(state, "RUNNING") == 0;
        Models__ActualLRP *r = row_actual(
            s->a, arena_printf(s->a, "%s%s def=D", state, placed ? " i@c1" : ""), index, 0);
        r->actual_lrp_key->process_guid = guid_of(s->a, list[i]);
        lay(s, key_actual(s->a, r->actual_lrp_key->process_guid, index, 0), &r->base,
            OTHER_REVISION);
    }
}

static void lay_hold(const struct scene *s)
{
    char *list[ITEMS_MAX];
    size_t count = items(s, "held", list);
    Board__HoldRecord *r = arena_message(s->a, &board__hold_record__descriptor);
    r->uid = arena_strdup(s->a, s->uid);
    r->holds = ARENA_ARRAY(s->a, 8, Board__Hold *);
    for (size_t i = 0; i < count; i++) {
        Board__Hold *h = arena_message(s->a, &board__hold__descriptor);
        h->kind = strcmp(part(s->a, list[i], 0), "deploy") == 0 ? BOARD__HOLD__KIND__DEPLOY
                                                                : BOARD__HOLD__KIND__TEARDOWN;
        h->id = part(s->a, list[i], 1);
        h->path = part(s->a, list[i], 2);
        h->paused = has_word(s, "hold_paused");
        r->holds[r->n_holds++] = h;
    }
    lay(s, key_hold(s->a, s->uid), &r->base, OTHER_REVISION);
}

/* A component "T:api": of kind service, at /api; "T:job" is a job there. */
static void lay_tree(const struct scene *s)
{
    char *list[ITEMS_MAX];
    size_t count = items(s, "tree", list);
    for (size_t i = 0; i < count; i++) {
        Board__ComponentRecord *c = arena_message(s->a, &board__component_record__descriptor);
        bool job = strcmp(part(s->a, list[i], 1), "job") == 0;
        c->tree = part(s->a, list[i], 0);
        c->path = arena_strdup(s->a, s->path);
        c->kind = arena_strdup(s->a, job ? "job" : "service");
        c->run = job ? NULL : service_definition(s->a, "x", false);
        c->instances = 2;
        c->rolling = rolling_of(s);
        c->hash = arena_printf(s->a, "H%s", c->tree);
        if (has_word(s, "secretive")) {
            Models__EnvironmentVariable *e =
                arena_message(s->a, &models__environment_variable__descriptor);
            e->name = arena_strdup(s->a, "KEY");
            e->sealed = arena_message(s->a, &models__sealed__descriptor);
            e->sealed->name = arena_strdup(s->a, "/api:key");
            c->run->environment_variables = arena_copy(s->a, &e, sizeof(e));
            c->run->n_environment_variables = 1;
        }
        lay(s, key_tree(s->a, c->tree, s->path), &c->base, OTHER_REVISION);
    }
}

static void lay_head(const struct scene *s)
{
    char *list[ITEMS_MAX];
    size_t count = items(s, "head", list);
    Board__HeadRecord *r = arena_message(s->a, &board__head_record__descriptor);
    r->uid = arena_strdup(s->a, s->uid);
    r->roots = ARENA_ARRAY(s->a, 8, Board__Root *);
    for (size_t i = 0; i < count; i++) {
        Board__Root *root = arena_message(s->a, &board__root__descriptor);
        root->tree = part(s->a, list[i], 0);
        root->path = part(s->a, list[i], 1);
        r->roots[r->n_roots++] = root;
    }
    lay(s, key_head(s->a, s->uid), &r->base, OTHER_REVISION);
}

static void lay_system(const struct scene *s)
{
    const char *state = row_value(s->a, s->text, "system");
    if (!state) {
        return;
    }
    Board__SystemRecord *r = arena_message(s->a, &board__system_record__descriptor);
    r->id = arena_strdup(s->a, "shop");
    r->uid = arena_strdup(s->a, has_word(s, "another") ? "v" : s->uid);
    r->state = arena_strdup(s->a, state);
    r->board_generation = arena_strdup(s->a, has_word(s, "restored") ? "F"
                                                                      : ROWS_BOARD_GENERATION);
    lay(s, key_system(s->a, "shop"), &r->base, OTHER_REVISION);
    lay_hold(s);
    lay_head(s);
    lay_tree(s);
    if (has_word(s, "secret")) {
        Board__SecretRecord *secret = arena_message(s->a, &board__secret_record__descriptor);
        secret->sealed = arena_message(s->a, &models__sealed__descriptor);
        secret->sealed->name = arena_strdup(s->a, "/api:key");
        secret->sealed->version = arena_strdup(s->a, "V");
        lay(s, key_secret(s->a, s->uid, "/api:key"), &secret->base, OTHER_REVISION);
    }
}

static void add_stranger(struct scene *s, const char *key, const ProtobufCMessage *m)
{
    s->strangers[s->stranger_count++] = (struct laid_stranger){key, m};
}

/* What is not there, and might come. */
static void add_strangers(struct scene *s)
{
    struct arena *a = s->a;
    for (const char *letter = "ab"; *letter; letter++) {
        const char *hash = arena_strndup(a, letter, 1);
        Models__DesiredLRP *d = service_definition(a, letter, true);
        d->modification_tag = arena_message(a, &models__modification_tag__descriptor);
        d->modification_tag->epoch = arena_strdup(a, "S");
        add_stranger(s, key_desired(a, d->process_guid), &d->base);
        add_stranger(s, key_revision(a, s->uid, s->path, hash), &d->base);
        Models__ActualLRP *r = row_actual(a, "RUNNING i@c1", 0, 0);
        r->actual_lrp_key->process_guid = d->process_guid;
        add_stranger(s, key_actual(a, d->process_guid, 0, 0), &r->base);
        Board__JobRecord *job = arena_message(a, &board__job_record__descriptor);
        job->instances = arena_message(a, &board__job_record__instances__descriptor);
        job->instances->end = 3;
        add_stranger(s, key_job(a, d->process_guid, ""), &job->base);
    }
    Board__HoldRecord *hold = arena_message(a, &board__hold_record__descriptor);
    add_stranger(s, key_hold(a, s->uid), &hold->base);
}

static void set_scene(struct scene *s, struct arena *a, const char *text)
{
    const struct moment now = {.mono_ns = 500 * SECOND_NS, .wall_ns = ROWS_NOW_S * SECOND_NS};
    *s = (struct scene){.a = a, .text = text, .board = laid_new(now, ROWS_BOARD_GENERATION)};
    s->is_app = !row_value(a, text, "system");
    s->uid = s->is_app ? SERVICE_APPS_UID : "u";
    s->path = s->is_app ? "/web" : "/api";
    lay_service(s);
    lay_desired(s);
    lay_actuals(s);
    lay_system(s);
    Board__LeaderLockRecord *lock = arena_message(a, &board__leader_lock_record__descriptor);
    lock->role = arena_strdup(a, "converger");
    if (has_word(s, "leads") || !s->is_app || has_word(s, "app")) {
        lay(s, key_lead(a, "converger"), &lock->base, TERM);
    }
    Board__DomainRecord *domain = arena_message(a, &board__domain_record__descriptor);
    domain->domain = arena_strdup(a, ROWS_DOMAIN);
    if (!has_word(s, "domainless")) {
        lay(s, key_domain(a, ROWS_DOMAIN), &domain->base, OTHER_REVISION);
    }
    add_strangers(s);
}

/* ---- What is asked --------------------------------------------------------------------------- */

static Board__Move *move_of(const struct scene *s, const char *text)
{
    struct arena *a = s->a;
    Board__Move *m =
        move_new(a, row_first_word(a, text), key_service(a, s->uid, s->path));
    m->subject->revision = row_number(a, text, "judged", SERVICE_REVISION);
    m->term = arena_message(a, &board__term__descriptor);
    m->term->role = arena_strdup(a, "converger");
    m->term->board_generation = arena_strdup(a, ROWS_BOARD_GENERATION);
    m->term->term = row_number(a, text, "term", TERM);
    m->body_case = BOARD__MOVE__BODY_SERVICE;
    m->service = arena_message(a, &board__service_move__descriptor);
    m->service->system = arena_strdup(a, s->is_app ? "" : "shop");
    m->service->holder = row_text(a, text, "holder");
    m->service->tree = row_text(a, text, "tree");
    m->service->revision = row_text(a, text, "revision");
    m->service->instances = (int32_t)row_number(a, text, "instances", 0);
    m->service->index = (int32_t)row_number(a, text, "index", 0);
    m->service->state = row_text(a, text, "state");
    m->service->message = row_text(a, text, "message");
    m->service->fault = row_text(a, text, "fault");
    m->service->generation = (uint64_t)row_number(a, text, "gen", 0);
    m->service->progress = row_number(a, text, "progress", 0);
    if (row_value(a, text, "available")) {
        m->service->counts = arena_message(a, &board__counts__descriptor);
        m->service->counts->available = (int32_t)row_number(a, text, "available", 0);
    }
    return m;
}

static Board__ServiceRequest *request_of(const struct scene *s, const char *text)
{
    struct arena *a = s->a;
    static const char *const names[] = {"look",     "target", "scale",   "pause", "resume",
                                        "rollback", "delete", "restart", "abort"};
    Board__ServiceRequest *q = arena_message(a, &board__service_request__descriptor);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        q->action = strcmp(row_first_word(a, text), names[i]) == 0
                        ? (Board__ServiceRequest__Action)i
                        : q->action;
    }
    q->name = arena_strdup(a, s->is_app ? "web" : "");
    q->system = arena_strdup(a, s->is_app ? "" : "shop");
    q->path = arena_strdup(a, s->is_app ? "" : s->path);
    q->instances = (int32_t)row_number(a, text, "instances", -1);
    q->revision = row_text(a, text, "revision");
    const char *letter = row_value(a, text, "def");
    if (letter) {
        q->desired_lrp = service_definition(a, letter, letter[1] == 'r');
        q->desired_lrp->instances = q->instances < 0 ? 1 : q->instances;
    }
    return q;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static void print_service(const Board__ServiceRecord *r, struct buf *out)
{
    buf_printf(out, "put service %s %s x%d", r->state, r->target, (int)r->instances);
    for (size_t i = 0; i < r->n_revisions; i++) {
        buf_printf(out, "%s%s:%d", i ? "," : " ", r->revisions[i]->hash,
                   (int)r->revisions[i]->instances);
    }
    buf_printf(out, " gen=%d/%d%s%s%s", (int)r->observed, (int)r->generation,
               r->paused ? " paused" : "", r->restarting[0] ? " restarting" : "",
               r->unrouted_at ? " unrouted" : "");
    if (r->deploy[0]) {
        buf_printf(out, " deploy=%s", r->deploy);
    }
    if (r->message[0] || r->fault[0]) {
        buf_printf(out, " (%s/%s)", r->message, r->fault);
    }
    if (r->counts) {
        buf_printf(out, " available=%d", (int)r->counts->available);
    }
    buf_append_string(out, "\n");
}

static void print_lrp(const char *key, const Models__DesiredLRP *d, struct buf *out)
{
    bool scheduling = key_type(key) == RECORD_DESIRED;
    bool routed = d->routes && d->routes->n_routes;
    buf_printf(out, "put %s", key);
    if (scheduling) {
        buf_printf(out, " x%d%s %s", (int)d->instances, routed ? " routed" : "",
                   d->owner ? d->owner->uid : "-");
    } else if (key_type(key) == RECORD_REVISION) {
        buf_printf(out, "%s%s", routed ? " routed" : "", d->cpu_weight ? " whole" : "");
    }
    buf_append_string(out, "\n");
}

/* What stands beside a DesiredLRP always. */
static bool is_shown(const char *key)
{
    enum record_type type = key_type(key);
    return type != RECORD_RUN && type != RECORD_REMOVAL;
}

static void print_service_change(const struct change *c, struct buf *out)
{
    if (!is_shown(c->key)) {
        return;
    }
    if (!c->message) {
        buf_printf(out, "delete %s\n", c->key);
    } else if (key_type(c->key) == RECORD_SERVICE) {
        print_service((const Board__ServiceRecord *)c->message, out);
    } else if (c->message->descriptor == &models__desired_lrp__descriptor) {
        print_lrp(c->key, (const Models__DesiredLRP *)c->message, out);
    } else if (key_type(c->key) == RECORD_ACTUAL) {
        const Models__ActualLRP *r = (const Models__ActualLRP *)c->message;
        buf_printf(out, "put %s %s%s\n", c->key, r->state, r->stopping ? " stopping" : "");
    } else {
        buf_printf(out, "put %s\n", c->key);
    }
}

static void print_service_plan(const struct plan *p, struct buf *out)
{
    if (p->verdict != PLAN_COMMIT) {
        struct plan rest = *p;
        rest.changes = NULL;
        plan_print(&rest, out);
    }
    for (const struct change *c = p->changes; c; c = c->next) {
        print_service_change(c, out);
    }
    const ProtobufCMessage *r = p->verdict == PLAN_REFUSE ? NULL : p->record;
    if (r && r->descriptor == &board__service_response__descriptor) {
        const Board__ServiceResponse *answer = (const Board__ServiceResponse *)r;
        buf_printf(out, "%s%s%s\n", answer->changed ? "changed: " : "", answer->text,
                   answer->unled ? " (unled)" : "");
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

enum asked { A_MOVE, A_REQUEST, AN_OUTSIDER };

static const ProtobufCMessage *outsider_of(const struct scene *s, const char *text,
                                           const struct op_row **ret_row)
{
    struct arena *a = s->a;
    char *guid = guid_of(a, row_text(a, text, "revision"));
    if (strcmp(row_first_word(a, text), "remove") == 0) {
        Models__RemoveDesiredLRPRequest *q =
            arena_message(a, &models__remove_desired_lrprequest__descriptor);
        q->process_guid = guid;
        *ret_row = &remove_row;
        return &q->base;
    }
    Models__UpdateDesiredLRPRequest *q =
        arena_message(a, &models__update_desired_lrprequest__descriptor);
    q->process_guid = guid;
    q->update = arena_message(a, &models__desired_lrpupdate__descriptor);
    q->update->optional_instances_case =
        MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    q->update->instances = (int32_t)row_number(a, text, "instances", 0);
    *ret_row = &update_row;
    return &q->base;
}

static const ProtobufCMessage *asked_of(const struct scene *s, enum asked asked, const char *text,
                                        const struct op_row **ret_row)
{
    if (asked == A_MOVE) {
        const Board__Move *m = move_of(s, text);
        *ret_row = move_row_named(&service_moves, m->move)->op;
        return &m->base;
    }
    *ret_row = &service_row;
    return asked == A_REQUEST ? &request_of(s, text)->base : outsider_of(s, text, ret_row);
}

static void run_case(const struct service_case *c, enum asked asked)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(printed);
    SCOPED_BUF(fault);
    struct random random, changes;
    struct scene s;
    struct laid_plan p;
    set_scene(&s, &a, c->board);
    const struct op_row *row;
    const ProtobufCMessage *request = asked_of(&s, asked, c->when, &row);
    struct op_input in =
        row_input(asked == A_MOVE ? ACTOR_CONVERGER : ACTOR_CLIENT, &random, request);
    laid_decide(s.board, row, &in, &a, &p);
    print_service_plan(&p.plan, &printed);
    if (strcmp(buf_string(&printed), c->plan) != 0) {
        fail_msg("%s\nexpected:\n%sgot:\n%s", c->name, c->plan, buf_string(&printed));
    }
    random_seed(&changes, (uint64_t[2]){1, 2});
    (void)laid_hold(s.board, row, &in, s.strangers, s.stranger_count, &changes, 3, NULL, &fault);
    if (fault.size) {
        fail_msg("%s: %s", c->name, buf_string(&fault));
    }
    laid_free(s.board);
}

void run_service_moves(const struct service_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run_case(&cases[i], A_MOVE);
    }
}

void run_service_requests(const struct service_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run_case(&cases[i], A_REQUEST);
    }
}

void run_service_outsiders(const struct service_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run_case(&cases[i], AN_OUTSIDER);
    }
}
