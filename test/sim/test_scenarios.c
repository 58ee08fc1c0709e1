/* Tells the stories of test/sim/stories on virtual time: twice with the seed of its row, compared
 * by the trace with each other and with test/sim/expected/NAME.trace, and then with many seeds and
 * uneven delays. The run never writes there; when a story changed on purpose, `test_scenarios
 * --print NAME` prints the new trace, to be read before it is kept. */
#include "test/sim/stories/story.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

/* Sanitizers take five times as long, so test/run tells the fifty without them. */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 5 };
#else
enum { SEEDS = 50 };
#endif

enum { STORIES_MAX = 256 };

/* One story as it is being told. */
struct telling {
    const struct story *story;
    uint64_t first_seed, last_seed; /* of the many; 0 = those of the row */
    struct cluster *cluster;        /* NULL between the tellings */
    uint64_t seed;
    size_t ready_at; /* size of the trace when the story began */
};

static void begin(struct telling *t, uint64_t seed, bool graded, const struct world_options *delays)
{
    struct cluster_options options = t->story->cluster;
    options.graded = graded;
    options.world = *delays;
    options.world.seed = seed;
    t->seed = seed;
    t->cluster = cluster_new(&options);
    if (!world_run_until(t->cluster->world, SETTLE_NS, cluster_ready, t->cluster)) {
        fail_msg("the cluster is not ready after 10 s");
    }
    world_run(t->cluster->world, 100 * MILLISECOND_NS); /* the auctioneer hears of the last cell */
    t->ready_at = strlen(world_trace(t->cluster->world));
}

/* Gives the trace, which the caller frees. */
static char *end(struct telling *t)
{
    char *trace = strdup(world_trace(t->cluster->world));
    cluster_free(t->cluster);
    t->cluster = NULL;
    return trace;
}

/* After a story that failed. */
static int show_unfinished(void **state)
{
    struct telling *t = *state;
    if (t->cluster) {
        fprintf(stderr, "%s, seed %llu, so far:\n%s", t->story->name, (unsigned long long)t->seed,
                world_trace(t->cluster->world));
        free(end(t));
    }
    return 0;
}

static char *tell(struct telling *t)
{
    begin(t, t->story->seed, !t->story->alike, &t->story->cluster.world);
    t->story->tell(t->cluster);
    return end(t);
}

static bool left_out(const struct story *s, const char *line)
{
    for (size_t i = 0; s->without[i]; i++) {
        if (strstr(line, s->without[i])) {
            return true;
        }
    }
    return false;
}

/* The part of the trace that is kept; consumes the whole, each line of which ends. */
static char *kept(const struct telling *t, char *trace)
{
    char *text = calloc(1, strlen(trace) + 1), *to = text;
    char *line = trace + (t->story->from_start ? 0 : t->ready_at + 1);
    for (char *next; *line; line = next) {
        next = line + strcspn(line, "\n") + 1;
        next[-1] = '\0';
        to = left_out(t->story, line) ? to : stpcpy(stpcpy(to, line), "\n");
    }
    free(trace);
    return text;
}

static void tells_the_expected_trace_twice(void **state)
{
    struct telling *t = *state;
    char path[200], command[200];
    snprintf(path, sizeof(path), "test/sim/expected/%s.trace", t->story->name);
    snprintf(command, sizeof(command), "test_scenarios --print %s", t->story->name);
    char *first = tell(t), *again = tell(t);
    assert_string_equal(first, again);
    first = kept(t, first);
    page_equals(path, first, command);
    free(first);
    free(again);
}

/* The stories' own assertions hold whatever the seed and the delays. */
static void holds_for_many_seeds(void **state)
{
    struct telling *t = *state;
    unsigned seeds = t->story->seeds ? t->story->seeds : SEEDS;
    uint64_t first = t->first_seed ? t->first_seed : 1000;
    uint64_t last = t->last_seed ? t->last_seed : first + seeds - 1;
    for (uint64_t seed = first; seed <= last; seed++) {
        begin(t, seed, false,
              &(struct world_options){.network = {50 * MICROSECOND_NS, 3 * MILLISECOND_NS},
                                      .store = {100 * MICROSECOND_NS, 5 * MILLISECOND_NS},
                                      .watch_lag = {100 * MICROSECOND_NS, 20 * MILLISECOND_NS}});
        t->story->tell(t->cluster);
        free(end(t));
    }
}

static int print_story(const char *name)
{
    for (const struct story *s = stories; s->name; s++) {
        if (strcmp(s->name, name) == 0) {
            struct telling t = {.story = s};
            char *trace = kept(&t, tell(&t));
            fputs(trace, stdout);
            free(trace);
            return 0;
        }
    }
    fprintf(stderr, "no story %s\n", name);
    return 2;
}

static int list_stories(void)
{
    for (const struct story *s = stories; s->name; s++) {
        puts(s->name);
    }
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: test_scenarios [--list | --print STORY | --seeds A-B [STORY]]\n");
    return 2;
}

int main(int argc, char **argv)
{
    unsigned long long from = 0, to = 0;
    bool seeds = argc >= 3 && strcmp(argv[1], "--seeds") == 0;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        return list_stories();
    }
    if (argc == 3 && strcmp(argv[1], "--print") == 0) {
        return print_story(argv[2]);
    }
    if (seeds ? argc > 4 || sscanf(argv[2], "%llu-%llu", &from, &to) != 2 || !from || from > to
              : argc != 1) {
        return usage();
    }
    static struct telling tellings[STORIES_MAX];
    static struct CMUnitTest tests[2 * STORIES_MAX];
    static char names[STORIES_MAX][80];
    size_t count = 0;
    for (size_t i = 0; stories[i].name; i++) {
        assert_true(i < STORIES_MAX);
        if (argc == 4 && strcmp(argv[3], stories[i].name) != 0) {
            continue;
        }
        tellings[i] = (struct telling){&stories[i], .first_seed = from, .last_seed = to};
        snprintf(names[i], sizeof(names[0]), "%s_for_many_seeds", stories[i].name);
        tests[count++] = (struct CMUnitTest){.name = stories[i].name,
                                             .test_func = tells_the_expected_trace_twice,
                                             .teardown_func = show_unfinished,
                                             .initial_state = &tellings[i]};
        tests[count++] = (struct CMUnitTest){.name = names[i],
                                             .test_func = holds_for_many_seeds,
                                             .teardown_func = show_unfinished,
                                             .initial_state = &tellings[i]};
    }
    return _cmocka_run_group_tests("scenarios", tests, count, NULL, NULL);
}
