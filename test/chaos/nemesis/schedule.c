#include "test/chaos/nemesis/schedule.h"

#include <stdio.h>
#include <string.h>

const struct fault_kind fault_kinds[] = {
#define KIND(name, ...) {#name, __VA_ARGS__},
#include "test/chaos/nemesis/kinds.def"
#undef KIND
};
const int fault_kind_count = sizeof(fault_kinds) / sizeof(fault_kinds[0]);

enum { WINDOWS_MS = 20000 }; /* of cell and leader together (design.md 6) */

const struct recovery_row recovery_rows[RECOVERIES] = {
    [REQUESTS] = {"requests", 8000, false, 0},
    [LEADERSHIP] = {"leader", 8000, false, WINDOWS_MS},
    [CELLS] = {"cell", 12000, false, 0},
    [ELECTION] = {"election", 20000, false, WINDOWS_MS},
    [RECONNECT] = {"requests", 8000, true, 0},
    [NOTHING] = {"nothing", 8000, true, 0},
    [RESTART] = {"restart", 20000, true, WINDOWS_MS},
    [HELD] = {"held", 20000, true, WINDOWS_MS},
};

static const int64_t fault_pauses[] = {3000, 30000, 75000}; /* the last: longer than each window */
static const int64_t clock_jumps[] = {1, 30, 90, 3600, 86400};

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

const struct fault_kind *fault_kind_named(const char *name)
{
    for (int i = 0; i < fault_kind_count; i++) {
        const char *a = fault_kinds[i].name, *b = name;
        while (*a && (*a == *b || (*a == '_' && *b == '-'))) {
            a++, b++;
        }
        if (!*a && !*b) {
            return &fault_kinds[i];
        }
    }
    return NULL;
}

void schedule_init(struct schedule *s, uint64_t seed, const struct cluster_shape *shape)
{
    *s = (struct schedule){.shape = shape};
    random_seed(&s->random, (uint64_t[2]){0x6e656d65736973, seed});
    random_seed(&s->whom, (uint64_t[2]){0x77686f6d, seed});
}

void schedule_occupied(struct schedule *s, const bool *occupied, int count)
{
    for (int i = 0; i < CLUSTER_PROCESSES_MAX; i++) {
        s->occupied[i] = i < count && occupied[i];
    }
}

void schedule_spare_cells(struct schedule *s, const struct fault_kind *kind)
{
    s->spares_cells[kind - fault_kinds] = true;
}

/* ---- Whom ---- */

static bool is_one_of(const struct cluster_process *p, enum fault_who who)
{
    switch (who) {
    case ETCD:
        return p->role == ROLE_ETCD;
    case CELL:
        return p->role == ROLE_REP;
    case SMALL_CELL:
        return p->role == ROLE_REP && p->small_disk;
    case BBS:
        return p->role == ROLE_BBS;
    case NO_ETCD:
        return p->role != ROLE_ETCD;
    case NO_CELL:
        return p->role != ROLE_REP;
    case ZONE:
        return p->role == ROLE_REP && p->zone[0];
    default:
        return true;
    }
}

/* Who opens connections to whom; reps, auctioneers and convergers meet at a bbs, and an auctioneer
 * asks the cells itself. */
static bool talk(const struct cluster_process *a, const struct cluster_process *b)
{
    static const bool to[5][5] = {
        [ROLE_ETCD] = {[ROLE_ETCD] = true, [ROLE_BBS] = true},
        [ROLE_BBS] = {[ROLE_ETCD] = true,
                      [ROLE_AUCTIONEER] = true,
                      [ROLE_CONVERGER] = true,
                      [ROLE_REP] = true},
        [ROLE_AUCTIONEER] = {[ROLE_BBS] = true, [ROLE_REP] = true},
        [ROLE_CONVERGER] = {[ROLE_BBS] = true},
        [ROLE_REP] = {[ROLE_BBS] = true, [ROLE_AUCTIONEER] = true},
    };
    return a != b && to[a->role][b->role];
}

static void add_target(struct fault *f, const char *name)
{
    if (f->target_count < FAULT_TARGETS_MAX) {
        snprintf(f->targets[f->target_count++], FAULT_NAME_BYTES, "%s", name);
    }
}

/* One of those processes, each as likely; NULL if there is none. */
static const struct cluster_process *draw_of(struct schedule *s, enum fault_who who,
                                             const struct cluster_process *partner, bool occupied)
{
    const struct cluster_process *chosen = NULL;
    uint64_t seen = 0;
    for (int i = 0; i < s->shape->count; i++) {
        const struct cluster_process *p = &s->shape->processes[i];
        if (is_one_of(p, who) && (!partner || talk(partner, p)) && (!occupied || s->occupied[i]) &&
            random_below(&s->whom, ++seen) == 0) {
            chosen = p;
        }
    }
    return chosen;
}

/* A cell on which nothing runs shows little. */
static const struct cluster_process *draw_one(struct schedule *s, enum fault_who who,
                                              const struct cluster_process *partner)
{
    const struct cluster_process *chosen = NULL;
    bool of_cells = who == CELL || who == SMALL_CELL;
    if (of_cells && random_below(&s->whom, 100) < OCCUPIED_PERCENT) {
        chosen = draw_of(s, who, partner, true);
    }
    return chosen ? chosen : draw_of(s, who, partner, false);
}

static bool has_role(const struct cluster_shape *shape, enum cluster_role role)
{
    for (int i = 0; i < shape->count; i++) {
        if (shape->processes[i].role == role) {
            return true;
        }
    }
    return false;
}

static void draw_leader(struct schedule *s, struct fault *f)
{
    bool auctioneer = has_role(s->shape, ROLE_AUCTIONEER);
    bool converger = has_role(s->shape, ROLE_CONVERGER);
    if (auctioneer && (!converger || random_below(&s->whom, 2) == 0)) {
        add_target(f, "auctioneer-leader");
    } else if (converger) {
        add_target(f, "converger-leader");
    }
}

static void draw_pair(struct schedule *s, struct fault *f)
{
    const struct cluster_process *first = draw_one(s, ANYONE, NULL);
    const struct cluster_process *second = first ? draw_one(s, ANYONE, first) : NULL;
    if (second) {
        add_target(f, first->name);
        add_target(f, second->name);
    }
}

static void draw_zone(struct schedule *s, struct fault *f)
{
    const struct cluster_process *first = draw_one(s, ZONE, NULL);
    bool others = false;
    for (int i = 0; first && i < s->shape->count; i++) {
        const struct cluster_process *p = &s->shape->processes[i];
        bool same = strcmp(p->zone, first->zone) == 0;
        others = others || (p->role == ROLE_REP && !same);
        if (p->role == ROLE_REP && same) {
            add_target(f, p->name);
        }
    }
    f->target_count = others ? f->target_count : 0;
}

static enum fault_who who_of(const struct schedule *s, const struct fault_kind *kind)
{
    return kind->who == ANYONE && s->spares_cells[kind - fault_kinds] ? NO_CELL : kind->who;
}

/* Gives whether there is somebody. */
static bool draw_targets(struct schedule *s, struct fault *f)
{
    const struct cluster_process *one;
    f->target_count = 0;
    switch (f->kind->who) {
    case EVERYBODY:
        return s->shape->count > 0;
    case LEADER:
        draw_leader(s, f);
        break;
    case PAIR:
        draw_pair(s, f);
        break;
    case ZONE:
        draw_zone(s, f);
        break;
    case ETCD_LEADER:
        if (has_role(s->shape, ROLE_ETCD)) {
            add_target(f, "etcd-leader");
        }
        break;
    default:
        one = draw_one(s, who_of(s, f->kind), NULL);
        if (one) {
            add_target(f, one->name);
        }
    }
    return f->target_count > 0;
}

/* ---- How ---- */

static void draw_number(struct schedule *s, struct fault *f)
{
    int64_t jump;
    f->has_number = true;
    switch (f->kind->parameter) {
    case PERCENT:
        f->number = 20 + (int64_t)random_below(&s->random, 61);
        break;
    case DELAY:
        f->number = 50 + (int64_t)random_below(&s->random, 451);
        break;
    case CLOCK:
        jump = clock_jumps[random_below(&s->random, (uint64_t)ROWS(clock_jumps))];
        f->number = random_below(&s->random, 2) ? jump : -jump;
        break;
    default:
        f->has_number = false;
    }
}

static int64_t draw_hold(struct schedule *s, const struct fault_kind *kind)
{
    if (kind->parameter == PAUSE) {
        return fault_pauses[random_below(&s->random, (uint64_t)ROWS(fault_pauses))];
    }
    uint64_t span = (uint64_t)(kind->hold_max_ms - kind->hold_min_ms);
    return kind->hold_min_ms + (int64_t)random_below(&s->random, span + 1);
}

static void draw_manner(struct schedule *s, const struct fault_kind *kind, struct fault *f)
{
    *f = (struct fault){.kind = kind};
    draw_number(s, f);
    f->hold_ms = draw_hold(s, kind);
}

bool schedule_allow(struct schedule *s, const struct fault_kind *kind)
{
    struct schedule trial = *s;
    struct fault f = {.kind = kind};
    /* A pair may not be found by one draw. */
    for (int i = 0; i < 64 && s->allowed_count < ROWS(s->allowed); i++) {
        if (draw_targets(&trial, &f)) {
            s->allowed[s->allowed_count++] = kind;
            return true;
        }
    }
    return false;
}

/* By their weights, of those that came at most so often. Gives its place among the allowed. */
static int draw_weighed(struct schedule *s, int at_most)
{
    uint64_t sum = 0;
    for (int i = 0; i < s->allowed_count; i++) {
        sum += s->drawn[i] <= at_most ? (uint64_t)s->allowed[i]->weight : 0;
    }
    uint64_t at = random_below(&s->random, sum);
    int chosen = 0;
    while (s->drawn[chosen] > at_most || at >= (uint64_t)s->allowed[chosen]->weight) {
        at -= s->drawn[chosen] <= at_most ? (uint64_t)s->allowed[chosen]->weight : 0;
        chosen++;
    }
    return chosen;
}

/* By weight alone a rare kind would not come in a run of some minutes. */
static int draw_kind(struct schedule *s)
{
    int least = s->drawn[0], most = s->drawn[0];
    for (int i = 1; i < s->allowed_count; i++) {
        least = s->drawn[i] < least ? s->drawn[i] : least;
        most = s->drawn[i] > most ? s->drawn[i] : most;
    }
    return draw_weighed(s, random_below(&s->random, 100) < IN_TURN_PERCENT ? least : most);
}

/* A leader that is known by its part only may be any process of its role. */
static bool may_be_same(const char *a, const char *b)
{
    size_t role = strcspn(a, "-");
    bool by_part = strstr(a, "-leader") || strstr(b, "-leader");
    return strcmp(a, b) == 0 || (by_part && role == strcspn(b, "-") && strncmp(a, b, role) == 0);
}

static bool apart(const struct fault *a, const struct fault *b)
{
    for (int i = 0; i < a->target_count; i++) {
        for (int k = 0; k < b->target_count; k++) {
            if (may_be_same(a->targets[i], b->targets[k])) {
                return false;
            }
        }
    }
    return true;
}

/* The second of two; its kind is drawn whether or not it then finds somebody, so that what comes
 * later does not go by whom this one would have befallen. */
static bool draw_second(struct schedule *s, const struct fault *first, struct fault *f)
{
    int kind = draw_kind(s);
    draw_manner(s, s->allowed[kind], f);
    if (first->kind->who == EVERYBODY || f->kind->who == EVERYBODY) {
        return false;
    }
    s->drawn[kind]++;
    for (int i = 0; i < 16; i++) {
        if (draw_targets(s, f) && apart(first, f)) {
            return true;
        }
    }
    return false;
}

int schedule_next(struct schedule *s, struct fault ret_faults[FAULTS_AT_ONCE_MAX])
{
    bool found = false;
    if (s->allowed_count == 0) {
        return 0;
    }
    int kind = draw_kind(s);
    s->drawn[kind]++;
    draw_manner(s, s->allowed[kind], &ret_faults[0]);
    for (int i = 0; i < 64 && !found; i++) { /* a pair may not be found by one draw */
        found = draw_targets(s, &ret_faults[0]);
    }
    bool two = random_below(&s->random, 100) < TWO_AT_ONCE_PERCENT &&
               draw_second(s, &ret_faults[0], &ret_faults[1]);
    return found ? 1 + two : 0;
}

bool schedule_is_occupied(const struct schedule *s, const struct fault *fault)
{
    for (int i = 0; i < s->shape->count; i++) {
        for (int k = 0; s->occupied[i] && k < fault->target_count; k++) {
            if (strcmp(s->shape->processes[i].name, fault->targets[k]) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool fault_befalls_leaders(const struct fault *fault)
{
    if (fault->kind->who == EVERYBODY) {
        return true;
    }
    for (int i = 0; i < fault->target_count; i++) {
        if (strncmp(fault->targets[i], "auctioneer", 10) == 0 ||
            strncmp(fault->targets[i], "converger", 9) == 0 ||
            strncmp(fault->targets[i], "etcd", 4) == 0) {
            return true;
        }
    }
    return false;
}
