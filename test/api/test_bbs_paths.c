/* What is the same for every path of running bbs (behaviour.md 3): other methods, paths that nobody
 * knows, and the time before a bbs is ready. */
#include "common/base/arena.h"
#include "test/api/bbs_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static struct bbs_process *const bbs = bbs_rig.bbs;

struct known_path {
    const char *method, *path;
};

static const struct known_path paths[] = {
#define ROUTE(method_, path_, ...) {.method = method_, .path = path_},
#include "bbs/route/routes.def"
#undef ROUTE
};

enum { PATH_COUNT = sizeof(paths) / sizeof(paths[0]) };

/* The methods of a path, as Allow lists them. */
static const char *methods_of(struct arena *a, const char *path)
{
    const char *list = "";
    for (size_t i = 0; i < PATH_COUNT; i++) {
        if (strcmp(paths[i].path, path) == 0) {
            list = arena_printf(a, "%s%s%s", list, *list ? ", " : "", paths[i].method);
        }
    }
    return list;
}

static void paths_and_methods(void **state)
{
    struct buf head, answer;
    buf_init(&head);
    buf_init(&answer);
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "POST", "/v1/evacuate",
                                (struct bytes){0}, &head, &answer),
                     404);
    assert_string_equal(buf_string(&answer), "404 page not found\n");
    assert_non_null(strcasestr(buf_string(&head), "Content-Type: text/plain; charset=utf-8\r\n"));
    static const char *const methods[] = {"GET", "PUT", "DELETE"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, methods[i], "/v1/domains/list",
                                    (struct bytes){0}, &head, &answer),
                         405);
        assert_string_equal(buf_string(&answer), "Method Not Allowed\n");
        assert_non_null(strcasestr(buf_string(&head), "Allow: POST\r\n"));
    }
    assert_int_equal(bbs_ask_as(&bbs_rig.client, bbs[0].port, "GET", "/v1/board/state",
                                (struct bytes){0}, NULL, &answer),
                     200);
    buf_done(&head);
    buf_done(&answer);
}

static void wrong_methods_and_paths(void **state)
{
    SCOPED_ARENA(a);
    struct buf head, answer;
    buf_init(&head);
    buf_init(&answer);
    for (size_t i = 0; i < PATH_COUNT; i++) {
        assert_int_equal(
            bbs_process_ask(&bbs[0], "PUT", paths[i].path, NULL, (struct bytes){0}, &head, &answer),
            405);
        assert_string_equal(buf_string(&answer), "Method Not Allowed\n");
        const char *allow = arena_printf(&a, "\r\nAllow: %s\r\n", methods_of(&a, paths[i].path));
        assert_non_null(strstr(buf_string(&head), allow));
        assert_non_null(strstr(buf_string(&head), "\r\nContent-Type: text/plain"));
        const char *unknown[] = {arena_printf(&a, "%s/", paths[i].path),
                                 arena_printf(&a, "%s.r9", paths[i].path)};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(bbs_process_ask(&bbs[0], paths[i].method, unknown[k], NULL,
                                             (struct bytes){0}, &head, &answer),
                             404);
            assert_string_equal(buf_string(&answer), "404 page not found\n");
            assert_non_null(
                strstr(buf_string(&head), "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
        }
    }
    buf_done(&head);
    buf_done(&answer);
}

/* Before it is ready: 503 and nothing else for every path, known or not; it is up for health. */
static void not_ready(void **state)
{
    struct etcd_server nowhere = bbs_rig.etcd;
    struct bbs_process b;
    SCOPED_BUF(answer);
    snprintf(nowhere.endpoint, sizeof(nowhere.endpoint), "https://127.0.0.1:1");
    bbs_process_start(&b, bbs_rig.certs.dir, "bbs-waits", &nowhere, &bbs_rig.server,
                      &bbs_rig.client);
    for (size_t i = 0; i < PATH_COUNT + 1; i++) {
        const char *path = i < PATH_COUNT ? paths[i].path : "/nowhere";
        const char *method = i < PATH_COUNT ? paths[i].method : "POST";
        assert_int_equal(bbs_process_ask(&b, method, path, NULL, (struct bytes){0}, NULL, &answer),
                         503);
        assert_int_equal(answer.size, 0);
    }
    struct tls_client c;
    assert_true(client_open(&c, b.health_port, NULL, 0));
    assert_int_equal(client_ask(&c, "PUT", "/whatever", "", 0, &answer), 200);
    assert_int_equal(answer.size, 0);
    client_close(&c);
    bbs_process_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_and_methods),
        cmocka_unit_test(wrong_methods_and_paths),
        cmocka_unit_test(not_ready),
    };
    return BBS_RIG_RUN("bbs_paths", tests);
}
