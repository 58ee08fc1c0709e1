/* How long the pure decision takes (design.md 10: 100,000 instances on 1,000 cells with all
 * filters in 1 s), beside a plain loop over all cells for each job in the same run. What matters
 * is the ratio: a change of a tenth is noise. */
#include "auctioneer/schedule.h"
#include "auctioneer/tie.h"
#include "common/base/random.h"
#include "test/decide/cell_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct world {
    const char *name;
    size_t cells, processes, instances; /* of each process */
    bool mixed; /* each process asks for sizes of its own, else for one of eight */
    enum scoring scoring;
    enum job_kind kind; /* of units two cells in three are machines, one of them new */
    size_t slices;      /* each has one process in ten of its own, and reserves as much beside */
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct schedule_cell *make_cells(struct arena *a, const struct world *w)
{
    struct schedule_cell *cells = ARENA_ARRAY(a, w->cells, struct schedule_cell);
    for (size_t i = 0; i < w->cells; i++) {
        char id[32], zone[32];
        snprintf(id, sizeof(id), "cell-%06zu", i);
        snprintf(zone, sizeof(zone), "z%zu", i % 3);
        Cell__CellState *s = cell_row_new(a, id, zone, 200 * 1024, 2000 * 1024);
        s->totalresources->containers = s->availableresources->containers = 1000;
        cell_row_provider(a, s, "docker", "arbitrary", "");
        cell_row_tags(a, s, i % 10 == 0 ? "gpu" : "", "ssd fast");
        cell_row_drivers(a, s, "nfs smb");
        cells[i].state = s;
        cells[i].machine = (struct machine_sight){
            .is = i % 3 > 0, .open = true, .clean = i % 3 > 1, .number = (uint32_t)i};
    }
    return cells;
}

static struct job *make_jobs(struct arena *a, const struct world *w)
{
    static char nfs[] = "nfs", ssd[] = "ssd", gpu[] = "gpu";
    static char *drivers[] = {nfs}, *one[] = {ssd}, *two[] = {gpu};
    static const int32_t sizes[] = {64, 128, 256, 256, 512, 512, 1024, 2048};
    struct random r;
    random_seed(&r, (uint64_t[2]){1, 2});
    struct job *jobs = ARENA_ARRAY(a, w->processes * w->instances, struct job);
    for (size_t p = 0; p < w->processes; p++) {
        const char *guid = arena_printf(a, "process-%06zu", p);
        struct job job = {
            .kind = w->kind,
            .guid = guid,
            .root_fs = p % 4 ? "preloaded:busybox" : arena_printf(a, "docker:///image-%zu", p),
            .drivers = drivers,
            .driver_count = p % 5 == 0,
            .tags = p % 20 == 0 ? two : one,
            .tag_count = p % 20 == 0 || p % 3 == 0,
            .memory_mb =
                w->mixed ? 64 + (int32_t)random_below(&r, 1024) : sizes[random_below(&r, 8)],
            .disk_mb = w->mixed ? (int32_t)random_below(&r, 4096) : 1024,
        };
        for (size_t i = 0; i < w->instances; i++) {
            job.index = (int32_t)i;
            jobs[p * w->instances + i] = job;
        }
    }
    return jobs;
}

static const Board__SliceRecord **make_slices(struct arena *a, const struct world *w)
{
    const Board__SliceRecord **list = ARENA_ARRAY(a, w->slices, const Board__SliceRecord *);
    for (size_t i = 0; i < w->slices; i++) {
        Board__SliceRecord *s = slice_row_new(a, arena_printf(a, "s%zu", i), 64, 2048, "");
        for (size_t p = i * 10; p < w->processes && s->n_uses < 256; p += 10 * w->slices) {
            slice_row_use(a, s, arena_printf(a, "process-%06zu", p));
        }
        list[i] = s;
    }
    return list;
}

/* The least that a scheduler without any order among the cells must do. */
static double plain_loop(const struct schedule_cell *cells, size_t cell_count,
                         const struct job *jobs, size_t job_count)
{
    struct score_rules rules = {0};
    struct room *rooms = calloc(cell_count, sizeof(*rooms));
    for (size_t c = 0; c < cell_count; c++) {
        room_init(&rooms[c], cells[c].state);
    }
    double started = seconds();
    for (size_t i = 0; i < job_count; i++) {
        struct demand q = {JOB_LRP, jobs[i].memory_mb, jobs[i].disk_mb};
        double best = SCORE_INITIAL_BEST;
        size_t winner = 0;
        for (size_t c = 0; c < cell_count; c++) {
            if (room_fits(&rooms[c], &q)) {
                double score = score_base(&rooms[c], &rules, &q);
                if (score < best) {
                    best = score;
                    winner = c;
                }
            }
        }
        room_take(&rooms[winner], &rules, &q);
    }
    double took = seconds() - started;
    free(rooms);
    return took;
}

static void run(const struct world *w)
{
    struct arena world, decision;
    arena_init(&world);
    arena_init(&decision);
    size_t job_count = w->processes * w->instances, placed = 0;
    struct schedule_rules rules = {.score.scoring = w->scoring};
    struct schedule_input in = {.rules = &rules,
                                .cells = make_cells(&world, w),
                                .cell_count = w->cells,
                                .jobs = make_jobs(&world, w),
                                .job_count = job_count,
                                .slices = make_slices(&world, w),
                                .slice_count = w->slices};
    double started = seconds();
    in.ranks = tie_ranks(&decision, (uint64_t[2]){1, 2}, w->cells);
    struct decision *d = schedule(&decision, &in);
    double took = seconds() - started;
    for (size_t i = 0; i < job_count; i++) {
        placed += d[i].cell >= 0;
    }
    size_t sample = job_count < 20000 ? job_count : 20000;
    double plain =
        plain_loop(in.cells, w->cells, in.jobs, sample) * (double)job_count / (double)sample;
    printf("%-44s %8zu jobs %6zu cells %8.3f s  %8zu placed  %.2f of a plain loop\n", w->name,
           job_count, w->cells, took, placed, took / plain);
    arena_done(&decision);
    arena_done(&world);
}

int main(int argc, char **argv)
{
    static const struct world worlds[] = {
        {"eight sizes", 1000, 10000, 10, false, SCORING_LARGEST, JOB_LRP},
        {"eight sizes, beside 256 slices", 1000, 10000, 10, false, SCORING_LARGEST, JOB_LRP, 256},
        {"a size for each process", 1000, 10000, 10, true, SCORING_LARGEST, JOB_LRP},
        {"a hundred large processes", 1000, 100, 1000, false, SCORING_LARGEST, JOB_LRP},
        {"one huge process", 1000, 1, 100000, false, SCORING_LARGEST, JOB_LRP},
        {"eight sizes, of units", 1000, 10000, 10, false, SCORING_LARGEST, JOB_UNIT},
        {"a hundred large services of units", 1000, 100, 1000, false, SCORING_LARGEST, JOB_UNIT},
        {"eight sizes, diego", 1000, 10000, 10, false, SCORING_DIEGO, JOB_LRP},
        {"a million: eight sizes", 5000, 100000, 10, false, SCORING_LARGEST, JOB_LRP},
        {"a million: a thousand large processes", 5000, 1000, 1000, false, SCORING_LARGEST,
         JOB_LRP},
        {"a million: a size for each process", 5000, 100000, 10, true, SCORING_LARGEST, JOB_LRP},
    };
    bool all = argc > 1 && strcmp(argv[1], "--million") == 0;
    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        if (all || worlds[i].cells < 5000) {
            run(&worlds[i]);
        }
    }
    return 0;
}
