#include "bbs/cli/systems_io.h"

#include "bbs/cli/feed_io.h"
#include "bbs/cli/leader_io.h"
#include "common/base/query.h"
#include "common/base/random.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"
#include "common/codec/nearest.h"
#include "common/model/component_path.h"
#include "common/model/record.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SYSTEM_SILENCE_MS = 3500, SELECTORS_MAX = 64, LOOK_MS = 1000, ANSWER_MS = 10000 };

const struct cli_option bbs_long_wait_options[] = {
    {.name = "wait", .help = "wait until it is over; the exit status says how it ended"},
    {.name = "watch", .letter = 'w', .help = "the same, and show the system as a tree meanwhile"},
    {.name = "timeout", .value = "TIME", .help = "how long to wait; it goes on", .fallback = "1h"},
    {0},
};

const struct cli_option bbs_watch_options[] = {
    {.name = "watch", .letter = 'w', .help = "follow it until it is over, or at rest"},
    {.name = "timeout", .value = "TIME", .help = "how long to try and to follow", .fallback = "1h"},
    {0},
};

/* ---- Selections of the feed ---- */

struct selection {
    Board__Selector rows[SELECTORS_MAX], *list[SELECTORS_MAX];
    size_t count;
};

static void add_selector(struct selection *x, struct arena *a, enum record_type type,
                         const char *prefix, bool whole)
{
    if (x->count == SELECTORS_MAX) {
        return;
    }
    Board__Selector *one = &x->rows[x->count];
    board__selector__init(one);
    one->type = arena_strdup(a, record_type_name(type));
    one->key_prefix = arena_strdup(a, prefix);
    one->whole_key = whole;
    x->list[x->count++] = one;
}

static void select_system(struct selection *x, struct arena *a, const char *id, const char *uid)
{
    static const enum record_type ranges[] = {RECORD_SERVICE,  RECORD_BUILD,   RECORD_DEPLOY,
                                              RECORD_TEARDOWN, RECORD_JOB_RUN, RECORD_POOL};
    add_selector(x, a, RECORD_SYSTEM, key_system(a, id), true);
    add_selector(x, a, RECORD_HEAD, key_head(a, uid), true);
    add_selector(x, a, RECORD_HOLD, key_hold(a, uid), true);
    add_selector(x, a, RECORD_VERSIONS, key_versions(a, uid), true);
    add_selector(x, a, RECORD_LEADER_LOCK, "", false);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        add_selector(x, a, ranges[i], key_range_of(a, ranges[i], uid), false);
    }
}

/* The indexes of the trees that stand; gives how many. */
static size_t select_trees(struct selection *x, struct arena *a, const Board__HeadRecord *head)
{
    size_t before = x->count;
    for (size_t i = 0; head && i < head->n_roots; i++) {
        const char *key = *head->roots[i]->tree ? key_index(a, head->roots[i]->tree) : NULL;
        bool known = !key;
        for (size_t k = before; key && k < x->count; k++) {
            known = known || strcmp(x->rows[k].key_prefix, key) == 0;
        }
        if (!known) {
            add_selector(x, a, RECORD_INDEX, key, true);
        }
    }
    return x->count - before;
}

int64_t system_patience(struct session *s)
{
    int64_t limit_ms = s->timeout_ms;
    s->timeout_ms = limit_ms < ANSWER_MS ? limit_ms : ANSWER_MS;
    cli_client_limit(s->client, s->timeout_ms);
    return limit_ms;
}

/* ---- As it stands ---- */

static int take_once(void *board, struct bytes bytes)
{
    struct system_board *b = board;
    int r = system_board_take(b, bytes, NULL);
    return r < 0 ? r : b->seen ? -ERR_EXISTS : 0;
}

/* One snapshot of the selection. */
static int snapshot(struct session *s, struct selection *x, struct system_board *b, struct err *err)
{
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    request.selectors = x->list;
    request.n_selectors = x->count;
    b->seen = false;
    system_board_connect(b);
    int r;
    do {
        cli_client_limit(s->client, session_left_ms(s));
        r = cli_client_stream(s->client, "/v1/board/feed", &request.base, SYSTEM_SILENCE_MS,
                              take_once, b, err);
        if (r != -ERR_UNAVAILABLE) {
            break;
        }
        cli_sleep_ms(CLIENT_PAUSE_MS);
    } while (session_left_ms(s) > CLIENT_PAUSE_MS && !cli_interrupted());
    cli_client_limit(s->client, session_left_ms(s));
    if (b->seen) {
        cli_client_stay(s->client);
        return 0;
    }
    return r < 0 ? r : err_set(err, ERR_UNAVAILABLE, "the feed ended before it was whole");
}

int systems_get(struct session *s, struct system_view *ret, struct err *err)
{
    struct system_board b;
    struct selection x = {.count = 0};
    system_board_init(&b);
    add_selector(&x, &s->arena, RECORD_SYSTEM, "", false);
    int r = snapshot(s, &x, &b, err);
    if (r == 0) {
        system_view_of(&s->arena, &b, ret);
    }
    system_board_done(&b);
    return r;
}

static int no_system(const char *id, const struct system_view *v, struct err *err)
{
    struct nearest n;
    nearest_begin(&n, id);
    for (size_t i = 0; i < v->system_count; i++) {
        nearest_consider(&n, v->systems[i]->id);
    }
    return n.best ? err_set(err, ERR_NOT_FOUND, "no system \"%.63s\"; did you mean \"%.63s\"?", id,
                            n.best)
                  : err_set(err, ERR_NOT_FOUND,
                            "no system \"%.63s\"; bbs systems shows all, bbs systems create %.63s "
                            "creates it",
                            id, id);
}

int systems_find(struct session *s, const char *id, const Board__SystemRecord **ret,
                 struct err *err)
{
    struct system_view v;
    int r = systems_get(s, &v, err);
    for (size_t i = 0; r == 0 && i < v.system_count; i++) {
        if (strcmp(v.systems[i]->id, id) == 0) {
            *ret = v.systems[i];
            return 0;
        }
    }
    return r < 0 ? r : no_system(id, &v, err);
}

int system_get(struct session *s, const char *id, struct system_view *ret, struct err *err)
{
    struct system_board b;
    struct selection x = {.count = 0};
    const Board__SystemRecord *system;
    int r = systems_find(s, id, &system, err);
    if (r < 0) {
        return r;
    }
    system_board_init(&b);
    select_system(&x, &s->arena, id, system->uid);
    r = snapshot(s, &x, &b, err);
    if (r == 0) {
        system_view_of(&s->arena, &b, ret);
    }
    if (r == 0 && select_trees(&x, &s->arena, ret->head) > 0) {
        r = snapshot(s, &x, &b, err);
        system_view_of(&s->arena, &b, ret);
    }
    r = r < 0 || ret->system ? r : err_set(err, ERR_NOT_FOUND, "system \"%.63s\" has gone", id);
    system_board_done(&b);
    return r;
}

static int no_such(const struct system_view *v, const char *kind, const char *list, const char *id,
                   size_t here, const char *owner, struct err *err)
{
    const char *system = v->system->id;
    if (here > 1) {
        return err_set(err, ERR_NOT_FOUND,
                       "%zu %ss of %.63s begin with \"%.40s\": write more of it; bbs %s %.63s "
                       "shows all",
                       here, kind, system, id, list, system);
    }
    return owner ? err_set(err, ERR_NOT_FOUND,
                           "%.63s has no %s \"%.40s\", but %.63s: bbs %s %.63s %.40s", system, kind,
                           id, owner, list, owner, id)
                 : err_set(err, ERR_NOT_FOUND, "%.63s has no %s \"%.60s\"; bbs %s %.63s shows all",
                           system, kind, id, list, system);
}

int system_no_such(struct session *s, const struct system_view *v, enum record_type type,
                   const char *id, struct err *err)
{
    struct system_board b;
    struct system_view all;
    struct selection x = {.count = 0};
    size_t here, elsewhere;
    const char *owner = NULL;
    (void)system_view_owner(v, type, id, &here);
    system_board_init(&b);
    add_selector(&x, &s->arena, type, "", false);
    if (here == 0 && snapshot(s, &x, &b, NULL) == 0) {
        system_view_of(&s->arena, &b, &all);
        owner = system_view_owner(&all, type, id, &elsewhere);
    }
    system_board_done(&b);
    const char *kind = type == RECORD_BUILD      ? "build"
                       : type == RECORD_DEPLOY   ? "deploy"
                       : type == RECORD_TEARDOWN ? "teardown"
                                                 : "job run";
    const char *list = type == RECORD_JOB_RUN ? "jobs" : arena_printf(&s->arena, "%ss", kind);
    return no_such(v, kind, list, id, here, owner, err);
}

/* ---- Following ---- */

struct follower {
    struct session *s;
    const struct system_follow *what;
    struct system_board board;
    struct selection selection;
    size_t trees; /* of the selection */
    int64_t begun_ms, looked_ms;
    bool renewed; /* the trees are others: with another selection */
};

static void follower_connect(void *follower, bool compares)
{
    (void)compares;
    system_board_connect(&((struct follower *)follower)->board);
}

/* Whether indexes are to be followed that are not selected. */
static bool lacks_trees(struct follower *f, struct arena *a, const struct system_view *v)
{
    struct selection x = {.count = 0};
    select_system(&x, a, f->what->id, f->what->uid);
    size_t trees = select_trees(&x, a, v->head);
    for (size_t i = 0; i < trees; i++) {
        bool known = false;
        for (size_t k = 0; k < f->selection.count; k++) {
            known = known || strcmp(f->selection.rows[k].key_prefix,
                                    x.rows[x.count - trees + i].key_prefix) == 0;
        }
        if (!known) {
            return true;
        }
    }
    return false;
}

static int look_now(struct follower *f, struct err *err)
{
    SCOPED_ARENA(a);
    struct system_view v;
    system_view_of(&a, &f->board, &v);
    f->renewed = lacks_trees(f, &a, &v);
    f->board.changed = false;
    f->looked_ms = cli_now_ms();
    int r = f->renewed ? 0 : f->what->look(f->what->owner, &a, &v, f->board.confirmed, err);
    return r > 0 || f->renewed ? -ERR_EXISTS : r;
}

static bool is_late(const struct follower *f)
{
    return f->what->limit_ms >= 0 && cli_now_ms() - f->begun_ms >= f->what->limit_ms;
}

static int follower_take(void *follower, struct bytes bytes, struct err *err)
{
    struct follower *f = follower;
    int r = system_board_take(&f->board, bytes, err);
    bool due = f->board.changed || cli_now_ms() - f->looked_ms >= LOOK_MS;
    r = r == 0 && f->board.caught_up && due ? look_now(f, err) : r;
    return r == 0 && is_late(f) ? err_set(err, ERR_TIMEOUT, "it is not over") : r;
}

static int follower_idle(void *follower, struct err *err)
{
    return is_late(follower) ? err_set(err, ERR_TIMEOUT, "it is not over") : 0;
}

/* With one selection, until the end or another one. */
static int follow_selection(struct follower *f, struct err *err)
{
    struct feed_follow feed = {.selectors = f->selection.list,
                               .selector_count = f->selection.count,
                               .board_generation = f->board.board_generation,
                               .revision = &f->board.revision,
                               .seen = &f->board.seen,
                               .caught_up = &f->board.caught_up,
                               .connect = follower_connect,
                               .take = follower_take,
                               .idle = follower_idle,
                               .owner = f};
    return feed_follow(f->s, &feed, err);
}

int system_follow(struct session *s, const struct system_follow *what, struct err *err)
{
    struct follower f = {.s = s, .what = what, .begun_ms = cli_now_ms()};
    int r;
    do {
        struct system_view v;
        s->begun_ms = cli_now_ms(); /* the session's time is for the first answer, each time */
        bool again = f.renewed;
        if (again) {
            system_view_of(&s->arena, &f.board, &v);
            system_board_done(&f.board);
        }
        system_board_init(&f.board);
        f.selection.count = 0;
        f.renewed = false;
        select_system(&f.selection, &s->arena, what->id, what->uid);
        if (again) {
            (void)select_trees(&f.selection, &s->arena, v.head);
        }
        r = follow_selection(&f, err);
    } while (r == -ERR_EXISTS && f.renewed);
    system_board_done(&f.board);
    cli_client_limit(s->client, session_left_ms(s));
    return r == -ERR_EXISTS ? 0 : r;
}

/* ---- REST ---- */

int system_rest(struct session *s, const char *method, const char *id, const char *rest,
                const char *body, struct bytes *ret_body, struct err *err)
{
    struct arena *a = &s->arena;
    const char *path = *id ? arena_printf(a, "/v1/systems/%s%s", percent_encoded(a, id), rest)
                           : arena_printf(a, "/v1/systems%s", rest);
    struct bytes sent = body ? bytes_of(body) : (struct bytes){0};
    int r = cli_client_rest(s->client, a, method, path, sent, ret_body, err);
    return r < 0 && *id ? session_about(s, id, r, err) : r;
}

int system_print_json(struct session *s, struct bytes body, struct err *err)
{
    SCOPED_BUF(out);
    size_t i;
    json_t *item, *tree = json_loadb((const char *)body.data, body.size, 0, NULL);
    (void)s;
    json_array_foreach(tree, i, item)
    {
        char *text = json_dumps(item, JSON_COMPACT | JSON_ENCODE_ANY);
        buf_printf(&out, "%s\n", text ? text : "null");
        free(text);
    }
    int r = json_is_array(tree) ? 0 : json_compact(body, &out, err);
    if (!json_is_array(tree)) {
        buf_append_string(&out, "\n");
    }
    json_decref(tree);
    return r < 0 ? r : cli_print(buf_bytes(&out), err);
}

const char *draw_uuid(struct arena *a)
{
    uint64_t seed[2] = {0};
    char text[GUID_BYTES];
    struct random random;
    if (getrandom(seed, sizeof(seed), 0) < 0) {
        seed[1] = (uint64_t)cli_wall_ns();
    }
    random_seed(&random, seed);
    random_guid(&random, text);
    return arena_strdup(a, text);
}

/* ---- Arguments ---- */

const char *system_by_default(void)
{
    const char *id = getenv("CORKBOARD_SYSTEM");
    return id && *id ? id : NULL;
}

const char *system_argument(const struct invocation *call, size_t n)
{
    return n < call->argument_count ? call->arguments[n] : n == 0 ? system_by_default() : NULL;
}

int system_target(const struct invocation *call, const char **ret_id, const char **ret_path,
                  struct err *err)
{
    const char *text = system_argument(call, 0), *by_default = system_by_default();
    if (!text) {
        return err_set(err, ERR_INVALID,
                       "which system? give its name, or set CORKBOARD_SYSTEM: %.60s SYSTEM",
                       call->title);
    }
    if (*text == '/' && by_default) {
        text = name_of_part(call->arena, by_default, text);
    }
    return name_system(call->arena, text, ret_id, ret_path, err);
}

int system_target_id(struct session *s, const struct invocation *call, const char **ret_id,
                     const char **ret_path, const char **ret_of, struct err *err)
{
    const Board__SystemRecord *system;
    const char *by_default = system_by_default();
    int r = system_target(call, ret_id, ret_path, err);
    *ret_of = system_argument(call, 1);
    bool path = r == 0 && call->argument_count == 1 && call->arguments[0][0] == '/';
    if (call->argument_count == 1 && by_default && !path) {
        struct err inner;
        bool other = r < 0 || systems_find(s, *ret_id, &system, &inner) == -ERR_NOT_FOUND;
        if (other) {
            *ret_of = call->arguments[0];
            return name_system(call->arena, by_default, ret_id, ret_path, err);
        }
    }
    return r;
}

int system_needs_id(const struct invocation *call, const char *id, struct err *err)
{
    return id ? 0
              : err_set(err, ERR_INVALID,
                        "which system? give its name, or set CORKBOARD_SYSTEM: %.60s SYSTEM %.60s",
                        call->title, call->arguments[0]);
}

/* Nothing is said of a bbs that does not tell. */
static void add_keys(struct session *s, const struct system_view *v, struct system_why *w)
{
    ProtobufCMessage *m;
    if (v->system->data_key && cli_client_call(s->client, &s->arena, "/v1/board/keys/list", NULL,
                                               &board__keys_response__descriptor, &m, NULL) == 0) {
        system_why_keys(w, v, (const Board__KeysResponse *)m);
    }
}

void system_add_lack(struct session *s, const struct system_view *v, struct system_why *w)
{
    if (w->well || !v->converger) { /* that none leads is said where it matters */
        return;
    }
    struct leader_asker q = {
        .s = s, .role = "converger", .sought = true, .complete = true, .url = v->converger->url};
    (void)leader_ask(&q, "/state");
    const char *lack = leader_lack(&q);
    if (lack) {
        system_why_lack(w, lack);
    }
}

int system_explain(struct session *s, const char *id, const char *path, struct err *err)
{
    struct system_view v;
    struct system_why w;
    SCOPED_BUF(out);
    int r = system_get(s, id, &v, err);
    if (r < 0) {
        return r;
    }
    system_why(&s->arena, &v, path, cli_wall_ns(), &w);
    add_keys(s, &v, &w);
    system_add_lack(s, &v, &w);
    system_why_print(&w, s->json, &out);
    return cli_print(buf_bytes(&out), err);
}
