#include "test/decide/lrp_rows.h"

#include "test/tool/cmocka.h"


#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *row_value(struct arena *a, const char *text, const char *name)
{
    size_t size = strlen(name);
    for (const char *word = text; word && *word; word = strchr(word, ' ')) {
        word += *word == ' ';
        if (strncmp(word, name, size) == 0 && word[size] == '=') {
            return arena_strndup(a, word + size + 1, strcspn(word + size + 1, " "));
        }
    }
    return NULL;
}

int64_t row_number(struct arena *a, const char *text, const char *name, int64_t otherwise)
{
    const char *value = row_value(a, text, name);
    return value ? atoll(value) : otherwise;
}

char *row_text(struct arena *a, const char *text, const char *name)
{
    char *value = row_value(a, text, name);
    return value ? value : arena_strdup(a, "");
}

char *row_first_word(struct arena *a, const char *text)
{
    return arena_strndup(a, text, strcspn(text, " "));
}

static Models__ActualLRPKey *key(struct arena *a, int32_t index)
{
    Models__ActualLRPKey *k = arena_message(a, &models__actual_lrpkey__descriptor);
    k->process_guid = arena_strdup(a, ROWS_PROCESS);
    k->index = index;
    k->domain = arena_strdup(a, ROWS_DOMAIN);
    return k;
}

/* From the word "guid@cell"; NULL if there is none. */
static Models__ActualLRPInstanceKey *instance_key(struct arena *a, const char *text)
{
    const char *at = strchr(text, '@');
    if (!at) {
        return NULL;
    }
    const char *from = at;
    while (from > text && from[-1] != ' ') {
        from--;
    }
    Models__ActualLRPInstanceKey *k = arena_message(a, &models__actual_lrpinstance_key__descriptor);
    k->instance_guid = arena_strndup(a, from, (size_t)(at - from));
    k->cell_id = arena_strndup(a, at + 1, strcspn(at + 1, " "));
    return k;
}

static void show(struct arena *a, const char *text, Models__ActualLRP *r)
{
    if (row_value(a, text, "route")) {
        Models__ActualLRPInternalRoute *route = ARENA_NEW(a, Models__ActualLRPInternalRoute);
        models__actual_lrpinternal_route__init(route);
        route->hostname = row_text(a, text, "route");
        r->actual_lrp_internal_routes = arena_copy(a, &route, sizeof(route));
        r->n_actual_lrp_internal_routes = 1;
    }
    if (row_value(a, text, "tag")) {
        Models__ActualLRP__MetricTagsEntry *tag = ARENA_NEW(a, Models__ActualLRP__MetricTagsEntry);
        models__actual_lrp__metric_tags_entry__init(tag);
        tag->key = arena_strdup(a, "k");
        tag->value = row_text(a, text, "tag");
        r->metric_tags = arena_copy(a, &tag, sizeof(tag));
        r->n_metric_tags = 1;
    }
}

Models__ProtoRoutes *row_routes(struct arena *a, const char *text)
{
    Models__ProtoRoutes *routes = arena_message(a, &models__proto_routes__descriptor);
    const char *kind = row_value(a, text, "http") ? "http" : "route";
    const char *hostname = row_value(a, text, kind);
    if (!hostname) {
        return routes;
    }
    Models__ProtoRoutes__RoutesEntry *entry = ARENA_NEW(a, Models__ProtoRoutes__RoutesEntry);
    models__proto_routes__routes_entry__init(entry);
    entry->key = arena_strdup(a, strcmp(kind, "http") == 0 ? "http-router" : "internal-router");
    char *json = arena_printf(a, "[{\"hostname\":\"%s\"}]", hostname);
    entry->value = (ProtobufCBinaryData){.data = (uint8_t *)json, .len = strlen(json)};
    routes->routes = arena_copy(a, &entry, sizeof(entry));
    routes->n_routes = 1;
    return routes;
}

static void desire_tag(struct arena *a, const char *tag, Models__DesiredLRP *d)
{
    Models__DesiredLRP__MetricTagsEntry *entry = ARENA_NEW(a, Models__DesiredLRP__MetricTagsEntry);
    models__desired_lrp__metric_tags_entry__init(entry);
    entry->key = arena_strdup(a, "k");
    entry->value = arena_message(a, &models__metric_tag_value__descriptor);
    if (strcmp(tag, "INDEX") == 0) {
        entry->value->dynamic = MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INDEX;
    } else if (strcmp(tag, "GUID") == 0) {
        entry->value->dynamic = MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INSTANCE_GUID;
    } else {
        entry->value->static_ = arena_strdup(a, tag);
    }
    d->metric_tags = arena_copy(a, &entry, sizeof(entry));
    d->n_metric_tags = 1;
}

Models__ActualLRP *row_actual(struct arena *a, const char *text, int32_t index, int presence)
{
    Models__ActualLRP *r = arena_message(a, &models__actual_lrp__descriptor);
    r->actual_lrp_key = key(a, index);
    r->actual_lrp_instance_key = instance_key(a, text);
    r->state = row_first_word(a, text);
    r->since = row_number(a, text, "since", 0) * SECOND_NS;
    r->crash_count = (int32_t)row_number(a, text, "crash", 0);
    r->crash_reason = row_text(a, text, "reason");
    r->placement_error = row_text(a, text, "error");
    r->definition_id = row_text(a, text, "def");
    r->availability_zone = row_text(a, text, "zone");
    r->stopping = strstr(text, " stopping") != NULL;
    r->presence = (Models__ActualLRP__Presence)presence;
    r->optional_routable_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE;
    r->routable = strcmp(r->state, "RUNNING") == 0;
    bool unrouted = strstr(text, " unrouted") != NULL;
    r->routed = strstr(text, " routed") != NULL;
    r->optional_routed_case = unrouted || r->routed
                                  ? MODELS__ACTUAL_LRP__OPTIONAL_ROUTED_ROUTED
                                  : MODELS__ACTUAL_LRP__OPTIONAL_ROUTED__NOT_SET;
    show(a, text, r);
    if (strcmp(r->state, "RUNNING") == 0) {
        r->actual_lrp_net_info = arena_message(a, &models__actual_lrpnet_info__descriptor);
        r->actual_lrp_net_info->address = row_text(a, text, "address");
    }
    r->modification_tag = arena_message(a, &models__modification_tag__descriptor);
    r->modification_tag->epoch = arena_strdup(a, ROWS_BOARD_GENERATION);
    r->modification_tag->index = 4;
    return r;
}

Models__DesiredLRP *row_desired(struct arena *a, const char *text)
{
    Models__DesiredLRP *d = arena_message(a, &models__desired_lrp__descriptor);
    d->process_guid = arena_strdup(a, ROWS_PROCESS);
    d->domain = arena_strdup(a, ROWS_DOMAIN);
    d->instances = (int32_t)row_number(a, text, "instances", 1);
    d->on_cell_loss = strstr(text, " hold") ? MODELS__ON_CELL_LOSS__HOLD
                                            : MODELS__ON_CELL_LOSS__REPLACE;
    d->on_evacuate = strstr(text, " stay") ? MODELS__ON_EVACUATE__STAY
                                           : MODELS__ON_EVACUATE__MOVE;
    d->modification_tag = arena_message(a, &models__modification_tag__descriptor);
    d->modification_tag->epoch = row_text(a, text, "def");
    d->modification_tag->index = 2;
    const char *tag = row_value(a, text, "tag");
    d->routes = row_routes(a, text);
    if (tag) {
        desire_tag(a, tag, d);
    }
    const char *place = row_value(a, text, "place");
    if (place) {
        char *one = row_text(a, text, "place");
        d->placementtags = arena_copy(a, &one, sizeof(one));
        d->n_placementtags = 1;
    }
    return d;
}

Board__CellRecord *row_cell(struct arena *a, const char *text)
{
    Board__CellRecord *c = arena_message(a, &board__cell_record__descriptor);
    c->state = strncmp(text, "lost", 4) == 0 ? BOARD__CELL_RECORD__STATE__LOST
                                             : BOARD__CELL_RECORD__STATE__PRESENT;
    c->incarnation = (uint64_t)row_number(a, text, "incarnation", 1);
    c->pool = row_text(a, text, "pool");
    c->pool_leaves = strstr(text, " leaves") != NULL;
    c->identity = row_text(a, text, "identity");
    c->evacuating = row_value(a, text, "until") != NULL;
    c->evacuate_until = row_number(a, text, "until", 0) * SECOND_NS;
    c->since = row_number(a, text, "since", 0) * SECOND_NS;
    c->presence = arena_message(a, &models__cell_presence__descriptor);
    c->presence->cell_id = arena_strdup(a, "c1");
    c->presence->zone = row_text(a, text, "zone");
    c->presence->rep_url = arena_strdup(a, "https://c1:1801");
    return c;
}

/* From "c1:7,c2:8". */
static size_t row_cells(struct arena *a, const char *text, Board__CellHeartbeat ***ret_list)
{
    size_t count = 0;
    Board__CellHeartbeat **list = ARENA_ARRAY(a, strlen(text), Board__CellHeartbeat *);
    while (*text) {
        Board__CellHeartbeat *one = list[count++] = ARENA_NEW(a, Board__CellHeartbeat);
        board__cell_heartbeat__init(one);
        one->cell_id = arena_strndup(a, text, strcspn(text, ":"));
        text += strlen(one->cell_id);
        char *end;
        one->incarnation = strtoull(text + (*text == ':'), &end, 10);
        text = end + (*end == ',');
    }
    *ret_list = list;
    return count;
}

Board__LimiterRecord *row_limiter(struct arena *a, const char *text)
{
    Board__LimiterRecord *b = arena_message(a, &board__limiter_record__descriptor);
    b->state = strncmp(text, "HELD", 4) == 0   ? BOARD__LIMITER_RECORD__STATE__HELD
               : strncmp(text, "KEPT", 4) == 0 ? BOARD__LIMITER_RECORD__STATE__KEPT
                                               : BOARD__LIMITER_RECORD__STATE__RELEASED;
    b->n_cells = row_cells(a, row_text(a, text, "cells"), &b->cells);
    b->since = row_number(a, text, "since", 0) * SECOND_NS;
    b->until = row_number(a, text, "until", 0) * SECOND_NS;
    return b;
}

static const Board__DomainRecord *row_domain(struct arena *a, const char *text)
{
    Board__DomainRecord *d = arena_message(a, &board__domain_record__descriptor);
    d->domain = arena_strdup(a, ROWS_DOMAIN);
    d->ttl_s = (uint32_t)row_number(a, text, "ttl", 0);
    d->expires_at = d->ttl_s ? (ROWS_NOW_S + row_number(a, text, "left", 1)) * SECOND_NS : 0;
    return d;
}

static void fill_start(struct arena *a, const char *text, Board__InstanceMove *m)
{
    m->actual_lrp_net_info = arena_message(a, &models__actual_lrpnet_info__descriptor);
    m->actual_lrp_net_info->address = row_text(a, text, "address");
    m->availability_zone = row_text(a, text, "zone");
    const char *tags[] = {row_value(a, text, "tag1"), row_value(a, text, "tag2")};
    m->metric_tags = ARENA_ARRAY(a, 2, Board__InstanceMove__MetricTagsEntry *);
    for (size_t i = 0; i < 2; i++) {
        if (tags[i]) {
            Board__InstanceMove__MetricTagsEntry *e =
                arena_message(a, &board__instance_move__metric_tags_entry__descriptor);
            e->key = arena_strdup(a, tags[i]);
            e->value = arena_strdup(a, "v");
            m->metric_tags[m->n_metric_tags++] = e;
        }
    }
    const char *routable = row_value(a, text, "routable");
    if (routable) {
        m->optional_routable_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTABLE_ROUTABLE;
        m->routable = strcmp(routable, "true") == 0;
    }
    bool unrouted = strstr(text, " unrouted") != NULL;
    m->routed = strstr(text, " routed") != NULL;
    if (unrouted || m->routed) {
        m->optional_routed_case = BOARD__INSTANCE_MOVE__OPTIONAL_ROUTED_ROUTED;
    }
}

const struct move_family *row_family(const char *move)
{
    static const struct move_family *const families[] = {&cell_moves, &limiter_moves,
                                                         &domain_moves};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (move_row_named(families[i], move)) {
            return families[i];
        }
    }
    return &lrp_moves;
}

/* An instance's: what it says of itself. */
static Board__Move *row_instance_move(struct arena *a, const char *name, const char *text)
{
    const char *domain = row_value(a, text, "domain");
    Board__Move *m = move_new_instance(a, name, ROWS_PROCESS,
                                       (int32_t)row_number(a, text, "index", 1),
                                       (int)row_number(a, text, "presence", 0),
                                       domain ? domain : ROWS_DOMAIN);
    m->instance->actual_lrp_instance_key = instance_key(a, text);
    m->instance->definition_id = row_text(a, text, "def");
    m->instance->error_message = row_text(a, text, "error");
    if (strcmp(name, "start") == 0 || strcmp(name, "evacuate_running") == 0) {
        fill_start(a, text, m->instance);
    }
    return m;
}

static Board__Move *row_lose(struct arena *a, const char *text)
{
    Board__Move *m = move_new(a, "lose", key_cell(a, row_text(a, text, "cell")));
    m->body_case = BOARD__MOVE__BODY_CELL;
    m->cell = arena_message(a, &board__cell_move__descriptor);
    m->cell->incarnation = (uint64_t)row_number(a, text, "incarnation", 0);
    return m;
}

static Board__Move *row_limiter_move(struct arena *a, const char *name, const char *text)
{
    Board__Move *m = move_new(a, name, key_brake(a));
    m->body_case = BOARD__MOVE__BODY_LIMITER;
    m->limiter = arena_message(a, &board__limiter_move__descriptor);
    m->limiter->n_cells = row_cells(a, row_text(a, text, "cells"), &m->limiter->cells);
    return m;
}

void row_speaker(struct arena *a, const char *text, Board__Move *m)
{
    m->incarnation = (uint64_t)row_number(a, text, "incarnation", 0);
    if (row_value(a, text, "term")) {
        m->term = arena_message(a, &board__term__descriptor);
        m->term->term = row_number(a, text, "term", 0);
        m->term->role = row_text(a, text, "role");
        m->term->board_generation = row_text(a, text, "board_generation");
    }
}

Board__Move *row_move(struct arena *a, const char *text)
{
    const char *name = row_first_word(a, text);
    const struct move_family *family = row_family(name);
    Board__Move *m = family == &cell_moves     ? row_lose(a, text)
                     : family == &limiter_moves  ? row_limiter_move(a, name, text)
                     : family == &domain_moves ? move_new(a, name, key_domain(a, ROWS_DOMAIN))
                                               : row_instance_move(a, name, text);
    row_speaker(a, text, m);
    return m;
}

struct op_input row_input(enum actor actor, struct random *random, const ProtobufCMessage *request)
{
    uint64_t seed[2] = {1, 2};
    random_seed(random, seed);
    return (struct op_input){
        .actor = actor,
        .peer_name = actor == ACTOR_REP ? "c1" : "",
        .trace_id = "t",
        .boot_id = "boot",
        .request = request,
        .now = {.mono_ns = 5 * SECOND_NS, .wall_ns = ROWS_NOW_S * SECOND_NS},
        .random = random,
    };
}

static void print_if(struct buf *out, const char *name, const char *value)
{
    if (value && value[0]) {
        buf_printf(out, " %s=%s", name, value);
    }
}

static void print_actual(const Models__ActualLRP *r, struct buf *out)
{
    const Models__ActualLRPInstanceKey *k = r->actual_lrp_instance_key;
    buf_printf(out, " -> %s", r->state);
    if (k && k->instance_guid[0]) {
        buf_printf(out, " %s@%s", k->instance_guid, k->cell_id);
    }
    if (r->crash_count) {
        buf_printf(out, " crash=%d", r->crash_count);
    }
    print_if(out, "reason", r->crash_reason);
    print_if(out, "error", r->placement_error);
    print_if(out, "def", r->definition_id);
    print_if(out, "zone", r->availability_zone);
    print_if(out, "address", r->actual_lrp_net_info ? r->actual_lrp_net_info->address : "");
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        print_if(out, "tag", r->metric_tags[i]->key);
    }
    if (r->owner) {
        print_if(out, "owner", r->owner->uid);
    }
    if (r->optional_routed_case == MODELS__ACTUAL_LRP__OPTIONAL_ROUTED_ROUTED) {
        buf_append_string(out, r->routed ? " routed" : " unrouted");
    }
    bool kept = strcmp(r->modification_tag->epoch, ROWS_BOARD_GENERATION) == 0;
    buf_printf(out, " %ssince=%lld %s/%u%s", r->routable ? "routable " : "",
               (long long)(r->since / SECOND_NS), kept ? ROWS_BOARD_GENERATION : "new",
               r->modification_tag->index, r->stopping ? " stopping" : "");
}

static void print_limiter(const Board__LimiterRecord *b, struct buf *out)
{
    static const char *const names[] = {"HELD", "KEPT", "RELEASED"};
    buf_printf(out, " -> %s", names[b->state]);
    for (size_t i = 0; i < b->n_cells; i++) {
        buf_printf(out, " %s:%llu", b->cells[i]->cell_id,
                   (unsigned long long)b->cells[i]->incarnation);
    }
    buf_printf(out, " since=%lld until=%lld", (long long)(b->since / SECOND_NS),
               (long long)(b->until / SECOND_NS));
}

static void print_change(const struct change *c, struct buf *out)
{
    buf_printf(out, "%s %s %s by %s", c->message ? "put" : "delete", c->key, c->move,
               actor_name(c->actor));
    if (c->message && c->message->descriptor == &models__actual_lrp__descriptor) {
        print_actual((const Models__ActualLRP *)c->message, out);
    } else if (c->message && c->message->descriptor == &board__limiter_record__descriptor) {
        print_limiter((const Board__LimiterRecord *)c->message, out);
    } else if (c->message && c->message->descriptor == &board__cell_record__descriptor &&
               strcmp(c->move, "lose") == 0) {
        const Board__CellRecord *cell = (const Board__CellRecord *)c->message;
        buf_printf(out, " -> %s incarnation=%llu since=%lld",
                   cell->state == BOARD__CELL_RECORD__STATE__LOST ? "LOST" : "PRESENT",
                   (unsigned long long)cell->incarnation, (long long)(cell->since / SECOND_NS));
    } else if (c->message && c->message->descriptor == &board__job_record__descriptor) {
        const Board__JobRecord *j = (const Board__JobRecord *)c->message;
        buf_printf(out, " -> [%d, %d) by %s", j->instances->cursor, j->instances->end, j->worker);
    } else if (c->message && c->message->descriptor == &models__desired_lrp__descriptor) {
        const Models__DesiredLRP *d = (const Models__DesiredLRP *)c->message;
        buf_printf(out, " -> instances=%d tag=%u", d->instances,
                   d->modification_tag ? d->modification_tag->index : 0);
    }
    if (c->message && c->message->descriptor == &board__removal_record__descriptor) {
        const Board__RemovalRecord *r = (const Board__RemovalRecord *)c->message;
        buf_printf(out, " -> from=%d board_generation=%s", r->from_index, r->board_generation);
    }
    if (c->text[0]) {
        buf_printf(out, " (%s)", c->text);
    }
    buf_append_string(out, "\n");
}

void print_plan(const struct plan *p, struct buf *out)
{
    struct plan rest = *p;
    for (const struct change *c = p->changes; c; c = c->next) {
        print_change(c, out);
    }
    rest.changes = NULL;
    plan_print(&rest, out);
    if (p->verdict == PLAN_COMMIT && p->error_message[0]) {
        buf_printf(out, "answer: %s\n", p->error_message);
    }
    if (p->keep_container) {
        buf_append_string(out, "keep\n");
    }
}

static const Models__ActualLRP *optional_actual(struct arena *a, const char *text, int32_t index,
                                                int presence)
{
    return text ? row_actual(a, text, index, presence) : NULL;
}

static const Board__RemovalRecord *row_removal(struct arena *a, const char *text)
{
    Board__RemovalRecord *r = arena_message(a, &board__removal_record__descriptor);
    r->from_index = (int32_t)row_number(a, text, "from", 0);
    char *board_generation = row_text(a, text, "board_generation");
    r->board_generation =
        *board_generation ? board_generation : arena_strdup(a, ROWS_BOARD_GENERATION);
    return r;
}

/* What each family reads of the case. */
struct snapshots {
    struct move_snapshot lrp;
    struct lose_snapshot cell;
    struct limiter_snapshot limiter;
    struct domain_snapshot domain;
};

static const void *snapshot_of(const struct snapshots *s, const struct move_family *family)
{
    return family == &cell_moves     ? (const void *)&s->cell
           : family == &limiter_moves  ? (const void *)&s->limiter
           : family == &domain_moves ? (const void *)&s->domain
                                     : (const void *)&s->lrp;
}

static void lay_case(struct arena *a, const struct move_case *c, const Board__Move *m,
                     struct moment now, struct snapshots *s)
{
    struct move_place place = {.key.index = 1};
    move_place(a, m, &place);
    int32_t index = place.key.index;
    const Board__CellRecord *cell = c->cell ? row_cell(a, c->cell) : NULL;
    const Board__DomainRecord *domain = c->domain ? row_domain(a, c->domain) : NULL;
    const Board__LimiterRecord *limiter = c->limiter ? row_limiter(a, c->limiter) : NULL;
    int64_t seen_s = c->domain ? row_number(a, c->domain, "seen", 0) : 0;
    bool found = c->domain && strstr(c->domain, "found");
    struct domain_seen domain_seen = {
        .at = {.since_ns = now.mono_ns - seen_s * SECOND_NS,
               .after_ns = found ? 0 : now.mono_ns - seen_s * SECOND_NS - 1},
        .in_this_board_generation = c->domain && !strstr(c->domain, "restored"),
    };
    struct speaker by = {.cell = c->actor == ACTOR_REP ? cell : NULL,
                         .leader_lock_term =
                             c->leader_lock ? row_number(a, c->leader_lock, "term", 0) : 0,
                         .board_generation = ROWS_BOARD_GENERATION};
    s->lrp = (struct move_snapshot){
        .by = by,
        .place = place,
        .ordinary = optional_actual(a, c->ordinary, index, 0),
        .evacuating = optional_actual(a, c->evacuating, index, 1),
        .suspect = optional_actual(a, c->suspect, index, 2),
        .desired = c->desired ? row_desired(a, c->desired) : NULL,
        .removal = c->removal ? row_removal(a, c->removal) : NULL,
        .cell = cell,
        .domain = domain,
        .domain_seen = domain_seen,
        .policy = &SETTINGS_DEFAULT.crash,
    };
    s->cell = (struct lose_snapshot){.by = by, .cell = cell, .limiter = limiter};
    s->limiter = (struct limiter_snapshot){
        .by = by, .limiter = limiter, .settings = &SETTINGS_DEFAULT};
    s->domain = (struct domain_snapshot){.by = by, .domain = domain, .seen = domain_seen};
}

static void run_move_case(const struct move_case *c)
{
    SCOPED_ARENA(a);
    struct random random;
    struct plan plan;
    SCOPED_BUF(printed);
    struct snapshots s;
    plan_init(&plan, &a);
    const Board__Move *m = row_move(&a, c->move);
    struct op_input in = row_input(c->actor, &random, &m->base);
    lay_case(&a, c, m, in.now, &s);
    const struct move_family *family = row_family(m->move);
    move_decide(family, snapshot_of(&s, family), &in, &plan);
    print_plan(&plan, &printed);
    if (strcmp(buf_string(&printed), c->plan) != 0) {
        fail_msg("%s\nexpected:\n%sgot:\n%s", c->name, c->plan, buf_string(&printed));
    }
}

void run_move_cases(const struct move_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run_move_case(&cases[i]);
    }
}
