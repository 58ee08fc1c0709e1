/* Programs of the operator's that processes launch (common/contract/launch.h): children of these,
 * that go on when their parent is killed and go with it when it ends in order. What a program is
 * and does is asked of whoever plays it (world.h). */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "test/sim/world/inside.h"

enum { SIGNALLED = 128, KILLED = 9 };

struct launching {
    struct launch launch;
    struct world_program program;
    struct node *from;
    unsigned start; /* of the process that launched it */
};

static bool is_of_this_start(const struct node *n, const struct launching *l)
{
    return n->role && n->starts == l->start;
}

/* Another process does it: whether its parent lives or is paused is nothing to it, but for one that
 * has ended in order. */
static void does(void *world, struct item *item)
{
    const struct launching *l = item->payload;
    (void)world;
    if (l->from->left_at_start != l->start) {
        l->program.does(l->program.context, l->from, &l->launch);
    }
}

static void ends(void *world, struct item *item)
{
    const struct launching *l = item->payload;
    struct node *n = item->owner;
    if (!is_of_this_start(n, l)) {
        return;
    }
    n->launches--;
    world_note(world, n->config.name, "its program ends%s%s", *l->program.line ? ": " : "",
               l->program.line);
    node_step(n, &(struct event){.kind = EVENT_LAUNCHED,
                                 .launched = {.id = l->launch.id,
                                              .status = l->program.status,
                                              .text = l->program.line}});
}

static struct launch copy_launch(struct arena *a, const struct launch *from)
{
    struct launch to = *from;
    const char **words = ARENA_ARRAY(a, from->count, const char *);
    for (size_t i = 0; i < from->count; i++) {
        words[i] = arena_strdup(a, from->words[i]);
    }
    to.words = words;
    return to;
}

/* As the shell tells it, which kills what has not ended in time. */
static void tell_end(struct world_program *p, struct arena *a)
{
    const char *line = p->line ? p->line : "";
    const char *last = *line ? arena_printf(a, ", it said last: %s", line) : "";
    assert(strlen(line) <= LAUNCH_LINE_BYTES);
    if (p->ends_ns >= LAUNCH_TIME_S * SECOND_NS) {
        p->does = p->does_ns < LAUNCH_TIME_S * SECOND_NS ? p->does : NULL;
        p->ends_ns = LAUNCH_TIME_S * SECOND_NS;
        p->status = SIGNALLED + KILLED;
        p->line =
            arena_printf(a, "it did not end within %d s and was killed%s", LAUNCH_TIME_S, last);
    } else if (p->status == 0) {
        p->line = "";
    } else {
        p->line = *line ? arena_strdup(a, line)
                        : arena_printf(a, "it ended with status %d, and said nothing", p->status);
    }
}

static struct world_program program_of(struct node *n, const struct launch *launch, struct arena *a)
{
    struct world *w = n->world;
    struct world_program p = {.status = -1, .line = "too many programs run already"};
    if (n->launches == LAUNCHES_MAX) {
        return p;
    }
    if (!w->programs) {
        p.line = arena_printf(a, "%s cannot be run: No such file or directory", launch->words[0]);
        return p;
    }
    p = w->programs(w->programs_context, n, launch);
    tell_end(&p, a);
    return p;
}

static void push(struct node *n, const struct launching *from, bool end)
{
    struct item *i = item_new(end ? ends : does);
    struct launching *l = ARENA_NEW(&i->arena, struct launching);
    *l = *from;
    l->launch = copy_launch(&i->arena, &from->launch);
    l->program.line = arena_strdup(&i->arena, from->program.line);
    i->payload = l;
    i->owner = end ? n : NULL;
    queue_push(&n->world->queue, i,
               n->world->now_ns + (end ? from->program.ends_ns : from->program.does_ns));
}

void launch_begin(struct node *n, const struct launch *launch)
{
    SCOPED_ARENA(a);
    assert(launch->id && launch->count > 0 && launch->count <= LAUNCH_WORDS_MAX);
    const char *all = launch->words[0];
    for (size_t i = 1; i < launch->count; i++) {
        all = arena_printf(&a, "%s %s", all, launch->words[i]);
    }
    world_note(n->world, n->config.name, "launches %s", all);
    struct launching l = {.launch = *launch, .from = n, .start = n->starts};
    l.program = program_of(n, launch, &a);
    n->launches++;
    if (l.program.does) {
        push(n, &l, false);
    }
    push(n, &l, true);
}

void launches_left(struct node *n)
{
    n->left_at_start = n->starts;
}

void world_serve_programs(struct world *w, world_programs *programs, void *context)
{
    w->programs = programs;
    w->programs_context = context;
}
