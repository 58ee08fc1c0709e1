/* docs/tour.md tells how one instance comes to run: the trace in it is the one that the simulator
 * prints now (`make docs` puts it there), and all files and functions that it names exist. */
#include "common/base/bytes.h"
#include "test/sim/stories/story.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

static const char PAGE[] = "docs/tour.md";
static const char BEGIN[] = "<!-- story: desire_to_running -->\n```\n";
static const char END[] = "```\n<!-- end of story -->";

static void tell(struct buf *out)
{
    const struct story *s = stories;
    while (s->name && strcmp(s->name, "desire_to_running") != 0) {
        s++;
    }
    assert_non_null(s->name);
    struct cluster_options options = s->cluster;
    options.world.seed = s->seed;
    options.graded = !s->alike; /* as the story's own trace */
    struct cluster *c = cluster_new(&options);
    assert_true(world_run_until(c->world, SETTLE_NS, cluster_ready, c));
    size_t from = strlen(world_trace(c->world));
    s->tell(c);
    const char *text = world_trace(c->world) + from;
    text = strstr(text + 1, "\n\n"); /* behind its head */
    assert_non_null(text);
    buf_append_string(out, text + 2);
    cluster_free(c);
}

/* The page with the trace of today in its place. */
static void print_page(struct buf *out)
{
    char *page = page_read(PAGE);
    assert_non_null(page);
    char *begin = strstr(page, BEGIN), *end = strstr(page, END);
    if (!begin || !end || end < begin) {
        fail_msg("%s has no place for the trace", PAGE);
    }
    begin += strlen(BEGIN);
    buf_append(out, page, (size_t)(begin - page));
    tell(out);
    buf_append_string(out, end);
    free(page);
}

static void trace_is_what_the_simulator_prints(void **state)
{
    SCOPED_BUF(page);
    print_page(&page);
    page_equals(PAGE, buf_string(&page), "make docs");
}

/* A link is [text](../path); a text `name()` names a function of that file. */
static void check_link(const char *text, int text_size, const char *path)
{
    char *file = page_read(path);
    if (!file) {
        fail_msg("%s names %s, which is not there", PAGE, path);
    }
    char name[100];
    if (text_size > 4 && strncmp(text + text_size - 3, "()`", 3) == 0) {
        snprintf(name, sizeof(name), "%.*s(", text_size - 4, text + 1);
        if (!strstr(file, name)) {
            fail_msg("%s names %s), which is not in %s", PAGE, name, path);
        }
    }
    free(file);
}

static void what_it_names_exists(void **state)
{
    char *page = page_read(PAGE);
    assert_non_null(page);
    unsigned links = 0;
    for (const char *at = strstr(page, "]("); at; at = strstr(at + 2, "](")) {
        const char *open = at;
        while (open > page && *open != '[') {
            open--;
        }
        char target[200], path[220];
        snprintf(target, sizeof(target), "%.*s", (int)strcspn(at + 2, ")"), at + 2);
        snprintf(path, sizeof(path), "%s%s", strncmp(target, "../", 3) == 0 ? "" : "docs/",
                 strncmp(target, "../", 3) == 0 ? target + 3 : target);
        check_link(open + 1, (int)(at - open - 1), path);
        links++;
    }
    assert_true(links > 40);
    free(page);
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
        cmocka_unit_test(trace_is_what_the_simulator_prints),
        cmocka_unit_test(what_it_names_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
