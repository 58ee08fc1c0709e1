/* Topics of the feed through whole roles: two bbs, and a role that follows the feed and adds topics
 * while records change, connections break, and bbs die. What it holds in the end is what the board
 * has of its topics, and on the way it is told nothing that is older than what it holds (design.md
 * 2, Feed). */
#include "bbs/bbs.h"
#include "bbs/board/compare.h"
#include "common/client/feed_client.h"
#include "common/model/record.h"
#include "models/actual_lrp.pb-c.h"
#include "test/sim/model/etcd.h"
#include "test/sim/world/world.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 40, ACTS = 60, PROCESSES = 6, INDICES = 2, BBS = 2, TOPICS = 32 };

static const char *const names[BBS] = {"bbs-1", "bbs-2"};
static const char *const urls[BBS] = {"https://bbs-1:8889", "https://bbs-2:8889"};

/* The role that follows. It lives as long as the trial. */
struct listener {
    struct role role;
    struct arena arena;
    struct boards boards;
    uint64_t next_call_id;
    struct feed_client feed_client;
    const char *topics[TOPICS];
    size_t count, added; /* of the topics; `added` of them it has followed */
    struct map told;     /* key -> mod-revision of its last put */
    bool retakes;        /* it wants no more than `count` from the next step on */
    unsigned retaken;
    unsigned resumed;    /* subscriptions for new topics that were no snapshot of everything */
};

struct trial {
    struct world *world;
    struct node *bbs[BBS];
    struct listener listener;
    struct map board; /* key -> mod-revision that etcd has */
};

static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct listener *l = context;
    if (change == FEED_CLIENT_RESET) {
        map_done(&l->told, NULL);
    } else if (change == FEED_CLIENT_PUT) {
        const int64_t *last = map_get(&l->told, key);
        assert_true(!last || *last < record->mod_revision);
        map_put(&l->told, key, arena_copy(&l->arena, &record->mod_revision, sizeof(int64_t)));
    }
}

static void step(struct role *role, const struct event *ev, struct effects *out)
{
    struct listener *l = (struct listener *)role;
    bool told = l->feed_client.tells_topics;
    if (l->retakes) {
        l->retakes = false;
        l->retaken++;
        feed_client_retake_topics(&l->feed_client, l->topics, l->count, out);
        assert_false(feed_client_holds_topic(&l->feed_client, l->topics[0]));
    }
    while (l->added < l->count) {
        assert_true(feed_client_add_topic(&l->feed_client, l->topics[l->added++], out));
    }
    feed_client_step(&l->feed_client, ev, out);
    l->resumed += !told && l->feed_client.tells_topics;
}

static size_t body_limit(const struct role *role, const char *path)
{
    (void)role, (void)path;
    return 0;
}

static void stays(struct role *role)
{
}

static const struct role_ops listener_ops = {
    .name = "listener", .step = step, .body_limit = body_limit, .free = stays};

static struct role *make_listener(void *context, unsigned incarnation)
{
    struct listener *l = context;
    return &l->role;
}

static struct role *make_bbs(void *context, unsigned incarnation)
{
    const size_t *n = context;
    return bbs_new(&(struct bbs_config){.url = urls[*n], .name = names[*n]});
}

static void trial_begin(struct trial *t, uint64_t seed)
{
    static size_t numbers[BBS] = {0, 1};
    struct listener *l = &t->listener;
    *t = (struct trial){.world = world_new(&(struct world_options){.seed = seed}),
                        .listener = {.role.ops = &listener_ops, .next_call_id = 1}};
    map_init(&t->board);
    map_init(&l->told);
    arena_init(&l->arena);
    world_faults(t->world, &(struct world_faults){.torn = 300});
    for (size_t i = 0; i < BBS; i++) {
        t->bbs[i] = world_add(t->world, &(struct node_config){
                                            .name = names[i],
                                            .unit = "bbs",
                                            .certificate_name = names[i],
                                            .url = urls[i],
                                            .store = world_store(t->world, "etcd"),
                                            .make = make_bbs,
                                            .context = &numbers[i]});
        world_start(t->world, t->bbs[i]);
    }
    assert_int_equal(boards_init(&l->boards, &l->arena,
                                 "https://bbs-1:8889,https://bbs-2:8889", &l->next_call_id, NULL),
                     0);
    l->feed_client =
        (struct feed_client){.boards = &l->boards, .on_change = on_change, .context = l};
    feed_client_init(&l->feed_client);
    l->topics[l->count++] = "desired/none"; /* without any it would follow everything */
    world_start(t->world, world_add(t->world, &(struct node_config){.name = "listener",
                                                                    .unit = "auctioneer",
                                                                    .certificate_name = "listener",
                                                                    .url = "https://listener:1",
                                                                    .make = make_listener,
                                                                    .context = l}));
    world_run(t->world, 5 * SECOND_NS);
}

static void trial_end(struct trial *t)
{
    world_free(t->world);
    feed_client_done(&t->listener.feed_client);
    map_done(&t->listener.told, NULL);
    map_done(&t->board, NULL);
    arena_done(&t->listener.arena);
}

static int draw(struct trial *t, uint64_t bound)
{
    return (int)random_below(world_random(t->world), bound);
}

/* A record is put, or deleted, past every bbs. */
static void change(struct trial *t)
{
    struct arena *a = &t->listener.arena;
    struct model_etcd *etcd = store_etcd(world_store(t->world, "etcd"));
    const char *guid = arena_printf(a, "p%d", draw(t, PROCESSES));
    const char *key = key_actual(a, guid, draw(t, INDICES), 0);
    bool put = draw(t, 3) > 0;
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    struct store_answer answer = {0};
    SCOPED_BUF(value);
    record_encode(&value, &lrp.base);
    Etcd__RequestOp *op = put ? etcd_op_put(a, key, buf_bytes(&value)) : etcd_op_delete(a, key);
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 1;
    txn.success = &op;
    model_etcd_apply(etcd, STORE_TXN, &txn.base, a, &answer);
    int64_t revision = model_etcd_revision(etcd);
    map_remove(&t->board, key);
    if (put) {
        map_put(&t->board, key, arena_copy(a, &revision, sizeof(revision)));
    }
}

static void add_topic(struct trial *t)
{
    struct listener *l = &t->listener;
    const char *guid = arena_printf(&l->arena, "p%d", draw(t, PROCESSES));
    int index = draw(t, INDICES), kind = draw(t, 3);
    if (l->count < TOPICS) {
        l->topics[l->count++] = kind == 0   ? key_actual(&l->arena, guid, index, 0)
                                : kind == 1 ? key_actual_index(&l->arena, guid, index)
                                            : key_actual_process(&l->arena, guid);
    }
}

/* Every second topic is wanted no more. */
static void take_others(struct trial *t)
{
    struct listener *l = &t->listener;
    for (size_t i = 2; i < l->count; i += 2) {
        l->topics[i / 2] = l->topics[i];
    }
    l->count = l->added = (l->count + 1) / 2;
    l->retakes = true;
}

static void act(struct trial *t)
{
    struct node *bbs = t->bbs[draw(t, BBS)];
    int what = draw(t, 100);
    if (what < 60) {
        change(t);
    } else if (what < 75) {
        add_topic(t);
    } else if (what < 80) {
        world_break_connections(t->world);
    } else if (what < 85 && node_up(bbs)) {
        world_kill(t->world, bbs);
    } else if (what < 90 && !node_up(bbs)) {
        world_start(t->world, bbs);
    } else if (what < 95 && node_up(bbs)) {
        world_stall_watch(t->world, bbs, what < 92);
    } else if (what >= 97) {
        take_others(t);
    }
    world_run(t->world, draw(t, 400) * MILLISECOND_NS);
}

static bool is_followed(const struct listener *l, const char *key)
{
    for (size_t i = 0; i < l->count; i++) {
        const char *topic = l->topics[i];
        size_t size = strlen(topic);
        if (strncmp(topic, key, size) == 0 && (topic[size - 1] == '/' || !key[size])) {
            return true;
        }
    }
    return false;
}

static void holds_what_the_board_has(struct trial *t)
{
    const struct listener *l = &t->listener;
    size_t count = 0;
    assert_true(l->feed_client.current);
    for (size_t i = 0; i < l->count; i++) {
        assert_true(feed_client_holds_topic(&l->feed_client, l->topics[i]));
    }
    MAP_EACH(&t->board, n)
    {
        const struct followed *held = feed_client_get(&l->feed_client, map_key(n));
        const int64_t *revision = map_value(n);
        bool followed = is_followed(l, map_key(n));
        assert_int_equal(held ? held->mod_revision : 0, followed ? *revision : 0);
        count += followed;
    }
    assert_int_equal(l->feed_client.records.count, count);
}

static void topics_that_come_while_all_changes(void **state)
{
    unsigned resumed = 0, retaken = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct trial t;
        trial_begin(&t, seed);
        for (int i = 0; i < ACTS; i++) {
            act(&t);
        }
        for (size_t i = 0; i < BBS; i++) {
            world_stall_watch(t.world, t.bbs[i], false);
            if (!node_up(t.bbs[i])) {
                world_start(t.world, t.bbs[i]);
            }
        }
        world_run(t.world, 20 * SECOND_NS);
        holds_what_the_board_has(&t);
        resumed += t.listener.resumed;
        retaken += t.listener.retaken;
        trial_end(&t);
    }
    assert_true(resumed > 2 * SEEDS && retaken > SEEDS);
}

/* What is told of a new topic stands before the changes since the position, which are older. */
static void a_topic_that_overlaps_what_is_held(void **state)
{
    struct trial t;
    struct listener *l = &t.listener;
    trial_begin(&t, 1);
    for (int i = 0; i < 50; i++) {
        change(&t);
    }
    for (int i = 0; i < PROCESSES; i++) {
        l->topics[l->count++] = key_actual(&l->arena, arena_printf(&l->arena, "p%d", i), 0, 0);
    }
    world_run(t.world, 3 * SECOND_NS);
    holds_what_the_board_has(&t);
    for (int i = 0; i < PROCESSES; i++) {
        const char *guid = arena_printf(&l->arena, "p%d", i);
        for (int k = 0; k < 20; k++) {
            change(&t);
        }
        l->topics[l->count++] = key_actual_process(&l->arena, guid);
        world_break_connections(t.world);
        world_run(t.world, 5 * SECOND_NS);
        holds_what_the_board_has(&t);
    }
    assert_true(l->resumed >= PROCESSES);
    trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topic_that_overlaps_what_is_held),
        cmocka_unit_test(topics_that_come_while_all_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
