#include "rep/steps/fact.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const whys[CUT_WHY_COUNT] = {
    [CUT_STOPPED] = "stopped",
    [CUT_TIMEOUT] = "timeout",
    [CUT_BESIDE] = "beside",
    [CUT_STUCK] = "stuck",
};

static void print_end(const struct step_fact *fact, struct buf *out)
{
    int size = (int)strcspn(fact->text, "\n");
    buf_printf(out, "ended %u code %d signal %d oom %d%s at %" PRId64 "%s%.*s\n", fact->step,
               fact->exit_code, fact->exit_signal, fact->oom_killed,
               fact->disk_full ? " disk 1" : "", fact->at_ns, size ? " " : "",
               size < FACT_TEXT_MAX ? size : FACT_TEXT_MAX, fact->text);
}

void fact_print(const struct step_fact *fact, struct buf *out)
{
    assert(fact->kind < FACT_KIND_COUNT && fact->at_ns >= 0);
    switch (fact->kind) {
    case FACT_BEGUN:
        buf_printf(out, "begun %u at %" PRId64 "\n", fact->step, fact->at_ns);
        break;
    case FACT_LOST:
        buf_printf(out, "lost %u at %" PRId64 "\n", fact->step, fact->at_ns);
        break;
    case FACT_CUT:
        assert(fact->why < CUT_WHY_COUNT);
        buf_printf(out, "cut %u %s at %" PRId64 "\n", fact->step, whys[fact->why], fact->at_ns);
        break;
    default:
        print_end(fact, out);
    }
}

static bool read_why(const char *word, enum cut_why *ret)
{
    for (int i = 0; i < CUT_WHY_COUNT; i++) {
        if (strcmp(whys[i], word) == 0) {
            *ret = (enum cut_why)i;
            return true;
        }
    }
    return false;
}

/* "disk 1" is there only if it is so: earlier versions did not know it. */
static int read_end(const char *line, struct step_fact *f)
{
    int end = -1, oom = 0, read = 0;
    if (sscanf(line, "ended %9u code %4d signal %4d oom %1d%n", &f->step, &f->exit_code,
               &f->exit_signal, &oom, &read) != 4 ||
        read == 0) {
        return -1;
    }
    f->oom_killed = oom == 1;
    f->disk_full = strncmp(line + read, " disk 1", 7) == 0;
    read += f->disk_full ? 7 : 0;
    return sscanf(line + read, " at %18" SCNd64 "%n", &f->at_ns, &end) == 1 && end > 0
               ? read + end
               : -1;
}

/* One line without its line feed; its text, if it has one, is borrowed from the line. */
static bool read_line(const char *line, struct step_fact *f)
{
    char why[16];
    int end = -1;
    *f = (struct step_fact){.text = ""};
    if (sscanf(line, "begun %9u at %18" SCNd64 "%n", &f->step, &f->at_ns, &end) == 2 && end > 0) {
        f->kind = FACT_BEGUN;
    } else if (sscanf(line, "lost %9u at %18" SCNd64 "%n", &f->step, &f->at_ns, &end) == 2 &&
               end > 0) {
        f->kind = FACT_LOST;
    } else if (sscanf(line, "cut %9u %15s at %18" SCNd64 "%n", &f->step, why, &f->at_ns, &end) ==
                   3 &&
               end > 0) {
        f->kind = FACT_CUT;
        end = read_why(why, &f->why) ? end : -1;
    } else if ((end = read_end(line, f)) > 0) {
        f->kind = FACT_ENDED;
        f->text = line[end] == ' ' ? line + end + 1 : "";
        end += line[end] == ' ' ? (int)strlen(line + end) : 0;
    }
    return end > 0 && line[end] == '\0' && f->at_ns >= 0;
}

/* As fact_print() would write it, and an end as a process can have one. */
static bool is_fact(const struct step_fact *f, const char *line, size_t size)
{
    SCOPED_BUF(again);
    if (f->kind == FACT_ENDED && (f->exit_code < -1 || f->exit_code > 255 || f->exit_signal < 0 ||
                                  f->exit_signal > 127)) {
        return false;
    }
    fact_print(f, &again);
    return again.size == size + 1 && memcmp(again.data, line, size) == 0;
}

static bool is_run(const struct step_fact *f)
{
    return f->step >= RUN_FIRST && f->step <= RUN_LAST;
}

static int parse(struct arena *a, struct bytes file, size_t step_count, size_t run_count,
                 struct step_fact **ret_facts, size_t *ret_count, struct err *err)
{
    assert(step_count <= STEPS_MAX && run_count <= RUNS_MAX);
    size_t most = (step_count + run_count) * FACTS_OF_A_STEP_MAX, count = 0;
    struct step_fact *facts = ARENA_ARRAY(a, most, struct step_fact);
    const char *at = file.size ? (const char *)file.data : "", *end = at + file.size;
    const char *feed;
    for (; at < end && (feed = memchr(at, '\n', (size_t)(end - at))); at = feed + 1) {
        char *line = arena_strndup(a, at, (size_t)(feed - at));
        if (count >= most) {
            return err_set(err, ERR_TOO_LARGE, "more than %zu facts of %zu steps", most,
                           step_count);
        }
        if (!read_line(line, &facts[count]) ||
            !is_fact(&facts[count], line, (size_t)(feed - at)) ||
            !(facts[count].step < step_count || (run_count > 0 && is_run(&facts[count])))) {
            return err_set(err, ERR_INVALID, "line %zu is no fact: %.80s", count + 1, line);
        }
        count++;
    }
    assert(count <= most);
    *ret_facts = facts;
    *ret_count = count;
    return 0;
}

int facts_parse(struct arena *a, struct bytes file, size_t step_count,
                struct step_fact **ret_facts, size_t *ret_count, struct err *err)
{
    return parse(a, file, step_count, 0, ret_facts, ret_count, err);
}

int facts_parse_all(struct arena *a, struct bytes file, struct step_fact **ret_facts,
                    size_t *ret_count, struct err *err)
{
    return parse(a, file, STEPS_MAX, RUNS_MAX, ret_facts, ret_count, err);
}
