/* Moves of a cell's units, many in flight, by whoever has its rep's certificate in place of the
 * rep: test_bench_unit_moves assign SERVICE WIDTH             each unit that waits for a machine
 *   test_bench_unit_moves claim PROCESS WIDTH              the same of instances, beside it
 *   test_bench_unit_moves enter SERVICE WIDTH RELATION     each unit enters, as a requirer
 *   test_bench_unit_moves leave SERVICE WIDTH RELATION     each leaves; the relation is dying
 * Prints "NAME VALUE" a line: count, seconds, p50_ms, p99_ms, tries (decisions a move), and of
 * leave the removers: how often the relation's record went. Started by test/bench/test_units, with
 * the cell in BENCH_CELL: its rep, and all who lead, are stopped. */
#include "board.pb-c.h"
#include "common/model/moves.h"
#include "common/model/record.h"
#include "common/model/unit_name.h"
#include "test/bench/bench_io.h"
#include "units.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS_MAX = 20000, GUID_BYTES = 64, KEY_BYTES = 160 };

struct target {
    char key[KEY_BYTES], guid[GUID_BYTES]; /* of a unit, or of an unclaimed instance */
    uint32_t number;
};

struct load_of_moves {
    struct bench *bench;
    const char *move, *service, *cell;
    uint32_t relation;
    char relation_guid[GUID_BYTES];
    char definition[GUID_BYTES]; /* of the process */
    uint64_t incarnation;
    struct target *targets;
    int count;
    int removers;
    bool current, refused;
};

/* ---- What there is --------------------------------------------------------------------------- */

static void keep(struct load_of_moves *l, const char *key, const char *guid, uint32_t number)
{
    if (l->count == TARGETS_MAX) {
        fprintf(stderr, "bench: more than %d of %s\n", TARGETS_MAX, l->service);
        exit(2);
    }
    struct target *t = &l->targets[l->count++];
    snprintf(t->key, sizeof(t->key), "%s", key);
    snprintf(t->guid, sizeof(t->guid), "%s", guid);
    t->number = number;
}

static void keep_record(struct load_of_moves *l, const char *key, enum record_type type,
                        const ProtobufCMessage *m)
{
    bool claims = strcmp(l->move, "claim") == 0;
    if (type == RECORD_CELL) {
        const Board__CellRecord *cell = (const Board__CellRecord *)m;
        l->incarnation =
            strcmp(cell->presence->cell_id, l->cell) == 0 ? cell->incarnation : l->incarnation;
    } else if (type == RECORD_RELATION) {
        const Board__RelationRecord *r = (const Board__RelationRecord *)m;
        if (r->number == l->relation) {
            snprintf(l->relation_guid, sizeof(l->relation_guid), "%s", r->guid);
        }
    } else if (type == RECORD_UNIT) {
        const Board__UnitRecord *u = (const Board__UnitRecord *)m;
        if (!claims && strcmp(u->service, l->service) == 0) {
            keep(l, key, u->guid, u->number);
        }
    } else if (type == RECORD_DESIRED) {
        const Models__DesiredLRP *d = (const Models__DesiredLRP *)m;
        if (strncmp(d->process_guid, l->service, strlen(l->service)) == 0) {
            snprintf(l->definition, sizeof(l->definition), "%s", d->modification_tag->epoch);
        }
    } else if (type == RECORD_ACTUAL) {
        const Models__ActualLRP *lrp = (const Models__ActualLRP *)m;
        const Models__ActualLRPKey *k = lrp->actual_lrp_key;
        if (claims && strncmp(k->process_guid, l->service, strlen(l->service)) == 0) {
            keep(l, key, k->process_guid, (uint32_t)k->index);
        }
    }
}

static void on_frame(void *context, const Board__FeedFrame *frame)
{
    struct load_of_moves *l = context;
    if (frame->kind == BOARD__FEED_FRAME__KIND__CURRENT && !l->current) {
        l->current = true;
        bench_done(l->bench);
    } else if (frame->kind == BOARD__FEED_FRAME__KIND__DELETE) {
        l->removers += strncmp(frame->key, "relation/", 9) == 0;
    } else if (frame->kind == BOARD__FEED_FRAME__KIND__RECORD) {
        SCOPED_ARENA(a);
        struct err err;
        ProtobufCMessage *m;
        enum record_type type = key_type(frame->key);
        struct bytes record = {frame->record.data, frame->record.len};
        if (record_decode(&a, type, record, &m, &err) >= 0) {
            keep_record(l, frame->key, type, m);
        }
    }
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static const char *member(struct arena *a, const struct load_of_moves *l, const struct target *t)
{
    struct member_name m = {
        l->relation, "-", BOARD__ENDPOINT__ROLE__REQUIRER, {l->service, t->number}};
    return key_relation_member(a, &m);
}

static Board__Move *move_of_unit(struct arena *a, struct load_of_moves *l, struct target *t)
{
    bool assigns = strcmp(l->move, "assign") == 0;
    Board__Move *m = move_new(a, l->move, assigns ? t->key : member(a, l, t));
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    m->units->guid = t->guid;
    if (strcmp(l->move, "enter") == 0) {
        Board__UnitSetting *address = arena_message(a, &board__unit_setting__descriptor);
        address->key = arena_strdup(a, "private-address");
        address->value = arena_strdup(a, "127.0.0.1");
        m->units->settings = ARENA_ARRAY(a, 1, Board__UnitSetting *);
        m->units->settings[m->units->n_settings++] = address;
        m->units->relation_guid = l->relation_guid;
    }
    return m;
}

static Board__Move *claim(struct arena *a, const struct load_of_moves *l, const struct target *t)
{
    Board__Move *m =
        move_new_instance(a, "claim", t->guid, (int32_t)t->number, 0, arena_strdup(a, "default"));
    Models__ActualLRPInstanceKey *key =
        arena_message(a, &models__actual_lrpinstance_key__descriptor);
    key->instance_guid = arena_printf(a, "%s-%u", t->guid, t->number);
    key->cell_id = arena_strdup(a, l->cell);
    m->instance->actual_lrp_instance_key = key;
    m->instance->definition_id = arena_strdup(a, l->definition);
    return m;
}

static const ProtobufCMessage *request(void *context, struct arena *a, int unit, int step,
                                       const char **ret_path)
{
    struct load_of_moves *l = context;
    struct target *t = &l->targets[unit];
    Board__ApplyRequest *r = arena_message(a, &board__apply_request__descriptor);
    r->cell_id = arena_strdup(a, l->cell);
    r->moves = ARENA_ARRAY(a, 1, Board__Move *);
    r->moves[r->n_moves++] = strcmp(l->move, "claim") == 0 ? claim(a, l, t) : move_of_unit(a, l, t);
    r->moves[0]->incarnation = l->incarnation;
    *ret_path = "/v1/board/apply";
    return &r->base;
}

/* Each has to be done, by this move. */
static bool was_done(void *context, struct bytes body)
{
    struct load_of_moves *l = context;
    Board__ApplyResponse *r = board__apply_response__unpack(NULL, body.size, body.data);
    bool done =
        r && r->n_results == 1 && r->results[0]->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE;
    bool first = !l->refused;
    l->refused |= !done;
    if (!done && first) {
        const Models__Error *e = r && r->n_results == 1 ? r->results[0]->error : NULL;
        fprintf(stderr, "bench: a move was not done: %s\n", e ? e->message : "no word of it");
    }
    if (r) {
        board__apply_response__free_unpacked(r, NULL);
    }
    return done;
}

/* ---- The load -------------------------------------------------------------------------------- */

/* The frame that tells of the relation's end may come after the last answer. */
static void hear_of_the_end(struct load_of_moves *l, bool leaves)
{
    for (int i = 0; leaves && l->removers == 0 && i < 100; i++) {
        bench_count(l->bench);
    }
}

static int measure(struct load_of_moves *l, int width)
{
    struct bench_counts before = bench_count(l->bench);
    bench_look_at_answers(l->bench, was_done, l);
    struct bench_result r = bench_load(l->bench, width, l->count, 1, request, l);
    bench_look_at_answers(l->bench, NULL, NULL);
    struct bench_counts after = bench_count(l->bench);
    hear_of_the_end(l, strcmp(l->move, "leave") == 0);
    printf("count %d\nseconds %.3f\np50_ms %.2f\np99_ms %.2f\n", l->count, l->count / r.per_second,
           r.p50_ms, r.p99_ms);
    printf("tries %.3f\nconflicts %.0f\nremovers %d\n",
           1 + (after.conflicts - before.conflicts) / l->count, after.conflicts - before.conflicts,
           l->removers);
    return r.failures;
}

int main(int argc, char **argv)
{
    int width = argc > 3 ? atoi(argv[3]) : 0;
    if (argc < 4 || argc > 5 || width < 1) {
        fprintf(stderr, "usage: %s assign|claim|enter|leave NAME WIDTH [RELATION]\n", argv[0]);
        return 2;
    }
    struct load_of_moves l = {
        .bench = bench_new(),
        .move = argv[1],
        .service = argv[2],
        .cell = bench_needed("BENCH_CELL"),
        .relation = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0,
        .targets = calloc(TARGETS_MAX, sizeof(struct target)),
    };
    if (!l.targets) {
        return 1;
    }
    bench_follow(l.bench, "cell relation unit desired actual", on_frame, &l);
    if (!bench_wait(l.bench) || l.count == 0 || l.incarnation == 0) {
        fprintf(stderr, "bench: there is nothing of %s, or no cell %s\n", l.service, l.cell);
        return 1;
    }
    int failures = measure(&l, width);
    free(l.targets);
    bench_free(l.bench);
    if (failures) {
        fprintf(stderr, "bench: %d moves failed\n", failures);
    }
    return failures != 0;
}
