/* docs/certificates.md tells which certificate may call what. Its tables are what the roles answer
 * to a request of every kind of certificate on every route; `make docs` puts them there, and this
 * test holds them there. */
#include "auctioneer/inside.h"
#include "bbs/inside.h"
#include "bbs/rest/rest.h"
#include "common/contract/caller.h"
#include "common/lifecycle/actor.h"
#include "converger/inside.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"
#include "test/unit/rep/rep_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PAGE[] = "docs/certificates.md";

/* What certificates have as their organisational unit; "etcd" stands for all that are none of ours,
 * "" has none. */
static const char *const units[] = {"client",     "etcd",      "",         "bbs", "rep",
                                    "auctioneer", "converger", "operator", "crm", "site"};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

struct row {
    const char *method, *path;
    bool admin; /* to be had at the listener for the machine's own tools alone */
};

/* Whoever answers the rows of a table. */
struct asked {
    const char *name; /* of the table */
    const struct row *rows;
    size_t row_count;
    struct role *role;
    struct role *role_of_any; /* the same with --any-client; NULL = it has no such option */
    void (*step)(void *role, const struct event *ev, struct effects *out);
    bool grpc;
};

static const struct row bbs_rows[] = {
#define ROUTE(method, path, ...) {method, path, false},
#include "bbs/route/routes.def"
#undef ROUTE
};

static const struct row locket_rows[] = {
    {"POST", "/models.Locket/Lock", false},
    {"POST", "/models.Locket/Release", false},
    {"POST", "/models.Locket/Fetch", false},
    {"POST", "/models.Locket/FetchAll", false},
};

static const struct row rep_rows[] = {
#define ROUTE(method, pattern, callers, body_max, admin_only, handler)                             \
    {method, pattern, admin_only},
#include "rep/http/routes.def"
#undef ROUTE
};

/* ---- Asking ---- */

#define SETTLED_NS (1000 * SECOND_NS)

struct answer {
    bool refused;
    char text[1024];
};

static void copy_text(const struct reply *r, struct answer *ret)
{
    struct bytes body = r->body;
    if (r->grpc_status) {
        body = bytes_of(r->grpc_message);
    }
    snprintf(ret->text, sizeof(ret->text), "%.*s", (int)body.size, (const char *)body.data);
}

static void step(void *target, const struct event *ev, struct effects *out)
{
    role_step(target, ev, out);
}

/* A bbs that has no board answers 503 to whoever asks: its routes are asked themselves. */
static void ask_routes(void *target, const struct event *ev, struct effects *out)
{
    const struct router *r = &((struct bbs *)target)->router;
    bool rest = rest_owns(ev->request.method, ev->request.path);
    (rest ? rest_denies : route_denies)(r, &ev->request, out);
}

/* A refusal is told as 403, or as PERMISSION_DENIED. */
static struct answer ask(const struct asked *t, struct role *role, const struct row *row,
                         const char *unit)
{
    struct drive d;
    struct answer answer = {0};
    size_t replies = 0;
    drive_init(&d, t->step, role);
    d.now.mono_ns += SETTLED_NS; /* whoever is driven has lived before */
    drive_event(&d, (struct event){.kind = EVENT_REQUEST,
                                   .request = {.id = 7,
                                               .method = row->method,
                                               .path = row->path,
                                               .query = "",
                                               .trace_id = "",
                                               .accept = "",
                                               .content_type = "",
                                               .if_none_match = "",
                                               .peer = {.unit = unit, .name = "some/body"},
                                               .admin = row->admin,
                                               .grpc = t->grpc}});
    for (size_t i = 0; i < d.out.count; i++) {
        if (d.out.list[i].kind == EFFECT_REPLY && d.out.list[i].reply.id == 7) {
            const struct reply *r = &d.out.list[i].reply;
            answer.refused = t->grpc ? r->grpc_status == GRPC_PERMISSION_DENIED : r->status == 403;
            copy_text(r, &answer);
            replies++;
        }
    }
    assert_true(replies <= 1); /* none yet: it is being done */
    drive_done(&d);
    return answer;
}

/* ---- The tables ---- */

static const char *mark(struct answer answer)
{
    return answer.refused ? "" : "yes";
}

static void print_row(const struct asked *t, const struct row *row, struct buf *out)
{
    struct answer other = ask(t, t->role, row, "etcd");
    assert_int_equal(ask(t, t->role, row, "").refused, other.refused); /* share a column */
    buf_printf(out, "| `%s%s%s`%s | %s | %s |", t->grpc ? "" : row->method, t->grpc ? "" : " ",
               row->path, row->admin ? " (admin)" : "", mark(ask(t, t->role, row, "client")),
               mark(other));
    if (t->role_of_any) {
        buf_printf(out, " %s |", mark(ask(t, t->role_of_any, row, "etcd")));
        assert_int_equal(ask(t, t->role_of_any, row, "").refused,
                         ask(t, t->role_of_any, row, "client").refused);
    }
    for (size_t u = 3; u < UNITS; u++) {
        struct answer answer = ask(t, t->role, row, units[u]);
        buf_printf(out, " %s |", mark(answer));
        if (t->role_of_any) { /* which is for nobody else */
            assert_int_equal(ask(t, t->role_of_any, row, units[u]).refused, answer.refused);
        }
    }
    buf_append_string(out, "\n");
}

static void print_table(const struct asked *t, struct buf *out)
{
    bool any = t->role_of_any;
    buf_printf(out,
               "| %s | client | another, none |%s bbs | rep | auctioneer | converger "
               "| operator | crm | site |\n",
               t->grpc ? "method" : "route", any ? " the same, `--any-client` |" : "");
    buf_printf(out, "|---|---|---|%s---|---|---|---|---|---|---|\n", any ? "---|" : "");
    for (size_t i = 0; i < t->row_count; i++) {
        print_row(t, &t->rows[i], out);
    }
}

/* The page with the table in its place, between the marks of that name. */
static void replace(struct buf *page, const struct asked *t)
{
    char begin_mark[100];
    struct buf with;
    buf_init(&with);
    snprintf(begin_mark, sizeof(begin_mark), "<!-- table: %s -->\n", t->name);
    const char *text = buf_string(page);
    const char *begin = strstr(text, begin_mark);
    const char *end = begin ? strstr(begin, "<!-- end of table -->") : NULL;
    if (!end) {
        fail_msg("%s has no place for the table \"%s\"", PAGE, t->name);
        return;
    }
    begin += strlen(begin_mark);
    buf_append(&with, text, (size_t)(begin - text));
    print_table(t, &with);
    buf_append_string(&with, end);
    buf_done(page);
    *page = with;
}

static struct row *rows_of(const struct path_table *questions)
{
    struct row *rows = calloc(questions->count, sizeof(*rows));
    assert_non_null(rows);
    for (size_t i = 0; i < questions->count; i++) {
        const struct path_row *row = path_row_at(questions, i);
        rows[i] = (struct row){row->method, row->pattern, false};
    }
    return rows;
}

/* ---- Who is asked ---- */

enum { TABLES = 6 };

struct all {
    struct role *bbs, *bbs_of_any, *auctioneer, *converger;
    struct rep_rig *rep;
    struct row *rest_rows, *auctioneer_rows, *converger_rows;
    struct asked tables[TABLES];
};

static struct role *new_bbs(bool any_client)
{
    return bbs_new(
        &(struct bbs_config){.url = "https://bbs-1", .name = "bbs-1", .any_client = any_client});
}

static void all_init(struct all *a)
{
    *a = (struct all){.bbs = new_bbs(false), .bbs_of_any = new_bbs(true)};
    a->rep = calloc(1, sizeof(*a->rep));
    assert_non_null(a->rep);
    rep_rig_init(a->rep);
    rep_rig_open(a->rep, NULL, 0);
    a->auctioneer = auctioneer_new(&(struct auctioneer_config){.name = "auctioneer-1",
                                                               .boards = "https://a:1",
                                                               .url = "https://me:9016",
                                                               .zones = "",
                                                               .scoring = "default"});
    a->converger = converger_new(&(struct converger_config){
        .name = "converger-1", .boards = "https://a:1", .url = "https://me:9017"});
    a->rest_rows = rows_of(&rest_paths);
    a->auctioneer_rows = rows_of(&auctioneer_questions);
    a->converger_rows = rows_of(&converger_questions);
    const struct asked tables[TABLES] = {
        {"bbs", bbs_rows, sizeof(bbs_rows) / sizeof(bbs_rows[0]), a->bbs, a->bbs_of_any, ask_routes,
         false},
        {"locket", locket_rows, sizeof(locket_rows) / sizeof(locket_rows[0]), a->bbs, a->bbs_of_any,
         step, true},
        {"rep", rep_rows, sizeof(rep_rows) / sizeof(rep_rows[0]), a->rep->role, NULL, step, false},
        {"auctioneer", a->auctioneer_rows, auctioneer_questions.count, a->auctioneer, NULL, step,
         false},
        {"converger", a->converger_rows, converger_questions.count, a->converger, NULL, step,
         false},
        {"rest", a->rest_rows, rest_paths.count, a->bbs, a->bbs_of_any, ask_routes, false},
    };
    memcpy(a->tables, tables, sizeof(tables));
}

static void all_done(struct all *a)
{
    role_free(a->bbs);
    role_free(a->bbs_of_any);
    role_free(a->auctioneer);
    role_free(a->converger);
    rep_rig_done(a->rep);
    free(a->rep);
    free(a->rest_rows);
    free(a->auctioneer_rows);
    free(a->converger_rows);
}

static void print_page(struct buf *out)
{
    struct all a;
    char *page = page_read(PAGE);
    assert_non_null(page);
    buf_append_string(out, page);
    free(page);
    all_init(&a);
    for (size_t i = 0; i < TABLES; i++) {
        replace(out, &a.tables[i]);
    }
    all_done(&a);
}

static void tables_are_what_the_roles_answer(void **state)
{
    SCOPED_BUF(page);
    print_page(&page);
    page_equals(PAGE, buf_string(&page), "make docs");
}

/* ---- What no table shows ---- */

/* Whatever is no GET and is open to strangers stands here, each with why: it changes nothing. */
static void strangers_change_nothing(void **state)
{
    static const char *const reads[] = {
        "/list",       "/get_by_",     "/events",       "/ping",      "/board/cells",
        "/board/feed", "/board/state", "/Fetch",        "/sim/reset", "/units/status",
        "/units/get",  "/units/why",   "/edge/progress"};
    struct all a;
    all_init(&a);
    for (size_t t = 0; t < TABLES; t++) {
        for (size_t i = 0; i < a.tables[t].row_count; i++) {
            const struct row *row = &a.tables[t].rows[i];
            /* Which are for clients alone: values, and what containers wrote. */
            bool value = strstr(row->path, "/secrets/{") || strstr(row->path, "{service}/logs") ||
                         strstr(row->path, "{job}/logs");
            bool read = strcmp(row->method, "GET") == 0 && !value;
            for (size_t w = 0; w < sizeof(reads) / sizeof(reads[0]); w++) {
                read = read || strstr(row->path, reads[w]);
            }
            if (ask(&a.tables[t], a.tables[t].role, row, "etcd").refused != !read) {
                fail_msg("%s %s of the %s: a stranger may%s", row->method, row->path,
                         a.tables[t].name, read ? " not, though it reads" : ", though it writes");
            }
        }
    }
    all_done(&a);
}

/* An organisational unit is one of ours byte for byte, or none of ours. */
static void units_are_compared_whole(void **state)
{
    static const char *const strange[] = {"Client", "CLIENT",   "client ", " client",   "clients",
                                          "clien",  "stranger", "nobody",  "app:client"};
    struct all a;
    all_init(&a);
    const struct row row = {"POST", "/v1/tasks/cancel", false};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        assert_true(ask(&a.tables[0], a.bbs, &row, strange[i]).refused);
        assert_false(ask(&a.tables[0], a.bbs_of_any, &row, strange[i]).refused);
    }
    all_done(&a);
}

static void a_refusal_says_what_to_do(void **state)
{
    static const struct {
        int table;
        struct row row;
        const char *unit, *wanted;
    } rows[] = {
        {0,
         {"POST", "/v1/desired_lrp/remove", false},
         "etcd",
         "/v1/desired_lrp/remove is for OU client; this certificate has OU \"etcd\": use "
         "one with "
         "OU client, or run the bbs with --any-client"},
        {0,
         {"POST", "/v1/desired_lrp/remove", false},
         "",
         "/v1/desired_lrp/remove is for OU client; this certificate has no OU: use one "
         "with OU "
         "client, or run the bbs with --any-client"},
        {0,
         {"POST", "/v1/desired_lrp/remove", false},
         "rep",
         "/v1/desired_lrp/remove is for OU client; this certificate has OU \"rep\""},
        {0,
         {"POST", "/v1/board/apply", false},
         "client",
         "/v1/board/apply is for OU rep or auctioneer or converger; this certificate has "
         "OU "
         "\"client\""},
        {0,
         {"POST", "/v1/board/cells", false},
         "crm",
         "/v1/board/cells is for any OU but crm; this certificate has OU \"crm\""},
        {0,
         {"POST", "/v1/board/limiter", false},
         "a\nb\"\xc3\xa9",
         "/v1/board/limiter is for OU client; this certificate has OU \"a?b???\": use one with OU "
         "client, or run the bbs with --any-client"},
        {2,
         {"PUT", "/v1/lrps/web/instances/a", false},
         "",
         "/v1/lrps/web/instances/a is for OU bbs; this certificate has no OU"},
        {2,
         {"POST", "/evacuate", true},
         "etcd",
         "/evacuate is for OU client; this certificate has OU \"etcd\": use one with OU client"},
        {3,
         {"POST", "/v1/tasks", false},
         "etcd",
         "/v1/tasks is for OU client or bbs; this certificate has OU \"etcd\": use one with OU "
         "client"},
        {4,
         {"POST", "/once", false},
         "rep",
         "/once is for OU client; this certificate has OU \"rep\""},
    };
    struct all a;
    all_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct asked *t = &a.tables[rows[i].table];
        struct answer answer = ask(t, t->role, &rows[i].row, rows[i].unit);
        assert_true(answer.refused);
        const char *at = strstr(answer.text, rows[i].wanted); /* behind the head of a message */
        if (!at || (at[strlen(rows[i].wanted)] && at[strlen(rows[i].wanted)] != '\n')) {
            fail_msg("wanted %s\ngot    %s", rows[i].wanted, answer.text);
        }
    }
    all_done(&a);
}

static void a_refusal_cuts_the_unit(void **state)
{
    char unit[2 * CALLER_UNIT_SHOWN_BYTES + 1], wanted[CALLER_UNIT_SHOWN_BYTES + 3];
    struct all a;
    all_init(&a);
    memset(unit, 'u', sizeof(unit) - 1);
    unit[sizeof(unit) - 1] = '\0';
    snprintf(wanted, sizeof(wanted), "\"%.*s\"", CALLER_UNIT_SHOWN_BYTES, unit);
    const struct row row = {"POST", "/v1/board/limiter", false};
    assert_non_null(strstr(ask(&a.tables[0], a.bbs, &row, unit).text, wanted));
    all_done(&a);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(page);
        print_page(&page);
        fputs(buf_string(&page), stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_what_the_roles_answer),
        cmocka_unit_test(strangers_change_nothing),
        cmocka_unit_test(units_are_compared_whole),
        cmocka_unit_test(a_refusal_says_what_to_do),
        cmocka_unit_test(a_refusal_cuts_the_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
