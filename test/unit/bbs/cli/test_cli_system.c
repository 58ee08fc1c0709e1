/* What is shown of a system: the copy from its feed, the tree, the tables, the explanations. */
#include "bbs/cli/record_text.h"
#include "bbs/cli/system_tables.h"
#include "bbs/cli/system_tree.h"
#include "bbs/cli/system_why.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"
#include "test/unit/bbs/cli/system_records.h"

#include <stdlib.h>
#include <string.h>

#define NOW ((int64_t)RECORDS_NOW_S * 1000000000)
#define DEPLOY "7f3a0c12-0000-4000-8000-000000000001"

struct rig {
    struct fixture *f;
    struct records_feed feed;
    struct system_board board;
    struct system_view view;
};

static void rig_begin(struct rig *r, void **state)
{
    *r = (struct rig){.f = *state};
    r->feed = (struct records_feed){.arena = &r->f->arena, .bytes = buf_empty(), .revision = 10};
    system_board_init(&r->board);
    shown_reset(&r->feed);
}

static void rig_view(struct rig *r)
{
    shown_current(&r->feed);
    shown_give(&r->feed, &r->board, 7);
    assert_true(r->board.seen && r->board.caught_up);
    system_view_of(&r->f->arena, &r->board, &r->view);
}

static void rig_end(struct rig *r)
{
    system_board_done(&r->board);
    buf_done(&r->feed.bytes);
}

static void put_service(struct rig *r, const char *path, const char *state, int instances,
                        const int counts[4], const char *message)
{
    shown_put(&r->feed, key_service(&r->f->arena, "u1", path),
              &shown_service(&r->f->arena, path, state, instances, counts, message)->base);
}

static void put_deploy(struct rig *r, const char *id, const char *path)
{
    shown_put(&r->feed, key_deploy(&r->f->arena, "u1", id),
              &shown_deploy(&r->f->arena, id, path, "in progress", "")->base);
}

/* The shop while 1.5.0 is deployed, with a tree that says a job and a service to come. */
static void put_shop(struct rig *r)
{
    struct arena *a = &r->f->arena;
    static const char *const paths[] = {"/",           "/migrate",   "/store", "/store/api",
                                        "/store/cart", "/store/new", "/web"};
    static const char *const kinds[] = {"system",  "job",     "system", "service",
                                        "service", "service", "service"};
    Board__IndexRecord *x = arena_message(a, &board__index_record__descriptor);
    Board__HeadRecord *head = arena_message(a, &board__head_record__descriptor);
    Board__Root *root = arena_message(a, &board__root__descriptor);
    Board__DeployRecord *d = shown_deploy(a, DEPLOY, "/", "in progress", "");
    x->tree = arena_strdup(a, "t1");
    x->entries = ARENA_ARRAY(a, 7, Board__IndexRecord__Entry *);
    for (x->n_entries = 0; x->n_entries < 7; x->n_entries++) {
        Board__IndexRecord__Entry *e = arena_message(a, &board__index_record__entry__descriptor);
        e->path = arena_strdup(a, paths[x->n_entries]);
        e->kind = arena_strdup(a, kinds[x->n_entries]);
        x->entries[x->n_entries] = e;
    }
    root->path = arena_strdup(a, "/");
    root->tree = x->tree;
    head->roots = arena_copy(a, &root, sizeof(root));
    head->n_roots = 1;
    head->generation = head->spread = 2;
    shown_put(&r->feed, key_system(a, "shop"), &shown_record(a, "updating", "")->base);
    shown_put(&r->feed, key_head(a, "u1"), &head->base);
    shown_put(&r->feed, key_hold(a, "u1"), &shown_hold(a, d, false)->base);
    shown_put(&r->feed, key_deploy(a, "u1", DEPLOY), &d->base);
    shown_put(&r->feed, key_index(a, "t1"), &x->base);
    put_service(r, "/store/api", "updating", 4, (const int[]){5, 2, 4, 0}, "rolling to 1f0c93d2ab");
    put_service(r, "/store/cart", "stable", 3, (const int[]){3, 3, 3, 0}, "");
    put_service(r, "/web", "failed", 2, (const int[]){2, 2, 0, 0}, "crashed 4 times: exit 127");
}

static const char *tree_of(struct rig *r, const struct tree_form *form)
{
    buf_clear(&r->f->out);
    (void)tree_print(&r->f->arena, &r->view, form, &r->f->out);
    return buf_string(&r->f->out);
}

static void a_system_is_a_tree(void **state)
{
    struct rig r;
    rig_begin(&r, state);
    put_shop(&r);
    rig_view(&r);
    struct tree_form form = {.now_ns = NOW, .top = "/", .width = 110};
    assert_string_equal(
        tree_of(&r, &form),
        "shop   updating   1.4.0 -> 1.5.0   deploy 7f3a0c12 in progress, 42s   1 of 3 services "
        "stable, 1 failed\n"
        "+- migrate  job      never run\n"
        "+- store/\n"
        "|  +- api   updating [####....] 2/4 updated, 4 available   rolling to 1f0c93d2ab\n"
        "|  +- cart  stable   [########] 3/3\n"
        "|  `- new   not begun yet\n"
        "`- web      failed   [........] 0/2 available   crashed 4 times: exit 127   bbs why "
        "shop:/web\n");
    form.top = "/store";
    form.width = 60;
    assert_string_equal(tree_of(&r, &form),
                        "shop   updating   1.4.0 -> 1.5.0   deploy 7f3a0c12 in progr\u2026\n"
                        "`- store/\n"
                        "   +- api   updating [####....] 2/4 updated, 4 available   \u2026\n"
                        "   +- cart  stable   [########] 3/3\n"
                        "   `- new   not begun yet\n");
    form.width = 40;
    assert_string_equal(tree_of(&r, &form),
                        "shop   updating   1.4.0 -> 1.5.0   depl\u2026\n"
                        "`- store/\n"
                        "   +- api   updating 2/4 updated, 4 ava\u2026\n"
                        "   +- cart  stable   3/3\n"
                        "   `- new   not begun yet\n");
    assert_false(tree_is_at_rest(&r.view));
    rig_end(&r);
}

static void what_is_well_is_left_out_first(void **state)
{
    struct rig r;
    rig_begin(&r, state);
    put_shop(&r);
    rig_view(&r);
    struct tree_form form = {.now_ns = NOW, .top = "/", .width = 80, .rows = 6};
    const char *text = tree_of(&r, &form);
    assert_non_null(strstr(text, "- api"));
    assert_non_null(strstr(text, "- web"));
    assert_null(strstr(text, "cart"));
    assert_non_null(strstr(text, "... 2 more of 6\n"));
    form.rows = 0;
    form.colours = true;
    assert_non_null(strstr(tree_of(&r, &form), "\033[31mfailed  \033[0m"));
    rig_end(&r);
}

/* 200 services fit a pipe, and terminals of any width from 40: no line is longer than its columns,
 * none is left out. */
static void two_hundred_services_fit(void **state)
{
    struct rig r;
    rig_begin(&r, state);
    put_shop(&r);
    Board__SystemRecord *s = shown_record(&r.f->arena, "updating", "");
    s->id = arena_strdup(&r.f->arena, "shop-of-a-name-as-long-as-a-name-of-a-system-can-be-at-"
                                      "the-most");
    shown_put(&r.feed, key_system(&r.f->arena, "shop"), &s->base);
    for (int i = 0; i < 200; i++) {
        put_service(&r, arena_printf(&r.f->arena, "/fleet/service-number-%03d-of-many", i),
                    "scaling", 100000, (const int[]){100000, 100000, 99999, 17},
                    "waits for cells with more memory than any of them has left now");
    }
    rig_view(&r);
    struct tree_form form = {.now_ns = NOW, .top = "/"};
    for (form.width = 100; form.width >= TREE_WIDTH_LEAST; form.width--) {
        const char *text = tree_of(&r, &form);
        size_t lines = 0;
        for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1, lines++) {
            const char *line = arena_strndup(&r.f->arena, at, (size_t)(end - at));
            assert_in_range(text_characters(line), 1, form.width);
        }
        assert_int_equal(lines, 200 + 8);
    }
    form.width = 80;
    form.rows = 24;
    buf_clear(&r.f->out);
    assert_in_range(tree_print(&r.f->arena, &r.view, &form, &r.f->out), 1, 24);
    rig_end(&r);
}

static void what_changes_is_told_once(void **state)
{
    struct rig r;
    struct map said;
    map_init(&said);
    rig_begin(&r, state);
    put_shop(&r);
    rig_view(&r);
    tree_changes(&r.f->arena, &r.view, "/", &said, &r.f->out);
    assert_non_null(strstr(buf_string(&r.f->out), "deploy 7f3a0c12   in progress\n"));
    assert_non_null(strstr(buf_string(&r.f->out), "shop:/store/cart   stable   3/3\n"));
    buf_clear(&r.f->out);
    tree_changes(&r.f->arena, &r.view, "/", &said, &r.f->out);
    assert_int_equal(r.f->out.size, 0);
    shown_delete(&r.feed, key_service(&r.f->arena, "u1", "/store/cart"));
    shown_put(&r.feed, key_system(&r.f->arena, "shop"),
              &shown_record(&r.f->arena, "degraded", "")->base);
    shown_heartbeat(&r.feed);
    shown_give(&r.feed, &r.board, 1000);
    assert_true(r.board.changed && r.board.confirmed);
    system_view_of(&r.f->arena, &r.board, &r.view);
    tree_changes(&r.f->arena, &r.view, "/", &said, &r.f->out);
    assert_string_equal(buf_string(&r.f->out), "shop:/store/cart   gone\nshop   degraded\n");
    map_done(&said, free);
    rig_end(&r);
}

/* What a snapshot does not list any more is gone; what comes again late changes nothing. */
static void a_snapshot_replaces_what_was_there(void **state)
{
    struct rig r;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    put_shop(&r);
    rig_view(&r);
    assert_int_equal(r.view.service_count, 3);
    shown_reset(&r.feed);
    shown_put(&r.feed, key_system(a, "shop"), &shown_record(a, "stable", "")->base);
    shown_current(&r.feed);
    r.feed.revision = 5;
    shown_put(&r.feed, key_system(a, "shop"), &shown_record(a, "pending", "")->base);
    shown_delete(&r.feed, key_system(a, "shop"));
    shown_give(&r.feed, &r.board, 3);
    system_view_of(a, &r.board, &r.view);
    assert_int_equal(r.view.service_count, 0);
    assert_string_equal(r.view.system->state, "stable");
    assert_true(tree_is_at_rest(&r.view));
    rig_end(&r);
}

static void ids_may_be_cut(void **state)
{
    struct rig r;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    put_shop(&r);
    shown_put(&r.feed, key_deploy(a, "u1", "7f3a9999"),
              &shown_deploy(a, "7f3a9999", "/web", "failed", "")->base);
    rig_view(&r);
    assert_non_null(system_view_deploy(&r.view, DEPLOY));
    assert_non_null(system_view_deploy(&r.view, "7f3a0"));
    assert_null(system_view_deploy(&r.view, "7f3a")); /* two begin so */
    assert_null(system_view_deploy(&r.view, "7f"));
    assert_null(system_view_build(&r.view, "7f3a0"));
    assert_string_equal(system_view_kind(&r.view, "/migrate"), "job");
    assert_null(system_view_kind(&r.view, "/nowhere"));
    rig_end(&r);
}

/* ---- Explanations ---- */

static const char *why_of(struct rig *r, const char *path, bool *ret_well)
{
    struct system_why w;
    system_why(&r->f->arena, &r->view, path, NOW, &w);
    buf_clear(&r->f->out);
    system_why_print(&w, false, &r->f->out);
    *ret_well = w.well;
    return buf_string(&r->f->out);
}

/* Of which system an id is, of all that there are. */
static void an_id_of_another_system_is_found(void **state)
{
    struct rig r;
    size_t count;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    shown_put(&r.feed, key_system(a, "shop"), &shown_record(a, "stable", "")->base);
    put_deploy(&r, DEPLOY, "/");
    Board__DeployRecord *d = shown_deploy(a, "7f3a9912-x", "/", "pending", "");
    d->system = arena_strdup(a, "depot");
    shown_put(&r.feed, key_deploy(a, "u2", d->id), &d->base);
    rig_view(&r);
    assert_string_equal(system_view_owner(&r.view, RECORD_DEPLOY, "7f3a99", &count), "depot");
    assert_int_equal(count, 1);
    assert_string_equal(system_view_owner(&r.view, RECORD_DEPLOY, DEPLOY, &count), "shop");
    assert_int_equal(count, 1);
    assert_non_null(system_view_owner(&r.view, RECORD_DEPLOY, "7f3a", &count));
    assert_int_equal(count, 2);
    assert_null(system_view_owner(&r.view, RECORD_DEPLOY, "7f3", &count)); /* too short */
    assert_null(system_view_owner(&r.view, RECORD_BUILD, "7f3a99", &count));
    assert_int_equal(count, 0);
    rig_end(&r);
}

static void lead(struct rig *r)
{
    Board__LeaderLockRecord *l =
        arena_message(&r->f->arena, &board__leader_lock_record__descriptor);
    l->role = arena_strdup(&r->f->arena, "converger");
    l->url = arena_strdup(&r->f->arena, "https://converger-1");
    shown_put(&r->feed, key_lead(&r->f->arena, "converger"), &l->base);
}

static void a_deploy_says_what_it_waits_for(void **state)
{
    struct rig r;
    bool well;
    rig_begin(&r, state);
    put_shop(&r);
    lead(&r);
    rig_view(&r);
    assert_string_equal(
        why_of(&r, "/", &well),
        "shop is updating, for 60s\n"
        "  deploy 7f3a0c12 of / (version 1.5.0) is in progress, for 42s\n"
        "  shop:/web is failed, for 30s: 0/2 available; crashed 4 times: exit 127\n"
        "    it is stable again when its instances run; bbs logs shop:/web --previous, or deploy "
        "another definition (bbs deploy shop --undo DEPLOY)\n"
        "  shop:/store/api is updating, for 30s: 2/4 updated, 4 available; rolling to 1f0c93d2ab\n"
        "    it came nearer 20s ago; without progress it has failed in 40s\n"
        "  it ends when each of these is stable, or has failed\n");
    assert_false(well);
    assert_non_null(strstr(why_of(&r, "/store/cart", &well), "shop:/store/cart is stable"));
    assert_non_null(strstr(why_of(&r, "/nowhere", &well), "deploy 7f3a0c12 of /"));
    rig_end(&r);
}

static void an_inner_system_that_is_well_says_so(void **state)
{
    struct rig r;
    bool well;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    put_shop(&r);
    Board__HoldRecord *free_hold = arena_message(a, &board__hold_record__descriptor);
    shown_put(&r.feed, key_hold(a, "u1"), &free_hold->base);
    Board__DeployRecord *d = shown_deploy(a, DEPLOY, "/", "succeeded", "");
    d->completed_at = NOW;
    shown_put(&r.feed, key_deploy(a, "u1", DEPLOY), &d->base);
    put_service(&r, "/store/api", "stable", 4, (const int[]){4, 4, 4, 0}, "");
    rig_view(&r);
    assert_string_equal(why_of(&r, "/store", &well), "shop:/store: 2 services are stable\n");
    assert_true(well);
    assert_non_null(strstr(why_of(&r, "/migrate", &well), "/migrate is a job; nothing of it"));
    assert_false(well);
    assert_true(tree_has(&r.view, "/"));
    assert_true(tree_has(&r.view, "/migrate"));
    assert_true(tree_has(&r.view, "/store"));
    assert_false(tree_has(&r.view, "/stor"));
    assert_false(tree_has(&r.view, "/store/api/x"));
    rig_end(&r);
}

static void whose_turn_it_is_is_told(void **state)
{
    struct rig r;
    bool well;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    Board__DeployRecord *d = shown_deploy(a, DEPLOY, "/store", "pending", "");
    shown_put(&r.feed, key_system(a, "shop"), &shown_record(a, "stable", "")->base);
    shown_put(&r.feed, key_deploy(a, "u1", DEPLOY), &d->base);
    rig_view(&r);
    assert_non_null(strstr(why_of(&r, "/", &well), "no converger leads: nothing goes on before"));
    assert_null(strstr(why_of(&r, "/web", &well), "7f3a0c12")); /* beside it */
    assert_non_null(strstr(why_of(&r, "/web", &well), "nothing is deployed at /web"));
    lead(&r);
    d->state = arena_strdup(a, "in progress");
    d->paused = true;
    shown_put(&r.feed, key_deploy(a, "u1", DEPLOY), &d->base);
    shown_put(&r.feed, key_hold(a, "u1"), &shown_hold(a, d, true)->base);
    rig_view(&r);
    assert_non_null(strstr(why_of(&r, "/store/api", &well), "bbs resume shop:/store goes on"));
    rig_end(&r);
}

static void a_restore_is_told(void **state)
{
    struct rig r;
    bool well;
    rig_begin(&r, state);
    Board__SystemRecord *s = shown_record(&r.f->arena, "stable", "");
    s->board_generation = arena_strdup(&r.f->arena, "g0");
    shown_put(&r.feed, key_system(&r.f->arena, "shop"), &s->base);
    rig_view(&r);
    assert_non_null(strstr(why_of(&r, "/", &well), "bbs systems confirm shop"));
    assert_false(well);
    rig_end(&r);
}

/* Key 2 seals; the bbs has it, has none, or holds another and knows of it. */
static void a_key_that_is_missing_is_told(void **state)
{
    static const struct {
        size_t keys;
        uint32_t number;
        bool held, told;
    } rows[] = {{0, 0, false, true}, {1, 1, true, true}, {1, 2, false, true}, {1, 2, true, false}};
    struct rig r;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    Board__SystemRecord *s = shown_record(a, "stable", "");
    Board__KeysResponse keys = BOARD__KEYS_RESPONSE__INIT;
    Board__KeyUse use = BOARD__KEY_USE__INIT, *uses = &use;
    s->data_key = arena_message(a, &board__wrapped_key__descriptor);
    s->data_key->key = 2;
    shown_put(&r.feed, key_system(a, "shop"), &s->base);
    rig_view(&r);
    keys.keys = &uses;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct system_why w;
        keys.n_keys = rows[i].keys;
        use.number = rows[i].number;
        use.held = rows[i].held;
        system_why(a, &r.view, "/", NOW, &w);
        assert_true(w.well);
        system_why_keys(&w, &r.view, &keys);
        assert_int_equal(w.well, !rows[i].told);
        assert_int_equal(strstr(w.lines[w.count - 1], "are sealed by key 2") != NULL, rows[i].told);
    }
    rig_end(&r);
}

static void a_quiet_system_says_so(void **state)
{
    struct rig r;
    bool well;
    rig_begin(&r, state);
    shown_put(&r.feed, key_system(&r.f->arena, "shop"),
              &shown_record(&r.f->arena, "stable", "")->base);
    rig_view(&r);
    assert_string_equal(why_of(&r, "/", &well), "shop is stable, for 60s\n"
                                                "  no service is deployed in it: bbs deploy\n");
    assert_true(well);
    Board__DeployRecord *d = shown_deploy(&r.f->arena, DEPLOY, "/", "failed", "/web has failed");
    d->completed_at = NOW - (int64_t)5 * 1000000000;
    d->reverting = true;
    shown_put(&r.feed, key_deploy(&r.f->arena, "u1", DEPLOY), &d->base);
    rig_view(&r);
    assert_string_equal(
        why_of(&r, "/", &well),
        "shop is stable, for 60s\n"
        "  no service is deployed in it: bbs deploy\n"
        "  deploy 7f3a0c12 of / (version 1.5.0) is failed, for 5s: /web has failed\n");
    assert_true(well);
    shown_delete(&r.feed, key_deploy(&r.f->arena, "u1", DEPLOY));
    rig_view(&r);
    struct system_why w;
    system_why(&r.f->arena, &r.view, "/", NOW, &w);
    buf_clear(&r.f->out);
    system_why_print(&w, true, &r.f->out);
    assert_string_equal(buf_string(&r.f->out),
                        "{\"subject\":\"shop\",\"explanation\":[\"shop is stable, for 60s\","
                        "\"no service is deployed in it: bbs deploy\"]}\n");
    rig_end(&r);
}

/* However many are not stable, and however many deploys are under way: the bound holds, and what is
 * left out is counted. */
static void explanations_have_a_bound(void **state)
{
    struct rig r;
    struct system_why w;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    put_shop(&r);
    for (int i = 0; i < 100; i++) {
        const char *id = arena_printf(a, "%08d-x", i), *path = arena_printf(a, "/p%d", i);
        put_service(&r, path, "scaling", 2, (const int[]){1, 1, 1, 0}, "");
        put_deploy(&r, id, path);
    }
    rig_view(&r);
    system_why(a, &r.view, "/", NOW, &w);
    assert_int_equal(w.count, SYSTEM_WHY_LINES_MAX);
    system_why_deploy(a, &r.view, system_view_deploy(&r.view, DEPLOY), NOW, &w);
    assert_in_range(w.count, SYSTEM_WHY_SERVICES_MAX, SYSTEM_WHY_LINES_MAX - 1);
    assert_non_null(strstr(w.lines[w.count - 2], "and 94 more that are not stable"));
    rig_end(&r);
}

static void builds_teardowns_and_runs_are_explained(void **state)
{
    struct rig r;
    struct system_why w;
    rig_begin(&r, state);
    struct arena *a = &r.f->arena;
    Board__BuildRecord b = BOARD__BUILD_RECORD__INIT;
    Board__TeardownRecord t = BOARD__TEARDOWN_RECORD__INIT;
    Board__JobRunRecord run = BOARD__JOB_RUN_RECORD__INIT;
    put_shop(&r);
    rig_view(&r);
    b.id = t.id = run.id = arena_strdup(a, "0123456789");
    b.system = t.system = run.system = arena_strdup(a, "shop");
    b.state = arena_strdup(a, "running");
    b.written = 48;
    b.components = 100;
    system_why_build(a, &r.view, &b, NOW, &w);
    assert_string_equal(w.lines[0], "build 01234567 is running: 48 of 100 components are written");
    t.state = arena_strdup(a, "pending");
    t.created_at = NOW;
    system_why_teardown(a, &r.view, &t, NOW, &w);
    assert_string_equal(w.lines[0], "teardown 01234567 is pending, for 0s");
    assert_string_equal(w.lines[1], "deploy 7f3a0c12 holds /, for 42s");
    assert_false(w.well);
    run.state = arena_strdup(a, "queued");
    run.path = arena_strdup(a, "/migrate");
    run.task_guid = arena_strdup(a, "shop_migrate-01234567");
    run.created_at = NOW;
    system_why_run(a, &r.view, &run, NOW, &w);
    assert_string_equal(w.lines[0], "run 01234567 of /migrate is queued, for 0s");
    assert_string_equal(w.lines[1],
                        "its task waits for a cell: bbs why --task shop_migrate-01234567");
    rig_end(&r);
}

/* ---- Tables, events ---- */

static void tables_have_the_columns_of_old(void **state)
{
    struct rig r;
    rig_begin(&r, state);
    put_shop(&r);
    rig_view(&r);
    services_table(&r.f->arena, &r.view, "/store", false, &r.f->out);
    assert_string_equal(buf_string(&r.f->out),
                        "PATH         STATE     AVAILABLE  UPDATED  STALE  TERMINATING\n"
                        "/store/api   updating  4/4        2        3      0\n"
                        "    rolling to 1f0c93d2ab\n"
                        "/store/cart  stable    3/3        3        0      0\n");
    buf_clear(&r.f->out);
    systems_table(&r.f->arena, &r.view, false, &r.f->out);
    assert_string_equal(buf_string(&r.f->out), "NAME  DEFINITION  VERSION  STATUS\n"
                                               "shop  -           1.4.0    updating\n");
    buf_clear(&r.f->out);
    deploys_table(&r.f->arena, &r.view, false, &r.f->out);
    assert_non_null(
        strstr(buf_string(&r.f->out), "version 1.5.0  in progress  1970-01-02T03:45:58Z  -"));
    rig_end(&r);
}

/* A pool of the shop, renewed: a service is on the one small cell yet, a large one is missing. */
static void put_pool(struct rig *r)
{
    struct arena *a = &r->f->arena;
    Board__PoolRecord *p = arena_message(a, &board__pool_record__descriptor);
    char *c1 = arena_strdup(a, "c1"), *c2 = arena_strdup(a, "c2");
    p->epochs = ARENA_ARRAY(a, 2, Board__PoolEpoch *);
    for (p->n_epochs = 0; p->n_epochs < 2; p->n_epochs++) {
        Board__PoolEpoch *e = arena_message(a, &board__pool_epoch__descriptor);
        e->number = (uint32_t)p->n_epochs + 1;
        e->instance_type = arena_strdup(a, p->n_epochs ? "large" : "small");
        e->cells = arena_copy(a, p->n_epochs ? &c2 : &c1, sizeof(c1));
        e->n_cells = 1;
        p->epochs[p->n_epochs] = e;
    }
    p->uid = arena_strdup(a, "u1");
    p->name = arena_strdup(a, "/:main");
    p->system = arena_strdup(a, "shop");
    p->instance_type = arena_strdup(a, "large");
    p->wanted = 2;
    p->state = arena_strdup(a, "updating");
    p->message = arena_strdup(a, "1 of 2 cells of type large");
    p->since = NOW - (int64_t)42 * 1000000000;
    shown_put(&r->feed, key_pool(a, "u1", "/:main"), &p->base);
}

static void node_pools_are_shown(void **state)
{
    struct rig r;
    rig_begin(&r, state);
    put_shop(&r);
    put_pool(&r);
    rig_view(&r);
    struct arena *a = &r.f->arena;
    pools_table(a, &r.view, NULL, false, &r.f->out);
    assert_string_equal(buf_string(&r.f->out),
                        "NAME    TYPE            STATE     CELLS  WANTED  MESSAGE\n"
                        "/:main  small -> large  updating  2      2       "
                        "1 of 2 cells of type large\n");
    assert_non_null(system_view_pool(&r.view, "/:main"));
    assert_null(system_view_pool(&r.view, "/:other"));
    struct tree_form form = {.now_ns = NOW, .top = "/", .width = 110};
    const char *tree = tree_of(&r, &form);
    assert_non_null(strstr(tree, "\n:main"));
    assert_non_null(strstr(tree, "updating 1/2 cells of type large   1 of 2 cells of type "
                                 "large\n"));
    form.top = "/store";
    assert_null(strstr(tree_of(&r, &form), ":main"));
    assert_string_equal(record_text(a, RECORD_POOL, &r.view.pools[0]->base),
                        "updating, 2 of 2 cells, 1 of 2 cells of type large");
    assert_string_equal(record_name(a, RECORD_POOL, &r.view.pools[0]->base), "shop:/:main");
    rig_end(&r);
}

static void a_node_pool_is_explained(void **state)
{
    struct rig r;
    bool well;
    rig_begin(&r, state);
    put_shop(&r);
    put_pool(&r);
    lead(&r);
    rig_view(&r);
    const char *why = why_of(&r, "/:main", &well);
    static const char *const parts[] = {
        "node pool /:main is updating, for 42s: 1 of 2 cells of type large",
        "its cells of type small: c1; they stay until no service is on them",
        "its cells of type large: c2; it is to have 2",
        "it takes cells on which nothing runs and whose rep says --optional-placement-tag",
        "--optional-placement-tag type:large: bbs cells"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!strstr(why, parts[i])) {
            fail_msg("%s\nis not in\n%s", parts[i], why);
        }
    }
    assert_false(well);
    assert_non_null(strstr(why_of(&r, "/:none", &well),
                           "shop has no node pool /:none: bbs pools shop shows all"));
    assert_false(well);
    assert_non_null(strstr(why_of(&r, "/", &well), "node pool /:main is updating, 1 of 2 cells of "
                                                   "type large: bbs why shop:/:main"));
    rig_end(&r);
}

/* Its deadline waits as its pool has too few cells, and counts when it has them. */
static void a_deadline_waits_for_a_node_pool(void **state)
{
    struct rig r;
    bool well;
    rig_begin(&r, state);
    put_shop(&r);
    put_pool(&r);
    struct arena *a = &r.f->arena;
    Board__ServiceRecord *s = shown_service(a, "/store/api", "updating", 4,
                                            (const int[]){4, 2, 3, 0}, "");
    s->pool = arena_strdup(a, "/:main");
    s->progress_at = NOW - 1000000000;
    shown_put(&r.feed, key_service(a, "u1", "/store/api"), &s->base);
    rig_view(&r);
    assert_non_null(strstr(why_of(&r, "/", &well), "without progress it has failed in"));
    ((Board__PoolRecord *)(uintptr_t)system_view_pool(&r.view, "/:main"))->wanted = 3;
    const char *text = why_of(&r, "/", &well);
    assert_null(strstr(text, "without progress it has failed in"));
    assert_non_null(strstr(text, "its deadline waits as long as the node pool does: bbs why "
                                 "shop:/:main"));
    rig_end(&r);
}

static void events_call_records_by_their_names(void **state)
{
    struct fixture *f = *state;
    Board__ServiceRecord *s =
        shown_service(&f->arena, "/store/api", "scaling", 3, (const int[]){3, 3, 2, 0}, "");
    Board__DeployRecord *d = shown_deploy(&f->arena, DEPLOY, "/", "failed", "it was aborted");
    d->completed_at = NOW;
    assert_string_equal(record_name(&f->arena, RECORD_SERVICE, &s->base), "shop:/store/api");
    assert_string_equal(record_text(&f->arena, RECORD_SERVICE, &s->base), "scaling, 2/3 available");
    assert_string_equal(record_name(&f->arena, RECORD_DEPLOY, &d->base), "shop 7f3a0c12");
    assert_string_equal(record_text(&f->arena, RECORD_DEPLOY, &d->base),
                        "of / (version 1.5.0), failed, it was aborted");
    assert_string_equal(record_name(&f->arena, RECORD_SYSTEM, NULL), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_system_is_a_tree),
        TEST(what_is_well_is_left_out_first),
        TEST(two_hundred_services_fit),
        TEST(what_changes_is_told_once),
        TEST(a_snapshot_replaces_what_was_there),
        TEST(ids_may_be_cut),
        TEST(an_id_of_another_system_is_found),
        TEST(a_deploy_says_what_it_waits_for),
        TEST(an_inner_system_that_is_well_says_so),
        TEST(whose_turn_it_is_is_told),
        TEST(a_restore_is_told),
        TEST(a_key_that_is_missing_is_told),
        TEST(a_quiet_system_says_so),
        TEST(explanations_have_a_bound),
        TEST(builds_teardowns_and_runs_are_explained),
        TEST(tables_have_the_columns_of_old),
        TEST(node_pools_are_shown),
        TEST(a_node_pool_is_explained),
        TEST(a_deadline_waits_for_a_node_pool),
        TEST(events_call_records_by_their_names),
    };
    return cmocka_run_group_tests_name("systems", tests, NULL, NULL);
}
