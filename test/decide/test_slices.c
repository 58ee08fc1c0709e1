/* Slices of a site: each move of its CRM, rule by rule (bbs/slice), and what it decides by is held
 * to its compares. A board is a line each:
 *   cell c1 1024/2048/8 [pool=TAG] [used] [lost] [emptied] [asks]     memory, disk, containers
 *   slice u2 2x512/512/4 [digest=D] [cells=c3,c4] [use=g1:owner:2x256/256]...
 *   lrp g1:owner:2x256/128 [slice]     what is desired: instances, memory, disk; "-": in none */
#include "bbs/domain/domain.h"
#include "bbs/lrp/desired.h"
#include "bbs/slice/slice.h"
#include "common/model/moves.h"
#include "test/decide/laid_board.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GENERATION "E"
#define TERM 5
#define NO(why) "ResourceConflict: slice u: " why
static const struct moment now = {.wall_ns = 1000 * SECOND_NS, .mono_ns = 50 * SECOND_NS};

struct fixture {
    struct arena arena;
    struct laid_board *board;
    int64_t revision;
};

static void put(struct fixture *f, const char *key, const ProtobufCMessage *m)
{
    laid_put(f->board, key, m, f->revision, f->revision, 0);
    f->revision++;
}

static char *text(struct fixture *f, const char *t)
{
    return arena_strdup(&f->arena, t);
}

static void put_used(struct fixture *f, const char *cell)
{
    Models__ActualLRP *l = arena_message(&f->arena, &models__actual_lrp__descriptor);
    l->actual_lrp_key = arena_message(&f->arena, &models__actual_lrpkey__descriptor);
    l->actual_lrp_key->process_guid = text(f, "p");
    l->actual_lrp_instance_key =
        arena_message(&f->arena, &models__actual_lrpinstance_key__descriptor);
    l->actual_lrp_instance_key->cell_id = text(f, cell);
    l->state = text(f, "RUNNING");
    put(f, key_actual(&f->arena, cell, 0, 0), &l->base);
}

static void put_cell(struct fixture *f, char *words)
{
    char *rest;
    const char *id = strtok_r(words, " ", &rest), *word = strtok_r(NULL, " ", &rest);
    Board__CellRecord *c = arena_message(&f->arena, &board__cell_record__descriptor);
    Models__CellPresence *p = arena_message(&f->arena, &models__cell_presence__descriptor);
    p->cell_id = text(f, id);
    p->capacity = arena_message(&f->arena, &models__cell_capacity__descriptor);
    assert_int_equal(sscanf(word, "%d/%d/%d", &p->capacity->memory_mb, &p->capacity->disk_mb,
                            &p->capacity->containers),
                     3);
    p->n_optional_placement_tags = 1;
    p->optional_placement_tags = ARENA_ARRAY(&f->arena, 1, char *);
    p->optional_placement_tags[0] = text(f, "disk:ssd");
    c->presence = p;
    c->incarnation = 1;
    c->pool = text(f, "");
    while ((word = strtok_r(NULL, " ", &rest))) {
        if (strncmp(word, "pool=", 5) == 0) {
            c->pool = text(f, word + 5);
        } else if (strcmp(word, "used") == 0) {
            put_used(f, id);
        } else if (strcmp(word, "lost") == 0) {
            c->state = BOARD__CELL_RECORD__STATE__LOST;
        } else if (strcmp(word, "emptied") == 0) {
            c->evacuating = true;
        } else {
            assert_string_equal(word, "asks");
            p->n_placement_tags = 1;
            p->placement_tags = p->optional_placement_tags;
        }
    }
    put(f, key_cell(&f->arena, id), &c->base);
}

static Board__NodeSize *node_of(struct fixture *f, const char *word, uint32_t *ret_nodes)
{
    Board__NodeSize *n = arena_message(&f->arena, &board__node_size__descriptor);
    assert_int_equal(
        sscanf(word, "%ux%d/%d/%d", ret_nodes, &n->memory_mb, &n->disk_mb, &n->containers), 4);
    return n;
}

static char **list_of(struct fixture *f, char *words, size_t *ret_count)
{
    char **list = ARENA_ARRAY(&f->arena, 80, char *), *rest;
    *ret_count = 0;
    for (char *w = strtok_r(words, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
        list[(*ret_count)++] = w;
    }
    return list;
}

static Board__SliceUse *use_of(struct fixture *f, char *word)
{
    Board__SliceUse *u = arena_message(&f->arena, &board__slice_use__descriptor);
    char *rest;
    u->process_guid = strtok_r(word, ":", &rest);
    u->owner = strtok_r(NULL, ":", &rest);
    assert_int_equal(sscanf(rest, "%dx%d/%d", &u->instances, &u->memory_mb, &u->disk_mb), 3);
    return u;
}

static void put_slice(struct fixture *f, char *words)
{
    char *rest;
    Board__SliceRecord *s = arena_message(&f->arena, &board__slice_record__descriptor);
    s->uid = strtok_r(words, " ", &rest);
    s->digest = text(f, "D");
    s->node = node_of(f, strtok_r(NULL, " ", &rest), &s->nodes);
    s->uses = ARENA_ARRAY(&f->arena, 8, Board__SliceUse *);
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        if (strncmp(word, "cells=", 6) == 0) {
            s->cells = list_of(f, word + 6, &s->n_cells);
        } else if (strncmp(word, "use=", 4) == 0) {
            s->uses[s->n_uses++] = use_of(f, word + 4);
        } else {
            assert_int_equal(strncmp(word, "digest=", 7), 0);
            s->digest = word + 7;
        }
    }
    put(f, key_slice(&f->arena, s->uid), &s->base);
}

static Models__DesiredLRP *lrp_of(struct fixture *f, char *words)
{
    Models__DesiredLRP *d = arena_message(&f->arena, &models__desired_lrp__descriptor);
    char *rest, *size;
    d->process_guid = strtok_r(words, ":", &rest);
    d->owner = arena_message(&f->arena, &models__owner__descriptor);
    d->owner->kind = text(f, "appinst");
    d->owner->uid = strtok_r(NULL, ":", &rest);
    size = strtok_r(NULL, " ", &rest);
    assert_int_equal(sscanf(size, "%dx%d/%d", &d->instances, &d->memory_mb, &d->disk_mb), 3);
    const char *slice = strtok_r(NULL, " ", &rest);
    d->slice = text(f, slice && strcmp(slice, "-") != 0 ? slice : "");
    d->domain = text(f, "edge.u");
    d->modification_tag = arena_message(&f->arena, &models__modification_tag__descriptor);
    d->modification_tag->epoch = text(f, "D1");
    return d;
}

static void begin(struct fixture *f, const char *lines)
{
    *f = (struct fixture){.revision = LAID_FIRST + 10};
    arena_init(&f->arena);
    f->board = laid_new(now, GENERATION);
    Board__LeaderLockRecord *lead =
        arena_message(&f->arena, &board__leader_lock_record__descriptor);
    lead->role = text(f, "site");
    laid_put(f->board, key_lead(&f->arena, "site"), &lead->base, TERM, TERM, 0);
    char *rest, *all = text(f, lines);
    for (char *line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *words = strchr(line, ' ');
        *words++ = 0;
        if (strcmp(line, "cell") == 0) {
            put_cell(f, words);
        } else if (strcmp(line, "lrp") == 0) {
            Models__DesiredLRP *d = lrp_of(f, words);
            put(f, key_desired(&f->arena, d->process_guid), &d->base);
        } else {
            assert_string_equal(line, "slice");
            put_slice(f, words);
        }
    }
}

static void end(struct fixture *f)
{
    laid_free(f->board);
    arena_done(&f->arena);
}

/* "make 2x512/512/4 [digest=D2] [cells=c1,c2] [tag=T]", of slice u. */
static Board__Move *move_of(struct fixture *f, const char *says)
{
    char *rest, *words = text(f, says);
    Board__Move *m = move_new(&f->arena, strtok_r(words, " ", &rest), key_slice(&f->arena, "u"));
    Board__SliceMove *body = arena_message(&f->arena, &board__slice_move__descriptor);
    m->term = arena_message(&f->arena, &board__term__descriptor);
    m->term->role = text(f, "site");
    m->term->board_generation = text(f, GENERATION);
    m->term->term = TERM;
    m->body_case = BOARD__MOVE__BODY_SLICE;
    m->slice = body;
    body->digest = text(f, "D");
    body->owner = text(f, "dev/web");
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        if (strncmp(word, "digest=", 7) == 0) {
            body->digest = word + 7;
        } else if (strncmp(word, "cells=", 6) == 0) {
            body->cells = list_of(f, word + 6, &body->n_cells);
        } else if (strncmp(word, "tag=", 4) == 0) {
            body->node->n_placement_tags = 1;
            body->node->placement_tags = ARENA_ARRAY(&f->arena, 1, char *);
            body->node->placement_tags[0] = word + 4;
        } else if (strncmp(word, "term=", 5) == 0) {
            m->term->term = atoi(word + 5);
        } else {
            body->node = node_of(f, word, &body->nodes);
        }
    }
    return m;
}

/* "slice u 2x512/512/4 D c1,c2", "cell c1 slice:u", "-slice u" */
static const char *plan_text(struct fixture *f, const struct plan *p)
{
    SCOPED_BUF(out);
    if (p->verdict == PLAN_REFUSE) {
        buf_printf(&out, "%s: %s",
                   protobuf_c_enum_descriptor_get_value(&models__error__type__descriptor,
                                                        (int)p->error_type)
                       ->name,
                   p->error_message);
    } else if (p->verdict == PLAN_NOTHING) {
        buf_append_string(&out, "nothing");
    }
    for (const struct change *c = p->changes; c; c = c->next) {
        const Board__SliceRecord *s = (const Board__SliceRecord *)c->message;
        buf_printf(&out, "%s%s%s", c == p->changes ? "" : "; ", c->message ? "" : "-", c->key);
        if (key_type(c->key) == RECORD_CELL) {
            buf_printf(&out, " \"%s\"", ((const Board__CellRecord *)c->message)->pool);
        } else if (c->message) {
            buf_printf(&out, " %ux%d/%d/%d %s", s->nodes, s->node->memory_mb, s->node->disk_mb,
                       s->node->containers, s->digest);
            for (size_t i = 0; i < s->n_cells; i++) {
                buf_printf(&out, "%s%s", i ? "," : " ", s->cells[i]);
            }
        }
    }
    return text(f, buf_string(&out));
}

static struct op_input input_of(enum actor actor, const void *request)
{
    return (struct op_input){.actor = actor,
                             .peer_name = "acme/paris",
                             .trace_id = "",
                             .boot_id = "b",
                             .request = request,
                             .now = now};
}

struct row {
    const char *rule, *board, *move, *plan;
};

static void try_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture f;
        struct laid_plan p;
        begin(&f, rows[i].board);
        const Board__Move *m = move_of(&f, rows[i].move);
        struct op_input in = input_of(ACTOR_SITE, m);
        laid_decide(f.board, move_row_named(&slice_moves, m->move)->op, &in, &f.arena, &p);
        const char *is = plan_text(&f, &p.plan);
        if (strcmp(is, rows[i].plan) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", rows[i].rule, is, rows[i].plan);
        }
        assert_true(p.plan.verdict != PLAN_COMMIT || laid_passes(f.board, &p.reads));
        end(&f);
    }
}
#define TRY(rows) try_rows(rows, sizeof(rows) / sizeof((rows)[0]))

#define C1 "cell c1 1024/4096/32\n"
#define C2 "cell c2 1024/4096/32\n"
#define FULL " nodes of 512 MiB memory, 512 MiB disk, 4 containers: "

static void a_slice_has_room_for_its_nodes(void **state)
{
    static const struct row rows[] = {
        {"made", C1 C2, "make 4x512/512/4", "slice/u 4x512/512/4 D"},
        {"made before", C1 "slice u 2x512/512/4\n", "make 2x512/512/4", "nothing"},
        {"there with other values", C1 "slice u 2x512/512/4\n", "make 2x512/512/4 digest=D2",
         NO("it is there with other values")},
        {"one node too many", C1 C2, "make 5x512/512/4", NO("not enough room for 5" FULL "4 have")},
        {"no cell is there", "", "make 1x512/512/4", NO("not enough room for 1" FULL "0 have")},
        {"a lost cell has none", C1 "cell c2 1024/4096/32 lost\n", "make 3x512/512/4",
         NO("not enough room for 3" FULL "2 have")},
        {"nor one that is emptied", C1 "cell c2 1024/4096/32 emptied\n", "make 3x512/512/4",
         NO("not enough room for 3" FULL "2 have")},
        {"nor one of a node pool", C1 "cell c2 1024/4096/32 pool=pool:s//:m#1\n",
         "make 3x512/512/4", NO("not enough room for 3" FULL "2 have")},
        {"nor one that another slice has whole",
         C1 "cell c2 1024/4096/32 pool=slice:u2\nslice u2 1x512/512/4 cells=c2\n",
         "make 3x512/512/4", NO("not enough room for 3" FULL "2 have")},
        {"beside what others have", C1 C2 "slice u2 3x512/512/4\n", "make 1x512/512/4",
         "slice/u 1x512/512/4 D"},
        {"not in their place", C1 C2 "slice u2 3x512/512/4\n", "make 2x512/512/4",
         NO("not enough room for 2" FULL "1 has")},
        {"not in the place of smaller ones", C1 "slice u2 2x512/512/4\n", "make 1x1024/512/4",
         NO("not enough room for 1 nodes of 1024 MiB memory, 512 MiB disk, 4 containers: 0 have")},
        {"what has no room anyhow takes none", C1 "slice u2 9x2048/512/4\n", "make 2x512/512/4",
         "slice/u 2x512/512/4 D"},
        {"disk", C1, "make 2x1/3000/1",
         NO("not enough room for 2 nodes of 1 MiB memory, 3000 MiB "
            "disk, 1 containers: 1 has")},
        {"containers", C1, "make 2x1/1/17",
         NO("not enough room for 2 nodes of 1 MiB memory, 1 MiB "
            "disk, 17 containers: 1 has")},
        {"a tag that the cells have", C1, "make 1x512/512/4 tag=disk:ssd", "slice/u 1x512/512/4 D"},
        {"one that none has", C1, "make 1x512/512/4 tag=gpu",
         NO("not enough room for 1 nodes of 512 MiB memory, 512 MiB disk, 4 containers, with its "
            "placement tags: 0 have")},
    };
    TRY(rows);
    (void)state;
}

#define OWN(cell) "cell " cell " 1024/4096/32 pool=slice:u\n"

static void whole_cells_come_and_go_with_it(void **state)
{
    static const struct row rows[] = {
        {"taken", C1 C2, "make 2x1024/512/4 cells=c1,c2",
         "cell/c1 \"slice:u\"; cell/c2 \"slice:u\"; slice/u 2x1024/512/4 D c1,c2"},
        {"its nodes fit on its cells alone", C1 C2, "make 2x1024/512/4 cells=c1",
         NO("not enough room for 2 nodes of 1024 MiB memory, 512 MiB disk, 4 containers: 1 has")},
        {"a cell that is used", "cell c1 1024/4096/32 used\n", "make 1x512/512/4 cells=c1",
         NO("cell c1 has work on it")},
        {"lost", "cell c1 1024/4096/32 lost\n", "make 1x512/512/4 cells=c1",
         NO("cell c1 is not there")},
        {"none of that name", C1, "make 1x512/512/4 cells=c7", NO("cell c7 is not there")},
        {"emptied", "cell c1 1024/4096/32 emptied\n", "make 1x512/512/4 cells=c1",
         NO("cell c1 is being emptied")},
        {"of a node pool", "cell c1 1024/4096/32 pool=pool:s//:m#1\n", "make 1x512/512/4 cells=c1",
         NO("cell c1 is another's")},
        {"the room of another's nodes", C1 "slice u2 1x512/512/4\n", "make 1x512/512/4 cells=c1",
         NO("not enough room for 1 nodes of 512 MiB memory, 512 MiB disk, 4 containers: 0 have")},
        {"of which another one has the room", C1 C2 "slice u2 2x512/512/4\n",
         "make 1x512/512/4 cells=c2", "cell/c2 \"slice:u\"; slice/u 1x512/512/4 D c2"},
        {"nodes that had no room before either", C1 "slice u2 1x2048/512/4\n",
         "make 1x512/512/4 cells=c1", "cell/c1 \"slice:u\"; slice/u 1x512/512/4 D c1"},
        {"one more, and the room of another's nodes",
         OWN("c1") C2 "slice u 1x512/512/4 cells=c1\nslice u2 1x512/512/4\n",
         "resize 3x512/512/4 digest=D2 cells=c1,c2",
         NO("not enough room for 3 nodes of 512 MiB memory, 512 MiB disk, 4 containers: 0 have")},
        {"that asks for tags", "cell c1 1024/4096/32 asks\n", "make 1x512/512/4 cells=c1",
         NO("cell c1 asks for placement tags")},
        {"another one, for one that goes", OWN("c1") C2 "slice u 1x512/512/4 cells=c1\n",
         "resize 1x512/512/4 digest=D2 cells=c2",
         "cell/c1 \"\"; cell/c2 \"slice:u\"; slice/u 1x512/512/4 D2 c2"},
        {"one that stays is not touched", OWN("c1") C2 "slice u 1x512/512/4 cells=c1\n",
         "resize 2x512/512/4 digest=D2 cells=c1,c2",
         "cell/c2 \"slice:u\"; slice/u 2x512/512/4 D2 c1,c2"},
        {"one with work on it does not go",
         "cell c1 1024/4096/32 pool=slice:u used\n" C2 "slice u 1x512/512/4 cells=c1\n",
         "resize 1x512/512/4 digest=D2 cells=c2", NO("cell c1 has work on it")},
        {"one that is gone is given back", C2 "slice u 1x512/512/4 cells=c1\n",
         "resize 1x512/512/4 digest=D2 cells=c2", "cell/c2 \"slice:u\"; slice/u 1x512/512/4 D2 c2"},
        {"a quota afterwards", OWN("c1") C2 "slice u 1x512/512/4 cells=c1\n",
         "resize 2x512/512/4 digest=D2", "cell/c1 \"\"; slice/u 2x512/512/4 D2"},
    };
    TRY(rows);
    (void)state;
}

#define USED "slice u 2x512/512/4 use=g1:a:2x256/128 use=g2:a:1x512/128 use=g3:b:1x512/128\n"

static void what_runs_in_it_keeps_its_room(void **state)
{
    static const struct row rows[] = {
        {"an update beside the old counts once, the larger", C1 C2 USED,
         "resize 2x512/1024/4 digest=D2", "slice/u 2x512/1024/4 D2"},
        {"too few nodes", C1 C2 USED, "resize 1x512/512/4 digest=D2",
         NO("not enough memory: 1024 MiB wanted, 512 MiB in it")},
        {"too small ones", C1 C2 USED, "resize 4x256/512/4 digest=D2",
         NO("an instance of 512 MiB memory and 128 MiB disk is larger than a node, of 256 and 512 "
            "MiB")},
        {"too little disk", C1 C2 USED, "resize 2x512/128/4 digest=D2",
         NO("not enough disk: 384 MiB wanted, 256 MiB in it")},
        {"too few containers", C1 C2 USED, "resize 2x512/512/1 digest=D2",
         NO("not enough containers: 3 wanted, 2 in it")},
        {"so already", C1 USED, "resize 1x1/1/1", "nothing"},
        {"nothing to resize", C1, "resize 1x1/1/1",
         "ResourceNotFound: the requested resource could not be found"},
    };
    TRY(rows);
    (void)state;
}

static void it_is_dropped_when_nothing_runs_in_it(void **state)
{
    static const struct row rows[] = {
        {"dropped", C1 "slice u 2x512/512/4\n", "drop", "-slice/u"},
        {"dropped before", C1, "drop", "nothing"},
        {"with its cells", OWN("c1") OWN("c2") "slice u 2x512/512/4 cells=c1,c2\n", "drop",
         "cell/c1 \"\"; cell/c2 \"\"; -slice/u"},
        {"one of them is gone", OWN("c2") "slice u 2x512/512/4 cells=c1,c2\n", "drop",
         "cell/c2 \"\"; -slice/u"},
        {"one is LOST", "cell c1 1024/4096/32 lost pool=slice:u\nslice u 1x512/512/4 cells=c1\n",
         "drop", "cell/c1 \"\"; -slice/u"},
        {"something runs in it", C1 USED, "drop", NO("something runs in it")},
        {"something ends on its cell yet",
         "cell c1 1024/4096/32 pool=slice:u used\nslice u 1x512/512/4 cells=c1\n", "drop",
         NO("cell c1 has work on it")},
    };
    TRY(rows);
    (void)state;
}

static void only_the_leading_crm_moves(void **state)
{
    static const struct row rows[] = {
        {"of a former term", C1, "make 1x512/512/4 term=4",
         "ResourceConflict: term 4 of the site is over: the board's is 5"},
    };
    TRY(rows);
    for (unsigned bit = 0; bit < ACTORS_MAX; bit++) {
        for (size_t i = 0; i < slice_moves.count; i++) {
            assert_int_equal(
                move_permitted(&slice_moves, &slice_moves.rows[i], (enum actor)(1 << bit)),
                1 << bit == ACTOR_SITE);
        }
    }
    (void)state;
}

static const char *own_cells; /* of the row that is tried */

/* A cell that only has room: one that is lost a moment later leaves slices without it as well. */
static bool only_has_room(const struct op_row *row, const char *key, bool added)
{
    (void)row, (void)added;
    return key_type(key) == RECORD_CELL && !strstr(own_cells, strchr(key, '/') + 1);
}

/* Each row's plan is another one where a record that it read is; its compares refuse that. */
static void what_it_decides_by_is_compared(void **state)
{
    static const char *const rows[][3] = {
        {C1 C2 "slice u2 1x512/512/4\n", "make 2x512/512/4", ""},
        {C1 C2 "slice u2 1x512/512/4\n", "make 1x512/512/4 cells=c2", "c2"},
        {OWN("c1") C2 "slice u 1x512/512/4 cells=c1\n", "resize 1x512/512/4 digest=D2 cells=c2",
         "c1 c2"},
        {OWN("c1") "slice u 1x512/512/4 cells=c1\n", "drop", "c1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct random random;
        SCOPED_BUF(fault);
        begin(&f, rows[i][0]);
        own_cells = rows[i][2];
        random_seed(&random, (uint64_t[2]){7, i});
        struct fixture s;
        begin(&s, "");
        Board__SliceRecord other = BOARD__SLICE_RECORD__INIT;
        Board__NodeSize node = BOARD__NODE_SIZE__INIT;
        node.memory_mb = 1024, node.disk_mb = 1, node.containers = 1;
        other.uid = text(&s, "u0"), other.nodes = 2, other.node = &node;
        Models__ActualLRP work = MODELS__ACTUAL_LRP__INIT;
        Models__ActualLRPInstanceKey at = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
        at.cell_id = text(&s, "c1"), at.instance_guid = text(&s, "i");
        work.actual_lrp_instance_key = &at;
        const struct laid_stranger strangers[] = {
            {key_slice(&s.arena, "u0"), &other.base},
            {key_actual(&s.arena, "p", 0, 0), &work.base},
        };
        const Board__Move *m = move_of(&f, rows[i][1]);
        struct op_input in = input_of(ACTOR_SITE, m);
        enum plan_verdict is = laid_hold(f.board, move_row_named(&slice_moves, m->move)->op, &in,
                                         strangers, 2, &random, 8, only_has_room, &fault);
        assert_int_equal(is, PLAN_COMMIT);
        assert_string_equal(buf_string(&fault), "");
        end(&s);
        end(&f);
    }
    (void)state;
}

/* ---- What runs in one ------------------------------------------------------------------------ */

static Board__Term *term_of(struct fixture *f, int64_t number)
{
    Board__Term *term = arena_message(&f->arena, &board__term__descriptor);
    term->role = text(f, "site");
    term->board_generation = text(f, GENERATION);
    term->term = number;
    return term;
}

/* The refusal; or what becomes of slices and definitions: "slice/u g1:a:2x256/128", "desired/g1
 * 2 [slice:u]", "-desired/g1". */
static const char *use_text(struct fixture *f, const struct plan *p)
{
    SCOPED_BUF(out);
    if (p->verdict == PLAN_REFUSE) {
        return plan_text(f, p);
    }
    for (const struct change *c = p->changes; c; c = c->next) {
        enum record_type type = key_type(c->key);
        if (type != RECORD_SLICE && type != RECORD_DESIRED) {
            continue;
        }
        buf_printf(&out, "%s%s%s", buf_string(&out)[0] ? "; " : "", c->message ? "" : "-", c->key);
        if (type == RECORD_DESIRED && c->message) {
            const Models__DesiredLRP *d = (const Models__DesiredLRP *)c->message;
            buf_printf(&out, " %d", d->instances);
            for (size_t i = 0; i < d->n_placementtags; i++) {
                buf_printf(&out, " %s", d->placementtags[i]);
            }
            assert_string_equal(d->slice, d->slice[0] ? "u" : "");
        } else if (c->message) {
            const Board__SliceRecord *s = (const Board__SliceRecord *)c->message;
            for (size_t i = 0; i < s->n_uses; i++) {
                const Board__SliceUse *u = s->uses[i];
                buf_printf(&out, " %s:%s:%dx%d/%d", u->process_guid, u->owner, u->instances,
                           u->memory_mb, u->disk_mb);
            }
        }
    }
    return text(f, buf_string(&out));
}

/* "desire g1:a:2x256/128 u", "update g1 3", "remove g1"; behind it "term=4", "by client". */
static void try_use(const struct row *row)
{
    struct fixture f;
    struct laid_plan p;
    begin(&f, row->board);
    char *words = text(&f, row->move), *by = strstr(words, " by client");
    char *old = strstr(words, " term=");
    Board__Term *term = by ? NULL : term_of(&f, old ? atoi(old + 6) : TERM);
    if (by) {
        *by = 0;
    }
    if (old) {
        *old = 0;
    }
    char *rest, *verb = strtok_r(words, " ", &rest);
    Models__DesireLRPRequest desire = MODELS__DESIRE_LRPREQUEST__INIT;
    Models__UpdateDesiredLRPRequest update = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPUpdate says = MODELS__DESIRED_LRPUPDATE__INIT;
    Models__RemoveDesiredLRPRequest removal = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    const struct op_row *op = &remove_row;
    const void *request = &removal;
    if (strcmp(verb, "desire") == 0) {
        desire.desired_lrp = lrp_of(&f, rest);
        desire.term = term;
        op = &desire_row;
        request = &desire;
    } else if (strcmp(verb, "update") == 0) {
        update.process_guid = strtok_r(NULL, " ", &rest);
        update.term = term;
        update.update = &says;
        says.optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
        says.instances = atoi(rest);
        op = &update_row;
        request = &update;
    } else {
        removal.process_guid = rest;
        removal.term = term;
    }
    struct op_input in = input_of(by ? ACTOR_CLIENT : ACTOR_SITE, request);
    laid_decide(f.board, op, &in, &f.arena, &p);
    const char *is = use_text(&f, &p.plan);
    if (strcmp(is, row->plan) != 0) {
        fail_msg("%s:\n%s\nnot\n%s", row->rule, is, row->plan);
    }
    assert_true(p.plan.verdict != PLAN_COMMIT || laid_passes(f.board, &p.reads));
    end(&f);
}

#define ROOM "slice u 2x512/512/4\n"
#define LRP ROOM_WITH("g1:a:1x512/128") "lrp g1:a:1x512/128 u\n"
#define ROOM_WITH(use) "slice u 2x512/512/4 use=" use "\n"

static void what_runs_in_it_is_written_with_it(void **state)
{
    static const struct row rows[] = {
        {"desired", ROOM, "desire g1:a:2x256/128 u", "desired/g1 2; slice/u g1:a:2x256/128"},
        {"beside another", ROOM_WITH("g2:b:1x512/1"), "desire g1:a:1x512/128 u",
         "desired/g1 1; slice/u g1:a:1x512/128 g2:b:1x512/1"},
        {"beside the former one of its owner", ROOM_WITH("g1:a:2x512/1"), "desire g2:a:2x512/1 u",
         "desired/g2 2; slice/u g1:a:2x512/1 g2:a:2x512/1"},
        {"more than it has", ROOM_WITH("g2:b:1x512/1"), "desire g1:a:2x512/128 u",
         NO("not enough memory: 1536 MiB wanted, 1024 MiB in it")},
        {"on its whole cells", "slice u 2x512/512/4 cells=c1\n", "desire g1:a:1x512/128 u",
         "desired/g1 1 slice:u; slice/u g1:a:1x512/128"},
        {"in a slice that is not there", "", "desire g1:a:1x512/128 u", NO("it is not there")},
        {"in none", ROOM, "desire g1:a:1x512/128 -",
         "ResourceConflict: it is in no slice: the CRM of a site asks for nothing else"},
        {"there already", LRP, "desire g1:a:1x512/128 u",
         "ResourceExists: the requested resource already exists"},
        {"in a former term", ROOM, "desire g1:a:1x512/128 u term=4",
         "ResourceConflict: term 4 of the site is over: the board's is 5"},
        {"more instances", LRP, "update g1 2", "desired/g1 2; slice/u g1:a:2x512/128"},
        {"more than there is room for", LRP, "update g1 3",
         NO("not enough memory: 1536 MiB wanted, 1024 MiB in it")},
        {"updated in a former term", LRP, "update g1 2 term=4",
         "ResourceConflict: term 4 of the site is over: the board's is 5"},
        {"updated by a client", LRP, "update g1 2 by client",
         "ResourceConflict: it is in slice u, of this site's centre: the centre changes it"},
        {"removed", LRP, "remove g1", "-desired/g1; slice/u"},
        {"removed, and its slice is gone", "lrp g1:a:1x512/128 u\n", "remove g1", "-desired/g1"},
        {"removed by a client", LRP, "remove g1 by client",
         "ResourceConflict: it is in slice u, of this site's centre: the centre changes it"},
        {"removed in a former term", LRP, "remove g1 term=4",
         "ResourceConflict: term 4 of the site is over: the board's is 5"},
        {"an ordinary one, by the CRM", "lrp g1:a:1x512/128\n", "remove g1",
         "ResourceConflict: it is in no slice: the CRM of a site asks for nothing else"},
        {"an ordinary one, by a client", "lrp g1:a:1x512/128\n", "remove g1 by client",
         "-desired/g1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        try_use(&rows[i]);
    }
    (void)state;
}

/* Two definitions that come at once see one another by the slice. */
static void uses_are_compared(void **state)
{
    struct fixture f;
    struct random random;
    SCOPED_BUF(fault);
    begin(&f, ROOM_WITH("g2:b:1x512/1"));
    random_seed(&random, (uint64_t[2]){11, 12});
    Models__DesireLRPRequest desire = MODELS__DESIRE_LRPREQUEST__INIT;
    desire.desired_lrp = lrp_of(&f, text(&f, "g1:a:1x512/128 u"));
    desire.term = term_of(&f, TERM);
    struct op_input in = input_of(ACTOR_SITE, &desire);
    assert_int_equal(laid_hold(f.board, &desire_row, &in, NULL, 0, &random, 8, NULL, &fault),
                     PLAN_COMMIT);
    assert_string_equal(buf_string(&fault), "");
    end(&f);
    (void)state;
}

static void it_has_at_most_so_many_uses(void **state)
{
    for (size_t count = SLICE_USES_MAX - 1; count <= SLICE_USES_MAX; count++) {
        struct fixture f;
        struct laid_plan p;
        begin(&f, "");
        Board__SliceRecord *s = arena_message(&f.arena, &board__slice_record__descriptor);
        s->uid = text(&f, "u");
        s->node = node_of(&f, "64x100/100/300", &s->nodes);
        s->uses = ARENA_ARRAY(&f.arena, count, Board__SliceUse *);
        for (; s->n_uses < count; s->n_uses++) {
            s->uses[s->n_uses] =
                use_of(&f, (char *)(uintptr_t)arena_printf(&f.arena, "o%03zu:o:1x1/1", s->n_uses));
        }
        put(&f, key_slice(&f.arena, "u"), &s->base);
        Models__DesireLRPRequest desire = MODELS__DESIRE_LRPREQUEST__INIT;
        desire.desired_lrp = lrp_of(&f, text(&f, "g1:a:1x1/1 u"));
        desire.term = term_of(&f, TERM);
        struct op_input in = input_of(ACTOR_SITE, &desire);
        laid_decide(f.board, &desire_row, &in, &f.arena, &p);
        assert_int_equal(p.plan.verdict, count < SLICE_USES_MAX ? PLAN_COMMIT : PLAN_REFUSE);
        assert_true(count < SLICE_USES_MAX ||
                    strstr(p.plan.error_message, "it has 256 uses, which is the most"));
        end(&f);
    }
    (void)state;
}

static void it_vouches_for_its_own_domains_alone(void **state)
{
    static const struct {
        const char *domain;
        int64_t term;
        const char *refusal;
    } rows[] = {
        {"edge.u", TERM, NULL},
        {"edge.u", 4, "term 4 of the site is over: the board's is 5"},
        {"apps", TERM, "domain apps is no domain of a slice: those begin with edge."},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct laid_plan p;
        begin(&f, "");
        Models__UpsertDomainRequest upsert = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
        upsert.domain = text(&f, rows[i].domain);
        upsert.ttl = 120;
        upsert.term = term_of(&f, rows[i].term);
        struct op_input in = input_of(ACTOR_SITE, &upsert);
        laid_decide(f.board, &upsert_domain_row, &in, &f.arena, &p);
        assert_int_equal(p.plan.verdict, rows[i].refusal ? PLAN_REFUSE : PLAN_COMMIT);
        if (rows[i].refusal) {
            assert_string_equal(p.plan.error_message, rows[i].refusal);
        }
        end(&f);
    }
    (void)state;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static bool is_valid(struct fixture *f, const char *move)
{
    struct validation v = {0};
    const Board__Move *m = move_of(f, move);
    move_row_named(&slice_moves, m->move)->valid(&v, m);
    bool ok = validation_ok(&v);
    validation_done(&v);
    return ok;
}

static void what_a_move_may_say(void **state)
{
    static const struct {
        const char *move;
        bool valid;
    } rows[] = {
        {"make 1x1/0/1", true},
        {"make 64x1/0/1", true},
        {"make 0x1/0/1", false},
        {"make 65x1/0/1", false},
        {"make 1x0/0/1", false},
        {"make 1x-1/0/1", false},
        {"make 1x1/-1/1", false},
        {"make 1x1/0/0", false},
        {"make", false},
        {"drop", true},
        {"make 1x1/0/1 digest=", false},
        {"make 1x1/0/1 cells=c1,c2", true},
        {"make 1x1/0/1 cells=c2,c1", false},
        {"make 1x1/0/1 cells=c1,c1", false},
    };
    struct fixture f;
    begin(&f, "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (is_valid(&f, rows[i].move) != rows[i].valid) {
            fail_msg("%s: %d", rows[i].move, !rows[i].valid);
        }
    }
    for (size_t cells = SLICE_CELLS_MAX; cells <= SLICE_CELLS_MAX + 1; cells++) {
        SCOPED_BUF(move);
        buf_append_string(&move, "make 1x1/0/1 cells=");
        for (size_t i = 0; i < cells; i++) {
            buf_printf(&move, "%sc%02zu", i ? "," : "", i);
        }
        assert_int_equal(is_valid(&f, buf_string(&move)), cells == SLICE_CELLS_MAX);
    }
    end(&f);
    (void)state;
}

/* One more than there may be, though there is room. */
static void there_are_at_most_so_many(void **state)
{
    for (size_t count = SLICES_MAX - 1; count <= SLICES_MAX; count++) {
        SCOPED_BUF(board);
        struct fixture f;
        struct laid_plan p;
        buf_append_string(&board, "cell c1 100000/100000/1000\n");
        for (size_t i = 0; i < count; i++) {
            buf_printf(&board, "slice o%03zu 1x1/1/1\n", i);
        }
        begin(&f, buf_string(&board));
        const Board__Move *m = move_of(&f, "make 1x1/1/1");
        struct op_input in = input_of(ACTOR_SITE, m);
        laid_decide(f.board, move_row_named(&slice_moves, m->move)->op, &in, &f.arena, &p);
        assert_string_equal(plan_text(&f, &p.plan),
                            count < SLICES_MAX ? "slice/u 1x1/1/1 D"
                                               : NO("there are 256 slices, which is the most"));
        end(&f);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_has_room_for_its_nodes),
        cmocka_unit_test(whole_cells_come_and_go_with_it),
        cmocka_unit_test(what_runs_in_it_keeps_its_room),
        cmocka_unit_test(it_is_dropped_when_nothing_runs_in_it),
        cmocka_unit_test(only_the_leading_crm_moves),
        cmocka_unit_test(what_it_decides_by_is_compared),
        cmocka_unit_test(what_runs_in_it_is_written_with_it),
        cmocka_unit_test(uses_are_compared),
        cmocka_unit_test(it_has_at_most_so_many_uses),
        cmocka_unit_test(it_vouches_for_its_own_domains_alone),
        cmocka_unit_test(what_a_move_may_say),
        cmocka_unit_test(there_are_at_most_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
