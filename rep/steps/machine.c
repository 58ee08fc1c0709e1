/* Each step has a verdict: it goes on, or it came out well, or it failed. A leaf's follows from its
 * facts, that of any other step from its children's; on the way down a cut is handed on, on the way
 * up what is to begin, to be cut and to be said is collected. The rules are numbered here, and in
 * test/unit/rep/steps/test_machine.c:
 *
 *  1 serial: the next begins after success; the first failure is its failure.
 *  2 parallel: all begin, all are awaited; it fails if one failed; texts joined.
 *  3 try: never fails.
 *  4 timeout: over its time what is beneath is cut; "exceeded D timeout", and "; " + its text.
 *  5 emit progress: its child's verdict, with lines in the log.
 *  6 codependent: when one ends, well or not, the others are cut; it always fails; one that ended
 *    well says so.
 *  7 action beside sidecars: when one ends, the rest is cut; the text is that of who failed.
 *  8 the setup comes first, and its failure is the whole's.
 *  9 a cut step begins nothing, and what runs of it is told to end: SIGTERM, after the grace
 *    SIGKILL, then the container's first process is killed.
 * 10 the texts of cut steps are left out.
 * 11 a leaf that has begun is never begun again: without a living shim it is lost.
 * 12 an action beside a monitor alone that has ended well has become a daemon: the whole goes on
 *    until it is cut, or its container is gone.
 * 13 a transfer that is lost begins anew, a few times; one that is cut is killed at once.
 * 14 what the container depends on comes before it starts; if that fails, all does.
 * 15 when the container's own shim was killed, or its machine restarted, the whole is lost: its end
 *    counts as that of a cut, and its text says so, if nobody had failed before. */
#include "rep/steps/machine.h"

#include "rep/steps/exit_text.h"

#include <assert.h>

/* What is known of one step. */
struct known {
    bool ended, lost;
    unsigned begins, losses;
    int64_t first_ns, begun_ns, ended_ns; /* when it began first, and last */
    const struct step_fact *end;
    int64_t cut_ns, stuck_ns; /* NEVER_NS: it is not */
    enum cut_why why;
};

struct machine {
    struct arena *arena;
    const struct action_tree *tree;
    struct known *known;
    int64_t now_ns;
    enum steps_where where;
    struct steps_orders out;
};

enum coming_out { GOES_ON, WENT_WELL, HAS_FAILED };

struct step_verdict {
    enum coming_out out;
    bool cut;       /* it was cut, and its text is left out (10) */
    int64_t at_ns;  /* when it was over */
    const char *text;
};

static const struct step_verdict going_on = {.out = GOES_ON, .text = ""};

static struct step_verdict verdict_of(struct machine *m, uint32_t n, int64_t cut_ns);

/* ---- Facts ----------------------------------------------------------------------------------- */

static void learn(struct machine *m, const struct step_fact *f)
{
    struct known *k = &m->known[f->step];
    switch (f->kind) {
    case FACT_BEGUN:
        k->first_ns = k->begins > 0 ? k->first_ns : f->at_ns;
        k->begun_ns = f->at_ns;
        k->begins++;
        break;
    case FACT_LOST:
        k->losses++;
        if (tree_is_transfer(m->tree, f->step) && k->losses < TRANSFER_BEGINS_MAX) {
            break; /* (13) */
        } /* fall through */
    case FACT_ENDED:
        if (!k->ended) {
            k->ended = true;
            k->lost = f->kind == FACT_LOST;
            k->ended_ns = f->at_ns;
            k->end = f;
        }
        break;
    default:
        if (f->why == CUT_STUCK) {
            k->stuck_ns = earlier_ns(k->stuck_ns, f->at_ns);
        } else if (k->cut_ns == NEVER_NS) {
            k->cut_ns = f->at_ns;
            k->why = f->why;
        }
    }
}

static void learn_all(struct machine *m, const struct step_fact *facts, size_t count)
{
    m->known = ARENA_ARRAY(m->arena, m->tree->count, struct known);
    for (size_t i = 0; i < m->tree->count; i++) {
        m->known[i].cut_ns = m->known[i].stuck_ns = NEVER_NS;
    }
    for (size_t i = 0; i < count; i++) {
        assert(facts[i].kind < FACT_KIND_COUNT);
        if (facts[i].step < m->tree->count) {
            learn(m, &facts[i]);
        }
    }
}

/* It is under way, or over. */
static bool under_way(const struct known *k)
{
    return k->ended || k->begins > k->losses;
}

/* ---- What is to be done ---------------------------------------------------------------------- */

static void due(struct machine *m, int64_t at_ns)
{
    m->out.due_ns = earlier_ns(m->out.due_ns, at_ns);
}

static void add_cut(struct machine *m, uint32_t n, enum cut_why why)
{
    assert(m->out.cut_count < 2 * m->tree->count);
    m->out.cuts[m->out.cut_count++] = (struct step_cut){n, why};
}

static void add_line(struct machine *m, uint32_t n, bool at_end, bool to_stderr, const char *text)
{
    assert(m->out.line_count < 2 * m->tree->count);
    m->out.lines[m->out.line_count++] =
        (struct step_line){n, at_end, to_stderr, m->tree->steps[n]->source, text};
}

/* What was to begin from the `begin_count`th on does not: it is being cut (9). */
static void begin_no_more(struct machine *m, size_t begin_count)
{
    assert(begin_count <= m->out.begin_count);
    m->out.begin_count = begin_count;
}

/* ---- A leaf ---------------------------------------------------------------------------------- */

static bool is_upload(const struct machine *m, uint32_t n)
{
    return m->tree->steps[n]->kind == REP__STEP__KIND__UPLOAD;
}

/* "Downloading lifecycle failed": what Diego says, but for the reason, which is in the line of the
 * log alone. */
static const char *transfer_text(struct machine *m, uint32_t n, const struct step_fact *f)
{
    const char *name = m->tree->steps[n]->artifact, *blank = name[0] ? " " : "";
    if (is_upload(m, n)) {
        const char *what = f->exit_code == TRANSFER_INSIDE
                               ? "Failed to establish stream from container"
                               : "Failed to upload payload";
        return arena_printf(m->arena, "%s%s%s", what, name[0] ? " for " : "", name);
    }
    return f->exit_code == TRANSFER_INSIDE
               ? arena_printf(m->arena, "Copying%s%s into the container failed: %s", blank, name,
                              f->text)
               : arena_printf(m->arena, "Downloading%s%s failed", blank, name);
}

static bool went_well(const struct step_fact *f)
{
    return f->exit_code == 0 && f->exit_signal == 0 && !f->text[0];
}

/* What became of a transfer, for the log. Without a name nothing is said of one that went well; the
 * reason of one that failed stands nowhere else. */
static void say_transferred(struct machine *m, uint32_t n)
{
    const struct known *k = &m->known[n];
    const char *name = m->tree->steps[n]->artifact;
    const char *done = is_upload(m, n) ? "Uploaded" : "Downloaded";
    if (k->lost || (k->end->exit_signal && !k->end->text[0])) {
        return;
    }
    if (went_well(k->end) && !name[0]) {
        return;
    }
    if (went_well(k->end)) {
        const char *size = k->end->moved > 0 ? arena_printf(m->arena, " (%s)",
                                                            size_text(m->arena, k->end->moved))
                                             : "";
        add_line(m, n, true, false, arena_printf(m->arena, "%s %s%s", done, name, size));
        return;
    }
    const char *text = transfer_text(m, n, k->end);
    bool told = k->end->exit_code == TRANSFER_INSIDE && !is_upload(m, n);
    add_line(m, n, true, true,
             told ? text : arena_printf(m->arena, "%s: %s", text, k->end->text));
}

static struct step_verdict end_of(struct machine *m, uint32_t n, int64_t cut_ns)
{
    const struct known *k = &m->known[n];
    const struct step_fact *f = k->end;
    if (k->ended_ns > cut_ns) { /* (10) */
        return (struct step_verdict){HAS_FAILED, true, k->ended_ns, ""};
    }
    if (!k->lost && !went_well(f) && tree_is_transfer(m->tree, n)) {
        return (struct step_verdict){HAS_FAILED, false, k->ended_ns, transfer_text(m, n, f)};
    }
    if (k->lost || f->text[0]) { /* (11) */
        return (struct step_verdict){HAS_FAILED, false, k->ended_ns,
                                k->lost ? STEP_LOST_TEXT : f->text};
    }
    if (f->exit_code == 0 && f->exit_signal == 0) {
        return (struct step_verdict){WENT_WELL, false, k->ended_ns, ""};
    }
    return (struct step_verdict){HAS_FAILED, false, k->ended_ns,
                            exit_text(m->arena, m->tree->steps[n]->source, f->exit_code,
                                      f->exit_signal,
                                      (struct shortage){f->oom_killed, f->disk_full})};
}

/* It was killed for not ending within the grace. */
static bool exceeded_grace(const struct known *k, int64_t cut_ns)
{
    return cut_ns != NEVER_NS && k->ended_ns - cut_ns > STEP_GRACE_NS;
}

static void say_status(struct machine *m, uint32_t n, int64_t cut_ns)
{
    const struct known *k = &m->known[n];
    if (!k->lost && !k->end->text[0]) {
        int status = k->end->exit_signal ? 128 + k->end->exit_signal : k->end->exit_code;
        const char *late = exceeded_grace(k, cut_ns)
                               ? arena_printf(m->arena, " (exceeded %s graceful shutdown interval)",
                                              duration_text(m->arena, STEP_GRACE_NS))
                               : "";
        add_line(m, n, true, false, arena_printf(m->arena, "Exit status %d%s", status, late));
    }
}

/* It runs although it is cut (9). */
static void press(struct machine *m, uint32_t n, int64_t cut_ns)
{
    int64_t kill_ns = cut_ns + STEP_GRACE_NS, stuck_ns = kill_ns + STEP_KILLED_NS;
    if (m->now_ns >= stuck_ns) {
        add_cut(m, n, CUT_STUCK);
        return;
    }
    bool kill = m->now_ns >= kill_ns || tree_is_transfer(m->tree, n); /* (13) */
    assert(m->out.signal_count < m->tree->count);
    m->out.signals[m->out.signal_count++] = (struct step_signal){n, kill};
    due(m, kill ? stuck_ns : kill_ns);
}

/* Its processes are gone, and nobody saw how it ended: not before it was cut, if it was. */
static struct step_verdict unseen_end(struct machine *m, int64_t cut_ns)
{
    bool cut = cut_ns != NEVER_NS;
    int64_t at_ns = cut && cut_ns > m->now_ns ? cut_ns : m->now_ns;
    return (struct step_verdict){HAS_FAILED, cut, at_ns, cut ? "" : STEP_LOST_TEXT};
}

/* If it begins: see drop_early(). */
static void say_transfer(struct machine *m, uint32_t n)
{
    const char *name = m->tree->steps[n]->artifact;
    if (name[0]) {
        const char *doing = is_upload(m, n) ? "Uploading" : "Downloading";
        add_line(m, n, false, false, arena_printf(m->arena, "%s %s...", doing, name));
    }
}

static void say_end(struct machine *m, uint32_t n, int64_t pressed_ns)
{
    if (tree_is_transfer(m->tree, n)) {
        say_transferred(m, n);
    } else {
        say_status(m, n, pressed_ns);
    }
}

static struct step_verdict verdict_of_leaf(struct machine *m, uint32_t n, int64_t cut_ns)
{
    const struct known *k = &m->known[n];
    int64_t pressed_ns = cut_ns != NEVER_NS && k->begun_ns > cut_ns ? k->begun_ns : cut_ns;
    if (tree_is_transfer(m->tree, n)) {
        say_transfer(m, n);
    }
    if (k->ended && k->ended_ns <= k->stuck_ns) {
        say_end(m, n, pressed_ns);
        return end_of(m, n, cut_ns);
    }
    if (k->stuck_ns != NEVER_NS) {
        m->out.kill = true;
        return (struct step_verdict){HAS_FAILED, false, k->stuck_ns, STEP_STUCK_TEXT};
    }
    if (!under_way(k) && cut_ns != NEVER_NS) { /* (9) */
        return (struct step_verdict){HAS_FAILED, true, cut_ns, ""};
    }
    if (m->where == STEPS_GONE) {
        return unseen_end(m, cut_ns);
    }
    if (!under_way(k)) { /* (13): or not any more */
        assert(m->out.begin_count < m->tree->count);
        m->out.begins[m->out.begin_count++] = n;
    } else if (cut_ns != NEVER_NS) {
        press(m, n, pressed_ns);
    }
    return going_on;
}

/* ---- Steps with steps beneath ---------------------------------------------------------------- */

static struct step_verdict verdict_of_serial(struct machine *m, uint32_t n, int64_t cut_ns)
{
    struct step_verdict v = going_on;
    TREE_EACH(m->tree, n, child)
    {
        v = verdict_of(m, child, cut_ns);
        if (v.out != WENT_WELL) {
            break; /* (1) */
        }
    }
    return v;
}

/* Several at the same time: `first` and its siblings, up to the end of their parent. */
struct company {
    struct step_verdict *each;
    size_t count, over, failed;
    struct step_verdict sum; /* joined texts, last end; cut if nobody failed otherwise */
};

/* What it says of its end beside the others; NULL: nothing, for it was cut (10). */
static const char *word_of(const struct step_verdict *v, const char *said_by_well)
{
    return v->cut ? NULL : v->out == WENT_WELL ? said_by_well : v->text;
}

static void join(struct machine *m, struct company *c, const struct step_verdict *v,
                 const char *said_by_well)
{
    const char *word = word_of(v, said_by_well);
    c->sum.text = word ? texts_joined(m->arena, c->sum.text, word) : c->sum.text;
    c->sum.at_ns = v->at_ns > c->sum.at_ns ? v->at_ns : c->sum.at_ns;
    c->sum.cut = c->sum.cut && (v->cut || v->out == WENT_WELL);
    c->over += v->out != GOES_ON;
    c->failed += v->out == HAS_FAILED && !v->cut;
}

static struct company look_at_all(struct machine *m, uint32_t first, uint32_t end, int64_t cut_ns,
                                  const char *said_by_well)
{
    struct company c = {.sum = {GOES_ON, true, 0, ""}};
    c.each = ARENA_ARRAY(m->arena, end - first, struct step_verdict);
    for (uint32_t child = first; child < end; child = m->tree->steps[child]->end) {
        c.each[c.count] = verdict_of(m, child, cut_ns);
        join(m, &c, &c.each[c.count], said_by_well);
        c.count++;
    }
    assert(c.count > 0 && c.over <= c.count);
    return c;
}

/* One of them has ended: the rest is cut, and begins nothing more (6, 7). */
static void cut_the_rest(struct machine *m, const struct company *c, uint32_t first, uint32_t end)
{
    size_t i = 0;
    for (uint32_t child = first; child < end; child = m->tree->steps[child]->end) {
        if (c->each[i++].out == GOES_ON && m->known[child].cut_ns == NEVER_NS) {
            add_cut(m, child, CUT_BESIDE);
        }
    }
}

static struct company bound_together(struct machine *m, uint32_t first, uint32_t end,
                                     int64_t cut_ns, const char *said_by_well)
{
    size_t begins = m->out.begin_count;
    struct company c = look_at_all(m, first, end, cut_ns, said_by_well);
    if (c.over > 0 && c.over < c.count && cut_ns == NEVER_NS) {
        begin_no_more(m, begins);
        cut_the_rest(m, &c, first, end);
    }
    return c;
}

static struct step_verdict verdict_of_parallel(struct machine *m, uint32_t n, int64_t cut_ns)
{
    struct company c = look_at_all(m, n + 1, m->tree->steps[n]->end, cut_ns, "");
    bool well = true;
    for (size_t i = 0; i < c.count; i++) {
        well = well && c.each[i].out == WENT_WELL;
    }
    c.sum.out = c.over < c.count ? GOES_ON : well ? WENT_WELL : HAS_FAILED; /* (2) */
    c.sum.cut = c.sum.cut && !well;
    return c.sum;
}

static struct step_verdict verdict_of_codependent(struct machine *m, uint32_t n, int64_t cut_ns)
{
    struct company c = bound_together(m, n + 1, m->tree->steps[n]->end, cut_ns,
                                      "Codependent step exited");
    c.sum.out = c.over < c.count ? GOES_ON : HAS_FAILED; /* (6) */
    c.sum.cut = !c.sum.text[0];
    return c.sum;
}

static struct step_verdict verdict_of_try(struct machine *m, uint32_t n, int64_t cut_ns)
{
    struct step_verdict v = verdict_of(m, n + 1, cut_ns);
    v.out = v.out == GOES_ON ? GOES_ON : WENT_WELL; /* (3) */
    v.text = "";
    return v;
}

/* When the first leaf of it began; NEVER_NS: none has. */
static int64_t began_ns(const struct machine *m, uint32_t n)
{
    int64_t first = NEVER_NS;
    for (uint32_t i = n; i < m->tree->steps[n]->end; i++) {
        first = m->known[i].begins > 0 ? earlier_ns(first, m->known[i].first_ns) : first;
    }
    return first;
}

/* When its time is over: as late as there is a time for what takes longer. */
static int64_t expires_ns(const struct machine *m, uint32_t n)
{
    int64_t from_ns = began_ns(m, n), ms = m->tree->steps[n]->timeout_ms;
    bool ever = from_ns != NEVER_NS && ms < (NEVER_NS - from_ns) / MILLISECOND_NS;
    return ever ? from_ns + ms * MILLISECOND_NS : NEVER_NS;
}

static const char *timeout_text(struct machine *m, uint32_t n, const char *inner)
{
    int64_t ms = m->tree->steps[n]->timeout_ms;
    int64_t ns = ms < NEVER_NS / MILLISECOND_NS ? ms * MILLISECOND_NS : NEVER_NS;
    const char *text =
        arena_printf(m->arena, "exceeded %s timeout", duration_text(m->arena, ns));
    return texts_joined(m->arena, text, inner);
}

static struct step_verdict verdict_of_timeout(struct machine *m, uint32_t n, int64_t cut_ns,
                                         int64_t own_ns)
{
    size_t begins = m->out.begin_count;
    struct step_verdict v = verdict_of(m, n + 1, cut_ns);
    if (v.out == GOES_ON && cut_ns == NEVER_NS) {
        int64_t expires = expires_ns(m, n);
        if (m->now_ns >= expires) { /* (4) */
            begin_no_more(m, begins);
            add_cut(m, n, CUT_TIMEOUT);
        } else {
            due(m, expires);
        }
    } else if (v.out != GOES_ON && own_ns == cut_ns && m->known[n].why == CUT_TIMEOUT &&
               own_ns != NEVER_NS && v.at_ns >= own_ns && (v.cut || v.at_ns > own_ns)) {
        v = (struct step_verdict){HAS_FAILED, false, v.at_ns, timeout_text(m, n, v.text)};
    }
    return v;
}

static struct step_verdict verdict_of_progress(struct machine *m, uint32_t n, int64_t cut_ns)
{
    const Rep__Step *step = m->tree->steps[n];
    if (step->start_message[0]) {
        add_line(m, n, false, false, step->start_message); /* if it begins: see drop_early() */
    }
    struct step_verdict v = verdict_of(m, n + 1, cut_ns);
    if (v.out == WENT_WELL && step->success_message[0]) { /* (5) */
        add_line(m, n, true, false, step->success_message);
    } else if (v.out == HAS_FAILED && step->failure_message_prefix[0]) {
        const char *between = v.text[0] ? ": " : "";
        add_line(m, n, true, true,
                 arena_printf(m->arena, "%s%s%s", step->failure_message_prefix, between, v.text));
    }
    return v;
}

static struct step_verdict verdict_of_main(struct machine *m, uint32_t first, int64_t cut_ns)
{
    uint32_t end = m->tree->steps[0]->end;
    m->out.first_well = first;
    if (m->tree->steps[first]->end == end) {
        return verdict_of(m, first, cut_ns);
    }
    struct company c = bound_together(m, first, end, cut_ns, "");
    c.sum.out = c.over < c.count ? GOES_ON : c.failed > 0 ? HAS_FAILED : WENT_WELL; /* (7) */
    bool all_cut = true;
    int64_t well_ns = NEVER_NS;
    for (size_t i = 0, n = first; i < c.count; n = m->tree->steps[n]->end, i++) {
        const struct step_verdict *v = &c.each[i];
        all_cut = all_cut && v->cut;
        if (v->out == WENT_WELL && !v->cut && v->at_ns < well_ns) {
            m->out.first_well = (uint32_t)n;
            well_ns = v->at_ns;
        }
    }
    c.sum.cut = all_cut;
    c.sum.out = c.sum.out == WENT_WELL && all_cut ? HAS_FAILED : c.sum.out;
    return c.sum;
}

static struct step_verdict verdict_of(struct machine *m, uint32_t n, int64_t cut_ns)
{
    int64_t own_ns = m->known[n].cut_ns;
    int64_t both_ns = earlier_ns(cut_ns, own_ns);
    switch (m->tree->steps[n]->kind) {
    case REP__STEP__KIND__RUN:
    case REP__STEP__KIND__DOWNLOAD:
    case REP__STEP__KIND__UPLOAD:
        return verdict_of_leaf(m, n, both_ns);
    case REP__STEP__KIND__SERIAL:
        return verdict_of_serial(m, n, both_ns);
    case REP__STEP__KIND__PARALLEL:
        return verdict_of_parallel(m, n, both_ns);
    case REP__STEP__KIND__CODEPENDENT:
        return verdict_of_codependent(m, n, both_ns);
    case REP__STEP__KIND__TRY:
        return verdict_of_try(m, n, both_ns);
    case REP__STEP__KIND__TIMEOUT:
        return verdict_of_timeout(m, n, both_ns, own_ns);
    default:
        assert(m->tree->steps[n]->kind == REP__STEP__KIND__EMIT_PROGRESS);
        return verdict_of_progress(m, n, both_ns);
    }
}

/* Whether something of it has begun, or does now. */
static bool begins(const struct machine *m, uint32_t n)
{
    bool now = false;
    for (size_t i = 0; i < m->out.begin_count; i++) {
        now = now || (m->out.begins[i] >= n && m->out.begins[i] < m->tree->steps[n]->end);
    }
    return now || began_ns(m, n) != NEVER_NS;
}

/* Lines of steps that do not begin after all are not said. */
static void drop_early(struct machine *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->out.line_count; i++) {
        if (m->out.lines[i].at_end || begins(m, m->out.lines[i].step)) {
            m->out.lines[kept++] = m->out.lines[i];
        }
    }
    assert(kept <= m->out.line_count);
    m->out.line_count = kept;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* A transfer that came out well: what follows it can begin. */
static bool is_brought(const struct machine *m, uint32_t n)
{
    const struct known *k = &m->known[n];
    return tree_is_transfer(m->tree, n) && k->ended && !k->lost && went_well(k->end);
}

/* Whether each leaf of it that can begin at once has begun, or never will; files come and go before
 * it counts as running. */
static bool has_begun(const struct machine *m, uint32_t n, int64_t cut_ns)
{
    cut_ns = earlier_ns(cut_ns, m->known[n].cut_ns);
    if (tree_is_leaf(m->tree, n)) {
        bool begun = m->known[n].begins > 0 || cut_ns != NEVER_NS;
        return m->known[n].ended || (begun && !tree_is_transfer(m->tree, n));
    }
    bool all = true;
    TREE_EACH(m->tree, n, child)
    {
        all = all && has_begun(m, child, cut_ns);
        if (m->tree->steps[n]->kind == REP__STEP__KIND__SERIAL && !is_brought(m, child)) {
            break;
        }
    }
    return all;
}

/* What comes before the container starts (14). */
static struct step_verdict verdict_of_dependencies(struct machine *m, int64_t cut_ns)
{
    struct step_verdict v = {WENT_WELL, false, 0, ""};
    if (m->tree->steps[0]->dependencies) {
        v = verdict_of(m, 1, cut_ns);
        v.text = v.out == HAS_FAILED && !v.cut ? STEP_DEPENDENCIES_TEXT : v.text;
    }
    if (v.out == WENT_WELL && m->where == STEPS_BEFORE) {
        m->out.start = true;
        v.out = GOES_ON;
    }
    return v;
}

/* The whole is lost, and not because it was cut (15). */
static bool is_lost(const struct machine *m)
{
    return m->known[0].lost && m->known[0].ended_ns < m->known[0].cut_ns;
}

static void run_whole(struct machine *m)
{
    const Rep__Step *whole = m->tree->steps[0];
    int64_t cut_ns = is_lost(m) ? m->known[0].ended_ns : m->known[0].cut_ns;
    uint32_t first = tree_first_inside(m->tree), action = tree_action(m->tree);
    struct step_verdict v = verdict_of_dependencies(m, cut_ns);
    if (v.out == WENT_WELL && whole->setup) { /* (8) */
        v = verdict_of(m, first, cut_ns);
    }
    if (v.out == WENT_WELL) {
        v = verdict_of_main(m, action, cut_ns);
        m->out.ready = true;
        for (uint32_t n = action; n < whole->end; n = m->tree->steps[n]->end) {
            m->out.ready = m->out.ready && has_begun(m, n, cut_ns);
        }
    }
    if (whole->monitored && m->out.ready && v.out == WENT_WELL &&
        m->where != STEPS_GONE) { /* (12) */
        v = cut_ns == NEVER_NS ? going_on : (struct step_verdict){HAS_FAILED, true, cut_ns, ""};
    }
    if (v.out == HAS_FAILED && v.cut && is_lost(m)) { /* (15) */
        const char *by_what = m->known[0].end->text;
        v = (struct step_verdict){HAS_FAILED, false, v.at_ns,
                                  by_what[0] ? by_what : STEP_SHIM_TEXT};
    }
    m->out.over = v.out != GOES_ON;
    m->out.failed = v.out == HAS_FAILED;
    m->out.cut = v.cut;
    m->out.text = m->out.failed ? v.text : "";
    assert(!m->out.failed || v.cut || v.text[0]);
}

struct steps_orders steps_next(struct arena *a, const struct action_tree *tree,
                               const struct step_fact *facts, size_t fact_count, int64_t now_ns,
                               enum steps_where where)
{
    assert(tree->count > 1 && tree->steps[0]->kind == REP__STEP__KIND__WHOLE);
    struct machine m = {.arena = a, .tree = tree, .now_ns = now_ns, .where = where};
    m.out = (struct steps_orders){
        .begins = ARENA_ARRAY(a, tree->count, uint32_t),
        .cuts = ARENA_ARRAY(a, 2 * tree->count, struct step_cut),
        .signals = ARENA_ARRAY(a, tree->count, struct step_signal),
        .lines = ARENA_ARRAY(a, 2 * tree->count, struct step_line),
        .text = "",
        .due_ns = NEVER_NS,
    };
    learn_all(&m, facts, fact_count);
    run_whole(&m);
    drop_early(&m);
    assert(where != STEPS_GONE || m.out.over);
    return m.out;
}
