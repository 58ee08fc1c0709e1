#include "test/sim/checkers/checkers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/codec/scan.h"

enum { BODY_MAX = 16 * 1024 * 1024 };

#define CHECKER(name, invariant, sees, function, says) {#name, invariant, says, .sees = function},
const struct checker checkers_table[] = {
#include "test/sim/checkers/checkers.def"
    {0},
};

/* Shows all checkers of a kind what they are there for. */
#define EACH(sees, ...)                                                                            \
    for (const struct checker *each = checkers_table; each->name; each++) {                        \
        if (each->sees) {                                                                          \
            each->sees(__VA_ARGS__);                                                               \
        }                                                                                          \
    }

void checkers_init(struct checkers *k, struct cluster *c, int64_t reconcile_ns)
{
    *k = (struct checkers){
        .cluster = c, .settings = SETTINGS_DEFAULT, .reconcile_ns = reconcile_ns};
    history_init(&k->history);
    map_init(&k->instances);
    map_init(&k->held);
    map_init(&k->units);
    map_init(&k->unit_runs);
    buf_init(&k->violation);
    for (int i = 0; i < CLUSTER_CELLS_MAX; i++) {
        k->room_since_ns[i] = NEVER_NS;
    }
    for (int i = 0; i < CLUSTER_BBS_MAX; i++) {
        k->differs_since_ns[i] = NEVER_NS;
    }
}

void checkers_done(struct checkers *k)
{
    EACH(done, k);
    map_done(&k->instances, NULL);
    map_done(&k->held, NULL);
    map_done(&k->heard, NULL);
    history_done(&k->history);
    buf_done(&k->violation);
}

__attribute__((format(printf, 3, 0)))
static void report(struct checkers *k, const char *invariant, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof(text), format, args);
    buf_printf(&k->violation, "%s: %s", invariant, text);
    world_note(k->cluster->world, "VIOLATION", "%s: %s", invariant, text);
}

void checkers_report(struct checkers *k, const char *invariant, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!k->violation.size) {
        report(k, invariant, format, args);
    }
    va_end(args);
}

void checkers_report_told(struct checkers *k, const char *invariant, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!k->violation.size && !checkers_slipped(k)) {
        report(k, invariant, format, args);
    }
    va_end(args);
}

bool checkers_slipped(const struct checkers *k)
{
    for (int i = 0; i < CLUSTER_BBS_MAX; i++) {
        if (k->slips[i]) {
            return true;
        }
    }
    return false;
}

bool checkers_slipped_at(const struct checkers *k, const struct node *bbs)
{
    for (unsigned i = 0; i < k->cluster->options.bbs; i++) {
        if (k->slips[i] && k->cluster->bbs[i] == bbs) {
            return true;
        }
    }
    return false;
}

bool checkers_clean(const struct checkers *k)
{
    return k->violation.size == 0;
}

static void count_move(struct checkers *k, const struct past *p)
{
    static const char *const moves[SEEN_COUNT] = {
#define COUNT(id, text)
#define MOVES(id, text) [SEEN_##id] = text,
#include "test/sim/checkers/checkers.def"
    };
    const char *move = p->cause ? p->cause->move : "";
    for (int i = 0; i < SEEN_COUNT; i++) {
        k->seen[i] += moves[i] && strncmp(move, moves[i], strlen(moves[i])) == 0;
    }
    if (strcmp(move, "start") == 0 && p->type == RECORD_ACTUAL && p->message) {
        k->started_cell =
            ((const Models__ActualLRP *)p->message)->actual_lrp_instance_key->cell_id;
    }
}

static void note_change(struct checkers *k, const struct passage *p)
{
    k->seen[SEEN_COMMITS]++;
    k->seen[SEEN_CHANGES] += p->count;
    for (size_t i = 0; i < p->count; i++) {
        count_move(k, p->list[i]);
        if (p->list[i]->type == RECORD_ACTUAL || p->list[i]->type == RECORD_DESIRED) {
            k->lrp_change_ns = p->at_ns;
        }
    }
}

void checkers_committed(struct checkers *k, const struct world_commit *commit)
{
    struct model_etcd *etcd = store_etcd(k->cluster->store);
    struct passage p;
    k->started_cell = NULL;
    while (history_next(&k->history, etcd, world_now(k->cluster->world), &p)) {
        note_change(k, &p);
        /* An older revision is a stranger's, who says nothing of it. */
        bool theirs = commit && p.revision == model_etcd_revision(etcd);
        EACH(revision, k, &p, theirs ? commit : NULL);
    }
}

void checkers_restored(struct checkers *k, int64_t revision)
{
    history_restored(&k->history, revision);
    EACH(restored, k);
    checkers_touch(k, -1);
}

void checkers_loaded(struct checkers *k, const struct node *bbs, const char *board_generation)
{
    for (unsigned i = 0; i < k->cluster->options.bbs; i++) {
        bool first = k->looks_since_ns[i] < node_started_ns(bbs) || !k->looks_in[i] ||
                     strcmp(k->looks_in[i], board_generation) != 0;
        if (k->cluster->bbs[i] == bbs && first) {
            k->looks_since_ns[i] = world_now(k->cluster->world);
            k->looks_in[i] = arena_strdup(&k->history.arena, board_generation);
        }
    }
}

const Board__DomainRecord *domain_of_board_generation(struct checkers *k, struct arena *a,
                                                      const char *domain)
{
    const struct past *p = map_get(&k->history.now, key_domain(a, domain));
    return p && p->revision > history_board_generation(&k->history)
               ? (const Board__DomainRecord *)p->message
               : NULL;
}

void checkers_asked(struct checkers *k, struct node *from, const struct call *call)
{
    ProtobufCMessage *m;
    SCOPED_ARENA(a);
    if (strstr(call->url, "/v1/board/apply") &&
        scan_and_unpack(&a, &board__apply_request__descriptor, call->body, BODY_MAX, &m, NULL) ==
            0) {
        const Board__ApplyRequest *request = (const Board__ApplyRequest *)m;
        for (size_t i = 0; i < request->n_moves; i++) {
            EACH(asked, k, from, request->moves[i]);
        }
    }
}

void checkers_answered(struct checkers *k, const struct world_answer *answer)
{
    ProtobufCMessage *q, *r;
    EACH(told, k, answer);
    if (strcmp(answer->path, "/v1/board/apply") != 0 || answer->status != 200) {
        return;
    }
    SCOPED_ARENA(a);
    if (scan_and_unpack(&a, &board__apply_request__descriptor, answer->request, BODY_MAX, &q,
                        NULL) == 0 &&
        scan_and_unpack(&a, &board__apply_response__descriptor, answer->body, BODY_MAX, &r,
                        NULL) == 0) {
        const Board__ApplyRequest *request = (const Board__ApplyRequest *)q;
        const Board__ApplyResponse *response = (const Board__ApplyResponse *)r;
        for (size_t i = 0; i < response->n_results && i < request->n_moves; i++) {
            EACH(move, k, &(struct seen_answer){answer, request, request->moves[i],
                                                response->results[i]});
        }
    } else {
        checkers_report(k, "S2", "%s answers %s with something malformed", node_name(answer->by),
                        answer->path);
    }
}

void checkers_verb(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    k->seen[SEEN_VERBS]++;
    EACH(verb, k, cell, call);
}

void checkers_logged(struct checkers *k, struct node *n, const struct log_line *line)
{
    EACH(log, k, n, line);
}

void checkers_look(struct checkers *k)
{
    EACH(second, k);
}

void checkers_look_healed(struct checkers *k)
{
    EACH(healed, k);
}

void checkers_at_rest(struct checkers *k, struct buf *ret_why)
{
    EACH(rest, k, ret_why);
}

int checkers_cell(const struct checkers *k, const struct node *cell)
{
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        if (k->cluster->cells[i] == cell) {
            return (int)i;
        }
    }
    return -1;
}

int checkers_cell_named(const struct checkers *k, const char *cell_id)
{
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        if (strcmp(node_name(k->cluster->cells[i]), cell_id) == 0) {
            return (int)i;
        }
    }
    return -1;
}

void checkers_touch(struct checkers *k, int cell)
{
    int64_t now = world_now(k->cluster->world);
    k->touched_ns = cell < 0 ? now : k->touched_ns;
    for (int i = 0; i < CLUSTER_CELLS_MAX; i++) {
        if (cell < 0 || cell == i) {
            k->well_since_ns[i] = now;
        }
    }
}
