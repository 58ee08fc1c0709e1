/* docs/tour.md tells how one instance comes to run, and how a system is deployed, docs/units.md how
 * a unit comes and goes: the traces in them are those that the simulator prints now (`make docs`
 * puts them there), and all files and functions that they name exist. */
#include "common/base/bytes.h"
#include "test/sim/stories/story.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

static const struct told_page {
    const char *name;
    unsigned stories, links; /* links: at least */
} pages[] = {{"docs/tour.md", 2, 40}, {"docs/units.md", 1, 10}};
enum { PAGES = sizeof(pages) / sizeof(pages[0]) };

static const char BEGIN[] = "<!-- story: ";
static const char BEHIND[] = " -->\n```\n"; /* the name */
static const char END[] = "```\n<!-- end of story -->";

/* Behind the first words of the story, which stand further to the left than what happens: what
 * comes before them is of no interest here. */
static const char *behind_words(const char *trace)
{
    const char *words = strstr(trace, "\n    ");
    while (words && words[5] == ' ') {
        words = strstr(words + 1, "\n    ");
    }
    return words ? strstr(words, "\n\n") : NULL;
}

static void tell(const char *name, struct buf *out)
{
    const struct story *s = stories;
    while (s->name && strcmp(s->name, name) != 0) {
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
    const char *text = behind_words(world_trace(c->world) + from);
    assert_non_null(text);
    buf_append_string(out, text + 2);
    cluster_free(c);
}

/* The page with the traces of today in their places. */
static void print_page(const struct told_page *p, struct buf *out)
{
    char *page = page_read(p->name), *rest = page;
    unsigned stories_told = 0;
    assert_non_null(page);
    for (char *begin; (begin = strstr(rest, BEGIN)); stories_told++) {
        char name[80], *behind = strstr(begin, BEHIND), *end = strstr(begin, END);
        if (!behind || !end || end < behind) {
            fail_msg("%s has no place for the trace", p->name);
        }
        begin += strlen(BEGIN);
        snprintf(name, sizeof(name), "%.*s", (int)(behind - begin), begin);
        behind += strlen(BEHIND);
        buf_append(out, rest, (size_t)(behind - rest));
        tell(name, out);
        rest = end;
    }
    assert_int_equal(stories_told, p->stories);
    buf_append_string(out, rest);
    free(page);
}

static void traces_are_what_the_simulator_prints(void **state)
{
    const struct told_page *p = *state;
    SCOPED_BUF(page);
    print_page(p, &page);
    page_equals(p->name, buf_string(&page), "make docs");
}

/* A link is [text](../path); a text `name()` names a function of that file. */
static void check_link(const char *page, const char *text, int text_size, const char *path)
{
    char *file = page_read(path);
    if (!file) {
        fail_msg("%s names %s, which is not there", page, path);
    }
    char name[100];
    if (text_size > 4 && strncmp(text + text_size - 3, "()`", 3) == 0) {
        snprintf(name, sizeof(name), "%.*s(", text_size - 4, text + 1);
        if (!strstr(file, name)) {
            fail_msg("%s names %s), which is not in %s", page, name, path);
        }
    }
    free(file);
}

static void what_it_names_exists(void **state)
{
    const struct told_page *p = *state;
    char *page = page_read(p->name);
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
        check_link(p->name, open + 1, (int)(at - open - 1), path);
        links++;
    }
    assert_true(links > p->links);
    free(page);
}

/* print PAGE: as it is to be. */
int main(int argc, char **argv)
{
    struct CMUnitTest tests[2 * PAGES];
    for (size_t i = 0; i < PAGES; i++) {
        void *page = (void *)(uintptr_t)&pages[i];
        if (argc == 3 && strcmp(argv[1], "print") == 0 && strcmp(argv[2], pages[i].name) == 0) {
            SCOPED_BUF(text);
            print_page(&pages[i], &text);
            fputs(buf_string(&text), stdout);
            return 0;
        }
        tests[2 * i] = (struct CMUnitTest)cmocka_unit_test_prestate(
            traces_are_what_the_simulator_prints, page);
        tests[2 * i + 1] = (struct CMUnitTest)cmocka_unit_test_prestate(what_it_names_exists, page);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
