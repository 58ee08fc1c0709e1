/* Target: what the machine of steps reads back from a disk: a tree in a note, facts in a file. */
#include "common/codec/scan.h"
#include "rep/steps/fact.h"
#include "rep/steps/machine.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

/* What was read is written again as it stood, but for a last line that was not whole. */
static void written_again(struct bytes file, const struct step_fact *facts, size_t count)
{
    SCOPED_BUF(again);
    for (size_t i = 0; i < count; i++) {
        fact_print(&facts[i], &again);
    }
    FUZZ_REQUIRE(again.size <= file.size);
    FUZZ_REQUIRE(again.size == 0 || memcmp(again.data, file.data, again.size) == 0);
}

/* Nor may it begin anew: what is lost of a transfer is not under way. */
static bool has_begun(const struct action_tree *tree, const struct step_fact *facts, size_t count,
                      uint32_t step)
{
    unsigned begins = 0, losses = 0;
    for (size_t i = 0; i < count; i++) {
        begins += facts[i].kind == FACT_BEGUN && facts[i].step == step;
        losses += facts[i].kind == FACT_LOST && facts[i].step == step;
    }
    return begins > (tree_is_transfer(tree, step) ? losses : 0);
}

static void ordered(struct arena *a, const struct action_tree *tree, const struct step_fact *facts,
                    size_t count, int64_t now_ns, bool gone)
{
    struct steps_orders o = steps_next(a, tree, facts, count, now_ns,
                                       gone ? STEPS_GONE : STEPS_INSIDE);
    for (size_t i = 0; i < o.begin_count; i++) {
        FUZZ_REQUIRE(tree_is_leaf(tree, o.begins[i]));
        FUZZ_REQUIRE(!has_begun(tree, facts, count, o.begins[i]));
    }
    FUZZ_REQUIRE(!gone || (o.over && o.begin_count == 0));
    FUZZ_REQUIRE(o.due_ns > now_ns);
    FUZZ_REQUIRE(o.over || o.text[0] == '\0');
}

void fuzz_steps(struct bytes in)
{
    enum { DECODED_MAX = 4 * 1024 * 1024 };
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct step_fact *facts;
    size_t count;
    bool gone = fuzz_byte(&in) & 1;
    int64_t now_ns = fuzz_byte(&in) * SECOND_NS / 10;
    struct bytes file = fuzz_piece(&in);
    if (scan_and_unpack(&a, &rep__note__descriptor, in, DECODED_MAX, &m, NULL) < 0) {
        return;
    }
    const Rep__Note *note = (const Rep__Note *)m;
    const struct action_tree tree = {note->steps, note->n_steps};
    struct err err = {0};
    if (tree_check(tree.steps, tree.count, &err) < 0) {
        FUZZ_REQUIRE(err.text[0]);
    } else if (tree.count > 0 && facts_parse(&a, file, tree.count, &facts, &count, &err) == 0) {
        written_again(file, facts, count);
        ordered(&a, &tree, facts, count, now_ns, gone);
    }
}
