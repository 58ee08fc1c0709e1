/* The keys of app files and task files: each of the API has its row, what no cell can do is refused
 * with the reason, and docs/app-file.md and a part of README.md are what the rows print (make
 * docs). */
#include "common/appfile/app.h"
#include "common/appfile/app_keys.h"
#include "common/appfile/task_app.h"
#include "common/codec/json_shape.h"
#include "models/cached_dependency.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/image_layer.pb-c.h"
#include "models/task.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

static const struct place {
    enum app_key_place place;
    const ProtobufCMessageDescriptor *message;
} places[] = {
    {KEY_APP, &models__desired_lrp__descriptor},
    {KEY_TASK, &models__task_definition__descriptor},
    {KEY_ACTION, &models__action__descriptor},
    {KEY_RUN, &models__run_action__descriptor},
    {KEY_LIMITS, &models__resource_limits__descriptor},
    {KEY_GROUP, &models__serial_action__descriptor},
    {KEY_GROUP, &models__parallel_action__descriptor},
    {KEY_GROUP, &models__codependent_action__descriptor},
    {KEY_TRY, &models__try_action__descriptor},
    {KEY_TIMEOUT, &models__timeout_action__descriptor},
    {KEY_PROGRESS, &models__emit_progress_action__descriptor},
    {KEY_SIDECAR, &models__sidecar__descriptor},
    {KEY_CHECKS, &models__check_definition__descriptor},
    {KEY_CHECK, &models__check__descriptor},
    {KEY_HTTP_CHECK, &models__httpcheck__descriptor},
    {KEY_TCP_CHECK, &models__tcpcheck__descriptor},
    {KEY_DOWNLOAD, &models__download_action__descriptor},
    {KEY_UPLOAD, &models__upload_action__descriptor},
    {KEY_DEPENDENCY, &models__cached_dependency__descriptor},
    {KEY_LAYER, &models__image_layer__descriptor},
};

enum { PLACE_COUNT = sizeof(places) / sizeof(places[0]) };

static size_t rows_of(const char *name, enum app_key_place place)
{
    size_t count, found = 0;
    const struct app_key *keys = app_keys(&count);
    for (size_t i = 0; i < count; i++) {
        found += (keys[i].places & place) && strcmp(keys[i].name, name) == 0;
    }
    return found;
}

static const struct json_field *field_of(struct fixture *f, const struct place *p, const char *key)
{
    struct json_shapes shapes = {.arena = &f->arena};
    const struct json_shape *shape = json_shape_of(&shapes, p->message);
    for (unsigned i = 0; i < shape->descriptor->n_fields; i++) {
        if (strcmp(shape->fields[i].key, key) == 0) {
            return &shape->fields[i];
        }
    }
    return NULL;
}

/* A field that is new in the API, or a new kind of action, must be decided upon. */
static void each_key_of_the_api_has_one_row(void **state)
{
    struct fixture *f = *state;
    struct json_shapes shapes = {.arena = &f->arena};
    for (size_t p = 0; p < PLACE_COUNT; p++) {
        const struct json_shape *shape = json_shape_of(&shapes, places[p].message);
        for (unsigned i = 0; i < shape->descriptor->n_fields; i++) {
            const struct json_field *field = &shape->fields[i];
            size_t found = rows_of(field->key, places[p].place);
            if (!json_field_is_own(field) && found != 1) {
                fail_msg("%s of %s has %zu rows in app_keys.def", field->key,
                         places[p].message->name, found);
            }
        }
    }
}

static void each_row_can_be_shown(void **state)
{
    struct fixture *f = *state;
    size_t count;
    const struct app_key *keys = app_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct app_key *k = &keys[i];
        bool works = !k->refused && !k->made;
        if (works && !(*k->value && *k->meaning && k->otherwise)) {
            fail_msg("%s does not say what it takes and does", k->name);
        }
        if (!works && !*(k->refused ? k->refused : k->made)) {
            fail_msg("%s does not say why it is refused", k->name);
        }
        for (size_t p = 0; p < PLACE_COUNT; p++) {
            if ((k->places & places[p].place) && *k->member &&
                !field_of(f, &places[p], k->member)) {
                fail_msg("%s of %s becomes \"%s\", which it does not have", k->name,
                         places[p].message->name, k->member);
            }
        }
    }
}

/* ---- What is refused ---- */

/* A file of the place with this as its last line, the fourth; `value` is of the key. */
static int parse_with(struct fixture *f, enum app_key_place place, const char *key,
                      const char *value)
{
    struct arena *a = &f->arena;
    static const struct {
        const char *before, *after;
    } around[] = {
        [KEY_APP] = {"command: x\n", ""},
        [KEY_TASK] = {"command: x\n", ""},
        [KEY_ACTION] = {"action:\n  ", ""},
        [KEY_RUN] = {"action:\n  run: {path: x, user: u, ", "}"},
        [KEY_LIMITS] = {"action:\n  run: {path: x, user: u, resource_limits: {", "}}"},
        [KEY_GROUP] = {"action:\n  serial: {actions: [{run: {path: x, user: u}}], ", "}"},
        [KEY_TRY] = {"action:\n  try: {action: {run: {path: x, user: u}}, ", "}"},
        [KEY_TIMEOUT] = {"action:\n  timeout: {timeout_ms: 1, action: {run: {path: x, user: u}}, ",
                         "}"},
        [KEY_PROGRESS] = {"action:\n  emit_progress: {action: {run: {path: x, user: u}}, ", "}"},
        [KEY_SIDECAR] = {"command: x\nsidecars: [{", "}]"},
    };
    const char *text = arena_printf(a, "name: a\nrootfs: preloaded:b\n%s%s: %s%s\n",
                                    around[place].before, key, value, around[place].after);
    struct app *apps;
    struct task_app task;
    size_t count;
    return place == KEY_TASK
               ? task_app_parse(a, "f", bytes_of(text), &task, &f->err)
               : appfile_parse(a, "f", bytes_of(text), &apps, &count, &f->err);
}

static void what_no_cell_can_do_is_refused_with_the_reason(void **state)
{
    struct fixture *f = *state;
    size_t count, refused = 0;
    const struct app_key *keys = app_keys(&count);
    static const char *const inside[] = {
        [KEY_ACTION] = "action.", [KEY_RUN] = "action.run.",
        [KEY_LIMITS] = "action.run.resource_limits.", [KEY_TIMEOUT] = "action.timeout.",
        [KEY_SIDECAR] = "sidecars[0]."};
    for (size_t i = 0; i < count; i++) {
        for (size_t p = 0; keys[i].refused && p < PLACE_COUNT; p++) {
            enum app_key_place place = places[p].place;
            if (!(keys[i].places & place)) {
                continue;
            }
            bool deep = place < sizeof(inside) / sizeof(inside[0]) && inside[place];
            const char *path = deep ? inside[place] : "";
            refused++;
            assert_int_equal(parse_with(f, place, keys[i].name, "{x: y}"), -ERR_INVALID);
            assert_string_equal(f->err.text,
                                arena_printf(&f->arena, "f:4: %s%s: no cell can do it yet: %s",
                                             path, keys[i].name, keys[i].refused));
            if (place == KEY_APP || place == KEY_TASK) {
                static const char *const nothings[] = {"null", "''", "[]", "0", "false"};
                for (size_t n = 0; n < sizeof(nothings) / sizeof(nothings[0]); n++) {
                    if (parse_with(f, place, keys[i].name, nothings[n]) < 0) {
                        fail_msg("%s: %s: %s", keys[i].name, nothings[n], f->err.text);
                    }
                }
            }
        }
    }
    assert_true(refused > 0);
}

static void bounds_hold(void **state)
{
    struct fixture *f = *state;
    size_t count, bounded = 0;
    const struct app_key *keys = app_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct app_key *k = &keys[i];
        enum app_key_place place = k->places & KEY_APP ? KEY_APP : KEY_TASK;
        if (k->least == 0 && k->most == 0) {
            continue;
        }
        bool size = strcmp(k->name, "memory") == 0 || strcmp(k->name, "disk") == 0;
        const struct {
            int64_t value;
            bool good;
        } rows[] = {{0, true},        {k->least, true},    {k->most, true},
                    {-1, false},      {k->most + 1, false}, {k->least - 1, k->least == 1}};
        for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
            const char *value =
                arena_printf(&f->arena, size ? "%lldM" : "%lld", (long long)rows[n].value);
            int r = parse_with(f, place, k->name, value);
            if ((r == 0) != rows[n].good) {
                fail_msg("%s: %s: %s", k->name, value, r ? f->err.text : "passed");
            }
            bounded++;
        }
    }
    assert_true(bounded > 0);
}

/* ---- The page ---- */

static void print_bounds(const struct app_key *k, struct buf *out)
{
    if (k->most == INT32_MAX) {
        buf_append_string(out, "; 0 = no limit");
    }
    if (k->least > 0) {
        buf_printf(out, ", else at least %lld", (long long)k->least);
    }
    if (k->most > 0 && k->most < INT32_MAX) {
        buf_printf(out, " from 0 to %lld", (long long)k->most);
    }
}

static const char *files_of(const struct app_key *k)
{
    return (k->places & KEY_BOTH) == KEY_BOTH ? "both" : k->places & KEY_APP ? "app" : "task";
}

static void print_keys(unsigned place, bool files, struct buf *out)
{
    size_t count;
    const struct app_key *keys = app_keys(&count);
    buf_printf(out, "\n| key |%s value | left out | what it does |\n|---|%s---|---|---|\n",
               files ? " in |" : "", files ? "---|" : "");
    for (size_t i = 0; i < count; i++) {
        const struct app_key *k = &keys[i];
        if (!(k->places & place) || k->refused || k->made) {
            continue;
        }
        buf_printf(out, "| `%s` |", k->name);
        if (files) {
            buf_printf(out, " %s |", files_of(k));
        }
        buf_printf(out, " %s", k->value);
        print_bounds(k, out);
        buf_printf(out, " | %s | %s |\n", k->otherwise, k->meaning);
    }
}

static void print_refused(struct buf *out)
{
    size_t count;
    const struct app_key *keys = app_keys(&count);
    buf_append_string(out, "\n| key | in | why |\n|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        const struct app_key *k = &keys[i];
        if (k->refused || k->made) {
            const char *where = k->places & KEY_BOTH     ? files_of(k)
                                : k->places & KEY_ACTION ? "`action`"
                                : k->places & KEY_RUN    ? "`run`"
                                : k->places & KEY_LIMITS  ? "`resource_limits`"
                                : k->places & KEY_TIMEOUT ? "`timeout`"
                                                          : "a sidecar";
            buf_printf(out, "| `%s` | %s | %s |\n", k->name, where,
                       k->refused ? k->refused : k->made);
        }
    }
}

/* The maps within a definition, in the order of the page. */
static const struct map_of_page {
    const char *heading;
    enum app_key_place place;
} maps[] = {
    {"\n`run`:\n", KEY_RUN},
    {"\n`resource_limits`:\n", KEY_LIMITS},
    {"\n`download`:\n", KEY_DOWNLOAD},
    {"\n`upload`:\n", KEY_UPLOAD},
    {"\n`serial`, `parallel`, `codependent`:\n", KEY_GROUP},
    {"\n`try`:\n", KEY_TRY},
    {"\n`timeout`:\n", KEY_TIMEOUT},
    {"\n`emit_progress`:\n", KEY_PROGRESS},
    {"\nOne of `sidecars`:\n", KEY_SIDECAR},
    {"\n## `check_definition`\n\n"
     "How a cell looks at the health of an instance is told in [cell.md](cell.md), Health.\n",
     KEY_CHECKS},
    {"\nOne of `checks` or `readiness_checks`:\n", KEY_CHECK},
    {"\n`http_check`:\n", KEY_HTTP_CHECK},
    {"\n`tcp_check`:\n", KEY_TCP_CHECK},
    {"\nOne of `cached_dependencies`:\n", KEY_DEPENDENCY},
    {"\nOne of `image_layers`:\n", KEY_LAYER},
};

static void print_maps(struct buf *out)
{
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        buf_append_string(out, maps[i].heading);
        print_keys(maps[i].place, false, out);
    }
}

static void print_page(struct buf *out)
{
    buf_append_string(
        out,
        "# App files and task files\n"
        "\n"
        "`bbs apply` takes app files and `bbs run` takes a task file, in YAML, or in JSON when the\n"
        "name ends in `.json`; `-` is standard input. An app file holds one app, several YAML\n"
        "documents, or a list under `apps:` (beside it, `domain:` is for all of them). A task file\n"
        "holds one task. An unknown key is refused, with its line and the key that is probably meant.\n"
        "\n"
        "This page is printed from `common/appfile/app_keys.def`; `make docs` writes it.\n"
        "\n"
        "## Keys\n");
    print_keys(KEY_BOTH, true, out);
    buf_printf(
        out,
        "\nA size is digits, a point and digits if need be, and its unit, which 0 does not need: "
        "`64M`,\n`1.5G`, `512MiB`. K, M, G and T are 1024 times the one before, with or "
        "without `B` or `iB`;\nwhat is left of a MB counts as a whole one. Of one thing only "
        "one key may be said: `memory` or\n`memory_mb`. A key without a value (`instances:`, "
        "or `null`) is as if it were left out.\n");
    buf_printf(
        out,
        "\nA file has at most %d MiB, %d values (an alias of YAML counts each time), %d "
        "anchors,\n%d levels of nesting, %d documents and %d apps; what is more is divided into "
        "several files,\nwhich one `bbs apply` takes.\n",
        APPFILE_MAX_BYTES >> 20, NODES_MAX, NODE_ANCHORS_MAX, NODE_DEPTH_MAX,
        NODE_DOCUMENTS_MAX - 1, APPS_MAX);
    buf_append_string(
        out,
        "\nWhile an app runs, these change in place: `instances`, `routes`, `annotation`,\n"
        "`metric_tags`, `on_cell_loss` and `on_evacuate`. With any other change it is replaced: "
        "new\ninstances are started beside the old ones, which go when all the new ones run.\n"
        "\n## `action`\n\nIt says what `command`, `user` and `dir` say, with the words of the "
        "API, and more: a\ncontainer may run several programs, one after the other or at the same "
        "time. `setup`,\n`monitor` and each of `sidecars` are such actions, too. What becomes of "
        "them is told in\n[design.md](design.md) 7. A definition has at most 1000 steps, each key "
        "here being one, and 100\nprograms that may run at the same time.\n");
    print_keys(KEY_ACTION, false, out);
    print_maps(out);
    buf_append_string(
        out,
        "\n## What is refused\n"
        "\n"
        "No cell of this version can do these, so `bbs apply` and `bbs run` refuse them, with their\n"
        "line and the reason; a value that asks for nothing (`null`, `false`, 0, an empty text or\n"
        "list) is taken. The API itself takes them all, as Diego's does: there an instance with a\n"
        "volume driver, or a root filesystem, that no cell has is placed nowhere; what else\n"
        "stands here does nothing.\n");
    print_refused(out);
}

static const char keys_begin[] = "<!-- keys -->\n", keys_end[] = "<!-- end of keys -->\n";

/* README.md with the keys as the rows print them; as it is where it does not say where they stand.
 */
static void print_readme(struct buf *out)
{
    char *readme = page_read("README.md");
    assert_non_null(readme);
    char *from = strstr(readme, keys_begin), *to = strstr(readme, keys_end);
    assert_true(from && to && from < to);
    buf_append(out, readme, (size_t)(from - readme) + strlen(keys_begin));
    print_keys(KEY_BOTH, true, out);
    buf_append(out, to, strlen(to));
    free(readme);
}

static void the_readme_has_all_keys(void **state)
{
    SCOPED_BUF(readme);
    print_readme(&readme);
    page_equals("README.md", buf_string(&readme), "make docs");
}

static void the_page_is_what_the_rows_print(void **state)
{
    SCOPED_BUF(page);
    print_page(&page);
    page_equals("docs/app-file.md", buf_string(&page), "make docs");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(int argc, char **argv)
{
    bool readme = argc == 2 && strcmp(argv[1], "print-readme") == 0;
    if (readme || (argc == 2 && strcmp(argv[1], "print") == 0)) {
        SCOPED_BUF(page);
        (readme ? print_readme : print_page)(&page);
        fputs(buf_string(&page), stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        TEST(each_key_of_the_api_has_one_row),
        TEST(each_row_can_be_shown),
        TEST(what_no_cell_can_do_is_refused_with_the_reason),
        TEST(bounds_hold),
        TEST(the_page_is_what_the_rows_print),
        TEST(the_readme_has_all_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
