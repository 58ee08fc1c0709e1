/* Target: journals of units. What is read is one that a rep goes on with: of a unit that is still
 * in each second relation of it, whose members are drawn from the rest of the input. */
#include "common/base/message.h"
#include "rep/unit/journal.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

static struct unit_sight drawn_sight(struct arena *a, const Rep__UnitNote *j, struct bytes *in)
{
    struct sight_relation *relations = ARENA_ARRAY(a, j->n_relations, struct sight_relation);
    uint8_t flags = fuzz_byte(in);
    struct unit_sight seen = {.epoch = flags & 1 ? j->epoch : "another",
                              .alive = flags & 2,
                              .charm = flags & 4 ? j->charm : "another",
                              .config_version = fuzz_byte(in),
                              .resolution =
                                  (enum hook_resolution)(flags >> 3 & 1 ? HOOK_RETRY : HOOK_SKIP),
                              .relations = relations};
    for (size_t i = 0; i < j->n_relations; i += 2) {
        struct sight_relation *r = &relations[seen.relation_count++];
        struct sight_member *members = ARENA_ARRAY(a, 4, struct sight_member);
        uint8_t of = fuzz_byte(in);
        *r = (struct sight_relation){.number = j->relations[i]->number,
                                     .guid = of & 1 ? j->relations[i]->guid : "another",
                                     .alive = of & 2,
                                     .members = members};
        for (uint32_t k = 0; k < 4; k++) {
            if (of >> (2 + k) & 1) {
                members[r->member_count++] = (struct sight_member){k, 1 + fuzz_byte(in), of & 64};
            }
        }
    }
    return seen;
}

/* One thing that hook_next() says is done; false when there is nothing to do. */
static bool go_on(struct arena *a, Rep__UnitNote **j, const struct unit_sight *seen)
{
    if ((*j)->hook && strcmp((*j)->hook->state, "noted") == 0) {
        *j = journal_end(a, *j, JOURNAL_GOOD, "");
        return true;
    }
    *j = journal_adopt(a, *j, seen, false);
    struct hook_world w = journal_world(a, *j, seen);
    struct hook_step step = hook_next(&w);
    if (step.act == HOOK_RUN) {
        *j = journal_begin(a, *j, &step, seen->charm, "token");
    } else if (step.act == HOOK_ACCEPT) {
        *j = journal_accept(a, *j);
    }
    return step.act == HOOK_RUN || step.act == HOOK_ACCEPT;
}

void fuzz_unit_journal(struct bytes in)
{
    SCOPED_ARENA(a);
    enum { GOES_ON_MAX = 200 };
    struct err err = {.text = ""};
    Rep__UnitNote *j = NULL, *back = NULL;
    struct bytes text = fuzz_piece(&in);
    if (journal_read(&a, text, &j, &err) < 0) {
        FUZZ_REQUIRE(*err.text);
        return;
    }
    struct unit_sight seen = drawn_sight(&a, j, &in);
    j = journal_adopt(&a, j, &seen, fuzz_byte(&in) & 1);
    for (int i = 0; i < GOES_ON_MAX && go_on(&a, &j, &seen); i++) {
        struct bytes packed = message_packed(&a, &j->base);
        FUZZ_REQUIRE(packed.size > JOURNAL_BYTES_MAX || journal_read(&a, packed, &back, &err) == 0);
    }
}
