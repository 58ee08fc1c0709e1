/* Which cells are being emptied, by what they were told and by what the board says of it. */
#include "rep/drain/drain.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

/* At its limit what is left on a cell is stopped. */
bool evacuation_ends(const struct checkers *k, int cell)
{
    const struct evacuation *e = cell < 0 ? NULL : &k->evacuations[cell];
    return e && e->on && world_now(k->cluster->world) >= e->ends_ns;
}

static int64_t whole_limit_ns(const struct checkers *k)
{
    int64_t limit_ns = k->cluster->options.evacuation_ns;
    return limit_ns ? limit_ns : EVACUATION_NS;
}

static void begins(struct checkers *k, int cell, int64_t ends_ns)
{
    struct evacuation *e = &k->evacuations[cell];
    e->on = true;
    e->ends_ns = ends_ns;
    e->boots = node_boots(k->cluster->cells[cell]);
}

/* What a rep that knows nothing of the limit leaves at least (rep/drain/drain.h). */
static int64_t resumed_ends_ns(const struct checkers *k)
{
    return world_now(k->cluster->world) + earlier_ns(whole_limit_ns(k), EVACUATION_RESUMED_NS);
}

void checkers_evacuates(struct checkers *k, int cell)
{
    struct evacuation *e = &k->evacuations[cell];
    /* An older word of its, which says that it does not, may have come to the board since. */
    e->told_ns = e->told_ns ? e->told_ns : world_now(k->cluster->world);
    e->asked_ns = e->told_ns;
    if (!e->on) {
        begins(k, cell, e->told_ns + whole_limit_ns(k));
    }
}

/* Of the same boot the limit stays; of another one the rep cannot know it. */
void checkers_restarted(struct checkers *k, const struct node *cell)
{
    int number = checkers_cell(k, cell);
    struct evacuation *e = number < 0 ? NULL : &k->evacuations[number];
    if (e) {
        e->told_ns = 0;
        e->over = false;
        if (e->boots != node_boots(cell)) {
            e->ends_ns = resumed_ends_ns(k);
            e->boots = node_boots(cell);
        }
    }
}

void checkers_accepted(struct checkers *k, int cell)
{
    struct evacuation *e = &k->evacuations[cell];
    const struct node *n = k->cluster->cells[cell];
    if (!e->accepted && !e->over) {
        e->accepted = true;
        e->accepted_incarnation = node_incarnation(n);
        e->accepted_boots = node_boots(n);
        e->accepted_ends_ns = world_now(k->cluster->world) + whole_limit_ns(k);
        e->accepted_ends_ns =
            e->on ? earlier_ns(e->ends_ns, e->accepted_ends_ns) : e->accepted_ends_ns;
    }
}

/* Its end by its own word, when there is nothing left to end, or no time. */
void note_evacuation_over(struct checkers *k, struct node *node, const struct log_line *line)
{
    int number = checkers_cell(k, node);
    if (number >= 0 && strcmp(line->message, "evacuation is over") == 0 &&
        (model_containers_running(node_containers(node)) == 0 ||
         world_now(k->cluster->world) >= k->evacuations[number].accepted_ends_ns)) {
        k->evacuations[number].accepted = false;
        k->evacuations[number].over = true;
    }
}

/* What a rep that lives needs from the limit to its end, whatever is left. */
#define EVACUATION_END_NS (10 * SECOND_NS + EVACUATION_HEARD_NS + EVACUATION_DELETED_NS)

/* A later rep speaks for the first time. It may take the evacuation for over when it is, or when
 * its machine was started again: then it has the wall clock alone, which jumps here. */
static void check_accepted(struct checkers *k, unsigned cell, const Board__CellRecord *is)
{
    struct evacuation *e = &k->evacuations[cell];
    const struct node *n = k->cluster->cells[cell];
    if (!e->accepted || is->evacuating || is->incarnation <= e->accepted_incarnation) {
        return;
    }
    if (e->accepted_boots == node_boots(n) &&
        node_started_ns(n) < e->accepted_ends_ns + EVACUATION_END_NS) {
        checkers_report(k, "L3",
                        "%s has accepted an evacuation, and incarnation %llu knows nothing of it",
                        node_name(n), (unsigned long long)is->incarnation);
    }
    e->accepted = false;
}

/* What the board says of this cell: that it evacuates still, or no more. */
static void note_evacuation(struct checkers *k, unsigned cell, const struct past *p)
{
    struct evacuation *e = &k->evacuations[cell];
    const Board__CellRecord *is = (const Board__CellRecord *)p->message;
    if (p->cause && strcmp(p->cause->move, "lose") == 0) {
        return; /* the converger's word; a cell that is cut off cannot tell of it */
    }
    if (is) {
        check_accepted(k, cell, is);
    }
    if (is && is->incarnation < node_incarnation(k->cluster->cells[cell])) {
        return; /* an older word, which comes late: the rep that lives has not spoken yet */
    }
    if (!is || !is->evacuating) {
        e->on = false;
    } else if (!e->on) { /* an older word of the cell came in between, or a restore */
        int64_t ends_ns = e->asked_ns + whole_limit_ns(k);
        bool over = !e->told_ns && ends_ns <= world_now(k->cluster->world);
        begins(k, (int)cell, over ? resumed_ends_ns(k) : ends_ns);
    }
}

void note_evacuations(struct checkers *k, const struct passage *p,
                      const struct world_commit *commit)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        int cell = one->type == RECORD_CELL
                       ? checkers_cell_named(k, one->key + strlen("cell/"))
                       : -1;
        if (cell >= 0) {
            note_evacuation(k, (unsigned)cell, one);
        }
    }
}
