/* chaos nemesis: makes what the schedule draws, one attack after the other. */
#include "test/chaos/chaos.h"
#include "test/chaos/nemesis/attack_io.h"
#include "test/chaos/nemesis/history_io.h"
#include "test/chaos/nemesis/options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HEALTHY_LIMIT_MS = 180000, /* so long a healed cluster may take, far beyond each bound */
    LOOK_EVERY_MS = 250,
    LOOK_LIMIT_MS = 5000, /* at the containers of a cell */
};

struct nemesis {
    struct nemesis_options options;
    struct nemesis_target target;
    struct schedule schedule;
    FILE *history;
    int number; /* of the last attack */
    int not_there;
    int unhealed;
};

static volatile int stopped; /* by a signal */

static void on_signal(int number)
{
    stopped = number;
}

static void rest_until(int64_t ns)
{
    for (int64_t now = nanoseconds_now(); !stopped && now < ns; now = nanoseconds_now()) {
        int64_t step = ns - now < 100000000 ? ns - now : 100000000;
        nanosleep(&(struct timespec){0, step}, NULL);
    }
}

/* ---- After a fault ---- */

static bool await_health(struct nemesis *n)
{
    struct command_result result;
    int64_t begun = nanoseconds_now(), limit = begun + (int64_t)HEALTHY_LIMIT_MS * 1000000;
    while (!stopped) {
        if (command_run(nemesis_target_command(&n->target, "healthy"), "", 0, 0, COMMAND_LIMIT_MS,
                        &result)) {
            history_healthy(n->history, n->number, nanoseconds_now());
            printf("         healthy %.1f s after the heal\n",
                   (double)(nanoseconds_now() - begun) / 1e9);
            return true;
        }
        if (nanoseconds_now() > limit) {
            printf("the cluster is not healthy %d s after the heal: %s\n", HEALTHY_LIMIT_MS / 1000,
                   result.said);
            return false;
        }
        rest_until(nanoseconds_now() + (int64_t)LOOK_EVERY_MS * 1000000);
    }
    return true;
}

/* The next fault may not come before: the bound is over, and windows that started anew are. */
static int64_t quiet_until(const struct attack *a)
{
    const struct recovery_row *r = &recovery_rows[a->fault.kind->recovery];
    int64_t settle = r->settle_ms;
    if (settle < recovery_rows[LEADERSHIP].settle_ms && fault_befalls_leaders(&a->fault)) {
        settle = recovery_rows[LEADERSHIP].settle_ms;
    }
    int64_t bound = (r->from_end ? a->end_ns : a->begin_ns) + r->bound_ms * 1000000;
    int64_t settled = a->end_ns + settle * 1000000;
    return bound > settled ? bound : settled;
}

/* ---- A fault, or two at once ---- */

static void tell(struct nemesis *n, const struct attack *a)
{
    char words[256];
    attack_words(a, words, sizeof(words));
    printf("%7d  %-40s %s: %s\n", n->number, words, a->there_ns ? "there" : "NOT THERE", a->probe);
    fflush(stdout);
}

static void finish(struct nemesis *n, struct attack *a)
{
    struct command_result result;
    if (!attack_end(&n->target, a)) {
        n->unhealed++;
        printf("         not healed: %s\n", a->probe);
    }
    /* A process that the fault ended by chance is started, as a supervisor would do it. */
    const char *revive = nemesis_target_command(&n->target, "revive");
    if (revive) {
        command_run(revive, "", 0, 0, COMMAND_LIMIT_MS, &result);
    }
    history_fault(n->history, n->number, a);
}

static int by_end(const struct attack *a, const struct attack *b)
{
    int64_t x = a->begin_ns + a->fault.hold_ms * 1000000;
    int64_t y = b->begin_ns + b->fault.hold_ms * 1000000;
    return x < y ? -1 : x > y;
}

static void hold_and_finish(struct nemesis *n, struct attack *attacks, int count)
{
    if (count == 2 && by_end(&attacks[1], &attacks[0]) < 0) {
        struct attack first = attacks[1];
        attacks[1] = attacks[0];
        attacks[0] = first;
    }
    for (int i = 0; i < count; i++) {
        if (attacks[i].there_ns) {
            rest_until(attacks[i].there_ns + attacks[i].fault.hold_ms * 1000000);
        }
        finish(n, &attacks[i]);
    }
}

/* Which cells have containers, by the target's word; one that cannot be asked counts as empty. */
static void look_at_cells(struct nemesis *n)
{
    const char *command = nemesis_target_command(&n->target, "containers");
    const struct cluster_shape *shape = &n->target.shape;
    bool occupied[CLUSTER_PROCESSES_MAX] = {false};
    struct command_result result;
    for (int i = 0; command && i < shape->count; i++) {
        const struct cluster_process *p = &shape->processes[i];
        occupied[i] = p->cell[0] &&
                      command_run(command, p->cell, sizeof(p->cell), 1, LOOK_LIMIT_MS, &result) &&
                      result.said[0];
    }
    schedule_occupied(&n->schedule, occupied, shape->count);
}

/* Gives whether the next one may come. */
static bool attack_once(struct nemesis *n)
{
    struct fault faults[FAULTS_AT_ONCE_MAX];
    struct attack attacks[FAULTS_AT_ONCE_MAX];
    look_at_cells(n);
    int count = schedule_next(&n->schedule, faults), begun = 0;
    int64_t quiet = 0;
    n->number++;
    for (int i = 0; i < count && !stopped; i++) {
        struct attack *a = &attacks[begun];
        *a = (struct attack){.fault = faults[i],
                             .occupied = schedule_is_occupied(&n->schedule, &faults[i])};
        if (!attack_resolve(&n->target, a)) {
            printf("%7d  %-40s nobody leads\n", n->number, faults[i].kind->name);
            continue;
        }
        history_making(n->history, n->number, a);
        n->not_there += !attack_begin(&n->target, a, &stopped) && !stopped;
        tell(n, a);
        begun++;
    }
    hold_and_finish(n, attacks, begun);
    for (int i = 0; i < begun; i++) {
        quiet = quiet_until(&attacks[i]) > quiet ? quiet_until(&attacks[i]) : quiet;
    }
    bool healthy = await_health(n);
    rest_until(quiet);
    return healthy && n->not_there == 0 && n->unhealed == 0;
}

/* ---- The whole ---- */

static int run(struct nemesis *n)
{
    int64_t end = nanoseconds_now() + n->options.seconds * 1000000000;
    bool well = true;
    while (well && !stopped && nanoseconds_now() < end && n->number < n->options.count) {
        well = attack_once(n);
        fflush(stdout);
    }
    printf("nemesis: %d times%s\n", n->number, stopped ? ", interrupted" : "");
    return well ? CHAOS_GOOD : CHAOS_VIOLATION;
}

static bool named_in(const char *list, const struct fault_kind *kind)
{
    char words[1024], *rest = words, *word;
    snprintf(words, sizeof(words), "%s", list);
    while ((word = strsep(&rest, ","))) {
        if (fault_kind_named(word) == kind) {
            return true;
        }
    }
    return false;
}

static bool all_known(const char *list)
{
    char words[1024], *rest = words, *word;
    snprintf(words, sizeof(words), "%s", list ? list : "");
    while (list && (word = strsep(&rest, ","))) {
        if (!fault_kind_named(word)) {
            fprintf(stderr,
                    "chaos nemesis: there is no fault \"%s\"; chaos nemesis --list names "
                    "them\n",
                    word);
            return false;
        }
    }
    return true;
}

static int allow_kinds(struct nemesis *n)
{
    schedule_init(&n->schedule, n->options.seed, &n->target.shape);
    for (int i = 0; i < fault_kind_count; i++) {
        const struct fault_kind *kind = &fault_kinds[i];
        bool wanted = !n->options.faults || named_in(n->options.faults, kind);
        if (wanted && nemesis_target_fault_command(&n->target, kind, "make") &&
            nemesis_target_fault_command(&n->target, kind, "probe") &&
            nemesis_target_fault_command(&n->target, kind, "heal")) {
            if (nemesis_target_fault_spares_cells(&n->target, kind)) {
                schedule_spare_cells(&n->schedule, kind);
            }
            schedule_allow(&n->schedule, kind);
        }
    }
    return n->schedule.allowed_count;
}

static bool read_target(const char *path, struct nemesis_target *ret_target)
{
    struct err err;
    char *text = malloc(1 << 20);
    FILE *file = fopen(path, "re");
    size_t size = file && text ? fread(text, 1, 1 << 20, file) : 0;
    int result = file ? nemesis_target_parse(text, size, ret_target, &err)
                      : err_set(&err, ERR_IO, "%s", strerror(errno));
    if (result < 0) {
        fprintf(stderr, "chaos nemesis: %s: %s\n", path, err.text);
    }
    if (file) {
        fclose(file);
    }
    free(text);
    return result == 0;
}

static int list_kinds(const char *wanted)
{
    for (int i = 0; i < fault_kind_count; i++) {
        if (!wanted || named_in(wanted, &fault_kinds[i])) {
            printf("%-18s %s\n", fault_kinds[i].name, fault_kinds[i].what);
        }
    }
    return CHAOS_GOOD;
}

static int help(void)
{
    puts("chaos nemesis --target FILE --history FILE [--seed N] [--seconds S] [--count N]\n"
         "              [--faults LIST]\n"
         "chaos nemesis --list [--faults LIST]\n"
         "chaos nemesis --target FILE --command NAME   prints the target's command\n"
         "makes the faults that a seed draws, shows each by its probe, heals it, and waits until\n"
         "the cluster is healthy. FILE of --target is a target.json (docs/chaos.md).");
    return CHAOS_GOOD;
}

static int print_command(const struct nemesis *n)
{
    const char *command = nemesis_target_command(&n->target, n->options.command);
    if (command) {
        puts(command);
    }
    return command ? CHAOS_GOOD : CHAOS_VIOLATION;
}

static void hear_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int chaos_nemesis(int argc, char **argv)
{
    struct nemesis n = {0};
    struct err err;
    if (nemesis_options_parse(argc, argv, &n.options, &err) < 0) {
        fprintf(stderr, "chaos nemesis: %s\n", err.text);
        return CHAOS_USAGE;
    }
    if (n.options.help) {
        return help();
    }
    if (!all_known(n.options.faults)) {
        return CHAOS_USAGE;
    }
    if (n.options.list) {
        return list_kinds(n.options.faults);
    }
    if (!read_target(n.options.target, &n.target)) {
        return CHAOS_USAGE;
    }
    int result = CHAOS_USAGE;
    n.history = n.options.history ? fopen(n.options.history, "ae") : NULL;
    if (n.options.command) {
        result = print_command(&n);
    } else if (!n.history) {
        fprintf(stderr, "chaos nemesis: %s: %s\n", n.options.history, strerror(errno));
    } else if (allow_kinds(&n) == 0) {
        fprintf(stderr, "chaos nemesis: the target has no commands for these faults\n");
    } else {
        hear_signals();
        result = run(&n);
    }
    if (n.history) {
        fclose(n.history);
    }
    nemesis_target_done(&n.target);
    return result;
}
